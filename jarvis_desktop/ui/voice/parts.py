"""What of the window has to do with the voice, wired: the keys that talk, and what is shown of the
microphone and of what is done."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from jarvis_desktop.ui.application import App
from jarvis_desktop.ui.header import Header
from jarvis_desktop.ui.request.composer import Composer
from jarvis_desktop.ui.session import Session
from jarvis_desktop.ui.voice.talk_keys import TalkKeys
from jarvis_desktop.ui.voice.talking import Talker


class VoiceParts(QObject):
    """Belongs to the window."""

    settings_wanted = Signal()
    """The person wants to choose or test what has to do with the voice."""

    def __init__(
        self, window: QWidget, session: Session, talker: Talker, header: Header, composer: Composer
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

    def _ready(self, app: App) -> None:
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
