"""A goal of agent mode is written down from the moment it is taken, with the plans within it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jarvis_desktop.assistant.live_turn import (
    JournalWriter,
    abandoned_turn,
    empty_turn,
    replayed_events,
)
from jarvis_desktop.core import events
from jarvis_desktop.core.artifact import text_artifact
from jarvis_desktop.core.expert import Candidate, Expert, Status, TaskResult
from jarvis_desktop.core.goal import Outline, OutlineStep
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Unfinished
from jarvis_desktop.core.task import Ref, Task
from jarvis_desktop.core.turn import Turn
from tests.assistant.conftest import NOON
from tests.fake_journal import FakeJournal
from tests.types import CLOCK, JOIN, SHORTEN

CHAIN = Plan(
    (Task(0, SHORTEN, {"text": "long"}), Task(1, JOIN, {"texts": (Ref(0),)}), Task(2, CLOCK))
)
WHO = Candidate(Expert("first/one", "clock"), "builtin")
DONE = TaskResult(0, Status.DONE, (text_artifact("short", made_by=0),))
TURN = Turn("t", NOON, text="plot it", heard_by="fake", notes=("A note.",))
GOAL = Unfinished("c", replace(TURN, agentic=True), speak=True, goal=True)
OUTLINE = Outline((OutlineStep(1, "Plot"),))


class Desk:
    """A turn with its journal_writer."""

    def __init__(self, unfinished: Unfinished) -> None:
        self.journal = FakeJournal()
        self.turn = unfinished.turn
        self.journal_writer = JournalWriter(self.journal, unfinished, acting=("clock",))

    def show(self, *happened: events.Event) -> None:
        for event in happened:
            self.turn = self.turn.apply(event)
            assert self.journal_writer.take(event, self.turn) == ""

    @property
    def written(self) -> Unfinished:
        return self.journal.kept["t"][1]


def test_it_is_written_down_when_it_is_taken() -> None:
    desk = Desk(Unfinished("c", TURN, speak=True))
    desk.show(events.Noted("Another."))
    assert not desk.journal.kept
    desk.show(events.GoalTaken(), events.OutlineChanged(OUTLINE))
    desk.show(events.RoundStarted(1, "assistant", "coder", "Plot"))
    desk.show(events.RoundEnded(1, Status.DONE, "Drawn."))
    assert desk.journal.written == ["begin t"]
    assert desk.written.goal
    assert desk.written.speak
    assert desk.written.turn.notes == ("A note.", "Another.")
    desk.journal_writer.forget()
    assert not desk.journal.kept


def test_a_plan_within_it_is_written_down_as_any_other() -> None:
    desk = Desk(Unfinished("c", TURN))
    desk.show(events.GoalTaken(), events.PlanAccepted(CHAIN), events.TaskFinished(DONE))
    desk.show(events.TaskStarted(2, WHO))
    assert desk.written.goal
    assert desk.written.turn.plan == CHAIN
    assert sorted(desk.written.turn.results) == [0]
    assert desk.written.perhaps == {2}
    other = Plan((CHAIN.tasks[0], Task(3, SHORTEN, {"text": "another"})))
    desk.show(events.Replanned(other, "It broke."))
    assert desk.written.goal
    assert (desk.written.turn.plan, sorted(desk.written.turn.results)) == (other, [0])
    assert not desk.written.perhaps


def test_one_that_goes_on_is_in_the_journal_already() -> None:
    desk = Desk(GOAL)
    desk.journal.begin(GOAL)
    desk.show(events.TaskFinished(DONE))
    assert sorted(desk.written.turn.results) == [0]


@pytest.mark.parametrize("plan", [None, CHAIN])
def test_it_is_retold_up_to_its_rounds(plan: Plan | None) -> None:
    results = {0: DONE} if plan else {}
    left = replace(GOAL, turn=replace(GOAL.turn, plan=plan, results=results))
    told = list(replayed_events(left))
    names = ["TurnStarted", "Transcribed", "Noted", "GoalTaken"]
    names += ["PlanAccepted", "TaskFinished"] if plan else []
    assert [type(event).__name__ for event in told] == [*names, "Noted"]
    turn = empty_turn(left)
    for event in told:
        turn = turn.apply(event)
    again = "It resumes where it was interrupted: a goal of agent mode."
    assert turn == replace(left.turn, notes=("A note.", again))


def test_it_is_given_up_with_what_its_rounds_did() -> None:
    rounds = (
        events.RoundStarted(1, "assistant", "coder", "Plot"),
        events.RoundEnded(1, Status.DONE, "Drawn.", (text_artifact("picture"),)),
        events.OutlineChanged(OUTLINE),
    )
    turn = abandoned_turn(GOAL, NOON, rounds)
    assert turn.status is Status.PARTLY
    assert turn.agentic
    assert turn.outline == OUTLINE
    assert turn.artifacts == (text_artifact("picture"),)
    assert turn.finished == NOON
    assert turn.reply == "This was interrupted and not resumed."
    nothing = abandoned_turn(GOAL, NOON, rounds[:1])
    assert (nothing.status, nothing.agentic) == (Status.CANCELLED, True)
    within = replace(GOAL, turn=replace(GOAL.turn, plan=CHAIN, results={0: DONE}))
    kept = abandoned_turn(within, NOON)
    assert kept.status is Status.PARTLY
    assert [kept.results[number].status.value for number in (0, 1, 2)] == [
        "done",
        "cancelled",
        "cancelled",
    ]
