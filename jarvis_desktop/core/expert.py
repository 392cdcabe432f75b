"""Who can do a task, and in which order they are tried."""

from __future__ import annotations

from dataclasses import dataclass


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


@dataclass(frozen=True, slots=True)
class Candidate:
    """An expert and the backend it would run on."""

    expert: Expert
    backend: str
    remote: bool = False
    """Whether it sends what it is given to another computer."""
    heavy: bool = False
    """Whether it loads large weights here, which the lite mode is there to avoid."""

    @property
    def label(self) -> str:
        """What a person reads: the expert and where it runs."""
        if self.expert.id.startswith(f"{self.backend}/"):
            return "built in"
        return f"{self.expert.id} ({self.backend})"


@dataclass(frozen=True, slots=True)
class Selection:
    """The candidates for one task, best first; the rest of the list is the fallback."""

    task_id: int
    candidates: tuple[Candidate, ...]
    reason: str
    """Why this order; where there is no candidate, why there is none and what would help."""
    offer: Expert | None = None
    """Where there is no candidate, an expert that could be fetched and would then be one."""
