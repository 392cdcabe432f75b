"""Question answering over texts and tables.

TAPAS input is built here because the tokenizer that comes with transformers needs pandas for it.
The vocabulary, and how numbers and dates in cells are parsed, are that library's.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.local.pipelines.text_classification import MAX_TEXT_CHARS
from jarvis_desktop.backends.local.pipelines.text_network import context, load_text_network
from jarvis_desktop.backends.local.worker import ExpertLoader, Run
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.tasks.documents.tables import Table, number, read_tables
from jarvis_desktop.tasks.text.question_answering import ExtractedAnswer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Scores = NDArray[np.float32]

MAX_TAPAS_TOKENS = 512  # tokens of a question with its table: the limit in TAPAS's training
MIN_CELL_PROBABILITY = 0.5
"""The mean probability of its tokens above which a cell is part of the answer."""

Features = dict[tuple[int, int], Any]


@dataclass(frozen=True, slots=True)
class TapasInput:
    """A question with the part of its table that fits."""

    features: Mapping[str, list[Any]]  # input_ids, and the seven token types per token
    rows: int
    columns: int

    def tensors(self, device: Any) -> dict[str, Any]:
        """Return a batch of one."""
        import torch

        ids = torch.tensor([self.features["input_ids"]], device=device)
        types = torch.tensor([self.features["token_type_ids"]], device=device)
        return {"input_ids": ids, "token_type_ids": types, "attention_mask": torch.ones_like(ids)}


def encode(tokenizer: Any, config: Any, question: str, table: Table) -> TapasInput:
    """Encode a question and a table, without its last rows if it is too long. Raises ExpertError if
    not even one row fits."""
    asked = _ids(tokenizer, question)
    # Columns and rows count from 1; more than the maximum would share one number.
    columns = min(len(table.columns), config.max_num_columns - 1)
    most_rows = min(len(table.rows), config.max_num_rows - 1)
    longest = min(MAX_TAPAS_TOKENS, config.max_position_embeddings)
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
        # segment, column, row, answered before, rank, inverse rank, relation
        [int(column > 0), column, row, 0, ranks.get((row, column), 0),
         inverse.get((row, column), 0), relations.get((row, column), 0)]
        for row, column in places
    ]  # fmt: skip
    return TapasInput({"input_ids": ids, "token_type_ids": token_types}, len(body), columns)


def pick(ask: TapasInput, scores: Scores) -> list[tuple[int, int]]:
    """The cells (row, column) of the answer, from the score of each token."""
    import numpy as np

    shares: dict[tuple[int, int], list[float]] = defaultdict(list)
    for types, score in zip(ask.features["token_type_ids"], scores, strict=True):
        if types[2] > 0:
            shares[types[2] - 1, types[1] - 1].append(1 / (1 + np.exp(-np.clip(score, -80, 80))))
    return sorted(cell for cell, each in shares.items() if np.mean(each) > MIN_CELL_PROBABILITY)


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
    """Per cell (row and column from 1): its rank in the column, its rank from the other end, and
    how its value compares to those in the question, as bits: equal 1, less 2, greater 4."""
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
    """The number or date of each cell, if most cells of a column have one."""
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
    best = max(kinds.values(), key=len)  # dates, if there are as many as numbers
    return best if len(best) >= 0.7 * len(cells) else {}


def _is(value: Any, kind: str) -> bool:
    return (value.float_value is not None) == (kind == "number")


def _key(values: Any) -> Any:
    """How the values of a column are compared; None if they cannot be."""
    try:
        return _library().get_numeric_sort_key_fn(list(values)) if values else None
    except ValueError:
        return None


def _library() -> Any:
    """The library's parser of numbers and dates; it has no types."""
    from transformers.models.tapas import tokenization_tapas

    return tokenization_tapas


MAX_SPAN_TOKENS = 40  # tokens of an extracted answer
MAX_WRITTEN_TOKENS = 64  # tokens of a generated answer
_END = re.compile(r"[.!?。！？]+[\"'”’)]*(?:\s|$)|\n\s*\n|(?<=[。！？])")


def load_question_answerer(loading: ExpertLoader) -> Run:
    """Find the span of a text that answers a question. Windows without the answer point to
    their first token (Devlin et al., "BERT", 2019, section 4.3): if no window's best span scores
    higher than that, there is no answer."""
    network = load_text_network(loading, "AutoModelForQuestionAnswering")

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        question, text = call.text("question").strip(), call.text("context")
        if not question:
            raise InputError(tr("There is no question."))
        if not text.strip():
            raise InputError(tr("There is no text to look for the answer in."))
        if len(text) > MAX_TEXT_CHARS:
            report(None, tr("Reading the first {count:,} characters.", count=MAX_TEXT_CHARS))
        text = text[:MAX_TEXT_CHARS]
        best, none, found = float("-inf"), float("inf"), (0, 0)
        for window, scores in network.results(network.windows(text, question), report):
            starts, ends = scores.T
            none = min(none, float(starts[0] + ends[0]))
            score, first, last = _best(starts, ends, window.offsets)
            if score > best:
                best, found = score, (window.offsets[first][0], window.offsets[last][1])
        said = text[slice(*found)].strip()
        if best <= none or not said:
            raise ExpertError(
                tr("The text does not seem to answer that."),
                hint=tr("Rephrase the question, or ask about something in the text."),
            )
        return [text_artifact(str(ExtractedAnswer(said, evidence(text, *found))))]

    return run


def _best(
    starts: Scores, ends: Scores, places: Sequence[tuple[int, int]]
) -> tuple[float, int, int]:
    """The best span of the text: its score, first and last token."""
    import numpy as np

    outside = np.array([end == start for start, end in places])
    begin = np.where(outside, -np.inf, starts)
    end = np.where(outside, -np.inf, ends)
    sums = begin[:, None] + end[None, :]
    length = np.arange(len(places))
    span = length[None, :] - length[:, None]
    sums[(span < 0) | (span >= MAX_SPAN_TOKENS)] = -np.inf
    first, last = np.unravel_index(int(sums.argmax()), sums.shape)
    return float(sums[first, last]), int(first), int(last)


def evidence(text: str, start: int, end: int) -> str:
    """The sentence that contains a span, on one line."""
    begin = 0
    for ending in _END.finditer(text):
        if ending.start() >= end or ending.end() > start:
            stop = ending.start() if text[ending.start() : ending.end()].isspace() else ending.end()
            if ending.end() >= end:
                return " ".join(text[begin : max(stop, end)].split())
            continue
        begin = ending.end()
    return " ".join(text[begin:].split())


def load_table_question_answerer(loading: ExpertLoader) -> Run:
    """Answer questions about a table with TAPAS, which selects cells, or TAPEX, which writes."""
    if loading.part("AutoConfig").model_type == "tapas":
        # TAPAS's own tokenizer needs pandas; its vocabulary is BERT's.
        return _tapas(loading, loading.part("BertTokenizer"))
    return _tapex(loading, loading.part("BartTokenizer"))


def _tapas(loading: ExpertLoader, tokenizer: Any) -> Run:
    """Select cells, and an aggregation of them (Herzig et al., "TaPas", 2020)."""
    network = loading.network("AutoModelForTableQuestionAnswering")
    config = network.config

    def run(call: Call, report: Report) -> Iterable[Artifact]:
        question, table = _asked(call)
        ask = encode(tokenizer, config, question, table)
        report(None, tr("Looking for the answer"))
        output = network(**ask.tensors(network.device))
        cells = pick(ask, output.logits[0].float().cpu().numpy())
        if not cells:
            raise ExpertError(
                tr("The table does not seem to answer that."),
                hint=tr("Ask with the names of its columns."),
            )
        aggregation = ""
        if config.aggregation_labels and output.logits_aggregation is not None:
            aggregation = config.aggregation_labels[int(output.logits_aggregation[0].argmax())]
        values = [table.rows[row][column] for row, column in cells]
        return [text_artifact(_format_answer(values, aggregation) + _left_out(table, ask))]

    return run


def _format_answer(values: Sequence[str], aggregation: str) -> str:
    """The answer, with the cells that it was computed from."""
    shown = ", ".join(values[:20]) + (f" and {len(values) - 20} more" if len(values) > 20 else "")
    if aggregation == "COUNT":
        return f"{len(values)}\n\nThat many cells: {shown}."
    numbers = [value for each in values if (value := number(each)) is not None]
    if aggregation in ("SUM", "AVERAGE") and numbers and len(numbers) == len(values):
        total = sum(numbers) / (len(numbers) if aggregation == "AVERAGE" else 1)
        word = "average" if aggregation == "AVERAGE" else "sum"
        written = f"{total:,.2f}".rstrip("0").rstrip(".")
        return f"{written}\n\nThe {word} of: {shown}." if len(values) > 1 else written
    return shown


def _left_out(table: Table, ask: TapasInput) -> str:
    if ask.rows == len(table.rows) and ask.columns == len(table.columns):
        return ""
    columns = f" and {ask.columns} of {len(table.columns)} columns"
    return (
        f"\n\nOnly the first {ask.rows:,} of {len(table.rows):,} rows"
        f"{columns if ask.columns < len(table.columns) else ''} fitted into the expert: "
        "what stands below was not looked at."
    )


def _tapex(loading: ExpertLoader, tokenizer: Any) -> Run:
    """Generate an answer from the table as a line of text (Liu et al., "TAPEX", 2022)."""
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
            raise loading.error(mark("The table is too wide for {id}."))
        report(None, tr("Looking for the answer"))
        inputs = tokenizer(line, truncation=True, max_length=longest, return_tensors="pt")
        output = network.generate(**inputs.to(network.device), max_new_tokens=MAX_WRITTEN_TOKENS)
        said = tokenizer.decode(output[0], skip_special_tokens=True).strip()
        if not said:
            raise ExpertError(tr("The table does not seem to answer that."))
        ask = TapasInput({}, rows, len(table.columns))
        return [text_artifact(said + _left_out(table, ask))]

    return run


def _asked(call: Call) -> tuple[str, Table]:
    question = call.text("question").strip()
    if not question:
        raise InputError(tr("There is no question."))
    return question, largest_table(call)


def largest_table(call: Call) -> Table:
    """The largest table of the call's file. Raises InputError if it has no rows."""
    name = call.title("table")
    tables = read_tables(call.file("table"), name=name)
    table = max(tables, key=lambda each: len(each.rows) * len(each.columns))
    if not table.rows:
        raise InputError(tr("{name} contains no rows.", name=name))
    return table
