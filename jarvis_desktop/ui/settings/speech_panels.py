"""Controls of the voice settings: devices, microphone level, a recognition test, the recogniser, a
sample sentence, the replacements of dictation, and the last dictations."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from jarvis_desktop.app.server_trial import SENTENCE
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.expert import SHIPPED_WHISPER, Expert, times_real_time
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.speech import Partial, Talking, Transcript
from jarvis_desktop.localization import SPEECH_LANGUAGES
from jarvis_desktop.text.languages import NAMES
from jarvis_desktop.ui.engine import Outcome, unexpected
from jarvis_desktop.ui.session import AppJobs
from jarvis_desktop.ui.settings.schema import RowContext, SettingsRow
from jarvis_desktop.ui.settings.speech_controller import SpeechOverview
from jarvis_desktop.ui.voice.live_transcript import PartialText
from jarvis_desktop.ui.voice.talk import TalkController
from jarvis_desktop.ui.widgets import labels, theme
from jarvis_desktop.ui.widgets.forms import (
    GrowingTextField,
    SelectOption,
    SettingsPanel,
    button,
    progress_bar,
    reword,
)
from jarvis_desktop.ui.widgets.icons import IconButton
from jarvis_desktop.ui.widgets.labels import ElidedLabel, Label
from jarvis_desktop.ui.widgets.layout import clear, hbox, vbox
from jarvis_desktop.ui.widgets.level_meter import LevelMeter
from jarvis_desktop.ui.widgets.timers import new_timer

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.speech.devices import Device
    from jarvis_desktop.storage.records import KeptDictation


LEVEL_SHOWN_MS = 30_000
"""Milliseconds after which a forgotten level meter stops."""
FAINT = 0.12
"""Even quiet speech is louder than this level, 53 dB below full scale."""
SILENCE_MS = 3000
"""Milliseconds before a silent microphone is reported."""
QUIET = mark(
    "Nothing is heard. Speak; if the bars stay flat, see that the right microphone is chosen, not "
    "muted, and that its volume is up in the settings of your system."
)
SHOW = mark("Show the level")
SAY = mark("Say a sentence")
WAITS = mark("Press the button and say a sentence, as you would ask for something.")


class LevelPanel(SettingsPanel):
    """The level of the chosen microphone."""

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self._jobs = hands.voice.jobs
        self._settings = hands.settings
        self._loudest = 0.0
        self._quiet = tr(QUIET)
        self.meter = LevelMeter(name=tr("Loudness of the microphone"))
        self.meter.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.test = button(tr(SHOW), tip=tr("Opens the microphone; nothing is kept"))
        self.test.clicked.connect(self._toggle)
        self.column.addLayout(hbox((self.meter, 1), self.test, spacing=theme.space()))
        self.setFocusProxy(self.test)
        self._end = new_timer(self, self.leave, LEVEL_SHOWN_MS)
        self._judge = new_timer(self, self._judged, SILENCE_MS)
        self._tell = hands.voice.session.engine.poster(self, self._heard)

    def leave(self) -> None:
        """Close the microphone."""
        self._jobs.cancel("level")

    def _toggle(self) -> None:
        if "level" in self._jobs:
            self.leave()
            return
        self._settings.write()
        self.meter.clear()
        self.complain("")
        self._loudest = 0.0
        self._jobs.start("level", self._measure, self._measured)
        reword(self.test, tr("Stop"), tr("Stop showing the level"))
        self._end.start()
        self._judge.start()

    async def _measure(self, app: Application) -> None:
        await self._settings.taken_up()
        async with aclosing(app.microphone.listen(asyncio.Event())) as sounds:
            async for sound in sounds:
                self._tell(sound.level)

    def _heard(self, level: float) -> None:
        self.meter.add(level)
        self._loudest = max(self._loudest, level)
        if self._loudest >= FAINT and self.trouble.text() == self._quiet:
            self.complain("")

    def _judged(self) -> None:
        if "level" in self._jobs and self._loudest < FAINT:
            self.complain(self._quiet)

    def _measured(self, outcome: Outcome) -> None:
        self._end.stop()
        self._judge.stop()
        reword(self.test, tr(SHOW))
        if outcome.error:
            self.complain(str(outcome.error))


class TrialPanel(SettingsPanel):
    """A recognition test."""

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self._session = hands.voice.session
        self._talker = hands.context.talker
        self._own = TalkController(self._session.engine, self)
        self._on = self._begun = self._understood = False  # the first: it has the microphone
        self._ended = 0.0
        self.say = button(tr(SAY), kind="primary", act=self._toggle)
        self.say.setEnabled(self._session.app is not None)
        self._session.ready.connect(self._ready)
        self.message = Label(tr(WAITS), role="small", wrap=True)
        self.column.addLayout(hbox(self.say, (self.message, 1), spacing=theme.space()))
        self.words = PartialText()
        self.column.addWidget(self.words)
        self.words.hide()
        self.setFocusProxy(self.say)
        self._own.talked.connect(self._talked)
        self._own.partial.connect(self.words.show_partial)
        self._own.heard.connect(self._heard)
        self._own.unheard.connect(self.complain)

    def leave(self) -> None:
        """Cancel the test and give the microphone back to the window."""
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
        message = {
            "waiting": tr("The microphone is getting ready…"),
            "listening": tr("Listening… It ends when you stop speaking."),
            "recognising": tr("Writing it down…"),
        }
        if talking.state in message:
            self._begun = True
            self.message.setText(message[talking.state])
        self.say.setText(tr("Done") if self._own.active else tr(SAY))
        self.say.setAccessibleName(tr("I have said it") if self._own.active else tr(SAY))
        if talking.state == "recognising":
            self._ended = time.monotonic()
        elif talking.state == "idle" and self._begun:
            self._give_back()

    def _heard(self, transcript: Transcript) -> None:
        self._understood = True
        self.words.show_partial(Partial(transcript.text))
        took = labels.seconds(time.monotonic() - self._ended)
        engine = one_line(transcript.engine, limit=40)
        self.message.setText(
            tr(
                "Understood by {engine}, in {language}, {time} after you stopped.",
                engine=engine,
                language=tr(NAMES.get(transcript.language, transcript.language)),
                time=took,
            )
            if transcript.language
            else tr("Understood by {engine}, {time} after you stopped.", engine=engine, time=took)
        )
        self.complain(one_line(transcript.note, limit=300))

    def _give_back(self) -> None:
        self._on = self._begun = False
        reword(self.say, tr(SAY))
        if not self._understood:
            self.message.setText(tr(WAITS))
        if app := self._session.app:
            self._talker.attach(app.talk)


NONE = {
    "speech.input": mark(
        "There is no microphone. Plug one in, or start your system’s sound service."
    ),
    "speech.output": mark(
        "There is no loudspeaker. Plug one in, or start your system’s sound service."
    ),
}


class DeviceChoice(SettingsPanel):
    """The microphones, or the loudspeakers."""

    changed = Signal(object)

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self._key = row.key
        self._hands = hands
        self._chosen = ""
        self._devices: Sequence[Device] = ()
        self.list = SelectOption(tr(row.title))
        self.list.setAccessibleDescription(tr(row.help))
        self.list.activated.connect(self._picked)
        again = (
            tr("List the microphones again") if self._hears else tr("List the loudspeakers again")
        )
        self.again = IconButton("refresh", again, act=hands.voice.list_devices)
        self.column.addLayout(hbox((self.list, 1), self.again, spacing=theme.space()))
        self.setFocusProxy(self.list)
        hands.voice.listed.connect(self.show_devices)
        self._offer()

    @property
    def _hears(self) -> bool:
        return self._key == "speech.input"

    def show_value(self, name: str) -> None:
        """Show which is chosen; "" is the system's default."""
        self._chosen = name
        self._offer()

    def show_devices(self, devices: Sequence[Device], trouble: str) -> None:
        """Show which there are."""
        self._devices = [item for item in devices if (item.inputs if self._hears else item.outputs)]
        self._offer()
        self.complain(trouble or ("" if self._devices else tr(NONE[self._key])))

    def _offer(self) -> None:
        """Offer the default first; a chosen device that is missing stays, marked as such."""
        usual = next((item.name for item in self._devices if self._is_default(item)), "")
        first = (
            tr("The system’s default ({name})", name=usual) if usual else tr("The system’s default")
        )
        choices = [("", first), *((item.name, item.name) for item in self._devices)]
        if self._chosen and self._chosen not in {name for name, _ in choices}:
            choices.append((self._chosen, tr("{name} (not there now)", name=self._chosen)))
        self.list.offer(choices, self._chosen)

    def _is_default(self, device: Device) -> bool:
        return device.default_input if self._hears else device.default_output

    def _picked(self) -> None:
        self._chosen = self.list.value
        self.complain("")
        self._hands.voice.jobs.cancel("level")
        self.changed.emit(self._chosen)
        self._hands.settings.write()


HEAR = mark("Hear a sentence")
TOLD = mark("One sentence is spoken as an answer is.")


class SentencePanel(SettingsPanel):
    """Speaks a sample sentence in the chosen voice."""

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self._jobs = hands.voice.jobs
        self._settings = hands.settings
        self.say = button(tr(HEAR), act=self._toggle)
        self.message = Label(tr(TOLD), role="small", wrap=True)
        self.column.addLayout(hbox(self.say, (self.message, 1), spacing=theme.space()))
        self.setFocusProxy(self.say)
        self._lacking = ""
        hands.voice.looked.connect(self._looked)

    def leave(self) -> None:
        """Stop speaking."""
        self._jobs.cancel("sentence")

    def _looked(self, look: SpeechOverview) -> None:
        if look.lacking != self._lacking:  # else why speaking failed would be taken away
            self._lacking = look.lacking
            self.complain(
                tr("{lacking} The system’s own voice is used until then.", lacking=look.lacking)
                if look.lacking
                else ""
            )

    def _toggle(self) -> None:
        if "sentence" in self._jobs:
            self.leave()
            return
        self._settings.write()
        self.complain("")
        self.message.setText(tr("It is about to be heard…"))
        reword(self.say, tr("Silence"), tr("Silence the sentence"))
        self._jobs.start("sentence", self._speak, self._said)

    async def _speak(self, app: Application) -> float:
        """Return the seconds until the sentence began to be heard."""
        await self._settings.taken_up()
        asked, heard = time.monotonic(), [0.0]

        def begun() -> None:
            heard[0] = time.monotonic() - asked

        with tempfile.TemporaryDirectory() as folder:
            to = Path(folder) / "sentence.wav"
            audio = await app.speech.speaking.synthesise(tr(SENTENCE), to)
            await app.player.play(audio, begun=begun)
        return heard[0]

    def _said(self, outcome: Outcome) -> None:
        reword(self.say, tr(HEAR))
        self.message.setText(tr(TOLD))
        if outcome.value is not None:
            self.message.setText(
                tr(
                    "It began after {time}, and was played. Not heard? See the volume of your "
                    "system, and that the right loudspeaker is chosen.",
                    time=labels.seconds(outcome.value),
                )
            )
        elif not outcome.cancelled:
            self.complain(str(outcome.error or unexpected()))


SHIPPED = mark(
    "{name} is used, which comes with JARVIS. It understands English only; others hear more "
    "exactly, and in about 99 languages."
)
OTHER_LANGUAGE = mark(
    "{name}, which comes with JARVIS, understands English only. {language} needs another one, such "
    "as these."
)
NO_DOWNLOADS = mark(
    "Nothing is downloaded in the mode “offline”; `jarvis-desktop experts import` takes weights "
    "from a folder."
)
BEST = mark("The best one that keeps up with speech")


class WhichWhisper(SelectOption):
    """One of the installed models, or the best of them."""

    changed = Signal(object)

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self.setAccessibleDescription(tr(row.help))
        self._here: Sequence[str] = ()
        self._chosen = ""
        self.activated.connect(lambda: self.changed.emit(self.value))
        hands.voice.looked.connect(self._looked)
        self._offer()

    def show_value(self, value: str) -> None:
        """Show a value."""
        self._chosen = value
        self._offer()

    def _looked(self, look: SpeechOverview) -> None:
        self._here = look.here
        self._offer()

    def _offer(self) -> None:
        chosen = [self._chosen] if self._chosen else []
        names = dict.fromkeys((SHIPPED_WHISPER, *self._here, *chosen))
        self.offer([("", tr(BEST)), *((each, each) for each in names)], self._chosen)
        self.setEnabled(len(names) > 1)


class RecogniserPanel(SettingsPanel):
    """The recogniser in use, and those that can be downloaded."""

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self._controller = controller = hands.voice
        self._fetching: Expert | None = None
        self._look: SpeechOverview | None = None
        self._failed, self._reason = "", ""
        """The expert whose last download did not succeed, and why."""
        self._returns = False
        """Whether its button gets the keyboard, which was at "Cancel"."""
        self.used = Label(wrap=True)
        self.column.addWidget(self.used)
        self.offers = QWidget()
        self._rows = vbox(parent=self.offers, spacing=theme.space())
        self.column.addWidget(self.offers)
        self.coming = Label(role="small", wrap=True)
        self.stop = button(tr("Cancel"), tr("Cancel the download"))
        self.stop.clicked.connect(lambda: controller.jobs.cancel("fetch"))
        self.column.addLayout(hbox((self.coming, 1), self.stop))
        self.progress = progress_bar(tr("Progress of the download"))
        self.column.addWidget(self.progress)
        controller.looked.connect(self._looked)
        self._show_fetching()

    def _looked(self, look: SpeechOverview) -> None:
        self._look = look
        self._show_offers(look)

    def _show_offers(self, look: SpeechOverview) -> None:
        had = self.focusWidget()
        keyboard = had.property("expert") if had and had.hasFocus() else None
        self.used.setText(_in_use(look))
        clear(self._rows)
        others = [each for each in look.whispers if each.id not in look.here]
        if others and not look.downloads:
            self._rows.addWidget(Label(tr(NO_DOWNLOADS), role="small", wrap=True))
            others = []
        before: QWidget = self.stop
        for each in others:
            row, fetch = self._row(each, look.seconds.get(each.id, 0.0))
            self._rows.addWidget(row)
            self.setTabOrder(before, fetch)
            before = fetch
        self._show_fetching()
        keyboard = self._failed if self._returns else keyboard
        for fetch in self.offers.findChildren(QPushButton):
            if keyboard and fetch.property("expert") == keyboard:
                fetch.setFocus()
        self._returns = False

    def _row(self, expert: Expert, seconds: float) -> tuple[QWidget, QPushButton]:
        row = QWidget()
        layout = hbox(parent=row, spacing=theme.space())
        size = labels.size(expert.download_mb * 1_000_000)
        size = size if expert.verified else tr("about {size}", size=size)
        words = vbox(Label(expert.id), spacing=0)
        facts = [
            size,
            tr("licence {name}", name=expert.licence),
            tr(expert.summary).partition(": ")[2].rstrip("."),
        ]
        if seconds:
            time = labels.seconds(max(0.1, seconds))
            facts.append(tr("understands a sentence in about {time} here", time=time))
        elif expert.speed:
            times = times_real_time(expert.speed, os.cpu_count() or 1)
            facts.append(tr("here about {times} times as fast as people speak", times=round(times)))
        words.addWidget(Label(one_line(" · ".join(facts), limit=300), role="small", wrap=True))
        failed = expert.id == self._failed
        if failed:
            words.addWidget(Label(self._reason, role="warning", wrap=True))
        layout.addLayout(words, 1)
        fetch = button(
            tr("Retry") if failed else tr("Download"),
            tr("Download {name}, {size}", name=expert.id, size=size),
        )
        fetch.setAccessibleDescription(self._reason if failed else "")
        fetch.setProperty("expert", expert.id)
        fetch.clicked.connect(lambda: self._fetch(expert))
        layout.addWidget(fetch, alignment=Qt.AlignmentFlag.AlignVCenter)
        return row, fetch

    def _fetch(self, expert: Expert) -> None:
        self._fetching = expert
        self._failed = self._reason = ""
        report = self._controller.jobs.reporter(self._progressed)

        async def fetch(app: Application) -> Expert:
            await app.expert_manager.fetch_now(expert, report)
            return expert

        self._controller.jobs.start("fetch", fetch, self._fetched)
        self._progressed(None, tr("The download begins…"))
        self._show_fetching()
        self.stop.setFocus()

    def _progressed(self, fraction: float | None, message: str) -> None:
        name = self._fetching.id if self._fetching else ""
        said = one_line(message, limit=200)
        self.coming.setText(tr("Downloading {name}: {message}", name=name, message=said))
        self.progress.setVisible(fraction is not None)
        self.progress.setValue(round(100 * min(max(fraction or 0.0, 0.0), 1.0)))

    def _fetched(self, outcome: Outcome) -> None:
        name, self._fetching = self._fetching.id if self._fetching else "", None
        self._returns = self.stop.hasFocus()
        if outcome.cancelled:
            why = tr("The download was stopped. What arrived is kept for the next time.")
            self._failed, self._reason = name, why
        elif outcome.value is None:
            self._failed, self._reason = name, str(outcome.error or unexpected())
        else:
            self.used.setText(tr("{name} is ready. It is used from now on.", name=name))
        self._show_fetching()
        if self._look and self._failed:
            self._show_offers(self._look)
        self._controller.look()

    def _show_fetching(self) -> None:
        fetching = self._fetching is not None
        self.offers.setVisible(not fetching and self._rows.count() > 0)
        for widget in (self.coming, self.stop):
            widget.setVisible(fetching)
        if not fetching:
            self.progress.hide()


def _in_use(look: SpeechOverview) -> str:
    """Which recogniser is used, in words."""
    here, named = look.here, look.named
    if not here or named == SHIPPED_WHISPER:
        if look.language in ("", "en"):
            return tr(SHIPPED, name=SHIPPED_WHISPER)
        language = tr(SPEECH_LANGUAGES.get(look.language, look.language))
        return tr(OTHER_LANGUAGE, name=SHIPPED_WHISPER, language=language)
    if named in here or len(here) == 1:
        return tr("{name} is used, on this computer.", name=named if named in here else here[0])
    return tr(
        "On this computer: {names}. The best one that keeps up is used.", names=", ".join(here)
    )


EXAMPLE = mark("my mail = anna@example.org")
NO_SIGN = mark("There is no “=” in “{line}”.")
NONE_KEPT = mark("None. What you dictate is listed here.")
MOST_SHOWN = 10


class ReplacementLines(SettingsPanel):
    """One replacement on each line."""

    changed = Signal(object)

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self.field = field = GrowingTextField(tr(row.title), tr(EXAMPLE), role="field")
        field.setAccessibleDescription(tr(row.help))
        field.entered.connect(lambda: field.insertPlainText("\n"))
        field.focused.connect(lambda focused: None if focused else self.leave())
        self.column.addWidget(self.field)
        self.setFocusProxy(self.field)

    def show_value(self, value: Sequence[str]) -> None:
        """Show the replacements, unless the user is typing."""
        if not self.field.hasFocus():
            self.field.setPlainText("\n".join(value))

    def leave(self) -> None:
        """Take what was typed."""
        lines = [line.strip() for line in self.field.toPlainText().splitlines() if line.strip()]
        wrong = next((line for line in lines if not line.partition("=")[1]), None)
        self.complain(tr(NO_SIGN, line=one_line(wrong, limit=60)) if wrong else "")
        if self.field.document().isModified():
            self.field.document().setModified(False)
            self.changed.emit(tuple(lines))


class LastDictations(SettingsPanel):
    """The last dictations, to be copied or forgotten."""

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self._jobs = AppJobs(hands.context.session, self)
        self._rows = vbox(spacing=theme.space("half"))
        self.column.addLayout(self._rows)
        self.forget = button(tr("Forget all"), tr("Forget all dictations"), act=self._forget)
        self.column.addWidget(self.forget, alignment=Qt.AlignmentFlag.AlignLeading)
        self.setFocusProxy(self.forget)
        self._show(Outcome(()))
        hands.context.session.settled.connect(self.appear)

    def appear(self) -> None:
        """Read them."""
        self._jobs.start("read", lambda app: asyncio.to_thread(app.dictation.log.kept), self._show)

    def _forget(self) -> None:
        async def forget(app: Application) -> Sequence[KeptDictation]:
            await asyncio.to_thread(app.dictation.log.clear)
            return ()

        self._jobs.start("forget", forget, self._show)

    def _show(self, outcome: Outcome) -> None:
        kept: Sequence[KeptDictation] = outcome.value or ()
        clear(self._rows)
        for each in kept[:MOST_SHOWN]:
            text = ElidedLabel(one_line(each.text, limit=300))
            copy = IconButton("copy", tr("Copy: {text}", text=one_line(each.text, limit=60)))
            copy.clicked.connect(partial(QGuiApplication.clipboard().setText, each.text))
            line = QWidget()
            hbox((text, 1), copy, parent=line, spacing=theme.space())
            self._rows.addWidget(line)
        if not kept:
            self._rows.addWidget(Label(tr(NONE_KEPT), role="small", wrap=True))
        self.forget.setEnabled(bool(kept))
