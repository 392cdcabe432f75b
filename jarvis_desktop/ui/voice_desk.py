"""What the page of the voice asks of the engine: to read and change settings, to list devices, to
listen for a moment, to say a sentence, to fetch a recogniser. It lives on the main thread."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.hearing import HotkeyStatus
from jarvis_desktop.ui.application import App
from jarvis_desktop.ui.bridge import Job, Outcome, unexpected
from jarvis_desktop.ui.session import Session

if TYPE_CHECKING:
    from jarvis_desktop.settings import SpeechSettings
    from jarvis_desktop.speech.devices import Device

SENTENCE = "This is how I sound. The answer to six times seven is forty-two."
SETTLING = 300
"""Milliseconds without a change after which the changes are written."""
WHISPER = "faster-whisper"
"""Part of the Hub's name of every recogniser that can be used here."""

Value = str | float | Sequence[str]


@dataclass(frozen=True, slots=True)
class Look:
    """What was found."""

    speech: SpeechSettings
    hotkey: HotkeyStatus
    whispers: tuple[Expert, ...]
    """The recognisers that can be fetched, the smallest first."""
    here: frozenset[str]
    """The handles of those that are on this computer."""
    downloads: bool
    """Whether the mode allows to fetch one."""
    lacking: str = ""
    """What keeps the chosen voice from speaking, and what to do."""
    notice: str = ""
    """What is wrong with the settings."""


class VoiceDesk(QObject):
    """Everything is answered by a signal; nothing waits."""

    looked = Signal(object)
    """Carries a Look."""
    listed = Signal(object, str)
    """Carries the devices, and why they cannot be told."""
    saved = Signal(object)
    """Carries the names of the settings that wait for a restart."""
    lacks = Signal(str)
    """Carries what keeps the chosen voice from speaking, and what to do."""
    failed = Signal(str)
    """Carries why settings were not changed or read."""
    level = Signal(float)
    measured = Signal(str)
    """The microphone is left; carries why it could not be heard."""
    said = Signal(object)
    """Carries the Outcome of a sentence: the seconds until it began to be heard."""
    progressed = Signal(object, str)
    """Carries how far the fetching is: a fraction or None, and a few words."""
    fetched = Signal(object)
    """Carries the Outcome of the fetching."""
    bound = Signal(object)
    """Carries the HotkeyStatus that the talk key has now."""
    _loud = Signal(float)
    _bound = Signal(object)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._engine = session.engine
        self._pending: dict[str, Value] = {}
        self._writing = asyncio.Lock()
        self._later = QTimer(self, singleShot=True, interval=SETTLING)
        self._later.timeout.connect(self.write)
        self._jobs: dict[str, Job] = {}
        self._watches = False
        self._loud.connect(self.level, Qt.ConnectionType.QueuedConnection)
        self._bound.connect(self.bound, Qt.ConnectionType.QueuedConnection)
        session.ready.connect(self._ready)

    def _ready(self) -> None:
        """What was asked before there was anybody to ask."""
        self.write()
        self.look()
        self.list_devices()

    def does(self, what: str) -> bool:
        """Whether "level", "sentence" or "fetch" goes on."""
        return what in self._jobs

    def stop(self, what: str) -> None:
        """End it; its outcome is told once it has ended."""
        if job := self._jobs.get(what):
            job.cancel()

    def look(self) -> None:
        """Read the settings, and which recognisers there are."""

        async def look(app: App) -> Look:
            from jarvis_desktop import settings

            chosen, notice = await asyncio.to_thread(settings.load, app.paths.settings)
            whispers = sorted(
                (each for each in app.experts if WHISPER in each.repo),
                key=lambda each: each.download_mb,
            )
            here = frozenset(each.id for each in whispers if not app.weights.missing(each))
            downloads = app.policy.allows_downloads
            if not self._watches:
                self._watches = True
                app.hotkey.watch(self._bound.emit)
            return Look(
                chosen.speech,
                app.hotkey.status,
                tuple(whispers),
                here,
                downloads,
                lacking=await asyncio.to_thread(_lacking, app, chosen.speech),
                notice=notice,
            )

        self._do("look", look, lambda outcome: self._tell(outcome, self.looked.emit))

    def list_devices(self) -> None:
        """Look which devices there are now."""

        async def list_devices(app: App) -> Sequence[Device]:
            return await app.devices()

        def tell(outcome: Outcome) -> None:
            self.listed.emit(outcome.value or (), str(outcome.error or ""))

        self._do("devices", list_devices, tell)

    def change(self, name: str, value: Value) -> None:
        """Change a setting of speech, soon: a slider tells of many values."""
        self._pending[name] = value
        self._later.start()

    def write(self) -> None:
        """Write what was changed, and let it be taken up."""
        self._later.stop()
        if self.session.app is None:
            return  # it is kept until there is one
        values, self._pending = self._pending, {}
        if not values:
            return

        async def write(app: App) -> tuple[frozenset[str], str]:
            from jarvis_desktop import settings

            path = app.paths.settings
            async with self._writing:
                await asyncio.to_thread(settings.change, path, "speech", values)
                chosen, _ = await asyncio.to_thread(settings.load, path)
                waits = frozenset(await app.adopt(chosen.speech))
            return waits, await asyncio.to_thread(_lacking, app, chosen.speech)

        if app := self.session.app:
            self._engine.run(lambda: write(app), self._written)

    def measure(self) -> None:
        """Tell how loud it is, until that is stopped."""

        async def measure(app: App) -> None:
            await self._changed()
            async with aclosing(app.microphone.listen(asyncio.Event())) as sounds:
                async for sound in sounds:
                    self._loud.emit(sound.level)

        self._do("level", measure, lambda outcome: self.measured.emit(str(outcome.error or "")))

    def say(self, text: str = SENTENCE) -> None:
        """Speak a sentence as an answer is spoken."""

        async def say(app: App) -> float:
            await self._changed()
            asked, heard = time.monotonic(), [0.0]

            def begun() -> None:
                heard[0] = time.monotonic() - asked

            with tempfile.TemporaryDirectory() as folder:
                audio = await app.voice.synthesise(text, Path(folder) / "sentence.wav")
                await app.player.play(audio, begun=begun)
            return heard[0]

        self._do("sentence", say, self.said.emit)

    def fetch(self, expert: Expert) -> None:
        """Fetch a recogniser."""

        async def fetch(app: App) -> Expert:
            def report(fraction: float | None, message: str) -> None:
                self._engine.post(self.progressed.emit, fraction, message)

            await app.weights.fetch(expert, report)
            return expert

        self._do("fetch", fetch, self.fetched.emit)

    async def _changed(self) -> None:
        """Wait until what was changed is taken up."""
        async with self._writing:
            return

    def _do(
        self,
        what: str,
        work: Callable[[App], Coroutine[Any, Any, Any]],
        then: Callable[[Outcome], None],
    ) -> None:
        """One of a kind at a time."""
        app = self.session.app
        if app is None or what in self._jobs:
            return

        def ended(outcome: Outcome) -> None:
            del self._jobs[what]
            then(outcome)

        self._jobs[what] = self._engine.run(lambda: work(app), ended)

    def _written(self, outcome: Outcome) -> None:
        if outcome.value is None:
            self._tell(outcome, self.saved.emit)
            self.look()  # show what is true
        else:
            waits, lacking = outcome.value
            self.lacks.emit(lacking)
            self.saved.emit(waits)

    def _tell(self, outcome: Outcome, then: Callable[[Any], None]) -> None:
        if outcome.value is None:
            self.failed.emit(str(outcome.error or unexpected()))
        else:
            then(outcome.value)


def _lacking(app: App, speech: SpeechSettings) -> str:
    from jarvis_desktop.speech.voices.neural import neural

    engine = neural(speech.engine, app.paths.weights)
    return str((engine and engine.lacking()) or "")
