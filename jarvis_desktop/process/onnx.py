"""Loads a small network of this project into onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def small_network(path: Path) -> Any:
    """Return the `InferenceSession` of a network that one thread runs in milliseconds: more threads
    would cost more than they save. Raises what onnxruntime raises."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.inter_op_num_threads = options.intra_op_num_threads = 1
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 4
    # Processors without VNNI would add products of 8 bits up in 16, which overflows: the network
    # would answer differently on them.
    options.add_session_config_entry("session.x64quantprecision", "1")
    return onnxruntime.InferenceSession(
        str(path), providers=["CPUExecutionProvider"], sess_options=options
    )
