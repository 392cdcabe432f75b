"""The page of the voice: choose and test the microphone, the loudspeaker, the recogniser, the voice
and the talk key. What is chosen is written at once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from jarvis_desktop.core.shown import one_line
from jarvis_desktop.ui import theme
from jarvis_desktop.ui.talking import Talker
from jarvis_desktop.ui.text import Label
from jarvis_desktop.ui.voice_desk import Look, VoiceDesk
from jarvis_desktop.ui.voice_habits import HabitsSection
from jarvis_desktop.ui.voice_key import KeySection
from jarvis_desktop.ui.voice_microphone import MicrophoneSection, TrialSection
from jarvis_desktop.ui.voice_section import button
from jarvis_desktop.ui.voice_sound import SoundSection
from jarvis_desktop.ui.voice_weights import RecogniserSection

if TYPE_CHECKING:
    from jarvis_desktop.speech.devices import Device

SIZE = QSize(660, 760)
SAVED = "Changes are kept at once."
NAMES = {
    "input": "the microphone",
    "output": "the loudspeaker",
    "engine": "the voice",
    "voice": "the voice",
    "rate": "the speed",
    "volume": "the volume",
    "language": "the language",
    "words": "the words to expect",
    "recogniser": "which Whisper is used",
    "microphone": "when the microphone is open",
    "key": "the talk key",
    "key_way": "what the talk key does",
    "pause": "the silence that ends what is said",
    "hands_free": "answers aloud",
    "interrupt": "interrupting by speaking",
    "wake_word": "the wake word",
}


class VoicePage(QDialog):
    """Stays beside the window, which goes on working."""

    def __init__(self, desk: VoiceDesk, talker: Talker, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle("Microphone and voice – JARVIS Desktop")
        self.setMinimumSize(500, 360)
        self.resize(SIZE)
        self.desk = desk
        self.microphone = MicrophoneSection(desk)
        self.trial = TrialSection(desk, talker)
        self.sound = SoundSection(desk)
        self.recogniser = RecogniserSection(desk)
        self.key = KeySection(desk)
        self.habits = HabitsSection(desk)
        self._sections = (
            self.microphone,
            self.trial,
            self.sound,
            self.recogniser,
            self.key,
            self.habits,
        )
        self._build()
        desk.looked.connect(self._looked)
        desk.listed.connect(self._listed)
        desk.saved.connect(self._saved)
        desk.failed.connect(self._failed)

    def _build(self) -> None:
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scrolled = QWidget()
        scrolled.setObjectName("scrolled")
        column = QVBoxLayout(scrolled)
        column.setContentsMargins(*[theme.space("two")] * 4)
        column.setSpacing(12)
        for section in self._sections:
            column.addWidget(section)
        column.addStretch(1)
        scroll.setWidget(scrolled)
        self._scroll = scroll
        foot = QHBoxLayout()
        foot.setContentsMargins(theme.space("two"), theme.space(), theme.space("two"), 12)
        self.state = Label(SAVED, role="small", wrap=True)
        foot.addWidget(self.state, 1)
        self.leave = button("Close")
        self.leave.clicked.connect(self.close)
        foot.addWidget(self.leave)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(scroll, 1)
        outer.addLayout(foot)

    def open_anew(self) -> None:
        """Show it, with what is true now."""
        self.desk.look()
        self.desk.list_devices()
        self.show()
        self.activateWindow()
        self.microphone.device.setFocus()

    def changeEvent(self, change: QEvent) -> None:
        """Look anew where one comes back, perhaps from plugging something in."""
        super().changeEvent(change)
        if change.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            self.desk.list_devices()

    def done_with(self) -> None:
        """Leave the microphone, be silent, and write what was changed last."""
        for section in (self.microphone, self.trial, self.sound):
            section.leave()
        self.desk.write()

    def reject(self) -> None:
        """Esc drops what is being tried, and closes the page where nothing is."""
        tries = self.trial.busy or self.desk.does("level") or self.desk.does("sentence")
        self.done_with()
        if not tries:
            super().reject()

    def closeEvent(self, event: QCloseEvent) -> None:
        """End what is being tried."""
        self.done_with()
        event.accept()  # the dialog's own would take it for Esc

    def _looked(self, look: Look) -> None:
        for section in self._sections:
            section.show_look(look)
        if look.notice:
            self._failed(look.notice)

    def _listed(self, devices: Sequence[Device], trouble: str) -> None:
        self.microphone.show_devices(devices, trouble)
        self.sound.show_devices(devices, trouble)

    def _saved(self, waits: Collection[str]) -> None:
        names = sorted({NAMES.get(name, name) for name in waits})
        later = f" After a restart of JARVIS: {', '.join(names)}." if names else ""
        self._say(f"Saved.{later}", wrong=False)

    def _failed(self, reason: str) -> None:
        self._say(one_line(reason, limit=600), wrong=True)

    def _say(self, words: str, *, wrong: bool) -> None:
        self.state.setProperty("role", "warning" if wrong else "small")
        self.state.style().unpolish(self.state)
        self.state.style().polish(self.state)
        self.state.setText(words)
