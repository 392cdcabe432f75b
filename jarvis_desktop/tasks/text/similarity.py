"""The tasks that compare texts: similarity by shared words, and embeddings.

There is no honest method for embeddings without an expert: vectors of letters or words would carry
no meaning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import sqrt

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Preset, Report, TaskOption
from jarvis_desktop.tasks.definition import define
from jarvis_desktop.text.sentences import paragraphs, sentences
from jarvis_desktop.text.tokens import content, tokens

MAX_CHARS = 200_000


def compare(call: Call, report: Report) -> Iterable[Artifact]:
    """A percentage, and what it is based on. Raises InputError if a text has no words."""
    texts = [call.text(port)[:MAX_CHARS] for port in ("text_1", "text_2")]
    if not all(tokens(text) for text in texts):
        raise InputError(tr("Two texts with words in them are needed to compare them."))
    share = round(100 * similarity(*texts))
    verdicts = (
        (100, "They have the same words."),
        (65, "They share most of their wording."),
        (30, "They share some of their wording."),
        (0, "They have little wording in common."),
    )
    verdict = next(words for least, words in verdicts if share >= least)
    caveat = "This compares words, not meaning."
    return [text_artifact(f"The two texts are {share}% alike. {verdict} {caveat}")]


def similarity(one: str, other: str) -> float:
    """0 to 1: the mean of two cosines, of stemmed words and of letter sequences. Words see what the
    texts are about, letter sequences see spelling variants and compounds."""
    words = _cosine(Counter(content(one)), Counter(content(other)))
    letters = _cosine(_letters(one), _letters(other))
    return min(1.0, (words + letters) / 2)


def _letters(text: str) -> Counter[str]:
    line = f" {' '.join(tokens(text))} "
    return Counter(line[at : at + size] for size in (3, 4) for at in range(len(line) - size + 1))


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    product = sum(count * other[key] for key, count in one.items())
    norms = sqrt(sum(count**2 for count in one.values()))
    norms *= sqrt(sum(count**2 for count in other.values()))
    return product / norms if norms else 0.0


SENTENCE_SIMILARITY = define(
    name="sentence-similarity", label="Compare texts",
    summary="Says how similar two texts are.",
    ports=(Port("text_1", (Kind.TEXT,)), Port("text_2", (Kind.TEXT,))),
    cues=(
        "how similar", "similar to", "similarity", "compare", "compares",
        "how do these ... compare", "how alike", "are ... alike", "same meaning", "mean the same",
        "say the same thing", "resembl*", "how close are",
        "paraphrase of", "match each other", "the two sentences", "these two sentences",
    ),
    method=compare, note="shared words and letters; knows no meaning",
)  # fmt: skip


PARTS = ("text", "paragraph", "sentence", "line")


MAX_TEXTS = 2_000  # vectors per table
MAX_SHOWN_CHARS = 200  # characters of a text that are shown beside its vector


def split_text(call: Call) -> list[str]:
    """The parts that get a vector each. Raises InputError if there is no text."""
    text = call.text("text")
    match call.words("each"):
        case "sentence":
            parts = sentences(text)
        case "paragraph":
            parts = paragraphs(text, numbers=True)
        case "line":
            parts = [line.strip() for line in text.splitlines()]
        case _:
            parts = [text.strip()]
    if not any(parts):
        raise InputError(tr("There is no text to make vectors of."))
    return [part for part in parts if part][:MAX_TEXTS]


FEATURE_EXTRACTION = define(
    name="feature-extraction", label="Compute embeddings",
    summary="Turns a text into vectors of numbers that stand for its meaning (embeddings).",
    ports=(Port("text", (Kind.TEXT,)),), gives=(Kind.TABLE, Kind.TEXT),
    options=(TaskOption("each", "what gets its own vector", "text", choices=PARTS),),
    cues=(
        "embedding*", "embedding of", "embeddings of", "sentence embedding*", "text embedding*",
        "word vector*", "feature vector*", "vector representation", "feature extraction",
        "feature-extraction", "as a vector", "as vectors", "into a vector", "into vectors",
        "vectorise", "vectorize", "extract the features of the text",
    ),
    presets=tuple(
        Preset(phrase.format(f"{every} {part}"), (("each", part),))
        for part in PARTS[1:]
        for every in ("each", "every")
        for phrase in ("embedding* of {}", "embedding* for {}", "vector* of {}", "vector* for {}")
    ),
    note="needs an expert that understands text",
)  # fmt: skip
