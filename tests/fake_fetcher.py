"""A fetcher without a network."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_desktop.core.errors import GivenUpError, InputError, JarvisError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.task import Report
from jarvis_desktop.experts.weights import InstalledWeights


@dataclass
class FakeFetcher:
    """Fetches at once."""

    fetched: list[Expert] = field(default_factory=list)
    error: JarvisError | None = None
    stopped: set[str] = field(default_factory=set)
    """The handles of those that the person stops while they come."""
    gone: tuple[str, ...] = ()

    runner: Expert | None = None
    """What runs experts, if it is missing."""
    here: tuple[str, ...] = ()
    """The handles of those that need not be fetched."""
    spared: set[str] = field(default_factory=set)
    """What the last fetch must not delete."""
    kept: list[InstalledWeights] = field(default_factory=list)
    """What is on the disk, with its figures."""
    at_work: frozenset[str] = frozenset()
    budget: int = 0
    halves: dict[str, int] = field(default_factory=dict)
    """How many bytes are kept of fetches that were interrupted."""

    async def fetch(self, expert: Expert, report: Report, *, spared: Collection[str] = ()) -> Path:
        report(0.5, "half of it")
        if expert.id in self.stopped:
            raise GivenUpError(f"You stopped the download of {expert.id}.")
        if self.error:
            raise self.error
        self.fetched.append(expert)
        self.spared = set(spared)
        return Path(expert.id)

    def missing(self, expert: Expert) -> Sequence[Expert]:
        both = (self.runner, expert.base, expert)
        return tuple(each for each in both if each and each.id not in self.here)

    def displaced(self, expert: Expert, *, spared: Collection[str] = ()) -> Sequence[str]:
        return tuple(name for name in self.gone if name not in spared)

    def installed(self) -> Sequence[InstalledWeights]:
        return tuple(self.kept)

    def folder(self, expert: Expert) -> Path | None:
        return next((each.path for each in self.kept if each.id == expert.id), None)

    def taken(self) -> int:
        return sum(each.size for each in self.kept) + sum(self.halves.values())

    def coming(self, expert: Expert) -> int:
        return expert.download_mb * 1_000_000

    def partial(self, expert: Expert) -> int:
        return self.halves.get(expert.id, 0)

    def discard(self, expert: Expert) -> int:
        return self.halves.pop(expert.id, 0)

    def remove(self, expert: Expert) -> int:
        if expert.id in self.at_work:
            raise InputError(f"{expert.id} is at work.")
        (gone,) = [each for each in self.kept if each.id == expert.id]
        self.kept.remove(gone)
        return gone.size

    def used(self, expert: Expert) -> None:
        pass
