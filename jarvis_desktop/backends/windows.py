"""Cuts what is too long for an expert into windows that it takes. Used in the worker only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.wording import tr

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]

MOST_TOKENS = 512
"""Tokens of a window, also for experts that take more: what they were trained on, and quick."""

LONGEST_TEXT = 500_000
"""Characters that are read: about 250 pages."""

BATCH = 8
"""Windows asked about at once."""


def context(config: Any) -> int:
    """How many tokens a network takes, as its settings say it; 512 where they do not."""
    inner = getattr(config, "text_config", None) or config
    for name in ("max_position_embeddings", "n_positions", "max_target_positions"):
        value = getattr(inner, name, None)
        if value and value > 0:
            # RoBERTa and its kin begin to count behind the padding.
            offset = (inner.pad_token_id or 0) + 1 if inner.model_type in _OFFSET else 0
            return int(value) - offset
    return 512


_OFFSET = frozenset(
    "roberta xlm-roberta camembert xlm-roberta-xl roberta-prelayernorm data2vec-text xmod ibert "
    "longformer mpnet".split()
)


@dataclass(frozen=True, slots=True)
class Windows:
    """A text, or a pair of texts of which the second is long, as windows that overlap."""

    inputs: Any
    """What the tokenizer made: lists, one entry a window."""
    offsets: Sequence[Sequence[tuple[int, int]]]
    """Per window and token, where it stands in the text; (0, 0) for what is none of it."""

    def __len__(self) -> int:
        return len(self.offsets)

    def slices(self, text: str) -> list[str]:
        """The stretch of the text that each window holds."""
        ends = [[place for place in places if place[1]] for places in self.offsets]
        return [text[each[0][0] : each[-1][1]] for each in ends if each]

    def batches(self, device: Any, *, size: int = BATCH) -> Iterator[tuple[range, Any]]:
        """The windows as tensors, some at a time, with their numbers."""
        for at in range(0, len(self), size):
            numbers = range(at, min(at + size, len(self)))
            yield numbers, self.inputs(numbers).to(device)


def windows(tokenizer: Any, config: Any, text: str, *, question: str = "") -> Windows:
    """The text, behind the question where there is one. Raises ExpertError on an old tokenizer."""
    if not tokenizer.is_fast:
        raise ExpertError(
            tr("The expert has a tokenizer that does not tell where its words stand.")
        )
    if tokenizer.pad_token is None:  # as a decoder has none; what is filled up is not looked at
        tokenizer.pad_token = tokenizer.eos_token
    longest = max(min(context(config), tokenizer.model_max_length, MOST_TOKENS), 8)
    given = (question, text) if question else (text,)
    room = longest - tokenizer.num_special_tokens_to_add(bool(question))
    if question:
        room -= len(tokenizer(question, add_special_tokens=False)["input_ids"])
    if room < 8:
        raise ExpertError(tr("The question is too long for the expert."))
    encoded = tokenizer(
        *given,
        truncation="only_second" if question else True,
        max_length=longest,
        stride=room // 4,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
    )
    encoded.pop("overflow_to_sample_mapping", None)
    offsets = encoded.pop("offset_mapping")
    own = 1 if question else 0
    places = [
        [
            tuple(place) if owner == own else (0, 0)
            for place, owner in zip(offsets[at], encoded.sequence_ids(at), strict=True)
        ]
        for at in range(len(offsets))
    ]
    kept = dict(encoded)

    def tensors(numbers: range) -> Any:
        chosen = {name: [rows[at] for at in numbers] for name, rows in kept.items()}
        return tokenizer.pad(chosen, return_tensors="pt")

    return Windows(tensors, places)


def stretches(sound: Samples, rate: int, *, seconds: float) -> list[tuple[int, int]]:
    """Where one channel of sound is cut, at its quietest moments, into parts of so many seconds."""
    import numpy as np

    most, hop = int(seconds * rate), max(rate // 50, 1)
    cuts: list[tuple[int, int]] = []
    start = 0
    while len(sound) - start > most:
        # The quietest fifth of a second in the last third of what fits.
        tail = sound[start + most * 2 // 3 : start + most]
        blocks = tail[: len(tail) // hop * hop].reshape(-1, hop)
        loud = np.convolve((blocks**2).mean(axis=1), np.ones(10), mode="same")
        quiet = most * 2 // 3 + int(loud.argmin()) * hop + hop // 2
        cuts.append((start, start + quiet))
        start += quiet
    cuts.append((start, len(sound)))
    return cuts
