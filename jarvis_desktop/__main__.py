"""Chooses the window or the command line.

Child processes import this file again, so it must contain nothing else.
"""

from __future__ import annotations

import atexit
import os
import sys
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from jarvis_desktop.app.ipc_client import LaunchRequest


_ended: list[int] = []
"""The exit code of a command that has ended."""


@cache
def end_quickly() -> None:
    """Let a command exit without unloading the libraries, which takes a tenth of a second. To be
    called first: what is registered first is called last, after all else that is to be done."""
    atexit.register(_end)


def _end() -> None:
    if _ended:
        with suppress(OSError, ValueError):  # Python's own end reports it
            _flush()
            os._exit(_ended[-1])


def main() -> int:
    """The entry point of `jarvis-desktop`."""
    end_quickly()
    if sys.argv[1:2] == ["talk"]:  # it must be quick: a key is bound to it
        from jarvis_desktop.cli.commands.talk import main as talk

        return talk(sys.argv[2:])
    import multiprocessing

    multiprocessing.freeze_support()
    from jarvis_desktop.platform.api_keys import hide
    from jarvis_desktop.platform.desktop import has_no_display

    hide()  # before any process could inherit them

    from jarvis_desktop.app import ipc_client

    wish = ipc_client.read_launch_request(sys.argv[1:])
    if wish and not has_no_display():
        return _window(wish)
    from jarvis_desktop.cli.main import main as command_line

    _ended.append(command_line(sys.argv[1:]))
    return _ended[-1]


def _window(wish: LaunchRequest) -> int:
    """Open the window until it is closed, or hand over to the running JARVIS. Return the exit
    code."""
    import gc

    from jarvis_desktop import paths
    from jarvis_desktop.app import ipc_client
    from jarvis_desktop.app.single_instance import Instance

    instance = Instance(paths.run_folder())
    if ipc_client.hand_over(wish, paths.run_folder(), instance.claim):
        return 0
    gc.disable()  # imported objects stay; later `GarbageCollection` collects
    from jarvis_desktop.ui.app import composed, run

    return _leave(run(partial(composed, instance=instance), wish))


def _leave(code: int) -> NoReturn:
    """Exit without unloading the libraries, which would take long."""
    import logging

    logging.shutdown()
    _flush()
    os._exit(code)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream:
            stream.flush()


if __name__ == "__main__":
    sys.exit(main())
