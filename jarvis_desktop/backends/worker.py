"""Loads one fetched expert and answers calls with it. Runs in a child process only.

Weights are compared with their digests before they are loaded.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from jarvis_desktop.backends.failing import PlaceError, why_it_failed
from jarvis_desktop.backends.loaders import LOADERS
from jarvis_desktop.backends.loading import Loading, Run
from jarvis_desktop.backends.memory import limit
from jarvis_desktop.computer import resident_bytes
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError, JarvisError
from jarvis_desktop.core.hardware import Memory
from jarvis_desktop.core.placing import DRIVER
from jarvis_desktop.core.wording import tr
from jarvis_desktop.fetched import check, memory_in_words, quiet_libraries


@dataclass(frozen=True, slots=True)
class Done:
    """The results of one call, and what the process takes of the memory."""

    results: list[Artifact]
    held: Memory
    """What it takes now, at rest."""
    most: Memory
    """What it took at most since it started."""


def serve(loading: Loading) -> Callable[[Report, Call], list[Artifact]]:
    """A handler: loads at the first call, and keeps the expert for the next."""
    quiet_libraries()
    run: Run | None = None
    expert = loading.expert

    def handle(report: Report, call: Call) -> list[Artifact]:
        nonlocal run
        with memory_in_words(expert.id):
            if run is None:
                report(None, f"loading {expert.id}")
                check(expert.id, loading.folder)
                if loading.base and expert.base:
                    check(expert.base.id, loading.base)
                run = _load(loading, call.task)
            return list(run(call, report))

    return handle


def hold(loading: Loading, most: int, card: str) -> Callable[[Report, Call], Done]:
    """The handler of the child: the same, within `most` bytes of the main memory, and measured.

    `card` names the graphics card to use, where there are several. Raises PlaceError where the
    place was the trouble.
    """
    if card:
        os.environ["CUDA_VISIBLE_DEVICES"] = card
    if loading.place.device == "cpu":
        limit(most)
    answer = serve(loading)

    def handle(report: Report, call: Call) -> Done:
        with _troubles(loading):
            results = answer(report, call)
        return Done(results, *taken(loading.place.device))

    return handle


def taken(device: str) -> tuple[Memory, Memory]:
    """What this process takes of both memories, now and at most; what computing left is freed."""
    now, most = resident_bytes()
    if device == "cpu":
        return Memory(now), Memory(most)
    import torch

    if device == "mps":
        torch.mps.empty_cache()
        held = int(torch.mps.driver_allocated_memory())
        return Memory(now, held), Memory(most, held)
    peak = int(torch.cuda.max_memory_reserved())
    torch.cuda.empty_cache()
    left, context = int(torch.cuda.memory_reserved()), DRIVER.graphics
    return Memory(now, left + context), Memory(most, peak + context)


def _load(loading: Loading, task: str) -> Run:
    import transformers

    quiet: Any = transformers.utils.logging.disable_progress_bar
    quiet()
    module, _, function = LOADERS[task].partition(":")
    loader = getattr(importlib.import_module(f"jarvis_desktop.backends.{module}"), function)
    try:
        run: Run = loader(loading)
    except (JarvisError, ImportError):
        raise
    except Exception as error:  # foreign expert code runs here
        if isinstance(error, MemoryError) or why_it_failed(error, loading.place):
            raise
        name = loading.expert.id
        raise ExpertError(
            tr(
                "{name} could not be loaded ({name2}): its files are not those of such an expert.",
                name=name,
                name2=type(error).__name__,
            ),
            hint=tr(
                "Remove it and fetch it again: jarvis-desktop experts remove {name}.", name=name
            ),
        ) from error
    return run


@contextmanager
def _troubles(loading: Loading) -> Iterator[None]:
    """Tell those troubles apart that another place would not have."""
    try:
        yield
    except Exception as error:  # foreign expert code runs here
        if why := why_it_failed(error, loading.place):
            raise PlaceError(
                tr("{id} failed {place}.", id=loading.expert.id, place=loading.place), why
            ) from error
        raise
