"""Of the voice page: the talk key of the whole desktop, how it is had and why in this way."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QLineEdit

from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.hearing import HotkeyStatus
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.hotkeys.keys import parse
from jarvis_desktop.hotkeys.own_shortcut import COMMAND
from jarvis_desktop.ui.text import Label
from jarvis_desktop.ui.voice_desk import Look, VoiceDesk
from jarvis_desktop.ui.voice_section import Choice, Section, button

WAYS = {
    "portal": "through your desktop’s own service for shortcuts",
    "x11": "through X11",
    "windows": "through Windows",
    "macos": "through macOS",
}
NOT_HELD = "It cannot be held there: press it to start and to stop."
KEY_WAYS = (
    ("auto", "Hold it while you speak, or tap it to start and stop"),
    ("hold", "Hold it while you speak"),
    ("toggle", "Press it to start, and again to stop"),
)


class KeySection(Section):
    """The key, its way, and what to do where there is none."""

    def __init__(self, desk: VoiceDesk) -> None:
        super().__init__("Talk key of the whole desktop")
        self._desk = desk
        self._saved = ""
        self.status = Label(wrap=True)
        self.column.addWidget(self.status)
        self.why = Label(role="small", wrap=True)
        self.column.addWidget(self.why)
        bind = QHBoxLayout()
        self.bind = Label(role="small", wrap=True)
        self.copy = button("Copy the command", tip=COMMAND)
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(COMMAND))
        bind.addWidget(self.bind, 1)
        bind.addWidget(self.copy)
        self.column.addLayout(bind)
        self.key = QLineEdit()
        self.key.setProperty("role", "plain")
        self.key.setAccessibleName("Talk key")
        self.key.setPlaceholderText("None")
        self.key.editingFinished.connect(self._edited)
        self.row("Key", self.key)
        self.way = Choice("What the talk key does")
        self.way.offer(KEY_WAYS, "auto")
        self.way.activated.connect(lambda: desk.change("key_way", self.way.value))
        self.row("What it does", self.way)
        desk.bound.connect(self._show_status)
        self.end()

    def show_look(self, look: Look) -> None:
        """Show what is chosen, and what came of it."""
        self._saved = look.speech.key
        if not self.key.hasFocus():
            self.key.setText(self._saved)
        self.way.choose(look.speech.key_way)
        self._show_status(look.hotkey)

    def _show_status(self, hotkey: HotkeyStatus) -> None:
        live = hotkey.way != "none"
        key = one_line(hotkey.key, limit=60) or self._saved
        if live:
            held = "" if hotkey.holds else f" {NOT_HELD}"
            self.status.setText(f"{key} works everywhere, {WAYS[hotkey.way]}.{held}")
        else:
            self.status.setText("No key works outside of this window yet.")
        self.why.setText(one_line(hotkey.why, limit=600))
        self.why.setVisible(bool(hotkey.why))
        self.bind.setText(f"Any desktop can bind a key to this command: {COMMAND}")
        for widget in (self.bind, self.copy):
            widget.setVisible(not live)

    def _edited(self) -> None:
        text = self.key.text().strip()
        if text == self._saved:
            self.complain("")
            return
        try:
            key = str(parse(text)) if text else ""
        except JarvisError as error:
            self.complain(str(error))
            return
        self.complain("")
        self._saved = key
        self.key.setText(key)
        self._desk.change("key", key)
