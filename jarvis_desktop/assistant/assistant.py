"""The assistant: takes a request through all stages and returns the finished turn.

A turn ends with its answer, not with its voice: silencing an answer does not undo it.
"""

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
from typing import TYPE_CHECKING, NamedTuple

from jarvis_desktop.assistant import answer_writer
from jarvis_desktop.assistant.answer_writer import AnswerWriter
from jarvis_desktop.assistant.execution.executor import (
    MAX_REPLANS,
    Executor,
    ReplanningRunner,
    RunningPlan,
)
from jarvis_desktop.assistant.live_turn import (
    JournalWriter,
    LiveTurn,
    abandoned_turn,
    empty_turn,
    replayed_events,
)
from jarvis_desktop.assistant.memory import ConversationMemory
from jarvis_desktop.assistant.request_reader import AttachmentIntake, RequestReader
from jarvis_desktop.assistant.selection.acquire import ExpertAcquirer
from jarvis_desktop.assistant.selection.selector import Selector
from jarvis_desktop.assistant.speaker import AnswerSpeaker
from jarvis_desktop.assistant.talk.hands_free import HandsFree
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.context import (
    Urgency,
    current_conversation,
    current_detail,
    current_note,
    current_question,
    current_turn,
    current_usage,
    current_wait,
    urgency,
)
from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.events import (
    ExpertsSelected,
    Kept,
    Noted,
    PlanAccepted,
    PlanProposed,
    Speaking,
    TaskFinished,
    TurnFinished,
    TurnStarted,
    Waiting,
    WaitReason,
)
from jarvis_desktop.core.expert import Candidate, Status
from jarvis_desktop.core.goal import Terms
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import (
    AnswerDirectly,
    Context,
    Frontend,
    History,
    Journal,
    NeedsAgent,
    Planner,
    PlanRejected,
    Unfinished,
)
from jarvis_desktop.core.speech import Recogniser
from jarvis_desktop.core.task import Task, TaskType
from jarvis_desktop.core.turn import Conversation, Request, Turn

if TYPE_CHECKING:
    from jarvis_desktop.assistant.agent.agent import Agent

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AssistantDependencies:
    """The stages of a turn, and what they need."""

    planner: Planner
    inventory: Sequence[TaskType]
    selector: Selector
    executor: Executor
    intake: AttachmentIntake
    obtainer: ExpertAcquirer
    recogniser: Recogniser
    speaker: AnswerSpeaker
    answerer: AnswerWriter
    memory: ConversationMemory
    history: History
    journal: Journal
    agent: Callable[[], Agent]
    """Agent mode, which is built when the first goal needs it."""
    acting: Collection[str]
    """The tasks with effects outside of the store, which must not be repeated unasked."""
    instant: Collection[str]
    """The tasks that take no time, and nothing but their own words."""
    embedded: Planner
    """Plans within milliseconds, without an LLM."""
    now: Callable[[], datetime]
    hands_free: Callable[[], HandsFree | None] = lambda: None
    """Asks questions about spoken requests by voice; None if the user does not want that."""


class TurnPipeline:
    """The stages from a request to its written answer. Each method returns how the turn went."""

    def __init__(self, dependencies: AssistantDependencies) -> None:
        self._dependencies = dependencies
        self._understanding = RequestReader(
            dependencies.intake, dependencies.recogniser, dependencies.memory
        )
        self._replanning_runner = ReplanningRunner(
            dependencies.planner,
            dependencies.inventory,
            selector=dependencies.selector,
            executor=dependencies.executor,
            obtainer=dependencies.obtainer,
        )

    @property
    def names(self) -> Sequence[str]:
        """The names of files that were given recently."""
        return self._understanding.names

    def running_plan(self, turn_id: str) -> RunningPlan | None:
        """The plan of experts that this turn is carrying out now."""
        return self._replanning_runner.running_plan(turn_id)

    async def answer(
        self,
        request: Request,
        plan: Plan | None,
        known: Conversation,
        live: LiveTurn,
        earlier: EarlierTurns,
    ) -> Status:
        """Answer a request with this `plan`, or plan it first. It waits for the `earlier` turns
        unless it needs nothing of them."""
        if plan is not None:
            given = await self._dependencies.intake.settled(plan, request.folder)
            await self._after(earlier, given, known)
            context = Context(folder=request.folder, trace=live.trace)
            return await self._carry_out(given, context, live, rounds=0)
        inventory = self._dependencies.inventory
        words, context = await self._understanding.of(
            request, known, live, inventory=inventory, links=request.terms is None
        )
        if request.terms is not None:
            if earlier:
                known = await earlier.answered()
                context = await self._context(known, live.turn, request.folder, live)
            return await self._reach(words, request.terms, context, known, live)
        live.keep_request()
        return await self._answer_words(words, context, known, live, earlier)

    async def _answer_words(
        self,
        words: str,
        context: Context,
        known: Conversation,
        live: LiveTurn,
        earlier: EarlierTurns,
    ) -> Status:
        """Plan what the words ask and carry it out, or answer them without a plan."""
        inventory = self._dependencies.inventory
        if earlier:
            quick = await self._dependencies.embedded.plan(words, inventory, context)
            if isinstance(quick, Plan) and self._is_instant(quick):
                return await self._carry_out(quick, context, live, rounds=0)
            known = await earlier.answered()
            context = await self._context(known, live.turn, context.folder, live)
        planned = await self._dependencies.planner.plan(words, inventory, context)
        if isinstance(planned, AnswerDirectly):
            return await self._dependencies.answerer.direct(
                live.turn.text, context, live.say, within=planned.within
            )
        if isinstance(planned, Plan):
            return await self._carry_out(planned, context, live, rounds=MAX_REPLANS)
        if isinstance(planned, NeedsAgent):
            return await self._reach(words, Terms(), context, known, live)
        live.say(planned.reason)
        return Status.FAILED

    async def go_on(
        self, left: Unfinished, known: Conversation, live: LiveTurn, earlier: EarlierTurns
    ) -> Status:
        """Finish a turn that was interrupted."""
        if left.unplanned:
            context = await self._context(known, left.turn, left.folder, live)
            return await self._answer_words(left.turn.text, context, known, live, earlier)
        known = await self._after(earlier, left.turn.plan, known)
        context = await self._context(known, left.turn, left.folder, live)
        if left.goal:
            return await self._dependencies.agent().go_on(context, live, conversation=known.id)
        plan = left.turn.plan
        assert plan is not None
        # A given plan is not replaced on resuming either.
        rounds = 0 if left.fixed else MAX_REPLANS
        if not left.begun:
            return await self._carry_out(plan, context, live, rounds=rounds)
        withheld: dict[int, str] = {}
        for task in plan:
            if task.id in left.perhaps and not await live.confirm(_again(task)):
                withheld[task.id] = tr("It may have been done already, so it was not done again.")
        await self._replanning_runner.carry_out(
            plan, context, live, rounds=rounds, withheld=withheld
        )
        return await self._from_results(context, live)

    async def once_more(
        self,
        turn: Turn,
        plan: Plan,
        afresh: Collection[int],
        known: Conversation,
        live: LiveTurn,
        earlier: EarlierTurns,
    ) -> Status:
        """Answer the request of `turn` again, with a similar plan.

        Its results are reused, except those of the tasks `afresh`, those whose files are missing,
        and all that depend on them.
        """
        plan = await self._dependencies.intake.settled(plan, None)
        known = await self._after(earlier, plan, known)
        same = plan.unchanged(turn.plan) if turn.plan else frozenset()
        done = {
            task_id: result
            for task_id, result in turn.results.items()
            if task_id in same
            and result.status is Status.DONE
            and await self._dependencies.intake.holds(result.artifacts)
        }
        stale = plan.depending_on({*afresh, *(task.id for task in plan if task.id not in done)})
        kept = [done[task.id] for task in plan if task.id not in stale]
        live.show(PlanAccepted(plan))
        by_whom = (item for item in turn.selections if item.task_id in done.keys() - stale)
        live.show(ExpertsSelected(tuple(by_whom)))
        for result in kept:
            live.show(TaskFinished(result))
        context = await self._context(known, turn, None, live)
        await self._replanning_runner.carry_out(plan, context, live, rounds=0)
        return await self._from_results(context, live)

    async def revise(self, plan: Plan, words: str, known: Conversation) -> Plan:
        """The plan changed as the words ask. Raises InputError if they are not understood."""
        given = (item for task in plan for _, item in task.items() if isinstance(item, Artifact))
        context = await self._dependencies.memory.context(
            known, tuple(dict.fromkeys(given)), folder=None, trace=log.debug
        )
        inventory = self._dependencies.inventory
        revised = await self._dependencies.planner.revise(words, inventory, context, plan=plan)
        if isinstance(revised, PlanRejected):
            raise InputError(revised.reason)
        return revised

    async def _after(
        self, earlier: EarlierTurns, plan: Plan | None, known: Conversation
    ) -> Conversation:
        """Wait until the `earlier` turns are answered, unless the plan overtakes them. Return the
        conversation as it is then."""
        if not earlier or (plan and self._is_instant(plan)):
            return known
        return await earlier.answered()

    def _is_instant(self, plan: Plan) -> bool:
        return all(task.type.name in self._dependencies.instant for task in plan)

    async def _context(
        self, known: Conversation, turn: Turn, folder: Path | None, live: LiveTurn
    ) -> Context:
        return await self._dependencies.memory.context(
            known, turn.attachments, folder=folder, trace=live.trace
        )

    async def _reach(
        self, words: str, terms: Terms, context: Context, known: Conversation, live: LiveTurn
    ) -> Status:
        """Answer in agent mode."""
        agent = self._dependencies.agent()
        return await agent.take(words, terms, context, live, conversation=known.id)

    async def _carry_out(
        self, plan: Plan, context: Context, live: LiveTurn, *, rounds: int
    ) -> Status:
        """Let the user review a plan, run it, and answer from its results."""
        live.show(PlanProposed(plan))
        accepted = await live.review(plan)
        if accepted is None:
            live.say(tr("The plan was not accepted, so nothing was done."))
            return Status.CANCELLED
        if accepted != plan:
            accepted = await self._dependencies.intake.settled(accepted, context.folder)
        live.show(PlanAccepted(accepted))
        await self._replanning_runner.carry_out(accepted, context, live, rounds=rounds)
        return await self._from_results(context, live)

    async def _from_results(self, context: Context, live: LiveTurn) -> Status:
        if live.turn.plan is not None and not live.turn.plan.tasks:
            live.say(tr("No step is left in the plan, so there was nothing to do."))
            return Status.CANCELLED
        if speech_of(live.turn):
            live.hush()  # the requested speech is played instead
        return await self._dependencies.answerer.of_results(live.turn, context, live.complete)


def speech_of(turn: Turn) -> list[tuple[Path, str]]:
    """The speech that was asked for: (audio file, what it says)."""
    if turn.plan is None:
        return []
    return [
        (item.path, answer_writer.spoken_text(turn, task))
        for task in turn.plan.tasks
        if task.type.name == answer_writer.SPEECH_TASK and task.id in turn.results
        for item in turn.results[task.id].artifacts
        if item.path is not None
    ]


def _again(task: Task) -> str:
    return tr(
        "{step}: this may have been done already when JARVIS was interrupted. Do it again?",
        step=task.type.called,
    )


class _RunningTurn(NamedTuple):
    task: asyncio.Task[Turn]
    conversation: str
    answered: asyncio.Event
    """Set once its answer is in the history, or it has ended without one."""
    silenced: int
    """How many answers stopped being said when it began."""


class EarlierTurns:
    """The turns of a conversation that were asked before one of its turns, and are not answered."""

    def __init__(
        self,
        answered: Sequence[asyncio.Event],
        live: LiveTurn,
        reopen: Callable[[], Conversation],
    ) -> None:
        """`answered` are set by the turns. `reopen` returns the conversation as it is now."""
        self._answered = answered
        self._live = live
        self._reopen = reopen

    def __bool__(self) -> bool:
        return not all(each.is_set() for each in self._answered)

    async def answered(self) -> Conversation:
        """Wait for their answers, and return the conversation with them."""
        self._live.show(Waiting(WaitReason.REQUEST))
        with self._live.waiting():
            for each in self._answered:
                await each.wait()
        self._live.show(Waiting(WaitReason.NOTHING))
        return self._reopen()


class Assistant:
    """Handles requests, each as one turn of a conversation.

    Turns of different conversations run at once, and wait only for the LLM, a lane or the voice.
    Within a conversation a turn begins once those before it are answered, since it may refer to
    them. A request that only needs instant tasks overtakes them.
    """

    def __init__(self, dependencies: AssistantDependencies) -> None:
        self._dependencies = dependencies
        self._stages = TurnPipeline(dependencies)
        self._running: dict[str, _RunningTurn] = {}
        self._lives: list[LiveTurn] = []
        """The running turns, the newest last."""
        self._settling: set[asyncio.Task[None]] = set()

    async def handle(
        self,
        request: Request,
        frontend: Frontend,
        *,
        conversation: str | None = None,
        plan: Plan | None = None,
    ) -> Turn:
        """Answer a request, or run a given `plan`.

        Every turn ends in an answer or a stated reason and is saved in the history. Cancelling
        stops all work and sound, saves the turn as cancelled, and raises CancelledError. What
        another turn is saying ends.
        """
        silenced = self.end_speech()
        self._leave_summing_up()
        known, turn = self._open(conversation), self._new()
        unfinished = Unfinished(
            known.id, turn, speak=request.speak, folder=request.folder, fixed=plan is not None
        )
        hands_free = self._dependencies.hands_free() if request.heard else None
        live = self._live(unfinished, turn, frontend, hands_free)
        with self._under_way(live, known.id, silenced) as earlier:
            live.show(TurnStarted(turn.id, turn.started, request.text.strip()))
            answer = partial(self._stages.answer, request, plan, known, live, earlier)
            await self._complete(answer, known, live)
        return live.turn

    async def run_again(
        self,
        turn: Turn,
        plan: Plan,
        frontend: Frontend,
        *,
        conversation: str | None,
        afresh: frozenset[int] = frozenset(),
    ) -> Turn:
        """Run `plan` for the request of an earlier turn, as a new turn.

        Results of that turn are reused, except for the tasks `afresh` and those that depend on
        them.
        """
        self._leave_summing_up()
        known, new = self._open(conversation), self._new()
        live = self._live(Unfinished(known.id, new, fixed=True), new, frontend)
        with self._under_way(live, known.id) as earlier:
            live.show(TurnStarted(new.id, new.started, turn.text, turn.attachments))
            answer = partial(self._stages.once_more, turn, plan, afresh, known, live, earlier)
            await self._complete(answer, known, live)
        return live.turn

    async def change(
        self, plan: Plan, *, turn_id: str = "", afresh: frozenset[int] = frozenset()
    ) -> bool:
        """Replace the plan of a running turn; by default the turn that started last.

        Unchanged tasks continue or stay done, except the tasks `afresh` and those that depend on
        them, which run again. Return False if no such turn runs or its plan is finished. Raises
        InputError if a file of the plan cannot be used.
        """
        turns = [live.turn for live in self._lives if turn_id in ("", live.turn.id)]
        running = [
            turn.id for turn in turns if not turn.agentic and self._stages.running_plan(turn.id)
        ]
        if not running:
            return False
        settled = await self._dependencies.intake.settled(plan, None)
        if (course := self._stages.running_plan(running[-1])) is None:
            return False
        course.change(settled, afresh=afresh)
        return True

    async def revise(self, plan: Plan, words: str, *, conversation: str | None) -> Plan:
        """The plan changed as the words ask. Raises InputError if they are not understood."""
        return await self._stages.revise(plan, words, self._open(conversation))

    async def experts_for(self, task: Task) -> Sequence[Candidate]:
        """The candidates for the task now, best first, ignoring a pinned expert."""
        return await self._dependencies.selector.able(task)

    def unfinished(self) -> Sequence[Unfinished]:
        """The turns that a crash or a power cut interrupted, oldest first. Raises StorageError."""
        return self._dependencies.journal.unfinished()

    def elsewhere(self) -> Collection[str]:
        """The ids of the turns that another process is working on. Raises StorageError."""
        return self._dependencies.journal.elsewhere()

    async def resume(self, unfinished: Unfinished, frontend: Frontend) -> Turn:
        """Resume an interrupted turn; finished tasks are not repeated.

        It is shown from its beginning and keeps its id and conversation. Raises InputError if it
        runs elsewhere, is over, or cannot be resumed.
        """
        self._leave_summing_up()
        if unfinished.turn.plan is None and not (unfinished.goal or unfinished.unplanned):
            raise InputError(
                tr(
                    "This request can't be resumed: its plan was made by another version of JARVIS."
                ),
                hint=tr("Give it up, which keeps the finished work, and ask again."),
            )
        if (
            unfinished.goal
        ):  # before it is taken over, so that it is still there once there is an LLM
            await self._dependencies.agent().check()
        left = self._take_over(unfinished)
        known = self._open(left.conversation)
        live = self._live(left, empty_turn(left), frontend)
        with self._under_way(live, known.id) as earlier:
            for event in replayed_events(left):
                live.retell(event)
            if left.goal:
                for event in self._dependencies.agent().replay(left.turn.id):
                    live.retell(event)
            answer = partial(self._stages.go_on, left, known, live, earlier)
            await self._complete(answer, known, live)
        return live.turn

    def give_up(self, unfinished: Unfinished) -> Turn:
        """Save an interrupted turn with its results so far, and do not resume it.

        Raises InputError if it runs elsewhere or is over, StorageError if it cannot be saved.
        """
        left = self._take_over(unfinished)
        rounds = tuple(self._dependencies.agent().replay(left.turn.id)) if left.goal else ()
        if left.goal:
            self._dependencies.agent().give_up(left.turn.id)
        turn = abandoned_turn(left, self._dependencies.now(), rounds)
        self._dependencies.history.save(left.conversation, turn)
        self._dependencies.journal.end(turn.id)
        return turn

    def interrupt(self, turn_id: str = "") -> bool:
        """Stop the current step of a goal, by default of every goal, and let the agent ask the user
        what to do instead.

        Return False if there is no such step; then the turn itself is to be cancelled.
        """
        goals = any(live.turn.agentic for live in self._lives)
        return goals and self._dependencies.agent().stop(turn_id)

    def names(self) -> Sequence[str]:
        """The names of files that were given recently."""
        return self._stages.names

    async def warm(self) -> None:
        """Prepare the LLM for a question, while the user types or speaks. Raises nothing."""
        await self._dependencies.answerer.warm()

    def silence(self) -> None:
        """Stop speaking the answers of the running turns, which continue."""
        self._dependencies.speaker.silence()
        for live in self._lives:
            self._silence(live)

    @staticmethod
    def _silence(live: LiveTurn) -> None:
        live.silence()
        if live.turn.speaking:
            live.show(Speaking(""))

    def end_speech(self) -> int:
        """End what is being said. An answer of which nothing was said yet will be spoken.

        Return how many answers it ended.
        """
        self._dependencies.speaker.cut()
        heard = [live for live in self._lives if live.heard]
        for live in heard:
            self._silence(live)
        return len(heard)

    async def close(self) -> None:
        """End the background work of the turns. Work that has not started still starts, to leave
        a trace."""
        await asyncio.sleep(0)
        await asyncio.gather(*self._leave_summing_up(), return_exceptions=True)

    def _take_over(self, unfinished: Unfinished) -> Unfinished:
        turn_id = unfinished.turn.id
        runs = turn_id in self._running
        left = None if runs else self._dependencies.journal.take_over(turn_id)
        if left is None:
            raise InputError(tr("This request is over already, or has been resumed elsewhere."))
        return left

    def _live(
        self,
        unfinished: Unfinished,
        turn: Turn,
        frontend: Frontend,
        hands_free: HandsFree | None = None,
    ) -> LiveTurn:
        dependencies = self._dependencies
        journal_writer = JournalWriter(
            dependencies.journal,
            unfinished,
            acting=dependencies.acting,
            repeatable={*dependencies.instant} - {*dependencies.acting},
        )
        speaker = dependencies.speaker if unfinished.speak else None
        return LiveTurn(
            turn, frontend, journal_writer=journal_writer, speaker=speaker, hands_free=hands_free
        )

    @contextmanager
    def _under_way(
        self, live: LiveTurn, conversation: str, silenced: int = 0
    ) -> Iterator[EarlierTurns]:
        """Register the turn as running, and set the context of its work. Yield the turns of its
        conversation that were asked before."""
        turn_id = live.turn.id
        note, wait = current_note.set(live.note), current_wait.set(live.wait_for_llm)
        usage, detail = current_usage.set(live.trace_usage), current_detail.set(live.trace)
        question = current_question.set(live.ask)
        others = self._running.values()
        before = [each.answered for each in others if each.conversation == conversation]
        running = _RunningTurn(_this_task(), conversation, asyncio.Event(), silenced)
        self._running[turn_id] = running
        self._lives.append(live)
        try:
            with _on_behalf_of(turn_id, conversation):
                yield EarlierTurns(before, live, partial(self._open, conversation))
        finally:
            running.answered.set()
            self._lives.remove(live)
            del self._running[turn_id]
            current_question.reset(question)
            current_detail.reset(detail)
            current_usage.reset(usage)
            current_wait.reset(wait)
            current_note.reset(note)

    def _new(self) -> Turn:
        return Turn(id=secrets.token_hex(8), started=self._dependencies.now())

    def _open(self, conversation: str | None) -> Conversation:
        try:
            return self._dependencies.history.open_conversation(conversation)
        except JarvisError:
            # The request can be answered without its past; saving the turn will report the problem.
            return Conversation(conversation or secrets.token_hex(16))

    def stop_others(self) -> int:
        """Cancel the other turns of the conversation that calls this; if it has none, those of
        every conversation. Return how many there were, or else how many the request of the caller
        kept from speaking on."""
        own, here = current_turn.get(), current_conversation.get()
        others = [running for turn_id, running in self._running.items() if turn_id != own]
        others = [running for running in others if running.conversation == here] or others
        for running in others:
            running.task.cancel()
        caller = self._running.get(own)
        return len(others) or (caller.silenced if caller else 0)

    async def _complete(
        self, answer: Callable[[], Awaitable[Status]], known: Conversation, live: LiveTurn
    ) -> None:
        """Answer, save, and finish speaking."""
        try:
            status = await self._answered(answer, live)
        except asyncio.CancelledError:
            # Save before anything is awaited: users press a button twice.
            live.silence()
            live.say_apart(tr("Stopped."))
            ended = TurnFinished(Status.CANCELLED, self._dependencies.now(), live.waited)
            self._keep(known, live, ended)
            live.show(ended)
            await live.silent()
            raise
        # Save as soon as the answer is complete: a long answer may be silenced, or the power cut,
        # while it is still being spoken.
        ended = TurnFinished(status, self._dependencies.now(), live.waited)
        try:
            try:
                await live.begin_speaking()  # it need not wait until the disk has written
            finally:
                if self._keep(known, live, ended):
                    live.show(Kept())
                    self._sum_up(known)
            await live.spoken()
            for audio, text in speech_of(live.turn):
                await live.play(self._dependencies.speaker, audio, text)
        finally:
            live.show(ended)

    async def _answered(self, answer: Callable[[], Awaitable[Status]], live: LiveTurn) -> Status:
        """Return how the turn went; say what prevented the answer."""
        try:
            return await answer()
        except JarvisError as error:
            live.say_apart(str(error))
        except Exception as error:  # noqa: BLE001 - the engine's last resort: no turn ends in silence
            log.error("A turn ended in an unexpected error: %s", frames(error))
            live.say_apart(
                tr(
                    "Something went wrong inside JARVIS itself. None of your data was lost; "
                    "the log has the details (jarvis-desktop doctor shows its path)."
                )
            )
        return Status.FAILED

    def _keep(self, known: Conversation, live: LiveTurn, ended: TurnFinished) -> bool:
        try:
            self._dependencies.history.save(known.id, live.turn.apply(ended))
        except JarvisError as error:
            live.show(
                Noted(tr("This turn could not be saved in the history: {error}", error=error))
            )
            kept = False
        else:
            kept = True
        self._running[live.turn.id].answered.set()
        # A turn that could not be saved may be resumed and saved then, unless it was cancelled.
        if kept or ended.status is Status.CANCELLED:
            live.journal_writer.forget()
        return kept

    def _sum_up(self, known: Conversation) -> None:
        """Summarise older turns, unless somebody waits for an answer: an LLM is not interrupted.
        The rest is done after the next turn."""
        asking = [live.turn.id for live in self._lives if not live.turn.agentic]
        if not all(self._running[turn_id].answered.is_set() for turn_id in asking):
            return
        with urgency(Urgency.BACKGROUND):
            settling = asyncio.create_task(self._dependencies.memory.settle(known.id))
        self._settling.add(settling)
        settling.add_done_callback(self._settling.discard)

    def _leave_summing_up(self) -> list[asyncio.Task[None]]:
        """Stop summarising: a new request needs the LLM. The rest is done after it."""
        left = list(self._settling)
        for task in left:
            task.cancel()
        return left


@contextmanager
def _on_behalf_of(turn_id: str, conversation: str) -> Iterator[None]:
    """Attribute what is stored to this turn."""
    turn, talk = current_turn.set(turn_id), current_conversation.set(conversation)
    try:
        yield
    finally:
        current_conversation.reset(talk)
        current_turn.reset(turn)


def _this_task() -> asyncio.Task[Turn]:
    task = asyncio.current_task()
    assert task is not None
    return task
