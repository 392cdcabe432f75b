"""Asks a service about tables, and for some. Used in the API's child process only."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable

from jarvis_desktop.backends.api_answers import Question
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.feature_extraction import LONGEST_SHOWN, taken_apart
from jarvis_desktop.tasks.tables import Table, read_tables

MOST_CELLS = 5000
"""Of a table that is sent."""

MOST_VECTORS = 256
"""Texts that get a vector in one call."""


def ask(question: Question) -> Iterable[Artifact]:
    """The answer to a question about a table."""
    asked = question.text("question")
    found = question.client.table_question_answering(_columns(_table(question)), asked)
    said = question.words(found.answer)
    cells = [each for each in found.cells or () if isinstance(each, str) and each not in said]
    more = f"\n\nFrom the cells: {', '.join(cells[:20])}." if cells else ""
    return [text_artifact(said + more)]


def classify(question: Question) -> Iterable[Artifact]:
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


def embed(question: Question) -> Iterable[Artifact]:
    """The vectors of a text, or of its parts, in a table."""
    question.text("text")
    parts = taken_apart(question.call)
    if len(parts) > MOST_VECTORS:
        raise ExpertError(
            tr(
                "{parts} vectors are too many for {id}.",
                parts=len(parts),
                id=question.expert.id,
            )
        )
    path = question.call.workdir / "vectors.csv"
    width = 0
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for at, part in enumerate(parts):
            question.report(at / len(parts), f"{at} of {len(parts)} parts")
            vector = _vector(question, part)
            if not width:
                width = len(vector)
                writer.writerow(["text", *(f"v{column + 1}" for column in range(width))])
            if len(vector) != width:
                raise question.unusable(tr("its vectors are of several lengths"))
            shown = " ".join(part.split())[:LONGEST_SHOWN]
            writer.writerow([shown, *(f"{value:.6f}" for value in vector)])
    count = "1 vector" if len(parts) == 1 else f"{len(parts):,} vectors"
    said = (
        f"{count} of {width} numbers, one row each; texts whose vectors are close to each other "
        "mean about the same."
    )
    return [Artifact(Kind.TABLE, path=path, name=path.name), text_artifact(said)]


def _vector(question: Question, text: str) -> list[float]:
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


def _table(question: Question) -> Table:
    """The largest table of the file."""
    name = question.call.title("table")
    tables = read_tables(question.call.file("table"), name=name)
    table = max(tables, key=lambda each: len(each.rows) * len(each.columns))
    if not table.rows:
        raise InputError(tr("{name} holds no rows.", name=name))
    if len(table.rows) * len(table.columns) > MOST_CELLS:
        raise ExpertError(
            tr(
                "{name} is too large for {id}: it has {rows:,} rows.",
                name=name,
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
