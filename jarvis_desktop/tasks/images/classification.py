"""The tasks that classify pictures: with an expert, or by what can be measured of one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.definition import define, presets
from jarvis_desktop.tasks.naming import join_words, named_things

if TYPE_CHECKING:
    from jarvis_desktop.tasks.images.io import Pixels

CONTENT, MEASURES = "content", "measures"

_MEASURED = (
    "what colours are", "what colors are", "main colours", "main colors", "dominant colo*",
    "which colours", "which colors", "is it sharp", "is this picture sharp", "is the photo sharp",
    "is it blurry", "is this picture blurry", "is the photo blurry", "too dark or",
)  # fmt: skip


def describe(call: Call, report: Report) -> Iterable[Artifact]:
    """Describe a picture in two or three sentences: kind, size, colours, light and sharpness."""
    from jarvis_desktop.tasks.images.io import read_image, to_array

    path, name = call.file("image"), call.title("image")
    report(None, tr("Measuring {name}", name=name))
    image = read_image(path, name=name)
    found = measure(to_array(image))
    width, height = image.size
    shape = "square" if width == height else "wide" if width > height else "tall"
    sentences = [
        f"{name} is {found.kind}, {width} by {height} pixels ({shape}).",
        f"It is mostly {join_words(found.colours)}, {found.light}{found.sharpness}.",
        "I measure pictures; to say what they show I need an expert.",
    ]
    return [text_artifact(" ".join(sentences))]


IMAGE_CLASSIFICATION = define(
    name="image-classification", label="Name what is shown",
    summary="Says in a word what a picture shows, with an expert, or what can be measured of it: "
    "photo, page or drawing, main colours, size, light and sharpness.",
    ports=(Port("image", (Kind.IMAGE,)),),
    options=(
        TaskOption("about",
            "content = what it shows; measures = colours, size, light and sharpness",
               CONTENT, choices=(CONTENT, MEASURES)),
    ),
    presets=presets(({"about": MEASURES}, _MEASURED)),
    cues=(
        "classify the picture", "classify the image", "classify this", "classify image",
        "image classification", "image-classification", "what kind of picture",
        "what kind of image", "what type of picture", "what type of image",
        "categor* the picture", "categor* the image",
    ),
    method=describe, note="measurements only: kind, colours, size, light; knows no objects",
)  # fmt: skip


_NOUNS = ("picture", "photo", "image")
_PICTURES = tuple(f"the {noun}" for noun in _NOUNS)
_EITHER = ("is this a ... or a", "is this an ... or a", "is this the ... or the")


def labels_of(words: str) -> list[str]:
    """List the labels that the words name: "is this a cat or a dog?" names cat and dog. Raises
    InputError if there are fewer than two."""
    labels = named_things(words)
    if len(labels) < 2:
        raise InputError(
            tr("Sorting a picture needs at least two labels."),
            hint=tr("Say for example: cat or dog?"),
        )
    return labels


ZERO_SHOT_IMAGE_CLASSIFICATION = define(
    name="zero-shot-image-classification", label="Choose a label",
    summary="Says which of several labels that are given suits a picture best, such as cat or dog.",
    ports=(Port("image", (Kind.IMAGE,)),),
    options=(TaskOption("labels", "the labels, separated by commas", "", reads="clause"),),
    cues=(
        *_EITHER,
        *(cue.replace("this", which) for cue in _EITHER for which in ("it", "that", *_PICTURES)),
        *(f"which of ... is in {what}" for what in _PICTURES),
        *(f"which of ... does {what} show" for what in _PICTURES),
        *(f"does the {what} show a ... or a" for what in _NOUNS),
        *(f"does this {what} show a ... or a" for what in _NOUNS),
        *(f"sort the {what} into" for what in ("picture", "photo", "image", "pictures", "photos")),
        *(f"sort this {what} into" for what in _NOUNS),
        *(f"classify the {what} as" for what in _NOUNS),
        *(f"classify this {what} as" for what in _NOUNS),
        *(f"which of these suits the {what}" for what in _NOUNS),
        *(f"which label suits the {what}" for what in _NOUNS),
        *(f"which of these is in the {what}" for what in _NOUNS),
        *(f"which of these does the {what} show" for what in _NOUNS),
        *(f"which of these does this {what} show" for what in _NOUNS),
        "zero-shot image classification", "zero shot image classification",
    ),
    note="needs an expert that compares pictures with words",
)  # fmt: skip


COLOUR_NAMES = {
    "black": (18, 18, 18), "white": (245, 245, 245), "grey": (128, 128, 128),
    "light grey": (200, 200, 200), "dark grey": (64, 64, 64), "red": (200, 30, 35),
    "dark red": (110, 20, 25), "orange": (235, 130, 30), "yellow": (235, 215, 50),
    "green": (50, 150, 60), "dark green": (30, 70, 35), "light green": (150, 205, 120),
    "turquoise": (60, 180, 180), "blue": (40, 80, 180), "dark blue": (22, 32, 85),
    "light blue": (150, 195, 230), "purple": (120, 50, 140), "pink": (240, 150, 180),
    "brown": (115, 75, 40), "beige": (215, 190, 155), "olive": (110, 110, 50),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ImageMeasurements:
    """Measurements of a picture, in words that fit into a sentence."""

    kind: str
    colours: list[str]
    light: str
    sharpness: str  # ", sharp", ", blurred", or "" if unclear


def measure(pixels: Pixels) -> ImageMeasurements:
    """Measure an RGB picture (height, width, 3)."""
    import cv2
    import numpy as np

    scale = min(1.0, 800 / max(pixels.shape[:2]))
    size = [max(1, round(side * scale)) for side in pixels.shape[1::-1]]
    small = np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), np.uint8)
    grey = np.asarray(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY), np.uint8)
    kind = _kind(small, grey)
    mean = float(grey.mean())
    light = "dark" if mean < 70 else "bright" if mean > 185 else "of medium brightness"
    sharpness = ""
    if kind == "a photo or painting":
        sharpness = ", sharp" if _sharp(grey) else ", blurred"
    return ImageMeasurements(kind, _colours(small), light, sharpness)


def _kind(small: Pixels, grey: Pixels) -> str:
    import numpy as np

    if float(grey.std()) < 3:
        return "blank"
    # A photo taken at night is mostly black as well: judge by its lit parts.
    lit = small[small.max(axis=2) > 48]
    seen = lit if len(lit) > 0.05 * grey.size else small.reshape(-1, 3)
    _, counts = np.unique(seen // 16, axis=0, return_counts=True)
    flat, paper = float(np.sort(counts)[-4:].sum() / len(seen)), float((grey > 200).mean())
    coloured = float((np.ptp(small, axis=2) > 40).mean())
    if paper > 0.6 and coloured < 0.05:
        return "a page of text or a drawing on white"
    if flat > 0.6:
        return "a graphic, chart or screenshot with flat colours"
    return "a photo or painting"


def _sharp(grey: Pixels) -> bool:
    """Whether the strongest edges are steep: from dark to light within two pixels."""
    import cv2
    import numpy as np

    near = np.abs(cv2.Sobel(grey, cv2.CV_32F, 1, 0, ksize=1))
    far = np.abs(cv2.Sobel(cv2.GaussianBlur(grey, (0, 0), 2.0), cv2.CV_32F, 1, 0, ksize=1))
    return float(np.percentile(near, 99.5)) > 1.45 * float(np.percentile(far, 99.5))


def _colours(small: Pixels) -> list[str]:
    """Names of the colours that cover at least an eighth, most common first, at most three."""
    import cv2
    import numpy as np

    tones = np.array(list(COLOUR_NAMES.values()), np.uint8)[None]
    lab = cv2.cvtColor(tones, cv2.COLOR_RGB2LAB)[0].astype(np.float32)
    tiny = cv2.resize(small, (64, 64), interpolation=cv2.INTER_AREA)
    points = cv2.cvtColor(tiny, cv2.COLOR_RGB2LAB).reshape(-1, 3).astype(np.float32)
    weights = np.array(
        [0.6, 1.3, 1.3], np.float32
    )  # hue separates names better than lightness does
    apart = np.linalg.norm((points[:, None] - lab[None]) * weights, axis=2)
    counts = np.bincount(apart.argmin(axis=1), minlength=len(COLOUR_NAMES))
    order = np.argsort(-counts)[:3]
    names = list(COLOUR_NAMES)
    return [names[i] for i in order if counts[i] >= len(points) / 8] or [names[int(order[0])]]
