"""One step, close up: what became of it, and all that can be changed about it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.expert import Candidate
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.task import Arg, Task
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation import results
from jarvis_desktop.ui.look import icons, theme
from jarvis_desktop.ui.look.flow import FlowLayout
from jarvis_desktop.ui.look.icons import IconButton, Symbol
from jarvis_desktop.ui.look.section import Choice
from jarvis_desktop.ui.look.text import ElidedLabel, Label
from jarvis_desktop.ui.plan import fitting, telling
from jarvis_desktop.ui.plan.editing import Editing
from jarvis_desktop.ui.plan.fields import PortRow, Row, option_row
from jarvis_desktop.ui.plan.menus import MOST_EXPERTS, described, step_menu

MOST_RESULTS = 20
CELL = 168
"""Pixels of the control of an option."""
LONGEST_REASON = 600


class StepPanel(QFrame):
    """Shows a step of a plan; draw it again whenever the turn or the plan changed."""

    closed = Signal()

    def __init__(self, task_id: int, editing: Editing, actions: Actions) -> None:
        super().__init__()
        self.setObjectName("step")
        self.task_id = task_id
        self._editing = editing
        self._actions = actions
        self._task: Task | None = None
        self._editable = False
        self._shown: tuple[Artifact, ...] = ()
        self.rows: dict[str, Row] = {}
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(theme.space("two"), 12, 12, theme.space("two"))
        self.column.setSpacing(10)
        self.column.addLayout(self._head())
        self.trouble = Label(role="warning", wrap=True)
        self.trouble.hide()
        self.reason = Label(role="warning", wrap=True)
        self.why = Label(role="small", wrap=True)
        for label in (self.reason, self.why):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self.column.addWidget(label)
        self._made = QVBoxLayout()
        self._made.setSpacing(theme.space())
        self.column.addLayout(self._made)
        self._form: QWidget | None = None
        self.expert = Choice(tr("Expert"))
        self.expert.currentIndexChanged.connect(self._chosen)
        self.column.addWidget(self.trouble)
        editing.refused.connect(self._refused)

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(theme.space("half"))
        self.symbol = Symbol("text", "accent", size=20)
        self.title = ElidedLabel(role="strong")
        self.again = IconButton("refresh", tr("Run this again"))
        self.again.clicked.connect(partial(self._editing.run_afresh, self.task_id))
        self.more = IconButton("more", tr("What else can be done with this step"))
        self.more.clicked.connect(self._offer)
        self.remove = IconButton("trash", tr("Remove this step"))
        self.remove.clicked.connect(partial(self._editing.remove, self.task_id))
        self.close_button = IconButton("close", tr("Close"), tip=tr("Close (Esc)"))
        self.close_button.clicked.connect(self.closed)
        row.addWidget(self.symbol)
        row.addSpacing(theme.space("half"))
        row.addWidget(self.title, 1)
        for button in (self.again, self.remove, self.more, self.close_button):
            row.addWidget(button)
        return row

    def draw(self, turn: Turn) -> None:
        """Show how the step is now."""
        plan = self._editing.plan
        task = plan.task(self.task_id)
        number = [each.id for each in plan].index(self.task_id) + 1
        step = telling.name_of(task.type)
        self.title.show_text(tr("{number} · {step}", number=number, step=step))
        self.setAccessibleName(tr("Step {number}, {step}", number=number, step=step))
        if task.type.gives:
            self.symbol.show_icon(icons.FOR_KIND[task.type.gives[0]], "accent")
        reason = telling.reason(turn, self.task_id)[:LONGEST_REASON]
        self.reason.setText(reason)
        self.reason.setVisible(bool(reason))
        why = telling.why(turn, self.task_id)
        self.why.setText(why)
        self.why.setVisible(bool(why))
        self._draw_results(turn)
        editable = self._editing.open
        self.again.setVisible(self._editing.can_run_afresh(self.task_id))
        self.more.setVisible(editable)
        self.remove.setVisible(editable)
        self.remove.setEnabled(len(plan) > 1)
        self.setEnabled(not self._editing.revising)
        if task != self._task or editable != self._editable:
            self._draw_form(task, plan, editable)

    def take_focus(self) -> None:
        """Into the first thing that can be changed."""
        first = next(iter(self.rows.values()), None)
        if first is not None:
            first.take_focus()
        else:
            self.close_button.setFocus()

    def _draw_results(self, turn: Turn) -> None:
        result = turn.results.get(self.task_id)
        made = result.artifacts[:MOST_RESULTS] if result else ()
        if made == self._shown:
            return
        self._shown = made
        while item := self._made.takeAt(0):
            if old := item.widget():
                old.hide()
                old.deleteLater()
        for artifact in made:
            self._made.addWidget(results.card(artifact, self._actions))

    def _draw_form(self, task: Task, plan: Plan, editable: bool) -> None:
        """The fields, unless they show just that already."""
        known = self._task is not None and self._editable == editable
        self._task, self._editable = task, editable
        if known and all(self._holds(row, task) for row in self.rows.values()):
            if self.expert.value != task.expert:
                self._ask_experts(task)
            return
        held = next((name for name, row in self.rows.items() if _has_focus(row)), "")
        if self._form:
            for row in self.rows.values():
                row.blockSignals(True)  # what loses the keyboard here is not entered by that
            self.expert.setParent(None)
            self._form.hide()
            self._form.deleteLater()
            self._form = None
        self.rows = {}
        if editable:
            self._form = self._build_form(task, plan)
            self.column.insertWidget(self.column.count() - 1, self._form)
            self._form.show()
            self._ask_experts(task)
            if held in self.rows:
                self.rows[held].take_focus()

    def _build_form(self, task: Task, plan: Plan) -> QWidget:
        form = QWidget()
        column = QVBoxLayout(form)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        numbers = {each.id: number for number, each in enumerate(plan, 1)}
        for port in task.type.ports:
            sources = fitting.sources_for(plan, task, port)
            numbered = [(numbers[each.id], each) for each in sources]
            arg = task.args.get(port.name)
            row = PortRow(port, arg, numbered, self._editing.choose_file)
            self._take_row(row)
            column.addWidget(row)
        if task.type.options:
            cells = QWidget()
            flow = FlowLayout(cells, gap=12)
            for option in task.type.options:
                arg = task.args.get(option.name, option.default)
                cell = option_row(option, arg if isinstance(arg, str | int | float) else "")
                cell.setFixedWidth(max(CELL, cell.sizeHint().width()))
                self._take_row(cell)
                flow.addWidget(cell)
            column.addWidget(cells)
        column.addWidget(Label(tr("Expert"), role="small"))
        column.addWidget(self.expert)
        return form

    def _take_row(self, row: Row) -> None:
        self.rows[row.name] = row
        row.given.connect(self._given)

    def _holds(self, row: Row, task: Task) -> bool:
        """Whether a row shows what the step takes."""
        arg = task.args.get(row.name)
        option = task.type.option(row.name)
        if option and arg == option.default:
            arg = None
        return _each(row.value) == _each(arg)

    def _given(self, name: str, value: Arg | None) -> None:
        self._editing.set(self.task_id, name, value)

    def _ask_experts(self, task: Task) -> None:
        self._offer_experts(task, [])
        self._editing.ask_experts(self.task_id, self._experts_known)

    def _experts_known(self, candidates: list[Candidate], trouble: str) -> None:
        if self._task:
            self._offer_experts(self._task, candidates)
            self.expert.setAccessibleDescription(one_line(trouble, limit=200))

    def _offer_experts(self, task: Task, candidates: list[Candidate]) -> None:
        choices = [("", tr("The best one (JARVIS chooses)"))]
        choices += [(item.kept_as, described(item)) for item in candidates[:MOST_EXPERTS]]
        if task.expert not in dict(choices):
            choices.append((task.expert, task.expert))
        self.expert.offer(choices, task.expert)

    def _chosen(self) -> None:
        self._editing.choose_expert(self.task_id, str(self.expert.value or ""))

    def _offer(self) -> None:
        menu = step_menu(self._editing, self.task_id, self, open_step=self.take_focus)
        menu.popup(self.more.mapToGlobal(QPoint(0, self.more.height())))

    def _refused(self, task_id: int, words: str) -> None:
        if task_id == self.task_id:
            shown = one_line(words, limit=LONGEST_REASON)
            self.trouble.setText(shown)
            self.trouble.setAccessibleName(shown)
            self.trouble.setVisible(bool(shown))

    def sizeHint(self) -> QSize:
        """As wide as its place."""
        return QSize(200, super().sizeHint().height())


def _each(arg: Arg | None) -> tuple[object, ...]:
    return () if arg is None else arg if isinstance(arg, tuple) else (arg,)


def _has_focus(widget: QWidget) -> bool:
    inside = widget.window().focusWidget()
    return inside is not None and (inside is widget or widget.isAncestorOf(inside))
