"""Keys such as "Ctrl+Alt+Space", the global shortcuts, and what all hotkeys share."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.speech import HotkeyStatus

Modifier = Literal["Ctrl", "Alt", "Shift", "Super"]
MODIFIERS: tuple[Modifier, ...] = ("Ctrl", "Alt", "Shift", "Super")

_modifiers: dict[str, Modifier] = {
    "ctrl": "Ctrl", "control": "Ctrl", "alt": "Alt", "option": "Alt", "shift": "Shift",
    "super": "Super", "win": "Super", "windows": "Super", "logo": "Super", "meta": "Super",
    "cmd": "Super", "command": "Super",
}  # fmt: skip
_other_names = {"return": "enter", "del": "delete", "ins": "insert", "pgup": "pageup",
                "pgdn": "pagedown", "pgdown": "pagedown", "prtsc": "print", "printscreen": "print",
                "comma": ",", "period": ".", "dot": ".", "slash": "/", "minus": "-", "equal": "=",
                "semicolon": ";", "grave": "`", "apps": "menu"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class HotkeyKey:
    """A key that is not a modifier."""

    name: str
    """The user's name for it: "Space", "A", "F9"."""
    keysym: str
    """Its name in xkbcommon-keysyms.h, without XKB_KEY_."""
    code: int
    """The value of that keysym."""
    windows: int
    """Its virtual-key code."""
    macos: int | None
    """Its virtual key code; None if Mac keyboards lack it."""
    types: bool = True
    """Whether programs need it on its own, to type or to move."""


def _letters() -> list[HotkeyKey]:
    macos = dict(zip("asdfhgzxcv", range(10), strict=True))
    macos |= dict(zip("bqweryt", range(11, 18), strict=True))
    macos |= {"o": 31, "u": 32, "i": 34, "p": 35, "l": 37, "j": 38, "k": 40, "n": 45, "m": 46}
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [HotkeyKey(a.upper(), a, ord(a), ord(a.upper()), macos[a]) for a in letters]


def _digits() -> list[HotkeyKey]:
    macos = (29, 18, 19, 20, 21, 23, 22, 26, 28, 25)
    return [
        HotkeyKey(digit, digit, ord(digit), ord(digit), code)
        for digit, code in zip("0123456789", macos, strict=True)
    ]


def _functions() -> list[HotkeyKey]:
    macos = (122, 120, 99, 118, 96, 97, 98, 100, 101, 109, 103, 111, 105, 107, 113, 106, 64, 79,
             80, 90, None, None, None, None)  # fmt: skip
    return [
        HotkeyKey(f"F{number}", f"F{number}", 0xFFBD + number, 0x6F + number, code, types=False)
        for number, code in enumerate(macos, 1)
    ]


KEYS = {
    key.name.lower(): key
    for key in (
        *_letters(),
        *_digits(),
        *_functions(),
        HotkeyKey("Space", "space", 0x20, 0x20, 49),
        HotkeyKey("Tab", "Tab", 0xFF09, 0x09, 48),
        HotkeyKey("Enter", "Return", 0xFF0D, 0x0D, 36),
        HotkeyKey("Backspace", "BackSpace", 0xFF08, 0x08, 51),
        HotkeyKey("Insert", "Insert", 0xFF63, 0x2D, 114, types=False),
        HotkeyKey("Delete", "Delete", 0xFFFF, 0x2E, 117),
        HotkeyKey("Home", "Home", 0xFF50, 0x24, 115),
        HotkeyKey("End", "End", 0xFF57, 0x23, 119),
        HotkeyKey("PageUp", "Prior", 0xFF55, 0x21, 116),
        HotkeyKey("PageDown", "Next", 0xFF56, 0x22, 121),
        HotkeyKey("Left", "Left", 0xFF51, 0x25, 123),
        HotkeyKey("Up", "Up", 0xFF52, 0x26, 126),
        HotkeyKey("Right", "Right", 0xFF53, 0x27, 124),
        HotkeyKey("Down", "Down", 0xFF54, 0x28, 125),
        HotkeyKey("Pause", "Pause", 0xFF13, 0x13, None, types=False),
        HotkeyKey("ScrollLock", "Scroll_Lock", 0xFF14, 0x91, None, types=False),
        HotkeyKey("Print", "Print", 0xFF61, 0x2C, None, types=False),
        HotkeyKey("Menu", "Menu", 0xFF67, 0x5D, None, types=False),
        HotkeyKey("-", "minus", 0x2D, 0xBD, 27),
        HotkeyKey("=", "equal", 0x3D, 0xBB, 24),
        HotkeyKey(",", "comma", 0x2C, 0xBC, 43),
        HotkeyKey(".", "period", 0x2E, 0xBE, 47),
        HotkeyKey("/", "slash", 0x2F, 0xBF, 44),
        HotkeyKey(";", "semicolon", 0x3B, 0xBA, 41),
        HotkeyKey("`", "grave", 0x60, 0xC0, 50),
    )
}
ESCAPE = HotkeyKey("Esc", "Escape", 0xFF1B, 0x1B, 53)
"""No hotkey: it is only taken for as long as there is something to cancel."""
EXAMPLE = mark('Write it like "Ctrl+Alt+Space", "Super+J" or "F9".')


@dataclass(frozen=True, slots=True)
class Combination:
    """A key and the modifiers held with it."""

    modifiers: tuple[Modifier, ...]
    """In the order of MODIFIERS."""
    key: HotkeyKey

    def __str__(self) -> str:
        return "+".join((*self.modifiers, self.key.name))

    @property
    def xdg(self) -> str:
        """In the notation of freedesktop.org's Shortcuts Specification: "CTRL+ALT+space"."""
        names = {"Super": "LOGO"}
        return "+".join(
            (*(names.get(name, name.upper()) for name in self.modifiers), self.key.keysym)
        )


def parse(text: str) -> Combination:
    """Parse a combination that the user wrote. Raises InputError that says what is wrong."""
    *before, last = (part.strip() for part in text.split("+"))
    modifiers: set[Modifier] = set()
    for part in before:
        if (modifier := _modifiers.get(part.lower())) is None:
            raise _wrong(text, _wrong_modifier(part))
        if modifier in modifiers:
            raise _wrong(text, tr("it has {modifier} twice.", modifier=modifier))
        modifiers.add(modifier)
    key = KEYS.get(_other_names.get(last.lower(), last.lower()))
    if key is None:
        raise _wrong(text, _wrong_key(last))
    if key.types and modifiers <= {"Shift"}:
        hint = tr('Add Ctrl, Alt or Super: "{key}".', key=f"Ctrl+Alt+{key.name}")
        raise _wrong(text, tr("every other program needs it."), hint)
    return Combination(tuple(name for name in MODIFIERS if name in modifiers), key)


def _wrong(text: str, why: str, hint: str = "") -> InputError:
    shown = one_line(text, limit=40)
    return InputError(
        tr('"{key}" cannot be used: {why}', key=shown, why=why), hint=hint or tr(EXAMPLE)
    )


def _wrong_modifier(part: str) -> str:
    if not part:
        return tr("something is missing before a +.")
    if _other_names.get(part.lower(), part.lower()) in KEYS:
        return tr(
            "only one key can be combined with Ctrl, Alt, Shift and Super, and {key} comes first.",
            key=part,
        )
    name = one_line(part, limit=20)
    return tr('nothing is called "{name}"; there are Ctrl, Alt, Shift and Super.', name=name)


def _wrong_key(part: str) -> str:
    if not part:
        return tr("the key after the last + is missing.")
    if part.lower() in _modifiers:
        return tr("a key that is pressed with them is missing.")
    if part.lower() in ("esc", "escape"):
        return tr("Esc ends what is said.")
    return tr('no key is called "{name}".', name=one_line(part, limit=20))


@dataclass(frozen=True, slots=True)
class GlobalShortcut:
    """What a key does."""

    id: str
    """Desktops remember its key by this."""
    description: str
    """What the desktop's settings show; English, for `tr`."""
    command: str
    """A command with the same effect, for a key that the user binds."""


TALK = GlobalShortcut("talk", mark("Talk to JARVIS"), "jarvis-desktop talk toggle")
DICTATE = GlobalShortcut("dictate", mark("Dictate into any program"), "jarvis-desktop talk dictate")
QUICK = GlobalShortcut("quick", mark("Ask JARVIS quickly"), "jarvis-desktop --quick")


StatusListener = Callable[[HotkeyStatus], None]
"""Called on the loop with each new status."""


class HotkeyWay(Protocol):
    """One means to bind the key."""

    async def bind(self, keys: PressState) -> HotkeyStatus:
        """Bind the key, and report its events to `keys` on the loop.

        Raises UnavailableError if this means does not work.
        """

    async def close(self) -> None:
        """Release the key."""


class PressState:
    """Whether the key is down; presses and releases alternate. Belongs to the loop."""

    def __init__(self, press: Callable[[], None], release: Callable[[], None]) -> None:
        self.press, self.release = press, release
        self.escape: Callable[[], None] = lambda: None
        """Called when Esc is pressed while the key is down, if the system reports that."""
        self.is_down = False
        self.token = ""
        """The token with which the desktop lets a window come to the front."""

    def down(self, token: str = "") -> None:
        """Note a press or a repeat."""
        if not self.is_down:
            self.is_down = True
            self.token = token
            self.press()

    def up(self) -> None:
        """Note a release, or that the state is not known any more."""
        if self.is_down:
            self.is_down = False
            self.release()


BIND_TIMEOUT_S = 5.0
"""Seconds for the system to grant the key."""
JOIN_TIMEOUT_S = 1.0
"""Seconds for a thread to end, which it does not on a system that hangs."""


class KeyEvents:
    """Passes events of a thread to the loop."""

    def __init__(self, keys: PressState, problem: Callable[[str], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._keys = keys
        self._problem = problem
        self.bound: asyncio.Future[None] = self._loop.create_future()

    def is_bound(self) -> None:
        """Report that the key is bound."""
        self._tell(self._settle, None)

    def fails(self, error: UnavailableError) -> None:
        """Report that it cannot be bound."""
        self._tell(self._settle, error)

    def down(self) -> None:
        """Report a press or a repeat."""
        self._tell(self._keys.down)

    def up(self) -> None:
        """Report a release."""
        self._tell(self._keys.up)

    def escape(self) -> None:
        """Report that Esc was pressed while the key is down."""
        self._tell(self._keys.escape)

    def problem(self, words: str) -> None:
        """Report that the key was lost, or with "" that it is bound again."""
        if words:
            self._tell(self._keys.up)
        self._tell(self._problem, words)

    def _settle(self, error: UnavailableError | None) -> None:
        if self.bound.done():
            return
        if error:
            self.bound.set_exception(error)
        else:
            self.bound.set_result(None)

    def _tell(self, function: Callable[..., object], *arguments: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(function, *arguments)


class ThreadedKey(ABC):
    """A hotkey with a thread that does `_work` until `_wake`."""

    def __init__(self, status: HotkeyStatus, changed: StatusListener) -> None:
        self._status = status
        self._changed = changed
        self._thread: threading.Thread | None = None

    async def bind(self, keys: PressState) -> HotkeyStatus:
        """Bind the key. Raises UnavailableError."""
        told = KeyEvents(keys, self._now)
        self._thread = threading.Thread(target=self._run, args=(told,), name="hotkey", daemon=True)
        self._thread.start()
        try:
            async with asyncio.timeout(BIND_TIMEOUT_S):
                await told.bound
        except TimeoutError as error:
            raise UnavailableError(
                tr("The system does not answer when asked for the key.")
            ) from error
        return self._status

    async def close(self) -> None:
        """Release the key."""
        thread, self._thread = self._thread, None
        if thread:
            self._wake(thread)
            await asyncio.to_thread(thread.join, JOIN_TIMEOUT_S)

    def _run(self, told: KeyEvents) -> None:
        try:
            self._work(told)
        except UnavailableError as error:
            told.fails(error)

    @abstractmethod
    def _work(self, told: KeyEvents) -> None:
        """Bind the key and report its events. Runs in the thread."""

    @abstractmethod
    def _wake(self, thread: threading.Thread) -> None:
        """End the thread's work."""

    def _now(self, problem: str) -> None:
        if self._thread:
            self._changed(HotkeyStatus(why=problem) if problem else self._status)
