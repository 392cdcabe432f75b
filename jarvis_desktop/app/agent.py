"""Builds agent mode: its memory, sandbox, code library and controllers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from jarvis_desktop.assistant.agent.agent import Agent
from jarvis_desktop.assistant.agent.approvals import Approvals
from jarvis_desktop.assistant.agent.branches.conversation import CONVERSATION_BRANCHES
from jarvis_desktop.assistant.agent.branches.library import CallCoder, ExtendLibrary
from jarvis_desktop.assistant.agent.branches.plan_changes import RePlan, UpdatePlan
from jarvis_desktop.assistant.agent.branches.run_code import RunCode
from jarvis_desktop.assistant.agent.branches.run_experts import RunExperts
from jarvis_desktop.assistant.agent.branches.write_function import WriteFunction
from jarvis_desktop.assistant.agent.built_in_steps import BuiltInSteps
from jarvis_desktop.assistant.agent.code_loop import CodeLoop
from jarvis_desktop.assistant.agent.code_session import CodeWorkspaces, PackageInstaller
from jarvis_desktop.assistant.agent.controller import Controller
from jarvis_desktop.assistant.agent.expert_functions import ExpertFunctions
from jarvis_desktop.assistant.agent.function_tests import FunctionTester, LibraryTester
from jarvis_desktop.assistant.agent.outline_writer import OutlineWriter
from jarvis_desktop.assistant.agent.queries import TableReader
from jarvis_desktop.assistant.agent.roles import BranchRunner, roles
from jarvis_desktop.assistant.execution.executor import ReplanningRunner
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.backends.task_encoder import BackgroundScorer
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.goal import GoalLimits
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.core.ports import Backend, Planner
from jarvis_desktop.core.task import Call, TaskType
from jarvis_desktop.experts.weights import Weights
from jarvis_desktop.llm.catalogue import LLMOfferFinder
from jarvis_desktop.llm.choice import LLMChoice
from jarvis_desktop.paths import Paths
from jarvis_desktop.sandbox.packages import PipPackages
from jarvis_desktop.sandbox.session import OsSandbox
from jarvis_desktop.settings import AgentSettings
from jarvis_desktop.storage.artifacts import FileStore
from jarvis_desktop.storage.code_library import CodeLibrary
from jarvis_desktop.storage.goals import SqliteGoalMemory
from jarvis_desktop.storage.web_fetch import checked, look_up
from jarvis_desktop.tasks.documents.table_qa import TABLE_QUESTION_ANSWERING, is_doubtful
from jarvis_desktop.tasks.registry import ACTING


@dataclass(frozen=True)
class AgentDependencies:
    """What agent mode needs of the application around it."""

    paths: Paths
    policy: Policy
    llms: LLMChoice
    weights: Weights
    experts: Sequence[Expert]
    prompts: Prompts
    store: FileStore
    scorer: BackgroundScorer
    goals: SqliteGoalMemory
    now: Callable[[], datetime]
    goal_folder: Callable[[str], Path]
    """The folder in which the code of a goal works."""
    builtin: Backend
    """Runs the built-in methods."""


@dataclass(frozen=True)
class AgentMode:
    """The parts of agent mode that others use."""

    agent: Agent
    library: CodeLibrary
    sandbox: OsSandbox
    packages: PipPackages
    tester: LibraryTester
    approvals: Approvals
    writer: OutlineWriter

    def adopt(self, settings: AgentSettings) -> None:
        """Apply these settings from the next goal on."""
        self.approvals.code_terms = settings.code
        self.writer.ask_plan = settings.ask_plan
        self.agent.limits = limits_of(settings)


def limits_of(settings: AgentSettings) -> GoalLimits:
    """When the user is asked whether to continue a goal."""
    return GoalLimits(settings.rounds, settings.minutes * 60.0, settings.tokens, settings.repairs)


def build_agent(
    settings: AgentSettings,
    dependencies: AgentDependencies,
    *,
    planner: Planner,
    sure: Planner,
    replanning_runner: ReplanningRunner,
    inventory: Sequence[TaskType],
) -> AgentMode:
    """Build agent mode. Ordinary requests share `planner` and `replanning_runner`; `sure` plans
    without an LLM and guesses nothing. Nothing heavy is loaded."""
    paths, llms = dependencies.paths, dependencies.llms
    prompts, store = dependencies.prompts, dependencies.store

    def network() -> bool:
        return dependencies.policy.allows_downloads

    packages = PipPackages(paths.packages, network=network)
    sandbox = OsSandbox(packages=packages.site, find=look_up, check=checked, network=network)
    library = CodeLibrary(
        paths.code_library,
        paths.database,
        now=dependencies.now,
        meaning=dependencies.scorer.directions,
    )
    approvals = Approvals(code=settings.code, acting=ACTING)
    kinds = roles(task_type.title for task_type in inventory)
    writer = OutlineWriter(
        llms,
        prompts,
        roles=kinds,
        approvals=approvals,
        ask_plan=settings.ask_plan,
        library=library,
    )
    workshop = CodeWorkspaces(sandbox, library, folder_of=dependencies.goal_folder)
    providing = PackageInstaller(packages, workshop)
    trying = FunctionTester(workshop, store)
    experts = ExpertFunctions(inventory, replanning_runner, store)
    run_code = RunCode(workshop, providing, approvals, store, call=experts.call)
    branches: dict[str, BranchRunner] = {
        "run_experts": RunExperts(planner, inventory, replanning_runner, approvals),
        "run_code": run_code,
        "write_function": WriteFunction(workshop, providing, approvals, trying),
        "re_plan": RePlan(writer),
        "update_plan": UpdatePlan(),
        **CONVERSATION_BRANCHES,
    }
    controller = Controller(
        kinds, branches, llms=llms, prompts=prompts, library=library, first=writer.first
    )
    branches["coder"] = CallCoder(controller.call, workshop)
    branches["extend_library"] = ExtendLibrary(controller.call, library)
    agent = Agent(
        llms=llms,
        memory=dependencies.goals,
        writer=writer,
        controller=controller,
        code_loop=CodeLoop(
            run_code,
            workshop,
            store,
            llms=llms,
            prompts=prompts,
            read_tables=table_reader(dependencies.builtin, store),
            built_in=BuiltInSteps(sure, inventory, replanning_runner, is_doubtful),
        ),
        approvals=approvals,
        limits=limits_of(settings),
        close=workshop.close,
        advice=LLMOfferFinder(dependencies).advice,
        now=dependencies.now,
    )
    return AgentMode(
        agent, library, sandbox, packages, LibraryTester(sandbox, trying), approvals, writer
    )


def table_reader(builtin: Backend, store: FileStore) -> TableReader:
    """Return a reader of tables that is the built-in method of the task for questions."""
    task = TABLE_QUESTION_ANSWERING.type.name
    candidate = Candidate(Expert(f"builtin/{task}", task), "builtin")

    async def answer(question: str, tables: Sequence[Artifact]) -> str:
        workdir = await asyncio.to_thread(store.workdir)
        inputs = {"table": tuple(tables), "question": (text_artifact(question),)}
        try:
            made = await builtin.run(
                candidate, Call(task, inputs, {"sql": ""}, workdir), lambda fraction, message: None
            )
        finally:
            await asyncio.to_thread(store.discard, workdir)
        told = made[0].text or ""
        return "" if is_doubtful(told) or len(made) > 1 else told

    return answer
