"""Text embeddings and sentence similarity, as Sentence Transformers computes them.

Reimers and Gurevych, "Sentence-BERT: Sentence embeddings using Siamese BERT-networks", EMNLP 2019.
The layers after the network are read from the expert's own modules.json.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.local.pipelines.bert_encoder import TokenWindow, gelu, read_tensors
from jarvis_desktop.backends.local.pipelines.text_classification import MAX_TEXT_CHARS
from jarvis_desktop.backends.local.pipelines.text_network import BATCH, context, load_text_network
from jarvis_desktop.backends.local.worker import BatchedRun, ExpertLoader, Run
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.task import Call, Report, report_part
from jarvis_desktop.tasks.text.similarity import MAX_SHOWN_CHARS, MAX_TEXTS, split_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Embed = Callable[[Sequence[str], Report], "Vectors"]

_POOLING = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


def load_sentence_similarity(loading: ExpertLoader) -> Run:
    """Compute how similar in meaning two texts are."""
    embed = _embedder(loading, "STS")

    def batch(calls: Sequence[Call], report: Report) -> list[list[Artifact]]:
        ports = ("text_1", "text_2")
        texts = [call.text(port)[:MAX_TEXT_CHARS] for call in calls for port in ports]
        if not all(text.strip() for text in texts):
            raise InputError(tr("Two texts with words in them are needed to compare them."))
        vectors = embed(texts, report)
        cosines = (vectors[::2] * vectors[1::2]).sum(axis=1).tolist()
        return [[format_similarity(cosine, loading.expert.id)] for cosine in cosines]

    return BatchedRun(batch)


def load_feature_extractor(loading: ExpertLoader) -> Run:
    """Write the vectors of a text, or of its parts, to a table."""
    embed = _embedder(loading, "Clustering")

    def batch(calls: Sequence[Call], report: Report) -> list[list[Artifact]]:
        texts = [split_text(call) for call in calls]
        vectors = iter(embed([part for parts in texts for part in parts], report).tolist())
        results = []
        for call, parts in zip(calls, texts, strict=True):
            note = f" Only the first {MAX_TEXTS:,} were taken." if len(parts) == MAX_TEXTS else ""
            rows = zip(parts, islice(vectors, len(parts)), strict=True)
            results.append(save_vectors(call, rows, note=note))
        return results

    return BatchedRun(batch)


def format_similarity(cosine: float, name: str) -> Artifact:
    """A sentence about the cosine of two texts' vectors, by an expert."""
    shown = f"{cosine:.2f}".replace("-", "−")
    return text_artifact(
        f"The two texts are {max(cosine, 0.0):.0%} alike in meaning (cosine {shown}, by {name})."
    )


def save_vectors(
    call: Call, rows: Iterable[tuple[str, Sequence[float]]], *, note: str = ""
) -> list[Artifact]:
    """Write texts with their vectors to a table, and a sentence about it."""
    path = call.workdir / "vectors.csv"
    count = width = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for text, vector in rows:
            if not count:
                width = len(vector)
                writer.writerow(["text", *(f"v{at + 1}" for at in range(width))])
            shown = " ".join(text.split())[:MAX_SHOWN_CHARS]
            writer.writerow([shown, *(f"{value:.6f}" for value in vector)])
            count += 1
    vectors = "1 vector" if count == 1 else f"{count:,} vectors"
    said = (
        f"{vectors} of {width} numbers, one row each; texts whose vectors are close to each other "
        f"mean about the same.{note}"
    )
    return [Artifact(Kind.TABLE, path=path, name=path.name), text_artifact(said)]


@dataclass(frozen=True, slots=True)
class _Head:
    """The layers after the network."""

    pooling: str = "mean"
    dense: tuple[Callable[[Vectors], Vectors], ...] = ()
    prompt: str = ""  # what is put before each text
    longest: int = 512


def _embedder(loading: ExpertLoader, purpose: str) -> Embed:
    """Unit vectors, one a text; of a long text, the mean over its windows."""
    network = load_text_network(loading, "AutoModel")
    tokenizer = network.tokenizer
    head = _head(loading, network.config, purpose)

    import numpy as np  # not earlier; see load_bert_encoder

    def embed(texts: Sequence[str], report: Report) -> Vectors:
        tokenizer.no_truncation()
        prefix = tokenizer.encode(head.prompt, add_special_tokens=False).ids
        room = head.longest - tokenizer.num_special_tokens_to_add(False) - len(prefix)
        pieces: list[str] = []
        owners: list[int] = []
        for at, text in enumerate(texts):
            cut = _cut(tokenizer, text, max(room, 8))
            pieces += cut
            owners += [at] * len(cut)
        tokenizer.enable_truncation(head.longest)
        total = np.zeros((len(texts), 0), np.float32)
        # Sorted by length, so that short texts are padded little.
        order = sorted(range(len(pieces)), key=lambda at: -len(pieces[at]))
        for at in range(0, len(order), BATCH):
            chosen = order[at : at + BATCH]
            report_part(report, at, len(order))
            encoded = tokenizer.encode_batch([head.prompt + pieces[each] for each in chosen])
            found = network.compute([TokenWindow(one.ids) for one in encoded])
            for each, states in zip(chosen, found, strict=True):
                vector = _pooled(states, head.pooling)
                for layer in head.dense:
                    vector = layer(vector)
                if not total.shape[1]:
                    total = np.zeros((len(texts), len(vector)), np.float32)
                total[owners[each]] += _unit(vector) * len(pieces[each])
        return _unit(total)

    return embed


def _unit(vectors: Vectors) -> Vectors:
    """Vectors of the same directions and of length 1."""
    import numpy as np

    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    unit: Vectors = (vectors / np.maximum(norms, 1e-12)).astype(np.float32)
    return unit


def _cut(tokenizer: Any, text: str, room: int) -> list[str]:
    encoded = tokenizer.encode(text, add_special_tokens=False)
    places = [place for place in encoded.offsets if place[1] > place[0]]
    if len(places) <= room:
        return [text]
    starts = [places[at][0] for at in range(0, len(places), room)]
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def _pooled(states: Vectors, pooling: str) -> Vectors:
    """One vector of the (length, width) states of a text."""
    import numpy as np

    if pooling == "cls":
        pooled: Vectors = states[0]
    elif pooling == "lasttoken":
        pooled = states[-1]
    elif pooling == "max":
        pooled = states.max(0)
    elif pooling == "weightedmean":  # later tokens of a decoder have seen more of the text
        pooled = np.average(states, axis=0, weights=np.arange(1, len(states) + 1))
    else:
        pooled = states.mean(0)
    return pooled


def _head(loading: ExpertLoader, config: Any, purpose: str) -> _Head:
    """Read the pooling, dense layers, length and prompt from the expert's settings."""
    folder = loading.folder
    pooling, dense = "mean", []
    for module in _json(folder / "modules.json", []):
        inside = _inside(folder, str(module.get("path", "")))
        kind = str(module.get("type", "")).rpartition(".")[2]
        if kind == "Pooling":
            pooling = _pooling(_json(inside / "config.json", {}))
        elif kind == "Dense":
            dense.append(_dense(inside, loading))
        elif kind not in ("Transformer", "Normalize", "Dropout"):
            raise loading.error(mark("{id} has a part that cannot be run here: {kind}."), kind=kind)
    if not (folder / "modules.json").exists() and (folder / "1_Pooling").is_dir():
        pooling = _pooling(_json(folder / "1_Pooling" / "config.json", {}))
    longest = _json(folder / "sentence_bert_config.json", {}).get("max_seq_length") or 512
    settings = _json(folder / "config_sentence_transformers.json", {})
    prompts = settings.get("prompts") or {}
    prompt = prompts.get(purpose) or prompts.get(settings.get("default_prompt_name") or "", "")
    if not prompts and "/multilingual-e5" in loading.expert.repo:
        prompt = "query: "  # trained with it, but says so on its card only
    return _Head(pooling, tuple(dense), str(prompt), min(int(longest), context(config)))


def _pooling(settings: dict[str, Any]) -> str:
    named = settings.get("pooling_mode")
    if isinstance(named, str):
        return named
    return next((way for key, way in _POOLING.items() if settings.get(key)), "mean")


def _dense(folder: Path, loading: ExpertLoader) -> Callable[[Vectors], Vectors]:
    import numpy as np

    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise loading.error(mark("{id} lacks the weights of {name}."), name=folder.name)
    tensors = read_tensors(weights)
    weight, bias = tensors["linear.weight"], tensors.get("linear.bias", np.float32(0))
    settings = _json(folder / "config.json", {})
    name = str(settings.get("activation_function", "")).rpartition(".")[2]

    def layer(vector: Vectors) -> Vectors:
        inner: Vectors = weight @ vector + bias
        if name == "Tanh":
            return np.tanh(inner)
        if name == "ReLU":
            return np.maximum(inner, np.float32(0))
        return gelu(inner) if name == "GELU" else inner

    return layer


def _inside(folder: Path, name: str) -> Path:
    """A folder of the expert. Its settings are untrusted and must not point outside of it."""
    inside = folder / name
    if not inside.resolve().is_relative_to(folder.resolve()):
        raise ExpertError(tr("The expert names a folder that is not its own."))
    return inside


def _json(path: Path, default: Any) -> Any:
    if not path.is_file():
        return default
    return json.loads(path.read_text("utf-8"))
