"""Labels that show plain text, never HTML, and never widen their container; sizes, durations,
dates and counts as text."""

from __future__ import annotations

import math
import re
from pathlib import Path

from PySide6.QtCore import QLocale, QSize, Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent, QTextOption, QWheelEvent
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QPushButton,
    QSizePolicy,
    QTextEdit,
    QWidget,
)

from jarvis_desktop.core.artifact import Kind, kind_of_name
from jarvis_desktop.core.display import encodable
from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.ui.widgets.layout import vbox

FIRST_CHARACTERS = 20_000
"""Characters of a long text that are shown at first."""
MORE = 200_000
"""Characters that are added at a time; laying out more would freeze the window."""


_unbroken = re.compile(r"\S{30}(?=\S)")


class Label(QLabel):
    """A short text. `role` picks its look in the style sheet: muted, small, title, display."""

    def __init__(self, text: str = "", *, role: str = "", wrap: bool = False) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("role", role)
        self.setWordWrap(wrap)
        self.setText(text)

    def setText(self, text: str) -> None:
        """Show a text; invalid Unicode, such as in file names, is shown as "�"."""
        text = encodable(text)
        if self.wordWrap():
            # Labels break lines between words only, and would make the window as wide as the
            # longest of them.
            text = _unbroken.sub(lambda found: found[0] + "\u200b", text)
        super().setText(text)

    def show_or_hide(self, text: str) -> None:
        """Show a text, to a screen reader too; "" hides the label."""
        self.setText(text)
        self.setAccessibleName(text)
        self.setVisible(bool(text))


class ElidedLabel(Label):
    """One line, elided with "…" if it does not fit."""

    def __init__(
        self,
        text: str = "",
        *,
        role: str = "",
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        widest: int = 0,
    ) -> None:
        """`widest` is in pixels; 0 takes all available width."""
        super().__init__(role=role)
        self._mode = self._usual = mode
        self._widest = widest
        self._full = ""
        horizontal = QSizePolicy.Policy.Preferred if widest else QSizePolicy.Policy.Ignored
        self.setSizePolicy(horizontal, QSizePolicy.Policy.Fixed)
        if widest:
            self.setMaximumWidth(widest)  # some text cannot be cut: one letter with many accents
        self.show_text(text)

    def show_text(self, text: str, *, end: bool = False) -> None:
        """Replace the text; `end` shows its end if it does not fit."""
        text, mode = encodable(text), Qt.TextElideMode.ElideLeft if end else self._usual
        if text != self._full or mode != self._mode or not text:
            self._mode = mode
            self._full = text
            self.setAccessibleName(text)
            self._fit(self._widest or self.width())

    def full_text(self) -> str:
        """The whole text."""
        return self._full

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if not self._widest:
            self._fit(event.size().width())

    def _fit(self, width: int) -> None:
        shown = self.fontMetrics().elidedText(self._full[:1000], self._mode, max(width, 20))
        if shown != self.text():
            self.setText(shown)


class TextView(QTextEdit):
    """A plain text of any length that can be selected; as tall as its text, without scroll bars."""

    def __init__(self, name: str, *, role: str = "", hug: bool = False) -> None:
        """`hug` keeps it as narrow as its text allows."""
        super().__init__()
        self._hug = hug
        self._shown = ""
        self.setAccessibleName(name)
        self.setProperty("role", role)
        self.setReadOnly(True)
        self.setAcceptRichText(False)
        self.setUndoRedoEnabled(False)
        self.setAcceptDrops(False)
        self.setTabChangesFocus(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        # The menu is that of the turn, which knows more to do with its words.
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.viewport().setAutoFillBackground(False)
        self.document().setDocumentMargin(0)
        option = self.document().defaultTextOption()
        option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)  # of each paragraph's own
        self.document().setDefaultTextOption(option)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        horizontal = QSizePolicy.Policy.Maximum if hug else QSizePolicy.Policy.Ignored
        self.setSizePolicy(horizontal, QSizePolicy.Policy.Fixed)

    def show_text(self, text: str) -> None:
        """Show a text. Text that only grew is appended, so that a selection stays."""
        text = encodable(text)
        if text == self._shown:
            return
        if self._shown and text.startswith(self._shown):
            cursor = self.textCursor()
            cursor.movePosition(cursor.MoveOperation.End)
            cursor.insertText(text[len(self._shown) :])
        else:
            self.setPlainText(text)
        self._shown = text
        self._fit()
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        if not self._hug:
            return super().sizeHint()
        lines = self._shown[:4000].splitlines() or [""]
        metrics = self.fontMetrics()
        width = max(metrics.horizontalAdvance(line) for line in lines[:60])
        return QSize(width + 2 * self.frameWidth() + 2, self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(40, 10)

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if goes_through(event):
            event.ignore()
        else:
            super().keyPressEvent(event)

    def _fit(self) -> None:
        margins = self.contentsMargins()
        height = math.ceil(self.document().size().height())
        wanted = height + margins.top() + margins.bottom() + 2 * self.frameWidth()
        if wanted != self.maximumHeight():
            self.setFixedHeight(wanted)


def goes_through(event: QKeyEvent) -> bool:
    """Whether a key scrolls the conversation rather than moves within one text."""
    key, held = event.key(), event.modifiers()
    ends = key in (Qt.Key.Key_Home, Qt.Key.Key_End)
    if held & Qt.KeyboardModifier.ShiftModifier:
        return False
    if ends:
        return bool(held & Qt.KeyboardModifier.ControlModifier)
    return key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


def more_of(shown: int, length: int) -> str:
    """Return the label of the button that shows more of a text of that length; "" if all of it
    is shown."""
    if shown >= length:
        return ""
    if length - shown <= MORE:
        return trn("Show all ({count} character)", "Show all ({count} characters)", length)
    return trn("Show more ({count} character)", "Show more ({count} characters)", length)


class LongText(QWidget):
    """A text of any size: its beginning, and a button that shows more."""

    def __init__(self, name: str, *, role: str = "", first: int = FIRST_CHARACTERS) -> None:
        """`first` is the number of characters shown at first."""
        super().__init__()
        self._text = ""
        self._limit = first
        self.view = TextView(name, role=role)
        self.more = QPushButton()
        self.more.setProperty("kind", "quiet")
        self.more.clicked.connect(self._show_more)
        self.more.setAccessibleName(tr("Show more of this text"))
        self.more.hide()
        vbox(self.view, (self.more, Qt.AlignmentFlag.AlignLeft), parent=self)

    def show_text(self, text: str) -> None:
        """Show a text."""
        self._text = text
        self.view.show_text(text[: self._limit])
        more = more_of(self._limit, len(text))
        self.more.setVisible(bool(more))
        self.more.setText(more)
        self.more.setAccessibleName(more or tr("Show more of this text"))

    def _show_more(self) -> None:
        self._limit += MORE
        self.show_text(self._text)


KINDS = {
    Kind.TEXT: mark("text"),
    Kind.IMAGE: mark("picture"),
    Kind.AUDIO: mark("sound"),
    Kind.VIDEO: mark("video"),
    Kind.TABLE: mark("table"),
    Kind.DOCUMENT: mark("document"),
}
"""The name of each kind of file within a sentence."""


def kind_of(path: Path) -> Kind:
    """Return the kind of a file by its name; its content is checked only when it is used."""
    return kind_of_name(path) or Kind.DOCUMENT


def size(count: int) -> str:
    """Format a number of bytes: "812 bytes", "3.4 MB"."""
    if count < 1000:
        return trn("{count} byte", "{count} bytes", count)
    amount = float(count)
    for unit in ("kB", "MB", "GB", "TB"):
        amount /= 1000
        if amount < 999.5 or unit == "TB":
            return f"{QLocale().toString(amount, 'f', 1 if amount < 10 else 0)} {unit}"
    raise AssertionError


def seconds(amount: float) -> str:
    """Format a duration: "0.4 s", "12 s", "3 min 05 s"."""
    if amount < 9.95:
        return tr("{count} s", count=QLocale().toString(amount, "f", 1))
    whole = round(amount)
    if whole < 60:
        return tr("{count} s", count=whole)
    return tr("{minutes} min {seconds} s", minutes=whole // 60, seconds=f"{whole % 60:02d}")


def clock(amount: float) -> str:
    """Format a playing time: "0:07", "1:02:30"."""
    minutes, rest = divmod(int(amount), 60)
    if minutes < 60:
        return f"{minutes}:{rest:02d}"
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


def counted(number: int, noun: str) -> str:
    """Format a number of steps: "1 step", "3 steps"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def upper_first(words: str) -> str:
    """Return the text with its first letter in upper case."""
    return words[:1].upper() + words[1:]
