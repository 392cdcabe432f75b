"""Checks files from the Hub before they are loaded, in child processes.

They are not trusted: their digests are compared, and settings that would make a library fetch
foreign code are refused.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from jarvis_desktop.core.errors import ExpertError, Fault
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.process.network_guard import QUIET, SWITCHES

MARKER = "expert.json"
"""Lists an expert's files with their digests; a folder without it is not installed."""
RECORD = "verified.json"
"""The record of hashed files, so that gigabytes are not read at every load.

It is in the expert's folder, like the marker: whoever could forge it could change the digests too.
"""
SETTLED_NS = 2_000_000_000
"""A file changed this shortly before hashing could change again with the same time stamp."""


def quiet_libraries() -> None:
    """Keep the Hub's libraries offline and silent; call before importing them."""
    os.environ.update(
        **QUIET,
        **SWITCHES,
        HF_HUB_DISABLE_PROGRESS_BARS="1",
        TRANSFORMERS_VERBOSITY="error",
        DIFFUSERS_VERBOSITY="error",
        TOKENIZERS_PARALLELISM="false",
    )
    # Their warnings are for the libraries' developers.
    warnings.simplefilter("ignore")


def check(name: str, folder: Path) -> None:
    """Compare the files with their digests, and refuse settings that would fetch foreign code.

    Files unchanged since they were last hashed are not read again. Raises ExpertError.
    """
    files = json.loads((folder / MARKER).read_text("utf-8"))["files"]
    for file_name, digest in digests(folder, files).items():
        if digest != files[file_name]["sha256"]:
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


def digests(folder: Path, names: Iterable[str], *, fresh: bool = False) -> dict[str, str]:
    """Return the SHA-256 of each of a folder's files, in hexadecimal.

    A file is hashed when its size, times or inode differ from the record, or when `fresh`.
    """
    known = _recorded(folder)
    entries = {name: _hashed(folder / name, None if fresh else known.get(name)) for name in names}
    settled = {name: entry for name, entry in entries.items() if entry["state"]}
    if settled != known:
        with suppress(OSError):  # e.g. a read-only disk: then files are hashed at every load
            written = folder / f"{RECORD}.{os.getpid()}"
            written.write_text(json.dumps(settled, indent=1), "utf-8")
            written.replace(folder / RECORD)
    return {name: entry["sha256"] for name, entry in entries.items()}


def _recorded(folder: Path) -> dict[str, Any]:
    try:
        record = json.loads((folder / RECORD).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _hashed(path: Path, known: object) -> dict[str, Any]:
    """Return a file's entry in the record; its state is empty if the file may still change."""
    with path.open("rb") as file:
        state = _state(file.fileno())
        match known:
            case {"state": known_state, "sha256": str(digest)} if known_state == state:
                return {"state": state, "sha256": digest}
        began = time.time_ns()
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        ages = (began - changed for changed in state[2:])
        settled = _state(file.fileno()) == state and not any(0 <= x < SETTLED_NS for x in ages)
    return {"state": state if settled else [], "sha256": digest}


def _state(file: int) -> list[int]:
    status = os.fstat(file)
    # A program can set the time of modification, but not that of the status change.
    return [status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns]


@contextmanager
def memory_in_words(name: str, *, retryable: bool = True) -> Iterator[None]:
    """Translate an out-of-memory error into a sentence.

    Raises ExpertError, `retryable` if the expert may run elsewhere on this computer.
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
    """Return where networks run: "cuda", "mps" or "cpu"."""
    import torch

    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _names_kernels(config: object) -> bool:
    """Whether an attention implementation, at any depth, is named like a repository."""
    if isinstance(config, dict):
        return any(
            (isinstance(value, str) and "attn_implementation" in str(key) and "/" in value)
            or _names_kernels(value)
            for key, value in config.items()
        )
    return isinstance(config, list) and any(map(_names_kernels, config))
