"""The tasks that write text: generation, filling in words, translation and summaries.

Only summaries have a built-in method, which runs in a child process.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.definition import define
from jarvis_desktop.text.sentences import paragraphs, sentences
from jarvis_desktop.text.tokens import content

TEXT_GENERATION = define(
    name="text-generation", label="Write",
    summary="Writes a new text, or continues one, after a prompt.",
    ports=(Port("prompt", (Kind.TEXT,)), Port("text", (Kind.TEXT,), required=False, many=True)),
    cues=(
        "write a", "write an", "write me", "write my", "write some", "write email",
        "write about", "compose a", "compose an", "compose some", "compose email", "draft a",
        "draft an", "draft my", "draft the", "draft email", "continue the text", "continue this",
        "complete the text", "finish the story", "brainstorm", "ideas for a", "rewrite", "rephrase",
        "paraphrase", "reword", "generate text", "generate a text", "text generation",
        "explain the", "explain why", "explain how", "explain what", "explain to me",
        "explain this", "tell me a story", "tell me a joke", "tell a joke", "lyrics for",
        "lyrics about", "a slogan for", "recipe for", "proofread",
        *(f"{verb} the {slips}" for verb in ("correct", "fix")
          for slips in ("spelling", "grammar", "punctuation", "typos", "mistakes", "errors")),
        *(f"make ... {how}" for how in ("formal", "more formal", "less formal", "informal",
          "more polite", "friendlier", "more friendly")),
    ),
    note="needs an LLM",
)  # fmt: skip


FILL_MASK = define(
    name="fill-mask", label="Fill in the word",
    summary="Fills in a word that is missing in a sentence.",
    ports=(Port("text", (Kind.TEXT,)),),
    cues=(
        "fill in", "fill the blank", "fill in the blank", "missing word",
        "fill in the missing word", "the blank", "[mask]", "<mask>", "fill mask",
        "complete the sentence", "which word is missing", "____", "guess the word",
    ),
    note="needs an expert that knows the language",
)  # fmt: skip


TRANSLATION = define(
    name="translation", label="Translate",
    summary="Translates a text into another language.",
    ports=(Port("text", (Kind.TEXT,)),),
    options=(TaskOption("language", "the language to translate into", "English",
        reads="language"),),
    cues=(
        "translat*", "translate", "translation", "in german", "in french", "in spanish",
        "in italian", "in chinese", "in japanese", "in portuguese", "in russian", "in dutch",
        "in arabic", "in hindi", "in korean", "in polish", "in turkish", "in english",
        "into german", "into french", "into spanish", "into italian", "into chinese",
        "into japanese", "into english", "to german", "to french", "to spanish", "to english",
        "how do you say", "how do i say", "how would i say", "how would you say", "say it in",
        "auf deutsch", "en français", "en español",
    ),
    note="no honest method without an expert or an LLM",
)  # fmt: skip


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]


MAX_CHARS = 2_000_000
MAX_SENTENCES = 100
DAMPING = 0.85
TOO_ALIKE = 0.6  # the cosine above which two sentences count as saying the same


def summarise(call: Call, report: Report) -> Iterable[Artifact]:
    """Summarise the text. Raises InputError if there is none."""
    text = call.text("text")
    if not text.strip():
        raise InputError(tr("There is no text to summarise."))
    if len(text) > MAX_CHARS:
        report(None, tr("Reading the first {count:,} characters.", count=MAX_CHARS))
        text = text[:MAX_CHARS]
    count = min(max(int(call.number("sentences")), 1), MAX_SENTENCES)
    return [text_artifact(summary(text, count))]


def summary(text: str, count: int) -> str:
    """The `count` most important sentences in their order; a shorter text is returned whole."""
    found = list(dict.fromkeys(sentences(text)))
    if len(found) <= count:
        return " ".join(found) if found else "\n".join(paragraphs(text))
    return " ".join(found[index] for index in sorted(_choose(found, count)))


@dataclass(frozen=True, slots=True)
class _Vectors:
    """TF-IDF vectors of unit length, one row per sentence, as coordinates of a sparse matrix. The
    matrix of all cosines is never built: X·(Xᵀ·v) keeps time and memory linear in the text."""

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    weights: NDArray[np.float64]
    height: int
    width: int

    def times(self, vector: Vector) -> Vector:
        """X·Xᵀ·vector."""
        import numpy as np

        down = np.bincount(self.columns, self.weights * vector[self.rows], self.width)
        up = np.bincount(self.rows, self.weights * down[self.columns], self.height)
        return up.astype(np.float64)

    def row(self, index: int) -> dict[int, float]:
        """The terms and weights of one sentence."""
        import numpy as np

        first, last = np.searchsorted(self.rows, [index, index + 1])
        return dict(
            zip(self.columns[first:last].tolist(), self.weights[first:last].tolist(), strict=True)
        )


def _choose(found: Sequence[str], count: int) -> list[int]:
    import numpy as np

    vectors = _vectors(found)
    order = np.argsort(-_rank(vectors, found), kind="stable")
    chosen: list[int] = []
    rows: list[dict[int, float]] = []
    for index in order.tolist():
        row = vectors.row(index)
        if any(_cosine(row, other) > TOO_ALIKE for other in rows):
            continue
        chosen.append(index)
        rows.append(row)
        if len(chosen) == count:
            break
    return chosen


def _vectors(found: Sequence[str]) -> _Vectors:
    import numpy as np

    numbers: dict[str, int] = {}
    counts: list[dict[int, int]] = []
    for sentence in found:
        terms: dict[int, int] = {}
        for word in content(sentence):
            number = numbers.setdefault(word, len(numbers))
            terms[number] = terms.get(number, 0) + 1
        counts.append(terms)
    rows = np.repeat(np.arange(len(found)), [len(terms) for terms in counts])
    columns = np.array([term for terms in counts for term in terms], dtype=np.intp)
    weights = np.array([times for terms in counts for times in terms.values()], dtype=np.float64)
    width = len(numbers)
    weights *= np.log(len(found) / np.bincount(columns, minlength=width))[columns] + 0.1
    norms = np.sqrt(np.bincount(rows, weights**2, len(found)))
    weights /= norms[rows]
    return _Vectors(rows, columns, weights, len(found), width)


def _rank(vectors: _Vectors, found: Sequence[str]) -> Vector:
    """Continuous LexRank (Erkan and Radev, "LexRank: Graph-based lexical centrality as salience in
    text summarization", JAIR 22, 2004). The restart prefers sentences of readable length and, as in
    the authors' MEAD, those at the beginning."""
    import numpy as np

    length = np.array([len(sentence.split()) for sentence in found])
    # A sentence of few, common words is similar to many others but says little.
    substance = np.minimum(np.bincount(vectors.rows, minlength=len(found)) / 12, 1.0)
    readable = np.where((length >= 6) & (length <= 45), 1.0, 0.3) * substance
    prior = readable.copy()
    prior *= 1 + np.exp(-np.arange(len(found)) / 3)
    prior /= prior.sum()
    degree = np.maximum(vectors.times(np.ones(len(found))), 1e-12)
    rank = prior
    for _ in range(60):
        following = DAMPING * vectors.times(rank / degree) + (1 - DAMPING) * prior
        moved = float(np.abs(following - rank).sum())
        rank = following
        if moved < 1e-6:
            break
    ranked: Vector = rank * readable
    return ranked


def _cosine(one: dict[int, float], other: dict[int, float]) -> float:
    return sum(weight * other.get(term, 0.0) for term, weight in one.items())


SUMMARIZATION = define(
    name="summarization", label="Summarise",
    summary="Makes a text shorter and keeps what matters.",
    ports=(Port("text", (Kind.TEXT,)),),
    options=(TaskOption("sentences", "how many sentences the summary has", 3,
        units=("sentence*",)),),
    cues=(
        "summar*", "summarise", "summarize", "summary", "summarising", "summarizing", "tl;dr",
        "tldr", "key points", "main points", "in short", "in brief", "gist", "the gist", "shorten",
        "shorten the text", "condense", "boil ... down", "abstract of", "synopsis", "recap",
        "sum up", "sum it up", "sum this up", "short version", "the essence", "what is ... about",
        "what's ... about", "whats ... about", "in a nutshell", "overview of the text", "briefly",
    ),
    method=summarise, note="its own most telling sentences (LexRank); writes no new ones",
)  # fmt: skip
