"""The ways of Windows and macOS, with their libraries played: only the protocol is tested here."""

import asyncio
import ctypes
import queue
import sys
import threading
from collections.abc import Callable
from ctypes import wintypes

import pytest

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.platform import hotkey_native
from jarvis_desktop.platform.hotkey import DesktopHotkey
from jarvis_desktop.platform.hotkey_portal import PortalKeys
from jarvis_desktop.platform.shortcut import TALK, PressState, parse
from tests.platform.pressed import Pressed

KEY = parse("Ctrl+Alt+Space")


class User32:
    """What user32.dll does for one program."""

    def __init__(self, *, taken=False) -> None:
        self.taken = taken
        self.registered: list[tuple[int, int]] = []
        self.messages: queue.Queue[int] = queue.Queue()
        self.is_down = threading.Event()
        self.looks = 0

    def RegisterHotKey(self, window, number, bits, key):
        if self.taken:
            return 0
        self.registered.append((bits, key))
        return 1

    def UnregisterHotKey(self, window, number):
        self.registered.clear()
        return 1

    def PostThreadMessageW(self, thread, message, first, second):
        self.messages.put(message)
        return 1

    def GetMessageW(self, message, window, lowest, highest):
        kind = self.messages.get(timeout=60)
        ctypes.cast(message, ctypes.POINTER(wintypes.MSG)).contents.message = kind
        return int(kind != hotkey_native.WM_QUIT)

    def GetAsyncKeyState(self, key):
        self.looks += 1
        return -0x8000 if self.is_down.is_set() else 0

    def press(self):
        self.is_down.set()
        self.messages.put(hotkey_native.WM_HOTKEY)


class Carbon:
    """What Carbon and the main thread's queue do for one program."""

    def __init__(self, *, status=0) -> None:
        self.status = status
        self.registered: list[tuple[int, int]] = []
        self.handlers: list[Callable[..., int]] = []
        self.dispatch_async_f = lambda queue, context, function: self.run(function)
        self.has_loop = True

    def run(self, function) -> None:
        if self.has_loop:
            thread = threading.Thread(target=function, args=(None,))
            thread.start()
            thread.join()

    def GetApplicationEventTarget(self):
        return 1

    def GetEventKind(self, event):
        return event % 100

    def GetEventParameter(self, event, name, kind, actual, size, read, found):
        ctypes.cast(found, ctypes.POINTER(ctypes.c_uint32))[1] = event // 100
        return 0

    def InstallEventHandler(self, target, handler, count, kinds, data, reference):
        assert [(kind.event_class, kind.kind) for kind in kinds] == [
            (int.from_bytes(b"keyb"), 5), (int.from_bytes(b"keyb"), 6)]  # fmt: skip
        self.handlers.append(handler)
        return 0

    def RegisterEventHotKey(self, key, bits, identity, target, options, reference):
        if self.status == 0:
            self.registered.append((key, bits))
            ctypes.cast(reference, ctypes.POINTER(ctypes.c_void_p)).contents.value = 7
        return self.status

    def UnregisterEventHotKey(self, reference):
        self.registered.clear()
        return 0

    def RemoveEventHandler(self, reference):
        self.handlers.clear()
        return 0


@pytest.fixture
def pressed():
    return Pressed()


@pytest.fixture
def user32(monkeypatch):
    library = User32()
    monkeypatch.setattr(hotkey_native, "_user32", lambda: library)
    return library


@pytest.fixture
def carbon(monkeypatch):
    library = Carbon()
    monkeypatch.setattr(hotkey_native, "_carbon", lambda: library)
    monkeypatch.setattr(hotkey_native, "_main_queue", lambda library: None)
    return library


async def test_windows_tells_presses_and_its_key_state_the_releases(user32, pressed):
    key = hotkey_native.WindowsKey(KEY, pressed.statuses.put_nowait)
    status = await key.bind(PressState(pressed.press, pressed.release))
    assert status.way == "windows"
    assert user32.registered == [(0x4003, 0x20)]
    for _ in range(2):
        user32.press()
        assert await pressed.next() == "press"
        assert pressed.so_far() == []
        user32.is_down.clear()
        assert await pressed.next() == "release"
    await key.close()
    assert user32.registered == []


async def test_windows_gives_it_back_while_it_is_held(user32, pressed):
    key = hotkey_native.WindowsKey(KEY, pressed.statuses.put_nowait)
    await key.bind(PressState(pressed.press, pressed.release))
    user32.press()
    assert await pressed.next() == "press"
    await key.close()
    assert await pressed.next() == "release"
    assert user32.registered == []


async def test_a_key_that_is_taken_on_windows_is_told(user32, pressed):
    user32.taken = True
    key = hotkey_native.WindowsKey(KEY, pressed.statuses.put_nowait)
    with pytest.raises(UnavailableError, match="Another program has the key"):
        await key.bind(PressState(pressed.press, pressed.release))
    await key.close()


async def test_macos_tells_presses_and_releases(carbon, pressed):
    key = hotkey_native.MacKey(KEY, pressed.statuses.put_nowait)
    status = await key.bind(PressState(pressed.press, pressed.release))
    assert (status.way, status.holds) == ("macos", True)
    assert carbon.registered == [(49, 0x1800)]
    (happened,) = carbon.handlers
    for kind, told in ((5, "press"), (6, "release")):
        assert happened(None, 100 * key._number + kind, None) == 0
        assert await pressed.next() == told
    assert happened(None, 100 * key._number + 105, None) == hotkey_native.NOT_OURS  # of another key
    assert pressed.so_far() == []
    await key.close()
    assert carbon.registered == carbon.handlers == []


@pytest.mark.parametrize(("code", "why"), [(-9878, "Another program has"), (-50, r"\(-50\)")])
async def test_a_key_that_macos_refuses_is_told(carbon, pressed, code, why):
    carbon.status = code
    key = hotkey_native.MacKey(KEY, pressed.statuses.put_nowait)
    with pytest.raises(UnavailableError, match=why):
        await key.bind(PressState(pressed.press, pressed.release))
    await key.close()


async def test_macos_needs_a_window(carbon, pressed, monkeypatch):
    monkeypatch.setattr(hotkey_native, "BIND_TIMEOUT_S", 0.05)
    carbon.has_loop = False
    key = hotkey_native.MacKey(KEY, pressed.statuses.put_nowait)
    with pytest.raises(UnavailableError, match="window of JARVIS"):
        await key.bind(PressState(pressed.press, pressed.release))
    await key.close()


@pytest.mark.parametrize(("system", "way"), [("win32", "windows"), ("darwin", "macos")])
async def test_each_system_has_its_way(user32, carbon, pressed, monkeypatch, system, way):
    hotkey = DesktopHotkey("Ctrl+Alt+Space", TALK, portal=PortalKeys("org.example.Talk"))
    monkeypatch.setattr(sys, "platform", system)
    async with asyncio.timeout(60):
        status = await hotkey.bind(pressed.press, pressed.release)
    assert status.way == way
    await hotkey.close()


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="they have these libraries")
@pytest.mark.parametrize("way", [hotkey_native.WindowsKey, hotkey_native.MacKey])
def test_elsewhere_their_libraries_are_missing(way, pressed):
    with pytest.raises(UnavailableError, match="This is not"):
        way(KEY, pressed.statuses.put_nowait)
