"""The panel that adds a step: all task types, with those first that can use what the plan has."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QListWidget, QListWidgetItem

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Arg
from jarvis_desktop.ui.plan.descriptions import name_of
from jarvis_desktop.ui.plan.editing import (
    WHOLE_PLAN,
    PlanEditor,
    StepOffer,
    missing,
    step_offers,
    takes,
)
from jarvis_desktop.ui.plan.step_panel import PortRow
from jarvis_desktop.ui.widgets import icons, theme
from jarvis_desktop.ui.widgets.forms import button
from jarvis_desktop.ui.widgets.icons import IconButton
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import clear, hbox, vbox

MIN_LIST_PX, MAX_LIST_PX = 40, 240
_offer = Qt.ItemDataRole.UserRole


class AddStepPanel(QFrame):
    """Search, choose, and fill in the missing inputs."""

    closed = Signal()

    def __init__(self, editor: PlanEditor, files: Sequence[Artifact]) -> None:
        """`files` are those of the request."""
        super().__init__()
        self.setObjectName("step")
        self._editor = editor
        inventory = editor.controller.inventory if editor.controller else ()
        self._offers = step_offers(inventory, editor.plan, files)
        self._args: dict[str, Arg] = {}
        self.rows: list[PortRow] = []
        head = hbox((Label(tr("Add a step"), role="strong"), 1))
        self.close_button = IconButton("close", tr("Close"), tip=tr("Close (Esc)"), act=self.closed)
        head.addWidget(self.close_button)
        self.column = vbox(
            head,
            parent=self,
            margins=(theme.space("two"), 12, 12, theme.space("two")),
            spacing=theme.space(),
        )
        self.search = _SearchField()
        self.search.setProperty("role", "plain")
        self.search.setPlaceholderText(tr("What should be done?"))
        self.search.setAccessibleName(tr("Search the kinds of steps"))
        self.search.textChanged.connect(self._fill)
        self.search.moved.connect(self._move)
        self.search.returnPressed.connect(self._enter)
        self.column.addWidget(self.search)
        self.list = QListWidget()
        self.list.setObjectName("kinds")
        self.list.setAccessibleName(tr("Kinds of steps"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setIconSize(QSize(18, 18))
        self.list.setWordWrap(False)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.currentItemChanged.connect(self._chosen)
        self.list.itemActivated.connect(self._enter)
        self.column.addWidget(self.list)
        self.message = Label(role="small", wrap=True)
        self.column.addWidget(self.message)
        self._needs = vbox(spacing=theme.space())
        self.column.addLayout(self._needs)
        self.trouble = Label(role="warning", wrap=True)
        self.trouble.hide()
        self.column.addWidget(self.trouble)
        foot = hbox(None)
        self.add = button(tr("Add step"), kind="primary", act=self._add)
        foot.addWidget(self.add)
        self.column.addLayout(foot)
        editor.refused.connect(self._refused)
        self._fill()

    @property
    def offer(self) -> StepOffer | None:
        """The chosen kind of step."""
        item = self.list.currentItem()
        return item.data(_offer) if item else None

    def take_focus(self) -> None:
        """Focus the search field."""
        self.search.setFocus()

    def _fill(self) -> None:
        """List the kinds whose name or summary has all words of the search."""
        words = self.search.text().casefold().split()
        self.list.clear()
        group = ""
        for offer in self._offers:
            text = f"{offer.type.called} {tr(offer.type.summary)}".casefold()
            if not all(word in text for word in words):
                continue
            if offer.group != group:
                group = offer.group
                heading = QListWidgetItem(tr(group))
                heading.setFlags(Qt.ItemFlag.NoItemFlags)
                self.list.addItem(heading)
            icon = icons.icon(icons.FOR_KIND[offer.type.gives[0]], "muted")
            name, purpose = name_of(offer.type), one_line(tr(offer.type.summary), limit=140)
            item = QListWidgetItem(icon, tr("{step} – {purpose}", step=name, purpose=purpose))
            item.setData(_offer, offer)
            self.list.addItem(item)
        self._move(1)
        self._fit()
        self._chosen()

    def showEvent(self, event: QShowEvent) -> None:
        """Fit the list once its rows have a height."""
        super().showEvent(event)
        self.list.doItemsLayout()
        self._fit()

    def _fit(self) -> None:
        """Be as tall as the rows, up to a limit."""
        rows = sum(self.list.sizeHintForRow(at) for at in range(self.list.count()))
        self.list.setFixedHeight(
            min(max(rows, MIN_LIST_PX) + 2 * self.list.frameWidth(), MAX_LIST_PX)
        )
        self.list.scrollToTop()

    def _move(self, by: int) -> None:
        """Select the next kind in that direction, skipping headings."""
        at = self.list.currentRow() + by
        while 0 <= at < self.list.count():
            if self.list.item(at).flags() & Qt.ItemFlag.ItemIsSelectable:
                self.list.setCurrentRow(at)
                return
            at += by

    def _chosen(self) -> None:
        clear(self._needs)
        self.rows = []
        self._complain("")
        offer = self.offer
        self.add.setEnabled(offer is not None)
        self._args = dict(offer.args) if offer else {}
        self.message.setText(self._words(offer))
        if offer is None:
            return
        numbered = list(enumerate(self._editor.plan, 1))
        for port in offer.missing:
            sources = [(number, task) for number, task in numbered if takes(port, task.type)]
            row = PortRow(port, None, sources, self._editor.choose_file)
            row.given.connect(self._given)
            if row.field is not None:
                row.field.textChanged.connect(self._show_ready)
                row.field.entered.connect(self._add)
            self._needs.addWidget(row)
            self.rows.append(row)
        self._show_ready()

    def _words(self, offer: StepOffer | None) -> str:
        """What the new step would take."""
        if offer is None:
            return tr("There is no such step.")
        for arg in offer.args.values():
            if isinstance(arg, Artifact):
                return tr("It takes {file}.", file=one_line(arg.title, limit=60))
            for task in self._editor.plan:
                if getattr(arg, "task_id", None) == task.id:
                    return tr("It takes the result of {step}.", step=name_of(task.type))
        return tr("It needs no other step.") if not offer.missing else ""

    def _given(self, name: str, value: Arg | None) -> None:
        self._show_ready()

    def _wanted(self) -> dict[str, Arg]:
        """The inputs of the new step, including those given here."""
        given = {row.name: row.value for row in self.rows}
        return self._args | {name: value for name, value in given.items() if value is not None}

    def _show_ready(self) -> None:
        offer = self.offer
        self.add.setEnabled(offer is not None and not missing(offer.type, self._wanted()))

    def _enter(self) -> None:
        if self.add.isEnabled():
            self._add()
        elif self.rows:
            self.rows[0].take_focus()

    def _add(self) -> None:
        offer = self.offer if self.add.isEnabled() else None
        if offer and self._editor.add(offer.type, self._wanted()):
            self.closed.emit()

    def _refused(self, task_id: int, words: str) -> None:
        if task_id == WHOLE_PLAN:
            self._complain(words)

    def _complain(self, words: str) -> None:
        self.trouble.setText(one_line(words, limit=400))
        self.trouble.setVisible(bool(words))


class _SearchField(QLineEdit):
    """Leaves the up and down keys to the list below it."""

    moved = Signal(int)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.moved.emit(1 if event.key() == Qt.Key.Key_Down else -1)
        else:
            super().keyPressEvent(event)
