"""Loads one fetched expert and answers calls with it. Runs in a child process only.

Nothing of what comes from the Hub is trusted: weights are compared with their digests before they
are loaded, only safetensors are read, no code from a repository runs, and no name that an input
chose reaches a library that would open or fetch it.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.expert import Expert

MARKER = "expert.json"
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
    # Read when the libraries are imported, and never again.
    os.environ.update(
        HF_HUB_OFFLINE="1",
        TRANSFORMERS_OFFLINE="1",
        HF_HUB_DISABLE_TELEMETRY="1",
        HF_HUB_DISABLE_PROGRESS_BARS="1",
        TRANSFORMERS_VERBOSITY="error",
        DIFFUSERS_VERBOSITY="error",
        TOKENIZERS_PARALLELISM="false",
    )
    # They are meant for the libraries' developers, and would land in a person's terminal.
    warnings.simplefilter("ignore")
    run: Run | None = None

    def handle(report: Report, call: Call) -> list[Artifact]:
        nonlocal run
        try:
            if run is None:
                report(None, f"loading {expert.id}")
                check(expert, folder)
                run = _load(expert, folder)
            return list(run(call, report))
        except (MemoryError, RuntimeError) as error:
            if isinstance(error, MemoryError) or "out of memory" in str(error).lower():
                raise ExpertError(
                    f"{expert.id} needs more memory than there is.",
                    hint="Close other programs, or choose a smaller expert.",
                ) from error
            raise

    return handle


def check(expert: Expert, folder: Path) -> None:
    """Compare the files with their digests, and refuse settings that would fetch foreign code."""
    files = json.loads((folder / MARKER).read_text("utf-8"))["files"]
    for name, entry in files.items():
        with (folder / name).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != entry["sha256"]:
            raise ExpertError(
                f"{expert.id} is damaged: {name} is not as it was fetched.",
                hint=f"Remove it and fetch it again: jarvis-desktop experts remove {expert.id}.",
            )
    for path in folder.rglob("config.json"):
        if _names_kernels(json.loads(path.read_text("utf-8"))):
            raise ExpertError(f"{expert.id} asks for code from the Hub, which is never run.")


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


def device() -> str:
    """Where networks run: cuda, mps or cpu."""
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _load(expert: Expert, folder: Path) -> Run:
    import transformers

    quiet: Any = transformers.utils.logging.disable_progress_bar
    quiet()
    module, _, function = LOADERS[expert.task].partition(":")
    loader = getattr(importlib.import_module(f"jarvis_desktop.backends.{module}"), function)
    run: Run = loader(expert, folder)
    return run


def _names_kernels(config: object) -> bool:
    """Whether an attention implementation is named like a repository, anywhere inside."""
    if isinstance(config, dict):
        return any(
            (isinstance(value, str) and "attn_implementation" in str(key) and "/" in value)
            or _names_kernels(value)
            for key, value in config.items()
        )
    return isinstance(config, list) and any(map(_names_kernels, config))
