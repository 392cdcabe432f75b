"""Of the voice page: who speaks, how fast and loud, and where it is heard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QSlider, QWidget

from jarvis_desktop.core.shown import one_line
from jarvis_desktop.ui import phrases
from jarvis_desktop.ui.bridge import Outcome, unexpected
from jarvis_desktop.ui.icons import IconButton
from jarvis_desktop.ui.text import Label
from jarvis_desktop.ui.voice_desk import Look, VoiceDesk
from jarvis_desktop.ui.voice_devices import DeviceChoice
from jarvis_desktop.ui.voice_section import Choice, Section, button, unmoved

if TYPE_CHECKING:
    from jarvis_desktop.speech.devices import Device

ENGINES = (
    ("system", "The system’s own voice"),
    ("kokoro", "Kokoro, a natural voice (to be installed first)"),
    ("piper", "Piper, a natural voice (to be installed first)"),
)
TOLD = "One sentence is spoken as an answer is."


class SoundSection(Section):
    """The voice and the loudspeaker."""

    def __init__(self, desk: VoiceDesk) -> None:
        super().__init__("Voice")
        self._desk = desk
        self.device = DeviceChoice("Loudspeaker", desk, "output", inputs=False)
        self.again = IconButton("refresh", "List the loudspeakers anew")
        self.again.clicked.connect(desk.list_devices)
        self.row("Loudspeaker", self.device, self.again)
        self.device_trouble = Label(role="warning", wrap=True)
        self.device_trouble.hide()
        self.column.addWidget(self.device_trouble)
        self.engine = Choice("Voice")
        self.engine.offer(ENGINES, "system")
        self.engine.activated.connect(lambda: desk.change("engine", self.engine.value))
        self.row("Spoken by", self.engine)
        self.rate = Slide("Speed of the voice", 80, 450, "{} words a minute", 10)
        self.rate.slider.valueChanged.connect(lambda value: desk.change("rate", value))
        self.row("Speed", self.rate)
        self.volume = Slide("Volume of the voice", 0, 100, "{} %", 5)
        self.volume.slider.valueChanged.connect(
            lambda value: desk.change("volume", round(value / 100, 2))
        )
        self.row("Volume", self.volume)
        row = QHBoxLayout()
        self.say = button("Hear a sentence")
        self.say.clicked.connect(self._toggle)
        self.told = Label(TOLD, role="small", wrap=True)
        row.addWidget(self.say)
        row.addWidget(self.told, 1)
        self.column.addLayout(row)
        self.end()
        desk.said.connect(self._said)
        desk.lacks.connect(self._lacks)

    def show_look(self, look: Look) -> None:
        """Show what is chosen."""
        self.device.show_chosen(look.speech.output)
        self.engine.choose(look.speech.engine)
        self.rate.show_value(look.speech.rate)
        self.volume.show_value(round(100 * look.speech.volume))
        self._lacks(look.lacking)

    def show_devices(self, devices: Sequence[Device], trouble: str) -> None:
        """Show which there are."""
        if not self.device.show_devices(devices) and not trouble:
            trouble = "There is no loudspeaker. Plug one in, or start your system’s sound service."
        self.device_trouble.setText(one_line(trouble, limit=600))
        self.device_trouble.setVisible(bool(trouble))

    def _lacks(self, lacking: str) -> None:
        self.complain(f"{lacking} The system’s own voice speaks meanwhile." if lacking else "")

    def leave(self) -> None:
        """Be silent."""
        self._desk.stop("sentence")

    def _toggle(self) -> None:
        if self._desk.does("sentence"):
            self.leave()
            return
        self._desk.write()
        self.complain("")
        self.told.setText("It is about to be heard…")
        self.say.setText("Silence")
        self.say.setAccessibleName("Silence the sentence")
        self._desk.say()

    def _said(self, outcome: Outcome) -> None:
        self.say.setText("Hear a sentence")
        self.say.setAccessibleName("Hear a sentence")
        self.told.setText(TOLD)
        if outcome.value is not None:
            took = phrases.seconds(outcome.value)
            self.told.setText(
                f"It began after {took}, and was played. Not heard? See the volume of your system, "
                "and that the right loudspeaker is chosen."
            )
        elif not outcome.cancelled:
            self.complain(str(outcome.error or unexpected()))


class Slide(QWidget):
    """A slider with its value in words."""

    def __init__(self, name: str, low: int, high: int, words: str, step: int) -> None:
        super().__init__()
        self._words = words
        self._name = name
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(low, high)
        self.slider.setSingleStep(step)
        self.slider.setPageStep(4 * step)
        unmoved(self.slider)
        self.value = Label(role="small")
        self.value.setFixedWidth(130)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.slider, 1)
        row.addWidget(self.value)
        self.slider.valueChanged.connect(self._tell)
        self.setFocusProxy(self.slider)
        self._tell(low)

    def show_value(self, value: int) -> None:
        """Show a value; tells nobody."""
        before = self.slider.blockSignals(True)
        self.slider.setValue(value)
        self.slider.blockSignals(before)
        self._tell(value)

    def _tell(self, value: int) -> None:
        words = self._words.format(value)
        self.value.setText(words)
        self.slider.setAccessibleName(f"{self._name}: {words}")
