"""Of the voice page: when the microphone is open, and what may be said without a key."""

from __future__ import annotations

from PySide6.QtWidgets import QButtonGroup, QRadioButton

from jarvis_desktop.ui.text import Label
from jarvis_desktop.ui.voice_desk import Look, VoiceDesk
from jarvis_desktop.ui.voice_section import Choice, Section, Tick

OPEN = (
    (
        "talking",
        "Only while I talk",
        "It opens with the key and closes with it. A device that is slow to wake up may lose the "
        "beginning of the first word.",
    ),
    (
        "conversation",
        "Also while an answer is spoken, and for half a minute after",
        "No first word is lost when you go on talking. What nobody asked for is forgotten after "
        "half a second; it is never written down, and never leaves the memory of this computer.",
    ),
    (
        "always",
        "All the time",
        "No first word is ever lost, and a wake word can be heard. Your system shows the "
        "microphone as in use; what nobody asked for is forgotten after half a second.",
    ),
)
PAUSES = ("0.5", "0.7", "1", "1.5", "2", "3", "5")
HANDS_FREE = "Ask aloud, and take the answer aloud"
HANDS_FREE_TOLD = (
    "Questions about a spoken request are read out, and “yes”, “no”, “stop”, “repeat” or “slower” "
    "answers them. Anything unclear is a no; what deletes or sends is never agreed to by voice."
)
INTERRUPT = "Interrupt an answer by speaking, without a key"
INTERRUPT_TOLD = (
    "The microphone listens while an answer is spoken. Use headphones: without them the voice of "
    "JARVIS may be taken for yours."
)


class HabitsSection(Section):
    """Privacy and comfort."""

    def __init__(self, desk: VoiceDesk) -> None:
        super().__init__("When the microphone is open")
        self._desk = desk
        self.open = QButtonGroup(self)
        self._radios: dict[str, QRadioButton] = {}
        for value, text, told in OPEN:
            radio = QRadioButton(text)
            radio.setAccessibleName(text)
            radio.setAccessibleDescription(told)
            radio.clicked.connect(lambda _=False, value=value: desk.change("microphone", value))
            self.open.addButton(radio)
            self._radios[value] = radio
            self.column.addWidget(radio)
            self.column.addWidget(_told(told))
        self.hands_free = self._check("hands_free", HANDS_FREE, HANDS_FREE_TOLD)
        self.interrupt = self._check("interrupt", INTERRUPT, INTERRUPT_TOLD)
        self.pause = Choice("What is said without holding a key ends after")
        self.pause.activated.connect(lambda: desk.change("pause", float(self.pause.value)))
        self.column.addSpacing(4)
        self.column.addWidget(Label("Where no key is held, what you say ends after:"))
        self.row("Silence", self.pause)
        self.end()

    def radio(self, value: str) -> QRadioButton:
        """The choice of that value."""
        return self._radios[value]

    def show_look(self, look: Look) -> None:
        """Show what is chosen."""
        self._radios[look.speech.microphone].setChecked(True)
        self.hands_free.setChecked(look.speech.hands_free)
        self.interrupt.setChecked(look.speech.interrupt)
        chosen = f"{look.speech.pause:g}"
        values = sorted({*PAUSES, chosen}, key=float)
        self.pause.offer([(each, f"{each} s") for each in values], chosen)

    def _check(self, name: str, text: str, told: str) -> Tick:
        box = Tick(text, told)
        box.clicked.connect(lambda on: self._desk.change(name, bool(on)))
        self.column.addSpacing(4)
        self.column.addWidget(box)
        self.column.addWidget(_told(told))
        return box


def _told(text: str) -> Label:
    label = Label(text, role="small", wrap=True)
    label.setContentsMargins(26, 0, 0, 4)
    return label
