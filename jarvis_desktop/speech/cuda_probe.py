"""Checks whether Whisper works on the graphics card, by running it there in a child process.

CTranslate2 loads CUDA's libraries when something is computed, and missing or wrong ones may end the
process. It supports NVIDIA's cards only.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.core.task import Report
from jarvis_desktop.platform.hardware_probe import seems_to_have_graphics
from jarvis_desktop.process.child import Child
from jarvis_desktop.process.child_main import Handler

log = logging.getLogger(__name__)

PROBE = "jarvis_desktop.speech.cuda_probe:make_handler"
TIMEOUT_S = 60.0  # for the driver to start and the weights to be loaded from a slow disk
COMPUTE_TYPES = ("float16", "int8_float16", "int8_float32", "float32")
"""The best first; cards from before 2017 do not support 16 bits."""

Processor = tuple[str, str]
"""The device and how it computes, as CTranslate2 calls them."""
CPU: Processor = ("cpu", "int8")


async def find_processor(
    weights: Path,
    *,
    signs: Callable[[], bool] = seems_to_have_graphics,
    probe: str = PROBE,
    timeout: float = TIMEOUT_S,
) -> Processor | None:
    """Where Whisper runs; None if these weights are broken, which says nothing about the card.
    Without `signs` of a card, no process is started."""
    if not await asyncio.to_thread(signs):
        return CPU
    child = Child(probe, name="probe of the graphics card")
    try:
        found: Processor = await child.call(weights, timeout=timeout)
    except UnavailableError:
        return None
    except ExpertError as error:
        log.info("no card for Whisper: %s", error.message)
        return CPU
    finally:
        await child.close()
    return found


def make_handler() -> Handler:
    """The handler of the child process, which receives a folder of weights."""
    return probe


def probe(report: Report, weights: Path) -> Processor:
    """Where Whisper runs, by running it on the first card. Raises UnavailableError if the weights
    are broken, RuntimeError if the card cannot be used, mostly for its driver, its memory, or
    libraries that are missing (`pip install nvidia-cublas-cu12` brings them)."""
    import ctranslate2
    import numpy as np

    from jarvis_desktop.speech.whisper import load

    if not ctranslate2.get_cuda_device_count():
        return CPU  # such as a card of AMD
    can = ctranslate2.get_supported_compute_types("cuda")
    compute_type = next(each for each in COMPUTE_TYPES if each in can)
    try:
        whisper = load(weights, device="cuda", compute_type=compute_type)
    except UnavailableError as error:
        load(weights)  # raises if they are broken, and not only on the card
        raise RuntimeError(str(error.__cause__)) from error
    silence = np.zeros(8000, np.float32)
    pieces, _ = whisper.transcribe(silence, language="en", beam_size=1, max_new_tokens=4)
    list(pieces)  # only now it is decoded
    return "cuda", compute_type
