"""What the ways of inserting text into other programs share; and characters as keysyms, the numbers
that X servers and portals use for what is on a key."""

from __future__ import annotations

import contextlib
import ctypes
import re
import time
from collections.abc import Callable
from functools import cache
from typing import Any

from jarvis_desktop.core.errors import InsertionError, UnavailableError
from jarvis_desktop.core.i18n import mark, tr

FOCUS_WAIT_S = 5.0
"""Seconds to wait until the window has the focus back, and the user has released all keys."""
POLL_S = 0.02

NO_FOCUS = mark("No window has the keyboard.")
ANOTHER = mark("Another window has the keyboard now.")
HELD = mark("A key is held down.")
PASSWORD = mark("The field is for a password, and JARVIS inserts nothing into those.")
NOT_INSERTED = mark("{why} The text was not inserted.")
PARTLY = mark("{why} Only the beginning of the text was inserted.")
AGAIN = mark("Click where the text belongs and insert it from the list of the last dictations.")

LINE_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def typeable(text: str) -> str:
    """Return the text without control characters, which are commands to terminals and editors.

    Every kind of line break becomes a line feed; tabs stay.
    """
    return CONTROLS.sub("", LINE_BREAKS.sub("\n", text))


def insert_in_parts(
    text: str, insert_some: Callable[[str], int], refuse: Callable[[], None] = lambda: None
) -> None:
    """Insert with a function that inserts the beginning of a text and returns its length, unless
    `refuse` raises UnavailableError.

    Raises InsertionError.
    """
    done = 0
    try:
        refuse()
        while done < len(text):
            done += insert_some(text[done:])
    except UnavailableError as error:
        words = tr(PARTLY if done else NOT_INSERTED, why=error.message)
        raise InsertionError(words, hint=error.hint or tr(AGAIN), rest=text[done:]) from error


def wait_without(obstacle: Callable[[], str]) -> None:
    """Wait until there is no obstacle, which is a sentence. Raises UnavailableError."""
    until = time.monotonic() + FOCUS_WAIT_S
    while why := obstacle():
        if time.monotonic() > until:
            raise UnavailableError(why)
        time.sleep(POLL_S)


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
