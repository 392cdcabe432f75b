"""Text on Windows and macOS, with their libraries played: only the protocol is tested here."""

import ctypes
import sys
from typing import Any

import pytest

from jarvis_desktop.core.errors import InsertionError, UnavailableError
from jarvis_desktop.platform import insertion, insertion_native
from jarvis_desktop.platform.insertion_native import MacInserter, WindowsInput, WindowsInserter
from jarvis_desktop.platform.text_insertion import text_inserter

TEXT = "Grüße, 😀!\n\tשלום \x1b[2Je\u0301" + "x" * 100
ARRIVES = TEXT.replace("\x1b", "")


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(insertion, "FOCUS_WAIT_S", 0)
    monkeypatch.setattr(insertion_native, "PAUSE_S", 0)


def value_of(reference, kind):
    return ctypes.cast(reference, ctypes.POINTER(kind)).contents


class Windows:
    """What user32.dll and kernel32.dll do with one window."""

    def __init__(self) -> None:
        self.focus = 7
        self.held: set[int] = set()
        self.units: list[int] = []
        self.keys: list[int] = []
        self.is_elevated = False
        self.field, self.style = "Edit", 0
        self.takes = 10**6
        self.after_send = lambda: None

    def GetForegroundWindow(self):
        return self.focus

    def GetAsyncKeyState(self, key):
        return -0x8000 if key in self.held else 0

    def GetWindowThreadProcessId(self, window, process):
        value_of(process, ctypes.c_uint32).value = 4
        return 9

    def OpenProcess(self, rights, inherit, process):
        assert process == 4
        return None if self.is_elevated else 1

    def CloseHandle(self, handle):
        return 1

    def GetLastError(self):
        return 5

    def GetGUIThreadInfo(self, thread, reference):
        assert thread == 9
        state = value_of(reference, insertion_native._ThreadState)
        assert state.size == ctypes.sizeof(state)
        state.focus = 8
        return 1

    def GetClassNameW(self, window, room, size):
        room.value = self.field
        return len(self.field)

    def GetWindowLongW(self, window, index):
        return self.style

    def SendInput(self, count, events, size):
        assert size == ctypes.sizeof(WindowsInput) == 40  # of a program with 64 bits
        taken = min(count, self.takes)
        for event in events[:taken]:
            key = event.event.key
            if key.flags & insertion_native.KEY_UP:
                continue
            if key.flags & insertion_native.UNICODE:
                self.units.append(key.scan_code)
            else:
                self.units.append({0x0D: 10, 0x09: 9}[key.virtual_key])
        self.after_send()
        return taken

    @property
    def text(self):
        return b"".join(unit.to_bytes(2, "little") for unit in self.units).decode("utf-16-le")


class Mac:
    """What the frameworks of macOS do with one program."""

    def __init__(self) -> None:
        self.focus = 7
        self.is_trusted = True
        self.is_secure = False
        self.subrole = ""
        self.flags = 0
        self.text = ""
        self.alive: dict[int, Any] = {}
        self.after_post = lambda: None

    def _new(self, value):
        number = len(self.alive) + 1
        while number in self.alive:
            number += 1
        self.alive[number] = value
        return number

    def AXIsProcessTrusted(self):
        return self.is_trusted

    def AXUIElementCreateSystemWide(self):
        return self._new("system")

    def CFStringCreateWithCString(self, allocator, text, encoding):
        return self._new(text.decode())

    def AXUIElementCopyAttributeValue(self, element, name, found):
        values = {"AXFocusedApplication": self.focus, "AXFocusedUIElement": "field",
                  "AXSubrole": self.subrole}  # fmt: skip
        if value := values[self.alive[name]]:
            value_of(found, ctypes.c_void_p).value = self._new(value)
        return 0

    def AXUIElementGetPid(self, element, process):
        value_of(process, ctypes.c_int32).value = self.alive[element]
        return 0

    def CFStringGetCString(self, text, room, size, encoding):
        room.value = self.alive[text].encode()
        return True

    def IsSecureEventInputEnabled(self):
        return self.is_secure

    def CGEventSourceFlagsState(self, state):
        return self.flags

    def CGEventCreateKeyboardEvent(self, source, key, is_down):
        return self._new({"is_down": is_down, "text": {36: "\n", 48: "\t"}.get(key, "")})

    def CGEventSetFlags(self, event, flags):
        assert flags == 0

    def CGEventKeyboardSetUnicodeString(self, event, count, data):
        assert count <= 20
        assert len(data) == 2 * count
        self.alive[event]["text"] = data.decode("utf-16-le")

    def CGEventPost(self, tap, event):
        if self.alive[event]["is_down"]:
            self.text += self.alive[event]["text"]
            self.after_post()

    def CFRelease(self, value):
        del self.alive[value]


@pytest.fixture
def windows(monkeypatch):
    library = Windows()
    monkeypatch.setattr(insertion_native, "_windows_libraries", lambda: (library, library))
    return library


@pytest.fixture
def mac(monkeypatch):
    library = Mac()
    monkeypatch.setattr(insertion_native, "_application_services", lambda: library)
    yield library
    assert library.alive == {}  # all was released


def refused(inserter, text=TEXT) -> InsertionError:
    with pytest.raises(InsertionError) as raised:
        inserter.insert(text)
    return raised.value


def test_windows_receives_every_character_but_no_control(windows, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    inserter = text_inserter("org.example.Talk", tmp_path)
    assert inserter.check() is None
    inserter.insert(TEXT)
    assert windows.text == ARRIVES


def test_macos_receives_every_character_but_no_control(mac, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    inserter = text_inserter("org.example.Talk", tmp_path)
    assert inserter.check() is None
    inserter.insert(TEXT)
    assert mac.text == ARRIVES


def test_text_for_a_window_that_lost_the_focus_stays(windows):
    inserter = WindowsInserter()
    inserter.aim()
    windows.focus = 99
    error = refused(inserter)
    assert "Another window" in error.message
    assert (windows.text, error.rest) == ("", ARRIVES)


def test_what_arrived_and_what_did_not_is_the_whole_text(windows, mac):
    windows.after_send = lambda: setattr(windows, "focus", 0)
    error = refused(WindowsInserter())
    assert "Only the beginning" in error.message
    assert windows.text
    assert windows.text + error.rest == ARRIVES
    mac.after_post = lambda: setattr(mac, "focus", 8)
    error = refused(MacInserter())
    assert mac.text
    assert mac.text + error.rest == ARRIVES


def test_windows_may_take_only_some_of_the_events(windows):
    windows.takes = 4
    WindowsInserter().insert("a😀bc")
    assert windows.text == "a😀bc"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"is_elevated": True}, "administrator"),
        ({"style": 0x20}, "password"),
        ({"held": {0x11}}, "held"),
        ({"focus": None}, "No window"),
        ({"takes": 0}, "refused"),
    ],
)
def test_windows_says_why_nothing_was_inserted(windows, changes, why):
    vars(windows).update(changes)
    error = refused(WindowsInserter())
    assert why in error.message
    assert error.hint
    assert (windows.text, error.rest) == ("", ARRIVES)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"is_trusted": False}, "does not let"),
        ({"is_secure": True}, "password"),
        ({"subrole": "AXSecureTextField"}, "password"),
        ({"flags": 0x100000}, "held"),
        ({"focus": 0}, "No window"),
    ],
)
def test_macos_says_why_nothing_was_inserted(mac, changes, why):
    vars(mac).update(changes)
    inserter = MacInserter()
    assert ("Accessibility" in (inserter.check() or "")) is not mac.is_trusted
    error = refused(inserter)
    assert why in error.message
    assert (mac.text, error.rest) == ("", ARRIVES)


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="they have these libraries")
@pytest.mark.parametrize("kind", [WindowsInserter, MacInserter])
def test_elsewhere_their_libraries_are_missing(kind):
    with pytest.raises(UnavailableError, match="This is not"):
        kind()


def test_a_system_without_a_desktop_says_so(tmp_path, monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    inserter = text_inserter("org.example.Talk", tmp_path)
    assert "no desktop" in (inserter.check() or "")
    inserter.aim()
    assert refused(inserter).rest == TEXT
    inserter.close()
