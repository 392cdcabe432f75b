"""Notices when rounds lead nowhere, so that a controller comes to an end whatever its LLM says."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from jarvis_desktop.core.goal import Choice, LogEntry
from jarvis_desktop.core.result import Status
from jarvis_desktop.core.wording import tr, trn

KEPT = "stalls"
"""Where a frame keeps its `Stall`."""
THINK = "think"
"""A round in which no branch was chosen: the LLM failed, or the person stopped it."""

LOOKED_BACK = 4
"""Rounds among which one is a repetition."""
IN_A_ROW = 3
"""Failures, and updates of the plan, that are too many."""
REPLANNED = 4
"""Of the last eight rounds, those that only wrote the plan anew."""
CALM = 3
"""Rounds that lead somewhere, after which earlier ones no longer count."""


@dataclass(frozen=True, slots=True)
class Stall:
    """How often rounds led nowhere of late, and what follows from it."""

    level: int = 0
    """1: the controller was told. 2: it had to plan anew. 3: the person had to be asked."""
    calm: int = 0
    """Rounds since that led somewhere."""
    due: str = ""
    """The branch that the next round takes, whatever the LLM says."""
    reason: str = ""
    over: bool = False
    """Whether nothing is left but to end."""

    @property
    def kept(self) -> str:
        """As a frame keeps it; "" where there is nothing to keep."""
        return "" if self == Stall() else json.dumps(asdict(self))

    @property
    def forced(self) -> Choice:
        """What is due, as a choice."""
        if self.due == "re_plan":
            return Choice(self.due, {"reason": self.reason}, why=self.reason)
        question = tr("I do not get on: {reason} What should I do?", reason=self.reason)
        return Choice(self.due, {"question": question}, why=self.reason)


def kept_in(kept: Mapping[str, str]) -> Stall:
    """The stall that a frame keeps."""
    text = kept.get(KEPT, "")
    return Stall(**json.loads(text)) if text else Stall()


def after(stall: Stall, done: Sequence[LogEntry], *, replans: bool) -> Stall:
    """The stall after the last of these rounds. `replans` says whether a plan can be written
    anew."""
    last = done[-1]
    if last.status is Status.CANCELLED:  # the person has spoken
        return Stall()
    if stall.due == "ask_user" == last.branch:
        return replace(stall, over=True) if last.status is Status.FAILED else Stall()
    reason = noticed(done)
    if stall.due == "re_plan" == last.branch:
        stall = replace(stall, due="")
        if last.status is Status.FAILED:
            reason = reason or tr("No other plan could be written.")
    if not reason:
        calm = stall.calm + 1
        return Stall() if calm >= CALM else replace(stall, calm=calm)
    level = stall.level + 1
    if level == 2 and not replans:
        level = 3
    due = {1: "", 2: "re_plan"}.get(level, "ask_user")
    return Stall(level, 0, due, reason)


def noticed(done: Sequence[LogEntry]) -> str:
    """Why the last of these rounds led nowhere, a sentence; "" where it did not."""
    stops = [at for at, entry in enumerate(done) if entry.status is Status.CANCELLED]
    done = done[stops[-1] + 1 :] if stops else done
    if not done:
        return ""
    last, asked = done[-1], [(entry.branch, entry.what, entry.code) for entry in done]
    if last.branch == THINK:
        return tr("No usable answer came from the language model.")
    same = (
        entry.branch == last.branch
        and (entry.what, entry.code) == (last.what, last.code)
        and (entry.status, entry.observation) == (last.status, last.observation)
        for entry in done[-1 - LOOKED_BACK : -1]
    )
    if any(same) or _is_run(asked[-IN_A_ROW:]):
        return tr(
            "“{branch}” was done again, in the same way and with nothing new.", branch=last.branch
        )
    if len(done) >= 4 and asked[-4:-2] == asked[-2:]:
        return tr(
            "“{branch}” and “{other}” take turns with nothing new.",
            branch=done[-2].branch,
            other=last.branch,
        )
    if _is_run([entry.branch for entry in done[-IN_A_ROW:]]) and last.branch == "update_plan":
        return tr("The plan was updated again and again, and nothing else was done.")
    if _is_run([entry.status for entry in done[-IN_A_ROW:]]) and last.status is Status.FAILED:
        return trn("{count} round failed in a row.", "{count} rounds failed in a row.", IN_A_ROW)
    if (
        last.branch == "re_plan"
        and sum(each.branch == "re_plan" for each in done[-8:]) >= REPLANNED
    ):
        return tr("The plan was written anew again and again.")
    return ""


def _is_run(items: Sequence[object]) -> bool:
    """Whether there are enough of them, and all alike."""
    return len(items) == IN_A_ROW and all(item == items[0] for item in items)
