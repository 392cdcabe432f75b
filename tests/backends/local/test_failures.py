"""Which errors of torch are the place's fault."""

from __future__ import annotations

import errno
import pickle

import pytest

from jarvis_desktop.backends.local.failures import PlaceError, Why, why_it_failed
from jarvis_desktop.core.errors import ExpertError, Fault, InputError
from jarvis_desktop.core.placement import PROCESSOR, Placement

CARD = Placement("cuda", half=True)
NARROW = Placement(half=True)


@pytest.mark.parametrize(
    ("error", "place", "why"),
    [
        (RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB."), CARD, Why.MEMORY),
        (RuntimeError("MPS backend out of memory (MPS allocated: 9 GB)"), CARD, Why.MEMORY),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED"), CARD, Why.MEMORY),
        (
            RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to"),
            PROCESSOR,
            Why.MEMORY,
        ),
        (RuntimeError("DefaultCPUAllocator: not enough memory: you tried"), PROCESSOR, Why.MEMORY),
        (MemoryError(), PROCESSOR, Why.MEMORY),
        (ExpertError("x needs more memory.", fault=Fault.MEMORY), PROCESSOR, Why.MEMORY),
        (RuntimeError("CUDA error: unspecified launch failure"), CARD, Why.CARD),
        (RuntimeError("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED"), CARD, Why.CARD),
        (RuntimeError("No CUDA GPUs are available"), CARD, Why.CARD),
        (AssertionError("Torch not compiled with CUDA enabled"), CARD, Why.CARD),
        (RuntimeError("CUDA error: unknown"), PROCESSOR, None),
        (RuntimeError("\"slow_conv2d_cpu\" not implemented for 'BFloat16'"), NARROW, Why.NUMBERS),
        (RuntimeError("mat1 and mat2 must have the same dtype"), NARROW, Why.NUMBERS),
        (RuntimeError("mat1 and mat2 must have the same dtype"), PROCESSOR, None),
        (RuntimeError("Input type (float) and bias type should be the same"), NARROW, Why.NUMBERS),
        (RuntimeError("The size of tensor a (3) must match"), CARD, None),
        (ExpertError("x is for German only."), CARD, None),
        (InputError("The picture is out of memory's reach."), CARD, None),
        (KeyError("out of memory"), CARD, None),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), PROCESSOR, Why.MEMORY),
        (OSError(errno.ENOENT, "No such file"), PROCESSOR, None),
    ],
)  # fmt: skip
def test_the_place_is_at_fault(error: Exception, place: Placement, why: Why | None) -> None:
    assert why_it_failed(error, place) is why


def test_it_crosses_process_borders_whole() -> None:
    there = pickle.loads(pickle.dumps(PlaceError("x failed.", Why.CARD)))
    assert isinstance(there, PlaceError)
    assert (there.message, there.why) == ("x failed.", Why.CARD)
