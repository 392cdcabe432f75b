"""How a request comes to agent mode, and comes back to it after a crash."""

from __future__ import annotations

import pytest

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.events import GoalTaken, OutlineChanged, RoundEnded, RoundStarted
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import Terms, outline_from_markdown
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import NeedsAgent, Unfinished
from jarvis_desktop.core.task import Task
from jarvis_desktop.core.turn import Request, Turn
from tests.assistant.conftest import NOON, House, names
from tests.fake_journal import FakeJournal
from tests.types import CLOCK

PLOT = "Download https://prices.example/all.csv and plot it"


async def test_a_person_says_that_it_is_a_goal(house: House) -> None:
    terms = Terms(hosts=("prices.example",))
    turn = await house.handle(Request(PLOT, files=(house.file("a.txt"),), terms=terms))
    ((text, agreed, context),) = house.agent.taken
    assert (text, agreed) == (PLOT, terms)
    assert [item.name for item in context.attachments] == ["a.txt"]
    assert house.planner.asked == []
    assert house.web.asked == []  # addresses are for code to fetch, from hosts that were allowed
    assert (turn.status, turn.reply, turn.agentic) == (Status.DONE, "March.", True)


async def test_the_planner_says_that_it_is_a_goal(house: House) -> None:
    house.planner.planned = NeedsAgent()
    turn = await house.handle(Request("Plot the prices"))
    assert [(text, terms) for text, terms, _ in house.agent.taken] == [("Plot the prices", Terms())]
    assert turn.reply == "March."


@pytest.mark.parametrize("stops", [True, False])
async def test_a_goal_that_runs_can_be_interrupted(
    house: House, monkeypatch: pytest.MonkeyPatch, stops: bool
) -> None:
    house.agent.stops = stops
    interrupted: list[bool] = []

    async def take(*args: object, conversation: str) -> Status:
        (live,) = house.assistant._lives
        interrupted.append(house.assistant.interrupt())  # it is no goal yet
        live.show(GoalTaken())
        interrupted.append(house.assistant.interrupt())
        return Status.DONE

    monkeypatch.setattr(house.agent, "take", take)
    await house.handle(Request(PLOT, terms=Terms()))
    assert interrupted == [False, stops]
    assert not house.assistant.interrupt()


def left(house: House, **more: object) -> Unfinished:
    """What a killed process has left of a goal."""
    turn = Turn("t", NOON, text=PLOT, agentic=True, **more)  # type: ignore[arg-type]
    killed = FakeJournal(house.journal.kept)
    killed.begin(Unfinished("c", turn, goal=True))
    killed.close()
    (found,) = house.assistant.unfinished()
    return found


async def test_a_goal_goes_on(house: House) -> None:
    plan = outline_from_markdown("1. Plot")
    house.agent.told = (OutlineChanged(plan),)
    turn = await house.assistant.resume(left(house), house.frontend)
    assert house.agent.gone_on == ["t"]
    assert names(house)[:3] == ["TurnStarted", "GoalTaken", "Noted"]
    assert (turn.id, turn.outline, turn.reply) == ("t", plan, "March.")
    assert house.journal.kept == {}


async def test_a_goal_goes_on_in_the_middle_of_a_plan_of_experts(house: House) -> None:
    plan = Plan((Task(0, CLOCK),))
    turn = await house.assistant.resume(left(house, plan=plan), house.frontend)
    assert house.agent.gone_on == ["t"]
    assert turn.plan == plan


async def test_without_an_llm_a_goal_waits(house: House) -> None:
    unfinished = left(house)
    house.agent.missing = UnavailableError("There is no language model.")
    with pytest.raises(UnavailableError):
        await house.assistant.resume(unfinished, house.frontend)
    assert list(house.assistant.unfinished()) == [unfinished]


def test_a_goal_can_be_given_up(house: House) -> None:
    house.agent.told = (
        OutlineChanged(outline_from_markdown("1. Plot")),
        RoundStarted(1, "assistant", "coder", "Plot"),
        RoundEnded(1, Status.DONE, "Drawn."),
    )
    turn = house.assistant.give_up(left(house))
    assert house.agent.given_up == ["t"]
    assert turn.status is Status.PARTLY
    assert [item.observation for item in turn.rounds.values()] == ["Drawn."]
    assert house.history.open_conversation("c").last == turn
