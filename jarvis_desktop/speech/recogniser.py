"""The Recogniser: Whisper where its weights are on disk, else the small built-in one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path

from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.speech import Partial, Transcript
from jarvis_desktop.core.task import Report
from jarvis_desktop.paths import shipped
from jarvis_desktop.process.background import Idling
from jarvis_desktop.process.child import Child
from jarvis_desktop.speech.cuda_probe import CPU, Processor
from jarvis_desktop.speech.streaming import START_SECONDS, Calls, EngineRoute, LiveHearing
from jarvis_desktop.speech.transcription import FileTranscriber, LongError, all_at_once

log = logging.getLogger(__name__)

NOTE = mark(
    "This was heard by the small built-in recogniser, which often mishears; "
    "`jarvis-desktop experts pull whisper-base` fetches a better one."
)
BROKEN_NOTE = mark("The Whisper weights on this computer cannot be used. ")
CRASHED_NOTE = mark("The Whisper recogniser does not work on this computer. ")
NO_CARD_NOTE = mark("The graphics card cannot be used for listening; the processor did it.")

REQUEST_SECONDS, REQUEST_BYTES = 28.0, 2_000_000
"""Of speech and of a recording: what is longer, or may be, must not keep live speech waiting."""


def _unseen(partial: Partial) -> None:
    """Nobody looks while it is spoken."""


class LocalRecogniser:
    """Recognises speech on this computer; each engine runs in a child process of its own.

    `find_weights` is asked at each call for a folder of CTranslate2 Whisper weights, so that
    weights are used as soon as they have been fetched; `find_processor` for where they run, and
    `words` for names and other words to expect, the most important first. `language` is a
    two-letter code; None lets Whisper find out. After `idle_minutes` without work the child
    processes are ended, which gives their memory back. Longer recordings are for `files`, which
    may have better and slower weights; `look` finds out where Whisper runs, before it first does.
    """

    def __init__(
        self,
        *,
        find_weights: Callable[[], Path | None],
        find_file_weights: Callable[[], Path | None] | None = None,
        find_processor: Callable[[], Processor] = lambda: CPU,
        look: Callable[[Path], Awaitable[Processor]] | None = None,
        language: str | None = None,
        words: Callable[[], Sequence[str]] = tuple,
        idle_minutes: float = 10.0,
        whisper: str = "jarvis_desktop.speech.streaming_whisper:make",
        pocketsphinx: str = "jarvis_desktop.speech.pocketsphinx:make",
    ) -> None:
        self._find_weights = find_weights
        self._find_processor = find_processor
        self._look = look
        self._language = language
        self._words = words
        self._idling = Idling(idle_minutes * 60, self._leave)
        self._turn = asyncio.Lock()
        self._calls = Calls()
        self._hearings: list[LiveHearing] = []
        self._whisper = Child(whisper, name="Whisper recogniser")
        speech = shipped("resources", "speech")
        files = speech / "commands.arpa", speech / "commands.dict"
        self._pocketsphinx = Child(pocketsphinx, *files, name="built-in recogniser")
        find = find_file_weights or find_weights

        async def roads(whisper: Child, pocketsphinx: Child) -> list[EngineRoute]:
            weights = find()
            await self._look_with(weights)
            return self._roads(whisper, pocketsphinx, weights)

        self.files = FileTranscriber(roads, pocketsphinx=pocketsphinx)

    def choose(self, *, language: str | None) -> None:
        """Expect this language from the next word on; None lets Whisper find out."""
        self._language = language

    async def warm(self) -> None:
        """Load the engine that would be used now, so that the first request need not wait.

        Raises UnavailableError, ExpertError.
        """
        with self._idling.work():
            await self._look_with(self._find_weights())
            road = self._live_roads()[0]
            await road.child.call("ready", *road.setting, timeout=START_SECONDS)

    async def transcribe(self, audio: Path, report: Report) -> Transcript:
        """What is said in a recording of any format.

        Raises InputError with the reason where nothing is said, ExpertError where the built-in
        engine crashed or hung, which also takes over from Whisper; the next call starts a new one.
        """
        if not audio.is_file():  # noqa: ASYNC240 - a look at a local file
            raise InputError(tr("There is no recording {name}.", name=audio.name))
        if audio.stat().st_size > REQUEST_BYTES:  # noqa: ASYNC240
            return await self.files.transcribe(audio, report)
        # A file is heard and then recognised: two calls of the child that belong together.
        with self._idling.work():
            async with self._turn:
                with suppress(LongError):
                    return await self._transcribe(audio, report)
        return await self.files.transcribe(audio, report)

    def hear(self, show: Callable[[Partial], None] = _unseen) -> LiveHearing:
        """Begin to recognise speech that goes on, on the running loop; the port says more.

        Where Whisper crashes it is started again once and told everything anew; where it cannot
        be used, crashes again or hangs, the built-in engine takes over, which the note says.
        """
        self._idling.begin()
        return LiveHearing(self._live_roads(), show, self._calls, self._hearings, self._idling.end)

    async def close(self) -> None:
        """End the child processes, and drop what is being heard."""
        for hearing in tuple(self._hearings):
            hearing.drop()
        self._idling.close()
        await self._whisper.close()
        await self._pocketsphinx.close()
        await self.files.close()
        await self._calls.end()

    async def _look_with(self, weights: Path | None) -> None:
        if weights and self._look:
            await self._look(weights)

    def _live_roads(self) -> list[EngineRoute]:
        return self._roads(self._whisper, self._pocketsphinx, self._find_weights())

    def _roads(
        self, whisper: Child, pocketsphinx: Child, weights: Path | None
    ) -> list[EngineRoute]:
        """The engines as they are to be tried; the built-in one comes last."""
        roads = []
        if weights:
            processor = self._find_processor()
            for at in [CPU] if processor == CPU else [processor, CPU]:
                setting = weights, self._language, tuple(self._words()), *at
                roads.append(EngineRoute(whisper, setting, "", tr(BROKEN_NOTE), tr(CRASHED_NOTE)))
            if len(roads) > 1:
                roads[0].broken = roads[0].crashed = tr(NO_CARD_NOTE)
        return [*roads, EngineRoute(pocketsphinx, note=tr(NOTE))]

    async def _transcribe(self, audio: Path, report: Report) -> Transcript:
        *roads, last = self._live_roads()
        before = ""
        for road in roads:
            try:
                return road.noted(
                    await all_at_once(road, audio, report, most=REQUEST_SECONDS), before
                )
            except UnavailableError as error:
                log.info("falling back: %s", frames(error))
                before = road.broken
            except ExpertError as error:  # such as an instruction that an old processor lacks
                log.info("falling back: %s", frames(error))
                before = road.crashed
        return last.noted(await all_at_once(last, audio, report, most=REQUEST_SECONDS), before)

    def _leave(self) -> None:
        """Nobody has spoken for a long time."""
        self._whisper.kill()
        self._pocketsphinx.kill()
