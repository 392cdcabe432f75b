"""The branches by which a controller changes its plan.

`re_plan` rewrites it, `update_plan` sets the states of its steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jarvis_desktop.assistant.agent.goal_run import GoalRun
from jarvis_desktop.assistant.agent.outline_writer import OutlineWriter
from jarvis_desktop.assistant.agent.roles import Observation, failure
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.events import OutlineChanged
from jarvis_desktop.core.goal import BranchChoice, Outline, StepState, changes

MAX_NOTE_CHARS = 200
NO_PLAN = "There is no plan here. Go on with the task itself."


class RePlan:
    """`re_plan`: rewrite the plan, with the user if the rules say so."""

    def __init__(self, writer: OutlineWriter) -> None:
        self._writer = writer

    async def __call__(self, run: GoalRun, choice: BranchChoice) -> Observation:
        """Return what is different now. The user's own words and changes are in the notices."""
        depth = run.inner
        before = run.frames[depth].outline
        if before is None:
            return failure(NO_PLAN)
        reason = choice.args["reason"]
        after = await self._writer.write(run, depth, reason=reason, before=before, ask=False)
        if after is None:
            return failure(
                "The person did not accept the new plan, so the old one stays. Go on by it, or ask "
                "them what they want."
            )
        told = changes(before, after)
        if not told:
            return failure(
                "No other plan was written, so the old one stays. Go on with its next step in "
                "another way, or ask the person."
            )
        return Observation(f"The plan was rewritten. {' '.join(told)}", trusted=True)


class UpdatePlan:
    """`update_plan`: set states and notes of existing steps; none is added or reworded."""

    async def __call__(self, run: GoalRun, choice: BranchChoice) -> Observation:
        """Return what is different now."""
        depth = run.inner
        before = run.frames[depth].outline
        if before is None:
            return failure(NO_PLAN)
        after = before
        try:
            for mark in choice.args["steps"]:
                after = _with_mark(after, mark)
        except PlanError as error:
            ids = ", ".join(str(step.id) for step in before)
            return failure(f"{error.message} Its steps are {ids}; re_plan adds or changes steps.")
        told = _differences(before, after)
        if not told:
            return failure(f"The plan says so already. {_next_step(after)}")
        run.change(depth, outline=after)
        run.live.show(OutlineChanged(after, run.path(depth), why=told))
        return Observation(f"{told} {_next_step(after)}", trusted=True)


def _with_mark(outline: Outline, mark: Mapping[str, Any]) -> Outline:
    """Raises PlanError if there is no such step."""
    step, state = outline.step(mark["id"]), StepState(mark["state"])
    note = one_line(mark["note"], limit=MAX_NOTE_CHARS)
    if step and step.state is state:
        note = note or step.note
    return outline.with_state(mark["id"], state, note)


def _differences(before: Outline, after: Outline) -> str:
    """Return the differences, one sentence each; reopening a finished step is always mentioned.
    Notes are left out, because they may repeat foreign text."""
    told = []
    for was, step in zip(before, after, strict=True):
        if was.state is not step.state:
            again = ", although it was done" if was.state is StepState.DONE else ""
            told.append(f"Step {step.id} is {step.state.value} now{again}.")
        elif was.note != step.note:
            told.append(f"Step {step.id} has another note.")
    return " ".join(told)


def _next_step(outline: Outline) -> str:
    if not outline.open:
        return "No step is left to do."
    step = outline.open[0]
    return f"The next step is {step.id}: {step.text}"
