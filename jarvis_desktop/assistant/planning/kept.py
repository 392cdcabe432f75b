"""What a second plan shares with the first: work that is done, and what failed already."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from graphlib import TopologicalSorter

from jarvis_desktop.assistant.planning.named import Named
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.result import Attempt, Status, TaskResult
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.task import Arg, Item, Ref, Task
from jarvis_desktop.core.wording import tr

LONGEST_TEXT = 200
"""Characters of a result that an LLM is told."""
LONGEST_REASON = 300


def finished(plan: Plan, results: Mapping[int, TaskResult]) -> list[Task]:
    """The tasks of a plan that were done."""
    return [task for task in plan if task.id in results and results[task.id].status is Status.DONE]


def continued(new: Plan, old: Plan, done: Sequence[Task]) -> Plan:
    """The new plan, in which no finished task stands a second time under another id.

    Raises PlanError where all that it would run was in the old plan and came to nothing.
    """
    numbers: dict[Hashable, int] = {}
    before, after = signatures(old, numbers), signatures(new, numbers)
    ids = {task.id for task in done}
    done_as = {before[number]: number for number in ids}
    twice = {
        task.id: done_as[after[task.id]]
        for task in new
        if task.id not in ids and after[task.id] in done_as
    }
    tried = {before[task.id] for task in old} - done_as.keys()
    if all(after[task.id] in tried for task in new if task.id not in {*ids, *twice}):
        raise PlanError(
            tr("That plan does nothing differently from what failed; find another way.")
        )
    return Plan(tuple(pointing(task, twice) for task in new if task.id not in twice))


def plan_told(plan: Plan, named: Named) -> str:
    """A plan as the LLM would have written it: files by their names."""
    names = {artifact: name for name, artifact in named}

    def written(arg: Arg) -> object:
        if isinstance(arg, tuple):
            return [written(item) for item in arg]
        if isinstance(arg, Ref):
            return f"<GENERATED>-{arg.task_id}"
        return names.get(arg, one_line(arg.title)) if isinstance(arg, Artifact) else arg

    tasks = [
        {
            "task": task.type.name,
            "id": task.id,
            "args": {name: written(arg) for name, arg in task.args.items()},
        }
        for task in plan
    ]
    return json.dumps({"plan": tasks}, ensure_ascii=False)


def done_told(done: Sequence[Task], results: Mapping[int, TaskResult]) -> str:
    """What finished tasks gave: kinds, and of texts the beginning."""
    return _lines(
        {
            "id": task.id,
            "gave": [
                f"{item.kind}: {one_line(item.text, limit=LONGEST_TEXT)}"
                if item.text
                else item.kind
                for item in results[task.id].artifacts
            ],
        }
        for task in done
    )


def failed_told(plan: Plan, results: Mapping[int, TaskResult]) -> str:
    """Which tasks failed, and why: for an input that is wrong, another expert is no way out."""
    return _lines(
        {"id": task.id, "task": task.type.name}
        | _category(result.attempts)
        | {"reason": one_line(result.reason, limit=LONGEST_REASON)}
        for task in plan
        if (result := results.get(task.id)) and result.status is Status.FAILED
    )


def _category(attempts: Sequence[Attempt]) -> dict[str, object]:
    """What the last attempt failed of, where that is known."""
    if not attempts or not attempts[-1].kind:
        return {}
    return {"error": attempts[-1].kind, "may_work_again": attempts[-1].retryable}


def _lines(items: Iterable[object]) -> str:
    return "\n".join(json.dumps(item, ensure_ascii=False) for item in items) or "nothing"


def signatures(plan: Plan, numbers: dict[Hashable, int]) -> dict[int, int]:
    """Numbers that are equal where two tasks do the same to the same, whatever their ids."""
    found: dict[int, int] = {}
    for task_id in TopologicalSorter({task.id: task.depends_on for task in plan}).static_order():
        task = plan.task(task_id)
        given = {option.name: option.default for option in task.type.options} | dict(task.args)
        args = frozenset((name, _signed(arg, found)) for name, arg in given.items())
        found[task_id] = numbers.setdefault((task.type.name, args), len(numbers))
    return found


def _signed(arg: Arg, found: Mapping[int, int]) -> Hashable:
    items = arg if isinstance(arg, tuple) else (arg,)
    return tuple(
        ("result", found[item.task_id]) if isinstance(item, Ref) else item for item in items
    )


def pointing(task: Task, elsewhere: Mapping[int, int]) -> Task:
    """The task with its Refs moved to other tasks."""

    def moved(item: Item) -> Item:
        if isinstance(item, Ref):
            return Ref(elsewhere.get(item.task_id, item.task_id))
        return item

    return replace(
        task,
        args={
            name: tuple(map(moved, arg)) if isinstance(arg, tuple) else moved(arg)
            for name, arg in task.args.items()
        },
    )
