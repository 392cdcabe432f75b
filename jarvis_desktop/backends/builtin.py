"""The built-in backends: methods run in warm child processes, skills on the event loop."""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from jarvis_desktop.backends.local.worker import limit_memory
from jarvis_desktop.backends.result_checks import checked, portable, seconds_for
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import ExpertError, Fault, JarvisError, UnavailableError
from jarvis_desktop.core.expert import Candidate
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.platform.hardware_probe import resident_bytes_of
from jarvis_desktop.process.child import Child, Pool
from jarvis_desktop.tasks.definition import Definition, Services

log = logging.getLogger(__name__)

GB = 1 << 30


class BuiltinBackend:
    """The "builtin" backend: up to `width` processes, each of which runs one call at a time.
    `registry` names the module whose DEFINITIONS the children know. A call gets `time_limit`
    seconds and more for large inputs. A process is ended when it was idle for `idle` seconds or
    holds more than `keep` bytes after a call; one that wants more than `memory` bytes fails."""

    name = "builtin"
    lane = "cpu"

    def __init__(
        self,
        definitions: Mapping[str, Definition],
        *,
        width: int,
        registry: str = "jarvis_desktop.tasks.registry",
        time_limit: float = 120.0,
        idle: float = 120.0,
        memory: int = 4 * GB,
        keep: int = GB,
    ) -> None:
        self._definitions = definitions
        self._registry = registry
        self._time_limit = time_limit
        self._memory = memory
        self._keep = keep
        self._pool = Pool(self._child, width=width, idle=idle)

    def question(self, call: Call) -> str:
        """Return the question that the task's definition asks first."""
        ask = self._definitions[call.task].question
        return ask(call) if ask else ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        """Return the method's results. Raises JarvisError; cancelling ends its process."""
        definition = self._definitions.get(call.task)
        if definition is None or definition.method is None:
            raise UnavailableError(tr("There is no built-in way to do {task}.", task=call.task))
        # How long it takes depends on its files, of which earlier calls say little.
        limit = seconds_for(replace(call, seconds=None), self._time_limit) * definition.patience
        results, _ = await self._pool.call(
            portable(call),
            timeout=limit,
            report=report,
            spent=lambda answer: answer[1] > self._keep,
        )
        return checked(results, definition.type)

    async def warm(self) -> None:
        """Start one process in advance, so that the first call need not wait for it."""
        await self._pool.warm()

    async def close(self) -> None:
        """End all processes."""
        await self._pool.close()

    @property
    def processes(self) -> tuple[int, ...]:
        """The ids of the running processes."""
        return self._pool.processes

    def _child(self) -> Child:
        args = self._registry, self._memory
        return Child("jarvis_desktop.backends.builtin:serve", *args, name="built-in expert")


def serve(registry: str, memory: int) -> Callable[[Report, Call], tuple[list[Artifact], int]]:
    """The handler of a child: the method's results, and the resident bytes of the process."""
    limit_memory(memory)
    definitions: Sequence[Definition] = importlib.import_module(registry).DEFINITIONS
    methods = {each.type.name: each.method for each in definitions}

    def handle(report: Report, call: Call) -> tuple[list[Artifact], int]:
        method = methods.get(call.task)
        if method is None:
            raise UnavailableError(tr("There is no built-in way to do {task}.", task=call.task))
        try:
            return list(method(call, report)), resident_bytes_of(os.getpid())
        except MemoryError as error:
            raise ExpertError(
                tr(
                    "{task} needed more than {memory:.0f} GB of memory.",
                    task=call.task,
                    memory=memory / GB,
                ),
                hint=tr("Try it with a smaller file."),
                fault=Fault.MEMORY,
            ) from error

    return handle


class SkillBackend:
    """The "skill" backend: small things that the application itself does."""

    name = "skill"
    lane = "instant"

    def __init__(self, definitions: Mapping[str, Definition], services: Services) -> None:
        self._definitions = definitions
        self._services = services

    def question(self, call: Call) -> str:
        """Return the question that the task's definition asks first."""
        ask = self._definitions[call.task].question
        return ask(call) if ask else ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        """Return the skill's results. Raises JarvisError."""
        definition = self._definitions.get(call.task)
        if definition is None or definition.skill is None:
            raise UnavailableError(tr("There is no skill for {task}.", task=call.task))
        try:
            results = await definition.skill(call, report, self._services)
        except JarvisError:
            raise
        except Exception as error:  # a bug in one skill must not end the turn
            log.info("%s failed: %s", call.task, frames(error))
            words = " ".join(str(error).split())[:300]
            reason = f"{type(error).__name__}: {words}" if words else type(error).__name__
            raise ExpertError(
                tr("{task} failed: {reason}.", task=call.task, reason=reason)
            ) from error
        return checked(results, definition.type)
