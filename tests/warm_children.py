"""Child processes that start at once: forks of a process that has imported what experts need.

Each child is still a process that loads, runs, hangs and dies on its own; only the seconds in which
torch and transformers are imported are not repeated.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.context import ForkServerContext, ForkServerProcess
from typing import Any

import pytest

IMPORTED = [
    "numpy",
    "PIL.Image",
    "safetensors.torch",
    "torch",
    "transformers",
    "jarvis_desktop.backends.local.worker",
    "jarvis_desktop.experts.download_worker",
    "jarvis_desktop.llm.transformers_worker",
    # What transformers and diffusers import only when the first weights are loaded.
    "transformers.models.auto.modeling_auto",
    "transformers.models.auto.tokenization_auto",
    "transformers.generation.utils",
    "transformers.pipelines",
    "diffusers",
]


def run(environment: dict[str, str], target: Callable[..., None], args: tuple[object, ...]) -> None:
    """What a spawned process does, in the environment of the test that it is started in."""
    os.environ.clear()
    os.environ.update(environment)
    target(*args)


class WarmContext(ForkServerContext):
    """Looks like the context "spawn"."""

    def Process(  # type: ignore[override]  # a function, where it is a class there
        self, *, target: Callable[..., None], args: tuple[object, ...], **named: Any
    ) -> ForkServerProcess:
        return ForkServerProcess(target=run, args=(dict(os.environ), target, args), **named)

    @contextmanager
    def replaces_spawning(self) -> Iterator[None]:
        """Within it, what asks for the context "spawn" gets this one."""
        real = multiprocessing.get_context

        def get_context(method: str | None = None) -> Any:
            return self if method == "spawn" else real(method)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(multiprocessing, "get_context", get_context)
            yield


@pytest.fixture(scope="session")
def warm_context() -> WarmContext:
    context = WarmContext()
    context.set_forkserver_preload(IMPORTED)
    return context


@pytest.fixture
def warm_children(warm_context: WarmContext) -> Iterator[None]:
    """Let children be forks of a warm process in this test."""
    with warm_context.replaces_spawning():
        yield
