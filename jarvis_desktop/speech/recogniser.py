"""The recogniser: Whisper with the user's weights, or with those that come with JARVIS."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.speech import Partial, Transcript
from jarvis_desktop.core.task import Report
from jarvis_desktop.paths import shipped
from jarvis_desktop.process.background import Idling
from jarvis_desktop.process.child import Child
from jarvis_desktop.speech.cuda_probe import CPU, Processor
from jarvis_desktop.speech.streaming import (
    START_SECONDS,
    EngineRoute,
    LiveTranscription,
    StreamingResult,
)
from jarvis_desktop.speech.transcription import FileTranscriber, opening_limit, recording_size

log = logging.getLogger(__name__)

SHIPPED = shipped("models", "recogniser")
"""Whisper tiny in eight bits, for English."""
BROKEN_NOTE = mark(
    "The weights of {name} cannot be used, so the recogniser that comes with JARVIS listened."
)
CRASHED_NOTE = mark(
    "{name} does not work on this computer, so the recogniser that comes with JARVIS listened."
)
NO_CARD_NOTE = mark("The graphics card cannot be used for listening; the processor did it.")
REQUEST_SECONDS, REQUEST_BYTES = 28.0, 2_000_000
"""Of speech, and of a recording: anything longer must not keep live speech waiting."""


class LocalRecogniser:
    """Recognises speech on this computer, in child processes. At each call, `find_weights`
    returns a folder of CTranslate2 Whisper weights, or None for the `shipped` ones, and `words`
    names and other expected words, the most important first. `language` is a two-letter code;
    None detects it. After `idle_minutes` without work the processes are ended, which frees
    their memory. Longer recordings are for `files`, which may use better and slower weights;
    `look` finds out where Whisper runs with some weights, before it is first used; while it
    returns None, it is asked again."""

    def __init__(
        self,
        *,
        find_weights: Callable[[], Path | None] = lambda: None,
        find_file_weights: Callable[[], Path | None] | None = None,
        shipped: Path = SHIPPED,
        look: Callable[[Path], Awaitable[Processor | None]] | None = None,
        language: str | None = None,
        words: Callable[[], Sequence[str]] = tuple,
        idle_minutes: float = 10.0,
        whisper: str = "jarvis_desktop.speech.streaming_whisper:make_handler",
    ) -> None:
        self._find_weights = find_weights
        self._shipped = shipped
        self._look = look
        self._looking = asyncio.Lock()
        self._found: Processor | None = None
        self._language = language
        self._words = words
        self._calls: set[asyncio.Future[StreamingResult | None]] = set()
        self._hearings: list[LiveTranscription] = []
        self._whisper = Child(whisper, name="recogniser")
        self._idling = Idling(idle_minutes * 60, self._whisper.kill)
        self.measured: tuple[Path, float] | None = None
        """The last weights that were made ready, and the seconds of a pass with them."""
        find = find_file_weights or find_weights

        async def routes(whisper: Child) -> list[EngineRoute]:
            await self._look_with(find())
            return self._routes(whisper, find())

        self.files = FileTranscriber(routes)

    @property
    def processor(self) -> Processor:
        """Where Whisper runs; the CPU until a card was found."""
        return self._found or CPU

    def choose(self, *, language: str | None) -> None:
        """Expect this language from the next word on; None detects it."""
        self._language = language

    async def warm(self) -> None:
        """Load the current engine in advance. Raises UnavailableError, ExpertError."""
        with self._idling.work():
            weights = self._find_weights()
            await self._look_with(weights)
            route = self._routes(self._whisper, weights)[0]
            took = await route.child.call("ready", *route.setting, timeout=START_SECONDS)
            self.measured = weights or self._shipped, took

    async def transcribe(self, audio: Path, report: Report) -> Transcript:
        """Transcribe a recording; see the port. Raises UnavailableError or ExpertError if the
        shipped weights cannot be used either, or do not know the language."""
        pcm: bytes | None = None
        if recording_size(audio) <= REQUEST_BYTES:
            report(0.0, "listening")
            with self._idling.work():
                limit = opening_limit(audio)
                pcm = await self._whisper.call("read", audio, REQUEST_SECONDS, timeout=limit)
        if pcm is None:
            return await self.files.transcribe(audio, report)
        hearing = self.hear()
        hearing.add(pcm)
        try:
            heard = await hearing.finish()
        finally:
            hearing.drop()
        report(1.0, "recognising speech")
        return heard

    def hear(self, show: Callable[[Partial], None] = lambda partial: None) -> LiveTranscription:
        """Begin to recognise speech on the running loop; see the port. If Whisper crashes, it is
        restarted once and hears everything again. If the user's weights cannot be used, crash again
        or hang, the shipped ones take over, and a note says so."""
        self._idling.begin()
        return LiveTranscription(
            self._live_routes(), show, self._calls, self._hearings, self._idling.end
        )

    async def close(self) -> None:
        """End the child processes, and cancel what is being heard."""
        for hearing in tuple(self._hearings):
            hearing.drop()
        self._idling.close()
        await self._whisper.close()
        await self.files.close()
        if self._calls:
            await asyncio.wait(tuple(self._calls))

    async def _look_with(self, weights: Path | None) -> None:
        async with self._looking:
            if self._look and self._found is None:
                self._found = await self._look(weights or self._shipped)

    def _live_routes(self) -> list[EngineRoute]:
        return self._routes(self._whisper, self._find_weights())

    def _routes(self, whisper: Child, weights: Path | None) -> list[EngineRoute]:
        """The weights and processors in the order in which they are tried; the shipped ones on the
        processor come last."""
        best, on_card = weights or self._shipped, self.processor
        ways = [(best, on_card), (best, CPU), (self._shipped, CPU)]
        routes = []
        for folder, at in dict.fromkeys(ways):
            setting = folder, self._language, tuple(self._words()), *at
            if at != CPU:
                broken = crashed = tr(NO_CARD_NOTE)
            else:
                broken = tr(BROKEN_NOTE, name=folder.name)
                crashed = tr(CRASHED_NOTE, name=folder.name)
            routes.append(EngineRoute(whisper, setting, broken, crashed))
        return routes
