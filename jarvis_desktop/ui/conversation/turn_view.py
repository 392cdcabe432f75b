"""One turn on screen: the request, the plan, the results and the answer."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QEnterEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QPlainTextEdit,
    QSizePolicy,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.goal import Outline
from jarvis_desktop.core.i18n import tr, trn
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation import turn_footer
from jarvis_desktop.ui.conversation.answer import AnswerText
from jarvis_desktop.ui.conversation.approvals import (
    ApprovalPanel,
    CodeReview,
    OutlineReview,
    QuestionPanel,
)
from jarvis_desktop.ui.conversation.goal_view import GoalView
from jarvis_desktop.ui.conversation.markdown import MarkdownTable
from jarvis_desktop.ui.conversation.prose import Prose
from jarvis_desktop.ui.conversation.table_view import TableBlock
from jarvis_desktop.ui.conversation.turn_details import (
    SourceChips,
    attempts_table,
    format_api_calls,
    sources,
)
from jarvis_desktop.ui.conversation.turn_footer import (
    StatusLine,
    TurnFooter,
    copy_answer,
    turn_menu,
)
from jarvis_desktop.ui.engine import EngineQuestion
from jarvis_desktop.ui.media.cards import ResultCards
from jarvis_desktop.ui.plan.plan_view import PlanReviewPanel, PlanView
from jarvis_desktop.ui.request.attachments import AttachmentChip
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.icons import Symbol
from jarvis_desktop.ui.widgets.labels import FIRST_CHARACTERS, Label, TextView
from jarvis_desktop.ui.widgets.layout import FlowLayout, discard, hbox, vbox
from jarvis_desktop.ui.widgets.motion import fade_in

MAX_CHIPS = 100


class RequestBubble(QWidget):
    """The words of a request and its attachments, in a bubble."""

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self._actions = actions
        self._bubble = QFrame()
        self._bubble.setObjectName("request")
        self._bubble.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.text = TextView(tr("Your request"), hug=True)
        hbox(self.text, parent=self._bubble, margins=(14, 9, 14, 9))
        layout = vbox(
            hbox(None, (self._bubble, 100)),
            parent=self,
            margins=(theme.space("four") * 2, 0, 0, 0),
            spacing=theme.space(),
        )
        self._column = layout
        self._chips: QWidget | None = None
        self._drawn: tuple[Artifact, ...] = ()

    def draw(self, turn: Turn) -> None:
        """Show the request of `turn`."""
        words = turn.text
        if len(words) > FIRST_CHARACTERS:
            length = trn("{count} character", "{count} characters", len(turn.text))
            words = f"{words[:FIRST_CHARACTERS]}… ({length})"
        self._bubble.setVisible(bool(words.strip()))
        self.text.show_text(words)
        if turn.attachments != self._drawn:
            self._drawn = turn.attachments
            self._draw_chips(turn.attachments)

    def _draw_chips(self, attachments: tuple[Artifact, ...]) -> None:
        if self._chips:
            discard(self._chips)
        self._chips = QWidget()
        flow = FlowLayout(self._chips, right=True)
        for artifact in attachments[:MAX_CHIPS]:
            chip = AttachmentChip(artifact)
            if artifact.path:
                chip.let_open(partial(self._open, artifact))
            flow.addWidget(chip)
        self._column.addWidget(self._chips)
        self._chips.setVisible(bool(attachments))

    def _open(self, artifact: Artifact) -> None:
        if artifact.kind is Kind.IMAGE:
            self._actions.enlarge.emit(artifact)
        else:
            self._actions.open(self, artifact)


MAX_CARDS = 60  # results that get a card; others are reached through their steps

MAX_TRACE_LINES = 100


class TurnView(QFrame):
    """Draws a Turn; redrawing only touches what changed. Rare parts are built on first use."""

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self.setObjectName("turn")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._actions = actions
        self.turn: Turn | None = None
        """The turn that is shown."""
        self._plan: PlanView | None = None
        self._goal: GoalView | None = None
        self._reviewed: Outline | None = None
        self._notes: list[str] = []
        self.panel: ApprovalPanel | None = None
        """The question that waits for its answer."""
        self._hovered = self._held = self._newest = self._read = False
        self._plain: tuple[str, bool] = "", False
        self._reply_is_file = False
        self._spoken = ""  # the sentence that is marked
        side = theme.space()
        layout = vbox(parent=self, margins=(side, side, side, theme.space("two")), spacing=12)
        self.request = RequestBubble(actions)
        self._goal_place, self._plan_place, self._question_place = _Slot(), _Slot(), _Slot()
        self._results = ResultCards(actions, most=MAX_CARDS)
        self._notes_place = _Slot(spacing=4)
        self.status = StatusLine()
        self.reply = AnswerText(actions)
        self.sources: SourceChips | None = None
        self.details: TurnDetails | None = None
        self.foot = TurnFooter(actions)
        self.foot.menu_wanted.connect(self._open_menu_below)
        self.foot.closer_wanted.connect(self._look_closer)
        actions.reading.connect(self._show_reading)
        for widget in (
            self.request,
            self._goal_place,
            self.status,
            self._plan_place,
            self._question_place,
            self._results,
            self.reply,
            self._notes_place,
            self.foot,
        ):
            layout.addWidget(widget)

    def draw(
        self, turn: Turn, *, waiting: str = "", question: EngineQuestion | None = None
    ) -> None:
        """Show `turn`; `waiting` says why it has not started, `question` what it asks."""
        self.turn = turn
        self.setAccessibleName(turn_footer.spoken_name(turn))
        self.request.draw(turn)
        self._draw_goal(turn, question)
        doing = waiting or turn_footer.current_activity(turn, asked=question is not None)
        self.status.say(doing, busy=not waiting)
        self._draw_plan(turn, question)
        self._draw_question(question)
        self._draw_results(turn)
        self.reply.setVisible(bool(turn.reply) and not self._reply_is_file)
        words = turn_footer.without_material(turn)
        self.reply.show_text(words, plain=self._is_plain(turn))
        if turn.speaking != self._spoken:
            self._spoken = turn.speaking
            self.reply.mark_spoken(turn.speaking)
        self._draw_sources(turn)
        self._draw_notes(turn)
        self.foot.draw(turn, closer=bool(turn.trace or turn.results or turn.rounds))
        if self.details and not self.details.isHidden():
            self.details.draw(turn)

    def height_at(self, width: int) -> int:
        """The height at that width, in pixels."""
        layout = self.layout()
        assert layout is not None
        if layout.hasHeightForWidth():
            return int(layout.totalHeightForWidth(width))
        return int(layout.totalSizeHint().height())

    def part_at(self, y: int) -> QWidget | None:
        """The part at that height."""
        found = None
        layout = self.layout()
        for number in range(layout.count() if layout else 0):
            item = layout.itemAt(number) if layout else None
            part = item.widget() if item else None
            if part and not part.isHidden() and part.y() <= y:
                found = part
        return found

    def look_at(self, *, held: bool | None = None, newest: bool | None = None) -> None:
        """Set whether it has the keyboard, or is the newest; either shows its buttons."""
        self._held = self._held if held is None else held
        self._newest = self._newest if newest is None else newest
        self.foot.look_at(self._hovered or self._held or self._newest)

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self._hovered = True
        self.look_at()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._hovered = False
        self.look_at()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The usual keys, if the turn itself has the keyboard."""
        turn, actions = self.turn, self._actions
        key = event.key()
        over = turn is not None and turn.status is not None
        if turn is None or not self.hasFocus():
            super().keyPressEvent(event)
        elif event.matches(QKeySequence.StandardKey.Copy) and turn.reply:
            copy_answer(turn, actions)
        elif key == Qt.Key.Key_F2:
            actions.edit_turn.emit(turn)
        elif key == Qt.Key.Key_F5 and over:
            actions.answer_again.emit(turn)
        elif key == Qt.Key.Key_Delete and over and turn.id:
            actions.delete_turn.emit(turn)
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the menu of the turn, with what is under the pointer."""
        under = self.childAt(event.pos())
        prose = under.parentWidget() if under else None
        link = ""
        if isinstance(prose, Prose):
            link = prose.anchorAt(prose.viewport().mapFrom(self, event.pos()))
        self.open_menu(event.globalPos(), link=link)

    def open_menu(self, at: QPoint, *, link: str = "") -> None:
        """Open the menu of the turn at a place on the screen."""
        if self.turn:
            made = turn_menu(
                self.turn,
                self._actions,
                self,
                selected=self.reply.selected() or _selected_in(self),
                link=link,
                read=self._read,
            )
            made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            made.popup(at)

    def _open_menu_below(self) -> None:
        button = self.foot.more
        self.open_menu(button.mapToGlobal(button.rect().bottomLeft()))

    def _show_reading(self, turn: Turn | None) -> None:
        self._read = bool(turn and self.turn and turn.id == self.turn.id)
        self.foot.show_reading(self._read)

    def _is_plain(self, turn: Turn) -> bool:
        if self._plain[0] != turn.reply:
            self._plain = turn.reply, turn_footer.is_plain(turn)
        return self._plain[1]

    def _draw_question(self, question: EngineQuestion | None) -> None:
        if self.panel and self.panel.question is not question:
            if isinstance(self.panel, OutlineReview):
                self._reviewed = self.panel.edited
            discard(self.panel)
            self.panel = None
        if question and self.panel is None:
            self.panel = self._panel_for(question)
            self._question_place.column.addWidget(self.panel)
            self._question_place.show()
            fade_in(self._question_place)
        self._question_place.setVisible(question is not None)

    def _panel_for(self, question: EngineQuestion) -> ApprovalPanel:
        if question.outline:
            return OutlineReview(question, self._reviewed)
        if question.plan and self._plan:
            return PlanReviewPanel(question, self._plan)
        return CodeReview(question) if question.code else QuestionPanel(question)

    def _draw_goal(self, turn: Turn, question: EngineQuestion | None) -> None:
        if not turn.agentic:
            return
        if self._goal is None:
            self._goal = GoalView(self._actions, unfolded=turn.status is None)
            self._goal_place.column.addWidget(self._goal)
        self._goal.draw(turn, reviewed=question.outline if question else None)
        self._goal_place.setVisible(not self._goal.isHidden())

    def _draw_plan(self, turn: Turn, question: EngineQuestion | None) -> None:
        if turn.plan is None or not len(turn.plan):
            return
        # in agent mode this is one round's work, whose outcome the round shows
        if turn.agentic and (turn.status is not None or turn_footer.all_ended(turn)):
            self._plan_place.hide()
            return
        if self._plan is None:
            self._plan = PlanView(self._actions)
            self._plan_place.column.addWidget(self._plan)
        # who did a single step is told below the answer; what is asked about it stands above
        below = len(turn.plan) == 1 and not (question and question.plan)
        self._insert(self._plan_place, after=self._notes_place if below else self.status)
        self._plan_place.show()
        self._plan.draw(turn)

    def _draw_results(self, turn: Turn) -> None:
        reply = " ".join(turn.reply.split())
        made = () if turn.agentic and turn.status is None else turn.artifacts[:MAX_CARDS]
        files = [item for item in made if turn_footer.is_reply_as_file(item, reply)]
        self._reply_is_file = bool(files)
        wanted = files or [item for item in made if not turn_footer.is_in_reply(item, reply)]
        # Why there is no answer comes first, and what it would have been made of does not hide it.
        material = turn_footer.is_material(turn)
        self._insert(self._results, after=self.reply if material else self._question_place)
        self._results.show_results(wanted, cut=material)

    def _draw_sources(self, turn: Turn) -> None:
        if self.sources is None and turn.status and sources(turn):
            self.sources = SourceChips(self._actions)
            self._insert(self.sources, after=self.reply)
        if self.sources:
            self.sources.draw(turn)

    def _draw_notes(self, turn: Turn) -> None:
        for note in turn.notes[len(self._notes) :]:
            self._notes.append(note)
            holder = QWidget()
            hbox(
                (Symbol("note", size=16), Qt.AlignmentFlag.AlignTop),
                (Label(note[:2000], role="small", wrap=True), 1),
                parent=holder,
                spacing=6,
            )
            self._notes_place.column.addWidget(holder)
        self._notes_place.setVisible(bool(self._notes))

    def _insert(self, widget: QWidget, *, after: QWidget) -> None:
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        if layout.indexOf(widget) != layout.indexOf(after) + 1:
            layout.removeWidget(widget)
            layout.insertWidget(layout.indexOf(after) + 1, widget)

    def _look_closer(self) -> None:
        if self.details is None:
            self.details = TurnDetails(self._actions)
            self._insert(self.details, after=self.foot)
        self.details.setVisible(self.details.isHidden())
        if self.turn and not self.details.isHidden():
            self.details.draw(self.turn)
        self.foot.show_closer(not self.details.isHidden())


class TurnDetails(QFrame):
    """How a turn was answered: who did what, which prompts, what was left out."""

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self.setObjectName("details")
        self._actions = actions
        self._grid: MarkdownTable | None = None
        self.account: TableBlock | None = None
        self.lines = Label(role="small", wrap=True)
        self.lines.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._column = vbox(
            self.lines,
            parent=self,
            margins=(12, theme.space(), 12, theme.space()),
            spacing=theme.space(),
        )
        self.hide()

    def draw(self, turn: Turn) -> None:
        """Show what is known of `turn`."""
        grid = attempts_table(turn)
        if grid and grid != self._grid:
            self._grid = grid
            if self.account is None:
                self.account = TableBlock(grid, self._actions)
                self._column.insertWidget(0, Label(tr("Who did what"), role="heading"))
                self._column.insertWidget(1, self.account)
            else:
                self.account.show_grid(grid)
        lines = (one_line(line, limit=400) for line in turn.trace[:MAX_TRACE_LINES])
        shown = "\n".join(filter(None, (format_api_calls(turn), *lines)))
        self.lines.setVisible(bool(shown))
        if shown != self.lines.accessibleName():
            self.lines.setAccessibleName(shown)
            self.lines.setText(shown)


def _selected_in(view: QWidget) -> str:
    """The selected text of the focused field in a turn."""
    field = QApplication.focusWidget()
    if isinstance(field, QTextEdit | QPlainTextEdit) and view.isAncestorOf(field):
        return field.textCursor().selectedText().replace("\u2029", "\n").replace("\u2028", "\n")
    return ""


class _Slot(QWidget):
    """A place in the column that is hidden while it is empty."""

    def __init__(self, *, spacing: int = 8) -> None:
        super().__init__()
        self.column = vbox(parent=self, spacing=spacing)
        self.hide()
