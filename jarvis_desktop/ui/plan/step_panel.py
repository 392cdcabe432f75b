"""The panel of one step: its results, and a control for each input and option."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QSpinBox,
    QWidget,
)

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.expert import Candidate
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Arg, Item, Port, Ref, Task, TaskOption, Value, as_words
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.answer import AnswerText
from jarvis_desktop.ui.media.cards import ResultCards
from jarvis_desktop.ui.plan import descriptions
from jarvis_desktop.ui.plan.descriptions import name_of
from jarvis_desktop.ui.plan.editing import PlanEditor, file_input, sources_for
from jarvis_desktop.ui.plan.list_view import (
    MAX_EXPERTS,
    describe_expert,
    menu_text,
    plain_menu,
    step_menu,
)
from jarvis_desktop.ui.widgets import icons, labels, theme
from jarvis_desktop.ui.widgets.forms import Fold, GrowingTextField, SelectOption, Tick, unmoved
from jarvis_desktop.ui.widgets.icons import IconButton, Symbol
from jarvis_desktop.ui.widgets.labels import ElidedLabel, Label
from jarvis_desktop.ui.widgets.layout import FlowLayout, clear, discard, hbox, vbox

MAX_NUMBER = 1_000_000_000
ChooseFile = Callable[[QWidget, Callable[[Path], None]], None]


class _FieldRow(QWidget):
    """A name, and a control below it."""

    given = Signal(str, object)
    """Carries the name of the input or option, and its value; None for the default."""

    def __init__(self, name: str, title: str) -> None:
        super().__init__()
        self.name = name
        self.title = labels.upper_first(one_line(tr(as_words(title)), limit=40))
        self.label = Label(self.title, role="small")
        self.column = vbox(self.label, parent=self, spacing=theme.space("half"))


class PortRow(_FieldRow):
    """One input: typed words, a file, or the results of other steps."""

    def __init__(
        self,
        port: Port,
        arg: Arg | None,
        sources: Sequence[tuple[int, Task]],
        choose_file: ChooseFile,
    ) -> None:
        """`sources` are the steps whose results it can take, with their numbers."""
        super().__init__(port.name, port.name)
        self._port = port
        self._sources = sources
        self._choose_file = choose_file
        self._items: tuple[Item, ...] = ()
        self.field: GrowingTextField | None = None
        self._lines = vbox(spacing=theme.space("half"))
        self.more = IconButton("more", tr("Choose what it takes as {input}", input=self.title))
        self.more.clicked.connect(self._offer)
        row = hbox((self._lines, 1), (self.more, Qt.AlignmentFlag.AlignTop), spacing=theme.space())
        self.column.addLayout(row)
        self._show(() if arg is None else arg if isinstance(arg, tuple) else (arg,))

    @property
    def value(self) -> Arg | None:
        """The current value."""
        items = self._items
        if self.field is not None:
            typed = self.field.toPlainText()
            if not items or typed != _words(items[-1]):
                items = (*items[:-1], *((typed,) if typed.strip() else ()))
        if not items:
            return None
        return items if self._port.many else items[0]

    def take_focus(self) -> None:
        """Focus the text field, or the button with the choices."""
        (self.field or self.more).setFocus()

    def _show(self, items: tuple[Item, ...]) -> None:
        self._items = items
        self.field = None
        clear(self._lines)
        for item in items:
            words = _words(item)
            if words is not None and item is items[-1]:
                self._show_words(words)
            else:
                self._lines.addWidget(self._line(item))
        if not items:
            if Kind.TEXT in self._port.kinds:
                self._show_words("")
            else:
                self._lines.addWidget(Label(tr("Nothing yet"), role="muted"))

    def _show_words(self, words: str) -> None:
        self.field = GrowingTextField(self.title, tr("Your own words"), role="field")
        self.field.setPlainText(words)
        self.field.entered.connect(self._typed)
        self.field.focused.connect(lambda inside: None if inside else self._typed())
        self._shown = words
        self._lines.addWidget(self.field)

    def _typed(self) -> None:
        if self.field is not None and self.field.toPlainText() != self._shown:
            self._shown = self.field.toPlainText()
            self.given.emit(self.name, self.value)

    def _line(self, item: Item) -> QWidget:
        """A file or the result of a step, with a remove button if there are several."""
        holder = QWidget()
        row = hbox(parent=holder, margins=(0, 3, 0, 3), spacing=theme.space())
        if isinstance(item, Ref):
            numbers = {task.id: (number, task) for number, task in self._sources}
            number, task = numbers[item.task_id]
            step = name_of(task.type)
            words = tr("The result of step {number}, {step}", number=number, step=step)
            icon = icons.FOR_KIND[task.type.gives[0]]
            mode = Qt.TextElideMode.ElideRight
        else:
            words = one_line(item.title if isinstance(item, Artifact) else str(item), limit=120)
            icon = icons.FOR_KIND[item.kind] if isinstance(item, Artifact) else "text"
            mode = Qt.TextElideMode.ElideMiddle
        row.addWidget(Symbol(icon, size=16))
        row.addWidget(ElidedLabel(words, mode=mode), 1)
        if len(self._items) > 1:
            name = tr("Take {what} away", what=words)
            away = IconButton("close", name, kind="tiny", tip=tr("Take away"))
            away.setIconSize(QSize(14, 14))
            away.clicked.connect(partial(self._take_away, item))
            row.addWidget(away)
        return holder

    def _take_away(self, item: Item) -> None:
        self._give(tuple(each for each in self._items if each != item))

    def _offer(self) -> None:
        self.menu().popup(self.more.mapToGlobal(self.more.rect().bottomLeft()))

    def menu(self) -> QMenu:
        """The menu of possible values."""
        menu = plain_menu(self, self.more.accessibleName())
        if Kind.TEXT in self._port.kinds:
            action = menu.addAction(icons.icon("text", "muted"), menu_text(tr("Your own words")))
            action.triggered.connect(self._begin_words)
        action = menu.addAction(icons.icon("folder", "muted"), menu_text(tr("A file…")))
        action.triggered.connect(lambda: self._choose_file(self, self._take_file))
        if self._sources:
            menu.addSeparator()
        for number, task in self._sources:
            words = tr(
                "The result of step {number}, {step}", number=number, step=name_of(task.type)
            )
            icon = icons.icon(icons.FOR_KIND[task.type.gives[0]], "muted")
            action = menu.addAction(icon, menu_text(words))
            action.setCheckable(True)
            action.setChecked(Ref(task.id) in self._items)
            action.triggered.connect(partial(self._take, Ref(task.id)))
        if self._items and not self._port.required:
            menu.addSeparator()
            action = menu.addAction(icons.icon("close", "muted"), menu_text(tr("Nothing")))
            action.triggered.connect(lambda: self._give(()))
        return menu

    def _begin_words(self) -> None:
        if self.field is None:
            kept = self._items if self._port.many else ()
            self._show((*kept, ""))
        self.take_focus()

    def _take_file(self, path: Path) -> None:
        self._take(file_input(path, self._port))

    def _take(self, item: Item) -> None:
        kept = tuple(each for each in self._items if each not in (item, ""))
        self._give((*kept, item) if self._port.many else (item,))

    def _give(self, items: tuple[Item, ...]) -> None:
        self._show(items)
        self.given.emit(self.name, self.value)


def option_row(option: TaskOption, value: Value) -> OptionRow:
    """The right control for an option."""
    if isinstance(option.default, bool):
        return _TickRow(option, bool(value))
    if option.choices:
        return _ChoiceRow(option, str(value))
    if isinstance(option.default, int):
        return _NumberRow(option, QSpinBox(), value)
    if isinstance(option.default, float):
        return _NumberRow(option, QDoubleSpinBox(), value)
    return _WordsRow(option, str(value))


class OptionRow(_FieldRow):
    """An option. A default value is reported as None."""

    def __init__(self, option: TaskOption) -> None:
        super().__init__(option.name, option.name)
        self.option = option

    def _show(self, control: QWidget, read: Callable[[], Value]) -> None:
        """Add the control; `read` returns its value."""
        self._control, self._read = control, read
        control.setAccessibleName(self.title)
        control.setAccessibleDescription(tr(self.option.summary))
        self.label.setBuddy(control)
        self.column.addWidget(control)

    def take_focus(self) -> None:
        """Focus the control."""
        self._control.setFocus()

    @property
    def value(self) -> Arg | None:
        """The current value."""
        value = self._read()
        return None if value == self.option.default else value

    def _changed(self) -> None:
        self.given.emit(self.name, self.value)


class _TickRow(OptionRow):
    def __init__(self, option: TaskOption, value: bool) -> None:
        super().__init__(option)
        self.label.setText("")
        self.tick = Tick(self.title, tr(option.summary))
        self.tick.setChecked(value)
        self.tick.toggled.connect(self._changed)
        self._show(self.tick, self.tick.isChecked)


class _ChoiceRow(OptionRow):
    def __init__(self, option: TaskOption, value: str) -> None:
        super().__init__(option)
        self.choice = SelectOption(self.title)
        offered = dict.fromkeys((*option.choices, value))
        self.choice.offer(
            [
                (item, (tr(as_words(item)) if item in option.choices else item) or tr("any"))
                for item in offered
            ],
            value,
        )
        self.choice.currentIndexChanged.connect(self._changed)
        self._show(self.choice, lambda: str(self.choice.value))


class _NumberRow(OptionRow):
    def __init__(self, option: TaskOption, box: QSpinBox | QDoubleSpinBox, value: Value) -> None:
        super().__init__(option)
        self.box = box
        box.setRange(-MAX_NUMBER, MAX_NUMBER)
        box.setKeyboardTracking(False)
        box.lineEdit().setTextMargins(
            8, 0, 8, 0
        )  # a spin box's line edit gets no padding from the style sheet
        if isinstance(box, QDoubleSpinBox):
            box.setDecimals(2)
            box.setValue(float(value))
        else:
            box.setValue(int(value))
        box.valueChanged.connect(self._changed)
        unmoved(box)
        self._show(box, box.value)


class _WordsRow(OptionRow):
    def __init__(self, option: TaskOption, value: str) -> None:
        super().__init__(option)
        self._shown = value
        self.line = QLineEdit(value)
        self.line.setProperty("role", "plain")
        self.line.editingFinished.connect(self._typed)
        self._show(self.line, self.line.text)

    def _typed(self) -> None:
        if self.line.text() != self._shown:
            self._shown = self.line.text()
            self._changed()


Row = PortRow | OptionRow


def _words(item: Item) -> str | None:
    """The text of an input; None for a file or a result."""
    if isinstance(item, Artifact):
        return item.text
    return None if isinstance(item, Ref) else str(item)


MAX_RESULTS = 20
MAIN_FIELDS = 3
"""The fields of a step that are shown at first, unless more of them are set."""
OPTION_WIDTH = 168
MAX_REASON_CHARS = 600


def main_fields(task: Task) -> set[str]:
    """The names of the fields that matter for a step: what it needs and what is set, then what
    its type names first."""
    main = [port.name for port in task.type.ports if port.required or port.name in task.args]
    main += [option.name for option in task.type.options if option.name in task.args]
    others = [option.name for option in task.type.options if option.name not in task.args]
    return {*main, *others[: max(0, MAIN_FIELDS - len(main))]}


class StepPanel(QFrame):
    """Shows a step of a plan; redraw it whenever the turn or the plan changes."""

    closed = Signal()

    def __init__(self, task_id: int, editor: PlanEditor, actions: Actions) -> None:
        super().__init__()
        self.setObjectName("step")
        self.task_id = task_id
        self._editor = editor
        self._actions = actions
        self._task: Task | None = None
        self._editable = self._shows_rest = False
        self.rows: dict[str, Row] = {}
        self.column = vbox(
            self._head(),
            parent=self,
            margins=(theme.space("two"), 12, 12, theme.space("two")),
            spacing=10,
        )
        self.trouble = Label(role="warning", wrap=True)
        self.trouble.hide()
        self.reason = Label(role="warning", wrap=True)
        self.why = Label(role="small", wrap=True)
        for label in (self.reason, self.why):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self.column.addWidget(label)
        self.draft = AnswerText(actions)  # what it is writing
        self._results = ResultCards(actions, most=MAX_RESULTS)
        for widget in (self.draft, self._results):
            self.column.addWidget(widget)
        self._form: QWidget | None = None
        self.expert = SelectOption(tr("Expert"))
        self.expert.currentIndexChanged.connect(self._chosen)
        self.column.addWidget(self.trouble)
        editor.refused.connect(self._refused)

    def _head(self) -> QHBoxLayout:
        self.symbol = Symbol("text", "accent", size=20)
        self.title = ElidedLabel(role="strong")
        self.again = IconButton("refresh", tr("Run this again"))
        self.again.clicked.connect(partial(self._editor.run_afresh, self.task_id))
        self.more = IconButton("more", tr("More actions for this step"), act=self._offer)
        self.remove = IconButton("trash", tr("Remove this step"))
        self.remove.clicked.connect(partial(self._editor.remove, self.task_id))
        self.close_button = IconButton("close", tr("Close"), tip=tr("Close (Esc)"), act=self.closed)
        row = hbox(self.symbol, spacing=theme.space("half"))
        row.addSpacing(theme.space("half"))
        row.addWidget(self.title, 1)
        for button in (self.again, self.remove, self.more, self.close_button):
            row.addWidget(button)
        return row

    def draw(self, turn: Turn) -> None:
        """Show the current state of the step."""
        plan = self._editor.plan
        task = plan.task(self.task_id)
        number = [each.id for each in plan].index(self.task_id) + 1
        step = descriptions.name_of(task.type)
        self.title.show_text(tr("{number} · {step}", number=number, step=step))
        self.setAccessibleName(tr("Step {number}, {step}", number=number, step=step))
        if task.type.gives:
            self.symbol.show_icon(icons.FOR_KIND[task.type.gives[0]], "accent")
        reason = descriptions.reason(turn, self.task_id)[:MAX_REASON_CHARS]
        self.reason.show_or_hide(reason)
        why = descriptions.why(turn, self.task_id)
        self.why.show_or_hide(why)
        draft = turn.drafts.get(self.task_id, "")
        self.draft.setVisible(bool(draft))
        self.draft.show_text(draft, plain=True)
        result = turn.results.get(self.task_id)
        self._results.show_results(result.artifacts if result else ())
        editable = self._editor.open
        self.again.setVisible(self._editor.can_run_afresh(self.task_id))
        self.more.setVisible(editable)
        self.remove.setVisible(editable)
        self.remove.setEnabled(len(plan) > 1)
        self.setEnabled(not self._editor.revising)
        if task != self._task or editable != self._editable:
            self._draw_form(task, plan, editable)

    def take_focus(self) -> None:
        """Focus the first control."""
        first = next(iter(self.rows.values()), None)
        if first is not None:
            first.take_focus()
        else:
            self.close_button.setFocus()

    def _draw_form(self, task: Task, plan: Plan, editable: bool) -> None:
        """Rebuild the fields, unless they show just that already."""
        known = self._task is not None and self._editable == editable
        self._task, self._editable = task, editable
        if known and all(self._holds(row, task) for row in self.rows.values()):
            if self.expert.value != task.expert:
                self._ask_experts(task)
            return
        held = next((name for name, row in self.rows.items() if _has_focus(row)), "")
        if self._form:
            for row in self.rows.values():
                row.blockSignals(True)  # losing focus here must not enter anything
            self.expert.setParent(None)
            discard(self._form)
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
        column = vbox(parent=form, spacing=10)
        numbers = {each.id: number for number, each in enumerate(plan, 1)}
        rest = Fold(tr("the other fields"), unfolded=self._shows_rest)
        rest.say(tr("More"))
        rest.heading.clicked.connect(lambda: self._keep_rest(rest.unfolded))
        fields = main_fields(task)
        for port in task.type.ports:
            sources = sources_for(plan, task, port)
            numbered = [(numbers[each.id], each) for each in sources]
            arg = task.args.get(port.name)
            row = PortRow(port, arg, numbered, self._editor.choose_file)
            self._take_row(row)
            (column if port.name in fields else rest.column).addWidget(row)
        for main, into in ((True, column), (False, rest.column)):
            options = [item for item in task.type.options if (item.name in fields) is main]
            if options:
                into.addWidget(self._cells(options, task))
        rest.column.addWidget(Label(tr("Expert"), role="small"))
        rest.column.addWidget(self.expert)
        column.addWidget(rest)
        return form

    def _cells(self, options: Sequence[TaskOption], task: Task) -> QWidget:
        cells = QWidget()
        flow = FlowLayout(cells, gap=12)
        for option in options:
            arg = task.args.get(option.name, option.default)
            cell = option_row(option, arg if isinstance(arg, str | int | float) else "")
            cell.setFixedWidth(max(OPTION_WIDTH, cell.sizeHint().width()))
            self._take_row(cell)
            flow.addWidget(cell)
        return cells

    def _keep_rest(self, shown: bool) -> None:
        self._shows_rest = shown

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
        self._editor.set(self.task_id, name, value)

    def _ask_experts(self, task: Task) -> None:
        self._offer_experts(task, [])
        self._editor.ask_experts(self.task_id, self._experts_known)

    def _experts_known(self, candidates: list[Candidate], trouble: str) -> None:
        if self._task:
            self._offer_experts(self._task, candidates)
            self.expert.setAccessibleDescription(one_line(trouble, limit=200))

    def _offer_experts(self, task: Task, candidates: list[Candidate]) -> None:
        choices = [("", tr("The best one (JARVIS chooses)"))]
        choices += [(item.kept_as, describe_expert(item)) for item in candidates[:MAX_EXPERTS]]
        if task.expert not in dict(choices):
            choices.append((task.expert, task.expert))
        self.expert.offer(choices, task.expert)

    def _chosen(self) -> None:
        self._editor.choose_expert(self.task_id, str(self.expert.value or ""))

    def _offer(self) -> None:
        menu = step_menu(self._editor, self.task_id, self, open_step=self.take_focus)
        menu.popup(self.more.mapToGlobal(QPoint(0, self.more.height())))

    def _refused(self, task_id: int, words: str) -> None:
        if task_id == self.task_id:
            shown = one_line(words, limit=MAX_REASON_CHARS)
            self.trouble.show_or_hide(shown)

    def sizeHint(self) -> QSize:
        return QSize(200, super().sizeHint().height())


def _each(arg: Arg | None) -> tuple[object, ...]:
    return () if arg is None else arg if isinstance(arg, tuple) else (arg,)


def _has_focus(widget: QWidget) -> bool:
    inside = widget.window().focusWidget()
    return inside is not None and (inside is widget or widget.isAncestorOf(inside))
