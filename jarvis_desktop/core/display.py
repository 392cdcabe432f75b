"""Makes foreign strings fit to be shown: a file's name may hold line breaks, control characters
and direction marks that turn a message into something else."""

from __future__ import annotations

import traceback
import unicodedata
from pathlib import PurePath

_UNSEEN = {"Cc", "Cs", "Zl", "Zp"}
_DIRECTIONS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
_MARKS = "\u200e\u200f\u061c"


def one_line(text: str, *, limit: int = 80) -> str:
    """The text on one line of at most `limit` characters.

    Runs of spaces and line breaks become one space; other control characters, direction marks and
    lone surrogates become "�".
    """
    start = text[: 8 * limit]  # a name of a million characters is not worth reading to its end
    line = " ".join(start.split())
    if not line.isprintable():
        line = "".join(map(_seen, line))
    return line if len(line) <= limit else line[: limit - 1] + "…"


def printable(text: str) -> str:
    """The text without what would steer a terminal; its lines and tabs stay.

    What an LLM or a file says may hold sequences that write the clipboard or turn words round.
    """
    return "".join(letter if letter in "\n\t" else _seen(letter) for letter in text)


def encodable(text: str) -> str:
    """The text with what UTF-8 cannot hold replaced: undecodable bytes of file names and such."""
    return text.encode("utf-8", "replace").decode("utf-8")


def readable_size(megabytes: float) -> str:
    """A size for people: "12 kB", "340 MB", "2.5 GB"."""
    if 0 < megabytes < 1:
        return f"{megabytes * 1000:.0f} kB"
    return f"{megabytes:.0f} MB" if megabytes < 1000 else f"{megabytes / 1000:.1f} GB"


def frames(error: BaseException) -> str:
    """The kind of an error and where it came from, without its message.

    For the log: a message may quote what a person said or the name of a file.
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
