"""Speaks answers sentence by sentence: while one plays, the next ones are synthesised."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from jarvis_desktop.core.errors import ExpertError, InputError, JarvisError, UnavailableError
from jarvis_desktop.core.events import Event, Noted, Speaking
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.ports import ArtifactStore
from jarvis_desktop.core.speech import Player, Voice

Show = Callable[[Event], None]
SynthesisResult = tuple[str, Path | JarvisError]
"""A sentence and its sound, or why there is none."""

SENTENCE_PAUSE_S = 1.0
"""Seconds after a sentence within which the next one belongs to the same speech."""
MAX_FAILED_SENTENCES = 3
"""Consecutive sentences that fail before speaking is given up."""
MAX_PREPARED = 2
"""Sentences that are synthesised in advance."""
MIN_PACE = 0.5
SLOWER_FACTOR = 0.8


@dataclass(eq=False)
class _Speech:
    """A text while it is spoken."""

    show: Show
    handed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the voice has the first sentence."""
    made: asyncio.Queue[SynthesisResult | None] = field(default_factory=asyncio.Queue)
    """The sentences to be played, with None after the last."""
    room: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_PREPARED))
    """For sentences that are synthesised in advance."""


class AnswerSpeaker:
    """The voice of the assistant, which speaks one text at a time. Problems are shown as notes,
    never raised."""

    def __init__(self, voice: Voice, player: Player, store: ArtifactStore) -> None:
        self.speaking = ""
        """The sentence that is playing, or ""."""
        self.changed: Callable[[str], None] = lambda speaking: None
        """Called on the loop at each change of `speaking`."""
        self._voice = voice
        self._player = player
        self._store = store
        self._pace = 1.0
        self._turn = asyncio.Lock()
        self._unheard = ""
        """Why the last speech failed; "" once one has worked."""
        self._asked: set[asyncio.Task[None]] = set()
        self._speaks: asyncio.Task[None] | None = None

    def slower(self) -> None:
        """Speak slower from the next sentence on."""
        self._pace = max(self._pace * SLOWER_FACTOR, MIN_PACE)

    async def say(self, text: str | AsyncIterable[str], show: Show) -> None:
        """Speak a text, which may still be being written, sentence by sentence.

        Returns when all was played or `silence` was called; cancelling silences it.
        """
        await wait_until_heard(self.begin(text, show))

    def begin(
        self,
        text: str | AsyncIterable[str],
        show: Show,
        *,
        news: bool = False,
        handed: asyncio.Event | None = None,
    ) -> asyncio.Task[None]:
        """Like `say`, without waiting. With `news`, the same problem is not reported twice in a
        row. `handed` is set when the voice has the first sentence."""
        speech = _Speech(show, handed or asyncio.Event())
        return self._begin(partial(self._say, text, speech, news=news))

    def waits(self, speech: asyncio.Task[None]) -> bool:
        """Whether what `begin` returned waits until another speech has ended."""
        return self._speaks not in (None, speech)

    def begin_playing(self, audio: Path, text: str, show: Show) -> asyncio.Task[None]:
        """Play existing speech; `text` is what it says."""
        return self._begin(partial(self._play, audio, text, show))

    def silence(self, only: asyncio.Task[None] | None = None) -> None:
        """Stop all speech at once, or only what `begin` returned."""
        if only in (None, self._speaks):
            self._player.silence()
        for task in tuple(self._asked) if only is None else (only,):
            task.cancel()

    def cut(self) -> None:
        """Stop the speech that is heard now; what waits to be spoken follows."""
        if self.speaking:
            self.silence(self._speaks)

    def _begin(self, speech: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
        task = asyncio.create_task(self._in_turn(speech))
        self._asked.add(task)
        task.add_done_callback(self._asked.discard)
        return task

    async def _in_turn(self, speech: Callable[[], Awaitable[None]]) -> None:
        async with self._turn:
            self._speaks = asyncio.current_task()
            try:
                await speech()
            finally:
                self._speaks = None
                self._become("")

    async def _say(self, text: str | AsyncIterable[str], speech: _Speech, *, news: bool) -> None:
        async with aclosing(_sentences(text)) as parts:
            try:
                workdir = self._store.workdir()
                try:
                    await self._speak(parts, workdir, speech)
                finally:
                    self._store.discard(workdir)
            except JarvisError as error:
                if not (news and str(error) == self._unheard):
                    speech.show(_unspoken(error))
                self._unheard = str(error)

    async def _play(self, audio: Path, text: str, show: Show) -> None:
        try:
            await self._player.play(audio, begun=partial(self._begun, show, text))
        except JarvisError as error:
            show(_unspoken(error))

    async def _speak(self, parts: AsyncGenerator[str], workdir: Path, speech: _Speech) -> None:
        making = asyncio.create_task(self._make(parts, workdir, speech))
        try:
            await self._play_all(speech)
            await making
        except asyncio.CancelledError:
            self._player.silence()  # also between two sentences
            raise
        finally:
            making.cancel()
            await asyncio.gather(making, return_exceptions=True)

    async def _make(self, parts: AsyncGenerator[str], workdir: Path, speech: _Speech) -> None:
        """Synthesise the sentences."""
        number = 0
        try:
            async for part in parts:
                number += 1
                await speech.room.acquire()
                to = workdir / f"{number}.wav"
                # After the following has begun, and waits for the voice.
                asyncio.get_running_loop().call_soon(speech.handed.set)
                try:
                    sound = await self._voice.synthesise(part, to, pace=self._pace)
                except JarvisError as error:
                    speech.made.put_nowait((part, error))
                else:
                    speech.made.put_nowait((part, sound))
        finally:
            speech.made.put_nowait(None)

    async def _play_all(self, speech: _Speech) -> None:
        """Play the sentences. A sentence that fails is reported once, and the next one is tried."""
        played: list[Path] = []
        told: set[str] = set()
        failed = 0
        while following := await self._following(speech, played=bool(played)):
            speech.room.release()
            part, sound = following
            try:
                if isinstance(sound, JarvisError):
                    raise sound
                begun = partial(self._begun, speech.show, part)
                await self._player.play(sound, more=True, begun=begun)
            except (ExpertError, InputError, UnavailableError) as error:
                if isinstance(error, UnavailableError) and not error.retryable:
                    raise  # there is no voice or no sound output
                failed += 1
                if failed == MAX_FAILED_SENTENCES:
                    raise
                if str(error) not in told:
                    told.add(str(error))
                    words = tr("A sentence could not be spoken: {error}", error=error)
                    speech.show(Noted(words))
            else:
                failed = 0
                played.append(sound)
        if played:
            await self._player.drain()

    def _begun(self, show: Show, part: str) -> None:
        self._unheard = ""
        self._become(part)
        show(Speaking(part))

    async def _following(self, speech: _Speech, *, played: bool) -> SynthesisResult | None:
        """The next sentence. While it is being written, perhaps for long, nothing counts as
        spoken."""
        if played:
            try:
                return await asyncio.wait_for(speech.made.get(), SENTENCE_PAUSE_S)
            except TimeoutError:
                self._become("")
                speech.show(Speaking(""))
        return await speech.made.get()

    def _become(self, speaking: str) -> None:
        if speaking != self.speaking:
            self.speaking = speaking
            self.changed(speaking)


def _unspoken(error: JarvisError) -> Noted:
    return Noted(tr("The answer could not be spoken: {error}", error=error))


class SpokenAnswer:
    """An answer that is spoken while it is being written."""

    def __init__(self, speaker: AnswerSpeaker, show: Show) -> None:
        self._pieces: asyncio.Queue[str | None] = asyncio.Queue()
        self._speaker = speaker
        self._handed = asyncio.Event()
        self._speaking = speaker.begin(self._written(), show, news=True, handed=self._handed)

    def add(self, piece: str) -> None:
        """Add a piece of the answer."""
        self._pieces.put_nowait(piece)

    def complete(self) -> None:
        """Add no more."""
        self._pieces.put_nowait(None)

    async def begun(self) -> None:
        """Wait until the voice has the first sentence, or there is nothing to wait for. Cancelling
        silences it."""
        if self._speaker.waits(self._speaking):
            return
        handed = asyncio.create_task(self._handed.wait())
        try:
            await asyncio.wait((handed, self._speaking), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self.stop()
            raise
        finally:
            handed.cancel()

    async def finish(self) -> None:
        """Wait until all of it was spoken or `stop` was called. Cancelling silences it."""
        self.complete()
        await wait_until_heard(self._speaking)

    def stop(self) -> None:
        """Stop speaking at once."""
        self._speaker.silence(self._speaking)

    async def stopped(self) -> None:
        """Wait until all sound has ended, after `stop`."""
        await asyncio.wait([self._speaking])

    async def _written(self) -> AsyncGenerator[str]:
        while (piece := await self._pieces.get()) is not None:
            yield piece


async def wait_until_heard(sound: asyncio.Task[None]) -> None:
    """Wait until a sound has ended or was cancelled. Cancelling this cancels it."""
    try:
        await sound
    except asyncio.CancelledError:
        waits = asyncio.current_task()
        if waits is None or waits.cancelling():
            raise


async def _sentences(text: str | AsyncIterable[str]) -> AsyncGenerator[str]:
    # Imported here because their patterns take long to compile, and most answers are only read.
    from jarvis_desktop.text.sentences import spoken_sentences
    from jarvis_desktop.text.speakable import SentenceStream, speakable

    if isinstance(text, str):
        for part in spoken_sentences(speakable(text)):
            yield part
        return
    stream = SentenceStream()
    async for piece in text:
        for part in stream.feed(piece):
            yield part
    for part in stream.rest():
        yield part
