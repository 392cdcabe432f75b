"""Reads documents into a tree of plain HTML: headings, paragraphs, lists, tables, quotes, code,
links, emphasis and pictures that the file itself carries. Nothing else of a web page is kept, and
nothing is fetched. The writers are in `document_files.py`."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Report
from jarvis_desktop.tasks.documents import office
from jarvis_desktop.tasks.documents.plain_text import damaged, decode
from jarvis_desktop.tasks.documents.to_text import read_document
from jarvis_desktop.tasks.formats.tables import table_rows

MAX_TABLE_ROWS = 2000
MAX_PICTURE_BYTES = 20_000_000
BLOCKS = frozenset("h1 h2 h3 h4 h5 h6 p ul ol li table tr td th pre blockquote hr".split())
INLINE = {"b": "b", "strong": "b", "i": "i", "em": "i", "u": "u", "s": "s", "del": "s",
"strike": "s",
          "code": "code", "kbd": "code", "tt": "code", "a": "a", "br": "br",
          "img": "img"}  # fmt: skip
_hidden = frozenset(
    "head title script style template noscript svg iframe object embed form input button select "
    "nav textarea audio video canvas math link meta".split()
)
_data_picture = re.compile(r"data:image/(?:png|jpe?g|gif|webp|bmp);base64,", re.IGNORECASE)


class DocumentTree:
    """A document as plain HTML."""

    def __init__(self, title: str, source: str) -> None:
        """`source` is HTML of any kind."""
        from lxml import html as parser

        self.title = title
        self.body: Any = parser.Element("body")
        # A leading element keeps lxml from taking a bare text for a document of its own.
        given = parser.document_fromstring(f"<html><body>{source}</body></html>")
        self._copy(given.find("body"), self.body)
        self._wrap(self.body)

    def _copy(self, given: Any, into: Any) -> None:
        """Append what is kept of an element's content."""
        _append_text(into, given.text)
        for child in given:
            tag = child.tag if isinstance(child.tag, str) else ""
            name = tag.lower()
            if name == "img":
                self._picture(child, into)
            elif name in BLOCKS or name in INLINE:
                made = into.makeelement(INLINE.get(name, name), {})
                into.append(made)
                link = child.get("href", "").strip() if name == "a" else ""
                if re.match(r"https?://|mailto:", link, re.IGNORECASE):
                    made.set("href", link)
                self._copy(child, made)
            elif name not in _hidden and tag:
                self._container(child, into, block=name in office.BLOCK_TAGS)
            _append_text(into, child.tail)

    def _container(self, child: Any, into: Any, *, block: bool) -> None:
        """Append the content of an element that alone means nothing."""
        if not block:
            self._copy(child, into)
        elif not _holds_blocks(child):
            into.append(into.makeelement("p", {}))
            self._copy(child, into[-1])
        else:
            inner = into.makeelement("div", {})
            self._copy(child, inner)
            if child.tag not in ("tbody", "thead", "tfoot"):
                self._wrap(inner)
            into.extend(list(inner))

    def _picture(self, child: Any, into: Any) -> None:
        source = child.get("src", "")
        if _data_picture.match(source) and len(source) < 1.4 * MAX_PICTURE_BYTES:
            into.append(into.makeelement("img", {"src": source, "alt": child.get("alt", "")}))
            return
        # A picture that is somewhere else is named in its place.
        _append_text(into, f"[{child.get('alt', '').strip() or tr('picture')}]")

    def _wrap(self, body: Any) -> None:
        """Put text and emphasis that lie between the blocks into paragraphs."""
        rest, body.text = body.text, None
        loose: list[Any] = []

        def close(before: Any | None) -> None:
            nonlocal rest, loose
            if (rest or "").strip() or loose:
                made = body.makeelement("p", {})
                made.text = rest
                made.extend(loose)
                body.append(made) if before is None else before.addprevious(made)
            rest, loose = None, []

        for child in list(body):
            if child.tag in BLOCKS:
                tail, child.tail = child.tail, None
                close(child)
                rest = tail
            else:
                body.remove(child)
                loose.append(child)
        close(None)


def _append_text(into: Any, text: str | None) -> None:
    if not text:
        return
    if len(into):
        into[-1].tail = (into[-1].tail or "") + text
    else:
        into.text = (into.text or "") + text


def _holds_blocks(element: Any) -> bool:
    return any(
        isinstance(each.tag, str) and (each.tag in BLOCKS or each.tag in office.BLOCK_TAGS)
        for each in element.iterdescendants()
    )


def picture_of(source: str) -> bytes:
    """Return the data of a picture that is part of a tree."""
    return base64.b64decode(source.partition(",")[2])


def read_tree(item: Artifact, *, report: Report, workdir: Path) -> DocumentTree:
    """Read a document, a table or a text. Raises InputError, which names the file."""
    title = Path(item.title).stem if item.path else item.name
    if item.path is None:
        return DocumentTree(title, _of_markdown(item.text or ""))
    path, name = item.path, item.title
    start = path.read_bytes()[:2048]
    ending = Path(name).suffix.lower()
    if start.startswith(b"PK\x03\x04") and office.kind_of_archive(path, name) == "xlsx":
        ending = ".xlsx"
    if ending in (".csv", ".tsv", ".xlsx", ".parquet", ".json", ".jsonl"):
        return DocumentTree(title, _of_tables(path, name, workdir))
    for way in (_docx, _odt, _web_page, _markdown):
        if source := way(path, name, ending, start):
            return DocumentTree(title, source)
    text = read_document(path, name=name, report=report, workdir=workdir)
    return DocumentTree(title, _of_text(text))


_WORD_STYLES = "\n".join(
    (
        *("p[style-name='Quote'] => blockquote", "p[style-name='Intense Quote'] => blockquote"),
        *(
            "p[style-name='List Bullet'] => ul > li:fresh",
            "p[style-name='List Number'] => ol > li:fresh",
        ),
        "p[style-name='List Bullet 2'] => ul|ol > li > ul > li:fresh",
        "p[style-name='List Number 2'] => ul|ol > li > ol > li:fresh",
        "u => u",
    )
)


def _docx(path: Path, name: str, ending: str, start: bytes) -> str:
    if not start.startswith(b"PK\x03\x04") or office.kind_of_archive(path, name) != "docx":
        return ""
    import mammoth

    try:
        with path.open("rb") as file:
            found = mammoth.convert_to_html(file, style_map=_WORD_STYLES)
            return str(found.value) or "<p></p>"
    except office.BROKEN as error:
        raise damaged(name) from error


def _web_page(path: Path, name: str, ending: str, start: bytes) -> str:
    opening = start[:500].lstrip().lower()
    if ending in (".html", ".htm", ".xhtml") or opening.startswith((b"<!doctype html", b"<html")):
        return decode(path, name=name)
    return ""


def _markdown(path: Path, name: str, ending: str, start: bytes) -> str:
    return _of_markdown(decode(path, name=name)) if ending in (".md", ".markdown") else ""


def _of_markdown(text: str) -> str:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": False, "breaks": True})
    return str(reader.enable(["table", "strikethrough"]).render(text)) or "<p></p>"


def _of_text(text: str) -> str:
    blocks = re.split(r"\n\s*\n", text.strip())
    return "".join(f"<p>{'<br>'.join(html.escape(b).splitlines())}</p>" for b in blocks)


def _of_tables(path: Path, name: str, workdir: Path) -> str:
    parts = []
    found = table_rows(path, name=name, workdir=workdir, most=MAX_TABLE_ROWS)
    for title, rows in found:
        head = f"<h2>{html.escape(title)}</h2>" if title else ""
        lines = []
        for number, row in enumerate(row for row in rows if any(row)):
            tag = "td" if number else "th"
            cells = "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)
            lines.append(f"<tr>{cells}</tr>")
        parts.append(f"{head}<table>{''.join(lines)}</table>")
    return "".join(parts)


_ns = {
    "office": "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
    "text": "urn:oasis:names:tc:opendocument:xmlns:text:1.0",
    "table": "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
    "style": "urn:oasis:names:tc:opendocument:xmlns:style:1.0",
    "fo": "urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0",
    "draw": "urn:oasis:names:tc:opendocument:xmlns:drawing:1.0",
    "xlink": "http://www.w3.org/1999/xlink",
}


def _odt(path: Path, name: str, ending: str, start: bytes) -> str:
    if not start.startswith(b"PK\x03\x04") or office.kind_of_archive(path, name) != "odt":
        return ""
    try:
        with ZipFile(path) as archive:
            root = office.xml(archive.read("content.xml"))
            styles = dict(_emphasis(root))
            body = root.find("office:body/office:text", _ns)
            if body is None:
                raise damaged(name, tr("it has no text"))
            return "".join(_odt_block(node, styles, archive) for node in body) or "<p></p>"
    except office.BROKEN as error:
        raise damaged(name) from error


def _emphasis(root: Any) -> Iterator[tuple[str, Sequence[str]]]:
    """The styles of a file that make a text bold or italic, with these tags; and those of lists
    with numbers, with "ol"."""
    for style in root.iter(_q("style:style")):
        looks = style.find("style:text-properties", _ns)
        if looks is not None:
            bold = looks.get(_q("fo:font-weight")) == "bold"
            italic = looks.get(_q("fo:font-style")) == "italic"
            yield style.get(_q("style:name"), ""), ["b"] * bold + ["i"] * italic
    for style in root.iter(_q("text:list-style")):
        if style.find("text:list-level-style-number", _ns) is not None:
            yield style.get(_q("style:name"), ""), ["ol"]


def _q(name: str) -> str:
    space, _, tag = name.partition(":")
    return f"{{{_ns[space]}}}{tag}"


def _odt_block(node: Any, styles: dict[str, Sequence[str]], archive: ZipFile) -> str:
    def inside(each: Any) -> str:
        return "".join(_odt_block(child, styles, archive) for child in each)

    match node.tag.partition("}")[2] if isinstance(node.tag, str) else "":
        case "h":
            level = min(6, int(node.get(_q("text:outline-level")) or 1))
            return f"<h{level}>{_odt_words(node, styles, archive)}</h{level}>"
        case "p":
            return f"<p>{_odt_words(node, styles, archive)}</p>"
        case "list":
            tag = "ol" if "ol" in styles.get(node.get(_q("text:style-name")) or "", ()) else "ul"
            return f"<{tag}>{inside(node)}</{tag}>"
        case "list-item" | "list-header":
            return f"<li>{inside(node)}</li>"
        case "table":
            return f"<table>{inside(node)}</table>"
        case "table-row":
            return f"<tr>{inside(node)}</tr>"
        case "table-cell":
            return f"<td>{inside(node)}</td>"
        case "section" | "table-header-rows" | "table-rows" | "index-body" | "table-of-content":
            return inside(node)
    return ""


def _odt_words(node: Any, styles: dict[str, Sequence[str]], archive: ZipFile) -> str:
    parts = [html.escape(node.text or "")]
    for child in node:
        inner = _odt_words(child, styles, archive)
        match child.tag.partition("}")[2] if isinstance(child.tag, str) else "":
            case "span":
                for tag in styles.get(child.get(_q("text:style-name")) or "", ()):
                    inner = f"<{tag}>{inner}</{tag}>"
            case "a":
                link = html.escape(child.get(_q("xlink:href")) or "", quote=True)
                inner = f'<a href="{link}">{inner}</a>'
            case "line-break":
                inner = "<br>"
            case "tab" | "s":
                inner = " " * min(80, int(child.get(_q("text:c")) or 1))
            case "image":
                inner = _odt_picture(child.get(_q("xlink:href")) or "", archive)
            case "note-citation" | "annotation" | "tracked-changes":
                inner = ""
        parts += [inner, html.escape(child.tail or "")]
    return "".join(parts)


def _odt_picture(place: str, archive: ZipFile) -> str:
    if place not in archive.namelist() or archive.getinfo(place).file_size > MAX_PICTURE_BYTES:
        return '<img src="">'
    kind = Path(place).suffix[1:].lower().replace("jpg", "jpeg")
    packed = base64.b64encode(archive.read(place)).decode()
    return f'<img src="data:image/{kind};base64,{packed}">'
