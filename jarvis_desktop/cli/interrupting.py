"""Ctrl-C in agent mode: it stops the step that runs, and once more the whole request."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Iterator
from types import FrameType

from jarvis_desktop.cli import output


@contextlib.contextmanager
def stoppable(stop: Callable[[], bool]) -> Iterator[None]:
    """While it lasts, Ctrl-C asks `stop` to end a part of the work; where that gives False it does
    what it did before.

    A Ctrl-C that comes before the loop could ask for the last one does that at once: nothing that
    keeps the loop busy makes the program deaf.
    """
    usual = signal.getsignal(signal.SIGINT)
    if not callable(usual):  # the shell has us in the background, where Ctrl-C is not for us
        yield
        return
    loop = asyncio.get_running_loop()
    waiting = False

    def ask(number: int) -> None:
        nonlocal waiting
        waiting = False
        if stop():
            output.note("\nstop    This step is stopped; Ctrl-C once more ends the whole request.")
        else:
            usual(number, None)

    def pressed(number: int, frame: FrameType | None) -> None:
        nonlocal waiting
        if waiting:
            usual(number, frame)
        else:
            waiting = True
            loop.call_soon_threadsafe(ask, number)

    try:
        signal.signal(signal.SIGINT, pressed)
    except ValueError:  # not the main thread, which is the one that Ctrl-C reaches
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
