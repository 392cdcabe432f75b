"""The local backend: runs installed experts on this computer, each in its own child process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol, cast

from jarvis_desktop.backends.local.gpu_probe import GpuProbe
from jarvis_desktop.backends.local.placement import (
    ExpertPlacement,
    MemoryMeasurements,
    PlacementPlanner,
    PlacementRequest,
    SharedMemoryUser,
)
from jarvis_desktop.backends.local.residency import (
    ExpertProcess,
    Residency,
    ResidencyKey,
    ResidentExpert,
    start_process,
)
from jarvis_desktop.backends.local.worker import (
    IMAGE_GENERATION_LOADERS,
    LOADERS,
    ExpertLoader,
    PlaceError,
    PlaceFailure,
    WorkerResult,
)
from jarvis_desktop.backends.result_checks import checked, portable, seconds_for
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import ExpertError, Fault, UnavailableError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.placement import DRIVER, LIBRARIES, MemorySize
from jarvis_desktop.core.task import Call, Port, Report, TaskType, Value
from jarvis_desktop.paths import shipped
from jarvis_desktop.process import engine
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.text.languages import NAMES

OFFLOADABLE = frozenset({*IMAGE_GENERATION_LOADERS, "text-generation"})
"""Tasks whose loaders can keep weights in main memory and move them to the card as needed."""
GPU_WEIGHTS_SHARE = 0.8
"""The share of an expert's graphics memory for weights; the rest is working memory."""


class InstalledFiles(Protocol):
    """The files of installed experts."""

    def folder(self, expert: Expert) -> Path | None:
        """The folder of an expert, None if it is not installed."""

    def used(self, expert: Expert) -> None:
        """Record that it is used now."""


class LocalBackend:
    """The "local" backend. As many experts as fit into the budget stay in memory, each in its own
    process: a crash, a hang or a kill is one failed attempt, and the next call starts a new
    process. An expert that fails because of its place tries the next place at the next call."""

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
        probe: GpuProbe | None = None,
        measures: MemoryMeasurements | None = None,
        shared_memory_user: SharedMemoryUser | None = None,
        start: Callable[..., ExpertProcess] = start_process,
    ) -> None:
        """`time_limit` is in seconds, and grows for large inputs. After `idle` seconds without a
        call a process is ended, which is what really frees memory. `budget` is the most bytes that
        experts take together, of main and graphics memory each; 0 leaves a part for other programs.
        """
        self.probe = probe or GpuProbe()
        self.measures = measures or MemoryMeasurements()
        self._definitions = definitions
        self._weights = weights
        self._time_limit = time_limit
        self._start = start
        self._residency = Residency(idle=idle)
        self._planner = PlacementPlanner(
            self._residency,
            probe=self.probe,
            measures=self.measures,
            budget=budget,
            shared_memory_user=shared_memory_user,
        )

    @property
    def budget(self) -> int:
        """The most bytes that experts take together; may be changed."""
        return self._planner.budget

    @budget.setter
    def budget(self, budget: int) -> None:
        self._planner.budget = budget

    @staticmethod
    def can_run(expert: Expert) -> bool:
        """Whether experts of this task can run here, if their libraries are installed."""
        return _can_run(expert.task)

    @property
    def holding(self) -> tuple[str, ...]:
        """The ids of the experts in memory, the least recently used first."""
        return tuple(each.key.expert.id for each in self._residency.held if each.process.pid)

    @property
    def held(self) -> MemorySize:
        """What they take together."""
        return self._residency.total

    def question(self, call: Call) -> str:
        """Experts only read and write in the call's own folder, so there is nothing to ask."""
        return ""

    async def warm(self) -> None:
        """Probe the graphics card in advance, so that the first call need not wait."""
        await self.probe.result()

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        """Return the expert's results. Raises JarvisError; cancelling ends its process. A retryable
        ExpertError names the place where the next call will run."""
        (results,) = await self.run_batch(candidate, [call], report)
        return results

    async def run_batch(
        self, candidate: Candidate, calls: Sequence[Call], report: Report
    ) -> Sequence[Sequence[Artifact]]:
        """The same for several calls of one task in BATCHED. If one fails, all of them do."""
        expert, task = candidate.expert, calls[0].task
        folder = self._weights.folder(expert)
        if folder is None or not _can_run(task):
            raise _unavailable(expert, folder)
        await asyncio.to_thread(self._weights.used, expert)
        request = PlacementRequest(expert, LOADERS[task], supports_offload(task))
        held, placement = await self._acquire(request, folder)
        at_rest: MemorySize | None = None
        try:
            done = cast(
                WorkerResult,
                await held.process.call(
                    *map(portable, calls),
                    timeout=sum(seconds_for(call, self._time_limit) for call in calls),
                    report=report,
                ),
            )
            at_rest = done.held
            await asyncio.to_thread(self.measures.note, expert.id, placement.place, done.most)
        except ExpertError as error:
            why = error.why if isinstance(error, PlaceError) else None
            if why is None and error.fault is not Fault.MEMORY:
                raise
            self._residency.end(held)  # the state of the process is unknown now
            failure = await self._planner.failed(request, placement, why or PlaceFailure.MEMORY)
            raise failure from error
        finally:
            # Last of all: from here on the expert is idle, and its idle time runs.
            self._residency.give_back(held, at_rest, placement.limit)
        results = done.results if len(calls) > 1 else [done.results]
        return [checked(each, self._definitions[task].type) for each in results]

    def make_way_for_llm(self) -> None:
        """Evict the idle experts for which the LLM was unloaded: it is about to be used."""
        self._planner.llm_unloaded = False
        self._residency.end_guests()

    async def close(self) -> None:
        """End the processes."""
        await asyncio.gather(self.probe.close(), self._residency.close())

    async def _acquire(
        self, request: PlacementRequest, folder: Path
    ) -> tuple[ResidentExpert, ExpertPlacement]:
        """Load the expert in its process, after waiting for running calls if need be."""
        while True:
            before = self._residency.changes
            if placement := await self._planner.find(request):
                key = ResidencyKey(request.expert, request.loader, placement.place)
                start = partial(self._process, key, folder, placement)
                counted = placement.need.most(MemorySize(LIBRARIES))
                if held := self._residency.take(key, counted, placement.limit, start):
                    held.guest = held.guest or self._planner.llm_unloaded
                    return held, placement
            await self._residency.changed(before)

    def _process(
        self, key: ResidencyKey, folder: Path, placement: ExpertPlacement
    ) -> ExpertProcess:
        base = self._weights.folder(key.expert.base) if key.expert.base else None
        on_card = int(GPU_WEIGHTS_SHARE * max(0, placement.need.graphics - DRIVER.graphics))
        loading = ExpertLoader(key.expert, folder, key.place, base, on_card)
        card = placement.hardware.graphics.id if placement.hardware.graphics else ""
        return self._start(key, loading, placement.most, card)


def supports_offload(task: str) -> bool:
    """Whether experts of a task can keep weights in main memory."""
    return task in OFFLOADABLE


def _can_run(task: str) -> bool:
    return task in LOADERS


def _unavailable(expert: Expert, folder: Path | None) -> UnavailableError:
    if _can_run(expert.task) and not engine.ready():
        return UnavailableError(
            tr("{id} needs {missing}, which is not installed.", id=expert.id, missing="torch"),
            hint="jarvis-desktop engine install",
        )
    if folder is None:
        return UnavailableError(
            tr("{id} is not on this computer.", id=expert.id),
            hint=tr("Fetch it with: jarvis-desktop experts pull {id}.", id=expert.id),
        )
    return UnavailableError(
        tr("{id} cannot be run by this version.", id=expert.id),
        hint=tr("Choose another expert: jarvis-desktop experts list."),
    )


SAMPLE_TEXT = "The cat sat on the warm roof of the old house in Paris and was happy."
SAMPLE_TEXTS: Mapping[str, str] = {
    "question": "Where did the cat sit?",
    "text_2": "A pleased cat is lying on top of a building.",
    "prompt": "A red apple on a wooden table.",
}
"""By port; all others get SAMPLE_TEXT."""
SAMPLE_TEXTS_BY_TASK: Mapping[str, str] = {
    "fill-mask": "The capital of France is [MASK].",
    "table-question-answering": "How many cats live in Paris?",
    "image-editing": "Make it brighter.",
    "visual-question-answering": "What is in the picture?",
    "document-question-answering": "Who wrote the letter?",
}
SAMPLE_OPTIONS: Mapping[tuple[str, str], Value] = {
    ("zero-shot-classification", "labels"): "animals, weather, money",
    ("zero-shot-image-classification", "labels"): "a letter, a cat, a landscape",
    ("zero-shot-object-detection", "what"): "a letter",
}
SAMPLE_TABLE = "city,cats\nParis,12\nRome,34\n"


@dataclass(frozen=True, slots=True)
class SmokeTestResult:
    """The result of a successful smoke test."""

    seconds: float  # including the loading of its weights, if it was not in memory
    found: str  # the beginning of its result, if that is a text


def has_smoke_test(task: TaskType) -> bool:
    """Whether there are samples for all that the task requires."""
    kinds = {Kind.TEXT, Kind.IMAGE, Kind.AUDIO, Kind.TABLE}
    return all(kinds.intersection(port.kinds) for port in task.ports if port.required)


async def smoke_test(
    local: LocalBackend, expert: Expert, task: TaskType, folder: Path, report: Report
) -> SmokeTestResult:
    """Run an expert with samples in an empty `folder`. Raises JarvisError; can be cancelled."""
    inputs = {port.name: (_sample(task, port, folder),) for port in task.ports if port.required}
    call = Call(task.name, inputs, _options(expert, task), folder)
    begin = time.monotonic()
    results = await local.run(Candidate(expert, "local", heavy=True), call, report)
    text = next((each.text for each in results if each.text), "")
    return SmokeTestResult(time.monotonic() - begin, one_line(text, limit=200))


def _sample(task: TaskType, port: Port, folder: Path) -> Artifact:
    if Kind.IMAGE in port.kinds:
        return Artifact(Kind.IMAGE, path=shipped("resources", "sample", "letter.png"))
    if Kind.AUDIO in port.kinds:
        return Artifact(Kind.AUDIO, path=shipped("resources", "sample", "request.wav"))
    if Kind.TABLE in port.kinds:
        table = folder / "cats.csv"
        table.write_text(SAMPLE_TABLE, "utf-8")
        return Artifact(Kind.TABLE, path=table)
    asked = port is task.ports[-1] and SAMPLE_TEXTS_BY_TASK.get(task.name)
    return text_artifact(asked or SAMPLE_TEXTS.get(port.name, SAMPLE_TEXT))


def _options(expert: Expert, task: TaskType) -> dict[str, Value]:
    options = {
        each.name: SAMPLE_OPTIONS.get((task.name, each.name), each.default) for each in task.options
    }
    if task.name == "translation" and len(expert.languages) == 2:
        target = expert.languages[1]
        options["language"] = NAMES.get(target, target)
    return options
