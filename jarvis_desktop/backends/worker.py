"""Loads one fetched expert and answers calls with it. Runs in a child process only.

Weights are compared with their digests before they are loaded.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from jarvis_desktop.backends.loaders import LOADERS
from jarvis_desktop.backends.loading import Loading, Run
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.fetched import check, memory_in_words, quiet_libraries


def serve(loading: Loading) -> Callable[[Report, Call], list[Artifact]]:
    """The handler of the child: loads at the first call, and keeps the expert for the next."""
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


def _load(loading: Loading, task: str) -> Run:
    import transformers

    quiet: Any = transformers.utils.logging.disable_progress_bar
    quiet()
    module, _, function = LOADERS[task].partition(":")
    loader = getattr(importlib.import_module(f"jarvis_desktop.backends.{module}"), function)
    run: Run = loader(loading)
    return run
