"""One download of an expert or an LLM, as it is at a moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from jarvis_desktop.core.hardware import MB
from jarvis_desktop.core.shown import readable_size
from jarvis_desktop.core.wording import tr

Kind = Literal["expert", "llm"]
Key = tuple[Kind, str]
Told = Callable[[float | None, int], None]
"""Tells how far a download is, from 0 to 1, or None, and how many bytes all of it is, or 0."""


class State(StrEnum):
    """Where a download is."""

    WAITING = "waiting"
    FETCHING = "fetching"
    PAUSED = "paused"
    FAILED = "failed"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Download:
    """One download as it is at this moment."""

    kind: Kind
    name: str
    state: State = State.WAITING
    size: int = 0
    """Bytes of all of it; 0 where that is not known."""
    have: int = 0
    speed: float = 0.0
    """Bytes per second; 0 where that is not known."""
    asking: bool = True
    """Of one that is fetched, whether nothing of it has arrived in this go."""
    reason: str = ""
    """Why it failed, and what to do, in sentences."""

    @property
    def key(self) -> Key:
        """By which it is known."""
        return self.kind, self.name

    @property
    def over(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state is State.DONE

    @property
    def under_way(self) -> bool:
        """Whether it is fetched, or will be without anybody's doing."""
        return self.state in (State.FETCHING, State.WAITING)

    @property
    def fraction(self) -> float | None:
        """How much of it is here; None where its size is not known."""
        return min(1.0, self.have / self.size) if self.size else None

    @property
    def seconds_left(self) -> float | None:
        """How long the rest will take; None where that is not known."""
        if not self.size or not self.speed or self.state is not State.FETCHING:
            return None
        return max(0, self.size - self.have) / self.speed


def in_words(download: Download) -> str:
    """How far it is, for one who waits for it elsewhere."""
    if download.asking or not download.size:
        return tr("asking what there is")
    have, size = readable_size(download.have / MB), readable_size(download.size / MB)
    words = tr("{have} of {size}", have=have, size=size)
    if not download.speed:
        return words
    left = download.seconds_left or 0
    time = f"{left:.0f} s" if left < 90 else f"{left / 60:.0f} min"
    speed = f"{download.speed / MB:.1f} MB/s"
    return tr("{words}, {speed}, {time} left", words=words, speed=speed, time=time)
