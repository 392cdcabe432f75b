"""Global hotkeys on Windows (RegisterHotKey) and macOS (Carbon).

Windows does not report the release of a key, so its state is polled. Carbon's hot keys are the only
ones that need no permission to watch all keys; macOS reports them on the main thread, while the
window's event loop runs.
"""

from __future__ import annotations

import asyncio
import ctypes
import itertools
import sys
import threading
import time
from collections.abc import Callable
from ctypes import wintypes
from typing import Any

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.speech import HotkeyStatus
from jarvis_desktop.platform.shortcut import (
    BIND_TIMEOUT_S,
    Combination,
    KeyEvents,
    Modifier,
    PressState,
    StatusListener,
    ThreadedKey,
)

WINDOWS_BITS: dict[Modifier, int] = {"Alt": 1, "Ctrl": 2, "Shift": 4, "Super": 8}
NO_REPEAT = 0x4000
WM_HOTKEY, WM_QUIT = 0x0312, 0x0012
IS_DOWN = 0x8000
POLL_S = 0.01
"""Seconds between checks whether the key is still down."""
WINDOWS_WHY = mark("Windows reports the key to JARVIS in every window.")


def windows_registered(combination: Combination) -> tuple[int, int]:
    """Return the modifiers and the key for RegisterHotKey."""
    bits = sum(WINDOWS_BITS[name] for name in combination.modifiers)
    return bits | NO_REPEAT, combination.key.windows


class WindowsKey(ThreadedKey):
    """A hotkey whose messages arrive in the queue of the thread that registered it."""

    def __init__(self, combination: Combination, changed: StatusListener) -> None:
        super().__init__(
            HotkeyStatus("windows", str(combination), holds=True, why=tr(WINDOWS_WHY)), changed
        )
        self._combination = combination
        self._library = _user32()
        self._ends = False

    def _wake(self, thread: threading.Thread) -> None:
        self._ends = True
        self._library.PostThreadMessageW(thread.native_id, WM_QUIT, 0, 0)

    def _work(self, told: KeyEvents) -> None:
        bits, key = windows_registered(self._combination)
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
                    time.sleep(POLL_S)
                told.up()
        self._library.UnregisterHotKey(None, 1)


def _user32() -> Any:
    if sys.platform == "win32":
        return ctypes.WinDLL("user32")
    raise UnavailableError(tr("This is not Windows."))


MACOS_BITS: dict[Modifier, int] = {"Super": 0x0100, "Shift": 0x0200, "Alt": 0x0800, "Ctrl": 0x1000}
KEYBOARD = int.from_bytes(b"keyb")
"""The class of the events."""
PRESSED, RELEASED = 5, 6
SIGNATURE = int.from_bytes(b"JRVS")
NO_ERROR = 0
EXISTS = -9878
NOT_OURS = -9874
"""The result of a handler that leaves an event to others."""
DIRECT_OBJECT = int.from_bytes(b"----")
HOT_KEY_ID = int.from_bytes(b"hkid")
MACOS_WHY = mark("macOS reports the key to JARVIS in every window.")
TAKEN = mark("Another program has the key {key} already.")


class _EventType(ctypes.Structure):
    _fields_ = (("event_class", ctypes.c_uint32), ("kind", ctypes.c_uint32))


class _HotKeyId(ctypes.Structure):
    _fields_ = (("signature", ctypes.c_uint32), ("number", ctypes.c_uint32))


_Handler = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_Function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def macos_registered(combination: Combination) -> tuple[int, int]:
    """Return the key and the modifiers for RegisterEventHotKey. Raises UnavailableError."""
    if combination.key.macos is None:
        raise UnavailableError(
            tr("Keyboards of a Mac have no key {key}.", key=combination.key.name),
            hint=tr("Choose another key."),
        )
    return combination.key.macos, sum(MACOS_BITS[name] for name in combination.modifiers)


_numbers = itertools.count(1)


class MacKey:
    """A hotkey that macOS reports on the main thread."""

    def __init__(self, combination: Combination, changed: StatusListener) -> None:
        self._combination = combination
        self._library = _carbon()
        self._key, self._modifiers = macos_registered(combination)
        self._number = next(_numbers)
        self._hot_key, self._handler = ctypes.c_void_p(), ctypes.c_void_p()
        self._kept: list[object] = []
        """Callbacks, which must exist as long as the system may call them."""

    async def bind(self, keys: PressState) -> HotkeyStatus:
        """Register the key. Raises UnavailableError."""
        told = KeyEvents(keys, lambda words: None)
        self._on_main_thread(lambda: self._register(told))
        try:
            async with asyncio.timeout(BIND_TIMEOUT_S):
                await told.bound
        except TimeoutError as error:
            raise UnavailableError(
                tr("Such a key needs the window of JARVIS to be open.")
            ) from error
        return HotkeyStatus("macos", str(self._combination), holds=True, why=tr(MACOS_WHY))

    async def close(self) -> None:
        """Release the key."""
        if self._hot_key:
            done = KeyEvents(PressState(lambda: None, lambda: None), lambda words: None)
            self._on_main_thread(lambda: self._unregister(done))
            await asyncio.wait([done.bound], timeout=BIND_TIMEOUT_S)

    def _register(self, told: KeyEvents) -> None:
        library = self._library
        target = library.GetApplicationEventTarget()

        def happened(call: object, event: int, data: object) -> int:
            if self._pressed(event) != self._number:
                return NOT_OURS
            told.down() if library.GetEventKind(event) == PRESSED else told.up()
            return NO_ERROR

        handler = _Handler(happened)
        self._kept.append(handler)
        kinds = (_EventType * 2)(_EventType(KEYBOARD, PRESSED), _EventType(KEYBOARD, RELEASED))
        library.InstallEventHandler(target, handler, 2, kinds, None, ctypes.byref(self._handler))
        status = library.RegisterEventHotKey(
            self._key, self._modifiers, _HotKeyId(SIGNATURE, self._number), target, 0,
            ctypes.byref(self._hot_key),
        )  # fmt: skip
        if status == NO_ERROR:
            told.is_bound()
        elif status == EXISTS:
            told.fails(UnavailableError(tr(TAKEN, key=self._combination)))
        else:
            words = tr("macOS refused the key {key} ({code}).", key=self._combination, code=status)
            told.fails(UnavailableError(words))

    def _pressed(self, event: int) -> int:
        """The number of the key of an event; each handler receives those of all keys."""
        found = _HotKeyId()
        self._library.GetEventParameter(
            event, DIRECT_OBJECT, HOT_KEY_ID, None, ctypes.sizeof(found), None, ctypes.byref(found)
        )
        return int(found.number)

    def _unregister(self, done: KeyEvents) -> None:
        self._library.UnregisterEventHotKey(self._hot_key)
        self._library.RemoveEventHandler(self._handler)
        done.is_bound()

    def _on_main_thread(self, function: Callable[[], None]) -> None:
        called = _Function(lambda context: function())
        self._kept.append(called)
        self._library.dispatch_async_f(_main_queue(self._library), None, called)


def _main_queue(library: Any) -> Any:
    return ctypes.byref(ctypes.c_char.in_dll(library, "_dispatch_main_q"))


def _carbon() -> Any:
    if sys.platform != "darwin":
        raise UnavailableError(tr("This is not macOS."))
    library = ctypes.CDLL("/System/Library/Frameworks/Carbon.framework/Carbon")
    pointer = ctypes.c_void_p
    library.GetApplicationEventTarget.restype = pointer
    library.GetEventKind.argtypes = [pointer]
    library.GetEventKind.restype = ctypes.c_uint32
    library.GetEventParameter.argtypes = [pointer, ctypes.c_uint32, ctypes.c_uint32, pointer,
                                          ctypes.c_ulong, pointer, pointer]  # fmt: skip
    library.InstallEventHandler.argtypes = [pointer, _Handler, ctypes.c_ulong, pointer, pointer,
                                            pointer]  # fmt: skip
    library.RegisterEventHotKey.argtypes = [ctypes.c_uint32, ctypes.c_uint32, _HotKeyId, pointer,
                                            ctypes.c_uint32, pointer]  # fmt: skip
    library.UnregisterEventHotKey.argtypes = [pointer]
    library.RemoveEventHandler.argtypes = [pointer]
    library.dispatch_async_f.argtypes = [pointer, pointer, _Function]
    library.dispatch_async_f.restype = None
    return library
