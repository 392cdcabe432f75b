"""Writes a document tree as a PDF, in the font of the window and, for letters that it lacks, in one
of this computer."""

from __future__ import annotations

import logging
import re
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from jarvis_desktop.paths import shipped
from jarvis_desktop.tasks.formats.document_files import Run, readable_picture, runs, table_cells
from jarvis_desktop.tasks.formats.documents import DocumentTree

MARGIN_MM = 22.0
SIZE_PT = 10.5
LINE = 1.45
HEADINGS_PT = {"h1": 20.0, "h2": 16.0, "h3": 13.5, "h4": 12.0, "h5": 11.0, "h6": 10.5}
MM_PER_PT = 0.3528
FONT, FALLBACK = "inter", "other"
_STYLES = {"": "Regular", "b": "Bold", "i": "Italic"}
FONT_SECONDS = 10.0
"""How long fonts are looked through for missing letters."""
_font_folders = {
    "win32": ["C:/Windows/Fonts"],
    "darwin": ["/System/Library/Fonts", "/Library/Fonts"],
}.get(sys.platform, ["/usr/share/fonts", "/usr/local/share/fonts"])
_wide = re.compile(
    r"cjk|noto|dejavu|droid|wqy|msyh|simsun|malgun|segoe|arial|pingfang|hiragino", re.I
)


def write_pdf(tree: DocumentTree, to: Path) -> str:
    """Write the document on A4 pages; return the letters that no font here has."""
    from fpdf import FPDF

    for logger in ("fpdf", "fontTools"):
        logging.getLogger(logger).setLevel(logging.CRITICAL)
    pdf: Any = FPDF(format="A4")
    pdf.set_title(tree.title)
    pdf.set_creator("JARVIS Desktop")
    pdf.set_margin(MARGIN_MM)
    pdf.set_auto_page_break(True, MARGIN_MM)
    for style, name in _STYLES.items():
        pdf.add_font(FONT, style, shipped("resources", "fonts", f"Inter-{name}.ttf"))
    pdf.add_font(FONT, "BI", shipped("resources", "fonts", "Inter-Bold.ttf"))
    letters = {letter for letter in "".join(tree.body.itertext()) if letter.isprintable()}
    missing = _fallbacks(pdf, {ord(letter) for letter in letters if not letter.isspace()})
    pdf.add_page()
    _blocks(pdf, tree.body, 0.0)
    pdf.output(str(to))
    return "".join(sorted(map(chr, missing)))


def _fallbacks(pdf: Any, letters: set[int]) -> set[int]:
    """Add fonts of this computer for letters that the own one lacks; return those without any."""
    from fontTools.ttLib import TTFont, TTLibError

    missing: set[int] = letters - pdf.fonts[FONT].cmap.keys()
    until = time.monotonic() + FONT_SECONDS
    names: list[str] = []
    for path in _fonts() if missing else ():
        if not missing or time.monotonic() > until:
            break
        try:
            with TTFont(path, fontNumber=0, lazy=True) as font:
                found = missing & (font.getBestCmap() or {}).keys()
                drawn = "glyf" in font
            if found and drawn:
                name = f"{FALLBACK}{len(names)}"
                for style in ("", "b", "i", "bi"):
                    pdf.add_font(name, style, path)
                names.append(name)
                missing -= found
        except (TTLibError, OSError, ValueError, KeyError, AttributeError, NotImplementedError):
            continue
    if names:
        pdf.set_fallback_fonts(names)
    return missing


@cache
def font_with(words: str) -> Path | None:
    """Return a font that has all letters of some words: the own one, or one of this computer's;
    None if there is none."""
    from fontTools.ttLib import TTFont, TTLibError

    own = shipped("resources", "fonts", "Inter-Bold.ttf")
    letters = {ord(letter) for letter in words if letter.isprintable() and not letter.isspace()}
    until = time.monotonic() + FONT_SECONDS
    for path in (own, *_fonts()):
        broken = suppress(TTLibError, OSError, ValueError, KeyError, NotImplementedError)
        with broken, TTFont(path, fontNumber=0, lazy=True) as font:
            if letters <= (font.getBestCmap() or {}).keys():
                return path
        if time.monotonic() > until:
            break
    return None


def _fonts() -> list[Path]:
    found = [
        path
        for place in (*map(Path, _font_folders), Path.home() / ".local/share/fonts")
        for path in place.rglob("*")
        if path.suffix.lower() in (".ttf", ".ttc", ".otf")
    ]
    return sorted(found, key=lambda path: (not _wide.search(path.name), path.name))


def _blocks(pdf: Any, parent: Iterable[Any], indent: float) -> None:
    for block in parent:
        match block.tag:
            case "h1" | "h2" | "h3" | "h4" | "h5" | "h6":
                size = HEADINGS_PT[block.tag]
                if pdf.will_page_break(3 * size * MM_PER_PT + 3 * SIZE_PT * MM_PER_PT):
                    pdf.add_page()  # a heading stays with what it is above
                elif pdf.get_y() > MARGIN_MM:
                    pdf.ln(size * MM_PER_PT * 0.6)
                _words(pdf, runs(block), indent, size=size, style="b")
            case "ul" | "ol":
                _list(pdf, block, indent)
            case "table":
                _table(pdf, block)
            case "blockquote":
                if len(block) and block[0].tag != "br" and not (block.text or "").strip():
                    _blocks(pdf, block, indent + 8)
                else:
                    _words(pdf, runs(block), indent + 8)
            case "hr":
                pdf.line(MARGIN_MM, pdf.get_y() + 1, pdf.w - MARGIN_MM, pdf.get_y() + 1)
                pdf.ln(4)
            case "pre":
                _words(pdf, [Run("".join(block.itertext()).strip("\n"))], indent + 4, size=9.0)
            case _:
                _words(pdf, runs(block), indent)


def _list(pdf: Any, block: Any, indent: float) -> None:
    for number, item in enumerate(block.iterchildren("li"), 1):
        sign = f"{number}." if block.tag == "ol" else "•"
        height = SIZE_PT * MM_PER_PT * LINE
        if pdf.will_page_break(height):
            pdf.add_page()
        pdf.set_font(FONT, "", SIZE_PT)
        pdf.set_x(MARGIN_MM + indent)
        pdf.cell(6, height, sign)
        _words(pdf, runs(item), indent + 6, gap=0.8)
        for inner in item.iterchildren("ul", "ol"):
            _list(pdf, inner, indent + 6)
    pdf.ln(1.5)


def _words(
    pdf: Any, found: list[Run], indent: float, *, size: float = SIZE_PT, style: str = "",
    gap: float = 2.5,
) -> None:  # fmt: skip
    if not found:
        return
    height = size * MM_PER_PT * LINE
    pdf.set_left_margin(MARGIN_MM + indent)
    if pdf.get_x() < MARGIN_MM + indent:
        pdf.set_x(MARGIN_MM + indent)
    for run in found:
        if run.picture:
            _picture(pdf, run.picture)
            continue
        marks = "".join(
            sorted({*style, *(run.marks & {"b", "i", "u"}), *("u" if run.link else "")})
        )
        pdf.set_font(FONT, marks + ("s" if "s" in run.marks else ""), size)
        pdf.set_text_color(*((5, 99, 193) if run.link else (0, 0, 0)))
        pdf.write(height, run.text, run.link)
    pdf.set_text_color(0, 0, 0)
    pdf.set_left_margin(MARGIN_MM)
    pdf.ln(height)
    pdf.ln(gap)


def _picture(pdf: Any, source: str) -> None:
    from PIL import Image

    readable = readable_picture(source)
    if readable is None:
        return
    with Image.open(readable) as image:
        width, height = (side * 25.4 / 96 for side in image.size)
    scale = min(1.0, (pdf.w - pdf.l_margin - MARGIN_MM) / width, (pdf.h - 2 * MARGIN_MM) / height)
    pdf.image(readable, x=pdf.l_margin, w=width * scale, h=height * scale)
    pdf.ln(2)


def _table(pdf: Any, block: Any) -> None:
    rows = table_cells(block)
    if not rows:
        return
    texts = [["".join(run.text for run in runs(cell)) for cell in row] for row in rows]
    headed = all(cell.tag == "th" for cell in rows[0])
    size = SIZE_PT if len(rows[0]) <= 6 else max(5.0, SIZE_PT * 7 / len(rows[0]))
    pdf.set_font(FONT, "B", size)
    widths = [
        min(
            70.0,
            6 + max(pdf.get_string_width(line) for row in texts for line in row[at].split("\n")),
        )
        for at in range(len(rows[0]))
    ]
    pdf.set_font(FONT, "", size)
    pdf.set_draw_color(170)
    with pdf.table(
        texts, first_row_as_headings=headed, col_widths=tuple(widths), text_align="LEFT",
        line_height=size * MM_PER_PT * LINE, padding=(0.6, 1.6),
    ):  # fmt: skip
        pass
    pdf.set_draw_color(0)
    pdf.ln(3)
