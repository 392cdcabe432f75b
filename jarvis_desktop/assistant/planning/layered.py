"""Two planners in one: the quick one where it is sure, the LLM for all the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jarvis_desktop.assistant.planning import goals
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context, Declined, Direct, ForAgent, Planner
from jarvis_desktop.core.result import TaskResult
from jarvis_desktop.core.task import TaskType


class LayeredPlanner:
    """Takes the plan of the embedded planner, which declines what it does not fully understand,
    and asks the LLM planner for what it declines."""

    def __init__(self, embedded: Planner, llm: Planner, *, agent: bool = False) -> None:
        """`agent` says that there is an agent mode: what clearly asks for it is left to the LLM
        planner, which knows whether there is an LLM for it."""
        self._agent = agent
        self._embedded = embedded
        self._llm = llm

    async def plan(
        self, text: str, inventory: Sequence[TaskType], context: Context
    ) -> Plan | Direct | Declined | ForAgent:
        """The embedded planner's plan where it makes one, else what the LLM planner says."""
        if self._agent and goals.is_own(inventory) and goals.asked_for(text, inventory):
            return await self._llm.plan(text, inventory, context)
        planned = await self._embedded.plan(text, inventory, context)
        if not isinstance(planned, Declined):
            return planned
        return await self._llm.plan(text, inventory, context)

    async def replan(
        self,
        text: str,
        inventory: Sequence[TaskType],
        context: Context,
        *,
        plan: Plan,
        results: Mapping[int, TaskResult],
    ) -> Plan | Declined:
        """What the LLM planner says: the embedded one knows one way only."""
        return await self._llm.replan(text, inventory, context, plan=plan, results=results)

    async def revise(
        self, words: str, inventory: Sequence[TaskType], context: Context, *, plan: Plan
    ) -> Plan | Declined:
        """What the LLM planner says, which leaves it to the embedded one where there is no LLM."""
        return await self._llm.revise(words, inventory, context, plan=plan)
