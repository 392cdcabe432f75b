"""Requests in other languages than English that are understood without a language model.

`resources/requests` has a table for each such language: everyday requests as patterns, and the
English words that mean the same, which the cues and the encoder read. A request is taken only if
all of it fits, so that nothing of it is misunderstood or left out.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from functools import cache, partial
from typing import Any

from jarvis_desktop.assistant.planning import request_parser
from jarvis_desktop.paths import shipped

LANGUAGES = ("de", "zh")
MAX_CHARS = 300
"""Of a request; a longer one has a text in it."""

_mention = "[\ue000-\uf8ff]"
"""Stands for a quotation or the name of a file."""
_between_scripts = re.compile(r"(?<=[^\x00-\x7f]) | (?=[^\x00-\x7f])")
_slot = re.compile(r"\{([a-z]+)(\d?)\}")


def in_english(text: str, *, whole: bool = True) -> str | None:
    """Return what a request means in English, with its quotations, files and free words as they
    are; None if not all of it is known, or if it is English. Unless it is to be known as a `whole`,
    other parts stay as they are: some tasks have German cues."""
    if len(text) > MAX_CHARS or "\n" in text:
        return None
    found = [*request_parser.find_quotes(text), *request_parser.find_files(text)]
    masked = text
    for number, item in sorted(enumerate(found), key=lambda pair: -pair[1].start):
        masked = f"{masked[: item.start]}{chr(0xE000 + number)}{masked[item.end :]}"
    readings = (table_of(language).english(masked, whole=whole) for language in LANGUAGES)
    if not (english := next(filter(None, readings), None)):
        return None
    originals = {chr(0xE000 + number): text[it.start : it.end] for number, it in enumerate(found)}
    return re.sub(_mention, lambda it: originals[it[0]], english)


@cache
def table_of(language: str) -> RequestTable:
    """Return the requests of a language."""
    path = shipped("resources", "requests", f"{language}.toml")
    return RequestTable(tomllib.loads(path.read_text(encoding="utf-8")))


class RequestTable:
    """The requests of one language."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self._gap = table["gap"]
        self._forms: dict[str, re.Pattern[str]] = {}
        names = {
            kind: {said: english for english, ways in table[kind].items() for said in ways.split()}
            for kind in ("nouns", "numbers", "units", "languages", "feasts", "months")
        }
        noun, number, unit, language, feast, month = map(self._any_of, names.values())
        self._nouns = names.pop("nouns")
        self._words = {said: english for table in names.values() for said, english in table.items()}
        self._noun, self._month = re.compile(noun), re.compile(month)
        self._token = re.compile(rf"\d+(?:[.,]\d+)?|{number}|{unit}|{language}|{feast}|{month}")
        gap, this, within = self._gap, table["this"], table["within"]
        self._kinds = {
            "thing": rf"(?:(?:{this}){gap})?(?:{noun}|{_mention})"
            rf"(?:{gap}{within}{gap}(?:{this}{gap})?(?:{noun}|{_mention}))?|{table['pronoun']}",
            "number": rf"\d+(?:[.,]\d+)?|{number}",
            "long": rf"(?:\d+(?:[.,]\d+)?|{number}){gap}(?:{unit})",
            "time": table["time"],
            "date": table["date"].replace("{month}", month),
            "unit": unit,
            "language": language,
            "feast": feast,
            "month": month,
            "words": ".+",
        }
        self._sign, self._courtesy, self._filler, self._joint = (
            re.compile(table[name], re.IGNORECASE)
            for name in ("sign", "courtesy", "filler", "joint")
        )
        self._told = re.compile(table.get("told", "(?!)"), re.IGNORECASE)
        self._patterns = [
            (_literals(said), said.replace("{within}", within), english)
            for english, ways in table["requests"].items()
            for said in ways
        ]

    @property
    def meanings(self) -> tuple[str, ...]:
        """All that it understands, in English with slots in braces."""
        return tuple(dict.fromkeys(english for *_, english in self._patterns))

    def english(self, words: str, *, whole: bool = True) -> str | None:
        """Return words in English; None if not all of them are known, or if none are."""
        if not self._sign.search(words):
            return None
        for said in dict.fromkeys((words, self._courtesy.sub("", words, count=1))):
            plain = " ".join(self._filler.sub(" ", said).split()).strip(" .,!?。，！？")
            if not self._gap:
                plain = _between_scripts.sub("", plain)
            if english := self._several(plain):
                return english
            if not whole and (english := self._known(plain)):
                return english
        return None

    def _known(self, words: str) -> str | None:
        """Return words with their known parts in English; None if there is none."""
        for joint in self._joint.finditer(words):
            first, rest = words[: joint.start()].strip(), words[joint.end() :].strip()
            before, behind = self._one(first), self._several(rest) or self._known(rest)
            if before or behind:
                return f"{before or first} and {behind or rest}"
        return None

    def _several(self, words: str) -> str | None:
        for joint in self._joint.finditer(words):
            first, rest = words[: joint.start()].strip(), words[joint.end() :].strip()
            if (before := self._one(first)) and (behind := self._several(rest)):
                return f"{before} and {behind}"
        return self._one(words)

    def _one(self, words: str) -> str | None:
        """Return one wish in English. A German question inside an order has its verb at the end:
        "sag mir, wie spät es ist" is "wie spät ist es"."""
        if told := self._told.fullmatch(words):
            words = f"{told['asked']} {told['verb']} {told['rest']}"
        low = words.lower()
        for literals, said, english in self._patterns:
            # A pattern takes a while to compile, so only those are that may fit.
            if all(map(low.__contains__, literals)) and (
                found := self._form(said).fullmatch(words)
            ):
                return _slot.sub(partial(self._value, found), english)
        return None

    def _form(self, said: str) -> re.Pattern[str]:
        if said not in self._forms:
            form = _slot.sub(lambda it: f"(?P<{it[1]}{it[2]}>{self._kinds[it[1]]})", said)
            self._forms[said] = re.compile(form, re.IGNORECASE)
        return self._forms[said]

    def _value(self, found: re.Match[str], slot: re.Match[str]) -> str:
        kind, said = slot[1], found[slot[1] + slot[2]] or ""
        if kind == "words":
            return said.rstrip(" ,")
        low = said.lower()
        if kind == "thing":
            named = [f"the {self._nouns[noun]}" for noun in self._noun.findall(low)]
            return " in ".join([*named, *re.findall(_mention, said)]) or "it"
        if kind == "time":
            return ":".join([*re.findall(r"\d+", low), "00"][:2])
        if kind == "date":
            return self._date(low)
        parts = self._token.findall(low)
        return " ".join(self._words.get(part, part.replace(",", ".")) for part in parts)

    def _date(self, said: str) -> str:
        """Return "4 july 1976" or, if the month is a number, "1976-7-4"."""
        numbers = re.findall(r"\d+", said)
        if month := self._month.search(said):
            return " ".join([numbers[0], self._words[month[0]], *numbers[1:]])
        return "-".join(numbers if len(numbers[0]) == 4 else reversed(numbers))

    def _any_of(self, names: Collection[str]) -> str:
        words = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        return rf"\b(?:{words})\b" if self._gap else f"(?:{words})"


def _literals(said: str) -> list[str]:
    """Return words that are in whatever fits a pattern: what stands in no group, slot or option."""
    bare, count = said, 1
    while count:
        bare, count = re.subn(r"\([^()]*\)\??", "\0", bare)
    parts = re.sub(r"\{[^{}]*\}|.\?|\\.|[^\w\s]", "\0", bare).split("\0")
    return [part.strip() for part in parts if part.strip()]
