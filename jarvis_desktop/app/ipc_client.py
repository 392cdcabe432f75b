"""Asks the running JARVIS from a second process, and hands it what the window is launched with.

Keys and clicks start this, so it must be quick: imports are few.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import struct
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_desktop.core.errors import JarvisError, StorageError, UnavailableError

MAX_LINE_BYTES = 64 * 1024
"""The longest command or answer."""
MAX_ADDRESS_BYTES = 103
"""The longest name of a Unix socket; Linux allows four more bytes."""
ERROR_PIPE_BUSY = 231
"""Windows' error if all ends of a pipe are in use."""


class NotRunningError(UnavailableError):
    """There is no running JARVIS."""

    def __init__(self) -> None:
        super().__init__("JARVIS is not running.", hint="Start it with: jarvis-desktop")


def ask(folder: Path, command: Mapping[str, object], *, limit: float = 5.0) -> Mapping[str, Any]:
    """Send a command to the running JARVIS and return its answer within `limit` seconds.

    `folder` is that of its socket. Raises NotRunningError, or another JarvisError if it refuses or
    does not answer.
    """
    line = json.dumps(command).encode() + b"\n"
    try:
        if sys.platform == "win32":
            answered = over_pipe(address(folder), line, limit)
        else:
            answered = _over_socket(address(folder), line, limit)
    except TimeoutError as error:
        raise UnavailableError(
            "JARVIS is running but does not answer.", hint="Close it and start it again."
        ) from error
    except OSError as error:
        raise NotRunningError from error
    if not answered.endswith(b"\n"):
        raise NotRunningError  # it ended in the meantime
    try:
        answer = json.loads(answered.decode())
    except (ValueError, RecursionError) as error:
        raise UnavailableError("JARVIS gave an answer that cannot be read.") from error
    if not isinstance(answer, dict) or answer.pop("ok", None) is not True:
        told = answer if isinstance(answer, dict) else {}
        words, hint = str(told.get("error", "JARVIS refused.")), str(told.get("hint", ""))
        raise JarvisError(words, hint=hint)
    return answer


def address(folder: Path) -> str:
    """The address of the JARVIS with this folder. Raises StorageError."""
    if sys.platform == "win32":
        return rf"\\.\pipe\jarvis-desktop-{_short(folder)}"
    usual = folder / "instance.sock"
    if len(os.fsencode(usual)) <= MAX_ADDRESS_BYTES:
        return str(usual)
    import tempfile

    shorter = Path(tempfile.gettempdir(), f"jarvis-desktop-{os.getuid()}")
    make_private(shorter)
    return str(shorter / _short(folder))


def make_private(folder: Path) -> None:
    """Make a folder that only this user can enter. Raises StorageError."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = folder.lstat()
        if sys.platform != "win32":
            if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid():
                raise StorageError(f"The folder {folder} belongs to another user.")
            if about.st_mode & 0o077:
                folder.chmod(0o700)
    except OSError as error:
        raise StorageError(f"The folder {folder} cannot be used: {error.strerror}.") from error


def is_mine(peer: Any) -> bool:
    """Whether the process at the other end of a socket belongs to this user."""
    if sys.platform == "linux":
        _, user, _ = struct.unpack(
            "iII", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("iII"))
        )
        return bool(user == os.getuid())
    if sys.platform == "darwin":
        level, option, size = 0, 1, 76  # SOL_LOCAL, LOCAL_PEERCRED, struct xucred
        _, user = struct.unpack_from("II", peer.getsockopt(level, option, size))
        return bool(user == os.getuid())
    return True  # the folder of the socket is closed to others


def over_pipe(name: str, line: bytes, limit: float) -> bytes:
    """Exchange one line each over a named pipe, whose reads have no time-out."""
    import threading

    ended: list[bytes | OSError] = []

    def exchange() -> None:
        try:
            with _open_pipe(name, time.monotonic() + limit) as pipe:
                pipe.write(line)
                ended.append(_rest_of_line(pipe.read))
        except OSError as error:
            ended.append(error)

    thread = threading.Thread(target=exchange, daemon=True)
    thread.start()
    thread.join(limit)
    if not ended:
        raise TimeoutError
    if isinstance(ended[0], OSError):
        raise ended[0]
    return ended[0]


def _over_socket(name: str, line: bytes, limit: float) -> bytes:
    if sys.platform == "win32":
        raise OSError
    end = time.monotonic() + limit
    with socket.socket(socket.AF_UNIX) as ours:
        ours.settimeout(limit)
        ours.connect(name)
        if not is_mine(ours):
            raise PermissionError
        ours.sendall(line)

        def more(size: int) -> bytes:
            ours.settimeout(max(end - time.monotonic(), 0.001))
            return ours.recv(size)

        return _rest_of_line(more)


def _rest_of_line(more: Any) -> bytes:
    """Read up to the end of the line, or as far as it came."""
    got = b""
    while not got.endswith(b"\n") and len(got) <= MAX_LINE_BYTES and (piece := more(4096)):
        got += piece
    return got


def _open_pipe(name: str, end: float) -> Any:
    while True:
        try:
            return open(name, "r+b", buffering=0)  # noqa: PTH123 - a pipe is not a path
        except OSError as error:
            if getattr(error, "winerror", None) != ERROR_PIPE_BUSY or time.monotonic() > end:
                raise
            time.sleep(0.01)


def _short(folder: Path) -> str:
    import hashlib

    return hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]


FLAGS = {
    "--hidden": "start in the tray, where the desktop has one",
    "--quick": "open the quick box",
    "--new": "begin a new conversation",
    "--talk": "listen, or stop if it is listening",
}
"""The options of the window, as used by users and .desktop files."""
START_TIMEOUT_S = 15.0
"""How long a JARVIS that has just been started may take to answer."""
RETRY_INTERVAL_S = 0.1
"""The interval between attempts to reach it."""
ACTIVATION_TOKENS = ("XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID")
"""Tokens with which a desktop lets the window come to the front after a click."""

Command = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class LaunchRequest:
    """What the window is launched for."""

    files: tuple[Path, ...] = ()
    """Absolute paths, attached to the next request."""
    hidden: bool = False
    quick: bool = False
    new: bool = False
    talk: bool = False


def read_launch_request(arguments: Sequence[str]) -> LaunchRequest | None:
    """The request in a command line; None if the parser of the command line must read it."""
    flags = {word for word in arguments if word in FLAGS}
    names = [word for word in arguments if word not in FLAGS]
    if any(not _is_file(name) for name in names):
        return None
    return LaunchRequest(
        tuple(_path(name) for name in names),
        *(f"--{flag}" in flags for flag in ("hidden", "quick", "new", "talk")),
    )


def commands(wish: LaunchRequest) -> Iterator[Command]:
    """The commands for the running JARVIS, in order."""
    token = next((told for name in ACTIVATION_TOKENS if (told := os.environ.get(name))), "")
    if wish.new:
        yield {"do": "new", "token": token}
    if wish.files:
        yield from _open_commands([str(path) for path in wish.files], token)
    if wish.quick:
        yield {"do": "quick", "token": token}
    if wish.talk:
        yield {"do": "talk", "action": "toggle"}
    if wish == LaunchRequest():
        yield {"do": "show", "token": token}
    elif wish == LaunchRequest(hidden=True):
        yield {"do": "talk", "action": "status"}  # only to find out whether there is one


def hand_over(wish: LaunchRequest, folder: Path, claim: Callable[[], bool]) -> bool:
    """Hand the request to the running JARVIS. Return False if this process must open the window.

    `folder` is that of its socket. `claim` makes this process the running JARVIS and returns
    whether that worked; a process about to end may still hold the lock.
    """
    end = time.monotonic() + START_TIMEOUT_S
    try:
        while not _was_handed_over(wish, folder):
            if claim() or time.monotonic() > end:
                return False
            time.sleep(RETRY_INTERVAL_S)
    except JarvisError:
        return False  # it runs in a terminal or hangs: a window is better than nothing
    return True


def _was_handed_over(wish: LaunchRequest, folder: Path) -> bool:
    """Whether a JARVIS took the request. Raises another JarvisError if it refused."""
    try:
        for command in commands(wish):
            ask(folder, command)
    except NotRunningError:
        return False
    return True


def _is_file(name: str) -> bool:
    if name.startswith("-"):
        return False
    # A name with a folder is meant as a file even if it does not exist; the window reports that.
    return name.startswith("file:") or os.sep in name or os.path.lexists(name)


def _path(name: str) -> Path:
    if name.startswith("file:"):
        from urllib.parse import urlsplit
        from urllib.request import url2pathname

        name = url2pathname(urlsplit(name).path)
    return Path(os.path.abspath(name))  # noqa: PTH100 - resolve would follow links


def _open_commands(names: Sequence[str], token: str) -> Iterator[Command]:
    """Split the names into as many commands as the line length requires."""
    part: list[str] = []
    size = 0
    for name in names:
        length = len(json.dumps(name)) + 2
        if part and size + length > MAX_LINE_BYTES - 1024:
            yield {"do": "open", "paths": part, "token": token}
            part, size = [], 0
        part.append(name)
        size += length
    yield {"do": "open", "paths": part, "token": token}
