"""The input bar: words, files, the talk button and its level meter."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPlainTextEdit,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from jarvis_desktop.core.turn import Request
from jarvis_desktop.ui import phrases, theme
from jarvis_desktop.ui.chips import Chip, file_chip
from jarvis_desktop.ui.flow import FlowLayout
from jarvis_desktop.ui.icons import IconButton
from jarvis_desktop.ui.recording import Recorder
from jarvis_desktop.ui.text import Label

TALK_KEYS = "F4"
MOST_LINES = 8
INVITING = "Ask for anything, or drop a file"
LISTENING = "Listening… Let go to send, Esc drops it"


class Field(QPlainTextEdit):
    """Where one types; as tall as its text, up to a few lines. Enter sends."""

    entered = Signal()
    focused = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Your request")
        self.setPlaceholderText(INVITING)
        self.setTabChangesFocus(True)
        self.setAcceptDrops(False)  # the window takes what is dropped, wherever it is dropped
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(2)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def invite(self, words: str) -> None:
        """Show words while nothing is typed."""
        if words != self.placeholderText():
            self.setPlaceholderText(words)
            self.viewport().update()  # Qt draws only the changed line's beginning anew

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter sends, Shift+Enter begins a new line."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.entered.emit()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Tell the bar."""
        super().focusInEvent(event)
        self.focused.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Tell the bar."""
        super().focusOutEvent(event)
        self.focused.emit(False)

    def changeEvent(self, change: QEvent) -> None:
        """Follow the size of the type."""
        super().changeEvent(change)
        if change.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        lines = round(self.document().size().height())  # counted in lines by this kind of editor
        line = self.fontMetrics().lineSpacing()
        self.setFixedHeight(min(max(lines, 1), MOST_LINES) * line + 10)


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
        self.field = Field()
        self.meter = LevelMeter()
        self.meter.hide()
        layout.addWidget(self.field)
        layout.addLayout(self._buttons())
        self.field.entered.connect(self.send)
        self.field.textChanged.connect(self._show_state)
        self.field.focused.connect(self._show_focus)
        self._connect_recorder()
        self._busy = False
        self._show_state()

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(theme.space())
        self.attach = IconButton("attach", "Attach files")
        self.attach.clicked.connect(self.files_wanted)
        self.hint = Label(f"Enter sends · hold {TALK_KEYS} to talk", role="small")
        self.talk = IconButton("mic", "Hold to talk", kind="talk", text="Hold to talk")
        self.talk.setToolTip(f"Hold this, or {TALK_KEYS}, while you speak")
        self.talk.setEnabled(False)
        self.talk.pressed.connect(self._recorder.begin)
        self.talk.released.connect(self._recorder.release)
        self.stop = IconButton("stop", "Stop", kind="quiet", text="Stop", colour="danger")
        self.stop.setToolTip("Stop (Esc)")
        self.stop.clicked.connect(self.stop_wanted)
        self.stop.hide()
        self.go = IconButton("send", "Send", kind="round", colour="on_accent")
        self.go.setToolTip("Send (Enter)")
        self.go.clicked.connect(self.send)
        row.addWidget(self.attach)
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
        self._recorder.recorded.connect(self._spoken)

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
        request = Request(text=text, files=self.files())
        self.field.clear()
        self._clear_files()
        self.sent.emit(request)

    def show_busy(self, busy: bool) -> None:
        """Show the stop button while something runs."""
        self._busy = busy
        self.stop.setVisible(busy)
        self._show_state()

    def _spoken(self, recording: Path) -> None:
        request = Request(text=self.field.toPlainText(), audio=recording, files=self.files())
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
        self.talk.setText(phrases.clock(self._recorder.seconds) if recording else "Hold to talk")
        self.field.invite(LISTENING if recording else INVITING)
        full = bool(self.field.toPlainText().strip()) or bool(self._chips)
        self.go.setEnabled(full and not recording)

    def _show_focus(self, focused: bool) -> None:
        self.setProperty("focused", "true" if focused else "false")
        self.style().unpolish(self)
        self.style().polish(self)
