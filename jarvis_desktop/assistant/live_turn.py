"""A turn in progress: its events, its journal, and its spoken answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial, reduce
from pathlib import Path

from jarvis_desktop.assistant import answer_writer
from jarvis_desktop.assistant.answer_writer import SPEECH_TASK
from jarvis_desktop.assistant.speaker import AnswerSpeaker, SpokenAnswer, wait_until_heard
from jarvis_desktop.assistant.talk.hands_free import HandsFree
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.code import CodeRequest, Verdict
from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.events import (
    AttemptFailed,
    Event,
    GoalTaken,
    Noted,
    PlanAccepted,
    PlanChanged,
    PlanProposed,
    Replanned,
    ReplyChunk,
    TaskChunk,
    TaskFinished,
    TaskStarted,
    Traced,
    Transcribed,
    TurnFinished,
    TurnStarted,
    Waiting,
    WaitReason,
)
from jarvis_desktop.core.expert import Status, TaskResult
from jarvis_desktop.core.goal import Outline
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import Usage
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Frontend, Journal, Review, Unfinished
from jarvis_desktop.core.task import Ref, Task
from jarvis_desktop.core.turn import Turn

log = logging.getLogger(__name__)


class JournalWriter:
    """Writes the journal of one turn. The first failure is reported; none stops the turn."""

    def __init__(
        self,
        journal: Journal,
        unfinished: Unfinished,
        *,
        acting: Collection[str],
        repeatable: Collection[str] = (),
    ) -> None:
        """`acting` names the tasks with effects outside of the store, and `repeatable` those that
        take less time than writing down a plan. A turn with a plan or a goal is in the journal
        already, and so is one that was interrupted before it had one."""
        self._journal = journal
        self._unfinished = unfinished
        self._acting = acting
        self._repeatable = repeatable
        self._begun = unfinished.turn.plan is not None or unfinished.goal or unfinished.unplanned
        self._starting: set[int] = set()
        """The acting tasks that have started."""
        self._told = False

    def take(self, event: Event, turn: Turn) -> str:
        """Write down what an event changes; `turn` is the one after it.

        Return a message for the user if that fails for the first time, else "".
        """
        return self._attempt(lambda: self._write(event, turn))

    def take_request(self, turn: Turn) -> str:
        """Write down a turn that has its words and files, and no plan yet.

        Return a message for the user if that fails, else "".
        """
        return self._attempt(
            lambda: self._anew(replace(self._unfinished, turn=turn, unplanned=True))
        )

    def _attempt(self, write: Callable[[], None]) -> str:
        try:
            write()
        except JarvisError as error:
            log.info("The journal was not written: %s", error.message)
            if not self._told:
                self._told = True
                return f"After a crash this could not go on where it stops: {error}"
        return ""

    def forget(self) -> None:
        """Remove the turn from the journal: it is over."""
        try:
            self._journal.end(self._unfinished.turn.id)
        except JarvisError as error:
            log.info("The journal was not written: %s", error.message)

    def _write(self, event: Event, turn: Turn) -> None:
        match event:
            case GoalTaken():
                # From here on the goal memory records what a plan records for other turns.
                self._unfinished = replace(self._unfinished, goal=True)
                self._begin((), turn)
            case PlanProposed(plan=plan) | PlanAccepted(plan=plan) if self._holds(
                plan
            ) or self._is_repeatable(plan):
                pass
            case PlanProposed(plan=plan) | PlanAccepted(plan=plan) | Replanned(plan=plan):
                self._begin(plan, turn)
            case PlanChanged(plan=plan, afresh=afresh):
                self._change(plan, afresh, turn)
            case TaskStarted(task_id=task_id) if self._begun and self._acts(task_id, turn):
                self._starting.add(task_id)
                self._journal.starting(turn.id, task_id)
            case TaskFinished(result=result) if self._has_plan and self._matters(result):
                self._journal.finished(turn.id, result)

    @property
    def _has_plan(self) -> bool:
        return self._begun and not self._unfinished.unplanned

    def _holds(self, plan: Plan) -> bool:
        """Whether the journal has this plan."""
        return self._begun and plan == self._unfinished.turn.plan

    def _is_repeatable(self, plan: Plan) -> bool:
        """Whether the journal has the request, which is then rather planned and done again."""
        asked = self._begun and self._unfinished.unplanned
        return asked and all(task.type.name in self._repeatable for task in plan)

    def _begin(self, plan: Iterable[Task], turn: Turn) -> None:
        """Record a new plan. It keeps the results of the tasks that it shares with the previous
        plan."""
        before = self._unfinished.turn.plan
        same = {task.id for task in plan if before and task in before.tasks}
        results = {number: item for number, item in turn.results.items() if number in same}
        self._starting.clear()
        self._anew(
            replace(
                self._unfinished,
                turn=replace(turn, results=results),
                perhaps=self._unfinished.perhaps & same,
                unplanned=False,
            )
        )

    def _change(self, plan: Plan, afresh: frozenset[int], turn: Turn) -> None:
        """Record a changed plan. Unchanged tasks stay done or continue; `turn` has the remaining
        results."""
        before = self._unfinished.turn.plan
        same = plan.unchanged(before, afresh=afresh) if before else frozenset()
        self._starting &= same
        perhaps = (self._unfinished.perhaps | self._starting) & same - turn.results.keys()
        changed = replace(self._unfinished, turn=turn, perhaps=perhaps)
        self._anew(replace(changed, fixed=True, unplanned=False))

    def _anew(self, unfinished: Unfinished) -> None:
        """Replace the entry. Nothing can be added to it until it is written."""
        self._unfinished = unfinished
        self._begun = False
        self._journal.begin(unfinished)
        self._begun = True

    def _acts(self, task_id: int, turn: Turn) -> bool:
        """Whether this is the first attempt of an acting task."""
        return task_id not in self._starting and any(
            task.id == task_id and task.type.name in self._acting for task in turn.plan or ()
        )

    def _matters(self, result: TaskResult) -> bool:
        failed = result.status is Status.FAILED and result.task_id in self._starting
        return result.status is Status.DONE or failed


def empty_turn(unfinished: Unfinished) -> Turn:
    """The turn before its events are replayed. The selections of finished tasks are kept."""
    turn = unfinished.turn
    return Turn(turn.id, turn.started, selections=turn.selections)


def replayed_events(unfinished: Unfinished) -> Iterator[Event]:
    """The events of an interrupted turn, to show it from its beginning.

    The rounds of a goal come from the goal memory.
    """
    turn = unfinished.turn
    plan = turn.plan or ()
    yield TurnStarted(turn.id, turn.started, turn.text, turn.attachments)
    if turn.heard_by:
        yield Transcribed(turn.text, turn.heard_by)
    yield from (Noted(note) for note in turn.notes)
    if unfinished.goal:
        yield GoalTaken()
    if turn.plan is not None and unfinished.begun:  # otherwise it is proposed again
        yield PlanAccepted(turn.plan)
    yield from (TaskFinished(turn.results[task.id]) for task in plan if task.id in turn.results)
    if unfinished.unplanned:
        yield Noted(tr("It was interrupted before it was answered, so it starts again."))
    else:
        yield Noted(
            tr("It resumes where it was interrupted: {progress}.", progress=unfinished.progress)
        )


def abandoned_turn(unfinished: Unfinished, now: datetime, rounds: Iterable[Event] = ()) -> Turn:
    """An interrupted turn as the history saves it if the user gives it up.

    `rounds` are its events in the goal memory, if it is a goal.
    """
    turn = reduce(Turn.apply, rounds, unfinished.turn)
    cut = tr("JARVIS was interrupted before it was done.")
    left = {
        task.id: TaskResult(task.id, Status.CANCELLED, reason=cut)
        for task in turn.plan or ()
        if task.id not in turn.results
    }
    words = tr("This was interrupted and not resumed.")
    if turn.results and (done := answer_writer.compose_answer(turn)):
        words = f"{words}\n\n{done}"
    reached = turn.results or any(item.status is Status.DONE for item in turn.rounds.values())
    status = Status.PARTLY if reached else Status.CANCELLED
    turn = replace(turn, results={**turn.results, **left}, reply=words, agentic=unfinished.goal)
    return turn.apply(TurnFinished(status, now))


class LiveTurn:
    """A turn, shown in a front end while it runs."""

    def __init__(
        self,
        turn: Turn,
        frontend: Frontend,
        *,
        journal_writer: JournalWriter,
        speaker: AnswerSpeaker | None = None,
        hands_free: HandsFree | None = None,
    ) -> None:
        """`speaker` speaks the answer, or None to show it only. `hands_free` asks questions
        by voice; without it the front end asks."""
        self.turn = turn
        self.journal_writer = journal_writer
        self.waited = 0.0
        """Seconds that it waited for the user or for the requests before it."""
        self.heard = False
        """Whether some of it was spoken."""
        self._frontend = frontend
        self._loop = asyncio.get_running_loop()
        self._speaker = speaker
        self._speech: SpokenAnswer | None = None
        self._hands_free = hands_free
        self._stop_playing = _no_sound
        self._silenced = False
        self._asking = asyncio.Lock()
        self._waits_for_llm = 0
        """How many of its prompts wait."""
        self._refused: set[str] = set()
        self._streamed = StreamedAnswer(self.say, self.hush)

    def show(self, event: Event) -> None:
        """Apply an event to the turn, write it to the journal, and pass it to the front end."""
        self.turn = self.turn.apply(event)
        self.heard = self.heard or bool(self.turn.speaking)
        # Before a task is shown as done, and before another one uses its result.
        unwritten = self.journal_writer.take(event, self.turn)
        self._hand_over(event)
        if unwritten:
            self.show(Noted(unwritten))
        self._streamed.take(event, self.turn)

    def keep_request(self) -> None:
        """Write the request to the journal: what it asks is known, and there is no plan yet."""
        if unwritten := self.journal_writer.take_request(self.turn):
            self.show(Noted(unwritten))

    def retell(self, event: Event) -> None:
        """Apply an event that is in the journal already."""
        self.turn = self.turn.apply(event)
        self._hand_over(event)

    def note(self, text: str) -> None:
        """Show the user a note. It may be called from any thread."""
        try:
            self._loop.call_soon_threadsafe(self._note, text)
        except RuntimeError:  # the loop is closed: the application has ended
            _too_late(text)

    def _note(self, text: str) -> None:
        if text in self.turn.notes:  # a request may be planned twice
            return
        if self.turn.status is None:
            self.show(Noted(text))
        else:  # nothing follows the end
            _too_late(text)

    def _hand_over(self, event: Event) -> None:
        try:
            self._frontend.show(event)
        except Exception as error:  # noqa: BLE001 - a front end that went away must not take the turn along
            log.info("A front end could not show an event: %s", frames(error))

    def wait_for_llm(self, waits: bool, writes_for: str) -> None:
        """Show that a prompt of the turn starts or ends to wait for the LLM. The prompts of one
        turn follow each other, which is not shown."""
        if writes_for == self.turn.id:
            return
        self._waits_for_llm += 1 if waits else -1
        reason = WaitReason.LLM if self._waits_for_llm else WaitReason.NOTHING
        if reason is not self.turn.waits:
            self.show(Waiting(reason))

    def trace(self, text: str) -> None:
        """Show a detail to users who want to see them."""
        self.show(Traced(text))

    def trace_usage(self, usage: Usage) -> None:
        """Show what a call of an LLM took. What still runs after the turn is not its own."""
        if self.turn.status is None:
            self.trace(usage.summary)

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
            self._speech.add("\n")  # the last sentence is complete, even if more follows

    def complete(self, text: str) -> None:
        """Add a piece of the final answer, without what was said while a task wrote it."""
        self._streamed.complete(text)

    def hush(self) -> None:
        """Do not speak the rest of the answer."""
        self._speaker = None

    async def begin_speaking(self) -> None:
        """Wait until the voice has the first sentence of the answer, which is complete."""
        if self._speech:
            self._speech.complete()
            await self._speech.begun()

    async def spoken(self) -> None:
        """Wait until the answer has been spoken or silenced. Cancelling silences it."""
        if self._speech:
            await self._speech.finish()

    async def play(self, speaker: AnswerSpeaker, audio: Path, text: str) -> None:
        """Play existing speech, unless the turn was silenced."""
        if not self._silenced:
            playing = speaker.begin_playing(audio, text, self.show)
            self._stop_playing = partial(speaker.silence, playing)
            await wait_until_heard(playing)

    def silence(self) -> None:
        """Stop speaking for the rest of the turn."""
        self.hush()
        self._silenced = True
        if self._speech:
            self._speech.stop()
        self._stop_playing()

    async def silent(self) -> None:
        """Wait until all sound has stopped, after `silence`."""
        if self._speech:
            await self._speech.stopped()

    async def confirm(self, question: str, *, yes: str = "", by_voice: bool = False) -> bool:
        """Ask a yes-or-no question. A question that was refused is not asked again.

        `yes` names what a Yes does, for a button. `by_voice` is whether a spoken Yes is enough:
        never if something would be lost.
        """
        async with self._with_the_person():
            if question in self._refused:
                return False
            if self._hands_free:
                await self._say_to_the_end()
                agreed = await self._hands_free.confirm(
                    self._frontend, question, yes=yes, by_voice=by_voice, show=self.show
                )
            else:
                agreed = await self._frontend.confirm(question, yes=yes)
            if not agreed:
                self._refused.add(question)
            return agreed

    async def _say_to_the_end(self) -> None:
        """Finish speaking before a question is asked."""
        speech, self._speech = self._speech, None
        if speech:
            await speech.finish()

    async def review(self, plan: Plan) -> Plan | None:
        """The plan as the user wants it, or None if they refuse it."""
        with self.waiting():
            return await self._frontend.review(plan)

    async def ask(self, question: str) -> str:
        """Ask the user a question and return the answer."""
        async with self._with_the_person():
            if self._hands_free:
                await self._say_to_the_end()
                return await self._hands_free.ask(self._frontend, question, show=self.show)
            return await self._frontend.ask(question)

    async def review_outline(self, outline: Outline, why: str) -> Review | None:
        """The user's verdict on the plan of a goal."""
        async with self._with_the_person():
            return await self._frontend.review_outline(outline, why)

    async def review_code(self, code: CodeRequest) -> Verdict:
        """The user's verdict on code."""
        async with self._with_the_person():
            return await self._frontend.review_code(code)

    @asynccontextmanager
    async def _with_the_person(self) -> AsyncIterator[None]:
        """Ask one question at a time, and measure how long the user takes."""
        async with self._asking:
            with self.waiting():
                yield

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the time as waiting."""
        since = self._loop.time()
        try:
            yield
        finally:
            self.waited += self._loop.time() - since


def _no_sound() -> None:
    """Do nothing: no sound is playing."""


def _too_late(text: str) -> None:
    log.info("Noted after the end of a turn: %s", text)


def answering_task(plan: Plan) -> int | None:
    """The id of the task whose text is the whole answer, or all that is read aloud."""
    if len(plan.answers) != 1:
        return None
    (task,) = plan.answers
    if task.type.name == SPEECH_TASK:
        sources = [item for name, item in task.items() if task.type.port(name)]
        if len(sources) != 1 or not isinstance(sources[0], Ref):
            return None
        task = plan.task(sources[0].task_id)
    return task.id if task.type.gives[:1] == (Kind.TEXT,) else None


class StreamedAnswer:
    """Says the text of a plan as the answer while a task writes it.

    That is possible if the text will be all of the answer. If it does not count after all, because
    the attempt failed or the plan was changed, the answer says so before it continues.
    """

    def __init__(self, say: Callable[[str], None], hush: Callable[[], None]) -> None:
        """`say` adds a piece to the answer; `hush` leaves the answer unspoken."""
        self._say = say
        self._hush = hush
        self._task_id: int | None = None
        """The task whose text is said."""
        self._said = ""
        """What was said of its current attempt."""
        self._result = ""
        """Its finished text, once all of it was said."""
        self._why = ""
        """Why the text above does not count; "" if it does."""
        self._apart = False
        """Whether the next piece begins a paragraph."""
        self._failed = False
        """Whether the task has failed for good."""

    def take(self, event: Event, turn: Turn) -> None:
        """Say what `event` adds to the answer; `turn` is the one after it."""
        match event:
            case TaskChunk(task_id=task_id, text=text) if _answers(task_id, turn):
                if self._task_id != task_id and _is_read_aloud(turn):
                    self._hush()  # the requested speech is played instead
                self._task_id = task_id
                self._go_on(text)
                self._said += text
            case AttemptFailed(task_id=self._task_id, attempt=attempt):
                self._drop(attempt.error)
            case TaskStarted(task_id=self._task_id):
                self._drop(tr("Another expert continues."))
            case TaskFinished(result=result) if result.task_id == self._task_id:
                self._finish(result)
            case PlanChanged() if self._task_id is not None and not self._stands_in(turn):
                self._drop(tr("The plan was changed."))

    def complete(self, text: str) -> None:
        """Say a piece of the final answer, without what was said before."""
        if self._result and self._result in text:
            text = text.replace(self._result, "", 1).strip()
            self._result = ""
        if self._failed and self._why in text:
            self._why = ""  # it is said why this was not done
        if text:
            self._go_on(text)

    def _go_on(self, text: str) -> None:
        if self._apart:
            why = tr("The text above does not count: {reason}", reason=self._why)
            text = "\n\n".join(["", *([why] if self._why else []), text.lstrip("\n")])
            self._apart, self._failed, self._why = False, False, ""
        self._say(text)

    def _drop(self, why: str) -> None:
        if self._said:
            self._said = self._result = ""
            self._apart, self._why = True, why

    def _finish(self, result: TaskResult) -> None:
        text = "\n".join(item.text for item in result.artifacts if item.text)
        if result.status is not Status.DONE:
            self._failed = True
        elif not self._said:
            pass
        elif text.startswith(self._said) or text in self._said:
            if rest := text[len(self._said) :]:
                self._say(rest)
            self._said = self._result = text
            self._apart = True
        else:
            self._drop(tr("It was changed after it was written."))

    def _stands_in(self, turn: Turn) -> bool:
        task_id = self._task_id
        return (task_id in turn.running or task_id in turn.results) and _answers(task_id, turn)


def _answers(task_id: int | None, turn: Turn) -> bool:
    plan = None if turn.agentic else turn.plan
    return plan is not None and answering_task(plan) == task_id


def _is_read_aloud(turn: Turn) -> bool:
    return any(task.type.name == SPEECH_TASK for task in turn.plan or ())
