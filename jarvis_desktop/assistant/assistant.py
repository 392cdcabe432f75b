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
from jarvis_desktop.assistant.executor import Executor
from jarvis_desktop.assistant.intake import Intake
from jarvis_desktop.assistant.planning import reading
from jarvis_desktop.assistant.selector import Selector, described
from jarvis_desktop.assistant.speaker import Speaker
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.current import current_turn
from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.events import (
    Attached,
    Event,
    ExpertsSelected,
    Noted,
    PlanAccepted,
    PlanProposed,
    ReplyChunk,
    TaskProgress,
    Transcribed,
    TurnFinished,
    TurnStarted,
)
from jarvis_desktop.core.expert import Selection
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import (
    Context,
    Declined,
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
    history: History
    now: Callable[[], datetime]


class _Live:
    """A turn under way and the place where it is shown."""

    def __init__(self, turn: Turn, frontend: Frontend) -> None:
        self.turn = turn
        self._frontend = frontend
        self._asking = asyncio.Lock()

    def show(self, event: Event) -> None:
        self.turn = self.turn.apply(event)
        try:
            self._frontend.show(event)
        except Exception as error:  # noqa: BLE001 - a front end that went away must not take the turn along
            log.info("A front end could not show an event: %s", frames(error))

    async def confirm(self, question: str) -> bool:
        """One question at a time, whoever asks."""
        async with self._asking:
            return await self._frontend.confirm(question)


class Assistant:
    """Handles requests, each as one turn of a conversation."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._running: dict[str, asyncio.Task[Turn]] = {}

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
        known = self._open(conversation)
        live = _Live(Turn(id=secrets.token_hex(8), started=self._parts.now()), frontend)
        token = current_turn.set(live.turn.id)
        self._running[live.turn.id] = _this_task()
        try:
            live.show(TurnStarted(live.turn.id, self._parts.now(), request.text.strip()))
            await self._complete(request, plan, frontend, known, live)
        finally:
            del self._running[live.turn.id]
            current_turn.reset(token)
        return live.turn

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
        self,
        request: Request,
        plan: Plan | None,
        frontend: Frontend,
        known: Conversation,
        live: _Live,
    ) -> None:
        """Answer, keep, speak."""
        try:
            status = await self._answer(request, plan, frontend, known, live)
        except asyncio.CancelledError:
            live.show(ReplyChunk("Stopped."))
            ended = TurnFinished(Status.CANCELLED, self._parts.now())
            self._keep(known, live, ended)
            live.show(ended)
            raise
        # Kept before it is spoken: a long answer may be silenced, or the power cut, while it
        # plays, and is an answer all the same.
        ended = TurnFinished(status, self._parts.now())
        self._keep(known, live, ended)
        try:
            await self._speak(request, live)
        finally:
            live.show(ended)

    async def _answer(
        self,
        request: Request,
        plan: Plan | None,
        frontend: Frontend,
        known: Conversation,
        live: _Live,
    ) -> Status:
        """Everything up to the written answer; says how it went."""
        try:
            if plan is None:
                plan = await self._plan(request, known, live)
            else:
                plan = await self._parts.intake.settled(plan, request.folder)
            if plan is not None:
                live.show(PlanProposed(plan))
                plan = await frontend.review(plan)
                if plan is None:
                    live.show(ReplyChunk("The plan was not accepted, so nothing was done."))
                    return Status.CANCELLED
                live.show(PlanAccepted(plan))
                await self._run(plan, request, live)
                live.show(ReplyChunk(responder.compose(live.turn)))
                return responder.outcome(live.turn)
        except JarvisError as error:
            live.show(ReplyChunk(str(error)))
        except Exception as error:  # noqa: BLE001 - the engine's last resort: no turn ends in silence
            log.error("A turn ended in an unexpected error: %s", frames(error))
            live.show(
                ReplyChunk(
                    "Something went wrong inside JARVIS itself. Nothing of yours was lost; "
                    "the log has the details (jarvis-desktop doctor says where it is)."
                )
            )
        return Status.FAILED

    async def _plan(self, request: Request, known: Conversation, live: _Live) -> Plan | None:
        """The plan; None where the planner declined, after its reason was shown."""
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
        context = Context(attachments, known, request.folder)
        planned = await self._parts.planner.plan(text, self._parts.inventory, context)
        if isinstance(planned, Declined):
            live.show(ReplyChunk(planned.reason))
            return None
        return planned

    async def _listen(self, audio: Artifact, live: _Live) -> str:
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

    async def _run(self, plan: Plan, request: Request, live: _Live) -> None:
        selections = self._parts.selector.select(plan)
        if await self._fetched(selections, live):
            selections = self._parts.selector.select(plan)
        live.show(ExpertsSelected(selections))
        await self._parts.executor.run(
            plan, selections, show=live.show, confirm=live.confirm, folder=request.folder
        )

    async def _fetched(self, selections: Sequence[Selection], live: _Live) -> bool:
        """Offer to fetch the experts that are missing; whether any was fetched."""
        fetched = False
        missing = {item.offer: item.task_id for item in selections if item.offer}
        for expert, task_id in missing.items():
            question = f"This needs {described(expert)}. Fetch it now?"
            if not await live.confirm(question):
                continue

            def report(fraction: float | None, message: str, task_id: int = task_id) -> None:
                live.show(TaskProgress(task_id, fraction, message))

            try:
                await self._parts.fetcher.fetch(expert, report)
                fetched = True
            except JarvisError as error:
                live.show(Noted(str(error)))
        return fetched

    async def _speak(self, request: Request, live: _Live) -> None:
        spoken = _speech_of(live.turn)
        for audio, text in spoken:
            await self._parts.speaker.play(audio, text, live.show)
        if request.speak and not spoken:
            await self._parts.speaker.say(live.turn.reply, live.show)

    def _keep(self, known: Conversation, live: _Live, ended: TurnFinished) -> None:
        try:
            self._parts.history.save(known.id, live.turn.apply(ended))
        except JarvisError as error:
            live.show(Noted(f"This turn could not be kept in the history: {error}"))


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
