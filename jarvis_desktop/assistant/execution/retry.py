"""Decides what a task tries next: the same expert once more, the next one, or an earlier one.

Keeps tasks from waiting for what fails again and again: a service that is down, an expert that
crashes. One instance serves all turns of the process.

A circuit breaker (Nygard, "Release It!", 2007) for each expert and for each service that experts
need. An open one only says so: whoever asks tries the others first, and this one last."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf
from time import monotonic
from types import MappingProxyType

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import Fault, JarvisError
from jarvis_desktop.core.expert import Candidate
from jarvis_desktop.core.i18n import tr, trn

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


FOR_GOOD = frozenset({Fault.KEY, Fault.PAYMENT, Fault.GONE})
"""What no waiting mends."""

AT_ONCE = frozenset({Fault.MEMORY, Fault.CRASH})
"""What is mended by a fresh process, or by a smaller place, and not by waiting."""

FURTHER_TRIES: Mapping[Fault, int] = MappingProxyType(
    {Fault.MEMORY: 4, Fault.CRASH: 1, Fault.TIMEOUT: 1, Fault.ANSWER: 1, Fault.OTHER: 0}
)
"""How often the same expert is tried again before the next one is. The place where it runs offers
it less memory each time; what crashed or hung costs long and will likely do so again; what nobody
foresaw will too, but is worth another try when nothing else is left."""


@dataclass(frozen=True, slots=True)
class RetryLimits:
    """How often a task tries, and how many seconds it waits."""

    tries: int = 2
    """Further tries of the same expert after a passing fault that FURTHER_TRIES does not name."""
    first: float = 1.0
    """At most so long is waited before the second try, and twice as long before each further one:
    exponential back-off with full jitter (Brooker, "Exponential Backoff And Jitter", 2015)."""
    longest: float = 30.0
    """A service that wants more time than this is left for the next expert meanwhile."""
    in_all: float = 180.0
    """Waited in one task, whoever asks for it."""
    failures: int = 40
    """After so many a task gives up, whatever is left: one with a list makes many calls."""


@dataclass(frozen=True, slots=True)
class RetryStep:
    """The next thing to try."""

    candidate: Candidate
    wait: float = 0.0
    """Seconds before it."""
    reason: str = ""
    """What it failed of the last time; "" where it is tried for the first time."""
    last: bool = False
    """Whether nothing better is left, so that it is tried whatever speaks against it."""


class Ladder:
    """One task's way through its candidates.

    Each is tried in its order, some of them more than once. Those that were put aside follow, and
    then once more those whose fault may have passed.
    """

    def __init__(
        self,
        candidates: Iterable[Candidate],
        *,
        patience: RetryLimits,
        clock: Callable[[], float],
        jitter: Callable[[], float],
    ) -> None:
        """`jitter` gives numbers from 0 to 1."""
        self._order = tuple(dict.fromkeys(candidates))
        self._patience = patience
        self._clock = clock
        self._jitter = jitter
        self._left = patience.in_all
        self._failures = 0
        self._gone: set[Candidate] = set()
        self._round = _Round(deque(self._order))

    def next(self) -> RetryStep | None:
        """What to try now; None where nothing is left that may help."""
        round = self._round
        if self._failures >= self._patience.failures:
            return None
        if round.again:
            step, round.again = round.again, None
            return step
        if round.fresh:
            return RetryStep(round.fresh.popleft())
        if round.aside:
            return RetryStep(round.aside.popleft(), last=True)
        round.second = True
        while round.later:
            candidate = min(round.later, key=lambda item: round.later[item][0])
            ready, reason = round.later.pop(candidate)
            wait = max(0.0, ready - self._clock()) + self._back_off(round.failures[candidate])
            if self._afford(wait):
                return RetryStep(candidate, wait, reason, last=True)
        return None

    def put_aside(self, candidate: Candidate) -> None:
        """Try it after the others; it was not tried yet."""
        self._round.aside.append(candidate)

    def worked(self, candidate: Candidate) -> None:
        """A call of it gave a result; where there are more of them, it goes on with the next."""
        if self._round.failures:
            others = (each for each in self._order if each not in {candidate, *self._gone})
            self._round = _Round(deque(others))

    def failed(self, step: RetryStep, error: JarvisError, *, again: bool, shunned: bool) -> None:
        """A step failed.

        `again` says whether the same may be done once more, `shunned` whether others should be
        tried first from now on.
        """
        round, candidate = self._round, step.candidate
        self._failures += 1
        round.failures[candidate] += 1
        if not again or error.fault in FOR_GOOD:
            self._gone.add(candidate)
            return
        tries = round.failures[candidate]
        allowed = tries <= FURTHER_TRIES.get(error.fault, self._patience.tries)
        if allowed and not round.second and not shunned and error.wait <= self._patience.longest:
            wait = 0.0 if error.fault in AT_ONCE else error.wait + self._back_off(tries)
            if self._afford(wait):
                round.again = RetryStep(candidate, wait, error.message, last=step.last)
                return
        if not step.last:
            round.later[candidate] = (self._clock() + error.wait, error.message)
        elif candidate.endpoint and error.fault in FAR_SIDE:
            # Whoever else needs the same service would only wait for the same end.
            left = (each for each in round.aside if each.endpoint != candidate.endpoint)
            round.aside = deque(left)

    def _back_off(self, tries: int) -> float:
        return self._jitter() * float(self._patience.first * 2 ** (tries - 1))

    def _afford(self, wait: float) -> bool:
        """Whether there is patience for it, which is then spent."""
        if wait > self._left:
            return False
        self._left -= wait
        return True


@dataclass
class _Round:
    """One call's way: what is still to be tried."""

    fresh: deque[Candidate]
    aside: deque[Candidate] = field(default_factory=deque)
    again: RetryStep | None = None
    later: dict[Candidate, tuple[float, str]] = field(default_factory=dict)
    """When it may work, and what it failed of."""
    failures: Counter[Candidate] = field(default_factory=Counter)
    second: bool = False
    """Whether all were tried, so that what fails now is not tried again."""
