"""Plans: tasks that refer to one another, checked as a whole when built."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from typing import Literal

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError, PlanError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.task import Arg, Item, Port, Ref, Task, TaskOption, TaskType, type_names

Ask = Literal["always", "larger", "never"]
"""Which plans the user wants to review before they run."""

MAX_SIMPLE_STEPS = 3
"""The maximum number of steps of a simple plan."""
SIMPLE = mark(
    "Plans of at most three steps run without asking, unless a step does something outside of "
    "JARVIS, such as saving or opening a file, or makes it forget something."
)
"""The rule of `is_simple`, for the user."""


@contextmanager
def _an_edit() -> Iterator[None]:
    """Turn an invalid plan into an InputError: the user's edit was wrong."""
    try:
        yield
    except PlanError as error:
        raise InputError(error.message) from error


@dataclass(frozen=True, slots=True)
class Plan:
    """Tasks in the order they were planned.

    Building one raises PlanError on duplicate ids, unknown Refs, cycles, unknown or missing
    arguments and kinds that do not fit. Edits return a new, checked Plan; they raise InputError if
    there is no such task or the result is invalid.
    """

    tasks: tuple[Task, ...]
    undone: tuple[str, ...] = ()
    """Words of the request that ask for something besides, which no task does."""

    def __post_init__(self) -> None:
        by_id: dict[int, Task] = {}
        for task in self.tasks:
            if task.id in by_id:
                raise PlanError(tr("Two tasks of the plan have the id {id}.", id=task.id))
            by_id[task.id] = task
        for task in self.tasks:
            _check_args(task, by_id)
        graph = {task.id: task.depends_on for task in self.tasks}
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            ring = " → ".join(str(node) for node in error.args[1])
            raise PlanError(
                tr("Tasks of the plan wait for each other: {ring}.", ring=ring)
            ) from error

    def __iter__(self) -> Iterator[Task]:
        return iter(self.tasks)

    def __len__(self) -> int:
        return len(self.tasks)

    def task(self, task_id: int) -> Task:
        """Return the task of that id. Raises PlanError if there is none."""
        for task in self.tasks:
            if task.id == task_id:
                return task
        raise PlanError(tr("The plan has no task {task_id}.", task_id=task_id))

    @property
    def answers(self) -> tuple[Task, ...]:
        """The tasks whose results were asked for: wanted ones, and those nothing depends on."""
        used = {task_id for task in self.tasks for task_id in task.depends_on}
        return tuple(task for task in self.tasks if task.wanted or task.id not in used)

    def with_task(self, task: Task) -> Plan:
        """Return the plan with one more task."""
        return replace(self, tasks=(*self.tasks, task))

    def replacing(self, task: Task) -> Plan:
        """Return the plan with `task` instead of the one with the same id."""
        self.task(task.id)
        return replace(self, tasks=tuple(task if old.id == task.id else old for old in self.tasks))

    def depending_on(self, task_ids: Collection[int]) -> frozenset[int]:
        """Return those of these tasks that exist, and all that depend on them."""
        found = {task.id for task in self.tasks if task.id in task_ids}
        while more := {
            task.id for task in self.tasks if task.id not in found and found & {*task.depends_on}
        }:
            found |= more
        return frozenset(found)

    def unchanged(self, before: Plan, *, afresh: Collection[int] = ()) -> frozenset[int]:
        """Return the tasks that do the same as in `before`, and so do their inputs.

        Order and `wanted` do not count. Tasks in `afresh` are run again and count as changed.
        """
        was = {task.id: replace(task, wanted=False) for task in before}
        ids = {task.id for task in self.tasks}
        changed = {
            task.id for task in self.tasks if was.get(task.id) != replace(task, wanted=False)
        }
        return frozenset(ids) - self.depending_on(changed.union(afresh))

    @_an_edit()
    def add(self, task_type: TaskType, args: Mapping[str, Arg]) -> Plan:
        """Return the plan with one more task at the end, under an unused id."""
        fresh = max((task.id for task in self.tasks), default=-1) + 1
        return self.with_task(Task(fresh, task_type, dict(args)))

    @_an_edit()
    def with_arg(self, task_id: int, name: str, arg: Arg | None) -> Plan:
        """Return the plan with an argument of a task changed.

        `arg` is a value, a file, the result of another task, or several; None removes it.
        """
        task = self.task(task_id)
        others = {key: item for key, item in task.args.items() if key != name}
        args = others if arg is None else {**task.args, name: arg}
        return self.replacing(replace(task, args=args))

    @_an_edit()
    def without(self, task_id: int, *, cascade: bool = False) -> Plan:
        """Return the plan without that task; tasks that used its result lose that input.

        Tasks that require it are removed too with `cascade`, otherwise the error names them.
        """
        self.task(task_id)
        gone = {task_id}
        while lost := [task for task in self.tasks if task.id not in gone and _needs(task, gone)]:
            if not cascade:
                raise InputError(
                    tr(
                        "“{step}” cannot be left out alone: {others} needs its result.",
                        step=self.task(task_id).type.called,
                        others=", ".join(f"“{task.type.called}”" for task in lost),
                    )
                )
            gone |= {task.id for task in lost}
        left = (task for task in self.tasks if task.id not in gone)
        return replace(self, tasks=tuple(_doing_without(task, gone) for task in left))

    @_an_edit()
    def moved(self, task_id: int, *, before: int | None) -> Plan:
        """Return the plan with the task before another one, or last; each stays after its
        inputs."""
        task = self.task(task_id)
        if before == task_id:
            return self
        order = [each for each in self.tasks if each.id != task_id]
        at = len(order) if before is None else order.index(self.task(before))
        first, then = order[:at], order[at:]
        for other in then:
            if other.id in task.depends_on:
                raise _out_of_order(task, other)
        for other in first:
            if task_id in other.depends_on:
                raise _out_of_order(other, task)
        return replace(self, tasks=(*first, task, *then))

    @_an_edit()
    def pinned(self, task_id: int, expert: str) -> Plan:
        """Return the plan with an expert chosen for a task; "" leaves the choice to JARVIS."""
        return self.replacing(replace(self.task(task_id), expert=expert))


def is_simple(plan: Plan) -> bool:
    """Whether a plan is small and does nothing that the user should review first.

    Where its steps run does not matter: the mode is the consent to send data away, and a download
    is confirmed separately.
    """
    return len(plan) <= MAX_SIMPLE_STEPS and not any(task.type.guarded for task in plan)


def is_asked_about(plan: Plan, ask: Ask) -> bool:
    """Whether the user reviews the plan before it runs."""
    return ask == "always" or (ask == "larger" and not is_simple(plan))


def _needs(task: Task, gone: Set[int]) -> bool:
    """Whether a task lacks a required input without those results."""
    rest = _doing_without(task, gone).args
    return any(port.required and port.name not in rest for port in task.type.ports)


def _doing_without(task: Task, gone: Set[int]) -> Task:
    """Return the task without those results."""
    if gone.isdisjoint(task.depends_on):
        return task
    args: dict[str, Arg] = {}
    for name, arg in task.args.items():
        given = arg if isinstance(arg, tuple) else (arg,)
        left = tuple(item for item in given if not (isinstance(item, Ref) and item.task_id in gone))
        if left:
            args[name] = left if isinstance(arg, tuple) else left[0]
    return replace(task, args=args)


def _out_of_order(task: Task, other: Task) -> InputError:
    return InputError(
        tr(
            "“{step}” takes the result of “{other}”, so it must come after it.",
            step=task.type.called,
            other=other.type.called,
        )
    )


def _check_args(task: Task, by_id: dict[int, Task]) -> None:
    label = f"Task {task.id} ({task.type.name})"
    for name, arg in task.args.items():
        if isinstance(arg, tuple) and not (port := task.type.port(name)):
            raise PlanError(tr("{label} takes no list for '{name}'.", label=label, name=name))
        if isinstance(arg, tuple) and port and not port.many:
            raise PlanError(tr("{label} takes one {name} at a time.", label=label, name=name))
    for name, item in task.items():
        if port := task.type.port(name):
            _check_port(label, port, item, by_id)
        elif option := task.type.option(name):
            _check_option(label, option, item)
        else:
            raise PlanError(tr("{label} has no argument '{name}'.", label=label, name=name))
    for port in task.type.ports:
        if port.required and not task.args.get(port.name, ()):
            raise PlanError(tr("{label} is missing its {name}.", label=label, name=port.name))


def _check_port(label: str, port: Port, item: Item, by_id: dict[int, Task]) -> None:
    kinds: tuple[Kind, ...]
    if isinstance(item, Ref):
        if item.task_id not in by_id:
            raise PlanError(
                tr(
                    "{label} takes the result of task {task_id}, which is not there.",
                    label=label,
                    task_id=item.task_id,
                )
            )
        kinds = by_id[item.task_id].type.gives
    elif isinstance(item, Artifact):
        kinds = (item.kind,)
    else:
        kinds = (Kind.TEXT,)
    if not set(kinds) & set(port.kinds):
        wanted, given = " or ".join(port.kinds), " or ".join(kinds)
        raise PlanError(
            tr(
                "{label} takes {wanted} as its {name}, not {given}.",
                label=label,
                wanted=wanted,
                name=port.name,
                given=given,
            )
        )


def _check_option(label: str, option: TaskOption, item: Item) -> None:
    wanted = type(option.default)
    fits = isinstance(item, wanted) or (wanted is float and isinstance(item, int))
    if not fits or (isinstance(item, bool) and wanted is not bool):
        raise PlanError(
            tr(
                "{label} takes {type_names} as its {name}.",
                label=label,
                type_names=tr(type_names[wanted]),
                name=option.name,
            )
        )
    if option.choices and item not in option.choices:
        raise PlanError(
            tr("{label} knows no {name} '{item}'.", label=label, name=option.name, item=item)
        )
