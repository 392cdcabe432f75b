"""Named edits of a picture, by Pillow and OpenCV. Runs in child processes only."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.wording import tr

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

    Pixels = NDArray[np.uint8]

MOST_SIDE = 20_000
MOST_PIXELS = 50_000_000


@dataclass(frozen=True, slots=True)
class Wish:
    """How an edit is wanted; 0.0 and "" stand for what is usual with it."""

    amount: float = 0.0
    direction: str = ""
    size: str = ""


def apply_edit(image: Image, edit: str, wish: Wish) -> Image:
    """The edited picture; transparent parts stay transparent. Raises InputError."""
    if edit in _SHAPES:
        return _SHAPES[edit](image, wish)
    changed = _COLOURS[edit](image.convert("RGB"), wish)
    if image.mode == "RGBA":
        changed.putalpha(image.getchannel("A"))
    return changed


def _rotated(image: Image, wish: Wish) -> Image:
    from PIL import Image as images

    degrees = wish.amount or (-90.0 if wish.direction == "left" else 90.0)
    quarters, rest = divmod(degrees % 360, 90)
    if rest == 0:
        ways = (None, images.Transpose.ROTATE_270, images.Transpose.ROTATE_180)
        way = (*ways, images.Transpose.ROTATE_90)[int(quarters)]
        return image.transpose(way) if way is not None else image.copy()
    # What a slanted picture leaves free is white where nothing can be transparent.
    fill = (255, 255, 255, 0) if image.mode == "RGBA" else (255, 255, 255)
    bicubic = images.Resampling.BICUBIC
    return image.rotate(-degrees, expand=True, resample=bicubic, fillcolor=fill)


def _flipped(image: Image, wish: Wish) -> Image:
    from PIL import ImageOps

    upright = wish.direction in ("vertical", "top", "bottom")
    return ImageOps.flip(image) if upright else ImageOps.mirror(image)


def _cropped(image: Image, wish: Wish) -> Image:
    width, height = image.size
    if wish.size:
        wide, high = _wanted(wish.size, image)
        wide, high = min(wide, width), min(high, height)
    else:
        share = (wish.amount or (50.0 if wish.direction else 80.0)) / 100
        if not 0 < share <= 1:
            raise InputError(tr("A crop keeps between 1 and 100 percent of a picture."))
        sideways, upright = wish.direction in ("left", "right"), wish.direction in ("top", "bottom")
        wide = width if upright else max(1, round(width * share))
        high = height if sideways else max(1, round(height * share))
    left = {"left": 0, "right": width - wide}.get(wish.direction, (width - wide) // 2)
    top = {"top": 0, "bottom": height - high}.get(wish.direction, (height - high) // 2)
    return image.crop((left, top, left + wide, top + high))


def _resized(image: Image, wish: Wish) -> Image:
    from PIL import Image as images

    if wish.size:
        wide, high = _wanted(wish.size, image)
    else:
        share = (wish.amount or 50.0) / 100
        wide, high = max(1, round(image.width * share)), max(1, round(image.height * share))
    if wish.amount < 0 or wide * high > MOST_PIXELS or max(wide, high) > MOST_SIDE:
        raise InputError(
            tr("A picture of {wide} by {high} pixels cannot be made.", wide=wide, high=high),
            hint=tr("Ask for at most 50 million pixels."),
        )
    return image.resize((wide, high), images.Resampling.LANCZOS)


def _wanted(size: str, image: Image) -> tuple[int, int]:
    """Width and height from "800x600", or from "800x" or "x600", which keep the proportions."""
    match = re.fullmatch(r"\s*(\d{1,6})?\s*(?:[x×*]|by)?\s*(\d{1,6})?\s*", size.lower())
    wide, high = (int(part or 0) for part in match.groups()) if match else (0, 0)
    if not wide and not high:
        raise InputError(
            tr("“{size}” is no size.", size=size), hint=tr("Give it in pixels, such as 800x600.")
        )
    wide = wide or max(1, round(high * image.width / image.height))
    return wide, high or max(1, round(wide * image.height / image.width))


def _blurred(image: Image, wish: Wish) -> Image:
    from PIL import ImageFilter

    radius = abs(wish.amount) or max(2.0, max(image.size) / 100)
    soft = ImageFilter.GaussianBlur(min(radius, max(image.size) / 2))
    if image.mode == "RGBA":  # weighted by opacity, or hidden colours would bleed out
        return image.convert("RGBa").filter(soft).convert("RGBA")
    return image.filter(soft)


def _grey(image: Image, wish: Wish) -> Image:
    return image.convert("L").convert("RGB")


def _inverted(image: Image, wish: Wish) -> Image:
    from PIL import ImageOps

    return ImageOps.invert(image)


def _brighter(image: Image, wish: Wish) -> Image:
    # A curve that keeps black and white where they are: multiplying would wash out the sky.
    percent = max(-100.0, min(wish.amount or 30.0, 300.0))
    if percent <= -99:
        return image.point([0] * 768)
    gamma = 1 / (1 + percent / 100)
    curve = [round(255 * (value / 255) ** gamma) for value in range(256)]
    return image.point(curve * 3)


def _contrasted(image: Image, wish: Wish) -> Image:
    from PIL import ImageEnhance

    return ImageEnhance.Contrast(image).enhance(_factor(wish.amount or 30.0))


def _coloured(image: Image, wish: Wish) -> Image:
    from PIL import ImageEnhance

    return ImageEnhance.Color(image).enhance(_factor(wish.amount or 40.0))


def _factor(percent: float) -> float:
    return max(0.0, min(1 + percent / 100, 6.0))


def _sharpened(image: Image, wish: Wish) -> Image:
    from PIL import ImageFilter

    percent = int(min(abs(wish.amount) or 120.0, 500.0))
    radius = max(1.2, max(image.size) / 900)
    return image.filter(ImageFilter.UnsharpMask(radius=radius, percent=percent, threshold=2))


def _enhanced(image: Image, wish: Wish) -> Image:
    from PIL import ImageOps

    stretched = ImageOps.autocontrast(image, cutoff=(0.5, 0.5), preserve_tone=True)
    return _sharpened(_coloured(stretched, Wish(12.0)), Wish(60.0))


def _sepia(image: Image, wish: Wish) -> Image:
    from PIL import ImageOps

    return ImageOps.colorize(image.convert("L"), "#150a02", "#fff3d6", mid="#a87f52")


def _sketch(image: Image, wish: Wish) -> Image:
    """Pencil strokes where the light changes: the grey picture divided by its soft copy."""
    import cv2
    import numpy as np
    from PIL import Image as images

    grey = cv2.cvtColor(np.asarray(image), cv2.COLOR_RGB2GRAY)
    side = max(image.size)
    # Fine grain would turn into dirt on the paper.
    calm = cv2.bilateralFilter(grey, 5, 30, 3) if side < 3000 else cv2.GaussianBlur(grey, (5, 5), 0)
    soft = cv2.GaussianBlur(calm, (0, 0), max(2.0, side / 110))
    strokes = cv2.divide(calm, np.maximum(soft, 1), scale=255)
    curve = np.array([255 * (value / 255) ** 2.2 for value in range(256)], np.uint8)
    shade = cv2.addWeighted(cv2.LUT(strokes, curve), 0.88, calm, 0.12, 0)
    white = max(1.0, float(np.percentile(shade, 99)))
    return images.fromarray(cv2.convertScaleAbs(shade, alpha=255 / white)).convert("RGB")


def _cartoon(image: Image, wish: Wish) -> Image:
    """Flat colours inside of dark outlines."""
    import cv2
    import numpy as np
    from PIL import Image as images

    small = image.copy()
    small.thumbnail((1100, 1100))
    pixels = np.asarray(small)
    for _ in range(4):
        pixels = cv2.bilateralFilter(pixels, 9, 30, 7)
    flat = cv2.pyrMeanShiftFiltering(cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), 6, 18)
    hsv = cv2.cvtColor(flat, cv2.COLOR_BGR2HSV)
    hsv[:, :, 1] = cv2.convertScaleAbs(hsv[:, :, 1], alpha=1.35)
    flat = cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB)
    grey = cv2.medianBlur(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), 7)
    block = max(9, max(small.size) // 80 | 1)
    mean, below = cv2.ADAPTIVE_THRESH_GAUSSIAN_C, cv2.THRESH_BINARY
    lines = np.asarray(cv2.adaptiveThreshold(grey, 255, mean, below, block, 5), np.uint8)
    ink = cv2.GaussianBlur(_without_specks(lines), (3, 3), 0).astype(np.float32)[:, :, None] / 255
    drawn = images.fromarray((flat * (0.15 + 0.85 * ink)).astype(np.uint8))
    return drawn.resize(image.size, images.Resampling.LANCZOS)


def _without_specks(lines: Pixels) -> Pixels:
    """The outlines (black) without the dots that are no part of one."""
    import cv2
    import numpy as np

    _, labels, stats, _ = cv2.connectedComponentsWithStats(255 - lines, connectivity=8)
    least = max(12, lines.size // 12_000)
    small = stats[:, cv2.CC_STAT_AREA] < least
    return np.where(small[labels], 255, lines).astype(np.uint8)


def _painting(image: Image, wish: Wish) -> Image:
    """Patches of colour as by a broad brush, coloured a little more strongly."""
    import cv2
    import numpy as np
    from PIL import Image as images

    small = image.copy()
    small.thumbnail((1200, 1200))
    calm = cv2.edgePreservingFilter(np.asarray(small), flags=1, sigma_s=40, sigma_r=0.4)
    pixels = cv2.pyrMeanShiftFiltering(cv2.medianBlur(calm, 7), 8, 16)
    large = images.fromarray(pixels).resize(image.size, images.Resampling.LANCZOS)
    return _coloured(large, Wish(25.0))


def _background_blurred(image: Image, wish: Wish) -> Image:
    import numpy as np
    from PIL import Image as images

    from jarvis_desktop.tasks.foreground import foreground

    radius = abs(wish.amount) or max(4.0, max(image.size) / 60)
    mask = images.fromarray(foreground(np.asarray(image)))
    return images.composite(image, _blurred(image, Wish(radius)), mask)


_SHAPES: dict[str, Callable[[Image, Wish], Image]] = {
    "rotate": _rotated,
    "flip": _flipped,
    "crop": _cropped,
    "resize": _resized,
    "blur": _blurred,
}
_COLOURS: dict[str, Callable[[Image, Wish], Image]] = {
    "grey": _grey,
    "brightness": _brighter,
    "contrast": _contrasted,
    "colour": _coloured,
    "sharpen": _sharpened,
    "enhance": _enhanced,
    "invert": _inverted,
    "sepia": _sepia,
    "sketch": _sketch,
    "cartoon": _cartoon,
    "painting": _painting,
    "background-blur": _background_blurred,
}
