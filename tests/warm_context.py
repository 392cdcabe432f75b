"""Child processes that are forks of a process which has imported what children need."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from multiprocessing import forkserver, resource_tracker
from multiprocessing.context import ForkServerContext, ForkServerProcess
from typing import Any

LIGHT = (
    "av",
    "numpy",
    "onnxruntime",
    "tokenizers",
    "jarvis_desktop.app.build",
    "jarvis_desktop.backends.builtin",
    "jarvis_desktop.backends.task_encoder",
    "jarvis_desktop.experts.download_worker",
    "jarvis_desktop.process.background",
    "jarvis_desktop.speech.audio_output_worker",
    "jarvis_desktop.speech.voices.hibari",
    "tests.warm_data",
)
"""What children import. None of it is bound to the environment that it is imported in."""

new_context = multiprocessing.get_context
"""multiprocessing's own."""


def run(environment: dict[str, str], target: Callable[..., None], args: tuple[object, ...]) -> None:
    """What a spawned process does, in the environment that it is started in."""
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    target(*args)


class WarmContext(ForkServerContext):
    """Looks like the context "spawn"."""

    def Process(  # type: ignore[override]  # a function, where it is a class there
        self, *, target: Callable[..., None], args: tuple[object, ...], **named: Any
    ) -> ForkServerProcess:
        return ForkServerProcess(target=run, args=(dict(os.environ), target, args), **named)


def replace_spawning(modules: Sequence[str]) -> None:
    """From now on, what asks for the context "spawn" gets a warm one."""
    warm = WarmContext()
    warm.set_forkserver_preload([*modules, "tests.frozen"])

    def get_context(method: str | None = None) -> Any:
        return warm if method == "spawn" else new_context(method)

    multiprocessing.get_context = get_context


def share_warm_process() -> None:
    """Start the process that forks now, for all forks of this one."""
    forkserver.ensure_running()
    # A fork cannot ask after the end of a process that is not its own child.
    forkserver._forkserver.ensure_running = resource_tracker.ensure_running  # type: ignore[method-assign]
