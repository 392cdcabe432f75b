"""Decodes a recording of any format to 16 kHz mono samples. Only imported in child processes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.tasks.audio.media import TooLongError, audio_blocks

RATE = 16_000

Samples = np.ndarray[tuple[int], np.dtype[np.float32]]


def decode(path: Path) -> Samples:
    """The samples of a file as floats from -1 to 1. Raises InputError if the file is missing,
    damaged, not a recording, or longer than two hours. What was decoded before a damaged place is
    kept."""
    if not path.is_file():
        raise InputError(tr("There is no recording {name}.", name=path.name))
    blocks: list[Samples] = []
    try:
        for block, _ in audio_blocks(path, rate=RATE):
            # Not mixed by FFmpeg, which makes what is on both sides louder.
            blocks.append(block.mean(axis=0))
    except TooLongError:
        raise
    except InputError:
        if not blocks:
            raise
    if not blocks:
        raise InputError(tr("{name} contains no sound at all.", name=path.name))
    return np.concatenate(blocks)
