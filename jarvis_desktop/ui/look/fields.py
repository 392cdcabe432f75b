"""Where one types: a field that grows with its text, up to a few lines, and sends on Enter."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QSizePolicy

MOST_LINES = 8
FRAME = 6
"""Pixels that the outline of the style sheet takes, above and below."""
PICTURES = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "image/gif": "gif"}
"""The pictures that are taken as they are given, the best first, and their suffixes."""

_never = Qt.ScrollBarPolicy.ScrollBarAlwaysOff


def holds_more_than_text(held: QMimeData) -> bool:
    """Whether it holds files, or a picture that is not only an extra to its words."""
    files = any(url.isLocalFile() for url in held.urls())
    return files or (holds_picture(held) and not held.text().strip())


def holds_picture(held: QMimeData) -> bool:
    """Whether there is a picture in it that is no file."""
    return held.hasImage() or any(held.hasFormat(name) for name in PICTURES)


class Field(QPlainTextEdit):
    """As tall as its text, up to a few lines. Enter enters, Shift+Enter begins a new line."""

    entered = Signal()
    focused = Signal(bool)
    pasted = Signal(object)
    """Carries the QMimeData of what is pasted and no mere text."""

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

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Take more than text."""
        return holds_more_than_text(source) or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Hand on what is no mere text."""
        if holds_more_than_text(source):
            self.pasted.emit(source)
        else:
            super().insertFromMimeData(source)

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
