"""Runs built-in methods in a few child processes that are started when needed and kept warm.

Runs skills: small things that the application itself does on the engine's loop."""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from jarvis_desktop.backends.local.worker import limit_memory
from jarvis_desktop.backends.result_checks import checked, portable, seconds_for
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import ExpertError, Fault, JarvisError, UnavailableError
from jarvis_desktop.core.expert import Candidate
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.process.child import Child
from jarvis_desktop.process.pool import Pool
from jarvis_desktop.tasks.definition import Definition, Services

GB = 1 << 30


class BuiltinBackend:
    """The "builtin" backend: up to `width` processes, each of which runs one call at a time.

    `registry` names the module whose DEFINITIONS the children know. A call gets `time_limit`
    seconds and more for large inputs. A process is ended when it was idle for `idle` seconds or
    holds more than `keep` bytes after a call; one that wants more than `memory` bytes fails.
    """

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
        """What the task's definition wants to ask first."""
        ask = self._definitions[call.task].question
        return ask(call) if ask else ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        """The results of the task's method. Raises JarvisError; cancelling ends its process."""
        definition = self._definitions.get(call.task)
        if definition is None or definition.method is None:
            raise UnavailableError(tr("There is no built-in way to do {task}.", task=call.task))
        results, _ = await self._pool.call(
            portable(call),
            timeout=seconds_for(call, self._time_limit),
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
        """The ids of the processes that are there now."""
        return self._pool.processes

    def _child(self) -> Child:
        return Child(
            "jarvis_desktop.backends.builtin:serve",
            *(self._registry, self._memory),
            name="built-in expert",
        )


def serve(registry: str, memory: int) -> Callable[[Report, Call], tuple[list[Artifact], int]]:
    """The handler of a child: the method's results, and how many bytes the process holds now."""
    limit_memory(memory)
    definitions: Sequence[Definition] = importlib.import_module(registry).DEFINITIONS
    methods = {each.type.name: each.method for each in definitions}

    def handle(report: Report, call: Call) -> tuple[list[Artifact], int]:
        method = methods.get(call.task)
        if method is None:
            raise UnavailableError(tr("There is no built-in way to do {task}.", task=call.task))
        try:
            return list(method(call, report)), _held()
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


def _held() -> int:
    """Resident bytes of this process; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


log = logging.getLogger(__name__)


class SkillBackend:
    """The "skill" backend."""

    name = "skill"
    lane = "instant"

    def __init__(self, definitions: Mapping[str, Definition], services: Services) -> None:
        self._definitions = definitions
        self._services = services

    def question(self, call: Call) -> str:
        """What the task's definition wants to ask first."""
        ask = self._definitions[call.task].question
        return ask(call) if ask else ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        """The results of the task's skill. Raises JarvisError."""
        definition = self._definitions.get(call.task)
        if definition is None or definition.skill is None:
            raise UnavailableError(tr("There is no skill for {task}.", task=call.task))
        try:
            results = await definition.skill(call, report, self._services)
        except JarvisError:
            raise
        except Exception as error:  # a fault in one skill must not end the turn
            log.info("%s failed: %s", call.task, frames(error))
            words = " ".join(str(error).split())[:300]
            reason = f"{type(error).__name__}: {words}" if words else type(error).__name__
            raise ExpertError(
                tr("{task} failed: {reason}.", task=call.task, reason=reason)
            ) from error
        return checked(results, definition.type)
