"""Pictures that tests draw: pages of text, and shapes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFilter, ImageFont


def page(
    path: Path,
    lines: Sequence[str | tuple[str, str]],
    *,
    width: int = 700,
    size: int = 26,
    heading: bool = False,
    turned: int = 0,
) -> Path:
    """A printed page, one entry a line; a pair stands at the left and the right edge.

    The first line of a page with a `heading` is larger. `turned` is in degrees, clockwise. It is at
    least as high as wide: a flat one is enlarged before it is read, which takes twice as long.
    """
    step = round(size * 1.6)
    image = Image.new("RGB", (width, max(width, step * (len(lines) + 3))), "white")
    draw = ImageDraw.Draw(image)
    for i, line in enumerate(lines):
        font = ImageFont.load_default(size * 1.7 if heading and not i else size)
        left, right = (line, "") if isinstance(line, str) else line
        top = step * (i + 1) - (size * 0.7 if heading and not i else 0)
        draw.text((40, top), left, "black", font)
        draw.text((width - 40 - draw.textlength(right, font), top), right, "black", font)
    if turned:
        image = image.rotate(-turned, expand=True)
    image.save(path)
    return path


def two_columns(path: Path, left: Sequence[str], right: Sequence[str]) -> Path:
    """A page with two columns of prose under one another's height."""
    image = Image.new("RGB", (1000, 60 + 40 * max(len(left), len(right))), "white")
    draw = ImageDraw.Draw(image)
    for x, column in ((30, left), (530, right)):
        for i, line in enumerate(column):
            draw.text((x, 30 + 40 * i), line, "black", ImageFont.load_default(24))
    image.save(path)
    return path


def shapes(path: Path, *, size: tuple[int, int] = (240, 160)) -> Path:
    """A red disc right of the middle on a blue ground with a white bar at the top left."""
    width, height = size
    image = Image.new("RGB", size, (30, 60, 150))
    draw = ImageDraw.Draw(image)
    box = (width * 0.5, height * 0.25, width * 0.5 + height * 0.5, height * 0.75)
    draw.ellipse(box, fill=(220, 40, 30))
    draw.rectangle((width * 0.05, height * 0.08, width * 0.35, height * 0.18), fill="white")
    image.save(path, quality=95)
    return path


def face(image: Image.Image, *, middle: tuple[int, int], size: int) -> None:
    """Draw a face that looks at the camera, shaded as by a lamp above, `size` pixels wide."""
    draw = ImageDraw.Draw(image)
    x, y = middle
    unit = size / 100

    def oval(dx: float, dy: float, rx: float, ry: float, colour: tuple[int, int, int]) -> None:
        left, top = x + (dx - rx) * unit, y + (dy - ry) * unit
        draw.ellipse((left, top, left + 2 * rx * unit, top + 2 * ry * unit), fill=colour)

    oval(0, -8, 58, 74, (60, 40, 25))  # hair
    oval(0, 5, 48, 64, (224, 180, 150))
    for side in (-1, 1):
        oval(side * 21, -8, 15, 9, (150, 105, 85))  # the hollow of the eye
        oval(side * 21, -7, 10, 5, (245, 240, 235))
        oval(side * 21, -7, 5, 5, (35, 25, 20))
        oval(side * 21, -22, 15, 3, (70, 45, 30))  # brow
        oval(side * 24, 18, 12, 9, (236, 194, 166))  # cheek
    oval(0, 8, 5, 18, (238, 200, 172))
    oval(0, 25, 9, 3, (165, 115, 95))
    oval(0, 42, 17, 4, (150, 70, 70))
    image.paste(image.filter(ImageFilter.GaussianBlur(max(1.0, unit * 1.5))))
