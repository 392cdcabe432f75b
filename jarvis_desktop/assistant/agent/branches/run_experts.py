"""The branch `run_experts`: plan and run expert tasks within a goal.

It uses the same planner and executor as any other request. All plans of a goal form one: finished
tasks stay, new ones get new numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from jarvis_desktop.assistant import answer_writer
from jarvis_desktop.assistant.agent.approvals import Approvals
from jarvis_desktop.assistant.agent.goal_run import (
    GoalRun,
    available_artifacts,
    planner_context,
    resolve_names,
)
from jarvis_desktop.assistant.agent.roles import Observation
from jarvis_desktop.assistant.execution.executor import ReplanningRunner, mendable
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import JarvisError, PlanError, StorageError
from jarvis_desktop.core.events import Noted, PlanAccepted, Replanned
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import BranchChoice
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import AnswerDirectly, Context, NeedsAgent, Planner, PlanRejected
from jarvis_desktop.core.serialization import plan_from_wire, plan_to_wire
from jarvis_desktop.core.task import Task, TaskType
from jarvis_desktop.core.turn import Turn


def renumbered(plan: Plan, turn: Turn, *, but: Iterable[Task] = ()) -> Plan:
    """Return the plan with ids that no task of the turn ever had. Tasks that are in `but`, and were
    done, keep theirs."""
    following = following_id(turn)
    known = list(but)
    ids: dict[int, int] = {}
    for task in plan:
        if task in known and is_done(task, turn):
            ids[task.id] = task.id
        else:
            ids[task.id], following = following, following + 1
    return Plan(tuple(replace(task.with_refs(ids), id=ids[task.id]) for task in plan))


def following_id(turn: Turn) -> int:
    """Return the first id that no task of the turn ever had."""
    return max([*(task.id for task in turn.plan or ()), *turn.results], default=-1) + 1


def joined(tasks: Plan | Sequence[Task], turn: Turn) -> Plan:
    """Return a plan of these tasks, after everything else that was done in the turn, without what
    failed."""
    own = {task.id for task in tasks}
    done = [task for task in turn.plan or () if task.id not in own and is_done(task, turn)]
    return Plan((*done, *tasks))


def is_done(task: Task, turn: Turn) -> bool:
    """Return whether the turn has its result."""
    result = turn.results.get(task.id)
    return result is not None and result.status is Status.DONE


MAX_REQUEST_CHARS = 20_000
"""Characters of a request to experts."""
RESULT_TOKENS = 1500
"""Tokens of results in a controller's prompt; in full they are available as files and texts."""
PLAN_KEY = "experts"
"""Key in a frame: the running plan, so that it survives a crash."""


@dataclass(eq=False)
class RunExperts:
    """`run_experts`: plan the request over the tasks of the inventory, and run it. Nothing named in
    the request is looked up: no file that is not available, no address."""

    planner: Planner
    inventory: Sequence[TaskType]
    replanning_runner: ReplanningRunner
    approvals: Approvals

    async def __call__(self, run: GoalRun, choice: BranchChoice) -> Observation:
        """Return what each task gave, or why nothing was done. Raises StorageError."""
        request = choice.args["request"]
        if len(request) > MAX_REQUEST_CHARS:
            return _failed("Say in `request` what is to be done, in a few sentences.")
        try:
            context = planner_context(run, resolve_names(run, choice.args["uses"]))
            plan = self._saved_plan(run, request)
            cut_off = plan is not None
            if plan is None:
                planned = await self.planner.plan(request, self.inventory, context)
                if not isinstance(planned, Plan):
                    return _failed(_advice(planned))
                plan = renumbered(planned, run.live.turn)
            await self._carry_out(plan, run, request, context, cut_off=cut_off)
            if another := await self._another(plan, run, request, context):
                plan = another
                await self._carry_out(plan, run, request, context, anew=True)
        except StorageError:
            raise
        except JarvisError as error:
            return _failed(f"The experts could not be asked: {error}")
        frame = run.frames[run.inner]
        rest = {key: value for key, value in frame.kept.items() if key != PLAN_KEY}
        # Saved together with the log entry of this round, not before.
        run.frames[run.inner] = replace(frame, kept=rest)
        return _observation(run, plan)

    async def _carry_out(
        self,
        plan: Plan,
        run: GoalRun,
        request: str,
        context: Context,
        *,
        anew: bool = False,
        cut_off: bool = False,
    ) -> None:
        """Run a plan beside what earlier rounds did."""
        live = run.live
        document = {"round": run.number, "request": request, "plan": plan_to_wire(plan, whole=True)}
        run.remember(run.inner, **{PLAN_KEY: json.dumps(document, ensure_ascii=False)})
        whole = joined(plan, live.turn)
        live.show(Replanned(whole, _failure_reasons(live.turn)) if anew else PlanAccepted(whole))
        left = [task for task in plan if task.id not in live.turn.results]
        if cut_off and left:
            live.show(
                Noted(tr("This was interrupted: the step in question may have been done already."))
            )
        withheld = await self.approvals.acting(run, left)
        await self.replanning_runner.carry_out(whole, context, live, rounds=0, withheld=withheld)

    async def _another(
        self, plan: Plan, run: GoalRun, request: str, context: Context
    ) -> Plan | None:
        """Return another way to do what failed on all candidates; None if there is none. It replans
        only this request: the replanning runner would plan the whole goal, and ask nobody about
        tasks that act."""
        own = _own_turn(run.live.turn, plan)
        if not mendable(own):
            return None
        another = await self.planner.replan(
            request, self.inventory, context, plan=plan, results=own.results
        )
        if isinstance(another, PlanRejected):
            run.live.trace(f"There is no other plan: {another.reason}")
            return None
        return renumbered(another, run.live.turn, but=plan)

    def _saved_plan(self, run: GoalRun, request: str) -> Plan | None:
        """Return the plan of this very round if it was cut off; None for a new round."""
        text = run.frames[run.inner].kept.get(PLAN_KEY, "")
        document = json.loads(text) if text else {}
        if document.get("round") != run.number or document.get("request") != request:
            return None
        try:
            return plan_from_wire(document["plan"], {item.name: item for item in self.inventory})
        except PlanError:  # it does not fit today's tasks
            return None


def _failure_reasons(turn: Turn) -> str:
    return " ".join(
        f"{task.type.title} failed: {one_line(turn.results[task.id].reason, limit=300)}"
        for task in mendable(turn)
    )


def _own_turn(turn: Turn, plan: Plan) -> Turn:
    """Return the turn as if it consisted of this plan alone."""
    results = {task.id: turn.results[task.id] for task in plan if task.id in turn.results}
    return replace(turn, plan=plan, results=results, agentic=False)


def _observation(run: GoalRun, plan: Plan) -> Observation:
    own = _own_turn(run.live.turn, plan)
    words, _ = answer_writer.format_results(own, budget=RESULT_TOKENS)
    artifacts = tuple(
        item for _, result in answer_writer.shown_results(own) for item in result.artifacts
    )
    names = [
        name for name, item in available_artifacts(run, artifacts).items() if item in artifacts
    ]
    if names:
        words += f"\n\nAt hand from now on: {', '.join(f'“{one_line(name)}”' for name in names)}."
    return Observation(words, answer_writer.turn_status(own), artifacts)


def _advice(planned: AnswerDirectly | PlanRejected | NeedsAgent) -> str:
    """Return what to do if there is no plan."""
    if isinstance(planned, PlanRejected):
        return (
            f"The experts cannot do that: {planned.reason} Ask for something else, or go another "
            "way."
        )
    if isinstance(planned, AnswerDirectly):
        return "No expert is needed for that: answer it yourself."
    return "That is more than one plan of experts does: ask for one part, or use the coder."


def _failed(text: str) -> Observation:
    return Observation(text, Status.FAILED)
