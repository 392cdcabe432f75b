"""Inserts text on Windows (SendInput) and macOS (Quartz events).

It is sent as characters, so that the keyboard layout does not matter.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.platform.insertion import (
    ANOTHER,
    HELD,
    NO_FOCUS,
    PASSWORD,
    insert_in_parts,
    typeable,
    wait_without,
)


class FocusedInserter(ABC):
    """Inserts while one window has the focus. Implements core.speech.TextInserter."""

    def __init__(self) -> None:
        self._target = 0

    def check(self) -> str | None:
        """Return None, or why nothing can be inserted here."""
        return None

    def aim(self) -> None:
        """Remember the window that has the focus now."""
        self._target = self._focus()

    def insert(self, text: str) -> None:
        """Insert the text. Raises InsertionError."""
        target, self._target = self._target or self._focus(), 0

        def insert_some(rest: str) -> int:
            wait_without(lambda: self._obstacle(target))
            return self._send(rest)

        insert_in_parts(typeable(text), insert_some)

    def close(self) -> None:
        """Forget the window."""
        self._target = 0

    def _obstacle(self, target: int) -> str:
        if not (focus := self._focus()):
            return tr(NO_FOCUS)
        if focus != target:
            return tr(ANOTHER)
        return tr(HELD) if self._is_held() else ""

    @abstractmethod
    def _focus(self) -> int:
        """The window or program that has the focus, or 0."""

    @abstractmethod
    def _is_held(self) -> bool:
        """Whether the user holds a modifier, which would turn characters into commands."""

    @abstractmethod
    def _send(self, text: str) -> int:
        """Insert the beginning of a text and return its length. Raises UnavailableError."""


STRETCH = 64
"""Characters that Windows receives at once."""
INPUT_KEYBOARD = 1
POINTER_BYTES = ctypes.sizeof(ctypes.c_void_p)
KEY_UP, UNICODE = 0x0002, 0x0004
SHIFT, CONTROL, ALT, LEFT_WINDOWS, RIGHT_WINDOWS = 0x10, 0x11, 0x12, 0x5B, 0x5C
WINDOWS_KEYS = {"\n": 0x0D, "\t": 0x09}
GWL_STYLE, ES_PASSWORD = -16, 0x0020
IS_DOWN = 0x8000
PROCESS_QUERY_INFORMATION = 0x0400
ACCESS_DENIED = 5
ELEVATED = mark("The program runs as administrator, and Windows lets no other program type there.")
RUN_ELEVATED = mark("Start JARVIS as administrator too, or paste the text yourself.")
REFUSED = mark("Windows refused the text.")


class _KeyInput(ctypes.Structure):
    _fields_ = (
        ("virtual_key", ctypes.c_uint16),
        ("scan_code", ctypes.c_uint16),
        ("flags", ctypes.c_uint32),
        ("time", ctypes.c_uint32),
        ("extra", ctypes.c_size_t),
    )


class _AnyInput(ctypes.Union):
    # The event of a mouse is not used, but it decides the size.
    _fields_ = (("key", _KeyInput), ("mouse", ctypes.c_byte * (16 + 2 * POINTER_BYTES)))


class WindowsInput(ctypes.Structure):
    """INPUT, an event for SendInput."""

    _fields_ = (("kind", ctypes.c_uint32), ("event", _AnyInput))


class _ThreadState(ctypes.Structure):
    """GUITHREADINFO."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("active", ctypes.c_void_p),
        ("focus", ctypes.c_void_p),
        ("others", ctypes.c_void_p * 4),
        ("caret", ctypes.c_int32 * 4),
    )


class WindowsInserter(FocusedInserter):
    """Sends characters to the window in the foreground."""

    def __init__(self) -> None:
        super().__init__()
        self._user32, self._kernel32 = _windows_libraries()

    def _focus(self) -> int:
        return int(self._user32.GetForegroundWindow() or 0)

    def _is_held(self) -> bool:
        modifiers = (SHIFT, CONTROL, ALT, LEFT_WINDOWS, RIGHT_WINDOWS)
        return any(self._user32.GetAsyncKeyState(key) & IS_DOWN for key in modifiers)

    def _send(self, text: str) -> int:
        self._refuse_closed(self._focus())
        text = text[:STRETCH]
        events = list(_windows_events(text))
        while events:
            # Windows keeps them together: keys of the user come before or after.
            array = (WindowsInput * len(events))(*events)
            sent = self._user32.SendInput(len(events), array, ctypes.sizeof(WindowsInput))
            if not sent:
                raise UnavailableError(tr(REFUSED))
            del events[:sent]
        return len(text)

    def _refuse_closed(self, window: int) -> None:
        """Raise UnavailableError for a password, and a program of an administrator."""
        user32, kernel32 = self._user32, self._kernel32
        process = ctypes.c_uint32()
        thread = user32.GetWindowThreadProcessId(window, ctypes.byref(process))
        # SendInput does not report that it was blocked, but reading such a program's state is too.
        handle = kernel32.OpenProcess(PROCESS_QUERY_INFORMATION, False, process.value)
        if handle:
            kernel32.CloseHandle(handle)
        elif kernel32.GetLastError() == ACCESS_DENIED:
            raise UnavailableError(tr(ELEVATED), hint=tr(RUN_ELEVATED))
        state = _ThreadState(size=ctypes.sizeof(_ThreadState))
        if user32.GetGUIThreadInfo(thread, ctypes.byref(state)) and state.focus:
            name = ctypes.create_unicode_buffer(64)
            user32.GetClassNameW(state.focus, name, len(name))
            style = user32.GetWindowLongW(state.focus, GWL_STYLE)
            if "edit" in name.value.lower() and style & ES_PASSWORD:
                raise UnavailableError(tr(PASSWORD))


def _windows_events(text: str) -> Iterator[WindowsInput]:
    """A press and a release for each UTF-16 unit."""
    for char in text:
        if key := WINDOWS_KEYS.get(char):
            numbers = [(key, 0, 0)]
        else:
            data = char.encode("utf-16-le")
            numbers = [(0, a | b << 8, UNICODE) for a, b in zip(data[::2], data[1::2], strict=True)]
        for virtual, scan, flags in numbers:
            for up in (0, KEY_UP):
                event = _AnyInput(key=_KeyInput(virtual, scan, flags | up, 0, 0))
                yield WindowsInput(INPUT_KEYBOARD, event)


def _windows_libraries() -> tuple[Any, Any]:
    if sys.platform != "win32":
        raise UnavailableError(tr("This is not Windows."))
    user32, kernel32 = ctypes.WinDLL("user32"), ctypes.WinDLL("kernel32")
    window, handle = ctypes.c_void_p, ctypes.c_void_p
    user32.GetForegroundWindow.restype = window
    user32.GetWindowThreadProcessId.argtypes = [window, ctypes.c_void_p]
    user32.GetClassNameW.argtypes = [window, ctypes.c_wchar_p, ctypes.c_int]
    user32.GetWindowLongW.argtypes = [window, ctypes.c_int]
    user32.SendInput.argtypes = [ctypes.c_uint32, ctypes.c_void_p, ctypes.c_int]
    kernel32.OpenProcess.restype = handle
    kernel32.CloseHandle.argtypes = [handle]
    return user32, kernel32


PAUSE_S = 0.004
"""Seconds between events: some programs drop those that come faster."""
MACOS_KEYS = {"\n": 36, "\t": 48}
KEYS_OR_UNITS = re.compile(r"[\n\t]|[^\n\t]{1,10}")
"""Text for an event, which can carry 20 units of UTF-16."""
MODIFIERS = 0x020000 | 0x040000 | 0x080000 | 0x100000
"""Shift, Ctrl, Alt and Cmd."""
HARDWARE_STATE, SESSION_TAP = 1, 1
UTF_8 = 0x08000100
NOT_TRUSTED = mark("macOS does not let JARVIS insert text yet.")
TRUST = mark(
    "Allow JARVIS in System Settings > Privacy & Security > Accessibility, then try again."
)
SECURE = mark("A program reads the keyboard for itself, as for a password.")


class MacInserter(FocusedInserter):
    """Posts characters to the program that has the focus."""

    def __init__(self) -> None:
        super().__init__()
        self._library = _application_services()

    def check(self) -> str | None:
        """Return None, or how to permit it."""
        return None if self._library.AXIsProcessTrusted() else f"{tr(NOT_TRUSTED)} {tr(TRUST)}"

    def _focus(self) -> int:
        process = ctypes.c_int32()
        with self._attribute("AXFocusedApplication") as program:
            if program:
                self._library.AXUIElementGetPid(program, ctypes.byref(process))
        return process.value

    def _obstacle(self, target: int) -> str:
        if not self._library.AXIsProcessTrusted():
            raise UnavailableError(tr(NOT_TRUSTED), hint=tr(TRUST))
        return super()._obstacle(target)

    def _is_held(self) -> bool:
        return bool(self._library.CGEventSourceFlagsState(HARDWARE_STATE) & MODIFIERS)

    def _send(self, text: str) -> int:
        library = self._library
        if library.IsSecureEventInputEnabled():
            raise UnavailableError(tr(SECURE))
        with self._attribute("AXFocusedUIElement", "AXSubrole") as subrole:
            if subrole and self._text(subrole) == "AXSecureTextField":
                raise UnavailableError(tr(PASSWORD))
        found = KEYS_OR_UNITS.match(text)
        assert found
        part = found.group()
        data = part.encode("utf-16-le")
        for is_down in (True, False):
            event = library.CGEventCreateKeyboardEvent(None, MACOS_KEYS.get(part, 0), is_down)
            library.CGEventSetFlags(event, 0)
            if part not in MACOS_KEYS:
                library.CGEventKeyboardSetUnicodeString(event, len(data) // 2, data)
            library.CGEventPost(SESSION_TAP, event)
            library.CFRelease(event)
        time.sleep(PAUSE_S)
        return len(part)

    @contextlib.contextmanager
    def _attribute(self, *names: str) -> Iterator[int | None]:
        """An attribute of an attribute of the whole system, as long as this."""
        library = self._library
        value: int | None = library.AXUIElementCreateSystemWide()
        for name in names:
            found = ctypes.c_void_p()
            text = library.CFStringCreateWithCString(None, name.encode(), UTF_8)
            if value:
                library.AXUIElementCopyAttributeValue(value, text, ctypes.byref(found))
                library.CFRelease(value)
            library.CFRelease(text)
            value = found.value
        try:
            yield value
        finally:
            if value:
                library.CFRelease(value)

    def _text(self, value: int) -> str:
        room = ctypes.create_string_buffer(64)
        self._library.CFStringGetCString(value, room, len(room), UTF_8)
        return room.value.decode(errors="replace")


def _application_services() -> Any:
    if sys.platform != "darwin":
        raise UnavailableError(tr("This is not macOS."))
    frameworks = "/System/Library/Frameworks"
    library = ctypes.CDLL(f"{frameworks}/Carbon.framework/Carbon")  # brings the others
    pointer, number = ctypes.c_void_p, ctypes.c_uint32
    for name, result, arguments in (
        ("AXIsProcessTrusted", ctypes.c_bool, []),
        ("AXUIElementCreateSystemWide", pointer, []),
        ("AXUIElementCopyAttributeValue", ctypes.c_int32, [pointer, pointer, pointer]),
        ("AXUIElementGetPid", ctypes.c_int32, [pointer, pointer]),
        ("IsSecureEventInputEnabled", ctypes.c_bool, []),
        ("CFStringCreateWithCString", pointer, [pointer, ctypes.c_char_p, number]),
        ("CFStringGetCString", ctypes.c_bool, [pointer, pointer, ctypes.c_long, number]),
        ("CFRelease", None, [pointer]),
        ("CGEventSourceFlagsState", ctypes.c_uint64, [ctypes.c_int32]),
        ("CGEventCreateKeyboardEvent", pointer, [pointer, ctypes.c_uint16, ctypes.c_bool]),
        ("CGEventSetFlags", None, [pointer, ctypes.c_uint64]),
        ("CGEventKeyboardSetUnicodeString", None, [pointer, ctypes.c_ulong, pointer]),
        ("CGEventPost", None, [number, pointer]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library
