"""An LLM that follows a script, and a goal_run with a goal on it, for tests of agent mode."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from jarvis_desktop.assistant.agent.branches.conversation import CONVERSATION_BRANCHES
from jarvis_desktop.assistant.agent.built_in_steps import BuiltInPlan, BuiltInSteps
from jarvis_desktop.assistant.agent.controller import Controller
from jarvis_desktop.assistant.agent.goal_run import GoalRun
from jarvis_desktop.assistant.agent.roles import BranchRunner, Observation, roles
from jarvis_desktop.assistant.live_turn import JournalWriter, LiveTurn
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.goal import (
    BranchChoice,
    ControllerFrame,
    Goal,
    GoalLimits,
    GoalMemory,
    Outline,
    Terms,
    outline_from_markdown,
)
from jarvis_desktop.core.llm import Ability, Prompt
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context, Unfinished
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.llm.request import sendable
from jarvis_desktop.paths import shipped
from tests.assistant.conftest import NOON
from tests.fake_goals import FakeGoalMemory
from tests.fake_journal import FakeJournal
from tests.fake_library import FakeLibrary
from tests.fakes import FakeFrontend, FakeLLMs

Answer = str | JarvisError


@dataclass
class ScriptedLLM:
    """Answers by a list, whose last one is repeated, or by a function of the prompt.

    An answer is a text, or an error that is raised. A prompt that would not fit into the window as
    a provider sends it fails the test. While `hold` is set to an event, it writes one piece and
    waits for that event.
    """

    answers: Sequence[Answer] | Callable[[Prompt], Answer] = ("{}",)
    name: str = "scripted:4b"
    provider: str = "ollama"
    remote: bool = False
    window: int = 8192
    sees: bool = False
    ability: Ability = Ability.FULL_PLANS
    enforces_schema: bool = False
    hold: asyncio.Event | None = None
    prompts: list[Prompt] = field(default_factory=list)
    """All that it was asked, in order."""
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set with each prompt; a test may clear it."""
    stopped: int = 0
    """How many answers were left before their end."""

    async def stream(self, prompt: Prompt) -> AsyncIterator[str]:
        whole = sendable(prompt).tokens + prompt.longest
        assert whole <= self.window, f"{whole} tokens in a window of {self.window}"
        at = len(self.prompts)
        self.prompts.append(prompt)
        self.asked.set()
        if callable(self.answers):
            answer = self.answers(prompt)
        else:
            answer = self.answers[min(at, len(self.answers) - 1)]
        await asyncio.sleep(0)
        if isinstance(answer, JarvisError):
            raise answer
        try:
            yield answer[:1]
            if self.hold:
                await self.hold.wait()
            yield answer[1:]
        except (asyncio.CancelledError, GeneratorExit):
            self.stopped += 1
            raise


def says(branch: str, why: str = "It comes next.", **args: Any) -> str:
    """The answer that chooses a branch, as a controller's schema wants it."""
    return json.dumps({"why": why, "branch": branch, "args": args}, ensure_ascii=False)


def told(prompt: Prompt) -> str:
    """All of a prompt as one text."""
    return "\n\n".join(message.text for message in prompt.messages)


PLAN = "1. Fetch the prices\n2. Plot them\n3. Name the best month"
GOAL = "Download the prices, plot them, and tell me the best month."


def outline(text: str = PLAN) -> Outline:
    return outline_from_markdown(text)


def live_on(frontend: FakeFrontend) -> LiveTurn:
    turn = Turn("g", NOON, text=GOAL, agentic=True)
    return LiveTurn(
        turn,
        frontend,
        journal_writer=JournalWriter(FakeJournal(), Unfinished("c", turn), acting=()),
    )


def goal_run_for(
    frontend: FakeFrontend,
    *,
    text: str = GOAL,
    plan: str = PLAN,
    frames: Sequence[ControllerFrame] = (),
    terms: Terms | None = None,
    limits: GoalLimits | None = None,
    memory: GoalMemory | None = None,
    files: Sequence[Artifact] = (),
    context: Context | None = None,
) -> GoalRun:
    """The run of a goal that just began with a plan (or `plan=""` for none), or one that stands as
    `frames` say. Needs a running event loop."""
    goal = Goal("g", "c", text, terms or Terms(), NOON)
    outlined = outline(plan) if plan else None
    stack = list(frames) or [ControllerFrame("assistant", text, outlined)]
    memory = memory or FakeGoalMemory()
    memory.begin(goal, stack)
    return GoalRun(
        goal,
        stack,
        live=live_on(frontend),
        context=context or Context(attachments=tuple(files)),
        memory=memory,
        limits=limits or GoalLimits(),
        now=lambda: NOON,
    )


@dataclass
class Does:
    """A branch that gives what it is told to, the last of it again and again, or what a function
    makes of the choice; it remembers its calls."""

    gives: Sequence[Observation | JarvisError] | Callable[[GoalRun, BranchChoice], Observation]
    calls: list[BranchChoice] = field(default_factory=list)

    async def __call__(self, goal_run: GoalRun, choice: BranchChoice) -> Observation:
        at = len(self.calls)
        self.calls.append(choice)
        await asyncio.sleep(0)
        if callable(self.gives):
            return self.gives(goal_run, choice)
        given = self.gives[min(at, len(self.gives) - 1)]
        if isinstance(given, JarvisError):
            raise given
        return given


@dataclass
class Holds:
    """A branch that runs until it is cancelled."""

    begun: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: int = 0

    async def __call__(self, goal_run: GoalRun, choice: BranchChoice) -> Observation:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.cancelled += 1
        raise AssertionError


class Crew:
    """The one controller with the branches that speak, those that call, and what a test gives."""

    def __init__(
        self,
        llm: ScriptedLLM | None,
        *,
        library: FakeLibrary | None = None,
        first: Callable[[GoalRun], Awaitable[Outline | None]] | None = None,
        **branches: BranchRunner,
    ) -> None:
        self.branches: dict[str, BranchRunner] = {
            **CONVERSATION_BRANCHES,
            "coder": self._calling("coder"),
            "extend_library": self._calling("librarian"),
            **branches,
        }
        self.controller = Controller(
            roles(),
            self.branches,
            llms=FakeLLMs(llm),
            prompts=Prompts(shipped("resources", "prompts")),
            library=library or FakeLibrary(),
            first=first,
        )

    async def work(self, goal_run: GoalRun) -> Observation:
        return await self.controller.run(goal_run, 0)

    def _calling(self, role: str) -> BranchRunner:
        async def called(goal_run: GoalRun, choice: BranchChoice) -> Observation:
            return await self.controller.call(goal_run, role, choice.args["task"])

        return called


class BuiltIn(BuiltInSteps):
    """Makes these files and sentences, or plans nothing if there are none."""

    def __init__(self) -> None:
        self.made: Sequence[Artifact] = ()
        self.planned = BuiltInPlan(Plan(()), {})
        self.given: list[str] = []

    async def plan(self, run: GoalRun, files: Iterable[Artifact]) -> BuiltInPlan | None:
        self.given = [item.title for item in files]
        return self.planned if self.made else None

    async def carry_out(self, run: GoalRun, plan: BuiltInPlan) -> Sequence[Artifact]:
        return self.made
