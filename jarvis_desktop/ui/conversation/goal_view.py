"""A turn of agent mode: the plan of its goal, the plans further in, and what was done round by
round."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from jarvis_desktop.core.outline import Outline
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation import outline_view, round_view
from jarvis_desktop.ui.conversation.outline_view import OutlineView
from jarvis_desktop.ui.conversation.round_view import RoundsView, who
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.folding import Fold
from jarvis_desktop.ui.look.text import Label


class GoalView(QFrame):
    """Draws what agent mode does; draw it again and only what changed is touched."""

    def __init__(self, actions: Actions, *, unfolded: bool) -> None:
        """`unfolded` while it is under way; what is over shows its plan, and the rest on demand."""
        super().__init__()
        self.setObjectName("plan")
        self._unfolded = unfolded
        self._turn: Turn | None = None
        self._inner: dict[str, tuple[Fold, OutlineView]] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.space("two"), 12, 12, 12)
        column.setSpacing(10)
        self.plan = QWidget()
        own = QVBoxLayout(self.plan)
        own.setContentsMargins(0, 0, 0, 0)
        own.setSpacing(6)
        self.heading = Label(role="heading")
        self.outline = OutlineView()
        own.addWidget(self.heading)
        own.addWidget(self.outline)
        column.addWidget(self.plan)
        self._inner_place = QVBoxLayout()
        self._inner_place.setContentsMargins(0, 0, 0, 0)
        column.addLayout(self._inner_place)
        self.fold = Fold(tr("the rounds"), unfolded=unfolded)
        self.rounds = RoundsView(actions)
        self.fold.column.addWidget(self.rounds)
        self.fold.heading.clicked.connect(self._draw_rounds)
        column.addWidget(self.fold)

    def draw(self, turn: Turn, *, reviewed: Outline | None = None) -> None:
        """Show a turn; a plan that is `reviewed` right now is shown there, and not twice."""
        self._turn = turn
        drafted = reviewed is not None and not turn.rounds
        outline = None if drafted or turn.outline == reviewed else turn.outline
        self.plan.setVisible(outline is not None)
        if outline:
            self.heading.setText(tr("Plan · {tally}", tally=outline_view.tally(outline)))
            self.outline.draw(outline)
        for path, inner in turn.inner_outlines.items():
            self._draw_inner(path, inner, shown=inner != reviewed)
        self.fold.setVisible(bool(turn.rounds))
        self.fold.say(tr("Rounds · {tally}", tally=round_view.tally(turn)))
        self._draw_rounds()
        self.setVisible(bool(outline or turn.inner_outlines or turn.rounds))

    def _draw_rounds(self) -> None:
        if self._turn and self.fold.unfolded:
            self.rounds.draw(self._turn)

    def _draw_inner(self, path: str, outline: Outline, *, shown: bool) -> None:
        whose = tr("{who}’s plan", who=who(path))
        if path not in self._inner:
            fold, view = Fold(whose, unfolded=self._unfolded), OutlineView(small=True)
            fold.column.setContentsMargins(round_view.INDENT, 0, 0, 0)
            fold.column.addWidget(view)
            self._inner[path] = fold, view
            self._inner_place.addWidget(fold)
        fold, view = self._inner[path]
        fold.setVisible(shown)
        fold.say(f"{whose} · {outline_view.tally(outline)}")
        view.draw(outline)
