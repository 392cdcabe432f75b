"""How long a call may take, by how long its expert took before on this computer."""

from __future__ import annotations

from jarvis_desktop.core.expert import Candidate, Experience

ENOUGH = 3
"""Runs that worked; fewer tell too little."""

FACTOR = 4
"""Times as long as the slowest one. Calls of one expert are spread about that far."""

SHORTEST = 30.0
"""Seconds for any call."""

LOADED = 20.0
"""Megabytes a second that a slow disk gives; weights may have to be loaded first."""


def deadline(
    candidate: Candidate, known: Experience | None, *, size: int, timeouts: int = 0
) -> float | None:
    """Seconds; None where too little is known, and its backend alone decides.

    `size` is that of the call: more than was ever worked on gets as much longer. `timeouts` is
    how often this call ran out of time with it already, and gets more each time.
    """
    if known is None or known.slowest is None or known.worked < ENOUGH:
        return None
    if size and not known.largest:
        return None
    longer = max(1.0, size / known.largest) if known.largest else 1.0
    shortest = SHORTEST + (0.0 if candidate.remote else candidate.expert.whole_mb / LOADED)
    return float(max(shortest, FACTOR * known.slowest * longer) * FACTOR**timeouts)
