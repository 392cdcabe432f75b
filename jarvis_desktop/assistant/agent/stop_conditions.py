"""When a controller must end: no progress, or the limits of the goal.

Both end whatever the LLM says; then the user is asked, or gets the reason and what was reached.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from jarvis_desktop.assistant.agent.goal_run import GoalRun
from jarvis_desktop.assistant.agent.roles import Observation
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import BranchChoice, LogEntry, OutlineStep, StepState
from jarvis_desktop.core.i18n import tr, trn

STALL_KEY = "stalls"
"""Key in a frame: its `Stall`."""
THINK = "think"
"""A round without a branch: the LLM failed, or the user stopped it."""

REPETITION_WINDOW = 4
"""Rounds in which the same round counts as a repetition."""
MAX_IN_A_ROW = 3
"""Failures, or updates of the plan, that are too many."""
MAX_REPLANS = 4
"""Of the last eight rounds, those that only rewrote the plan."""
CALM_ROUNDS = 3
"""Rounds with progress after which earlier ones no longer count."""


@dataclass(frozen=True, slots=True)
class Stall:
    """How often rounds made no progress recently, and what follows from it."""

    level: int = 0
    """1: the controller was warned. 2: it had to replan. 3: the user had to be asked."""
    calm: int = 0
    """Rounds with progress since then."""
    due: str = ""
    """The branch that the next round takes, whatever the LLM says."""
    reason: str = ""
    over: bool = False
    """Whether the controller must end."""

    @property
    def kept(self) -> str:
        """The stall as a frame saves it; "" if there is nothing to save."""
        return "" if self == Stall() else json.dumps(asdict(self))

    @property
    def forced(self) -> BranchChoice:
        """What is due, as a choice."""
        if self.due == "re_plan":
            return BranchChoice(self.due, {"reason": self.reason}, why=self.reason)
        question = tr("I am stuck: {reason} What should I do?", reason=self.reason)
        return BranchChoice(self.due, {"question": question}, why=self.reason)


def load_stall(kept: Mapping[str, str]) -> Stall:
    """Return the stall saved in a frame."""
    text = kept.get(STALL_KEY, "")
    return Stall(**json.loads(text)) if text else Stall()


def next_stall(stall: Stall, done: Sequence[LogEntry], *, replans: bool) -> Stall:
    """Return the stall after the last of these rounds. `replans` says whether it can replan."""
    last = done[-1]
    if last.status is Status.CANCELLED:  # the user has spoken
        return Stall()
    if stall.due == "ask_user" == last.branch:
        return replace(stall, over=True) if last.status is Status.FAILED else Stall()
    reason = stall_reason(done)
    if stall.due == "re_plan" == last.branch:
        stall = replace(stall, due="")
        if last.status is Status.FAILED:
            reason = reason or tr("No other plan could be written.")
    if not reason:
        calm = stall.calm + 1
        return Stall() if calm >= CALM_ROUNDS else replace(stall, calm=calm)
    level = stall.level + 1
    if level == 2 and not replans:
        level = 3
    due = {1: "", 2: "re_plan"}.get(level, "ask_user")
    return Stall(level, 0, due, reason)


def stall_reason(done: Sequence[LogEntry]) -> str:
    """Return why the last of these rounds made no progress, as a sentence; "" if it did."""
    stops = [at for at, entry in enumerate(done) if entry.status is Status.CANCELLED]
    done = done[stops[-1] + 1 :] if stops else done
    if not done:
        return ""
    last, asked = done[-1], [(entry.branch, entry.what, entry.code) for entry in done]
    if last.branch == THINK:
        return tr("The language model gave no usable answer.")
    same = (
        entry.branch == last.branch
        and (entry.what, entry.code) == (last.what, last.code)
        and (entry.status, entry.observation) == (last.status, last.observation)
        for entry in done[-1 - REPETITION_WINDOW : -1]
    )
    if any(same) or _is_run(asked[-MAX_IN_A_ROW:]):
        return tr(
            "“{branch}” was repeated in the same way, without a new result.", branch=last.branch
        )
    if len(done) >= 4 and asked[-4:-2] == asked[-2:]:
        return tr(
            "“{branch}” and “{other}” alternate without progress.",
            branch=done[-2].branch,
            other=last.branch,
        )
    if _is_run([entry.branch for entry in done[-MAX_IN_A_ROW:]]) and last.branch == "update_plan":
        return tr("The plan was updated again and again, and nothing else was done.")
    if _is_run([entry.status for entry in done[-MAX_IN_A_ROW:]]) and last.status is Status.FAILED:
        return trn(
            "{count} round failed in a row.", "{count} rounds failed in a row.", MAX_IN_A_ROW
        )
    if (
        last.branch == "re_plan"
        and sum(each.branch == "re_plan" for each in done[-8:]) >= MAX_REPLANS
    ):
        return tr("The plan was rewritten again and again.")
    return ""


def _is_run(items: Sequence[object]) -> bool:
    """Return whether there are enough items, all alike."""
    return len(items) == MAX_IN_A_ROW and all(item == items[0] for item in items)


MAX_FILES = 20
FAILURE_WINDOW = 4
"""Rounds in which an LLM's failure says more than how often something failed."""


def given_up(run: GoalRun, depth: int, reason: str) -> Observation:
    """Return the last observation: PARTLY if a step was done or a file made, else FAILED."""
    outline, files = run.frames[depth].outline, _files(run, depth)
    done = [step for step in outline or () if step.state is StepState.DONE]
    left = [step for step in outline or () if step.state not in (StepState.DONE, StepState.DROPPED)]
    told = [tr("I stopped before the end: {reason}", reason=reason), *_llm_failures(run, depth)]
    if done:
        told.append(tr("Done: {steps}.", steps=_format_steps(done)))
    if left:
        told.append(tr("Not done: {steps}.", steps=_format_steps(left)))
    if files:
        names = ", ".join(f"“{one_line(item.title)}”" for item in files)
        told.append(tr("Made so far: {names}.", names=names))
    if not (done or files):
        told.append(tr("Nothing was finished."))
    status = Status.PARTLY if done or files else Status.FAILED
    return Observation(" ".join(told), status, files, ends=True)


def _llm_failures(run: GoalRun, depth: int) -> tuple[str, ...]:
    """Return the LLM's last failure, if it may be the reason."""
    lately = run.done_by(depth)[-FAILURE_WINDOW:]
    failed = [each for each in lately if (each.branch, each.status) == (THINK, Status.FAILED)]
    return tuple(one_line(each.observation, limit=300) for each in failed[-1:])


def _files(run: GoalRun, depth: int) -> tuple[Artifact, ...]:
    """Return the newest files that it, and those that it called, made."""
    own = run.done_by(depth)
    first, path = (own[0].number if own else run.highest + 1), run.path(depth)
    made = [
        item
        for entry in run.log
        if entry.number >= first and f"{entry.path}/".startswith(f"{path}/")
        for item in entry.artifacts
        if item.path
    ]
    return tuple(dict.fromkeys(made))[-MAX_FILES:]


def _format_steps(steps: list[OutlineStep]) -> str:
    return "; ".join(f"{step.id}. {one_line(step.text, limit=100)}" for step in steps)


GRANTED_KEY = "times granted"
"""Key in the outermost frame: how often the user agreed to continue."""


def exhausted_limit(run: GoalRun) -> str:
    """Return which limit the goal has reached, in words; "" if none."""
    limits, times = run.limits, 1 + _granted(run)
    if run.rounds >= limits.rounds * times:
        return trn("its {count} round", "its {count} rounds", limits.rounds * times)
    if run.seconds >= limits.seconds * times:
        minutes = round(limits.seconds * times / 60)
        if not minutes:
            return tr("its time")
        return trn("its {count} minute of work", "its {count} minutes of work", minutes)
    if run.tokens >= limits.tokens * times:
        return trn(
            "its {count} token of the language model",
            "its {count} tokens of the language model",
            limits.tokens * times,
        )
    return ""


async def ask_to_continue(run: GoalRun, what: str) -> bool:
    """Return whether the user grants the goal as much again. A No is not asked for twice."""
    question = tr("The goal has used {what}. Continue with as much again?", what=what)
    agreed = await run.live.confirm(question, by_voice=True)
    if agreed:
        run.remember(0, **{GRANTED_KEY: str(_granted(run) + 1)})
    return agreed


def _granted(run: GoalRun) -> int:
    return int(run.frames[0].kept.get(GRANTED_KEY, 0))
