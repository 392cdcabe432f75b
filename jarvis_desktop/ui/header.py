"""The line above the conversation: its title, the microphone, the LLM, the mode, and two
switches."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSizePolicy

from jarvis_desktop.core.hearing import MicrophoneState, TalkState
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.ui import theme
from jarvis_desktop.ui.icons import IconButton
from jarvis_desktop.ui.text import ElidedLabel

MEANINGS = {
    Mode.OFFLINE: "Offline: nothing leaves this computer, and nothing is downloaded.",
    Mode.LOCAL: "Local: your words and files stay on this computer. "
    "The network is used only for downloads that you ask for.",
    Mode.HYBRID: "Hybrid: work is done on this computer first. What it cannot do is sent to the "
    "Hugging Face API, with the words and files it needs.",
    Mode.LITE: "Lite: your words and files are sent to the Hugging Face API; "
    "only speech is recognised on this computer.",
}
"""What a mode means for the person's privacy."""


MICROPHONE: dict[MicrophoneState, tuple[str, str]] = {
    "closed": ("", "The microphone is closed."),
    "opening": ("Getting ready…", "The microphone gets ready."),
    "open": ("Microphone open", "The microphone is open."),
    "lost": ("Microphone lost", "The microphone went away; it is used again once it is back."),
}
"""What is shown of the microphone, and what a screen reader says."""
KEPT = "Nothing is recorded: the last half second is kept in memory, so that no first word is lost."

TITLE = 80
"""Pixels that are left for the title before the LLM and the microphone become only icons."""


class Header(QFrame):
    """Shows where one is and how JARVIS works now."""

    explained = Signal(str)
    """Carries what the mode means, or why this LLM is used, when the person asks."""
    llm_wanted = Signal()
    """There is no LLM, and the person asks about that."""
    voice_wanted = Signal()
    """The person wants to look at what has to do with the voice."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("header")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.space("three"), 10, theme.space("two"), 10)
        layout.setSpacing(theme.space())
        self.title = ElidedLabel("New conversation", role="heading")
        layout.addWidget(self.title, 1)
        self.voice = _Shrinking("mic", "Voice", kind="mic")
        self.voice.clicked.connect(self.voice_wanted)
        self._microphone = ""
        self._llm, self._llm_reason = "", ""
        self.llm = _Shrinking("llm", "Which LLM is used", kind="quiet")
        self.llm.clicked.connect(self._explain_llm)
        self.llm.hide()
        self.mode = IconButton("shield", "Mode: starting", kind="quiet", text="Starting…")
        self.mode.setEnabled(False)
        self.mode.clicked.connect(lambda: self.explained.emit(self.mode.toolTip()))
        self.review = _switch("review", "Review plans", "Show each plan and ask before it runs")
        self.speak = _switch("speaker", "Speak answers", "Say answers aloud")
        for button in (self.voice, self.llm, self.mode, self.review, self.speak):
            layout.addWidget(button)
        self.show_microphone("closed", "idle")

    def show_title(self, title: str) -> None:
        """Show what the conversation is about; "" for one that is new."""
        self.title.show_text(title or "New conversation")

    def show_mode(self, mode: Mode) -> None:
        """Show the mode and what it means."""
        self.mode.setEnabled(True)
        self.mode.setText(mode.value.capitalize())
        self.mode.setToolTip(MEANINGS[mode])
        self.mode.setAccessibleName(f"Mode: {mode.value}")
        self.mode.setAccessibleDescription(MEANINGS[mode])

    def show_llm(self, used: str, reason: str) -> None:
        """Show which LLM is used, "" for none; `reason` says why."""
        self._llm, self._llm_reason = used, reason
        self.llm.setAccessibleName(f"LLM: {used or 'none'}")
        self.llm.setAccessibleDescription(reason)
        self.llm.show()
        self._fit()

    def show_microphone(self, state: MicrophoneState, talking: TalkState) -> None:
        """Show whether the microphone is open, and what happens with what it hears."""
        self._microphone, meaning = MICROPHONE[state]
        if state == "open" and talking == "waiting":
            self._microphone, meaning = MICROPHONE["opening"]
        elif state == "open" and talking == "listening":
            self._microphone = "Listening"
        elif state == "open":
            meaning = f"{meaning} {KEPT}"
        if state != self.voice.property("microphone"):
            self.voice.setProperty("microphone", state)
            self.voice.style().unpolish(self.voice)
            self.voice.style().polish(self.voice)
        self.voice.show_colour({"open": "danger", "lost": "warning"}.get(state, "muted"))
        self.voice.setAccessibleName(f"Voice settings. {meaning}")
        self.voice.setToolTip(f"{meaning} Press to choose and test it.")
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Make room where there is little."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self.voice.setText(self._microphone)
        self.llm.setText((self._llm or "No LLM").replace("&", "&&"))
        layout = self.layout()
        assert layout is not None
        buttons = (self.voice, self.llm, self.mode, self.review, self.speak)
        widths = [item.sizeHint().width() + layout.spacing() for item in buttons]
        margins = layout.contentsMargins()
        if sum(widths) + margins.left() + margins.right() + TITLE > self.width():
            self.voice.setText("")
            self.llm.setText("")

    def _explain_llm(self) -> None:
        if self._llm:
            self.explained.emit(self._llm_reason)
        else:
            self.llm_wanted.emit()


class _Shrinking(IconButton):
    """Never keeps the window from becoming narrower: its words go first."""

    def __init__(self, icon_name: str, name: str, *, kind: str) -> None:
        super().__init__(icon_name, name, kind=kind, text=" ")
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        """Its icon."""
        return QSize(self.iconSize().width() + 22, super().minimumSizeHint().height())


def _switch(icon_name: str, text: str, explanation: str) -> QPushButton:
    button = IconButton(icon_name, text, kind="quiet", text=text)
    button.setCheckable(True)
    button.setToolTip(explanation)
    button.setIconSize(QSize(16, 16))
    return button
