"""The conversations that the window has open: their turns, with what belongs to each."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from jarvis_desktop.core.events import Event, TurnFinished, TurnStarted
from jarvis_desktop.core.journal import Unfinished
from jarvis_desktop.core.result import Status
from jarvis_desktop.core.turn import Request, Turn
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.bridge import Question
from jarvis_desktop.ui.request.chips import given

if TYPE_CHECKING:
    from jarvis_desktop.ui.application import App
    from jarvis_desktop.ui.plan.again import Again
    from jarvis_desktop.ui.ports import History


@dataclass(eq=False)
class Open:
    """A conversation in the window; it has no id before its first turn begins."""

    id: str | None = None
    entries: list[Exchange] = field(default_factory=list)
    goal: bool = False
    """Whether what is asked here is worked on in several steps."""
    unkept: bool = False
    """Whether nothing of it is to be kept."""

    def begin(self, history: History) -> str:
        """Its id, which it gets with its first turn; to be called on the engine."""
        if self.id is None:
            self.id = (history.open_unkept() if self.unkept else history.open_conversation()).id
        return self.id

    def take_out(self, turn_id: str) -> tuple[int, Exchange] | None:
        """Take a turn out; where it stood, or None where there is none of that id."""
        found = [item for item in enumerate(self.entries) if item[1].turn.id == turn_id]
        for _, exchange in found:
            self.entries.remove(exchange)
        return found[0] if found else None


@dataclass(eq=False)
class Exchange:
    """A turn in the window: it waits, runs or is over."""

    turn: Turn
    place: Open
    request: Request = field(default_factory=Request)
    waiting: str = ""
    """Why it has not begun; "" once it has."""
    unfinished: Unfinished | None = None
    """What it goes on with; None where it is a new request."""
    again: Again | None = None
    """What it carries out once more; None where it is a new request."""
    question: Question | None = None
    """What its turn waits to be told."""

    @classmethod
    def of(cls, request: Request, place: Open) -> Exchange:
        """As it is before anybody has looked at the request."""
        attachments = tuple(given(path) for path in request.files)
        words = request.heard.text if request.heard else request.text
        turn = Turn("", datetime.now().astimezone(), words, attachments=attachments)
        return cls(turn, place, request)

    def take(self, event: Event) -> None:
        """Something happened in its turn."""
        turn = self.turn
        if isinstance(event, TurnStarted):
            turn = replace(turn, id=event.turn_id)
            if not event.attachments:  # they are looked at later; until then show what was given
                event = replace(event, attachments=turn.attachments)
            if self.request.heard:  # it is told a moment later
                event = replace(event, text=turn.text)
        self.turn = turn.apply(event)

    def finish(self, status: Status) -> None:
        """It is over, though nobody else has said so."""
        self.waiting = ""
        self.turn = self.turn.apply(TurnFinished(status, datetime.now().astimezone()))

    async def set_aside(self, app: App) -> Turn:
        """Leave in the history what was asked for, though nobody began with it."""
        request = replace(self.request, text=self.turn.text)
        conversation = self.place.begin(app.history)
        return await app.assistant.set_aside(request, conversation=conversation)


def behind(running: Exchange | None) -> str:
    """Why a turn waits behind the one that runs."""
    if running and running.question:
        return tr("Waiting until you have answered what the request before it asks…")
    return tr("Waiting for the request before it…")
