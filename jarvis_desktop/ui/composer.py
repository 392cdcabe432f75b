"""The input bar: words, files, the talk button and what is shown of the voice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from jarvis_desktop.core.goal import Terms
from jarvis_desktop.core.hearing import Talking, Transcript
from jarvis_desktop.core.turn import Request
from jarvis_desktop.ui import phrases, theme
from jarvis_desktop.ui.chips import Chip, file_chip
from jarvis_desktop.ui.fields import Field
from jarvis_desktop.ui.flow import FlowLayout
from jarvis_desktop.ui.icons import IconButton
from jarvis_desktop.ui.level_meter import LevelMeter
from jarvis_desktop.ui.stopping import Stopping
from jarvis_desktop.ui.talk_strip import TalkStrip, UnheardNotice
from jarvis_desktop.ui.talking import Talker
from jarvis_desktop.ui.text import ElidedLabel

TALK_KEYS = "F4"
INVITING = "Ask for anything, or drop a file"
REACHING = "Say what is to be reached; the plan is made with you"
HINT = f"Enter sends · hold {TALK_KEYS} to talk"
DOING = {
    "working": f"Working… Esc stops it, {TALK_KEYS} interrupts it",
    "speaking": f"Speaking… Esc silences it, {TALK_KEYS} interrupts it",
}
"""What the hint says while something is done for the person."""
GOAL = "Work on this in several steps, by a plan that you agree to first"
TALK = "Hold to talk"
ANSWER = "Hold to speak your answer"
TALK_TIP = f"Hold this, or {TALK_KEYS}, while you speak; or tap it, speak, and stop"
SHORT_ANSWER = "Hold to answer"
ROOMY = 560
"""Pixels; in a narrower composer the talk button has fewer words."""
ANSWER_HINT = f"Enter sends a new request · hold {TALK_KEYS} to answer"
ANSWER_TIP = f"Hold this, or {TALK_KEYS}, while you speak; you read it before it is sent"

_stops = {
    Stopping.TURN: ("Stop", "Stop (Esc)"),
    Stopping.STEP: ("Stop this step", "Stop what is done now, and say what should change (Esc)"),
    Stopping.REST: ("End", "End this request; its step was stopped already (Esc)"),
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

    def __init__(self, talker: Talker) -> None:
        super().__init__()
        self.setObjectName("composer")
        self._talker = talker
        self._chips: dict[Path, Chip] = {}
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 10, 10, 10)
        layout.setSpacing(6)
        self._chip_box = QWidget()
        self._flow = FlowLayout(self._chip_box)
        self._chip_box.hide()
        layout.addWidget(self._chip_box)
        self.strip, self.unheard = TalkStrip(TALK_KEYS), UnheardNotice()
        self.field = Field("Your request", INVITING)
        self.meter = LevelMeter()
        self.meter.hide()
        for widget in (self.unheard, self.strip, self.field):
            layout.addWidget(widget)
        layout.addLayout(self._buttons())
        self.field.entered.connect(self.send)
        self.field.textChanged.connect(self._show_state)
        self.field.focused.connect(self._show_focus)
        self._connect_talker()
        self._answers = False
        self._doing = ""
        self._show_state()

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(theme.space())
        self.attach = IconButton("attach", "Attach files")
        self.attach.clicked.connect(self.files_wanted)
        self.goal = IconButton(
            "goal", "Goal: work on this in several steps", kind="quiet", text="Goal"
        )
        self.goal.setCheckable(True)
        self.goal.setToolTip(f"{GOAL} (Ctrl+G)")
        self.goal.setAccessibleDescription(GOAL)
        self.goal.toggled.connect(self._goal_toggled)
        self.hint = ElidedLabel(HINT, role="small")
        self.talk = IconButton("mic", TALK, kind="talk", text=TALK)
        self.talk.setToolTip(TALK_TIP)
        self.talk.setEnabled(False)
        self.talk.pressed.connect(self._talker.press)
        self.talk.released.connect(self._talker.release)
        self.stop = IconButton("stop", "Stop", kind="quiet", text="Stop", colour="danger")
        self.stop.clicked.connect(self.stop_wanted)
        self.show_stop(Stopping.TURN)
        self.stop.hide()
        self.go = IconButton("send", "Send", kind="round", colour="on_accent")
        self.go.setToolTip("Send (Enter)")
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

    def files(self) -> tuple[Path, ...]:
        """The files that will go with the next request."""
        return tuple(self._chips)

    def add_files(self, files: Sequence[Path]) -> None:
        """Attach files; each once."""
        for path in files:
            if path not in self._chips:
                chip = file_chip(path)
                chip.removed.connect(self._remove_file)
                self._chips[path] = chip
                self._flow.addWidget(chip)
        self._chip_box.setVisible(bool(self._chips))
        self._show_state()
        self.field.setFocus()

    def send(self) -> None:
        """Send what was typed and attached, if there is anything."""
        text = self.field.toPlainText()
        if not text.strip() and not self._chips:
            return
        request = Request(text=text, files=self.files(), terms=self._terms())
        self.field.clear()
        self._clear_files()
        self.sent.emit(request)

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
            self.talk.setAccessibleName(ANSWER if answers else TALK)
            self.talk.setToolTip(ANSWER_TIP if answers else TALK_TIP)
            self.strip.show_answers(answers)
            self._show_hint()
            self._show_state()

    def show_stop(self, stops: Stopping) -> None:
        """Say on the stop button what it ends."""
        text, tip = _stops[stops]
        if text != self.stop.text() or not self.stop.toolTip():
            self.stop.setText(text)
            self.stop.setAccessibleName(text)
            self.stop.setToolTip(tip)

    def _terms(self) -> Terms | None:
        """Nothing is agreed to in advance: what is to be done is asked about when it comes."""
        return Terms() if self.goal.isChecked() else None

    def _goal_toggled(self, wanted: bool) -> None:
        self._show_state()
        self.goal_wanted.emit(wanted)

    def send_spoken(self, heard: Transcript) -> None:
        """Send what was said, with what is attached; what was typed stays."""
        request = Request(heard=heard, files=self.files(), speak=True, terms=self._terms())
        self._clear_files()
        self.sent.emit(request)

    def _remove_file(self, path: Path) -> None:
        chip = self._chips.pop(path)
        self._flow.removeWidget(chip)
        chip.hide()
        chip.deleteLater()
        self._chip_box.setVisible(bool(self._chips))
        self._show_state()
        if not self._talker.held:
            self.field.setFocus()

    def _clear_files(self) -> None:
        for path in self.files():
            self._remove_file(path)

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
        self.hint.show_text(usual)

    def _show_state(self) -> None:
        active = self._talker.active
        answer = ANSWER if self.width() >= ROOMY else SHORT_ANSWER
        waits = answer if self._answers else TALK
        self.talk.setText(phrases.clock(self._talker.seconds) if active else waits)
        self.field.invite(REACHING if self.goal.isChecked() else INVITING)
        full = bool(self.field.toPlainText().strip()) or bool(self._chips)
        self.go.setEnabled(full and not active)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Say what fits."""
        super().resizeEvent(event)
        self._show_state()

    def _show_focus(self, focused: bool) -> None:
        self.setProperty("focused", "true" if focused else "false")
        self.style().unpolish(self)
        self.style().polish(self)
