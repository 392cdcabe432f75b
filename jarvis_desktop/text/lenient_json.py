"""Reads JSON as LLMs write it: comments, wrong or missing quotes, brackets and commas, Python
literals.

This is our own parser because its work must be bounded: each character is looked at a fixed number
of times, whatever the text is.

json-repair was tried on the same damaged plans: it restored 82 % of them, this reader 93 %; it took
16 s for 16,000 hostile characters, and it let an AssertionError out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.text.lazy_re import lazy_re

MAX_DEPTH = 24
"""The maximum nesting of brackets; a plan has about five levels."""

MAX_TRIES = 50
"""How often the standard parser is tried: each failure costs it a look at the whole text."""

_quotes = {'"': '"', "'": "'", "`": "`", "“": '”"', "‘": "’'", "«": "»"}
"""Opening quotation mark -> marks that may close it."""
_closing = {"[": "]", "(": ")"}
_words = {
    **{"true": True, "false": False, "null": None, "none": None},
    **{"undefined": None, "nil": None, "nan": None},
}
_escapes = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}

_opener = lazy_re(r"[{\[]")
_skipped = r"\s|[\ufeff\u200b]|```\w*+|//[^\n]*+|\#[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?+"
_space = lazy_re(rf"(?:{_skipped})*+")
_blank = lazy_re(rf"(?:{_skipped}|[,;]|\.{{3}}|…)*+")
_colon = lazy_re(r"\s*+(?::=|=>|[:=])++")
_word = r"[\w$.\-]{1,60}+"
_mark = "[\"'`“”‘’]"
_key = lazy_re(rf"{_mark}{{0,2}}({_word}){_mark}{{0,2}}\s*+(?::=|=>|[:=])++")
"""A key whose quotes may be missing or doubled, with its colon."""
_quoted_key = lazy_re(rf"{_mark}({_word}){_mark}\s*+:")
_odd_key = lazy_re(r"[^\s:=,;{}\[\]()\"'`“”‘’«»]++")
_bare = lazy_re(rf"(?:(?!(?<!:)//|/\*|\s\#|```|\s{_quoted_key.pattern})[^,;{{}}\[\])\n])++")
_number = lazy_re(r"[+-]?(?:\d{1,18}(?:\.\d{0,18})?|\.\d{1,18})(?:[eE][+-]?\d{1,2})?")
_escape = lazy_re(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_new_item = lazy_re(r"\}\s*+,\s*+\{")
_new_member = lazy_re(rf"[}}\]]\s*+,++\s*+{_quoted_key.pattern}")
"""A bracket followed by evidence that it is superfluous: the container continues after it."""

_brackets = lazy_re(r"(?:\s*+[}\])])++")
_end = r"//|/\*|```|\Z"
_after_brackets = lazy_re(rf"\s*+(?:[,;{{\[]|{_end})")
_after_member = lazy_re(
    rf"\s*+(?:{_end}|[,;]++\s*+(?:{_key.pattern}|{_mark}{_word}{_mark}\s|[{{}}\])\#]|{_end})"
    rf"|{_quoted_key.pattern})"
)
_after_item = lazy_re(
    rf"\s*+(?:{_end}|[,;]++\s*+(?:{_mark}|[<\[{{}}\])(\d\-\#]|(?i:true|false|null|none)\b|{_end})"
    rf"|{_mark}|[\[{{])"
)
"""What follows the closing quotation mark of a text; other marks belong to the text."""
_text_left_open = lazy_re(r"(?:\s*[}\])]){0,4}\s*,\s*\{?\s*\Z")
"""What separates a text without a closing mark from the mark of the next key."""
_tail = lazy_re(r"(?:\s*[}\])]){1,24}\s*(?:```\s*)?\Z")

_decode = json.JSONDecoder().raw_decode


class LenientJsonReader:
    """Reads the values of a text."""

    def __init__(self, text: str) -> None:
        self.broken_off = False
        """Whether the text ended inside a string, or where something had to follow."""
        self._text = text
        self._at = 0
        self._tries = 0
        self._closers: list[str] = []
        self._endless: set[tuple[str, re.Pattern[str]]] = set()

    def values(self, start: int = 0) -> Iterator[object]:
        """Yield the objects and arrays from `start` on. Raises PlanError if they are nested too
        deeply."""
        self._at = start
        while opener := _opener.search(self._text, self._at):
            self._at = opener.start()
            yield self._outermost()

    def arguments(self, start: int) -> dict[str, object]:
        """Read the `name=value` arguments of a call from `start`, after its bracket."""
        self._at = start
        return self._object(")")

    @property
    def position(self) -> int:
        """The current position in the text."""
        return self._at

    def _outermost(self) -> object:
        if self._tries < MAX_TRIES:
            try:
                value, self._at = _decode(self._text, self._at)
            except (ValueError, RecursionError):
                self._tries += 1
            else:
                return value
        return self._value(_after_item)

    def _value(self, after: re.Pattern[str]) -> object:
        self._skip(_blank)
        match self._next:
            case "{":
                self._at += 1
                return self._object("}")
            case "[" | "(" as opener:
                self._at += 1
                return self._array(_closing[opener])
            case quote if quote in _quotes:
                return self._string(quote, after)
        return self._bare_word()

    def _object(self, closer: str) -> dict[str, object]:
        found: dict[str, object] = {}
        self._open(closer)
        while not self._ends(closer, found):
            if self._next == "{" and not found:  # doubled
                self._at += 1
            elif self._next in "{[(":  # no key: the bracket that ends this object is missing
                break
            else:
                key, has_value = self._a_key()
                found[key] = self._member(has_value)
        self._closers.pop()
        return found

    def _a_key(self) -> tuple[str, bool]:
        """Read a key. Return it, and whether a colon or a substitute for one follows."""
        if key := _key.match(self._text, self._at):
            self._at = key.end()
            return key[1], True
        start, has_value = self._at + 1, self._next in _quotes
        ends = (self._text.find(mark, start, start + 99) for mark in _quotes.get(self._next, ""))
        if (end := min((end for end in ends if end >= 0), default=-1)) >= 0:
            name, self._at = self._text[start:end], end + 1
        elif odd := _odd_key.match(self._text, self._at):
            name, self._at, has_value = odd[0], odd.end(), False
        else:
            name, self._at, has_value = "", start, False
        if colon := _colon.match(self._text, self._at):
            self._at = colon.end()
        return name, has_value or bool(colon)

    def _member(self, has_value: bool) -> object:
        self._skip(_space)
        if not self._next:
            self.broken_off |= has_value
            return None
        if self._next in ",;}])" or not (has_value or self._next in "{[\"'"):
            return None
        if _quoted_key.match(self._text, self._at):  # the brace before it is missing
            return self._object("}")
        return self._value(_after_member)

    def _array(self, closer: str) -> list[object] | dict[str, object]:
        found: list[object] = []
        self._open(closer)
        while not self._ends(closer, found):
            if key := _quoted_key.match(self._text, self._at):
                if not found:  # an object between the wrong brackets
                    self._closers.pop()
                    return self._object(closer)
                if not _has(found[-1], key[1]):  # the bracket that ends this list is missing
                    break
                found.append(self._object("}"))  # the brace before it is missing
                continue
            before = self._at
            found.append(self._value(_after_item))
            self._at = max(self._at, before + 1)
        self._closers.pop()
        return found

    def _string(self, mark: str, after: re.Pattern[str]) -> str:
        if self._text.startswith(3 * mark, self._at):
            mark *= 3
        start = self._at + len(mark)
        end, self._at = self._end_of_string(mark, start, after)
        text = self._text[start:end]
        if _escape.sub("", text).count(mark) % 2:  # the first or the last mark was doubled
            text = text.removeprefix(mark) if text.startswith(mark) else text.removesuffix(mark)
        text = _escape.sub(_unescaped, text)
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _end_of_string(self, mark: str, start: int, after: re.Pattern[str]) -> tuple[int, int]:
        """Where the string ends, and where what follows it begins."""
        if len(mark) == 3:
            at = self._text.find(mark, start)
            return (at, at + 3) if at >= 0 else self._rest(start)
        first = None
        for match in _marks[mark].finditer(self._text, start):
            at, end = match.span()
            if match[0][0] == "\\":
                continue
            if self._may_follow(end, after):
                return at, end
            before = self._text[max(start, at - 40) : at]
            left_open = _text_left_open.search(before)
            if left_open and _quoted_key.match(self._text, at):
                end = at - len(before) + left_open.start()
                return end, end
            first = first or (at, end)
            if (mark, after) in self._endless:
                return first
        # No mark from here on can end a string, so later strings need not search again.
        self._endless.add((mark, after))
        return first or self._rest(start)

    def _rest(self, start: int) -> tuple[int, int]:
        """The end of a string that no mark ends: before the brackets at the end of the text."""
        tail = _tail.search(self._text, max(start, len(self._text) - 60))
        if tail and _count(tail[0]) >= len(self._closers):
            return tail.start(), tail.start()
        self.broken_off = True
        return len(self._text), len(self._text)

    def _may_follow(self, at: int, after: re.Pattern[str]) -> bool:
        """Whether the text at `at` shows that a string ended before it."""
        if not (brackets := _brackets.match(self._text, at)):
            return after.match(self._text, at) is not None
        closes_all = _count(brackets[0]) >= len(self._closers)
        return closes_all or _after_brackets.match(self._text, brackets.end()) is not None

    def _bare_word(self) -> object:
        match = _bare.match(self._text, self._at)
        word = match[0].strip().rstrip("\"'`”’") if match else ""
        self._at = match.end() if match else self._at
        if word.lower() in _words:
            return _words[word.lower()]
        if not _number.fullmatch(word):
            return word
        return int(word) if word.lstrip("+-").isdecimal() else float(word)

    @property
    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip(self, what: re.Pattern[str]) -> None:
        match = what.match(self._text, self._at)
        assert match, "a pattern of what may be skipped matches nothing as well"
        self._at = match.end()

    def _open(self, closer: str) -> None:
        if len(self._closers) == MAX_DEPTH:
            raise PlanError(tr("The answer has too many brackets within brackets to be a plan."))
        self._closers.append(closer)

    def _ends(self, closer: str, found: dict[str, object] | list[object]) -> bool:
        """Whether the innermost container is over.

        Its own bracket is read, that of an outer one left to it, and one too many skipped: one
        that nothing waits for, or behind which the container goes on.
        """
        while True:
            before = self._at
            self._skip(_blank)
            if not self._next:
                self.broken_off |= self._text[before:].rstrip().endswith(",")
                return True
            if self._next not in "}])":
                return False
            own = self._next == closer
            if (own or self._next in self._closers) and not self._goes_on(own, found):
                self._at += own
                return True
            self._at += 1

    def _goes_on(self, own: bool, found: dict[str, object] | list[object]) -> bool:
        """Whether the text after this bracket still belongs to the container that it would end."""
        if isinstance(found, list):
            has_objects = bool(found) and isinstance(found[-1], dict)
            return not own and has_objects and bool(_new_item.match(self._text, self._at))
        if own and self._closers[-2:-1] == ["}"]:  # a member of the outer object looks the same
            return False
        member = _new_member.match(self._text, self._at)
        return member is not None and member[1] not in found


def _has(value: object, key: str) -> bool:
    return isinstance(value, dict) and key in value


def _count(brackets: str) -> int:
    return sum(mark in "}])" for mark in brackets)


def _unescaped(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16))
    return _escapes.get(match[2], match[2] if match[2] in "\"'`/\\\n" else match[0])


_marks = {mark: lazy_re(rf"\\.?|[{''.join(ends)}]", re.DOTALL) for mark, ends in _quotes.items()}
