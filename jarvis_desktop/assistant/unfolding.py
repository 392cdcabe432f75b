"""The calls that a task stands for: its inputs resolved, one call per item where it takes one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod

from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.result import TaskResult
from jarvis_desktop.core.task import Item, Port, Ref, Task, Value
from jarvis_desktop.core.wording import tr

MOST_CALLS = 100
"""A single-item port that is given a list makes one call per item; more than this is refused."""


def options_of(task: Task) -> dict[str, Value]:
    """The task's options, those that it leaves open with their defaults."""
    values = {option.name: option.default for option in task.type.options}
    for name, item in task.items():
        if name in values and not isinstance(item, Artifact | Ref):
            values[name] = item
    return values


def calls_of(
    task: Task, results: Mapping[int, TaskResult]
) -> Sequence[dict[str, tuple[Artifact, ...]]]:
    """The inputs of each call: one call, or one per item where a single-item port gets a list.

    Raises ExpertError where that would be too many, or a result it needs is of another kind.
    """
    given: dict[str, list[Artifact]] = {port.name: [] for port in task.type.ports}
    for name, item in task.items():
        if port := task.type.port(name):
            given[name] += _artifacts(port, item, results)
    ports = [port for port in task.type.ports if given[port.name]]
    choices = [
        [tuple(given[port.name])] if port.many else [(item,) for item in given[port.name]]
        for port in ports
    ]
    if (count := prod(map(len, choices))) > MOST_CALLS:
        raise ExpertError(
            tr(
                "That would be {count} calls; the most is {most_calls}.",
                count=count,
                most_calls=MOST_CALLS,
            )
        )
    names = [port.name for port in ports]
    return [dict(zip(names, combination, strict=True)) for combination in product(*choices)]


def _artifacts(port: Port, item: Item, results: Mapping[int, TaskResult]) -> tuple[Artifact, ...]:
    if isinstance(item, Artifact):
        return (item,)
    if not isinstance(item, Ref):
        return (text_artifact(str(item)),)
    found = results[item.task_id].of_kind(port.kinds)
    if not found:
        wanted = " or ".join(port.kinds)
        raise ExpertError(tr("The task before it gave no {wanted}.", wanted=wanted))
    return found
