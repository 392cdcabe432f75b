"""Tells which troubles come from the place an expert was put, so that another one may help."""

from __future__ import annotations

import errno
from enum import StrEnum

from jarvis_desktop.core.errors import ExpertError, Fault, JarvisError
from jarvis_desktop.core.placement import Placement


class Why(StrEnum):
    """What was wrong with a place."""

    MEMORY = "memory"
    """There is too little of it."""
    CARD = "card"
    """The graphics card or its driver failed."""
    NUMBERS = "numbers"
    """The expert does something there that cannot be done in 16 bits."""


SIGNS = {
    Why.MEMORY: (
        "out of memory",
        "can't allocate memory",
        "cannot allocate memory",
        "not enough memory",
        "alloc_failed",
        "std::bad_alloc",
    ),
    Why.CARD: (
        "cuda error",
        "cudnn",
        "cublas",
        "hip error",
        "not compiled with cuda",
        "no cuda gpus",
        "nvidia driver",
        "cuda driver",
        "mps backend",
    ),
    Why.NUMBERS: (
        "not implemented for 'half'",
        "not implemented for 'bfloat16'",
        "same dtype",
        "expected scalar type",
        "should be the same",
        "unsupported scalartype",
    ),
}
"""How torch words them, whose errors are of a few kinds only."""


class PlaceError(ExpertError):
    """An expert failed because of its place. The backend looks for another one."""

    def __init__(self, message: str, why: Why = Why.MEMORY) -> None:
        super().__init__(message)
        self.why = why


def why_it_failed(error: Exception, place: Placement) -> Why | None:
    """Which trouble of its place ended the work of an expert; None where it was another one."""
    if isinstance(error, JarvisError):
        return Why.MEMORY if error.fault is Fault.MEMORY else None
    if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
        return Why.MEMORY
    if not isinstance(error, (RuntimeError, AssertionError, NotImplementedError, TypeError)):
        return None
    words = str(error).lower()
    for why, signs in SIGNS.items():
        if any(sign in words for sign in signs):
            # On the processor there is no card to fail, and 32 bits are what everything can do.
            at_fault = {Why.CARD: place.device != "cpu", Why.NUMBERS: place.half}
            return why if at_fault.get(why, True) else None
    return None
