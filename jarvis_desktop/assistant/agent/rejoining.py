"""One plan of all that experts did for a goal: what is done stays, what is new is numbered on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.result import Status
from jarvis_desktop.core.task import Item, Ref, Task
from jarvis_desktop.core.turn import Turn


def renumbered(plan: Plan, turn: Turn, *, but: Iterable[Task] = ()) -> Plan:
    """The plan with ids that no task of the turn ever had, and its Refs moved with them.

    The tasks of `but` that are in it, and were done, keep theirs.
    """
    used = [*(task.id for task in turn.plan or ()), *turn.results]
    following = max(used, default=-1) + 1
    known = list(but)
    ids: dict[int, int] = {}
    for task in plan:
        if task in known and _is_done(task, turn):
            ids[task.id] = task.id
        else:
            ids[task.id], following = following, following + 1
    return Plan(tuple(_moved(task, ids) for task in plan))


def joined(plan: Plan, turn: Turn) -> Plan:
    """The plan behind all else that was done in the turn; what failed there is left out."""
    own = {task.id for task in plan}
    done = [task for task in turn.plan or () if task.id not in own and _is_done(task, turn)]
    return Plan((*done, *plan))


def _is_done(task: Task, turn: Turn) -> bool:
    result = turn.results.get(task.id)
    return result is not None and result.status is Status.DONE


def _moved(task: Task, ids: dict[int, int]) -> Task:
    def moved(item: Item) -> Item:
        return Ref(ids[item.task_id]) if isinstance(item, Ref) else item

    args = {
        name: tuple(map(moved, arg)) if isinstance(arg, tuple) else moved(arg)
        for name, arg in task.args.items()
    }
    return replace(task, id=ids[task.id], args=args)
