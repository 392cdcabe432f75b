"""Reads Word, PowerPoint and OpenDocument files, web pages and e-mails, in a child process."""

from __future__ import annotations

import email
import email.policy
import re
from collections.abc import Iterator
from email.message import EmailMessage
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.tasks.documents.plain_text import check_zip, clean, damaged, decode_bytes

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

BROKEN = (
    BadZipFile, KeyError, ValueError, TypeError, AttributeError, IndexError, RecursionError,
    EOFError, OSError, SyntaxError, NotImplementedError,
)  # fmt: skip
"""What a damaged archive raises."""
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_ODT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
MAX_MAIL_BYTES = 50_000_000


def kind_of_archive(path: Path, name: str) -> str:
    """docx, pptx, xlsx, odt, or "" for another archive. Raises InputError if it is damaged."""
    check_zip(path, name)
    with ZipFile(path) as archive:
        names = set(archive.namelist())
    inside = {
        "word/document.xml": "docx",
        "ppt/presentation.xml": "pptx",
        "xl/workbook.xml": "xlsx",
        "content.xml": "odt",
    }
    return next((kind for entry, kind in inside.items() if entry in names), "")


def read_docx(path: Path, *, name: str) -> str:
    """Paragraphs and tables in order; the cells of a row are joined by tabs."""
    import docx
    from docx.opc.exceptions import OpcError

    try:
        with path.open("rb") as file:
            return clean("\n".join(_blocks(docx.Document(file))))
    except (OpcError, *BROKEN) as error:
        raise damaged(name) from error


def _blocks(container: Any) -> Iterator[str]:
    from docx.table import Table

    for block in container.iter_inner_content():
        if not isinstance(block, Table):
            yield block.text + "\n" if block.text.strip() else ""
            continue
        for row in block.rows:
            # A merged cell is listed once per place that it covers.
            cells = dict.fromkeys(cell._tc for cell in row.cells)
            texts = [" ".join(" ".join(_blocks(_cell(tc, row))).split()) for tc in cells]
            yield "\t".join(texts)
        yield ""


def _cell(tc: Any, row: Any) -> Any:
    from docx.table import _Cell

    return _Cell(tc, row)


def read_pptx(path: Path, *, name: str) -> str:
    """The text of the slides in order, separated by blank lines."""
    try:
        with ZipFile(path) as archive:
            slides = [
                (int(found[1]), entry)
                for entry in archive.namelist()
                if (found := re.fullmatch(r"ppt/slides/slide(\d+)\.xml", entry))
            ]
            return clean("\n\n".join(_slide(archive.read(entry)) for _, entry in sorted(slides)))
    except BROKEN as error:
        raise damaged(name) from error


def _slide(data: bytes) -> str:
    lines = []
    for paragraph in xml(data).iter(f"{_DRAWING}p"):
        parts = [
            node.text or "" if node.tag == f"{_DRAWING}t" else "\n"
            for node in paragraph.iter()
            if node.tag in (f"{_DRAWING}t", f"{_DRAWING}br")
        ]
        lines.append("".join(parts).strip())
    return "\n".join(line for line in lines if line)


def read_odt(path: Path, *, name: str) -> str:
    """The paragraphs and headings of an OpenDocument file."""
    try:
        with ZipFile(path) as archive:
            root = xml(archive.read("content.xml"))
    except BROKEN as error:
        raise damaged(name) from error
    wanted = (f"{_ODT}p", f"{_ODT}h")
    lines = ("".join(node.itertext()).strip() for node in root.iter() if node.tag in wanted)
    return clean("\n\n".join(line for line in lines if line))


def xml(data: bytes) -> Element:
    """Parse XML from strangers. Raises one of `BROKEN`."""
    from defusedxml.ElementTree import fromstring

    # defusedxml's errors are ValueErrors; a malformed file raises a SyntaxError.
    root: Element = fromstring(data, forbid_dtd=True)
    return root


def read_mail(path: Path, *, name: str) -> str:
    """The headers, the text, and the names of the attachments."""
    if path.stat().st_size > MAX_MAIL_BYTES:
        raise InputError(tr("{name} is too large to read as an e-mail.", name=name))
    try:
        mail = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
        assert isinstance(mail, EmailMessage)
        heads = [
            f"{head}: {mail[head]}" for head in ("From", "To", "Date", "Subject") if mail[head]
        ]
        attached = [part.get_filename() or "unnamed" for part in mail.iter_attachments()]
        text = _body(mail, name)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise damaged(name) from error
    if not heads and not text.strip():
        raise damaged(name, "it is no e-mail")
    tail = [f"Attached: {', '.join(attached)}"] if attached else []
    parts = ("\n".join(heads), clean(text).strip(), *tail)
    return clean("\n\n".join(part for part in parts if part))


def _body(mail: EmailMessage, name: str) -> str:
    body = mail.get_body(preferencelist=("plain", "html"))
    if body is None:
        return ""
    try:
        content = str(body.get_content())
    except LookupError:  # an unknown encoding
        payload = body.get_payload(decode=True)
        content = decode_bytes(payload, name=name) if isinstance(payload, bytes) else ""
    return html_text(content) if body.get_content_type() == "text/html" else content


def html_text(source: str) -> str:
    """The visible text of a web page: no scripts, styles or comments."""
    reader = _HtmlText()
    reader.feed(source)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.parts).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", clean("\n".join(lines))).strip()


BLOCK_TAGS = frozenset(
    """address article aside blockquote body dd details div dl dt fieldset figcaption figure
    footer form h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol p pre section summary
    table tbody tfoot thead title tr ul""".split()
)
"""Elements of a web page that begin on a new line."""


class _HtmlText(HTMLParser):
    """Collects the visible text."""

    HIDDEN = frozenset({"script", "style", "template", "noscript", "svg", "iframe", "object"})

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in self.HIDDEN:
            self._hidden.append(tag)
        elif tag in BLOCK_TAGS:
            self.parts.append("\n\n" if tag in ("p", "div", "section", "table") else "\n")
        elif tag == "br":
            self.parts.append("\n")
        elif tag in ("td", "th"):
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._hidden:
            # Tags left open inside it end with it.
            while self._hidden.pop() != tag:
                pass
        elif tag in BLOCK_TAGS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._hidden:  # line breaks of the source mean nothing
            self.parts.append(re.sub(r"\s+", " ", data))
