"""Transcription of recordings in separate processes, so that live speech never waits for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.speech import Segment, Transcript
from jarvis_desktop.core.task import Report
from jarvis_desktop.process.background import Idling
from jarvis_desktop.process.child import Child
from jarvis_desktop.speech.streaming import (
    SECONDS_PER_SECOND,
    START_SECONDS,
    EngineRoute,
    first_that_works,
)
from jarvis_desktop.tasks.audio.recognition import format_time

log = logging.getLogger(__name__)

BYTES_PER_SECOND = 1_000_000  # the slowest speed of reading a file
MIN_BATCHED_SECONDS = 60.0
"""Of speech, from which windows are decoded in batches; less has too few of them."""
BATCH_SIZES = {"cpu": 4, "cuda": 8}  # more are hardly faster, and take more memory

OnSegments = Callable[[tuple[Segment, ...]], None]
"""Called with all segments found so far."""


@dataclass(frozen=True, slots=True)
class OpenedRecording:
    """A recording that the child has opened."""

    seconds: float
    windows: tuple[float, ...]  # the seconds of each of its windows


@dataclass(frozen=True, slots=True)
class TranscriptPart:
    """The text of some windows."""

    segments: tuple[Segment, ...]
    language: str
    seconds: float  # how far the recording is recognised
    again: int = 0  # how many of the windows had to be decoded again


class FileTranscriber:
    """Transcribes one recording after the other, with the first engine that works. `routes` returns
    the engines in order, for a child process. After `idle_seconds` without work it is ended."""

    def __init__(
        self,
        routes: Callable[[Child], Awaitable[Sequence[EngineRoute]]],
        *,
        idle_seconds: float = 60.0,
        whisper: str = "jarvis_desktop.speech.transcription_worker:make_handler",
    ) -> None:
        self._routes = routes
        self._turn = asyncio.Lock()
        self._whisper = Child(whisper, name="recogniser of files")
        self._idling = Idling(idle_seconds, self._whisper.kill)

    async def transcribe(
        self,
        audio: Path,
        report: Report,
        *,
        language: str | None = None,
        words: bool = False,
        found: OnSegments = lambda segments: None,
    ) -> Transcript:
        """Transcribe a recording of any format.

        `language` overrides the setting; `words` asks for the times of each word, which takes
        longer. Raises InputError if nothing is said, UnavailableError or ExpertError if the last
        engine cannot be used, crashed or hung.
        """
        recording_size(audio)
        async with self._turn:
            with self._idling.work():
                routes = await self._routes(self._whisper)
                reading = _FileTranscription(audio, report, language, words, found)
                return await first_that_works(routes, reading.go_on)

    async def close(self) -> None:
        """End the child processes."""
        self._idling.close()
        await self._whisper.close()


@dataclass(eq=False)
class _FileTranscription:
    """One recording. Its segments are kept if another process must continue."""

    audio: Path
    report: Report
    language: str | None
    words: bool
    found: OnSegments
    segments: list[Segment] = field(default_factory=list)
    at: int = 0  # the next window
    together: bool = True  # whether windows are decoded in batches

    async def go_on(self, route: EngineRoute) -> Transcript:
        """Transcribe all of it. Raises UnavailableError, ExpertError, InputError."""
        try:
            return await self._rest(route)
        except ExpertError as error:
            if not self.together:
                raise
            log.info("a recogniser is started again: %s", frames(error))
        self.together = False  # a batch may have needed too much memory
        return await self._rest(route)

    async def _rest(self, route: EngineRoute) -> Transcript:
        weights, language, expected, device, compute_type = route.setting
        self.report(0.0 if not self.at else None, "listening")
        opened: OpenedRecording = await route.child.call(
            "open", self.audio, timeout=opening_limit(self.audio)
        )
        self.together = self.together and sum(opened.windows) > MIN_BATCHED_SECONDS
        batch = BATCH_SIZES.get(str(device), 1) if self.together else 1
        language = self.language or language
        while self.at < len(opened.windows):
            chosen = slice(self.at, self.at + batch)
            part: TranscriptPart = await route.child.call(
                "part",
                chosen,
                self.words,
                *(weights, language, expected, device, compute_type),
                timeout=START_SECONDS + SECONDS_PER_SECOND * sum(opened.windows[chosen]),
            )
            language = part.language
            self.at += batch
            if 2 * part.again > len(opened.windows[chosen]):  # batches cost more than they gain
                self.together, batch = False, 1
            self.segments += part.segments
            self.found(tuple(self.segments))
            done = f"{format_time(part.seconds)} of {format_time(opened.seconds)}"
            self.report(min(1.0, part.seconds / opened.seconds), done)
        text = " ".join(segment.text for segment in self.segments)
        if not any(map(str.isalnum, text)):
            raise InputError(
                tr("Nobody seems to speak in {name}.", name=self.audio.name),
                hint=tr("Give a recording in which somebody speaks, and louder."),
            )
        return Transcript(text, "whisper", str(language), tuple(self.segments))


def recording_size(audio: Path) -> int:
    """The bytes of a recording. Raises InputError if there is none."""
    if not audio.is_file():
        raise InputError(tr("There is no recording {name}.", name=audio.name))
    return audio.stat().st_size


def opening_limit(audio: Path) -> float:
    """The time limit for reading a recording, in seconds."""
    return START_SECONDS + audio.stat().st_size / BYTES_PER_SECOND
