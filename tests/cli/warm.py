"""Commands that start at once: a process that has imported the command line forks for each.

What is run is the command itself, from its entry point to the end of its interpreter, in a process
and an environment of its own; only the half second of imports is not repeated.

    python -m tests.cli.warm SOCKET
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


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
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
            )

    def run(
        self, args: list[str], *, cwd: Path, env: Mapping[str, str], stdin: str, timeout: float
    ) -> tuple[int, str, str]:
        """The exit code (negative for a signal), standard output and standard error.

        Raises TimeoutError after so many seconds, and ends the command.
        """
        request = json.dumps({"args": args, "cwd": str(cwd), "env": dict(env)}).encode()
        with contextlib.ExitStack() as stack:
            files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
            files[0].write(stdin.encode())
            files[0].seek(0)
            self._ours.settimeout(timeout)
            socket.send_fds(
                self._ours, [len(request).to_bytes(4, "big")], [item.fileno() for item in files]
            )
            self._ours.sendall(request)
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


def serve(connection: socket.socket) -> int | None:
    """Fork for each request. In a fork: set it up and return None; at the end, 0."""
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
            return 0
        with connection.makefile("rb", buffering=0) as stream:
            left, request = int.from_bytes(head, "big"), b""
            while len(request) < left:
                request += stream.read(left - len(request)) or b""
        wanted = json.loads(request)
        child = os.fork()
        if not child:
            connection.close()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            for target, file in enumerate(files):
                os.dup2(file, target)
                os.close(file)
            os.chdir(wanted["cwd"])
            os.environ.clear()
            os.environ.update(wanted["env"])
            sys.argv = ["jarvis-desktop", *wanted["args"]]
            return None
        for file in files:
            os.close(file)
        _, status = os.waitpid(child, 0)
        connection.sendall(status.to_bytes(4, "big"))
        child = 0


if __name__ == "__main__":
    from jarvis_desktop.__main__ import end_quickly, main

    end_quickly()
    # Every first start makes a history with sqlite-utils, and that imports pandas if it is there.
    for name in ("jarvis_desktop.app.build", "jarvis_desktop.cli.main", "sqlite_utils"):
        importlib.import_module(name)
    # Else each fork reads the cues of all tasks.
    importlib.import_module("jarvis_desktop.assistant.planning.intents").find_cues(
        "", importlib.import_module("jarvis_desktop.tasks.registry").INVENTORY
    )
    # Else each fork looks through all of these objects when it ends, and copies their memory.
    gc.collect()
    gc.freeze()
    if serve(socket.socket(fileno=int(sys.argv[1]))) is not None:
        sys.exit(0)
    sys.exit(main())
