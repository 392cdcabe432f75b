"""What fits what: which results an input takes, and which steps can go on with what there is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Arg, Port, Ref, Task, TaskType
from jarvis_desktop.core.wording import mark
from jarvis_desktop.ui.look import phrases

FITS = mark("Goes on with what there is")
NEEDS_NOTHING = mark("Begins anew")
NEEDS_MORE = mark("Needs something else")
_PLAIN = frozenset({".txt", ".md"})


@dataclass(frozen=True, slots=True)
class Offer:
    """A kind of step that could be added."""

    type: TaskType
    args: dict[str, Arg]
    """What it would take of what there is."""
    group: str
    """FITS, NEEDS_NOTHING or NEEDS_MORE."""

    @property
    def missing(self) -> tuple[Port, ...]:
        """The inputs that it must have and does not get by itself."""
        return missing(self.type, self.args)


def missing(task_type: TaskType, args: dict[str, Arg]) -> tuple[Port, ...]:
    """The inputs that a step must have and are not among `args`."""
    return tuple(port for port in task_type.ports if port.required and not args.get(port.name))


def takes(port: Port, task_type: TaskType) -> bool:
    """Whether an input takes what such a step gives."""
    return not set(port.kinds).isdisjoint(task_type.gives)


def ports_for(target: Task, source: Task) -> list[Port]:
    """The inputs of a step that take the result of another one."""
    return [port for port in target.type.ports if takes(port, source.type)]


def sources_for(plan: Plan, task: Task, port: Port) -> list[Task]:
    """The steps whose results an input of that step can take, in their order.

    None that waits for the step itself.
    """
    later = plan.depending_on({task.id})
    return [other for other in plan if other.id not in later and takes(port, other.type)]


def offers(inventory: Iterable[TaskType], plan: Plan, files: Sequence[Artifact]) -> list[Offer]:
    """All kinds of steps, those first that go on with what there is."""
    groups = (FITS, NEEDS_NOTHING, NEEDS_MORE)
    places = {task.id: place for place, task in enumerate(plan)}

    def rank(offer: Offer) -> tuple[int, int, str]:
        """Those first that go on with the last result."""
        refs = [arg.task_id for arg in offer.args.values() if isinstance(arg, Ref)]
        newest = max((places[task_id] for task_id in refs), default=-1)
        return groups.index(offer.group), -newest, offer.type.called

    return sorted((_offer(item, plan, files) for item in inventory), key=rank)


def given(path: Path, port: Port) -> Artifact:
    """A file as what an input takes; it is looked into only when it is used."""
    kind = phrases.kind_of(path)
    if kind not in port.kinds and Kind.TEXT in port.kinds and path.suffix.lower() in _PLAIN:
        kind = Kind.TEXT
    return Artifact(kind, path=path, name=path.name or str(path))


def _offer(task_type: TaskType, plan: Plan, files: Sequence[Artifact]) -> Offer:
    """Its first input takes the last result that fits, or a file; more is left to the person."""
    ports = [port for port in task_type.ports if port.required]
    if not ports:
        return Offer(task_type, {}, NEEDS_NOTHING)
    last = next((task for task in reversed(plan.tasks) if takes(ports[0], task.type)), None)
    if last is not None:
        return Offer(task_type, {ports[0].name: Ref(last.id)}, FITS)
    file = next((item for item in files if item.kind in ports[0].kinds), None)
    if file is not None:
        return Offer(task_type, {ports[0].name: file}, FITS)
    return Offer(task_type, {}, NEEDS_MORE)
