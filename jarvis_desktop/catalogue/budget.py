"""Keeps the experts on the disk within a budget: fetches that were given up go first, then the
expert not used for longest."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.hardware import MB
from jarvis_desktop.core.shown import readable_size
from jarvis_desktop.core.wording import tr


@dataclass(frozen=True, slots=True)
class Installed:
    """One expert's weights on the disk."""

    id: str
    repo: str
    revision: str
    size: int
    """In bytes."""
    path: Path
    used: float = 0.0
    """When it was last used, or fetched, in seconds since 1970."""
    whole: bool = True
    """Whether it is there; else this is what arrived before its fetch was given up."""


def displaced(
    name: str,
    size: int,
    *,
    installed: Sequence[Installed],
    taken: int,
    budget: int,
    spared: Collection[str] = (),
) -> tuple[Installed, ...]:
    """Which experts must go so that `size` bytes more stay within `budget`; 0 is no limit.

    `taken` is what all of them take now, with what was fetched in part; those of `spared` stay.
    Raises UnavailableError where the rest of them would not make room enough.
    """
    over = taken + size - budget
    if not budget or over <= 0:
        return ()
    gone: list[Installed] = []
    for item in sorted(installed, key=lambda item: (item.whole, item.used)):
        if over <= 0:
            break
        if item.id not in spared:
            gone.append(item)
            over -= item.size
    if over > 0:
        left = taken - sum(item.size for item in gone)
        stays = f", of which {readable_size(left / MB)} must stay" if left > 0 else ""
        raise UnavailableError(
            tr(
                "{name} takes {size}, and experts may take {budget} of the disk in all{stays}.",
                name=name,
                size=readable_size(size / MB),
                budget=readable_size(budget / MB),
                stays=stays,
            ),
            hint=tr(
                "Raise disk_budget_gb under [experts] in settings.toml, or remove one "
                "yourself: jarvis-desktop experts remove NAME."
            ),
        )
    return tuple(gone)
