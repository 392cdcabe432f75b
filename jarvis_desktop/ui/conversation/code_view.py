"""Code on screen as plain text: every character is visible, with line numbers, diffs and colours.

The colours come from another process, later than the code, and never delay it.
"""

from __future__ import annotations

import difflib
import unicodedata
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import (
    QFont,
    QFontDatabase,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
    QSyntaxHighlighter,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy, QWidget

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.icons import IconButton
from jarvis_desktop.ui.widgets.labels import Label, goes_through
from jarvis_desktop.ui.widgets.layout import hbox, vbox
from jarvis_desktop.ui.widgets.timers import new_timer

if TYPE_CHECKING:
    from jarvis_desktop.ui.conversation.markdown import CodeFence
    from jarvis_desktop.ui.conversation.syntax_worker import Lines
    from jarvis_desktop.ui.media.controller import MediaController


MAX_CODE_LINES = 18  # visible lines; the rest is scrolled to
VERTICAL_PADDING = {"code": 12, "field": 20}
"""Pixels above and below the lines together, as the style sheet sets them for a role."""
MAX_DIFF_LINES = 1500  # lines of either side that are compared; more would block the window

_unseen = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"}


def escape_invisible(source: str) -> str:
    """Code with invisible characters written as Python escapes: direction marks, zero-width
    characters, unusual spaces. Lines end where Python ends them."""
    lines = source.replace("\r\n", "\n").replace("\r", "\n")
    if lines.isascii() and lines.replace("\n", "").replace("\t", "").isprintable():
        return lines
    return "".join(_escaped(letter) for letter in lines)


def _escaped(letter: str) -> str:
    if letter in "\n\t " or unicodedata.category(letter) not in _unseen:
        return letter
    number = ord(letter)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def unified_diff(before: str, after: str) -> str:
    """A unified diff of two sources; "" if they are equal."""
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > MAX_DIFF_LINES:
        return tr(
            "Both are too long to compare: {before} and {after} lines.",
            before=f"{len(old):,}",
            after=f"{len(new):,}",
        )
    lines = difflib.unified_diff(old, new, lineterm="", n=2)
    return "\n".join(line for line in lines if not line.startswith(("---", "+++")))


class CodeText(QPlainTextEdit):
    """Code that can be read, selected and, if `editable`, changed. Enter never sends."""

    def __init__(
        self,
        name: str,
        *,
        editable: bool = False,
        numbered: bool = True,
        role: str = "code",
        most_lines: int = MAX_CODE_LINES,
    ) -> None:
        """`role` is "code", or "field" for prose in the normal font."""
        super().__init__()
        self._most_lines = most_lines
        self._around = VERTICAL_PADDING[role]
        self._given: str | None = None
        self._shown = ""
        self._is_difference = False
        self.setAccessibleName(name)
        self.setProperty("role", role)
        self.setReadOnly(not editable)
        if not editable:
            self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)  # the turn has a menu
            self.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse
                | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
        self.setUndoRedoEnabled(editable)
        self.setTabChangesFocus(True)
        self.setAcceptDrops(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        # code far to the right of a long line must be visible too
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAnywhere)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        if role == "code":
            self.setFont(monospaced())
        self.setTabStopDistance(4.0 * self.fontMetrics().horizontalAdvance(" "))
        self._numbers = _LineNumbers(self) if numbered else None
        if self._numbers:
            self.blockCountChanged.connect(self._make_room)
            self.updateRequest.connect(self._follow)
            self._make_room()
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def show_text(self, text: str, *, at_end: bool = False) -> None:
        """Show another text; `at_end` keeps the end in view, as a terminal does."""
        if text == self._given:
            return
        self._given, text = text, escape_invisible(text)
        bar = self.verticalScrollBar()
        follow = at_end and bar.value() >= bar.maximum() - 1
        if self._shown and text.startswith(self._shown):
            cursor = self.textCursor()
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(text[len(self._shown) :])
        else:
            self.setPlainText(text)
        self._shown = text
        self._fit()
        if follow:
            bar.setValue(bar.maximum())

    def show_difference(self, before: str, after: str) -> bool:
        """Show the lines that change, marked with "-" and "+". Return whether any do."""
        text = unified_diff(before, after)
        self.show_text(text)
        self._is_difference = True
        self._mark()
        return bool(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Indent a new line like the one before it."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if self.isReadOnly() and goes_through(event):
            event.ignore()  # it scrolls the conversation
        elif enter and not self.isReadOnly() and not event.modifiers():
            line = self.textCursor().block().text()[: self.textCursor().positionInBlock()]
            self.insertPlainText("\n" + line[: len(line) - len(line.lstrip())])
            self.ensureCursorVisible()
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave scrolling to the conversation unless the user works in this field."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def changeEvent(self, change: QEvent) -> None:
        super().changeEvent(change)
        if not hasattr(self, "_numbers"):
            return
        if change.type() == QEvent.Type.PaletteChange and self._is_difference:
            self._mark()
        elif change.type() == QEvent.Type.FontChange:
            self._make_room()
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
        if self._numbers:
            inside = self.contentsRect()
            self._numbers.setGeometry(
                QRect(inside.left(), inside.top(), self._numbers.wide, inside.height())
            )

    def paint_numbers(self, event: QPaintEvent, area: QWidget) -> None:
        """Draw the numbers of the visible lines."""
        painter = QPainter(area)
        painter.setFont(self.font())
        painter.setPen(theme.colour("muted"))
        block, line = self.firstVisibleBlock(), self.fontMetrics().lineSpacing()
        while block.isValid():
            box = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if box.top() > event.rect().bottom():
                break
            place = QRect(0, round(box.top()), area.width() - 8, line)
            painter.drawText(place, Qt.AlignmentFlag.AlignRight, str(block.blockNumber() + 1))
            block = block.next()
        painter.end()

    def _mark(self) -> None:
        marked = {"+": theme.colour("done_soft"), "-": theme.colour("danger_soft")}
        cursor = self.textCursor()
        block = self.document().firstBlock()
        while block.isValid():
            cursor.setPosition(block.position())
            look = QTextBlockFormat()
            if ground := marked.get(block.text()[:1]):
                look.setBackground(ground)
            cursor.setBlockFormat(look)
            block = block.next()

    def _make_room(self) -> None:
        if self._numbers:
            digits = max(2, len(str(self.blockCount())))
            self._numbers.wide = 14 + digits * self.fontMetrics().horizontalAdvance("0")
            self.setViewportMargins(self._numbers.wide, 0, 0, 0)

    def _follow(self, rect: QRect, by: int) -> None:
        if self._numbers:
            if by:
                self._numbers.scroll(0, by)
            else:
                self._numbers.update(0, rect.y(), self._numbers.width(), rect.height())

    def _fit(self) -> None:
        lines = round(self.document().size().height())  # this kind of editor counts in lines
        line = self.fontMetrics().lineSpacing()
        scrolls = lines > self._most_lines
        self.setVerticalScrollBarPolicy(
            Qt.ScrollBarPolicy.ScrollBarAsNeeded
            if scrolls
            else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        self.setFixedHeight(min(max(lines, 1), self._most_lines) * line + self._around)


class _LineNumbers(QWidget):
    """The column of line numbers."""

    def __init__(self, code: CodeText) -> None:
        super().__init__(code)
        self._code = code
        self.wide = 0

    def sizeHint(self) -> QSize:
        return QSize(self.wide, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        self._code.paint_numbers(event, self)


def monospaced() -> QFont:
    """The system's fixed-width font, at the size of the surrounding text."""
    font = QFont()
    font.setFamilies(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).families())
    font.setStyleHint(QFont.StyleHint.Monospace)
    return font


MAX_HIGHLIGHTED_CHARS = 12_000  # characters that are coloured; more would block the window
HIGHLIGHT_INTERVAL_MS = 150


class CodeHighlighter(QSyntaxHighlighter):
    """Colours the code in one CodeText."""

    def __init__(self, view: CodeText, media: MediaController) -> None:
        super().__init__(view.document())
        self._view, self._media = view, media
        self._language = self._read = ""
        self._lines: Lines = ()
        self._formats: dict[str, QTextCharFormat] = {}
        self._asking = False
        self._later = new_timer(self, self._ask, HIGHLIGHT_INTERVAL_MS)

    def follow(self, language: str) -> None:
        """Colour the code for this language; call it again when the code changed."""
        words = language.split()
        self._language = words[0].lower().strip("{}.,") if words else ""
        if not self._text.startswith(self._read):
            self._read, self._lines = "", ()
            self.rehighlight()
        if not self._language or not self._view.isVisible():
            return
        known = self._media.code.known(self._text, self._language)
        if known is not None:
            self._show(self._text, known)
        elif not self._later.isActive() and not self._asking:
            self._later.start()

    def recolour(self) -> None:
        """Use the colours of the current theme."""
        self._formats.clear()
        if self._lines:
            self.rehighlight()

    def highlightBlock(self, line: str) -> None:
        number = self.currentBlock().blockNumber()
        for start, length, colour in self._lines[number] if number < len(self._lines) else ():
            self.setFormat(start, length, self._format(colour))

    @property
    def _text(self) -> str:
        """The part of the text that is coloured: whole lines."""
        text = self._view.toPlainText()
        if len(text) <= MAX_HIGHLIGHTED_CHARS:
            return text
        return text[: text.rfind("\n", 0, MAX_HIGHLIGHTED_CHARS) + 1]

    def _format(self, colour: str) -> QTextCharFormat:
        if colour not in self._formats:
            made = QTextCharFormat()
            made.setForeground(theme.colour(colour))
            self._formats[colour] = made
        return self._formats[colour]

    def _ask(self) -> None:
        text, language = self._text, self._language
        if not text or text == self._read:
            return
        self._asking = True

        def tell(outcome: Outcome) -> None:
            self._asking = False
            if outcome.error or outcome.cancelled:
                return
            if language == self._language and self._text.startswith(text):
                self._show(text, outcome.value)
            if text != self._text or language != self._language:
                self._later.start()

        self._media.ask(self, lambda: self._media.code.words(text, language), tell)

    def _show(self, text: str, lines: Lines) -> None:
        self._read, self._lines = text, lines
        self.rehighlight()


MAX_BLOCK_LINES = 40


class CodeBlock(QFrame):
    """A block of code with its language and a copy button."""

    def __init__(self, code: CodeFence, actions: Actions) -> None:
        super().__init__()
        self.setObjectName("code")
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self._code = code
        half = theme.space("half")
        self.language = Label(role="small")
        head = hbox((self.language, 1), margins=(12, half, half, 0))
        self.copy = IconButton("copy", tr("Copy the code"), kind="tiny")
        self.copy.setIconSize(QSize(14, 14))
        self.copy.clicked.connect(lambda: actions.copy_text.emit(self._code.text))
        head.addWidget(self.copy)
        column = vbox(head, parent=self, spacing=0)
        self.text = CodeText(tr("Code"), numbered=False, most_lines=MAX_BLOCK_LINES)
        column.addWidget(self.text)
        self._colours = CodeHighlighter(self.text, actions.media)
        self.show_code(code)

    def show_code(self, code: CodeFence) -> None:
        """Show other code; code that was only appended is only added."""
        self._code = code
        self.language.setText(one_line(code.language, limit=40) or tr("Code"))
        self.text.show_text(code.text)
        self._colours.follow(code.language)

    def showEvent(self, event: QShowEvent) -> None:
        """Code out of sight is not coloured."""
        super().showEvent(event)
        self._colours.follow(self._code.language)

    def changeEvent(self, change: QEvent) -> None:
        super().changeEvent(change)
        if change.type() == QEvent.Type.PaletteChange and hasattr(self, "_colours"):
            self._colours.recolour()
