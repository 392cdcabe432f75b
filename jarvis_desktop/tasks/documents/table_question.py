"""A question about tables, as a query in SQL: without a language model, by the words alone.

The words are matched with columns and entries (`table_words.py`); here they are put together: what
is counted, added up or compared, for which groups, of which rows. What stays unread, and every
choice between two readings, is a doubt that comes with the answer.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from jarvis_desktop.core.i18n import both, mark, tr
from jarvis_desktop.tasks.documents.table_conditions import is_uncompared, read_words
from jarvis_desktop.tasks.documents.table_database import (
    ColumnType,
    LoadedTable,
    TableColumn,
    TableDatabase,
)
from jarvis_desktop.tasks.documents.table_difference import difference_of
from jarvis_desktop.tasks.documents.table_extremes import Extremes
from jarvis_desktop.tasks.documents.table_months import wide_relations, with_months
from jarvis_desktop.tasks.documents.table_parts import (
    AUXILIARIES,
    COMPARE,
    DIFFERENT,
    FEW_VALUES,
    PERSON_STEMS,
    ROWS,
    called,
)
from jarvis_desktop.tasks.documents.table_query import Shape, TableQuery
from jarvis_desktop.tasks.documents.table_relations import joined, relation_of
from jarvis_desktop.tasks.documents.table_words import (
    UNIT_NAMES,
    VERBS,
    Filter,
    Relation,
    TableField,
    hinted,
    verb_hints,
)
from jarvis_desktop.text.tokens import FUNCTION_WORDS, stem

_DOERS = frozenset(("i", "we", "you", "they", "to"))
_yes_no = re.compile(
    r"\W*(?:(?:is|are|was|were) there\b|(?:does|do|did|has|have) any|any\b.*\?|"
    r"(?:is|are|was|were|does|do|did|has|have)\b.*\bever\b)"
)
_of_one = re.compile(r"\W*(?:is|are|was|were|does|do|did|has|have|can)\b(?! (?:i|you)\b)")
_SIGNS = {"more than": ">", "over": ">", "at least": ">=", "fewer than": "<", "less than": "<",
          "exactly": "=", "at most": "<="}  # fmt: skip
_traded = re.compile(
    r"\W*(?:what|which things?) (?:did|do|does|has|have) .*\b(?:buy|bought|order(?:ed)?|sell|sold|"
    r"purchased?)\b"
)
_goods = "product item article goods title book film dish name"
_moved = re.compile(r"\b(?:go|goes|gone|going|went|gone) (?:up|down)\b")
_added_up = re.compile(
    r"\bhow much\b(?! (?:is|are|does)\b)|\bwhat (?:did|do|does|have|has) (?:\w+ ){1,2}?"
    r"(?:spend|spent|earn|earned|take|taken|pay|paid|sell|sold|use|used)\b|"
    r"\bwhat (?:came|comes|has come|was brought) in\b"
)
_SOLD = r"\b(?:sold|bought|ordered|shipped)\b"
_IN_ALL = r"\b(?:in all|in total|total|all together|altogether)\b"
_times = {
    "day": mark("number of days"), "week": mark("number of weeks"),
    "month": mark("number of months"), "quarter": mark("number of quarters"),
    "year": mark("number of years"),
}  # fmt: skip
_had = re.compile(r"\bhow many \w+ (?:do|does|did) .*\bhave\b")
_asked_of = re.compile(r"\W*what(?:['’]s| is| was| are| were) (?:the )?((?:\w+ ){1,3}?)of ")
_spent_on = re.compile(r"\b(?:spen[dt]|spending|pay|paid) (?:on|for) (?:the |an? |our |my )?(\w+)")
_priced = frozenset("cost costs earn earns earned spend spent weigh weighs".split())
"""Words that ask for a measure, which the table does not have if they are unread."""
_sharing = frozenset("come comes came belong work works cost costs live go goes".split())


def read_question(question: str, db: TableDatabase) -> TableQuery | None:
    """The reading of a question over one table, or over two that are joined, with the fewest
    unread words. None if nothing of the question fits."""
    best: TableQuery | None = None
    for relation in _readings(db):
        found = QuestionReader(read_words(question, relation, db, by_meaning=True), db).query()
        if found is not None and (best is None or found.unread < best.unread):
            best = found
            if relation.tables > 1:
                told = tr("{value} in all {count} tables", value=found.told, count=relation.tables)
                best = replace(found, told=told)
    return best


def _readings(db: TableDatabase) -> Iterator[Relation]:
    """The tables with their months as dates, and a wide one in its two readings."""
    for relation in relations_of(db, [with_months(table, db) for table in db.tables]):
        table = next((it for it in db.tables if it.sql == relation.sql), None)
        yield from (table and wide_relations(table, db)) or [relation]


def relations_of(db: TableDatabase, tables: Sequence[LoadedTable] = ()) -> list[Relation]:
    """Return the tables, those of the same columns as one, and each two that can be joined."""
    alike: dict[tuple[tuple[str, ColumnType], ...], list[LoadedTable]] = {}
    for table in tables or db.tables:
        alike.setdefault(tuple((it.name, it.type) for it in table.columns), []).append(table)
    tables = [same[0] if len(same) == 1 else stacked(same, db) for same in alike.values()]
    relations = [
        replace(relation_of(table), tables=len(same))
        for table, same in zip(tables, alike.values(), strict=True)
    ]
    for one, other in itertools.combinations(tables, 2):
        if pair := joined(one, other, db):
            relations.append(pair)
    return relations


def stacked(tables: Sequence[LoadedTable], db: TableDatabase) -> LoadedTable:
    """Return tables of the same columns, such as one for each month, as one."""
    names = ", ".join(item.sql for item in tables[0].columns)
    union = " UNION ALL ".join(f"SELECT {names} FROM {table.sql}" for table in tables)
    sql = f"all_{tables[0].sql.rpartition('.')[2]}"
    db.change(f"CREATE OR REPLACE TEMP VIEW {sql} AS {union}")
    counted = ", ".join(f"approx_count_distinct({item.sql})" for item in tables[0].columns)
    (distinct,) = db.rows(f"SELECT {counted} FROM {sql}", 1)[1]
    columns = tuple(
        replace(
            first,
            distinct=distinct[at],
            whole=all(table.columns[at].whole for table in tables),
            unread=sum(table.columns[at].unread for table in tables),
            unclear=any(table.columns[at].unclear for table in tables),
        )
        for at, first in enumerate(tables[0].columns)
    )
    return LoadedTable(sql, tables[0].title, columns, sum(table.rows for table in tables))


class QuestionReader(Extremes):
    """Puts a query together out of what the words stand for."""

    def query(self) -> TableQuery | None:
        """The query, or None if the words fit nothing."""
        self.limit, self.largest, self.hint, self.best_at = self._superlative()
        self.group, self.grain = self._group()
        self.aggregate, self.aggregate_at = self._aggregate()
        compared = self._difference()
        if compared is None:
            self._join_times()
        ways: Sequence[Callable[[], TableQuery | None]] = (
            self._share, self._having, self.best, self._count, self._value, self._listed,
        )  # fmt: skip
        found = compared
        for way in () if compared else ways:
            if found := way():
                break
            if way == self.best and self.largest is not None:
                return None  # "the longest" of what is not there
        if found is None or (compared is None and is_uncompared(self.read)):
            return None
        self._use_nouns()
        unread = self.read.unread()
        doubts = list(self.read.doubts)
        if unread:
            words = ", ".join(f"“{word}”" for word in dict.fromkeys(unread))
            doubts.append(tr("Not understood: {words}.", words=words))
        known = len(self.read.used)
        asked = _asked_of.match(self.read.text)
        if asked and {*asked[1].split()} & {*unread}:
            return None  # "what is the address of the oldest", of a table without one
        if any(it[1] in unread for it in _spent_on.finditer(self.read.text)):
            return None  # "how much did we spend on the dentist"
        if {"nothing", "nobody", "none"} & {*unread} or _moved.search(self.read.text):
            return None
        if self.guessed_best and (unread or self.read.guessed):
            return None  # "the longest river", of a table of towns
        if len(unread) > max(1, known) or self.ungrouped or _priced.intersection(unread):
            return None
        return replace(
            found,
            doubts=(*found.doubts, *doubts),
            where=tuple(item.told for item in self.read.filters),
            fields=tuple(
                dict.fromkeys(
                    [*self.told, *self.group, *(it.field for it in self.read.filters if it.field)]
                )
            ),
            # A name is better than a number that another table has a name for.
            unread=len(unread)
            + 0.8 * self.read.guessed
            + 0.5 * any(item.is_id and not item.is_unique for item in self.told),
        )

    def _use_nouns(self) -> None:
        """Take words as read that only name the rows, or columns that are part of the query."""
        said = [*self.told, *self.group, *(item.field for item in self.read.filters if item.field)]
        hints = verb_hints(self.read)
        for at, word in enumerate(self.words):
            named = self.read.mention_at(at)
            if (
                self._is_row(word.stem)
                or word.stem in self.relation.others
                or (named and {named.field, *named.rivals} & {*said})
                or any(place == at and {*found} & {*said} for place, found in hints)
                or any(
                    word.text in UNIT_NAMES and UNIT_NAMES[word.text] in item.units for item in said
                )
            ):
                self._use(at)

    def _join_times(self) -> None:
        """Take rows of either time, as in "in May and June": those of both are none."""
        for one, other in itertools.pairwise([*self.read.filters]):
            if one.period and other.period and one.field is other.field:
                other.sql = f"({one.sql}) OR ({other.sql})"
                other.told = tr("{items} or {last}", items=one.told, last=other.period)
                if COMPARE.intersection(self.texts) and not (self.group or self.grain):
                    years = (one.period + other.period).isdigit()
                    self.grain = "year" if years else "month"
                    self._use(*(at for at, word in enumerate(self.texts) if word in COMPARE))
                self.read.filters = [it for it in self.read.filters if it is not one]

    def _share(self) -> TableQuery | None:
        """ "What percentage of the orders were returned"."""
        asked = [at for at, word in enumerate(self.texts) if word in
                 ("percentage", "percent", "share", "proportion", "fraction")
                 and at not in self.read.used]  # fmt: skip
        named = self.read.mention_at(asked[0]) if asked else None
        if not asked or (named and named.score >= 2):
            return None
        if not self.read.filters:
            return self._shares(asked)
        self._use(asked[0])
        verbs = [word.start for word in self.words[asked[0] + 1 :]
                 if word.text in AUXILIARIES | _sharing]  # fmt: skip
        counted = [it for it in self.read.filters if verbs and it.start >= verbs[0]]
        counted = counted or self.read.filters[-1:]
        whole = [item for item in self.read.filters if item not in counted]
        _, what, field = self._noun(asked[0] + 1)
        measure = field if what == "column" else self.measure()
        measure = measure if measure and measure.adds_up else None
        part = " AND ".join(f"({item.sql})" for item in counted)
        added = f"sum({measure.sql})" if measure else "count(*)"
        value = f"100.0 * {added} FILTER ({part}) / nullif({added}, 0)"
        self.read.filters = whole
        part_told = both(*(item.told for item in counted))
        told = tr("share where {conditions}", conditions=part_told)
        if measure:
            told = tr("share of {name} where {conditions}", name=measure.name, conditions=part_told)
        query = self.grouped(value, told, TableColumn("%", ColumnType.NUMBER, unit="%"))
        self.read.filters = [*whole, *counted]
        return query

    def _shares(self, asked: Sequence[int]) -> TableQuery | None:
        """ "What share of the budget does each department have"."""
        if not (self.group or self.grain):
            return None
        self._use(*asked, *(at for at, word in enumerate(self.texts) if word in ("whole", "total")))
        measure = self.measure()
        measure = measure if measure and measure.adds_up else None
        added = f"sum({measure.sql})" if measure else "count(*)"
        value = f"100.0 * {added} / nullif(sum({added}) OVER (), 0)"
        told = tr("share of {name}", name=measure.name if measure else tr(ROWS))
        return self.grouped(value, told, TableColumn("%", ColumnType.NUMBER, unit="%"))

    def _difference(self) -> TableQuery | None:
        """ "How much more did we sell in May than in June"."""
        if not (found := difference_of(self)):
            return None
        sql, told, column = found
        return TableQuery(sql, Shape.VALUE, told, (column,))

    def _having(self) -> TableQuery | None:
        """ "Which customers have more than 5 orders"."""
        if grouped := self._having_time() or self._having_sum():
            return grouped
        found = re.search(
            r"\b(?:more than|over|at least|fewer than|less than|exactly|at most) (\d+) (\w+)",
            self.read.text,
        )
        times = found is not None and found[2] in ("time", "times")
        if times and found and _of_one.match(self.read.text) and self.read.filters:
            self.read.use(*found.span())
            sign = _SIGNS[found[0].rsplit(" ", 2)[0]]
            value = f"CASE WHEN count(*) {sign} {found[1]} THEN count(*) ELSE 0 END"
            sql = f"SELECT {value} FROM {self.relation.sql}{self.where}"
            return TableQuery(sql, Shape.EXISTS, "", (None,))
        if not found or not (times or stem(found[2]) in self.relation.nouns - {stem("row")}):
            return None
        asking = ("which", "who", "what", "list", "many")
        which = next((at for at, word in enumerate(self.texts) if word in asking), -1)
        if which < 0:
            return None
        _, what, named = self._noun(which + 1)
        if what != "column" or named is None or named.is_measure or named.is_unique:
            if self.texts[which] != "who" or self.relation.label is None:
                return None
            named = self.relation.label
        sign = _SIGNS[found[0].rsplit(" ", 2)[0]]
        inside = range(*found.span())
        self.read.filters = [it for it in self.read.filters if it.start not in inside]
        self.read.use(*found.span())
        sql = (
            f'SELECT {named.sql} AS "{named.name}", count(*) AS value FROM {self.relation.sql}'
            f"{self._where(f'{named.sql} IS NOT NULL')} "
            f"GROUP BY 1 HAVING count(*) {sign} {found[1]} ORDER BY 2 DESC, 1"
        )
        told = f"{named.name}: {found[0]}{self.where_told()}"
        if self.texts[which] == "many":
            told = f"{tr(DIFFERENT, name=named.name)}: {found[0]}{self.where_told()}"
            return TableQuery(f"SELECT count(*) FROM ({sql})", Shape.VALUE, told, (None,))
        return TableQuery(sql, Shape.GROUPS, told, (named.column, None))

    def _having_time(self) -> TableQuery | None:
        """ "On how many days did we use more than 20 kWh", of a table of hours."""
        found = re.search(
            r"\b(how many|which|what) (day|week|month|quarter|year)s?\b", self.read.text
        )
        compared = [
            item for item in self.read.filters
            if item.field and not item.value and item.field.adds_up
            and item.sql.startswith(item.field.sql)
        ]  # fmt: skip
        if (
            not found
            or len(compared) != 1
            or not self.relation.dates
            or not (dated := self._dated())
        ):
            return None
        (limit,) = compared
        measure = limit.field
        assert measure is not None
        kept = [item for item in self.read.filters if item is not limit]
        grain = self._time_sql(found[2], dated)
        self.read.filters = kept
        where = self._where(f"{grain} IS NOT NULL")
        sql = f"SELECT count(*), count(DISTINCT {grain}) FROM {self.relation.sql}{where}"
        rows, times = self._db.rows(sql, 1)[1][0]
        if rows == times:
            self.read.filters = [*kept, limit]
            return None
        self.read.use(*found.span())
        self.told += [measure, dated]
        added = f"sum({measure.sql})"
        sql = (
            f'SELECT {grain} AS "{found[2]}", {added} AS value FROM {self.relation.sql}{where} '
            f"GROUP BY 1 HAVING {limit.sql.replace(measure.sql, added)} ORDER BY 1"
        )
        condition = limit.told.replace(measure.name, called("sum", measure.name))
        told = f"{tr(_times[found[2]])}: {condition}{self.where_told()}"
        if found[1] == "how many":
            sql = f"SELECT count(*) AS value FROM ({sql})"
            return TableQuery(sql, Shape.VALUE, told, (None,))
        return TableQuery(sql, Shape.GROUPS, told, (None, measure.column), grain=found[2])

    def _having_sum(self) -> TableQuery | None:
        """ "Which stalls took more than 500 euros", of a table of their sales."""
        compared = [it for it in self.read.filters if it.field and self._is_limit(it, it.field)]
        found = re.match(r"\W*(?:(?:in|at|on) )?(?:which|what) (\w+)", self.read.text)
        if not found or len(compared) != 1:
            return None
        at = next(n for n, word in enumerate(self.words) if word.start == found.start(1))
        named, (limit,) = self.read.mention_at(at), compared
        if not named or at in self.read.used or self.words[at].stem in self.relation.nouns:
            return None
        field, measure = named.field, limit.field
        assert measure is not None
        if field.column.type is not ColumnType.TEXT or field.is_unique or field.is_id:
            return None
        kept = self.read.filters
        self.read.filters = [item for item in kept if item is not limit]
        self._use(at)
        self.told += [field, measure]
        added = f"sum({measure.sql})"
        sql = (
            f'SELECT {field.sql} AS "{field.name}", {added} AS value FROM {self.relation.sql}'
            f"{self._where(f'{field.sql} IS NOT NULL')} GROUP BY 1 "
            f"HAVING {limit.sql.replace(measure.sql, added)} ORDER BY 2 DESC, 1"
        )
        condition = limit.told.replace(measure.name, called("sum", measure.name))
        told = f"{field.name}: {condition}{self.where_told()}"
        self.read.filters = kept
        rows = f"SELECT DISTINCT {field.sql} FROM {self.relation.sql}{self.where} ORDER BY 1"
        other = TableQuery(rows, Shape.ROWS, tr("single rows"), (field.column,))
        return TableQuery(sql, Shape.GROUPS, told, (field.column, measure.column), other=other)

    def _is_limit(self, item: Filter, measure: TableField) -> bool:
        """Whether a condition compares a column that is added up with a number."""
        return (
            not item.value
            and measure.adds_up
            and item.sql.startswith(f"{measure.sql} ")
            and ("(SELECT" not in item.sql and item.sql[-1].isdigit())
        )

    def _count(self) -> TableQuery | None:
        """ "How many": rows, different entries, or a sum of what is counted in a column."""
        found = re.search(
            r"\bhow many(?: times\b)?|\bhow often\b|\b(?:the |total )*number of\b|"
            r"\bcount(?: of)?\b",
            self.read.text,
        )
        if not found or (self.aggregate and "how many" not in found[0]):
            if found and self.aggregate == "avg" and self.group:
                return self._average_count(found.end())
            return None
        first = next(
            (n for n, word in enumerate(self.words) if word.start >= found.end()), len(self.words)
        )
        self.read.use(*found.span())
        different = re.search(r"\b(?:different|distinct|unique)\b", self.read.text)
        for at, word in enumerate(self.texts):
            if word in ("different", "distinct", "unique"):
                self._use(at)
                first = at + 1 if at >= first else first
        if self.texts[first : first + 1] == ["columns"]:
            return None
        times = found[0] in ("how often", "how many times")
        counted = ("count(*)", tr(ROWS)) if times else self._counted(first)
        if different and counted and counted[0] == "count(*)":
            _, _, named = self._noun(first)
            several = self.relation.label
            if named is None and several and not several.is_unique:
                named = several
            if named is not None:
                counted = f"count(DISTINCT {named.sql})", tr(DIFFERENT, name=named.name)
        label = self.relation.label
        if counted is None and different and label and not label.is_unique:
            counted = f"count(DISTINCT {label.sql})", tr(DIFFERENT, name=label.name)
        if counted is None:
            if not self.read.filters and not self.group and not self.grain:
                return None
            if _had.search(self.read.text):
                return None  # "how many pages does it have"
            of_what = self.texts[first + 1 : first + 2] == ["of"]
            spelt = self.read.mention_at(first + 2) if of_what else None
            if of_what and first + 2 not in self.read.used and (not spelt or spelt.guessed):
                return None  # "how many days of holiday"
            counted = "count(*)", tr(ROWS)
        value, told = counted
        if value.startswith("count(DISTINCT") and self.told:
            self._deny(self.told[-1])
        other = None
        if not value.startswith("sum") and not times and not different:
            rows = self._row_noun_used(first)
            added = self._verb_counted(first, rows)
            sold = value == "count(*)" and not rows and re.search(_SOLD, self.read.text)
            if not added and (sold or self._are_kept()):
                kept = hinted(self.read, "hand units quantity qty stock pieces count")
                added = next((item for item in kept if item.adds_up), None)
                sure = sold or self._names_row() or re.search(_IN_ALL, self.read.text)
                if added and not sure:
                    other, added = self._added(added), None
            if added:
                value, told = f"sum({added.sql})", called("sum", added.name)
        column = None
        for item in self.relation.fields:
            if value == f"sum({item.sql})":
                column = item.column
                self.told.append(item)
        return replace(self.grouped(value, told, column), other=other)

    def _verb_counted(self, first: int, rows: bool) -> TableField | None:
        """The column of numbers that a verb names: "how many rolls did we sell", of "Sold"."""
        filtered = [item.field for item in self.read.filters]
        for at in range(first + 1, len(self.words)):
            named = self.read.mention_at(at)
            if named and named.field in filtered:
                continue
            verb = self.texts[at].endswith("ed") or self.texts[at] in VERBS
            if named and at not in self.read.used and named.field.adds_up and (verb or not rows):
                return self._settled(at)
        return None

    def _are_kept(self) -> bool:
        """Whether a row is a kind of thing, of which there may be several: "how many tins"."""
        label = self.relation.label
        numbered = any(item.is_id and item.is_unique for item in self.relation.fields)
        stock = any(
            {"stock", "hand", "qty", "quantity"} & {*it.parts} for it in self.relation.fields
        )
        numbered = numbered and not (stock and {"have", "got", "left"} & {*self.texts})
        return label is not None and label.is_unique and not numbered

    def _added(self, added: TableField) -> TableQuery:
        return self.grouped(f"sum({added.sql})", called("sum", added.name), added.column)

    def _row_noun_used(self, first: int) -> bool:
        return any(word.stem in self.relation.nouns for word in self.words[first : first + 2])

    def _average_count(self, end: int) -> TableQuery | None:
        """ "The average number of orders per customer"."""
        first = next((n for n, word in enumerate(self.words) if word.start >= end), len(self.words))
        counted = self._counted(first)
        keys = self._keys()
        if counted is None or not keys:
            return None
        if counted[0].startswith("sum"):  # "the average number of visits", of a column of visits
            measure = self.told[-1]
            return self.grouped(f"avg({measure.sql})", called("avg", measure.name), measure.column)
        sql = (
            f"SELECT avg(n) AS value FROM (SELECT {counted[0]} AS n FROM {self.relation.sql}"
            f"{self.where} GROUP BY {', '.join(sql for sql, _, _ in keys)})"
        )
        each = tr("{value} for each {names}", value=counted[1], names=keys[0][1])
        told = called("avg", each) + self.where_told()
        return TableQuery(sql, Shape.VALUE, told, (None,))

    def _value(self) -> TableQuery | None:
        """A sum, an average, or the value of some row."""
        if self.read.filters and _traded.match(self.read.text):
            goods = [item for item in hinted(self.read, _goods) if not item.is_measure]
            self.looked_up = goods[0] if goods else None
            if goods:
                return None
        much = _added_up.search(self.read.text) is not None
        measure = self.measure(self.aggregate_at + 1 if self.aggregate_at >= 0 else 0)
        if measure is None and (self.aggregate or much):
            measure = self.only_measure()
        if measure is None:
            return self._counted_groups()
        function = self.aggregate
        keys = bool(self.group or self.grain)
        if not function and re.match(
            r"\W*(?:(?:in|on|at|for|from|to|by|with) )?"
            r"(?:which|who|list|what \w+s? (?:cost|ha))\b",
            self.read.text,
        ):
            return None
        if not function and not keys and not much and self._few_values(measure):
            self.looked_up = measure
            return None
        if not function:
            function = "sum" if measure.adds_up else "avg"
            if not keys and self._names_row():
                self.looked_up = measure
                return None
            if function == "avg" or not (keys or much):
                how = (
                    mark("{name} is added up.")
                    if function == "sum"
                    else mark("{name} is the average.")
                )
                self.read.doubt(tr(how, name=measure.name))
        if function == "sum" and measure.column.rising:
            self.read.doubt(
                tr("{name} never falls. Of a meter, only the differences count.", name=measure.name)
            )
        self.told.append(measure)
        return self.grouped(
            f"{function}({measure.sql})", called(function, measure.name), measure.column
        )

    def _counted_groups(self) -> TableQuery | None:
        """ "Orders per country": rows are counted."""
        if not (self.group or self.grain) or self.aggregate:
            return None
        if not any(word.stem in self.relation.nouns for word in self.words):
            return None
        self._use_nouns()
        if amount := self._money_measure():
            self.told.append(amount)
            return self.grouped(f"sum({amount.sql})", called("sum", amount.name), amount.column)
        return self.grouped("count(*)", tr(ROWS), None)

    def _few_values(self, measure: TableField) -> bool:
        """Whether the conditions leave so few rows that their own values are asked for."""
        return bool(self.read.filters) and self._values(measure) <= FEW_VALUES

    def _values(self, field: TableField) -> int:
        """How many different values the rows that meet the conditions have."""
        sql = f"SELECT count(DISTINCT {field.sql}) FROM {self.relation.sql}{self.where}"
        return int(self._db.rows(sql, 1)[1][0][0])

    def _listed(self) -> TableQuery | None:
        """Entries or rows that meet the conditions: a look-up, or a list."""
        if not self.looked_up and re.search(r"\bhow many\b", self.read.text):
            return None  # a list is no answer to that
        wanted = [self.looked_up] if self.looked_up else []
        row_asked = False
        filtered = [item.field for item in self.read.filters]
        for at, word in enumerate(self.words):
            named = self.read.mention_at(at)
            if at in self.read.used:
                continue
            if word.text in ("who", "who's", "whose"):
                person = self._doer(at + 1) or self.person()
                if person is None or (person in filtered and not named and self.read.unread()):
                    return None
                self._use(at)
                wanted += [person] if person not in filtered else []
            elif word.text.startswith("when") and (self.relation.dates or self.relation.clocks):
                dated = self._dated() or self.relation.clocks[0]
                wanted += [dated] if dated else []
            elif (
                self._grain(at) and self.texts[at - 1] in ("which", "what") and self.relation.dates
            ):
                wanted += self._moments(self._grain(at))
                self._use(at)
            elif word.text == "where":
                wanted += hinted(self.read, "city country place location address town")[:1]
            elif self._is_row(word.stem) and not (named and named.score >= 2):
                row_asked = True
                self._use(at)
            elif named and self.texts[at - 1] in _DOERS and word.text == word.stem:
                self._use(at)  # what one does: "what can I cook"
            elif named and (named.score >= 1.4 or named.guessed):
                wanted += [self._settled(at)] if word.text not in FUNCTION_WORDS else []
        wanted += [found[0] for at, found in verb_hints(self.read) if at not in self.read.used
                   and self.texts[at] in ("old", "tall", "long", "heavy", "big", "large", "cost",
                                          "expensive", "earn", "weigh", "far", "high",
                                          "paid")]  # fmt: skip
        for at, _ in verb_hints(self.read):
            self._use(at)
        wanted = list(dict.fromkeys(wanted))
        if not self.read.filters and (self.read.unread() or self.texts[0] in ("who", "whose")):
            return None  # "which of them are empty", "who came first"
        if not wanted and not row_asked and self.read.unread():
            return None  # "what is his telephone number", of a table without such a column
        valued = any(item.is_measure for item in wanted)
        asked = [it for it in wanted if it.is_measure and it.adds_up] if len(wanted) == 1 else []
        asked += [found[0] for _, found in verb_hints(self.read) if found[0].adds_up]
        if _of_one.match(self.read.text) and asked and self.read.filters and not wanted[1:]:
            sql = f"SELECT count(*) FROM {self.relation.sql}{self._where(f'{asked[0].sql} > 0')}"
            self.read.doubt(f"{asked[0].name} > 0.")
            return TableQuery(sql, Shape.EXISTS, "", (None,))
        if (_yes_no.match(self.read.text) and not valued) or (
            _of_one.match(self.read.text) and (self.read.filters[1:] or not wanted)
        ):
            if self.read.filters:
                sql = f"SELECT count(*) FROM {self.relation.sql}{self.where}"
                return TableQuery(sql, Shape.EXISTS, self.where_told(), (None,))
            return None
        if wanted and all(item in filtered for item in wanted):
            wanted = []  # "what is on the bottom shelf"
        if not self.read.filters and not wanted:
            return None
        if not self.read.filters and not re.match(
            r"\W*(?:what|which|list|show|give|name|tell|the|all|who|print|display)\b",
            self.read.text,
        ):
            return None
        label = self.relation.label
        if (row_asked or not wanted) and label and label.is_unique and label not in filtered:
            wanted.insert(0, label)
        wanted = list(dict.fromkeys(wanted))
        if re.search(r"\b(?:rows|records|entries)\b", self.read.text):
            wanted = [item for item in wanted if item not in filtered]
        if not wanted:
            wanted = [item for item in self.relation.fields if not item.made]
        self.told += wanted
        if len(wanted) == 1:
            self._deny(wanted[0])
        shown = wanted
        if len(wanted) == 1 and label and label not in wanted and not self._names_row():
            alike = self._values(wanted[0]) == 1
            shown = [label, *wanted] if wanted[0].is_measure and not alike else wanted
        chosen = ", ".join(f'{item.sql} AS "{item.name}"' for item in shown)
        kept = [f"{wanted[0].sql} IS NOT NULL"] if len(wanted) == 1 else []
        sql = f"SELECT DISTINCT {chosen} FROM {self.relation.sql}{self._where(*kept)} ORDER BY ALL"
        told = f"{', '.join(item.name for item in shown)}{self.where_told()}"
        return TableQuery(sql, Shape.ROWS, told, tuple(item.column for item in shown))

    def _moments(self, grain: str) -> list[TableField]:
        """The times of the column of dates, in a unit of time: "in which months"."""
        dated = self._dated()
        if dated is None or grain == "day" or (grain == "month" and dated.column.monthly):
            return [dated] if dated else []
        column = TableColumn(grain, ColumnType.TEXT, dated.column.distinct)
        return [replace(dated, column=column, sql=self._time_sql(grain, dated), made=True)]

    def _deny(self, key: TableField) -> None:
        """Take what is denied as said of all rows of a key: "who has not ordered a lamp"."""
        measure = self.only_measure()
        for item in self.read.filters:
            if item.denied and item.field is not key and not key.is_unique:
                some = f" AND {measure.sql} <> 0" if measure and measure.adds_up else ""
                item.sql = (
                    f"{key.sql} NOT IN (SELECT {key.sql} FROM {self.relation.sql} "
                    f"WHERE {item.denied}{some} AND {key.sql} IS NOT NULL)"
                )

    def _is_row(self, word: str) -> bool:
        persons = word in PERSON_STEMS and self.relation.label is not None
        return word in self.relation.nouns or persons

    def _names_row(self) -> bool:
        label = self.relation.label
        return bool(label and label.is_unique) and any(
            item.field is label and item.value and "\0" not in item.value
            for item in self.read.filters
        )
