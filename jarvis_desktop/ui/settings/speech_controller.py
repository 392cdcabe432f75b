"""What the settings of the voice ask of the engine: to list devices, to listen for a moment, to say
a sentence, to fetch a recogniser. It lives on the main thread."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal

from jarvis_desktop.app.server_trial import SENTENCE
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.speech import HotkeyStatus
from jarvis_desktop.ui.engine import Outcome, unexpected, while_there
from jarvis_desktop.ui.session import AppJobs

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.settings import SpeechSettings
    from jarvis_desktop.ui.settings.controller import SettingsController

WHISPER = "faster-whisper"
"""Part of the Hub's name of every recogniser that can be used here."""


@dataclass(frozen=True, slots=True)
class SpeechOverview:
    """Which LLM is used, or why none is."""

    whispers: tuple[Expert, ...]
    """The recognisers that can be fetched besides the shipped one, the smallest first."""
    here: frozenset[str]
    """The handles of those that are on this computer."""
    named: str
    """The one that is chosen; "" for the best."""
    downloads: bool
    """Whether the mode allows to fetch one."""
    language: str
    """The language that is spoken; "" detects it."""
    seconds: Mapping[str, float]
    """In which each hears a sentence here, by its handle; empty if none was measured yet."""
    lacking: str = ""
    """What keeps the chosen voice from speaking, and what to do."""


class SpeechController(QObject):
    """Results arrive as signals."""

    looked = Signal(object)
    """Carries a SpeechOverview."""
    listed = Signal(object, str)
    """Carries the devices, and why they cannot be listed."""
    failed = Signal(str)
    """Carries why nothing could be looked up."""
    level = Signal(float)
    measured = Signal(str)
    """The microphone is left; carries why it could not be heard."""
    said = Signal(object)
    """Carries the Outcome of a sentence: the seconds until it began to be heard."""
    progressed = Signal(object, str)
    """Carries how far the fetching is: a fraction or None, and a few words."""
    fetched = Signal(object)
    """Carries the Outcome of the fetching."""
    bound = Signal(str, object)
    """Carries the setting of a key of the whole desktop, and the HotkeyStatus that it has now."""
    _loud = Signal(float)
    _bound = Signal(str, object)

    def __init__(self, settings: SettingsController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.settings = settings
        self.session = settings.session
        self.jobs = AppJobs(self.session, self)
        """Named "level", "sentence" and "fetch"."""
        self._watches = False
        self._loud.connect(self.level, Qt.ConnectionType.QueuedConnection)
        self._bound.connect(self.bound, Qt.ConnectionType.QueuedConnection)
        self.session.ready.connect(self.refresh)  # what was asked before there was anybody to ask

    def refresh(self) -> None:
        """Refresh everything."""
        self.look()
        self.list_devices()
        self._watch()

    def look(self) -> None:
        """Check which recognisers are installed, and whether the voice works."""

        async def look(app: Application) -> SpeechOverview:
            from jarvis_desktop.app.experts import sentence_seconds

            whispers = sorted(
                (each for each in app.experts if WHISPER in each.repo),
                key=lambda each: each.download_mb,
            )
            here = frozenset(each.id for each in whispers if not app.weights.missing(each))
            speech = app.settings.speech
            return SpeechOverview(
                tuple(whispers),
                here,
                speech.recogniser,
                app.policy.allows_downloads,
                speech.language,
                sentence_seconds(app.recogniser.measured, whispers, app.weights),
                await asyncio.to_thread(_lacking, app, speech),
            )

        self.jobs.start("look", look, lambda outcome: self._report(outcome, self.looked.emit))

    def list_devices(self) -> None:
        """List the sound devices."""

        def tell(outcome: Outcome) -> None:
            self.listed.emit(outcome.value or (), str(outcome.error or ""))

        self.jobs.start("devices", lambda app: app.devices(), tell)

    def measure(self) -> None:
        """Emit the microphone's level until cancelled."""

        async def measure(app: Application) -> None:
            await self.settings.taken_up()
            async with aclosing(app.microphone.listen(asyncio.Event())) as sounds:
                async for sound in sounds:
                    self._loud.emit(sound.level)

        self.jobs.start(
            "level", measure, lambda outcome: self.measured.emit(str(outcome.error or ""))
        )

    def say(self, text: str = "") -> None:
        """Speak a sentence like an answer."""
        sentence = text or tr(SENTENCE)

        async def say(app: Application) -> float:
            await self.settings.taken_up()
            asked, heard = time.monotonic(), [0.0]

            def begun() -> None:
                heard[0] = time.monotonic() - asked

            with tempfile.TemporaryDirectory() as folder:
                audio = await app.speech.speaking.synthesise(
                    sentence, Path(folder) / "sentence.wav"
                )
                await app.player.play(audio, begun=begun)
            return heard[0]

        self.jobs.start("sentence", say, self.said.emit)

    def fetch(self, expert: Expert) -> None:
        """Download a recogniser."""
        report = self.jobs.reporter(self.progressed.emit)

        async def fetch(app: Application) -> Expert:
            await app.expert_manager.fetch_now(expert, report)
            return expert

        self.jobs.start("fetch", fetch, self.fetched.emit)

    def _watch(self) -> None:
        async def watch(app: Application) -> Mapping[str, HotkeyStatus]:
            keys = {
                "speech.key": app.hotkey,
                "dictation.key": app.dictation.key,
                "window.quick_key": app.quick_key,
            }
            if not self._watches:
                self._watches = True
                for name, key in keys.items():
                    key.watch(while_there(self, partial(self._bound.emit, name)))
            return {name: key.status for name, key in keys.items()}

        def tell(outcome: Outcome) -> None:
            for name, status in (outcome.value or {}).items():
                self.bound.emit(name, status)

        self.jobs.start("watch", watch, tell)

    def _report(self, outcome: Outcome, then: Callable[[Any], None]) -> None:
        if outcome.value is None:
            self.failed.emit(str(outcome.error or unexpected()))
        else:
            then(outcome.value)


def _lacking(app: Application, speech: SpeechSettings) -> str:
    from jarvis_desktop.speech.voices.engine import neural_voice

    engine = neural_voice(speech.engine, app.paths.weights)
    return str((engine and engine.lacking()) or "")
