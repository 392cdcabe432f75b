"""What a search can be narrowed to: a menu, and the words for what is chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.storage.filters import EVERYTHING, Filters
from jarvis_desktop.ui.look import icons

KINDS = {
    Kind.IMAGE: mark("Pictures"),
    Kind.AUDIO: mark("Sounds"),
    Kind.VIDEO: mark("Films"),
    Kind.TABLE: mark("Tables"),
    Kind.DOCUMENT: mark("Documents"),
}
DAYS = {
    0: mark("Today"),
    6: mark("Last seven days"),
    29: mark("Last 30 days"),
    364: mark("Last year"),
}
"""How many days before today a search may reach, and what that is called."""
EXPERTS = 15
"""Experts that are offered, the most used."""


class FilterMenu(QMenu):
    """Offers what a search can be narrowed to."""

    changed = Signal(object)
    """Carries the Filters that are chosen now."""

    def __init__(self, parent: QWidget, today: Callable[[], date] = date.today) -> None:
        super().__init__(parent)
        self.filters = EVERYTHING
        self._today = today
        self.setObjectName("filters")
        self.setAccessibleName(tr("Filters"))
        kinds = QActionGroup(self)
        kinds.setExclusionPolicy(QActionGroup.ExclusionPolicy.ExclusiveOptional)
        self._kinds = {
            kind: self._offer(tr(words), icons.FOR_KIND[kind], kinds)
            for kind, words in KINDS.items()
        }
        self.addSeparator()
        self.attached = self._offer(tr("With something attached"), "attach")
        self.pinned = self._offer(tr("Pinned"), "pin")
        self.addSeparator()
        days = QActionGroup(self)
        days.setExclusionPolicy(QActionGroup.ExclusionPolicy.ExclusiveOptional)
        self._days = {count: self._offer(tr(words), "", days) for count, words in DAYS.items()}
        self._experts = self.addMenu(icons.icon("goal", "muted"), tr("Expert"))
        self._experts.menuAction().setVisible(False)
        self._named: dict[str, QAction] = {}
        self.addSeparator()
        self.none = self.addAction(tr("Without filters"))
        self.none.triggered.connect(self.clear_all)

    def offer_experts(self, names: Sequence[str]) -> None:
        """Offer the experts that did something."""
        chosen = self.filters.experts
        self._experts.clear()
        group = QActionGroup(self._experts)
        group.setExclusionPolicy(QActionGroup.ExclusionPolicy.ExclusiveOptional)
        self._named = {}
        for name in names[:EXPERTS]:
            action = QAction(one_line(name, limit=60).replace("&", "&&"), self._experts)
            action.setCheckable(True)
            action.setChecked(name in chosen)
            group.addAction(action)
            self._experts.addAction(action)
            action.triggered.connect(self._choose)
            self._named[name] = action
        self._experts.menuAction().setVisible(bool(names))

    def clear_all(self) -> None:
        """Let everything pass."""
        for action in (*self._kinds.values(), *self._days.values(), *self._named.values()):
            action.setChecked(False)
        self.attached.setChecked(False)
        self.pinned.setChecked(False)
        self._choose()

    def _offer(self, words: str, icon: str, group: QActionGroup | None = None) -> QAction:
        action = self.addAction(words)
        if icon:
            action.setIcon(icons.icon(icon, "muted"))
        action.setCheckable(True)
        if group:
            group.addAction(action)
        action.triggered.connect(self._choose)
        return action

    def _choose(self) -> None:
        kind = next((kind for kind, item in self._kinds.items() if item.isChecked()), None)
        days = next((count for count, item in self._days.items() if item.isChecked()), None)
        self.filters = Filters(
            kind,
            tuple(name for name, item in self._named.items() if item.isChecked()),
            self.attached.isChecked(),
            self.pinned.isChecked(),
            None if days is None else self._today() - timedelta(days=days),
        )
        self.none.setEnabled(bool(self.filters))
        self.changed.emit(self.filters)

    def words(self) -> str:
        """What is chosen, in few words."""
        days = (words for count, words in DAYS.items() if self._days[count].isChecked())
        said = [tr(KINDS[self.filters.kind])] if self.filters.kind else []
        said += [one_line(name, limit=40) for name in self.filters.experts]
        said += [tr("Attached")] * self.filters.attached + [tr("Pinned")] * self.filters.pinned
        said += map(tr, days)
        return " · ".join(said)
