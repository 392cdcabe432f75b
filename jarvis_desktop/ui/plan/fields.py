"""The controls for what a step takes: one for each input, and the right one for each option."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.task import Arg, Item, Option, Port, Ref, Task, Value, as_words
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.look import icons, phrases, theme
from jarvis_desktop.ui.look.fields import Field
from jarvis_desktop.ui.look.icons import IconButton, Symbol
from jarvis_desktop.ui.look.section import Choice, Tick, unmoved
from jarvis_desktop.ui.look.text import ElidedLabel, Label
from jarvis_desktop.ui.plan import fitting
from jarvis_desktop.ui.plan.menus import escaped, plain_menu
from jarvis_desktop.ui.plan.telling import name_of

LARGEST = 1_000_000_000
ChooseFile = Callable[[QWidget, Callable[[Path], None]], None]


class _Row(QWidget):
    """A name, and below it what can be changed."""

    given = Signal(str, object)
    """Carries the name of what is given, and the value; None leaves it open."""

    def __init__(self, name: str, title: str) -> None:
        super().__init__()
        self.name = name
        self.title = phrases.upper_first(one_line(tr(as_words(title)), limit=40))
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(theme.space("half"))
        self.label = Label(self.title, role="small")
        self.column.addWidget(self.label)


class PortRow(_Row):
    """One input: words that can be typed, a file, or the results of other steps."""

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
        self.field: Field | None = None
        self._lines = QVBoxLayout()
        self._lines.setSpacing(theme.space("half"))
        self.more = IconButton("more", tr("Choose what it takes as {input}", input=self.title))
        self.more.clicked.connect(self._offer)
        row = QHBoxLayout()
        row.setSpacing(theme.space())
        row.addLayout(self._lines, 1)
        row.addWidget(self.more, alignment=Qt.AlignmentFlag.AlignTop)
        self.column.addLayout(row)
        self._show(() if arg is None else arg if isinstance(arg, tuple) else (arg,))

    @property
    def value(self) -> Arg | None:
        """What it takes now."""
        items = self._items
        if self.field is not None:
            typed = self.field.toPlainText()
            if not items or typed != _words(items[-1]):
                items = (*items[:-1], *((typed,) if typed.strip() else ()))
        if not items:
            return None
        return items if self._port.many else items[0]

    def take_focus(self) -> None:
        """Into the words, or to the choice of what else it takes."""
        (self.field or self.more).setFocus()

    def _show(self, items: tuple[Item, ...]) -> None:
        self._items = items
        self.field = None
        while line := self._lines.takeAt(0):
            if old := line.widget():
                old.hide()
                old.deleteLater()
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
        self.field = Field(self.title, tr("Words of your own"), role="field")
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
        """A file or the result of a step, with a button that takes it away where there are more."""
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 3, 0, 3)
        row.setSpacing(theme.space())
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
        """What it could take."""
        menu = plain_menu(self, self.more.accessibleName())
        if Kind.TEXT in self._port.kinds:
            action = menu.addAction(icons.icon("text", "muted"), escaped(tr("Words of your own")))
            action.triggered.connect(self._begin_words)
        action = menu.addAction(icons.icon("folder", "muted"), escaped(tr("A file…")))
        action.triggered.connect(lambda: self._choose_file(self, self._take_file))
        if self._sources:
            menu.addSeparator()
        for number, task in self._sources:
            words = tr(
                "The result of step {number}, {step}", number=number, step=name_of(task.type)
            )
            icon = icons.icon(icons.FOR_KIND[task.type.gives[0]], "muted")
            action = menu.addAction(icon, escaped(words))
            action.setCheckable(True)
            action.setChecked(Ref(task.id) in self._items)
            action.triggered.connect(partial(self._take, Ref(task.id)))
        if self._items and not self._port.required:
            menu.addSeparator()
            action = menu.addAction(icons.icon("close", "muted"), escaped(tr("Nothing")))
            action.triggered.connect(lambda: self._give(()))
        return menu

    def _begin_words(self) -> None:
        if self.field is None:
            kept = self._items if self._port.many else ()
            self._show((*kept, ""))
        self.take_focus()

    def _take_file(self, path: Path) -> None:
        self._take(fitting.given(path, self._port))

    def _take(self, item: Item) -> None:
        kept = tuple(each for each in self._items if each not in (item, ""))
        self._give((*kept, item) if self._port.many else (item,))

    def _give(self, items: tuple[Item, ...]) -> None:
        self._show(items)
        self.given.emit(self.name, self.value)


def option_row(option: Option, value: Value) -> OptionRow:
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


class OptionRow(_Row):
    """Gives None where the value is the usual one: then nothing need be said of it."""

    def __init__(self, option: Option) -> None:
        super().__init__(option.name, option.name)
        self.option = option

    def _show(self, control: QWidget, read: Callable[[], Value]) -> None:
        """`read` gives what the control shows."""
        self._control, self._read = control, read
        control.setAccessibleName(self.title)
        control.setAccessibleDescription(tr(self.option.summary))
        self.label.setBuddy(control)
        self.column.addWidget(control)

    def take_focus(self) -> None:
        """Into its control."""
        self._control.setFocus()

    @property
    def value(self) -> Arg | None:
        """What it shows now."""
        value = self._read()
        return None if value == self.option.default else value

    def _changed(self) -> None:
        self.given.emit(self.name, self.value)


class _TickRow(OptionRow):
    def __init__(self, option: Option, value: bool) -> None:
        super().__init__(option)
        self.label.setText("")
        self.tick = Tick(self.title, tr(option.summary))
        self.tick.setChecked(value)
        self.tick.toggled.connect(self._changed)
        self._show(self.tick, self.tick.isChecked)


class _ChoiceRow(OptionRow):
    def __init__(self, option: Option, value: str) -> None:
        super().__init__(option)
        self.choice = Choice(self.title)
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
    def __init__(self, option: Option, box: QSpinBox | QDoubleSpinBox, value: Value) -> None:
        super().__init__(option)
        self.box = box
        box.setRange(-LARGEST, LARGEST)
        box.setKeyboardTracking(False)
        box.lineEdit().setTextMargins(8, 0, 8, 0)  # its place in a style sheet has no padding
        if isinstance(box, QDoubleSpinBox):
            box.setDecimals(2)
            box.setValue(float(value))
        else:
            box.setValue(int(value))
        box.valueChanged.connect(self._changed)
        unmoved(box)
        self._show(box, box.value)


class _WordsRow(OptionRow):
    def __init__(self, option: Option, value: str) -> None:
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
    """The text that an input was given; None where it is a file or a result."""
    if isinstance(item, Artifact):
        return item.text
    return None if isinstance(item, Ref) else str(item)
