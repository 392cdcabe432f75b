"""A local backend on the graphics card of this computer, over tiny experts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from jarvis_desktop.backends.local.backend import LocalBackend
from jarvis_desktop.backends.local.gpu_probe import GpuProbe
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.placement import Graphics
from jarvis_desktop.core.task import Call
from jarvis_desktop.tasks.registry import DEFINITIONS
from tests.backends.bench import Bench, bench

__all__ = ["bench"]

BY_NAME = {item.type.name: item for item in DEFINITIONS}


def nothing(fraction: float | None, words: str) -> None:
    pass


class Here:
    """The folders of what the bench has built, by the experts' names."""

    def __init__(self) -> None:
        self.folders: dict[str, Path] = {}

    def folder(self, expert: Expert) -> Path | None:
        return self.folders.get(expert.id)

    def used(self, expert: Expert) -> None:
        """Nobody cleans up here."""


class Road:
    """Runs tiny experts as the application does."""

    def __init__(self, here: Here, work: Path, **settings: Any) -> None:
        self.backend = LocalBackend(BY_NAME, here, **settings)
        self._here = here
        self._work = work
        self._count = 0

    def expert(self, folder: Path, task: str, **settings: Any) -> Expert:
        self._here.folders[folder.name] = folder
        return Expert(folder.name, task, **settings)

    async def run(self, expert: Expert, **given: str | Path) -> Artifact:
        type = BY_NAME[expert.task].type
        inputs, options = {}, {option.name: option.default for option in type.options}
        for name, value in given.items():
            port = type.port(name)
            assert port
            item = (
                text_artifact(value)
                if isinstance(value, str)
                else Artifact(port.kinds[0], path=value)
            )
            inputs[name] = (item,)
        self._count += 1
        workdir = self._work / str(self._count)
        workdir.mkdir()
        call = Call(expert.task, inputs, options, workdir)
        result, *_ = await self.backend.run(Candidate(expert, "local"), call, nothing)
        return result


@pytest.fixture(scope="session")
def painter(bench: Bench) -> Path:
    """The folder of an expert that draws, with tiny random weights."""
    return bench.built("tiny_drawing:painter")


@pytest.fixture(scope="session")
def writer(bench: Bench) -> Path:
    """The folder of an expert that writes."""
    return bench.built("tiny:writer")


@pytest.fixture
async def card() -> AsyncIterator[Graphics]:
    """The card: these tests are only asked for where there is one."""
    probe = GpuProbe()
    seen = await probe.result()
    assert seen.graphics, f"No graphics card can be used: {seen.trouble}"
    assert seen.graphics.device == "cuda", "These tests are written for CUDA."
    yield seen.graphics
    await probe.close()


@pytest.fixture
async def make(tmp_path: Path) -> AsyncIterator[Callable[..., Road]]:
    """Makes roads, which are ended after the test."""
    made: list[Road] = []

    def road(**settings: Any) -> Road:
        work = tmp_path / f"work{len(made)}"
        work.mkdir()
        made.append(Road(Here(), work, **settings))
        return made[-1]

    yield road
    for each in made:
        await each.backend.close()
