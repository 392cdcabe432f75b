"""Keeps tasks from waiting for what fails again and again: a service that is down, an expert that
crashes. One instance serves all turns of the process.

A circuit breaker (Nygard, "Release It!", 2007) for each expert and for each service that experts
need. An open one only says so: whoever asks tries the others first, and this one last.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import inf
from time import monotonic

from jarvis_desktop.core.errors import Fault
from jarvis_desktop.core.expert import Candidate
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr, trn

MOST_FAILURES = 3
"""Failures in a row that open a breaker."""

COOL_DOWN = 30.0
"""Seconds until one try is let through again; twice as many after each try that failed."""

LONGEST_COOL_DOWN = 600.0
"""Seconds; also how long an expert is kept behind that crashed too often."""

MOST_CRASHES = 3
"""Crashes of an expert within `CRASH_WINDOW` seconds; one more and it is kept behind."""

CRASH_WINDOW = 60.0

FAR_SIDE = frozenset({Fault.BUSY, Fault.NETWORK, Fault.TIMEOUT, Fault.KEY, Fault.PAYMENT})
"""What all experts behind a service suffer from when one of them does."""


class Breakers:
    """Knows what had better be tried last, from the calls that it is told of."""

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        """`clock` gives seconds that never go backwards."""
        self._clock = clock
        self._all: defaultdict[str, _Breaker] = defaultdict(_Breaker)

    def objection(self, candidate: Candidate) -> str:
        """Why others should be tried first, in a sentence; "" where nothing is held against it."""
        now = self._clock()
        for name, breaker in self._known(candidate):
            if breaker.until > now:
                return breaker.objection(one_line(name))
        return ""

    def admit(self, candidate: Candidate) -> str:
        """The same for one that is about to be called.

        After its cool-down it is let through once, and others wait to see how that goes.
        """
        if objection := self.objection(candidate):
            return objection
        for _, breaker in self._known(candidate):
            if breaker.pause:
                breaker.cool_down(self._clock())
        return ""

    def worked(self, candidate: Candidate) -> None:
        """A call of it gave a result."""
        for _, breaker in self._known(candidate):
            breaker.close()

    def failed(self, candidate: Candidate, fault: Fault) -> None:
        """A call of it failed, and not for what it was given."""
        of_all = fault in FAR_SIDE and candidate.endpoint
        breaker = self._all[of_all or _own(candidate)]
        breaker.count(self._clock(), crashed=fault is Fault.CRASH)

    def _known(self, candidate: Candidate) -> Iterator[tuple[str, _Breaker]]:
        """What there is for it, each with what it stands for."""
        for key, name in ((candidate.endpoint, candidate.endpoint), (_own(candidate), "")):
            if breaker := self._all.get(key):
                yield name or candidate.expert.id, breaker


def _own(candidate: Candidate) -> str:
    return f"{candidate.backend}/{candidate.provider}/{candidate.expert.id}"


@dataclass
class _Breaker:
    """Closed until too much has failed."""

    failures: int = 0
    """In a row."""
    pause: float = 0.0
    """Seconds of its cool-down; 0 while it is closed."""
    opened: float = -inf
    """Until when it is open for its failures."""
    kept_behind: float = -inf
    """Until when it is open for its crashes, whatever worked in between."""
    crashes: deque[float] = field(default_factory=lambda: deque(maxlen=MOST_CRASHES + 1))

    @property
    def until(self) -> float:
        return max(self.opened, self.kept_behind)

    def objection(self, name: str) -> str:
        if self.kept_behind > self.opened:
            return tr("{name} crashed again and again, so it is tried last for now.", name=name)
        return trn(
            "{name} failed once, so it is tried last for now.",
            "{name} failed {count} times in a row, so it is tried last for now.",
            self.failures,
            name=name,
        )

    def count(self, now: float, *, crashed: bool) -> None:
        self.failures += 1
        if self.failures >= MOST_FAILURES:
            self.pause = min(2 * self.pause or COOL_DOWN, LONGEST_COOL_DOWN)
            self.cool_down(now)
        if crashed:
            self.crashes.append(now)
            if len(self.crashes) > MOST_CRASHES and now - self.crashes[0] <= CRASH_WINDOW:
                self.kept_behind = now + LONGEST_COOL_DOWN

    def cool_down(self, now: float) -> None:
        self.opened = now + self.pause

    def close(self) -> None:
        self.failures, self.pause, self.opened = 0, 0.0, -inf
