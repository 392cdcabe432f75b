"""The front of agent mode, over a controller and a plan writer that do as they are told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, cast

import pytest

from jarvis_desktop.assistant.agent.agent import Agent
from jarvis_desktop.assistant.agent.approvals import Approvals
from jarvis_desktop.assistant.agent.code_loop import CodeLoop
from jarvis_desktop.assistant.agent.controller import Controller
from jarvis_desktop.assistant.agent.goal_run import MAX_PREVIEW_CHARS, GoalRun
from jarvis_desktop.assistant.agent.outline_writer import OutlineWriter
from jarvis_desktop.assistant.agent.roles import Observation
from jarvis_desktop.core.errors import ExpertError, StorageError, UnavailableError
from jarvis_desktop.core.events import GoalTaken, OutlineChanged, RoundEnded, RoundStarted
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import (
    CodeTerms,
    ControllerFrame,
    Goal,
    GoalLimits,
    LogEntry,
    Outline,
    Terms,
)
from jarvis_desktop.core.llm import Ability
from jarvis_desktop.core.ports import Context
from tests.assistant.agent.scripted import GOAL, ScriptedLLM, live_on, outline
from tests.assistant.conftest import NOON
from tests.fake_goals import FakeGoalMemory
from tests.fakes import FakeFrontend, FakeLLMs


@dataclass
class FakeController:
    does: Callable[[GoalRun], Observation] = lambda goal_run: Observation("All is done.")
    goal_runs: list[GoalRun] = field(default_factory=list)
    waits: asyncio.Event | None = None

    async def run(self, goal_run: GoalRun, depth: int) -> Observation:
        assert depth == 0
        self.goal_runs.append(goal_run)
        if self.waits:
            await self.waits.wait()
        return self.does(goal_run)


@dataclass
class FakeCodeLoop:
    goal_runs: list[GoalRun] = field(default_factory=list)

    def given(self, goal_run: GoalRun) -> list[str]:
        return ["a.csv"]

    async def run(self, goal_run: GoalRun) -> Observation:
        self.goal_runs.append(goal_run)
        return Observation("A script did it.")


@dataclass
class FakeWriter:
    plan: Outline | None = field(default_factory=outline)
    asked: int = 0
    drafts: list[Outline | None] = field(default_factory=list)

    async def first(self, goal_run: GoalRun, draft: Outline | None = None) -> Outline | None:
        self.asked += 1
        self.drafts.append(draft)
        if self.plan:
            goal_run.change(0, outline=self.plan)
        return self.plan


@dataclass
class Front:
    """An agent and all around it."""

    llm: ScriptedLLM | None = field(default_factory=ScriptedLLM)
    memory: FakeGoalMemory = field(default_factory=FakeGoalMemory)
    controller: FakeController = field(default_factory=FakeController)
    code_loop: FakeCodeLoop = field(default_factory=FakeCodeLoop)
    writer: FakeWriter = field(default_factory=FakeWriter)
    frontend: FakeFrontend = field(default_factory=FakeFrontend)
    closed: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        async def close(goal_id: str) -> None:
            self.closed.append(goal_id)

        async def advice() -> str:
            return "qwen3.5:4b would do (3.4 GB)."

        self.live = live_on(self.frontend)
        self.agent = Agent(
            llms=FakeLLMs(self.llm),
            memory=self.memory,
            writer=cast(OutlineWriter, self.writer),
            controller=cast(Controller, self.controller),
            code_loop=cast(CodeLoop, self.code_loop),
            approvals=Approvals(code=CodeTerms.ASK, acting=()),
            limits=GoalLimits(),
            close=close,
            advice=advice,
            now=lambda: NOON,
        )

    async def take(self, **terms: Any) -> Status:
        return await self.agent.take(GOAL, Terms(**terms), Context(), self.live, conversation="c")

    async def go_on(self) -> Status:
        return await self.agent.go_on(Context(), self.live, conversation="c")


async def test_a_goal_is_planned_worked_on_and_ended() -> None:
    front = Front()
    assert await front.take(hosts=("a.example",)) is Status.DONE
    kept = front.memory.kept["g"].goal
    assert (kept.status, kept.answer) == (Status.DONE, "All is done.")
    assert (kept.text, kept.terms.hosts, kept.conversation) == (GOAL, ("a.example",), "c")
    assert front.live.turn.reply == "All is done."
    assert isinstance(front.frontend.events[0], GoalTaken)
    assert front.closed == ["g"]


async def test_a_small_llm_works_by_scripts() -> None:
    front = Front(llm=ScriptedLLM(ability=Ability.SHORT_PLANS))
    assert await front.take() is Status.DONE
    assert front.live.turn.reply == "A script did it."
    assert not front.controller.goal_runs
    (draft,) = front.writer.drafts
    assert draft
    assert draft.steps[0].text == "Look at a.csv"


async def test_a_small_llm_leaves_a_goal_of_the_controller_to_it() -> None:
    front = Front(llm=ScriptedLLM(ability=Ability.SHORT_PLANS))
    goal = Goal("g", "c", GOAL, Terms(), NOON)
    frames = [ControllerFrame("assistant", GOAL, outline()), ControllerFrame("coder", "Plot")]
    front.memory.begin(goal, frames)
    assert await front.go_on() is Status.DONE
    assert front.controller.goal_runs
    assert not front.code_loop.goal_runs


async def test_what_was_said_is_not_said_again() -> None:
    front = Front()

    def says(goal_run: GoalRun) -> Observation:
        goal_run.live.say("March.")
        return Observation("March was said.", Status.PARTLY)

    front.controller.does = says
    assert await front.take() is Status.PARTLY
    assert front.live.turn.reply == "March."


async def test_without_an_llm_it_says_which_would_do() -> None:
    front = Front(llm=None)
    with pytest.raises(UnavailableError, match=r"qwen3\.5:4b would do \(3\.4 GB\)"):
        await front.take()
    with pytest.raises(UnavailableError):
        await front.go_on()
    assert front.memory.kept == {}
    assert front.frontend.events == []


async def test_a_plan_that_is_not_accepted_ends_it() -> None:
    front = Front(writer=FakeWriter(None))
    assert await front.take() is Status.CANCELLED
    assert "not accepted" in front.live.turn.reply
    assert front.controller.goal_runs == []
    assert front.memory.kept["g"].goal.status is Status.CANCELLED


async def test_an_error_is_kept_as_the_answer() -> None:
    front = Front()

    def fails(goal_run: GoalRun) -> Observation:
        raise ExpertError("It broke.")

    front.controller.does = fails
    with pytest.raises(ExpertError):
        await front.take()
    kept = front.memory.kept["g"].goal
    assert (kept.status, kept.answer) == (Status.FAILED, "It broke.")
    assert front.closed == ["g"]


async def test_a_memory_that_fails_at_the_end_spoils_no_answer() -> None:
    front = Front()

    def full(goal_run: GoalRun) -> Observation:
        front.memory.wrong = StorageError("The disk is full.")
        return Observation("March.")

    front.controller.does = full
    assert await front.take() is Status.DONE
    assert front.closed == ["g"]


async def test_cancelling_ends_the_goal() -> None:
    front = Front(controller=FakeController(waits=asyncio.Event()))
    work = asyncio.create_task(front.take())
    while not front.controller.goal_runs:
        await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert front.memory.kept["g"].goal.status is Status.CANCELLED
    assert front.closed == ["g"]


async def test_stop_ends_the_branch_that_runs() -> None:
    front = Front(controller=FakeController(waits=asyncio.Event()))
    assert not front.agent.stop()
    work = asyncio.create_task(front.take())
    while not front.controller.goal_runs:
        await asyncio.sleep(0)
    assert not front.agent.stop()  # no branch runs
    branch = asyncio.create_task(front.controller.goal_runs[0].interrupts.branch(_forever()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert front.agent.stop()
    assert not front.agent.stop()
    await asyncio.wait([branch])
    assert branch.exception() is not None
    work.cancel()
    await asyncio.wait([work])


async def _forever() -> None:
    await asyncio.Event().wait()


def entry(number: int) -> LogEntry:
    at = NOON + timedelta(seconds=number)
    return LogEntry(
        number, "assistant", "coder", "plot", Status.DONE, "plotted", at, (), "x = 1", 2.5
    )


async def test_it_goes_on_where_it_was() -> None:
    front = Front()
    goal = Goal("g", "c", GOAL, Terms(), NOON)
    front.memory.begin(
        goal, [ControllerFrame("assistant", GOAL, outline()), ControllerFrame("coder", "plot")]
    )
    front.memory.keep("g", front.memory.frames("g"), [entry(1), entry(2)])
    assert await front.go_on() is Status.DONE
    (goal_run,) = front.controller.goal_runs
    assert (goal_run.number, len(goal_run.frames)) == (2, 2)
    assert front.writer.asked == 0


async def test_what_was_cut_off_before_its_first_line_begins_anew() -> None:
    front = Front()
    assert await front.go_on() is Status.DONE
    assert front.memory.kept["g"].goal.text == GOAL
    assert front.writer.asked == 1


async def test_rounds_and_plans_are_retold() -> None:
    front = Front()
    goal = Goal("g", "c", GOAL, Terms(), NOON)
    frames = [
        ControllerFrame("assistant", GOAL, outline()),
        ControllerFrame("coder", "plot", outline("1. Draw")),
    ]
    front.memory.begin(goal, [*frames, ControllerFrame("librarian", "write")])
    front.memory.keep("g", front.memory.frames("g"), [entry(1)])
    told = list(front.agent.replay("g"))
    assert told == [
        RoundStarted(1, "assistant", "coder", "plot", "x = 1"),
        RoundEnded(1, Status.DONE, "plotted", (), "x = 1", 2.5),
        OutlineChanged(outline()),
        OutlineChanged(outline("1. Draw"), "assistant/coder"),
    ]


async def test_what_is_told_again_is_as_clean_and_as_short_as_it_was() -> None:
    front = Front()
    front.memory.begin(Goal("g", "c", GOAL, Terms(), NOON), [ControllerFrame("assistant", GOAL)])
    hostile = replace(entry(1), observation="\x1b[2J" + "x" * 20_000)
    front.memory.keep("g", front.memory.frames("g"), [hostile])
    (ended,) = [event for event in front.agent.replay("g") if isinstance(event, RoundEnded)]
    assert "\x1b" not in ended.observation
    assert len(ended.observation) < MAX_PREVIEW_CHARS + 100


async def test_giving_up_ends_the_goal_where_there_is_one() -> None:
    front = Front()
    front.agent.give_up("g")
    assert front.memory.kept == {}
    front.memory.begin(Goal("g", "c", GOAL, Terms(), NOON), [ControllerFrame("assistant", GOAL)])
    front.agent.give_up("g")
    assert front.memory.kept["g"].goal.status is Status.CANCELLED


async def test_a_goal_that_was_reached_before_the_cut_stays_reached() -> None:
    front = Front()
    front.memory.begin(Goal("g", "c", GOAL, Terms(), NOON), [ControllerFrame("assistant", GOAL)])
    front.memory.end("g", Status.DONE, "March.")
    front.agent.give_up("g")
    kept = front.memory.kept["g"].goal
    assert (kept.status, kept.answer) == (Status.DONE, "March.")


async def test_a_stack_that_cannot_be_read_is_begun_anew_as_if_it_had_read_all() -> None:
    front = Front()
    front.memory.begin(Goal("g", "c", GOAL, Terms(), NOON), [])
    front.memory.keep("g", [], [entry(1)])
    assert await front.go_on() is Status.DONE
    (goal_run,) = front.controller.goal_runs
    assert goal_run.frames == [
        replace(goal_run.frames[0], role="assistant", task=GOAL, tainted=True)
    ]
    assert front.writer.asked == 1
