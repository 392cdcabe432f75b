"""Which functions of the code library are near to some words: by their words, and by meaning where
there is something that tells it. Where a function points is kept, for to read it takes a while."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING

from jarvis_desktop.core.code import Function
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.storage.database import writing
from jarvis_desktop.storage.nearness import by_direction, by_words, packed, weighted

if TYPE_CHECKING:
    from jarvis_desktop.storage.light import Database

log = logging.getLogger(__name__)

Meaning = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Gives for each text where it points; raises UnavailableError."""
Connected = Callable[[], AbstractContextManager["Database"]]

MOST_READ = 100
"""Functions that one search reads for their meaning; those that it leaves, the next one reads."""
_PROBE = "Download a table of numbers, draw it, and write a summary of it to a file."


class Nearest:
    """Scores functions. May be used from any thread."""

    def __init__(self, meaning: Meaning | None) -> None:
        self._meaning = meaning
        self._reader = b""

    def scores(
        self, wish: str, functions: Sequence[Function], connected: Connected
    ) -> Sequence[float]:
        """How near each function is to what is wished for, from 0."""
        shared = by_words(wish, [_weights(item) for item in functions])
        if self._meaning is None or not functions or not wish.strip():
            return shared
        try:
            vectors = self._vectors(self._meaning, functions, connected)
            alike = by_direction(self._meaning([wish])[0], vectors)
        except JarvisError as error:
            log.info("Functions were looked for by their words alone: %s", error.message)
            return shared
        return [one + other for one, other in zip(shared, alike, strict=True)]

    def read(self, functions: Sequence[Function], connected: Connected) -> None:
        """Read functions now, so that the next search need not; where that fails it does."""
        if self._meaning is not None:
            with suppress(JarvisError):
                self._vectors(self._meaning, functions, connected)

    def _vectors(
        self, meaning: Meaning, functions: Sequence[Function], connected: Connected
    ) -> Sequence[bytes]:
        """Where each points; those that are not known yet are read, and kept."""
        if not self._reader:  # other weights point elsewhere: what they gave is of no use
            self._reader = packed(meaning([_PROBE])[0])
        keys = {item.name: self._key(item) for item in functions}
        with connected() as db:
            rows = db.conn.execute("SELECT name, key, vector FROM library_vectors").fetchall()
        known = {name: bytes(vector) for name, key, vector in rows if keys.get(name) == key}
        fresh = [item for item in functions if item.name not in known][:MOST_READ]
        if fresh:
            found = dict(
                zip((item.name for item in fresh), meaning(list(map(_told, fresh))), strict=True)
            )
            values = [(name, keys[name], packed(each)) for name, each in found.items()]
            known |= {name: vector for name, _, vector in values}
            put = "INSERT OR REPLACE INTO library_vectors (name, key, vector) VALUES (?, ?, ?)"
            with connected() as db, writing(db):
                db.conn.executemany(put, values)
        return [known.get(item.name, b"") for item in functions]

    def _key(self, function: Function) -> str:
        return sha256(self._reader + _told(function).encode()).hexdigest()


def _told(function: Function) -> str:
    """What is read of a function for its meaning."""
    return f"{function.name.replace('_', ' ')}. {function.summary}"


def _weights(function: Function) -> dict[str, float]:
    draft = function.draft
    return _weighed(draft.name, function.summary, function.signature, draft.source)


@lru_cache(maxsize=4096)
def _weighed(name: str, summary: str, signature: str, source: str) -> dict[str, float]:
    # The source has the rest of the docstring, and names what it works with.
    return weighted(((name, 3.0), (summary, 2.0), (signature, 0.7), (source, 0.3)))
