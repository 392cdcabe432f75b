"""The input bar: words, files, the talk button and its level meter."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from jarvis_desktop.core.goal import Terms
from jarvis_desktop.core.turn import Request
from jarvis_desktop.ui import phrases, theme
from jarvis_desktop.ui.chips import Chip, file_chip
from jarvis_desktop.ui.fields import Field
from jarvis_desktop.ui.flow import FlowLayout
from jarvis_desktop.ui.icons import IconButton
from jarvis_desktop.ui.recording import Recorder
from jarvis_desktop.ui.stopping import Stopping
from jarvis_desktop.ui.text import ElidedLabel

TALK_KEYS = "F4"
INVITING = "Ask for anything, or drop a file"
REACHING = "Say what is to be reached; the plan is made with you"
HINT = f"Enter sends · hold {TALK_KEYS} to talk"
GOAL = "Work on this in several steps, by a plan that you agree to first"
LISTENING = "Listening… Let go to send, Esc drops it"
TALK = "Hold to talk"
ANSWER = "Hold to speak your answer"
TALK_TIP = f"Hold this, or {TALK_KEYS}, while you speak"
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


class LevelMeter(QWidget):
    """The loudness of the last seconds as bars."""

    def __init__(self) -> None:
        super().__init__()
        self._levels: deque[float] = deque(maxlen=400)
        self.setMinimumHeight(28)
        self.setAccessibleName("Loudness")

    def clear(self) -> None:
        """Begin anew."""
        self._levels.clear()
        self.update()

    def add(self, level: float) -> None:
        """Take the loudness of now, 0 to 1."""
        self._levels.append(min(max(level, 0.0), 1.0))
        self.update()

    def levels(self) -> list[float]:
        """What is shown, oldest first."""
        return list(self._levels)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the bars, the newest at the right."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        step, width, middle = 6, 3.0, self.height() / 2
        count = self.width() // step
        shown = self.levels()[-count:]
        quiet = count - len(shown)
        for place in range(count):
            level = shown[place - quiet] if place >= quiet else 0.0
            painter.setBrush(theme.colour("accent" if place >= quiet else "border"))
            # Speech is mostly below a third of full scale; the root makes it visible.
            height = max(3.0, level**0.5 * (self.height() - 2))
            box = QRectF(place * step, middle - height / 2, width, height)
            painter.drawRoundedRect(box, 1.5, 1.5)
        painter.end()


class Composer(QFrame):
    """Makes Requests."""

    sent = Signal(object)
    """Carries a Request, without its `speak`."""
    stop_wanted = Signal()
    files_wanted = Signal()
    """The attach button was pressed."""
    goal_wanted = Signal(bool)
    """Whether what is asked from now on is worked on in several steps."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.setObjectName("composer")
        self._recorder = recorder
        self._chips: dict[Path, Chip] = {}
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 10, 10, 10)
        layout.setSpacing(6)
        self._chip_box = QWidget()
        self._flow = FlowLayout(self._chip_box)
        self._chip_box.hide()
        layout.addWidget(self._chip_box)
        self.field = Field("Your request", INVITING)
        self.meter = LevelMeter()
        self.meter.hide()
        layout.addWidget(self.field)
        layout.addLayout(self._buttons())
        self.field.entered.connect(self.send)
        self.field.textChanged.connect(self._show_state)
        self.field.focused.connect(self._show_focus)
        self._connect_recorder()
        self._busy = False
        self._answers = False
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
        self.talk.pressed.connect(self._recorder.begin)
        self.talk.released.connect(self._recorder.release)
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

    def _connect_recorder(self) -> None:
        self._clock = QTimer(self)
        self._clock.setInterval(100)
        self._clock.timeout.connect(self._show_state)
        self._recorder.began.connect(self._recording_began)
        self._recorder.ended.connect(self._recording_ended)
        self._recorder.level.connect(self.meter.add)

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
        self._busy = busy
        self.stop.setVisible(busy)
        self._show_state()

    def show_answers(self, answers: bool) -> None:
        """Say on the talk button whether what is said answers a question."""
        if answers != self._answers:
            self._answers = answers
            self.talk.setAccessibleName(ANSWER if answers else TALK)
            self.talk.setToolTip(ANSWER_TIP if answers else TALK_TIP)
            self.hint.show_text(ANSWER_HINT if answers else HINT)
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

    def send_spoken(self, recording: Path) -> None:
        """Send what was said, with what was typed and attached."""
        text, files = self.field.toPlainText(), self.files()
        request = Request(text=text, audio=recording, files=files, terms=self._terms())
        self.field.clear()
        self._clear_files()
        self.sent.emit(request)

    def _remove_file(self, path: Path) -> None:
        chip = self._chips.pop(path)
        self._flow.removeWidget(chip)
        chip.hide()
        chip.deleteLater()
        self._chip_box.setVisible(bool(self._chips))
        self._show_state()
        self.field.setFocus()

    def _clear_files(self) -> None:
        for path in self.files():
            self._remove_file(path)

    def _recording_began(self) -> None:
        self.meter.clear()
        self.meter.show()
        self.hint.hide()
        self._show_recording(True)
        self._clock.start()

    def _recording_ended(self) -> None:
        self._clock.stop()
        self.meter.hide()
        self.hint.show()
        self._show_recording(False)

    def _show_recording(self, recording: bool) -> None:
        self.talk.setProperty("recording", "true" if recording else "false")
        self.talk.style().unpolish(self.talk)
        self.talk.style().polish(self.talk)
        self._show_state()

    def _show_state(self) -> None:
        recording = self._recorder.active
        answer = ANSWER if self.width() >= ROOMY else SHORT_ANSWER
        waits = answer if self._answers else TALK
        self.talk.setText(phrases.clock(self._recorder.seconds) if recording else waits)
        inviting = REACHING if self.goal.isChecked() else INVITING
        sends = recording and not self._answers
        self.field.invite(LISTENING if sends else inviting)
        full = bool(self.field.toPlainText().strip()) or bool(self._chips)
        self.go.setEnabled(full and not recording)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Say what fits."""
        super().resizeEvent(event)
        self._show_state()

    def _show_focus(self, focused: bool) -> None:
        self.setProperty("focused", "true" if focused else "false")
        self.style().unpolish(self)
        self.style().polish(self)
