"""The front door: takes a request through all stages and gives back the finished turn."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from jarvis_desktop.assistant import responder
from jarvis_desktop.assistant.answering import Answerer
from jarvis_desktop.assistant.executor import Executor
from jarvis_desktop.assistant.intake import Intake
from jarvis_desktop.assistant.live import Live
from jarvis_desktop.assistant.memory import Memory
from jarvis_desktop.assistant.planning import reading
from jarvis_desktop.assistant.replanning import MOST_ROUNDS, Campaign
from jarvis_desktop.assistant.selector import Selector
from jarvis_desktop.assistant.speaker import Speaker
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.current import current_turn
from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.events import (
    Attached,
    Noted,
    PlanAccepted,
    PlanProposed,
    Transcribed,
    TurnFinished,
    TurnStarted,
)
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import (
    Context,
    Direct,
    Fetcher,
    Frontend,
    History,
    Planner,
    Recogniser,
)
from jarvis_desktop.core.result import Status
from jarvis_desktop.core.shown import frames
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.core.turn import Conversation, Request, Turn

log = logging.getLogger(__name__)

LONGEST_REQUEST = 200_000
"""Characters; a longer text belongs in a file."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What an assistant is made of."""

    planner: Planner
    inventory: Sequence[TaskType]
    selector: Selector
    executor: Executor
    intake: Intake
    fetcher: Fetcher
    recogniser: Recogniser
    speaker: Speaker
    answerer: Answerer
    memory: Memory
    history: History
    now: Callable[[], datetime]


class Assistant:
    """Handles requests, each as one turn of a conversation."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._campaign = Campaign(
            parts.planner,
            parts.inventory,
            selector=parts.selector,
            executor=parts.executor,
            fetcher=parts.fetcher,
        )
        self._running: dict[str, asyncio.Task[Turn]] = {}
        self._settling: set[asyncio.Task[None]] = set()

    async def handle(
        self,
        request: Request,
        frontend: Frontend,
        *,
        conversation: str | None = None,
        plan: Plan | None = None,
    ) -> Turn:
        """Answer a request, or run a `plan` that is there already.

        Every turn ends in an answer or a stated reason and is kept in the history. Cancelling
        stops all work and all sound, keeps the turn as stopped, and raises CancelledError.
        """
        self._leave_summing_up()
        known = self._open(conversation)
        turn = Turn(id=secrets.token_hex(8), started=self._parts.now())
        live = Live(turn, frontend, speaker=self._parts.speaker if request.speak else None)
        token = current_turn.set(turn.id)
        self._running[turn.id] = _this_task()
        try:
            live.show(TurnStarted(turn.id, self._parts.now(), request.text.strip()))
            await self._complete(request, plan, known, live)
        finally:
            del self._running[turn.id]
            current_turn.reset(token)
        return live.turn

    async def close(self) -> None:
        """End what goes on behind the turns; what was not begun yet is begun, to leave a trace."""
        await asyncio.sleep(0)
        await asyncio.gather(*self._leave_summing_up(), return_exceptions=True)

    def _open(self, conversation: str | None) -> Conversation:
        try:
            return self._parts.history.open_conversation(conversation)
        except JarvisError:
            # Without its past the request can still be answered; keeping it will tell why.
            return Conversation(conversation or secrets.token_hex(16))

    def stop_others(self) -> int:
        """Stop every turn but the one that calls this; how many there were."""
        own = current_turn.get()
        others = [task for turn_id, task in self._running.items() if turn_id != own]
        for task in others:
            task.cancel()
        return len(others)

    async def _complete(
        self, request: Request, plan: Plan | None, known: Conversation, live: Live
    ) -> None:
        """Answer, keep, and speak to the end."""
        try:
            status = await self._answer(request, plan, known, live)
        except asyncio.CancelledError:
            # Nothing is awaited before it is kept: people press a button twice.
            live.silence()
            live.say_apart("Stopped.")
            ended = TurnFinished(Status.CANCELLED, self._parts.now())
            self._keep(known, live, ended)
            live.show(ended)
            await live.silent()
            raise
        # Kept the moment it is whole: a long answer may be silenced, or the power cut, while it
        # is still being spoken, and is an answer all the same.
        ended = TurnFinished(status, self._parts.now())
        if self._keep(known, live, ended):
            self._sum_up(known)
        try:
            await live.spoken()
            for audio, text in _speech_of(live.turn):
                await self._parts.speaker.play(audio, text, live.show)
        finally:
            live.show(ended)

    async def _answer(
        self, request: Request, plan: Plan | None, known: Conversation, live: Live
    ) -> Status:
        """Everything up to the written answer; says how it went."""
        try:
            if plan is not None:
                given = await self._parts.intake.settled(plan, request.folder)
                context = Context(folder=request.folder, trace=live.trace)
                return await self._carry_out(given, context, live, rounds=0)
            context = await self._understood(request, known, live)
            planned = await self._parts.planner.plan(live.turn.text, self._parts.inventory, context)
            if isinstance(planned, Direct):
                return await self._parts.answerer.direct(live.turn.text, context, live.say)
            if isinstance(planned, Plan):
                return await self._carry_out(planned, context, live, rounds=MOST_ROUNDS)
            live.say(planned.reason)
        except JarvisError as error:
            live.say_apart(str(error))
        except Exception as error:  # noqa: BLE001 - the engine's last resort: no turn ends in silence
            log.error("A turn ended in an unexpected error: %s", frames(error))
            live.say_apart(
                "Something went wrong inside JARVIS itself. Nothing of yours was lost; "
                "the log has the details (jarvis-desktop doctor says where it is)."
            )
        return Status.FAILED

    async def _carry_out(self, plan: Plan, context: Context, live: Live, *, rounds: int) -> Status:
        """Run a plan that the person agrees to, and answer from its results."""
        live.show(PlanProposed(plan))
        accepted = await live.review(plan)
        if accepted is None:
            live.say("The plan was not accepted, so nothing was done.")
            return Status.CANCELLED
        live.show(PlanAccepted(accepted))
        await self._campaign.carry_out(accepted, context, live, rounds=rounds)
        if _speech_of(live.turn):
            live.hush()  # what is heard then is the speech that was asked for
        return await self._parts.answerer.of_results(live.turn, context, live.say)

    async def _understood(self, request: Request, known: Conversation, live: Live) -> Context:
        """The words of the request in the turn, and all that is known beside them."""
        text = request.text.strip()
        if len(text) > LONGEST_REQUEST:
            raise InputError(
                f"The text is {len(text):,} characters long; the most is {LONGEST_REQUEST:,}.",
                hint="Put it in a file and give the file.",
            )
        attachments = await self._parts.intake.given(request)
        audio = Artifact(Kind.AUDIO, path=request.audio) if request.audio else None
        if not text and audio is None:
            audio, attachments = _spoken(attachments)
        if attachments:
            live.show(Attached(attachments))
        if audio is not None:
            text = await self._listen(audio, live)
        # Names in a pasted text are content: no file is fetched for them.
        instruction, _ = reading.split(text, self._parts.inventory)
        named = await self._parts.intake.named(instruction, request, attachments)
        if named:
            attachments = (*attachments, *named)
            live.show(Attached(attachments))
        return await self._parts.memory.context(
            known, attachments, folder=request.folder, trace=live.trace
        )

    async def _listen(self, audio: Artifact, live: Live) -> str:
        def report(fraction: float | None, message: str) -> None:
            """Speech is quick enough to need no progress of its own."""

        assert audio.path is not None
        try:
            heard = await self._parts.recogniser.transcribe(audio.path, report)
        except InputError as error:
            # The store's name for it means nothing to the person who gave the file.
            message = error.message.replace(audio.path.name, audio.title)
            raise InputError(message, hint=error.hint) from error
        live.show(Transcribed(heard.text, heard.engine))
        if heard.note:
            live.show(Noted(heard.note))
        return heard.text

    def _keep(self, known: Conversation, live: Live, ended: TurnFinished) -> bool:
        try:
            self._parts.history.save(known.id, live.turn.apply(ended))
        except JarvisError as error:
            live.show(Noted(f"This turn could not be kept in the history: {error}"))
            return False
        return True

    def _sum_up(self, known: Conversation) -> None:
        """Let the older turns be summed up while nobody waits for an answer."""
        settling = asyncio.create_task(self._parts.memory.settle(known.id))
        self._settling.add(settling)
        settling.add_done_callback(self._settling.discard)

    def _leave_summing_up(self) -> list[asyncio.Task[None]]:
        """A new request needs the LLM for itself; the rest is summed up after it."""
        left = list(self._settling)
        for task in left:
            task.cancel()
        return left


def _this_task() -> asyncio.Task[Turn]:
    task = asyncio.current_task()
    assert task is not None
    return task


def _spoken(attachments: tuple[Artifact, ...]) -> tuple[Artifact | None, tuple[Artifact, ...]]:
    """With no words at all, the one recording among the files is the request."""
    recordings = [item for item in attachments if item.kind is Kind.AUDIO]
    if len(recordings) != 1:
        return None, attachments
    rest = tuple(item for item in attachments if item is not recordings[0])
    return recordings[0], rest


def _speech_of(turn: Turn) -> list[tuple[Path, str]]:
    """The speech that was asked for: (audio file, what it says)."""
    if turn.plan is None:
        return []
    return [
        (item.path, responder.said(turn, task))
        for task in turn.plan.tasks
        if task.type.name == responder.SPEECH_TASK and task.id in turn.results
        for item in turn.results[task.id].artifacts
        if item.path is not None
    ]
