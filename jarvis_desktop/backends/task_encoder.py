"""Scores tasks with a small transformer of our own, run by onnxruntime: milliseconds, no LLM.

A text encoder reads the request and, once per inventory, each task's description; a decoder lets
the descriptions look at the words of the request and at each other. Because a task is known by its
description alone, an inventory that was never seen in training works as well. How the weights were
made: `models/planner/README.md`.

Shortens a request to what tells its tasks: the middle of long quotations and texts goes.

The encoder of the planner in a process of its own: 100 MB that the window does without."""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.ports import Scores
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.process.background import BackgroundProcess

if TYPE_CHECKING:
    import numpy as np


MAX_CONDENSED_WORDS = 110
"""Words of a condensed text, about 150 tokens."""
_QUOTED = 16
"""Words of a quotation that stays whole."""
_GAP = "…"

_quotation = re.compile(r"(?<!\w)(['\"‘“`])(.{60,4000}?)(['\"’”`])(?!\w)", re.DOTALL)
_word = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Condensed:
    """A shortened text that knows where its words came from."""

    text: str
    _starts: tuple[int, ...]
    _origins: tuple[int, ...]

    def origin(self, position: int) -> int:
        """Where a character of the shortened text stands in the whole one."""
        index = max(0, bisect.bisect_right(self._starts, position) - 1)
        return self._origins[index] + position - self._starts[index] if self._starts else 0


def condensed(text: str) -> Condensed:
    """The text with at most 110 words: long quotations lose their middle, then the text does."""
    dropped: list[tuple[int, int]] = []
    for match in _quotation.finditer(text):
        words = [(match.start(2) + w.start(), w.end()) for w in _word.finditer(match[2])]
        if len(words) > _QUOTED:
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
    return Condensed(
        " ".join(word for word, _ in kept), tuple(starts), tuple(start for _, start in kept)
    )


LONGEST = 150
"""Tokens of a request or a description that are read."""


@dataclass(frozen=True, slots=True)
class Described:
    """What is read of an inventory."""

    texts: tuple[str, ...]
    """A description of each of its n tasks."""
    fits: bytes
    """n times n: 1 where the result of the one task fits the other."""


def described(inventory: Sequence[TaskType]) -> Described:
    """What the encoder reads of an inventory."""
    return Described(
        tuple(description(item) for item in inventory),
        bytes(
            any(set(one.gives) & set(port.kinds) for port in other.ports)
            for one in inventory
            for other in inventory
        ),
    )


class TaskEncoder:
    """Scores the tasks of an inventory. Loads on first use; may be used from any thread."""

    def __init__(self, folder: Path) -> None:
        """`folder` holds encoder.onnx, decoder.onnx and tokenizer.json."""
        self._folder = folder
        self._lock = Lock()
        self._loaded: _Loaded | None = None
        self._inventories: dict[Described, tuple[np.ndarray, np.ndarray]] = {}

    def warm(self, inventory: Described) -> None:
        """Load, and read the descriptions of an inventory. Raises UnavailableError."""
        with self._lock:
            self._load()
            self._vectors(inventory)

    def score(self, text: str, inventory: Sequence[TaskType]) -> Scores:
        """What a request asks of an inventory. Raises UnavailableError without its weights."""
        return self.score_described(text, described(inventory))

    def score_described(self, text: str, inventory: Described) -> Scores:
        """The same of one that is described already."""
        import numpy as np

        short = condensed(text)
        with self._lock:
            tasks, fits = self._vectors(inventory)
            loaded = self._load()
            encoding = loaded.tokenizer.encode(short.text)
            states = loaded.states(encoding.ids)
            mask = np.ones(states.shape[:2], dtype=np.int64)
            nodes, links, order, where = loaded.decoder.run(
                None, {"states": states, "mask": mask, "tasks": tasks, "fits": fits}
            )
        offsets = [start for start, _ in encoding.offsets]
        return Scores(
            tasks=tuple(_probability(nodes[0]).tolist()),
            links=_rows(_probability(links[0])),
            order=_rows(_probability(order[0])),
            where=tuple(short.origin(offsets[int(place + 0.5)]) for place in where[0]),
        )

    def directions(self, texts: Sequence[str]) -> list[list[float]]:
        """For each text the mean of its states, 384 numbers: texts that mean alike point alike.

        It reads the beginning of each. Raises UnavailableError.
        """
        found = []
        for text in texts:
            with self._lock:  # one by one: who waits for a plan gets in between
                loaded = self._load()
                states = loaded.states(loaded.tokenizer.encode(text).ids)
            found.append([float(value) for value in states[0].mean(0)])
        return found

    def _vectors(self, inventory: Described) -> tuple[np.ndarray, np.ndarray]:
        """One vector per task (n, 384), and an (n, n) table of whose result fits whom."""
        import numpy as np

        if inventory not in self._inventories:
            loaded = self._load()
            # One by one: together they would all be as long as the longest.
            vectors = [
                loaded.states(loaded.tokenizer.encode(text).ids)[0].mean(0)
                for text in inventory.texts
            ]
            count = len(vectors)
            self._inventories[inventory] = (
                np.array(vectors, dtype=np.float32),
                np.frombuffer(inventory.fits, np.uint8).reshape(count, count).astype(np.float32),
            )
        return self._inventories[inventory]

    def _load(self) -> _Loaded:
        if self._loaded is None:
            self._loaded = _Loaded(self._folder)
        return self._loaded


class _Loaded:
    """The weights in memory."""

    def __init__(self, folder: Path) -> None:
        try:
            import onnxruntime as ort
            from tokenizers import Tokenizer

            self.tokenizer: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))
            self.tokenizer.enable_truncation(LONGEST)
            self.tokenizer.no_padding()
            options = ort.SessionOptions()
            options.intra_op_num_threads = 1
            options.inter_op_num_threads = 1
            options.log_severity_level = 3
            self.encoder: Any = self._session(ort, folder / "encoder.onnx", options)
            self.decoder: Any = self._session(ort, folder / "decoder.onnx", options)
        except Exception as error:
            raise UnavailableError(
                tr("The weights of the embedded planner cannot be loaded."),
                hint=tr("Install JARVIS Desktop again."),
            ) from error

    def states(self, ids: Sequence[int]) -> np.ndarray:
        """The tokens of one text to (1, length, 384) states."""
        import numpy as np

        row = np.array([ids], dtype=np.int64)
        return np.asarray(self.encoder.run(None, {"ids": row, "mask": np.ones_like(row)})[0])

    @staticmethod
    def _session(ort: Any, path: Path, options: Any) -> Any:
        return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def description(task_type: TaskType) -> str:
    """What the encoder reads of a task."""
    return f"{task_type.title}: {task_type.summary}"


def _probability(logits: np.ndarray) -> np.ndarray:
    import numpy as np

    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -30, 30))))


def _rows(table: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in table.tolist())


@cache
def _encoder(folder: Path) -> TaskEncoder:
    return TaskEncoder(folder)


def warm_of(folder: Path, inventory: Described) -> None:
    """`TaskEncoder.warm` with the weights of a folder, for a process of its own."""
    _encoder(folder).warm(inventory)


def score_of(folder: Path, text: str, inventory: Described) -> Scores:
    """`TaskEncoder.score_described` there."""
    return _encoder(folder).score_described(text, inventory)


def direction_of(folder: Path, text: str) -> list[float]:
    """`TaskEncoder.directions` there, of one text."""
    return _encoder(folder).directions([text])[0]


class BackgroundScorer:
    """Implements TaskScorer; each call waits for the other process. May be used from any thread."""

    def __init__(self, apart: BackgroundProcess, folder: Path) -> None:
        """`folder` holds the weights, as TaskEncoder takes them."""
        self._apart = apart
        self._folder = folder
        self._last: tuple[tuple[TaskType, ...], Described] | None = None

    def warm(self, inventory: Sequence[TaskType]) -> None:
        """Load, and read the descriptions of an inventory. Raises UnavailableError."""
        self._call("warm_of", self._described(inventory))

    def score(self, text: str, inventory: Sequence[TaskType]) -> Scores:
        """What a request asks of an inventory. Raises UnavailableError."""
        scores: Scores = self._call("score_of", text, self._described(inventory))
        return scores

    def directions(self, texts: Sequence[str]) -> list[list[float]]:
        """See TaskEncoder. Raises UnavailableError."""
        # One by one: who waits for a plan gets in between.
        return [self._call("direction_of", text) for text in texts]

    def _described(self, inventory: Sequence[TaskType]) -> Described:
        """To compare all with all takes milliseconds, and it is mostly the same inventory."""
        tasks, last = tuple(inventory), self._last
        if last is None or last[0] != tasks:
            last = self._last = tasks, described(tasks)
        return last[1]

    def _call(self, function: str, *args: object) -> Any:
        try:
            return self._apart.call(
                f"jarvis_desktop.backends.task_encoder:{function}", self._folder, *args
            )
        except ExpertError as error:
            raise UnavailableError(error.message, hint=error.hint) from error
