"""Characters as keysyms, the numbers that X servers and portals use for what is on a key."""

from __future__ import annotations

import contextlib
import ctypes
from functools import cache
from typing import Any

RETURN, TAB, SHIFT = 0xFF0D, 0xFF09, 0xFFE1
UNICODE = 0x0100_0000
"""Added to a code point this is a keysym; Latin 1 is there without it."""
FIRST_FUNCTION = 0xFD00
"""From here on keysyms type nothing, or belong to the keypad."""


def keysym(char: str) -> int:
    """Return the keysym of a character."""
    if char in "\n\t":
        return RETURN if char == "\n" else TAB
    code = ord(char)
    return code if code < 0x100 else UNICODE + code


@cache
def character(symbol: int) -> str:
    """Return the character that a key with this keysym types, or ""."""
    if symbol in (RETURN, TAB):
        return "\n" if symbol == RETURN else "\t"
    if 0x20 <= symbol < 0x7F or 0xA0 <= symbol < 0x100:
        return chr(symbol)
    if symbol >= UNICODE:
        return chr(symbol - UNICODE) if symbol <= UNICODE + 0x10FFFF else ""
    # Those of older alphabets, such as Cyrillic, are a table of that library.
    library = _xkbcommon()
    code = library.xkb_keysym_to_utf32(symbol) if library and symbol < FIRST_FUNCTION else 0
    return chr(code) if code >= 0x20 else ""


@cache
def _xkbcommon() -> Any:
    """The library that Qt's windows need on X11 and Wayland, or None."""
    with contextlib.suppress(OSError):
        return ctypes.CDLL("libxkbcommon.so.0")
    return None
