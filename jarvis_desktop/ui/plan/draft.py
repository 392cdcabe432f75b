"""A plan as the person edits it: every edit can be taken back, and it is known what it costs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.plan.telling import name_of


@dataclass(frozen=True, slots=True)
class Version:
    """A plan, and what of it is to be done once more although it did not change."""

    plan: Plan
    afresh: frozenset[int] = frozenset()


class Draft:
    """Begins as the plan of a turn."""

    def __init__(self, plan: Plan) -> None:
        self.base = plan
        """What the turn goes by."""
        self.now = Version(plan)
        self._past: list[Version] = []
        self._future: list[Version] = []

    @property
    def plan(self) -> Plan:
        """As it stands now."""
        return self.now.plan

    @property
    def is_edited(self) -> bool:
        """Whether it is another one than that of the turn."""
        return self.now != Version(self.base)

    @property
    def can_undo(self) -> bool:
        """Whether there is an edit to take back."""
        return bool(self._past)

    @property
    def can_redo(self) -> bool:
        """Whether an edit was taken back."""
        return bool(self._future)

    def put(self, plan: Plan) -> None:
        """Take an edited plan."""
        ids = {task.id for task in plan}
        self._take(Version(plan, self.now.afresh & ids))

    def mark(self, task_id: int) -> None:
        """Have a step done once more."""
        self._take(replace(self.now, afresh=self.now.afresh | {task_id}))

    def undo(self) -> None:
        """Take the last edit back."""
        if self._past:
            self._future.append(self.now)
            self.now = self._past.pop()

    def redo(self) -> None:
        """Make the edit again that was taken back last."""
        if self._future:
            self._past.append(self.now)
            self.now = self._future.pop()

    def rebase(self, plan: Plan) -> None:
        """The turn goes by this plan now. What the person has not handed over yet stays."""
        if plan != self.base:
            untouched = not self.is_edited
            self.base = plan
            if untouched:
                self.now, self._past, self._future = Version(plan), [], []
            elif plan == self.plan:
                self.now = Version(plan)

    def handed_over(self) -> None:
        """The turn goes on with all of it: what was marked is under way, and cannot be undone."""
        self.now = Version(self.plan)
        self._past = [Version(version.plan) for version in self._past]
        while self._past and self._past[-1] == self.now:
            self._past.pop()

    def edited(self) -> frozenset[int]:
        """The steps that are not as they are in the turn's plan."""
        before = {task.id: task for task in self.base}
        return frozenset(task.id for task in self.plan if before.get(task.id) != task)

    def again(self, turn: Turn) -> frozenset[int]:
        """The steps that have run in the turn, or do so now, and are to begin anew."""
        begun = turn.results.keys() | turn.running
        same = self.plan.unchanged(self.base, afresh=self.now.afresh)
        return frozenset(task.id for task in self.plan if task.id in begun and task.id not in same)

    def _take(self, version: Version) -> None:
        if version != self.now:
            self._past.append(self.now)
            self._future.clear()
            self.now = version


def changes(before: Plan, after: Plan) -> list[str]:
    """What is different, a sentence each."""
    was = {task.id: task for task in before}
    now = {task.id: task for task in after}
    told = [tr("New: {step}.", step=name_of(now[key].type)) for key in now if key not in was]
    told += [tr("Left out: {step}.", step=name_of(was[key].type)) for key in was if key not in now]
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
            told.append(
                tr(
                    "{new} in the place of {old}.",
                    new=name_of(task.type),
                    old=name_of(old.type),
                )
            )
        elif names or old.expert != task.expert:
            what = ", ".join([*names, *([tr("expert")] if old.expert != task.expert else [])])
            told.append(tr("Changed: {step} ({what}).", step=name_of(task.type), what=what))
    if not told and [*was] != [*now]:
        told.append(tr("The order of the steps changed."))
    return told
