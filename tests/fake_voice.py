"""Real, small implementations of the voice's ports for tests; each passes its contract suite."""

from __future__ import annotations

import asyncio
import io
import threading
import wave
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_desktop.core.errors import (
    InputError,
    InsertionError,
    JarvisError,
    UnavailableError,
)
from jarvis_desktop.core.speech import (
    HotkeyStatus,
    MicrophoneState,
    Partial,
    Segment,
    Sound,
    Transcript,
)
from jarvis_desktop.core.task import Report


def write_wav(to: Path, *, seconds: float = 0.1, rate: int = 16000) -> Path:
    """A silent WAV file."""
    with wave.open(str(to), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(bytes(2 * int(seconds * rate)))
    return to


def tone(seconds: float, *, rate: int = 16000) -> bytes:
    """A WAV file with a sound."""
    to = io.BytesIO()
    with wave.open(to, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(b"\x00\x20\x00\xe0" * int(seconds * rate / 2))
    return to.getvalue()


def nobody(partial: Partial) -> None:
    """Does not look."""


def unnoticed() -> None:
    """Does not wait for it to be heard."""


@dataclass
class FakeRecogniser:
    """Hears what it is told to hear; of live speech first the partials, one for each stretch."""

    hears: str = "what time is it"
    note: str = ""
    error: JarvisError | None = None
    segments: tuple[Segment, ...] = ()
    partials: Sequence[Partial] = ()
    measured: tuple[Path, float] | None = None
    heard: list[Path] = field(default_factory=list)
    hearings: list[FakeHearing] = field(default_factory=list)

    async def transcribe(self, audio: Path, report: Report) -> Transcript:
        self.heard.append(audio)
        if not audio.is_file():
            raise InputError(f"There is no recording {audio.name}.")
        return self.transcript()

    def hear(self, show: Callable[[Partial], None] = nobody) -> FakeHearing:
        self.hearings.append(FakeHearing(self, show, iter(self.partials)))
        return self.hearings[-1]

    def transcript(self) -> Transcript:
        if self.error:
            raise self.error
        return Transcript(self.hears, "fake", "en", self.segments, self.note)

    async def close(self) -> None:
        pass


@dataclass
class FakeHearing:
    """What a FakeRecogniser hears of live speech."""

    recogniser: FakeRecogniser
    show: Callable[[Partial], None]
    partials: object
    pcm: bytes = b""
    finished: bool = False
    dropped: bool = False

    def add(self, pcm: bytes) -> None:
        self.pcm += pcm
        if (partial := next(self.partials, None)) is not None:  # type: ignore[call-overload]
            self.show(partial)

    async def finish(self) -> Transcript:
        await asyncio.sleep(0)
        self.finished = True
        if not self.pcm:
            raise InputError("Your recording is too short to hold a word.")
        return self.recogniser.transcript()

    def drop(self) -> None:
        self.dropped = True


@dataclass
class FakeVoice:
    """Writes silent WAV files."""

    said: list[str] = field(default_factory=list)
    paces: list[float] = field(default_factory=list)
    error: JarvisError | None = None

    async def synthesise(self, text: str, to: Path, *, pace: float = 1.0) -> Path:
        if self.error:
            raise self.error
        if not text.strip():
            raise UnavailableError("There is nothing to say.")
        self.said.append(text)
        self.paces.append(pace)
        return write_wav(to)

    async def close(self) -> None:
        pass


@dataclass
class FakePlayer:
    """Remembers what it played; `hold` keeps it playing until it is cancelled or silenced."""

    played: list[Path] = field(default_factory=list)
    stopped: int = 0
    silenced: int = 0
    drained: int = 0
    shares: list[float] = field(default_factory=list)
    hold: bool = False
    error: JarvisError | None = None
    starts: list[float] = field(default_factory=list)
    """Where each began that did not at its beginning."""
    position: float | None = None
    _quiet: asyncio.Event | None = None

    async def play(
        self,
        audio: Path,
        *,
        start: float = 0.0,
        more: bool = False,
        begun: Callable[[], None] = unnoticed,
    ) -> None:
        if self.error:
            raise self.error
        self.played.append(audio)
        if start:
            self.starts.append(start)
        self.position = start
        begun()
        self._quiet = asyncio.Event()
        try:
            if self.hold:
                await self._quiet.wait()
        except asyncio.CancelledError:
            self.stopped += 1
            raise
        finally:
            self._quiet = self.position = None

    async def drain(self) -> None:
        if self.error:
            raise self.error
        self.drained += 1

    def silence(self) -> None:
        self.silenced += 1
        if self._quiet:
            self._quiet.set()

    def duck(self, share: float) -> None:
        self.shares.append(share)


@dataclass
class FakeMicrophone:
    """Gives the sounds it was fed, and what is fed while somebody listens."""

    sounds: list[Sound] = field(default_factory=list)
    """What each who listens hears first."""
    error: JarvisError | None = None
    """Raised after these sounds."""
    state: MicrophoneState = "closed"
    held: bool = False
    listened: int = 0
    judged: list[bytes] = field(default_factory=list)
    """What it was asked about; the answer is what a test feeds."""
    _ears: list[asyncio.Queue[Sound | JarvisError]] = field(default_factory=list)
    _watchers: list[Callable[[MicrophoneState], None]] = field(default_factory=list)

    async def listen(self, until: asyncio.Event) -> AsyncGenerator[Sound, None]:
        self.listened += 1
        self._become("open")
        ears: asyncio.Queue[Sound | JarvisError] = asyncio.Queue()
        for sound in self.sounds:
            ears.put_nowait(sound)
        if self.error:
            ears.put_nowait(self.error)
        self._ears.append(ears)
        ended = asyncio.create_task(until.wait())
        try:
            while True:
                coming = asyncio.create_task(ears.get())
                await asyncio.wait({coming, ended}, return_when=asyncio.FIRST_COMPLETED)
                if not coming.done():
                    coming.cancel()
                    return
                came = coming.result()
                if isinstance(came, JarvisError):
                    raise came
                yield came
        finally:
            ended.cancel()
            self._ears.remove(ears)
            if not self._ears and not self.held:
                self._become("closed")

    def feed(self, sound: Sound | JarvisError) -> None:
        """Let all who listen hear this, or see the device go."""
        for ears in self._ears:
            ears.put_nowait(sound)

    def judge(self, said: bytes) -> None:
        self.judged.append(said)

    @property
    def heard(self) -> bool:
        """Whether all that was fed was taken."""
        return all(ears.empty() for ears in self._ears)

    def hold(self, *, open: bool) -> None:
        self.held = open
        self._become("open" if open or self._ears else "closed")

    def watch(self, changed: Callable[[MicrophoneState], None]) -> None:
        self._watchers.append(changed)

    def _become(self, state: MicrophoneState) -> None:
        before, self.state = self.state, state
        if before != state:
            for changed in self._watchers:
                changed(state)


LENT = HotkeyStatus("x11", "Ctrl+Alt+Space", holds=True, why="It is a test.")
UNBOUND = HotkeyStatus(why="It is a test.")


@dataclass
class FakeHotkey:
    """Is pressed by the test."""

    gives: HotkeyStatus = LENT
    """What binding comes to."""
    press: Callable[[], None] | None = None
    release: Callable[[], None] | None = None
    status: HotkeyStatus = UNBOUND
    chosen: list[str] = field(default_factory=list)
    token: str = ""
    _watchers: list[Callable[[HotkeyStatus], None]] = field(default_factory=list)

    def watch(self, changed: Callable[[HotkeyStatus], None]) -> None:
        self._watchers.append(changed)

    async def bind(self, press: Callable[[], None], release: Callable[[], None]) -> HotkeyStatus:
        if self.gives.way != "none":
            self.press, self.release = press, release
        self.become(self.gives)
        return self.gives

    async def choose(self, key: str) -> None:
        self.chosen.append(key)

    async def close(self) -> None:
        self.press = self.release = None
        self.become(UNBOUND)

    def become(self, status: HotkeyStatus) -> None:
        """Change how the key is had, as a desktop does."""
        if status != self.status:
            self.status = status
            for changed in self._watchers:
                changed(status)


@dataclass
class FakeTextInserter:
    """A window whose text the test reads; implements core.speech.TextInserter."""

    text: str = ""
    """What it received."""
    unusable: str | None = None
    """Why nothing can be inserted, if so."""
    takes: int | None = None
    """Characters after which another window has the focus."""
    error: Exception | None = None
    """Raised by each insertion."""
    gate: threading.Event | None = None
    """Holds insertions back until it is set."""
    aims: int = 0
    tried: int = 0
    inserted: list[str] = field(default_factory=list)
    """The whole texts that it received."""
    closed: bool = False

    def check(self) -> str | None:
        return self.unusable

    def aim(self) -> None:
        self.aims += 1

    def insert(self, text: str) -> None:
        if self.gate:
            self.gate.wait(60)
        self.tried += 1
        if self.error:
            raise self.error
        if self.unusable is not None:
            raise InsertionError(self.unusable, rest=text)
        self.text += text[: self.takes]
        if self.takes is not None and len(text) > self.takes:
            raise InsertionError("Another window has the focus.", rest=text[self.takes :])
        self.inserted.append(text)

    def close(self) -> None:
        self.closed = True
