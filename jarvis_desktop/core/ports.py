"""The seams: what the assistant needs of the world; each has a real part and a fake."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.events import Event
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.core.turn import Conversation, Turn


class Frontend(Protocol):
    """Where a person sees and answers: window, quick box or terminal."""

    def show(self, event: Event) -> None:
        """Show that something happened. Must return at once."""
        ...

    async def review(self, plan: Plan) -> Plan | None:
        """Let the person change the plan; None when they refuse it."""
        ...

    async def confirm(self, question: str) -> bool:
        """A yes-or-no question; anything but a clear yes is False."""
        ...

    async def ask(self, question: str) -> str:
        """An open question; "" where there is no answer."""
        ...


@dataclass(frozen=True, slots=True)
class Context:
    """What a planner may know besides the words."""

    attachments: tuple[Artifact, ...] = ()
    conversation: Conversation | None = None
    folder: Path | None = None
    """Where results with a name of the person's choosing are saved."""


@dataclass(frozen=True, slots=True)
class Declined:
    """A planner's reason for making no plan, said to the person."""

    reason: str


class Planner(Protocol):
    """Turns words into a plan."""

    async def plan(
        self, text: str, inventory: Sequence[TaskType], context: Context
    ) -> Plan | Declined:
        """A plan over the task types of `inventory`, or the reason why there is none."""
        ...


class Backend(Protocol):
    """A place where experts run."""

    name: str
    lane: str
    """Calls of one lane share its width: gpu, cpu, llm, network, or instant for no limit."""

    def question(self, call: Call) -> str:
        """What the person must agree to before this call runs; "" where nothing."""
        ...

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        """The results of the call. Raises JarvisError; cancelling stops the work itself."""
        ...


class Catalogue(Protocol):
    """Which experts there are for a task, best first."""

    def candidates(self, task: str) -> Sequence[Candidate]:
        """Those that can run on this computer now."""
        ...

    def obtainable(self, task: str) -> Sequence[Expert]:
        """Those that would have to be fetched first, smallest first."""
        ...

    def out_of_reach(self, task: str) -> Sequence[Expert]:
        """Those that this version cannot run, smallest first: they are named, never offered."""
        ...


class Fetcher(Protocol):
    """Brings the weights of experts onto this computer."""

    async def fetch(self, expert: Expert, report: Report) -> Path:
        """Fetch one; its folder. Raises UnavailableError with the reason. Cancelling stops it."""
        ...


class ArtifactStore(Protocol):
    """Files by content: what people gave and what experts made."""

    def take_in(self, path: Path) -> Artifact:
        """Check a person's file and copy it in. Raises InputError that names the file."""
        ...

    def keep(self, artifact: Artifact) -> Artifact:
        """Move an expert's file in and return the artifact with its new path."""
        ...

    def holds(self, path: Path) -> bool:
        """Whether this is the path of a file that was taken in or kept."""
        ...

    def workdir(self) -> Path:
        """A new, empty folder for one call."""
        ...

    def discard(self, workdir: Path) -> None:
        """Remove such a folder with all that is left in it."""
        ...


class History(Protocol):
    """What was asked and answered."""

    def open_conversation(self, conversation_id: str | None = None) -> Conversation:
        """The conversation of that id with its recent turns, or a new one."""
        ...

    def save(self, conversation_id: str, turn: Turn) -> None:
        """Write a finished turn durably."""
        ...


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a transcript; times in seconds from the beginning."""

    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said in a recording."""

    text: str
    engine: str
    language: str = ""
    segments: tuple[Segment, ...] = ()
    note: str = ""
    """What the person should know about how well this engine hears; "" when nothing."""


class Recogniser(Protocol):
    """Turns speech into text."""

    async def transcribe(self, audio: Path, report: Report) -> Transcript:
        """What is said in a recording of any format.

        Raises InputError with the reason where nothing is said (no sound, too short, not speech),
        UnavailableError where there is no recogniser.
        """
        ...

    async def close(self) -> None:
        """End the child process."""
        ...


class Voice(Protocol):
    """Turns text into speech."""

    async def synthesise(self, text: str, to: Path) -> Path:
        """Speak one stretch of text into a WAV file. Raises UnavailableError, ExpertError."""
        ...

    async def close(self) -> None:
        """End the child process."""
        ...


class Player(Protocol):
    """Plays sound on the chosen output."""

    async def play(self, audio: Path) -> None:
        """Play a WAV file to its end; cancelling silences it. Raises UnavailableError."""
        ...


class Microphone(Protocol):
    """Records from the chosen input."""

    async def record(self, to: Path, stop: asyncio.Event, level: Callable[[float], None]) -> Path:
        """Record 16 kHz mono into a WAV file until `stop` is set.

        `level` is told the loudness, 0 to 1, about ten times a second. Raises UnavailableError
        where there is no microphone, or none that may be used.
        """
        ...


@dataclass(frozen=True, slots=True)
class Timer:
    """A timer that was set."""

    id: str
    label: str
    due: datetime


class Timers(Protocol):
    """Timers that ring."""

    def set(self, seconds: float, label: str) -> Timer:
        """Start one."""
        ...

    def pending(self) -> Sequence[Timer]:
        """Those that have not rung, the next one first."""
        ...

    def cancel_all(self) -> int:
        """Cancel all; how many there were."""
        ...


class TimerRecords(Protocol):
    """Timers on disk, so that they outlive the application."""

    def add(self, timer: Timer) -> None:
        """Keep one."""
        ...

    def remove(self, timer_id: str) -> None:
        """Forget one; nothing happens where it is not there."""
        ...

    def pending(self) -> Sequence[Timer]:
        """All that are kept."""
        ...


class Desktop(Protocol):
    """The person's desktop, outside this application."""

    def open(self, path: Path) -> None:
        """Open a file or folder with its usual program. Raises UnavailableError."""
        ...
