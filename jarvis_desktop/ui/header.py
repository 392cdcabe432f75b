"""The line above the conversation: its title, the LLM, the mode, and two switches."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton

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


ROOMY = 680
"""Pixels; in a narrower header the LLM is only an icon."""


class Header(QFrame):
    """Shows where one is and how JARVIS works now."""

    explained = Signal(str)
    """Carries what the mode means, or why this LLM is used, when the person asks."""
    llm_wanted = Signal()
    """There is no LLM, and the person asks about that."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("header")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.space("three"), 10, theme.space("two"), 10)
        layout.setSpacing(theme.space())
        self.title = ElidedLabel("New conversation", role="heading")
        layout.addWidget(self.title, 1)
        self._llm, self._llm_reason = "", ""
        self.llm = IconButton("llm", "Which LLM is used", kind="quiet", text=" ")
        self.llm.clicked.connect(self._explain_llm)
        self.llm.hide()
        self.mode = IconButton("shield", "Mode: starting", kind="quiet", text="Starting…")
        self.mode.setEnabled(False)
        self.mode.clicked.connect(lambda: self.explained.emit(self.mode.toolTip()))
        self.review = _switch("review", "Review plans", "Show each plan and ask before it runs")
        self.speak = _switch("speaker", "Speak answers", "Say answers aloud")
        for button in (self.llm, self.mode, self.review, self.speak):
            layout.addWidget(button)

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

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Make room where there is little."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        roomy = self.width() >= ROOMY
        self.llm.setText((self._llm or "No LLM").replace("&", "&&") if roomy else "")

    def _explain_llm(self) -> None:
        if self._llm:
            self.explained.emit(self._llm_reason)
        else:
            self.llm_wanted.emit()


def _switch(icon_name: str, text: str, explanation: str) -> QPushButton:
    button = IconButton(icon_name, text, kind="quiet", text=text)
    button.setCheckable(True)
    button.setToolTip(explanation)
    button.setIconSize(QSize(16, 16))
    return button
