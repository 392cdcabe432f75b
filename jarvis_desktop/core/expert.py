"""Experts, candidates of a task, and task results. A failed task is a value, not an exception."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import Fault
from jarvis_desktop.core.i18n import tr


@dataclass(frozen=True, slots=True)
class Expert:
    """A catalogue entry: a Hub repository at a pinned revision, or a built-in method."""

    id: str
    """A short handle to type, such as whisper-tiny; also the name of its folder."""
    task: str
    summary: str = ""
    revision: str = ""
    """A 40-digit commit of the Hub repository; empty if it could not be verified."""
    download_mb: int = 0
    licence: str = ""
    languages: tuple[str, ...] = ()
    verified: bool = False
    """Whether size, revision and licence were read from the Hub."""
    repo: str = ""
    """The Hub repository that holds the weights; empty for a built-in method."""
    files: tuple[str, ...] = ()
    """Shell patterns of the files that are needed."""
    memory_mb: int = 0
    """Memory while it works, with weights in 32 bits; 0 if unknown."""
    memory_half_mb: int = 0
    """The same with weights in 16 bits; 0 if unknown."""
    also: tuple[str, ...] = ()
    """Further tasks that it can do."""
    base: Expert | None = None
    """The expert that it extends and works with, such as a ControlNet's image generator."""
    providers: tuple[str, ...] = ()
    """Inference providers that run it behind an API, by the Hub's names."""
    pickled: bool = False
    """Whether its weights exist only in the pickle format, which may carry code."""
    gated: bool = False
    """Whether the Hub requires accepting its terms."""
    downloads: int = 0
    """Downloads from the Hub in the last month; 0 if unknown."""
    likes: int = 0
    """Likes on the Hub; 0 if unknown."""
    speed: float = 0.0
    """For a recogniser: how many times faster than real time on four cores; 0 if unknown."""

    @property
    def whole_mb(self) -> int:
        """The download size including its base."""
        return self.download_mb + (self.base.download_mb if self.base else 0)

    @property
    def only_served(self) -> bool:
        """Whether it only runs behind an API and has nothing to download."""
        return bool(self.providers) and not self.files


SHIPPED_WHISPER = "whisper-tiny.en"
"""The recogniser that comes with the application; it understands English."""
SHIPPED_SPEED = 39.0
"""As the catalogue's `speed`."""


def times_real_time(speed: float, cores: int) -> float:
    """Return a recogniser's speed, as a multiple of real time, on `cores` cores.

    `speed` is that on four cores; more cores hardly help.
    """
    return speed * min(4, cores) / 4


OWN_MACHINE = "machine"
"""The backend of experts on the user's other computers."""

BY_ADDRESS = "server"
"""The backend of servers that the user set an address of."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An expert and the backend it would run on."""

    expert: Expert
    backend: str
    remote: bool = False
    """Whether it sends its input to another computer."""
    heavy: bool = False
    """Whether it loads large weights here, which the lite mode avoids."""
    spare: bool = False
    """Whether it is tried only after the built-in method, which may fail but invents nothing."""
    provider: str = ""
    """The inference provider that runs it, if behind an API; "auto" is any other one. For own
    machines their names, for a server its host."""
    near: bool = False
    """Whether the other computer is one of the own network, whose address the user set."""

    @property
    def own(self) -> bool:
        """Whether it runs on another computer of the user."""
        return self.backend == OWN_MACHINE or self.near

    @property
    def by_provider(self) -> bool:
        """Whether an inference provider runs it."""
        return bool(self.provider) and self.backend not in (OWN_MACHINE, BY_ADDRESS)

    @property
    def built_in(self) -> bool:
        """Whether it comes with the application."""
        return self.expert.id.startswith(f"{self.backend}/")

    @property
    def kept_as(self) -> str:
        """The key of its track record: runs behind an API say nothing about local runs."""
        return f"{self.expert.id}@{self.provider}" if self.provider else self.expert.id

    @property
    def endpoint(self) -> str:
        """The service whose failures affect all candidates that use it; "" if local.

        A provider that runs it behind an API has its own endpoint.
        """
        return ":".join(filter(None, (self.backend, self.provider))) if self.remote else ""

    @property
    def label(self) -> str:
        """The name to show: the expert with its backend and provider."""
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
    """The usual duration of a successful run; None if there was none."""
    failed: bool = False
    """Whether most of its latest runs failed, the last one recently."""
    slowest: float | None = None
    """The longest successful run in seconds, including the loading of weights."""
    largest: int = 0
    """The largest input of a successful run; see `Call.size`."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The candidates for one task, best first; the others are fallbacks."""

    task_id: int
    candidates: tuple[Candidate, ...]
    reason: str
    """Why this order; without a candidate, why there is none and what would help."""
    offer: Expert | None = None
    """Without a candidate: an expert that could be downloaded and would become one."""


class Status(StrEnum):
    """How a task or a turn ended."""

    DONE = "done"
    PARTLY = "partly"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Spent:
    """Requests to API services, and their reported cost."""

    calls: int = 0
    tokens: int = 0
    """Tokens of prompts and answers; 0 if not reported."""
    dollars: float | None = None
    """None if no price was reported."""

    def __add__(self, other: Spent) -> Spent:
        prices = [each for each in (self.dollars, other.dollars) if each is not None]
        return Spent(
            self.calls + other.calls,
            self.tokens + other.tokens,
            sum(prices) if prices else None,
        )


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of one candidate. `error` is empty if it worked."""

    candidate: Candidate
    seconds: float
    error: str = ""
    kind: str = ""
    """The `kind` of the error; "" on success, for an internal error, and in the history."""
    retryable: bool = False
    """Whether it may work when retried."""
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
        """Return its artifacts of the first kind that is among `kinds`."""
        found = next((item.kind for item in self.artifacts if item.kind in kinds), None)
        return tuple(item for item in self.artifacts if item.kind is found)
