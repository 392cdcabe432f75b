"""Text and token classification, and how long texts are split into windows that a model takes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from jarvis_desktop.backends.local.worker import ExpertLoader, Run
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.tasks.text.classification import labels_of

MAX_WINDOW_TOKENS = 512
"""Tokens of a window, even if a model takes more: the usual length in training, and fast."""
MAX_TEXT_CHARS = 500_000  # characters that are read: about 250 pages
WINDOW_BATCH = 8


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


_OFFSET = frozenset(
    "roberta xlm-roberta camembert xlm-roberta-xl roberta-prelayernorm data2vec-text xmod ibert "
    "longformer mpnet".split()
)


@dataclass(frozen=True, slots=True)
class TokenWindows:
    """A text, or a question and a text, as overlapping windows."""

    inputs: Any  # a function that returns the tokenizer's output for some windows as tensors
    offsets: Sequence[Sequence[tuple[int, int]]]
    """Per window and token, its start and end in the text; (0, 0) for tokens not from the text."""

    def __len__(self) -> int:
        return len(self.offsets)

    def slices(self, text: str) -> list[str]:
        """The part of the text in each window."""
        ends = [[place for place in places if place[1]] for places in self.offsets]
        return [text[each[0][0] : each[-1][1]] for each in ends if each]

    def batches(self, device: Any, *, size: int = WINDOW_BATCH) -> Iterator[tuple[range, Any]]:
        """Yield the windows as tensors, some at a time, with their numbers."""
        for at in range(0, len(self), size):
            numbers = range(at, min(at + size, len(self)))
            yield numbers, self.inputs(numbers).to(device)


def windows(tokenizer: Any, config: Any, text: str, *, question: str = "") -> TokenWindows:
    """Split a text into windows, each with the question. Raises ExpertError on a slow tokenizer."""
    if not tokenizer.is_fast:
        raise ExpertError(tr("The tokenizer of the expert does not report the positions of words."))
    if tokenizer.pad_token is None:  # decoders have none; padding is masked anyway
        tokenizer.pad_token = tokenizer.eos_token
    longest = max(min(context(config), tokenizer.model_max_length, MAX_WINDOW_TOKENS), 8)
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

    return TokenWindows(tensors, places)


MAX_LABELS = 5
MAX_ENTRIES = 100  # entries per kind
_KINDS = {
    "per": "People", "person": "People", "org": "Organisations", "organization": "Organisations",
    "loc": "Places", "location": "Places", "gpe": "Countries and towns", "misc": "Other names",
    "date": "Dates", "time": "Times", "money": "Sums of money", "percent": "Percentages",
    "fac": "Buildings", "norp": "Groups of people", "event": "Events", "product": "Products",
    "law": "Laws", "language": "Languages", "quantity": "Quantities", "cardinal": "Numbers",
    "ordinal": "Ordinal numbers", "work_of_art": "Works", "private_person": "People",
    "private_email": "E-mails", "private_phone": "Phone numbers", "private_url": "Web addresses",
    "private_address": "Addresses", "private_date": "Dates", "account_number": "Account numbers",
    "secret": "Secrets",
}  # fmt: skip
_TAG = re.compile(r"([BILESUM])-(.+)")
_SEPARATE = ("THAI", "LAO", "KHMER", "MYANMAR")


def load_token_classifier(loading: ExpertLoader) -> Run:
    """List the names, and whatever else an expert marks in a text, by kind."""
    tokenizer = loading.part("AutoTokenizer")
    network = loading.network("AutoModelForTokenClassification")
    labels = [str(network.config.id2label[at]) for at in range(len(network.config.id2label))]

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        text = input_text(call, report)
        parts = windows(tokenizer, network.config, text)
        # In an overlap, the window in which a token is farther from the edge counts.
        best: dict[tuple[int, int], tuple[int, Any]] = {}
        for numbers, inputs in parts.batches(network.device):
            report(numbers[0] / len(parts), f"part {numbers[0] + 1} of {len(parts)}")
            shares = network(**inputs).logits.float().softmax(-1).cpu().numpy()
            for row, number in enumerate(numbers):
                places = parts.offsets[number]
                for at, (start, end) in enumerate(places):
                    edge = min(at, len(places) - 1 - at)
                    # A token may hold only the space before a word.
                    if end > start and edge > best.get((start, end), (-1,))[0]:
                        best[start, end] = edge, shares[row, _at(inputs, row, at)]
        tokens = [(start, end, best[start, end][1]) for start, end in sorted(best)]
        found = entities(text, tokens, labels)
        if not found:
            return [text_artifact("There is nothing in the text of the kinds that it looks for.")]
        return [text_artifact("\n".join(f"{kind}: {', '.join(each)}" for kind, each in found))]

    return run


def _at(inputs: Any, row: int, at: int) -> int:
    """The index of a token in a row that may be padded on the left."""
    mask = inputs["attention_mask"][row]
    return at if bool(mask[0]) else at + int((mask == 0).sum())


@dataclass(slots=True)
class _EntitySpan:
    kind: str
    start: int
    end: int
    closed: bool = False


def entities(
    text: str, tokens: Sequence[tuple[int, int, Any]], labels: Sequence[str]
) -> list[tuple[str, list[str]]]:
    """What is marked in the text by kind, without duplicates, in order of appearance. `tokens` are
    (start, end, a probability per label). The tokens of a word are classified together, by the mean
    of their probabilities, so that no half of a name is listed."""
    tags = [_TAG.fullmatch(label) for label in labels]
    kinds = [tag[2] if tag else label for tag, label in zip(tags, labels, strict=True)]
    spans: list[_EntitySpan] = []
    for start, end, shares in _words(text, tokens):
        by_kind: dict[str, float] = {}
        for kind, share in zip(kinds, shares, strict=True):
            by_kind[kind] = by_kind.get(kind, 0.0) + float(share)
        kind = max(by_kind, key=lambda each: by_kind[each])
        if kind == "O":
            continue
        own = [at for at in range(len(labels)) if kinds[at] == kind]
        mark = max(own, key=lambda at: float(shares[at]))
        tag = tags[mark]
        letter = tag[1] if tag else "I"
        last = spans[-1] if spans else None
        joins = (
            last is not None
            and last.kind == kind
            and not last.closed
            and letter not in "BSU"
            and not re.search(r"[^\s\-–'’.&/]|\n", text[last.end : start])
        )
        if last is not None and joins:
            last.end = end
        else:
            last = _EntitySpan(kind, start, end)
            spans.append(last)
        last.closed = letter in "ELSU"
    found: dict[str, list[str]] = {}
    for span in spans:
        words = " ".join(text[span.start : span.end].split())
        items = found.setdefault(named(span.kind), [])
        if words and words not in items and len(items) < MAX_ENTRIES:
            items.append(words)
    return [(kind, items) for kind, items in found.items() if items]


def _words(
    text: str, tokens: Sequence[tuple[int, int, Any]]
) -> Iterable[tuple[int, int, Sequence[float]]]:
    """Join the tokens of each word; scripts without spaces are not joined."""
    import numpy as np

    group: list[tuple[int, int, Any]] = []
    for start, end, shares in tokens:
        while start < end and text[start].isspace():
            start += 1
        if start == end:
            continue
        before, after = text[start - 1], text[start]
        inside = (before.isalnum() or before in "'’") and after.isalnum()
        joins = group and group[-1][1] >= start and inside and not _stands_alone(after)
        if group and not joins:
            yield group[0][0], group[-1][1], np.mean([each[2] for each in group], axis=0)
            group = []
        group.append((start, end, shares))
    if group:
        yield group[0][0], group[-1][1], np.mean([each[2] for each in group], axis=0)


def _stands_alone(sign: str) -> bool:
    """Whether a character is of a script that does not separate its words with spaces."""
    wide = unicodedata.east_asian_width(sign) in "WF" and not "가" <= sign <= "힣"
    return wide or unicodedata.name(sign, "").startswith(_SEPARATE)


def named(kind: str) -> str:
    """The kind of a name in the plural and in plain words: "per" is "People"."""
    return _KINDS.get(kind.casefold(), kind.replace("_", " ").replace("-", " ").capitalize())


def load_text_classifier(loading: ExpertLoader) -> Run:
    """Classify a text by the expert's own labels: a mood, a topic, a language, stars."""
    import torch

    tokenizer = loading.part("AutoTokenizer")
    network = loading.network("AutoModelForSequenceClassification")
    config = network.config
    labels = [_readable(str(config.id2label[at])) for at in range(len(config.id2label))]
    several = config.problem_type == "multi_label_classification"

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        text = input_text(call, report)
        parts = windows(tokenizer, config, text)
        total, weight = torch.zeros(len(labels)), 0
        for numbers, inputs in parts.batches(network.device):
            report(numbers[0] / len(parts), f"part {numbers[0] + 1} of {len(parts)}")
            scores = network(**inputs).logits.float().cpu()
            if len(labels) > 1:
                scores = scores.sigmoid() if several else scores.softmax(-1)
            sizes = torch.tensor([sum(end > start for start, end in parts.offsets[at])
                                  for at in numbers])  # fmt: skip
            total += (scores * sizes[:, None]).sum(0)
            weight += int(sizes.sum())
        return [text_artifact(ranked(labels, (total / max(weight, 1)).tolist(), several=several))]

    return run


def ranked(labels: Sequence[str], shares: Sequence[float], *, several: bool = False) -> str:
    """The most likely labels, one a line, such as "positive: 93%". With `several`, a text may have
    more than one label: all that are likely are listed. A single label is a measure, whose value is
    returned."""
    if len(labels) == 1:
        return f"{labels[0]}: {shares[0]:.2f}".replace("-", "−")
    pairs = sorted(zip(shares, labels, strict=True), key=lambda pair: -pair[0])
    likely = [pair for pair in pairs if pair[0] >= 0.5] if several else pairs
    return "\n".join(f"{label}: {share:.0%}" for share, label in (likely or pairs)[:MAX_LABELS])


def _readable(label: str) -> str:
    """A label in plain words: "POSITIVE" is "positive", "very_good" has a space."""
    words = label.replace("_", " ").strip()
    return words.lower() if words.isupper() and len(words) > 3 else words


def input_text(call: Call, report: Report) -> str:
    """The text of a call, up to MAX_TEXT_CHARS. Raises InputError if it is empty."""
    text = call.text("text")
    if not text.strip():
        raise InputError(tr("There is no text to look at."))
    if len(text) > MAX_TEXT_CHARS:
        report(None, f"Reading the first {MAX_TEXT_CHARS:,} characters.")
    return text[:MAX_TEXT_CHARS]


def load_zero_shot_classifier(loading: ExpertLoader) -> Run:
    """Classify by natural language inference (Yin et al. 2019): is the text about X?"""
    import torch

    tokenizer = loading.part("AutoTokenizer")
    network = loading.network("AutoModelForSequenceClassification")
    names = {str(name).lower(): index for name, index in network.config.label2id.items()}
    yes = next((index for name, index in names.items() if name.startswith("entail")), None)
    if yes is None:
        raise loading.error(mark("{id} was not made for sorting: it knows no entailment."))

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        labels = labels_of(call.words("labels"))
        claims = [f"This example is about {label}." for label in labels]
        # Each window leaves room for the longest claim.
        parts = windows(
            tokenizer,
            network.config,
            text := input_text(call, report),
            question=max(claims, key=len),
        ).slices(text)
        total = torch.zeros(len(labels))
        for at, part in enumerate(parts):
            report(at / len(parts), f"part {at + 1} of {len(parts)}")
            inputs = tokenizer([part] * len(labels), claims, padding=True, return_tensors="pt").to(
                network.device
            )
            total += network(**inputs).logits[:, yes].float().cpu()
        return [text_artifact(ranked(labels, (total / len(parts)).softmax(0).tolist()))]

    return run
