"""What the window says at its start where a request was cut off: to go on with it, or leave it."""

from __future__ import annotations

from collections import deque

from PySide6.QtWidgets import QWidget

from jarvis_desktop.core.journal import Unfinished
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.core.wording import mark, tr, trn
from jarvis_desktop.ui.application import App
from jarvis_desktop.ui.bridge import Outcome
from jarvis_desktop.ui.conversation.outline_view import tally
from jarvis_desktop.ui.look import phrases
from jarvis_desktop.ui.look.notices import Card
from jarvis_desktop.ui.session import Session

KEPT = mark("What is done is not done again.")
UNBEGUN = mark("Nothing of it was done yet.")
STUCK = mark("It cannot go on: its plan is of another version. Leave it, and ask anew.")


class ResumeNotice(Card):
    """Offers what was cut off, one request after the other."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("clock", parent)
        self._session = session
        self._left: deque[Unfinished] = deque()
        self.leave = self.offer(tr("Leave it"), kind="quiet")
        self.leave.setToolTip(tr("Go on with it no more; the history keeps what was done of it"))
        self.leave.clicked.connect(self._leave)
        self.go_on = self.offer(tr("Go on"), kind="primary")
        self.go_on.clicked.connect(self._go_on)
        session.ready.connect(self._look)

    def _look(self, app: App) -> None:
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
        unnamed = tr("A goal was cut off") if item.goal else tr("A plan was cut off")
        title = tr("“{request}” was cut off", request=words) if words else unnamed
        stuck = item.turn.plan is None and not item.goal
        parts = [f"{phrases.upper_first(progress(item))}.", tr(STUCK if stuck else KEPT)]
        if not (stuck or item.begun):
            parts = [tr(UNBEGUN)]
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


def progress(item: Unfinished) -> str:
    """How far it is; of a goal whose plan is known: "a goal: 1 of 4 steps done"."""
    if item.goal and item.turn.outline:
        return tr("a goal: {tally}", tally=tally(item.turn.outline))
    return item.progress
