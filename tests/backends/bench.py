"""Runs tiny experts of any kind in one process, loaded as the application loads them.

A process that imports torch takes seconds to start, so that all tests of a run share one. An expert
is named "module:builder": a function of `tests.backends.module` that saves it into a folder which
does not exist yet, and is called once in a run, in that process.
"""

from __future__ import annotations

import asyncio
import functools
import hashlib
import importlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from jarvis_desktop.backends.local.worker import ExpertLoader, serve
from jarvis_desktop.backends.result_checks import checked
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.placement import Placement
from jarvis_desktop.core.task import Call, Report, Value
from jarvis_desktop.process.child import Child
from jarvis_desktop.process.model_files import MARKER, quiet_libraries
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.registry import DEFINITIONS

Given = str | Artifact | Path | tuple[str | Artifact | Path, ...]
"""What arrives at a port: a text, a file (its kind is the port's first one), or several."""

SECONDS = 100.0
"""The most one call may take."""


class Bench:
    """Where experts are built and run. Its calls wait: tests that use it are plain functions."""

    def __init__(self, built: Path, work: Path, definitions: Mapping[str, Definition]) -> None:
        self.reports: list[tuple[float | None, str]] = []
        """What the last call told of its progress."""
        self._built = built
        self._work = work
        self._definitions = definitions
        self._runner = asyncio.Runner()
        self._child = Child("tests.backends.bench:handler", name="bench")
        self._count = 0

    def run(
        self,
        task: str,
        builder: str,
        inputs: Mapping[str, Given],
        options: Mapping[str, Value] | None = None,
        *,
        base: str = "",
        place: Placement | None = None,
        **settings: Any,
    ) -> tuple[Artifact, ...]:
        """The checked results. `base` names the builder of the expert that it is built upon, the
        `place` is the processor if it is left out, and the `settings` are further ones of the
        Expert, such as languages. Raises JarvisError.
        """
        type = self._definitions[task].type
        expert = Expert(builder.partition(":")[2], task, **settings)
        folder = self.built(builder)
        below = self.built(base) if base else None
        loading = ExpertLoader(expert, folder, place or Placement(), below)
        given = {
            name: tuple(_artifact(type, name, item) for item in _several(value))
            for name, value in inputs.items()
        }
        chosen = {option.name: option.default for option in type.options} | dict(options or {})
        self._count += 1
        workdir = self._work / str(self._count)
        workdir.mkdir()
        self.reports.clear()
        call = Call(task, given, chosen, workdir)
        return checked(self._ask("run", loading, call), type)

    def text(self, task: str, builder: str, inputs: Mapping[str, Given], **more: Any) -> str:
        """The text of the first result."""
        return self.run(task, builder, inputs, **more)[0].text or ""

    def built(self, builder: str) -> Path:
        """The folder of an expert, built now if it was not."""
        folder = self._built / builder.replace(":", "-")
        with FileLock(folder.with_suffix(".lock")):
            if not (folder / MARKER).exists():
                self._ask("build", builder, folder)
        return folder

    def close(self) -> None:
        """End the process."""
        self._runner.run(self._child.close())
        self._runner.close()

    def _ask(self, *what: object) -> Any:
        def report(fraction: float | None, words: str) -> None:
            self.reports.append((fraction, words))

        return self._runner.run(self._child.call(*what, timeout=SECONDS, report=report))


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory, warm_experts: None) -> Iterator[Bench]:
    """One process for all tests of a run that name this; what it builds, pytest-xdist shares."""
    base = tmp_path_factory.getbasetemp()
    built = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "bench"
    built.mkdir(exist_ok=True)
    definitions = {item.type.name: item for item in DEFINITIONS}
    made = Bench(built, tmp_path_factory.mktemp("work"), definitions)
    yield made
    made.close()


def handler() -> Callable[..., Any]:
    """What the process answers with. Runs there only."""
    os.environ["OMP_NUM_THREADS"] = "1"  # tiny networks only wait for further threads
    quiet_libraries()
    loaded = functools.cache(serve)

    def handle(report: Report, kind: str, *what: Any) -> Any:
        if kind == "build":
            return _build(*what)
        loading, call = what
        return loaded(loading)(report, call)

    return handle


def _build(builder: str, folder: Path) -> None:
    module, _, name = builder.partition(":")
    getattr(importlib.import_module(f"tests.backends.{module}"), name)(folder)
    files = {
        path.relative_to(folder).as_posix(): {
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest()
        }
        for path in folder.rglob("*")
        if path.is_file()
    }
    (folder / MARKER).write_text(json.dumps({"files": files}))


def _several(value: Given) -> tuple[str | Artifact | Path, ...]:
    return value if isinstance(value, tuple) else (value,)


def _artifact(type: Any, port: str, value: str | Artifact | Path) -> Artifact:
    if isinstance(value, Artifact):
        return value
    if isinstance(value, str):
        return text_artifact(value)
    return Artifact(type.port(port).kinds[0], path=value, name=value.name)
