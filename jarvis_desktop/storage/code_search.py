"""Search in the code library: by shared words and, if available, by meaning.

Embeddings of functions are saved, because computing them takes a while.
"""

from __future__ import annotations

import logging
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING

from jarvis_desktop.core.code import Function
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.storage.database import writing
from jarvis_desktop.text.tokens import FUNCTION_WORDS

if TYPE_CHECKING:
    import numpy as np

    from jarvis_desktop.storage.database import Database


FEW = 8
"""With fewer vectors their common part cannot be estimated."""

_word = re.compile(r"[^\W_]+")
_endings = ("ation", "ings", "ing", "ied", "ies", "ers", "er", "ed", "es", "s", "e", "y")


def words(text: str) -> list[str]:
    """Return the words of a text or identifier, each once, without function words."""
    found = dict.fromkeys(_word.findall(text.casefold()))
    return [word for word in found if word not in FUNCTION_WORDS] or list(found)


def stems(text: str) -> list[str]:
    """Return the same without endings, so that “plotted prices” matches “plot a price”."""
    return list(dict.fromkeys(map(_stem, words(text))))


def by_words(wish: str, weights: Sequence[Mapping[str, float]]) -> list[float]:
    """Return how much of a wish each text covers, 0 to 1; `weights` are the weights of its stems.

    Rare words count more than common ones.
    """
    wanted = stems(wish)
    having = Counter(stem for each in weights for stem in wanted if stem in each)
    rare = {stem: math.log(1 + len(weights) / (0.5 + having[stem])) for stem in wanted}
    total = sum(rare.values()) or 1.0

    def part(each: Mapping[str, float]) -> float:
        return sum(rare[stem] * each[stem] / (each[stem] + 0.5) for stem in wanted if stem in each)

    return [part(each) / total for each in weights]


def weighted(parts: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return the stems of a text of several parts, with the weight of their part."""
    found: dict[str, float] = {}
    for text, weight in parts:
        for stem in stems(text):
            found[stem] = max(found.get(stem, 0.0), weight)
    return found


def packed(direction: Sequence[float]) -> bytes:
    """Quantize an embedding to one byte per number."""
    import numpy as np

    values = np.asarray(direction, dtype=np.float32)
    largest = float(np.abs(values).max(initial=0.0)) or 1.0
    return bytes(np.round(values / largest * 127).astype(np.int8).tobytes())


def by_direction(wish: Sequence[float], vectors: Sequence[bytes]) -> list[float]:
    """Return the similarity of each packed embedding to the wish, 0 to 1.

    Their mean is subtracted first, because it carries no information. Another length counts 0.
    """
    import numpy as np

    right = [at for at, each in enumerate(vectors) if len(each) == len(wish)]
    found = [0.0] * len(vectors)
    if not right or not wish:
        return found
    joined = np.frombuffer(b"".join(vectors[at] for at in right), dtype=np.int8)
    table = _unit(joined.reshape(len(right), -1).astype(np.float32))
    aim = _unit(np.asarray(wish, dtype=np.float32))
    if len(right) >= FEW:
        middle = table.mean(0)
        table, aim = _unit(table - middle), _unit(aim - middle)
    for at, value in zip(right, np.clip(table @ aim, 0.0, 1.0).tolist(), strict=True):
        found[at] = value
    return found


def _unit(values: np.ndarray) -> np.ndarray:
    import numpy as np

    return np.asarray(values / np.maximum(np.linalg.norm(values, axis=-1, keepdims=True), 1e-6))


def _stem(word: str) -> str:
    for ending in _endings:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    doubled = len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls"
    return word[:-1] if doubled else word


log = logging.getLogger(__name__)

Meaning = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Returns the embedding of each text; raises UnavailableError."""
Connected = Callable[[], AbstractContextManager["Database"]]

MAX_EMBEDDED = 100
"""Functions that one search embeds; the next search continues."""
_PROBE = "Download a table of numbers, draw it, and write a summary of it to a file."


class Nearest:
    """Scores functions. Thread-safe."""

    def __init__(self, meaning: Meaning | None) -> None:
        self._meaning = meaning
        self._reader = b""

    def scores(
        self, wish: str, functions: Sequence[Function], connected: Connected
    ) -> Sequence[float]:
        """Return the similarity of each function to the wish, from 0."""
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
        """Embed functions in advance for the next search; errors are ignored."""
        if self._meaning is not None:
            with suppress(JarvisError):
                self._vectors(self._meaning, functions, connected)

    def _vectors(
        self, meaning: Meaning, functions: Sequence[Function], connected: Connected
    ) -> Sequence[bytes]:
        """Return the embeddings; missing ones are computed and saved."""
        if not self._reader:  # other weights point elsewhere: what they gave is of no use
            self._reader = packed(meaning([_PROBE])[0])
        keys = {item.name: self._key(item) for item in functions}
        with connected() as db:
            rows = db.execute("SELECT name, key, vector FROM library_vectors").fetchall()
        known = {name: bytes(vector) for name, key, vector in rows if keys.get(name) == key}
        fresh = [item for item in functions if item.name not in known][:MAX_EMBEDDED]
        if fresh:
            found = dict(
                zip(
                    (item.name for item in fresh),
                    meaning(list(map(_text_to_embed, fresh))),
                    strict=True,
                )
            )
            values = [(name, keys[name], packed(each)) for name, each in found.items()]
            known |= {name: vector for name, _, vector in values}
            put = "INSERT OR REPLACE INTO library_vectors (name, key, vector) VALUES (?, ?, ?)"
            with connected() as db, writing(db):
                db.executemany(put, values)
        return [known.get(item.name, b"") for item in functions]

    def _key(self, function: Function) -> str:
        return sha256(self._reader + _text_to_embed(function).encode()).hexdigest()


def _text_to_embed(function: Function) -> str:
    return f"{function.name.replace('_', ' ')}. {function.summary}"


def _weights(function: Function) -> dict[str, float]:
    draft = function.draft
    return _weighed(draft.name, function.summary, function.signature, draft.source)


@lru_cache(maxsize=4096)
def _weighed(name: str, summary: str, signature: str, source: str) -> dict[str, float]:
    # The source has the rest of the docstring, and names what it works with.
    return weighted(((name, 3.0), (summary, 2.0), (signature, 0.7), (source, 0.3)))
