"""A fetcher without a network."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_desktop.core.call import Report
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.expert import Expert


@dataclass
class FakeFetcher:
    """Fetches at once."""

    fetched: list[Expert] = field(default_factory=list)
    error: JarvisError | None = None
    gone: tuple[str, ...] = ()

    here: tuple[str, ...] = ()
    """The handles of those that need not be fetched."""
    spared: set[str] = field(default_factory=set)
    """What the last fetch must not delete."""

    async def fetch(self, expert: Expert, report: Report, *, spared: Collection[str] = ()) -> Path:
        report(0.5, "half of it")
        if self.error:
            raise self.error
        self.fetched.append(expert)
        self.spared = set(spared)
        return Path(expert.id)

    def missing(self, expert: Expert) -> Sequence[Expert]:
        both = (expert.base, expert)
        return tuple(each for each in both if each and each.id not in self.here)

    def displaced(self, expert: Expert, *, spared: Collection[str] = ()) -> Sequence[str]:
        return tuple(name for name in self.gone if name not in spared)
