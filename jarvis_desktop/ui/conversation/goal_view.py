"""A turn of agent mode: the plan of its goal, the plans of inner controllers, and the rounds."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QWidget

from jarvis_desktop.core.goal import Outline, OutlineStep, StepState
from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation import agent_rounds
from jarvis_desktop.ui.conversation.agent_rounds import RoundsView, role_name
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.flow_layout import discard, hbox, vbox
from jarvis_desktop.ui.widgets.forms import Fold
from jarvis_desktop.ui.widgets.icons import StateIcon
from jarvis_desktop.ui.widgets.labels import Label

STATE_NAMES = {
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
    """One step: its state, number, text and note."""

    def __init__(self, *, small: bool) -> None:
        super().__init__()
        self.step: OutlineStep | None = None
        self.icon = StateIcon()
        self.number = Label(role="small" if small else "")
        self.number.setMinimumWidth(22)
        middle = Qt.AlignmentFlag.AlignVCenter
        self.number.setAlignment(Qt.AlignmentFlag.AlignRight | middle)
        self.text = Label(role="small" if small else "", wrap=True)
        self.note = Label(role="small", wrap=True)
        self.word = Label(role="small")
        row = hbox(parent=self, spacing=theme.space())
        for label in (self.number, self.word):
            label.setFixedHeight(self.icon.height())
        self.text.setContentsMargins(0, 2 if small else 1, 0, 0)  # in line with the state
        words = vbox(self.text, self.note, spacing=0)
        top = Qt.AlignmentFlag.AlignTop
        row.addWidget(self.icon, alignment=top)
        row.addWidget(self.number, alignment=top)
        row.addLayout(words, 1)
        row.addWidget(self.word, alignment=top)

    def draw(self, step: OutlineStep) -> None:
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
        self.note.show_or_hide(step.note)
        self.word.setText(tr(STATE_NAMES[step.state]))
        theme.restyle(self.word, role=_roles[step.state])
        state = tr(STATE_NAMES[step.state])
        name = tr("Step {number}, {state}: {text}", number=step.id, state=state, text=step.text)
        self.setAccessibleName(name)


class GoalOutlineView(QWidget):
    """All steps of a plan."""

    def __init__(self, *, small: bool = False) -> None:
        """`small` is for the plan of an inner controller."""
        super().__init__()
        self._small = small
        self._rows: list[StepRow] = []
        self._column = vbox(parent=self, spacing=theme.space("half") if small else 6)

    @property
    def rows(self) -> tuple[StepRow, ...]:
        """The visible rows, in order."""
        return tuple(self._rows)

    def draw(self, outline: Outline) -> None:
        """Show a plan; only changed rows are redrawn."""
        while len(self._rows) > len(outline.steps):
            discard(self._rows.pop())
        for place, step in enumerate(outline):
            if place == len(self._rows):
                self._rows.append(StepRow(small=self._small))
                self._column.addWidget(self._rows[place])
            self._rows[place].draw(step)


def tally_steps(outline: Outline) -> str:
    """The progress of a plan: "1 of 4 steps done"."""
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


class GoalView(QFrame):
    """Draws what agent mode does; redrawing only touches what changed."""

    def __init__(self, actions: Actions, *, unfolded: bool) -> None:
        """Show the rounds from the start if `unfolded`, as for a running turn; else on demand."""
        super().__init__()
        self.setObjectName("plan")
        self._unfolded = unfolded
        self._turn: Turn | None = None
        self._inner: dict[str, tuple[Fold, GoalOutlineView]] = {}
        self.plan = QWidget()
        self.heading = Label(role="heading")
        self.outline = GoalOutlineView()
        vbox(self.heading, self.outline, parent=self.plan, spacing=6)
        column = vbox(self.plan, parent=self, margins=(theme.space("two"), 12, 12, 12), spacing=10)
        self._inner_place = vbox()
        column.addLayout(self._inner_place)
        self.fold = Fold(tr("the rounds"), unfolded=unfolded)
        self.rounds = RoundsView(actions)
        self.fold.column.addWidget(self.rounds)
        self.fold.heading.clicked.connect(self._draw_rounds)
        column.addWidget(self.fold)

    def draw(self, turn: Turn, *, reviewed: Outline | None = None) -> None:
        """Show a turn; a plan that is being `reviewed` is shown there, and not repeated here."""
        self._turn = turn
        drafted = reviewed is not None and not turn.rounds
        outline = None if drafted or turn.outline == reviewed else turn.outline
        self.plan.setVisible(outline is not None)
        if outline:
            self.heading.setText(tr("Plan · {tally}", tally=tally_steps(outline)))
            self.outline.draw(outline)
        for path, inner in turn.inner_outlines.items():
            self._draw_inner(path, inner, shown=inner != reviewed)
        self.fold.setVisible(bool(turn.rounds))
        self.fold.say(tr("Rounds · {tally}", tally=agent_rounds.tally_rounds(turn)))
        self._draw_rounds()
        self.setVisible(bool(outline or turn.inner_outlines or turn.rounds))

    def _draw_rounds(self) -> None:
        if self._turn and self.fold.unfolded:
            self.rounds.draw(self._turn)

    def _draw_inner(self, path: str, outline: Outline, *, shown: bool) -> None:
        whose = tr("{who}’s plan", who=role_name(path))
        if path not in self._inner:
            fold, view = Fold(whose, unfolded=self._unfolded), GoalOutlineView(small=True)
            fold.column.setContentsMargins(agent_rounds.INDENT_PX, 0, 0, 0)
            fold.column.addWidget(view)
            self._inner[path] = fold, view
            self._inner_place.addWidget(fold)
        fold, view = self._inner[path]
        fold.setVisible(shown)
        fold.say(f"{whose} · {tally_steps(outline)}")
        view.draw(outline)
