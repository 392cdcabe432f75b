"""Brings a question and a table into the form that TAPAS reads, and takes its answer apart.

The tokenizer that comes with transformers needs pandas for it. The words, and how numbers and
dates of a cell are read, are that library's.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.tables import Table

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
