"""A goal with the branch `run_experts` and all that experts need, for tests of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from jarvis_desktop.assistant.agent.approvals import Approvals
from jarvis_desktop.assistant.agent.branches.run_experts import RunExperts
from jarvis_desktop.assistant.agent.built_in_steps import BuiltInSteps
from jarvis_desktop.assistant.agent.expert_functions import ExpertFunctions
from jarvis_desktop.assistant.agent.roles import Observation
from jarvis_desktop.assistant.execution.executor import Executor, ReplanningRunner
from jarvis_desktop.assistant.live_turn import JournalWriter, LiveTurn, empty_turn, replayed_events
from jarvis_desktop.assistant.planning.embedded_planner import EmbeddedPlanner
from jarvis_desktop.assistant.selection.acquire import ExpertAcquirer
from jarvis_desktop.assistant.selection.selector import Selector
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.expert import Candidate
from jarvis_desktop.core.goal import BranchChoice, CodeTerms
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.core.ports import Context, Unfinished
from jarvis_desktop.core.task import Call, Report, TaskType
from tests.assistant.agent.scripted import goal_run_for
from tests.assistant.conftest import FakePlanner
from tests.fake_fetcher import FakeFetcher
from tests.fake_goals import FakeGoalMemory
from tests.fake_journal import FakeJournal
from tests.fakes import FakeBackend, FakeCatalogue, FakeFrontend, FakeStore
from tests.types import BLUR, CLOCK, JOIN, READ, SHORTEN

TYPES = (BLUR, CLOCK, JOIN, READ, SHORTEN)


@dataclass
class Held(FakeBackend):
    """Its calls of one task never end."""

    holds: str = ""
    held: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        if call.task == self.holds:
            self.held.set()
            await asyncio.Event().wait()
        return await super().run(candidate, call, report)


class Room:
    """A goal with the branch and all that experts need; `kill` and `again` are a crash."""

    def __init__(
        self,
        folder: Path,
        *given: str,
        context: Context | None = None,
        inventory: Sequence[TaskType] = TYPES,
    ) -> None:
        self.store = FakeStore(folder / "store")
        self.files = tuple(self._file(folder, name) for name in given)
        self.planner = FakePlanner()
        self.backend = Held(does=lambda candidate, call: [text_artifact(self.say(call))])
        self.catalogue = FakeCatalogue()
        self.journal = FakeJournal()
        self.memory = FakeGoalMemory()
        self.person = FakeFrontend()
        self.context = context or Context(self.files)
        self.goal_run = goal_run_for(self.person, memory=self.memory, context=self.context)
        begun = Unfinished("c", self.goal_run.live.turn, goal=True)
        self.journal.begin(begun)
        self.goal_run.live.journal_writer = JournalWriter(self.journal, begun, acting=("clock",))
        self.goal_run.begin_round()
        self.inventory = inventory
        self.branch = self.branch_of(self.planner)

    def functions(self) -> ExpertFunctions:
        """What scripts of the goal can call."""
        return ExpertFunctions(self.inventory, self._runner(self.planner), self.store)

    def built_in(self, *, doubtful: str = "?") -> BuiltInSteps:
        """What the built-in methods do of the goal; sentences with `doubtful` are not sure."""
        runner = self._runner(self.planner)
        return BuiltInSteps(
            EmbeddedPlanner(), self.inventory, runner, lambda text: doubtful in text
        )

    def branch_of(self, planner: Any) -> RunExperts:
        approvals = Approvals(code=CodeTerms.ASK, acting=("clock",))
        return RunExperts(planner, self.inventory, self._runner(planner), approvals)

    def _runner(self, planner: Any) -> ReplanningRunner:
        return ReplanningRunner(
            planner,
            self.inventory,
            selector=Selector(self.catalogue, Policy()),
            executor=Executor({"builtin": self.backend}, self.store, lanes={}),
            obtainer=ExpertAcquirer(FakeFetcher(), Policy()),
        )

    def _file(self, folder: Path, name: str) -> Artifact:
        (folder / name).write_text(name)
        return self.store.take_in(folder / name)

    def say(self, call: Call) -> str:
        return (
            f"{call.task} of {', '.join(item.title for it in call.inputs.values() for item in it)}"
        )

    def breaks(self, *tasks: str) -> None:
        """These fail from now on."""

        def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
            if call.task in tasks:
                raise ExpertError("It\nbroke.")
            return [text_artifact(self.say(call))]

        self.backend.does = does

    async def cut_off(self, task: str, request: str = "Do it.") -> None:
        """A round that ends in the middle of a task."""
        self.backend.holds = task
        round_under_way = asyncio.create_task(self.ask(request))
        await self.backend.held.wait()
        round_under_way.cancel()
        with pytest.raises(asyncio.CancelledError):
            await round_under_way
        self.backend.holds = ""

    async def ask(self, request: str = "Do it.", **args: Any) -> Observation:
        """A round, as the controller has it."""
        choice = BranchChoice("run_experts", {"request": request, "uses": [], **args})
        found = await self.branch(self.goal_run, choice)
        self.goal_run.made += found.artifacts
        self.goal_run.begin_round()
        return found

    def again(self) -> None:
        """JARVIS was killed, and goes on with the goal."""
        left = self.journal.take_over("g")
        assert left
        live = LiveTurn(
            empty_turn(left),
            self.person,
            journal_writer=JournalWriter(self.journal, left, acting=("clock",)),
        )
        for event in replayed_events(left):
            live.retell(event)
        number = self.goal_run.number
        self.goal_run = goal_run_for(
            self.person,
            frames=self.memory.frames("g"),
            memory=FakeGoalMemory(),
            context=self.context,
        )
        self.goal_run.live = live
        self.goal_run.number = number

    @property
    def done(self) -> list[str]:
        return [call.task for call in self.backend.calls]

    def shown(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.person.events if isinstance(event, kind)]
