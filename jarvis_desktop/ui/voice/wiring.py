"""Connects voice input to the window: the talk key, the microphone's state, and where speech
goes."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from jarvis_desktop.ui.app_protocols import AppPort
from jarvis_desktop.ui.header import Header
from jarvis_desktop.ui.request.composer import Composer
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.voice.talk import Talker

TALK_KEY = Qt.Key.Key_F4
REPEAT_GAP_MS = 30
"""Milliseconds between release and press of a held key on screens that repeat it so: only a release
without a press after it is real."""


class TalkKeys(QObject):
    """Makes F4 a talk button in a window: it is held like one, and released if the window loses
    focus."""

    def __init__(self, window: QWidget, talker: Talker) -> None:
        super().__init__(window)
        self._talker = talker
        self._held = False
        self._released = QTimer(self, singleShot=True, interval=REPEAT_GAP_MS)
        self._released.timeout.connect(self.let_go)
        window.installEventFilter(self)

    def let_go(self) -> None:
        """Treat the key as released."""
        self._released.stop()
        if self._held:
            self._held = False
            self._talker.release()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A window that loses focus never receives the key's release."""
        kind = event.type()
        if isinstance(event, QKeyEvent) and event.key() == TALK_KEY:
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


class VoiceController(QObject):
    """Shows the microphone and the current work, and handles Esc."""

    settings_wanted = Signal()
    """The user wants to choose or test the microphone or voice."""

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
        """Handle Esc: drop the recording, or else silence the voice. Return whether something was
        recorded."""
        if self._talker.now.state != "idle":
            self._talker.cancel()
            return True
        self._session.silence()
        return False

    def close(self) -> None:
        """Stop the recording, with the window."""
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
