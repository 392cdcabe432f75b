"""Carries one task out: through its candidates, with further tries where those may help."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from jarvis_desktop.assistant.calling import Means, Trial, Unwanted
from jarvis_desktop.assistant.retrying import Ladder, Step
from jarvis_desktop.assistant.unfolding import calls_of, options_of
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.call import Call
from jarvis_desktop.core.current import current_account
from jarvis_desktop.core.errors import Fault, JarvisError
from jarvis_desktop.core.events import (
    AttemptFailed,
    Event,
    Retrying,
    TaskProgress,
    TaskStarted,
    Traced,
)
from jarvis_desktop.core.expert import Candidate, Selection
from jarvis_desktop.core.result import Attempt, Spent, Status, TaskResult
from jarvis_desktop.core.shown import frames
from jarvis_desktop.core.task import Task
from jarvis_desktop.core.wording import mark, tr

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
    task: Task, selection: Selection | None, scene: Scene, means: Means
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
        self, task: Task, candidates: Sequence[Candidate], scene: Scene, means: Means
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

    async def attempt(self, step: Step) -> bool:
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

    def _failed(self, step: Step, error: JarvisError, started: float) -> None:
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

    async def _go_on(self, step: Step) -> None:
        """Make the calls that are not done yet, one after the other."""
        for inputs in calls_of(self._task, self._scene.results)[self._calls_done :]:
            self.made += await self._call(step, inputs)
            self._calls_done += 1
            self.ladder.worked(step.candidate)

    async def _call(self, step: Step, inputs: Mapping[str, tuple[Artifact, ...]]) -> list[Artifact]:
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
            trial = Trial(means, task.type, step, call, report, timeouts)
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
