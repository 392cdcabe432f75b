"""Builds the planners, and has the one work that the settings name now. Part of compose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jarvis_desktop.assistant.planning.embedded import EmbeddedPlanner
from jarvis_desktop.assistant.planning.layered import LayeredPlanner
from jarvis_desktop.assistant.planning.llm_planner import LlmPlanner
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.assistant.selector import Selector
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context, Declined, Direct, ForAgent, Planner
from jarvis_desktop.core.result import TaskResult
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.llm.choice import LLMChoice
from jarvis_desktop.paths import shipped
from jarvis_desktop.scoring.encoder import TaskEncoder
from jarvis_desktop.settings import Current


class NamedPlanner:
    """Implements Planner with the one of `planners` that the settings name at that moment."""

    def __init__(self, planners: Mapping[str, Planner], current: Current) -> None:
        self.planners = planners
        self._current = current

    @property
    def _planner(self) -> Planner:
        return self.planners[self._current.settings.planner.kind]

    async def plan(
        self, text: str, inventory: Sequence[TaskType], context: Context
    ) -> Plan | Direct | Declined | ForAgent:
        """See Planner."""
        return await self._planner.plan(text, inventory, context)

    async def replan(
        self,
        text: str,
        inventory: Sequence[TaskType],
        context: Context,
        *,
        plan: Plan,
        results: Mapping[int, TaskResult],
    ) -> Plan | Declined:
        """See Planner."""
        return await self._planner.replan(text, inventory, context, plan=plan, results=results)

    async def revise(
        self, words: str, inventory: Sequence[TaskType], context: Context, *, plan: Plan
    ) -> Plan | Declined:
        """See Planner."""
        return await self._planner.revise(words, inventory, context, plan=plan)


def embedded_planner() -> EmbeddedPlanner:
    """The planner that needs nothing but its own weights."""
    return EmbeddedPlanner(TaskEncoder(shipped("models", "planner")))


def build_planner(
    current: Current,
    embedded: EmbeddedPlanner,
    llms: LLMChoice,
    prompts: Prompts,
    selector: Selector,
    *,
    agent: bool,
) -> NamedPlanner:
    """`agent`: whether a request may be a goal; what is done for one is none of its own."""
    llm = LlmPlanner(llms, prompts, fallback=embedded, runnable=selector.can_do, agent=agent)
    # What no cue tells is left to the LLM, and to the encoder's guess only where there is none.
    layered = LayeredPlanner(EmbeddedPlanner(), llm, agent=agent)
    planners: dict[str, Planner] = {"auto": layered, "embedded": embedded, "llm": llm}
    return NamedPlanner(planners, current)
