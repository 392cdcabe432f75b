"""The start screen of an empty conversation, with examples to try."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QWidget,
)

from jarvis_desktop import paths
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.turn import Request
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.icons import IconButton, Symbol
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import hbox, vbox


@dataclass(frozen=True, slots=True)
class WelcomeExample:
    """A request to try."""

    icon: str
    title: str
    text: str
    sample: bool = False
    """Whether the included picture of a letter is attached."""

    @property
    def said(self) -> str:
        """The request in the language of the window."""
        return tr(self.text)


EXAMPLES = (
    WelcomeExample(
        "image",
        mark("Read a letter aloud"),
        mark("Read the text in this picture, summarise it and say the summary out loud"),
        sample=True,
    ),
    WelcomeExample("clock", mark("Set a timer"), mark("Set a timer for ten seconds")),
    WelcomeExample("sum", mark("Work something out"), mark("What is 15 percent of 240?")),
    WelcomeExample(
        "compare",
        mark("Compare two sentences"),
        mark(
            "How do these two sentences compare: 'The cat sleeps on the mat' and "
            "'A kitten naps on the rug'"
        ),
    ),
    WelcomeExample(
        "mood",
        mark("Tell the mood of a review"),
        mark("Is this review positive or negative: 'The food was cold, but the staff were lovely'"),
    ),
    WelcomeExample("idea", mark("See what it can do"), mark("What can you do?")),
)


class ExampleButton(QPushButton):
    """One example, as a card."""

    def __init__(self, example: WelcomeExample) -> None:
        super().__init__()
        self.example = example
        self.setProperty("kind", "example")
        self.setAccessibleName(tr("Try: {request}", request=example.said))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._row = hbox(
            (Symbol(example.icon, "accent", size=20), Qt.AlignmentFlag.AlignTop),
            (
                vbox(
                    Label(tr(example.title), role="strong", wrap=True),
                    Label(example.said, role="small", wrap=True),
                    None,
                    spacing=2,
                ),
                1,
            ),
            parent=self,
            margins=(14, 12, 14, 12),
            spacing=12,
        )
        for child in self.findChildren(QLabel):
            child.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def sizeHint(self) -> QSize:
        return self._row.sizeHint()

    def minimumSizeHint(self) -> QSize:
        return self._row.minimumSize()


class Welcome(QScrollArea):
    """The start screen; it scrolls if the window is small."""

    chosen = Signal(object)
    """Carries a Request."""
    voice_wanted = Signal()
    """The user wants to test the microphone."""

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scrolled = QWidget()
        scrolled.setObjectName("scrolled")
        self.setWidget(scrolled)
        outer = QHBoxLayout(scrolled)
        column = QWidget()
        column.setMaximumWidth(720)
        layout = vbox(
            parent=column,
            margins=(theme.space("three"), 0, theme.space("three"), 0),
            spacing=theme.space(),
        )
        layout.addStretch(2)
        layout.addWidget(Label(tr("What can I do for you?"), role="display", wrap=True))
        layout.addWidget(
            Label(
                tr("Type below, hold F4 and speak, or drop a file anywhere. Try one of these:"),
                role="muted",
                wrap=True,
            )
        )
        layout.addSpacing(theme.space("two"))
        grid = QGridLayout()
        grid.setSpacing(12)
        self.buttons: list[ExampleButton] = []
        for index, example in enumerate(EXAMPLES):
            button = ExampleButton(example)
            button.clicked.connect(lambda _=False, example=example: self._choose(example))
            grid.addWidget(button, index // 2, index % 2)
            self.buttons.append(button)
        for row in range(3):
            grid.setRowStretch(row, 1)
        layout.addLayout(grid)
        self.voice = IconButton(
            "mic",
            tr("Test your microphone and voice"),
            kind="quiet",
            text=tr("Test microphone and voice"),
        )
        self.voice.clicked.connect(self.voice_wanted)
        layout.addWidget(self.voice, alignment=Qt.AlignmentFlag.AlignLeft)
        layout.addStretch(3)
        outer.addStretch(1)
        outer.addWidget(column, 1000)
        outer.addStretch(1)

    def _choose(self, example: WelcomeExample) -> None:
        letter = paths.shipped("resources", "sample", "letter.png")
        self.chosen.emit(Request(text=example.said, files=(letter,) if example.sample else ()))
