"""Writes a turn into the journal while it runs, and reads from it what a turn that was cut off
goes on with."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from functools import reduce

from jarvis_desktop.assistant import answer_template
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.events import (
    Event,
    GoalTaken,
    Noted,
    PlanAccepted,
    PlanChanged,
    PlanProposed,
    Replanned,
    TaskFinished,
    TaskStarted,
    Transcribed,
    TurnFinished,
    TurnStarted,
)
from jarvis_desktop.core.expert import Status, TaskResult
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Journal, Unfinished
from jarvis_desktop.core.task import Task
from jarvis_desktop.core.turn import Turn

log = logging.getLogger(__name__)


class Scribe:
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


def blank(unfinished: Unfinished) -> Turn:
    """A turn before anything is told of it, but for who did what is done."""
    turn = unfinished.turn
    return Turn(turn.id, turn.started, selections=turn.selections)


def retold(unfinished: Unfinished) -> Iterator[Event]:
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


def given_up(unfinished: Unfinished, now: datetime, rounds: Iterable[Event] = ()) -> Turn:
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
    if turn.results and (done := answer_template.compose(turn)):
        words = f"{words}\n\n{done}"
    reached = turn.results or any(item.status is Status.DONE for item in turn.rounds.values())
    status = Status.PARTLY if reached else Status.CANCELLED
    turn = replace(turn, results={**turn.results, **left}, reply=words, agentic=unfinished.goal)
    return turn.apply(TurnFinished(status, now))
