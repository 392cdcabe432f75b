"""Makes one call of one candidate: in its lane, within its time, looked at, and remembered."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from time import monotonic

from jarvis_desktop.assistant.breakers import Breakers
from jarvis_desktop.assistant.deadlines import deadline
from jarvis_desktop.assistant.retrying import Patience, Step
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError, Fault, UnavailableError
from jarvis_desktop.core.expert import Candidate
from jarvis_desktop.core.ports import ArtifactStore, Backend, TrackRecord
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.core.wording import tr

Inspect = Callable[[Candidate, Call, TaskType, Sequence[Artifact]], None]
"""Looks closely at what a call gave. Raises ExpertError where it cannot be right. Where that may
take long, it is called in a thread."""

LONG_TEXT = 20_000
"""Characters; a shorter text is looked at in a few milliseconds."""

NOT_ITS_OWN = frozenset({Fault.KEY, Fault.PAYMENT, Fault.BUSY, Fault.LOADING, Fault.NETWORK})
"""Faults that say nothing about how good an expert is."""


@dataclass(frozen=True, slots=True)
class Means:
    """What every call needs. One instance serves all turns, so lanes bound them together."""

    backends: Mapping[str, Backend]
    store: ArtifactStore
    lanes: Mapping[str, asyncio.Semaphore]
    timeout: float
    record: TrackRecord | None = None
    inspect: Inspect | None = None
    patience: Patience = field(default_factory=Patience)
    clock: Callable[[], float] = monotonic
    jitter: Callable[[], float] = random.random
    breakers: Breakers = field(default_factory=Breakers)


class Unwanted(Exception):
    """Others should be tried first; it was not called."""


@dataclass(slots=True)
class Trial:
    """One call of the candidate of `step`; `timeouts` is how often it ran out of time before."""

    means: Means
    type: TaskType
    step: Step
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
