"""How likely somebody speaks, frame by frame: Silero v6, without faster-whisper around it.

Its ONNX file ships in the faster-whisper package, which is looked up but not imported: that would
load CTranslate2 and more into processes that only listen. Only imported in child processes.
"""

from __future__ import annotations

import functools
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.hearing import FRAME
from jarvis_desktop.core.wording import tr

CONTEXT = 64
"""Samples of the frame before that the model sees again."""
FILE = "silero_vad_v6.onnx"

Floats = np.ndarray[Any, np.dtype[np.float32]]


class Silero:
    """Listens to one sound from its beginning to its end, in portions of any size."""

    def __init__(self) -> None:
        self._session = _session()
        self._memory = [np.zeros((1, 1, 128), np.float32), np.zeros((1, 1, 128), np.float32)]
        self._before = np.zeros(CONTEXT, np.float32)
        self._rest = np.zeros(0, np.float32)

    def hear(self, samples: Floats) -> tuple[float, ...]:
        """How likely somebody speaks, 0 to 1, in each frame that came to its end with `samples`,
        which are from -1 to 1 at 16 kHz."""
        samples = np.concatenate((self._rest, samples), dtype=np.float32)
        count = len(samples) // FRAME
        self._rest = samples[count * FRAME :]
        if not count:
            return ()
        frames = samples[: count * FRAME].reshape(count, FRAME)
        ends = np.concatenate((self._before[None], frames[:-1, -CONTEXT:]))
        self._before = frames[-1, -CONTEXT:]
        h, c = self._memory
        given = {"input": np.concatenate((ends, frames), axis=1), "h": h, "c": c}
        likely, *self._memory = self._session.run(None, given)
        return tuple(likely.ravel().tolist())


@functools.cache
def _session() -> Any:
    """The model, which keeps nothing of what it heard."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # More threads than one cost more than they save on so small a model.
    options.inter_op_num_threads = options.intra_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(
        str(_file()), providers=["CPUExecutionProvider"], sess_options=options
    )


def _file() -> Path:
    package = importlib.util.find_spec("faster_whisper")
    folders = (package.submodule_search_locations if package else None) or ()
    for folder in folders:
        if (found := Path(folder, "assets", FILE)).is_file():
            return found
    raise UnavailableError(
        tr("The detector of speech is missing, which comes with faster-whisper."),
        hint=tr("Install this application again."),
    )
