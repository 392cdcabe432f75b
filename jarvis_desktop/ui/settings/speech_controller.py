"""What several controls of the voice settings ask of the engine: the devices, recognisers and keys.
It lives on the main thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.speech import HotkeyStatus
from jarvis_desktop.ui.engine import Outcome, unexpected
from jarvis_desktop.ui.session import AppJobs

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.settings import SpeechSettings
    from jarvis_desktop.ui.settings.controller import SettingsController

WHISPER = "faster-whisper"
"""Part of the Hub's name of every recogniser that can be used here."""


@dataclass(frozen=True, slots=True)
class SpeechOverview:
    """What there is to hear and to speak with."""

    whispers: tuple[Expert, ...]
    """The recognisers that can be fetched besides the shipped one, the smallest first."""
    here: tuple[str, ...]
    """The handles of those that are on this computer, in their order."""
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
    bound = Signal(str, object)
    """Carries the setting of a key of the whole desktop, and the HotkeyStatus that it has now."""

    def __init__(self, settings: SettingsController, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.settings = settings
        self.session = settings.session
        self.jobs = AppJobs(self.session, self)
        self._watches = False
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
            here = tuple(each.id for each in whispers if not app.weights.missing(each))
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

    def _watch(self) -> None:
        async def watch(app: Application) -> Mapping[str, HotkeyStatus]:
            keys = {
                "speech.key": app.hotkey,
                "dictation.key": app.dictation.key,
                "window.quick_key": app.quick_key,
            }
            if not self._watches:
                self._watches = True
                tell = self.session.engine.poster(self, self._changed)
                for name, key in keys.items():
                    key.watch(partial(tell, name))
            return {name: key.status for name, key in keys.items()}

        def tell(outcome: Outcome) -> None:
            for name, status in (outcome.value or {}).items():
                self.bound.emit(name, status)

        self.jobs.start("watch", watch, tell)

    def _changed(self, name: str, status: HotkeyStatus) -> None:
        self.bound.emit(name, status)

    def _report(self, outcome: Outcome, then: Callable[[Any], None]) -> None:
        if outcome.value is None:
            self.failed.emit(str(outcome.error or unexpected()))
        else:
            then(outcome.value)


def _lacking(app: Application, speech: SpeechSettings) -> str:
    from jarvis_desktop.speech.voices.engine import neural_voice

    engine = neural_voice(speech.engine, app.paths.weights)
    return str((engine and engine.lacking()) or "")
