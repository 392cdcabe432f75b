"""Speaks an answer sentence by sentence: one plays while the next is being synthesised."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Callable
from contextlib import aclosing
from pathlib import Path

from jarvis_desktop.assistant.speakable import SentenceStream, sentences, speakable
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.events import Event, Noted, Speaking
from jarvis_desktop.core.ports import ArtifactStore
from jarvis_desktop.core.voice import Player, Voice

Show = Callable[[Event], None]

PAUSE = 1.0
"""Seconds after a sentence in which the next one is still part of the same speech."""


class Speaker:
    """The voice of the assistant. Cancelling `say` or `play` silences it at once."""

    def __init__(self, voice: Voice, player: Player, store: ArtifactStore) -> None:
        self._voice = voice
        self._player = player
        self._store = store
        self._turn = asyncio.Lock()

    async def say(self, text: str | AsyncIterable[str], show: Show) -> None:
        """Speak a text, also one that is still being written: each sentence once it is whole.

        What keeps it from being heard is shown as a note, never raised.
        """
        async with self._turn, aclosing(_sentences(text)) as parts:
            try:
                workdir = self._store.workdir()
                try:
                    await self._say(parts, workdir, show)
                finally:
                    self._store.discard(workdir)
            except JarvisError as error:
                show(Noted(f"The answer could not be spoken: {error}"))

    async def play(self, audio: Path, text: str, show: Show) -> None:
        """Play speech that is already there; `text` is what it says."""
        async with self._turn:
            show(Speaking(text))
            try:
                await self._player.play(audio)
            except JarvisError as error:
                show(Noted(f"The answer could not be spoken: {error}"))

    async def _say(self, parts: AsyncGenerator[str], workdir: Path, show: Show) -> None:
        number = 0
        ahead = asyncio.create_task(self._next(parts, workdir / "0.wav"))
        try:
            while made := await ahead:
                number += 1
                ahead = asyncio.create_task(self._next(parts, workdir / f"{number}.wav"))
                part, audio = made
                show(Speaking(part))
                await self._player.play(audio)
                if not (await asyncio.wait([ahead], timeout=PAUSE))[0]:
                    show(Speaking(""))  # what follows is not written yet, perhaps for long
        finally:
            ahead.cancel()
            await asyncio.gather(ahead, return_exceptions=True)

    async def _next(self, parts: AsyncGenerator[str], to: Path) -> tuple[str, Path] | None:
        """The next sentence and its sound; None after the last one."""
        part = await anext(parts, None)
        return None if part is None else (part, await self._voice.synthesise(part, to))


class Speech:
    """An answer that is spoken while it is being written."""

    def __init__(self, speaker: Speaker, show: Show) -> None:
        self._pieces: asyncio.Queue[str | None] = asyncio.Queue()
        self._speaking = asyncio.create_task(speaker.say(self._written(), show))

    def add(self, piece: str) -> None:
        """Go on with this piece."""
        self._pieces.put_nowait(piece)

    async def finish(self) -> None:
        """Wait until all of it was spoken, or `stop` was called. Cancelling silences it."""
        self._pieces.put_nowait(None)
        await heard(self._speaking)

    def stop(self) -> None:
        """Stop speaking at once."""
        self._speaking.cancel()

    async def stopped(self) -> None:
        """Wait until nothing of it is heard any more, after `stop`."""
        await asyncio.wait([self._speaking])

    async def _written(self) -> AsyncGenerator[str]:
        while (piece := await self._pieces.get()) is not None:
            yield piece


async def heard(sound: asyncio.Task[None]) -> None:
    """Wait until a sound was heard to its end, or was cancelled. Cancelling this cancels it."""
    try:
        await sound
    except asyncio.CancelledError:
        waits = asyncio.current_task()
        if waits is None or waits.cancelling():
            raise


async def _sentences(text: str | AsyncIterable[str]) -> AsyncGenerator[str]:
    if isinstance(text, str):
        for part in sentences(speakable(text)):
            yield part
        return
    stream = SentenceStream()
    async for piece in text:
        for part in stream.feed(piece):
            yield part
    for part in stream.rest():
        yield part
