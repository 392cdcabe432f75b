"""Runs one task: retries, circuit breakers, deadlines and the calls of its candidates.

`RetryPolicy` decides what a task tries next: the same expert again, the next one, or an earlier
one. `CircuitBreakers` (Nygard, "Release It!", 2007) keep tasks from waiting for services and
experts that fail again and again; an expert with an open breaker is tried last.

tenacity retries one function; a task has several experts, lanes that must not be held, and a clock
that tests control. Raise `retryable=True` only if the same call may work again; an error that asks
for time says so in `wait`.
"""

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
from jarvis_desktop.core.context import current_account, current_draft, current_wait
from jarvis_desktop.core.display import frames, one_line
from jarvis_desktop.core.errors import ExpertError, Fault, JarvisError, UnavailableError
from jarvis_desktop.core.events import (
    AttemptFailed,
    Event,
    Retrying,
    TaskChunk,
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
"""Consecutive failures that open a breaker."""

COOL_DOWN_S = 30.0
"""Seconds until one trial call is allowed; doubled after each trial that fails."""

MAX_COOL_DOWN_S = 600.0
"""Also how long, in seconds, an expert that crashed too often is tried last."""

MAX_CRASHES = 3
"""Crashes of an expert allowed within `CRASH_WINDOW_S` seconds."""

CRASH_WINDOW_S = 60.0

SERVICE_FAULTS = frozenset({Fault.BUSY, Fault.NETWORK, Fault.TIMEOUT, Fault.KEY, Fault.PAYMENT})
"""Faults of a service, which affect all experts that need it."""


class CircuitBreakers:
    """Tracks failures by expert and by service, and says which candidates to try last."""

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        """`clock` returns seconds and never goes backwards."""
        self._clock = clock
        self._all: defaultdict[str, _CircuitBreaker] = defaultdict(_CircuitBreaker)

    def objection(self, candidate: Candidate) -> str:
        """Why others should be tried first, as a sentence; "" if the breaker is closed."""
        now = self._clock()
        for name, breaker in self._known(candidate):
            if breaker.until > now:
                return breaker.objection(one_line(name))
        return ""

    def admit(self, candidate: Candidate) -> str:
        """Like `objection`, for a candidate that is about to be called.

        After the cool-down one call is let through; others wait for its outcome.
        """
        if objection := self.objection(candidate):
            return objection
        for _, breaker in self._known(candidate):
            if breaker.pause:
                breaker.cool_down(self._clock())
        return ""

    def worked(self, candidate: Candidate) -> None:
        """Record a call that returned a result."""
        for _, breaker in self._known(candidate):
            breaker.close()

    def failed(self, candidate: Candidate, fault: Fault) -> None:
        """Record a failed call, unless its input was at fault."""
        of_all = fault in SERVICE_FAULTS and candidate.endpoint
        breaker = self._all[of_all or _own(candidate)]
        breaker.count(self._clock(), crashed=fault is Fault.CRASH)

    def _known(self, candidate: Candidate) -> Iterator[tuple[str, _CircuitBreaker]]:
        """The breakers of the candidate, each with the name of what failed."""
        for key, name in ((candidate.endpoint, candidate.endpoint), (_own(candidate), "")):
            if breaker := self._all.get(key):
                yield name or candidate.expert.id, breaker


def _own(candidate: Candidate) -> str:
    return f"{candidate.backend}/{candidate.provider}/{candidate.expert.id}"


@dataclass
class _CircuitBreaker:
    """Closed until too many calls have failed."""

    failures: int = 0
    """Consecutive failures."""
    pause: float = 0.0
    """Seconds of the cool-down; 0 while the breaker is closed."""
    opened: float = -inf
    """When the cool-down after failures ends."""
    kept_behind: float = -inf
    """When the cool-down after crashes ends, whatever worked in between."""
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
"""Faults that do not pass."""

IMMEDIATE_RETRY_FAULTS = frozenset({Fault.MEMORY, Fault.CRASH})
"""Faults that a new process or a smaller place fixes, without waiting."""

RETRIES_BY_FAULT: Mapping[Fault, int] = MappingProxyType(
    {Fault.MEMORY: 4, Fault.CRASH: 1, Fault.TIMEOUT: 1, Fault.ANSWER: 1, Fault.OTHER: 0}
)
"""How often the same expert is retried before the next one. Each retry after a memory fault is
given less memory. Crashes and time-outs are costly and likely to recur. Unexpected errors are
retried only when nothing else is left."""


@dataclass(frozen=True, slots=True)
class RetryLimits:
    """How often a task retries, and how long it waits, in seconds."""

    tries: int = 2
    """Retries of the same expert after a transient fault that `RETRIES_BY_FAULT` does not name."""
    first: float = 1.0
    """The longest wait before the first retry, doubled for each further one: exponential back-off
    with full jitter (Brooker, "Exponential Backoff And Jitter", 2015)."""
    longest: float = 30.0
    """If a service asks for a longer wait than this, the next expert is tried first."""
    in_all: float = 180.0
    """All waits of one task together."""
    failures: int = 40
    """Failures after which a task gives up; a task with a list makes many calls."""


@dataclass(frozen=True, slots=True)
class RetryStep:
    """The next attempt."""

    candidate: Candidate
    wait: float = 0.0
    """Seconds to wait before it."""
    reason: str = ""
    """Why the last attempt failed; "" on the first."""
    last: bool = False
    """Whether nothing better is left, so that it is tried despite an open breaker."""


class RetryPolicy:
    """Decides the order of attempts for one task.

    Candidates are tried in order, some repeatedly. Deferred ones follow, then those whose fault may
    have passed.
    """

    def __init__(
        self,
        candidates: Iterable[Candidate],
        *,
        patience: RetryLimits,
        clock: Callable[[], float],
        jitter: Callable[[], float],
    ) -> None:
        """`jitter` returns numbers from 0 to 1."""
        self._order = tuple(dict.fromkeys(candidates))
        self._patience = patience
        self._clock = clock
        self._jitter = jitter
        self._left = patience.in_all
        self._failures = 0
        self._gone: set[Candidate] = set()
        self._round = _RetryRound(deque(self._order))

    def next(self) -> RetryStep | None:
        """The next attempt, or None if nothing is left that may help."""
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
        """Defer an untried candidate until the others were tried."""
        self._round.aside.append(candidate)

    def worked(self, candidate: Candidate) -> None:
        """Record a call that returned a result; further calls of the task start with this
        candidate."""
        if self._round.failures:
            others = (each for each in self._order if each not in {candidate, *self._gone})
            self._round = _RetryRound(deque(others))

    def failed(self, step: RetryStep, error: JarvisError, *, again: bool, shunned: bool) -> None:
        """Record a failed attempt.

        `again` is whether the same call may be repeated, `shunned` whether others should be tried
        first from now on.
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
            # Other candidates of the same service would only fail in the same way.
            left = (each for each in round.aside if each.endpoint != candidate.endpoint)
            round.aside = deque(left)

    def _back_off(self, tries: int) -> float:
        return self._jitter() * float(self._patience.first * 2 ** (tries - 1))

    def _afford(self, wait: float) -> bool:
        """Whether the wait is within the limit, from which it is then deducted."""
        if wait > self._left:
            return False
        self._left -= wait
        return True


@dataclass
class _RetryRound:
    """The candidates left for one call."""

    fresh: deque[Candidate]
    aside: deque[Candidate] = field(default_factory=deque)
    again: RetryStep | None = None
    later: dict[Candidate, tuple[float, str]] = field(default_factory=dict)
    """When it may work again, and why it failed."""
    failures: Counter[Candidate] = field(default_factory=Counter)
    second: bool = False
    """Whether all were tried once: failures are no longer retried."""


MIN_RUNS = 3
"""Successful runs needed to estimate a deadline."""

DEADLINE_FACTOR = 4
"""Multiples of the slowest run; runs of one expert spread about that far."""

MIN_DEADLINE_S = 30.0
"""The shortest deadline of a call, in seconds."""

LOADING_MB_PER_S = 20.0
"""Megabytes per second of a slow disk, from which weights may have to be loaded first."""


def deadline(
    candidate: Candidate, known: Experience | None, *, size: int, timeouts: int = 0
) -> float | None:
    """The deadline of a call in seconds, or None to leave it to the backend.

    A call that is larger (`size`) than any before gets proportionally more time, and so does one
    that timed out `timeouts` times.
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
"""Checks the results of a call. Raises ExpertError if they cannot be right. Slow checks run in a
thread."""

LONG_TEXT_CHARS = 20_000
"""Shorter texts are checked in a few milliseconds."""

FAULTS_OF_OTHERS = frozenset({Fault.KEY, Fault.PAYMENT, Fault.BUSY, Fault.LOADING, Fault.NETWORK})
"""Faults that say nothing about the quality of an expert."""


@dataclass(frozen=True, slots=True)
class CallDependencies:
    """What every call needs. One instance serves all turns, so that its lanes limit all of them."""

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
    """The candidate was not called because others should be tried first."""


@dataclass(slots=True)
class CallAttempt:
    """One call of the candidate of `step`, after `timeouts` earlier calls that timed out."""

    dependencies: CallDependencies
    type: TaskType
    step: RetryStep
    call: Call
    report: Report
    timeouts: int = 0
    seconds: float = 0.0
    """The duration of the call, without waiting for its lane or for the LLM."""
    waited: float = 0.0
    """Seconds for which the call waited until the LLM had answered others."""

    async def results(self) -> Sequence[Artifact]:
        """Make the call, check its results and report the outcome to track record and breakers.

        Raises JarvisError and CircuitOpen.
        """
        candidate, breakers = self.step.candidate, self.dependencies.breakers
        try:
            made = tuple(await self._in_lane())
            if not made:
                raise ExpertError(
                    tr("{id} produced no result.", id=candidate.expert.id),
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
        dependencies, candidate = self.dependencies, self.step.candidate
        lane = dependencies.lanes.get(self._backend.lane)
        if waits := lane is not None and lane.locked():
            self.report(None, tr("Waiting for other work to end…"))
        async with lane or nullcontext():
            if waits:
                self.report(None, "")
            # The breaker may have opened while this call waited for its lane.
            if not self.step.last and (objection := dependencies.breakers.admit(candidate)):
                raise CircuitOpen(objection)
            call = replace(self.call, seconds=self._deadline())
            started = dependencies.clock()
            try:
                with self._measuring_waits():
                    async with asyncio.timeout(dependencies.timeout) as timeout:
                        return await self._backend.run(candidate, call, self.report)
            except TimeoutError as error:
                # Otherwise it is a time-out within the backend.
                name, seconds = candidate.expert.id, f"{dependencies.timeout:.0f}"
                told = (
                    tr("{id} was stopped after {seconds} seconds.", id=name, seconds=seconds)
                    if timeout.expired()
                    else tr("{id} did not finish in time.", id=name)
                )
                raise ExpertError(told, fault=Fault.TIMEOUT) from error
            finally:
                self.seconds = dependencies.clock() - started - self.waited

    @contextmanager
    def _measuring_waits(self) -> Iterator[None]:
        show, since = current_wait.get(), 0.0

        def take(waits: bool, writes_for: str) -> None:
            nonlocal since
            show(waits, writes_for)
            if waits:
                since = self.dependencies.clock()
            else:
                self.waited += self.dependencies.clock() - since

        before = current_wait.set(take)
        try:
            yield
        finally:
            current_wait.reset(before)

    async def _inspect(self, made: Sequence[Artifact]) -> None:
        inspect = self.dependencies.inspect
        if inspect is None or self._skilled:
            return
        if any(item.path or len(item.text or "") > LONG_TEXT_CHARS for item in made):
            await asyncio.to_thread(inspect, self.step.candidate, self.call, self.type, made)
        else:
            inspect(self.step.candidate, self.call, self.type, made)

    def _deadline(self) -> float | None:
        if self.dependencies.record is None or self._skilled:
            return None
        candidate = self.step.candidate
        known = self.dependencies.record.of(self.call.task).get(candidate.kept_as)
        return deadline(candidate, known, size=self.call.size, timeouts=self.timeouts)

    def _note(self, *, worked: bool) -> None:
        """Record the outcome. Wrong files and missing weights are not the expert's fault."""
        if self.dependencies.record and not self._skilled:
            self.dependencies.record.note(
                self.step.candidate.kept_as,
                self.call.task,
                seconds=self.seconds,
                worked=worked,
                size=self.call.size,
            )

    @property
    def _backend(self) -> Backend:
        return self.dependencies.backends[self.step.candidate.backend]

    @property
    def _skilled(self) -> bool:
        """Whether it is a skill: quick, exact and without alternatives."""
        return self._backend.lane == "instant"


MAX_CALLS = 100
"""The most calls of a task that gets a list for a single-item port."""


def options_of(task: Task) -> dict[str, Value]:
    """The options of the task, completed by their defaults."""
    values = {option.name: option.default for option in task.type.options}
    for name, item in task.items():
        if name in values and not isinstance(item, Artifact | Ref):
            values[name] = item
    return values


def calls_of(
    task: Task, results: Mapping[int, TaskResult]
) -> Sequence[dict[str, tuple[Artifact, ...]]]:
    """The inputs of each call: one call, or one per item if a single-item port gets a list.

    Raises ExpertError if there are too many, or if a needed result is of another kind.
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
                "That would be {count} calls; the limit is {most_calls}.",
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
        raise ExpertError(tr("The previous step produced no {wanted}.", wanted=wanted))
    return found


log = logging.getLogger(__name__)

Show = Callable[[Event], None]
Confirm = Callable[[str], Awaitable[bool]]

REFUSED = mark("You did not agree to it, so it was not done.")
INTERNAL_ERROR = mark("Something went wrong inside JARVIS itself; the log has the details.")


@dataclass(frozen=True, slots=True)
class TaskContext:
    """What a task needs of its plan."""

    results: Mapping[int, TaskResult]
    """The results of earlier tasks."""
    show: Show
    confirm: Confirm
    folder: Path | None = None
    """Where the user wants named results."""


async def carry_out(
    task: Task, selection: Selection | None, scene: TaskContext, dependencies: CallDependencies
) -> TaskResult:
    """Run the task until it is done or has failed. Results of finished calls survive a retry."""
    if selection is None or not selection.candidates:
        reason = selection.reason if selection else tr("No expert was selected.")
        return TaskResult(task.id, Status.FAILED, reason=reason)
    work = _TaskRun(task, selection.candidates, scene, dependencies)
    try:
        while step := work.retries.next():
            if await work.attempt(step):
                return TaskResult(task.id, Status.DONE, tuple(work.made), tuple(work.attempts))
    except _Refused:
        return TaskResult(task.id, Status.FAILED, (), tuple(work.attempts), tr(REFUSED))
    return TaskResult(
        task.id, Status.FAILED, (), tuple(work.attempts), reason=work.attempts[-1].error
    )


class _TaskRun:
    """A running task."""

    def __init__(
        self,
        task: Task,
        candidates: Sequence[Candidate],
        scene: TaskContext,
        dependencies: CallDependencies,
    ) -> None:
        self.retries = RetryPolicy(
            candidates,
            patience=dependencies.patience,
            clock=dependencies.clock,
            jitter=dependencies.jitter,
        )
        self.made: list[Artifact] = []
        self.attempts: list[Attempt] = []
        self._task = task
        self._scene = scene
        self._dependencies = dependencies
        self._calls_done = 0
        self._agreed = False
        """Whether the user agreed, which holds for one attempt only."""
        self._timeouts: Counter[Candidate] = Counter()
        self._spent = Spent()
        """The cost of the current attempt."""
        self._drafted = 0
        """How many results, with the current one, are in the draft of the current attempt."""

    async def attempt(self, step: RetryStep) -> bool:
        """Make an attempt. Return whether the task is done. Raises _Refused."""
        dependencies, candidate = self._dependencies, step.candidate
        if not step.last and (objection := dependencies.breakers.objection(candidate)):
            self._put_aside(candidate, objection)
            return False
        if step.reason:
            self._scene.show(Retrying(self._task.id, candidate, step.wait, step.reason))
            await asyncio.sleep(step.wait)  # outside of any lane
        self._scene.show(TaskStarted(self._task.id, candidate))
        started = dependencies.clock()
        self._spent, self._drafted = Spent(), 0
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
        self.attempts.append(Attempt(candidate, dependencies.clock() - started, spent=self._spent))
        return True

    @contextmanager
    def _keeping_account(self) -> Iterator[None]:
        """Add up what services report as their costs."""

        def take(spent: Spent) -> None:
            self._spent += spent

        token = current_account.set(take)
        try:
            yield
        finally:
            current_account.reset(token)

    @contextmanager
    def _showing_draft(self) -> Iterator[None]:
        """Show what a call writes, below the results of the earlier calls."""
        earlier = tuple(self.made)

        def take(piece: str) -> None:
            if self._drafted <= len(earlier):
                before = [item.text for item in earlier[self._drafted :] if item.text]
                piece = "\n".join(["", *before, piece] if self._drafted else [*before, piece])
                self._drafted = len(earlier) + 1
            self._scene.show(TaskChunk(self._task.id, piece))

        token = current_draft.set(take)
        try:
            yield
        finally:
            current_draft.reset(token)

    def _put_aside(self, candidate: Candidate, objection: str) -> None:
        self._scene.show(Traced(objection))
        self.retries.put_aside(candidate)

    def _failed(self, step: RetryStep, error: JarvisError, started: float) -> None:
        candidate, again = step.candidate, error.retryable and not self._agreed
        self._timeouts[candidate] += error.fault is Fault.TIMEOUT
        failure = Attempt(
            candidate,
            self._dependencies.clock() - started,
            str(error),
            kind=error.kind,
            retryable=again,
            fault=error.fault,
            spent=self._spent,
        )
        self.attempts.append(failure)
        self._scene.show(AttemptFailed(self._task.id, failure))
        shunned = bool(self._dependencies.breakers.objection(candidate))
        self.retries.failed(step, error, again=again, shunned=shunned)

    async def _go_on(self, step: RetryStep) -> None:
        """Make the remaining calls in order."""
        for inputs in calls_of(self._task, self._scene.results)[self._calls_done :]:
            self.made += await self._call(step, inputs)
            self._calls_done += 1
            self.retries.worked(step.candidate)

    async def _call(
        self, step: RetryStep, inputs: Mapping[str, tuple[Artifact, ...]]
    ) -> list[Artifact]:
        dependencies, task, scene = self._dependencies, self._task, self._scene

        def report(fraction: float | None, message: str) -> None:
            scene.show(TaskProgress(task.id, fraction, message))

        # Each call gets its own folder, so that leftovers of a failed call are never results.
        workdir = dependencies.store.workdir()
        try:
            call = Call(task.type.name, inputs, options_of(task), workdir, scene.folder)
            if question := dependencies.backends[step.candidate.backend].question(call):
                if not await scene.confirm(question):
                    raise _Refused
                self._agreed = True
            timeouts = self._timeouts[step.candidate]
            trial = CallAttempt(dependencies, task.type, step, call, report, timeouts)
            with self._showing_draft():
                made = await trial.results()
            return [await self._keep(item) for item in made]
        finally:
            dependencies.store.discard(workdir)

    async def _keep(self, artifact: Artifact) -> Artifact:
        made = replace(artifact, made_by=self._task.id)
        if made.path is None:
            return made
        return await asyncio.to_thread(self._dependencies.store.keep, made)


class _Refused(Exception):
    """The user said no."""
