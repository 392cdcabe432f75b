"""What the ways of inserting text into other programs share."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

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


def insert_in_parts(text: str, insert_some: Callable[[str], int]) -> None:
    """Insert with a function that inserts the beginning of a text and returns its length.

    Raises InsertionError.
    """
    done = 0
    try:
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
