"""In the settings of the voice: how loud it is at the microphone, and what is understood."""

from __future__ import annotations

import time

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy

from jarvis_desktop.core.hearing import Partial, Talking, Transcript
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.ui.look import phrases, theme
from jarvis_desktop.ui.look.level_meter import LevelMeter
from jarvis_desktop.ui.look.section import button
from jarvis_desktop.ui.look.text import Label
from jarvis_desktop.ui.settings.rows import Hands, Row
from jarvis_desktop.ui.voice.panel import Panel
from jarvis_desktop.ui.voice.partial_text import PartialText
from jarvis_desktop.ui.voice.talking import Talker

LONGEST_LOOK = 30_000
"""Milliseconds after which the level is left, should it be forgotten."""
FAINT = 0.12
"""A level that even soft speech is above: 53 dB below full scale."""
SILENT = 3000
"""Milliseconds after which it is said that nothing is heard."""
QUIET = mark(
    "Nothing is heard. Speak; if the bars stay flat, see that the right microphone is chosen, not "
    "muted, and that its volume is up in the settings of your system."
)
SHOW = mark("Show the level")
SAY = mark("Say a sentence")
WAITS = mark("Press the button and say a sentence, as you would ask for something.")


class LevelPanel(Panel):
    """The level of the microphone that is chosen."""

    def __init__(self, row: Row, hands: Hands) -> None:
        super().__init__(tr(row.title))
        self._desk = desk = hands.voice
        self._settings = hands.settings
        self._loudest = 0.0
        self._quiet = tr(QUIET)
        line = QHBoxLayout()
        line.setSpacing(theme.space())
        self.meter = LevelMeter(name=tr("Loudness of the microphone"))
        self.meter.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.test = button(tr(SHOW), tip=tr("Opens the microphone; nothing is kept"))
        self.test.clicked.connect(self._toggle)
        line.addWidget(self.meter, 1)
        line.addWidget(self.test)
        self.column.addLayout(line)
        self.setFocusProxy(self.test)
        self._end = QTimer(self, singleShot=True, interval=LONGEST_LOOK)
        self._end.timeout.connect(self.leave)
        self._judge = QTimer(self, singleShot=True, interval=SILENT)
        self._judge.timeout.connect(self._judged)
        desk.level.connect(self._heard)
        desk.measured.connect(self._measured)

    def leave(self) -> None:
        """Close the microphone."""
        self._desk.stop("level")

    def _toggle(self) -> None:
        if self._desk.does("level"):
            self.leave()
            return
        self._settings.write()
        self.meter.clear()
        self.complain("")
        self._loudest = 0.0
        self._desk.measure()
        self.test.setText(tr("Stop"))
        self.test.setAccessibleName(tr("Stop showing the level"))
        self._end.start()
        self._judge.start()

    def _heard(self, level: float) -> None:
        self.meter.add(level)
        self._loudest = max(self._loudest, level)
        if self._loudest >= FAINT and self.trouble.text() == self._quiet:
            self.complain("")

    def _judged(self) -> None:
        if self._desk.does("level") and self._loudest < FAINT:
            self.complain(self._quiet)

    def _measured(self, trouble: str) -> None:
        self._end.stop()
        self._judge.stop()
        self.test.setText(tr(SHOW))
        self.test.setAccessibleName(tr(SHOW))
        if trouble:
            self.complain(trouble)


class TrialPanel(Panel):
    """Say a sentence, and see what is understood."""

    def __init__(self, row: Row, hands: Hands) -> None:
        super().__init__(tr(row.title))
        self._session = hands.voice.session
        self._talker = hands.surroundings.talker
        self._own = Talker(self._session.engine, self)
        self._on = self._begun = self._understood = False
        self._ended = 0.0
        line = QHBoxLayout()
        line.setSpacing(theme.space())
        self.say = button(tr(SAY), kind="primary")
        self.say.setEnabled(self._session.app is not None)
        self._session.ready.connect(self._ready)
        self.say.clicked.connect(self._toggle)
        self.told = Label(tr(WAITS), role="small", wrap=True)
        line.addWidget(self.say)
        line.addWidget(self.told, 1)
        self.column.addLayout(line)
        self.words = PartialText()
        self.column.addWidget(self.words)
        self.words.hide()
        self.setFocusProxy(self.say)
        self._own.talked.connect(self._talked)
        self._own.partial.connect(self.words.show_partial)
        self._own.heard.connect(self._heard)
        self._own.unheard.connect(self.complain)

    @property
    def busy(self) -> bool:
        """Whether something is being said, or written down."""
        return self._on

    def leave(self) -> None:
        """Drop what is being said; the window hears again."""
        if self._on:
            self._own.cancel()
            self._give_back()

    def _ready(self) -> None:
        self.say.setEnabled(True)

    def _toggle(self) -> None:
        if self._own.active:
            self._own.stop()
        elif not self._on and (app := self._session.app):
            self._on, self._understood = True, False
            self.complain("")
            self.words.clear()
            self.words.show()
            self._own.attach(app.talk)
            self._own.start()

    def _talked(self, talking: Talking) -> None:
        if not self._on:
            return
        told = {
            "waiting": tr("The microphone gets ready…"),
            "listening": tr("Listening… It ends when you stop speaking."),
            "recognising": tr("Writing it down…"),
        }
        if talking.state in told:
            self._begun = True
            self.told.setText(told[talking.state])
        self.say.setText(tr("Done") if self._own.active else tr(SAY))
        self.say.setAccessibleName(tr("I have said it") if self._own.active else tr(SAY))
        if talking.state == "recognising":
            self._ended = time.monotonic()
        elif talking.state == "idle" and self._begun:
            self._give_back()

    def _heard(self, transcript: Transcript) -> None:
        self._understood = True
        self.words.show_partial(Partial(transcript.text))
        took = phrases.seconds(time.monotonic() - self._ended)
        engine = one_line(transcript.engine, limit=40)
        self.told.setText(
            tr(
                "Understood by {engine}, in “{language}”, {time} after you stopped.",
                engine=engine,
                language=transcript.language,
                time=took,
            )
            if transcript.language
            else tr("Understood by {engine}, {time} after you stopped.", engine=engine, time=took)
        )
        self.complain(one_line(transcript.note, limit=300))

    def _give_back(self) -> None:
        self._on = self._begun = False
        self.say.setText(tr(SAY))
        self.say.setAccessibleName(tr(SAY))
        if not self._understood:
            self.told.setText(tr(WAITS))
        if app := self._session.app:
            self._talker.attach(app.talk)
