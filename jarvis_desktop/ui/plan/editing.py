"""Editing a plan before it runs, while it runs, and after it ended: undo, costs, and what fits
what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError, PlanError
from jarvis_desktop.core.expert import Candidate, Status
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Arg, Item, Port, Ref, Task, TaskType
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.pending_turn import Rerun
from jarvis_desktop.ui.plan.controller import PlanController
from jarvis_desktop.ui.plan.descriptions import name_of
from jarvis_desktop.ui.widgets import labels


@dataclass(frozen=True, slots=True)
class PlanVersion:
    """A plan, and the unchanged steps that should run again."""

    plan: Plan
    afresh: frozenset[int] = frozenset()


class PlanDraft:
    """The edited plan of a turn, with undo."""

    def __init__(self, plan: Plan) -> None:
        self.base = plan  # the plan that the turn follows
        self.now = PlanVersion(plan)
        self._past: list[PlanVersion] = []
        self._future: list[PlanVersion] = []

    @property
    def plan(self) -> Plan:
        """The plan as edited."""
        return self.now.plan

    @property
    def is_edited(self) -> bool:
        """Whether it differs from the plan of the turn."""
        return self.now != PlanVersion(self.base)

    @property
    def can_undo(self) -> bool:
        """Whether there is an edit to undo."""
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        """Whether an edit was undone."""
        return bool(self._future)

    def put(self, plan: Plan) -> None:
        """Add an edited plan."""
        ids = {task.id for task in plan}
        self._take(PlanVersion(plan, self.now.afresh & ids))

    def mark(self, task_id: int) -> None:
        """Let a step run again."""
        self._take(replace(self.now, afresh=self.now.afresh | {task_id}))

    def undo(self) -> None:
        """Undo the last edit."""
        if self._past:
            self._future.append(self.now)
            self.now = self._past.pop()

    def redo(self) -> None:
        """Redo the edit that was undone last."""
        if self._future:
            self._past.append(self.now)
            self.now = self._future.pop()

    def rebase(self, plan: Plan) -> None:
        """Follow a new plan of the turn; edits that were not applied yet stay."""
        if plan != self.base:
            untouched = not self.is_edited
            self.base = plan
            if untouched:
                self.now, self._past, self._future = PlanVersion(plan), [], []
            elif plan == self.plan:
                self.now = PlanVersion(plan)

    def handed_over(self) -> None:
        """The turn has taken over the draft: its reruns have started and cannot be undone."""
        self.now = PlanVersion(self.plan)
        self._past = [PlanVersion(version.plan) for version in self._past]
        while self._past and self._past[-1] == self.now:
            self._past.pop()

    def edited(self) -> frozenset[int]:
        """The steps that differ from the turn's plan."""
        before = {task.id: task for task in self.base}
        return frozenset(task.id for task in self.plan if before.get(task.id) != task)

    def again(self, turn: Turn) -> frozenset[int]:
        """The steps that have started in the turn and will start again."""
        begun = turn.results.keys() | turn.running
        same = self.plan.unchanged(self.base, afresh=self.now.afresh)
        return frozenset(task.id for task in self.plan if task.id in begun and task.id not in same)

    def _take(self, version: PlanVersion) -> None:
        if version != self.now:
            self._past.append(self.now)
            self._future.clear()
            self.now = version


def describe_changes(before: Plan, after: Plan) -> list[str]:
    """Describe the differences, one sentence each."""
    was = {task.id: task for task in before}
    now = {task.id: task for task in after}
    lines = [tr("New: {step}.", step=name_of(now[key].type)) for key in now if key not in was]
    lines += [tr("Left out: {step}.", step=name_of(was[key].type)) for key in was if key not in now]
    for key, task in now.items():
        old = was.get(key)
        if old is None or old == task:
            continue
        names = [
            name.replace("_", " ")
            for name in dict.fromkeys((*old.args, *task.args))
            if old.args.get(name) != task.args.get(name)
        ]
        if old.type.name != task.type.name:
            lines.append(
                tr("{new} instead of {old}.", new=name_of(task.type), old=name_of(old.type))
            )
        elif names or old.expert != task.expert:
            what = ", ".join([*names, *([tr("expert")] if old.expert != task.expert else [])])
            lines.append(tr("Changed: {step} ({what}).", step=name_of(task.type), what=what))
    if not lines and [*was] != [*now]:
        lines.append(tr("The order of the steps changed."))
    return lines


FOLLOWS = mark("Uses what is there")
INDEPENDENT = mark("Starts from scratch")
NEEDS_INPUT = mark("Needs something else")
_PLAIN = frozenset({".txt", ".md"})


@dataclass(frozen=True, slots=True)
class StepOffer:
    """A kind of step that could be added."""

    type: TaskType
    args: dict[str, Arg]  # the inputs that the plan and the request provide
    group: str  # FITS, NEEDS_NOTHING or NEEDS_MORE

    @property
    def missing(self) -> tuple[Port, ...]:
        """The required inputs without a value."""
        return missing(self.type, self.args)


def missing(task_type: TaskType, args: dict[str, Arg]) -> tuple[Port, ...]:
    """The required inputs that are not among `args`."""
    return tuple(port for port in task_type.ports if port.required and not args.get(port.name))


def takes(port: Port, task_type: TaskType) -> bool:
    """Whether an input accepts the output of a task type."""
    return not set(port.kinds).isdisjoint(task_type.gives)


def ports_for(target: Task, source: Task) -> list[Port]:
    """The inputs of a step that accept the result of another one."""
    return [port for port in target.type.ports if takes(port, source.type)]


def sources_for(plan: Plan, task: Task, port: Port) -> list[Task]:
    """The steps whose results an input can take, in order; none that depends on the step itself."""
    later = plan.depending_on({task.id})
    return [other for other in plan if other.id not in later and takes(port, other.type)]


def step_offers(
    inventory: Iterable[TaskType], plan: Plan, files: Sequence[Artifact]
) -> list[StepOffer]:
    """All kinds of steps, those first that can use existing results."""
    groups = (FOLLOWS, INDEPENDENT, NEEDS_INPUT)
    places = {task.id: place for place, task in enumerate(plan)}

    def rank(offer: StepOffer) -> tuple[int, int, str]:
        """Sort by group, then by the newest result that is used."""
        refs = [arg.task_id for arg in offer.args.values() if isinstance(arg, Ref)]
        newest = max((places[task_id] for task_id in refs), default=-1)
        return groups.index(offer.group), -newest, offer.type.called

    return sorted((_offer(item, plan, files) for item in inventory), key=rank)


def file_input(path: Path, port: Port) -> Artifact:
    """A file as the artifact for an input; it is only inspected when it is used."""
    kind = labels.kind_of(path)
    if kind not in port.kinds and Kind.TEXT in port.kinds and path.suffix.lower() in _PLAIN:
        kind = Kind.TEXT
    return Artifact(kind, path=path, name=path.name or str(path))


def _offer(task_type: TaskType, plan: Plan, files: Sequence[Artifact]) -> StepOffer:
    """Fill the first input with the last matching result, or with a file."""
    ports = [port for port in task_type.ports if port.required]
    if not ports:
        return StepOffer(task_type, {}, INDEPENDENT)
    last = next((task for task in reversed(plan.tasks) if takes(ports[0], task.type)), None)
    if last is not None:
        return StepOffer(task_type, {ports[0].name: Ref(last.id)}, FOLLOWS)
    file = next((item for item in files if item.kind in ports[0].kinds), None)
    if file is not None:
        return StepOffer(task_type, {ports[0].name: file}, FOLLOWS)
    return StepOffer(task_type, {}, NEEDS_INPUT)


Stage = Literal["shown", "before", "during", "after"]
"""Whether the plan is only shown, waits for approval, is running, or has ended."""

WHOLE_PLAN = -1  # stands for the whole plan in place of a step's id


class PlanEditor(QObject):
    """Edits one plan; an invalid edit is reported and changes nothing."""

    changed = Signal()  # the plan, or what can be done with it, changed
    refused = Signal(int, str)
    """Carries a step's id, or WHOLE, and why an edit is impossible; "" clears the message."""
    message = Signal(str)  # the outcome of an edit
    revised = Signal()  # the plan was changed by an instruction

    def __init__(self, controller: PlanController | None, parent: QObject | None = None) -> None:
        """Without a controller nothing can run: plans are only shown."""
        super().__init__(parent)
        self.controller = controller
        self.stage: Stage = "shown"
        self.revising = False  # whether an instruction is being applied
        self.draft = PlanDraft(Plan(()))
        self._turn: Turn | None = None
        self._asked = 0
        self._handing = False
        self._handed_over: PlanVersion | None = None
        """The version handed to the turn, which has not confirmed it yet."""

    @property
    def plan(self) -> Plan:
        """The plan as edited."""
        return self.draft.plan

    @property
    def open(self) -> bool:
        """Whether the plan can be edited."""
        return self.stage != "shown"

    @property
    def busy(self) -> bool:
        """Whether an instruction is being applied, or a change is being handed to the turn."""
        return self.revising or self._handing

    @property
    def waits(self) -> bool:
        """Whether there are changes that do not run yet."""
        return (
            self.stage in ("during", "after")
            and self.draft.is_edited
            and self.draft.now is not self._handed_over
        )

    def follow(self, turn: Turn, *, reviewed: bool) -> None:
        """Follow a change of the turn; `reviewed` means that its plan waits for approval."""
        assert turn.plan is not None
        if self._turn is None or (self._turn.id and self._turn.id != turn.id):
            self.draft = PlanDraft(turn.plan)
        else:
            self.draft.rebase(turn.plan)
        self._turn = turn
        stage = self._stage(turn, reviewed)
        if stage != self.stage:
            self.stage = stage
            self.changed.emit()

    def again(self) -> frozenset[int]:
        """The steps that will run again because of the edits."""
        return self.draft.again(self._turn) if self._turn and self.waits else frozenset()

    def edited(self) -> frozenset[int]:
        """The steps with edits that do not run yet."""
        return self.draft.edited() if self.open else frozenset()

    # user actions

    def set(self, task_id: int, name: str, arg: Arg | None) -> bool:
        """Set an argument of a step. Return whether that is possible."""
        return self._edit(task_id, lambda plan: plan.with_arg(task_id, name, arg))

    def give_file(self, task_id: int, path: Path) -> bool:
        """Give a file to the input that had one before, or to the first that accepts it."""
        task = self.plan.task(task_id)
        fitted = [(port, file_input(path, port)) for port in task.type.ports]
        fitted = [(port, file) for port, file in fitted if file.kind in port.kinds]
        held = (pair for pair in fitted if isinstance(task.args.get(pair[0].name), Artifact))
        first = next(held, fitted[0] if fitted else None)
        if first is None:
            words = tr("“{step}” cannot work on this file.", step=name_of(task.type))
            self.refused.emit(task_id, words)
            return False
        return self.feed(task_id, first[0], first[1])

    def feed(self, task_id: int, port: Port, item: Item) -> bool:
        """Give an input an item; one that takes several keeps the others."""
        before = self.plan.task(task_id).args.get(port.name, ())
        held = before if isinstance(before, tuple) else (before,)
        arg = (*(each for each in held if each != item), item) if port.many else item
        return self.set(task_id, port.name, arg)

    def connect_steps(self, source: int, target: int, port: Port | None = None) -> bool:
        """Pass the result of one step to another, to the given input or the first that fits."""
        giver, taker = self.plan.task(source), self.plan.task(target)
        ports = ports_for(taker, giver)
        if port is None and not ports:
            kind = tr(labels.KINDS[giver.type.gives[0]])
            words = tr("“{step}” takes no {kind}.", step=name_of(taker.type), kind=kind)
            self.refused.emit(target, words)
            return False
        return self.feed(target, port or ports[0], Ref(source))

    def choose_expert(self, task_id: int, expert: str) -> bool:
        """Pin the expert of a step; "" leaves the choice to JARVIS."""
        return self._edit(task_id, lambda plan: plan.pinned(task_id, expert))

    def remove(self, task_id: int) -> bool:
        """Remove a step, and those that depend on it."""

        def left(plan: Plan) -> Plan:
            rest = plan.without(task_id, cascade=True)
            if not len(rest):
                raise InputError(tr("Nothing would be left of the plan."))
            return rest

        return self._edit(task_id, left)

    def add(self, task_type: TaskType, args: dict[str, Arg]) -> bool:
        """Add a step at the end."""
        return self._edit(WHOLE_PLAN, lambda plan: plan.add(task_type, args))

    def move(self, task_id: int, by: int) -> bool:
        """Move a step earlier (-1) or later (1)."""
        order = [task.id for task in self.plan]
        at = order.index(task_id) + by
        if not 0 <= at < len(order):
            return False
        rest = [each for each in order if each != task_id]
        before = rest[at] if at < len(rest) else None
        return self._edit(task_id, lambda plan: plan.moved(task_id, before=before))

    def can_run_afresh(self, task_id: int) -> bool:
        """Whether a step has started, so that it can run again."""
        if self._turn is None or self.stage not in ("during", "after"):
            return False
        result = self._turn.results.get(task_id)
        ended = result is not None and result.status is not Status.SKIPPED
        return self.stage == "after" or ended or task_id in self._turn.running

    def run_afresh(self, task_id: int) -> None:
        """Let an unchanged step run again."""
        if self.can_run_afresh(task_id) and not self.busy:
            self.draft.mark(task_id)
            self._settle(task_id)

    def undo(self) -> None:
        """Undo the last edit."""
        if self.open and self.draft.can_undo and not self.busy:
            self.draft.undo()
            self._settle(WHOLE_PLAN)

    def redo(self) -> None:
        """Redo the edit that was undone last."""
        if self.open and self.draft.can_redo and not self.busy:
            self.draft.redo()
            self._settle(WHOLE_PLAN)

    def drop(self) -> None:
        """Drop all edits that do not run yet."""
        if self.draft.is_edited:
            self.draft = PlanDraft(self.draft.base)
            self.refused.emit(WHOLE_PLAN, "")
            self.changed.emit()

    def revise(self, words: str) -> None:
        """Change the plan by an instruction."""
        if not words.strip() or self.busy or not (self.controller and self.open):
            return
        before = self.plan

        def revised(outcome: Outcome) -> None:
            self.revising = False
            if outcome.error:
                self.refused.emit(WHOLE_PLAN, str(outcome.error))
            elif isinstance(outcome.value, Plan):
                made = describe_changes(before, outcome.value)
                self.draft.put(outcome.value)
                self._settle(WHOLE_PLAN)
                self.message.emit(" ".join(made) if made else tr("Nothing changed."))
                self.revised.emit()
            self.changed.emit()

        self.revising = True
        self.refused.emit(WHOLE_PLAN, "")
        self.changed.emit()
        self.controller.revise(before, words, revised)

    def ask_experts(self, task_id: int, then: Callable[[list[Candidate], str], None]) -> None:
        """Pass the experts for a step, best first, or an error to `then`; a newer call wins."""
        if self.controller is None:
            return
        self._asked += 1
        number = self._asked

        def answered(outcome: Outcome) -> None:
            if number == self._asked:
                then(list(outcome.value or ()), str(outcome.error or ""))

        self.controller.ask_experts(self.plan.task(task_id), answered)

    def choose_file(self, asker: QWidget, then: Callable[[Path], None]) -> None:
        """Let the user choose a file."""
        if self.controller:
            self.controller.choose_file(asker, then)

    def approve(self) -> Plan:
        """Return the plan as edited; the turn follows it from now on."""
        self._handed_over = self.draft.now
        return self.plan

    def carry_out(self) -> None:
        """Apply the changes: to a running turn at once, else in a new turn."""
        if not (self.controller and self._turn and self.waits) or self.busy:
            return
        again = Rerun(self._turn, self.plan, self.draft.now.afresh)
        if self.stage == "after":
            self.draft = PlanDraft(self.draft.base)
            self.changed.emit()
            self.controller.run_again(again)
            return
        self._handing = True
        self._handed_over = self.draft.now
        self.changed.emit()
        self.controller.change(again, self._taken)

    def _taken(self, outcome: Outcome) -> None:
        self._handing = False
        if outcome.value:
            self.draft.handed_over()
        self._handed_over = self.draft.now if outcome.value else None
        if outcome.error:
            self.refused.emit(WHOLE_PLAN, str(outcome.error))
        elif outcome.value is False:
            # the edit stays, and can run as a new turn
            self.message.emit(tr("This has just ended. You can run the changed plan again."))
        self.changed.emit()

    def _edit(self, task_id: int, make: Callable[[Plan], Plan]) -> bool:
        if not self.open or self.busy:
            return False
        try:
            edited = make(self.plan)
        except (InputError, PlanError) as error:
            self.refused.emit(task_id, str(error))
            return False
        self.draft.put(edited)
        self._settle(task_id)
        return True

    def _settle(self, task_id: int) -> None:
        """Show the edited plan, and apply it to a running turn if no finished step runs again."""
        self.refused.emit(task_id, "")
        self.changed.emit()
        if self.stage == "during" and self.draft.is_edited and not self.again() - {task_id}:
            self.carry_out()

    def _stage(self, turn: Turn, reviewed: bool) -> Stage:
        if self.controller is None or turn.agentic:
            return "shown"
        if reviewed and turn.status is None:
            return "before"
        if turn.status is None:
            return "during" if self.controller.runs(turn) else "shown"
        return "after"
