"""Where one types: a field that grows with its text, up to a few lines, and sends on Enter."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy

MOST_LINES = 8
FRAME = 6
"""Pixels that the outline of the style sheet takes, above and below."""

_never = Qt.ScrollBarPolicy.ScrollBarAlwaysOff


class Field(QPlainTextEdit):
    """As tall as its text, up to a few lines. Enter enters, Shift+Enter begins a new line."""

    entered = Signal()
    focused = Signal(bool)

    def __init__(self, name: str, inviting: str = "", *, role: str = "") -> None:
        """`name` is what a screen reader says, `inviting` stands in it while it is empty."""
        super().__init__()
        self.setAccessibleName(name)
        self.setPlaceholderText(inviting)
        self.setProperty("role", role)
        self.setTabChangesFocus(True)
        self.setAcceptDrops(False)  # the window takes what is dropped, wherever it is dropped
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(2)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def invite(self, words: str) -> None:
        """Show words while nothing is typed."""
        if words != self.placeholderText():
            self.setPlaceholderText(words)
            self.viewport().update()  # Qt draws only the changed line's beginning anew

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter enters, Shift+Enter begins a new line."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.entered.emit()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Tell of it."""
        super().focusInEvent(event)
        self.focused.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Tell of it."""
        super().focusOutEvent(event)
        self.focused.emit(False)

    def changeEvent(self, change: QEvent) -> None:
        """Follow the size of the type."""
        super().changeEvent(change)
        if change.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Follow the width: Qt tells nothing where only the breaks of lines change."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        lines = round(self.document().size().height())  # counted in lines by this kind of editor
        line = self.fontMetrics().lineSpacing()
        scrolls = lines > MOST_LINES
        bar = Qt.ScrollBarPolicy.ScrollBarAsNeeded if scrolls else _never
        self.setVerticalScrollBarPolicy(bar)
        frame = FRAME if self.property("role") else 0
        self.setFixedHeight(min(max(lines, 1), MOST_LINES) * line + 10 + frame)
