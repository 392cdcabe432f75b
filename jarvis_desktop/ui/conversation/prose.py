"""The text of an answer: paragraphs, headings, lists, quotes and rules in a QTextDocument with our
own formats; Qt never gets HTML."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile, zip_longest

from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, QRectF, Qt, QUrl, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
)
from PySide6.QtWidgets import QTextEdit, QToolTip

from jarvis_desktop.core.display import encodable
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.ui.conversation.code_view import monospaced
from jarvis_desktop.ui.conversation.markdown import MarkdownText, Span, ThematicBreak
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.labels import TextView

HEADING_SIZES = {1: 2, 2: 1}  # steps of Qt's font sizes by which a heading is larger
LINE_BREAK = "\u2028"  # ends a line within a paragraph

# characters that Qt reads as the end of a paragraph, a frame or a picture
_foreign = str.maketrans(
    {"\n": LINE_BREAK, "\r": LINE_BREAK, "\u2029": LINE_BREAK}
    | dict.fromkeys("\x00\ufdd0\ufdd1\ufffc", "\ufffd")
)


def direction(spans: Sequence[Span]) -> Qt.LayoutDirection:
    """The writing direction: that of the first letter that has one."""
    for span in spans:
        for letter in span.text[:500]:
            kind = unicodedata.bidirectional(letter)
            if kind in ("R", "AL"):
                return Qt.LayoutDirection.RightToLeft
            if kind == "L":
                return Qt.LayoutDirection.LeftToRight
    return Qt.LayoutDirection.LeftToRight


def char_format(span: Span, level: int, *, quoted: bool) -> QTextCharFormat:
    """The format of words in a heading of that level (0 for none), or in a quote."""
    made = QTextCharFormat()
    if level:
        made.setProperty(QTextFormat.Property.FontSizeAdjustment, HEADING_SIZES.get(level, 0))
    if level or span.bold:
        made.setFontWeight(QFont.Weight.DemiBold)
    made.setFontItalic(span.italic)
    made.setFontStrikeOut(span.struck)
    colour: QColor | None = theme.colour("muted") if quoted or level > 4 else None
    if span.code:
        made.setFontFamilies(monospaced().families())
        made.setFontFixedPitch(True)
        made.setBackground(theme.colour("sunken"))
    if span.link:
        made.setAnchor(True)
        made.setAnchorHref(span.link)
        made.setFontUnderline(True)
        colour = theme.colour("accent")
    if colour:
        made.setForeground(colour)
    return made


def clean_spans(spans: Sequence[Span]) -> tuple[Span, ...]:
    """The spans without characters that are special in Qt's documents."""
    return tuple(replace(span, text=encodable(span.text).translate(_foreign)) for span in spans)


def common_prefix(before: Sequence[Span], now: Sequence[Span]) -> int:
    """The number of leading Qt characters that have the same text and style."""
    kept = ""
    for old, new in zip_longest(before, clean_spans(now), fillvalue=Span("")):
        if replace(old, text="") != replace(new, text=""):
            break
        same = takewhile(lambda pair: pair[0] == pair[1], zip(old.text, new.text, strict=False))
        kept += "".join(letter for letter, _ in same)
        if old.text != new.text:
            break
    return utf16_length(kept)


def spans_after(spans: Sequence[Span], kept: int) -> list[Span]:
    """The spans after the first `kept` Qt characters."""
    left: list[Span] = []
    for span in spans:
        long = utf16_length(span.text)
        if kept < long:
            left.append(replace(span, text=utf16_slice(span.text, kept, long)))
        kept = max(0, kept - long)
    return left


def utf16_length(text: str) -> int:
    """The length in UTF-16 code units, which Qt counts in."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def utf16_slice(text: str, begin: int, end: int) -> str:
    """A slice of a text in UTF-16 code units."""
    if text.isascii():
        return text[begin:end]
    return text.encode("utf-16-le")[2 * begin : 2 * end].decode("utf-16-le", "replace")


ProseBlock = MarkdownText | ThematicBreak

LINE_HEIGHT_PERCENT = 128
PLAIN_LINE_HEIGHT_PERCENT = 112
MAX_BLOCKS = 60  # blocks of one field
MAX_CHARS = 10_000


class Prose(TextView):
    """Blocks of an answer, each of them one paragraph of the document."""

    link_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__(tr("Answer"))
        self._blocks: list[ProseBlock] = []
        self._spans: tuple[Span, ...] = ()  # the spans of the last block
        self.setMouseTracking(True)
        self.setTextInteractionFlags(
            self.textInteractionFlags() | Qt.TextInteractionFlag.LinksAccessibleByMouse
        )

    def mark_spoken(self, sentence: str) -> bool:
        """Mark the sentence that is being spoken, "" for none; return whether it is here."""
        found = self.document().find(sentence) if sentence else QTextCursor()
        mark = QTextEdit.ExtraSelection()
        mark.cursor = found
        mark.format.setBackground(theme.colour("soft"))
        self.setExtraSelections([] if found.isNull() else [mark])
        return not found.isNull()

    @property
    def full(self) -> bool:
        """Whether further blocks need a new field: a whole field is laid out again as it grows."""
        return len(self._blocks) >= MAX_BLOCKS or self.document().characterCount() > MAX_CHARS

    def add(self, block: ProseBlock) -> None:
        """Append a block."""
        cursor = self._end()
        if self._blocks:
            cursor.insertBlock()
        self._blocks.append(block)
        self._write(cursor, block, kept=0)

    def replace_last(self, block: ProseBlock) -> None:
        """Replace the last block; the common beginning stays, and stays selected."""
        before, self._blocks[-1] = self._blocks[-1], block
        same = isinstance(before, MarkdownText) and isinstance(block, MarkdownText)
        kept = 0
        if same and before.level == block.level:  # type: ignore[union-attr]
            kept = common_prefix(self._spans, block.spans())  # type: ignore[union-attr]
        cursor = self._end()
        cursor.setPosition(cursor.block().position() + kept)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        self._write(cursor, block, kept=kept)

    def shorten(self, count: int) -> None:
        """Keep only the first blocks."""
        if count >= len(self._blocks):
            return
        cursor = self._end()
        if count:
            last = self.document().findBlockByNumber(count - 1)
            cursor.setPosition(last.position() + last.length() - 1)
        else:
            cursor.setPosition(0)
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        del self._blocks[count:]
        last_block = self._blocks[-1] if self._blocks else None
        self._spans = (
            clean_spans(last_block.spans()) if isinstance(last_block, MarkdownText) else ()
        )

    def _end(self) -> QTextCursor:
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        return cursor

    def _write(self, cursor: QTextCursor, block: ProseBlock, *, kept: int) -> None:
        """Write the last block, whose first `kept` characters are there already."""
        chosen = self.textCursor()
        ends = chosen.anchor(), chosen.position()
        spans = clean_spans(block.spans()) if isinstance(block, MarkdownText) else ()
        self._spans = spans
        level = block.level if isinstance(block, MarkdownText) else 0
        cursor.beginEditBlock()
        cursor.setBlockFormat(self._shape(block, spans))
        cursor.setBlockCharFormat(char_format(Span(""), level, quoted=False))
        for span in spans_after(spans, kept):
            cursor.insertText(span.text, char_format(span, level, quoted=bool(block.place.quotes)))
        cursor.endEditBlock()
        if ends[0] != ends[1]:  # keep the selection from growing with the text behind it
            chosen.setPosition(ends[0])
            chosen.setPosition(ends[1], QTextCursor.MoveMode.KeepAnchor)
            self.setTextCursor(chosen)

    def _shape(self, block: ProseBlock, spans: Sequence[Span]) -> QTextBlockFormat:
        shape = QTextBlockFormat()
        plain = isinstance(block, MarkdownText) and block.plain
        height = QTextBlockFormat.LineHeightTypes.ProportionalHeight
        shape.setLineHeight(
            PLAIN_LINE_HEIGHT_PERCENT if plain else LINE_HEIGHT_PERCENT, height.value
        )
        line, place = self.fontMetrics().height(), block.place
        gap = 0.0
        if len(self._blocks) > 1 and not plain:
            heading = isinstance(block, MarkdownText) and block.level
            gap = line * (0.9 if heading else 0.2 if place.tight else 0.55)
        shape.setTopMargin(gap)
        by = self._inset(place.quotes, place.lists)
        if direction(spans) == Qt.LayoutDirection.RightToLeft:
            shape.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
            shape.setRightMargin(by)
        else:
            shape.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
            shape.setLeftMargin(by)
        return shape

    def _inset(self, quotes: int, lists: int) -> int:
        return inset(quotes, lists, self.fontMetrics().height())

    # decorations

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw quote bars, list markers and rules behind the text."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        block = self.cursorForPosition(event.rect().topLeft()).block()
        layout = self.document().documentLayout()
        while block.isValid() and block.blockNumber() < len(self._blocks):
            box = layout.blockBoundingRect(block)
            if box.top() > event.rect().bottom():
                break
            self._adorn(painter, block, box)
            block = block.next()
        painter.end()
        super().paintEvent(event)

    def _adorn(self, painter: QPainter, block: QTextBlock, box: QRectF) -> None:
        shown = self._blocks[block.blockNumber()]
        place, shape = shown.place, block.blockFormat()
        mirrored = shape.layoutDirection() == Qt.LayoutDirection.RightToLeft
        width = float(self.viewport().width())

        def across(x: float, wide: float) -> float:
            return width - x - wide if mirrored else x

        layout, above = self.document().documentLayout(), box.top()
        if block.blockNumber() and self._blocks[block.blockNumber() - 1].place.quotes:
            above = layout.blockBoundingRect(block.previous()).bottom()  # no gap between quotes
        for number in range(place.quotes):
            x = across(number * theme.space("two"), 3)
            painter.fillRect(QRectF(x, above, 3, box.bottom() - above), theme.colour("border"))
        if isinstance(shown, ThematicBreak):
            middle = box.center().y()
            painter.setPen(QPen(theme.colour("border"), 1.4))
            by = self._inset(place.quotes, place.lists)
            painter.drawLine(QPointF(by, middle), QPointF(width - by, middle))
        if place.marker:
            line = block.layout().lineAt(0)
            base = box.top() + (line.y() + line.ascent() if line.isValid() else 0)
            outer = self._inset(place.quotes, place.lists - 1)
            wide = self._inset(place.quotes, place.lists) - outer - 7
            self._mark(painter, shown, QPointF(across(outer, wide), base), wide, mirrored)

    def _mark(
        self, painter: QPainter, block: ProseBlock, at: QPointF, wide: float, mirrored: bool
    ) -> None:
        """Draw a list marker into the space that begins at `at` on its baseline."""
        place = block.place
        if place.done is None:
            painter.setPen(theme.colour("muted"))
            painter.setFont(self.font())
            # long numbers extend further out
            spare = wide - painter.fontMetrics().horizontalAdvance(place.marker)
            painter.drawText(QPointF(at.x() + (0 if mirrored else spare), at.y()), place.marker)
            return
        edge = self.fontMetrics().ascent() * 0.85
        x = at.x() if mirrored else at.x() + wide - edge
        box = QRectF(x, at.y() - edge + 1, edge, edge)
        painter.setPen(QPen(theme.colour("accent" if place.done else "control"), 1.4))
        painter.setBrush(theme.colour("accent") if place.done else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, 3, 3)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if place.done:
            painter.setPen(QPen(theme.colour("on_accent"), 1.8, c=Qt.PenCapStyle.RoundCap))
            corners = ((0.24, 0.52), (0.43, 0.7), (0.76, 0.32))
            points = [QPointF(box.x() + edge * x, box.y() + edge * y) for x, y in corners]
            painter.drawPolyline(points)

    def changeEvent(self, change: QEvent) -> None:
        """The formats hold colours and sizes of the theme."""
        super().changeEvent(change)
        redressed = (QEvent.Type.PaletteChange, QEvent.Type.FontChange)
        if change.type() in redressed and getattr(self, "_blocks", None):
            blocks, self._blocks = self._blocks, []
            self.clear()
            for block in blocks:
                self.add(block)

    # links

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show the target of a link."""
        super().mouseMoveEvent(event)
        self._show_address(
            self.anchorAt(event.position().toPoint()), event.globalPosition().toPoint()
        )

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Follow a clicked link, unless text was selected."""
        link = self.anchorAt(event.position().toPoint())
        clicked = event.button() == Qt.MouseButton.LeftButton
        chosen = self.textCursor().hasSelection()  # clicking a link selects it
        super().mouseReleaseEvent(event)
        if link and clicked and not chosen:
            self.link_wanted.emit(link)

    def focusNextPrevChild(self, following: bool) -> bool:
        """Go from link to link before leaving the field."""
        links = self._links()
        cursor = self.textCursor()
        at = (cursor.selectionStart(), cursor.selectionEnd())
        if following:
            ahead = [link for link in links if link[0] >= at[1] and link[:2] != at]
        else:
            ahead = [link for link in reversed(links) if link[1] <= at[0] and link[:2] != at]
        if not ahead or not self.hasFocus():
            return bool(super().focusNextPrevChild(following))
        begin, end, address = ahead[0]
        cursor.setPosition(begin)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)
        self.ensureCursorVisible()
        self._show_address(
            address, self.viewport().mapToGlobal(self.cursorRect(cursor).bottomLeft())
        )
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter follows the selected link."""
        cursor = self.textCursor()
        at = (cursor.selectionStart(), cursor.selectionEnd())
        link = next((link for link in self._links() if link[:2] == at), None)
        if link and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.link_wanted.emit(link[2])
        else:
            super().keyPressEvent(event)

    def _links(self) -> list[tuple[int, int, str]]:
        """The start, end and address of each link."""
        found: list[tuple[int, int, str]] = []
        block = self.document().firstBlock()
        while block.isValid():
            pieces = block.begin()
            while not pieces.atEnd():
                part = pieces.fragment()
                pieces += 1
                if address := part.charFormat().anchorHref():
                    begin, end = part.position(), part.position() + part.length()
                    if found and found[-1][1:] == (begin, address):
                        begin = found.pop()[0]
                    found.append((begin, end, address))
            block = block.next()
        return found

    def _show_address(self, address: str, at: QPoint) -> None:
        self.viewport().setAccessibleDescription(address)
        shown = readable_address(address) if address else ""
        if shown != self.viewport().toolTip():
            self.viewport().setToolTip(shown)
            QToolTip.showText(at, shown, self.viewport())

    # selection

    def createMimeDataFromSelection(self) -> QMimeData:
        """Copy the text with list markers and quotes."""
        data = QMimeData()
        data.setText(self.selected())
        return data

    def selected(self) -> str:
        """The selected text, with list markers and quotes."""
        cursor = self.textCursor()
        begin, end = cursor.selectionStart(), cursor.selectionEnd()
        lines: list[str] = []
        block = self.document().findBlock(begin)
        while block.isValid() and block.position() <= end and begin != end:
            text = utf16_slice(
                block.text(), max(0, begin - block.position()), end - block.position()
            )
            whole = begin <= block.position()
            mark = _plain_markers(self._blocks[block.blockNumber()]) if whole else ""
            lines.append(mark + text.replace(LINE_BREAK, "\n"))
            block = block.next()
        return "\n".join(lines)


def inset(quotes: int, lists: int, line: int) -> int:
    """The indentation in pixels for that line height."""
    return quotes * theme.space("two") + lists * round(1.15 * line + 8)


def readable_address(address: str) -> str:
    """An address for display: without lookalike letters, shortened."""
    shown = QUrl(address).toString(QUrl.ComponentFormattingOption.FullyEncoded)
    shown = shown.replace("<", "%3C")  # Qt parses tool tips as HTML
    return shown if len(shown) <= 200 else shown[:199] + "…"


def _plain_markers(block: ProseBlock) -> str:
    place = block.place
    mark = "> " * place.quotes + "  " * max(0, place.lists - 1)
    if place.done is not None:
        mark += "[x] " if place.done else "[ ] "
    elif place.marker:
        mark += f"{place.marker} "
    elif place.lists:
        mark += "  "
    return mark + ("———" if isinstance(block, ThematicBreak) else "")
