"""Where one asks in the quick box: a field, what is attached, and what is shown of the voice."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.speech import Talking, Transcript
from jarvis_desktop.core.turn import Request
from jarvis_desktop.ui.request.attachments import Attachments
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.voice.live_transcript import TalkStrip, UnheardNotice
from jarvis_desktop.ui.voice.talk import Talker
from jarvis_desktop.ui.widgets import icons, labels, theme
from jarvis_desktop.ui.widgets.flow_layout import LevelMeter
from jarvis_desktop.ui.widgets.forms import GrowingTextField
from jarvis_desktop.ui.widgets.icons import IconButton
from jarvis_desktop.ui.widgets.labels import Label

FIRST = mark("Ask, drop a file, or hold {key} and speak")
NEXT = mark("Ask on")
TALK_KEY = "F4"
MARK, HEIGHT = 26, 36
"""Pixels of the application's mark, and of all that stands beside the first line."""
MOST_RECALLED = 50
"""Requests that are remembered while JARVIS runs."""


class QuickInput(QWidget):
    """Makes Requests, as the window's composer does."""

    sent = Signal(object)
    """Carries a Request, without its `speak`."""
    stop_wanted = Signal()

    def __init__(self, session: WindowSession, talker: Talker) -> None:
        super().__init__()
        self._talker = talker
        self._recalled: list[str] = []
        self._back = 0
        """How many requests back the field is; 0 is what is typed."""
        self._typed = ""
        self._sends = False
        """Whether the request is to go as soon as its files were looked over."""
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.space("two"), 12, 12, 12)
        column.setSpacing(theme.space())
        column.addLayout(self._row())
        self.attached = Attachments(session)
        self.refused = Label(role="warning", wrap=True)
        self.refused.hide()
        self.strip, self.unheard = TalkStrip(TALK_KEY), UnheardNotice()
        for widget in (self.attached, self.refused, self.strip, self.unheard):
            column.addWidget(widget)
        self.field.installEventFilter(self)
        self.field.entered.connect(self.send)
        self.field.textChanged.connect(self._show_state)
        self.field.pasted.connect(self.take)
        self.attached.changed.connect(self._attached)
        self.attached.typed.connect(self.field.insertPlainText)
        self.attached.refused.connect(self._refuse)
        for begins in (self.field.textChanged, self.attached.changed):
            begins.connect(session.wake)
        self._clock = QTimer(self, interval=100)
        self._clock.timeout.connect(self._show_state)
        talker.talked.connect(self._talked)
        talker.level.connect(self.meter.add)
        talker.partial.connect(self.strip.show_partial)
        self.unheard.again.connect(talker.start)
        self._show_state()

    def _row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(12)
        self.mark = Label()
        self.mark.setFixedSize(MARK, HEIGHT)
        ratio = self.devicePixelRatioF()
        self.mark.setPixmap(icons.application_icon().pixmap(QSize(MARK, MARK), ratio))
        self.field = GrowingTextField(tr("Your request"), tr(FIRST, key=TALK_KEY), role="quick")
        typed = QVBoxLayout()
        typed.setContentsMargins(0, 6, 0, 0)
        typed.addWidget(self.field)
        typed.addStretch(1)
        self.meter = LevelMeter()
        self.meter.setFixedWidth(120)
        self.meter.hide()
        self.stop = IconButton("stop", tr("Stop"), kind="quiet", text=tr("Stop"), colour="danger")
        self.stop.clicked.connect(self.stop_wanted)
        self.stop.hide()
        self.talk = IconButton("mic", tr("Hold to talk"), kind="icon")
        self.talk.setToolTip(
            tr("Hold this, or {key}, while you speak; or tap it, speak, and stop", key=TALK_KEY)
        )
        self.talk.pressed.connect(self._talker.press)
        self.talk.released.connect(self._talker.release)
        self.clock = Label(role="small")
        self.clock.hide()
        self.go = IconButton("send", tr("Send"), kind="round", colour="on_accent")
        self.go.setToolTip(tr("Send (Enter)"))
        self.go.clicked.connect(self.send)
        top = Qt.AlignmentFlag.AlignTop
        row.addWidget(self.mark, alignment=top)
        row.addLayout(typed, 1)
        for widget in (self.meter, self.clock, self.stop, self.talk, self.go):
            widget.setFixedHeight(HEIGHT)
            row.addWidget(widget, alignment=top)
        return row

    def is_empty(self) -> bool:
        """Whether there is nothing to be sent."""
        return not self.field.toPlainText().strip() and not self.attached.files()

    def send(self) -> None:
        """Send what was typed and attached, if there is anything."""
        self._sends = self.attached.looks
        if self._sends or self.is_empty():
            return
        text = self.field.toPlainText()
        self._remember(text)
        files = self.attached.files()
        self.clear()
        self.sent.emit(Request(text=text, files=files))

    def send_spoken(self, heard: Transcript) -> None:
        """Send what was said, with what is attached; what was typed stays."""
        files = self.attached.files()
        self.attached.clear()
        self._remember(heard.text)
        self.sent.emit(Request(heard=heard, files=files, speak=True))

    def clear(self) -> None:
        """Begin anew."""
        self._back = 0
        self.field.clear()
        self.attached.clear()
        self._refuse("")

    def take_over(self, other: QuickInput) -> None:
        """Go on with the request that another one was to make."""
        self.field.setPlainText(other.field.toPlainText())
        self.attached.take_over(other.attached)

    def offer(self, files: Sequence[Path]) -> None:
        """Attach files, once they were looked over."""
        self._refuse("")
        self.attached.offer(files)

    def take(self, held: QMimeData) -> bool:
        """Take what is dropped or pasted; False where nothing of it can be used."""
        self._refuse("")
        taken = self.attached.take(held)
        self.field.setFocus()
        return taken

    def show_busy(self, busy: bool) -> None:
        """Show the stop button while something runs."""
        self.stop.setVisible(busy)

    def show_more(self, more: bool) -> None:
        """Invite to a first request, or to `more`."""
        self.field.invite(tr(NEXT if more else FIRST, key=TALK_KEY))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
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
        wanted = self._back + step
        if not 0 <= wanted <= len(self._recalled):
            return False
        if self._back == 0:
            self._typed = self.field.toPlainText()
        self._back = wanted
        text = self._recalled[-wanted] if wanted else self._typed
        self.field.setPlainText(text)
        self.field.moveCursor(QTextCursor.MoveOperation.End)
        return True

    def _remember(self, text: str) -> None:
        if text.strip() and self._recalled[-1:] != [text]:
            self._recalled = [*self._recalled, text][-MOST_RECALLED:]

    def _attached(self) -> None:
        self._show_state()
        if self._sends and not self.attached.looks:
            self.send()

    def _refuse(self, why: str) -> None:
        self.refused.setText(why)
        self.refused.setVisible(bool(why))

    def _talked(self, talking: Talking) -> None:
        self.strip.show_talking(talking)
        active = self._talker.active
        if active and self.meter.isHidden():
            self.meter.clear()
            self.unheard.hide()
            self._clock.start()
        elif not active:
            self._clock.stop()
        for widget in (self.meter, self.clock):
            widget.setVisible(active)
        self.talk.show_colour("danger" if active else "muted")
        self._show_state()

    def _show_state(self) -> None:
        self.clock.setText(labels.clock(self._talker.seconds))
        self.go.setEnabled(not self.is_empty() and not self._talker.active)
