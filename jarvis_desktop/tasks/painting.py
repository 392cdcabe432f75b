"""What the tasks that make pictures and films have in common: their options, sizes and regions.

The built-in ways, the fetched experts and those behind an API all read them here.
"""

from __future__ import annotations

import math
import re
import secrets
from dataclasses import dataclass

from jarvis_desktop.core.call import Call
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Option
from jarvis_desktop.core.wording import tr

SIZE = Option(
    "size",
    'width and height in pixels, "800x600", or a shape: square, landscape, portrait, wide',
    "",
    reads="shape",
)
AVOID = Option("avoid", "what must not be in it", "", reads="without")
SEED = Option("seed", "the same number gives the same again; 0 = another one each time", 0,
              reads="seed")  # fmt: skip
STRENGTH = Option(
    "strength",
    "how much may change, in percent: 30 = a little, 80 = nearly all; 0 = what is usual",
    0,
    units=("percent", "%"),
)
SECONDS = Option("seconds", "how long it lasts; 0 = what is usual", 0.0, units=("second*", "sec"))

REGIONS = ("left half", "right half", "upper half", "lower half", "middle")

SHAPES = {"square": 1.0, "landscape": 3 / 2, "portrait": 2 / 3, "wide": 16 / 9}
"""Width by height."""

SMALLEST, LARGEST = 64, 4096
"""Pixels of a side that may be asked for."""

MOST_DRAWN = 2.25
"""Experts draw at most so many times the pixels that they were trained on: beyond, things come
out twice. What is larger is enlarged afterwards."""

LONGEST_NAME = 6
"""Words of a wish that name the file made for it."""


@dataclass(frozen=True, slots=True)
class Frame:
    """How large a picture is drawn, and how large it is wanted, as (width, height) in pixels."""

    drawn: tuple[int, int]
    wanted: tuple[int, int]


def frame(call: Call, *, side: int, multiple: int, ratio: float = 1.0) -> Frame:
    """The size for an expert that was trained on squares of `side`, and takes multiples.

    `ratio` is width by height where the call leaves it open. Raises InputError.
    """
    asked = str(call.options.get("size", "")).strip().lower()
    wanted = None if not asked or asked in SHAPES else pixels(asked)
    ratio = SHAPES.get(asked, wanted[0] / wanted[1] if wanted else ratio)
    area = float(side * side)
    if wanted:
        area = min(max(wanted[0] * wanted[1], area / 4), MOST_DRAWN * area)
    drawn = fitted(ratio, area, multiple)
    return Frame(drawn, wanted or drawn)


def fitted(ratio: float, area: float, multiple: int) -> tuple[int, int]:
    """The width and height of those proportions and about that area, both multiples."""
    ratio = min(max(ratio, 1 / 4), 4.0)
    wide, high = math.sqrt(area * ratio), math.sqrt(area / ratio)
    return (
        max(1, round(wide / multiple)) * multiple,
        max(1, round(high / multiple)) * multiple,
    )


def pixels(size: str) -> tuple[int, int]:
    """Width and height from "800x600". Raises InputError."""
    match = re.fullmatch(r"\s*(\d{1,6})\s*(?:[x×*,]|by)\s*(\d{1,6})\s*", size)
    if not match:
        raise InputError(
            tr("“{size}” is no size.", size=size), hint=tr("Give it in pixels, such as 800x600.")
        )
    wide, high = int(match[1]), int(match[2])
    if not all(SMALLEST <= side <= LARGEST for side in (wide, high)):
        raise InputError(
            tr("A picture of {wide} by {high} pixels cannot be drawn.", wide=wide, high=high),
            hint=tr(
                "Ask for {smallest} to {largest} pixels a side.",
                smallest=SMALLEST,
                largest=LARGEST,
            ),
        )
    return wide, high


def seed_of(call: Call) -> tuple[int, bool]:
    """The seed, and whether the call chose it; otherwise it is a new one."""
    chosen = int(call.options.get("seed", 0))
    return (chosen, True) if chosen else (secrets.randbelow(2**31 - 1) + 1, False)


def strength_of(call: Call, usual: float) -> float:
    """How much may change, above 0 to 1. Raises InputError."""
    percent = float(call.options.get("strength", 0)) or 100 * usual
    if not 0 < percent <= 100:
        raise InputError(tr("A strength of {percent:g} percent is not possible.", percent=percent),
                         hint=tr("Give 1 to 100."))  # fmt: skip
    return percent / 100


def wish(call: Call, port: str = "prompt") -> tuple[str, str]:
    """What is to be drawn, and what is not: generators read "without people" as people."""
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
    """A name for a file, from the first words of a wish."""
    words = re.findall(r"\w[\w'’-]*", text)[:LONGEST_NAME]
    return " ".join(words)[:60].strip() or otherwise
