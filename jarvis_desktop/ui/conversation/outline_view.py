"""The plan of a goal as a list of steps, each with how far it is."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from jarvis_desktop.core.outline import Outline, Step, StepState
from jarvis_desktop.core.wording import mark, tr, trn
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.states import StateIcon
from jarvis_desktop.ui.look.text import Label

WORDS = {
    StepState.OPEN: mark("to do"),
    StepState.DOING: mark("doing"),
    StepState.DONE: mark("done"),
    StepState.FAILED: mark("failed"),
    StepState.DROPPED: mark("dropped"),
}
_counted = {
    StepState.FAILED: mark("{count} failed"),
    StepState.DROPPED: mark("{count} dropped"),
}
_roles = {
    StepState.OPEN: "small",
    StepState.DOING: "accent-small",
    StepState.DONE: "done",
    StepState.FAILED: "warning",
    StepState.DROPPED: "small",
}


class StepRow(QWidget):
    """One step: state, number, words, and what came of it."""

    def __init__(self, *, small: bool) -> None:
        super().__init__()
        self.step: Step | None = None
        self.icon = StateIcon()
        self.number = Label(role="small" if small else "")
        self.number.setMinimumWidth(22)
        middle = Qt.AlignmentFlag.AlignVCenter
        self.number.setAlignment(Qt.AlignmentFlag.AlignRight | middle)
        self.text = Label(role="small" if small else "", wrap=True)
        self.note = Label(role="small", wrap=True)
        self.word = Label(role="small")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.space())
        for label in (self.number, self.word):
            label.setFixedHeight(self.icon.height())
        self.text.setContentsMargins(0, 2 if small else 1, 0, 0)  # in line with the state
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(self.text)
        words.addWidget(self.note)
        top = Qt.AlignmentFlag.AlignTop
        row.addWidget(self.icon, alignment=top)
        row.addWidget(self.number, alignment=top)
        row.addLayout(words, 1)
        row.addWidget(self.word, alignment=top)

    def draw(self, step: Step) -> None:
        """Show a step."""
        if step == self.step:
            return
        self.step = step
        self.icon.show_state(step.state.value)
        self.number.setText(f"{step.id}.")
        self.text.setText(step.text)
        font = self.text.font()
        font.setStrikeOut(step.state is StepState.DROPPED)
        self.text.setFont(font)
        self.note.setText(step.note)
        self.note.setVisible(bool(step.note))
        self.word.setText(tr(WORDS[step.state]))
        self.word.setProperty("role", _roles[step.state])
        self.word.style().unpolish(self.word)
        self.word.style().polish(self.word)
        state = tr(WORDS[step.state])
        name = tr("Step {number}, {state}: {text}", number=step.id, state=state, text=step.text)
        self.setAccessibleName(name)


class OutlineView(QWidget):
    """All steps of a plan."""

    def __init__(self, *, small: bool = False) -> None:
        """`small` for the plan of a controller further in."""
        super().__init__()
        self._small = small
        self._rows: list[StepRow] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(theme.space("half") if small else 6)

    @property
    def rows(self) -> tuple[StepRow, ...]:
        """The steps that are shown, in their order."""
        return tuple(self._rows)

    def draw(self, outline: Outline) -> None:
        """Show a plan; only what changed is touched."""
        while len(self._rows) > len(outline.steps):
            row = self._rows.pop()
            row.hide()
            row.deleteLater()
        for place, step in enumerate(outline):
            if place == len(self._rows):
                self._rows.append(StepRow(small=self._small))
                self._column.addWidget(self._rows[place])
            self._rows[place].draw(step)


def tally(outline: Outline) -> str:
    """How far a plan is: "1 of 4 steps done"."""
    states = [step.state for step in outline]
    done = states.count(StepState.DONE)
    if done:
        words = [
            trn(
                "{done} of {count} step done",
                "{done} of {count} steps done",
                len(states),
                done=done,
            )
        ]
    else:
        words = [trn("{count} step", "{count} steps", len(states))]
    words += [
        tr(_counted[state], count=states.count(state)) for state in _counted if state in states
    ]
    return ", ".join(words)
