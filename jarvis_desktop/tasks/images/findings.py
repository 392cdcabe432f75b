"""What was found in a picture: values that any expert's answer is brought into, and their words.

Labels come from experts and are content: they are cut to one short line before they are shown.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.task import Call
from jarvis_desktop.tasks.naming import count_of, join_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONGEST_LABEL = 40
"""Characters of a label that are shown."""

MOST_KINDS = 12
"""Kinds of things that a sentence names."""

NAMED = 5
"""Labels that a list names."""


@dataclass(frozen=True, slots=True)
class BoundingBox:
    """Where something is: its edges in pixels from the left and top of the picture."""

    label: str
    left: float
    top: float
    right: float
    bottom: float
    score: float = 0.0
    """How sure that is, 0 to 1; 0 where it is not known, then it is not shown."""


@dataclass(frozen=True, slots=True, eq=False)
class Mask:
    """Which part of a picture something is."""

    label: str
    inside: NDArray[Any]
    """(height, width), true or above 0 where it is; of any size: it is stretched over the picture,
    so that large pictures need no large masks."""
    score: float = 0.0
    """How sure that is, 0 to 1; 0 where it is not known."""

    @property
    def share(self) -> float:
        """The share of the picture that it covers, 0 to 1."""
        return float((self.inside > 0).mean()) if self.inside.size else 0.0


def clean_label(label: str) -> str:
    """A label as one short line: "stop_sign" is "stop sign"."""
    line = " ".join("".join(c if c.isprintable() else " " for c in label.replace("_", " ")).split())
    return line if len(line) <= LONGEST_LABEL else line[: LONGEST_LABEL - 1] + "…"


def label_lines(
    scores: Mapping[str, float] | Iterable[tuple[str, float]], most: int = NAMED
) -> str:
    """One line a label, "tabby cat: 93%", the likeliest first; scores are 0 to 1."""
    pairs = scores.items() if isinstance(scores, Mapping) else scores
    ranked = sorted(pairs, key=lambda pair: -pair[1])[:most]
    return "\n".join(f"{clean_label(label)}: {score:.0%}" for label, score in ranked)


def tell_boxes(boxes: Sequence[BoundingBox], name: str, width: int, *, none: str = "") -> str:
    """How many of what there are, and where: "I find 2 cars in a.jpg: 1 on the left and ...".

    `width` is the picture's, in pixels; `none` is what was looked for, for where there is nothing.
    """
    if not boxes:
        return f"I find no {none or 'things that I know'} in {name}."
    by_label: dict[str, list[BoundingBox]] = {}
    for box in boxes:
        by_label.setdefault(clean_label(box.label), []).append(box)
    kinds = list(by_label.items())
    if len(kinds) == 1:
        label, found = kinds[0]
        return f"I find {count_of(len(found), label)} in {name}{_spread(found, width)}."
    kinds.sort(key=lambda kind: -len(kind[1]))
    parts = [f"{count_of(len(found), label)} ({_places(found, width)})" for label, found in kinds]
    return f"In {name} I find {_listed(parts)}."


def tell_masks(masks: Sequence[Mask], name: str, *, none: str = "") -> str:
    """What share of the picture each kind of thing takes, the largest first."""
    if not masks:
        return f"I find no {none or 'things that I know'} in {name}."
    by_label: dict[str, list[Mask]] = {}
    for mask in masks:
        by_label.setdefault(clean_label(mask.label), []).append(mask)
    shares = {label: sum(mask.share for mask in found) for label, found in by_label.items()}
    parts = []
    for at, label in enumerate(sorted(shares, key=lambda label: -shares[label])):
        many = len(by_label[label])
        words = count_of(many, label) if many > 1 else label
        of = "" if at else " of the picture"
        parts.append(f"{words} ({share_words(shares[label])}{of})")
    return f"In {name} I find {_listed(parts)}."


def share_words(share: float) -> str:
    """A share as people read it: "12%", "less than 1%"."""
    return f"{min(share, 1.0):.0%}" if share >= 0.005 else "less than 1%"


def _spread(boxes: Sequence[BoundingBox], width: int) -> str:
    places = _places(boxes, width)
    return f", {places}" if len(boxes) == 1 else f": {places}"


def _places(boxes: Sequence[BoundingBox], width: int) -> str:
    middles = [(box.left + box.right) / 2 / width for box in boxes]
    places = [
        "on the left" if at < 1 / 3 else "on the right" if at > 2 / 3 else "in the middle"
        for at in middles
    ]
    kinds = dict.fromkeys(places)
    if len(places) == 1:
        return places[0]
    if len(kinds) == 1:
        return f"all {places[0]}"
    return _listed([f"{places.count(place)} {place}" for place in kinds])


def _listed(parts: Sequence[str]) -> str:
    if len(parts) > MOST_KINDS:
        parts = [*parts[: MOST_KINDS - 1], f"{len(parts) - MOST_KINDS + 1} more kinds of things"]
    return join_words(parts)


if TYPE_CHECKING:
    from PIL.Image import Image

Colour = tuple[int, int, int]

COLOURS: tuple[Colour, ...] = (
    (40, 200, 70), (40, 120, 255), (235, 70, 60), (255, 175, 20), (165, 80, 235), (0, 185, 190),
    (240, 90, 170), (140, 110, 60), (120, 170, 20), (90, 95, 200), (250, 120, 50), (60, 130, 110),
)  # fmt: skip
"""One for each label, in the order in which they appear."""

MOST_DRAWN = 100
"""Boxes or parts that are drawn, the surest or largest ones: more would hide the picture."""

STRENGTH = 130
"""How strongly, 0 to 255, a part is coloured."""


def box_results(
    call: Call, image: Image, boxes: Sequence[BoundingBox], *, none: str = ""
) -> list[Artifact]:
    """The results of a task that finds things: the picture with boxes, and a sentence."""
    from jarvis_desktop.tasks.images.io import save_image

    words = tell_boxes(boxes, call.title("image"), image.width, none=none)
    return [save_image(with_boxes(image, boxes), call, "found"), text_artifact(words)]


def mask_results(
    call: Call, image: Image, masks: Sequence[Mask], *, none: str = "", apart: bool = False
) -> list[Artifact]:
    """The results of a task that parts a picture: its parts in colours, and a sentence.

    `apart` is for pieces without names: each has a colour of its own.
    """
    from jarvis_desktop.tasks.images.io import save_image

    words = tell_masks(masks, call.title("image"), none=none)
    drawn = with_masks(image, masks, apart=apart)
    return [save_image(drawn, call, "parts"), text_artifact(words)]


def with_boxes(image: Image, boxes: Sequence[BoundingBox]) -> Image:
    """A copy of the picture, RGB and of its size, with a box and a label around each thing."""
    from PIL import ImageDraw

    from jarvis_desktop.tasks.images.io import on_white

    out = on_white(image).copy()
    draw = ImageDraw.Draw(out)
    line, font = _line(out), _font(out)
    colours = _colours([box.label for box in boxes])
    totals = Counter(box.label for box in boxes)
    numbers: Counter[str] = Counter()
    for box in sorted(boxes, key=lambda box: -box.score)[:MOST_DRAWN]:
        numbers[box.label] += 1
        words = clean_label(box.label)
        if box.score:
            words += f" {box.score:.0%}"
        elif totals[box.label] > 1:
            words += f" {numbers[box.label]}"
        colour, place = colours[box.label], _within(box, out.size)
        draw.rectangle(place, outline=colour, width=line)
        _plate(draw, words, place[:2], colour, font, line)
    return out


def with_masks(image: Image, masks: Sequence[Mask], *, apart: bool = False) -> Image:
    """A copy of the picture, RGB and of its size, each kind of part in a colour, with a legend.

    Several parts of one label have one colour and an outline each; where they are to be told
    `apart`, each has a colour of its own, and there is no legend.
    """
    from jarvis_desktop.tasks.images.io import on_white

    out = on_white(image).copy()
    largest = _largest(masks)
    colours = _colours([mask.label for mask in largest])
    for at, mask in enumerate(largest):  # small parts last, so that they lie on top
        _colour_in(out, mask, COLOURS[at % len(COLOURS)] if apart else colours[mask.label])
    shares = dict.fromkeys(colours, 0.0)
    for mask in largest:
        shares[mask.label] += mask.share
    entries = [
        (f"{clean_label(label)} {share_words(shares[label])}", colours[label]) for label in colours
    ]
    _legend(out, [] if apart else entries)
    return out


def masks_alone(size: tuple[int, int], masks: Sequence[Mask]) -> Image:
    """An RGB picture of that (width, height), black, with each part in a colour of its own."""
    from PIL import Image as images

    out = images.new("RGB", size)
    for at, mask in enumerate(_largest(masks)):
        out.paste(COLOURS[at % len(COLOURS)], (0, 0), stretched(mask.inside, size))
    return out


def _largest(masks: Sequence[Mask]) -> list[Mask]:
    return sorted(masks, key=lambda mask: -mask.share)[:MOST_DRAWN]


def cut_out(image: Image, inside: Any) -> Image:
    """The picture as RGBA with all of it transparent but what is `inside`, an array as in Mask."""
    out = image.convert("RGBA")
    out.putalpha(stretched(inside, image.size))
    return out


def stretched(inside: Any, size: tuple[int, int]) -> Image:
    """The array of a Mask as a grey picture of that (width, height): 255 inside, 0 outside."""
    import numpy as np
    from PIL import Image as images

    grey = images.fromarray(np.where(np.asarray(inside) > 0, 255, 0).astype(np.uint8))
    if grey.size != size:
        grey = grey.resize(size, images.Resampling.BILINEAR)
    return grey.point([0] * 128 + [255] * 128)


def _colour_in(out: Image, mask: Mask, colour: Colour) -> None:
    import numpy as np
    from PIL import Image as images

    whole = stretched(mask.inside, out.size)
    place = whole.getbbox()
    if place is None:
        return
    part = whole.crop(place)
    out.paste(colour, place, part.point([0] * 128 + [STRENGTH] * 128))
    inside, step = np.asarray(part) > 0, _line(out)
    height, width = inside.shape
    around, inner = np.pad(inside, step), inside
    for down, across in ((0, 1), (2, 1), (1, 0), (1, 2)):
        y, x = down * step, across * step
        inner = inner & around[y : y + height, x : x + width]
    rim = np.where(inside & ~inner, 255, 0).astype(np.uint8)
    out.paste(colour, place, images.fromarray(rim))


def _within(box: BoundingBox, size: tuple[int, int]) -> tuple[float, float, float, float]:
    """The box's left, top, right and bottom inside of the picture, whatever an expert said."""
    width, height = size

    def kept(at: float, most: int) -> float:
        return min(max(at, 0.0), most - 1.0) if math.isfinite(at) else 0.0

    left, right = sorted((kept(box.left, width), kept(box.right, width)))
    top, bottom = sorted((kept(box.top, height), kept(box.bottom, height)))
    return left, top, right, bottom


def _legend(out: Image, entries: Sequence[tuple[str, Colour]]) -> None:
    """The labels on plates of their colours, at the lower left; as many as have room there."""
    from PIL import ImageDraw

    draw = ImageDraw.Draw(out)
    line, font = _line(out), _font(out)
    heights = [_plate_size(draw, words, font, line)[1] for words, _ in entries]
    room = out.height * 0.6
    shown = [at for at in range(len(entries)) if sum(heights[: at + 1]) <= room]
    top = out.height - sum(heights[at] for at in shown)
    for at in shown:
        words, colour = entries[at]
        _plate(draw, words, (0, top + heights[at]), colour, font, line)
        top += heights[at]


def _plate(
    draw: Any, words: str, corner: tuple[float, float], colour: Colour, font: Any, line: int
) -> None:
    """The words on a plate that stands on the corner, as far as the picture lets it."""
    left, top, _, _ = draw.textbbox((0, 0), words, font)
    width, height = _plate_size(draw, words, font, line)
    # It hangs into the picture where it would stand out above, and moves left of its edge.
    x = max(0, min(corner[0], draw.im.size[0] - width))
    y = max(0, corner[1] - height)
    draw.rectangle((x, y, x + width, y + height), fill=colour)
    bright = 0.3 * colour[0] + 0.59 * colour[1] + 0.11 * colour[2] > 165
    pad = line + 1
    draw.text((x + pad - left, y + pad - top), words, "black" if bright else "white", font)


def _plate_size(draw: Any, words: str, font: Any, line: int) -> tuple[float, float]:
    left, top, right, bottom = draw.textbbox((0, 0), words, font)
    return right - left + 2 * line + 2, bottom - top + 2 * line + 2


def _colours(labels: Sequence[str]) -> dict[str, Colour]:
    kinds = dict.fromkeys(labels)
    return {label: COLOURS[at % len(COLOURS)] for at, label in enumerate(kinds)}


def _line(image: Image) -> int:
    return max(1, min(max(2, round(max(image.size) / 250)), min(image.size) // 8))


def _font(image: Image) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(max(10, min(max(12, max(image.size) / 45), min(image.size) / 8)))
