"""Decides what a task tries next: the same expert once more, the next one, or an earlier one."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from jarvis_desktop.assistant.breakers import FAR_SIDE
from jarvis_desktop.core.errors import Fault, JarvisError
from jarvis_desktop.core.expert import Candidate

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
class Patience:
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
class Step:
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
        patience: Patience,
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

    def next(self) -> Step | None:
        """What to try now; None where nothing is left that may help."""
        round = self._round
        if self._failures >= self._patience.failures:
            return None
        if round.again:
            step, round.again = round.again, None
            return step
        if round.fresh:
            return Step(round.fresh.popleft())
        if round.aside:
            return Step(round.aside.popleft(), last=True)
        round.second = True
        while round.later:
            candidate = min(round.later, key=lambda item: round.later[item][0])
            ready, reason = round.later.pop(candidate)
            wait = max(0.0, ready - self._clock()) + self._back_off(round.failures[candidate])
            if self._afford(wait):
                return Step(candidate, wait, reason, last=True)
        return None

    def put_aside(self, candidate: Candidate) -> None:
        """Try it after the others; it was not tried yet."""
        self._round.aside.append(candidate)

    def worked(self, candidate: Candidate) -> None:
        """A call of it gave a result; where there are more of them, it goes on with the next."""
        if self._round.failures:
            others = (each for each in self._order if each not in {candidate, *self._gone})
            self._round = _Round(deque(others))

    def failed(self, step: Step, error: JarvisError, *, again: bool, shunned: bool) -> None:
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
                round.again = Step(candidate, wait, error.message, last=step.last)
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
    again: Step | None = None
    later: dict[Candidate, tuple[float, str]] = field(default_factory=dict)
    """When it may work, and what it failed of."""
    failures: Counter[Candidate] = field(default_factory=Counter)
    second: bool = False
    """Whether all were tried, so that what fails now is not tried again."""
