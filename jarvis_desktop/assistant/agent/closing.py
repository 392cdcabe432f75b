"""What a controller gives that reaches no end by itself: the reason, and what was reached."""

from __future__ import annotations

from jarvis_desktop.assistant.agent.desk import Desk
from jarvis_desktop.assistant.agent.roles import Observation
from jarvis_desktop.assistant.agent.stalling import THINK
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.outline import Step, StepState
from jarvis_desktop.core.result import Status
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr

MOST_FILES = 20
LATELY = 4
"""Rounds among which one in which the LLM failed tells more than how often something failed."""


def given_up(desk: Desk, depth: int, reason: str) -> Observation:
    """Its observation: PARTLY where a step was done or a file made, else FAILED."""
    outline, files = desk.frames[depth].outline, _files(desk, depth)
    done = [step for step in outline or () if step.state is StepState.DONE]
    left = [step for step in outline or () if step.state not in (StepState.DONE, StepState.DROPPED)]
    told = [tr("I stopped before the end: {reason}", reason=reason), *_of_the_llm(desk, depth)]
    if done:
        told.append(tr("Done: {steps}.", steps=_listed(done)))
    if left:
        told.append(tr("Not done: {steps}.", steps=_listed(left)))
    if files:
        names = ", ".join(f"“{one_line(item.title)}”" for item in files)
        told.append(tr("Made so far: {names}.", names=names))
    if not (done or files):
        told.append(tr("Nothing was finished."))
    status = Status.PARTLY if done or files else Status.FAILED
    return Observation(" ".join(told), status, files, ends=True)


def _of_the_llm(desk: Desk, depth: int) -> tuple[str, ...]:
    """What the LLM's last failure was, where it may be the reason."""
    lately = desk.done_by(depth)[-LATELY:]
    failed = [each for each in lately if (each.branch, each.status) == (THINK, Status.FAILED)]
    return tuple(one_line(each.observation, limit=300) for each in failed[-1:])


def _files(desk: Desk, depth: int) -> tuple[Artifact, ...]:
    """The newest files that it and those that it called made."""
    own = desk.done_by(depth)
    first, path = (own[0].number if own else desk.highest + 1), desk.path(depth)
    made = [
        item
        for entry in desk.log
        if entry.number >= first and f"{entry.path}/".startswith(f"{path}/")
        for item in entry.artifacts
        if item.path
    ]
    return tuple(dict.fromkeys(made))[-MOST_FILES:]


def _listed(steps: list[Step]) -> str:
    return "; ".join(f"{step.id}. {one_line(step.text, limit=100)}" for step in steps)
