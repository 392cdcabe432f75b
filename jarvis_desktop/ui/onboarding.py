"""The first start: four short pages over the window, each of which can be skipped.

They cover the privacy mode, the voice, the LLM and a first request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from jarvis_desktop import paths
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.turn import Request
from jarvis_desktop.settings import DictationSettings
from jarvis_desktop.ui.actions import PageContext
from jarvis_desktop.ui.experts.controller import LLMMonitor, LLMOverview
from jarvis_desktop.ui.experts.llm_status import LLMNotice
from jarvis_desktop.ui.mode_picker import ModeChoice
from jarvis_desktop.ui.settings.groups import HEARING, SPEAKING, UNDERSTANDING
from jarvis_desktop.ui.settings.page import Subject
from jarvis_desktop.ui.settings.schema import RowContext, SettingsCard, SettingsGroup
from jarvis_desktop.ui.settings.speech_controller import SpeechController
from jarvis_desktop.ui.welcome import EXAMPLES, ExampleButton
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.banners import CoverParent
from jarvis_desktop.ui.widgets.forms import button, reword
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import go_round, hbox, vbox

if TYPE_CHECKING:
    from jarvis_desktop.settings import Settings
    from jarvis_desktop.ui.experts.llms import ServerForm


TRIED = (
    "speech.input", "level", "trial", "speech.language", "recognisers", "speech.output", "sentence"
)  # fmt: skip
"""The settings that are shown to try the voice."""
MAX_EXAMPLES = 3
"""Examples of a first request."""


class OnboardingStep(QWidget):
    """One page; fill `column`."""

    def __init__(self, title: str, description: str) -> None:
        super().__init__()
        self.setAccessibleName(title)
        self.column = vbox(
            Label(title, role="display", wrap=True),
            Label(description, role="muted", wrap=True),
            parent=self,
            spacing=theme.space("two"),
        )

    def appear(self) -> None:
        """Called when the page is shown."""

    def leave(self) -> None:
        """Called when the page is left."""


class ModeStep(OnboardingStep):
    """The page with the privacy mode."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(
            tr("How far may your requests travel?"),
            tr("You can change this at any time, at the top of the window."),
        )
        self._controller = context.settings
        self.choice = ModeChoice()
        self.choice.changed.connect(lambda mode: self._controller.change("mode", mode))
        self._controller.session.settled.connect(self._settled)
        if self._controller.now:
            self._settled(self._controller.now)
        self.column.addWidget(self.choice)
        self.column.addStretch(1)

    def leave(self) -> None:
        """Withdraw a question that was not answered."""
        self.choice.withdraw()

    def _settled(self, settings: Settings) -> None:
        self.choice.show_value(settings.mode)


class VoiceStep(OnboardingStep):
    """Tests of the microphone and the voice."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(
            tr("Can we hear each other?"),
            tr("Choose your microphone and say a sentence. You can also do everything by typing."),
        )
        self._controller = context.settings
        self._voice = SpeechController(self._controller, self)
        cards = (*HEARING.rows, *UNDERSTANDING.rows, *SPEAKING.rows)
        rows = tuple(row for row in cards if row.key in TRIED)
        hands = RowContext(context, self._controller, self._voice, lambda row: None)
        group = SettingsGroup("voice", mark("Voice"), "mic", (SettingsCard(rows),))
        self.subject = Subject(group, hands)
        self.subject.title.hide()
        self.subject.changed.connect(self._controller.change)
        self._controller.session.settled.connect(self.subject.show_settings)
        self._controller.session.settled.connect(lambda settings: self._voice.look())
        self._controller.session.ready.connect(self._ready)
        if self._controller.now:
            self.subject.show_settings(self._controller.now)
        self.column.addWidget(self.subject)
        self.column.addStretch(1)

    def appear(self) -> None:
        """List the audio devices."""
        self._voice.refresh()
        self.subject.appear()

    def _ready(self) -> None:
        if self.isVisible():
            self.appear()

    def leave(self) -> None:
        """Close the microphone."""
        self.subject.leave()


class LLMStep(OnboardingStep):
    """The page that shows whether there is an LLM, and how to get one."""

    def __init__(self, context: PageContext, watch: LLMMonitor) -> None:
        super().__init__(
            tr("Answers in its own words"),
            tr("This can also be done later, under “Experts and LLMs”."),
        )
        self._context, self._watch = context, watch
        self.server: ServerForm | None = None
        self.state = Label(wrap=True)
        self.notice = LLMNotice()
        self.notice.later.hide()
        self.notice.server.hide()  # it is asked for below
        self.column.addWidget(self.state)
        self.column.addWidget(self.notice)
        self.column.addStretch(1)
        watch.looked.connect(self._looked)
        self.notice.serve(watch)

    def appear(self) -> None:
        """Look for an LLM."""
        if self.server is None:
            self._offer_server()
        self.state.setText(tr("Looking for a language model…"))
        self._watch.look(wanted=True)

    def _offer_server(self) -> None:
        from jarvis_desktop.ui.experts.controller import ExpertsController
        from jarvis_desktop.ui.experts.llms import ServerForm

        self.server = ServerForm(ExpertsController(self._context.settings, self))
        before = self.column.count() - 1  # what stretches
        self.column.insertWidget(before, Label(tr("Or use a server"), role="heading"))
        self.column.insertWidget(before + 1, self.server)
        self._context.session.settled.connect(self._look_again)

    def _look_again(self) -> None:
        if self.isVisible():
            self._watch.look(wanted=True)

    def _looked(self, look: LLMOverview) -> None:
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
        self.notice.server.hide()  # it is asked for below


class RequestStep(OnboardingStep):
    """The page with examples of a first request."""

    chosen = Signal(object)
    """Carries a Request."""

    def __init__(self) -> None:
        super().__init__(
            tr("Ask for something"),
            tr(
                "Try one of these, or type what you like. Hold F4 to talk; hold {key} to write "
                "what you say into any program.",
                key=DictationSettings().key,
            ),
        )
        self.examples: list[ExampleButton] = []
        for example in EXAMPLES[:MAX_EXAMPLES]:
            button = ExampleButton(example)
            files = (paths.shipped("resources", "sample", "letter.png"),) if example.sample else ()
            request = Request(text=example.said, files=files)
            button.clicked.connect(lambda _=False, request=request: self.chosen.emit(request))
            self.column.addWidget(button)
            self.examples.append(button)
        self.column.addStretch(1)


MAX_WIDTH = 640


class FirstStart(QFrame):
    """Covers its parent until all pages are done."""

    over = Signal()
    """The user has finished or skipped the pages."""
    chosen = Signal(object)
    """Carries a first Request; the first start is then over."""

    def __init__(self, context: PageContext, watch: LLMMonitor, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self.setAccessibleName(tr("First start"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        asking = RequestStep()
        asking.chosen.connect(self._choose)
        self.steps: tuple[OnboardingStep, ...] = (
            ModeStep(context),
            VoiceStep(context),
            LLMStep(context, watch),
            asking,
        )
        self._here = 0
        self._build()
        CoverParent(self)
        self.show()
        self.raise_()
        self._show(0)

    def _build(self) -> None:
        outer = vbox(parent=self)
        scrolled = QWidget()
        scrolled.setObjectName("scrolled")
        row = hbox(parent=scrolled, margins=theme.space("three"))
        column = QWidget()
        column.setMaximumWidth(MAX_WIDTH)
        pages = vbox(parent=column, margins=(0, theme.space("four"), 0, 0))
        for step in self.steps:
            step.hide()
            pages.addWidget(step)
        row.addStretch(1)
        row.addWidget(column, 1000)
        row.addStretch(1)
        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(scrolled)
        outer.addWidget(self._scroll, 1)
        self.place = Label(role="small")
        self.leave = button(tr("Skip all"), kind="quiet", act=self.skip)
        self.back = button(tr("Back"), act=lambda: self._show(self._here - 1))
        self.next = button(tr("Next"), kind="primary", act=self._go_on)
        foot = hbox(self.place, None, margins=theme.space("two"), spacing=theme.space())
        for each in (self.leave, self.back, self.next):
            foot.addWidget(each)
        outer.addLayout(foot)

    def skip(self) -> None:
        """Skip the pages that are left."""
        self.steps[self._here].leave()
        self.hide()
        self.over.emit()
        self.deleteLater()

    def focusNextPrevChild(self, forwards: bool) -> bool:
        """Keep the focus within the pages: what they cover is not visible."""
        if self.isHidden():  # what hides hands its focus on
            return super().focusNextPrevChild(forwards)
        go_round(self, forwards=forwards)
        if (focused := self.focusWidget()) and self._scroll.isAncestorOf(focused):
            self._scroll.ensureWidgetVisible(focused)
        return True

    def _show(self, index: int) -> None:
        before, self._here = self.steps[self._here], index
        before.leave()
        before.hide()
        step = self.steps[index]
        step.show()
        step.appear()
        self.place.setText(tr("{number} of {count}", number=index + 1, count=len(self.steps)))
        self.back.setVisible(index > 0)
        last = index == len(self.steps) - 1
        self.leave.setVisible(not last)
        reword(self.next, tr("Start") if last else tr("Next"))
        self._scroll.verticalScrollBar().setValue(0)
        self.next.setFocus()

    def _go_on(self) -> None:
        if self._here == len(self.steps) - 1:
            self.skip()
        else:
            self._show(self._here + 1)

    def _choose(self, request: object) -> None:
        self.skip()
        self.chosen.emit(request)
