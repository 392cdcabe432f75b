"""A turn under way: what happens in it is folded into the turn and shown; its answer is spoken
while it is written."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial, reduce
from pathlib import Path

from jarvis_desktop.assistant import answer_writer
from jarvis_desktop.assistant.speaker import AnswerSpeaker, SpokenAnswer, heard
from jarvis_desktop.assistant.talk.hands_free import HandsFree
from jarvis_desktop.core.code import CodeRequest, Verdict
from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.events import (
    Event,
    GoalTaken,
    Noted,
    PlanAccepted,
    PlanChanged,
    PlanProposed,
    Replanned,
    ReplyChunk,
    TaskFinished,
    TaskStarted,
    Traced,
    Transcribed,
    TurnFinished,
    TurnStarted,
)
from jarvis_desktop.core.expert import Status, TaskResult
from jarvis_desktop.core.goal import Outline
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Frontend, Journal, Review, Unfinished
from jarvis_desktop.core.task import Task
from jarvis_desktop.core.turn import Turn

log = logging.getLogger(__name__)


class JournalWriter:
    """Keeps the journal of one turn. What cannot be written is told once, and stops nothing."""

    def __init__(
        self, journal: Journal, unfinished: Unfinished, *, acting: Collection[str]
    ) -> None:
        """`acting` names the tasks with effects outside of the store. A turn that has its plan, or
        a goal, is in the journal already."""
        self._journal = journal
        self._unfinished = unfinished
        self._acting = acting
        self._begun = unfinished.turn.plan is not None or unfinished.goal
        self._starting: set[int] = set()
        """The tasks of the plan that act, and were begun."""
        self._told = False

    def take(self, event: Event, turn: Turn) -> str:
        """Write down what an event changes; `turn` is the one after it.

        Gives what the person should know where that could not be done, the first time; else "".
        """
        try:
            self._write(event, turn)
        except JarvisError as error:
            log.info("The journal was not written: %s", error.message)
            if not self._told:
                self._told = True
                return f"After a crash this could not go on where it stops: {error}"
        return ""

    def forget(self) -> None:
        """The turn is over."""
        try:
            self._journal.end(self._unfinished.turn.id)
        except JarvisError as error:
            log.info("The journal was not written: %s", error.message)

    def _write(self, event: Event, turn: Turn) -> None:
        match event:
            case GoalTaken():
                # From here on its own memory tells what a plan tells of other turns.
                self._unfinished = replace(self._unfinished, goal=True)
                self._begin((), turn)
            case PlanProposed(plan=plan) | PlanAccepted(plan=plan) if self._holds(plan):
                pass
            case PlanProposed(plan=plan) | PlanAccepted(plan=plan) | Replanned(plan=plan):
                self._begin(plan, turn)
            case PlanChanged(plan=plan, afresh=afresh):
                self._change(plan, afresh, turn)
            case TaskStarted(task_id=task_id) if self._begun and self._acts(task_id, turn):
                self._starting.add(task_id)
                self._journal.starting(turn.id, task_id)
            case TaskFinished(result=result) if self._begun and self._matters(result):
                self._journal.finished(turn.id, result)

    def _holds(self, plan: Plan) -> bool:
        """Whether that is the plan in the journal."""
        return self._begun and plan == self._unfinished.turn.plan

    def _begin(self, plan: Iterable[Task], turn: Turn) -> None:
        """A new plan keeps what was done for the tasks that it shares with the one before."""
        before = self._unfinished.turn.plan
        same = {task.id for task in plan if before and task in before.tasks}
        results = {number: item for number, item in turn.results.items() if number in same}
        self._starting.clear()
        self._anew(
            replace(
                self._unfinished,
                turn=replace(turn, results=results),
                perhaps=self._unfinished.perhaps & same,
            )
        )

    def _change(self, plan: Plan, afresh: frozenset[int], turn: Turn) -> None:
        """What is unchanged stays done, or goes on; `turn` knows of nothing else any more."""
        before = self._unfinished.turn.plan
        same = plan.unchanged(before, afresh=afresh) if before else frozenset()
        self._starting &= same
        perhaps = (self._unfinished.perhaps | self._starting) & same - turn.results.keys()
        self._anew(replace(self._unfinished, turn=turn, perhaps=perhaps, fixed=True))

    def _anew(self, unfinished: Unfinished) -> None:
        """Until that is written, nothing of it can be added."""
        self._unfinished = unfinished
        self._begun = False
        self._journal.begin(unfinished)
        self._begun = True

    def _acts(self, task_id: int, turn: Turn) -> bool:
        """Whether this is the first candidate of a task that acts outside."""
        return task_id not in self._starting and any(
            task.id == task_id and task.type.name in self._acting for task in turn.plan or ()
        )

    def _matters(self, result: TaskResult) -> bool:
        failed = result.status is Status.FAILED and result.task_id in self._starting
        return result.status is Status.DONE or failed


def empty_turn(unfinished: Unfinished) -> Turn:
    """A turn before anything is told of it, but for who did what is done."""
    turn = unfinished.turn
    return Turn(turn.id, turn.started, selections=turn.selections)


def replayed_events(unfinished: Unfinished) -> Iterator[Event]:
    """What happened in a turn until it was cut off, for whoever shows it from its beginning.

    The rounds of a goal are told by its own memory.
    """
    turn = unfinished.turn
    plan = turn.plan or ()
    yield TurnStarted(turn.id, turn.started, turn.text, turn.attachments)
    if turn.heard_by:
        yield Transcribed(turn.text, turn.heard_by)
    yield from (Noted(note) for note in turn.notes)
    if unfinished.goal:
        yield GoalTaken()
    if turn.plan is not None and unfinished.begun:  # else it is proposed again
        yield PlanAccepted(turn.plan)
    yield from (TaskFinished(turn.results[task.id]) for task in plan if task.id in turn.results)
    yield Noted(tr("It goes on where it was cut off: {progress}.", progress=unfinished.progress))


def abandoned_turn(unfinished: Unfinished, now: datetime, rounds: Iterable[Event] = ()) -> Turn:
    """A turn that was cut off as the history keeps it, where the person does not go on with it.

    `rounds` is what the memory of goals tells of one of agent mode.
    """
    turn = reduce(Turn.apply, rounds, unfinished.turn)
    cut = tr("JARVIS was cut off before it was done.")
    left = {
        task.id: TaskResult(task.id, Status.CANCELLED, reason=cut)
        for task in turn.plan or ()
        if task.id not in turn.results
    }
    words = tr("This was cut off, and not gone on with.")
    if turn.results and (done := answer_writer.compose_answer(turn)):
        words = f"{words}\n\n{done}"
    reached = turn.results or any(item.status is Status.DONE for item in turn.rounds.values())
    status = Status.PARTLY if reached else Status.CANCELLED
    turn = replace(turn, results={**turn.results, **left}, reply=words, agentic=unfinished.goal)
    return turn.apply(TurnFinished(status, now))


class LiveTurn:
    """A turn and the front end where it is shown."""

    def __init__(
        self,
        turn: Turn,
        frontend: Frontend,
        *,
        scribe: JournalWriter,
        speaker: AnswerSpeaker | None = None,
        hands_free: HandsFree | None = None,
    ) -> None:
        """`scribe` writes down what happens. `speaker` says the answer aloud; None where it is
        only to be read. `hands_free` puts questions to the person that they may answer by voice,
        where they want that; otherwise the front end asks."""
        self.turn = turn
        self.scribe = scribe
        self.waited = 0.0
        """Seconds that the person took to answer questions."""
        self._frontend = frontend
        self._loop = asyncio.get_running_loop()
        self._speaker = speaker
        self._speech: SpokenAnswer | None = None
        self._hands_free = hands_free
        self._stop_playing = _no_sound
        self._silenced = False
        self._asking = asyncio.Lock()
        self._refused: set[str] = set()

    def show(self, event: Event) -> None:
        """Take an event into the turn, write it down, and hand it to the front end."""
        self.turn = self.turn.apply(event)
        # Before anybody sees a task as done, and before another one builds on it.
        unwritten = self.scribe.take(event, self.turn)
        self._hand_over(event)
        if unwritten:
            self.show(Noted(unwritten))

    def retell(self, event: Event) -> None:
        """The same with what is written down already."""
        self.turn = self.turn.apply(event)
        self._hand_over(event)

    def note(self, text: str) -> None:
        """Tell the person something that stops nothing; may be called from any thread."""
        try:
            self._loop.call_soon_threadsafe(self._note, text)
        except RuntimeError:  # the loop is closed: the application has ended
            _too_late(text)

    def _note(self, text: str) -> None:
        if self.turn.status is None:
            self.show(Noted(text))
        else:  # nothing follows the end
            _too_late(text)

    def _hand_over(self, event: Event) -> None:
        try:
            self._frontend.show(event)
        except Exception as error:  # noqa: BLE001 - a front end that went away must not take the turn along
            log.info("A front end could not show an event: %s", frames(error))

    def trace(self, text: str) -> None:
        """Tell those who look closer."""
        self.show(Traced(text))

    def say(self, piece: str) -> None:
        """Add a piece to the answer."""
        self.show(ReplyChunk(piece))
        if self._speaker:
            self._speech = self._speech or SpokenAnswer(self._speaker, self.show)
            self._speech.add(piece)

    def say_apart(self, text: str) -> None:
        """Add a paragraph to the answer."""
        self.say(f"\n\n{text}" if self.turn.reply else text)
        if self._speaker and self._speech:
            self._speech.add("\n")  # its last sentence is whole, whether or not more follows

    def hush(self) -> None:
        """Speak nothing of what is said from now on."""
        self._speaker = None

    async def spoken(self) -> None:
        """Wait until the whole answer was heard, or silenced. Cancelling silences it at once."""
        if self._speech:
            await self._speech.finish()

    async def play(self, speaker: AnswerSpeaker, audio: Path, text: str) -> None:
        """Let speech be heard that is there already, unless the turn was silenced."""
        if not self._silenced:
            playing = speaker.begin_playing(audio, text, self.show)
            self._stop_playing = partial(speaker.silence, playing)
            await heard(playing)

    def silence(self) -> None:
        """Stop speaking, now and for the rest of the turn."""
        self.hush()
        self._silenced = True
        if self._speech:
            self._speech.stop()
        self._stop_playing()

    async def silent(self) -> None:
        """Wait until nothing is heard any more, after `silence`."""
        if self._speech:
            await self._speech.stopped()

    async def confirm(self, question: str, *, by_voice: bool = False) -> bool:
        """One question at a time, whoever asks; a No is not asked for again.

        `by_voice` is whether a spoken Yes is enough: never where something would be lost.
        """
        async with self._with_the_person():
            if question in self._refused:
                return False
            if self._hands_free:
                await self._say_to_the_end()
                agreed = await self._hands_free.confirm(
                    self._frontend, question, by_voice=by_voice, show=self.show
                )
            else:
                agreed = await self._frontend.confirm(question)
            if not agreed:
                self._refused.add(question)
            return agreed

    async def _say_to_the_end(self) -> None:
        """What was said so far is heard before a question is."""
        speech, self._speech = self._speech, None
        if speech:
            await speech.finish()

    async def review(self, plan: Plan) -> Plan | None:
        """The plan as the person wants it; None where they refuse it."""
        return await self._frontend.review(plan)

    async def ask(self, question: str) -> str:
        """What the person answers; one question at a time."""
        async with self._with_the_person():
            if self._hands_free:
                await self._say_to_the_end()
                return await self._hands_free.ask(self._frontend, question, show=self.show)
            return await self._frontend.ask(question)

    async def review_outline(self, outline: Outline, why: str) -> Review | None:
        """What the person says to the plan of a goal."""
        async with self._with_the_person():
            return await self._frontend.review_outline(outline, why)

    async def review_code(self, code: CodeRequest) -> Verdict:
        """What the person says to code."""
        async with self._with_the_person():
            return await self._frontend.review_code(code)

    @asynccontextmanager
    async def _with_the_person(self) -> AsyncIterator[None]:
        """One question at a time."""
        async with self._asking:
            since = self._loop.time()
            try:
                yield
            finally:
                self.waited += self._loop.time() - since


def _no_sound() -> None:
    """Nothing plays."""


def _too_late(text: str) -> None:
    log.info("Noted after the end of a turn: %s", text)
