"""What waits for the person's answer, in its place in the conversation; the rest of the window goes
on working."""

from __future__ import annotations

from PySide6.QtCore import Q_ARG, QMetaObject, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout

from jarvis_desktop.core.code import Verdict
from jarvis_desktop.core.frontend import Review
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.bridge import Question
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.fields import Field
from jarvis_desktop.ui.look.icons import Symbol
from jarvis_desktop.ui.look.text import Label, LongText
from jarvis_desktop.ui.voice.dictation import Dictation

FIRST = 1200
"""Characters of a question that are shown at first: its answer must be in view."""


class Panel(QFrame):
    """Something that is asked, with a button that agrees and one that does not."""

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.setObjectName("question")
        self.question = question
        self.answered = False
        self.dictation: Dictation | None = None
        """Where it may be answered by voice: what is said is written down, and no more."""
        self.yes = QPushButton()
        self.no = QPushButton()
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(theme.space("two"), 12, theme.space("two"), 12)
        self.column.setSpacing(10)

    def take_focus(self) -> None:
        """Put the keyboard where an accidental Enter does nothing that cannot be undone."""
        self.no.setFocus()

    def refuse(self) -> bool:
        """Take Esc as a no; False where it means none here, or there is an answer already."""
        return False

    def head(self, icon: str, text: str) -> None:
        """Begin with a title."""
        row = QHBoxLayout()
        row.setSpacing(10)
        row.addWidget(Symbol(icon, "accent", size=20), alignment=Qt.AlignmentFlag.AlignTop)
        row.addWidget(Label(text, role="strong", wrap=True), 1)
        self.column.addLayout(row)

    def dictated(self, field: Field) -> Dictation:
        """Let words be spoken into a field; gives the line that tells of it."""
        self.dictation = Dictation(field)
        return self.dictation

    @property
    def awaits_words(self) -> bool:
        """Whether words that were spoken are not in their field yet: a key that was pressed too
        soon must not answer without them."""
        return self.dictation is not None and self.dictation.awaited

    def answer(self, value: bool | str | Plan | Review | Verdict | None) -> bool:
        """Give the answer; the panel goes away once it has arrived. Only the first one counts."""
        if self.answered:
            return False
        self.answered = True
        self.question.answer(value)
        # Soon, so that the key that answered is let go where it was pressed.
        later = Qt.ConnectionType.QueuedConnection
        QMetaObject.invokeMethod(self, "setEnabled", later, Q_ARG(bool, False))
        return True


def named(button: QPushButton, text: str, *, tip: str = "", kind: str = "") -> QPushButton:
    """The button with its words; `tip` says what it does where these are few."""
    button.setText(text)
    button.setAccessibleName(text)
    button.setToolTip(tip)
    button.setAccessibleDescription(tip)
    button.setAutoDefault(False)
    if kind != button.property("kind"):
        button.setProperty("kind", kind)
        button.style().unpolish(button)
        button.style().polish(button)
    return button


class QuestionPanel(Panel):
    """A question for yes or no, or for words."""

    def __init__(self, question: Question) -> None:
        super().__init__(question)
        head = QHBoxLayout()
        head.setSpacing(10)
        head.addWidget(Symbol("question", "accent", size=20), alignment=Qt.AlignmentFlag.AlignTop)
        words = LongText(tr("Question"), first=FIRST)
        words.show_text(question.text)
        head.addWidget(words, 1)
        self.column.addLayout(head)
        row = QHBoxLayout()
        self.words = Field(tr("Your answer"), tr("Your answer"), role="field")
        self.words.entered.connect(self._entered)
        if question.open_ended:
            row.addWidget(self.words, 1)
            self.words.textChanged.connect(self._typed)
            self._typed()
            yes, no = tr("Answer"), tr("Skip")
        else:
            self.words.hide()
            row.addStretch(1)
            yes = tr("Run the plan") if question.plan else tr("Yes, do it")
            no = tr("Don’t run it") if question.plan else tr("No")
        for button, text, kind, act in (
            (self.no, no, "", self._decline),
            (self.yes, yes, "primary", self._agree),
        ):
            button.clicked.connect(act)
            row.addWidget(named(button, text, kind=kind), alignment=Qt.AlignmentFlag.AlignBottom)
        self.column.addLayout(row)
        if question.open_ended:
            self.column.addWidget(self.dictated(self.words))

    def take_focus(self) -> None:
        """Into the field, or on the no."""
        (self.words if self.question.open_ended else self.no).setFocus()

    def _typed(self) -> None:
        self.yes.setEnabled(bool(self.words.toPlainText().strip()))

    def _entered(self) -> None:
        if not self.awaits_words:
            self._agree()

    def _agree(self) -> None:
        if self.yes.isEnabled():
            self.answer(self.words.toPlainText() if self.question.open_ended else True)

    def _decline(self) -> None:
        self.answer("" if self.question.open_ended else False)
