"""Scores tasks for a request with a small transformer, run by onnxruntime in milliseconds.

A text encoder reads the request and, once per inventory, each task's description; a decoder relates
the descriptions to the words of the request and to each other. A task is known by its description
only, so inventories that were not seen in training work as well; see `models/planner/README.md`. It
runs in another process, because it takes 100 MB.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.ports import Scores
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.process.background import BackgroundProcess
from jarvis_desktop.process.onnx import TextEncoder, small_network

if TYPE_CHECKING:
    import numpy as np

EVERYDAY = "everyday.npz"
"""The file of the network that reads everyday requests (`packaging/planner/train_everyday.py`)."""

MAX_CONDENSED_WORDS = 110  # words of a condensed text, about 150 tokens
_MAX_QUOTED_WORDS = 16  # longer quotations lose their middle
_GAP = "…"

_quotation = re.compile(r"(?<!\w)(['\"‘“`])(.{60,4000}?)(['\"’”`])(?!\w)", re.DOTALL)
_word = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class CondensedText:
    """A shortened text that knows where its words came from."""

    text: str
    _starts: tuple[int, ...]
    _origins: tuple[int, ...]

    def origin(self, position: int) -> int:
        """The position in the original of a position in the shortened text."""
        index = max(0, bisect.bisect_right(self._starts, position) - 1)
        return self._origins[index] + position - self._starts[index] if self._starts else 0


def condense(text: str) -> CondensedText:
    """Shorten a text to 110 words: long quotations lose their middle, then the text does."""
    dropped: list[tuple[int, int]] = []
    for match in _quotation.finditer(text):
        words = [(match.start(2) + w.start(), w.end()) for w in _word.finditer(match[2])]
        if len(words) > _MAX_QUOTED_WORDS:
            dropped.append((words[9][0], words[-3][0]))
    kept: list[tuple[str, int]] = []
    for found in _word.finditer(text):
        gap = next((start for start, end in dropped if start <= found.start() < end), None)
        if gap is None:
            kept.append((found[0], found.start()))
        elif gap == found.start():
            kept.append((_GAP, gap))
    if len(kept) > MAX_CONDENSED_WORDS:
        kept = [*kept[:75], (_GAP, kept[75][1]), *kept[-35:]]
    starts, at = [], 0
    for word, _ in kept:
        starts.append(at)
        at += len(word) + 1
    return CondensedText(
        " ".join(word for word, _ in kept), tuple(starts), tuple(start for _, start in kept)
    )


@dataclass(frozen=True, slots=True)
class InventoryDescription:
    """What the encoder reads of an inventory."""

    texts: tuple[str, ...]  # the description of each of its n tasks
    fits: bytes  # n times n: 1 if the result of one task fits an input of the other


def describe_inventory(inventory: Sequence[TaskType]) -> InventoryDescription:
    """Describe an inventory for the encoder."""
    gives = [frozenset(item.gives) for item in inventory]
    takes = [frozenset(kind for port in item.ports for kind in port.kinds) for item in inventory]
    return InventoryDescription(
        tuple(description(item) for item in inventory),
        bytes(not given.isdisjoint(taken) for given in gives for taken in takes),
    )


class TaskEncoder:
    """Scores the tasks of an inventory. Loads on first use; thread-safe."""

    def __init__(self, folder: Path) -> None:
        """`folder` holds encoder.onnx, decoder.onnx, everyday.npz and tokenizer.json."""
        self._folder = folder
        self._lock = Lock()
        self._inventories: dict[InventoryDescription, tuple[np.ndarray, np.ndarray]] = {}

    def warm(self, inventory: InventoryDescription) -> None:
        """Load the weights and encode an inventory. Raises UnavailableError."""
        with self._lock:
            self._vectors(inventory)

    def score(self, text: str, inventory: Sequence[TaskType]) -> Scores:
        """Score the tasks of an inventory. Raises UnavailableError if the weights are missing."""
        return self.score_described(text, describe_inventory(inventory))

    def score_described(self, text: str, inventory: InventoryDescription) -> Scores:
        """Score the tasks of a described inventory."""
        short = condense(text)
        with self._lock:
            tasks, fits = self._vectors(inventory)
            loaded = self._loaded
            encoding = loaded.tokenizer.encode(short.text)
            states = loaded.states(encoding.ids)
            nodes, links, order, where, related = loaded.decoder.run(
                None, {"states": states, "tasks": tasks, "fits": fits}
            )
        offsets = [start for start, _ in encoding.offsets]
        return Scores(
            tasks=tuple(_probability(nodes[0]).tolist()),
            links=_table(_probability(links[0]), related, len(tasks)),
            order=_table(_probability(order[0]), related, len(tasks)),
            where=tuple(short.origin(offsets[int(place + 0.5)]) for place in where[0]),
        )

    def directions(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the mean state of each text, 384 numbers; similar texts have similar directions.
        Only the beginning of each text is read. Raises UnavailableError."""
        found = []
        for text in texts:
            with self._lock:  # one by one, so that planning can get in between
                found.append([float(value) for value in self._loaded.mean(text)])
        return found

    def features(self, texts: Sequence[str]) -> np.ndarray:
        """Return the mean and the largest of the states of each text: (n, 768)."""
        import numpy as np

        found = []
        for text in texts:
            with self._lock:
                states = self._loaded.states(self._loaded.tokenizer.encode(text.lower()).ids)[0]
            found.append(np.concatenate([states.mean(0), states.max(0)]))
        return np.array(found, dtype=np.float32)

    def everyday(self, texts: Sequence[str]) -> list[dict[str, float]]:
        """See TaskScorer. Raises UnavailableError if the weights are missing."""
        import numpy as np

        names, layers = self._everyday
        hidden = np.maximum(self.features(texts) @ layers[0] + layers[1], 0)
        likely = _probability(hidden @ layers[2] + layers[3]).tolist()
        return [dict(zip(names, row, strict=True)) for row in likely]

    def _vectors(self, inventory: InventoryDescription) -> tuple[np.ndarray, np.ndarray]:
        """One vector per task (n, 384), and an (n, n) table of whose result fits whom."""
        import numpy as np

        if inventory not in self._inventories:
            # One by one: in a batch all would be padded to the longest.
            vectors = [self._loaded.mean(text) for text in inventory.texts]
            count = len(vectors)
            self._inventories[inventory] = (
                np.array(vectors, dtype=np.float32),
                np.frombuffer(inventory.fits, np.uint8).reshape(count, count).astype(np.float32),
            )
        return self._inventories[inventory]

    @cached_property
    def _everyday(self) -> tuple[list[str], list[np.ndarray]]:
        import numpy as np

        try:
            with np.load(self._folder / EVERYDAY, allow_pickle=False) as saved:
                layers = [saved[f"layer{place}"].astype(np.float32) for place in range(4)]
                return [str(name) for name in saved["names"]], layers
        except (OSError, ValueError, KeyError) as error:
            raise _unavailable() from error

    @cached_property
    def _loaded(self) -> _EncoderWeights:
        return _EncoderWeights(self._folder)


def _unavailable() -> UnavailableError:
    return UnavailableError(
        tr("The weights of the embedded planner cannot be loaded."),
        hint=tr("Install JARVIS Desktop again."),
    )


class _EncoderWeights(TextEncoder):
    """The loaded weights."""

    def __init__(self, folder: Path) -> None:
        try:
            super().__init__(folder)
            self.decoder = small_network(folder / "decoder.onnx")
        except Exception as error:
            raise _unavailable() from error


def description(task_type: TaskType) -> str:
    """What the encoder reads of a task."""
    return f"{task_type.title}: {task_type.summary}"


def _probability(logits: np.ndarray) -> np.ndarray:
    import numpy as np

    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -30, 30))))


def _table(values: np.ndarray, places: np.ndarray, size: int) -> tuple[tuple[float, ...], ...]:
    """The table of `size` rows and columns with the values of some of its rows and columns."""
    import numpy as np

    table = np.zeros((size, size), dtype=np.float32)
    table[np.ix_(places, places)] = values
    return tuple(tuple(row) for row in table.tolist())


@cache
def _encoder(folder: Path) -> TaskEncoder:
    return TaskEncoder(folder)


def call_encoder(folder: Path, method: str, *args: Any) -> Any:
    """Call a method of the encoder with the weights in a folder, in the process of the encoder."""
    return getattr(_encoder(folder), method)(*args)


class BackgroundScorer:
    """A TaskScorer that calls the encoder in another process; thread-safe."""

    def __init__(self, apart: BackgroundProcess, folder: Path) -> None:
        """`folder` holds the weights; see TaskEncoder."""
        self._apart = apart
        self._folder = folder

    def warm(self, inventory: Sequence[TaskType]) -> None:
        """Load the weights and encode an inventory. Raises UnavailableError."""
        self._call("warm", describe_inventory(inventory))

    def score(self, text: str, inventory: Sequence[TaskType]) -> Scores:
        """Score the tasks of an inventory. Raises UnavailableError."""
        scores: Scores = self._call("score_described", text, describe_inventory(inventory))
        return scores

    def directions(self, texts: Sequence[str]) -> list[list[float]]:
        """See TaskEncoder. Raises UnavailableError."""
        # One by one, so that planning can get in between.
        return [self._call("directions", [text])[0] for text in texts]

    def everyday(self, texts: Sequence[str]) -> list[dict[str, float]]:
        """See TaskScorer. Raises UnavailableError."""
        found: list[dict[str, float]] = self._call("everyday", texts)
        return found

    def _call(self, method: str, *args: object) -> Any:
        try:
            return self._apart.call(
                "jarvis_desktop.backends.task_encoder:call_encoder", self._folder, method, *args
            )
        except ExpertError as error:
            raise UnavailableError(error.message, hint=error.hint) from error
