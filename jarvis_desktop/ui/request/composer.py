"""The inputs for a request, in the window and in the quick box: text, files, and voice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QMimeData, QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QTextCursor
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QWidget

from jarvis_desktop.core.goal import Terms
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.speech import Talking, Transcript
from jarvis_desktop.core.turn import Request
from jarvis_desktop.ui.pending_turn import StopScope
from jarvis_desktop.ui.request.attachments import Attachments
from jarvis_desktop.ui.voice.live_transcript import TalkStrip, UnheardNotice
from jarvis_desktop.ui.voice.talk import TalkController
from jarvis_desktop.ui.widgets import icons, labels, theme
from jarvis_desktop.ui.widgets.forms import GrowingTextField, reword
from jarvis_desktop.ui.widgets.icons import IconButton
from jarvis_desktop.ui.widgets.labels import ElidedLabel, Label
from jarvis_desktop.ui.widgets.layout import hbox, vbox
from jarvis_desktop.ui.widgets.level_meter import LevelMeter
from jarvis_desktop.ui.widgets.timers import new_timer

if TYPE_CHECKING:
    from jarvis_desktop.ui.session import WindowSession

TALK_KEY = "F4"
TALK_TIP = mark("Hold this, or {key}, while you speak; or tap it, speak, and stop")


class RequestInput(QFrame):
    """A text field with attachments, live speech, and buttons to talk, send and stop.

    Subclasses arrange these widgets.
    """

    sent = Signal(object)  # a Request, without its `speak`
    stop_wanted = Signal()

    def __init__(
        self,
        session: WindowSession,
        talker: TalkController,
        field: GrowingTextField,
        talk: IconButton,
    ) -> None:
        super().__init__()
        self._talker = talker
        self._send_pending = False  # whether to send the request once its files are inspected
        self.field, self.talk = field, talk
        self.attached = Attachments(session)
        self.strip, self.unheard = TalkStrip(TALK_KEY), UnheardNotice()
        self.meter = LevelMeter()
        self.meter.hide()
        self.stop = IconButton("stop", tr("Stop"), kind="quiet", text=tr("Stop"), colour="danger")
        self.stop.clicked.connect(self.stop_wanted)
        self.stop.hide()
        self.go = IconButton("send", tr("Send"), kind="round", colour="on_accent", act=self.send)
        self.go.setToolTip(tr("Send (Enter)"))
        talk.setToolTip(tr(TALK_TIP, key=TALK_KEY))
        talk.pressed.connect(talker.press)
        talk.released.connect(talker.release)
        self._clock = new_timer(self, self._show_state, 100, repeat=True)
        self.attached.changed.connect(self._attached)
        self.attached.typed.connect(self._insert)
        field.pasted.connect(self.take)
        field.entered.connect(self.send)
        field.textChanged.connect(self._show_state)
        talker.talked.connect(self._talked)
        talker.level.connect(self.meter.add)
        talker.partial.connect(self.strip.words.show_partial)
        self.unheard.again.connect(talker.start)
        for started in (field.textChanged, self.attached.changed):
            started.connect(session.wake)

    def is_empty(self) -> bool:
        """Whether there is nothing to send."""
        return not self.field.toPlainText().strip() and not self.attached.files()

    def send(self) -> None:
        """Send the text and the files, if there are any."""
        self._send_pending = self.attached.looks
        if self._send_pending or self.is_empty():
            return
        text, files = self.field.toPlainText(), self.attached.files()
        request = Request(text=text, files=files, terms=self._terms())
        self.clear()
        self.sent.emit(request)

    def send_spoken(self, heard: Transcript) -> None:
        """Send speech with the files; typed text stays."""
        files = self.attached.files()
        request = Request(heard=heard, files=files, speak=True, terms=self._terms())
        self.attached.clear()
        self.sent.emit(request)

    def clear(self) -> None:
        """Remove the text and the files."""
        self.field.clear()
        self.attached.clear()

    def take(self, held: QMimeData) -> bool:
        """Take dropped or pasted data. Return False if none of it can be used."""
        return self.attached.take(held)

    def take_over(self, other: RequestInput) -> None:
        """Move the text and the files of another input here."""
        self.field.setPlainText(other.field.toPlainText())
        self.attached.take_over(other.attached)

    def show_busy(self, busy: bool) -> None:
        """Show the stop button while something runs."""
        self.stop.setVisible(busy)
        self._show_state()

    def _terms(self) -> Terms | None:
        """The terms of the request, if it is a goal for agent mode."""
        return None

    def _attached(self) -> None:
        self._show_state()
        if self._send_pending and not self.attached.looks:
            self.send()

    def _insert(self, text: str) -> None:
        cursor = self.field.textCursor()
        before = self.field.toPlainText()[: cursor.position()]
        cursor.insertText(text if not before or before[-1].isspace() else f" {text}")

    def _talked(self, talking: Talking) -> None:
        self.strip.show_talking(talking)
        active = self._talker.active
        if active and self.meter.isHidden():
            self.meter.clear()
            self.unheard.hide()
            self._clock.start()
        elif not active:
            self._clock.stop()
        self.meter.setVisible(active)
        self._show_recording(active)
        self._show_state()

    def _show_recording(self, active: bool) -> None:
        raise NotImplementedError

    def _show_state(self) -> None:
        sends = not self.is_empty() and not self._talker.active
        self.go.setEnabled(sends)
        self.go.show_colour("on_accent" if sends else "muted")


INVITING = mark("Ask for anything, or drop a file")
GOAL_INVITING = mark("Say what you want to achieve; the plan is made with you")
HINT = mark("Enter sends · hold {key} to talk")
ACTIVITY_HINTS = {
    "working": mark("Working… Esc stops it, {key} interrupts it"),
    "elsewhere": mark("Another conversation is at work… Esc stops it"),
    "speaking": mark("Speaking… Esc silences it, {key} interrupts it"),
}
"""Hints while JARVIS is active."""
GOAL = mark("Work on this in several steps, following a plan that you approve first")
TALK = mark("Hold to talk")
ANSWER = mark("Hold to speak your answer")
SHORT_ANSWER = mark("Hold to answer")
WIDE_PX = 560  # in a narrower composer the talk button has a shorter text
ANSWER_HINT = mark("Enter sends a new request · hold {key} to answer")
ANSWER_TIP = mark("Hold this, or {key}, while you speak; you read it before it is sent")

_stops = {
    StopScope.TURN: (mark("Stop"), mark("Stop (Esc)")),
    StopScope.STEP: (
        mark("Stop this step"),
        mark("Stop the current step, and say what should change (Esc)"),
    ),
    StopScope.REST: (mark("End"), mark("End this request; its step was already stopped (Esc)")),
}


class Composer(RequestInput):
    """The input bar of the window."""

    files_wanted = Signal()  # the attach button was pressed
    goal_wanted = Signal(bool)  # whether the next requests are goals for agent mode

    def __init__(self, session: WindowSession, talker: TalkController) -> None:
        field = GrowingTextField(tr("Your request"), tr(INVITING))
        talk = IconButton("mic", tr(TALK), kind="talk", text=tr(TALK))
        super().__init__(session, talker, field, talk)
        self.setObjectName("composer")
        talk.setEnabled(False)
        vbox(
            self.attached,
            self.unheard,
            self.strip,
            field,
            self._buttons(),
            parent=self,
            margins=(12, 10, 10, 10),
            spacing=6,
        )
        field.focused.connect(self._show_focus)
        talker.talked.connect(session.wake)
        self._answers = False
        self._activity = ""
        self._show_state()

    def _buttons(self) -> QHBoxLayout:
        self.attach = IconButton("attach", tr("Attach files"), act=self.files_wanted)
        self.goal = IconButton(
            "goal", tr("Goal: work on this in several steps"), kind="quiet", text=tr("Goal")
        )
        self.goal.setCheckable(True)
        self.goal.setToolTip(f"{tr(GOAL)} (Ctrl+G)")
        self.goal.setAccessibleDescription(tr(GOAL))
        self.goal.toggled.connect(self._goal_toggled)
        self.hint = ElidedLabel(tr(HINT, key=TALK_KEY), role="small")
        self.show_stop(StopScope.TURN)
        buttons = (self.stop, self.talk, self.go)
        left = (self.attach, self.goal, (self.hint, 1), (self.meter, 1))
        return hbox(*left, *buttons, spacing=theme.space())

    def show_doing(self, activity: str) -> None:
        """Show what JARVIS is doing: "working", "elsewhere", "speaking" or ""."""
        if activity != self._activity:
            self._activity = activity
            self._show_hint()

    def show_answers(self, answers: bool) -> None:
        """Show on the talk button whether speech answers a question."""
        if answers != self._answers:
            self._answers = answers
            self.talk.setAccessibleName(tr(ANSWER if answers else TALK))
            self.talk.setToolTip(tr(ANSWER_TIP if answers else TALK_TIP, key=TALK_KEY))
            self.strip.answers = answers
            self._show_hint()
            self._show_state()

    def show_stop(self, scope: StopScope) -> None:
        """Show on the stop button what it stops."""
        text, tip = map(tr, _stops[scope])
        if text != self.stop.text() or not self.stop.toolTip():
            reword(self.stop, text)
            self.stop.setToolTip(tip)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_state()

    def _terms(self) -> Terms | None:
        """Nothing is approved in advance: each action is asked about when it comes up."""
        return Terms() if self.goal.isChecked() else None

    def _goal_toggled(self, wanted: bool) -> None:
        self._show_state()
        self.goal_wanted.emit(wanted)

    def _show_recording(self, active: bool) -> None:
        self.hint.setVisible(not active)
        theme.restyle(self.talk, recording="true" if active else "false")

    def _show_hint(self) -> None:
        usual = ANSWER_HINT if self._answers else ACTIVITY_HINTS.get(self._activity, HINT)
        self.hint.show_text(tr(usual, key=TALK_KEY))

    def _show_state(self) -> None:
        super()._show_state()
        answer = ANSWER if self.width() >= WIDE_PX else SHORT_ANSWER
        waits = answer if self._answers else TALK
        active = self._talker.active
        self.talk.setText(labels.clock(self._talker.seconds) if active else tr(waits))
        self.field.invite(tr(GOAL_INVITING if self.goal.isChecked() else INVITING))

    def _show_focus(self, focused: bool) -> None:
        theme.restyle(self, focused="true" if focused else "false")


FIRST_INVITING = mark("Ask, drop a file, or hold {key} and speak")
NEXT_INVITING = mark("Ask a follow-up")
LOGO_PX, ROW_PX = 26, 36
MAX_RECALLED = 50  # requests that are remembered while JARVIS runs


class QuickInput(RequestInput):
    """The input of the quick box: one line, with a history of requests."""

    def __init__(self, session: WindowSession, talker: TalkController) -> None:
        inviting = tr(FIRST_INVITING, key=TALK_KEY)
        field = GrowingTextField(tr("Your request"), inviting, role="quick")
        talk = IconButton("mic", tr("Hold to talk"), kind="icon")
        super().__init__(session, talker, field, talk)
        self._history: list[str] = []
        self._back = 0  # how many requests back the field is; 0 is the typed text
        self._typed = ""
        self.refused = Label(role="warning", wrap=True)
        self.refused.hide()
        self.attached.refused.connect(self.refused.show_or_hide)
        vbox(
            self._row(),
            self.attached,
            self.refused,
            self.strip,
            self.unheard,
            parent=self,
            margins=(theme.space("two"), 12, 12, 12),
            spacing=theme.space(),
        )
        field.installEventFilter(self)
        self.sent.connect(self._remember)
        self._show_state()

    def _row(self) -> QHBoxLayout:
        self.mark = Label()
        self.mark.setFixedSize(LOGO_PX, ROW_PX)
        ratio = self.devicePixelRatioF()
        self.mark.setPixmap(icons.application_icon().pixmap(QSize(LOGO_PX, LOGO_PX), ratio))
        self.meter.setFixedWidth(120)
        self.clock = Label(role="small")
        self.clock.hide()
        top = Qt.AlignmentFlag.AlignTop
        row = hbox((self.mark, top), (vbox(self.field, None, margins=(0, 6, 0, 0)), 1), spacing=12)
        for widget in (self.meter, self.clock, self.stop, self.talk, self.go):
            widget.setFixedHeight(ROW_PX)
            row.addWidget(widget, alignment=top)
        return row

    def clear(self) -> None:
        super().clear()
        self._back = 0
        self.refused.show_or_hide("")

    def offer(self, files: Sequence[Path]) -> None:
        """Attach files after inspecting them."""
        self.refused.show_or_hide("")
        self.attached.offer(files)

    def take(self, held: QMimeData) -> bool:
        self.refused.show_or_hide("")
        taken = super().take(held)
        self.field.setFocus()
        return taken

    def show_more(self, more: bool) -> None:
        """Invite to a first request, or to `more`."""
        self.field.invite(tr(NEXT_INVITING if more else FIRST_INVITING, key=TALK_KEY))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Recall earlier requests with Up and Down, like a shell."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            step = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}.get(Qt.Key(event.key()), 0)
            if step and not event.modifiers() and self._at_edge(up=step > 0):
                return self._recall(step)
        return super().eventFilter(watched, event)

    def _at_edge(self, *, up: bool) -> bool:
        cursor = self.field.textCursor()
        way = QTextCursor.MoveOperation.Up if up else QTextCursor.MoveOperation.Down
        return not cursor.movePosition(way)

    def _recall(self, step: int) -> bool:
        back = self._back + step
        if not 0 <= back <= len(self._history):
            return False
        if self._back == 0:
            self._typed = self.field.toPlainText()
        self._back = back
        self.field.setPlainText(self._history[-back] if back else self._typed)
        self.field.moveCursor(QTextCursor.MoveOperation.End)
        return True

    def _remember(self, request: Request) -> None:
        text = request.heard.text if request.heard else request.text
        if text.strip() and self._history[-1:] != [text]:
            self._history = [*self._history, text][-MAX_RECALLED:]

    def _show_recording(self, active: bool) -> None:
        self.clock.setVisible(active)
        self.talk.show_colour("danger" if active else "muted")

    def _show_state(self) -> None:
        super()._show_state()
        self.clock.setText(labels.clock(self._talker.seconds))


_command = (
    Qt.KeyboardModifier.ControlModifier
    | Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.MetaModifier
)


class TypeAnywhere(QWidget):
    """Sends letters that no inner widget took to the input field, so that users can just type.

    A space is not sent, because it presses buttons.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field: QWidget | None = None  # the field that gets the letters

    def keyPressEvent(self, event: QKeyEvent) -> None:
        text = event.text()
        is_letter = text.isprintable() and text.strip() and not event.modifiers() & _command
        if self.field and is_letter and self.field.isEnabled() and not self.field.hasFocus():
            self.field.setFocus()
            QApplication.sendEvent(self.field, event)
        else:
            super().keyPressEvent(event)
