"""The overlay: a small sign above all windows that shows what JARVIS is doing while its window is
not in front. It takes neither clicks nor the keyboard."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import QObject, QRect, Qt, Signal

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.speech import Partial
from jarvis_desktop.ui.pending_turn import PendingTurn
from jarvis_desktop.ui.quick.floating_window import (
    FloatingWindow,
    places_windows,
    screen_of_cursor,
    within,
)
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.voice.talk import TalkController
from jarvis_desktop.ui.widgets.icons import StateIcon, Symbol
from jarvis_desktop.ui.widgets.labels import ElidedLabel
from jarvis_desktop.ui.widgets.layout import hbox
from jarvis_desktop.ui.widgets.level_meter import LevelMeter
from jarvis_desktop.ui.widgets.timers import new_timer


class Phase(StrEnum):
    """What JARVIS is doing, in one word; the user's voice comes first."""

    IDLE = "idle"
    LISTENING = "listening"
    THINKING = "thinking"  # speech is being recognised, or a plan is being made
    WORKING = "working"
    ASKING = "asking"  # the user has a question to answer
    SPEAKING = "speaking"


PHASE_NAMES = {
    Phase.IDLE: mark("JARVIS is ready"),
    Phase.LISTENING: mark("JARVIS is listening"),
    Phase.THINKING: mark("JARVIS is thinking"),
    Phase.WORKING: mark("JARVIS is working"),
    Phase.ASKING: mark("JARVIS has a question for you"),
    Phase.SPEAKING: mark("JARVIS is speaking"),
}
MICROPHONE_OPEN = mark("The microphone is open")


class PhaseTracker(QObject):
    """Follows the session and the voice input, and emits `changed` when the phase does."""

    changed = Signal()

    def __init__(
        self, session: WindowSession, talker: TalkController, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._talker = talker
        self.dictates = False
        """Whether the user dictates into another program, which has another overlay."""
        self.now = self._phase()
        self.microphone_open = False
        """Whether the microphone is open although nothing is being recorded."""
        session.changed.connect(self._look)
        session.asked.connect(self._look)
        session.busy_changed.connect(self._look)
        talker.talked.connect(self._look)
        talker.microphone_changed.connect(self._look)

    def dictate(self, dictates: bool) -> None:
        """Note whether the user dictates."""
        self.dictates = dictates
        self._look()

    def _look(self) -> None:
        before = self.now, self.microphone_open
        self.now = self._phase()
        records = self._talker.active or self.dictates
        self.microphone_open = self._talker.microphone == "open" and not records
        if before != (self.now, self.microphone_open):
            self.changed.emit()

    def _phase(self) -> Phase:
        if self._talker.active or self.dictates:
            return Phase.LISTENING
        if self._talker.now.state == "recognising":
            return Phase.THINKING
        running = self._session.running
        return _phase_of(running) if running else Phase.IDLE


def _phase_of(pending: PendingTurn) -> Phase:
    turn = pending.turn
    if turn.status is not None:
        return Phase.IDLE
    if turn.speaking:
        return Phase.SPEAKING
    if pending.question:
        return Phase.ASKING
    if turn.running or turn.reply or any(item.status is None for item in turn.rounds.values()):
        return Phase.WORKING
    return Phase.THINKING


UNSUPPORTED = mark(
    "This desktop does not let programs place a sign above other windows; the tray shows "
    "what JARVIS is doing."
)
"""Shown in the settings if `places_windows` is false."""
PHASE_WIDTHS = {Phase.LISTENING: 460, Phase.THINKING: 300, Phase.SPEAKING: 460}
DEFAULT_WIDTH, HEIGHT = 260, 44
BOTTOM_GAP = 56  # pixels between the overlay and the bottom of the screen
SPEECH_CHARS = 400  # characters of live speech that are considered
WORK_SHOWN_MS = 10_000
"""Milliseconds for which work is shown; longer work is notified by the desktop."""

_looks = {
    Phase.LISTENING: ("mic", "danger"),
    Phase.SPEAKING: ("speaker", "accent"),
    Phase.ASKING: ("question", "warning"),
}


class Overlay(FloatingWindow):
    """Shows itself when it is wanted and something happens."""

    def __init__(
        self, session: WindowSession, talker: TalkController, phases: PhaseTracker
    ) -> None:
        flags = (
            Qt.WindowType.ToolTip
            | Qt.WindowType.WindowStaysOnTopHint
            | Qt.WindowType.WindowTransparentForInput
            | Qt.WindowType.WindowDoesNotAcceptFocus
        )
        super().__init__("overlay", flags, radius="round")
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setWindowTitle("JARVIS")
        self._session = session
        self._phases = phases
        self._wanted = False
        self._seen = False  # whether one of our windows is in front, which shows the same
        self._worked_long = False
        self.plate.setMinimumHeight(HEIGHT)
        self.symbol = Symbol("mic", "danger")
        self.turning = StateIcon()
        self.words = ElidedLabel()
        self.meter = LevelMeter()
        self.meter.setFixedSize(72, 26)
        hbox(
            self.symbol,
            self.turning,
            (self.words, 1),
            self.meter,
            parent=self.plate,
            margins=(14, 0, 16, 0),
            spacing=10,
        )
        self._long = new_timer(self, self._long_enough, WORK_SHOWN_MS)
        phases.changed.connect(self._show)
        session.changed.connect(self._show_sentence)
        talker.level.connect(self.meter.add)
        talker.partial.connect(self._show_partial)

    def want(self, wanted: bool) -> None:
        """Allow or forbid the overlay, as the settings say."""
        self._wanted = wanted
        self._show()

    def see(self, seen: bool) -> None:
        """Report whether one of our windows is in front."""
        self._seen = seen
        self._show()

    def _show(self) -> None:
        phase = self._phases.now
        works = phase in (Phase.THINKING, Phase.WORKING)
        if not works:
            self._long.stop()
            self._worked_long = False
        elif not self._long.isActive() and not self._worked_long:
            self._long.start()
        wanted = self._wanted and not self._seen and not self._phases.dictates
        if not (wanted and places_windows() and self._matters(phase)):
            self.hide()
            return
        icon, colour = _looks.get(phase, ("", ""))
        self.symbol.setVisible(bool(icon))
        if icon:
            self.symbol.show_icon(icon, colour)
        self.turning.setVisible(not icon)
        self.turning.show_state("" if icon else "running")
        listens = phase is Phase.LISTENING
        if listens and self.meter.isHidden():
            self.meter.clear()
        self.meter.setVisible(listens)
        self.words.show_text(tr(PHASE_NAMES[phase]))
        self._place(phase)
        self.show()
        self._show_sentence()

    def _matters(self, phase: Phase) -> bool:
        """Whether the phase is about speech: after typing, the window shows the rest."""
        if phase in (Phase.LISTENING, Phase.SPEAKING):
            return True
        if phase is Phase.IDLE or self._worked_long:
            return False
        running = self._session.running
        return running is None or running.request.heard is not None

    def _long_enough(self) -> None:
        self._worked_long = True
        self._show()

    def _show_partial(self, partial: Partial) -> None:
        if self._phases.now is Phase.LISTENING and partial.text.strip():
            # the end is what is being said
            self.words.show_text(
                self._end_of(one_line(partial.text[-SPEECH_CHARS:], limit=SPEECH_CHARS))
            )

    def _end_of(self, text: str) -> str:
        metrics, room = self.words.fontMetrics(), max(self.words.width(), 40)
        return metrics.elidedText(text, Qt.TextElideMode.ElideLeft, room)

    def _show_sentence(self) -> None:
        running = self._session.running
        if self._phases.now is Phase.SPEAKING and running and running.turn.speaking:
            self.words.show_text(one_line(running.turn.speaking, limit=300))

    def _place(self, phase: Phase) -> None:
        room = screen_of_cursor().availableGeometry()
        if not self.isVisible():
            self.look_at_desktop()
        scale = max(1.0, self.fontMetrics().height() / 20)
        wide = min(
            round(PHASE_WIDTHS.get(phase, DEFAULT_WIDTH) * scale) + 2 * self.edge, room.width()
        )
        self.setFixedWidth(wide)
        self.adjustSize()
        place = QRect(0, 0, wide, self.height())
        place.moveCenter(room.center())
        place.moveBottom(room.bottom() - BOTTOM_GAP + self.edge)
        self.move(within(place, room))
