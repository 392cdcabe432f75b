"""Edits of a text that need no understanding: words replaced, lines sorted, numbered or left out.

A wish is read as a whole: if it asks for anything else besides, nothing is read of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.tokens import FUNCTION_WORDS

Lines = list[str]

_named = r"""(?:["“„«](?P<{0}_quoted>[^"”“»\n]+)["”“»]|(?P<{0}>[^"“”„«»\n,;]+?))"""
_end = (
    r"(?=\s+(?:everywhere|throughout|in|and|then|are left|remain|stay|und|überall|im|dann)\b"
    r"|\s*[.,;]?\s*$|[,;]|\.\s)"
)
_leave_out = r"\b(?:without|remove|delete|drop|take out|skip|ohne|entferne?|lösche?)\b"
_leave_out += r"(?:(?!duplic|repeat|doppel|dublett|doubles)[^.;]){0,24}?"
_lines = r"(?:lines?|names?|entries|rows?|zeilen?|einträge|namen)"


@dataclass(frozen=True, slots=True)
class LineEdit:
    """One edit of the lines of a text."""

    name: str
    """For people: "sorted", "numbered"."""
    apply: Callable[[Lines], Lines]
    collects: bool = False
    """Whether it takes a part of the lines out of a text, to be put together with those of
    others."""


def read_edits(wish: str) -> Sequence[LineEdit]:
    """Return the edits that a wish names, in the order in which they are done; none if it names
    none, or asks for something else too."""
    found: list[tuple[int, LineEdit]] = []
    rest = _file_name.sub(" ", wish)
    for order, (pattern, make) in enumerate(_kinds):
        while match := pattern.search(rest):
            found.append((order, make(match)))
            rest = f"{rest[: match.start()]} , {rest[match.end() :]}"
    said = set(re.findall(r"[^\W\d_]+", rest.casefold()))
    if _sort_key.search(rest) or said - _filler:
        return ()
    return [edit for _, edit in sorted(found, key=lambda pair: pair[0])]


def edit_text(text: str, edits: Sequence[LineEdit]) -> str:
    """Return the text after these edits; it ends with a line break if it did before."""
    lines = text.split("\n")
    ends = [lines.pop()] if lines and not lines[-1] else []
    for edit in edits:
        lines = edit.apply(lines)
    return "\n".join([*lines, *ends])


def _group(match: re.Match[str], name: str) -> str:
    return (match[f"{name}_quoted"] or match[name]).strip()


def _replaced(match: re.Match[str]) -> LineEdit:
    old, new = _group(match, "old"), _group(match, "new")
    return LineEdit("replaced", lambda lines: [line.replace(old, new) for line in lines])


def _containing(match: re.Match[str], *, kept: bool) -> LineEdit:
    said = match.groupdict().get("said")
    word = said.strip('"“”„').casefold() if said else _group(match, "word").casefold()
    return LineEdit(
        "left out",
        lambda lines: [line for line in lines if (word in line.casefold()) is kept],
        collects=kept,
    )


def _sorted(match: re.Match[str]) -> LineEdit:
    down = re.search(r"\b(?:descending|reverse|z to a|z-a|absteigend)\b", match[0], re.IGNORECASE)
    return LineEdit(
        "sorted",
        lambda lines: sorted(lines, key=lambda line: (line.casefold(), line), reverse=bool(down)),
    )


def _always(
    name: str, apply: Callable[[Lines], Lines], *, collects: bool = False
) -> Callable[[re.Match[str]], LineEdit]:
    return lambda match: LineEdit(name, apply, collects)


def _numbered(lines: Lines) -> Lines:
    return [f"{number}. {line}" for number, line in enumerate(lines, 1)]


def _headings(lines: Lines) -> Lines:
    return [found[1] for line in lines if (found := re.match(r"#{1,6} +(.+?)[ #]*$", line))]


_word = (
    r"(?:contains?|containing|mentions?|mentioning|with|having|has|have|mit|enthalten|enthält)\s+"
    rf"(?:the words?\s+|dem wort\s+)?{_named.format('word')}{_end}"
)
_entries = r"(?:items?|lines?|entries|points?|notes?|messages?|list|einträge|zeilen|punkte)\b"
_which_lines = r"(?:the\s+|die\s+)?(?:lines?|zeilen?)\s+(?:that\s+|which\s+|die\s+)?"
_doubles = r"(?:duplicates?|repeated|repeating|doppelte[nr]?|doubles?|dubletten)"
_made_into = (
    r"\b(?:in|to|into|make\s+(?:it|them|everything|the text)(?:\s+all)?|make\s+all of (?:it|them))"
    r"\s+(?:all\s+)?"
)
_capitals = r"(?:capital letters|capitals|caps|upper\s?case|großbuchstaben)"
_order = (
    r"(?:alphabetically|alphabetisch|in alphabetical order|ascending|descending|in reverse"
    r"|from a to z|from z to a|absteigend|aufsteigend)"
)
_kinds: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], LineEdit]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), make)
    for pattern, make in (
        (
            rf"\b(?:remove|delete|drop|lösche|entferne)\s+(?:all\s+|alle\s+)?{_which_lines}{_word}",
            lambda match: _containing(match, kept=False),
        ),
        (
            rf"\b(?:keep|only|nur|behalte)\s+(?:only\s+|just\s+|nur\s+)?{_which_lines}{_word}",
            lambda match: _containing(match, kept=True),
        ),
        (
            r"\b(?:collect|list|gather|extract|find|show|get|copy|pull out|give me|what are|sammle|"
            r"liste)\s+(?:me\s+)?(?:(?:all|every|alle)\s+)?(?:of\s+)?(?:(?:the|my|die|meine)\s+)?"
            rf"(?:{_which_lines}{_word}|(?P<said>(?-i:[A-Z]{{3,}})(?=\W+{_entries})|to-?do(?=s?\b)"
            rf"|[\"“„][^\"“”„]+[\"”“](?=\W+{_entries}))s?(?:\W+{_entries})?"
            r"(?:\s+(?:of|in|from|aus|in)\s+(?:the|this|my|dem|der|den)\s+\w+)?)",
            lambda match: _containing(match, kept=True),
        ),
        (
            rf"{_leave_out}\b(?:empty|blank|leere[nr]?)\s+{_lines}",
            _always("without empty lines", lambda lines: [line for line in lines if line.strip()]),
        ),
        (
            rf"{_leave_out}\b{_doubles}(?:\s+{_lines})?",
            _always("without repeated lines", lambda lines: list(dict.fromkeys(lines))),
        ),
        (
            r"\b(?:replace|ersetze?)\s+(?:(?:all|every|each|the words?|jedes|alle|das wort)\s+)*"
            rf"{_named.format('old')}\s+(?:with|by|durch|mit)\s+{_named.format('new')}{_end}",
            _replaced,
        ),
        (
            r"\b(?:all|only|just|alle|nur)\s+(?:of\s+)?(?:the\s+|its\s+|die\s+)?"
            r"(?:headings|headlines|überschriften)\b",
            _always("headings only", _headings, collects=True),
        ),
        (
            r"\b(?:sort|alphabeti[sz]e|sortiere?)\b"
            rf"(?:\s+(?:all|of|the|its|these|this|files?|texts?|notes?|letters?|documents?|my|die|alle|von|\w+(?=\s+by\b)|{_lines}|words?|list|items?|liste|wörter"
            rf"|in(?=\s+{_order}))\b)*"
            r"(?:\s+(?:by|nach)\s+(?:the\s+)?(?:name|names|alphabet|letters?|namen)\b)?"
            rf"(?:\s+{_order}\b)*",
            _sorted,
        ),
        (
            rf"\breverse\s+(?:the\s+)?(?:order\s+of\s+)?(?:the\s+)?{_lines}"
            rf"|{_lines}\s+in\s+reverse\s+order",
            _always("in reverse order", lambda lines: lines[::-1]),
        ),
        (
            rf"{_made_into}{_capitals}\b",
            _always("in capital letters", lambda lines: [line.upper() for line in lines]),
        ),
        (
            rf"{_made_into}(?:small letters|lower\s?case|kleinbuchstaben)\b",
            _always("in small letters", lambda lines: [line.lower() for line in lines]),
        ),
        (
            r"\b(?:number|nummeriere?)\s+(?:all\s+|alle\s+)?(?:the\s+|its\s+|die\s+)?"
            rf"(?:{_lines}|them|it|rest|others|remaining {_lines}|sie)\b"
            r"|\b(?:add|with|mit)\s+(?:the\s+)?(?:line\s+numbers|zeilennummern)\b",
            _always("numbered", _numbered),
        ),
    )
)
_file_name = lazy_re(r"(?<![\w./-])[\w./~-]*\w\.[A-Za-z]{1,5}\b")
_sort_key = lazy_re(r"\b(?:by|nach)\s+(?:the\s+|der\s+|dem\s+)?\w+", re.IGNORECASE)
_filler = FUNCTION_WORDS | frozenset(
    """all allen als also are as bitte brief briefe briefen change contract convert dann datei
    dateien den der des die diese diesem diesen dieser document documents draw each es
    everywhere file files filter gedicht get give guests handbook ihn im in into it it's keep
    left letter letters lines list liste log make manual mein meine meinem meinen mir my name
    names new note notes notizen now of once one only others please poem protokoll put remain
    remaining report reports rest result save sie so speichere speichern stay store story text
    textdatei texte texten texts them then these this throughout turn und vertrag what with
    word words write zeilen ändere überall""".split()
)
"""Words that alone ask for nothing."""
