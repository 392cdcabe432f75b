"""Weights of no expert, as whole files of the safe format."""

from __future__ import annotations

import json
import random

HEADER = 120
"""Bytes of the header, with what pads it."""


def weights_of(size: int, *, seed: int = 1) -> bytes:
    """A file of `size` bytes: one tensor of random ones."""
    count = size - HEADER - 8
    header = {"w": {"dtype": "U8", "shape": [count], "data_offsets": [0, count]}}
    body = random.Random(seed).randbytes(count)
    return HEADER.to_bytes(8, "little") + json.dumps(header).ljust(HEADER).encode() + body
