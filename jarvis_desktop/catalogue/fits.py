"""How well an expert fits this computer, with the figures: what a person asks before a download."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.hardware import MB, Hardware
from jarvis_desktop.core.placing import NOTHING_MEASURED, Measured, limits, need, places, rungs

PATIENT = 6_000 * MB
"""What takes more than this is slow on processors, whatever it does."""


class Level(StrEnum):
    """From the best to none."""

    CARD = "card"
    """On the graphics card, as a whole."""
    MEMORY = "memory"
    """In the main memory."""
    SLOWLY = "slowly"
    """It runs, but a person waits for it."""
    NO = "no"
    SERVED = "served"
    """Somebody else runs it."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Fit:
    """Where it would run, what it takes there, and what there is; in bytes."""

    level: Level
    need: int = 0
    room: int = 0

    @property
    def runs(self) -> bool | None:
        """Whether it finds room here; None where that is not known."""
        if self.level in (Level.SERVED, Level.UNKNOWN):
            return None
        return self.level is not Level.NO


def fit(
    expert: Expert,
    hardware: Hardware,
    *,
    budget: int = 0,
    measured: Measured = NOTHING_MEASURED,
    by_parts: bool = False,
) -> Fit:
    """How well it fits; `by_parts` says whether its weights may visit the card part by part."""
    if expert.only_served:
        return Fit(Level.SERVED)
    if need(expert, rungs(None)[0], measured).main == 0:
        return Fit(Level.UNKNOWN)
    limit = limits(hardware, budget)
    found = places(expert, hardware, limit, measured=measured, offloads=by_parts)
    if not found:
        smallest = min(need(expert, place, measured).main for place in rungs(None))
        return Fit(Level.NO, smallest, limit.main)
    best = found[0]
    takes = need(expert, best, measured)
    if best.device != "cpu" and not best.offload:
        return Fit(Level.CARD, takes.graphics, limit.graphics)
    slow = best.half or best.offload or takes.main > PATIENT
    return Fit(Level.SLOWLY if slow else Level.MEMORY, takes.main, limit.main)
