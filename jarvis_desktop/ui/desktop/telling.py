"""What the person is notified of: work that took long, a question, a timer; never of what they see
anyway."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from jarvis_desktop.assistant.markup import plain
from jarvis_desktop.core.ports import Timer
from jarvis_desktop.core.result import Status
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.ui.bridge import Outcome
from jarvis_desktop.ui.desktop.bus_notices import DEFAULT, Note
from jarvis_desktop.ui.desktop.notifications import Notifier
from jarvis_desktop.ui.session import Exchange, Session

LONG = 10.0
"""Seconds; of a turn that took less nobody is told."""
SNOOZE = 300.0
"""Seconds after which a timer rings once more."""
LINES = 12
"""Lines of an answer that are looked at for its first words."""
SHOW, SPEAK, STOP, AGAIN = "show", "speak", "stop", "again"

_endings = {
    Status.DONE: mark("JARVIS is done"),
    Status.PARTLY: mark("JARVIS could do a part of it"),
    Status.FAILED: mark("JARVIS could not do it"),
}


class Telling(QObject):
    """Follows the session."""

    show_wanted = Signal(object, str)
    """Carries the Exchange that the person wants to see, or None for the window as it is, and a
    token of the desktop."""
    speak_wanted = Signal(object)
    """Carries the Turn whose answer is to be read aloud."""

    def __init__(
        self,
        session: Session,
        notifier: Notifier,
        is_seen: Callable[[Exchange], bool],
        parent: QObject | None = None,
    ) -> None:
        """`is_seen` says whether the person looks at the window where an exchange is shown."""
        super().__init__(parent)
        self._session = session
        self._notifier = notifier
        self._is_seen = is_seen
        self._wanted = True
        self._running: set[Exchange] = set()
        self._told: dict[str, Exchange] = {}
        """What is told of, by the key of its note."""
        self._timers: dict[str, Timer] = {}
        session.changed.connect(self._changed)
        session.asked.connect(self._asked)
        session.rang.connect(self._rang)
        notifier.acted.connect(self._acted)

    def want(self, wanted: bool) -> None:
        """Tell at all, as the settings say."""
        self._wanted = wanted

    def seen(self) -> None:
        """A window of ours is looked at: notes of what it shows go."""
        for key, exchange in list(self._told.items()):
            if self._is_seen(exchange):
                del self._told[key]
                self._notifier.withdraw(key)

    def _changed(self, exchange: Exchange) -> None:
        turn = exchange.turn
        if turn.status is None:
            self._running.add(exchange)
        elif exchange in self._running:
            self._running.discard(exchange)
            took = (turn.finished - turn.started).total_seconds() if turn.finished else 0.0
            in_box = exchange.place is self._session.quick
            if turn.status in _endings and (took >= LONG or in_box):
                self._tell_of(exchange, tr(_endings[turn.status]), first_words(turn))

    def _asked(self, exchange: Exchange) -> None:
        if exchange.question:
            title = tr("JARVIS asks you something")
            self._tell_of(exchange, title, one_line(exchange.question.text, limit=400))

    def _tell_of(self, exchange: Exchange, title: str, body: str) -> None:
        if not self._wanted or self._is_seen(exchange):
            return
        key = f"turn-{id(exchange)}"
        self._told[key] = exchange
        words = one_line(exchange.turn.text, limit=60)
        actions = [(DEFAULT, tr("Show")), (SHOW, tr("Show"))]
        if exchange.turn.reply and exchange.question is None:
            actions.append((SPEAK, tr("Read aloud")))
        told = f"{words}: {body}" if words and body else words or body
        self._notifier.tell(Note(key, title, told, tuple(actions)))

    def _rang(self, timer: Timer) -> None:
        if not self._wanted:
            return
        key = f"timer-{timer.id}"
        self._timers[key] = timer
        actions = (
            (DEFAULT, tr("Show")),
            (STOP, tr("Stop")),
            (AGAIN, tr("Again in 5 minutes")),
        )
        self._notifier.tell(Note(key, tr("The timer is up"), one_line(timer.label), actions))

    def _acted(self, key: str, action: str, token: str) -> None:
        exchange = self._told.pop(key, None)
        timer = self._timers.pop(key, None)
        if timer and action == AGAIN:
            self._again(timer)
        if timer and action in (AGAIN, STOP):
            self._session.silence()
        elif exchange and action == SPEAK:
            self.speak_wanted.emit(exchange.turn)
        else:
            self.show_wanted.emit(exchange, token)
        self._notifier.withdraw(key)

    def _again(self, timer: Timer) -> None:
        app = self._session.app
        if app is None:
            return
        timers = app.timers

        async def again() -> None:
            timers.set(SNOOZE, timer.label)

        def told(outcome: Outcome) -> None:
            if outcome.error:
                self._session.failed.emit(str(outcome.error))

        self._session.engine.run(again, told)


def first_words(turn: Turn) -> str:
    """How the answer begins, without its markup."""
    lines = turn.reply[:4000].splitlines()[:LINES]
    return " ".join(words for line in lines if (words := plain(line, begins=True)))
