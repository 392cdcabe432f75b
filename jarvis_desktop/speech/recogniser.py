"""The Recogniser: Whisper where its weights are on disk, else the small built-in one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from jarvis_desktop.child import Child
from jarvis_desktop.core.call import Report
from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
from jarvis_desktop.core.hearing import Transcript
from jarvis_desktop.core.shown import frames
from jarvis_desktop.paths import shipped

log = logging.getLogger(__name__)

NOTE = (
    "This was heard by the small built-in recogniser, which often mishears; "
    "`jarvis-desktop experts pull whisper-base` fetches a better one."
)
BROKEN_NOTE = "The Whisper weights on this computer cannot be used. "
CRASHED_NOTE = "The Whisper recogniser does not work on this computer. "

START_SECONDS = 60.0
"""For the first call, which loads what the engine needs."""
BYTES_PER_SECOND = 1_000_000
SECONDS_PER_SECOND = 8.0
"""A recogniser that needs longer than this for one second of speech is hung."""


class LocalRecogniser:
    """Recognises speech on this computer; each engine runs in a child process of its own.

    `find_weights` is asked at each call for a folder of CTranslate2 Whisper weights, so that
    weights are used as soon as they have been fetched. `language` is a two-letter code; None lets
    Whisper find out.
    """

    def __init__(
        self,
        *,
        find_weights: Callable[[], Path | None],
        language: str | None = None,
        whisper: str = "jarvis_desktop.speech.whisper_recogniser:make",
        pocketsphinx: str = "jarvis_desktop.speech.pocketsphinx_recogniser:make",
    ) -> None:
        self._find_weights = find_weights
        self._language = language
        self._turn = asyncio.Lock()
        self._whisper = Child(whisper, name="Whisper recogniser")
        speech = shipped("resources", "speech")
        files = speech / "commands.arpa", speech / "commands.dict"
        self._pocketsphinx = Child(pocketsphinx, *files, name="built-in recogniser")

    async def warm(self) -> None:
        """Load the engine that would be used now, so that the first request need not wait.

        Raises UnavailableError, ExpertError.
        """
        async with self._turn:
            if weights := self._find_weights():
                await self._whisper.call("ready", weights, self._language, timeout=START_SECONDS)
            else:
                await self._pocketsphinx.call("ready", timeout=START_SECONDS)

    async def transcribe(self, audio: Path, report: Report) -> Transcript:
        """What is said in a recording of any format.

        Raises InputError with the reason where nothing is said, ExpertError where the built-in
        engine crashed or hung, which also takes over from Whisper; the next call starts a new one.
        """
        if not audio.is_file():  # noqa: ASYNC240 - a look at a local file
            raise InputError(f"There is no recording {audio.name}.")
        # A file is heard and then recognised: two calls of the child that belong together.
        async with self._turn:
            return await self._transcribe(audio, report)

    async def _transcribe(self, audio: Path, report: Report) -> Transcript:
        note = NOTE
        if weights := self._find_weights():
            try:
                return await _run(self._whisper, audio, report, weights, self._language)
            except UnavailableError as error:
                log.info("falling back to pocketsphinx: %s", frames(error))
                note = BROKEN_NOTE + NOTE
            except ExpertError as error:  # such as an instruction that an old processor lacks
                log.info("falling back to pocketsphinx: %s", frames(error))
                note = CRASHED_NOTE + NOTE
        heard = await _run(self._pocketsphinx, audio, report)
        return Transcript(heard.text, heard.engine, heard.language, heard.segments, note)

    async def close(self) -> None:
        """End the child processes."""
        await self._whisper.close()
        await self._pocketsphinx.close()


async def _run(child: Child, audio: Path, report: Report, *args: object) -> Transcript:
    report(0.0, "listening")
    size = audio.stat().st_size  # noqa: ASYNC240 - a look at a local file
    reading = START_SECONDS + size / BYTES_PER_SECOND
    seconds: float = await child.call("hear", audio, timeout=reading)
    limit = START_SECONDS + SECONDS_PER_SECOND * seconds
    heard: Transcript = await child.call("recognise", *args, timeout=limit, report=report)
    return heard
