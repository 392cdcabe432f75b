"""Who can do a task, and in which order they are tried.

What became of a task. A failed task is a value, not an exception."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import Fault
from jarvis_desktop.core.i18n import tr


@dataclass(frozen=True, slots=True)
class Expert:
    """One entry of the catalogue: a Hub repository at a pinned revision, or a built-in method."""

    id: str
    """A short handle that people type, such as whisper-tiny, and the name of its folder."""
    task: str
    summary: str = ""
    revision: str = ""
    """A 40-digit commit of the Hub repository; empty where it could not be verified."""
    download_mb: int = 0
    licence: str = ""
    languages: tuple[str, ...] = ()
    verified: bool = False
    """Whether size, revision and licence were read from the Hub, not from memory."""
    repo: str = ""
    """The Hub repository that holds the weights; empty for a built-in method."""
    files: tuple[str, ...] = ()
    """Patterns of the files that are needed, as the shell writes them."""
    memory_mb: int = 0
    """What it takes of memory while it works, its weights in 32 bits; 0 if not known."""
    memory_half_mb: int = 0
    """The same with its weights in 16 bits; 0 if not known."""
    also: tuple[str, ...] = ()
    """Further tasks that it does."""
    base: Expert | None = None
    """The expert that it is built upon and works with: a ControlNet's painter."""
    providers: tuple[str, ...] = ()
    """Inference providers that run it behind an API, by the Hub's names for them."""
    pickled: bool = False
    """Whether its weights are only to be had in the pickle format, which may carry code."""
    gated: bool = False
    """Whether the Hub gives it only to people who accepted its terms there."""
    downloads: int = 0
    """How often the Hub gave it away in the last month; 0 if not known."""
    likes: int = 0
    """How many people marked it on the Hub; 0 if not known."""
    speed: float = 0.0
    """Of a recogniser, how many times as fast as people speak it is on four cores; 0 not known."""

    @property
    def whole_mb(self) -> int:
        """Its download together with that of what it is built upon."""
        return self.download_mb + (self.base.download_mb if self.base else 0)

    @property
    def only_served(self) -> bool:
        """Whether it runs behind an API alone: nothing of it is to be fetched."""
        return bool(self.providers) and not self.files


def times_real_time(speed: float, cores: int) -> float:
    """How many times as fast as people speak a recogniser is on so many cores, where it is `speed`
    on four: more of them hardly help."""
    return speed * min(4, cores) / 4


@dataclass(frozen=True, slots=True)
class Candidate:
    """An expert and the backend it would run on."""

    expert: Expert
    backend: str
    remote: bool = False
    """Whether it sends what it is given to another computer."""
    heavy: bool = False
    """Whether it loads large weights here, which the lite mode is there to avoid."""
    spare: bool = False
    """Whether it is tried only after the built-in way, which may fail but invents nothing."""
    provider: str = ""
    """The inference provider that runs it, where it is behind an API; "auto" is any other one."""

    @property
    def built_in(self) -> bool:
        """Whether it came with the application."""
        return self.expert.id.startswith(f"{self.backend}/")

    @property
    def kept_as(self) -> str:
        """Under which name its runs are kept: those behind an API say nothing of those here."""
        return f"{self.expert.id}@{self.provider}" if self.provider else self.expert.id

    @property
    def endpoint(self) -> str:
        """The service that it needs, where trouble is trouble for all who need it; "" where none.

        A provider that runs it behind an API has its own.
        """
        return ":".join(filter(None, (self.backend, self.provider))) if self.remote else ""

    @property
    def label(self) -> str:
        """What a person reads: the expert and where it runs."""
        if self.built_in:
            return tr("built in")
        return f"{self.expert.id} ({self.backend}{f', {self.provider}' if self.provider else ''})"


@dataclass(frozen=True, slots=True)
class Experience:
    """How an expert did at one task on this computer, over its last runs."""

    runs: int
    worked: int
    """How many of them gave a result."""
    seconds: float | None = None
    """How long one that worked usually took; None where none did."""
    failed: bool = False
    """Whether most of its last few runs failed, the newest not long ago."""
    slowest: float | None = None
    """How long the longest one that worked took, the loading of weights included."""
    largest: int = 0
    """How much the largest input was that it worked on; see `Call.size`."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The candidates for one task, best first; the rest of the list is the fallback."""

    task_id: int
    candidates: tuple[Candidate, ...]
    reason: str
    """Why this order; where there is no candidate, why there is none and what would help."""
    offer: Expert | None = None
    """Where there is no candidate, an expert that could be fetched and would then be one."""


class Status(StrEnum):
    """How a task or a turn ended."""

    DONE = "done"
    PARTLY = "partly"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Spent:
    """What was asked of services behind an API, and what they said of its price."""

    calls: int = 0
    tokens: int = 0
    """Of questions and answers; 0 where none were told."""
    dollars: float | None = None
    """None where nobody told a price."""

    def __add__(self, other: Spent) -> Spent:
        told = [each for each in (self.dollars, other.dollars) if each is not None]
        return Spent(
            self.calls + other.calls,
            self.tokens + other.tokens,
            sum(told) if told else None,
        )


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of one candidate. `error` is empty where it worked."""

    candidate: Candidate
    seconds: float
    error: str = ""
    kind: str = ""
    """The `kind` of the error; "" where it worked, for a slip of ours, and in the history."""
    retryable: bool = False
    """Whether the same may work when it is tried once more."""
    fault: Fault = Fault.OTHER
    spent: Spent = Spent()


@dataclass(frozen=True, slots=True)
class TaskResult:
    """The end of a task: its artifacts, or the reason why there are none."""

    task_id: int
    status: Status
    artifacts: tuple[Artifact, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    reason: str = ""

    def of_kind(self, kinds: tuple[Kind, ...]) -> tuple[Artifact, ...]:
        """Its artifacts of one kind: the first kind it gave that is among `kinds`."""
        found = next((item.kind for item in self.artifacts if item.kind in kinds), None)
        return tuple(item for item in self.artifacts if item.kind is found)
