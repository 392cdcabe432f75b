"""What JARVIS does for the person at this moment, in one word for the tray, the overlay and all
else that has room for no more."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QObject, Signal

from jarvis_desktop.core.wording import mark
from jarvis_desktop.ui.session import Exchange, Session
from jarvis_desktop.ui.voice.talking import Talker


class Phase(StrEnum):
    """One at a time; the voice of the person comes first."""

    IDLE = "idle"
    LISTENING = "listening"
    THINKING = "thinking"
    """What was said is written down, or a plan is made."""
    WORKING = "working"
    ASKING = "asking"
    """The person is to answer."""
    SPEAKING = "speaking"


WORDS = {
    Phase.IDLE: mark("JARVIS is ready"),
    Phase.LISTENING: mark("JARVIS listens"),
    Phase.THINKING: mark("JARVIS thinks"),
    Phase.WORKING: mark("JARVIS works"),
    Phase.ASKING: mark("JARVIS asks you something"),
    Phase.SPEAKING: mark("JARVIS speaks"),
}
OPEN = mark("The microphone is open")


class Phases(QObject):
    """Follows the session and the voice."""

    changed = Signal()

    def __init__(self, session: Session, talker: Talker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._talker = talker
        self.now = self._phase()
        self.microphone_open = False
        """Whether it hears although nobody is listened to."""
        session.changed.connect(self._look)
        session.asked.connect(self._look)
        session.busy_changed.connect(self._look)
        talker.talked.connect(self._look)
        talker.microphone_changed.connect(self._look)

    def _look(self) -> None:
        before = self.now, self.microphone_open
        self.now = self._phase()
        self.microphone_open = self._talker.microphone == "open" and not self._talker.active
        if before != (self.now, self.microphone_open):
            self.changed.emit()

    def _phase(self) -> Phase:
        if self._talker.active:
            return Phase.LISTENING
        if self._talker.now.state == "recognising":
            return Phase.THINKING
        running = self._session.running
        return _phase_of(running) if running else Phase.IDLE


def _phase_of(exchange: Exchange) -> Phase:
    turn = exchange.turn
    if turn.status is not None:
        return Phase.IDLE
    if turn.speaking:
        return Phase.SPEAKING
    if exchange.question:
        return Phase.ASKING
    if turn.running or turn.reply or any(item.status is None for item in turn.rounds.values()):
        return Phase.WORKING
    return Phase.THINKING
