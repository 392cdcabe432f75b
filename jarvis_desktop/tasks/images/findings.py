"""What was found in a picture: boxes and masks, the sentences that describe them, and drawing them.

Built-in detectors, local experts and those behind an API all use it: in child processes, and where
answers of an API are decoded. Pillow and numpy are enough. Labels come from experts and are
untrusted: they are cut to one short line before they are shown.
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
    from PIL.Image import Image

MAX_LABEL_CHARS = 40  # characters of a label that are shown
MAX_KINDS = 12  # kinds of things named in a sentence
MAX_NAMED_LABELS = 5  # labels named in a list


@dataclass(frozen=True, slots=True)
class BoundingBox:
    """Where something is: its edges in pixels from the left and top of the picture."""

    label: str
    left: float
    top: float
    right: float
    bottom: float
    score: float = 0.0  # confidence, 0 to 1; 0 if unknown, then it is not shown


@dataclass(frozen=True, slots=True, eq=False)
class Mask:
    """Which part of a picture something covers."""

    label: str
    inside: NDArray[Any]
    """(height, width), true or above 0 inside. Of any size: it is stretched over the picture, so
    that large pictures need no large masks."""
    score: float = 0.0  # confidence, 0 to 1; 0 if unknown

    @property
    def share(self) -> float:
        """The share of the picture that it covers, 0 to 1."""
        return float((self.inside > 0).mean()) if self.inside.size else 0.0


def clean_label(label: str) -> str:
    """A label as one short line: "stop_sign" becomes "stop sign"."""
    line = " ".join("".join(c if c.isprintable() else " " for c in label.replace("_", " ")).split())
    return line if len(line) <= MAX_LABEL_CHARS else line[: MAX_LABEL_CHARS - 1] + "…"


def label_lines(
    scores: Mapping[str, float] | Iterable[tuple[str, float]], most: int = MAX_NAMED_LABELS
) -> str:
    """One line per label, "tabby cat: 93%", the likeliest first; scores are 0 to 1."""
    pairs = scores.items() if isinstance(scores, Mapping) else scores
    ranked = sorted(pairs, key=lambda pair: -pair[1])[:most]
    return "\n".join(f"{clean_label(label)}: {score:.0%}" for label, score in ranked)


def describe_boxes(boxes: Sequence[BoundingBox], name: str, width: int, *, none: str = "") -> str:
    """Say how many things there are and where: "I find 2 cars in a.jpg: 1 on the left and ...".
    `width` is the picture's, in pixels; `none` is what was searched for, if nothing was found."""
    if not boxes:
        return f"I find no {none or 'things that I know'} in {name}."
    by_label: dict[str, list[BoundingBox]] = {}
    for box in boxes:
        by_label.setdefault(clean_label(box.label), []).append(box)
    kinds = list(by_label.items())
    if len(kinds) == 1:
        label, found = kinds[0]
        spread = f"{',' if len(found) == 1 else ':'} {_places(found, width)}"
        return f"I find {count_of(len(found), label)} in {name}{spread}."
    kinds.sort(key=lambda kind: -len(kind[1]))
    parts = [f"{count_of(len(found), label)} ({_places(found, width)})" for label, found in kinds]
    return f"In {name} I find {_join_kinds(parts)}."


def describe_masks(masks: Sequence[Mask], name: str, *, none: str = "") -> str:
    """Say what share of the picture each kind of thing covers, the largest first."""
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
        parts.append(f"{words} ({format_share(shares[label])}{of})")
    return f"In {name} I find {_join_kinds(parts)}."


def format_share(share: float) -> str:
    """A share as people read it: "12%", "less than 1%"."""
    return f"{min(share, 1.0):.0%}" if share >= 0.005 else "less than 1%"


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
    return _join_kinds([f"{places.count(place)} {place}" for place in kinds])


def _join_kinds(parts: Sequence[str]) -> str:
    if len(parts) > MAX_KINDS:
        parts = [*parts[: MAX_KINDS - 1], f"{len(parts) - MAX_KINDS + 1} more kinds of things"]
    return join_words(parts)


Colour = tuple[int, int, int]

COLOURS: tuple[Colour, ...] = (
    (40, 200, 70), (40, 120, 255), (235, 70, 60), (255, 175, 20), (165, 80, 235), (0, 185, 190),
    (240, 90, 170), (140, 110, 60), (120, 170, 20), (90, 95, 200), (250, 120, 50), (60, 130, 110),
)  # fmt: skip
"""One for each label, in the order of appearance."""

MAX_DRAWN = 100  # boxes or parts that are drawn, the surest or largest: more would hide the picture
FILL_OPACITY = 130  # opacity of a coloured part, 0 to 255


def box_results(
    call: Call, image: Image, boxes: Sequence[BoundingBox], *, none: str = ""
) -> list[Artifact]:
    """The results of a detection task: the picture with boxes, and a sentence."""
    from jarvis_desktop.tasks.images.io import save_image

    words = describe_boxes(boxes, call.title("image"), image.width, none=none)
    return [save_image(draw_boxes(image, boxes), call, "found"), text_artifact(words)]


def mask_results(
    call: Call, image: Image, masks: Sequence[Mask], *, none: str = "", apart: bool = False
) -> list[Artifact]:
    """The results of a segmentation task: the parts of the picture in colours, and a sentence.
    `apart` is for parts without names: each gets its own colour."""
    from jarvis_desktop.tasks.images.io import save_image

    words = describe_masks(masks, call.title("image"), none=none)
    drawn = draw_masks(image, masks, apart=apart)
    return [save_image(drawn, call, "parts"), text_artifact(words)]


def draw_boxes(image: Image, boxes: Sequence[BoundingBox]) -> Image:
    """A copy of the picture, RGB and of its size, with a labelled box around each thing."""
    from PIL import ImageDraw

    from jarvis_desktop.tasks.images.io import on_white

    out = on_white(image).copy()
    draw = ImageDraw.Draw(out)
    line, font = _line(out), _font(out)
    colours = _colours([box.label for box in boxes])
    totals = Counter(box.label for box in boxes)
    numbers: Counter[str] = Counter()
    for box in sorted(boxes, key=lambda box: -box.score)[:MAX_DRAWN]:
        numbers[box.label] += 1
        words = clean_label(box.label)
        if box.score:
            words += f" {box.score:.0%}"
        elif totals[box.label] > 1:
            words += f" {numbers[box.label]}"
        colour, place = colours[box.label], _clip_box(box, out.size)
        draw.rectangle(place, outline=colour, width=line)
        _plate(draw, words, place[:2], colour, font, line)
    return out


def draw_masks(image: Image, masks: Sequence[Mask], *, apart: bool = False) -> Image:
    """A copy of the picture, RGB and of its size, with coloured parts and a legend. Parts with the
    same label share a colour and have an outline each. With `apart`, each part has its own colour
    and there is no legend."""
    from jarvis_desktop.tasks.images.io import on_white

    out = on_white(image).copy()
    largest = _largest(masks)
    colours = _colours([mask.label for mask in largest])
    for at, mask in enumerate(largest):  # small parts last, so that they are on top
        _paint_mask(out, mask, COLOURS[at % len(COLOURS)] if apart else colours[mask.label])
    shares = dict.fromkeys(colours, 0.0)
    for mask in largest:
        shares[mask.label] += mask.share
    entries = [
        (f"{clean_label(label)} {format_share(shares[label])}", colours[label]) for label in colours
    ]
    _legend(out, [] if apart else entries)
    return out


def render_masks(size: tuple[int, int], masks: Sequence[Mask]) -> Image:
    """An RGB picture of that (width, height), black, with each part in its own colour."""
    from PIL import Image as images

    out = images.new("RGB", size)
    for at, mask in enumerate(_largest(masks)):
        out.paste(COLOURS[at % len(COLOURS)], (0, 0), mask_image(mask.inside, size))
    return out


def _largest(masks: Sequence[Mask]) -> list[Mask]:
    return sorted(masks, key=lambda mask: -mask.share)[:MAX_DRAWN]


def cut_out(image: Image, inside: Any) -> Image:
    """The picture as RGBA, transparent except where `inside` (an array as in Mask) is set."""
    out = image.convert("RGBA")
    out.putalpha(mask_image(inside, image.size))
    return out


def mask_image(inside: Any, size: tuple[int, int]) -> Image:
    """The array of a Mask as a grey picture of that (width, height): 255 inside, 0 outside."""
    import numpy as np
    from PIL import Image as images

    grey = images.fromarray(np.where(np.asarray(inside) > 0, 255, 0).astype(np.uint8))
    if grey.size != size:
        grey = grey.resize(size, images.Resampling.BILINEAR)
    return grey.point([0] * 128 + [255] * 128)


def _paint_mask(out: Image, mask: Mask, colour: Colour) -> None:
    import numpy as np
    from PIL import Image as images

    whole = mask_image(mask.inside, out.size)
    place = whole.getbbox()
    if place is None:
        return
    part = whole.crop(place)
    out.paste(colour, place, part.point([0] * 128 + [FILL_OPACITY] * 128))
    inside, step = np.asarray(part) > 0, _line(out)
    height, width = inside.shape
    around, inner = np.pad(inside, step), inside
    for down, across in ((0, 1), (2, 1), (1, 0), (1, 2)):
        y, x = down * step, across * step
        inner = inner & around[y : y + height, x : x + width]
    rim = np.where(inside & ~inner, 255, 0).astype(np.uint8)
    out.paste(colour, place, images.fromarray(rim))


def _clip_box(box: BoundingBox, size: tuple[int, int]) -> tuple[float, float, float, float]:
    width, height = size

    def kept(at: float, most: int) -> float:
        return min(max(at, 0.0), most - 1.0) if math.isfinite(at) else 0.0

    left, right = sorted((kept(box.left, width), kept(box.right, width)))
    top, bottom = sorted((kept(box.top, height), kept(box.bottom, height)))
    return left, top, right, bottom


def _legend(out: Image, entries: Sequence[tuple[str, Colour]]) -> None:
    """Draw the labels on plates of their colours, at the lower left; as many as fit."""
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
    """Draw the words on a plate above the corner, or inside the picture at its edges."""
    left, top, _, _ = draw.textbbox((0, 0), words, font)
    width, height = _plate_size(draw, words, font, line)
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
