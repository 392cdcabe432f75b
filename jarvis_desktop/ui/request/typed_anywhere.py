"""Letters typed where nothing takes them begin a request."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget

_command = (
    Qt.KeyboardModifier.ControlModifier
    | Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.MetaModifier
)


class TypedAnywhere(QWidget):
    """Holds a field with what stands around it. Whoever just types, with the keyboard on a button
    or an answer, loses no letter; a space is left alone, it presses buttons."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field: QWidget | None = None
        """It takes the letters."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """A key that no widget inside took."""
        text = event.text()
        is_letter = text.isprintable() and text.strip() and not event.modifiers() & _command
        if self.field and is_letter and self.field.isEnabled() and not self.field.hasFocus():
            self.field.setFocus()
            QApplication.sendEvent(self.field, event)
        else:
            super().keyPressEvent(event)
