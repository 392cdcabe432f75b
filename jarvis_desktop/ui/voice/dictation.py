"""Speaking instead of typing: what is said is written into the field of a question, where the
person reads it before anything is done with it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from jarvis_desktop.core.hearing import Transcript
from jarvis_desktop.core.shown import one_line, printable
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.fields import Field
from jarvis_desktop.ui.look.states import StateIcon
from jarvis_desktop.ui.look.text import Label

LISTENING = mark("Listening… What you say is written here, Esc drops it")
WRITING = mark("Writing down what you said…")
NOTHING = mark("Nothing was heard. Hold the button while you speak, close to the microphone.")
SHOWN = 160
"""Characters of what was heard that are shown beside the field, which has all of them."""


class Dictation(QWidget):
    """A line below a field: what goes on with words that are spoken into it."""

    def __init__(self, field: Field) -> None:
        super().__init__()
        self.field = field
        self._listening = False
        self._awaited = 0
        self._heard = self._reason = ""
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.space())
        self._icon = StateIcon()
        row.addWidget(self._icon, alignment=Qt.AlignmentFlag.AlignTop)
        self.told = Label(role="small", wrap=True)
        self.wrong = Label(role="warning", wrap=True)
        words = QVBoxLayout()
        words.setSpacing(2)
        row.addLayout(words, 1)
        for label in (self.told, self.wrong):
            words.addWidget(label)
        self._draw()

    @property
    def awaited(self) -> bool:
        """Whether words are on their way: what stands in the field is not yet all of it."""
        return self._listening or self._awaited > 0

    def listen(self) -> None:
        """The person speaks."""
        self._listening = True
        self._heard = self._reason = ""
        self._draw()

    def await_words(self) -> None:
        """They speak no more, and it is being written down."""
        self._listening = False
        self._awaited += 1
        self._draw()

    def leave(self) -> None:
        """Nothing is on its way any more."""
        self._listening, self._awaited = False, 0
        self._draw()

    def take(self, heard: Transcript) -> None:
        """Put what was said at the end of the field."""
        self._awaited = max(0, self._awaited - 1)
        words = printable(heard.text).strip()
        if words:
            self._append(words)
            note = one_line(heard.note, limit=300)
            said = tr("Heard: “{words}”", words=one_line(words, limit=SHOWN))
            self._heard = f"{said}\n{note}".rstrip()
        else:
            self._reason = tr(NOTHING)
        self._draw()

    def fail(self, reason: str) -> None:
        """Say why nothing was written."""
        self._awaited = max(0, self._awaited - 1)
        self._reason = one_line(reason, limit=300)
        self._draw()

    def _append(self, words: str) -> None:
        before = self.field.toPlainText()
        cursor = QTextCursor(self.field.document())  # that of the field stays where one types
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(words if not before or before[-1].isspace() else f" {words}")

    def _draw(self) -> None:
        waits = LISTENING if self._listening else WRITING if self._awaited else ""
        told = tr(waits) or self._heard
        self._icon.show_state("running" if self.awaited else "")
        self._icon.setVisible(self.awaited)
        for label, words in ((self.told, told), (self.wrong, self._reason)):
            label.setText(words)
            label.setVisible(bool(words))
        self.setVisible(bool(told or self._reason))
