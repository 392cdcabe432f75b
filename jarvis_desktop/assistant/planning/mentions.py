"""Finds what a request names outright: quoted texts and files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from jarvis_desktop.core.suffixes import KINDS

EXTENSIONS = frozenset(suffix.removeprefix(".") for suffix in KINDS)

_quotes = re.compile(
    r"""“(?P<a>[^”]{1,4000})”|"(?P<b>[^"]+)"|«(?P<c>[^»]{1,4000})»|„(?P<d>[^“”]{1,4000})[“”]"""
    r"""|(?<![\w])['‘](?P<e>[^\s'’].{0,500}?)['’](?![\w])""",
    re.DOTALL,
)
_name = re.compile(
    r"(?<![\w/\\.~-])(?P<path>(?:[A-Za-z]:)?[~/\\]?(?:[\w.+-]|[/\\:](?=[\w.~]))+\.(?P<ext>\w{2,8}))(?!\w)"
)
_place = re.compile(
    r"(?<![\w/\\.~-])(?:~?(?:/[\w.+@-]+)+/*|~/?|[A-Za-z]:(?:[\\/][\w.+@-]+)+[\\/]?)"
    r"(?<![.])(?![\w/\\])"
)
_quoted_place = re.compile(r"(?:~?/|[A-Za-z]:[\\/])[^\n]{0,4000}|~")
_done_to = re.compile(
    r"\b(?:open(?: up)?|show(?: me)?|view|display|launch|bring up|pull up|read(?: me)?|play|"
    r"summari[sz]e|translate|transcribe|describe|look at|how (?:big|large|long) is|size of)\s+"
    r"(?:(?:the|this|my)\s+)?(?:(?:file|folder|directory|document|picture|recording|video)\s+)?$",
    re.IGNORECASE,
)
"""What stands before a path that is meant as a file, whatever its ending. Elsewhere, as in "what
is /usr/bin for", it may be no more than a word."""
_absolute = re.compile(r"[/~\\]|[A-Za-z]:[/\\]")
_url = re.compile(r"\b(?:https?://|www\.)[^\s<>\"'“”«»„]+", re.IGNORECASE)
_CLOSING = ".,;:!?)]}'"
"""Signs that end a sentence rather than an address."""
_as_output = re.compile(
    r"(?:\bas|\binto|\bit to|\bin a file|"
    r"\b(?:save|store|write|export|put|keep|make|create)\b[^.;!?\n]{0,60}?\b(?:called|named))\s*$",
    re.IGNORECASE,
)
_called = re.compile(r"\b(?:called|named)\s*$", re.IGNORECASE)
_there = re.compile(
    r"\b(?:have|'ve|has|got|my|this|that|the|there|attached|uploaded|given|provided|image|picture|"
    r"photo|audio|recording|sound|video|document|table|text)\b[^.;!?\n]*$",
    re.IGNORECASE,
)
"""Words for what is there already, before "named"."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A stretch of a request, from `start` to `end`, that names something."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class FileMention(Mention):
    """A file name or path. `output` says that it names what is to be made, not what is there."""

    output: bool = False

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePath(self.text.replace("\\", "/")).name

    @property
    def is_absolute(self) -> bool:
        """Whether it says where the file lies, so that it can be nowhere else."""
        return _absolute.match(self.text) is not None


def urls(text: str) -> list[Mention]:
    """The addresses on the network; one that begins with www gets its https."""
    found = []
    for match in _url.finditer(text):
        words = match[0].rstrip(_CLOSING)
        if match[0][len(words) :].startswith(")") and "(" in words:
            words += ")"
        url = words if "://" in words else f"https://{words}"
        found.append(Mention(match.start(), match.start() + len(words), url))
    return found


def quotes(text: str) -> list[Mention]:
    """The quoted texts, without their quotation marks; a quoted file name is not one of them."""
    return [item for item, is_file in _quoted(text) if item.text and not is_file]


def files(text: str) -> list[FileMention]:
    """The file names and paths: by a known extension, in quotes with spaces in them, or by a full
    path where it is said what to do with it."""
    found = [_file(text, item.start, item.end, item.text) for item, yes in _quoted(text) if yes]
    quoted = {place for item in found for place in range(item.start, item.end)}
    for match in _name.finditer(text):
        if match["ext"].lower() in EXTENSIONS and match.start() not in quoted:
            found.append(_file(text, match.start(), match.end(), match["path"]))
    known = {item.start for item in found} | quoted
    for match in _place.finditer(text):
        if match.start() not in known and _is_done_to(text, match.start()):
            found.append(FileMention(match.start(), match.end(), match[0]))
    return sorted(found, key=lambda item: item.start)


def _quoted(text: str) -> Iterator[tuple[Mention, bool]]:
    """What stands in quotation marks, and whether it is the name of a file."""
    for match in _quotes.finditer(text):
        words = next(group for group in match.groups() if group is not None).strip()
        is_path = _is_path(words) and _is_done_to(text, match.start())
        yield Mention(match.start(), match.end(), words), is_path or _is_file_name(words)


def _is_done_to(text: str, start: int) -> bool:
    return _done_to.search(text[max(0, start - 40) : start]) is not None


def _is_path(words: str) -> bool:
    """Whether it looks like a full path; one with spaces in it needs more than its first sign,
    for "/s is for sarcasm" is a text."""
    surely = words[:1] != "/" or "/" in words[1:] or not re.search(r"\s", words)
    return surely and _quoted_place.fullmatch(words) is not None


def _is_file_name(words: str) -> bool:
    stem, dot, extension = words.rpartition(".")
    known = extension.lower() in EXTENSIONS and "\n" not in words
    return bool(stem and dot) and known and len(words) <= 255


def _file(text: str, start: int, end: int, words: str) -> FileMention:
    before = text[max(0, start - 80) : start]
    made = bool(_called.search(before)) and not _there.search(before)
    return FileMention(start, end, words, output=made or bool(_as_output.search(before)))
