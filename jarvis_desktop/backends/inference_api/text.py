"""Text and table tasks by inference providers. Used in the API's child process only."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Sequence

from jarvis_desktop.backends.draft import Draft
from jarvis_desktop.backends.inference_api.tasks import ApiQuestion, chat, join_pieces
from jarvis_desktop.backends.local.pipelines.embeddings import format_similarity, save_vectors
from jarvis_desktop.backends.local.pipelines.question_answering import evidence, largest_table
from jarvis_desktop.backends.local.pipelines.text_classification import named
from jarvis_desktop.backends.local.pipelines.text_generation import GAP
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.context import current_draft
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.task import report_part
from jarvis_desktop.tasks.documents.tables import Table
from jarvis_desktop.tasks.images.findings import label_lines
from jarvis_desktop.tasks.text.classification import labels_of
from jarvis_desktop.tasks.text.question_answering import ExtractedAnswer
from jarvis_desktop.tasks.text.similarity import split_text
from jarvis_desktop.text.languages import FLORES, NAMES, code_of, code_of_text, is_clearly_not
from jarvis_desktop.text.sentences import paragraphs, sentences

PART_CHARS = 3000
"""Summarised or translated at once: most experts silently ignore more than 512 or 1024 tokens."""
MAX_PARTS = 20  # requests of one call
MASKS = ("[MASK]", "<mask>")  # the mask tokens of BERT and RoBERTa
MAX_ENTRIES = 100  # names of one kind


def write(question: ApiQuestion) -> Iterable[Artifact]:
    """Answer a prompt, about a text if there is one."""
    asked = question.text("prompt")
    if question.call.text("text"):
        asked = f"{asked}\n\n{question.text('text')}"
    return [text_artifact(chat(question, asked))]


def summarise(question: ApiQuestion) -> Iterable[Artifact]:
    """Summarise a text, part by part if it is long."""
    parts = join_pieces(sentences(question.text("text")), PART_CHARS)
    _check_number(question, len(parts))
    said = []
    for at, part in enumerate(parts):
        report_part(question.report, at, len(parts))
        said.append(question.words(question.client.summarization(part).summary_text))
    most = max(1, int(question.call.number("sentences")))
    # Each of several parts is represented, as far as possible.
    each = max(1, most // len(said))
    chosen = [line for one in said for line in sentences(one)[: each if len(said) > 1 else most]]
    return [text_artifact(" ".join(chosen[:most]))]


def translate(question: ApiQuestion) -> Iterable[Artifact]:
    """Translate a text paragraph by paragraph."""
    text, to = question.text("text"), code_of(question.call.words("language"))
    codes = _codes(question, text, to)
    blocks = [join_pieces(sentences(block), PART_CHARS) for block in paragraphs(text)]
    count = sum(map(len, blocks))
    _check_number(question, count)
    done, translated = 0, ""
    draft = Draft(current_draft.get())
    for block in blocks:
        for at, part in enumerate(block):
            report_part(question.report, done, count)
            answer = question.client.translation(part, **codes)
            piece = (" " if at else "\n\n") + question.words(answer.translation_text)
            translated += piece
            draft.feed(piece)
            done += 1
    return [text_artifact(translated.strip())]


def _codes(question: ApiQuestion, text: str, to: str) -> dict[str, str]:
    """The languages in the expert's terms. Raises ExpertError if its one pair is another."""
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


def _check_number(question: ApiQuestion, parts: int) -> None:
    if parts > MAX_PARTS:
        raise question.error(
            mark("The text is too long for {id}: it would take {parts} requests."),
            parts=parts,
            hint=tr("Give it in parts, or use an expert of this computer."),
        )


def find_answer(question: ApiQuestion) -> Iterable[Artifact]:
    """Extract the answer to a question from a text, with its sentence."""
    context = question.text("context")
    found = question.client.question_answering(question.text("question"), context)
    best = question.several(found)[0] if isinstance(found, list) else found
    if isinstance(best.answer, str) and not best.answer.strip():
        raise ExpertError(
            tr("The text does not seem to answer that."),
            hint=tr("Rephrase the question, or ask about something in the text."),
        )
    said = question.words(best.answer)
    start = best.start if isinstance(best.start, int) else -1
    if start < 0 or context[start : start + len(said)] != said:
        start = context.find(said)
    if start < 0:
        raise question.unusable(tr("its answer is not in the text"))
    return [text_artifact(str(ExtractedAnswer(said, evidence(context, start, start + len(said)))))]


def label(question: ApiQuestion) -> Iterable[Artifact]:
    """List the named entities, one line per kind."""
    text = question.text("text")
    elements = question.client.token_classification(text, aggregation_strategy="simple")
    if not isinstance(elements, list):
        raise question.unusable(tr("it is empty"))
    kinds: dict[str, list[str]] = {}
    for each in elements:
        kind = question.words(each.entity_group or each.entity)
        words = " ".join(question.words(each.word).replace(" ##", "").removeprefix("##").split())
        items = kinds.setdefault(named(kind.removeprefix("B-").removeprefix("I-")), [])
        if words not in items and len(items) < MAX_ENTRIES:
            items.append(words)
    if not kinds:
        return [text_artifact("There is nothing in the text of the kinds that it looks for.")]
    lines = [f"{kind}: {', '.join(items)}" for kind, items in kinds.items()]
    return [text_artifact("\n".join(lines))]


def judge(question: ApiQuestion) -> Iterable[Artifact]:
    """Classify a text by the expert's own labels."""
    found = question.client.text_classification(question.text("text"))
    scores = question.scores(found if isinstance(found, list) else [found])
    return [text_artifact(label_lines((each.lower() if each.isupper() else each, share)
                                      for each, share in scores))]  # fmt: skip


def sort(question: ApiQuestion) -> Iterable[Artifact]:
    """Classify a text by the given labels."""
    labels = labels_of(question.call.words("labels"))
    found = question.client.zero_shot_classification(question.text("text"), labels)
    scores = question.scores_of(labels, found)
    return [text_artifact(label_lines(scores, len(scores)))]


def fill(question: ApiQuestion) -> Iterable[Artifact]:
    """Fill the first gap of a text."""
    text = question.text("text")
    if not GAP.search(text):
        raise InputError(tr("The sentence has no gap."), hint=tr("Mark it with ___ or [MASK]."))
    mark = MASKS[any(name in question.expert.repo.lower() for name in ("roberta", "bart"))]
    found = question.several(question.client.fill_mask(GAP.sub(lambda match: mark, text)))
    if isinstance(found[0], list):  # one list per gap
        found = question.several(found[0])
    words = [question.words(each.token_str) for each in found]
    filled = GAP.sub(lambda match: words[0], text, count=1)
    others = f"\nAlso possible: {', '.join(words[1:])}." if words[1:] else ""
    return [text_artifact(filled + others)]


def compare(question: ApiQuestion) -> Iterable[Artifact]:
    """Compute how similar in meaning two texts are."""
    texts = question.text("text_1"), question.text("text_2")
    (cosine, *_) = question.several(question.client.sentence_similarity(texts[0], [texts[1]]))
    question.share(abs(cosine) if isinstance(cosine, int | float) else cosine)
    return [format_similarity(cosine, question.expert.id)]


MAX_CELLS = 5000  # of a table that is sent
MAX_VECTORS = 256  # of one call


def ask(question: ApiQuestion) -> Iterable[Artifact]:
    """Answer a question about a table."""
    asked = question.text("question")
    found = question.client.table_question_answering(_columns(_table(question)), asked)
    said = question.words(found.answer)
    cells = [each for each in found.cells or () if isinstance(each, str) and each not in said]
    more = f"\n\nFrom the cells: {', '.join(cells[:20])}." if cells else ""
    return [text_artifact(said + more)]


def classify(question: ApiQuestion) -> Iterable[Artifact]:
    """Label each row of a table."""
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
    """Write the vectors of a text, or of its parts, to a table."""
    question.text("text")
    parts = split_text(question.call)
    if len(parts) > MAX_VECTORS:
        raise question.error(mark("{parts} vectors are too many for {id}."), parts=len(parts))
    return save_vectors(question.call, _vectors(question, parts))


def _vectors(question: ApiQuestion, parts: Sequence[str]) -> Iterator[tuple[str, list[float]]]:
    width = 0
    for at, part in enumerate(parts):
        report_part(question.report, at, len(parts))
        vector = _vector(question, part)
        width = width or len(vector)
        if len(vector) != width:
            raise question.unusable(tr("its vectors are of several lengths"))
        yield part, vector


def _vector(question: ApiQuestion, text: str) -> list[float]:
    """A unit vector; the mean if there is one per token."""
    import numpy as np

    found = question.client.feature_extraction(text)
    while found.ndim > 2 and found.shape[0] == 1:
        found = found[0]
    if found.ndim == 2:
        found = found.mean(axis=0)
    if found.ndim != 1 or found.size < 2 or not np.isfinite(found).all():
        raise question.unusable(tr("it contains no vector"))
    length = float(np.linalg.norm(found))
    if math.isclose(length, 0.0):
        raise question.unusable(tr("its vector is empty"))
    return [float(value) for value in (found / length).tolist()]


def _table(question: ApiQuestion) -> Table:
    """The largest table of the file. Raises ExpertError if it has too many cells."""
    table = largest_table(question.call)
    if len(table.rows) * len(table.columns) > MAX_CELLS:
        raise question.error(
            mark("{name} is too large for {id}: it has {rows:,} rows."),
            name=question.call.title("table"),
            rows=len(table.rows),
            hint=tr("Give a part of it, or use the built-in way."),
        )
    return table


def _columns(table: Table) -> dict[str, list[str]]:
    names: list[str] = []
    for at, name in enumerate(table.columns):
        names.append(name if name and name not in names else f"column {at + 1}")
    return {name: [row[at] for row in table.rows] for at, name in enumerate(names)}
