"""One selection through all parts of an answer: it goes on from words into code and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QMouseEvent, QTextCursor
from PySide6.QtWidgets import QAbstractScrollArea, QPlainTextEdit, QTextEdit, QWidget

from jarvis_desktop.ui.conversation.code_block import CodeBlock
from jarvis_desktop.ui.conversation.prose import Prose
from jarvis_desktop.ui.conversation.table_block import TableBlock

if TYPE_CHECKING:
    from jarvis_desktop.ui.conversation.answer import Part

Texts = (QTextEdit, QPlainTextEdit)


class Selecting(QObject):
    """Watches the parts of one answer."""

    def __init__(self, answer: QWidget) -> None:
        super().__init__(answer)
        self._answer = answer
        self._fields: list[QAbstractScrollArea] = []
        self._home: QAbstractScrollArea | None = None
        """Where the selection began."""

    def join(self, part: Part) -> None:
        """Watch one more part, the last one."""
        field = _field(part)
        self._fields.append(field)
        field.installEventFilter(self)
        field.viewport().installEventFilter(self)

    def leave(self, part: Part) -> None:
        """Watch a part no more."""
        field = _field(part)
        self._fields.remove(field)
        if self._home is field:
            self._home = None

    def text(self) -> str:
        """All that is selected."""
        return "\n".join(text for text in map(_selected, self._fields) if text)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Begin, go on and copy."""
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseButtonPress:
            if event.button() == Qt.MouseButton.LeftButton:
                self._begin(watched)
        elif isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseMove:
            if event.buttons() & Qt.MouseButton.LeftButton and isinstance(self._home, Texts):
                return self._go_on(self._home, event.globalPosition().toPoint())
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            copies = event.matches(QKeySequence.StandardKey.Copy)
            if copies and (text := self.text()):
                QGuiApplication.clipboard().setText(text)
                return True
        return False

    def _begin(self, watched: QObject) -> None:
        self._home = next((item for item in self._fields if item.viewport() is watched), None)
        for field in self._fields:
            if field is not self._home:
                _clear(field)

    def _go_on(self, home: QTextEdit | QPlainTextEdit, to: QPoint) -> bool:
        """Select from where it began to a place on the screen; whether that is beyond the part."""
        begun, aim = self._fields.index(home), self._under(to)
        for number, field in enumerate(self._fields):
            if number == begun:
                if aim != begun:
                    _select(field, field.textCursor().anchor(), forth=aim > begun)  # type: ignore[attr-defined]
            elif min(begun, aim) < number < max(begun, aim):
                field.selectAll()  # type: ignore[attr-defined]
            elif number == aim and isinstance(field, Texts):
                place = field.viewport().mapFromGlobal(to)
                there = field.cursorForPosition(place).position()
                _select(field, there, forth=aim < begun)
            elif number == aim:
                field.selectAll()  # type: ignore[attr-defined]
            else:
                _clear(field)
        return aim != begun

    def _under(self, place: QPoint) -> int:
        """The number of the part that lies at that height."""
        y = self._answer.mapFromGlobal(place).y()
        tops = [field.mapTo(self._answer, QPoint(0, 0)).y() for field in self._fields]
        return max((number for number, top in enumerate(tops) if top <= y), default=0)


def _field(part: Part) -> QAbstractScrollArea:
    if isinstance(part, CodeBlock):
        return part.text
    return part.cells if isinstance(part, TableBlock) else part


def _select(field: QWidget, begin: int, *, forth: bool) -> None:
    """Select from a place on, to the end of the field or else to its beginning."""
    assert isinstance(field, Texts)
    cursor = field.textCursor()
    cursor.setPosition(begin)
    to = QTextCursor.MoveOperation.End if forth else QTextCursor.MoveOperation.Start
    cursor.movePosition(to, QTextCursor.MoveMode.KeepAnchor)
    # Not shown to the end: the conversation stays where it is.
    field.setTextCursor(cursor)


def _clear(field: QWidget) -> None:
    if isinstance(field, Texts):
        cursor = field.textCursor()
        if cursor.hasSelection():
            cursor.clearSelection()
            field.setTextCursor(cursor)
    else:
        field.clearSelection()  # type: ignore[attr-defined]


def _selected(field: QWidget) -> str:
    if isinstance(field, Prose):
        return field.selected()
    if isinstance(field, QPlainTextEdit):
        return field.textCursor().selectedText().replace("\u2029", "\n")
    return field.selected()  # type: ignore[attr-defined, no-any-return]
