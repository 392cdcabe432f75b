"""The line above the conversation: its title, the mode, and two switches."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
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


class Header(QFrame):
    """Shows where one is and how JARVIS works now."""

    explained = Signal(str)
    """Carries what the mode means, when the person asks."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("header")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.space("three"), 10, theme.space("two"), 10)
        layout.setSpacing(theme.space())
        self.title = ElidedLabel("New conversation", role="heading")
        layout.addWidget(self.title, 1)
        self.mode = IconButton("shield", "Mode: starting", kind="quiet", text="Starting…")
        self.mode.setEnabled(False)
        self.mode.clicked.connect(lambda: self.explained.emit(self.mode.toolTip()))
        self.review = _switch("review", "Review plans", "Show each plan and ask before it runs")
        self.speak = _switch("speaker", "Speak answers", "Say answers aloud")
        for button in (self.mode, self.review, self.speak):
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


def _switch(icon_name: str, text: str, explanation: str) -> QPushButton:
    button = IconButton(icon_name, text, kind="quiet", text=text)
    button.setCheckable(True)
    button.setToolTip(explanation)
    button.setIconSize(QSize(16, 16))
    return button
