"""Carries one task out: through its candidates, with further tries where those may help.

Makes one call of one candidate: in its lane, within its time, looked at, and remembered.

The calls that a task stands for: its inputs resolved, one call per item where it takes one.

How long a call may take, by how long its expert took before on this computer."""

from __future__ import annotations

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from pathlib import Path
from time import monotonic

from jarvis_desktop.assistant.execution.retry import Breakers, Ladder, RetryLimits, RetryStep
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.context import current_account
from jarvis_desktop.core.display import frames
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
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.ports import ArtifactStore, Backend, TrackRecord
from jarvis_desktop.core.task import Call, Item, Port, Ref, Report, Task, TaskType, Value

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


Inspect = Callable[[Candidate, Call, TaskType, Sequence[Artifact]], None]
"""Looks closely at what a call gave. Raises ExpertError where it cannot be right. Where that may
take long, it is called in a thread."""

LONG_TEXT = 20_000
"""Characters; a shorter text is looked at in a few milliseconds."""

NOT_ITS_OWN = frozenset({Fault.KEY, Fault.PAYMENT, Fault.BUSY, Fault.LOADING, Fault.NETWORK})
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
    breakers: Breakers = field(default_factory=Breakers)


class Unwanted(Exception):
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
            if isinstance(error, ExpertError) and error.fault not in NOT_ITS_OWN:
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
                raise Unwanted(objection)
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
        if any(item.path or len(item.text or "") > LONG_TEXT for item in made):
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


MOST_CALLS = 100
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
    if (count := prod(map(len, choices))) > MOST_CALLS:
        raise ExpertError(
            tr(
                "That would be {count} calls; the most is {most_calls}.",
                count=count,
                most_calls=MOST_CALLS,
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
SLIP = mark("Something went wrong inside JARVIS itself; the log has the details.")


@dataclass(frozen=True, slots=True)
class Scene:
    """What a task needs of the plan it belongs to."""

    results: Mapping[int, TaskResult]
    """Those of the tasks before it."""
    show: Show
    confirm: Confirm
    folder: Path | None = None
    """Where the person wants named results."""


async def carry_out(
    task: Task, selection: Selection | None, scene: Scene, means: CallDependencies
) -> TaskResult:
    """The end of the task, done or failed. What its calls gave is kept when one of them fails."""
    if selection is None or not selection.candidates:
        reason = selection.reason if selection else tr("No expert was selected.")
        return TaskResult(task.id, Status.FAILED, reason=reason)
    work = _Work(task, selection.candidates, scene, means)
    try:
        while step := work.ladder.next():
            if await work.attempt(step):
                return TaskResult(task.id, Status.DONE, tuple(work.made), tuple(work.attempts))
    except _Refused:
        return TaskResult(task.id, Status.FAILED, (), tuple(work.attempts), tr(REFUSED))
    return TaskResult(
        task.id, Status.FAILED, (), tuple(work.attempts), reason=work.attempts[-1].error
    )


class _Work:
    """One task under way."""

    def __init__(
        self, task: Task, candidates: Sequence[Candidate], scene: Scene, means: CallDependencies
    ) -> None:
        self.ladder = Ladder(
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
        except Unwanted as error:
            self._put_aside(candidate, str(error))
            return False
        except JarvisError as error:
            self._failed(step, error, started)
            return False
        except Exception as error:  # noqa: BLE001 - a slip here must not end the others
            log.error("A task failed unexpectedly: %s", frames(error))
            self._failed(step, JarvisError(tr(SLIP), retryable=True), started)
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
