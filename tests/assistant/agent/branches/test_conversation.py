from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.assistant.agent.branches import conversation
from jarvis_desktop.assistant.agent.branches.conversation import (
    CONTINUE_QUESTION,
    CONVERSATION_BRANCHES,
)
from jarvis_desktop.assistant.agent.goal_run import GoalRun
from jarvis_desktop.assistant.agent.roles import Observation
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.events import ReplyChunk
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import BranchChoice, LogEntry, StepState
from tests.assistant.agent.scripted import goal_run_for, outline
from tests.assistant.conftest import NOON
from tests.fakes import FakeFrontend

PLOT = Artifact(Kind.IMAGE, path=Path("plot.png"))
PRICES = Artifact(Kind.TABLE, path=Path("prices.csv"))
GIVEN = Artifact(Kind.TABLE, path=Path("given.csv"))


async def does(goal_run: GoalRun, branch: str, **args: object) -> Observation:
    return await CONVERSATION_BRANCHES[branch](goal_run, BranchChoice(branch, args))


def place(frontend: FakeFrontend) -> GoalRun:
    goal_run = goal_run_for(frontend, files=[GIVEN])
    goal_run.made += [PLOT, PRICES]
    return goal_run


async def test_the_person_is_asked_and_believed(frontend: FakeFrontend) -> None:
    frontend.answer = " In euros "
    goal_run = place(frontend)
    given = await does(goal_run, "ask_user", question="Which\x1b[2J currency?")
    assert given == Observation("In euros", trusted=True)
    assert frontend.questions == ["Which�[2J currency?"]
    assert goal_run.answers == ["- On “Which�[2J currency?”: In euros"]


async def test_nobody_there_is_said(frontend: FakeFrontend) -> None:
    goal_run = place(frontend)
    given = await does(goal_run, "ask_user", question="Which?")
    assert given.status is Status.FAILED
    assert given.text.startswith("Nobody answered.")
    assert goal_run.answers == []


@pytest.mark.parametrize(
    ("answer", "told"),
    [("Bigger", "Bigger"), ("", "The person was shown it and said nothing to it. Go on.")],
)
async def test_an_intermediate_answer_is_shown_and_talked_about(
    frontend: FakeFrontend, answer: str, told: str
) -> None:
    frontend.answer = answer
    goal_run = place(frontend)
    given = await does(goal_run, "intermediate_answer", text="See plot.png.", uses=["plot.png"])
    assert given == Observation(told, artifacts=(PLOT,), trusted=True)
    assert not given.ends
    assert ReplyChunk("See plot.png.") in frontend.events
    assert frontend.questions == [CONTINUE_QUESTION]


async def test_the_final_answer_names_no_file_that_is_not_there(frontend: FakeFrontend) -> None:
    goal_run = place(frontend)
    goal_run.log.append(
        LogEntry(1, "assistant", "coder", "x", Status.DONE, "See https://a.example/x", NOON)
    )
    goal_run.live.say("Before.")
    text = "It is in plot.png and best.png; see https://a.example/x, not https://b.example/y."
    given = await does(goal_run, "final_answer", text=text, uses=["prices.csv", "nothing.txt"])
    shown = (
        "It is in plot.png and (a file that is not there); see https://a.example/x, "
        "not (link removed)."
    )
    assert given == Observation(shown, artifacts=(PRICES, PLOT), ends=True)
    assert goal_run.live.turn.reply == f"Before.\n\n{shown}"
    assert any("nothing.txt" in line for line in goal_run.live.turn.trace)


async def test_only_the_newest_of_a_long_log_is_looked_through(
    frontend: FakeFrontend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "MAX_KNOWN_CHARS", 10)
    goal_run = place(frontend)
    for name in ("old.txt", "new.txt"):
        entry = LogEntry(1, "assistant", "coder", "x", Status.DONE, f"It made {name}", NOON)
        goal_run.log.append(entry)
    given = await does(goal_run, "final_answer", text="old.txt new.txt", uses=[])
    assert given.text == "(a file that is not there) new.txt"


async def test_what_the_person_gave_is_no_result_unless_it_is_used(frontend: FakeFrontend) -> None:
    goal_run = place(frontend)
    given = await does(goal_run, "finish", summary="From given.csv.", uses=[])
    assert given == Observation("From given.csv.", ends=True)
    given = await does(goal_run, "finish", summary="x", uses=["given.csv"])
    assert given.artifacts == (GIVEN,)


@pytest.mark.parametrize(
    ("states", "status"),
    [
        ((), Status.DONE),
        ((StepState.DONE,), Status.DONE),
        ((StepState.DONE, StepState.FAILED), Status.PARTLY),
        ((StepState.FAILED, StepState.DROPPED), Status.FAILED),
    ],
)
async def test_how_it_went_is_as_the_steps_are_marked(
    frontend: FakeFrontend, states: tuple[StepState, ...], status: Status
) -> None:
    goal_run = place(frontend)
    plan = outline()
    for step_id, state in enumerate(states, 1):
        plan = plan.with_state(step_id, state)
    goal_run.change(0, outline=plan if states else None)
    assert (await does(goal_run, "final_answer", text="Over.", uses=[])).status is status
