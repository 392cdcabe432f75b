"""The seams of the voice road: what the assistant needs to hear and to be heard.

What is heard: sound as a microphone gives it, and the words that are found in it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from jarvis_desktop.core.task import Report

RATE = 16_000
"""Samples in a second of any Sound."""
WIDTH = 2
"""Bytes of a sample."""
FRAME = 512
"""Samples for which is told how likely somebody speaks in them: 32 ms."""
PRE_ROLL = 0.5
"""Seconds of sound from before that an open microphone remembers, in memory only."""


@dataclass(frozen=True, slots=True)
class Sound:
    """A stretch of sound from the microphone; the next one follows without a gap."""

    pcm: bytes
    """16 kHz, mono, 16 bits, little-endian."""
    level: float = 0.0
    """Its loudness, from 0 (-60 dB of full scale or less) to 1, as meters show it."""
    speech: tuple[float, ...] = ()
    """How likely somebody speaks, 0 to 1, in each frame that came to its end in this stretch."""
    before: bool = False
    """Whether it was heard in the half second before anybody listened."""
    woken: bool = False
    """Whether the wake word came to its end in this stretch."""

    @property
    def seconds(self) -> float:
        """How long it is."""
        return len(self.pcm) / (RATE * WIDTH)


@dataclass(frozen=True, slots=True)
class Partial:
    """What was understood so far of speech that goes on."""

    settled: str = ""
    """Its beginning: these words stay as they are in all that follows."""
    rest: str = ""
    """What may still change."""

    @property
    def text(self) -> str:
        """All of it."""
        return f"{self.settled} {self.rest}".strip()


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a transcript; times in seconds from the beginning."""

    start: float
    end: float
    text: str
    words: tuple[Segment, ...] = ()
    """Its words with their times, where these were asked for."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said in a recording."""

    text: str
    engine: str
    language: str = ""
    segments: tuple[Segment, ...] = ()
    note: str = ""
    """What the person should know about how well this engine hears; "" when nothing."""


MicrophoneState = Literal["closed", "opening", "open", "lost"]
"""What the person must be able to see at any time; "open" also where the sound is only kept in
memory to be forgotten. "lost" is a device that went away while it was wanted."""

TalkState = Literal["idle", "waiting", "listening", "recognising"]
"""What happens with the person's voice; "waiting" is a microphone that gives only silence yet."""

TalkWay = Literal["hold", "toggle", "auto"]
"""What the talk key does: listen while it is held; begin and end at a press; or, "auto", the first
where it is held for longer than a tap, else the second."""

HotkeyWay = Literal["portal", "x11", "windows", "macos", "none"]


@dataclass(frozen=True, slots=True)
class HotkeyStatus:
    """How the talk key of the whole desktop is had, and why in this way."""

    way: HotkeyWay = "none"
    """"none" leaves `jarvis-desktop talk`, to which any desktop can bind a key."""
    key: str = ""
    """As the desktop names it, such as "Ctrl+Alt+Space"."""
    holds: bool = False
    """Whether letting it go is told too."""
    why: str = ""
    """A sentence for the person: why this way, and why none of the better ones."""


@dataclass(frozen=True, slots=True)
class Talking:
    """What happens with the person's voice from now on."""

    state: TalkState
    held: bool = False
    """Whether it ends when the key is let go; otherwise with a silence or the next press."""
    answers: bool = False
    """Whether it is the answer to a question that was asked aloud, and given as soon as it ends."""


@dataclass(frozen=True, slots=True)
class Loudness:
    """How loud it is now, 0 to 1."""

    level: float


@dataclass(frozen=True, slots=True)
class Unheard:
    """Nothing came of what was said, or of the key."""

    reason: str
    """A sentence or two for the person."""


TalkEvent = Talking | Loudness | Partial | Unheard


def _ignore_partial(partial: Partial) -> None:
    """Nobody looks while it is spoken."""


def _ignore_start() -> None:
    """Nobody waits for it to be heard."""


class Recogniser(Protocol):
    """Turns speech into text."""

    async def transcribe(self, audio: Path, report: Report) -> Transcript:
        """What is said in a recording of any format.

        Raises InputError with the reason where nothing is said (no sound, too short, not speech),
        UnavailableError where there is no recogniser.
        """
        ...

    def hear(self, show: Callable[[Partial], None] = _ignore_partial) -> Hearing:
        """Begin to recognise speech that goes on; `show` is told, on the loop, what was understood
        so far. While an earlier one is being finished it waits behind that, and loses nothing."""
        ...

    async def close(self) -> None:
        """End the child process."""
        ...


class Hearing(Protocol):
    """Speech that is recognised while it is spoken."""

    def add(self, pcm: bytes) -> None:
        """Go on with this sound: 16 kHz, mono, 16 bits. Returns at once."""
        ...

    async def finish(self) -> Transcript:
        """What was said in all of it.

        Raises InputError with the reason where nothing is said (no sound, too short, not speech),
        UnavailableError where there is no recogniser, ExpertError where the last of them failed.
        The sound is kept until then: an engine that crashes loses none of it.
        """
        ...

    def drop(self) -> None:
        """Forget it; what is being worked out is left."""
        ...


class Voice(Protocol):
    """Turns text into speech."""

    async def synthesise(self, text: str, to: Path, *, pace: float = 1.0) -> Path:
        """Speak one stretch of text into a WAV file; `pace` times as fast as usual.

        Raises UnavailableError, ExpertError.
        """
        ...

    async def close(self) -> None:
        """End the child process."""
        ...


class Player(Protocol):
    """Plays sound on the chosen output, one thing after the other."""

    async def play(
        self,
        audio: Path,
        *,
        start: float = 0.0,
        more: bool = False,
        begun: Callable[[], None] = _ignore_start,
    ) -> None:
        """Play a file, a sound or a film's, from `start` seconds to its end; `begun` is called on
        the loop when it begins to be heard.

        With `more` it returns a moment before the end, so that what is played next follows without
        a gap; `begun` may then be called later. Cancelling silences it, and what `more` left to be
        heard. Raises InputError where it is no sound file, UnavailableError where nothing can play
        it.
        """
        ...

    @property
    def position(self) -> float | None:
        """How many seconds of the file that plays were heard by now; None while none is heard.

        From any thread. To pause, cancel and remember it; to go on, play from there.
        """
        ...

    async def drain(self) -> None:
        """Wait until what `more` left to be heard was heard, or silenced. Cancelling silences it.

        Raises UnavailableError.
        """
        ...

    def silence(self) -> None:
        """Let nothing be heard any more of what plays, within milliseconds. Returns at once.

        `play` then ends as if the file had.
        """
        ...

    def duck(self, share: float) -> None:
        """Play at this share of the volume, 0 to 1, from now on. Returns at once."""
        ...


class Microphone(Protocol):
    """Hears what is said into the chosen input."""

    @property
    def state(self) -> MicrophoneState:
        """What the person must be able to see."""
        ...

    def listen(self, until: asyncio.Event) -> AsyncGenerator[Sound, None]:
        """What is heard from now on, as it comes, about thirty times a second.

        Where the device was open already it begins with the half second before. It ends after
        `until` is set, with all that was heard up to then; leaving it before drops the rest. The
        device closes with it, unless it is held open. Several listen at once. Raises
        UnavailableError where there is no microphone, none that may be used, or within a second
        after it went away or the sound service hung.
        """
        ...

    def hold(self, *, open: bool) -> None:
        """Keep the device open also while nobody listens, so that no first word is lost; or not
        any more. Returns at once, `state` tells what came of it: a device that is not there, or
        went away, is opened as soon as it is back."""
        ...

    def watch(self, changed: Callable[[MicrophoneState], None]) -> None:
        """Call this on the loop at each change of `state`."""
        ...


class Hotkey(Protocol):
    """A key that works on the whole desktop."""

    @property
    def status(self) -> HotkeyStatus:
        """How it is had at this moment."""
        ...

    @property
    def token(self) -> str:
        """By which the desktop lets a window come to the front for the last press, or ""."""
        ...

    def watch(self, changed: Callable[[HotkeyStatus], None]) -> None:
        """Call this on the loop at each change of `status`."""
        ...

    async def bind(self, press: Callable[[], None], release: Callable[[], None]) -> HotkeyStatus:
        """Call these on the loop, in turns, from now on.

        Where the key cannot be had the status says why. Some desktops ask the person first: it may
        take minutes.
        """
        ...

    async def choose(self, key: str) -> None:
        """Have another key instead, "" for none; where none was asked for it is kept for that."""
        ...

    async def close(self) -> None:
        """Give the key back."""
        ...


class TalkFront(Protocol):
    """Where somebody talks: a window, a quick box, a terminal. All is called on the loop and must
    return at once."""

    def barge_in(self) -> None:
        """The person is about to speak: what is spoken and done for them now is to stop."""
        ...

    def show(self, event: TalkEvent) -> None:
        """Show what happens with their voice."""
        ...

    def heard(self, transcript: Transcript) -> None:
        """They said this, and no question waited for it."""
        ...
