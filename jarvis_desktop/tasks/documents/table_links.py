"""Two tables whose rows belong together, such as customers and their orders.

They are asked as one table with a row for each order; and, for the customers who have none, as the
table of customers with a column that says how many orders each has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from jarvis_desktop.tasks.documents.table_database import (
    ColumnType,
    LoadedTable,
    TableColumn,
    TableDatabase,
    quoted,
)
from jarvis_desktop.tasks.documents.table_relations import relation_of, row_nouns
from jarvis_desktop.tasks.documents.table_words import (
    Filter,
    ReadWords,
    Relation,
    is_unique,
    name_parts,
)
from jarvis_desktop.text.tokens import stem


@dataclass(frozen=True, slots=True)
class TableLink:
    """A column of `many` holds the keys of `single`, of which each row has any number there."""

    many: LoadedTable
    key: TableColumn
    single: LoadedTable
    own: TableColumn


def link_of(one: LoadedTable, other: LoadedTable, db: TableDatabase) -> TableLink | None:
    """The columns by which the rows of two tables belong together; None if there are none."""
    for many, single in ((one, other), (other, one)):
        for key, own in product(many.columns, single.columns):
            link = TableLink(many, key, single, own)
            if key.type is own.type and _same_key(link) and is_unique(own, single.rows):
                if _overlap(link, db):
                    return link
    return None


def joined(link: TableLink) -> Relation:
    """Both as one table, with a row for each of the table that has many."""
    many, single = link.many, link.single
    fields = [item for item in relation_of(many).fields if not item.made]
    taken = {item.name.casefold() for item in many.columns}
    fields += [
        replace(item, rows=many.rows)
        for item in relation_of(single).fields
        if not item.made and item.name.casefold() not in taken
    ]
    label = relation_of(single).label
    named = label is not None and is_unique(label.column, single.rows)
    names = {
        f"{many.sql}.{link.key.sql}": item
        for item in fields
        if named and label and item.sql == label.sql
    }
    sql = (
        f"{many.sql} LEFT JOIN {single.sql} ON {many.sql}.{link.key.sql} = "
        f"{single.sql}.{link.own.sql}"
    )
    return Relation(sql, tuple(fields), row_nouns(many), many.rows, row_nouns(single), names)


def with_counts(link: TableLink, db: TableDatabase) -> Relation:
    """The table of single rows, with a column that says how many the other has for each."""
    many, single = link.many, link.single
    name = many.title.rpartition(".")[0] or many.title
    while any(item.name.casefold() == name.casefold() for item in single.columns):
        name += "_"
    sql = f"{single.sql}_with_{many.sql.rpartition('.')[2]}"  # others may belong to it as well
    db.change(
        f"CREATE OR REPLACE TEMP VIEW {sql} AS SELECT *, (SELECT count(*) FROM {many.sql} m "
        f"WHERE m.{link.key.sql} = s.{link.own.sql}) AS {quoted(name)} FROM {single.sql} s"
    )
    counts = TableColumn(name, ColumnType.NUMBER, min(single.rows, 9), whole=True)
    found = relation_of(replace(single, sql=sql, columns=(*single.columns, counts)))
    field = next(it for it in found.fields if it.name == name)
    return replace(found, count=field, others=row_nouns(many))


_none = re.compile(r"\b(?:not|never|no|without|none|nothing|\w+n['’]t)\b")
_some = re.compile(r"\b(?:with|have|has|had|any|an?|some|something|placed|made|once|ever)\b")
_deals = {
    "order": "bought buy buys buying purchased purchase purchases shopped",
    "sale": "bought buy buys sold sells", "loan": "borrowed borrow borrows lent",
    "rental": "rented rent rents hired", "payment": "paid pay pays", "invoice": "billed invoiced",
    "booking": "booked stayed", "visit": "visited came", "exam": "examined tested",
}  # fmt: skip
"""Verbs for what the rows of a table are."""
_FAR = 4
"""Words between "not" and what there is none of."""


def read_linked(read: ReadWords) -> None:
    """Rows that have none, or some, of the other table: "customers who never ordered anything"."""
    count = read.relation.count
    if count is None:
        return
    nouns = {*read.relation.others, *map(stem, count.parts)}
    verbs = {verb for noun in nouns for verb in _deals.get(noun, "").split()}
    for at, word in enumerate(read.words):
        if word.stem not in nouns and word.text not in verbs:
            continue
        before = [*range(max(0, at - _FAR), at)]
        behind = [*range(at + 1, min(at + 3, len(read.words)))]
        denied = _places(read, _none, [*before, *behind])
        said = denied or _places(read, _some, [*before[-2:], *behind])
        if not said and not word.text.endswith("ed") and word.text not in verbs:
            continue
        sign = "=" if denied else ">"
        told = f"{count.name} {sign} 0"
        read.filters.append(Filter(f"{count.sql} {sign} 0", told, word.start, count))
        read.take(at, *said)
        read.mentions = [it for it in read.mentions if it.field is not count]
        return


def _places(read: ReadWords, pattern: re.Pattern[str], places: Sequence[int]) -> list[int]:
    return [at for at in places if pattern.fullmatch(read.words[at].text)]


def _same_key(link: TableLink) -> bool:
    """Whether the names fit: "customer_id" is "customer_id", or "id" in customers."""
    one, other = name_parts(link.key.name), name_parts(link.own.name)
    title = link.single.title
    words = {stem(word) for word in name_parts(title.rpartition(".")[0] or title)}
    return one == other or (
        {stem(word) for word in one} <= words | {stem(word) for word in other} and bool(one)
    )


def _overlap(link: TableLink, db: TableDatabase) -> bool:
    key, own = link.key.sql, link.own.sql
    sql = (
        f"SELECT count(*), count(s.k) FROM (SELECT DISTINCT {key} AS k FROM {link.many.sql} "
        f"WHERE {key} IS NOT NULL LIMIT 1000) m LEFT JOIN (SELECT DISTINCT {own} AS k "
        f"FROM {link.single.sql}) s ON m.k = s.k"
    )
    ((there, found),) = db.rows(sql, 1)[1]
    return bool(there and found >= 0.5 * there)
