"""The main loop of a child process: answers calls with a handler until its parent ends."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

from jarvis_desktop import localization
from jarvis_desktop.core.context import current_detail, current_draft
from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.process.network_guard import apply_child_policy

Handler = Callable[..., Any]
"""Runs in the child: handler(report, *args) -> a picklable result."""

Answer = tuple[Any, ...]
"""A kind, "progress", "draft", "detail", "result", "refused", "failed" or "unbuilt",
and its data."""

SET_PDEATHSIG = 1
"""Of prctl(2)."""


def serve(
    pipe: Connection,
    factory: str,
    args: tuple[object, ...],
    network: bool,
    services: bool,
    libraries: Path | None = None,
) -> None:
    """Run the child's main loop until the parent ends."""
    # Ctrl-C in a terminal reaches the whole process group; only the parent handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    apply_child_policy(network=network, services=services)
    if libraries:
        sys.path.insert(0, str(libraries))
    localization.inherit()
    localization.inherit_wording()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    current_draft.set(lambda piece: pipe.send(("draft", piece)))
    current_detail.set(lambda text: pipe.send(("detail", text)))
    handler: Handler | None = None
    unbuilt: Answer = ()
    try:
        module, _, function = factory.partition(":")
        handler = getattr(importlib.import_module(module), function)(*args)
    except Exception as error:  # noqa: BLE001 - foreign code is imported and runs here
        unbuilt = "unbuilt", _error_answer(error)
    with suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
        while True:
            call = pipe.recv_bytes()
            answer = _answer(handler, pipe, call) if handler else _packed(unbuilt)
            pipe.send_bytes(answer)


def _answer(handler: Handler, pipe: Connection, call: bytes) -> memoryview:
    """Call the handler and pickle the answer here, so that a failure can be reported."""

    def report(fraction: float | None, message: str) -> None:
        pipe.send(("progress", fraction, message))

    try:
        return _packed(("result", handler(report, *ForkingPickler.loads(call))))
    except Exception as error:  # noqa: BLE001 - foreign code runs here
        return _packed(_error_answer(error))


def _error_answer(error: Exception) -> Answer:
    if isinstance(error, JarvisError):
        return "refused", error
    return "failed", one_line(error), frames(error)


def _packed(answer: Answer) -> memoryview:
    packed: memoryview = ForkingPickler.dumps(answer)
    return packed


def _end_with_parent() -> None:
    """End when the parent is killed, even in the middle of a call."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def one_line(error: Exception) -> str:
    """Format an error: its type and the beginning of its message."""
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words[:300]}" if words else type(error).__name__


def ended_with_us() -> Callable[[], object] | None:
    """Return what asks Linux, between fork and exec, to end a program with this process; None on
    other systems."""
    if sys.platform != "linux":
        return None
    import ctypes

    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(SET_PDEATHSIG, signal.SIGKILL)
