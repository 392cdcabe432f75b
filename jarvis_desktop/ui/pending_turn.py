"""The conversations and turns that are open in the window, the scope of the Stop button, and the
lifetime of the application on the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from jarvis_desktop.core.events import (
    Event,
    RoundStarted,
    TurnFinished,
    TurnStarted,
    Waiting,
    WaitReason,
)
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Frontend, Unfinished
from jarvis_desktop.core.turn import Request, Turn
from jarvis_desktop.ui.engine import EngineQuestion
from jarvis_desktop.ui.request.attachments import uninspected

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.app.single_instance import CommandHandler
    from jarvis_desktop.assistant.assistant import Assistant
    from jarvis_desktop.storage.history import SqliteHistory


@dataclass(eq=False)
class OpenConversation:
    """A conversation in the window; it has no id before its first turn begins."""

    id: str | None = None
    entries: list[PendingTurn] = field(default_factory=list)
    goal: bool = False
    """Whether requests are handled as goals, in several steps."""
    private: bool = False
    """Whether nothing of it is saved."""

    def begin(self, history: SqliteHistory) -> str:
        """Return its id, which it gets with its first turn; called on the engine."""
        if self.id is None:
            self.id = (history.open_private() if self.private else history.open_conversation()).id
        return self.id

    @property
    def title(self) -> str:
        """The text of its first request; one that was discarded before it began counts only if
        there is no other."""
        begun = [item for item in self.entries if item.turn.id or item.turn.status is None]
        first = next(iter(begun or self.entries), None)
        return first.turn.text if first else ""

    def take_out(self, turn_id: str) -> tuple[int, PendingTurn] | None:
        """Remove a turn and return its position, or None if there is no turn of that id."""
        found = [item for item in enumerate(self.entries) if item[1].turn.id == turn_id]
        for _, pending in found:
            self.entries.remove(pending)
        return found[0] if found else None


class StopScope(StrEnum):
    """What the next press of Stop ends."""

    TURN = "turn"
    """The whole request, at once."""
    STEP = "step"
    """The current step of a goal; the user is then asked what to change."""
    REST = "rest"
    """The whole request, since its step was already stopped."""


class StopButtonState:
    """Follows a turn to determine what the next press of Stop ends."""

    def __init__(self) -> None:
        self.next = StopScope.TURN
        self._heard = False

    def press(self) -> None:
        """Remember that a step was stopped."""
        self.next, self._heard = StopScope.REST, False

    def take(self, event: Event) -> None:
        """Apply an event of the turn."""
        if isinstance(event, RoundStarted):
            self.next = StopScope.STEP

    def asked(self, *, waits: bool) -> None:
        """Apply a new question, or the end of one. The question after a press goes with its
        answer."""
        if self.next is StopScope.REST:
            if self._heard and not waits:
                self.next = StopScope.STEP
            self._heard = self._heard or waits


_reasons = {
    WaitReason.NOTHING: "",
    WaitReason.REQUEST: mark("Waiting for the request before it…"),
    WaitReason.LLM: mark("Waiting for the language model…"),
}


@dataclass(eq=False)
class PendingTurn:
    """A turn in the window that waits, runs or has ended."""

    turn: Turn
    place: OpenConversation
    request: Request = field(default_factory=Request)
    waiting: str = ""
    """What it waits for, in a sentence; "" if for nothing."""
    unfinished: Unfinished | None = None
    """The turn that it resumes; None for a new request."""
    again: Rerun | None = None
    """The plan that it runs again; None for a new request."""
    question: EngineQuestion | None = None
    """The question that it waits for."""
    brake: StopButtonState = field(default_factory=StopButtonState)

    @classmethod
    def of(cls, request: Request, place: OpenConversation) -> PendingTurn:
        """Return a turn for a request that nothing has handled yet."""
        attachments = tuple(uninspected(path) for path in request.files)
        words = request.heard.text if request.heard else request.text
        turn = Turn("", datetime.now().astimezone(), words, attachments=attachments)
        return cls(turn, place, request)

    def take(self, event: Event) -> None:
        """Apply an event of its turn."""
        turn = self.turn
        if isinstance(event, TurnStarted):
            turn = replace(turn, id=event.turn_id)
            if not event.attachments:  # they are looked at later; until then show what was given
                event = replace(event, attachments=turn.attachments)
            if self.request.heard:  # the text is reported a moment later
                event = replace(event, text=turn.text)
        self.turn = turn.apply(event)
        self.brake.take(event)
        if isinstance(event, Waiting | TurnFinished):
            self.say_why()

    def say_why(self) -> None:
        """Set `waiting` by what the turn waits for."""
        reason, earlier = self.turn.waits, self.place.entries
        self.waiting = tr(_reasons[reason])
        if reason is WaitReason.REQUEST and any(
            each.question for each in earlier[: earlier.index(self)]
        ):
            self.waiting = tr("Waiting for your answer above…")

    def finish(self, status: Status) -> None:
        """End the turn with a status, if the engine has reported none."""
        self.waiting = ""
        self.turn = self.turn.apply(TurnFinished(status, datetime.now().astimezone()))


@dataclass(frozen=True, slots=True)
class Rerun:
    """A plan to run again, and which of its steps to repeat."""

    turn: Turn
    plan: Plan
    afresh: frozenset[int] = frozenset()

    async def carry_out(
        self, assistant: Assistant, frontend: Frontend, conversation: str | None
    ) -> Turn:
        """Run it on the engine and return the new turn."""
        return await assistant.run_again(
            self.turn, self.plan, frontend, conversation=conversation, afresh=self.afresh
        )


class ApplicationLifetime:
    """Builds and closes the application, even if its start has not finished."""

    def __init__(self) -> None:
        self._built: list[Application] = []
        self._building = self._leaving = False

    async def begin(
        self, build: Callable[[], Application], commands: dict[str, CommandHandler]
    ) -> Application:
        """Build and start the application; other processes can reach it with `commands` too."""
        self._building = True
        try:
            app = build()
        finally:
            self._building = False
        if self._leaving:
            raise asyncio.CancelledError
        self._built.append(app)
        await app.start()
        app.be_reached(commands)
        return app

    def leave(self) -> bool:
        """Start nothing from now on, and return whether the application is still being built. It
        cannot be stopped in that state, but it has no child processes and nothing to close. May
        be called from any thread."""
        self._leaving = True  # first: the engine looks at it after it has said that it has built
        return self._building

    async def end(self) -> None:
        """Close the application, if it was built."""
        while self._built:
            await self._built.pop().close()
