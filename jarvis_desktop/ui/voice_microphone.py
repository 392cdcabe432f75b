"""Of the voice page: which microphone hears, how loud it is there, and what is understood."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy

from jarvis_desktop.core.hearing import Partial, Talking, Transcript
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.ui import phrases
from jarvis_desktop.ui.icons import IconButton
from jarvis_desktop.ui.level_meter import LevelMeter
from jarvis_desktop.ui.partial_text import PartialText
from jarvis_desktop.ui.talking import Talker
from jarvis_desktop.ui.text import Label
from jarvis_desktop.ui.voice_desk import Look, VoiceDesk
from jarvis_desktop.ui.voice_devices import DeviceChoice
from jarvis_desktop.ui.voice_section import Section, button

if TYPE_CHECKING:
    from jarvis_desktop.speech.devices import Device

LONGEST_LOOK = 30_000
"""Milliseconds after which the level is left, should it be forgotten."""
FAINT = 0.12
"""A level that even soft speech is above: 53 dB below full scale."""
SILENT = 3000
"""Milliseconds after which it is said that nothing is heard."""
QUIET = (
    "Nothing is heard. Speak; if the bars stay flat, see that the right microphone is chosen, not "
    "muted, and that its volume is up in the settings of your system."
)
SAY = "Say a sentence"
WAITS = "Press the button and say a sentence, as you would ask for something."


class MicrophoneSection(Section):
    """The device and its level."""

    def __init__(self, desk: VoiceDesk) -> None:
        super().__init__("Microphone")
        self._desk = desk
        self._loudest = 0.0
        self.device = DeviceChoice("Microphone", desk, "input", inputs=True)
        self.device.activated.connect(self._picked)
        self.again = IconButton("refresh", "List the microphones anew")
        self.again.clicked.connect(desk.list_devices)
        self.row("Device", self.device, self.again)
        self.meter = LevelMeter(name="Loudness of the microphone")
        self.meter.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.test = button("Show the level", tip="Opens the microphone; nothing is kept")
        self.test.clicked.connect(self._toggle)
        self.row("Level", self.meter, self.test)
        self.end()
        self._end = QTimer(self, singleShot=True, interval=LONGEST_LOOK)
        self._end.timeout.connect(self.leave)
        self._judge = QTimer(self, singleShot=True, interval=SILENT)
        self._judge.timeout.connect(self._judged)
        desk.level.connect(self._heard)
        desk.measured.connect(self._measured)

    def show_look(self, look: Look) -> None:
        """Show what is chosen."""
        self.device.show_chosen(look.speech.input)

    def show_devices(self, devices: Sequence[Device], trouble: str) -> None:
        """Show which there are."""
        if not self.device.show_devices(devices) and not trouble:
            trouble = "There is no microphone. Plug one in, or start your system’s sound service."
        self.complain(trouble)

    def leave(self) -> None:
        """Close the microphone."""
        self._desk.stop("level")

    def _picked(self) -> None:
        self.complain("")
        self.leave()

    def _toggle(self) -> None:
        if self._desk.does("level"):
            self.leave()
            return
        self.meter.clear()
        self.complain("")
        self._loudest = 0.0
        self._desk.measure()
        self.test.setText("Stop")
        self.test.setAccessibleName("Stop showing the level")
        self._end.start()
        self._judge.start()

    def _heard(self, level: float) -> None:
        self.meter.add(level)
        self._loudest = max(self._loudest, level)
        if self._loudest >= FAINT and self.trouble.text() == QUIET:
            self.complain("")

    def _judged(self) -> None:
        if self._desk.does("level") and self._loudest < FAINT:
            self.complain(QUIET)

    def _measured(self, trouble: str) -> None:
        self._end.stop()
        self._judge.stop()
        self.test.setText("Show the level")
        self.test.setAccessibleName("Show the level")
        if trouble:
            self.complain(trouble)


class TrialSection(Section):
    """Say a sentence, and see what is understood."""

    def __init__(self, desk: VoiceDesk, talker: Talker) -> None:
        super().__init__("Is it understood?")
        self._desk = desk
        self._talker = talker
        self._own = Talker(desk.session.engine, self)
        self._on = self._begun = False
        self._ended = 0.0
        row = QHBoxLayout()
        self.say = button(SAY, kind="primary")
        self.say.setEnabled(False)
        self.say.clicked.connect(self._toggle)
        self.told = Label(WAITS, role="small", wrap=True)
        row.addWidget(self.say)
        row.addWidget(self.told, 1)
        self.column.addLayout(row)
        self.words = PartialText()
        self.column.addWidget(self.words)
        self.end()
        self._own.talked.connect(self._talked)
        self._own.partial.connect(self.words.show_partial)
        self._own.heard.connect(self._heard)
        self._own.unheard.connect(self.complain)

    def show_look(self, look: Look) -> None:
        """It can be tried once there is an application."""
        self.say.setEnabled(True)

    @property
    def busy(self) -> bool:
        """Whether something is being said, or written down."""
        return self._on

    def leave(self) -> None:
        """Drop what is being said; the window hears again."""
        if self._on:
            self._own.cancel()
            self._give_back()

    def _toggle(self) -> None:
        if self._own.active:
            self._own.stop()
        elif not self._on and (app := self._desk.session.app):
            self._on = True
            self.complain("")
            self.words.clear()
            self._own.attach(app.talk)
            self._own.start()

    def _talked(self, talking: Talking) -> None:
        if not self._on:
            return
        told = {
            "waiting": "The microphone gets ready…",
            "listening": "Listening… It ends when you stop speaking.",
            "recognising": "Writing it down…",
        }
        if talking.state in told:
            self._begun = True
            self.told.setText(told[talking.state])
        self.say.setText("Done" if self._own.active else SAY)
        self.say.setAccessibleName("I have said it" if self._own.active else SAY)
        if talking.state == "recognising":
            self._ended = time.monotonic()
        elif talking.state == "idle" and self._begun:
            self._give_back()

    def _heard(self, transcript: Transcript) -> None:
        self.words.show_partial(Partial(transcript.text))
        took = phrases.seconds(time.monotonic() - self._ended)
        engine = one_line(transcript.engine, limit=40)
        language = f", in “{transcript.language}”" if transcript.language else ""
        self.told.setText(f"Understood by {engine}{language}, {took} after you stopped.")
        self.complain(one_line(transcript.note, limit=300))

    def _give_back(self) -> None:
        self._on = self._begun = False
        self.say.setText(SAY)
        self.say.setAccessibleName(SAY)
        if not self.told.text().startswith("Understood"):
            self.told.setText(WAITS)
        if app := self._desk.session.app:
            self._talker.attach(app.talk)
