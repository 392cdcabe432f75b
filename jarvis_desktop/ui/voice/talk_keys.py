"""F4 in the window is the talk button: held as a key, and let go in whatever way that is told."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from jarvis_desktop.ui.voice.talking import Talker

KEY = Qt.Key.Key_F4
REPEAT_GAP = 30
"""Milliseconds within which a held key repeats on screens that tell it as release and press: only
a release that no press follows is one."""


class TalkKeys(QObject):
    """Watches the keys that a window gets."""

    def __init__(self, window: QWidget, talker: Talker) -> None:
        super().__init__(window)
        self._talker = talker
        self._held = False
        self._released = QTimer(self, singleShot=True, interval=REPEAT_GAP)
        self._released.timeout.connect(self.let_go)
        window.installEventFilter(self)

    def let_go(self) -> None:
        """The key counts as up from now on, if it was down."""
        self._released.stop()
        if self._held:
            self._held = False
            self._talker.release()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the key; a window that is left never hears of its release."""
        kind = event.type()
        if isinstance(event, QKeyEvent) and event.key() == KEY:
            if kind == QEvent.Type.KeyPress and not event.modifiers():
                self._press(event)
                return True
            if kind == QEvent.Type.KeyRelease:
                self._release(event)
                return True
        elif kind == QEvent.Type.WindowDeactivate:
            self.let_go()
        return super().eventFilter(watched, event)

    def _press(self, event: QKeyEvent) -> None:
        if event.isAutoRepeat():
            return
        self._released.stop()
        if not self._held:
            self._held = True
            self._talker.press()

    def _release(self, event: QKeyEvent) -> None:
        if not event.isAutoRepeat():
            self._released.start()
