"""The pages of the first start: how far requests may travel, the voice, the LLM, and a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from jarvis_desktop import paths
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.turn import Request
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.ui.experts.llm_notice import LLMNotice
from jarvis_desktop.ui.experts.llm_watch import LLMWatch, Look
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.text import Label
from jarvis_desktop.ui.mode_choice import ModeChoice
from jarvis_desktop.ui.places import Surroundings
from jarvis_desktop.ui.settings.groups_voice import HEARING, SPEAKING
from jarvis_desktop.ui.settings.rows import Card, Group, Hands
from jarvis_desktop.ui.settings.subject import Subject
from jarvis_desktop.ui.voice.desk import VoiceDesk
from jarvis_desktop.ui.welcome import EXAMPLES, ExampleButton

if TYPE_CHECKING:
    from jarvis_desktop.settings import Settings

TRIED = ("speech.input", "level", "trial", "speech.output", "sentence")
"""The rows of the settings that the voice is tried with."""
FIRST = 3
"""Examples of a first request."""


class Step(QWidget):
    """One page; fill `column`."""

    def __init__(self, title: str, told: str) -> None:
        super().__init__()
        self.setAccessibleName(title)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(theme.space("two"))
        self.column.addWidget(Label(title, role="display", wrap=True))
        self.column.addWidget(Label(told, role="muted", wrap=True))

    def appear(self) -> None:
        """It is shown now."""

    def leave(self) -> None:
        """It is not looked at any more."""


class ModeStep(Step):
    """How far a request may travel."""

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__(
            tr("How far may your requests travel?"),
            tr("You can change this at any time, at the top of the window."),
        )
        self._desk = surroundings.settings
        self.choice = ModeChoice()
        self.choice.changed.connect(lambda mode: self._desk.change("mode", mode))
        self._desk.session.settled.connect(self._settled)
        if self._desk.now:
            self._settled(self._desk.now)
        self.column.addWidget(self.choice)
        self.column.addStretch(1)

    def leave(self) -> None:
        """What was not agreed to is not asked any more."""
        self.choice.withdraw()

    def _settled(self, settings: Settings) -> None:
        self.choice.show_value(settings.mode)


class VoiceStep(Step):
    """Whether JARVIS hears the person, and the person JARVIS."""

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__(
            tr("Can we hear each other?"),
            tr("Choose your microphone and say a sentence. You can also do everything by typing."),
        )
        self._desk = surroundings.settings
        self._voice = VoiceDesk(self._desk, self)
        rows = tuple(row for row in (*HEARING.rows, *SPEAKING.rows) if row.key in TRIED)
        hands = Hands(surroundings, self._desk, self._voice, lambda row: None)
        group = Group("voice", mark("Voice"), "mic", (Card(rows),))
        self.subject = Subject(group, hands)
        self.subject.title.hide()
        self.subject.changed.connect(self._desk.change)
        self._desk.session.settled.connect(self.subject.show_settings)
        self._desk.session.ready.connect(self._ready)
        if self._desk.now:
            self.subject.show_settings(self._desk.now)
        self.column.addWidget(self.subject)
        self.column.addStretch(1)

    def appear(self) -> None:
        """Look which devices there are."""
        self._voice.refresh()
        self.subject.appear()

    def _ready(self) -> None:
        if self.isVisible():
            self.appear()

    def leave(self) -> None:
        """Close the microphone."""
        self.subject.leave()


class LLMStep(Step):
    """Whether there is an LLM, and how to get one."""

    def __init__(self, watch: LLMWatch) -> None:
        super().__init__(
            tr("Answers in its own words"),
            tr(
                "JARVIS plans, reads, listens and speaks without any download. A language model on "
                "this computer lets it talk freely and understand harder requests."
            ),
        )
        self._watch = watch
        self.state = Label(wrap=True)
        self.notice = LLMNotice()
        self.notice.later.hide()
        self.column.addWidget(self.state)
        self.column.addWidget(self.notice)
        self.column.addStretch(1)
        watch.looked.connect(self._looked)
        self.notice.serve(watch)

    def appear(self) -> None:
        """Look for one."""
        self.state.setText(tr("Looking for a language model…"))
        self._watch.look(wanted=True)

    def _looked(self, look: Look) -> None:
        if self._watch.fetching:
            return
        if look.used:
            name = one_line(look.used, limit=80)
            self.state.setText(tr("{llm} is there and will be used.", llm=name))
        else:
            self.state.setText(one_line(look.reason, limit=300))
        self.state.setVisible(bool(look.used) or not look.missing)
        if look.missing:
            self.notice.offer(look.missing)
        self.notice.setVisible(bool(look.missing) and not look.used)
        self.notice.later.hide()


class RequestStep(Step):
    """A first request to try."""

    chosen = Signal(object)
    """Carries a Request."""

    def __init__(self) -> None:
        super().__init__(
            tr("Ask for something"),
            tr("Try one of these, or write and say what you like. F4 held is the key to talk."),
        )
        self.examples: list[ExampleButton] = []
        for example in EXAMPLES[:FIRST]:
            button = ExampleButton(example)
            files = (paths.shipped("resources", "sample", "letter.png"),) if example.sample else ()
            request = Request(text=example.text, files=files)
            button.clicked.connect(lambda _=False, request=request: self.chosen.emit(request))
            self.column.addWidget(button)
            self.examples.append(button)
        self.column.addStretch(1)
