"""Writes a document tree as Word, OpenDocument, HTML, Markdown, plain text and PDF."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from jarvis_desktop.tasks.formats.documents import BLOCKS, DocumentTree, picture_of

_LISTS = ("ul", "ol")
PICTURE_WIDTH_CM = 15.0
MONO = "Courier New"


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of text with its marks (b, i, u, s, code), or a picture; a line break is "\\n"."""

    text: str = ""
    marks: frozenset[str] = frozenset()
    link: str = ""
    picture: str = ""


def runs(element: Any) -> list[Run]:
    """Return the words of a block, without those of the lists and tables in it."""
    found: list[Run] = []
    kept = element.tag == "pre"
    for run in _runs(element, Run()):
        if not run.picture and run.text != "\n":
            text = run.text if kept else re.sub(r"\s+", " ", run.text)
            after_space = not found or found[-1].text.endswith((" ", "\n"))
            text = text if kept or not after_space else text.lstrip(" ")
            run = replace(run, text=text)
        if run.picture or run.text:
            found.append(run)
    while found and not found[-1].picture and not found[-1].text.strip():
        found.pop()
    return found


def _runs(element: Any, marks: Run) -> Iterator[Run]:
    yield replace(marks, text=element.text or "")
    for number, child in enumerate(element):
        if child.tag == "br":
            yield replace(marks, text="\n")
        elif child.tag == "img":
            yield replace(marks, picture=child.get("src"), text=child.get("alt", ""))
        elif child.tag == "a":
            yield from _runs(child, replace(marks, link=child.get("href", "")))
        elif child.tag not in BLOCKS:
            yield from _runs(child, replace(marks, marks=marks.marks | {child.tag}))
        elif child.tag not in (*_LISTS, "table"):
            if number or (element.text or "").strip():
                yield replace(marks, text="\n")
            yield from _runs(child, marks)
        yield replace(marks, text=child.tail or "")


def _plain(element: Any) -> str:
    return "".join(run.text for run in runs(element)).strip()


def table_cells(table: Any) -> list[list[Any]]:
    """Return the cells of a table, as many in each row."""
    found = [list(row) for row in table.iter("tr") if len(row)]
    width = max(map(len, found), default=0)
    empty = table.makeelement("td", {})
    return [[*row, *[empty] * (width - len(row))] for row in found]


def write_html(tree: DocumentTree, to: Path) -> None:
    """Write a web page that needs no other file."""
    from lxml.html import tostring

    head = (
        '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        f"<title>{html.escape(tree.title)}</title>\n<style>\n"
        "body { max-width: 45em; margin: 2em auto; padding: 0 1em; font-family: sans-serif; "
        "line-height: 1.5 }\ntable { border-collapse: collapse }\n"
        "td, th { border: 1px solid #999; padding: .2em .5em; text-align: left }\n"
        "img { max-width: 100% }\n</style>\n</head>\n"
    )
    body = tostring(tree.body, encoding="unicode").replace("><", ">\n<")
    to.write_text(f"{head}{body}\n</html>\n", "utf-8")


def write_markdown(tree: DocumentTree, to: Path) -> None:
    """Write Markdown; pictures are named by their descriptions only."""
    to.write_text("\n\n".join(_markdown(tree.body, _marked)) + "\n", "utf-8")


def write_text(tree: DocumentTree, to: Path) -> None:
    """Write the words alone, with lists and tables in their lines."""
    to.write_text("\n\n".join(_markdown(tree.body, None)) + "\n", "utf-8")


_Inline = Callable[[list[Run]], str]


def _markdown(parent: Any, inline: _Inline | None) -> Iterator[str]:
    """The blocks of Markdown, or of a plain text without an `inline` writer."""
    words = inline or (lambda found: "".join(run.text for run in found))
    for block in parent:
        match block.tag:
            case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
                mark = f"{'#' * int(block.tag[1])} " if inline else ""
                yield mark + words(runs(block)).replace("\n", " ")
            case "ul" | "ol":
                yield "\n".join(_items(block, inline))
            case "table":
                yield "\n".join(_table_lines(block, inline))
            case "pre":
                yield f"```\n{_plain(block)}\n```" if inline else _plain(block)
            case "blockquote":
                inner = "\n\n".join(_markdown(block, inline)) or words(runs(block))
                yield re.sub(r"^", "> ", inner, flags=re.MULTILINE) if inline else inner
            case "hr":
                yield "---"
            case _:
                if text := words(runs(block)).strip():
                    yield text


def _items(block: Any, inline: _Inline | None) -> Iterator[str]:
    words = inline or (lambda found: "".join(run.text for run in found))
    for number, item in enumerate(block.iterchildren("li"), 1):
        sign = f"{number}." if block.tag == "ol" else "-"
        text = words(runs(item)).strip().replace("\n", "\n" + " " * (len(sign) + 1))
        yield f"{sign} {text}"
        for inner in item.iterchildren(*_LISTS):
            yield from (" " * (len(sign) + 1) + line for line in _items(inner, inline))


def _table_lines(table: Any, inline: _Inline | None) -> Iterator[str]:
    for number, row in enumerate(table_cells(table)):
        if inline is None:
            yield "\t".join(_plain(cell).replace("\n", " ") for cell in row)
            continue
        cells = (inline(runs(cell)).strip().replace("|", "\\|") for cell in row)
        yield f"| {' | '.join(cell.replace(chr(10), '<br>') for cell in cells)} |"
        if not number:
            yield f"|{' --- |' * len(row)}"


_SIGNS = {"b": "**", "i": "*", "s": "~~", "code": "`"}


def _marked(found: list[Run]) -> str:
    parts = []
    for run in found:
        if run.picture:
            parts.append(f"[{run.text}]" if run.text else "")
            continue
        if run.text == "\n":
            parts.append("  \n")
            continue
        text = run.text if "code" in run.marks else re.sub(r"([\\`*_\[\]<])", r"\\\1", run.text)
        bare = text.strip()
        for mark, sign in _SIGNS.items():
            bare = f"{sign}{bare}{sign}" if mark in run.marks and bare else bare
        bare = f"[{bare}]({run.link})" if run.link and bare else bare
        before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
        parts.append(before + bare + after if text.strip() else text)
    return re.sub(r"^(\s*)(#+|[-+>]|\d+[.)])(?=\s)", r"\1\\\2", "".join(parts))


def write_docx(tree: DocumentTree, to: Path) -> None:
    """Write a Word file with Word's own styles."""
    import docx

    document: Any = docx.Document()
    document.core_properties.title = tree.title
    document.core_properties.author = ""
    document.core_properties.comments = ""
    for block in tree.body:
        _docx_block(document, block, "")
    document.save(str(to))


def _docx_block(document: Any, block: Any, style: str) -> None:
    match block.tag:
        case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
            _docx_words(document.add_heading(level=int(block.tag[1])), block)
        case "ul" | "ol":
            _docx_list(document, block, 1)
        case "table":
            rows = table_cells(block)
            if rows:
                table = document.add_table(len(rows), len(rows[0]), style="Table Grid")
                for cells, row in zip((list(row.cells) for row in table.rows), rows, strict=True):
                    for cell, given in zip(cells, row, strict=True):
                        _docx_words(cell.paragraphs[0], given, bold=given.tag == "th")
                document.add_paragraph()
        case "blockquote":
            for inner in block if len(block) and block[0].tag in BLOCKS else [block]:
                _docx_words(document.add_paragraph(style="Quote"), inner)
        case "hr":
            document.add_paragraph("* * *").alignment = 1
        case _:
            if found := runs(block):
                _docx_words(document.add_paragraph(style=style or None), block, found)


def _docx_list(document: Any, block: Any, level: int) -> None:
    name = "List Number" if block.tag == "ol" else "List Bullet"
    style = name if level == 1 else f"{name} {min(level, 3)}"
    restarted = _restarted(document, style) if block.tag == "ol" else None
    for item in block.iterchildren("li"):
        paragraph = document.add_paragraph(style=style)
        if restarted is not None:
            number = paragraph._p.get_or_add_pPr().get_or_add_numPr()
            number.get_or_add_ilvl().val = 0
            number.get_or_add_numId().val = restarted
        _docx_words(paragraph, item)
        for inner in item.iterchildren(*_LISTS):
            _docx_list(document, inner, level + 1)


def _restarted(document: Any, style: str) -> int:
    """A numbering that begins with 1 again: Word counts on from one list to the next."""
    numbering = document.part.numbering_part.numbering_definitions._numbering
    own = document.styles[style].element.pPr.numPr.numId.val
    kept = next(num for num in numbering.num_lst if num.numId == own).abstractNumId.val
    fresh = numbering.add_num(kept)
    fresh.add_lvlOverride(ilvl=0).add_startOverride(1)
    return int(fresh.numId)


def _docx_words(
    paragraph: Any, block: Any, found: list[Run] | None = None, *, bold: bool = False
) -> None:
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn
    from docx.shared import Cm, RGBColor

    for run in found if found is not None else runs(block):
        made = paragraph.add_run()
        if run.picture:
            if (picture := readable_picture(run.picture)) is not None:
                shape = made.add_picture(picture)
                if shape.width > Cm(PICTURE_WIDTH_CM):
                    shape.height = round(shape.height * Cm(PICTURE_WIDTH_CM) / shape.width)
                    shape.width = Cm(PICTURE_WIDTH_CM)
            continue
        made.text = run.text
        made.bold = bold or "b" in run.marks or None
        made.italic = "i" in run.marks or None
        made.underline = "u" in run.marks or bool(run.link) or None
        made.font.strike = "s" in run.marks or None
        if "code" in run.marks or block.tag == "pre":
            made.font.name = MONO
        if run.link:
            made.font.color.rgb = RGBColor(0x05, 0x63, 0xC1)
            link = OxmlElement("w:hyperlink")
            target = paragraph.part.relate_to(
                run.link, RELATIONSHIP_TYPE.HYPERLINK, is_external=True
            )
            link.set(qn("r:id"), target)
            paragraph._p.append(link)
            link.append(made._r)


def readable_picture(source: str) -> io.BytesIO | None:
    """Return a picture of a tree as PNG or JPEG; None if it cannot be read."""
    from PIL import Image

    data = io.BytesIO(picture_of(source))
    try:
        with Image.open(data) as image:
            if image.width * image.height > 50_000_000:
                return None
            image.load()
            if image.format not in ("PNG", "JPEG"):
                data = io.BytesIO()
                image.convert("RGBA").save(data, format="PNG")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    data.seek(0)
    return data


_ODT_NAMES = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" '
    'xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" '
    'xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" '
    'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:xlink="http://www.w3.org/1999/xlink" office:version="1.3"'
)
_ODT_LOOKS = {
    "b": 'fo:font-weight="bold"', "i": 'fo:font-style="italic"',
    "u": 'style:text-underline-style="solid" style:text-underline-width="auto"',
    "s": 'style:text-line-through-style="solid"', "code": f'fo:font-family="{MONO}"',
}  # fmt: skip
_ODT_TYPE = "application/vnd.oasis.opendocument.text"


def write_odt(tree: DocumentTree, to: Path) -> None:
    """Write an OpenDocument text."""
    pictures: dict[str, bytes] = {}
    styles: dict[frozenset[str], str] = {}
    body = "".join(_odt_block(block, pictures, styles) for block in tree.body)
    looks = "".join(
        f'<style:style style:name="{name}" style:family="text"><style:text-properties '
        f"{' '.join(_ODT_LOOKS[mark] for mark in sorted(marks))}/></style:style>"
        for marks, name in styles.items()
    )
    levels = {
        "L1": '<text:list-level-style-bullet text:level="{}" text:bullet-char="•">{}'
        "</text:list-level-style-bullet>",
        "L2": '<text:list-level-style-number text:level="{}" style:num-format="1" '
        'style:num-suffix=".">{}</text:list-level-style-number>',
    }
    lists = "".join(
        f'<text:list-style style:name="{name}">'
        + "".join(form.format(level, _odt_indent(level)) for level in range(1, 6))
        + "</text:list-style>"
        for name, form in levels.items()
    )
    cell = (
        '<style:style style:name="Cell" style:family="table-cell"><style:table-cell-properties '
        'fo:padding="0.1cm" fo:border="0.5pt solid #808080"/></style:style>'
    )
    xml = '<?xml version="1.0" encoding="UTF-8"?>\n'
    manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    files = "".join(
        f'<manifest:file-entry manifest:full-path="{path}" manifest:media-type="{kind}"/>'
        for path, kind in {
            "/": _ODT_TYPE, "content.xml": "text/xml", "meta.xml": "text/xml",
            **{path: f"image/{Path(path).suffix[1:]}" for path in pictures},
        }.items()
    )  # fmt: skip
    with ZipFile(to, "w", ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", _ODT_TYPE, ZIP_STORED)
        archive.writestr(
            "content.xml",
            f"{xml}<office:document-content {_ODT_NAMES}><office:automatic-styles>{looks}{lists}"
            f"{cell}</office:automatic-styles><office:body><office:text>{body}</office:text>"
            "</office:body></office:document-content>",
        )
        archive.writestr(
            "meta.xml",
            f"{xml}<office:document-meta {_ODT_NAMES}><office:meta><dc:title>"
            f"{html.escape(tree.title)}</dc:title></office:meta></office:document-meta>",
        )
        for path, data in pictures.items():
            archive.writestr(path, data, ZIP_STORED)
        archive.writestr(
            "META-INF/manifest.xml",
            f'{xml}<manifest:manifest xmlns:manifest="{manifest}" manifest:version="1.3">{files}'
            "</manifest:manifest>",
        )


def _odt_indent(level: int) -> str:
    return (
        '<style:list-level-properties text:list-level-position-and-space-mode="label-alignment">'
        '<style:list-level-label-alignment text:label-followed-by="listtab" '
        f'fo:text-indent="-0.6cm" fo:margin-left="{0.6 * level:.1f}cm"/>'
        "</style:list-level-properties>"
    )


def _odt_block(block: Any, pictures: dict[str, bytes], styles: dict[frozenset[str], str]) -> str:
    def inside(each: Any, marks: frozenset[str] = frozenset()) -> str:
        return _odt_words(runs(each), pictures, styles, marks)

    match block.tag:
        case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
            level = block.tag[1]
            return (
                f'<text:h text:style-name="Heading_20_{level}" text:outline-level="{level}">'
                f"{inside(block)}</text:h>"
            )
        case "ul" | "ol":
            name = "L1" if block.tag == "ul" else "L2"
            items = "".join(
                f"<text:list-item><text:p>{inside(item)}</text:p>"
                + "".join(_odt_block(i, pictures, styles) for i in item.iterchildren(*_LISTS))
                + "</text:list-item>"
                for item in block.iterchildren("li")
            )
            return f'<text:list text:style-name="{name}">{items}</text:list>' if items else ""
        case "table":
            rows = table_cells(block)
            if not rows:
                return ""
            made = "".join(
                "<table:table-row>"
                + "".join(
                    '<table:table-cell table:style-name="Cell" office:value-type="string"><text:p>'
                    f"{inside(cell, frozenset('b' if cell.tag == 'th' else ''))}</text:p>"
                    "</table:table-cell>"
                    for cell in row
                )
                + "</table:table-row>"
                for row in rows
            )
            columns = f'<table:table-column table:number-columns-repeated="{len(rows[0])}"/>'
            return f"<table:table>{columns}{made}</table:table><text:p/>"
        case "blockquote" if len(block) and block[0].tag in BLOCKS:
            return "".join(_odt_block(inner, pictures, styles) for inner in block)
        case "pre":
            return f"<text:p>{inside(block, frozenset({'code'}))}</text:p>"
        case "hr":
            return "<text:p>* * *</text:p>"
    words = inside(block)
    return f"<text:p>{words}</text:p>" if words else ""


def _odt_words(
    found: list[Run],
    pictures: dict[str, bytes],
    styles: dict[frozenset[str], str],
    also: frozenset[str],
) -> str:
    parts = []
    for run in found:
        if run.picture:
            parts.append(_odt_picture(run.picture, pictures))
            continue
        text = html.escape(run.text).replace("\n", "<text:line-break/>")
        text = re.sub(r"  +", lambda it: f' <text:s text:c="{len(it[0]) - 1}"/>', text)
        if marks := (run.marks | also) & _ODT_LOOKS.keys():
            name = styles.setdefault(frozenset(marks), f"T{len(styles) + 1}")
            text = f'<text:span text:style-name="{name}">{text}</text:span>'
        if run.link:
            link = html.escape(run.link, quote=True)
            text = f'<text:a xlink:type="simple" xlink:href="{link}">{text}</text:a>'
        parts.append(text)
    return "".join(parts)


def _odt_picture(source: str, pictures: dict[str, bytes]) -> str:
    from PIL import Image

    readable = readable_picture(source)
    if readable is None:
        return ""
    with Image.open(readable) as image:
        kind, (width, height) = str(image.format).lower(), image.size
    path = f"Pictures/{len(pictures) + 1}.{kind}"
    pictures[path] = readable.getvalue()
    scale = min(PICTURE_WIDTH_CM / width, 2.54 / 96)
    return (
        f'<draw:frame text:anchor-type="as-char" svg:width="{width * scale:.2f}cm" '
        f'svg:height="{height * scale:.2f}cm"><draw:image xlink:href="{path}" '
        'xlink:type="simple" xlink:show="embed" xlink:actuate="onLoad"/></draw:frame>'
    )


WRITERS: Mapping[str, Callable[[DocumentTree, Path], None]] = {
    "docx": write_docx, "odt": write_odt, "html": write_html, "md": write_markdown,
    "txt": write_text,
}  # fmt: skip
"""By ending."""
