"""What is looked for in the index."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from jarvis_desktop.catalogue.hub.entry import Entry

PROCESS_MB = 700
"""What a process that runs an expert takes besides the weights."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A search. What is not set is not asked for."""

    tasks: tuple[str, ...] = ()
    """Of the Hub, any of these; none for all."""
    words: str = ""
    allowed_licences: tuple[str, ...] = ("*",)
    denied_licences: tuple[str, ...] = ()
    gated: bool = True
    """Whether what is only given to people who accepted its terms is wanted too."""
    runs: bool = False
    """Whether only what can be loaded here is."""
    served: bool = False
    """Whether only what some provider runs behind an API is."""
    language: str = ""
    """A code that the expert must name, or be said to know many languages."""
    size_mb: int = 0
    """The most that its weights may take; those of unknown size are left out then."""
    memory_mb: float = 0
    """In how much it must find room, its weights in 16 bits; those of unknown size are left out."""
    limit: int = 5

    def licence_allowed(self, licence: str) -> bool:
        """Whether the person wants experts with this licence; an unknown one is not refused."""
        return not licence or (
            _matches(licence, self.allowed_licences) and not _matches(licence, self.denied_licences)
        )

    @property
    def any_licence(self) -> bool:
        """Whether all licences are allowed."""
        return "*" in self.allowed_licences and not self.denied_licences

    @property
    def largest_mb(self) -> float:
        """The most that the weights may take for every reason there is; 0 for any size."""
        sizes = [float(self.size_mb)] if self.size_mb else []
        if self.memory_mb:
            # Weights that are kept in 32 bits take half as much here, those in 8 bits double.
            sizes.append(2 * max(1.0, self.memory_mb - PROCESS_MB))
        return min(sizes, default=0.0)

    def accepts(self, entry: Entry) -> bool:
        """Whether an entry is what is wanted, its words aside."""
        return (
            (self.gated or not entry.gated)
            and (entry.runs or not self.runs)
            and (bool(entry.providers) or not self.served)
            and (not self.language or bool({self.language, "*"}.intersection(entry.languages)))
            and (not self.size_mb or 0 < entry.weights_mb <= self.size_mb)
            and (not self.memory_mb or 0 < memory_half_mb(entry) <= self.memory_mb)
            and self.licence_allowed(entry.licence)
        )


def memory_half_mb(entry: Entry) -> int:
    """What it takes of memory, its weights in 16 bits; 0 if not known. An estimate."""
    return _memory_mb(entry, 2)


def memory_mb(entry: Entry) -> int:
    """The same in 32 bits."""
    return _memory_mb(entry, 4)


def _memory_mb(entry: Entry, width: int) -> int:
    if not entry.weights_mb:
        return 0
    # Where the number of parameters is not given, the weights are taken to be in 16 bits.
    weights = entry.parameters * width / 1e6 or entry.weights_mb * width / 2
    return round(weights * 1.1) + PROCESS_MB


@lru_cache(maxsize=4096)
def _matches(licence: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(licence.casefold(), pattern.casefold()) for pattern in patterns)
