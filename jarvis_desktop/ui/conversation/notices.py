"""Notices above the conversation: interrupted requests, questions elsewhere, and running timers at
exit."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.core.ports import Timer, Unfinished
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.pending_turn import PendingTurn
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.widgets import labels
from jarvis_desktop.ui.widgets.banners import BannerCard
from jarvis_desktop.ui.widgets.timers import new_timer

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.settings import Settings
    from jarvis_desktop.ui.actions import Actions

DONE_STAYS = mark("Finished steps are not repeated.")
NOT_STARTED = mark("Nothing was done yet.")
INCOMPATIBLE = mark(
    "It cannot be resumed: its plan was made by another version. Leave it and ask again."
)


class ResumeNotice(BannerCard):
    """Offers to resume interrupted requests, one at a time."""

    def __init__(self, session: WindowSession, parent: QWidget | None = None) -> None:
        super().__init__("clock", parent)
        self._session = session
        self._left: deque[Unfinished] = deque()
        self.leave = self.offer(tr("Discard"), kind="quiet")
        self.leave.setToolTip(tr("Do not resume it; the history keeps what was done"))
        self.leave.clicked.connect(self._leave)
        self.go_on = self.offer(tr("Continue"), kind="primary")
        self.go_on.clicked.connect(self._go_on)
        session.ready.connect(self._look)

    def _look(self, app: Application) -> None:
        async def work() -> list[Unfinished]:
            return list(app.assistant.unfinished())

        self._session.engine.run(work, self._looked)

    def _looked(self, outcome: Outcome) -> None:
        self._left = deque(outcome.value or ())
        self._offer()
        if outcome.error:
            self._session.failed.emit(str(outcome.error))

    def _offer(self) -> None:
        if not self._left:
            self.hide()
            return
        item, more = self._left[0], len(self._left) - 1
        words = one_line(item.turn.text, limit=100)
        unnamed = tr("A goal was interrupted") if item.goal else tr("A plan was interrupted")
        title = tr("“{request}” was interrupted", request=words) if words else unnamed
        stuck = item.turn.plan is None and not (item.goal or item.unplanned)
        parts = [
            f"{labels.upper_first(format_progress(item))}.",
            tr(INCOMPATIBLE if stuck else DONE_STAYS),
        ]
        if not (stuck or item.begun):
            parts = [tr(NOT_STARTED)]
        if more:
            parts.append(
                trn(
                    "{count} more request after this one.",
                    "{count} more requests after this one.",
                    more,
                )
            )
        self.say(title, " ".join(parts))
        self.go_on.setVisible(not stuck)

    def _go_on(self) -> None:
        item = self._left.popleft()
        self._offer()
        self._session.go_on(item)

    def _leave(self) -> None:
        item, app = self._left.popleft(), self._session.app
        self._offer()
        assert app is not None

        async def work() -> Turn:
            return app.assistant.give_up(item)

        self._session.engine.run(work, self._given_up)

    def _given_up(self, outcome: Outcome) -> None:
        self._session.kept.emit()
        if outcome.error:
            self._session.failed.emit(str(outcome.error))


def format_progress(item: Unfinished) -> str:
    """The progress of a request; for a goal with a plan: "a goal: 1 of 4 steps done"."""
    if item.goal and item.turn.outline:
        from jarvis_desktop.ui.conversation.goal_view import tally_steps

        return tr("a goal: {tally}", tally=tally_steps(item.turn.outline))
    return item.progress


class ElsewhereNotice(BannerCard):
    """Leads to the question of another conversation; a new one is not in the history yet."""

    def __init__(self, session: WindowSession, parent: QWidget | None = None) -> None:
        super().__init__("note", parent)
        self._session = session
        self.go = self.offer(tr("Go there"), kind="primary")
        self.go.clicked.connect(self._go)
        session.asked.connect(self._look)
        session.switched.connect(self._look)
        session.busy_changed.connect(self._look)

    def _asking(self) -> PendingTurn | None:
        """The first turn whose question is in a conversation that is not shown."""
        asking = (pending for pending in self._session.active if pending.question)
        return next((item for item in asking if item.place is not self._session.open), None)

    def _look(self) -> None:
        asking = self._asking()
        if asking and asking.question:
            parts = [(asking.turn.text, 60), (asking.question.text, 200)]
            words = ": ".join(one_line(text, limit=limit) for text, limit in parts if text.strip())
            self.say(tr("Another conversation is waiting for an answer"), words)
        else:
            self.hide()

    def _go(self) -> None:
        if asking := self._asking():
            self._session.open_place(asking.place)


LOOK_MS = 60 * 60 * 1000
"""Milliseconds after which it is asked again whether a day has passed."""


class UpdateNotice(BannerCard):
    """Says once that there is a newer version, if the user wants to know."""

    def __init__(
        self, session: WindowSession, actions: Actions, parent: QWidget | None = None
    ) -> None:
        super().__init__("download", parent)
        self._session = session
        self.later = self.offer(tr("Not now"), kind="quiet")
        self.later.clicked.connect(self.hide)
        self.news = self.offer(tr("What is new"), kind="primary")
        self.news.clicked.connect(lambda: actions.go.emit("settings", "version"))
        self.news.clicked.connect(self.hide)
        self._timer = new_timer(self, self._look, LOOK_MS, repeat=True)
        session.settled.connect(self._settled)

    def _settled(self, settings: Settings) -> None:
        if not settings.updates.check:
            self._timer.stop()
        elif not self._timer.isActive():
            self._timer.start()
            self._look()

    def _look(self) -> None:
        async def look(app: Application) -> str:
            return await app.updates.look_daily()

        self._session.run(look, self._looked)

    def _looked(self, outcome: Outcome) -> None:
        if outcome.value:
            self.say(
                tr("There is a new version of JARVIS Desktop"),
                tr("Version {version}. You decide when it is installed.", version=outcome.value),
            )


class QuitNotice(BannerCard):
    """Warns at exit that timers only ring while JARVIS is running."""

    agreed = Signal()  # JARVIS should quit anyway

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("clock", parent)
        self.quit = self.offer(tr("Quit JARVIS"), kind="quiet")
        self.quit.clicked.connect(self.agreed)
        self.stay = self.offer(tr("Stay"), kind="primary")
        self.stay.clicked.connect(self.hide)

    def ask(self, timers: Sequence[Timer]) -> bool:
        """Ask about running timers. Return False if there are none, or it was asked already."""
        if not timers or self.isVisible():
            return False
        self._show(timers)
        return True

    def follow(self, timers: Sequence[Timer]) -> None:
        """Update an open question for these timers."""
        if not timers:
            self.hide()
        elif self.isVisible():
            self._show(timers)

    def _show(self, timers: Sequence[Timer]) -> None:
        label = one_line(timers[0].label, limit=60)
        runs = trn("A timer is running.", "{count} timers are running.", len(timers))
        self.say(
            tr("A timer is running: {label}", label=label) if label and len(timers) == 1 else runs,
            tr("It only rings while JARVIS is open, or late, at the next start."),
        )
