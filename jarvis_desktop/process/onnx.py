"""Loads the small networks of this project into onnxruntime."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.paths import shipped

if TYPE_CHECKING:
    import numpy as np

MAX_TOKENS = 150  # of a text that are read


def small_network(path: Path) -> Any:
    """Return the `InferenceSession` of a network that one thread runs in milliseconds: more threads
    would cost more than they save. Raises what onnxruntime raises."""
    return _session(path, exact="1" if _saturates() else "0")


def _session(path: Path, *, exact: str) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.inter_op_num_threads = options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.add_session_config_entry("session.x64quantprecision", exact)
    return onnxruntime.InferenceSession(
        str(path), providers=["CPUExecutionProvider"], sess_options=options
    )


@cache
def _saturates() -> bool:
    """Return whether this processor adds products of 8 bits up in 16, which overflows: a network
    would answer differently on it. Those with VNNI do not; onnxruntime's exact way around it takes
    them twice the time."""
    import numpy as np

    largest, count = 127, 64
    product = _session(shipped("models", "planner", "saturation.onnx"), exact="0")
    row = np.full((1, count), 255, np.uint8)
    return bool(product.run(None, {"row": row})[0].item() != 255 * largest * count)


@contextmanager
def onnx_errors_as(error: JarvisError, *others: type[Exception]) -> Iterator[None]:
    """Raise `error` instead of onnxruntime's, which have no common base class, and of `others`."""
    try:
        yield
    except Exception as cause:
        if isinstance(cause, others) or "onnxruntime" in type(cause).__module__:
            raise error from cause
        raise


class TextEncoder:
    """The network that turns a text into the states of its tokens: of texts that mean the same
    these have similar directions."""

    def __init__(self, folder: Path) -> None:
        """`folder` holds encoder.onnx and tokenizer.json. Raises what their loaders raise."""
        from tokenizers import Tokenizer

        self.tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(MAX_TOKENS)
        self.tokenizer.no_padding()
        self._encoder = small_network(folder / "encoder.onnx")

    def mean(self, text: str) -> np.ndarray:
        """The mean state of a text's tokens, 384 numbers."""
        vector: np.ndarray = self.states(self.tokenizer.encode(text).ids)[0].mean(0)
        return vector

    def states(self, ids: Sequence[int]) -> np.ndarray:
        """Encode the tokens of one text to (1, length, 384) states."""
        import numpy as np

        return np.asarray(self._encoder.run(None, {"ids": np.array([ids], dtype=np.int64)})[0])
