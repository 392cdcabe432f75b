"""A plan writer with its LLM and a person, for tests of planning in agent mode."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from jarvis_desktop.assistant.agent.approvals import Approvals
from jarvis_desktop.assistant.agent.goal_run import GoalRun
from jarvis_desktop.assistant.agent.outline_writer import OutlineWriter
from jarvis_desktop.assistant.agent.roles import roles
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.events import Noted, OutlineChanged
from jarvis_desktop.core.goal import CodeTerms, Outline, outline_from_markdown
from jarvis_desktop.core.plan import Ask
from jarvis_desktop.core.ports import Review
from tests.assistant.agent.scripted import Answer, ScriptedLLM, goal_run_for
from tests.fakes import FakeFrontend, FakeLLMs

FIRST = "- [ ] 1. Fetch the prices\n- [ ] 2. Plot them"
OLD = "- [x] 1. Fetch the prices — as prices.csv\n- [ ] 2. Plot them\n- [ ] 3. Name the best month"


def drafted(*steps: str | tuple[int, str]) -> str:
    """What an LLM writes."""
    listed = [
        {"text": step} if isinstance(step, str) else {"id": step[0], "text": step[1]}
        for step in steps
    ]
    return json.dumps({"steps": listed})


class Trusting(Approvals):
    """Approvals that trust each change of a plan, or none."""

    def __init__(self, trusts: bool = True) -> None:
        super().__init__(code=CodeTerms.ASK, acting=())
        self.trusts = trusts
        self.asked: list[tuple[int, Outline | None, Outline]] = []

    def trusts_outline(
        self, run: GoalRun, depth: int, before: Outline | None, after: Outline
    ) -> bool:
        self.asked.append((depth, before, after))
        return self.trusts


class Study:
    """A plan writer, its LLM and a goal_run."""

    def __init__(
        self,
        prompts: Prompts,
        *answers: Answer,
        ask_plan: Ask = "always",
        trusts: bool = True,
        plan: str = "",
        timeout: float = 600.0,
        library: Any = None,
        **kind: Any,
    ) -> None:
        self.llm = ScriptedLLM(answers)
        self.llms = FakeLLMs(self.llm)
        self.person = FakeFrontend()
        self.approvals = Trusting(trusts)
        self.goal_run = goal_run_for(self.person, plan=plan, **kind)
        self.writer = OutlineWriter(
            self.llms,
            prompts,
            roles=roles(),
            approvals=self.approvals,
            ask_plan=ask_plan,
            library=library,
            timeout=timeout,
        )

    def answers(self, *reviews: Callable[[Outline], Review | None]) -> None:
        """What the person says to each draft; the last is repeated."""
        left: Iterator[Callable[[Outline], Review | None]] = iter(reviews[:-1])
        self.person.revise = lambda outline: next(left, reviews[-1])(outline)

    async def first(self) -> Outline | None:
        return await self.writer.first(self.goal_run)

    async def again(self, reason: str = "It failed.", *, depth: int = 0) -> Outline | None:
        before = self.goal_run.frames[depth].outline
        return await self.writer.write(
            self.goal_run, depth, reason=reason, before=before, ask=False
        )

    @property
    def shown(self) -> list[tuple[bool, str, str]]:
        """Every outline shown: accepted or not, as markdown, why."""
        return [
            (event.accepted, event.outline.markdown, event.why)
            for event in self.person.events
            if isinstance(event, OutlineChanged)
        ]

    @property
    def notes(self) -> list[str]:
        return [event.text for event in self.person.events if isinstance(event, Noted)]

    @property
    def asked(self) -> list[str]:
        """What the LLM was asked, the last message of each prompt."""
        return [prompt.messages[-1].text for prompt in self.llm.prompts]


def says(comment: str, edited: str = "") -> Callable[[Outline], Review]:
    def review(outline: Outline) -> Review:
        return Review(outline_from_markdown(edited, outline) if edited else outline, comment)

    return review


def refuses(outline: Outline) -> None:
    return None
