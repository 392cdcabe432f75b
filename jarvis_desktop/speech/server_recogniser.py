"""Recognition by a server with OpenAI's protocol; the local recogniser is the fallback."""

from __future__ import annotations

import asyncio
import io
import json
import math
import wave
from array import array
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from jarvis_desktop.core.display import printable
from jarvis_desktop.core.errors import ExpertError, Fault, InputError, JarvisError, UnavailableError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.speech import RATE, WIDTH, Hearing, Partial, Segment, Transcript
from jarvis_desktop.core.task import Report
from jarvis_desktop.platform.http import RequestRejectedError, sentences, stranger
from jarvis_desktop.platform.work_server import WorkServer
from jarvis_desktop.speech.recogniser import REQUEST_BYTES, LocalRecogniser
from jarvis_desktop.speech.transcription import OnSegments, recording_size
from jarvis_desktop.text.languages import CODES

PATH = "/audio/transcriptions"
INSTEAD = mark("This computer’s recogniser listened instead.")
MAX_ANSWER_BYTES = 32_000_000
MAX_RECORDING_BYTES = 1_000_000_000
LIVE_S = 8.0
"""Seconds to wait for what was said, besides its own length."""
SILENT_PEAK = 33
"""Of 32768, or -60 dB: a muted microphone gives less."""
GRACE_S = 4.0
"""Seconds that the local recogniser may take longer than the server to hear that nothing was
said."""
FILE_S, BYTES_PER_S = 60.0, 20_000
"""Seconds to wait for a recording, and the slowest progress besides them: a minute of speech as
OGG has about 250 kB."""
MAX_SECONDS = 1e6
"""Of a time in an answer that makes sense."""


class ServerTranscriber:
    """Transcribes by the server alone. `language` returns a two-letter code; None detects it."""

    def __init__(self, server: WorkServer, language: Callable[[], str | None]) -> None:
        self.server = server
        self._language = language

    async def transcribe(
        self, audio: Path, report: Report, *, language: str | None = None, words: bool = False
    ) -> Transcript:
        """Transcribe a recording, with the times of its stretches, and of `words` if wanted.

        Raises InputError if the recording is missing or too large, UnavailableError, ExpertError.
        """
        if (size := recording_size(audio)) > MAX_RECORDING_BYTES:
            raise InputError(tr("{name} is too large to be sent.", name=audio.name))
        report(None, tr("Waiting for {provider}", provider=self.server.server.host))
        seconds, wish = FILE_S + size / BYTES_PER_S, self._wish(language)
        timed: dict[str, Any] = {**wish, "response_format": "verbose_json"}
        if words:
            timed["timestamp_granularities[]"] = ["segment", "word"]
        # Its name may be private; servers only read the end of it.
        with audio.open("rb") as file:
            files = {"file": (f"recording{audio.suffix}", file)}
            try:
                answer = await self._asked(seconds, data=timed, files=files)
            except RequestRejectedError:  # some models give no times
                answer = await self._asked(seconds, data=wish, files=files)
        return self._read(answer)

    async def of_sound(self, pcm: bytes) -> Transcript:
        """Transcribe sound of the microphone: 16 kHz, mono, 16 bits. Raises as `transcribe`."""
        recording = io.BytesIO()
        with wave.open(recording, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(WIDTH)
            file.setframerate(RATE)
            file.writeframes(pcm)
        files = {"file": ("speech.wav", recording.getvalue(), "audio/wav")}
        seconds = LIVE_S + len(pcm) / (RATE * WIDTH)
        return self._read(await self._asked(seconds, data=self._wish(None), files=files))

    def _wish(self, language: str | None) -> dict[str, Any]:
        wish = {"model": self.server.model, "response_format": "json"}
        if language := language or self._language():
            wish["language"] = language
        return wish

    async def _asked(self, seconds: float, **content: Any) -> bytes:
        return await self.server.ask(PATH, most=MAX_ANSWER_BYTES, seconds=seconds, **content)

    def _read(self, answer: bytes) -> Transcript:
        """The transcript of an answer, of which nothing is trusted. Raises JarvisError."""
        server = self.server.server
        with sentences(server):
            found = json.loads(answer)
        text = found.get("text") if isinstance(found, dict) else None
        if not isinstance(text, str):
            raise stranger(server)
        if not any(map(str.isalnum, text)):
            raise ExpertError(tr("{host} heard no words.", host=server.host), fault=Fault.ANSWER)
        language = str(found.get("language") or "").lower()
        language = CODES.get(language, language if len(language) in (2, 3) else "")
        segments = _timed(found.get("segments"))
        for word in _timed(found.get("words"), named="word"):
            at = next((at for at, each in enumerate(segments) if word.start < each.end), None)
            if at is not None:
                segments[at] = replace(segments[at], words=(*segments[at].words, word))
        engine = f"{self.server.model} ({server.host})"
        return Transcript(printable(text).strip(), engine, language, tuple(segments))


def _timed(entries: object, *, named: str = "text") -> list[Segment]:
    """Stretches of a transcript; none if any of them makes no sense."""
    found: list[Segment] = []
    for each in entries if isinstance(entries, list) else ():
        fields = each if isinstance(each, dict) else {}
        start, end, text = _time(fields.get("start")), _time(fields.get("end")), fields.get(named)
        if not isinstance(text, str) or not 0 <= start <= end < MAX_SECONDS:
            return []
        if text.strip():
            words = printable(text)
            words = f" {words}" if named == "word" and not words[:1].isspace() else words
            found.append(Segment(start, end, words))
    return found


def _time(value: object) -> float:
    """A time in seconds; NaN for anything else."""
    return float(value) if isinstance(value, int | float) and abs(value) < 1e9 else math.nan


class ServerRecogniser:
    """Asks a server, and the local recogniser if no server is set or allowed, or if it fails.

    What the user says is recognised by both: the local one shows words at once, detects silence,
    and its transcript is used if the server has none.
    """

    def __init__(self, there: ServerTranscriber, local: LocalRecogniser) -> None:
        self._there = there
        self._local = local

    @property
    def _is_for_speech(self) -> bool:
        return self._there.server.is_at_hand and self._there.server.chosen.spoken

    async def transcribe(self, audio: Path, report: Report) -> Transcript:
        """Transcribe a spoken request; see the port."""
        if not (self._is_for_speech and audio.is_file()):  # noqa: ASYNC240 - a local file
            return await self._local.transcribe(audio, report)
        here = self._local.transcribe(audio, report)
        there = self._there.transcribe(audio, report)
        if audio.stat().st_size > REQUEST_BYTES:  # noqa: ASYNC240
            return await first_of(there, here)
        return await both(here, there)

    async def write_down(
        self,
        audio: Path,
        report: Report,
        *,
        language: str | None,
        words: bool,
        found: OnSegments,
    ) -> Transcript:
        """Transcribe a recording as `FileTranscriber.transcribe` does."""
        here = self._local.files.transcribe(
            audio, report, language=language, words=words, found=found
        )
        if not self._there.server.is_at_hand:
            return await here
        there = self._there.transcribe(audio, report, language=language, words=words)
        return await first_of(there, here)

    def hear(self, show: Callable[[Partial], None] = lambda partial: None) -> Hearing:
        """Begin to recognise continuing speech; see the port."""
        local = self._local.hear(show)
        return ServerHearing(local, self._there.of_sound) if self._is_for_speech else local


class ServerHearing:
    """Speech that is recognised here while it is spoken, and by the server at its end."""

    def __init__(self, local: Hearing, there: Callable[[bytes], Awaitable[Transcript]]) -> None:
        self._local = local
        self._there = there
        self._pcm = bytearray()

    def add(self, pcm: bytes) -> None:
        """Add sound."""
        self._pcm += pcm
        self._local.add(pcm)

    async def finish(self) -> Transcript:
        """Return the transcript of all of it; see the port. Silence is not sent."""
        if max(map(abs, array("h", self._pcm[: len(self._pcm) // 2 * 2])), default=0) < SILENT_PEAK:
            return await self._local.finish()
        return await both(self._local.finish(), self._there(bytes(self._pcm)))

    def drop(self) -> None:
        """Discard it."""
        self._pcm.clear()
        self._local.drop()


async def both(here: Awaitable[Transcript], there: Awaitable[Transcript]) -> Transcript:
    """Return what the server heard, or else what was heard here, with a note. Raises InputError if
    nothing was said by the local recogniser: servers hear words in silence."""
    local, served = asyncio.ensure_future(here), asyncio.ensure_future(there)
    try:
        await asyncio.wait({local, served}, return_when=asyncio.FIRST_COMPLETED)
        if not local.done():
            await asyncio.wait({served})
            await asyncio.wait({local}, timeout=GRACE_S)
        if local.done() and isinstance(local.exception(), InputError):
            return local.result()
        return await first_of(served, local)
    finally:
        for each in (local, served):
            each.cancel()
        await asyncio.gather(local, served, return_exceptions=True)


async def first_of(there: Awaitable[Transcript], here: Awaitable[Transcript]) -> Transcript:
    """Return what the server heard. If it cannot, return what is heard here, with a note."""
    try:
        heard = await there
    except InputError:
        raise
    except JarvisError as error:
        try:
            stood_in = await here
        except UnavailableError:
            raise error from None
        note = f"{error.message.rstrip('.')}. {tr(INSTEAD)} {stood_in.note}"
        return replace(stood_in, note=note.strip())
    finally:
        if asyncio.iscoroutine(here):
            here.close()
    return heard
