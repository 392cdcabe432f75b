"""Below the steps of a plan: what edits cost, and what to change in words."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.fields import Field
from jarvis_desktop.ui.look.icons import IconButton
from jarvis_desktop.ui.look.section import button
from jarvis_desktop.ui.look.states import StateIcon
from jarvis_desktop.ui.look.text import Label
from jarvis_desktop.ui.plan.editing import Editing
from jarvis_desktop.ui.plan.telling import name_of

MOST_NAMES = 5
NARROW = 160
"""Pixels of words that are worth a line beside the answers."""


class PlanFoot(QWidget):
    """There while there is something to say or to be said."""

    add_wanted = Signal()

    def __init__(self, editing: Editing) -> None:
        super().__init__()
        self._editing = editing
        column = QVBoxLayout(self)
        column.setContentsMargins(0, theme.space("half"), 0, 0)
        column.setSpacing(theme.space())
        self._costs = self._strip()
        column.addWidget(self._costs)
        row = QHBoxLayout()
        row.setSpacing(theme.space())
        self.words = Field(tr("Say what to change"), tr("Say what to change…"), role="field")
        self.words.entered.connect(self._revise)
        self.words.textChanged.connect(self._show_ready)
        self.send = IconButton("send", tr("Change the plan so"), colour="accent")
        self.send.clicked.connect(self._revise)
        self.add = IconButton("plus", tr("Add a step"), kind="", text=tr("Add a step"))
        self.add.clicked.connect(self.add_wanted)
        row.addWidget(self.words, 1)
        row.addWidget(self.send)
        row.addWidget(self.add)
        self._wishes = QWidget()
        self._wishes.setLayout(row)
        row.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._wishes)
        news = QHBoxLayout()
        news.setSpacing(theme.space())
        self.busy = StateIcon()
        self.busy.show_state("running")
        self.busy.hide()
        self.told = Label(role="small", wrap=True)
        self.told.hide()
        news.addWidget(self.busy)
        news.addWidget(self.told, 1)
        column.addLayout(news)
        editing.told.connect(self.tell)
        editing.revised.connect(self.words.clear)
        self.hide()

    def _strip(self) -> QFrame:
        strip = QFrame()
        strip.setObjectName("costs")
        self._costs_row = row = QBoxLayout(QBoxLayout.Direction.LeftToRight, strip)
        row.setContentsMargins(12, theme.space(), theme.space(), theme.space())
        row.setSpacing(theme.space())
        self.costs = Label(wrap=True)
        self.drop = button(tr("Drop the changes"), kind="quiet")
        self.drop.clicked.connect(self._editing.drop)
        self.carry_out = button("", kind="primary")
        self.carry_out.clicked.connect(self._editing.carry_out)
        row.addWidget(self.costs, 1)
        answers = QHBoxLayout()
        answers.setSpacing(theme.space())
        answers.addStretch(1)
        for answer in (self.drop, self.carry_out):
            answers.addWidget(answer, alignment=Qt.AlignmentFlag.AlignBottom)
        row.addLayout(answers)
        return strip

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Do with little room: the answers go below what they answer, and a button is an icon."""
        super().resizeEvent(event)
        unit = self.drop.sizeHint().width()
        self.add.setText(tr("Add a step") if event.size().width() > 3 * unit else "")
        beside = event.size().width() > 3 * unit + NARROW
        ways = QBoxLayout.Direction
        self._costs_row.setDirection(ways.LeftToRight if beside else ways.TopToBottom)

    def draw(self, turn: Turn, *, unfolded: bool) -> None:
        """Show what there is to say; `unfolded` says whether words are invited."""
        editing = self._editing
        waits = editing.waits
        self._costs.setVisible(waits)
        if waits:
            self.costs.setText(self._cost(turn))
            during = editing.stage == "during"
            words = tr("Change it now") if during else tr("Run it again")
            self.carry_out.setText(words)
            self.carry_out.setAccessibleName(words)
            self.carry_out.setEnabled(not editing.busy)
        self._wishes.setVisible(unfolded and editing.open)
        self.busy.setVisible(editing.revising)
        if editing.revising:
            self.tell(tr("Changing the plan…"))
        elif self.told.text() == tr("Changing the plan…"):
            self.tell("")
        self.words.setReadOnly(editing.busy)
        self._show_ready()
        self.setVisible(waits or self._wishes.isVisibleTo(self) or bool(self.told.text()))

    def tell(self, words: str) -> None:
        """Say what became of the last wish; "" takes it back."""
        shown = one_line(words, limit=400)
        self.told.setText(shown)
        self.told.setAccessibleName(shown)
        self.told.setVisible(bool(shown))
        if shown:
            self.show()

    def _cost(self, turn: Turn) -> str:
        """What carrying it out will do again, and what stays."""
        editing = self._editing
        again = editing.again()
        if editing.stage == "after":
            # What was not done then is tried now.
            done = {key for key, item in turn.results.items() if item.artifacts}
            again |= {task.id for task in editing.plan if task.id not in done}
        if not again:
            return tr("Everything that is done stays.")
        names = self._names(again)
        if len(again) == len(editing.plan):
            return tr("Everything runs again: {steps}.", steps=names)
        return tr("This runs again: {steps}. The rest stays.", steps=names)

    def _names(self, task_ids: Collection[int]) -> str:
        names = [name_of(task.type) for task in self._editing.plan if task.id in task_ids]
        shown = ", ".join(names[:MOST_NAMES])
        more = len(names) - MOST_NAMES
        return tr("{steps} and {count} more", steps=shown, count=more) if more > 0 else shown

    def _show_ready(self) -> None:
        self.send.setEnabled(bool(self.words.toPlainText().strip()) and not self._editing.busy)
        self.add.setEnabled(not self._editing.busy)

    def _revise(self) -> None:
        if self.send.isEnabled():
            self.tell("")
            self._editing.revise(self.words.toPlainText())
