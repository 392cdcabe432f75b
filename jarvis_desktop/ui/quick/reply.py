"""The reply in the quick box: progress, the answer, results, and questions."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.i18n import tr, trn
from jarvis_desktop.core.task import Task
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.answer import AnswerText
from jarvis_desktop.ui.conversation.approvals import ApprovalPanel, QuestionPanel
from jarvis_desktop.ui.conversation.turn_footer import (
    StatusLine,
    current_activity,
    format_ending,
    is_in_reply,
    is_plain,
    show_speak,
    speak_or_silence,
)
from jarvis_desktop.ui.engine import EngineQuestion
from jarvis_desktop.ui.media.cards import ResultCards
from jarvis_desktop.ui.pending_turn import PendingTurn
from jarvis_desktop.ui.plan.descriptions import last_words
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.icons import IconButton, Symbol
from jarvis_desktop.ui.widgets.labels import ElidedLabel, Label
from jarvis_desktop.ui.widgets.layout import discard, hbox, vbox

MAX_RESULTS = 3  # results that are shown; the window has all of them


class QuickReply(QWidget):
    """Draws the newest turn of the box."""

    window_wanted = Signal()  # the user wants to see it in the window

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self.setObjectName("quickreply")
        self._actions = actions
        self._shown: PendingTurn | None = None
        self._read = False  # whether its answer is being read aloud
        self.panel: ApprovalPanel | None = None  # the question that can be answered here
        self.asked = ElidedLabel(role="heading")
        column = vbox(
            self.asked,
            parent=self,
            margins=(theme.space("three"), 12, theme.space("three"), 12),
            spacing=10,
        )
        self.state = StatusLine()
        column.addWidget(self.state)
        self.draft = ElidedLabel(role="small")  # what the running step is writing
        column.addWidget(self.draft)
        self.text = AnswerText(actions)
        column.addWidget(self.text)
        self.results = ResultCards(actions, most=MAX_RESULTS)
        column.addWidget(self.results)
        self.more = Label(role="small", wrap=True)
        column.addWidget(self.more)
        self._question = QVBoxLayout()
        column.addLayout(self._question)
        self.handed = _LargeQuestion()
        self.handed.button.clicked.connect(self.window_wanted)
        column.addWidget(self.handed)
        column.addLayout(self._foot())

    def _foot(self) -> QHBoxLayout:
        self.ending = ElidedLabel(role="small", widest=420)
        row = hbox(self.ending, spacing=theme.space("half"))
        self.copy = IconButton("copy", tr("Copy the answer"), kind="tiny")
        self.copy.clicked.connect(lambda: self._actions.copy_text.emit(self._turn().reply))
        self.speak = IconButton("speaker", tr("Read aloud"), kind="tiny")
        self.speak.clicked.connect(
            lambda: speak_or_silence(self._turn(), self._actions, read=self._read)
        )
        self._actions.reading.connect(self._show_reading)
        for button in (self.copy, self.speak):
            button.setIconSize(QSize(15, 15))
            row.addWidget(button)
        row.addStretch(1)
        return row

    @property
    def pending(self) -> PendingTurn | None:
        """The turn that is shown."""
        return self._shown

    def draw(self, pending: PendingTurn) -> None:
        """Show a turn, or what is new in it."""
        if pending is not self._shown:
            self._shown = pending
        turn = pending.turn
        self.asked.show_text(one_line(turn.text, limit=300))
        self.asked.setVisible(bool(turn.text.strip()))
        self.state.say(_going_on(pending), busy=not pending.waiting)
        self._draw_draft(turn)
        self.text.show_text(turn.reply, plain=is_plain(turn))
        self.text.setVisible(bool(turn.reply))
        self._draw_results(turn)
        self._draw_question(pending.question)
        self.text.mark_spoken(turn.speaking)
        self.ending.show_text(format_ending(turn))
        over = turn.status is not None
        self.ending.setVisible(over)
        self.copy.setVisible(over and bool(turn.reply))
        self.speak.setVisible(bool(turn.speaking) or (over and bool(turn.reply)))
        show_speak(self.speak, turn, read=self._read)

    def leave(self) -> None:
        """Show nothing; the panel of its question is removed."""
        self._shown = None
        self._draw_question(None)

    def _turn(self) -> Turn:
        assert self._shown is not None
        return self._shown.turn

    def _draw_draft(self, turn: Turn) -> None:
        """Show what the running step is writing, unless it is the answer already."""
        task = _running_task(turn)
        words = last_words(turn, task.id) if task and not turn.reply else ""
        self.draft.show_text(words, end=True)
        self.draft.setVisible(bool(words))

    def _draw_results(self, turn: Turn) -> None:
        words = " ".join(turn.reply.split())
        over = turn.status is not None
        made = [item for item in turn.artifacts if not is_in_reply(item, words)] if over else []
        self.results.show_results(made)
        left = len(made) - MAX_RESULTS
        words = trn("{count} more in the window", "{count} more in the window", left)
        self.more.show_or_hide(words if left > 0 else "")

    def _draw_question(self, question: EngineQuestion | None) -> None:
        if self.panel and self.panel.question is not question:
            discard(self.panel)
            self.panel = None
        large = question is not None and bool(question.plan or question.outline or question.code)
        if question and not large and self.panel is None:
            self.panel = QuestionPanel(question)
            self._question.addWidget(self.panel)
        self.handed.setVisible(large)
        if question and large:
            self.handed.ask(question)

    def _show_reading(self, turn: Turn | None) -> None:
        if self._shown:
            self._read = turn is not None and turn.id == self._shown.turn.id
            show_speak(self.speak, self._shown.turn, read=self._read)


class _LargeQuestion(QWidget):
    """A question that needs the larger window."""

    def __init__(self) -> None:
        super().__init__()
        row = hbox(Symbol("question", "accent", size=20), parent=self, spacing=theme.space())
        self.words = Label(role="strong", wrap=True)
        row.addWidget(self.words, 1)
        self.button = QPushButton(tr("View it in the window"))
        self.button.setProperty("kind", "primary")
        self.button.setAutoDefault(False)
        row.addWidget(self.button)
        self.hide()

    def ask(self, question: EngineQuestion) -> None:
        self.words.setText(one_line(question.text, limit=300))
        self.button.setAccessibleName(f"{self.words.text()} {self.button.text()}")


def _going_on(pending: PendingTurn) -> str:
    """The current step in a few words; "" if it is visible anyway, or nothing runs."""
    turn = pending.turn
    if pending.waiting:
        return pending.waiting
    if pending.question or turn.status is not None:
        return ""
    if words := current_activity(turn, asked=False):
        return words
    tasks = tuple(turn.plan or ())
    if not tasks or turn.reply:
        return ""
    running = _running_task(turn)
    over = sum(task.id in turn.results for task in tasks)
    name = one_line(running.type.name, limit=60) if running else ""
    step = tr("Step {number} of {count}", number=min(over + 1, len(tasks)), count=len(tasks))
    return f"{step} · {name}" if name else step


def _running_task(turn: Turn) -> Task | None:
    """The first step that runs."""
    return next((task for task in turn.plan or () if task.id in turn.running), None)


def is_over(turn: Turn) -> bool:
    """Whether the turn ended without being stopped."""
    return turn.status is not None and turn.status is not Status.CANCELLED
