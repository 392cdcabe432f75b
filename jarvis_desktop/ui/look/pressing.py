"""Return presses the button that has the keyboard. Qt leaves that to desktops, and to dialogs."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QWindow
from PySide6.QtWidgets import QAbstractButton, QApplication


class ReturnPresses(QObject):
    """Does so in every window of the application while it lives."""

    def __init__(self, application: QGuiApplication) -> None:
        super().__init__(application)
        application.focusWindowChanged.connect(self._watch)

    def _watch(self, window: QWindow | None) -> None:
        if window:
            window.installEventFilter(self)  # for the second time it only comes first again

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Press it, where nothing else has the keyboard at the moment."""
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return False
        button = QApplication.focusWidget()
        if (
            event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            or not isinstance(button, QAbstractButton)
            or QApplication.activePopupWidget()
        ):
            return False
        if not event.isAutoRepeat():
            button.click()
        return True
