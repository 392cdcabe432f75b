"""A command in a terminal of its own, with a person at the keyboard."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cli.warm import COMMAND_LINE, WarmProcess


class Terminal:
    """What the person sees and types."""

    def __init__(self, process: subprocess.Popen[bytes], ours: int) -> None:
        self.process = process
        self._ours = ours
        self._unseen = b""
        self.shown = ""

    def until(self, words: str) -> str:
        """Return what was shown up to these words; the next call begins behind them."""
        while words.encode() not in self._unseen:
            self._unseen += self._read() or self._ended(words)
        before, there, self._unseen = self._unseen.partition(words.encode())
        seen = (before + there).decode(errors="replace")
        self.shown += seen
        return seen

    def type(self, keys: str) -> None:
        """Press keys; "\\x03" is Ctrl-C, "\\x04" is Ctrl-D."""
        os.write(self._ours, keys.encode())

    def shows_what_is_typed(self) -> bool:
        """Whether whole lines are read, and seen while they are typed."""
        flags = int(termios.tcgetattr(self._ours)[3])
        return bool(flags & termios.ECHO and flags & termios.ICANON)

    def ends(self) -> int:
        """The exit code; nothing shown may have been a traceback."""
        try:
            code = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)  # it then shows what each thread does
            self._unseen += b"".join(iter(self._read, b""))
            raise AssertionError(f"it does not end: {self._unseen.decode()}") from None
        while more := self._read():
            self._unseen += more
        self.shown += self._unseen.decode(errors="replace")
        assert "Traceback" not in self.shown, self.shown
        assert "Exception ignored" not in self.shown, self.shown
        return code

    def _read(self) -> bytes:
        try:
            return os.read(self._ours, 4096)
        except OSError:  # how Linux says that nobody has the other side open any more
            return b""

    def _ended(self, words: str) -> bytes:
        seen = self._unseen.decode(errors="replace")
        raise AssertionError(f"it ended without {words!r}: {seen}")


@contextmanager
def terminal(
    folder: Path,
    *args: str,
    environment: dict[str, str],
    module: str = COMMAND_LINE,
    warm: bool = True,
) -> Iterator[Terminal]:
    """Run `jarvis-desktop ARGS` there, or the `main` of another module; it is killed at the end
    where it still runs. Its children are its own only if it is not `warm`."""
    ours, theirs = pty.openpty()
    known = {name: value for name, value in os.environ.items() if "DISPLAY" not in name}
    named: Any = {
        "cwd": folder, "env": {**known, **environment}, "start_new_session": True,
        "stdin": theirs, "stdout": theirs, "stderr": theirs,
    }  # fmt: skip
    process = (
        WarmProcess(*args, module=module, tty=True, **named)
        if warm
        else subprocess.Popen([sys.executable, "-c", START.format(module=module), *args], **named)
    )
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


START = """
import faulthandler, fcntl, sys, termios
faulthandler.enable()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from {module} import main
sys.exit(main())
"""
"""The terminal is made the one whose Ctrl-C reaches the process, as a shell would do."""
