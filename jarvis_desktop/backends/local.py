"""Runs fetched experts on this computer, each in a child process that holds it."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol, cast

from jarvis_desktop.backends.failing import PlaceError, Why
from jarvis_desktop.backends.loaders import DRAWING, LOADERS, NEEDS
from jarvis_desktop.backends.loading import Loading
from jarvis_desktop.backends.measures import Measures
from jarvis_desktop.backends.outcome import checked, portable, seconds_for
from jarvis_desktop.backends.probe import Probe
from jarvis_desktop.backends.residency import Held, Key, Process, Residency, started
from jarvis_desktop.backends.spots import Neighbour, Spot, Spots, Wish
from jarvis_desktop.backends.worker import Done
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError, Fault, UnavailableError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.hardware import Memory
from jarvis_desktop.core.placing import DRIVER, LIBRARIES
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition

BY_PARTS = frozenset({*DRAWING, "text-generation"})
"""Tasks whose loaders can leave weights in the main memory, which visit the card as needed."""

ON_CARD = 0.8
"""Of an expert's share of the card, for weights that stay there: the rest is for computing."""


class Disk(Protocol):
    """Where an installed expert's files are; the catalogue's Weights."""

    def folder(self, expert: Expert) -> Path | None:
        """The folder, None where it is not installed."""
        ...

    def used(self, expert: Expert) -> None:
        """Note that it is used now."""
        ...


class LocalBackend:
    """The "local" backend.

    Experts are held in memory, as many as fit into a budget, and each runs in a process of its
    own: one that crashes, hangs or is killed is a failed attempt, and a fresh process at the next
    call. What fails for its place is told so, and the next call of this expert goes down a rung.
    """

    name = "local"
    lane = "local"

    def __init__(
        self,
        definitions: Mapping[str, Definition],
        weights: Disk,
        *,
        time_limit: float = 900.0,
        idle: float = 300.0,
        budget: int = 0,
        probe: Probe | None = None,
        measures: Measures | None = None,
        neighbour: Neighbour | None = None,
        start: Callable[..., Process] = started,
    ) -> None:
        """A call gets `time_limit` seconds and more for large inputs; `idle` seconds without one
        end a process, which is how memory is really given back. `budget` is the most bytes that
        experts take together, of the main memory and of the graphics card each; 0 leaves the
        computer's other programs their part.
        """
        self.probe = probe or Probe()
        self.measures = measures or Measures()
        self._definitions = definitions
        self._weights = weights
        self._time_limit = time_limit
        self._start = start
        self._residency = Residency(idle=idle)
        self._spots = Spots(
            self._residency,
            probe=self.probe,
            measures=self.measures,
            budget=budget,
            neighbour=neighbour,
        )

    @property
    def budget(self) -> int:
        """The most bytes that experts take together; may be set anew."""
        return self._spots.budget

    @budget.setter
    def budget(self, budget: int) -> None:
        self._spots.budget = budget

    @staticmethod
    def can_run(expert: Expert) -> bool:
        """Whether experts of this task run here, with the libraries that are installed."""
        return _can_run(expert.task)

    @property
    def holding(self) -> tuple[str, ...]:
        """The handles of the experts in memory, the one that was used last at the end."""
        return tuple(each.key.expert.id for each in self._residency.held if each.process.pid)

    @property
    def held(self) -> Memory:
        """What they take together."""
        return self._residency.total

    def question(self, call: Call) -> str:
        """Experts only read and write in the call's own folder: nothing to ask."""
        return ""

    async def warm(self) -> None:
        """Look at the graphics card in advance, so that the first call need not wait for it."""
        await self.probe.seen()

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        """The expert's results. Raises JarvisError; cancelling ends its process.

        An ExpertError that is retryable names the place where the next call will go.
        """
        expert = candidate.expert
        folder = self._weights.folder(expert)
        if folder is None or not _can_run(call.task):
            raise _absent(expert, folder)
        await asyncio.to_thread(self._weights.used, expert)
        wish = Wish(expert, LOADERS[call.task], works_by_parts(call.task))
        held, spot = await self._hold(wish, folder)
        at_rest: Memory | None = None
        try:
            done = cast(
                Done,
                await held.process.call(
                    portable(call), timeout=seconds_for(call, self._time_limit), report=report
                ),
            )
            at_rest = done.held
        except ExpertError as error:
            why = error.why if isinstance(error, PlaceError) else None
            if why is None and error.fault is not Fault.MEMORY:
                raise
            self._residency.end(held)  # what such a failure leaves behind in a process is unknown
            failure = await self._spots.failed(wish, spot, why or Why.MEMORY)
            raise failure from error
        finally:
            self._residency.give_back(held, at_rest, spot.limit)
        await asyncio.to_thread(self.measures.note, expert.id, spot.place, done.most)
        return checked(done.results, self._definitions[call.task].type)

    def make_way(self) -> None:
        """The LLM is about to be used: experts for which it went out of memory leave it again."""
        self._spots.neighbour_left = False
        self._residency.end_guests()

    async def close(self) -> None:
        """End the processes."""
        await asyncio.gather(self.probe.close(), self._residency.close())

    async def _hold(self, wish: Wish, folder: Path) -> tuple[Held, Spot]:
        """The expert in its process. Where calls under way take the memory, it waits for them."""
        while True:
            before = self._residency.changes
            if spot := await self._spots.find(wish):
                key = Key(wish.expert, wish.loader, spot.place)
                start = partial(self._process, key, folder, spot)
                counted = spot.need.most(Memory(LIBRARIES))
                if held := self._residency.take(key, counted, spot.limit, start):
                    held.guest = held.guest or self._spots.neighbour_left
                    return held, spot
            await self._residency.changed(before)

    def _process(self, key: Key, folder: Path, spot: Spot) -> Process:
        base = self._weights.folder(key.expert.base) if key.expert.base else None
        on_card = int(ON_CARD * max(0, spot.need.graphics - DRIVER.graphics))
        loading = Loading(key.expert, folder, key.place, base, on_card)
        card = spot.hardware.graphics.id if spot.hardware.graphics else ""
        return self._start(key, loading, spot.most, card)


def works_by_parts(task: str) -> bool:
    """Whether experts of a task can leave weights in the main memory; it takes accelerate."""
    return task in BY_PARTS and importlib.util.find_spec("accelerate") is not None


def _can_run(task: str) -> bool:
    needed = NEEDS.get(task)
    return task in LOADERS and (needed is None or importlib.util.find_spec(needed) is not None)


def _absent(expert: Expert, folder: Path | None) -> UnavailableError:
    if folder is None:
        return UnavailableError(
            tr("{id} is not on this computer.", id=expert.id),
            hint=tr("Fetch it with: jarvis-desktop experts pull {id}.", id=expert.id),
        )
    return UnavailableError(
        tr("{id} cannot be run by this version.", id=expert.id),
        hint=tr("Choose another expert: jarvis-desktop experts list."),
    )
