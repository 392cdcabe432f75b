"""Writes pictures in other formats, and as pages of a PDF; and the pages of a PDF as pictures."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Report
from jarvis_desktop.tasks.documents.pdf import render_pages
from jarvis_desktop.tasks.images.io import on_white, read_frames, read_pages

if TYPE_CHECKING:
    from PIL.Image import Image

PICTURES = {
    "png": "PNG", "jpg": "JPEG", "webp": "WEBP", "gif": "GIF", "bmp": "BMP", "tiff": "TIFF",
    "ico": "ICO",
}  # fmt: skip
"""Pillow's names by ending."""
QUALITY = 92  # of 100, for formats that lose something
ICON_SIDE = 256
PAGE_MM = 297.0
"""The longer side of a page with a picture: that of A4."""
MAX_PAGES = 100
_ORIENTATION = 0x0112


def save_pictures(path: Path, to: Path, *, name: str) -> list[Path]:
    """Write a picture in the format of the ending of `to`, and return the files: one, or one for
    each page of a TIFF. An animation stays one if the format has them. Raises InputError."""
    ending = to.suffix[1:]
    if ending in ("gif", "webp") and len(frames := read_frames(path, name=name)) > 1:
        pictures, times = zip(*frames, strict=True)
        _write(
            pictures[0],
            to,
            name,
            save_all=True,
            append_images=pictures[1:],
            duration=list(times),
            loop=0,
        )
        return [to]
    made: list[Path] = []
    for page in read_pages(path, name=name):
        made.append(to.with_stem(f"{to.stem}-{len(made) + 1}"))
        _save_page(page, made[-1], name)
    return made if len(made) > 1 else [made[0].rename(to)]


def _save_page(image: Image, to: Path, name: str) -> None:
    ending = to.suffix[1:]
    options: dict[str, Any] = {}
    if ending in ("jpg", "webp", "png", "tiff"):
        exif = image.getexif()
        exif.pop(_ORIENTATION, None)
        options = {"exif": exif} if exif else {}
        profile = image.info.get("icc_profile") or b""
        if profile[16:20] == b"RGB ":  # that of a CMYK or grey picture does not fit any more
            options["icc_profile"] = profile
    if ending in ("jpg", "bmp"):
        image = on_white(image)
    if ending == "ico":
        image = _icon(image)
        options = {"sizes": [(side, side) for side in (16, 24, 32, 48, 64, 128, ICON_SIDE)]}
    if ending in ("jpg", "webp"):
        options["quality"] = QUALITY
    _write(image, to, name, **options)


def _write(image: Image, to: Path, name: str, **options: Any) -> None:
    try:
        image.save(to, format=PICTURES[to.suffix[1:]], **options)
    except (OSError, ValueError) as error:
        raise InputError(
            tr("{name} cannot be saved as {ending}.", name=name, ending=to.suffix)
        ) from error


def _icon(image: Image) -> Image:
    """The picture in the middle of a transparent square of the largest size of an icon."""
    from PIL import ImageOps

    return ImageOps.pad(image.convert("RGBA"), (ICON_SIDE, ICON_SIDE), color=(0, 0, 0, 0))


def save_pdf(sources: Sequence[tuple[Path, str]], to: Path, *, report: Report) -> None:
    """Write pictures, given by path and name, as the pages of a PDF. Raises InputError."""
    from fpdf import FPDF

    document = FPDF(unit="mm")
    document.set_creator("JARVIS Desktop")
    document.set_title(Path(sources[0][1]).stem)
    document.set_auto_page_break(False)
    for number, (path, name) in enumerate(sources, 1):
        report(
            number / len(sources),
            tr("Picture {number} of {count}", number=number, count=len(sources)),
        )
        for image in read_pages(path, name=name):
            scale = PAGE_MM / max(image.size)
            width, height = (max(10.0, side * scale) for side in image.size)
            document.add_page(format=(width, height))
            source = _jpeg(path, image)
            document.image(source, 0, 0, width, height)
    document.output(str(to))


def _jpeg(path: Path, image: Image) -> Any:
    """What a page gets: a JPEG with its own data, if it need not be turned; or the pixels."""
    from PIL import Image as images

    with images.open(path) as given:
        if given.format != "JPEG":
            return image
        if given.getexif().get(_ORIENTATION, 1) == 1 and given.mode in ("RGB", "L"):
            return io.BytesIO(path.read_bytes())
    packed = io.BytesIO()
    image.save(packed, format="JPEG", quality=QUALITY)
    return packed


def save_page_pictures(path: Path, to: Path, *, name: str, report: Report) -> list[Path]:
    """Write the pages of a PDF as pictures named after `to`, numbered if there are several. Raises
    InputError."""
    made: list[Path] = []
    for at, count, image in render_pages(path, name=name, most=MAX_PAGES):
        report(at / count, tr("Page {number} of {count}", number=at + 1, count=count))
        target = to if count == 1 else to.with_stem(f"{to.stem}-{at + 1}")
        _write(image, target, name, **({"quality": QUALITY} if target.suffix == ".jpg" else {}))
        made.append(target)
    return made
