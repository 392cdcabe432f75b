"""Loads one fetched expert and answers calls with it. Runs in a child process only.

Nothing of what comes from the Hub is trusted: weights are compared with their digests before they
are loaded, only safetensors are read, no code from a repository runs, and no name that an input
chose reaches a library that would open or fetch it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.fetched import check, device, memory_in_words, quiet_libraries

Run = Callable[[Call, Report], Iterable[Artifact]]
"""A loaded expert."""

LOADERS: Mapping[str, str] = {
    "text-generation": "text_experts:load_writer",
    "translation": "text_experts:load_translator",
    "summarization": "text_experts:load_summariser",
    "zero-shot-classification": "text_experts:load_sorter",
    "fill-mask": "text_experts:load_gap_filler",
    "depth-estimation": "media_experts:load_depth",
    "visual-question-answering": "media_experts:load_viewer",
    "text-to-image": "media_experts:load_painter",
    "audio-classification": "media_experts:load_listener",
}
"""Per task: which function of which module here loads an expert and gives a Run."""


def serve(expert: Expert, folder: Path) -> Callable[[Report, Call], list[Artifact]]:
    """The handler of the child: loads at the first call, and keeps the expert for the next."""
    quiet_libraries()
    run: Run | None = None

    def handle(report: Report, call: Call) -> list[Artifact]:
        nonlocal run
        with memory_in_words(expert.id):
            if run is None:
                report(None, f"loading {expert.id}")
                check(expert.id, folder)
                run = _load(expert, folder)
            return list(run(call, report))

    return handle


def load_part(kind: str, folder: Path) -> Any:
    """A tokenizer or processor: `kind` is the class of transformers that loads it."""
    import transformers

    auto: Any = getattr(transformers, kind)
    return auto.from_pretrained(folder, local_files_only=True, trust_remote_code=False)


def load_network(kind: str, folder: Path, *, half: bool = False) -> Any:
    """A network on its device; `half` for one that may compute in 16 bits on a graphics card."""
    import torch
    import transformers

    auto: Any = getattr(transformers, kind)
    where = device()
    return auto.from_pretrained(
        folder,
        use_safetensors=True,
        local_files_only=True,
        trust_remote_code=False,
        dtype=torch.bfloat16 if half and where != "cpu" else torch.float32,
    ).to(where)


def _load(expert: Expert, folder: Path) -> Run:
    import transformers

    quiet: Any = transformers.utils.logging.disable_progress_bar
    quiet()
    module, _, function = LOADERS[expert.task].partition(":")
    loader = getattr(importlib.import_module(f"jarvis_desktop.backends.{module}"), function)
    run: Run = loader(expert, folder)
    return run
