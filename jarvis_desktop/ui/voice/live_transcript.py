"""Live speech above the input field: the microphone's state, the words so far, and errors."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from jarvis_desktop.core.display import encodable, one_line, printable
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.speech import Partial, Talking
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.icons import IconButton, StateIcon, Symbol
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import hbox, vbox

VISIBLE_LINES = 2
MAX_CHARS = 20_000  # characters that are laid out; nobody speaks longer at a time


class PartialText(QWidget):
    """Two lines of live speech: settled words as text, the rest lighter. The text keeps its place
    and moves up by whole lines only."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._settled = self._rest = ""
        self._first = 0  # the first visible line; it never goes back
        self._hint = ""
        self.clear()

    @property
    def text(self) -> str:
        """All the text that is shown."""
        return f"{self._settled} {self._rest}".strip()

    def clear(self, hint: str = "") -> None:
        """Clear the text; `hint` is shown until the first word."""
        self._settled = self._rest = ""
        self._hint = hint
        self._first = 0
        self.setAccessibleName(hint or tr("Nothing understood yet"))
        self.update()

    def show_partial(self, partial: Partial) -> None:
        """Show what was recognised so far."""
        self._settled, self._rest = (_plain(part) for part in (partial.settled, partial.rest))
        self.setAccessibleName(tr("Understood so far: {words}", words=self.text[-400:]))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, VISIBLE_LINES * self.fontMetrics().lineSpacing() + 2)

    def minimumSizeHint(self) -> QSize:
        return QSize(40, self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The lines break differently now: those scrolled away may be back."""
        self._first = 0
        super().resizeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        layout = QTextLayout(self.text or self._hint, self.font(), self)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.setFormats([self._lighter()])
        height = self.fontMetrics().lineSpacing()
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(self.width())
            line.setPosition(QPointF(0, (layout.lineCount() - 1) * height))
        layout.endLayout()
        self._first = max(self._first, layout.lineCount() - VISIBLE_LINES)
        painter = QPainter(self)
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        layout.draw(painter, QPointF(0, -self._first * height))
        painter.end()

    def _lighter(self) -> QTextLayout.FormatRange:
        part = QTextLayout.FormatRange()
        part.start = len(f"{self._settled} ") if self._settled else 0
        part.length = len(self._rest) if self.text else len(self._hint)
        light = QTextCharFormat()
        colour: QColor = theme.colour("muted")
        light.setForeground(colour)
        part.format = light
        return part


def _plain(words: str) -> str:
    return " ".join(printable(encodable(words[:MAX_CHARS])).split())


WAITING = mark("The microphone is getting ready…")
HELD = mark("Listening… Release to send, Esc discards it")
HELD_ANSWER = mark("Listening… Release to write it into the answer, Esc discards it")
HELD_ALOUD = mark("Listening… Release to answer, Esc discards it")
FREE = mark("Listening… It ends when you stop speaking, or with {key}; Esc discards it")
RECOGNISING = mark("Writing down what you said… Esc discards it")
SPEAK = mark("Speak now")
MAX_REASON_CHARS = 600


class TalkStrip(QWidget):
    """The state of the microphone, above the live text."""

    def __init__(self, key: str) -> None:
        """`key` is the name of the talk key in this window."""
        super().__init__()
        self._key = key
        self.answers = False
        """Whether the speech answers a question."""
        self._shown = Talking("idle")
        self._symbol = Symbol("mic", "danger")
        self._turning = StateIcon()
        self.state = Label(role="small", wrap=True)
        row = hbox(
            (self._symbol, Qt.AlignmentFlag.AlignTop),
            (self._turning, Qt.AlignmentFlag.AlignTop),
            (self.state, 1),
            spacing=theme.space(),
        )
        column = vbox(row, parent=self, margins=(2, 0, 0, 0), spacing=4)
        self.words = PartialText()
        column.addWidget(self.words)
        self.hide()

    def show_talking(self, talking: Talking) -> None:
        """Show the state of the voice input."""
        before, self._shown = self._shown.state, talking
        state = talking.state
        listens = state in ("waiting", "listening")
        if listens and before not in ("waiting", "listening"):
            self.words.clear()
        if listens and not self.words.text:
            self.words.clear(tr(SPEAK) if state == "listening" else "")
        self._symbol.setVisible(state == "listening")
        self._turning.setVisible(state != "listening")
        self._turning.show_state("" if state in ("idle", "listening") else "running")
        held = HELD_ALOUD if talking.answers else HELD_ANSWER if self.answers else HELD
        texts = {
            "waiting": tr(WAITING),
            "listening": tr(held) if talking.held else tr(FREE, key=self._key),
            "recognising": tr(RECOGNISING),
        }
        self.state.setText(texts.get(state, ""))
        self.setVisible(state != "idle")


class UnheardNotice(QFrame):
    """Why speech was not understood, and what to do now."""

    again = Signal()  # the user wants to say it again
    settings_wanted = Signal()  # the user wants to check the microphone

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("unheard")
        layout = hbox(
            (Symbol("failed", "warning"), Qt.AlignmentFlag.AlignTop),
            parent=self,
            margins=(10, 6, 6, 6),
            spacing=theme.space(),
        )
        self.reason = Label(wrap=True)
        self.reason.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout.addWidget(self.reason, 1)
        self.try_again = IconButton("mic", tr("Retry"), kind="quiet", text=tr("Retry"))
        self.try_again.setToolTip(tr("Say it again; recording ends when you stop speaking"))
        self.try_again.clicked.connect(self.again)
        self.settings = IconButton("sliders", tr("Voice settings"), kind="icon")
        self.settings.setToolTip(tr("Choose and test the microphone"))
        self.settings.clicked.connect(self.settings_wanted)
        self.close_button = IconButton("close", tr("Close this message"), kind="tiny")
        self.close_button.clicked.connect(self.hide)
        for button in (self.try_again, self.settings, self.close_button):
            layout.addWidget(button, alignment=Qt.AlignmentFlag.AlignTop)
        self.hide()

    def say(self, reason: str) -> None:
        """Show a reason."""
        shown = one_line(reason, limit=MAX_REASON_CHARS)
        self.reason.setText(shown)
        self.setAccessibleName(shown)
        self.show()
