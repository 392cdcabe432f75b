"""Asks a service for what is read and written. Used in the API's child process only.

Asks a service about tables, and for some. Used in the API's child process only."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Sequence

from jarvis_desktop.backends.inference_api.tasks import ApiQuestion, chatted, in_parts
from jarvis_desktop.backends.local.pipelines.embeddings import format_similarity, save_vectors
from jarvis_desktop.backends.local.pipelines.question_answering import evidence, largest_table
from jarvis_desktop.backends.local.pipelines.text_generation import GAP
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.tasks.documents.tables import Table
from jarvis_desktop.tasks.images.findings import label_lines
from jarvis_desktop.tasks.text.classification import labels_of
from jarvis_desktop.tasks.text.question_answering import ExtractedAnswer
from jarvis_desktop.tasks.text.similarity import split_text
from jarvis_desktop.text.languages import FLORES, NAMES, code_of, code_of_text, is_clearly_not
from jarvis_desktop.text.sentences import paragraphs, sentences

PART = 3000
"""Characters of a text that is summarised or translated at once: most experts that do so behind an
API read 512 or 1024 tokens and leave out the rest without a word."""

MOST_PARTS = 20
"""Requests that one call may make."""

MARKS = ("[MASK]", "<mask>")
"""How experts mark a gap: BERT's way and RoBERTa's."""

MOST = 100
"""Names of one kind."""


def write(question: ApiQuestion) -> Iterable[Artifact]:
    """The answer to a prompt."""
    return [text_artifact(chatted(question, question.text("prompt")))]


def summarise(question: ApiQuestion) -> Iterable[Artifact]:
    """A summary; parts that fit are summarised one by one."""
    parts = _parts(question, sentences(question.text("text")))
    said = []
    for at, part in enumerate(parts):
        question.report(at / len(parts), f"part {at + 1} of {len(parts)}")
        said.append(question.words(question.client.summarization(part).summary_text))
    most = max(1, int(question.call.number("sentences")))
    # Of several parts each has a say, as far as that goes.
    each = max(1, most // len(said))
    chosen = [line for one in said for line in sentences(one)[: each if len(said) > 1 else most]]
    return [text_artifact(" ".join(chosen[:most]))]


def translate(question: ApiQuestion) -> Iterable[Artifact]:
    """The text in the other language, paragraph by paragraph."""
    text, to = question.text("text"), code_of(question.call.words("language"))
    codes = _codes(question, text, to)
    blocks = [in_parts(sentences(block), PART) for block in paragraphs(text)]
    count = sum(map(len, blocks))
    _check_number(question, count)
    done, lines = 0, []
    for block in blocks:
        said = []
        for part in block:
            question.report(done / count, f"part {done + 1} of {count}")
            answer = question.client.translation(part, **codes)
            said.append(question.words(answer.translation_text))
            done += 1
        lines.append(" ".join(said))
    return [text_artifact("\n\n".join(lines))]


def _codes(question: ApiQuestion, text: str, to: str) -> dict[str, str]:
    """The languages as the expert calls them; an expert for one pair must be the right one."""
    expert = question.expert
    if len(expert.languages) == 2:
        source, target = expert.languages
        if to != target or is_clearly_not(text, source):
            raise ExpertError(
                tr(
                    "{id} translates from {source} into {target} only.",
                    id=expert.id,
                    source=NAMES.get(source, source),
                    target=NAMES.get(target, target),
                )
            )
        return {}
    origin = code_of_text(text)
    if "nllb" in expert.repo.lower():
        return {"src_lang": FLORES.get(origin, "eng_Latn"), "tgt_lang": FLORES[to]}
    return {"src_lang": origin or "en", "tgt_lang": to}


def _parts(question: ApiQuestion, pieces: Iterable[str]) -> list[str]:
    parts = in_parts(pieces, PART)
    _check_number(question, len(parts))
    return parts


def _check_number(question: ApiQuestion, parts: int) -> None:
    if parts > MOST_PARTS:
        raise ExpertError(
            tr(
                "The text is too long for {id}: it would take {parts} requests.",
                id=question.expert.id,
                parts=parts,
            ),
            hint=tr("Give it in parts, or use an expert of this computer."),
        )


def find_answer(question: ApiQuestion) -> Iterable[Artifact]:
    """What stands in the text as the answer, and its sentence."""
    context = question.text("context")
    found = question.client.question_answering(question.text("question"), context)
    best = question.several(found)[0] if isinstance(found, list) else found
    if isinstance(best.answer, str) and not best.answer.strip():
        raise ExpertError(
            tr("The text does not seem to answer that."),
            hint=tr("Ask in other words, or about something that stands in the text."),
        )
    said = question.words(best.answer)
    start = best.start if isinstance(best.start, int) else -1
    if start < 0 or context[start : start + len(said)] != said:
        start = context.find(said)
    if start < 0:
        raise question.unusable(tr("its answer does not stand in the text"))
    return [text_artifact(str(ExtractedAnswer(said, evidence(context, start, start + len(said)))))]


def label(question: ApiQuestion) -> Iterable[Artifact]:
    """One line per kind of name."""
    from jarvis_desktop.backends.local.pipelines.text_classification import named

    text = question.text("text")
    elements = question.client.token_classification(text, aggregation_strategy="simple")
    if not isinstance(elements, list):
        raise question.unusable(tr("it holds nothing"))
    kinds: dict[str, list[str]] = {}
    for each in elements:
        kind = question.words(each.entity_group or each.entity)
        words = " ".join(question.words(each.word).replace(" ##", "").removeprefix("##").split())
        items = kinds.setdefault(named(kind.removeprefix("B-").removeprefix("I-")), [])
        if words not in items and len(items) < MOST:
            items.append(words)
    if not kinds:
        return [text_artifact("There is nothing in the text of the kinds that it looks for.")]
    lines = [f"{kind}: {', '.join(items)}" for kind, items in kinds.items()]
    return [text_artifact("\n".join(lines))]


def judge(question: ApiQuestion) -> Iterable[Artifact]:
    """The expert's own labels, the likeliest first."""
    found = question.client.text_classification(question.text("text"))
    scores = question.scores(found if isinstance(found, list) else [found])
    return [text_artifact(label_lines((each.lower() if each.isupper() else each, share)
                                      for each, share in scores))]  # fmt: skip


def sort(question: ApiQuestion) -> Iterable[Artifact]:
    """The labels that were given, the likeliest first."""
    labels = labels_of(question.call.words("labels"))
    found = question.client.zero_shot_classification(question.text("text"), labels)
    scores = [pair for pair in question.scores(found) if pair[0] in labels]
    if len(scores) < len(labels):
        raise question.unusable(tr("it does not name the labels that were given"))
    return [text_artifact(label_lines(scores, len(scores)))]


def fill(question: ApiQuestion) -> Iterable[Artifact]:
    """Words for the first gap."""
    text = question.text("text")
    if not GAP.search(text):
        raise InputError(tr("The sentence has no gap."), hint=tr("Mark it with ___ or [MASK]."))
    mark = MARKS[any(name in question.expert.repo.lower() for name in ("roberta", "bart"))]
    found = question.several(question.client.fill_mask(GAP.sub(lambda match: mark, text)))
    if isinstance(found[0], list):  # one list a gap
        found = question.several(found[0])
    words = [question.words(each.token_str) for each in found]
    filled = GAP.sub(lambda match: words[0], text, count=1)
    others = f"\nAlso possible: {', '.join(words[1:])}." if words[1:] else ""
    return [text_artifact(filled + others)]


def compare(question: ApiQuestion) -> Iterable[Artifact]:
    """How much alike two texts are in meaning."""
    texts = question.text("text_1"), question.text("text_2")
    (cosine, *_) = question.several(question.client.sentence_similarity(texts[0], [texts[1]]))
    question.share(abs(cosine) if isinstance(cosine, int | float) else cosine)
    return [format_similarity(cosine, question.expert.id)]


MOST_CELLS = 5000
"""Of a table that is sent."""

MOST_VECTORS = 256
"""Texts that get a vector in one call."""


def ask(question: ApiQuestion) -> Iterable[Artifact]:
    """The answer to a question about a table."""
    asked = question.text("question")
    found = question.client.table_question_answering(_columns(_table(question)), asked)
    said = question.words(found.answer)
    cells = [each for each in found.cells or () if isinstance(each, str) and each not in said]
    more = f"\n\nFrom the cells: {', '.join(cells[:20])}." if cells else ""
    return [text_artifact(said + more)]


def classify(question: ApiQuestion) -> Iterable[Artifact]:
    """The table with a label for each row."""
    table = _table(question)
    found = question.several(question.client.tabular_classification(_columns(table)))
    labels = [str(each) for each in found if isinstance(each, str | int | float)]
    if len(labels) != len(table.rows):
        raise question.unusable(tr("it has not one label for each row"))
    path = question.call.workdir / "classified.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*table.columns, "label"])
        for row, label in zip(table.rows, labels, strict=True):
            writer.writerow([*row, label])
    counts = {label: labels.count(label) for label in dict.fromkeys(labels)}
    ranked = sorted(counts.items(), key=lambda pair: -pair[1])[:10]
    said = ", ".join(f"{label}: {count}" for label, count in ranked)
    return [
        Artifact(Kind.TABLE, path=path, name=path.name),
        text_artifact(f"{len(labels)} rows have a label ({said})."),
    ]


def embed(question: ApiQuestion) -> Iterable[Artifact]:
    """The vectors of a text, or of its parts, in a table."""
    question.text("text")
    parts = split_text(question.call)
    if len(parts) > MOST_VECTORS:
        raise ExpertError(
            tr(
                "{parts} vectors are too many for {id}.",
                parts=len(parts),
                id=question.expert.id,
            )
        )
    return save_vectors(question.call, _vectors(question, parts))


def _vectors(question: ApiQuestion, parts: Sequence[str]) -> Iterator[tuple[str, list[float]]]:
    width = 0
    for at, part in enumerate(parts):
        question.report(at / len(parts), f"{at} of {len(parts)} parts")
        vector = _vector(question, part)
        width = width or len(vector)
        if len(vector) != width:
            raise question.unusable(tr("its vectors are of several lengths"))
        yield part, vector


def _vector(question: ApiQuestion, text: str) -> list[float]:
    """One vector of length 1: of the tokens' vectors, where there is one each, the mean."""
    import numpy as np

    found = question.client.feature_extraction(text)
    while found.ndim > 2 and found.shape[0] == 1:
        found = found[0]
    if found.ndim == 2:
        found = found.mean(axis=0)
    if found.ndim != 1 or found.size < 2 or not np.isfinite(found).all():
        raise question.unusable(tr("it holds no vector"))
    length = float(np.linalg.norm(found))
    if math.isclose(length, 0.0):
        raise question.unusable(tr("its vector is empty"))
    return [float(value) for value in (found / length).tolist()]


def _table(question: ApiQuestion) -> Table:
    """The largest table of the file. Raises ExpertError if it has too many cells."""
    table = largest_table(question.call)
    if len(table.rows) * len(table.columns) > MOST_CELLS:
        raise ExpertError(
            tr(
                "{name} is too large for {id}: it has {rows:,} rows.",
                name=question.call.title("table"),
                id=question.expert.id,
                rows=len(table.rows),
            ),
            hint=tr("Give a part of it, or use the built-in way."),
        )
    return table


def _columns(table: Table) -> dict[str, list[str]]:
    names: list[str] = []
    for at, name in enumerate(table.columns):
        names.append(name if name and name not in names else f"column {at + 1}")
    return {name: [row[at] for row in table.rows] for at, name in enumerate(names)}
