"""Loads Whisper from weights on disk. Only imported in child processes."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.wording import tr

THREADS = min(4, os.cpu_count() or 4)
"""More than four hardly help."""
NEEDED = ("model.bin", "config.json", "tokenizer.json")


def load(folder: Path, *, device: str = "cpu", compute_type: str = "int8") -> Any:
    """The Whisper in a folder. Raises UnavailableError where it is not whole.

    `device` and `compute_type` are what `cuda_probe` found: a graphics card whose libraries are
    missing ends the whole process.
    """
    broken = UnavailableError(
        tr("The Whisper weights in {name} cannot be used.", name=folder.name),
        hint=tr("Remove them with `jarvis-desktop experts remove` and fetch them again."),
    )
    # Without its tokenizer faster-whisper would fetch one from the Hub.
    if not all((folder / name).is_file() for name in NEEDED):
        raise broken
    if device == "cuda":
        offer_libraries()
    from faster_whisper import WhisperModel
    from faster_whisper.transcribe import tqdm

    # Its own would be a semaphore of the system, left over when this process is killed.
    tqdm.set_lock(threading.RLock())
    try:
        return WhisperModel(
            str(folder),
            device=device,
            compute_type=compute_type,
            cpu_threads=THREADS,
            local_files_only=True,
        )
    except (RuntimeError, ValueError, OSError) as error:
        raise broken from error


def offer_libraries() -> None:
    """Let CTranslate2 find CUDA's libraries where pip puts them, which the system does not know."""
    spec = find_spec("nvidia")
    for folder in map(Path, (spec and spec.submodule_search_locations) or ()):
        if sys.platform == "win32":
            if (binaries := folder / "cublas" / "bin").is_dir():
                os.add_dll_directory(str(binaries))
            continue
        for name in ("libcublasLt.so.12", "libcublas.so.12"):
            with suppress(OSError):  # not there; a library that is loaded is found by its name
                ctypes.CDLL(str(folder / "cublas" / "lib" / name), mode=ctypes.RTLD_GLOBAL)
