"""Runs foreign native code in a spawned process, one call at a time.

A crash, a hang or an out-of-memory kill there is a failed call here and nothing else. Calls and
answers travel as length-prefixed pickles over a plain pipe: a reader of multiprocessing.Queue
hangs when the writer is killed in the middle, a pipe gives end-of-file.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from jarvis_desktop.core.call import Report
from jarvis_desktop.core.errors import ExpertError, JarvisError

log = logging.getLogger(__name__)

Handler = Callable[..., Any]
"""What runs in the child: handler(report, *args) -> a result that pickles."""

Answer = tuple[Any, ...]
ENDED: Answer = ("ended",)


class Child:
    """A process that answers calls with the handler that `factory` makes.

    `factory` is named "package.module:function" so that only the child imports its module. The
    process starts at the first call, is killed when a call times out or is cancelled, and starts
    anew at the next one.
    """

    def __init__(self, factory: str, *args: object, name: str) -> None:
        self._factory = factory
        self._args = args
        self._name = name
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection | None = None
        self._answers: asyncio.Queue[Answer] = asyncio.Queue()
        self._lock = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        """The process, where one is running."""
        return self._process.pid if self._process else None

    async def start(self) -> None:
        """Start the process now, so that the first call need not wait for it."""
        async with self._lock:
            await self._ensure()

    async def call(self, *args: object, timeout: float, report: Report | None = None) -> Any:
        """The handler's result. `timeout` in seconds, from the moment this call's turn has come.

        Raises JarvisError as the handler raised it, ExpertError where the process died, hung, or
        raised anything else.
        """
        async with self._lock:
            pipe = await self._ensure()
            try:
                async with asyncio.timeout(timeout):
                    return await self._exchange(pipe, args, report)
            except TimeoutError as error:
                self.kill()
                raise ExpertError(
                    f"The {self._name} gave no answer within {timeout:.0f} seconds.",
                    retryable=True,
                ) from error
            except (EOFError, OSError) as error:
                code = self.kill()
                raise ExpertError(
                    f"The {self._name} stopped unexpectedly (exit code {code}).", retryable=True
                ) from error
            except asyncio.CancelledError:
                self.kill()
                raise

    async def close(self) -> None:
        """End the process."""
        self.kill()

    def kill(self) -> int | None:
        """End the process at once and give its exit code."""
        process, self._process, self._pipe = self._process, None, None
        if process is None:
            return None
        process.kill()
        process.join()
        return process.exitcode

    async def _ensure(self) -> Connection:
        if self._pipe is None:
            spawn = asyncio.to_thread(self._spawn, asyncio.get_running_loop())
            spawning = asyncio.ensure_future(spawn)
            try:
                await asyncio.shield(spawning)
            except asyncio.CancelledError:
                # The thread cannot be stopped: the next call must not spawn beside it.
                await asyncio.wait({spawning})
                raise
        assert self._pipe is not None
        return self._pipe

    def _spawn(self, loop: asyncio.AbstractEventLoop) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(
            target=_serve, args=(theirs, self._factory, self._args), name=self._name, daemon=True
        )
        process.start()
        # Our copy must go, or the end of the child would never show as end-of-file.
        theirs.close()
        # A thread of its own, because one that waits in the loop's small shared pool would keep
        # others out; a queue of its own, because a killed child may still be heard.
        self._answers = asyncio.Queue()
        threading.Thread(
            target=_listen, args=(ours, loop, self._answers), name=f"{self._name}-pipe", daemon=True
        ).start()
        self._process, self._pipe = process, ours

    async def _exchange(
        self, pipe: Connection, args: tuple[object, ...], report: Report | None
    ) -> Any:
        await asyncio.to_thread(pipe.send, args)
        while True:
            kind, *rest = await self._answers.get()
            if kind == "progress":
                if report:
                    report(*rest)
            elif kind == "result":
                return rest[0]
            elif kind == "refused":
                raise rest[0]
            elif kind == "ended":
                raise EOFError
            else:
                message, details = rest
                log.info("%s failed: %s", self._name, details)
                raise ExpertError(f"The {self._name} failed: {message}")


def _listen(
    pipe: Connection, loop: asyncio.AbstractEventLoop, answers: asyncio.Queue[Answer]
) -> None:
    answer: Answer = ()
    while answer != ENDED:
        try:
            answer = pipe.recv()
        except (EOFError, OSError):
            answer = ENDED
        try:
            loop.call_soon_threadsafe(answers.put_nowait, answer)
        except RuntimeError:  # the loop is closed: nobody is left to hear
            return


def _serve(pipe: Connection, factory: str, args: tuple[object, ...]) -> None:
    """The child's main loop: ends when the parent goes away."""
    # Ctrl-C in a terminal reaches the whole process group; only the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    module, _, function = factory.partition(":")
    handler: Handler = getattr(importlib.import_module(module), function)(*args)

    def report(fraction: float | None, message: str) -> None:
        pipe.send(("progress", fraction, message))

    with suppress(EOFError, KeyboardInterrupt, BrokenPipeError):
        while True:
            call = pipe.recv()
            try:
                answer: Answer = ("result", handler(report, *call))
            except JarvisError as error:
                answer = ("refused", error)
            except Exception as error:  # noqa: BLE001 - foreign code runs here
                answer = ("failed", _one_line(error), traceback.format_exc())
            pipe.send(answer)


def _end_with_parent() -> None:
    """A child that is busy when its parent is killed would otherwise work on for nobody."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _one_line(error: Exception) -> str:
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words[:300]}" if words else type(error).__name__
