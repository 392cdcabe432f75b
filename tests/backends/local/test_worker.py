"""Which errors of torch are the place's fault."""

from __future__ import annotations

import errno
import pickle

import pytest

from jarvis_desktop.backends.local.worker import PlaceError, PlaceFailure, place_failure
from jarvis_desktop.core.errors import ExpertError, Fault, InputError
from jarvis_desktop.core.placement import PROCESSOR, Placement

MEMORY, BROKEN, NUMBERS = PlaceFailure.MEMORY, PlaceFailure.CARD, PlaceFailure.NUMBERS
CARD = Placement("cuda", half=True)
NARROW = Placement(half=True)


@pytest.mark.parametrize(
    ("error", "place", "why"),
    [
        (RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB."), CARD, MEMORY),
        (RuntimeError("MPS backend out of memory (MPS allocated: 9 GB)"), CARD, MEMORY),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED"), CARD, MEMORY),
        (
            RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to"),
            PROCESSOR,
            MEMORY,
        ),
        (RuntimeError("DefaultCPUAllocator: not enough memory: you tried"), PROCESSOR, MEMORY),
        (MemoryError(), PROCESSOR, MEMORY),
        (ExpertError("x needs more memory.", fault=Fault.MEMORY), PROCESSOR, MEMORY),
        (RuntimeError("CUDA error: unspecified launch failure"), CARD, BROKEN),
        (RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED"), CARD, BROKEN),
        (RuntimeError("No CUDA GPUs are available"), CARD, BROKEN),
        (AssertionError("Torch not compiled with CUDA enabled"), CARD, BROKEN),
        (RuntimeError("CUDA error: unknown"), PROCESSOR, None),
        (RuntimeError("\"slow_conv2d_cpu\" not implemented for 'BFloat16'"), NARROW, NUMBERS),
        (RuntimeError("mat1 and mat2 must have the same dtype"), NARROW, NUMBERS),
        (RuntimeError("mat1 and mat2 must have the same dtype"), PROCESSOR, None),
        (RuntimeError("Input type (float) and bias type should be the same"), NARROW, NUMBERS),
        (RuntimeError("The size of tensor a (3) must match"), CARD, None),
        (ExpertError("x is for German only."), CARD, None),
        (InputError("The picture is out of memory's reach."), CARD, None),
        (KeyError("out of memory"), CARD, None),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), PROCESSOR, MEMORY),
        (OSError(errno.ENOENT, "No such file"), PROCESSOR, None),
    ],
)  # fmt: skip
def test_the_place_is_at_fault(
    error: Exception, place: Placement, why: PlaceFailure | None
) -> None:
    assert place_failure(error, place) is why


def test_it_crosses_process_borders_whole() -> None:
    there = pickle.loads(pickle.dumps(PlaceError("x failed.", BROKEN)))
    assert isinstance(there, PlaceError)
    assert (there.message, there.why) == ("x failed.", BROKEN)
