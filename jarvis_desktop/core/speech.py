"""Sound, transcripts, and the ports of speech: recogniser, voice, player, microphone, text
insertion."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from jarvis_desktop.core.task import Report

RATE = 16_000
"""Samples per second of any Sound."""
WIDTH = 2
"""Bytes per sample."""
FRAME = 512
"""Samples per frame of voice activity detection: 32 ms."""
PRE_ROLL = 0.5
"""Seconds of earlier sound that an open microphone keeps, in memory only."""


@dataclass(frozen=True, slots=True)
class Sound:
    """A stretch of sound from the microphone; the next one follows without a gap."""

    pcm: bytes
    """16 kHz, mono, 16 bits, little-endian."""
    level: float = 0.0
    """Its loudness as meters show it, from 0 (-60 dB of full scale or less) to 1."""
    speech: tuple[float, ...] = ()
    """The probability of speech in each frame that ended in this stretch."""
    before: bool = False
    """Whether it was recorded in the half second before anyone listened."""
    finished: float | None = None
    """The probability that the speaker has said all, a moment after `Microphone.judge` asked."""

    @property
    def seconds(self) -> float:
        """Its duration."""
        return len(self.pcm) / (RATE * WIDTH)


@dataclass(frozen=True, slots=True)
class Partial:
    """The transcript so far of continuing speech."""

    settled: str = ""
    """Its beginning: these words no longer change."""
    rest: str = ""
    """The words that may still change."""

    @property
    def text(self) -> str:
        """Both parts."""
        return f"{self.settled} {self.rest}".strip()


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a transcript; times are seconds from the beginning."""

    start: float
    end: float
    text: str
    words: tuple[Segment, ...] = ()
    """Its words with their times, if requested."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said in a recording."""

    text: str
    engine: str
    language: str = ""
    segments: tuple[Segment, ...] = ()
    note: str = ""
    """What the user should know about the quality of this engine; "" for nothing."""


MicrophoneState = Literal["closed", "opening", "open", "lost"]
"""The state that the user must always be able to see.

"open" includes a pre-roll buffer in memory only. "lost" is a device that went away while in use.
"""

TalkState = Literal["idle", "waiting", "listening", "recognising"]
"""The state of voice input; "waiting" is a microphone that still returns only silence."""

TalkWay = Literal["hold", "toggle", "auto"]
"""What the talk key does.

"hold" listens while it is held; "toggle" begins and ends at a press; "auto" is the first if it is
held for longer than a tap, else the second.
"""

HotkeyWay = Literal["portal", "x11", "windows", "macos", "none"]


@dataclass(frozen=True, slots=True)
class HotkeyStatus:
    """How the desktop-wide talk key is obtained, and why in this way."""

    way: HotkeyWay = "none"
    """ "none" leaves `jarvis-desktop talk`, to which any desktop can bind a key."""
    key: str = ""
    """The desktop's name for it, such as "Ctrl+Alt+Space"."""
    holds: bool = False
    """Whether its release is reported too."""
    why: str = ""
    """A sentence for the user: why this way, and why not a better one."""


@dataclass(frozen=True, slots=True)
class Talking:
    """A change of the state of voice input."""

    state: TalkState
    held: bool = False
    """Whether it ends when the key is released; otherwise at a silence or the next press."""
    answers: bool = False
    """Whether it is the answer to a spoken question, sent as soon as it ends."""


@dataclass(frozen=True, slots=True)
class Loudness:
    """The current loudness, 0 to 1."""

    level: float


@dataclass(frozen=True, slots=True)
class Unheard:
    """Nothing was understood, or the key had no effect."""

    reason: str
    """A sentence or two for the user."""


TalkEvent = Talking | Loudness | Partial | Unheard


class Transcriber(Protocol):
    """Turns recordings into text."""

    async def transcribe(self, audio: Path, report: Report) -> Transcript:
        """Transcribe a recording in any format.

        Raises InputError with the reason if nothing is said (no sound, too short, not speech),
        UnavailableError if there is no recogniser.
        """


class Recogniser(Transcriber, Protocol):
    """Turns recordings and live speech into text."""

    def hear(self, show: Callable[[Partial], None] = lambda partial: None) -> Hearing:
        """Begin to recognise continuing speech; `show` receives partial transcripts on the loop.

        It waits, without loss, for an earlier one that is being finished.
        """


class Hearing(Protocol):
    """Speech that is recognised while it is spoken."""

    def add(self, pcm: bytes) -> None:
        """Add sound: 16 kHz, mono, 16 bits. Returns at once."""

    async def finish(self) -> Transcript:
        """Return the transcript of all of it.

        Raises InputError with the reason if nothing is said (no sound, too short, not speech),
        UnavailableError if there is no recogniser, ExpertError if the last one failed. The sound is
        kept until then: a crashing engine loses none of it.
        """

    def drop(self) -> None:
        """Discard it; running work is abandoned."""


class Voice(Protocol):
    """Turns text into speech."""

    async def synthesise(self, text: str, to: Path, *, pace: float = 1.0) -> Path:
        """Speak one stretch of text into a WAV file, at `pace` times the usual speed.

        Raises UnavailableError, ExpertError.
        """


class Player(Protocol):
    """Plays sounds on the chosen output, in order."""

    async def play(
        self,
        audio: Path,
        *,
        start: float = 0.0,
        more: bool = False,
        begun: Callable[[], None] = lambda: None,
    ) -> None:
        """Play a sound or the sound of a film from `start` seconds to its end.

        `begun` is called on the loop when it becomes audible. With `more` it returns shortly before
        the end, so that the next sound follows without a gap; `begun` may then be called later.
        Cancelling silences it, and what `more` left to play. Raises InputError if it is not a sound
        file, UnavailableError if nothing can play it.
        """

    @property
    def position(self) -> float | None:
        """The seconds of the current file that were audible so far; None while silent. Thread-safe.

        To pause, cancel and remember it; to resume, play from there.
        """

    async def drain(self) -> None:
        """Wait until what `more` left to play is over or silenced. Cancelling silences it.

        Raises UnavailableError.
        """

    def silence(self) -> None:
        """Silence the current sound within milliseconds. Returns at once.

        `play` then ends as if the file had.
        """

    def duck(self, share: float) -> None:
        """Play at this share of the volume, 0 to 1, from now on. Returns at once."""


class Microphone(Protocol):
    """Records from the chosen input."""

    @property
    def state(self) -> MicrophoneState:
        """What the user must be able to see."""

    def listen(self, until: asyncio.Event) -> AsyncGenerator[Sound, None]:
        """Yield sound from now on, about thirty times a second.

        If the device was already open it starts with the half second before. It ends after `until`
        is set, with all sound up to then; leaving it earlier drops the rest. The device closes with
        it unless it is held open. Several can listen at once. Raises UnavailableError if there is
        no usable microphone, or within a second after it went away or the sound service hung.
        """

    def judge(self, said: bytes) -> None:
        """Ask whether the user has finished who just said this (16 kHz, mono, 16 bits) and is
        silent.

        Returns at once; one of the next stretches has the answer, unless there is none.
        """

    def hold(self, *, open: bool) -> None:
        """Keep the device open even while nobody listens, so that no first word is lost; or stop
        that.

        Returns at once and `state` reports the result: a missing device is opened as soon as it is
        back.
        """

    def watch(self, changed: Callable[[MicrophoneState], None]) -> None:
        """Call this on the loop at each change of `state`."""


class TextInserter(Protocol):
    """Puts text at the caret of whatever program has the focus.

    Its methods may block for seconds (`insert` for more if the desktop asks the user): call them in
    a thread, one at a time.
    """

    def check(self) -> str | None:
        """Return None, or why text cannot be inserted here and what to do, in a sentence or two."""

    def aim(self) -> None:
        """Choose the window that has the focus now for the next `insert`, which otherwise takes the
        one that has it then.

        Never raises: `insert` reports any problem.
        """

    def insert(self, text: str) -> None:
        """Insert the text once, whole and in order.

        Line breaks and tabs are inserted as if the keys were pressed; other control characters are
        left out. If the window loses the focus, it waits a few seconds for its return. Raises
        InsertionError with what was not inserted.
        """

    def close(self) -> None:
        """Restore what was changed for inserting, such as keys of the keyboard."""


class TalkFront(Protocol):
    """Where the user talks: a window, a quick box, a terminal.

    All methods are called on the loop and must return at once.
    """

    def barge_in(self) -> None:
        """The user is about to speak: stop current speech and work."""

    def show(self, event: TalkEvent) -> None:
        """Show the state of voice input."""

    def heard(self, transcript: Transcript) -> None:
        """The user said this, and no question waited for it."""
