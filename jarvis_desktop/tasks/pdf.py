"""Reads the text of a PDF, by its text layer or, where it is a scan, by OCR of its pictures.
Runs in a child process."""

from __future__ import annotations

import logging
import struct
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.core.call import Report
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.plain_text import clean, damaged

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

Recognise = Callable[[Path], str]
"""Reads the text in a picture."""

SECONDS_PER_PAGE = 10.0
SECONDS = 240.0
MOST_PAGES = 2000
MOST_SCANNED = 40
SCANNED_BELOW = 15
"""Characters on a page below which its pictures are looked at."""
LARGEST_PICTURE = 40_000_000
"""Pixels."""

# What pypdf, Pillow and zlib raise on malformed files besides their own errors.
_MALFORMED = (
    ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, ArithmeticError,
    AssertionError, NotImplementedError, EOFError, OSError, zlib.error, struct.error, MemoryError,
)  # fmt: skip


class _TooSlow(Exception):
    """A page takes longer than its share."""


def read_pdf(path: Path, *, name: str, report: Report, recognise: Recognise, workdir: Path) -> str:
    """The text, pages parted by blank lines.

    Raises InputError where the file is encrypted, damaged or holds no text. Broken pages among good
    ones are left out and named at the end.
    """
    from pypdf.errors import PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        with path.open("rb") as file:
            return _read(_open(file, name), name, report, recognise, workdir)
    except InputError:
        raise
    except (PyPdfError, *_MALFORMED) as error:
        raise damaged(name) from error


def _open(file: object, name: str) -> PdfReader:
    from pypdf import PasswordType, PdfReader

    reader = PdfReader(file)  # type: ignore[arg-type]
    if reader.is_encrypted and reader.decrypt("") == PasswordType.NOT_DECRYPTED:
        raise InputError(
            f"{name} needs a password.",
            hint="Save a copy without the password and give that.",
        )
    return reader


def _read(reader: PdfReader, name: str, report: Report, recognise: Recognise, workdir: Path) -> str:
    from pypdf.errors import PyPdfError

    ends = time.monotonic() + SECONDS
    pages: list[str] = []
    left_out: list[int] = []
    scanned = 0
    count = min(len(reader.pages), MOST_PAGES)
    for index in range(count):
        if time.monotonic() > ends:
            left_out += range(index + 1, count + 1)
            break
        report(index / count, f"Reading page {index + 1} of {count}")
        try:
            page = reader.pages[index]
            text = _page_text(page)
            if len(text.strip()) < SCANNED_BELOW and scanned < MOST_SCANNED:
                found = "\n".join(_pictured(page, recognise, workdir))
                scanned += bool(found)
                text = found or text
            pages.append(text)
        except (PyPdfError, _TooSlow, *_MALFORMED):
            left_out.append(index + 1)
    return _together(pages, left_out, name)


def _together(pages: list[str], left_out: list[int], name: str) -> str:
    text = "\n\n".join(page for page in (clean(page).strip() for page in pages) if page)
    if not text and left_out:
        raise damaged(name)
    if not text:
        raise InputError(f"{name} holds no text that can be read, nor pictures of any.")
    if left_out:
        some = ", ".join(map(str, left_out[:10])) + (" and more" if len(left_out) > 10 else "")
        text += f"\n\n[Not readable: page {some}.]"
    return text


def _page_text(page: PageObject) -> str:
    ends = time.monotonic() + SECONDS_PER_PAGE

    def watch(*_: object) -> None:
        if time.monotonic() > ends:
            raise _TooSlow

    text = page.extract_text(visitor_operand_before=watch)
    # Some writers part words by a tab and a carriage return.
    return "\n".join(" ".join(line.split()) for line in text.split("\n"))


def _pictured(page: PageObject, recognise: Recognise, workdir: Path) -> Iterator[str]:
    """The text in the page's pictures, the largest three."""
    from PIL import Image

    sized: list[tuple[int, int]] = []
    for at, picture in enumerate(page.images):
        if picture.image is not None and at < 50:
            width, height = picture.image.size
            if 10_000 <= width * height <= LARGEST_PICTURE:
                sized.append((width * height, at))
    for _, at in sorted(sorted(sized, reverse=True)[:3], key=lambda pair: pair[1]):
        image = page.images[at].image
        assert image is not None
        turned = image.rotate(-page.rotation, expand=True) if page.rotation else image
        to = workdir / "scanned-page.png"
        turned.convert("RGB").save(to)
        yield recognise(to)
        to.unlink()
        Image.Image.close(turned)
