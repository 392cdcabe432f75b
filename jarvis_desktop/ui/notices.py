"""What the window says on its own account: banners, questions, the spoken sentence."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from jarvis_desktop.ui import theme
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.bridge import Question
from jarvis_desktop.ui.icons import IconButton, Symbol
from jarvis_desktop.ui.text import Label, LongText


class Banner(QFrame):
    """One message across the window that stays until it is closed or replaced."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("banner")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, theme.space(), theme.space(), theme.space())
        layout.setSpacing(10)
        self._symbol = Symbol("failed", "danger")
        layout.addWidget(self._symbol, alignment=Qt.AlignmentFlag.AlignTop)
        self.message = Label(wrap=True)
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout.addWidget(self.message, 1)
        close = IconButton("close", "Close this message", kind="tiny")
        close.clicked.connect(self.hide)
        layout.addWidget(close, alignment=Qt.AlignmentFlag.AlignTop)
        self.hide()

    def say(self, message: str, *, calm: bool = False) -> None:
        """Show a message; `calm` for what is no error."""
        self.setProperty("calm", "true" if calm else "false")
        self.style().unpolish(self)
        self.style().polish(self)
        self._symbol.show_icon(*(("note", "muted") if calm else ("failed", "danger")))
        self.message.setText(message[:2000])
        self.setAccessibleName(message[:2000])
        self.show()


class QuestionPanel(QFrame):
    """Something that waits for the person's answer; the rest of the window goes on working."""

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.setObjectName("question")
        self.question = question
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.space("two"), 12, theme.space("two"), 12)
        layout.setSpacing(12)
        head = QHBoxLayout()
        head.setSpacing(10)
        head.addWidget(Symbol("question", "accent", size=20), alignment=Qt.AlignmentFlag.AlignTop)
        words = LongText("Question")
        words.show_text(question.text)
        head.addWidget(words, 1)
        layout.addLayout(head)
        row = QHBoxLayout()
        self.words = QLineEdit()
        self.words.setAccessibleName("Your answer")
        self.words.returnPressed.connect(self._agree)
        if question.open_ended:
            row.addWidget(self.words, 1)
            self.yes = QPushButton("Answer")
            self.no = QPushButton("Skip")
        else:
            row.addStretch(1)
            self.yes = QPushButton("Run the plan" if question.plan else "Yes, do it")
            self.no = QPushButton("Don’t run it" if question.plan else "No")
        self.yes.setProperty("kind", "primary")
        for button, act in ((self.no, self._decline), (self.yes, self._agree)):
            button.setAccessibleName(button.text())
            button.clicked.connect(act)
            row.addWidget(button)
        layout.addLayout(row)

    def take_focus(self) -> None:
        """Put the keyboard where an accidental Enter does nothing that cannot be undone."""
        (self.words if self.question.open_ended else self.no).setFocus()

    def _agree(self) -> None:
        self._answer(self.words.text() if self.question.open_ended else True)

    def _decline(self) -> None:
        self._answer("" if self.question.open_ended else False)

    def _answer(self, value: bool | str) -> None:
        self.setEnabled(False)
        self.question.answer(value)


class SpeakingStrip(QFrame):
    """The sentence that is being spoken, and a button to silence it."""

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self.setObjectName("speaking")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 6, 6, 6)
        layout.setSpacing(10)
        layout.addWidget(Symbol("speaker", "on_soft"))
        self.sentence = Label(wrap=True)
        layout.addWidget(self.sentence, 1)
        self.button = IconButton(
            "silent", "Silence the voice", kind="quiet", text="Silence", colour="on_soft"
        )
        self.button.setIconSize(QSize(16, 16))
        self.button.clicked.connect(actions.silence)
        layout.addWidget(self.button)
        self.hide()

    def show_sentence(self, sentence: str) -> None:
        """Show a sentence; "" hides the strip."""
        self.setVisible(bool(sentence))
        if sentence:
            self.sentence.setText(sentence[:400])
