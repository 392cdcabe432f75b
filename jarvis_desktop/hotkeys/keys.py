"""One notation for keys, "Ctrl+Alt+Space", and what each system calls them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import mark, tr

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
class Key:
    """A key that is no modifier."""

    name: str
    """As people know it: "Space", "A", "F9"."""
    keysym: str
    """Its name in xkbcommon-keysyms.h, without XKB_KEY_."""
    code: int
    """The value of that keysym."""
    windows: int
    """Its virtual-key code."""
    macos: int | None
    """Its virtual key code there; None where such keyboards have none."""
    types: bool = True
    """Whether programs need it alone, to type or to move."""


def _letters() -> list[Key]:
    macos = dict(zip("asdfhgzxcv", range(10), strict=True))
    macos |= dict(zip("bqweryt", range(11, 18), strict=True))
    macos |= {"o": 31, "u": 32, "i": 34, "p": 35, "l": 37, "j": 38, "k": 40, "n": 45, "m": 46}
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [Key(a.upper(), a, ord(a), ord(a.upper()), macos[a]) for a in letters]


def _digits() -> list[Key]:
    macos = (29, 18, 19, 20, 21, 23, 22, 26, 28, 25)
    return [
        Key(digit, digit, ord(digit), ord(digit), code)
        for digit, code in zip("0123456789", macos, strict=True)
    ]


def _functions() -> list[Key]:
    macos = (122, 120, 99, 118, 96, 97, 98, 100, 101, 109, 103, 111, 105, 107, 113, 106, 64, 79,
             80, 90, None, None, None, None)  # fmt: skip
    return [
        Key(f"F{number}", f"F{number}", 0xFFBD + number, 0x6F + number, code, types=False)
        for number, code in enumerate(macos, 1)
    ]


KEYS = {
    key.name.lower(): key
    for key in (
        *_letters(),
        *_digits(),
        *_functions(),
        Key("Space", "space", 0x20, 0x20, 49),
        Key("Tab", "Tab", 0xFF09, 0x09, 48),
        Key("Enter", "Return", 0xFF0D, 0x0D, 36),
        Key("Backspace", "BackSpace", 0xFF08, 0x08, 51),
        Key("Insert", "Insert", 0xFF63, 0x2D, 114, types=False),
        Key("Delete", "Delete", 0xFFFF, 0x2E, 117),
        Key("Home", "Home", 0xFF50, 0x24, 115),
        Key("End", "End", 0xFF57, 0x23, 119),
        Key("PageUp", "Prior", 0xFF55, 0x21, 116),
        Key("PageDown", "Next", 0xFF56, 0x22, 121),
        Key("Left", "Left", 0xFF51, 0x25, 123),
        Key("Up", "Up", 0xFF52, 0x26, 126),
        Key("Right", "Right", 0xFF53, 0x27, 124),
        Key("Down", "Down", 0xFF54, 0x28, 125),
        Key("Pause", "Pause", 0xFF13, 0x13, None, types=False),
        Key("ScrollLock", "Scroll_Lock", 0xFF14, 0x91, None, types=False),
        Key("Print", "Print", 0xFF61, 0x2C, None, types=False),
        Key("Menu", "Menu", 0xFF67, 0x5D, None, types=False),
        Key("-", "minus", 0x2D, 0xBD, 27),
        Key("=", "equal", 0x3D, 0xBB, 24),
        Key(",", "comma", 0x2C, 0xBC, 43),
        Key(".", "period", 0x2E, 0xBE, 47),
        Key("/", "slash", 0x2F, 0xBF, 44),
        Key(";", "semicolon", 0x3B, 0xBA, 41),
        Key("`", "grave", 0x60, 0xC0, 50),
    )
}
EXAMPLE = mark('Write it like "Ctrl+Alt+Space", "Super+J" or "F9".')


@dataclass(frozen=True, slots=True)
class Combination:
    """A key, and the modifiers that are held with it."""

    modifiers: tuple[Modifier, ...]
    """In the order of MODIFIERS."""
    key: Key

    def __str__(self) -> str:
        return "+".join((*self.modifiers, self.key.name))

    @property
    def xdg(self) -> str:
        """As the Shortcuts Specification of freedesktop.org writes it: "CTRL+ALT+space"."""
        names = {"Super": "LOGO"}
        return "+".join(
            (*(names.get(name, name.upper()) for name in self.modifiers), self.key.keysym)
        )


def parse(text: str) -> Combination:
    """The combination that a person wrote. Raises InputError that says what is wrong with it."""
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
            "only one key can be held with Ctrl, Alt, Shift and Super, and {key} stands first.",
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
