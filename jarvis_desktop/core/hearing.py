"""What is heard: sound as a microphone gives it, and the words that are found in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
