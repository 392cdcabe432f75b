"""Commands that start at once: a process that has imported the command line forks for each.

What is run is the command itself, from its entry point to the end of its interpreter, in a process
and an environment of its own; only the half second of imports is not repeated.

A command that a test talks with, kills or gives a terminal is a `WarmProcess`.

    python -m tests.cli.warm SOCKET
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import fcntl
import gc
import importlib
import inspect
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import termios
from collections.abc import Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

from tests import hidden

ROOT = Path(__file__).resolve().parents[2]
COMMAND_LINE = "jarvis_desktop.__main__"
SET_CHILD_SUBREAPER = 36
"""Of prctl(2)."""
PIPES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
"""How Popen names the ends of its pipes."""


class WarmCommands:
    """Runs `jarvis-desktop` in forks of one process. Close it."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self._ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.cli.warm", str(theirs.fileno())],
                cwd=ROOT,
                env={**os.environ, "PYTHONPATH": hidden.PATH},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )

    def run(
        self, args: list[str], *, cwd: Path, env: Mapping[str, str], stdin: str, timeout: float
    ) -> tuple[int, str, str]:
        """The exit code (negative for a signal), standard output and standard error.

        Raises TimeoutError after so many seconds, and ends the command.
        """
        wanted = {"args": args, "cwd": str(cwd), "env": dict(env), "module": COMMAND_LINE}
        with contextlib.ExitStack() as stack:
            files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
            files[0].write(stdin.encode())
            files[0].seek(0)
            self._ours.settimeout(timeout)
            self._ask(wanted, [item.fileno() for item in files])
            try:
                status = int.from_bytes(self._exactly(4), "big")
            except TimeoutError:
                self.close()
                self._start()  # else all later tests fail for this one
                raise
            told = []
            for item in files[1:]:
                item.seek(0)
                told.append(item.read().decode(errors="replace"))
        return os.waitstatus_to_exitcode(status), told[0], told[1]

    def start(self, wanted: dict[str, Any], files: list[int]) -> int:
        """The id of a process that has become a child of this one."""
        prctl = ctypes.CDLL(None).prctl
        prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        try:
            self._ours.settimeout(60)
            self._ask({**wanted, "started": True}, files)
            pid = self._exactly(4)
            assert not any(self._exactly(4))  # the process between them has ended
            return int.from_bytes(pid, "big")
        finally:
            prctl(SET_CHILD_SUBREAPER, 0, 0, 0, 0)  # what commands leave is not this one's

    def _ask(self, wanted: dict[str, Any], files: list[int]) -> None:
        request = json.dumps(wanted).encode()
        socket.send_fds(self._ours, [len(request).to_bytes(4, "big")], files)
        self._ours.sendall(request)

    def _exactly(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            more = self._ours.recv(count - len(found))
            if not more:
                raise AssertionError("the process that runs commands has ended")
            found += more
        return found

    def close(self) -> None:
        """End the process, and the command that it may be running."""
        self._ours.close()
        self._process.terminate()
        self._process.wait()


@cache
def warm_commands() -> WarmCommands:
    """The one of all tests. Close it with `end_commands`."""
    return WarmCommands()


def end_commands() -> None:
    """End it, if it was started."""
    if warm_commands.cache_info().currsize:
        with closing(warm_commands()):
            warm_commands.cache_clear()


class WarmProcess(subprocess.Popen[Any]):
    """A `subprocess.Popen` whose process is a fork, and calls the `main` of a module.

    `tty` makes the terminal of its standard input the one whose Ctrl-C reaches it, as a shell
    would do. `named` are those of Popen that concern files, the folder, the environment, the text
    and the session."""

    def __init__(
        self, *args: str, module: str = COMMAND_LINE, tty: bool = False, **named: Any
    ) -> None:
        self._wanted = {"module": module, "tty": tty}
        super().__init__(["jarvis-desktop", *args], **named)

    def _execute_child(self, *given: Any) -> None:
        named = inspect.signature(subprocess.Popen._execute_child).bind(self, *given).arguments  # type: ignore[attr-defined]
        theirs = (named["p2cread"], named["c2pwrite"], named["errwrite"])
        wanted = self._wanted | {
            "args": [os.fsdecode(arg) for arg in named["args"][1:]],
            "cwd": os.fsdecode(named["cwd"] or os.getcwd()),
            "env": dict(os.environ if named["env"] is None else named["env"]),
            "session": named["start_new_session"],
        }
        files = [std if one == -1 else one for std, one in enumerate(theirs)]
        self.pid = warm_commands().start(wanted, files)
        self._child_created = True
        self._close_pipe_fds(*(named[name] for name in PIPES))  # type: ignore[attr-defined]


def serve(connection: socket.socket) -> str | None:
    """Fork for each request. In a fork: set it up and return the module whose `main` is to be
    called; at the end, None."""
    child = 0

    def end(number: int, frame: object) -> None:
        if child:
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                os.kill(child, signal.SIGKILL)
        os._exit(1)

    signal.signal(signal.SIGTERM, end)
    while True:
        head, files, _, _ = socket.recv_fds(connection, 4, 3)
        if not head:
            return None
        with connection.makefile("rb", buffering=0) as stream:
            left, request = int.from_bytes(head, "big"), b""
            while len(request) < left:
                request += stream.read(left - len(request)) or b""
        wanted = json.loads(request)
        child = os.fork()
        if not child:
            if wanted.get("started") and (pid := os.fork()):
                connection.sendall(pid.to_bytes(4, "big"))
                os._exit(0)  # the process that asked inherits it
            connection.close()
            _become(wanted, files)
            return str(wanted["module"])
        for file in files:
            os.close(file)
        _, status = os.waitpid(child, 0)
        connection.sendall(status.to_bytes(4, "big"))
        child = 0


def _become(wanted: dict[str, Any], files: list[int]) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for target, file in enumerate(files):
        os.dup2(file, target)
        os.close(file)
    if wanted.get("session"):
        os.setsid()
    if wanted.get("tty"):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        faulthandler.enable()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=stream.isatty() or stream is sys.stderr)  # type: ignore[union-attr]
    os.chdir(wanted["cwd"])
    os.environ.clear()
    os.environ.update(wanted["env"])
    sys.argv = ["jarvis-desktop", *wanted["args"]]


if __name__ == "__main__":
    from jarvis_desktop.__main__ import end_quickly

    end_quickly()
    # Every first start makes a history with sqlite-utils, and that imports pandas if it is there.
    for name in ("jarvis_desktop.app.build", "jarvis_desktop.cli.session", "sqlite_utils"):
        importlib.import_module(name)
    importlib.import_module("jarvis_desktop.cli.main").parser()  # imports all commands
    # Else each fork reads the cues of all tasks.
    importlib.import_module("jarvis_desktop.assistant.planning.intents").find_cues(
        "", importlib.import_module("jarvis_desktop.tasks.registry").INVENTORY
    )
    # Its children are forks of one more process, which all commands share.
    warm_context = importlib.import_module("tests.warm_context")
    warm_context.replace_spawning(warm_context.LIGHT)
    warm_context.share_warm_process()
    # Else each fork looks through all of these objects when it ends, and copies their memory.
    gc.collect()
    gc.freeze()
    wanted_module = serve(socket.socket(fileno=int(sys.argv[1])))
    sys.exit(importlib.import_module(wanted_module).main() if wanted_module else 0)
