"""An assistant made of fakes around the real stages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import pytest

from jarvis_desktop.assistant.agent.agent import Agent
from jarvis_desktop.assistant.answer_writer import AnswerWriter
from jarvis_desktop.assistant.assistant import Assistant, AssistantDependencies
from jarvis_desktop.assistant.execution.executor import Executor
from jarvis_desktop.assistant.live_turn import LiveTurn
from jarvis_desktop.assistant.memory import ConversationMemory
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.assistant.request_reader import AttachmentIntake
from jarvis_desktop.assistant.selection.acquire import ExpertAcquirer
from jarvis_desktop.assistant.selection.selector import Selector
from jarvis_desktop.assistant.speaker import AnswerSpeaker
from jarvis_desktop.core.artifact import text_artifact
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.events import Event, GoalTaken
from jarvis_desktop.core.expert import Status, TaskResult
from jarvis_desktop.core.goal import Terms
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.core.ports import AnswerDirectly, Context, NeedsAgent, PlanRejected
from jarvis_desktop.core.task import Task, TaskType
from jarvis_desktop.core.turn import Request, Turn
from jarvis_desktop.paths import shipped
from tests.fake_fetcher import FakeFetcher
from tests.fake_journal import FakeJournal
from tests.fake_voice import FakePlayer, FakeRecogniser, FakeVoice
from tests.fake_web import FakeWeb
from tests.fakes import (
    FakeBackend,
    FakeCatalogue,
    FakeFacts,
    FakeFrontend,
    FakeHistory,
    FakeLLMs,
    FakeStore,
)
from tests.types import CLOCK

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


@dataclass
class FakePlanner:
    """Gives the plan it was given."""

    planned: Plan | AnswerDirectly | PlanRejected | NeedsAgent | Exception = field(
        default_factory=lambda: PlanRejected("No idea.")
    )
    other_plans: list[Plan | PlanRejected | Exception] = field(default_factory=list)
    asked: list[tuple[str, Context]] = field(default_factory=list)
    failures: list[tuple[Plan, Mapping[int, TaskResult]]] = field(default_factory=list)
    revised: Plan | PlanRejected = field(default_factory=lambda: PlanRejected("No idea."))

    async def plan(
        self, text: str, inventory: Sequence[TaskType], context: Context
    ) -> Plan | AnswerDirectly | PlanRejected | NeedsAgent:
        self.asked.append((text, context))
        if isinstance(self.planned, Exception):
            raise self.planned
        return self.planned

    async def replan(
        self,
        text: str,
        inventory: Sequence[TaskType],
        context: Context,
        *,
        plan: Plan,
        results: Mapping[int, TaskResult],
    ) -> Plan | PlanRejected:
        self.failures.append((plan, results))
        another = self.other_plans.pop(0) if self.other_plans else PlanRejected("No other idea.")
        if isinstance(another, Exception):
            raise another
        return another

    async def revise(
        self, words: str, inventory: Sequence[TaskType], context: Context, *, plan: Plan
    ) -> Plan | PlanRejected:
        self.asked.append((words, context))
        return self.revised


@dataclass
class FakeAgent:
    """Answers goals as scripted, and remembers them."""

    taken: list[tuple[str, Terms, Context]] = field(default_factory=list)
    gone_on: list[str] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)
    told: tuple[Event, ...] = ()
    stops: bool = True
    missing: UnavailableError | None = None

    async def take(
        self, text: str, terms: Terms, context: Context, live: LiveTurn, *, conversation: str
    ) -> Status:
        self.taken.append((text, terms, context))
        live.show(GoalTaken())
        live.say("March.")
        return Status.DONE

    async def go_on(self, context: Context, live: LiveTurn, *, conversation: str) -> Status:
        self.gone_on.append(live.turn.id)
        live.say("March.")
        return Status.DONE

    async def check(self) -> None:
        if self.missing:
            raise self.missing

    def replay(self, goal_id: str) -> Sequence[Event]:
        return self.told

    def give_up(self, goal_id: str) -> None:
        self.given_up.append(goal_id)

    def stop(self, goal_id: str = "") -> bool:
        return self.stops


class House:
    """The assistant and all its parts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = FakeStore(folder / "store")
        self.planner, self.embedded = FakePlanner(), FakePlanner()
        self.backend = FakeBackend()
        self.catalogue = FakeCatalogue()
        self.fetcher = FakeFetcher()
        self.web = FakeWeb()
        self.recogniser = FakeRecogniser()
        self.voice = FakeVoice()
        self.player = FakePlayer()
        self.history = FakeHistory()
        self.journal = FakeJournal()
        self.frontend = FakeFrontend()
        self.facts = FakeFacts()
        self.llms = FakeLLMs()
        self.agent = FakeAgent()
        self.prompts = Prompts(shipped("resources", "prompts"))
        self.clock: Callable[[], datetime] = lambda: NOON
        self.assistant = Assistant(
            AssistantDependencies(
                planner=self.planner,
                inventory=(),
                selector=Selector(self.catalogue, Policy()),
                executor=Executor({"builtin": self.backend}, self.store, lanes={}),
                intake=AttachmentIntake(self.store, folders=(folder / "usual",), web=self.web),
                obtainer=ExpertAcquirer(self.fetcher, Policy()),
                recogniser=self.recogniser,
                speaker=AnswerSpeaker(self.voice, self.player, self.store),
                answerer=AnswerWriter(self.llms, self.prompts),
                memory=ConversationMemory(self.history, self.facts, self.llms, self.prompts),
                history=self.history,
                journal=self.journal,
                agent=lambda: cast(Agent, self.agent),
                acting=("clock",),
                instant=("clock",),
                embedded=self.embedded,
                now=lambda: self.clock(),
            )
        )

    async def handle(self, request: Request, conversation: str | None = "c") -> Turn:
        return await self.assistant.handle(request, self.frontend, conversation=conversation)

    def file(self, name: str, content: str = "content") -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        return path


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


ONE_TASK = Plan((Task(0, CLOCK),))


def answering(text: str = "It is noon.") -> object:
    return lambda candidate, call: [text_artifact(text)]


def names(house: House) -> list[str]:
    return [type(event).__name__ for event in house.frontend.events]
