"""The line above the conversation: its title, the timers, the microphone, the LLM, the mode, which
plans are asked about, and whether answers are spoken."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QActionGroup, QResizeEvent
from PySide6.QtWidgets import QFrame, QMenu, QPushButton, QSizePolicy

from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.plan import SIMPLE, Ask
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.core.speech import MicrophoneState, TalkState
from jarvis_desktop.ui.countdown import Countdown, TimerButton
from jarvis_desktop.ui.mode_picker import MEANINGS, ModeMenu, opens_more
from jarvis_desktop.ui.plan.list_view import plain_menu
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.icons import IconButton
from jarvis_desktop.ui.widgets.labels import ElidedLabel
from jarvis_desktop.ui.widgets.layout import hbox

if TYPE_CHECKING:
    from jarvis_desktop.settings import Settings
    from jarvis_desktop.ui.settings.controller import SettingsController

MICROPHONE: dict[MicrophoneState, tuple[str, str]] = {
    "closed": ("", mark("The microphone is closed.")),
    "opening": (mark("Getting ready…"), mark("The microphone gets ready.")),
    "open": (mark("Open, not recording"), mark("The microphone is open.")),
    "lost": (
        mark("Microphone lost"),
        mark("The microphone went away; it is used again once it is back."),
    ),
}
"""How the state of the microphone is shown, and what a screen reader says."""
KEPT = mark(
    "Nothing is recorded: the last half second is kept in memory, so that no first word is lost."
)
CLOSES = {
    "conversation": mark("It closes half a minute after the last words."),
    "always": mark("It is open all the time, as you chose in the settings."),
}
"""When an open microphone closes, by the setting."""
NEW = mark("New conversation")

PLANS: dict[Ask, str] = {
    "always": mark("Ask about every plan"),
    "larger": mark("Ask about larger plans"),
    "never": mark("Run plans unasked"),
}
WHICH_PLANS = mark("Which plans are shown before they run")

NO_LLM = mark("No LLM")
MIN_TITLE_WIDTH = 80
"""The least width of the title in pixels; below it the LLM and the microphone become icons."""


class Header(QFrame):
    """Shows the conversation's title and how JARVIS works now."""

    explained = Signal(str)
    """The user asks why this LLM is used; carries the reason."""
    llm_wanted = Signal()
    """The user asks why there is no LLM."""
    voice_wanted = Signal()
    """The user wants to see the voice settings."""

    def __init__(self, settings: SettingsController) -> None:
        super().__init__()
        self.setObjectName("header")
        self._settings = settings
        self.lists = IconButton("menu", tr("Show the conversations"))
        self.lists.setToolTip(tr("Conversations (Ctrl+F)"))
        self.title = ElidedLabel(tr(NEW), role="heading")
        layout = hbox(
            self.lists,
            (self.title, 1),
            parent=self,
            margins=(theme.space("three"), 10, theme.space("two"), 10),
            spacing=theme.space(),
        )
        self.timers = TimerButton()
        self.voice = _Shrinking("mic", tr("Voice"), kind="mic")
        self.voice.clicked.connect(self.voice_wanted)
        self._microphone = self._closes = ""
        self._llm, self._llm_reason = "", ""
        self.llm = _Shrinking("llm", tr("Which LLM is used"), kind="quiet")
        self.llm.clicked.connect(self._explain_llm)
        self.llm.hide()
        self.mode = _Shrinking("shield", tr("Mode: starting"), kind="quiet")
        self.mode.setEnabled(False)
        self.mode.clicked.connect(self.choose_mode)
        self._mode, self._menu = Mode.LOCAL, ModeMenu(self)
        self._menu.changed.connect(self._mode_chosen)
        self.review = _Shrinking("review", tr("Plans"), kind="quiet")
        self.review.setEnabled(False)
        self.review.clicked.connect(self.choose_plans)
        self._ask: Ask = "larger"
        self.speak = _switch(
            "speaker", tr("Speak answers"), tr("Say answers to spoken requests aloud")
        )
        for button in (self.timers, self.voice, self.llm, self.mode, self.review, self.speak):
            layout.addWidget(button)
        self.show_microphone("closed", "idle")
        settings.session.settled.connect(self.show_settings)

    def serve(self, countdown: Countdown) -> None:
        """Show these timers."""
        self.timers.serve(countdown)
        countdown.changed.connect(self._fit)

    def show_title(self, title: str) -> None:
        """Show the title of the conversation; "" for a new one."""
        self.title.show_text(title or tr(NEW))

    def show_settings(self, settings: Settings) -> None:
        """Show the mode and what it means."""
        self._mode, meaning = settings.mode, MEANINGS[settings.mode]
        name, means = tr(meaning.name), tr(meaning.means)
        self.mode.setEnabled(True)
        self.mode.show_icon(
            meaning.icon,
            tr("Mode: {mode}", mode=name),
            tip=tr("{mode}: {meaning}", mode=name, meaning=means),
        )
        self.mode.setAccessibleDescription(means)
        self._ask, self._closes = settings.planner.ask, CLOSES.get(settings.speech.microphone, "")
        self.review.setEnabled(True)
        self.review.setAccessibleName(tr("Plans: {choice}", choice=tr(PLANS[self._ask])))
        self.review.setAccessibleDescription(tr(SIMPLE))
        self.review.setToolTip(tr(SIMPLE) if self._ask == "larger" else tr(WHICH_PLANS))
        self._fit()

    def choose_plans(self) -> None:
        """Open the menu that chooses which plans are shown before they run."""
        self.plans_menu().popup(self.review.mapToGlobal(self.review.rect().bottomLeft()))

    def plans_menu(self) -> QMenu:
        """A menu that changes the setting itself and closes when its last choice is removed."""
        menu = plain_menu(self, tr(WHICH_PLANS))
        group = QActionGroup(menu)
        for ask, words in PLANS.items():
            action = menu.addAction(tr(words))
            action.setCheckable(True)
            action.setChecked(ask == self._ask)
            action.triggered.connect(partial(self._plans_chosen, ask))
            group.addAction(action)
        return menu

    def choose_mode(self) -> None:
        """Open the menu of modes."""
        self._menu.open_below(self.mode, self._mode)

    def change_mode(self, mode: Mode) -> bool:
        """Change the mode. Return False if the user is asked first, below the button."""
        if not opens_more(mode, self._mode):
            self._settings.change("mode", mode.value)
            self._settings.write()
            return True
        self.choose_mode()
        self._menu.choice.pick(mode)
        return False

    def show_llm(self, used: str, reason: str) -> None:
        """Show which LLM is used, "" for none; `reason` says why."""
        self._llm, self._llm_reason = used, reason
        self.llm.setAccessibleName(tr("LLM: {name}", name=used) if used else tr(NO_LLM))
        self.llm.setAccessibleDescription(reason)
        self.llm.show()
        self._fit()

    def show_microphone(self, state: MicrophoneState, talking: TalkState) -> None:
        """Show whether the microphone is open, and what happens to the sound."""
        getting_ready = state == "open" and talking == "waiting"
        hears = state == "open" and talking in ("waiting", "listening")
        self._microphone, meaning = map(tr, MICROPHONE["opening" if getting_ready else state])
        if hears and not getting_ready:
            self._microphone = tr("Listening")
        elif state == "open" and not hears:
            meaning = " ".join(filter(None, (meaning, tr(KEPT), tr(self._closes))))
        theme.restyle(self.voice, microphone="hearing" if hears else state)
        self.voice.show_colour({"lost": "warning"}.get(state, "danger" if hears else "muted"))
        self.voice.setAccessibleName(tr("Voice settings. {meaning}", meaning=meaning))
        self.voice.setToolTip(tr("{meaning} Press to choose and test it.", meaning=meaning))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self.voice.setText(self._microphone)
        self.llm.setText((self._llm or tr(NO_LLM)).replace("&", "&&"))
        mode = tr(MEANINGS[self._mode].name) if self.mode.isEnabled() else tr("Starting…")
        self.mode.setText(mode)
        self.review.setText(tr(PLANS[self._ask]))
        self.speak.setText(tr("Speak answers"))
        # What matters least loses its words first, the mode never.
        for least in ((self.llm,), (self.review, self.speak), (self.voice,)):
            if self._fits():
                return
            for item in least:
                item.setText("")

    def _fits(self) -> bool:
        layout = self.layout()
        assert layout is not None
        words = (self.timers, self.voice, self.llm, self.mode, self.review, self.speak)
        buttons = (self.lists, *words)
        shown = [item for item in buttons if not item.isHidden()]
        widths = [item.sizeHint().width() + layout.spacing() for item in shown]
        margins = layout.contentsMargins()
        return sum(widths) + margins.left() + margins.right() + MIN_TITLE_WIDTH <= self.width()

    def _mode_chosen(self, mode: str) -> None:
        self.mode.setFocus()
        self._settings.change("mode", mode)
        self._settings.write()

    def _plans_chosen(self, ask: Ask) -> None:
        self._settings.change("planner.ask", ask)
        self._settings.write()

    def _explain_llm(self) -> None:
        if self._llm:
            self.explained.emit(self._llm_reason)
        else:
            self.llm_wanted.emit()


class _Shrinking(IconButton):
    """A button that never keeps the window from becoming narrower: its text is dropped first."""

    def __init__(self, icon_name: str, name: str, *, kind: str) -> None:
        super().__init__(icon_name, name, kind=kind, text=" ")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        return QSize(self.iconSize().width() + 22, super().minimumSizeHint().height())


def _switch(icon_name: str, text: str, explanation: str) -> QPushButton:
    button = _Shrinking(icon_name, text, kind="quiet")
    button.setCheckable(True)
    button.setToolTip(explanation)
    button.setIconSize(QSize(16, 16))
    return button
