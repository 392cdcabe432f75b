"""BERT and its relatives in numpy, so that nothing waits until torch is imported.

Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
NAACL 2019; attention that depends on distances is that of Song et al., "MPNet: Masked and Permuted
Pre-training for Language Understanding", NeurIPS 2020. On a processor this is about as fast as
torch, and takes a quarter of the memory.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float32]

_PADDING = {"bert": 0, "roberta": 1, "xlm-roberta": 1, "mpnet": 1}
"""The architectures, and the token that they pad with unless their settings name another."""
_USUAL = {"hidden_act": "gelu", "position_embedding_type": "absolute", "is_decoder": False}
"""Settings that are left out or have these values, or else torch is used."""
_MPNET_NAMES = {
    "attention.attn.q.": "attention.self.query.",
    "attention.attn.k.": "attention.self.key.",
    "attention.attn.v.": "attention.self.value.",
    "attention.attn.o.": "attention.output.dense.",
    "attention.LayerNorm.": "attention.output.LayerNorm.",
}
_OLD_NAMES = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}
_FARTHEST = 128  # tokens; MPNet does not distinguish larger distances


def load_bert_encoder(folder: Path) -> BertEncoder | None:
    """Load the encoder in a folder; None if it is of another architecture."""
    written = json.loads((folder / "config.json").read_text("utf-8"))
    kind, weights = str(written.get("model_type")), folder / "model.safetensors"
    usual = all(written.get(name, value) == value for name, value in _USUAL.items())
    if kind not in _PADDING or not usual or not weights.is_file():
        return None
    # Texts are computed in parallel; threads inside of each product only wait for each other
    # busily. This is read when numpy is imported.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    defaults = {"pad_token_id": _PADDING[kind], "layer_norm_eps": 1e-12}
    encoder = BertEncoder(SimpleNamespace(**{**defaults, **written}), read_tensors(weights))
    encoder([[0]])  # what is missing is noticed now
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
    """Turns tokens into states."""

    def __init__(self, config: SimpleNamespace, tensors: Mapping[str, Numbers]) -> None:
        """`config` holds the settings of config.json under their names there."""
        self.config = config
        names = {**_OLD_NAMES, **(_MPNET_NAMES if config.model_type == "mpnet" else {})}
        self._weights: dict[str, Numbers] = {}
        for name, tensor in tensors.items():
            short = name.removeprefix(f"{config.model_type.removeprefix('xlm-')}.")
            for old, new in names.items():
                short = short.replace(old, new)
            self._weights[short] = tensor
        self._pool = ThreadPoolExecutor(os.cpu_count())

    def __call__(self, texts: Sequence[Sequence[int]]) -> list[Numbers]:
        """Encode the tokens of each text to (length, width) states."""
        return list(self._pool.map(self._encode, texts))

    def _encode(self, ids: Sequence[int]) -> Numbers:
        import numpy as np

        kind, weights = self.config.model_type, self._weights
        # The relatives of RoBERTa count positions from after the padding.
        first = {"bert": 0, "mpnet": 2}.get(kind, self.config.pad_token_id + 1)
        states = weights["embeddings.word_embeddings.weight"][list(ids)]
        states = states + weights["embeddings.position_embeddings.weight"][first:][: len(ids)]
        if kind != "mpnet":
            states = states + weights["embeddings.token_type_embeddings.weight"][0]
        states = self._normalized(states, "embeddings")
        bias = np.zeros((1, 1, 1), np.float32)
        if kind == "mpnet":
            table = weights["encoder.relative_attention_bias.weight"]
            bias = table[_distance_classes(len(ids), len(table))].transpose(2, 0, 1)
        for at in range(self.config.num_hidden_layers):
            layer = f"encoder.layer.{at}"
            states = states + self._attended(states, bias, f"{layer}.attention")
            states = self._normalized(states, f"{layer}.attention.output")
            inner = gelu(self._linear(states, f"{layer}.intermediate.dense"))
            states = states + self._linear(inner, f"{layer}.output.dense")
            states = self._normalized(states, f"{layer}.output")
        return states

    def _attended(self, states: Numbers, bias: Numbers, name: str) -> Numbers:
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
        weights, layer = self._weights, f"{name}.LayerNorm"
        found: Numbers = centred / spread * weights[f"{layer}.weight"] + weights[f"{layer}.bias"]
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
