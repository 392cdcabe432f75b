"""Runs fetched experts on this computer, each in a child process that holds it.

Tries an expert with something small of our own, so that a person sees that it works and how long
it takes."""

from __future__ import annotations

import asyncio
import importlib.util
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol, cast

from jarvis_desktop.backends.local.failures import PlaceError, Why
from jarvis_desktop.backends.local.gpu_probe import Probe
from jarvis_desktop.backends.local.placement import (
    ExpertSpot,
    MemoryMeasurements,
    Neighbour,
    PlacementRequest,
    Spots,
)
from jarvis_desktop.backends.local.residency import (
    ExpertProcess,
    Held,
    Residency,
    ResidencyKey,
    started,
)
from jarvis_desktop.backends.local.worker import DRAWING, LOADERS, NEEDS, Done, Loading
from jarvis_desktop.backends.result_checks import checked, portable, seconds_for
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import ExpertError, Fault, UnavailableError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.placement import DRIVER, LIBRARIES, MemorySize
from jarvis_desktop.core.task import Call, Port, Report, TaskType, Value
from jarvis_desktop.paths import shipped
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.text.classification import NAMES

BY_PARTS = frozenset({*DRAWING, "text-generation"})
"""Tasks whose loaders can leave weights in the main memory, which visit the card as needed."""

ON_CARD = 0.8
"""Of an expert's share of the card, for weights that stay there: the rest is for computing."""


class InstalledFiles(Protocol):
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
        weights: InstalledFiles,
        *,
        time_limit: float = 900.0,
        idle: float = 300.0,
        budget: int = 0,
        probe: Probe | None = None,
        measures: MemoryMeasurements | None = None,
        neighbour: Neighbour | None = None,
        start: Callable[..., ExpertProcess] = started,
    ) -> None:
        """A call gets `time_limit` seconds and more for large inputs; `idle` seconds without one
        end a process, which is how memory is really given back. `budget` is the most bytes that
        experts take together, of the main memory and of the graphics card each; 0 leaves the
        computer's other programs their part.
        """
        self.probe = probe or Probe()
        self.measures = measures or MemoryMeasurements()
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
    def held(self) -> MemorySize:
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
        wish = PlacementRequest(expert, LOADERS[call.task], works_by_parts(call.task))
        held, spot = await self._hold(wish, folder)
        at_rest: MemorySize | None = None
        try:
            done = cast(
                Done,
                await held.process.call(
                    portable(call), timeout=seconds_for(call, self._time_limit), report=report
                ),
            )
            at_rest = done.held
            await asyncio.to_thread(self.measures.note, expert.id, spot.place, done.most)
        except ExpertError as error:
            why = error.why if isinstance(error, PlaceError) else None
            if why is None and error.fault is not Fault.MEMORY:
                raise
            self._residency.end(held)  # what such a failure leaves behind in a process is unknown
            failure = await self._spots.failed(wish, spot, why or Why.MEMORY)
            raise failure from error
        finally:
            # Last of all: from here on the expert is idle, and its time runs.
            self._residency.give_back(held, at_rest, spot.limit)
        return checked(done.results, self._definitions[call.task].type)

    def make_way(self) -> None:
        """The LLM is about to be used: experts for which it went out of memory leave it again."""
        self._spots.neighbour_left = False
        self._residency.end_guests()

    async def close(self) -> None:
        """End the processes."""
        await asyncio.gather(self.probe.close(), self._residency.close())

    async def _hold(self, wish: PlacementRequest, folder: Path) -> tuple[Held, ExpertSpot]:
        """The expert in its process. Where calls under way take the memory, it waits for them."""
        while True:
            before = self._residency.changes
            if spot := await self._spots.find(wish):
                key = ResidencyKey(wish.expert, wish.loader, spot.place)
                start = partial(self._process, key, folder, spot)
                counted = spot.need.most(MemorySize(LIBRARIES))
                if held := self._residency.take(key, counted, spot.limit, start):
                    held.guest = held.guest or self._spots.neighbour_left
                    return held, spot
            await self._residency.changed(before)

    def _process(self, key: ResidencyKey, folder: Path, spot: ExpertSpot) -> ExpertProcess:
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


SENTENCE = "The cat sat on the warm roof of the old house in Paris and was happy."
TEXTS: Mapping[str, str] = {
    "question": "Where did the cat sit?",
    "text_2": "A pleased cat is lying on top of a building.",
    "prompt": "A red apple on a wooden table.",
}
"""By the names of ports; all others get the sentence."""
BY_TASK: Mapping[str, str] = {
    "fill-mask": "The capital of France is [MASK].",
    "table-question-answering": "How many cats live in Paris?",
    "image-editing": "Make it brighter.",
    "visual-question-answering": "What is in the picture?",
    "document-question-answering": "Who wrote the letter?",
}
OPTIONS: Mapping[tuple[str, str], Value] = {
    ("zero-shot-classification", "labels"): "animals, weather, money",
    ("zero-shot-image-classification", "labels"): "a letter, a cat, a landscape",
    ("zero-shot-object-detection", "what"): "a letter",
}
TABLE = "city,cats\nParis,12\nRome,34\n"


@dataclass(frozen=True, slots=True)
class Tried:
    """It worked."""

    seconds: float
    """The loading of its weights included, where it was not in memory."""
    found: str
    """The beginning of what it gave, where that is a text."""


def can_be_tried(task: TaskType) -> bool:
    """Whether there is something small for all that it needs."""
    kinds = {Kind.TEXT, Kind.IMAGE, Kind.AUDIO, Kind.TABLE}
    return all(kinds.intersection(port.kinds) for port in task.ports if port.required)


async def tried(
    local: LocalBackend, expert: Expert, task: TaskType, folder: Path, report: Report
) -> Tried:
    """Run it as any request would, in an empty `folder`. Raises JarvisError; cancelling ends it."""
    inputs = {port.name: (_sample(task, port, folder),) for port in task.ports if port.required}
    call = Call(task.name, inputs, _options(expert, task), folder)
    begin = time.monotonic()
    results = await local.run(Candidate(expert, "local", heavy=True), call, report)
    text = next((each.text for each in results if each.text), "")
    return Tried(time.monotonic() - begin, one_line(text, limit=200))


def _sample(task: TaskType, port: Port, folder: Path) -> Artifact:
    if Kind.IMAGE in port.kinds:
        return Artifact(Kind.IMAGE, path=shipped("resources", "sample", "letter.png"))
    if Kind.AUDIO in port.kinds:
        return Artifact(Kind.AUDIO, path=shipped("resources", "sample", "request.wav"))
    if Kind.TABLE in port.kinds:
        table = folder / "cats.csv"
        table.write_text(TABLE, "utf-8")
        return Artifact(Kind.TABLE, path=table)
    asked = port is task.ports[-1] and BY_TASK.get(task.name)
    return text_artifact(asked or TEXTS.get(port.name, SENTENCE))


def _options(expert: Expert, task: TaskType) -> dict[str, Value]:
    options = {
        each.name: OPTIONS.get((task.name, each.name), each.default) for each in task.options
    }
    if task.name == "translation" and len(expert.languages) == 2:
        target = expert.languages[1]
        options["language"] = NAMES.get(target, target)
    return options
