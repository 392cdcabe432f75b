"""Prompt templates, and texts cut to the tokens that a prompt has for them.

Templates are files that users can read, and replace with their own.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import estimated_tokens

T = TypeVar("T")

CUT = "[…]"
_CUT_TOKENS = 6

_version = re.compile(r"\A<!--\s*version:\s*([\w.\-]{1,40})\s*-->\s*\n")
_slot = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt with `{{slots}}`."""

    name: str
    version: str
    text: str

    def filled(self, **values: str) -> str:
        """The text with its slots filled, in one pass: a value is never read for slots itself.

        Raises StorageError on a slot that has no value.
        """
        missing = sorted(set(_slot.findall(self.text)) - set(values))
        if missing:
            slots = ", ".join(f"{{{{{name}}}}}" for name in missing)
            raise StorageError(
                tr(
                    "The prompt {label} has slots that do not exist: {slots}.",
                    label=self.label,
                    slots=slots,
                ),
                hint=tr("Fix or remove your own file."),
            )
        return _slot.sub(lambda match: values[match[1]], self.text)

    @property
    def label(self) -> str:
        """Name and version, for the trace."""
        return f"{self.name} {self.version}"


class Prompts:
    """Finds templates: the user's own file first, then the shipped one."""

    def __init__(self, shipped: Path, own: Path | None = None) -> None:
        self._folders = [folder for folder in (own, shipped) if folder]

    def template(self, name: str) -> Template:
        """The template of that name. Raises StorageError that names the file."""
        text, path = self.read(f"{name}.md")
        found = _version.match(text)
        version = found[1] if found else "own"
        body = text[found.end() :] if found else text
        if path.parent != self._folders[-1]:
            version = f"{version}, from {path.parent}"
        return Template(name, version, body.strip())

    def read(self, file_name: str) -> tuple[str, Path]:
        """Read a file. Return its text and its path. Raises StorageError that names it."""
        for folder in self._folders:
            path = folder / file_name
            try:
                return path.read_text(encoding="utf-8"), path
            except FileNotFoundError:
                continue
            except (OSError, UnicodeDecodeError) as error:
                raise StorageError(
                    tr("The prompt {path} cannot be read.", path=path),
                    hint=tr("Fix or remove it."),
                ) from error
        raise StorageError(
            tr("The prompt {file_name} is missing from the installation.", file_name=file_name)
        )


def longest_fitting(versions: Iterable[T], room: int, size: Callable[[T], int]) -> T:
    """Return the first version whose `size` is at most `room` tokens, else the last one.

    Versions come longest first, and are only made until one fits.
    """
    for version in versions:
        if size(version) <= room:
            break
    return version


def keep_start(text: str, tokens: int) -> str:
    """Return the text, without its end if it has more than `tokens` tokens."""
    if fits(text, tokens):
        return text
    kept = text[: _length(text, tokens - _CUT_TOKENS)].rstrip()
    return f"{kept} {CUT}" if tokens > _CUT_TOKENS else ""


def keep_ends(text: str, tokens: int) -> str:
    """Return the text, without its middle if it has more than `tokens` tokens.

    The end of what a program printed is often the most telling part.
    """
    if fits(text, tokens):
        return text
    room = tokens - 2 * _CUT_TOKENS
    head = text[: _length(text, room * 2 // 5)].rstrip()
    tail = text[::-1][: _length(text[::-1], room - room * 2 // 5)][::-1].lstrip()
    return f"{head}\n{CUT}\n{tail}" if room > 0 else keep_start(text, tokens)


def cut_middle(text: str, max_chars: int) -> str:
    """Return the text, without its middle if it has more than `max_chars` characters."""
    if len(text) <= max_chars:
        return text
    head = max_chars // 3
    left_out = len(text) - max_chars
    return f"{text[:head]}\n[… {left_out} characters left out …]\n{text[-(max_chars - head) :]}"


def first_lines(lines: Sequence[str], tokens: int) -> str:
    """Join as many lines as fit, from the first one on, and the number of those left out."""
    return "\n".join(_fitting_lines(lines, tokens))


def last_lines(lines: Sequence[str], tokens: int) -> str:
    """Join as many lines as fit, up to the last one, and the number of those left out."""
    return "\n".join(_fitting_lines(lines[::-1], tokens)[::-1])


def _fitting_lines(lines: Sequence[str], tokens: int) -> Sequence[str]:
    if fits("\n".join(lines), tokens):
        return lines
    kept: list[str] = []
    room = tokens - 2 * _CUT_TOKENS
    for line in lines:
        room -= estimated_tokens(line) + 1
        if room < 0:
            break
        kept.append(line)
    return [*kept, f"{CUT} {len(lines) - len(kept)} more"] if tokens > 2 * _CUT_TOKENS else []


def fits(text: str, tokens: int) -> bool:
    """Return whether the text has at most `tokens` tokens."""
    return len(text) <= 3 * max(0, tokens) and estimated_tokens(text) <= tokens


def share_tokens(wants: Sequence[tuple[float, int]], room: int) -> list[int]:
    """Split `room` tokens among parts, each given as (share, tokens wanted).

    A part gets what it wants, at least up to its share. What is left over goes to the parts that
    want more, the first ones first.
    """
    whole = sum(share for share, _ in wants)
    room = max(0, room)
    given = [min(want, int(room * share / whole)) for share, want in wants]
    left = room - sum(given)
    for at, (_, want) in enumerate(wants):
        more = min(left, want - given[at])
        given[at] += more
        left -= more
    return given


def _length(text: str, tokens: int) -> int:
    """Return how many of the first characters have at most `tokens` tokens."""
    start = text[: 3 * max(0, tokens) + 3]  # a character is at least a third of a token
    lengths = range(len(start) + 1)
    return max(0, bisect_right(lengths, tokens, key=lambda n: estimated_tokens(start[:n])) - 1)
