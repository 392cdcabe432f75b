"""Experts that answer questions about a text or a table. Used in the worker process only.

Brings a question and a table into the form that TAPAS reads, and takes its answer apart.

The tokenizer that comes with transformers needs pandas for it. The words, and how numbers and
dates of a cell are read, are that library's."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.local.pipelines.text_classification import (
    LONGEST_TEXT,
    context,
    windows,
)
from jarvis_desktop.backends.local.worker import Loading, Run
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.tasks.documents.tables import Table, number, read_tables
from jarvis_desktop.tasks.text.question_answering import ExtractedAnswer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = NDArray[np.float32]

LONGEST = 512
"""Tokens of a question with its table, which every TAPAS was trained on."""

CHOSEN = 0.5
"""The mean probability of its tokens above which a cell is part of the answer."""

Features = dict[tuple[int, int], Any]


@dataclass(frozen=True, slots=True)
class Ask:
    """A question with as much of its table as fits."""

    features: Mapping[str, list[Any]]
    """input_ids, and the seven token types per token."""
    rows: int
    columns: int

    def tensors(self, device: Any) -> dict[str, Any]:
        """A batch of one."""
        import torch

        ids = torch.tensor([self.features["input_ids"]], device=device)
        types = torch.tensor([self.features["token_type_ids"]], device=device)
        return {
            "input_ids": ids,
            "token_type_ids": types,
            "attention_mask": torch.ones_like(ids),
        }


def encode(tokenizer: Any, config: Any, question: str, table: Table) -> Ask:
    """The question and the table, its last rows left out where it is too long.

    Raises ExpertError where not even one row fits.
    """
    asked = _ids(tokenizer, question)
    # Columns and rows are numbered from 1, and those beyond its last number run together.
    columns = min(len(table.columns), config.max_num_columns - 1)
    most_rows = min(len(table.rows), config.max_num_rows - 1)
    longest = min(LONGEST, config.max_position_embeddings)
    room = longest - len(asked) - 2
    head = [_cell(tokenizer, name) for name in table.columns[:columns]]
    body: list[list[list[int]]] = []
    room -= sum(map(len, head))
    for row in table.rows[:most_rows]:
        cells = [_cell(tokenizer, cell) for cell in row[:columns]]
        room -= sum(map(len, cells))
        if room < 0:
            break
        body.append(cells)
    if not body:
        raise ExpertError(tr("The question and the first row of the table are too long for it."))
    ids = [tokenizer.cls_token_id, *asked, tokenizer.sep_token_id]
    places = [(0, 0)] * len(ids)
    for row_at, cells in enumerate([head, *body]):
        for column_at, cell in enumerate(cells):
            ids += cell
            places += [(row_at, column_at + 1)] * len(cell)
    seen = [row[:columns] for row in table.rows[: len(body)]]
    ranks, inverse, relations = _numeric(question, seen, columns)
    token_types = [
        # segment, column, row, answered before, rank, rank from the other end, relation
        [int(column > 0), column, row, 0, ranks.get((row, column), 0),
         inverse.get((row, column), 0), relations.get((row, column), 0)]
        for row, column in places
    ]  # fmt: skip
    return Ask({"input_ids": ids, "token_type_ids": token_types}, len(body), columns)


def pick(ask: Ask, scores: Scores) -> list[tuple[int, int]]:
    """The cells (row, column) of the answer, from the score of each token."""
    import numpy as np

    shares: dict[tuple[int, int], list[float]] = defaultdict(list)
    for types, score in zip(ask.features["token_type_ids"], scores, strict=True):
        if types[2] > 0:
            shares[types[2] - 1, types[1] - 1].append(1 / (1 + np.exp(-np.clip(score, -80, 80))))
    return sorted(cell for cell, each in shares.items() if np.mean(each) > CHOSEN)


def _ids(tokenizer: Any, text: str) -> list[int]:
    found: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
    return found


def _cell(tokenizer: Any, text: str) -> list[int]:
    tapas = _library()
    if tapas.format_text(text) != tapas.EMPTY_TEXT and (found := _ids(tokenizer, text)):
        return found
    empty = tokenizer.convert_tokens_to_ids("[EMPTY]")
    return [tokenizer.unk_token_id if empty is None else empty]


def _numeric(
    question: str, rows: Sequence[Sequence[str]], columns: int
) -> tuple[Features, Features, Features]:
    """Per cell (row and column from 1): its rank in the column from either end, and how its value
    stands to those in the question, as bits: equal 1, less 2, greater 4."""
    tapas = _library()
    asked = tapas.add_numeric_values_to_question(question)
    named = [value for span in asked.numeric_spans for value in span.values]
    ranks: Features = {}
    inverse: Features = {}
    relations: Features = defaultdict(int)
    for column in range(columns):
        values = _values([row[column] for row in rows])
        if key := _key(values.values()):
            ordered = sorted({key(value) for value in values.values()})
            for row, value in values.items():
                rank = ordered.index(key(value))
                ranks[row + 1, column + 1] = rank + 1
                inverse[row + 1, column + 1] = len(ordered) - rank
        for other in named:
            key = _key([*values.values(), other]) if values else None
            for row, value in values.items() if key else ():
                relation = tapas.get_numeric_relation(other, value, key)
                relations[row + 1, column + 1] |= 1 << (relation.value - tapas.Relation.EQ.value)
    return ranks, inverse, relations


def _values(cells: Sequence[str]) -> dict[int, Any]:
    """The number or date of each cell, where most of a column's cells have one."""
    tapas = _library()
    found = {
        row: [value for span in tapas.parse_text(tapas.normalize_for_match(cell))
              for value in span.values]
        for row, cell in enumerate(cells)
    }  # fmt: skip
    kinds = {
        kind: {row: next(value for value in values if _is(value, kind))
               for row, values in found.items() if any(_is(value, kind) for value in values)}
        for kind in ("date", "number")
    }  # fmt: skip
    best = max(kinds.values(), key=len)  # of as many dates as numbers, dates
    return best if len(best) >= 0.7 * len(cells) else {}


def _is(value: Any, kind: str) -> bool:
    return (value.float_value is not None) == (kind == "number")


def _key(values: Any) -> Any:
    """How values of a column are compared; None where they cannot be."""
    try:
        return _library().get_numeric_sort_key_fn(list(values)) if values else None
    except ValueError:
        return None


def _library() -> Any:
    """How the library reads numbers and dates; it declares no types."""
    from transformers.models.tapas import tokenization_tapas

    return tokenization_tapas


LONGEST_ANSWER = 40
"""Tokens of an answer that stands in a text."""

LONGEST_WRITTEN = 64
"""Tokens of an answer that is written."""

_END = re.compile(r"[.!?。！？]+[\"'”’)]*(?:\s|$)|\n\s*\n|(?<=[。！？])")


def load_reader(loading: Loading) -> Run:
    """Finds the stretch of a text that answers a question, or says that there is none.

    Windows that lack the answer point to their first token, as they were taught to (Devlin et al.,
    "BERT", 2019, section 4.3): where no window's best stretch beats that, there is no answer.
    """
    import torch

    tokenizer = loading.part("AutoTokenizer")
    network = loading.network("AutoModelForQuestionAnswering")

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        question, text = call.text("question").strip(), call.text("context")
        if not question:
            raise InputError(tr("There is no question."))
        if not text.strip():
            raise InputError(tr("There is no text to look for the answer in."))
        if len(text) > LONGEST_TEXT:
            report(None, f"Reading the first {LONGEST_TEXT:,} characters.")
        text = text[:LONGEST_TEXT]
        parts = windows(tokenizer, network.config, text, question=question)
        best, none, found = float("-inf"), float("inf"), (0, 0)
        for numbers, inputs in parts.batches(network.device):
            report(numbers[0] / len(parts), f"part {numbers[0] + 1} of {len(parts)}")
            with torch.inference_mode():
                output = network(**inputs)
            starts = output.start_logits.float().cpu().numpy()
            ends = output.end_logits.float().cpu().numpy()
            for row, window in enumerate(numbers):
                places = parts.offsets[window]
                at = int(inputs["attention_mask"][row].argmax())  # behind padding on the left
                own = slice(at, at + len(places))
                none = min(none, float(starts[row, at] + ends[row, at]))
                score, first, last = _best(starts[row, own], ends[row, own], places)
                if score > best:
                    best, found = score, (places[first][0], places[last][1])
        said = text[slice(*found)].strip()
        if best <= none or not said:
            raise ExpertError(
                tr("The text does not seem to answer that."),
                hint=tr("Ask in other words, or about something that stands in the text."),
            )
        return [text_artifact(str(ExtractedAnswer(said, evidence(text, *found))))]

    return run


def _best(
    starts: Scores, ends: Scores, places: Sequence[tuple[int, int]]
) -> tuple[float, int, int]:
    """The best stretch of the text among the tokens: its score, first and last token."""
    import numpy as np

    outside = np.array([end == start for start, end in places])
    begin = np.where(outside, -np.inf, starts)
    end = np.where(outside, -np.inf, ends)
    sums = begin[:, None] + end[None, :]
    length = np.arange(len(places))
    span = length[None, :] - length[:, None]
    sums[(span < 0) | (span >= LONGEST_ANSWER)] = -np.inf
    first, last = np.unravel_index(int(sums.argmax()), sums.shape)
    return float(sums[first, last]), int(first), int(last)


def evidence(text: str, start: int, end: int) -> str:
    """The sentence in which a stretch stands, on one line."""
    begin = 0
    for mark in _END.finditer(text):
        if mark.start() >= end or mark.end() > start:
            stop = mark.start() if text[mark.start() : mark.end()].isspace() else mark.end()
            if mark.end() >= end:
                return " ".join(text[begin : max(stop, end)].split())
            continue
        begin = mark.end()
    return " ".join(text[begin:].split())


def load_table_reader(loading: Loading) -> Run:
    """TAPAS, which points to cells, or TAPEX, a BART that writes the answer."""
    tokenizer_kind = "BertTokenizer"
    config = loading.part("AutoConfig")
    if config.model_type == "tapas":
        # The library's own tokenizer of TAPAS needs pandas; its words are those of BERT.
        return _pointing(loading, loading.part(tokenizer_kind))
    return _writing(loading, loading.part("BartTokenizer"))


def _pointing(loading: Loading, tokenizer: Any) -> Run:
    """Cells, and what is to be reckoned with them (Herzig et al., "TaPas", 2020)."""
    import torch

    network = loading.network("AutoModelForTableQuestionAnswering")
    config = network.config

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        question, table = _asked(call)
        ask = encode(tokenizer, config, question, table)
        report(None, "looking")
        with torch.inference_mode():
            output = network(**ask.tensors(network.device))
        cells = pick(ask, output.logits[0].float().cpu().numpy())
        if not cells:
            raise ExpertError(
                tr("The table does not seem to answer that."),
                hint=tr("Ask with the names of its columns."),
            )
        reckoned = ""
        if config.aggregation_labels and output.logits_aggregation is not None:
            reckoned = config.aggregation_labels[int(output.logits_aggregation[0].argmax())]
        values = [table.rows[row][column] for row, column in cells]
        return [text_artifact(_told(values, reckoned) + _left_out(table, ask))]

    return run


def _told(values: Sequence[str], reckoned: str) -> str:
    """The answer, and the cells that it rests on where it was reckoned."""
    shown = ", ".join(values[:20]) + (f" and {len(values) - 20} more" if len(values) > 20 else "")
    if reckoned == "COUNT":
        return f"{len(values)}\n\nThat many cells: {shown}."
    numbers = [value for each in values if (value := number(each)) is not None]
    if reckoned in ("SUM", "AVERAGE") and numbers and len(numbers) == len(values):
        total = sum(numbers) / (len(numbers) if reckoned == "AVERAGE" else 1)
        word = "average" if reckoned == "AVERAGE" else "sum"
        written = f"{total:,.2f}".rstrip("0").rstrip(".")
        return f"{written}\n\nThe {word} of: {shown}." if len(values) > 1 else written
    return shown


def _left_out(table: Table, ask: Ask) -> str:
    if ask.rows == len(table.rows) and ask.columns == len(table.columns):
        return ""
    columns = f" and {ask.columns} of {len(table.columns)} columns"
    return (
        f"\n\nOnly the first {ask.rows:,} of {len(table.rows):,} rows"
        f"{columns if ask.columns < len(table.columns) else ''} fitted into the expert: "
        "what stands below was not looked at."
    )


def _writing(loading: Loading, tokenizer: Any) -> Run:
    """The table as a line of text (Liu et al., "TAPEX", 2022), rows left out where it is long."""
    network = loading.network("AutoModelForSeq2SeqLM")
    longest = min(context(network.config), 1024)

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        question, table = _asked(call)
        names = " | ".join(name or f"column {at + 1}" for at, name in enumerate(table.columns))
        line = f"{question} col : {names}".lower()
        room = longest - len(tokenizer(line)["input_ids"])
        rows = 0
        for at, row in enumerate(table.rows):
            piece = f" row {at + 1} : {' | '.join(row)}".lower()
            room -= len(tokenizer(piece, add_special_tokens=False)["input_ids"])
            if room < 0:
                break
            line, rows = line + piece, rows + 1
        if not rows:
            raise ExpertError(tr("The table is too wide for {id}.", id=loading.expert.id))
        report(None, "looking")
        inputs = tokenizer(line, truncation=True, max_length=longest, return_tensors="pt")
        output = network.generate(**inputs.to(network.device), max_new_tokens=LONGEST_WRITTEN)
        said = tokenizer.decode(output[0], skip_special_tokens=True).strip()
        if not said:
            raise ExpertError(tr("The table does not seem to answer that."))
        ask = Ask({}, rows, len(table.columns))
        return [text_artifact(said + _left_out(table, ask))]

    return run


def _asked(call: Call) -> tuple[str, Table]:
    """The question and the largest table of the file."""
    question = call.text("question").strip()
    if not question:
        raise InputError(tr("There is no question."))
    name = call.title("table")
    tables = read_tables(call.file("table"), name=name)
    table = max(tables, key=lambda each: len(each.rows) * len(each.columns))
    if not table.rows:
        raise InputError(tr("{name} holds no rows.", name=name))
    return question, table
