"""What a plan that an LLM revised shares with the one before: whatever is the same stays the same,
under its id, so that nothing of it is done twice."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from jarvis_desktop.assistant.planning.kept import pointing, signatures
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.task import Arg, Item, Task, TaskType

LONGEST_TEXT = 300
"""Characters of a text within a plan; an LLM knows a longer one by a name, and need not repeat it.
"""


def types_of(plan: Plan) -> Sequence[TaskType]:
    """The task types of a plan, each once."""
    return list({task.type.name: task.type for task in plan}.values())


class Shortened:
    """A plan whose long texts are files with a name, and the context that knows those as well."""

    def __init__(self, plan: Plan, context: Context) -> None:
        self._texts: dict[Artifact, str] = {}
        self.plan = _with_items(plan, self._named)
        given = dict.fromkeys(
            item
            for task in self.plan
            for _, item in task.items()
            if isinstance(item, Artifact) and item not in context.attachments
        )
        self.context = replace(context, attachments=(*context.attachments, *given))

    def restored(self, plan: Plan) -> Plan:
        """A plan over that context, with the texts themselves again."""
        return _with_items(plan, lambda task, name, item: self._text(item))

    def _named(self, task: Task, name: str, item: Item) -> Item:
        if not isinstance(item, str) or len(item) <= LONGEST_TEXT or not task.type.port(name):
            return item
        named = text_artifact(item)
        self._texts[named] = item
        return named

    def _text(self, item: Item) -> Item:
        return self._texts.get(item, item) if isinstance(item, Artifact) else item


def kept_as_before(new: Plan, old: Plan) -> Plan:
    """The new plan, in which what the old one has as well is the very same task.

    Another task keeps its id, and the expert that was chosen for it, only where the old one has
    the same kind of task there.
    """
    numbers: dict[Hashable, int] = {}
    before, after = signatures(old, numbers), signatures(new, numbers)
    free = {before[task.id]: task for task in reversed(old.tasks)}
    same: dict[int, Task] = {}
    for task in new:
        if found := free.pop(after[task.id], None):
            same[task.id] = found
    taken = {task.id for task in same.values()}
    fresh = itertools.count(max((task.id for task in (*old, *new)), default=-1) + 1)
    kinds = {task.id: task.type for task in old}
    ids = {
        task.id: same[task.id].id
        if task.id in same
        else task.id
        if task.id not in taken and kinds.get(task.id, task.type) == task.type
        else next(fresh)
        for task in new
    }
    experts = {task.id: task.expert for task in old}
    return Plan(
        tuple(
            replace(same[task.id], wanted=same[task.id].wanted or task.wanted)
            if task.id in same
            else replace(pointing(task, ids), id=ids[task.id], expert=experts.get(ids[task.id], ""))
            for task in new
        )
    )


def _with_items(plan: Plan, changed: Callable[[Task, str, Item], Item]) -> Plan:
    def given(task: Task, name: str, arg: Arg) -> Arg:
        if isinstance(arg, tuple):
            return tuple(changed(task, name, item) for item in arg)
        return changed(task, name, arg)

    return Plan(
        tuple(
            replace(task, args={name: given(task, name, arg) for name, arg in task.args.items()})
            for task in plan
        )
    )
