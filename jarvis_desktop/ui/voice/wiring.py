"""What of the window has to do with the voice, wired: the keys that talk, and what is shown of the
microphone and of what is done.

F4 in the window is the talk button: held as a key, and let go in whatever way that is told."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from jarvis_desktop.ui.app_protocols import AppPort
from jarvis_desktop.ui.header import Header
from jarvis_desktop.ui.request.composer import Composer
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.voice.talk import Talker

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


class VoiceParts(QObject):
    """Belongs to the window."""

    settings_wanted = Signal()
    """The person wants to choose or test what has to do with the voice."""

    def __init__(
        self,
        window: QWidget,
        session: WindowSession,
        talker: Talker,
        header: Header,
        composer: Composer,
    ) -> None:
        super().__init__(window)
        self._session = session
        self._talker = talker
        self._header = header
        self._composer = composer
        self.keys = TalkKeys(window, talker)
        session.ready.connect(self._ready)
        session.changed.connect(self._show_doing)
        session.busy_changed.connect(self._show_doing)
        talker.talked.connect(self._show_microphone)
        talker.microphone_changed.connect(self._show_microphone)
        header.voice_wanted.connect(self.settings_wanted)
        composer.unheard.settings_wanted.connect(self.settings_wanted)

    def escape(self) -> bool:
        """Esc: drop what is being said, and in any case be silent at once. False where nothing was
        being said."""
        if self._talker.now.state != "idle":
            self._talker.cancel()
            return True
        self._session.silence()
        return False

    def close(self) -> None:
        """The window goes."""
        self.keys.let_go()
        self._talker.cancel()

    def _ready(self, app: AppPort) -> None:
        self._talker.use(app)
        self._composer.talk.setEnabled(True)

    def _show_microphone(self) -> None:
        self._header.show_microphone(self._talker.microphone, self._talker.now.state)

    def _show_doing(self) -> None:
        running = self._session.running
        doing = ""
        if running:
            waits = running.question is not None
            doing = "speaking" if running.turn.speaking else "" if waits else "working"
        self._composer.show_doing(doing)
