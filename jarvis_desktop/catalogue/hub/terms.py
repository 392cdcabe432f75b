"""The terms under which an entry is found, and those that a search asks for.

Besides its words an entry has facts, written so that no word can be one of them. Words and facts
lie in one full-text index, whose lists are met in the order of popularity: that is why a search
under several conditions need look at a few entries only, however many there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from jarvis_desktop.catalogue.hub.entry import Entry
from jarvis_desktop.tasks.language_identification import NAMES
from jarvis_desktop.tasks.words import FUNCTION_WORDS, stem, tokens

RUNS, OPEN, SERVED = "=runs", "=open", "=served"
LANGUAGE, LICENCE, SIZE = "=in:", "=under:", "=upto:"
TASK, TOP = "=of:", "=top:"
TAKEN = 63
"""An entry with as many downloads is among the top of its task; the end of a popularity's class."""
UNKNOWN = "?"
SIZES = (16, 64, 128, 256, 512, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000)
"""In MB: an entry is listed under every one that it does not go beyond."""
MOST_WORDS = 60
ASKED = 6
"""How many of a request's words are looked up; the longest ones, which tell the most."""

_UNFIT = re.compile(r"[^a-z0-9.+]+")
_HEAD = re.compile(r"[a-z]{3,}(?=[\d.])")
_stem = lru_cache(maxsize=100_000)(stem)


def indexed(entry: Entry) -> str:
    """All terms of an entry, once each, for the index. The same entry always gives the same."""
    return " ".join(dict.fromkeys([*words(entry), *facts(entry)]))


def words(entry: Entry) -> list[str]:
    """The words of an entry as they are compared."""
    spoken = [NAMES.get(code, "") for code in entry.languages]
    tags = [tag.partition(":")[2] or tag for tag in entry.tags]
    text = " ".join((entry.repo, *tags, *spoken, entry.summary)).replace("_", " ")
    return list(dict.fromkeys(_cut(text)))[:MOST_WORDS]


def facts(entry: Entry) -> Iterator[str]:
    """What a search may ask of an entry."""
    yield TASK + entry.task
    if entry.downloads >= TAKEN:
        yield TOP + entry.task
    if entry.runs:
        yield RUNS
    if not entry.gated:
        yield OPEN
    if entry.providers:
        yield SERVED
    yield licence(entry.licence)
    for code in entry.languages or (UNKNOWN,):
        yield LANGUAGE + code
    if entry.weights_mb:
        yield from (f"{SIZE}{size}" for size in SIZES if entry.weights_mb <= size)


def size_term(megabytes: float) -> str:
    """What entries of at most this size are listed under, with somewhat larger ones; "" if all."""
    return next((f"{SIZE}{size}" for size in SIZES if megabytes <= size), "")


def licence(name: str) -> str:
    """What entries with a licence are listed under."""
    return LICENCE + (_UNFIT.sub("-", name.casefold()).strip("-") or UNKNOWN)


def asked(text: str) -> tuple[str, ...]:
    """The words of a request as terms; those that say the most where there are many."""
    found = [word for word in tokens(text[:4000]) if word not in FUNCTION_WORDS]
    unique = list(dict.fromkeys(_stem(word) for word in found))
    kept = set(sorted(unique, key=len, reverse=True)[:ASKED])
    return tuple(word for word in unique if word in kept)


def any_of(terms: Iterable[str]) -> str:
    """A condition of FTS5: one of the terms."""
    return "(" + " OR ".join(quoted(term) for term in terms) + ")"


def quoted(term: str) -> str:
    """A term that is not syntax."""
    return '"' + term.replace('"', '""') + '"'


def _cut(text: str) -> Iterator[str]:
    for word in tokens(text):
        if word not in FUNCTION_WORDS:
            yield _stem(word)
            if head := _HEAD.match(word):  # "qwen2.5" is found by "qwen" as well
                yield _stem(head[0])
