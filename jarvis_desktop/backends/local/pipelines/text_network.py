"""The network of an expert that reads texts, with its tokenizer.

BERT and its relatives are computed in numpy, so that nothing waits until torch is imported;
everything else is in torch.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.local.pipelines.bert_encoder import TokenWindow, load_bert_encoder
from jarvis_desktop.backends.local.worker import ExpertLoader
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.placement import PROCESSOR
from jarvis_desktop.core.task import Report, report_part

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float32]

Compute = Callable[[Sequence[TokenWindow]], Iterable["Numbers"]]

MAX_WINDOW_TOKENS = 512
"""Tokens of a window, even if a model takes more: the usual length in training, and fast."""
BATCH = 8
"""Windows that are computed at a time."""

_OFFSET = frozenset(
    "roberta xlm-roberta camembert xlm-roberta-xl roberta-prelayernorm data2vec-text xmod ibert "
    "longformer mpnet".split()
)


def context(config: Any) -> int:
    """How many tokens a network takes, by its settings; 512 if they do not say."""
    inner = getattr(config, "text_config", None) or config
    for name in ("max_position_embeddings", "n_positions", "max_target_positions"):
        value = getattr(inner, name, None)
        if value and value > 0:
            # RoBERTa and its relatives count positions from after the padding.
            offset = (inner.pad_token_id or 0) + 1 if inner.model_type in _OFFSET else 0
            return int(value) - offset
    return 512


@dataclass(frozen=True, slots=True)
class TextNetwork:
    """A network with its tokenizer."""

    tokenizer: Any
    """Of the library tokenizers."""
    config: Any
    """The settings of config.json, under their names there."""
    compute: Compute
    """What the network makes of each window: (labels,) if it sorts texts, else (length, width)."""
    longest: int
    """Tokens of a window."""
    mask: str
    """The token for a gap; "" if it has none."""

    @property
    def labels(self) -> list[str]:
        """The labels that it knows, in the order of its results."""
        return [str(self.config.id2label[at]) for at in range(len(self.config.id2label))]

    def windows(self, text: str, question: str = "") -> list[TokenWindow]:
        """Split a text into overlapping windows, each with the question. Raises ExpertError if it
        is too long."""
        tokenizer, longest = self.tokenizer, self.longest
        room = longest - tokenizer.num_special_tokens_to_add(bool(question))
        tokenizer.no_truncation()
        if question:
            room -= len(tokenizer.encode(question, add_special_tokens=False).ids)
        if room < 8:
            raise ExpertError(tr("The question is too long for the expert."))
        strategy = "only_second" if question else "longest_first"
        tokenizer.enable_truncation(longest, stride=room // 4, strategy=strategy)
        own = int(bool(question))
        encoded = tokenizer.encode(question, text) if question else tokenizer.encode(text)
        return [
            TokenWindow(
                each.ids,
                each.type_ids,
                [
                    place if owner == own else (0, 0)
                    for place, owner in zip(each.offsets, each.sequence_ids, strict=True)
                ],
            )
            for each in (encoded, *encoded.overflowing)
        ]

    def pair(self, one: str, other: str) -> TokenWindow:
        """Two texts as one window."""
        self.tokenizer.no_truncation()
        encoded = self.tokenizer.encode(one, other)
        return TokenWindow(encoded.ids, encoded.type_ids)

    def results(
        self, windows: Sequence[TokenWindow], report: Report
    ) -> Iterator[tuple[TokenWindow, Numbers]]:
        """Yield each window with its result."""
        for at in range(0, len(windows), BATCH):
            report_part(report, at, len(windows))
            chosen = windows[at : at + BATCH]
            yield from zip(chosen, self.compute(chosen), strict=True)


def load_text_network(loading: ExpertLoader, kind: str) -> TextNetwork:
    """Load a network for inference; `kind` is its class in transformers."""
    written = loading.folder / "tokenizer.json"
    if loading.place == PROCESSOR and written.is_file():
        from tokenizers import Tokenizer

        if encoder := load_bert_encoder(loading.folder, kind):
            tokenizer = Tokenizer.from_file(str(written))
            marks = ("<mask>", "[MASK]")
            mask = next((each for each in marks if tokenizer.token_to_id(each) is not None), "")
            settings = loading.folder / "tokenizer_config.json"
            told = json.loads(settings.read_text("utf-8")) if settings.is_file() else {}
            most = told.get("model_max_length") or MAX_WINDOW_TOKENS
            return _network(tokenizer, encoder.config, encoder, most, mask)
    return _load_in_torch(loading, kind)


def _network(
    tokenizer: Any, config: Any, compute: Compute, longest: float, mask: str
) -> TextNetwork:
    tokenizer.no_padding()
    longest = max(int(min(context(config), longest, MAX_WINDOW_TOKENS)), 8)
    return TextNetwork(tokenizer, config, compute, longest, mask)


def _load_in_torch(loading: ExpertLoader, kind: str) -> TextNetwork:
    import numpy as np
    import torch

    fast = loading.part("AutoTokenizer")
    if not fast.is_fast:
        raise ExpertError(tr("The tokenizer of the expert does not report the positions of words."))
    network = loading.network(kind)
    if kind == "AutoModel" and network.config.is_encoder_decoder:  # of a T5, only the encoder
        network = network.get_encoder()
    padding = fast.pad_token_id if fast.pad_token else fast.eos_token_id
    typed = "token_type_ids" in fast.model_input_names

    def compute(windows: Sequence[TokenWindow]) -> Iterator[Numbers]:
        longest = max(len(window.ids) for window in windows)
        ids = np.full((len(windows), longest), padding or 0, np.int64)
        mask, types = np.zeros_like(ids), np.zeros_like(ids)
        places = []
        for row, window in enumerate(windows):
            before = longest - len(window.ids) if fast.padding_side == "left" else 0
            places.append(slice(before, before + len(window.ids)))
            ids[row, places[row]] = window.ids
            mask[row, places[row]] = 1
            types[row, places[row]] = window.types or 0
        given = {"input_ids": ids, "attention_mask": mask}
        if typed and all(window.types for window in windows):
            given["token_type_ids"] = types
        output = network(
            **{name: torch.from_numpy(rows).to(network.device) for name, rows in given.items()}
        )
        if kind == "AutoModel":
            found = output.last_hidden_state
        elif kind == "AutoModelForQuestionAnswering":
            found = torch.stack((output.start_logits, output.end_logits), -1)
        else:
            found = output.logits
        for result, place, window in zip(found, places, windows, strict=True):
            if result.ndim > 1:
                result = result[place]
            if window.only is not None:
                result = result[window.only : window.only + 1]
            yield result.float().cpu().numpy()

    mask = fast.mask_token or ""
    return _network(fast.backend_tokenizer, network.config, compute, fast.model_max_length, mask)
