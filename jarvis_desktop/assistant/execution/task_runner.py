"""Carries one task out: through its candidates, with further tries where those may help.

Makes one call of one candidate: in its lane, within its time, looked at, and remembered.

The calls that a task stands for: its inputs resolved, one call per item where it takes one.

How long a call may take, by how long its expert took before on this computer."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter, defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import product
from math import inf, prod
from pathlib import Path
from time import monotonic
from types import MappingProxyType

from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.context import current_account
from jarvis_desktop.core.display import frames, one_line
from jarvis_desktop.core.errors import ExpertError, Fault, JarvisError, UnavailableError
from jarvis_desktop.core.events import (
    AttemptFailed,
    Event,
    Retrying,
    TaskProgress,
    TaskStarted,
    Traced,
)
from jarvis_desktop.core.expert import (
    Attempt,
    Candidate,
    Experience,
    Selection,
    Spent,
    Status,
    TaskResult,
)
from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.core.ports import ArtifactStore, Backend, TrackRecord
from jarvis_desktop.core.task import Call, Item, Port, Ref, Report, Task, TaskType, Value

MAX_FAILURES = 3
"""Failures in a row that open a breaker."""

COOL_DOWN_S = 30.0
"""Seconds until one try is let through again; twice as many after each try that failed."""

MAX_COOL_DOWN_S = 600.0
"""Seconds; also how long an expert is kept behind that crashed too often."""

MAX_CRASHES = 3
"""Crashes of an expert within `CRASH_WINDOW_S` seconds; one more and it is kept behind."""

CRASH_WINDOW_S = 60.0

SERVICE_FAULTS = frozenset({Fault.BUSY, Fault.NETWORK, Fault.TIMEOUT, Fault.KEY, Fault.PAYMENT})
"""What all experts behind a service suffer from when one of them does."""


class CircuitBreakers:
    """Knows what had better be tried last, from the calls that it is told of."""

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        """`clock` gives seconds that never go backwards."""
        self._clock = clock
        self._all: defaultdict[str, _CircuitBreaker] = defaultdict(_CircuitBreaker)

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
        of_all = fault in SERVICE_FAULTS and candidate.endpoint
        breaker = self._all[of_all or _own(candidate)]
        breaker.count(self._clock(), crashed=fault is Fault.CRASH)

    def _known(self, candidate: Candidate) -> Iterator[tuple[str, _CircuitBreaker]]:
        """What there is for it, each with what it stands for."""
        for key, name in ((candidate.endpoint, candidate.endpoint), (_own(candidate), "")):
            if breaker := self._all.get(key):
                yield name or candidate.expert.id, breaker


def _own(candidate: Candidate) -> str:
    return f"{candidate.backend}/{candidate.provider}/{candidate.expert.id}"


@dataclass
class _CircuitBreaker:
    """Closed until too much has failed."""

    failures: int = 0
    """In a row."""
    pause: float = 0.0
    """Seconds of its cool-down; 0 while it is closed."""
    opened: float = -inf
    """Until when it is open for its failures."""
    kept_behind: float = -inf
    """Until when it is open for its crashes, whatever worked in between."""
    crashes: deque[float] = field(default_factory=lambda: deque(maxlen=MAX_CRASHES + 1))

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
        if self.failures >= MAX_FAILURES:
            self.pause = min(2 * self.pause or COOL_DOWN_S, MAX_COOL_DOWN_S)
            self.cool_down(now)
        if crashed:
            self.crashes.append(now)
            if len(self.crashes) > MAX_CRASHES and now - self.crashes[0] <= CRASH_WINDOW_S:
                self.kept_behind = now + MAX_COOL_DOWN_S

    def cool_down(self, now: float) -> None:
        self.opened = now + self.pause

    def close(self) -> None:
        self.failures, self.pause, self.opened = 0, 0.0, -inf


PERMANENT_FAULTS = frozenset({Fault.KEY, Fault.PAYMENT, Fault.GONE})
"""What no waiting mends."""

IMMEDIATE_RETRY_FAULTS = frozenset({Fault.MEMORY, Fault.CRASH})
"""What is mended by a fresh process, or by a smaller place, and not by waiting."""

RETRIES_BY_FAULT: Mapping[Fault, int] = MappingProxyType(
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


class RetryPolicy:
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
        self._round = _RetryRound(deque(self._order))

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
            self._round = _RetryRound(deque(others))

    def failed(self, step: RetryStep, error: JarvisError, *, again: bool, shunned: bool) -> None:
        """A step failed.

        `again` says whether the same may be done once more, `shunned` whether others should be
        tried first from now on.
        """
        round, candidate = self._round, step.candidate
        self._failures += 1
        round.failures[candidate] += 1
        if not again or error.fault in PERMANENT_FAULTS:
            self._gone.add(candidate)
            return
        tries = round.failures[candidate]
        allowed = tries <= RETRIES_BY_FAULT.get(error.fault, self._patience.tries)
        if allowed and not round.second and not shunned and error.wait <= self._patience.longest:
            wait = (
                0.0 if error.fault in IMMEDIATE_RETRY_FAULTS else error.wait + self._back_off(tries)
            )
            if self._afford(wait):
                round.again = RetryStep(candidate, wait, error.message, last=step.last)
                return
        if not step.last:
            round.later[candidate] = (self._clock() + error.wait, error.message)
        elif candidate.endpoint and error.fault in SERVICE_FAULTS:
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
class _RetryRound:
    """One call's way: what is still to be tried."""

    fresh: deque[Candidate]
    aside: deque[Candidate] = field(default_factory=deque)
    again: RetryStep | None = None
    later: dict[Candidate, tuple[float, str]] = field(default_factory=dict)
    """When it may work, and what it failed of."""
    failures: Counter[Candidate] = field(default_factory=Counter)
    second: bool = False
    """Whether all were tried, so that what fails now is not tried again."""


MIN_RUNS = 3
"""Runs that worked; fewer tell too little."""

DEADLINE_FACTOR = 4
"""Times as long as the slowest one. Calls of one expert are spread about that far."""

MIN_DEADLINE_S = 30.0
"""Seconds for any call."""

LOADING_MB_PER_S = 20.0
"""Megabytes a second that a slow disk gives; weights may have to be loaded first."""


def deadline(
    candidate: Candidate, known: Experience | None, *, size: int, timeouts: int = 0
) -> float | None:
    """Seconds; None where too little is known, and its backend alone decides.

    `size` is that of the call: more than was ever worked on gets as much longer. `timeouts` is
    how often this call ran out of time with it already, and gets more each time.
    """
    if known is None or known.slowest is None or known.worked < MIN_RUNS:
        return None
    if size and not known.largest:
        return None
    longer = max(1.0, size / known.largest) if known.largest else 1.0
    shortest = MIN_DEADLINE_S + (
        0.0 if candidate.remote else candidate.expert.whole_mb / LOADING_MB_PER_S
    )
    return float(
        max(shortest, DEADLINE_FACTOR * known.slowest * longer) * DEADLINE_FACTOR**timeouts
    )


Inspect = Callable[[Candidate, Call, TaskType, Sequence[Artifact]], None]
"""Looks closely at what a call gave. Raises ExpertError where it cannot be right. Where that may
take long, it is called in a thread."""

LONG_TEXT_CHARS = 20_000
"""Characters; a shorter text is looked at in a few milliseconds."""

FAULTS_OF_OTHERS = frozenset({Fault.KEY, Fault.PAYMENT, Fault.BUSY, Fault.LOADING, Fault.NETWORK})
"""Faults that say nothing about how good an expert is."""


@dataclass(frozen=True, slots=True)
class CallDependencies:
    """What every call needs. One instance serves all turns, so lanes bound them together."""

    backends: Mapping[str, Backend]
    store: ArtifactStore
    lanes: Mapping[str, asyncio.Semaphore]
    timeout: float
    record: TrackRecord | None = None
    inspect: Inspect | None = None
    patience: RetryLimits = field(default_factory=RetryLimits)
    clock: Callable[[], float] = monotonic
    jitter: Callable[[], float] = random.random
    breakers: CircuitBreakers = field(default_factory=CircuitBreakers)


class CircuitOpen(Exception):
    """Others should be tried first; it was not called."""


@dataclass(slots=True)
class CallAttempt:
    """One call of the candidate of `step`; `timeouts` is how often it ran out of time before."""

    means: CallDependencies
    type: TaskType
    step: RetryStep
    call: Call
    report: Report
    timeouts: int = 0
    seconds: float = 0.0
    """How long it took, without any waiting for its turn."""

    async def results(self) -> Sequence[Artifact]:
        """What it gave. How it went is told to the track record and the breakers.

        Raises JarvisError, and Unwanted.
        """
        candidate, breakers = self.step.candidate, self.means.breakers
        try:
            made = tuple(await self._in_lane())
            if not made:
                raise ExpertError(
                    tr("{id} gave no result.", id=candidate.expert.id),
                    retryable=True,
                    fault=Fault.ANSWER,
                )
            await self._inspect(made)
        except (ExpertError, UnavailableError) as error:
            breakers.failed(candidate, error.fault)
            if isinstance(error, ExpertError) and error.fault not in FAULTS_OF_OTHERS:
                self._note(worked=False)
            raise
        breakers.worked(candidate)
        self._note(worked=True)
        return made

    async def _in_lane(self) -> Iterable[Artifact]:
        means, candidate = self.means, self.step.candidate
        async with means.lanes.get(self._backend.lane) or nullcontext():
            # What happened to others while this one stood in line counts as well.
            if not self.step.last and (objection := means.breakers.admit(candidate)):
                raise CircuitOpen(objection)
            call = replace(self.call, seconds=self._deadline())
            started = means.clock()
            try:
                async with asyncio.timeout(means.timeout) as timeout:
                    return await self._backend.run(candidate, call, self.report)
            except TimeoutError as error:
                # Else it is the backend's own, of whatever it waited for.
                name, seconds = candidate.expert.id, f"{means.timeout:.0f}"
                told = (
                    tr("{id} was stopped after {seconds} seconds.", id=name, seconds=seconds)
                    if timeout.expired()
                    else tr("{id} did not get done in time.", id=name)
                )
                raise ExpertError(told, fault=Fault.TIMEOUT) from error
            finally:
                self.seconds = means.clock() - started

    async def _inspect(self, made: Sequence[Artifact]) -> None:
        inspect = self.means.inspect
        if inspect is None or self._skilled:
            return
        if any(item.path or len(item.text or "") > LONG_TEXT_CHARS for item in made):
            await asyncio.to_thread(inspect, self.step.candidate, self.call, self.type, made)
        else:
            inspect(self.step.candidate, self.call, self.type, made)

    def _deadline(self) -> float | None:
        if self.means.record is None or self._skilled:
            return None
        candidate = self.step.candidate
        known = self.means.record.of(self.call.task).get(candidate.kept_as)
        return deadline(candidate, known, size=self.call.size, timeouts=self.timeouts)

    def _note(self, *, worked: bool) -> None:
        """Only its own failures are told: a wrong file or missing weights are not its fault."""
        if self.means.record and not self._skilled:
            self.means.record.note(
                self.step.candidate.kept_as,
                self.call.task,
                seconds=self.seconds,
                worked=worked,
                size=self.call.size,
            )

    @property
    def _backend(self) -> Backend:
        return self.means.backends[self.step.candidate.backend]

    @property
    def _skilled(self) -> bool:
        """Whether it is a skill: quick, exact, and without another that could be chosen."""
        return self._backend.lane == "instant"


MAX_CALLS = 100
"""A single-item port that is given a list makes one call per item; more than this is refused."""


def options_of(task: Task) -> dict[str, Value]:
    """The task's options, those that it leaves open with their defaults."""
    values = {option.name: option.default for option in task.type.options}
    for name, item in task.items():
        if name in values and not isinstance(item, Artifact | Ref):
            values[name] = item
    return values


def calls_of(
    task: Task, results: Mapping[int, TaskResult]
) -> Sequence[dict[str, tuple[Artifact, ...]]]:
    """The inputs of each call: one call, or one per item where a single-item port gets a list.

    Raises ExpertError where that would be too many, or a result it needs is of another kind.
    """
    given: dict[str, list[Artifact]] = {port.name: [] for port in task.type.ports}
    for name, item in task.items():
        if port := task.type.port(name):
            given[name] += _artifacts(port, item, results)
    ports = [port for port in task.type.ports if given[port.name]]
    choices = [
        [tuple(given[port.name])] if port.many else [(item,) for item in given[port.name]]
        for port in ports
    ]
    if (count := prod(map(len, choices))) > MAX_CALLS:
        raise ExpertError(
            tr(
                "That would be {count} calls; the most is {most_calls}.",
                count=count,
                most_calls=MAX_CALLS,
            )
        )
    names = [port.name for port in ports]
    return [dict(zip(names, combination, strict=True)) for combination in product(*choices)]


def _artifacts(port: Port, item: Item, results: Mapping[int, TaskResult]) -> tuple[Artifact, ...]:
    if isinstance(item, Artifact):
        return (item,)
    if not isinstance(item, Ref):
        return (text_artifact(str(item)),)
    found = results[item.task_id].of_kind(port.kinds)
    if not found:
        wanted = " or ".join(port.kinds)
        raise ExpertError(tr("The task before it gave no {wanted}.", wanted=wanted))
    return found


log = logging.getLogger(__name__)

Show = Callable[[Event], None]
Confirm = Callable[[str], Awaitable[bool]]

REFUSED = mark("You did not agree to it, so it was not done.")
INTERNAL_ERROR = mark("Something went wrong inside JARVIS itself; the log has the details.")


@dataclass(frozen=True, slots=True)
class TaskContext:
    """What a task needs of the plan it belongs to."""

    results: Mapping[int, TaskResult]
    """Those of the tasks before it."""
    show: Show
    confirm: Confirm
    folder: Path | None = None
    """Where the person wants named results."""


async def carry_out(
    task: Task, selection: Selection | None, scene: TaskContext, means: CallDependencies
) -> TaskResult:
    """The end of the task, done or failed. What its calls gave is kept when one of them fails."""
    if selection is None or not selection.candidates:
        reason = selection.reason if selection else tr("No expert was selected.")
        return TaskResult(task.id, Status.FAILED, reason=reason)
    work = _TaskRun(task, selection.candidates, scene, means)
    try:
        while step := work.ladder.next():
            if await work.attempt(step):
                return TaskResult(task.id, Status.DONE, tuple(work.made), tuple(work.attempts))
    except _Refused:
        return TaskResult(task.id, Status.FAILED, (), tuple(work.attempts), tr(REFUSED))
    return TaskResult(
        task.id, Status.FAILED, (), tuple(work.attempts), reason=work.attempts[-1].error
    )


class _TaskRun:
    """One task under way."""

    def __init__(
        self,
        task: Task,
        candidates: Sequence[Candidate],
        scene: TaskContext,
        means: CallDependencies,
    ) -> None:
        self.ladder = RetryPolicy(
            candidates, patience=means.patience, clock=means.clock, jitter=means.jitter
        )
        self.made: list[Artifact] = []
        self.attempts: list[Attempt] = []
        self._task = task
        self._scene = scene
        self._means = means
        self._calls_done = 0
        self._agreed = False
        """Whether the person was asked, who agreed to one try and not to any number of them."""
        self._timeouts: Counter[Candidate] = Counter()
        self._spent = Spent()
        """By what is tried now."""

    async def attempt(self, step: RetryStep) -> bool:
        """Whether the task is done. Raises _Refused."""
        means, candidate = self._means, step.candidate
        if not step.last and (objection := means.breakers.objection(candidate)):
            self._put_aside(candidate, objection)
            return False
        if step.reason:
            self._scene.show(Retrying(self._task.id, candidate, step.wait, step.reason))
            await asyncio.sleep(step.wait)  # here, and in no lane
        self._scene.show(TaskStarted(self._task.id, candidate))
        started = means.clock()
        self._spent = Spent()
        try:
            with self._keeping_account():
                await self._go_on(step)
        except _Refused:
            raise
        except CircuitOpen as error:
            self._put_aside(candidate, str(error))
            return False
        except JarvisError as error:
            self._failed(step, error, started)
            return False
        except Exception as error:  # noqa: BLE001 - a slip here must not end the others
            log.error("A task failed unexpectedly: %s", frames(error))
            self._failed(step, JarvisError(tr(INTERNAL_ERROR), retryable=True), started)
            return False
        self.attempts.append(Attempt(candidate, means.clock() - started, spent=self._spent))
        return True

    @contextmanager
    def _keeping_account(self) -> Iterator[None]:
        """While something is asked, it is heard what that costs."""

        def take(spent: Spent) -> None:
            self._spent += spent

        token = current_account.set(take)
        try:
            yield
        finally:
            current_account.reset(token)

    def _put_aside(self, candidate: Candidate, objection: str) -> None:
        self._scene.show(Traced(objection))
        self.ladder.put_aside(candidate)

    def _failed(self, step: RetryStep, error: JarvisError, started: float) -> None:
        candidate, again = step.candidate, error.retryable and not self._agreed
        self._timeouts[candidate] += error.fault is Fault.TIMEOUT
        failure = Attempt(
            candidate,
            self._means.clock() - started,
            str(error),
            kind=error.kind,
            retryable=again,
            fault=error.fault,
            spent=self._spent,
        )
        self.attempts.append(failure)
        self._scene.show(AttemptFailed(self._task.id, failure))
        shunned = bool(self._means.breakers.objection(candidate))
        self.ladder.failed(step, error, again=again, shunned=shunned)

    async def _go_on(self, step: RetryStep) -> None:
        """Make the calls that are not done yet, one after the other."""
        for inputs in calls_of(self._task, self._scene.results)[self._calls_done :]:
            self.made += await self._call(step, inputs)
            self._calls_done += 1
            self.ladder.worked(step.candidate)

    async def _call(
        self, step: RetryStep, inputs: Mapping[str, tuple[Artifact, ...]]
    ) -> list[Artifact]:
        means, task, scene = self._means, self._task, self._scene

        def report(fraction: float | None, message: str) -> None:
            scene.show(TaskProgress(task.id, fraction, message))

        # Each call has a folder of its own: what a failed one left there is no result.
        workdir = means.store.workdir()
        try:
            call = Call(task.type.name, inputs, options_of(task), workdir, scene.folder)
            if question := means.backends[step.candidate.backend].question(call):
                if not await scene.confirm(question):
                    raise _Refused
                self._agreed = True
            timeouts = self._timeouts[step.candidate]
            trial = CallAttempt(means, task.type, step, call, report, timeouts)
            return [await self._keep(item) for item in await trial.results()]
        finally:
            means.store.discard(workdir)

    async def _keep(self, artifact: Artifact) -> Artifact:
        made = replace(artifact, made_by=self._task.id)
        if made.path is None:
            return made
        return await asyncio.to_thread(self._means.store.keep, made)


class _Refused(Exception):
    """The person said no."""
