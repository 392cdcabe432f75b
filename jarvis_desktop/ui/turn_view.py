"""One turn on screen: the request, the plan, the results and the answer."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.outline import Outline
from jarvis_desktop.core.result import Status
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui import phrases, results, theme
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.bridge import Question
from jarvis_desktop.ui.chips import Chip
from jarvis_desktop.ui.code_review import CodeReview
from jarvis_desktop.ui.flow import FlowLayout
from jarvis_desktop.ui.goal_view import GoalView
from jarvis_desktop.ui.icons import IconButton, Symbol
from jarvis_desktop.ui.notices import SpeakingStrip
from jarvis_desktop.ui.plan_review import OutlineReview
from jarvis_desktop.ui.plan_view import PlanView
from jarvis_desktop.ui.questions import Panel, QuestionPanel
from jarvis_desktop.ui.states import StateIcon
from jarvis_desktop.ui.text import FIRST, ElidedLabel, Label, LongText, TextView

MOST_RESULTS = 60
"""Results that get a card; more are reached through the steps that made them."""

MOST_LINES = 100
"""Lines of the trace that are shown."""

_endings = {
    Status.DONE: "Done",
    Status.PARTLY: "Partly done",
    Status.FAILED: "Not done",
    Status.SKIPPED: "Left out",
    Status.CANCELLED: "Stopped",
}


class RequestBubble(QWidget):
    """What the person asked, on the right."""

    def __init__(self) -> None:
        super().__init__()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.space("four") * 2, 0, 0, 0)
        layout.setSpacing(theme.space())
        self._bubble = QFrame()
        self._bubble.setObjectName("request")
        self._bubble.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        inner = QHBoxLayout(self._bubble)
        inner.setContentsMargins(14, 9, 14, 9)
        self.text = TextView("Your request", hug=True)
        inner.addWidget(self.text)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self._bubble, 100)
        layout.addLayout(row)
        self._chips = QWidget()
        self._flow = FlowLayout(self._chips, right=True)
        layout.addWidget(self._chips)
        self._drawn: tuple[Artifact, ...] = ()

    def draw(self, turn: Turn) -> None:
        """Show the request of `turn`."""
        words = turn.text
        if len(words) > FIRST:
            words = f"{words[:FIRST]}… ({len(turn.text):,} characters)"
        self._bubble.setVisible(bool(words.strip()))
        self.text.show_text(words)
        if turn.attachments != self._drawn:
            self._drawn = turn.attachments
            while item := self._flow.takeAt(0):
                if old := item.widget():
                    old.deleteLater()
            for artifact in turn.attachments[:100]:
                self._flow.addWidget(Chip(artifact))
        self._chips.setVisible(bool(turn.attachments))


class StatusLine(QWidget):
    """What is being done before there is a plan."""

    def __init__(self) -> None:
        super().__init__()
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.space())
        self._icon = StateIcon()
        self.words = Label(role="muted")
        layout.addWidget(self._icon)
        layout.addWidget(self.words, 1)

    def say(self, words: str, *, busy: bool = True) -> None:
        """Say what goes on; "" hides the line."""
        self.setVisible(bool(words))
        self.words.setText(words)
        self._icon.show_state("running" if busy else "waiting")


class TurnView(QWidget):
    """Draws a Turn; draw it again and only what changed is touched."""

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self._actions = actions
        self._turn: Turn | None = None
        self._plan: PlanView | None = None
        self._goal: GoalView | None = None
        self._reviewed: Outline | None = None
        self._cards: dict[Artifact, QWidget] = {}
        self._notes: list[str] = []
        self._panel: Panel | None = None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, theme.space("three"))
        layout.setSpacing(12)
        self.request = RequestBubble()
        self._goal_place = _Box()
        self.status = StatusLine()
        self._plan_place = _Box()
        self._question_place = _Box()
        self._results_place = _Box()
        self._notes_place = _Box(spacing=4)
        self.reply = LongText("Answer")
        self.speaking = SpeakingStrip(actions)
        self.ending = ElidedLabel(role="small", widest=420)
        self.copy = IconButton("copy", "Copy the answer", kind="tiny")
        self.copy.setIconSize(QSize(14, 14))
        self.copy.clicked.connect(self._copy)
        self.closer = IconButton(
            "right", "Show how this was answered", kind="quiet", text="Details"
        )
        self.closer.clicked.connect(self._look_closer)
        self.trace = _Trace()
        foot = QHBoxLayout()
        foot.setSpacing(theme.space())
        foot.addWidget(self.ending)
        foot.addWidget(self.copy)
        foot.addStretch(1)
        foot.addWidget(self.closer)
        for widget in (
            self.request,
            self._goal_place,
            self.status,
            self._plan_place,
            self._question_place,
            self._results_place,
            self.reply,
            self._notes_place,
            self.speaking,
        ):
            layout.addWidget(widget)
        layout.addLayout(foot)
        layout.addWidget(self.trace)

    @property
    def turn(self) -> Turn | None:
        """The turn that is shown."""
        return self._turn

    def draw(self, turn: Turn, *, waiting: str = "", question: Question | None = None) -> None:
        """Show `turn`; `waiting` says why it has not begun, `question` what it waits to be told."""
        self._turn = turn
        self.request.draw(turn)
        self._draw_goal(turn, question)
        self._draw_status(turn, waiting, question)
        self._draw_plan(turn)
        self._draw_question(question)
        self._draw_results(turn)
        self.reply.setVisible(bool(turn.reply))
        self.reply.show_text(turn.reply)
        self._draw_notes(turn)
        self.speaking.show_sentence(turn.speaking)
        self.ending.setVisible(turn.status is not None)
        self.ending.show_text(ending(turn))
        self.copy.setVisible(turn.status is not None and bool(turn.reply))
        self.closer.setVisible(bool(turn.trace))
        self.trace.draw(turn)

    @property
    def panel(self) -> Panel | None:
        """The question that waits for its answer."""
        return self._panel

    def _draw_question(self, question: Question | None) -> None:
        if self._panel and self._panel.question is not question:
            if isinstance(self._panel, OutlineReview):
                self._reviewed = self._panel.edited
            self._panel.hide()
            self._panel.deleteLater()
            self._panel = None
        if question and self._panel is None:
            self._panel = self._panel_for(question)
            self._question_place.column.addWidget(self._panel)
        self._question_place.setVisible(question is not None)

    def _panel_for(self, question: Question) -> Panel:
        if question.outline:
            return OutlineReview(question, self._reviewed)
        return CodeReview(question) if question.code else QuestionPanel(question)

    def _draw_goal(self, turn: Turn, question: Question | None) -> None:
        if not turn.agentic:
            return
        if self._goal is None:
            self._goal = GoalView(self._actions, unfolded=turn.status is None)
            self._goal_place.column.addWidget(self._goal)
        self._goal.draw(turn, reviewed=question.outline if question else None)
        self._goal_place.setVisible(not self._goal.isHidden())

    def _draw_status(self, turn: Turn, waiting: str, question: Question | None) -> None:
        if waiting:
            self.status.say(waiting, busy=False)
        elif turn.agentic:
            self.status.say("" if question else _thinking(turn))
        elif turn.status is None and turn.plan is None and not turn.reply:
            self.status.say("Listening to the recording…" if not turn.text else "Planning…")
        elif turn.status is None and turn.plan and not turn.reply and _all_ended(turn):
            self.status.say("Writing the answer…")
        else:
            self.status.say("")

    def _draw_plan(self, turn: Turn) -> None:
        if turn.plan is None or not len(turn.plan):
            return
        # In agent mode this is what the experts of a round do; the round says what came of it.
        if turn.agentic and (turn.status is not None or _all_ended(turn)):
            self._plan_place.hide()
            return
        if self._plan is None:
            self._plan = PlanView(self._actions)
            self._plan_place.column.addWidget(self._plan)
        self._plan_place.show()
        self._plan.draw(turn)

    def _draw_results(self, turn: Turn) -> None:
        said = " ".join(turn.reply.split())
        made = () if turn.agentic and turn.status is None else turn.artifacts[:MOST_RESULTS]
        wanted = [item for item in made if not _said(item, said)]
        for artifact in self._cards.keys() - set(wanted):
            old = self._cards.pop(artifact)
            old.hide()
            old.deleteLater()
        for artifact in wanted:
            if artifact not in self._cards:
                self._cards[artifact] = results.card(artifact, self._actions)
                self._results_place.column.addWidget(self._cards[artifact])
        self._results_place.setVisible(bool(self._cards))

    def _draw_notes(self, turn: Turn) -> None:
        for note in turn.notes[len(self._notes) :]:
            self._notes.append(note)
            row = QHBoxLayout()
            row.setSpacing(6)
            row.addWidget(Symbol("note", size=16), alignment=Qt.AlignmentFlag.AlignTop)
            row.addWidget(Label(note[:2000], role="small", wrap=True), 1)
            holder = QWidget()
            holder.setLayout(row)
            row.setContentsMargins(0, 0, 0, 0)
            self._notes_place.column.addWidget(holder)
        self._notes_place.setVisible(bool(self._notes))

    def _look_closer(self) -> None:
        self.trace.setVisible(self.trace.isHidden())
        hidden = self.trace.isHidden()
        verb = "Show" if hidden else "Hide"
        self.closer.show_icon("right" if hidden else "down", f"{verb} how this was answered")

    def _copy(self) -> None:
        if self._turn:
            self._actions.copy_text.emit(self._turn.reply)


class _Trace(QFrame):
    """How a turn was answered, for those who look closer: which prompts, what was left out."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("details")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, theme.space(), 12, theme.space())
        self.lines = Label(role="small", wrap=True)
        self.lines.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout.addWidget(self.lines)
        self.hide()

    def draw(self, turn: Turn) -> None:
        """Show what is known of `turn`."""
        shown = "\n".join(one_line(line, limit=400) for line in turn.trace[:MOST_LINES])
        if shown != self.accessibleName():
            self.setAccessibleName(shown)
            self.lines.setText(shown)


def ending(turn: Turn) -> str:
    """How the turn ended, how long it took and who heard it."""
    if turn.status is None:
        return ""
    parts = [_endings[turn.status]]
    if turn.finished:
        spent = (turn.finished - turn.started).total_seconds()
        parts[0] += f" in {phrases.seconds(spent)}" if spent >= 0.05 else ""
    if turn.heard_by:
        parts.append(f"heard by {one_line(turn.heard_by, limit=40)}")
    return " · ".join(parts)


def _thinking(turn: Turn) -> str:
    """What agent mode does between two rounds; "" where what it does can be seen."""
    if turn.status is not None or any(item.status is None for item in turn.rounds.values()):
        return ""
    return "Thinking about the next step…" if turn.outline else "Writing a plan…"


def _all_ended(turn: Turn) -> bool:
    return not turn.running and all(task.id in turn.results for task in turn.plan or ())


def _said(artifact: Artifact, reply: str) -> bool:
    """Whether a text is in the answer already, so that it need not be shown twice.

    The answer with single spaces for every run of them.
    """
    return artifact.text is not None and " ".join(artifact.text.split()) in reply


class _Box(QWidget):
    """A place in the column that is there only while something is in it."""

    def __init__(self, *, spacing: int = 8) -> None:
        super().__init__()
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(spacing)
        self.hide()
