"""A goal that was cut off at any moment goes on where it was."""

from __future__ import annotations

import pytest

from jarvis_desktop.assistant.agent.goal_run import GoalRun
from jarvis_desktop.assistant.agent.roles import Observation
from jarvis_desktop.core.artifact import text_artifact
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import BranchChoice, GoalLimits
from jarvis_desktop.core.ports import Context
from tests.assistant.agent.scripted import Crew, ScriptedLLM, goal_run_for, live_on, says, told
from tests.assistant.conftest import NOON
from tests.fake_goals import FakeGoalMemory
from tests.fakes import FakeFrontend


class KilledError(BaseException):
    """What a kill is like for all that runs."""


class House:
    """A goal whose controllers, branches and LLM know what to do next by what they are told."""

    def __init__(self) -> None:
        self.memory = FakeGoalMemory()
        self.ran: list[str] = []
        self.llm = ScriptedLLM(self.answer)
        self.crew = Crew(self.llm, run_code=self.run_code, coder=self.coder)

    def answer(self, prompt: object) -> str:
        text = told(prompt)  # type: ignore[arg-type]
        if "Your task:" in text:
            for code in ("a = 1", "b = 2"):
                if f"It ran {code}" not in text:
                    return says("run_code", code=code)
            return says("finish", summary="Both ran.", uses=["text 1", "text 2"])
        if "Both ran." not in text:
            return says("coder", task="Run both")
        return says("final_answer", text="All is well.", uses=["text 2"])

    async def run_code(self, goal_run: GoalRun, choice: BranchChoice) -> Observation:
        code = choice.args["code"]
        self.ran.append(code)
        return Observation(f"It ran {code}.", artifacts=(text_artifact(code),), code=code)

    async def coder(self, goal_run: GoalRun, choice: BranchChoice) -> Observation:
        return await self.crew.controller.call(goal_run, "coder", choice.args["task"])

    async def work(self) -> Observation:
        """In a process of its own."""
        if not self.memory.kept:
            goal_run = goal_run_for(FakeFrontend(), memory=self.memory)
        else:
            goal = self.memory.goal("g")
            assert goal
            goal_run = GoalRun(
                goal,
                self.memory.frames("g"),
                live=live_on(FakeFrontend()),
                context=Context(),
                memory=self.memory,
                limits=GoalLimits(),
                now=lambda: NOON,
                log=self.memory.log("g"),
            )
        self.goal_run = goal_run
        return await self.crew.work(goal_run)

    async def killed_at(self, writes: set[int]) -> Observation:
        """Work on until the end, killed after those writes."""
        count = 0

        def killing(what: str) -> None:
            nonlocal count
            count += 1
            if count in writes:
                raise KilledError

        self.memory.on_write = killing
        for _ in range(len(writes) + 1):
            try:
                return await self.work()
            except KilledError:
                continue
        raise AssertionError


async def whole() -> tuple[House, int]:
    house, count = House(), 0

    def counting(what: str) -> None:
        nonlocal count
        count += 1

    house.memory.on_write = counting
    await house.work()
    return house, count


async def test_a_kill_after_any_write_loses_no_finished_round() -> None:
    first, writes = await whole()
    done = [(item.path, item.branch, item.observation) for item in first.goal_run.log]
    assert len(done) == 5
    assert writes > 8
    for at in range(2, writes + 1):
        house = House()
        given = await house.killed_at({at})
        assert (given.text, given.status) == ("All is well.", Status.DONE)
        assert house.ran == ["a = 1", "b = 2"], at
        again = [(item.path, item.branch, item.observation) for item in house.memory.log("g")]
        assert sorted(again) == sorted(done), at
        assert house.goal_run.live.turn.reply == "All is well."
        assert [item.text for item in given.artifacts] == ["b = 2"]


async def test_a_kill_after_every_write_comes_to_the_end_as_well() -> None:
    _, writes = await whole()
    house = House()
    given = await house.killed_at(set(range(2, 3 * writes)))
    assert given.text == "All is well."
    assert set(house.ran) == {"a = 1", "b = 2"}


async def test_an_end_whose_round_cannot_be_read_is_come_to_again() -> None:
    house, _ = await whole()
    house.memory.kept["g"].log.clear()
    assert (await house.work()).text == "All is well."
    assert [item.branch for item in house.goal_run.log if item.path == "assistant"] == [
        "coder",
        "final_answer",
    ]


async def test_what_was_chosen_is_done_without_asking_again() -> None:
    house = House()

    def killing(what: str) -> None:
        chosen = [frame.pending.branch for frame in house.memory.frames("g") if frame.pending]
        if "run_code" in chosen:
            house.memory.on_write = lambda what: None
            raise KilledError

    house.memory.on_write = killing
    with pytest.raises(KilledError):
        await house.work()
    assert (house.ran, len(house.llm.prompts)) == ([], 2)
    await house.work()
    assert house.ran == ["a = 1", "b = 2"]
    assert len(house.llm.prompts) == 5
