"""The plan of a turn as it runs: as a graph or a list, with its editor."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.approvals import ApprovalPanel, label_button
from jarvis_desktop.ui.engine import EngineQuestion
from jarvis_desktop.ui.plan import descriptions
from jarvis_desktop.ui.plan.add_step import AddStepPanel
from jarvis_desktop.ui.plan.descriptions import name_of
from jarvis_desktop.ui.plan.editing import WHOLE_PLAN, PlanEditor, ports_for
from jarvis_desktop.ui.plan.graph_view import GraphView
from jarvis_desktop.ui.plan.list_view import PlanListView, TaskRow, step_menu
from jarvis_desktop.ui.plan.step_panel import StepPanel
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import GrowingTextField, button, reword
from jarvis_desktop.ui.widgets.icons import IconButton, StateIcon
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import bring_into_view, discard, hbox, vbox
from jarvis_desktop.ui.widgets.motion import fade_in
from jarvis_desktop.ui.widgets.timers import new_timer

MAX_STEP_NAMES = 5
MIN_TEXT_PX = 160  # pixels of text that are worth a line beside the buttons


class PlanFooter(QWidget):
    """What edits cost, and an instruction to change the plan; hidden while it is empty."""

    add_wanted = Signal()

    def __init__(self, editor: PlanEditor) -> None:
        super().__init__()
        self._editor = editor
        self._costs = self._strip()
        column = vbox(
            self._costs, parent=self, margins=(0, theme.space("half"), 0, 0), spacing=theme.space()
        )
        self.words = GrowingTextField(
            tr("Say what to change"), tr("Say what to change…"), role="field"
        )
        self.words.entered.connect(self._revise)
        self.words.textChanged.connect(self._show_ready)
        self.send = IconButton("send", tr("Change the plan this way"), colour="accent")
        self.send.clicked.connect(self._revise)
        self.add = IconButton("plus", tr("Add a step"), kind="", text=tr("Add a step"))
        self.add.clicked.connect(self.add_wanted)
        self._change_row = QWidget()
        hbox((self.words, 1), self.send, self.add, parent=self._change_row, spacing=theme.space())
        column.addWidget(self._change_row)
        self.busy = StateIcon()
        self.busy.show_state("running")
        self.busy.hide()
        self.message = Label(role="small", wrap=True)
        self.message.hide()
        news = hbox(self.busy, (self.message, 1), spacing=theme.space())
        column.addLayout(news)
        editor.message.connect(self.show_message)
        editor.revised.connect(self.words.clear)
        for settled in (self.drop, self.carry_out):
            settled.clicked.connect(lambda: self.show_message(""))
        self.hide()

    def _strip(self) -> QFrame:
        strip = QFrame()
        strip.setObjectName("costs")
        self._costs_row = row = QBoxLayout(QBoxLayout.Direction.LeftToRight, strip)
        row.setContentsMargins(12, theme.space(), theme.space(), theme.space())
        row.setSpacing(theme.space())
        self.costs = Label(wrap=True)
        self.drop = button(tr("Discard the changes"), kind="quiet", act=self._editor.drop)
        self.carry_out = button("", kind="primary", act=self._editor.carry_out)
        row.addWidget(self.costs, 1)
        answers = hbox(None, spacing=theme.space())
        for answer in (self.drop, self.carry_out):
            answers.addWidget(answer, alignment=Qt.AlignmentFlag.AlignBottom)
        row.addLayout(answers)
        return strip

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Stack the text and the buttons in a narrow window."""
        super().resizeEvent(event)
        unit = self.drop.sizeHint().width()
        self.add.setText(tr("Add a step") if event.size().width() > 3 * unit else "")
        beside = event.size().width() > 3 * unit + MIN_TEXT_PX
        ways = QBoxLayout.Direction
        self._costs_row.setDirection(ways.LeftToRight if beside else ways.TopToBottom)

    def draw(self, turn: Turn, *, unfolded: bool) -> None:
        """Show what edits cost; `unfolded` offers the instruction field."""
        editor = self._editor
        waits = editor.waits
        self._costs.setVisible(waits)
        if waits:
            self.costs.setText(self._cost(turn))
            during = editor.stage == "during"
            words = tr("Change it now") if during else tr("Run it again")
            reword(self.carry_out, words)
            self.carry_out.setEnabled(not editor.busy)
        self._change_row.setVisible(unfolded and editor.open)
        self.busy.setVisible(editor.revising)
        if editor.revising:
            self.show_message(tr("Changing the plan…"))
        elif self.message.text() == tr("Changing the plan…"):
            self.show_message("")
        self.words.setReadOnly(editor.busy)
        self._show_ready()
        self.setVisible(waits or self._change_row.isVisibleTo(self) or bool(self.message.text()))

    def show_message(self, words: str) -> None:
        """Show the outcome of the last instruction; "" clears it."""
        shown = one_line(words, limit=400)
        self.message.show_or_hide(shown)
        if shown:
            self.show()

    def _cost(self, turn: Turn) -> str:
        """Describe which steps will run again, and which stay."""
        editor = self._editor
        again = editor.again()
        if editor.stage == "after":
            # steps without a result are tried again
            done = {key for key, item in turn.results.items() if item.artifacts}
            again |= {task.id for task in editor.plan if task.id not in done}
        if not again:
            return tr("Everything that is done stays.")
        names = self._names(again)
        if len(again) == len(editor.plan):
            return tr("Everything runs again: {steps}.", steps=names)
        return tr("This runs again: {steps}. The rest stays.", steps=names)

    def _names(self, task_ids: Collection[int]) -> str:
        names = [name_of(task.type) for task in self._editor.plan if task.id in task_ids]
        shown = ", ".join(names[:MAX_STEP_NAMES])
        more = len(names) - MAX_STEP_NAMES
        return tr("{steps} and {count} more", steps=shown, count=more) if more > 0 else shown

    def _show_ready(self) -> None:
        self.send.setEnabled(bool(self.words.toPlainText().strip()) and not self._editor.busy)
        self.add.setEnabled(not self._editor.busy)

    def _revise(self) -> None:
        if self.send.isEnabled():
            self.show_message("")
            self._editor.revise(self.words.toPlainText())


MAX_GRAPH_STEPS = 250  # steps of the largest plan that is drawn as a graph
NO_STEP = -1


class PlanView(QFrame):
    """All steps of a plan, below a heading that folds them away.

    The answer comes first: a plan of one step is a quiet line from the start, and a larger one
    folds when it is done. What needs attention unfolds it.
    """

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self.setObjectName("plan")
        self._actions = actions
        self._turn: Turn | None = None
        self._steps: list[descriptions.CardState] = []
        self._reviewed = False
        self._unfolded: bool | None = None  # what the user chose, None before that
        self.panel: StepPanel | AddStepPanel | None = None
        """The open panel."""
        self.graph: GraphView | None = None
        """The graph, if the plan is shown as one."""
        self._outline: PlanListView | None = None
        self._clock = descriptions.Stopwatch()
        self.editor = PlanEditor(actions.plans, self)
        self._layout = vbox(
            self._head(), parent=self, margins=(theme.space("two"), 12, 12, 12), spacing=6
        )
        self._body = QVBoxLayout()
        self._layout.addLayout(self._body)
        self.trouble = Label(role="warning", wrap=True)
        self.trouble.hide()
        self._layout.addWidget(self.trouble)
        self.foot = PlanFooter(self.editor)
        self.foot.add_wanted.connect(self.add_step)
        self._layout.addWidget(self.foot)
        self._timer = new_timer(self, self._tick, 200, repeat=True)
        self.editor.changed.connect(self._redraw)
        self.editor.refused.connect(self._refused)
        if actions.plans:
            actions.plans.formed.connect(self._redraw)

    def _head(self) -> QHBoxLayout:
        self.heading = IconButton("down", tr("Hide the plan"), kind="fold", text=" ")
        self.heading.setIconSize(QSize(14, 14))
        self.heading.clicked.connect(lambda: self.unfold(self.folded))
        self.undo = IconButton("undo", tr("Undo"), kind="tiny", tip=tr("Undo (Ctrl+Z)"))
        self.redo = IconButton("redo", tr("Redo"), kind="tiny", tip=tr("Redo (Ctrl+Shift+Z)"))
        self.change = IconButton("edit", tr("Change this plan"), kind="tiny")
        self.whole = IconButton("whole", tr("Whole plan"), kind="tiny")
        self.form = IconButton("outline", tr("Show as a list"), kind="tiny")
        self.undo.clicked.connect(self.editor.undo)
        self.redo.clicked.connect(self.editor.redo)
        self.change.setCheckable(True)
        self.change.toggled.connect(self._redraw)
        self.change.clicked.connect(lambda on: self.foot.words.setFocus() if on else None)
        self.whole.clicked.connect(self._show_whole)
        self.form.clicked.connect(self._change_form)
        row = hbox(self.heading, None, spacing=2)
        for each in (self.undo, self.redo, self.change, self.whole, self.form):
            each.hide()
            row.addWidget(each)
        return row

    def rows(self) -> Iterator[TaskRow]:
        """The rows, if the plan is shown as a list."""
        return self._outline.rows() if self._outline else iter(())

    def draw(self, turn: Turn) -> None:
        """Show the plan of `turn`, which has one."""
        assert turn.plan is not None
        if turn is self._turn:
            return
        self._turn = turn
        self._clock.look(turn)
        self.editor.follow(turn, reviewed=self._reviewed)
        self._redraw()
        if turn.running:
            self._timer.start()
        else:
            self._timer.stop()

    def review(self, reviewed: bool) -> None:
        """Start or end the approval of the plan. The panel of a step closes with it, so that the
        plan folds and the answer is in sight when it is done."""
        if self._reviewed and not reviewed:
            self._close_panel()
            self._unfolded = None
            self.trouble.hide()
        self._reviewed = reviewed
        if self._turn:
            self.editor.follow(self._turn, reviewed=reviewed)

    @property
    def folded(self) -> bool:
        """Whether only the heading is shown."""
        turn = self._turn
        if turn is None or self._reviewed or self.panel or self.change.isChecked():
            return False
        if self.editor.waits or self.editor.busy:
            return False
        if self._unfolded is not None:
            return not self._unfolded
        if len(self._steps) == 1:
            return self._steps[0].state in ("waiting", "running", "done")
        return turn.status is Status.DONE

    def unfold(self, unfolded: bool = True) -> None:
        """Show the steps, or only the heading."""
        self._unfolded = unfolded
        if not unfolded:
            self._close_panel()
            self.change.setChecked(False)
        self._redraw()

    # drawing

    def _redraw(self) -> None:
        turn, editor = self._turn, self.editor
        if turn is None:
            return
        plan = editor.plan
        self._steps = descriptions.card_states(
            plan, turn, edited=editor.edited(), again=editor.again() if editor.waits else ()
        )
        folded = self.folded
        if not folded:
            held = self._choose_body(as_graph=self._is_graph(len(plan)))
            self._draw_steps()
            if held:
                self._body_view().focus_step(self._steps[0].task_id)
        self._draw_panel(turn)
        self._draw_heading(folded)
        reviewed = editor.stage == "before"
        edits = editor.draft.can_undo or editor.draft.can_redo
        self.undo.setVisible(editor.open and edits and not folded)
        self.redo.setVisible(self.undo.isVisibleTo(self))
        self.undo.setEnabled(editor.draft.can_undo and not editor.busy)
        self.redo.setEnabled(editor.draft.can_redo and not editor.busy)
        self.change.setVisible(editor.open and not reviewed and not folded)
        self._offer_whole()
        several = 1 < len(plan) <= MAX_GRAPH_STEPS and not folded
        self.form.setVisible(editor.controller is not None and several)
        if self.graph:
            self.form.show_icon("outline", tr("Show as a list"))
        else:
            self.form.show_icon("graph", tr("Show as a graph"))
        self.foot.draw(turn, unfolded=reviewed or self.change.isChecked())

    def _offer_whole(self) -> None:
        folds = self.graph is not None and self.graph.is_folded
        self.whole.setVisible(folds and not self.folded)

    def _draw_heading(self, folded: bool) -> None:
        turn = self._turn
        assert turn is not None
        plan = self.editor.plan
        words = descriptions.plan_heading(turn, plan)
        if folded and len(self._steps) == 1:
            words = self._steps[0].line(self._clock.words(self._steps[0]))
        self.heading.setText(words.replace("&", "&&"))
        self.heading.setAccessibleDescription(words)
        if folded:
            self.heading.show_icon("right", tr("Show the plan"))
        else:
            self.heading.show_icon("down", tr("Hide the plan"))
        body = self.graph or self._outline
        if body:
            body.setHidden(folded)
        one, half = theme.space(), theme.space("half")
        self._layout.setContentsMargins(
            *((0,) * 4 if folded else (theme.space("two"), one, 12, 12))
        )
        self._layout.setSpacing(half if folded else 6)
        for each in (self, self.heading):  # Qt does not look for a property of the parent again
            theme.restyle(each, quiet="true" if folded else "false")

    def _is_graph(self, steps: int) -> bool:
        controller = self.editor.controller
        return (
            controller is not None and controller.form == "graph" and 1 < steps <= MAX_GRAPH_STEPS
        )

    def _choose_body(self, *, as_graph: bool) -> bool:
        """Switch between graph and list. Return whether the old view had the keyboard."""
        if as_graph == (self.graph is not None) and (self.graph or self._outline):
            return False
        old: QWidget | None = self.graph or self._outline
        held = old is not None and old.isAncestorOf(self.window().focusWidget() or self)
        if isinstance(self.panel, StepPanel):
            self._close_panel()
        if old:
            self._body.removeWidget(old)
            discard(old)
        self.graph = self._outline = None
        body: GraphView | PlanListView
        if as_graph:
            body = self.graph = GraphView(self._could_take)
            body.connect_wanted.connect(self.editor.connect_steps)
            body.file_dropped.connect(self.editor.give_file)
            body.arranged.connect(self._offer_whole)
        else:
            body = self._outline = PlanListView()
        body.opened.connect(self.open_step)
        body.menu_wanted.connect(self._show_menu)
        body.remove_wanted.connect(self.remove_step)
        body.move_wanted.connect(self._move_step)
        self._body.insertWidget(0, body)
        return held

    def _body_view(self) -> GraphView | PlanListView:
        body = self.graph or self._outline
        assert body is not None
        return body

    def _draw_steps(self) -> None:
        times = {step.task_id: self._clock.words(step) for step in self._steps}
        plan, turn = self.editor.plan, self._turn
        assert turn is not None
        if self.graph:
            self.graph.editable = self.editor.open
            graph = {task.id: task.depends_on for task in plan}
            self.graph.show_plan(self._steps, graph, times)
        elif self._outline:
            more = frozenset(
                step.task_id
                for step in self._steps
                if self.editor.open
                or step.result
                or step.draft
                or step.picture
                or descriptions.why(turn, step.task_id)
            )
            self._outline.show_plan(self._steps, times, more=more)

    def _draw_panel(self, turn: Turn) -> None:
        if not isinstance(self.panel, StepPanel):
            if self.panel and not self.editor.open:
                self._close_panel()
            return
        if any(step.task_id == self.panel.task_id for step in self._steps):
            self.panel.draw(turn)
        else:
            self._close_panel()

    def _tick(self) -> None:
        if not self.isVisible():
            return
        if self.folded:
            self._draw_heading(True)
        else:
            running = [step for step in self._steps if step.state == "running"]
            times = {step.task_id: self._clock.words(step) for step in running}
            self._body_view().show_times(times)

    def _could_take(self, task_id: int) -> frozenset[int]:
        """The steps that could take the result of that one."""
        plan = self.editor.plan
        source = plan.task(task_id)
        others = (task for task in plan if task.id != task_id)
        return frozenset(task.id for task in others if ports_for(task, source))

    # user actions

    def open_step(self, task_id: int) -> None:
        """Open the panel of a step, or close it."""
        if isinstance(self.panel, StepPanel) and self.panel.task_id == task_id:
            self.close_panel()
            return
        self._close_panel()
        self.unfold()
        panel = StepPanel(task_id, self.editor, self._actions)
        assert self._turn is not None
        panel.draw(self._turn)
        self._put_panel(panel, task_id)

    def add_step(self) -> None:
        """Open the panel that adds a step."""
        self._close_panel()
        self.unfold()
        assert self._turn is not None
        self._put_panel(AddStepPanel(self.editor, self._turn.attachments), NO_STEP)

    def remove_step(self, task_id: int) -> None:
        """Remove a step and focus the one that follows."""
        order = [step.task_id for step in self._steps]
        at = order.index(task_id)
        if self.editor.remove(task_id):
            left = [step.task_id for step in self._steps]
            self._body_view().focus_step(left[min(at, len(left) - 1)])

    def close_panel(self) -> None:
        """Close the open panel."""
        was = self.panel.task_id if isinstance(self.panel, StepPanel) else NO_STEP
        self._close_panel()
        if was == NO_STEP and self._steps:
            was = self._steps[-1].task_id
        self._body_view().focus_step(was)

    def _put_panel(self, panel: StepPanel | AddStepPanel, task_id: int) -> None:
        self.panel = panel
        panel.closed.connect(self.close_panel)
        row = self._outline.row(task_id) if self._outline else None
        if row:
            row.show_details(panel)
        else:
            self._body.addWidget(panel)
        if self.graph:
            self.graph.show_open(task_id)
        panel.show()
        fade_in(panel)
        if self.editor.open:
            panel.take_focus()
        QTimer.singleShot(0, panel, lambda: bring_into_view(panel))

    def _close_panel(self) -> None:
        panel, self.panel = self.panel, None
        if panel is None:
            return
        if self._outline and isinstance(panel, StepPanel):
            row = self._outline.row(panel.task_id)
            if row:
                row.show_details(None)
        if self.graph:
            self.graph.show_open(NO_STEP)
        discard(panel)

    def _move_step(self, task_id: int, by: int) -> None:
        if self.editor.move(task_id, by):
            self._body_view().focus_step(task_id)

    def _show_menu(self, task_id: int, at: QPointF) -> None:
        menu = step_menu(self.editor, task_id, self, open_step=lambda: self.open_step(task_id))
        menu.popup(at.toPoint())

    def _show_whole(self) -> None:
        if self.graph:
            self.graph.show_whole(not self.graph.whole)

    def _change_form(self) -> None:
        if controller := self.editor.controller:
            controller.show_form("outline" if controller.form == "graph" else "graph")

    def _refused(self, task_id: int, words: str) -> None:
        """Show an error in the panel of its step if it is open, else below the steps."""
        inside = isinstance(self.panel, StepPanel) and self.panel.task_id == task_id
        if task_id == WHOLE_PLAN and isinstance(self.panel, AddStepPanel):
            inside = True
        shown = "" if inside else one_line(words, limit=400)
        self.trouble.show_or_hide(shown)

    def event(self, event: QEvent) -> bool:
        """Take Esc before the window's shortcuts do."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Escape
            and self.panel is not None
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc closes the panel; Ctrl+Z and Ctrl+Shift+Z undo and redo."""
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        shift = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        if event.key() == Qt.Key.Key_Escape and self.panel:
            self.close_panel()
        elif control and event.key() == Qt.Key.Key_Z:
            (self.editor.redo if shift else self.editor.undo)()
        elif control and event.key() == Qt.Key.Key_Y:
            self.editor.redo()
        else:
            super().keyPressEvent(event)


class PlanReviewPanel(ApprovalPanel):
    """Asks for approval of a plan, which is edited in its view."""

    def __init__(self, question: EngineQuestion, view: PlanView) -> None:
        """`view` shows the plan."""
        super().__init__(question)
        self._view = view
        self.editor: PlanEditor = view.editor
        view.review(True)
        self.head("review", question.text)
        self.column.addWidget(self.dictated(view.foot.words))
        row = hbox(None)
        for answer, text, kind, act in (
            (self.no, tr("Don’t run it"), "", self._decline),
            (self.yes, tr("Run the plan"), "primary", self._agree),
        ):
            answer.clicked.connect(act)
            row.addWidget(label_button(answer, text, kind=kind))
        self.column.addLayout(row)
        self.editor.changed.connect(self._show_state)
        self._show_state()

    def _show_state(self) -> None:
        self.yes.setEnabled(not self.editor.busy and not self.answered)
        edited = self.editor.draft.is_edited
        text = tr("Run the changed plan") if edited else tr("Run the plan")
        label_button(self.yes, text, kind="primary")

    def _agree(self) -> None:
        if self.yes.isEnabled() and self.answer(self.editor.approve()):
            self._view.review(False)

    def _decline(self) -> None:
        if self.answer(False):
            self.editor.drop()
            self._view.review(False)
