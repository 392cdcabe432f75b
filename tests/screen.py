"""A private X screen as a real keyboard: what is pressed there is pressed for every program on it.

Used by the tests of the talk key and by its benchmark.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

PRESS, RELEASE = 2, 3
"""Kinds of events of the X protocol."""


@dataclass
class Screen:
    """A running server without a window manager, and a keyboard on it."""

    name: str
    process: subprocess.Popen[bytes]
    _connections: list[Any] = field(default_factory=list)

    @property
    def connection(self) -> Any:
        """A program of the test's own on this screen."""
        if not self._connections:
            self._connections.append(self.connect())
        return self._connections[0]

    def connect(self) -> Any:
        import xcffib.xproto

        library: Any = xcffib
        return library.connect(display=self.name)

    def code(self, keysym: int) -> int:
        """The first key on which this stands."""
        setup = self.connection.get_setup()
        first, last = setup.min_keycode, setup.max_keycode
        reply = self.connection.core.GetKeyboardMapping(first, last - first + 1).reply()
        return int(first + list(reply.keysyms).index(keysym) // reply.keysyms_per_keycode)

    def fake(self, kind: int, *keysyms: int) -> None:
        """Press or let go these keys, and wait until the server has done it."""
        import xcffib.xtest

        test = self.connection(xcffib.xtest.key)
        for keysym in keysyms:
            test.FakeInput(kind, self.code(keysym), 0, 0, 0, 0, 0, is_checked=True).check()

    def press(self, *keysyms: int) -> None:
        self.fake(PRESS, *keysyms)

    def release(self, *keysyms: int) -> None:
        self.fake(RELEASE, *reversed(keysyms))

    def put(self, keysym: int, code: int) -> None:
        """Let a key have another meaning, as a new layout does."""
        self.connection.core.ChangeKeyboardMapping(
            1, code, 2, [keysym, keysym], is_checked=True
        ).check()

    def freeze(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait(60)


def start_screen(size: str = "320x240x24") -> Screen:
    """A screen that answers."""
    ours, theirs = os.pipe()
    command = ["Xvfb", "-displayfd", str(theirs), "-screen", "0", size]
    process = subprocess.Popen(
        [*command, "-nolisten", "tcp", "-noreset"], pass_fds=[theirs], stderr=subprocess.DEVNULL
    )
    os.close(theirs)
    with open(ours) as told:
        number = told.readline().strip() if select.select([told], [], [], 60)[0] else ""
    assert number, "Xvfb did not start"
    return Screen(f":{number}", process)


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[Screen]:
    """A screen of the test's own that programs find in the environment, and no other desktop."""
    screen = start_screen()
    for name in ("WAYLAND_DISPLAY", "XDG_CURRENT_DESKTOP", "XAUTHORITY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DISPLAY", screen.name)
    monkeypatch.setenv("XDG_SESSION_TYPE", "x11")
    yield screen
    screen.stop()
