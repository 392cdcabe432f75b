"""The plan as a list with one compact row per step, and the menu of a step.

Everything the graph shows is in the list, and every action is in the menu, so no mouse is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from PySide6.QtCore import QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QAction, QContextMenuEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QMenu, QPushButton, QWidget
from shiboken6 import isValid

from jarvis_desktop.core.display import one_line, readable_size
from jarvis_desktop.core.expert import Candidate
from jarvis_desktop.core.i18n import tr, trn
from jarvis_desktop.core.placement import MB
from jarvis_desktop.core.task import Port, Task, as_words
from jarvis_desktop.ui.plan.descriptions import CardState, name_of
from jarvis_desktop.ui.plan.editing import PlanEditor, sources_for
from jarvis_desktop.ui.widgets import icons, theme
from jarvis_desktop.ui.widgets.forms import progress_bar, reword
from jarvis_desktop.ui.widgets.icons import IconButton, StateIcon
from jarvis_desktop.ui.widgets.labels import ElidedLabel, Label
from jarvis_desktop.ui.widgets.layout import discard, hbox, vbox

INITIAL_ROWS = 40
DETAILS_INDENT = 26


class TaskRow(QWidget):
    """One task: its state, name, subject, expert, progress, time, and why it failed."""

    opened = Signal(int)
    menu_wanted = Signal(int, QPointF)
    key_pressed = Signal(int, QKeyEvent)

    def __init__(self, step: CardState) -> None:
        super().__init__()
        self.setObjectName("steprow")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.step = step
        self._drawn: CardState | None = None
        self._details: QWidget | None = None
        self._outer = outer = vbox(parent=self, margins=(2, 1, 2, 1), spacing=2)
        self.icon = StateIcon()
        self.name = Label(step.name)
        self.subject = ElidedLabel(role="small")
        self.expert = ElidedLabel(role="small", widest=190)
        self.progress = progress_bar(tr("Progress"))
        self.progress.setFixedWidth(88)
        self.progress.hide()
        self.elapsed = Label(role="small")
        self.elapsed.setMinimumWidth(44)
        self.elapsed.setAlignment(Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter)
        self.toggle = IconButton("right", "", kind="tiny")
        self.toggle.clicked.connect(lambda: self.opened.emit(self.step.task_id))
        keep = self.toggle.sizePolicy()
        keep.setRetainSizeWhenHidden(True)
        self.toggle.setSizePolicy(keep)
        self.toggle.hide()
        line = hbox(self.icon, self.name, (self.subject, 1), spacing=theme.space())
        for widget in (self.expert, self.progress, self.elapsed, self.toggle):
            line.addWidget(widget)
        outer.addLayout(line)
        self.reason = Label(role="warning", wrap=True)
        self.reason.setContentsMargins(DETAILS_INDENT, 0, DETAILS_INDENT, 2)
        self.reason.hide()
        outer.addWidget(self.reason)
        self._name_toggle()

    def show_step(self, step: CardState, time: str, *, has_more: bool) -> None:
        """Show the state of the step; `has_more` offers its details."""
        self.elapsed.setText(time)
        self.toggle.setVisible(has_more)
        if step == self._drawn:
            return
        self.step = self._drawn = step
        self.icon.show_state(step.state)
        self.name.setText(step.name)
        self.subject.show_text(step.draft or step.subject, end=bool(step.draft))
        changed = tr("runs again") if step.again else tr("changed") if step.edited else ""
        self.expert.show_text(" · ".join(part for part in (changed, step.expert) if part))
        self.progress.setVisible(step.fraction is not None)
        if step.fraction is not None:
            self.progress.setValue(round(100 * step.fraction))
        self.reason.show_or_hide(step.trouble)
        self.setAccessibleName(step.spoken)
        self._name_toggle()

    def show_details(self, details: QWidget | None) -> None:
        """Show a widget below the row; None removes it."""
        if self._details is not None:
            self._details.hide()
            self._outer.removeWidget(self._details)
        self._details = details
        if details is not None:
            self._outer.addWidget(details)
            details.show()
        self._name_toggle()

    def _name_toggle(self) -> None:
        step = self.step.name
        if self._details is None:
            self.toggle.show_icon(
                "right", tr("Show the details of {step}", step=step), tip=tr("Show the details")
            )
        else:
            self.toggle.show_icon(
                "down", tr("Hide the details of {step}", step=step), tip=tr("Hide the details")
            )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The list handles the keys, because it knows the other rows."""
        event.ignore()
        self.key_pressed.emit(self.step.task_id, event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.menu_wanted.emit(self.step.task_id, QPointF(event.globalPos()))


class PlanListView(QWidget):
    """All rows."""

    opened = Signal(int)
    menu_wanted = Signal(int, QPointF)
    remove_wanted = Signal(int)
    move_wanted = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        self._rows: dict[int, TaskRow] = {}
        self._shown = INITIAL_ROWS
        self._again: Callable[[], None] = lambda: None
        self.more = QPushButton()
        self.more.setProperty("kind", "quiet")
        self.more.clicked.connect(self._show_more)
        self.more.setAccessibleName(tr("Show more steps"))
        self.more.hide()
        self._layout = vbox((self.more, Qt.AlignmentFlag.AlignLeading), parent=self, spacing=4)

    def rows(self) -> Iterator[TaskRow]:
        """The visible rows."""
        return iter(self._rows.values())

    def row(self, task_id: int) -> TaskRow | None:
        """The row of a step, if it is visible."""
        return self._rows.get(task_id)

    def show_plan(
        self, steps: Sequence[CardState], times: Mapping[int, str], *, more: frozenset[int]
    ) -> None:
        """Show the steps; those in `more` have details."""
        self._again = lambda: self.show_plan(steps, times, more=more)
        shown = steps[: self._shown]
        there = {step.task_id for step in shown}
        for task_id in self._rows.keys() - there:
            discard(self._rows.pop(task_id))
        for at, step in enumerate(shown):
            row = self._rows.get(step.task_id)
            if row is None:
                row = self._rows[step.task_id] = self._row(step)
            if self._layout.indexOf(row) != at:
                self._layout.insertWidget(at, row)
            row.show_step(step, times.get(step.task_id, ""), has_more=step.task_id in more)
        self._rows = {step.task_id: self._rows[step.task_id] for step in shown}
        hidden = len(steps) - len(shown)
        self.more.setVisible(hidden > 0)
        reword(self.more, trn("Show {count} more step", "Show {count} more steps", hidden))

    def show_times(self, times: Mapping[int, str]) -> None:
        """Show how long running steps have taken."""
        for task_id, words in times.items():
            if row := self._rows.get(task_id):
                row.elapsed.setText(words)

    def focus_step(self, task_id: int) -> None:
        """Focus a row."""
        if row := self._rows.get(task_id):
            row.setFocus(Qt.FocusReason.OtherFocusReason)

    def _row(self, step: CardState) -> TaskRow:
        row = TaskRow(step)
        row.opened.connect(self.opened)
        row.menu_wanted.connect(self.menu_wanted)
        row.key_pressed.connect(self._key)
        return row

    def _show_more(self) -> None:
        self._shown += 5 * INITIAL_ROWS
        self._again()

    def _key(self, task_id: int, event: QKeyEvent) -> None:
        key, order = event.key(), [*self._rows]
        at = order.index(task_id)
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            by = -1 if key == Qt.Key.Key_Up else 1
            if event.modifiers() & Qt.KeyboardModifier.AltModifier:
                self.move_wanted.emit(task_id, by)
            elif 0 <= at + by < len(order):
                self.focus_step(order[at + by])
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self.focus_step(order[0 if key == Qt.Key.Key_Home else -1])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space, Qt.Key.Key_F2):
            self.opened.emit(task_id)
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.remove_wanted.emit(task_id)
        elif key == Qt.Key.Key_Menu or (
            key == Qt.Key.Key_F10 and event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        ):
            row = self._rows[task_id]
            corner = row.mapToGlobal(QPoint(DETAILS_INDENT, row.height()))
            self.menu_wanted.emit(task_id, QPointF(corner))
        else:
            return
        event.accept()


MAX_EXPERTS = 20


def step_menu(
    editor: PlanEditor, task_id: int, parent: QWidget, *, open_step: Callable[[], None]
) -> QMenu:
    """The menu of a step; it deletes itself when it closes."""
    menu = plain_menu(parent, tr("Actions for this step"))
    task = editor.plan.task(task_id)
    _add(menu, "edit", tr("Look at it or change it"), open_step, "Return")
    if not editor.open:
        return menu
    if editor.can_run_afresh(task_id):
        _add(menu, "refresh", tr("Run this again"), partial(editor.run_afresh, task_id))
    for port in task.type.ports:
        if choices := sources_for(editor.plan, task, port):
            label = tr("Take as {input}", input=tr(as_words(port.name)))
            inputs = menu.addMenu(
                icons.icon(icons.FOR_KIND[port.kinds[0]], "muted"), menu_text(label)
            )
            fill_inputs(inputs, editor, task, port, choices)
    experts = menu.addMenu(icons.icon("llm", "muted"), menu_text(tr("Expert")))
    experts.addAction(tr("Looking for experts…")).setEnabled(False)
    experts.aboutToShow.connect(partial(_fill_experts, experts, editor, task))
    menu.addSeparator()
    order = [each.id for each in editor.plan]
    earlier = _add(menu, "up", tr("Move earlier"), partial(editor.move, task_id, -1), "Alt+Up")
    earlier.setEnabled(order[0] != task_id)
    later = _add(menu, "down", tr("Move later"), partial(editor.move, task_id, 1), "Alt+Down")
    later.setEnabled(order[-1] != task_id)
    menu.addSeparator()
    remove = _add(menu, "trash", tr("Remove"), partial(editor.remove, task_id), "Delete")
    remove.setEnabled(len(editor.plan) > 1)
    return menu


def fill_inputs(
    menu: QMenu, editor: PlanEditor, task: Task, port: Port, choices: list[Task]
) -> None:
    """List the steps whose results fit an input; those it takes are checked."""
    numbers = {each.id: number for number, each in enumerate(editor.plan, 1)}
    for source in choices:
        words = tr("{number} · {step}", number=numbers[source.id], step=name_of(source.type))
        action = menu.addAction(menu_text(words))
        action.setCheckable(True)
        held = task.args.get(port.name, ())
        refs = held if isinstance(held, tuple) else (held,)
        action.setChecked(any(getattr(item, "task_id", None) == source.id for item in refs))
        action.triggered.connect(partial(editor.connect_steps, source.id, task.id, port))


def describe_expert(candidate: Candidate) -> str:
    """The name of an expert, its place and its size."""
    expert = candidate.expert
    if candidate.built_in:
        return tr("Built in, on this computer")
    where = tr("on this computer")
    if candidate.own:
        where = tr("on {machine}", machine=one_line(candidate.provider, limit=40))
    elif candidate.remote:
        where = (
            tr("by {provider}, over the network", provider=candidate.provider)
            if candidate.provider and candidate.provider != "auto"
            else tr("over the network")
        )
    parts = [one_line(expert.id, limit=48), where]
    if expert.whole_mb and not candidate.remote:
        parts.append(readable_size(expert.whole_mb * MB))
    return " · ".join(parts)


def plain_menu(parent: QWidget, name: str) -> QMenu:
    """An empty menu that deletes itself when it closes."""
    menu = QMenu(parent)
    menu.setAccessibleName(name)
    menu.aboutToHide.connect(menu.deleteLater)
    return menu


def menu_text(words: str) -> str:
    """Escape words for a menu, in which "&" marks a letter."""
    return one_line(words, limit=90).replace("&", "&&")


def _fill_experts(menu: QMenu, editor: PlanEditor, task: Task) -> None:
    menu.clear()
    menu.addAction(tr("Looking for experts…")).setEnabled(False)
    editor.ask_experts(task.id, partial(_show_experts, menu, editor, task))


def _show_experts(
    menu: QMenu, editor: PlanEditor, task: Task, candidates: list[Candidate], trouble: str
) -> None:
    if not isValid(menu):  # it was closed before the answer came
        return
    menu.clear()
    choices = [("", tr("The best one (JARVIS chooses)"))]
    choices += [(item.kept_as, describe_expert(item)) for item in candidates[:MAX_EXPERTS]]
    for pin, words in choices:
        action = menu.addAction(menu_text(words))
        action.setCheckable(True)
        action.setChecked(pin == task.expert)
        action.triggered.connect(partial(editor.choose_expert, task.id, pin))
    if trouble:
        menu.addAction(menu_text(trouble)).setEnabled(False)


def _add(menu: QMenu, icon: str, words: str, act: Callable[..., object], keys: str = "") -> QAction:
    action = menu.addAction(icons.icon(icon, "muted"), menu_text(words))
    if keys:
        action.setShortcut(QKeySequence(keys))
        action.setShortcutVisibleInContextMenu(True)
    action.triggered.connect(lambda _=False: act())
    return action
