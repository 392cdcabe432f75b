"""Writes down recordings, in child processes of their own: an hour of them must not keep the person
waiting who presses the talk key in the meantime."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.speech import Segment, Transcript
from jarvis_desktop.core.task import Report
from jarvis_desktop.paths import shipped
from jarvis_desktop.process.background import Idling
from jarvis_desktop.process.child import Child
from jarvis_desktop.speech.streaming import SECONDS_PER_SECOND, START_SECONDS, EngineRoute
from jarvis_desktop.tasks.audio.recognition import format_time

log = logging.getLogger(__name__)

BYTES_PER_SECOND = 1_000_000
"""Of a file, that are read at the slowest."""
BATCHED_SECONDS = 60.0
"""Of speech, from which on several windows are decoded at once; of less there are too few."""
BATCHES = {"cpu": 4, "cuda": 8}
"""How many: more are hardly faster, and take more memory."""

Found = Callable[[tuple[Segment, ...]], None]
"""Told all that was found so far, as it comes."""


def _unseen(segments: tuple[Segment, ...]) -> None:
    """Nobody looks before it is whole."""


@dataclass(frozen=True, slots=True)
class Opened:
    """What the child says of a recording that can be recognised now."""

    seconds: float
    windows: tuple[float, ...]
    """How many seconds each of its windows has."""


@dataclass(frozen=True, slots=True)
class TranscriptPart:
    """What it says some windows hold."""

    segments: tuple[Segment, ...]
    language: str
    seconds: float
    """Up to where the recording is recognised."""
    again: int = 0
    """How many of the windows had to be decoded a second time."""


class FileTranscriber:
    """Recognises one recording after the other, with the first engine that works.

    `roads` gives the engines as they are to be tried, for a child that recognises with Whisper and
    one with the built-in recogniser. After `idle_seconds` without work they are ended.
    """

    def __init__(
        self,
        roads: Callable[[Child, Child], Awaitable[Sequence[EngineRoute]]],
        *,
        idle_seconds: float = 60.0,
        whisper: str = "jarvis_desktop.speech.transcription_worker:make",
        pocketsphinx: str = "jarvis_desktop.speech.pocketsphinx:make",
    ) -> None:
        self._roads = roads
        self._idling = Idling(idle_seconds, self._leave)
        self._turn = asyncio.Lock()
        speech = shipped("resources", "speech")
        files = speech / "commands.arpa", speech / "commands.dict"
        self._whisper = Child(whisper, name="Whisper recogniser of files")
        self._pocketsphinx = Child(pocketsphinx, *files, name="built-in recogniser of files")

    async def transcribe(
        self,
        audio: Path,
        report: Report,
        *,
        language: str | None = None,
        words: bool = False,
        found: Found = _unseen,
    ) -> Transcript:
        """What is said in a recording of any format.

        `language` goes before the setting; `words` asks for the times of each word, which takes
        longer. Raises InputError with the reason where nothing is said, UnavailableError where
        nothing here knows the language, and ExpertError where the last engine crashed or hung.
        """
        if not audio.is_file():  # noqa: ASYNC240 - a look at a local file
            raise InputError(tr("There is no recording {name}.", name=audio.name))
        async with self._turn:
            with self._idling.work():
                *roads, last = await self._roads(self._whisper, self._pocketsphinx)
                reading = _Reading(audio, report, language, words, found)
                before = ""
                for road in roads:
                    try:
                        return road.noted(await reading.go_on(road), before)
                    except UnavailableError as error:
                        log.info("another recogniser takes over: %s", frames(error))
                        before = road.broken
                    except ExpertError as error:
                        log.info("another recogniser takes over: %s", frames(error))
                        before = road.crashed
                return last.noted(await reading.whole(last), before)

    async def close(self) -> None:
        """End the child processes."""
        self._idling.close()
        await self._whisper.close()
        await self._pocketsphinx.close()

    def _leave(self) -> None:
        self._whisper.kill()
        self._pocketsphinx.kill()


class _Reading:
    """One recording. What was found stays where another process must go on."""

    def __init__(
        self, audio: Path, report: Report, language: str | None, words: bool, found: Found
    ) -> None:
        self._audio = audio
        self._report = report
        self._language = language
        self._words = words
        self._found = found
        self._segments: list[Segment] = []
        self._at = 0
        """The window that comes next."""
        self._together = True

    async def go_on(self, road: EngineRoute) -> Transcript:
        """All of it, by Whisper. Raises UnavailableError, ExpertError, InputError."""
        try:
            return await self._rest(road)
        except ExpertError as error:
            if not self._together:
                raise
            log.info("a recogniser is started again: %s", frames(error))
        self._together = False  # it may have been the memory that several windows take
        return await self._rest(road)

    async def _rest(self, road: EngineRoute) -> Transcript:
        weights, language, expected, device, compute_type = road.setting
        self._report(0.0 if not self._at else None, "listening")
        opened: Opened = await road.child.call("open", self._audio, timeout=_opening(self._audio))
        self._together = self._together and sum(opened.windows) > BATCHED_SECONDS
        batch = BATCHES.get(str(device), 1) if self._together else 1
        language = self._language or language
        while self._at < len(opened.windows):
            chosen = slice(self._at, self._at + batch)
            part: TranscriptPart = await road.child.call(
                "part",
                chosen,
                self._words,
                *(weights, language, expected, device, compute_type),
                timeout=START_SECONDS + SECONDS_PER_SECOND * sum(opened.windows[chosen]),
            )
            language = part.language
            self._at += batch
            if 2 * part.again > len(opened.windows[chosen]):  # it costs more than it gains here
                self._together, batch = False, 1
            self._segments += part.segments
            self._found(tuple(self._segments))
            done = f"{format_time(part.seconds)} of {format_time(opened.seconds)}"
            self._report(min(1.0, part.seconds / opened.seconds), done)
        return self._transcript(str(language))

    async def whole(self, road: EngineRoute) -> Transcript:
        """All of it, by the built-in recogniser."""
        if self._language not in (None, "en"):
            raise UnavailableError(
                tr("The small built-in recogniser knows English only."),
                hint=tr(
                    "jarvis-desktop experts pull whisper-base fetches one for about 99 languages."
                ),
            )
        heard = await all_at_once(road, self._audio, self._report)
        self._found(heard.segments)
        return heard

    def _transcript(self, language: str) -> Transcript:
        text = " ".join(segment.text for segment in self._segments)
        if not any(map(str.isalnum, text)):
            raise InputError(
                tr("Nobody seems to speak in {name}.", name=self._audio.name),
                hint=tr("Give a recording in which somebody speaks, and louder."),
            )
        return Transcript(text, "whisper", language, tuple(self._segments))


class LongError(Exception):
    """More is said in a recording than may be recognised at once."""


async def all_at_once(
    road: EngineRoute, audio: Path, report: Report, *, most: float = math.inf
) -> Transcript:
    """What is said in a recording, by one call of an engine that hears and then recognises.

    Raises LongError where that is more than `most` seconds of speech.
    """
    report(0.0, "listening")
    seconds: float = await road.child.call("hear", audio, timeout=_opening(audio))
    if seconds > most:
        raise LongError
    limit = START_SECONDS + SECONDS_PER_SECOND * seconds
    heard: Transcript = await road.child.call(
        "recognise", *road.setting, timeout=limit, report=report
    )
    return heard


def _opening(audio: Path) -> float:
    """Seconds that reading it may take."""
    return START_SECONDS + audio.stat().st_size / BYTES_PER_SECOND
