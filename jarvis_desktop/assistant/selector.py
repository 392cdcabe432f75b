"""Picks the candidates for each task, under the policy."""

from __future__ import annotations

from jarvis_desktop.core.expert import Expert, Selection
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.core.ports import Catalogue
from jarvis_desktop.core.task import TaskType


class Selector:
    """Turns a plan into one Selection per task."""

    def __init__(self, catalogue: Catalogue, policy: Policy) -> None:
        self._catalogue = catalogue
        self._policy = policy

    def select(self, plan: Plan) -> tuple[Selection, ...]:
        """For each task its candidates, best first, and why; none with the reason for that."""
        return tuple(self._select(task.id, task.type) for task in plan)

    def _select(self, task_id: int, task_type: TaskType) -> Selection:
        known = self._catalogue.candidates(task_type.name)
        allowed = tuple(item for item in known if self._policy.allows(item))
        if allowed:
            first = allowed[0]
            where = "answers over the network" if first.remote else "runs on this computer now"
            reason = f"{first.expert.id} {where}."
            return Selection(task_id, allowed, reason)
        if known:
            reason = f"The mode “{self._policy.mode}” allows none of its experts."
            return Selection(task_id, (), reason)
        experts = self._catalogue.obtainable(task_type.name)
        if not experts:
            return Selection(task_id, (), self._none(task_type))
        needs = f"It needs an expert that is not on this computer: {described(experts[0])}."
        if not self._policy.allows_downloads:
            reason = f"{needs} The mode is offline; choose another mode to fetch it."
            return Selection(task_id, (), reason)
        reason = f"{needs} To get it: jarvis-desktop experts pull {experts[0].id}"
        return Selection(task_id, (), reason, offer=experts[0])

    def _none(self, task_type: TaskType) -> str:
        beyond = self._catalogue.out_of_reach(task_type.name)
        if not beyond:
            return f"There is no expert for {task_type.title} yet."
        return (
            f"It needs an expert such as {described(beyond[0])}, "
            "which this version of JARVIS cannot run yet."
        )


def described(expert: Expert) -> str:
    """An expert with its download's size and its licence."""
    about = "" if expert.verified else "about "
    licence = f", licence {expert.licence}" if expert.licence else ""
    return f"{expert.id} ({about}{readable_size(expert.download_mb)} to download{licence})"


def readable_size(megabytes: float) -> str:
    """A size for people: "340 MB", "2.5 GB"."""
    return f"{megabytes:.0f} MB" if megabytes < 1000 else f"{megabytes / 1000:.1f} GB"
