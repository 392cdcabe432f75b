"""Text and token classification."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from jarvis_desktop.backends.local.pipelines.text_network import load_text_network
from jarvis_desktop.backends.local.worker import ExpertLoader, Run
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.tasks.text.classification import labels_of

MAX_TEXT_CHARS = 500_000  # characters that are read: about 250 pages
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
    network = load_text_network(loading, "AutoModelForTokenClassification")
    labels = network.labels

    from scipy.special import softmax  # not earlier; see load_bert_encoder

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        text = input_text(call, report)
        # In an overlap, the window in which a token is farther from the edge counts.
        best: dict[tuple[int, int], tuple[int, Any]] = {}
        for window, scores in network.results(network.windows(text), report):
            shares = softmax(scores, -1)
            for at, (start, end) in enumerate(window.offsets):
                edge = min(at, len(window.offsets) - 1 - at)
                # A token may hold only the space before a word.
                if end > start and edge > best.get((start, end), (-1,))[0]:
                    best[start, end] = edge, shares[at]
        tokens = [(start, end, best[start, end][1]) for start, end in sorted(best)]
        found = entities(text, tokens, labels)
        if not found:
            return [text_artifact("There is nothing in the text of the kinds that it looks for.")]
        return [text_artifact("\n".join(f"{kind}: {', '.join(each)}" for kind, each in found))]

    return run


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
    network = load_text_network(loading, "AutoModelForSequenceClassification")
    labels = [_readable(label) for label in network.labels]
    several = network.config.problem_type == "multi_label_classification"

    import numpy as np  # not earlier; see load_bert_encoder
    from scipy.special import expit, softmax

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        text = input_text(call, report)
        total, weight = np.zeros(len(labels)), 0
        for window, scores in network.results(network.windows(text), report):
            if len(labels) > 1:
                scores = expit(scores) if several else softmax(scores)
            size = sum(end > start for start, end in window.offsets)
            total += scores * size
            weight += size
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
        report(None, tr("Reading the first {count:,} characters.", count=MAX_TEXT_CHARS))
    return text[:MAX_TEXT_CHARS]


def load_zero_shot_classifier(loading: ExpertLoader) -> Run:
    """Classify by natural language inference (Yin et al. 2019): is the text about X?"""
    network = load_text_network(loading, "AutoModelForSequenceClassification")
    names = enumerate(label.lower() for label in network.labels)
    yes = next((index for index, name in names if name.startswith("entail")), None)
    if yes is None:
        raise loading.error(mark("{id} was not made for sorting: it knows no entailment."))

    from scipy.special import softmax  # not earlier; see load_bert_encoder

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        labels = labels_of(call.words("labels"))
        claims = [f"This example is about {label}." for label in labels]
        text = input_text(call, report)
        # Each window leaves room for the longest claim.
        windows = network.windows(text, max(claims, key=len))
        ends = [[place for place in window.offsets if place[1]] for window in windows]
        parts = [text[each[0][0] : each[-1][1]] for each in ends if each]
        pairs = [network.pair(part, claim) for part in parts for claim in claims]
        scores = [float(found[yes]) for _, found in network.results(pairs, report)]
        totals = [sum(scores[at :: len(claims)]) / len(parts) for at in range(len(claims))]
        return [text_artifact(ranked(labels, softmax(totals).tolist()))]

    return run
