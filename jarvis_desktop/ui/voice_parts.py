"""What of the window has to do with the voice, wired: the keys that talk, what is shown of the
microphone and of what is done, and the page on which all of it is chosen and tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from jarvis_desktop.ui.application import App
from jarvis_desktop.ui.composer import Composer
from jarvis_desktop.ui.header import Header
from jarvis_desktop.ui.session import Session
from jarvis_desktop.ui.talk_keys import TalkKeys
from jarvis_desktop.ui.talking import Talker

if TYPE_CHECKING:
    from jarvis_desktop.ui.voice_page import VoicePage


class VoiceParts(QObject):
    """Belongs to the window."""

    def __init__(
        self, window: QWidget, session: Session, talker: Talker, header: Header, composer: Composer
    ) -> None:
        super().__init__(window)
        self._window = window
        self._session = session
        self._talker = talker
        self._header = header
        self._composer = composer
        self.page: VoicePage | None = None
        """The page, once it was opened."""
        self.keys = TalkKeys(window, talker)
        session.ready.connect(self._ready)
        session.changed.connect(self._show_doing)
        session.busy_changed.connect(self._show_doing)
        talker.talked.connect(self._show_microphone)
        talker.microphone_changed.connect(self._show_microphone)
        header.voice_wanted.connect(self.open_page)
        composer.unheard.settings_wanted.connect(self.open_page)

    def open_page(self) -> None:
        """Show the page of the voice; one at a time."""
        if self.page is None:
            from jarvis_desktop.ui.voice_desk import VoiceDesk
            from jarvis_desktop.ui.voice_page import VoicePage

            desk = VoiceDesk(self._session, self)
            self.page = VoicePage(desk, self._talker, self._window)
        self.page.open_anew()

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
        if self.page:
            self.page.close()

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
