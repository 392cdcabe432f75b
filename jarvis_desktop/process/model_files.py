"""What holds for everything fetched from the Hub before it is loaded. Used in child processes only.

Nothing of it is trusted: its files are compared with their digests, and settings that would make a
library fetch foreign code are refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jarvis_desktop.core.errors import ExpertError, Fault
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.process.network_guard import QUIET, SWITCHES

MARKER = "expert.json"


def quiet_libraries() -> None:
    """Keep the Hub's libraries offline and out of the person's terminal; call before importing."""
    os.environ.update(
        **QUIET,
        **SWITCHES,
        HF_HUB_DISABLE_PROGRESS_BARS="1",
        TRANSFORMERS_VERBOSITY="error",
        DIFFUSERS_VERBOSITY="error",
        TOKENIZERS_PARALLELISM="false",
    )
    # They are meant for the libraries' developers.
    warnings.simplefilter("ignore")


def check(name: str, folder: Path) -> None:
    """Compare the files with their digests, and refuse settings that would fetch foreign code.

    Raises ExpertError.
    """
    files = json.loads((folder / MARKER).read_text("utf-8"))["files"]
    for file_name, entry in files.items():
        with (folder / file_name).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != entry["sha256"]:
            raise ExpertError(
                tr(
                    "{name} is damaged: {file_name} is not as it was fetched.",
                    name=name,
                    file_name=file_name,
                ),
                hint=tr(
                    "Remove it and fetch it again: jarvis-desktop experts remove {name}.", name=name
                ),
            )
    for path in folder.rglob("config.json"):
        if _names_kernels(json.loads(path.read_text("utf-8"))):
            raise ExpertError(
                tr("{name} asks for code from the Hub, which is never run.", name=name)
            )


@contextmanager
def memory_in_words(name: str, *, retryable: bool = True) -> Iterator[None]:
    """Say in a sentence that the memory, or that of the graphics card, was too small.

    Raises ExpertError, `retryable` where it may be put elsewhere on this computer.
    """
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, MemoryError) or "out of memory" in str(error).lower():
            raise ExpertError(
                tr("{name} needs more memory than there is.", name=name),
                hint=tr("Close other programs, or choose a smaller one."),
                retryable=retryable,
                fault=Fault.MEMORY,
            ) from error
        raise


def device() -> str:
    """Where networks run: cuda, mps or cpu."""
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _names_kernels(config: object) -> bool:
    """Whether an attention implementation is named like a repository, anywhere inside."""
    if isinstance(config, dict):
        return any(
            (isinstance(value, str) and "attn_implementation" in str(key) and "/" in value)
            or _names_kernels(value)
            for key, value in config.items()
        )
    return isinstance(config, list) and any(map(_names_kernels, config))
