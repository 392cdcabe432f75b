"""BERT and its relatives in numpy, so that nothing waits until torch is imported.

Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
NAACL 2019; Sanh et al., "DistilBERT, a distilled version of BERT: smaller, faster, cheaper and
lighter", 2019; attention that depends on distances is that of Song et al., "MPNet: Masked and
Permuted Pre-training for Language Understanding", NeurIPS 2020. On a processor this is about as
fast as torch, and takes less than half of the memory.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float32]

_PADDING = {"bert": 0, "distilbert": 0, "roberta": 1, "xlm-roberta": 1, "mpnet": 1}
"""The architectures, and the token that they pad with unless their settings name another."""
_USUAL = {
    "hidden_act": "gelu",
    "position_embedding_type": "absolute",
    "is_decoder": False,
    "tie_word_embeddings": True,
}
"""Settings that are left out or have these values, or else torch is used."""
_DISTILBERT_SETTINGS = {
    "activation": "hidden_act",
    "n_heads": "num_attention_heads",
    "n_layers": "num_hidden_layers",
}
_DISTILBERT_NAMES = {
    "transformer.layer.": "encoder.layer.",
    "attention.q_lin.": "attention.self.query.",
    "attention.k_lin.": "attention.self.key.",
    "attention.v_lin.": "attention.self.value.",
    "attention.out_lin.": "attention.output.dense.",
    "sa_layer_norm.": "attention.output.LayerNorm.",
    "ffn.lin1.": "intermediate.dense.",
    "ffn.lin2.": "output.dense.",
    "output_layer_norm.": "output.LayerNorm.",
}
_MPNET_NAMES = {
    "attention.attn.q.": "attention.self.query.",
    "attention.attn.k.": "attention.self.key.",
    "attention.attn.v.": "attention.self.value.",
    "attention.attn.o.": "attention.output.dense.",
    "attention.LayerNorm.": "attention.output.LayerNorm.",
}
_NAMES = {"mpnet": _MPNET_NAMES, "distilbert": _DISTILBERT_NAMES}
_OLD_NAMES = {
    "LayerNorm.gamma": "LayerNorm.weight",
    "LayerNorm.beta": "LayerNorm.bias",
    "predictions.decoder.bias": "predictions.bias",
    "lm_head.decoder.bias": "lm_head.bias",
}
_FARTHEST = 128  # tokens; MPNet does not distinguish larger distances


@dataclass(frozen=True, slots=True)
class TokenWindow:
    """A part of a text, or a question with a part of a text, in tokens."""

    ids: Sequence[int]
    types: Sequence[int] = ()
    """Per token, 1 if it is of the second text of a pair; () for a single text."""
    offsets: Sequence[tuple[int, int]] = ()
    """Per token, its start and end in the text; (0, 0) for tokens not from the text."""
    only: int | None = None
    """The only token whose result is wanted."""


def load_bert_encoder(folder: Path, kind: str = "AutoModel") -> BertEncoder | None:
    """Load the encoder in a folder, with the head that the class `kind` of transformers has; None
    if it is of another architecture."""
    written = json.loads((folder / "config.json").read_text("utf-8"))
    name, weights = str(written.get("model_type")), folder / "model.safetensors"
    if name == "distilbert":
        written = {_DISTILBERT_SETTINGS.get(key, key): value for key, value in written.items()}
    usual = all(written.get(key, value) == value for key, value in _USUAL.items())
    if name not in _PADDING or not usual or not weights.is_file():
        return None
    # Texts are computed in parallel; threads inside of each product only wait for each other
    # busily. This is read when numpy is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    labels = written.get("id2label") or {0: "LABEL_0", 1: "LABEL_1"}
    config = {
        **{"pad_token_id": _PADDING[name], "layer_norm_eps": 1e-12, "problem_type": None},
        **written,
        "id2label": {int(at): label for at, label in labels.items()},
    }
    encoder = BertEncoder(SimpleNamespace(**config), read_tensors(weights), kind)
    (found,) = encoder([TokenWindow([0])])  # what is missing is noticed now
    if kind.endswith("Classification") and found.shape[-1] != len(config["id2label"]):
        raise ValueError("It has other labels than results.")
    return encoder


def read_tensors(path: Path) -> dict[str, Numbers]:
    """Return the tensors of a safetensors file by name, in 32 bits. Those that are so in the file
    are read from the disk when they are first used."""
    import numpy as np

    with path.open("rb") as file:
        start = 8 + int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(start - 8))
    header.pop("__metadata__", None)
    data = np.asarray(np.memmap(path, np.uint8, "r", start))
    tensors: dict[str, Numbers] = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        raw = data[begin:end]
        if entry["dtype"] == "F32":
            found = raw.view("<f4")
        elif entry["dtype"] == "F16":
            found = raw.view("<f2").astype(np.float32)
        elif entry["dtype"] == "BF16":  # the upper half of 32 bits
            found = (raw.view("<u2").astype(np.uint32) << 16).view(np.float32)
        else:  # such as position_ids, which are not weights
            continue
        # Products with numbers that are not aligned in memory take far longer.
        tensors[name] = np.require(found.reshape(entry["shape"]), requirements="A")
    return tensors


class BertEncoder:
    """Turns tokens into states, and states into what its head makes of them."""

    def __init__(
        self, config: SimpleNamespace, tensors: Mapping[str, Numbers], kind: str = "AutoModel"
    ) -> None:
        """`config` holds the settings of config.json under their names there."""
        self.config = config
        heads: Mapping[str, Callable[[Numbers], Numbers]] = {
            "AutoModel": lambda states: states,
            "AutoModelForMaskedLM": self._words,
            "AutoModelForQuestionAnswering": lambda states: self._linear(states, "qa_outputs"),
            "AutoModelForSequenceClassification": self._classes,
            "AutoModelForTokenClassification": lambda states: self._linear(states, "classifier"),
        }
        self._head = heads[kind]
        names = {**_OLD_NAMES, **_NAMES.get(config.model_type, {})}
        self._weights: dict[str, Numbers] = {}
        for name, tensor in tensors.items():
            short = name.removeprefix(f"{config.model_type.removeprefix('xlm-')}.")
            for old, new in names.items():
                short = short.replace(old, new)
            self._weights[short] = tensor
        self._pool = ThreadPoolExecutor(os.cpu_count())

    def __call__(self, windows: Sequence[TokenWindow]) -> list[Numbers]:
        """Compute the result of each window: (labels,) numbers of a text classifier, else (length,
        width)."""
        return list(self._pool.map(self._compute, windows))

    def _compute(self, window: TokenWindow) -> Numbers:
        states = self._encode(window.ids, window.types)
        at = window.only
        return self._head(states if at is None else states[at : at + 1])

    def _classes(self, states: Numbers) -> Numbers:
        import numpy as np

        first = states[0]
        if self.config.model_type == "bert":
            return self._linear(np.tanh(self._linear(first, "pooler.dense")), "classifier")
        if self.config.model_type == "distilbert":
            inner = np.maximum(self._linear(first, "pre_classifier"), np.float32(0))
            return self._linear(inner, "classifier")
        inner = np.tanh(self._linear(first, "classifier.dense"))
        return self._linear(inner, "classifier.out_proj")

    def _words(self, states: Numbers) -> Numbers:
        """The score of each word of the vocabulary."""
        dense, norm, bias = {
            "bert": (
                "cls.predictions.transform.dense",
                "cls.predictions.transform.LayerNorm",
                "cls.predictions.bias",
            ),
            "distilbert": ("vocab_transform", "vocab_layer_norm", "vocab_projector.bias"),
        }.get(self.config.model_type, ("lm_head.dense", "lm_head.layer_norm", "lm_head.bias"))
        inner = self._normalized(gelu(self._linear(states, dense)), norm)
        words = self._weights["embeddings.word_embeddings.weight"]
        found: Numbers = inner @ words.T + self._weights[bias]
        return found

    def _encode(self, ids: Sequence[int], types: Sequence[int]) -> Numbers:
        kind, weights = self.config.model_type, self._weights
        # The relatives of RoBERTa count positions from after the padding.
        first = {"bert": 0, "distilbert": 0, "mpnet": 2}.get(kind, self.config.pad_token_id + 1)
        states = weights["embeddings.word_embeddings.weight"][list(ids)]
        states = states + weights["embeddings.position_embeddings.weight"][first:][: len(ids)]
        if kind not in ("mpnet", "distilbert"):
            # Only BERT itself tells the texts of a pair apart.
            known = list(types) if types and kind == "bert" else 0
            states = states + weights["embeddings.token_type_embeddings.weight"][known]
        states = self._normalized(states, "embeddings.LayerNorm")
        bias: Numbers | int = 0
        if kind == "mpnet":
            table = weights["encoder.relative_attention_bias.weight"]
            bias = table[_distance_classes(len(ids), len(table))].transpose(2, 0, 1)
        for at in range(self.config.num_hidden_layers):
            layer = f"encoder.layer.{at}"
            states = states + self._attended(states, bias, f"{layer}.attention")
            states = self._normalized(states, f"{layer}.attention.output.LayerNorm")
            inner = gelu(self._linear(states, f"{layer}.intermediate.dense"))
            states = states + self._linear(inner, f"{layer}.output.dense")
            states = self._normalized(states, f"{layer}.output.LayerNorm")
        return states

    def _attended(self, states: Numbers, bias: Numbers | int, name: str) -> Numbers:
        import numpy as np

        length, width = states.shape
        heads = self.config.num_attention_heads
        query, key, value = (
            self._linear(states, f"{name}.self.{part}").reshape(length, heads, -1).swapaxes(0, 1)
            for part in ("query", "key", "value")
        )
        scores = query @ key.swapaxes(1, 2) / np.float32((width // heads) ** 0.5) + bias
        # Smaller shares would be denormal numbers, with which processors take ten times as long.
        shares = np.exp(np.maximum(scores - scores.max(-1, keepdims=True), -80.0))
        shares /= shares.sum(-1, keepdims=True)
        merged = (shares @ value).swapaxes(0, 1).reshape(length, width)
        return self._linear(merged, f"{name}.output.dense")

    def _linear(self, states: Numbers, name: str) -> Numbers:
        found: Numbers = states @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return found

    def _normalized(self, states: Numbers, name: str) -> Numbers:
        import numpy as np

        centred = states - states.mean(-1, keepdims=True)
        spread = np.sqrt((centred**2).mean(-1, keepdims=True) + self.config.layer_norm_eps)
        weights = self._weights
        found: Numbers = centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]
        return found


def gelu(values: Numbers) -> Numbers:
    """The activation of BERT."""
    import numpy as np
    from scipy.special import erf

    found: Numbers = values * (0.5 + 0.5 * erf(values * np.float32(0.5**0.5)))
    return found


def _distance_classes(length: int, count: int) -> NDArray[np.int64]:
    """The class, of `count`, of the distance between each two places: each near distance has its
    own in either direction, far ones share classes."""
    import numpy as np

    place = np.arange(length)
    distance = place[:, None] - place[None, :]
    half = count // 2  # of each direction
    exact = half // 2
    away = np.abs(distance)
    ratio = np.log(np.maximum(away, 1) / exact) / np.log(_FARTHEST / exact)
    far = np.minimum(exact + (ratio * (half - exact)).astype(np.int64), half - 1)
    classes: NDArray[np.int64] = np.where(distance < 0, half, 0) + np.where(away < exact, away, far)
    return classes
