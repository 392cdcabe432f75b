"""What `jarvis-desktop` without a command is asked for, and how the JARVIS that runs already is
told of it. A person waits for it with a click: what is imported here is little."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_desktop.app.ipc_client import LONGEST_LINE, NotRunningError, ask
from jarvis_desktop.core.errors import JarvisError

FLAGS = {
    "--hidden": "start in the tray, where the desktop has one",
    "--quick": "open the quick box",
    "--new": "begin a new conversation",
    "--talk": "listen, or stop where it listens",
}
"""What the window can be started with, as people and .desktop files write it."""
STARTING = 15.0
"""Seconds that a JARVIS which has just been started may take until it can be asked."""
LOOKING = 0.1
"""Seconds between two attempts to ask it."""
TOKENS = ("XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID")
"""By which a desktop lets the window come to the front, as the click was meant for it."""

Command = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class LaunchRequest:
    """What the person wants of the window."""

    files: tuple[Path, ...] = ()
    """Attached to the next request; absolute."""
    hidden: bool = False
    quick: bool = False
    new: bool = False
    talk: bool = False


def read(arguments: Sequence[str]) -> LaunchRequest | None:
    """The wish in a command line; None where it is one for the command line's own parser."""
    flags = {word for word in arguments if word in FLAGS}
    names = [word for word in arguments if word not in FLAGS]
    if any(not _is_file(name) for name in names):
        return None
    return LaunchRequest(
        tuple(_path(name) for name in names),
        *(f"--{flag}" in flags for flag in ("hidden", "quick", "new", "talk")),
    )


def commands(wish: LaunchRequest) -> Iterator[Command]:
    """What to tell the running JARVIS, one after the other."""
    token = next((told for name in TOKENS if (told := os.environ.get(name))), "")
    if wish.new:
        yield {"do": "new", "token": token}
    if wish.files:
        yield from _attaching([str(path) for path in wish.files], token)
    if wish.quick:
        yield {"do": "quick", "token": token}
    if wish.talk:
        yield {"do": "talk", "action": "toggle"}
    if wish == LaunchRequest():
        yield {"do": "show", "token": token}
    elif wish == LaunchRequest(hidden=True):
        yield {"do": "talk", "action": "status"}  # only to know whether there is one


def hand_over(wish: LaunchRequest, folder: Path, claim: Callable[[], bool]) -> bool:
    """Let the JARVIS that runs do it; False where this process is the one that has to.

    `folder` is that of its socket. `claim` makes this process the one that is asked from now on,
    and says whether it is; a process that is about to end may still hold that.
    """
    end = time.monotonic() + STARTING
    try:
        while not _told(wish, folder):
            if claim() or time.monotonic() > end:
                return False
            time.sleep(LOOKING)
    except JarvisError:
        return False  # it is a terminal, or hangs: a window is better than none
    return True


def _told(wish: LaunchRequest, folder: Path) -> bool:
    """Whether there is one that was told; raises another JarvisError where it refused."""
    try:
        for command in commands(wish):
            ask(folder, command)
    except NotRunningError:
        return False
    return True


def _is_file(name: str) -> bool:
    if name.startswith("-"):
        return False
    # What has a folder in its name is meant as a file also where there is none; the window says so.
    return name.startswith("file:") or os.sep in name or os.path.lexists(name)


def _path(name: str) -> Path:
    if name.startswith("file:"):
        from urllib.parse import urlsplit
        from urllib.request import url2pathname

        name = url2pathname(urlsplit(name).path)
    return Path(os.path.abspath(name))  # noqa: PTH100 - resolve would follow links


def _attaching(names: Sequence[str], token: str) -> Iterator[Command]:
    """As many commands as lines are needed."""
    part: list[str] = []
    size = 0
    for name in names:
        length = len(json.dumps(name)) + 2
        if part and size + length > LONGEST_LINE - 1024:
            yield {"do": "open", "paths": part, "token": token}
            part, size = [], 0
        part.append(name)
        size += length
    yield {"do": "open", "paths": part, "token": token}
