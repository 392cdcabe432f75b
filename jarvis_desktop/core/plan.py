"""A plan: tasks that refer to one another, checked as a whole when built."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.task import Item, Option, Port, Ref, Task, type_names


@dataclass(frozen=True, slots=True)
class Plan:
    """Tasks in the order they were planned.

    Building one raises PlanError on duplicate ids, unknown Refs, cycles, unknown or missing
    arguments and kinds that do not fit. Edits give a new, checked Plan.
    """

    tasks: tuple[Task, ...]

    def __post_init__(self) -> None:
        by_id: dict[int, Task] = {}
        for task in self.tasks:
            if task.id in by_id:
                raise PlanError(f"Two tasks of the plan have the id {task.id}.")
            by_id[task.id] = task
        for task in self.tasks:
            _check_args(task, by_id)
        graph = {task.id: task.depends_on for task in self.tasks}
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            ring = " → ".join(str(node) for node in error.args[1])
            raise PlanError(f"Tasks of the plan wait for each other: {ring}.") from error

    def __iter__(self) -> Iterator[Task]:
        return iter(self.tasks)

    def __len__(self) -> int:
        return len(self.tasks)

    def task(self, task_id: int) -> Task:
        """The task of that id. Raises PlanError where there is none."""
        for task in self.tasks:
            if task.id == task_id:
                return task
        raise PlanError(f"The plan has no task {task_id}.")

    @property
    def answers(self) -> tuple[Task, ...]:
        """The tasks whose results were asked for: those nothing depends on, and the wanted."""
        used = {task_id for task in self.tasks for task_id in task.depends_on}
        return tuple(task for task in self.tasks if task.wanted or task.id not in used)

    def with_task(self, task: Task) -> Plan:
        """The plan with one more task."""
        return replace(self, tasks=(*self.tasks, task))

    def without(self, task_id: int) -> Plan:
        """The plan without that task. Raises PlanError where another one needs it."""
        self.task(task_id)
        return replace(self, tasks=tuple(task for task in self.tasks if task.id != task_id))

    def replacing(self, task: Task) -> Plan:
        """The plan with `task` in the place of the one with the same id."""
        self.task(task.id)
        return replace(self, tasks=tuple(task if old.id == task.id else old for old in self.tasks))


def _check_args(task: Task, by_id: dict[int, Task]) -> None:
    label = f"Task {task.id} ({task.type.name})"
    for name, arg in task.args.items():
        if isinstance(arg, tuple) and not (port := task.type.port(name)):
            raise PlanError(f"{label} takes no list for '{name}'.")
        if isinstance(arg, tuple) and port and not port.many:
            raise PlanError(f"{label} takes one {name} at a time.")
    for name, item in task.items():
        if port := task.type.port(name):
            _check_port(label, port, item, by_id)
        elif option := task.type.option(name):
            _check_option(label, option, item)
        else:
            raise PlanError(f"{label} has no argument '{name}'.")
    for port in task.type.ports:
        if port.required and not task.args.get(port.name, ()):
            raise PlanError(f"{label} is missing its {port.name}.")


def _check_port(label: str, port: Port, item: Item, by_id: dict[int, Task]) -> None:
    kinds: tuple[Kind, ...]
    if isinstance(item, Ref):
        if item.task_id not in by_id:
            raise PlanError(f"{label} takes the result of task {item.task_id}, which is not there.")
        kinds = by_id[item.task_id].type.gives
    elif isinstance(item, Artifact):
        kinds = (item.kind,)
    else:
        kinds = (Kind.TEXT,)
    if not set(kinds) & set(port.kinds):
        wanted, given = " or ".join(port.kinds), " or ".join(kinds)
        raise PlanError(f"{label} takes {wanted} as its {port.name}, not {given}.")


def _check_option(label: str, option: Option, item: Item) -> None:
    wanted = type(option.default)
    fits = isinstance(item, wanted) or (wanted is float and isinstance(item, int))
    if not fits or (isinstance(item, bool) and wanted is not bool):
        raise PlanError(f"{label} takes {type_names[wanted]} as its {option.name}.")
    if option.choices and item not in option.choices:
        raise PlanError(f"{label} knows no {option.name} '{item}'.")
