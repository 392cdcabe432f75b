"""The tasks that paint pictures, and the options, sizes and regions they share with films.

The tasks with control pictures are ControlNet's (Zhang, Rao and Agrawala, 2023). Local experts and
those behind an API read the options here.
"""

from __future__ import annotations

import math
import re
import secrets
from dataclasses import dataclass

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import PROMPT, Call, Port, Preset, TaskOption, TaskType
from jarvis_desktop.tasks.definition import Definition, define

SIZE = TaskOption(
    "size",
    'width and height in pixels, "800x600", or a shape: square, landscape, portrait, wide',
    "",
    reads="shape",
)
AVOID = TaskOption("avoid", "what must not be in it", "", reads="without")
SEED = TaskOption("seed", "the same number gives the same again; 0 = another one each time", 0,
              reads="seed")  # fmt: skip
STRENGTH = TaskOption(
    "strength",
    "how much may change, in percent: 30 = a little, 80 = nearly all; 0 = what is usual",
    0,
    units=("percent", "%"),
)
SECONDS = TaskOption(
    "seconds", "how long it lasts; 0 = what is usual", 0.0, units=("second*", "sec")
)

REGIONS = ("left half", "right half", "upper half", "lower half", "middle")

SHAPES = {"square": 1.0, "landscape": 3 / 2, "portrait": 2 / 3, "wide": 16 / 9}  # width by height
MIN_SIDE, MAX_SIDE = 64, 4096  # pixels of a side that may be requested
MAX_DRAWN_AREA = 2.25
"""Experts draw at most this many times the area that they were trained on: beyond it, things appear
twice. Larger pictures are enlarged afterwards."""

MAX_NAME_WORDS = 6  # words of a prompt that name its file


@dataclass(frozen=True, slots=True)
class PictureSize:
    """The size at which a picture is drawn, and the requested one, as (width, height) in pixels."""

    drawn: tuple[int, int]
    wanted: tuple[int, int]


def picture_size(call: Call, *, side: int, multiple: int, ratio: float = 1.0) -> PictureSize:
    """Choose the size for an expert trained on squares of `side`, in multiples of `multiple`.
    `ratio` is width by height if the call leaves it open. Raises InputError."""
    asked = str(call.options.get("size", "")).strip().lower()
    wanted = None if not asked or asked in SHAPES else parse_size(asked)
    ratio = SHAPES.get(asked, wanted[0] / wanted[1] if wanted else ratio)
    area = float(side * side)
    if wanted:
        area = min(max(wanted[0] * wanted[1], area / 4), MAX_DRAWN_AREA * area)
    drawn = fit_size(ratio, area, multiple)
    return PictureSize(drawn, wanted or drawn)


def fit_size(ratio: float, area: float, multiple: int) -> tuple[int, int]:
    """The width and height with those proportions and about that area, both multiples."""
    ratio = min(max(ratio, 1 / 4), 4.0)
    wide, high = math.sqrt(area * ratio), math.sqrt(area / ratio)
    return (max(1, round(wide / multiple)) * multiple, max(1, round(high / multiple)) * multiple)


def parse_size(size: str) -> tuple[int, int]:
    """Parse width and height from "800x600". Raises InputError."""
    match = re.fullmatch(r"\s*(\d{1,6})\s*(?:[x×*,]|by)\s*(\d{1,6})\s*", size)
    if not match:
        raise InputError(
            tr("“{size}” is not a size.", size=size), hint=tr("Give it in pixels, such as 800x600.")
        )
    wide, high = int(match[1]), int(match[2])
    if not all(MIN_SIDE <= side <= MAX_SIDE for side in (wide, high)):
        raise InputError(
            tr("A picture of {wide} by {high} pixels cannot be drawn.", wide=wide, high=high),
            hint=tr(
                "Ask for {smallest} to {largest} pixels a side.",
                smallest=MIN_SIDE,
                largest=MAX_SIDE,
            ),
        )
    return wide, high


def seed_of(call: Call) -> tuple[int, bool]:
    """The seed, and whether the call chose it; otherwise it is random."""
    chosen = int(call.options.get("seed", 0))
    return (chosen, True) if chosen else (secrets.randbelow(2**31 - 1) + 1, False)


def strength_of(call: Call, usual: float) -> float:
    """How much may change, above 0 to 1. Raises InputError."""
    percent = float(call.options.get("strength", 0)) or 100 * usual
    if not 0 < percent <= 100:
        raise InputError(tr("A strength of {percent:g} percent is not possible.", percent=percent),
                         hint=tr("Give 1 to 100."))  # fmt: skip
    return percent / 100


def prompts(call: Call, port: str = "prompt") -> tuple[str, str]:
    """What to draw, and what to avoid: generators read "without people" as people."""
    text, avoid = call.text(port).strip(), str(call.options.get("avoid", "")).strip()
    if avoid:
        without = rf"[,;]?\s*\b(?:with no|without|but no|no)\s+(?:any\s+)?{re.escape(avoid)}"
        text = re.sub(without, "", text, flags=re.IGNORECASE).strip()
    return text, avoid


def region_box(region: str, size: tuple[int, int]) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of one of the REGIONS in a picture of that (width, height)."""
    width, height = size
    across, down = width // 2, height // 2
    return {
        "left half": (0, 0, across, height),
        "right half": (across, 0, width, height),
        "upper half": (0, 0, width, down),
        "lower half": (0, down, width, height),
        "middle": (width // 4, height // 4, width - width // 4, height - height // 4),
    }[region]


def file_stem(text: str, otherwise: str) -> str:
    """A name for a file, from the first words of a prompt."""
    words = re.findall(r"\w[\w'’-]*", text)[:MAX_NAME_WORDS]
    return " ".join(words)[:60].strip() or otherwise


TEXT_TO_IMAGE = define(
    name="text-to-image", label="Paint picture",
    summary="Paints a picture from a description.",
    ports=(Port(PROMPT, (Kind.TEXT,)),), gives=(Kind.IMAGE,),
    options=(SIZE, AVOID, SEED),
    cues=(
        "draw", "draw me", "paint", "paint me", "picture of", "image of", "generate an image",
        "generate a picture", "create an image", "create a picture", "make an image",
        "make a picture", "illustrat*", "sketch of", "photo of a", "painting of", "drawing of",
        "design a logo", "a logo", "wallpaper of", "poster of", "render a", "visuali*",
        "text to image", "imagine",
    ),
    note="needs an expert that paints",
)  # fmt: skip


_SAID = {region: region for region in REGIONS} | {
    "top half": "upper half", "bottom half": "lower half", "centre": "middle", "center": "middle",
}  # fmt: skip
_PAINTED = ("paint", "repaint", "inpaint", "replace", "fill", "change", "turn")


INPAINTING = define(
    name="inpainting", label="Repaint a part",
    summary="Paints a part of a picture anew after a description. Which part is told by a mask, "
    "white where it is painted, or a cut-out, or by a region such as the left half.",
    ports=(
        Port("image", (Kind.IMAGE,)),
        Port("mask", (Kind.IMAGE,), required=False, known_as=("mask",)),
        Port(PROMPT, (Kind.TEXT,)),
    ),
    gives=(Kind.IMAGE,),
    options=(
        TaskOption("region", "the part to paint, if there is no mask", "",
               choices=("", *REGIONS)),
        AVOID,
        STRENGTH,
        SEED,
    ),
    cues=(
        "inpaint*", "in-paint*", "paint over", "fill the gap", "fill in the gap",
        "fill the masked", "fill the mask", "paint the masked", "replace the masked",
        "restore the missing", "fill in the missing", "repaint the",
    ),
    presets=tuple(
        Preset(f"{verb} the {said}", (("region", region),))
        for verb in _PAINTED
        for said, region in _SAID.items()
    ),
    note="needs an expert that paints",
)  # fmt: skip


CONTROLS: dict[str, tuple[str, str, tuple[str, ...], tuple[str, ...]]] = {
    "canny": (
        "Paint along edges",
        "along the thin edges that canny-control draws",
        ("canny", "edge map", "edges"),
        (
            "from the edges of", "along the edges of", "with the edges of", "following the edges",
            "from canny edges", "use the edges of", "with canny edges", "guided by canny",
            "guided by the edges", "canny controlnet", "same outlines as", "with the outlines of",
            "from a canny", "from the canny", "from this canny", "using canny",
        ),
    ),
    "depth": (
        "Paint by depth",
        "with things as near and far as in the picture that depth-control draws",
        ("depth",),
        (
            "with the depth of", "same depth as", "from the depth of", "using the depth of",
            "use the depth of",
            "guided by the depth", "depth controlnet", "from a depth map", "from the depth map",
            "from this depth map", "with this depth map", "using this depth map",
        ),
    ),
    "hed": (
        "Paint along soft edges",
        "along the soft edges that hed-control draws",
        ("hed", "soft edge"),
        (
            "from the soft edges", "along the soft edges", "with the soft edges of",
            "guided by soft edges", "hed controlnet", "from hed", "from a hed", "using hed",
        ),
    ),
    "mlsd": (
        "Paint along lines",
        "along the straight lines that mlsd-control draws, as of a room or a building",
        ("mlsd", "straight lines"),
        (
            "from the straight lines", "along the straight lines", "with the straight lines of",
            "guided by straight lines", "mlsd controlnet", "from mlsd", "using mlsd",
            "from the lines of the room", "from the lines of the building",
        ),
    ),
    "normal": (
        "Paint by surfaces",
        "with surfaces that face as in the map of normals that normal-control draws",
        ("normal map", "normals", "normal"),
        (
            "from a normal map", "from the normal map", "from this normal map",
            "with the normals of", "with this normal map", "using this normal map",
            "guided by normals", "normal controlnet",
        ),
    ),
    "openpose": (
        "Paint by poses",
        "with people in the poses that openpose-control draws",
        ("openpose", "skeleton", "pose map"),
        (
            "in the same pose", "in the pose of", "same pose as", "with the pose of",
            "from the pose of", "from this pose", "from this skeleton", "guided by the pose",
            "openpose controlnet", "using the pose of", "use the pose of",
            "standing like the person in", "posing like",
        ),
    ),
    "scribble": (
        "Paint after a scribble",
        "after the rough strokes that scribble-control draws, or that a person drew",
        ("scribble", "sketch", "doodle", "drawing", "strokes"),
        (
            "from this scribble", "from my scribble", "from the scribble", "from a scribble",
            "from this doodle", "from my doodle", "from this sketch", "from my sketch",
            "turn this scribble into", "turn my scribble into", "turn this doodle into",
            "turn my doodle into", "turn this sketch into", "turn my sketch into",
            "scribble controlnet", "based on my sketch", "based on this sketch",
            "based on my scribble", "based on this scribble", "based on my doodle",
        ),
    ),
    "seg": (
        "Paint by areas",
        "with things where the areas are that seg-control draws",
        ("segmentation", "seg"),
        (
            "from a segmentation map", "from the segmentation map", "from this segmentation map",
            "with this segmentation map", "using this segmentation map", "from the areas of",
            "segmentation controlnet", "guided by the segmentation",
        ),
    ),
}  # fmt: skip
"""Kind of control -> label; how it guides the picture; names for such a picture; cues."""


def _definition(kind: str) -> Definition:
    label, what, names, cues = CONTROLS[kind]
    control = Port("image", (Kind.IMAGE,), through=f"{kind}-control", known_as=names)
    type = TaskType(
        name=f"{kind}-text-to-image",
        label=label,
        summary=f"Paints a picture from a description, {what}.",
        ports=(control, Port(PROMPT, (Kind.TEXT,))),
        gives=(Kind.IMAGE,),
        options=(AVOID, SEED),
        cues=cues,
    )
    return Definition(type, note="needs an expert that paints after control pictures")


CONTROL_TEXT_TO_IMAGE = tuple(_definition(kind) for kind in CONTROLS)
