"""The front door: takes a request through all stages and gives back the finished turn."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from jarvis_desktop.assistant import responder
from jarvis_desktop.assistant.agent.agent import Agent
from jarvis_desktop.assistant.answering import Answerer
from jarvis_desktop.assistant.executor import Executor
from jarvis_desktop.assistant.intake import Intake
from jarvis_desktop.assistant.journalling import Scribe, blank, given_up, retold
from jarvis_desktop.assistant.listening.hands_free import HandsFree
from jarvis_desktop.assistant.live import Live
from jarvis_desktop.assistant.memory import Memory
from jarvis_desktop.assistant.obtaining import Obtainer
from jarvis_desktop.assistant.replanning import MOST_ROUNDS, Campaign
from jarvis_desktop.assistant.selector import Selector
from jarvis_desktop.assistant.speaker import Speaker
from jarvis_desktop.assistant.understanding import Understanding
from jarvis_desktop.core.current import current_note, current_turn
from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.events import (
    Noted,
    PlanAccepted,
    PlanProposed,
    Speaking,
    TurnFinished,
    TurnStarted,
)
from jarvis_desktop.core.frontend import Frontend
from jarvis_desktop.core.goal import Terms
from jarvis_desktop.core.journal import Journal, Unfinished
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context, Direct, ForAgent, History, Planner
from jarvis_desktop.core.result import Status
from jarvis_desktop.core.shown import frames
from jarvis_desktop.core.task import Task, TaskType
from jarvis_desktop.core.turn import Conversation, Request, Turn
from jarvis_desktop.core.voice import Recogniser

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Parts:
    """What an assistant is made of."""

    planner: Planner
    inventory: Sequence[TaskType]
    selector: Selector
    executor: Executor
    intake: Intake
    obtainer: Obtainer
    recogniser: Recogniser
    speaker: Speaker
    answerer: Answerer
    memory: Memory
    history: History
    journal: Journal
    agent: Agent
    acting: Collection[str]
    """The tasks that do something outside of the store, which must not be done twice unasked."""
    now: Callable[[], datetime]
    hands_free: HandsFree | None = None
    """Asks aloud about what was asked aloud; None where nobody wants that."""


class Assistant:
    """Handles requests, each as one turn of a conversation."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._campaign = Campaign(
            parts.planner,
            parts.inventory,
            selector=parts.selector,
            executor=parts.executor,
            obtainer=parts.obtainer,
        )
        self._understanding = Understanding(parts.intake, parts.recogniser, parts.memory)
        self._running: dict[str, asyncio.Task[Turn]] = {}
        self._lives: set[Live] = set()
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
        unfinished = Unfinished(known.id, turn, speak=request.speak, folder=request.folder)
        hands_free = self._parts.hands_free if request.heard else None
        live = self._live(unfinished, turn, frontend, hands_free)
        with self._under_way(live):
            live.show(TurnStarted(turn.id, self._parts.now(), request.text.strip()))
            await self._complete(partial(self._answer, request, plan, known, live), known, live)
        return live.turn

    def unfinished(self) -> Sequence[Unfinished]:
        """The turns that a crash or a power cut ended, oldest first. Raises StorageError."""
        return self._parts.journal.unfinished()

    def elsewhere(self) -> Collection[str]:
        """The ids of the turns that another process works on now. Raises StorageError."""
        return self._parts.journal.elsewhere()

    async def resume(self, unfinished: Unfinished, frontend: Frontend) -> Turn:
        """Go on with such a turn where it stopped; what was done is not done again.

        It is shown from its beginning and ends as any other, under its own id in its conversation.
        Raises InputError where it goes on elsewhere, is over, or cannot be gone on with.
        """
        self._leave_summing_up()
        if unfinished.turn.plan is None and not unfinished.goal:
            raise InputError(
                "This request cannot be gone on with: its plan is of another version of JARVIS.",
                hint="Give it up, which keeps what was done of it, and ask anew.",
            )
        if unfinished.goal:  # before it is taken over: it shall be there once there is an LLM
            await self._parts.agent.check()
        left = self._take_over(unfinished)
        known = self._open(left.conversation)
        live = self._live(left, blank(left), frontend)
        with self._under_way(live):
            for event in retold(left):
                live.retell(event)
            if left.goal:
                for event in self._parts.agent.retold(left.turn.id):
                    live.retell(event)
            await self._complete(partial(self._go_on, left, known, live), known, live)
        return live.turn

    def give_up(self, unfinished: Unfinished) -> Turn:
        """Keep such a turn in the history with what was done of it, and go on with it no more.

        Raises InputError where it goes on elsewhere or is over, StorageError where it cannot be
        written.
        """
        left = self._take_over(unfinished)
        rounds = tuple(self._parts.agent.retold(left.turn.id)) if left.goal else ()
        if left.goal:
            self._parts.agent.give_up(left.turn.id)
        turn = given_up(left, self._parts.now(), rounds)
        self._parts.history.save(left.conversation, turn)
        self._parts.journal.end(turn.id)
        return turn

    def interrupt(self) -> bool:
        """Stop what runs for a goal, and let whoever began it hear what the person says.

        False where nothing is to be stopped in this way: then the turn itself is to be cancelled.
        """
        return self._parts.agent.stop()

    def names(self) -> Sequence[str]:
        """Of the files that were given lately."""
        return self._understanding.names

    def silence(self) -> None:
        """Say no more of the turns that run, which go on."""
        self._parts.speaker.silence()
        for live in self._lives:
            live.silence()
            if live.turn.speaking:
                live.show(Speaking(""))

    async def close(self) -> None:
        """End what goes on behind the turns; what was not begun yet is begun, to leave a trace."""
        await asyncio.sleep(0)
        await asyncio.gather(*self._leave_summing_up(), return_exceptions=True)

    def _take_over(self, unfinished: Unfinished) -> Unfinished:
        turn_id = unfinished.turn.id
        runs = turn_id in self._running
        left = None if runs else self._parts.journal.take_over(turn_id)
        if left is None:
            raise InputError("This request is over already, or goes on elsewhere.")
        return left

    def _live(
        self,
        unfinished: Unfinished,
        turn: Turn,
        frontend: Frontend,
        hands_free: HandsFree | None = None,
    ) -> Live:
        parts = self._parts
        scribe = Scribe(parts.journal, unfinished, acting=parts.acting)
        speaker = parts.speaker if unfinished.speak else None
        return Live(turn, frontend, scribe=scribe, speaker=speaker, hands_free=hands_free)

    @contextmanager
    def _under_way(self, live: Live) -> Iterator[None]:
        """While the turn runs it can be stopped, and what runs for it knows that it does."""
        turn_id = live.turn.id
        turn, note = current_turn.set(turn_id), current_note.set(live.note)
        self._running[turn_id] = _this_task()
        self._lives.add(live)
        try:
            yield
        finally:
            self._lives.remove(live)
            del self._running[turn_id]
            current_note.reset(note)
            current_turn.reset(turn)

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
        self, answer: Callable[[], Awaitable[Status]], known: Conversation, live: Live
    ) -> None:
        """Answer, keep, and speak to the end."""
        try:
            status = await self._answered(answer, live)
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
                await live.play(self._parts.speaker, audio, text)
        finally:
            live.show(ended)

    async def _answered(self, answer: Callable[[], Awaitable[Status]], live: Live) -> Status:
        """How it went; what kept from it is said."""
        try:
            return await answer()
        except JarvisError as error:
            live.say_apart(str(error))
        except Exception as error:  # noqa: BLE001 - the engine's last resort: no turn ends in silence
            log.error("A turn ended in an unexpected error: %s", frames(error))
            live.say_apart(
                "Something went wrong inside JARVIS itself. Nothing of yours was lost; "
                "the log has the details (jarvis-desktop doctor says where it is)."
            )
        return Status.FAILED

    async def _answer(
        self, request: Request, plan: Plan | None, known: Conversation, live: Live
    ) -> Status:
        """Everything up to the written answer; says how it went."""
        if plan is not None:
            given = await self._parts.intake.settled(plan, request.folder)
            context = Context(folder=request.folder, trace=live.trace)
            return await self._carry_out(given, context, live, rounds=0)
        inventory = self._parts.inventory
        words, context = await self._understanding.of(
            request, known, live, inventory=inventory, links=request.terms is None
        )
        if request.terms is not None:
            return await self._reach(words, request.terms, context, known, live)
        planned = await self._parts.planner.plan(words, inventory, context)
        if isinstance(planned, Direct):
            return await self._parts.answerer.direct(live.turn.text, context, live.say)
        if isinstance(planned, Plan):
            return await self._carry_out(planned, context, live, rounds=MOST_ROUNDS)
        if isinstance(planned, ForAgent):
            return await self._reach(words, Terms(), context, known, live)
        live.say(planned.reason)
        return Status.FAILED

    async def _reach(
        self, words: str, terms: Terms, context: Context, known: Conversation, live: Live
    ) -> Status:
        """Everything up to the answer, in agent mode."""
        agent = self._parts.agent
        return await agent.take(words, terms, context, live, conversation=known.id)

    async def _go_on(self, left: Unfinished, known: Conversation, live: Live) -> Status:
        """Everything that is missing for the written answer of a turn that was cut off."""
        context = await self._parts.memory.context(
            known, left.turn.attachments, folder=left.folder, trace=live.trace
        )
        if left.goal:
            return await self._parts.agent.go_on(context, live, conversation=known.id)
        plan = left.turn.plan
        assert plan is not None
        withheld: dict[int, str] = {}
        for task in plan:
            if task.id in left.perhaps and not await live.confirm(_again(task)):
                withheld[task.id] = "It may have been done already, so it was not done again."
        # A plan that was given is carried out as it is, this time too.
        rounds = MOST_ROUNDS if left.turn.text else 0
        await self._campaign.carry_out(plan, context, live, rounds=rounds, withheld=withheld)
        return await self._from_results(context, live)

    async def _carry_out(self, plan: Plan, context: Context, live: Live, *, rounds: int) -> Status:
        """Run a plan that the person agrees to, and answer from its results."""
        live.show(PlanProposed(plan))
        accepted = await live.review(plan)
        if accepted is None:
            live.say("The plan was not accepted, so nothing was done.")
            return Status.CANCELLED
        live.show(PlanAccepted(accepted))
        await self._campaign.carry_out(accepted, context, live, rounds=rounds)
        return await self._from_results(context, live)

    async def _from_results(self, context: Context, live: Live) -> Status:
        if _speech_of(live.turn):
            live.hush()  # what is heard then is the speech that was asked for
        return await self._parts.answerer.of_results(live.turn, context, live.say)

    def _keep(self, known: Conversation, live: Live, ended: TurnFinished) -> bool:
        try:
            self._parts.history.save(known.id, live.turn.apply(ended))
        except JarvisError as error:
            live.show(Noted(f"This turn could not be kept in the history: {error}"))
            kept = False
        else:
            kept = True
        # What could not be kept may still be gone on with, and kept then; not what was stopped.
        if kept or ended.status is Status.CANCELLED:
            live.scribe.forget()
        return kept

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


def _again(task: Task) -> str:
    title = task.type.title.capitalize()
    return f"{title}: this may have been done already when JARVIS was cut off. Do it again?"


def _this_task() -> asyncio.Task[Turn]:
    task = asyncio.current_task()
    assert task is not None
    return task


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
