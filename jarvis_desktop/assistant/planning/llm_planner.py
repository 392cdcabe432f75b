"""The planner that asks an LLM, and never trusts its answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from jarvis_desktop.assistant import memory
from jarvis_desktop.assistant.planning import llm_output, llm_prompt, plan_diff, planner
from jarvis_desktop.assistant.planning.llm_output import ask_until_valid
from jarvis_desktop.assistant.planning.plan_builder import NamedArtifacts, build_plan
from jarvis_desktop.assistant.planning.plan_diff import check_own_words
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.errors import ExpertError, JarvisError, PlanError, StorageError
from jarvis_desktop.core.expert import TaskResult
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.llm import LLM, LLMs
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import AnswerDirectly, Context, NeedsAgent, Planner, PlanRejected
from jarvis_desktop.core.task import TaskType

Planned = TypeVar("Planned")

NO_OTHER_WAY = mark("I found no other way to do that.")


class LlmPlanner:
    """Plans with the LLM of the settings, over the task types that are `runnable` right now.

    A plan that breaks a rule goes back to the LLM with the reason. If there is no LLM, or it fails,
    or it does not fix its plan, `fallback` plans; if that declines too, the LLM answers in its own
    words.
    """

    def __init__(
        self,
        llms: LLMs,
        prompts: Prompts,
        *,
        fallback: Planner,
        runnable: Callable[[TaskType, LLM], bool],
        timeout: float = 600.0,
        agent: bool = False,
    ) -> None:
        """`agent` turns on agent mode, for goals over the application's own tasks. `timeout`, in
        seconds, covers one plan with all its rejections. It is a last resort: how long an LLM may
        be silent is up to its provider."""
        self._llms = llms
        self._prompts = prompts
        self._fallback = fallback
        self._runnable = runnable
        self._timeout = timeout
        self._agent = agent

    async def plan(
        self, text: str, inventory: Sequence[TaskType], context: Context
    ) -> Plan | AnswerDirectly | PlanRejected | NeedsAgent:
        """Return a plan, the answer that none is needed or that agent mode is, or a reason. Never
        raises."""
        llm = await self._llms.current() if text.strip() else None
        if llm is None:
            return await self._fallback.plan(text, inventory, context)
        agent = self._agent and planner.has_builtin_tasks(inventory)
        if agent and planner.asks_for_agent(text, inventory):
            context.trace("It is a goal for agent mode by its words.")
            return NeedsAgent()
        types = [task_type for task_type in inventory if self._runnable(task_type, llm)]
        names = [task_type.name for task_type in types]
        named = NamedArtifacts(context)

        def read(answered: str) -> Plan | AnswerDirectly | NeedsAgent:
            if agent and llm_output.is_agent_goal(answered):
                return NeedsAgent()
            steps = llm_output.read_steps(answered, names)
            if not steps:
                return AnswerDirectly()
            return check_own_words(build_plan(steps, types, named), text, types)

        asked = llm_prompt.request_text(text, llm_prompt.list_files(named, context))
        # An LLM that could not plan may still answer, or says why it cannot.
        otherwise: AnswerDirectly | PlanRejected = AnswerDirectly()
        try:
            return await self._ask(llm, asked, types, context, read, agent=agent)
        except PlanError as error:
            context.trace(f"{llm.name} made no plan that can be used: {error.message}")
        except StorageError as error:  # a mistake in the user's own prompts
            context.trace(f"{llm.name} could not plan: {error.message}")
            otherwise = PlanRejected(str(error))
        except JarvisError as error:
            context.trace(f"{llm.name} could not plan: {error.message}")
        planned = await self._fallback.plan(text, inventory, context)
        return otherwise if isinstance(planned, PlanRejected) else planned

    async def replan(
        self,
        text: str,
        inventory: Sequence[TaskType],
        context: Context,
        *,
        plan: Plan,
        results: Mapping[int, TaskResult],
    ) -> Plan | PlanRejected:
        """Return a plan that takes another way with what is done, or the reason why there is none.
        Never raises. Finished tasks keep their ids and arguments, whatever the LLM made of them."""
        llm = await self._llms.current()
        if llm is None:
            return await self._fallback.replan(text, inventory, context, plan=plan, results=results)
        types = [task_type for task_type in inventory if self._runnable(task_type, llm)]
        named = NamedArtifacts(context)
        done = plan_diff.finished_tasks(plan, results)

        def read(answered: str) -> Plan | PlanRejected:
            steps = llm_output.read_steps(answered, [task_type.name for task_type in types])
            if not steps:
                return PlanRejected(tr(NO_OTHER_WAY))
            fresh = check_own_words(build_plan(steps, types, named, finished=done), text, types)
            return plan_diff.reuse_finished(fresh, plan, done)

        try:
            template = self._prompts.template("replan")
            context.trace(f"It plans anew by the prompt {template.label}.")
            asked = template.filled(
                request=llm_prompt.request_text(text, llm_prompt.list_files(named, context)),
                plan=plan_diff.format_plan(plan, named),
                done=memory.marked_off(plan_diff.format_finished(done, results), text),
                failed=memory.marked_off(plan_diff.format_failures(plan, results), text),
            )
            return await self._ask(llm, asked, types, context, read)
        except JarvisError as error:
            context.trace(f"{llm.name} made no other plan: {error.message}")
            return PlanRejected(tr(NO_OTHER_WAY))

    async def revise(
        self, words: str, inventory: Sequence[TaskType], context: Context, *, plan: Plan
    ) -> Plan | PlanRejected:
        """Return the plan as the user's words want it, or why not. Never raises. What they leave
        unchanged keeps its id, however the LLM wrote it."""
        llm = await self._llms.current() if words.strip() else None
        if llm is None:
            return await self._fallback.revise(words, inventory, context, plan=plan)
        types = [item for item in inventory if self._runnable(item, llm)]
        types += [item for item in plan_diff.types_of(plan) if item not in types]
        short = plan_diff.ShortenedPlan(plan, context)
        named = NamedArtifacts(short.context)

        def read(answered: str) -> Plan | PlanRejected:
            steps = llm_output.read_steps(answered, [task_type.name for task_type in types])
            if not steps:
                return PlanRejected(
                    tr("{llm} did not understand what should change.", llm=llm.name)
                )
            fresh = plan_diff.keep_unchanged(short.restored(build_plan(steps, types, named)), plan)
            return check_own_words(fresh, words, types, but=plan.tasks)

        try:
            template = self._prompts.template("revise")
            context.trace(f"The plan is revised by the prompt {template.label}.")
            asked = template.filled(
                plan=memory.marked_off(plan_diff.format_plan(short.plan, named), words),
                request=llm_prompt.request_text(words, llm_prompt.list_files(named, short.context)),
            )
            return await self._ask(llm, asked, types, context, read)
        except JarvisError as error:
            context.trace(f"{llm.name} did not revise the plan: {error.message}")
            return await self._fallback.revise(words, inventory, context, plan=plan)

    async def _ask(
        self,
        llm: LLM,
        asked: str,
        types: Sequence[TaskType],
        context: Context,
        read: Callable[[str], Planned],
        *,
        agent: bool = False,
    ) -> Planned:
        """Return what `read` makes of the answer. Raises the PlanError of the last try,
        StorageError, ExpertError on a time-out, and what the LLM raises."""
        prompt = llm_prompt.planning_prompt(
            llm, self._prompts, asked=asked, inventory=types, context=context, agent=agent
        )
        try:
            async with asyncio.timeout(self._timeout):
                return await ask_until_valid(llm, prompt, read, trace=context.trace)
        except TimeoutError as error:
            raise ExpertError(
                tr("It took longer than {timeout:.0f} seconds.", timeout=self._timeout)
            ) from error
