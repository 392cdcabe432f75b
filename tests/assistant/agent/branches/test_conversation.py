from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.assistant.agent.branches import conversation
from jarvis_desktop.assistant.agent.branches.conversation import GO_ON, TALKING
from jarvis_desktop.assistant.agent.goal_run import Desk
from jarvis_desktop.assistant.agent.roles import Observation
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.events import ReplyChunk
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import BranchChoice, LogEntry, StepState
from tests.assistant.agent.scripted import desk_for, outline
from tests.assistant.conftest import NOON
from tests.fakes import FakeFrontend

PLOT = Artifact(Kind.IMAGE, path=Path("plot.png"))
PRICES = Artifact(Kind.TABLE, path=Path("prices.csv"))
GIVEN = Artifact(Kind.TABLE, path=Path("given.csv"))


async def does(desk: Desk, branch: str, **args: object) -> Observation:
    return await TALKING[branch](desk, BranchChoice(branch, args))


def place(frontend: FakeFrontend) -> Desk:
    desk = desk_for(frontend, files=[GIVEN])
    desk.made += [PLOT, PRICES]
    return desk


async def test_the_person_is_asked_and_believed(frontend: FakeFrontend) -> None:
    frontend.answer = " In euros "
    desk = place(frontend)
    given = await does(desk, "ask_user", question="Which\x1b[2J currency?")
    assert given == Observation("In euros", trusted=True)
    assert frontend.questions == ["Which�[2J currency?"]
    assert desk.said == ["- On “Which�[2J currency?”: In euros"]


async def test_nobody_there_is_said(frontend: FakeFrontend) -> None:
    desk = place(frontend)
    given = await does(desk, "ask_user", question="Which?")
    assert given.status is Status.FAILED
    assert given.text.startswith("Nobody answered.")
    assert desk.said == []


@pytest.mark.parametrize(
    ("answer", "told"),
    [("Bigger", "Bigger"), ("", "The person was shown it and said nothing to it. Go on.")],
)
async def test_an_intermediate_answer_is_shown_and_talked_about(
    frontend: FakeFrontend, answer: str, told: str
) -> None:
    frontend.answer = answer
    desk = place(frontend)
    given = await does(desk, "intermediate_answer", text="See plot.png.", uses=["plot.png"])
    assert given == Observation(told, artifacts=(PLOT,), trusted=True)
    assert not given.ends
    assert ReplyChunk("See plot.png.") in frontend.events
    assert frontend.questions == [GO_ON]


async def test_the_final_answer_names_no_file_that_is_not_there(frontend: FakeFrontend) -> None:
    desk = place(frontend)
    desk.log.append(
        LogEntry(1, "assistant", "coder", "x", Status.DONE, "See https://a.example/x", NOON)
    )
    desk.live.say("Before.")
    text = "It is in plot.png and best.png; see https://a.example/x, not https://b.example/y."
    given = await does(desk, "final_answer", text=text, uses=["prices.csv", "nothing.txt"])
    shown = (
        "It is in plot.png and (a file that is not there); see https://a.example/x, "
        "not (a link that nobody gave)."
    )
    assert given == Observation(shown, artifacts=(PRICES, PLOT), ends=True)
    assert desk.live.turn.reply == f"Before.\n\n{shown}"
    assert any("nothing.txt" in line for line in desk.live.turn.trace)


async def test_only_the_newest_of_a_long_log_is_looked_through(
    frontend: FakeFrontend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversation, "KNOWN", 10)
    desk = place(frontend)
    for name in ("old.txt", "new.txt"):
        entry = LogEntry(1, "assistant", "coder", "x", Status.DONE, f"It made {name}", NOON)
        desk.log.append(entry)
    given = await does(desk, "final_answer", text="old.txt new.txt", uses=[])
    assert given.text == "(a file that is not there) new.txt"


async def test_what_the_person_gave_is_no_result_unless_it_is_used(frontend: FakeFrontend) -> None:
    desk = place(frontend)
    given = await does(desk, "finish", summary="From given.csv.", uses=[])
    assert given == Observation("From given.csv.", ends=True)
    given = await does(desk, "finish", summary="x", uses=["given.csv"])
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
    desk = place(frontend)
    plan = outline()
    for step_id, state in enumerate(states, 1):
        plan = plan.with_state(step_id, state)
    desk.change(0, outline=plan if states else None)
    assert (await does(desk, "final_answer", text="Over.", uses=[])).status is status
