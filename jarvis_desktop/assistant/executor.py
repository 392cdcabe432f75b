"""Carries plans out over the backends, within the lanes that bound them all together."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from types import MappingProxyType

from jarvis_desktop.assistant.attempting import Confirm, Show
from jarvis_desktop.assistant.breakers import Breakers
from jarvis_desktop.assistant.calling import Inspect, Means
from jarvis_desktop.assistant.execution import Choose, Execution
from jarvis_desktop.assistant.retrying import Patience
from jarvis_desktop.core.expert import Selection
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import ArtifactStore, Backend, TrackRecord
from jarvis_desktop.core.result import Status, TaskResult
from jarvis_desktop.core.task import Task


class Executor:
    """Runs plans over the backends. One executor serves all turns, so lanes bound them together,
    and what one turn learns of an expert that fails spares the others."""

    def __init__(
        self,
        backends: Mapping[str, Backend],
        store: ArtifactStore,
        *,
        lanes: Mapping[str, int],
        timeout: float = 24 * 3600.0,
        record: TrackRecord | None = None,
        inspect: Inspect | None = None,
        patience: Patience | None = None,
        clock: Callable[[], float] = monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """`lanes` gives how many calls of a lane run at once; a lane not in it has no limit.

        How long a call may take is its backend's business, which knows what it does; `timeout`,
        in seconds, is the last resort against one that never ends. `record` is told of every call
        how long it took and whether it worked, but for skills, between which there is no choice;
        for those nothing is given to `inspect` either. `clock` gives seconds that never go
        backwards, `jitter` numbers from 0 to 1.
        """
        self._means = Means(
            backends,
            store,
            {name: asyncio.Semaphore(width) for name, width in lanes.items()},
            timeout,
            record,
            inspect,
            patience or Patience(),
            clock,
            jitter,
            Breakers(clock=clock),
        )

    async def run(
        self,
        plan: Plan,
        selections: Iterable[Selection],
        *,
        show: Show,
        confirm: Confirm,
        folder: Path | None = None,
        done: Mapping[int, TaskResult] | None = None,
    ) -> dict[int, TaskResult]:
        """A result for every task of the plan, done by those of `selections`.

        `folder` is where the person wants named results. `done` holds results of an earlier run:
        what was done there is kept, the rest is tried again. A failed task is a value; only
        cancelling raises, after every unfinished task was shown as cancelled.
        """
        stands = tuple(selections)
        kept = {key: item for key, item in (done or {}).items() if item.status is Status.DONE}

        async def choose(tasks: Sequence[Task]) -> Iterable[Selection]:
            return stands

        execution = self.begin(
            plan, choose, show=show, confirm=confirm, folder=folder, results=kept
        )
        return await execution.finish()

    def begin(
        self,
        plan: Plan,
        choose: Choose,
        *,
        show: Show,
        confirm: Confirm,
        folder: Path | None = None,
        results: Mapping[int, TaskResult] = MappingProxyType({}),
    ) -> Execution:
        """The same for those who choose as it goes, and for plans that may change.

        Tasks that have one of these `results` have ended already.
        """
        return Execution(
            plan, choose, self._means, show=show, confirm=confirm, folder=folder, results=results
        )
