"""Makes foreign strings safe to show.

File names and texts may hold line breaks, control characters and direction marks that turn a
message into something else.
"""

from __future__ import annotations

import itertools
import traceback
import unicodedata
from collections.abc import Callable, Collection
from pathlib import PurePath

_UNSEEN = {"Cc", "Cs", "Zl", "Zp"}
_DIRECTIONS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
_MARKS = "\u200e\u200f\u061c"


def one_line(text: str, *, limit: int = 80) -> str:
    """Return the text on one line of at most `limit` characters.

    Whitespace collapses into one space; other control characters, direction marks and lone
    surrogates become "�".
    """
    start = text[: 8 * limit]  # a name may have a million characters
    line = " ".join(start.split())
    if not line.isprintable():
        line = "".join(map(_seen, line))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def printable(text: str) -> str:
    """Return the text without characters that would control a terminal; lines and tabs stay.

    Text from an LLM or a file may hold sequences that write the clipboard or reorder words.
    """
    return "".join(letter if letter in "\n\t" else _seen(letter) for letter in text)


def encodable(text: str) -> str:
    """Return the text with what UTF-8 cannot hold replaced, such as undecodable file names."""
    return text.encode("utf-8", "replace").decode("utf-8")


def readable_size(size: float) -> str:
    """Format a number of bytes: "12 kB", "340 MB", "2.5 GB"."""
    if 0 < size < 1e6:
        return f"{size / 1e3:.0f} kB"
    return f"{size / 1e6:.0f} MB" if size < 1e9 else f"{size / 1e9:.1f} GB"


def unique_name(name: str, taken: Collection[str]) -> str:
    """Return the name of a file, or "x-2.png" and so on if it is taken, ignoring case."""
    path, number = PurePath(name), itertools.count(2)
    while name.casefold() in taken:
        name = f"{path.stem}-{next(number)}{path.suffix}"
    return name


def frames(error: BaseException) -> str:
    """Return the type of an error and its call stack, without its message.

    For the log: a message may quote the user or name a file.
    """
    places = traceback.extract_tb(error.__traceback__)
    road = " > ".join(f"{PurePath(item.filename).name}:{item.lineno}" for item in places)
    return f"{type(error).__name__} at {road}" if road else type(error).__name__


def _seen(character: str) -> str:
    unseen = (
        unicodedata.category(character) in _UNSEEN
        or unicodedata.bidirectional(character) in _DIRECTIONS
        or character in _MARKS
    )
    return "�" if unseen else character


def unused_name(
    stem: str, suffix: str = "", *, taken: Callable[[str], object], between: str = "-"
) -> str:
    """Return a name that is not taken: photo.png, photo-2.png, …"""
    numbered = (f"{stem}{between}{number}{suffix}" for number in itertools.count(2))
    names = itertools.chain((stem + suffix,), numbered)
    return next(name for name in names if not taken(name))
