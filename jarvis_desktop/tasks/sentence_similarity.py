"""Says how much two texts have in common. Runs in a child process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import sqrt

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.words import content, tokens

TYPE = TaskType(
    name="sentence-similarity",
    summary="Says how similar two texts are.",
    ports=(Port("text_1", (Kind.TEXT,)), Port("text_2", (Kind.TEXT,))),
    gives=(Kind.TEXT,),
    cues=(
        "how similar", "similar to", "similarity", "compare", "compares",
        "how do these ... compare", "how alike", "are ... alike", "same meaning", "mean the same",
        "say the same thing", "difference between the two", "resembl*", "how close are",
        "paraphrase of", "match each other", "the two sentences", "these two sentences",
        "the two texts", "these two texts",
    ),
)  # fmt: skip

LONGEST_TEXT = 200_000


def compare(call: Call, report: Report) -> Iterable[Artifact]:
    """A percentage, and what it rests on. Raises InputError where a text has no words."""
    texts = [call.text(port)[:LONGEST_TEXT] for port in ("text_1", "text_2")]
    if not all(tokens(text) for text in texts):
        raise InputError(tr("Two texts with words in them are needed to compare them."))
    share = round(100 * similarity(*texts))
    verdict = (
        "They have the same words."
        if share == 100
        else "They share most of their wording."
        if share >= 65
        else "They share some of their wording."
        if share >= 30
        else "They have little wording in common."
    )
    caveat = "This compares words, not meaning."
    return [text_artifact(f"The two texts are {share}% alike. {verdict} {caveat}")]


def similarity(one: str, other: str) -> float:
    """0 to 1: the mean of two cosines, of stemmed words and of letter sequences.

    Words see what the texts are about, letter sequences see spelling variants and compounds.
    """
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


DEFINITION = Definition(TYPE, method=compare, note="shared words and letters; knows no meaning")
