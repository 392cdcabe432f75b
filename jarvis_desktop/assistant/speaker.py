"""Speaks an answer sentence by sentence: one plays while the next is being synthesised."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from jarvis_desktop.assistant.speakable import sentences, speakable
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.events import Event, Noted, Speaking
from jarvis_desktop.core.ports import ArtifactStore, Player, Voice


class Speaker:
    """The voice of the assistant. Cancelling `say` or `play` silences it at once."""

    def __init__(self, voice: Voice, player: Player, store: ArtifactStore) -> None:
        self._voice = voice
        self._player = player
        self._store = store
        self._turn = asyncio.Lock()

    async def say(self, text: str, show: Callable[[Event], None]) -> None:
        """Speak a text. What keeps it from being heard is shown as a note, never raised."""
        parts = sentences(speakable(text))
        async with self._turn:
            try:
                workdir = self._store.workdir()
                try:
                    await self._say(parts, workdir, show)
                finally:
                    self._store.discard(workdir)
            except JarvisError as error:
                show(Noted(f"The answer could not be spoken: {error}"))

    async def play(self, audio: Path, text: str, show: Callable[[Event], None]) -> None:
        """Play speech that is already there; `text` is what it says."""
        async with self._turn:
            show(Speaking(text))
            try:
                await self._player.play(audio)
            except JarvisError as error:
                show(Noted(f"The answer could not be spoken: {error}"))

    async def _say(self, parts: list[str], workdir: Path, show: Callable[[Event], None]) -> None:
        ahead: asyncio.Task[Path] | None = None
        try:
            for number, part in enumerate(parts):
                current = ahead or self._synthesise(part, workdir, number)
                audio = await current
                following = parts[number + 1 : number + 2]
                ahead = self._synthesise(following[0], workdir, number + 1) if following else None
                show(Speaking(part))
                await self._player.play(audio)
        finally:
            if ahead:
                ahead.cancel()
                await asyncio.gather(ahead, return_exceptions=True)

    def _synthesise(self, part: str, workdir: Path, number: int) -> asyncio.Task[Path]:
        return asyncio.create_task(self._voice.synthesise(part, workdir / f"{number}.wav"))
