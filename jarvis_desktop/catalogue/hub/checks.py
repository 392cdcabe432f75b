"""What the Hub says of a repository of the shipped list, laid over what the list says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

from jarvis_desktop.core.expert import Expert

THERE, GONE, MOVED = "there", "gone", "moved"


@dataclass(frozen=True, slots=True)
class Check:
    """The facts of one repository, or that it is not there any more."""

    repo: str
    moment: int
    """When it was asked for, in seconds since 1970."""
    state: str = THERE
    """THERE, GONE, or MOVED and, after a space, where to."""
    sha: str = ""
    download_mb: int = 0
    """Of the files that the expert needs."""
    licence: str = ""
    gated: bool = False
    providers: tuple[str, ...] = ()
    downloads: int = 0
    likes: int = 0

    @staticmethod
    def of(row: Sequence[Any]) -> Check:
        """A check as it was kept."""
        repo, moment, state, sha, size, licence, gated, providers, downloads, likes = row
        listed = tuple(providers.split())
        return Check(repo, moment, state, sha, size, licence, bool(gated), listed, downloads, likes)

    @property
    def row(self) -> list[object]:
        """The check as it is kept."""
        return [" ".join(each) if isinstance(each, tuple) else each for each in astuple(self)]

    @property
    def complaint(self) -> str:
        """What is wrong with it, in a few words; "" where nothing is."""
        if self.state == GONE:
            return "no longer on the Hub"
        if self.state.startswith(MOVED):
            return f"now called {self.state.partition(' ')[2]} on the Hub"
        return ""


def checked(expert: Expert, check: Check | None) -> Expert:
    """An expert of the shipped list with the facts that the Hub gave.

    One that is pinned to a commit keeps it, with its size: those were read from the Hub as well.
    """
    if check is None or check.state != THERE or not check.sha:
        return expert
    counts = replace(
        expert,
        gated=check.gated,
        providers=check.providers or expert.providers,
        downloads=check.downloads,
        likes=check.likes,
    )
    if expert.verified or not check.download_mb:
        return counts
    return replace(
        counts,
        revision=check.sha,
        download_mb=check.download_mb,
        licence=check.licence or expert.licence,
        verified=True,
    )
