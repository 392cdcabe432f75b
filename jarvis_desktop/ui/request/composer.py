"""The input bar: words, files, the talk button and what is shown of the voice.

Letters typed where nothing takes them begin a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QVBoxLayout, QWidget

from jarvis_desktop.core.goal import Terms
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.speech import Talking, Transcript
from jarvis_desktop.core.turn import Request
from jarvis_desktop.ui.exchange import StopScope
from jarvis_desktop.ui.request.attachments import Attachments
from jarvis_desktop.ui.voice.live_transcript import TalkStrip, UnheardNotice
from jarvis_desktop.ui.voice.talk import Talker
from jarvis_desktop.ui.widgets import labels, theme
from jarvis_desktop.ui.widgets.flow_layout import LevelMeter
from jarvis_desktop.ui.widgets.forms import GrowingTextField
from jarvis_desktop.ui.widgets.icons import IconButton
from jarvis_desktop.ui.widgets.labels import ElidedLabel

if TYPE_CHECKING:
    from jarvis_desktop.ui.session import WindowSession


TALK_KEYS = "F4"
INVITING = mark("Ask for anything, or drop a file")
REACHING = mark("Say what is to be reached; the plan is made with you")
HINT = mark("Enter sends · hold {key} to talk")
DOING = {
    "working": mark("Working… Esc stops it, {key} interrupts it"),
    "speaking": mark("Speaking… Esc silences it, {key} interrupts it"),
}
"""What the hint says while something is done for the person."""
GOAL = mark("Work on this in several steps, by a plan that you agree to first")
TALK = mark("Hold to talk")
ANSWER = mark("Hold to speak your answer")
TALK_TIP = mark("Hold this, or {key}, while you speak; or tap it, speak, and stop")
SHORT_ANSWER = mark("Hold to answer")
ROOMY = 560
"""Pixels; in a narrower composer the talk button has fewer words."""
ANSWER_HINT = mark("Enter sends a new request · hold {key} to answer")
ANSWER_TIP = mark("Hold this, or {key}, while you speak; you read it before it is sent")

_stops = {
    StopScope.TURN: (mark("Stop"), mark("Stop (Esc)")),
    StopScope.STEP: (
        mark("Stop this step"),
        mark("Stop what is done now, and say what should change (Esc)"),
    ),
    StopScope.REST: (mark("End"), mark("End this request; its step was stopped already (Esc)")),
}


class Composer(QFrame):
    """Makes Requests."""

    sent = Signal(object)
    """Carries a Request, without its `speak`."""
    stop_wanted = Signal()
    files_wanted = Signal()
    """The attach button was pressed."""
    goal_wanted = Signal(bool)
    """Whether what is asked from now on is worked on in several steps."""

    def __init__(self, session: WindowSession, talker: Talker) -> None:
        super().__init__()
        self.setObjectName("composer")
        self._talker = talker
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 10, 10, 10)
        layout.setSpacing(6)
        self.attached = Attachments(session)
        layout.addWidget(self.attached)
        self.strip, self.unheard = TalkStrip(TALK_KEYS), UnheardNotice()
        self.field = GrowingTextField(tr("Your request"), tr(INVITING))
        self.meter = LevelMeter()
        self.meter.hide()
        for widget in (self.unheard, self.strip, self.field):
            layout.addWidget(widget)
        layout.addLayout(self._buttons())
        self._sends = False
        """Whether the request is to go as soon as its files were looked over."""
        self.attached.changed.connect(self._attached)
        self.attached.typed.connect(self._insert)
        self.field.pasted.connect(self.attached.take)
        self.field.entered.connect(self.send)
        self.field.textChanged.connect(self._show_state)
        self.field.focused.connect(self._show_focus)
        self._connect_talker()
        for begins in (self.field.textChanged, self.attached.changed, talker.talked):
            begins.connect(session.wake)
        self._answers = False
        self._doing = ""
        self._show_state()

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(theme.space())
        self.attach = IconButton("attach", tr("Attach files"))
        self.attach.clicked.connect(self.files_wanted)
        self.goal = IconButton(
            "goal", tr("Goal: work on this in several steps"), kind="quiet", text=tr("Goal")
        )
        self.goal.setCheckable(True)
        self.goal.setToolTip(f"{tr(GOAL)} (Ctrl+G)")
        self.goal.setAccessibleDescription(tr(GOAL))
        self.goal.toggled.connect(self._goal_toggled)
        self.hint = ElidedLabel(tr(HINT, key=TALK_KEYS), role="small")
        self.talk = IconButton("mic", tr(TALK), kind="talk", text=tr(TALK))
        self.talk.setToolTip(tr(TALK_TIP, key=TALK_KEYS))
        self.talk.setEnabled(False)
        self.talk.pressed.connect(self._talker.press)
        self.talk.released.connect(self._talker.release)
        self.stop = IconButton("stop", tr("Stop"), kind="quiet", text=tr("Stop"), colour="danger")
        self.stop.clicked.connect(self.stop_wanted)
        self.show_stop(StopScope.TURN)
        self.stop.hide()
        self.go = IconButton("send", tr("Send"), kind="round", colour="on_accent")
        self.go.setToolTip(tr("Send (Enter)"))
        self.go.clicked.connect(self.send)
        row.addWidget(self.attach)
        row.addWidget(self.goal)
        row.addWidget(self.hint, 1)
        row.addWidget(self.meter, 1)
        for button in (self.stop, self.talk, self.go):
            row.addWidget(button)
        return row

    def _connect_talker(self) -> None:
        self._clock = QTimer(self)
        self._clock.setInterval(100)
        self._clock.timeout.connect(self._show_state)
        talker = self._talker
        talker.talked.connect(self._talked)
        talker.level.connect(self.meter.add)
        talker.partial.connect(self.strip.show_partial)
        self.unheard.again.connect(talker.start)

    def send(self) -> None:
        """Send what was typed and attached, if there is anything."""
        text = self.field.toPlainText()
        files = self.attached.files()
        self._sends = self.attached.looks
        if self._sends or (not text.strip() and not files):
            return
        request = Request(text=text, files=files, terms=self._terms())
        self.field.clear()
        self.attached.clear()
        self.sent.emit(request)

    def take_over(self, other: Composer) -> None:
        """Go on with the request that another one was to make."""
        self.field.setPlainText(other.field.toPlainText())
        self.attached.take_over(other.attached)

    def show_busy(self, busy: bool) -> None:
        """Show the stop button while something runs."""
        self.stop.setVisible(busy)
        self._show_state()

    def show_doing(self, doing: str) -> None:
        """Say what is done for the person: "working", "speaking" or ""."""
        if doing != self._doing:
            self._doing = doing
            self._show_hint()

    def show_answers(self, answers: bool) -> None:
        """Say on the talk button whether what is said answers a question."""
        if answers != self._answers:
            self._answers = answers
            self.talk.setAccessibleName(tr(ANSWER if answers else TALK))
            self.talk.setToolTip(tr(ANSWER_TIP if answers else TALK_TIP, key=TALK_KEYS))
            self.strip.show_answers(answers)
            self._show_hint()
            self._show_state()

    def show_stop(self, stops: StopScope) -> None:
        """Say on the stop button what it ends."""
        text, tip = map(tr, _stops[stops])
        if text != self.stop.text() or not self.stop.toolTip():
            self.stop.setText(text)
            self.stop.setAccessibleName(text)
            self.stop.setToolTip(tip)

    def _terms(self) -> Terms | None:
        """Nothing is agreed to in advance: what is to be done is asked about when it comes."""
        return Terms() if self.goal.isChecked() else None

    def _attached(self) -> None:
        self._show_state()
        if self._sends and not self.attached.looks:
            self.send()

    def _insert(self, text: str) -> None:
        cursor = self.field.textCursor()
        before = self.field.toPlainText()[: cursor.position()]
        cursor.insertText(text if not before or before[-1].isspace() else f" {text}")

    def _goal_toggled(self, wanted: bool) -> None:
        self._show_state()
        self.goal_wanted.emit(wanted)

    def send_spoken(self, heard: Transcript) -> None:
        """Send what was said, with what is attached; what was typed stays."""
        files = self.attached.files()
        request = Request(heard=heard, files=files, speak=True, terms=self._terms())
        self.attached.clear()
        self.sent.emit(request)

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
        self.hint.setVisible(not active)
        shown = "true" if active else "false"
        if self.talk.property("recording") != shown:
            self.talk.setProperty("recording", shown)
            self.talk.style().unpolish(self.talk)
            self.talk.style().polish(self.talk)
        self._show_state()

    def _show_hint(self) -> None:
        usual = ANSWER_HINT if self._answers else DOING.get(self._doing, HINT)
        self.hint.show_text(tr(usual, key=TALK_KEYS))

    def _show_state(self) -> None:
        active = self._talker.active
        answer = ANSWER if self.width() >= ROOMY else SHORT_ANSWER
        waits = answer if self._answers else TALK
        self.talk.setText(labels.clock(self._talker.seconds) if active else tr(waits))
        self.field.invite(tr(REACHING if self.goal.isChecked() else INVITING))
        full = bool(self.field.toPlainText().strip()) or bool(self.attached.files())
        self.go.setEnabled(full and not active)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_state()

    def _show_focus(self, focused: bool) -> None:
        self.setProperty("focused", "true" if focused else "false")
        self.style().unpolish(self)
        self.style().polish(self)


_command = (
    Qt.KeyboardModifier.ControlModifier
    | Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.MetaModifier
)


class TypeAnywhere(QWidget):
    """Holds a field with what stands around it. Whoever just types, with the keyboard on a button
    or an answer, loses no letter; a space is left alone, it presses buttons."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.field: QWidget | None = None
        """It takes the letters."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        text = event.text()
        is_letter = text.isprintable() and text.strip() and not event.modifiers() & _command
        if self.field and is_letter and self.field.isEnabled() and not self.field.hasFocus():
            self.field.setFocus()
            QApplication.sendEvent(self.field, event)
        else:
            super().keyPressEvent(event)
