"""Whether the user has finished speaking, by how it sounds and not by silence alone. Only imported
in child processes.

Smart Turn v3.2 (pipecat-ai, BSD-2; 8 million parameters in 8 bits) hears the last eight seconds and
knows "and then I …" from a question that is complete. Its weights are in models/end_of_turn. It
takes the log-mel spectrum of Whisper, which faster-whisper computes; of that package only this
module is loaded, as the rest would load CTranslate2 into a process that only listens.
"""

from __future__ import annotations

import importlib.util
import logging
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.speech import RATE
from jarvis_desktop.paths import shipped
from jarvis_desktop.process.onnx import onnx_errors_as, small_network
from jarvis_desktop.speech.vad import faster_whisper_file

WEIGHTS = shipped("models", "end_of_turn", "smart_turn.onnx")
SAMPLES = 8 * RATE  # what the network takes; shorter speech has silence before it
EPSILON = 1e-7  # of the variance to which Whisper's features are normalised

log = logging.getLogger(__name__)

Floats = np.ndarray[Any, np.dtype[np.float32]]


class EndOfTurn:
    """Judges in a separate thread, so that no sound waits for it: 30 ms, on a busy computer
    several times that."""

    def __init__(self, weights: Path = WEIGHTS) -> None:
        self._weights = weights
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="end-of-turn")
        self._network: Future[SmartTurn | None] | None = None
        self._judged: deque[Future[float | None]] = deque()

    def load(self) -> None:
        """Begin to load the weights, unless that was done."""
        self._network = self._network or self._thread.submit(self._load)

    def judge(self, said: bytes) -> None:
        """Begin to judge speech (16 kHz, mono, 16 bits)."""
        self.load()
        samples = np.frombuffer(said, "<i2").astype(np.float32) / np.float32(32768)
        self._judged.append(self._thread.submit(self._judge, samples))

    def verdict(self) -> float | None:
        """The probability that what was judged was finished: each once, in their order; None until
        the next one is known."""
        if not self._judged or not self._judged[0].done():
            return None
        return self._judged.popleft().result()

    def _load(self) -> SmartTurn | None:
        try:
            return SmartTurn(self._weights)
        except UnavailableError as error:
            log.info("only silence ends what is said: %s", error.message)
            return None

    def _judge(self, samples: Floats) -> float | None:
        assert self._network is not None
        network = self._network.result()
        return network.finished(samples) if network else None


class SmartTurn:
    """The network and its features. Raises UnavailableError if its weights cannot be used."""

    def __init__(self, weights: Path = WEIGHTS) -> None:
        unusable = UnavailableError(
            tr("The weights that tell the end of speech are missing or damaged."),
            hint=tr("Install this application again."),
        )
        with onnx_errors_as(unusable):
            self._session = small_network(weights)
        self._spectrum = _feature_extractor()

    def finished(self, samples: Floats) -> float:
        """The probability that who said this (-1 to 1, 16 kHz) has finished."""
        given = {"input_features": self.features(samples)[None]}
        return float(self._session.run(None, given)[0].item())

    def features(self, samples: Floats) -> Floats:
        """The log-mel spectrum (80, 800) of the last eight seconds, normalised."""
        last = samples[-SAMPLES:]
        padded = np.pad(last, (SAMPLES - len(last), 0)).astype(np.float32)
        normal = (padded - padded.mean()) / np.sqrt(padded.var() + EPSILON)
        spectrum: Floats = self._spectrum(normal, padding=0).astype(np.float32)
        return spectrum


def _feature_extractor() -> Any:
    file = faster_whisper_file("feature_extractor.py")
    found = importlib.util.spec_from_file_location("whisper_features", file) if file else None
    if found and found.loader:
        module = importlib.util.module_from_spec(found)
        found.loader.exec_module(module)
        return module.FeatureExtractor()
    raise UnavailableError(
        tr("The features of speech are missing, which come with faster-whisper."),
        hint=tr("Install this application again."),
    )
