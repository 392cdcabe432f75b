"""Reads PDFs by their text layer or, if they are scans, by OCR of their pictures; in a child
process."""

from __future__ import annotations

import logging
import math
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Report
from jarvis_desktop.tasks.documents.plain_text import clean, damaged

if TYPE_CHECKING:
    from PIL.Image import Image
    from pypdf import PageObject, PdfReader
    from pypdfium2 import PdfPage

Recognise = Callable[[Path], str]  # reads the text in a picture

PAGE_TIMEOUT_S = 10.0
TIMEOUT_S = 240.0
MAX_PAGES = 2000
MAX_SCANNED_PAGES = 40
SCANNED_BELOW = 15  # characters on a page below which its pictures are read
MAX_PICTURE_PIXELS = 40_000_000
PAGE_DPI = 150  # for rendering: small print stays readable, and an A4 page has two million pixels

# What pypdf, Pillow and zlib raise for malformed files besides their own errors.
_MALFORMED = (
    ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, ArithmeticError,
    AssertionError, NotImplementedError, EOFError, OSError, zlib.error, struct.error, MemoryError,
)  # fmt: skip


class _TooSlow(Exception):
    """A page exceeded its time."""


def read_pdf(path: Path, *, name: str, report: Report, recognise: Recognise, workdir: Path) -> str:
    """Read the text, with blank lines between pages. Raises InputError if the file is encrypted,
    damaged or has no text. Broken pages among good ones are left out and listed at the end."""
    with open_pdf(path, name=name) as reader:
        return _read(reader, name, report, recognise, workdir)


@contextmanager
def open_pdf(path: Path, *, name: str) -> Iterator[PdfReader]:
    """Open a PDF. Raises InputError if it is encrypted or no PDF, also for what the block finds
    damaged in it."""
    from pypdf.errors import PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        with path.open("rb") as file:
            yield _open(file, name)
    except InputError:
        raise
    except (PyPdfError, *_MALFORMED) as error:
        raise damaged(name) from error


def _open(file: object, name: str) -> PdfReader:
    from pypdf import PasswordType, PdfReader

    reader = PdfReader(file)  # type: ignore[arg-type]
    if reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED:
        raise _needs_password(name)
    return reader


def _needs_password(name: str) -> InputError:
    return InputError(
        tr("{name} needs a password.", name=name),
        hint=tr("Save a copy without the password and give that."),
    )


def _read(reader: PdfReader, name: str, report: Report, recognise: Recognise, workdir: Path) -> str:
    from pypdf.errors import PyPdfError

    ends = time.monotonic() + TIMEOUT_S
    pages: list[str] = []
    left_out: list[int] = []
    scanned = 0
    count = min(len(reader.pages), MAX_PAGES)
    for index in range(count):
        if time.monotonic() > ends:
            left_out += range(index + 1, count + 1)
            break
        report(index / count, tr("Reading page {number} of {count}", number=index + 1, count=count))
        try:
            page = reader.pages[index]
            text = _page_text(page)
            if len(text.strip()) < SCANNED_BELOW and scanned < MAX_SCANNED_PAGES:
                found = "\n".join(_read_pictures(page, recognise, workdir))
                scanned += bool(found)
                text = found or text
            pages.append(text)
        except (PyPdfError, _TooSlow, *_MALFORMED):
            left_out.append(index + 1)
    return _join_pages(pages, left_out, name)


def _join_pages(pages: list[str], left_out: list[int], name: str) -> str:
    text = "\n\n".join(page for page in (clean(page).strip() for page in pages) if page)
    if not text and left_out:
        raise damaged(name)
    if not text:
        raise InputError(tr("{name} contains no readable text, nor pictures of text.", name=name))
    if left_out:
        some = ", ".join(map(str, left_out[:10])) + (" and more" if len(left_out) > 10 else "")
        text += f"\n\n[Not readable: page {some}.]"
    return text


def _page_text(page: PageObject) -> str:
    ends = time.monotonic() + PAGE_TIMEOUT_S

    def watch(*_: object) -> None:
        if time.monotonic() > ends:
            raise _TooSlow

    text = page.extract_text(visitor_operand_before=watch)
    # Some writers separate words by a tab and a carriage return.
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))


def _read_pictures(page: PageObject, recognise: Recognise, workdir: Path) -> Iterator[str]:
    for picture in _pictures(page, 3):
        to = workdir / "scanned-page.png"
        picture.save(to)
        yield recognise(to)
        to.unlink()
        picture.close()


def _pictures(page: PageObject, most: int) -> Iterator[Image]:
    """The page's largest pictures as they appear on it, RGB, in page order."""
    sized: list[tuple[int, int]] = []
    for at, picture in enumerate(page.images):
        if picture.image is not None and at < 50:
            width, height = picture.image.size
            if 10_000 <= width * height <= MAX_PICTURE_PIXELS:
                sized.append((width * height, at))
    for _, at in sorted(sorted(sized, reverse=True)[:most], key=lambda pair: pair[1]):
        image = page.images[at].image
        assert image is not None
        turned = image.rotate(-page.rotation, expand=True) if page.rotation else image
        yield turned.convert("RGB")


def is_pdf(path: Path) -> bool:
    """Whether the file has a PDF header."""
    with path.open("rb") as file:
        return b"%PDF-" in file.read(1024)


def page_pictures(path: Path, *, name: str, most: int) -> list[Image]:
    """Render the first `most` pages of a PDF as RGB. Returns [] if there are more and they have a
    text layer: then its text says more than some of its pages. Raises InputError if the file is
    encrypted or damaged."""
    import pypdfium2

    try:
        with closing(pypdfium2.PdfDocument(path)) as document:
            if len(document) > most and len(_text_layer(document[0])) >= SCANNED_BELOW:
                return []
            return [_render(document[at]) for at in range(min(len(document), most))]
    except pypdfium2.PdfiumError as error:
        raise (_needs_password if "password" in str(error) else damaged)(name) from error


def render_pages(path: Path, *, name: str, most: int) -> Iterator[tuple[int, int, Image]]:
    """Render up to `most` pages of a PDF as RGB, each with its place and the number of pages.
    Raises InputError if the file is encrypted, damaged or has more."""
    import pypdfium2

    try:
        with closing(pypdfium2.PdfDocument(path)) as document:
            count = len(document)
            if count > most:
                raise InputError(
                    tr("{name} has {count} pages.", name=name, count=count),
                    hint=tr("At most {most} can be made into pictures.", most=most),
                )
            for at in range(count):
                yield at, count, _render(document[at])
    except pypdfium2.PdfiumError as error:
        raise (_needs_password if "password" in str(error) else damaged)(name) from error


def _text_layer(page: PdfPage) -> str:
    return str(page.get_textpage().get_text_bounded()).strip()


def _render(page: PdfPage) -> Image:
    width, height = page.get_size()
    scale = min(PAGE_DPI / 72, math.sqrt(MAX_PICTURE_PIXELS / max(1.0, width * height)))
    picture: Image = page.render(scale=scale).to_pil().convert("RGB")
    return picture
