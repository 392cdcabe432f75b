"""Answers a question with a passage of a given text. Runs in a child process."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Report
from jarvis_desktop.tasks.definition import define
from jarvis_desktop.tasks.text.extraction import PatternMatch, find
from jarvis_desktop.text.sentences import sentences
from jarvis_desktop.text.tokens import FUNCTION_WORDS, content, stem, tokens

MAX_CHARS = 2_000_000
COVERAGE = 0.4
"""The share of the question, by weight, that a passage must cover to count as an answer."""

_KINDS_OF_ANSWER: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"e-?mail", ("email",)),
    (r"phone|telephone|fax|call (?:him|her|them)", ("phone number",)),
    (r"website|web site|web address|url|homepage", ("web address",)),
    (r"what time|at what hour|when (?:does|do) .* (?:start|begin|open|close|end)",
     ("time", "date")),
    (r"(?:what|which) (?:percentage|share)|percent\w*", ("percentage",)),
    (r"^when|what (?:date|day|year|month)|which (?:date|day|year|month)|how long ago|due|birthday"
     r"|\bdate",
     ("date", "year", "time")),
    (r"how much|cost|price|total|amount|fee|salary|balance|sum|pay|owe|worth|tip|tax",
     ("money", "price", "number")),
    (r"how (?:old|long|far|tall|high|large|big|heavy|deep|wide|fast|often)|what age|height|weight"
     r"|length|width|depth|speed|duration", ("measure", "number")),
    (r"how many|what number|population|number of", ("number",)),
    (r"^who|whose|whom|what (?:is|was) (?:the|his|her) name|name of", ("name",)),
    (r"^where|which (?:city|country|town|place|street)|what (?:city|country|town|place)|address",
     ("name",)),
)  # fmt: skip

_SYNONYMS = tuple(
    frozenset(stem(word) for word in group.split())
    for group in (
        "total sum amount balance due grand payable|cost price fee charge pay paid expensive|"
        "begin start commence open launch|end finish close conclude stop|"
        "write wrote written author pen|"
        "invent invented inventor create created creator develop developed design designed found|"
        "born birth birthday birthplace|die died death dead killed|big large size area great|"
        "buy bought purchase purchased acquire acquired|"
        "live lives lived resident reside home located|"
        "job work profession occupation employ employed|"
        "boss manager director head chief president leader led ceo|"
        "build built construct constructed erect erected|"
        "make made manufacture manufactured produce produced|car vehicle automobile|"
        "doctor physician|film movie|wife husband married spouse|child children son daughter|"
        "located lies situated|win won winner victory champion|old age aged|high height tall|"
        "heavy weigh weight|people inhabitants population residents"
    ).split("|")
)


@dataclass(frozen=True, slots=True)
class ExtractedAnswer:
    """A piece of the text, and the passage that contains it."""

    text: str
    evidence: str

    def __str__(self) -> str:
        if self.text == self.evidence:
            return self.evidence
        return f"{self.text}\n\n“{self.evidence}”"


def reply(call: Call, report: Report) -> Iterable[Artifact]:
    """The answer and its sentence. Raises ExpertError if the text does not seem to contain it."""
    question = call.text("question").strip()
    context = call.text("context")
    if not question:
        raise InputError(tr("There is no question."))
    if not context.strip():
        raise InputError(tr("There is no text to look for the answer in."))
    if len(context) > MAX_CHARS:
        report(None, tr("Reading the first {count:,} characters.", count=MAX_CHARS))
    return [text_artifact(str(answer(question, context[:MAX_CHARS])))]


def answer(question: str, context: str) -> ExtractedAnswer:
    """The best answer in the context. Raises ExpertError if there seems to be none."""
    question = re.sub(_SHORT_IS, r"\1 is", question)
    passages = _passages(context)
    asked = [word for word in content(question) if word not in _ASKING] or content(question)
    ranked = _rank(asked, passages)
    kinds = _kinds(question)
    if kinds and kinds[0] in _UNMISTAKABLE:
        # An address is recognised by its form, wherever it is.
        found = [at for at in range(len(passages)) if next(find(passages[at], kinds[0]), None)]
        ranked = [at for at in ranked if at in found] or found
    if not ranked:
        raise ExpertError(
            tr("The text does not seem to answer that."),
            hint=tr("Ask with words from the text."),
        )
    taken = set(tokens(question))
    for index in ranked[:5]:
        spans = [
            span
            for kind in kinds
            for span in find(passages[index], kind)
            if not set(tokens(span.text)) - FUNCTION_WORDS <= taken
        ]
        if best := _nearest(spans, passages[index], asked, kinds, question):
            return ExtractedAnswer(best, passages[index])
    passage = passages[ranked[0]]
    if span := _clause(question, passage):
        return ExtractedAnswer(span, passage)
    return ExtractedAnswer(passage, passage)


_SHORT_IS = r"(?i)\b(what|where|who|when|how)['’]?s\b"
_UNMISTAKABLE = ("email", "phone number", "web address")
_ASKING = frozenset(
    map(
        stem,
        "tell say said name text document page article receipt bill invoice letter know find "
        "people person much many e mail email phone number telephone website web "
        "address please".split(),
    )
)


def _passages(context: str) -> list[str]:
    """Sentences; for a form, receipt or table its lines, with labels joined to the values below."""
    lines = [" ".join(line.split()) for line in context.splitlines() if line.strip()]
    short = sum(len(line) < 50 and line[-1] not in ".?!," for line in lines)
    if len(lines) < 4 or short < 0.6 * len(lines):
        return sentences(context)
    joined: list[str] = []
    for at, line in enumerate(lines):
        below = lines[at + 1] if at + 1 < len(lines) else ""
        has_value = any(sign.isdigit() for sign in line)
        is_value = len(below.split()) <= 4 and any(sign.isdigit() for sign in below)
        label = line.endswith(":") or (not has_value and is_value)
        joined.append(f"{line} {below}" if label and below else line)
    return joined


def _widened(asked: Iterable[str]) -> dict[str, float]:
    """The words asked for and, at a lower weight, their synonyms."""
    weights: dict[str, float] = {}
    for word in asked:
        for group in _SYNONYMS:
            if word in group:
                for other in group:
                    weights.setdefault(other, 0.5)
        weights[word] = 1.0
    return weights


def _rank(asked: Sequence[str], passages: Sequence[str]) -> list[int]:
    """The passages about the words asked for, best first. Ranked by BM25 (Robertson and Zaragoza,
    "The probabilistic relevance framework", 2009), each passage helped by the one before it."""
    documents = [Counter(map(stem, tokens(passage))) for passage in passages]
    frequency = Counter(word for document in documents for word in document)
    total = len(documents)
    average = sum(map(sum, (document.values() for document in documents))) / max(total, 1) or 1

    def idf(word: str) -> float:
        return log(1 + (total - frequency[word] + 0.5) / (frequency[word] + 0.5))

    unique = tuple(dict.fromkeys(asked))
    weights = _widened(unique)
    scores: list[float] = []
    covered: list[float] = []
    whole = sum(idf(word) for word in unique) or 1.0
    for document in documents:
        length = sum(document.values()) / average
        score = 0.0
        for word, weight in weights.items():
            if times := document[word]:
                score += weight * idf(word) * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * length))
        scores.append(score)
        covered.append(sum(idf(word) for word in unique if _speaks_of(document, word)) / whole)
    merged = [
        score + 0.25 * max(scores[max(at - 1, 0) : at] or [0]) for at, score in enumerate(scores)
    ]
    order = sorted(range(total), key=lambda at: (-merged[at], at))
    best = max(covered, default=0.0)
    if best < COVERAGE:
        return []
    return [at for at in order if covered[at] >= 0.6 * best]


def _speaks_of(document: Counter[str], word: str) -> bool:
    return word in document or any(
        word in group and any(other in document for other in group) for group in _SYNONYMS
    )


def _kinds(question: str) -> tuple[str, ...]:
    lower = question.casefold()
    matches = (kinds for cue, kinds in _KINDS_OF_ANSWER if re.search(rf"(?:{cue})\b", lower))
    return next(matches, ())


def _nearest(
    spans: Sequence[PatternMatch],
    passage: str,
    asked: Sequence[str],
    kinds: tuple[str, ...],
    question: str,
) -> str:
    """The span closest to all the words asked for; the first kinds take precedence."""
    stems = [(stem(match[0].casefold()), match.start()) for match in re.finditer(r"\w+", passage)]
    places = [
        found
        for word in dict.fromkeys(asked)
        if (found := [at for other, at in stems if other in _widened((word,))])
    ]
    is_where = question.casefold().lstrip().startswith("where")

    def distance(span: PatternMatch) -> tuple[int, float]:
        gap = sum(min(abs(at - span.start) for at in found) for found in places)
        # A name that begins a sentence may be an ordinary word; places follow a preposition.
        penalty = 30 if span.kind == "name" and span.start == 0 and " " not in span.text else 0
        before = passage[: span.start].split()[-1:]
        if is_where and before and before[0] not in ("in", "at", "near", "from", "to", "on"):
            penalty += 60
        return kinds.index(span.kind), gap + penalty

    usable = [span for span in spans if span.text.casefold() not in FUNCTION_WORDS]
    return min(usable, key=distance).text if usable else ""


def _clause(question: str, passage: str) -> str:
    """What follows "because", or "X is", in the passage; "" if the question has another form."""
    lower = question.casefold()
    if lower.startswith("why"):
        found = re.search(r"\b((?:because|since|due to|owing to|so that|in order to)\b.*)", passage)
        return found[1].rstrip(".") if found else ""
    asked = re.match(r"what(?:'s| is| are| was| were) (?:the |an? )?(.+?)\??$", lower)
    if asked:
        pattern = rf"\b{re.escape(asked[1])}\s*(?:is|are|was|were|:)\s+([^.;]+)"
        if found := re.search(pattern, passage, re.IGNORECASE):
            return found[1].strip()
    return ""


QUESTION_ANSWERING = define(
    name="question-answering", label="Answer from text",
    summary="Answers a question from a given text.",
    ports=(Port("question", (Kind.TEXT,)), Port("context", (Kind.TEXT,))),
    cues=(
        "according to", "answer the question", "answer this question", "does the text say",
        "does it say about", "does the document say", "in the text", "from the text",
        "what does ... say about", "find the answer", "answer from", "based on the text",
    ),
    method=reply, note="finds the sentence and the words in it; does not reason",
)  # fmt: skip
