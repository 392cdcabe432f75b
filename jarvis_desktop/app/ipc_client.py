"""Asks the running JARVIS from a second process. A person may bind a key to that, so that nothing
is imported here which takes time."""

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
"""Bytes of a command or an answer."""
MAX_ADDRESS_BYTES = 103
"""Bytes that the name of a Unix socket may have; Linux allows four more."""
ERROR_PIPE_BUSY = 231
"""Windows' error where all ends of a pipe are taken at this moment."""


class NotRunningError(UnavailableError):
    """There is no running JARVIS."""

    def __init__(self) -> None:
        super().__init__("JARVIS is not running.", hint="Start it with: jarvis-desktop")


def ask(folder: Path, command: Mapping[str, object], *, limit: float = 5.0) -> Mapping[str, Any]:
    """The running JARVIS's answer to a command, at most `limit` seconds later.

    `folder` is that of its socket. Raises NotRunningError, and another JarvisError where it
    refused or does not answer.
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
        raise NotRunningError  # it ended in between
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
    """Where a JARVIS whose folder this is listens. Raises StorageError."""
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
    """Have a folder that only this person can enter. Raises StorageError."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = folder.lstat()
        if sys.platform != "win32":
            if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid():
                raise StorageError(f"The folder {folder} belongs to somebody else.")
            if about.st_mode & 0o077:
                folder.chmod(0o700)
    except OSError as error:
        raise StorageError(f"The folder {folder} cannot be used: {error.strerror}.") from error


def is_mine(peer: Any) -> bool:
    """Whether the process at the other end of a socket runs for this person."""
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
    """One line there and one back by a named pipe, whose reads know no time-out."""
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
    """Up to the end of the line, or as far as it came."""
    got = b""
    while not got.endswith(b"\n") and len(got) <= MAX_LINE_BYTES and (piece := more(4096)):
        got += piece
    return got


def _open_pipe(name: str, end: float) -> Any:
    while True:
        try:
            return open(name, "r+b", buffering=0)  # noqa: PTH123 - a pipe is no path
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
    "--talk": "listen, or stop where it listens",
}
"""What the window can be started with, as people and .desktop files write it."""
START_TIMEOUT_S = 15.0
"""Seconds that a JARVIS which has just been started may take until it can be asked."""
RETRY_INTERVAL_S = 0.1
"""Seconds between two attempts to ask it."""
ACTIVATION_TOKENS = ("XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID")
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


def read_launch_request(arguments: Sequence[str]) -> LaunchRequest | None:
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
        yield {"do": "talk", "action": "status"}  # only to know whether there is one


def hand_over(wish: LaunchRequest, folder: Path, claim: Callable[[], bool]) -> bool:
    """Let the JARVIS that runs do it; False where this process is the one that has to.

    `folder` is that of its socket. `claim` makes this process the one that is asked from now on,
    and says whether it is; a process that is about to end may still hold that.
    """
    end = time.monotonic() + START_TIMEOUT_S
    try:
        while not _was_handed_over(wish, folder):
            if claim() or time.monotonic() > end:
                return False
            time.sleep(RETRY_INTERVAL_S)
    except JarvisError:
        return False  # it is a terminal, or hangs: a window is better than none
    return True


def _was_handed_over(wish: LaunchRequest, folder: Path) -> bool:
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


def _open_commands(names: Sequence[str], token: str) -> Iterator[Command]:
    """As many commands as lines are needed."""
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
