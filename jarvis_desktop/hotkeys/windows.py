"""A key of the whole desktop on Windows: RegisterHotKey tells when it is pressed, its state when it
is let go."""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from ctypes import wintypes
from typing import Any

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.hearing import HotkeyStatus
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.hotkeys.keys import Combination, Modifier
from jarvis_desktop.hotkeys.pressing import Changed
from jarvis_desktop.hotkeys.threaded import ThreadedKey, Told

BITS: dict[Modifier, int] = {"Alt": 1, "Ctrl": 2, "Shift": 4, "Super": 8}
NO_REPEAT = 0x4000
WM_HOTKEY, WM_QUIT = 0x0312, 0x0012
IS_DOWN = 0x8000
LOOKING = 0.01
"""Seconds between looks at whether the key is still down; nothing tells of it."""
WHY = mark("Windows tells JARVIS of the key wherever it is pressed.")


def registered(combination: Combination) -> tuple[int, int]:
    """The modifiers and the key as RegisterHotKey takes them."""
    bits = sum(BITS[name] for name in combination.modifiers)
    return bits | NO_REPEAT, combination.key.windows


class WindowsKey(ThreadedKey):
    """Windows puts its messages into the queue of the thread that asked for the key."""

    def __init__(self, combination: Combination, changed: Changed) -> None:
        super().__init__(
            HotkeyStatus("windows", str(combination), holds=True, why=tr(WHY)), changed
        )
        self._combination = combination
        self._library = _user32()
        self._ends = False

    def _wake(self, thread: threading.Thread) -> None:
        self._ends = True
        self._library.PostThreadMessageW(thread.native_id, WM_QUIT, 0, 0)

    def _work(self, told: Told) -> None:
        bits, key = registered(self._combination)
        if not self._library.RegisterHotKey(None, 1, bits, key):
            raise UnavailableError(
                tr("Another program has the key {key} already.", key=self._combination),
                hint=tr("Choose another key, or free this one in that program."),
            )
        told.is_bound()
        message = wintypes.MSG()
        # 0 is WM_QUIT, -1 an error.
        while not self._ends and self._library.GetMessageW(ctypes.byref(message), None, 0, 0) > 0:
            if message.message == WM_HOTKEY:
                told.down()
                while not self._ends and self._library.GetAsyncKeyState(key) & IS_DOWN:
                    time.sleep(LOOKING)
                told.up()
        self._library.UnregisterHotKey(None, 1)


def _user32() -> Any:
    if sys.platform == "win32":
        return ctypes.WinDLL("user32")
    raise UnavailableError(tr("This is not Windows."))
