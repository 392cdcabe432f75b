"""The branches by which a controller changes its own plan: `re_plan` has it written anew,
`update_plan` marks what became of its steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jarvis_desktop.assistant.agent.desk import Desk
from jarvis_desktop.assistant.agent.plan_writer import PlanWriter
from jarvis_desktop.assistant.agent.roles import Observation
from jarvis_desktop.assistant.planning.numbering import whole
from jarvis_desktop.assistant.planning.written import plain
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.events import OutlineChanged
from jarvis_desktop.core.goal import Choice
from jarvis_desktop.core.outline import Outline, Step, StepState, changes
from jarvis_desktop.core.result import Status
from jarvis_desktop.core.shown import one_line

LONGEST_NOTE = 200
NO_PLAN = "There is no plan here. Go on with the task itself."

_states: Mapping[str, StepState] = {
    **{state.value: state for state in StepState},
    **dict.fromkeys(("todo", "pending", "notstarted", "new", "reopened"), StepState.OPEN),
    **dict.fromkeys(("inprogress", "started", "running", "current", "active"), StepState.DOING),
    **dict.fromkeys(("complete", "completed", "finished", "success", "x"), StepState.DONE),
    **dict.fromkeys(("fail", "failure", "error", "blocked"), StepState.FAILED),
    **dict.fromkeys(("drop", "skipped", "skip", "cancelled", "canceled"), StepState.DROPPED),
}
"""What LLMs call the states of a step."""


class RePlan:
    """`re_plan`: the plan is written anew, with the person where the rules say so."""

    def __init__(self, writer: PlanWriter) -> None:
        self._writer = writer

    async def __call__(self, desk: Desk, choice: Choice) -> Observation:
        """What is different now. What the person said and changed is besides in the notices."""
        depth = desk.inner
        before = desk.frames[depth].outline
        if before is None:
            return _failed(NO_PLAN)
        reason = str(choice.args.get("reason", ""))
        after = await self._writer.write(desk, depth, reason=reason, before=before, ask=False)
        if after is None:
            return _failed(
                "The person did not accept the new plan, so the old one stays. Go on by it, or ask "
                "them what they want."
            )
        told = changes(before, after)
        if not told:
            return _failed(
                "No other plan was written, so the old one stays. Go on with its next step in "
                "another way, or ask the person."
            )
        return Observation(f"The plan was written anew. {' '.join(told)}", trusted=True)


class UpdatePlan:
    """`update_plan`: states and notes of steps that are there; none is added or worded anew."""

    async def __call__(self, desk: Desk, choice: Choice) -> Observation:
        """What is different now."""
        depth = desk.inner
        before = desk.frames[depth].outline
        if before is None:
            return _failed(NO_PLAN)
        try:
            marks = _marks(choice.args.get("steps"), before)
        except PlanError as error:
            return _failed(error.message)
        after = before
        for mark in marks:
            after = after.with_state(mark.step.id, mark.state, mark.note)
        told = _told(before, after)
        if not told:
            return _failed(f"The plan says so already. {_next(after)}")
        desk.change(depth, outline=after)
        desk.live.show(OutlineChanged(after, desk.path(depth), why=told))
        return Observation(f"{told} {_next(after)}", trusted=True)


@dataclass(frozen=True, slots=True)
class _Mark:
    step: Step
    state: StepState
    note: str


def _marks(written: object, outline: Outline) -> list[_Mark]:
    """Raises PlanError, which names what there is, on the first that is none."""
    if isinstance(written, Mapping) and "id" not in written:  # {"1": "done"}
        written = [
            {"id": key, **value} if isinstance(value, Mapping) else {"id": key, "state": value}
            for key, value in written.items()
        ]
    items = written if isinstance(written, list | tuple) else [written]
    marks = [_mark(item, outline) for item in items]
    if not marks:
        raise PlanError(_form(outline))
    return marks


def _mark(item: object, outline: Outline) -> _Mark:
    if not isinstance(item, Mapping):
        raise PlanError(_form(outline))
    step = outline.step(-1 if (number := whole(item.get("id"))) is None else number)
    if step is None:
        wrong = one_line(str(item.get("id")), limit=40)
        raise PlanError(f"The plan has no step “{wrong}”. {_steps_of(outline)}")
    said = item.get("state")
    state = _states.get(plain(str(said))) if said else step.state
    if state is None:
        wrong, there = one_line(str(said), limit=40), ", ".join(StepState)
        raise PlanError(f"A step cannot be “{wrong}”. It is one of these: {there}.")
    note = one_line(str(item.get("note") or ""), limit=LONGEST_NOTE)
    return _Mark(step, state, note or (step.note if state is step.state else ""))


def _form(outline: Outline) -> str:
    form = '[{"id": 1, "state": "done", "note": "..."}]'
    return f"Give the steps as {form}. {_steps_of(outline)}"


def _steps_of(outline: Outline) -> str:
    ids = ", ".join(str(step.id) for step in outline)
    return f"Its steps are {ids}; re_plan adds or changes steps."


def _told(before: Outline, after: Outline) -> str:
    """What is different, a sentence each; a step that was done is not opened again unsaid.

    Notes are left out: they may repeat what others than the person wrote.
    """
    told = []
    for was, step in zip(before, after, strict=True):
        if was.state is not step.state:
            again = ", although it was done" if was.state is StepState.DONE else ""
            told.append(f"Step {step.id} is {step.state.value} now{again}.")
        elif was.note != step.note:
            told.append(f"Step {step.id} has another note.")
    return " ".join(told)


def _next(outline: Outline) -> str:
    if not outline.open:
        return "No step is left to do."
    step = outline.open[0]
    return f"The next step is {step.id}: {step.text}"


def _failed(text: str) -> Observation:
    return Observation(text, Status.FAILED, trusted=True)
