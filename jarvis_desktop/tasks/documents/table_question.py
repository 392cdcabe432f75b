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
from jarvis_desktop.tasks.documents.table_links import joined, link_of, with_counts
from jarvis_desktop.tasks.documents.table_months import wide_relations, with_months
from jarvis_desktop.tasks.documents.table_parts import (
    AUXILIARIES,
    COMPARE,
    DIFFERENT,
    FEW_VALUES,
    ROWS,
    called,
)
from jarvis_desktop.tasks.documents.table_query import Shape, TableQuery
from jarvis_desktop.tasks.documents.table_relations import relation_of
from jarvis_desktop.tasks.documents.table_words import (
    DOWN,
    PERSON_STEMS,
    UNIT_NAMES,
    UP,
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
_many_rows = re.compile(
    r"\b(?:more than|over|at least|fewer than|less than|exactly|at most) (\d+) (\w+)"
)
_asking_groups = ("which", "who", "what", "list", "many")
_ROW = frozenset((stem("row"),))
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
_out = re.compile(r"\b(?:is|are|was|were) out\b(?! of)")
_times = {
    "day": mark("number of days"), "week": mark("number of weeks"),
    "month": mark("number of months"), "quarter": mark("number of quarters"),
    "year": mark("number of years"),
}  # fmt: skip
_done = re.compile(r"\b(?:was|were|did|been|have|has)\b(?! there\b)(?!.*\bin stock\b)")
_had = re.compile(r"\bhow many \w+ (?:do|does|did) .*\bhave\b")
_asked_of = re.compile(r"\W*what(?:['’]s| is| was| are| were) (?:the )?((?:\w+ ){1,3}?)of ")
_spent_on = re.compile(r"\b(?:spen[dt]|spending|pay|paid) (?:on|for) (?:the |an? |our |my )?(\w+)")
_priced = frozenset("cost costs earn earns earned spend spent weigh weighs profit profits".split())
"""Words that ask for a measure, which the table does not have if they are unread."""
_OPERATORS = frozenset(
    "not no nor more than before after until between below above under average mean per each every "
    "once only except off".split()
)
"""Words that change what is asked, so that none of them may be left unread."""
_sharing = frozenset("come comes came belong work works cost costs live go goes".split())


def read_question(question: str, db: TableDatabase) -> TableQuery | None:
    """The reading of a question over one table, or over two that are joined, with the fewest
    unread words. None if nothing of the question fits."""
    best: TableQuery | None = None
    for relation in _readings(db):
        read = read_words(question, relation, db, by_meaning=True)
        if relation.count and all(it.field is not relation.count for it in read.filters):
            continue  # it does not ask whether there are rows of another table
        found = QuestionReader(read, db).query()
        if found is not None and (best is None or found.unread < best.unread):
            best = found
            if relation.tables > 1:
                told = tr("{value} in all {count} tables", value=found.told, count=relation.tables)
                best = replace(found, told=told)
    return best


def _readings(db: TableDatabase) -> Iterator[Relation]:
    """The tables with their months as dates, and a wide one in its two readings."""
    tables = [with_months(table, db) for table in db.tables]
    for relation in relations_of(db, tables, counted=True):
        table = next((it for it in db.tables if it.sql == relation.sql), None)
        yield from (table and wide_relations(table, db)) or [relation]


def relations_of(
    db: TableDatabase, tables: Sequence[LoadedTable] = (), *, counted: bool = False
) -> list[Relation]:
    """Return the tables, those of the same columns as one, and each two that can be joined.
    `counted` puts before them those that say how many rows another table has for each row."""
    alike: dict[tuple[tuple[str, ColumnType], ...], list[LoadedTable]] = {}
    for table in tables or db.tables:
        alike.setdefault(tuple((it.name, it.type) for it in table.columns), []).append(table)
    tables = [same[0] if len(same) == 1 else stacked(same, db) for same in alike.values()]
    relations = [
        replace(relation_of(table), tables=len(same))
        for table, same in zip(tables, alike.values(), strict=True)
    ]
    pairs = itertools.combinations(tables, 2)
    links = [link for one, other in pairs if (link := link_of(one, other, db))]
    counts = [with_counts(link, db) for link in links if counted]
    return [*counts, *relations, *map(joined, links)]


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
        compared = difference_of(self)
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
        if missed := [*unread, *self.read.unread(_OPERATORS)]:
            words = ", ".join(f"“{word}”" for word in dict.fromkeys(missed))
            doubts.append(tr("Not understood: {words}.", words=words))
        if compared is None and (left := self._columns_left()):
            doubts.append(tr("Not understood: {words}.", words=", ".join(left)))
        known = len(self.read.used)
        asked = _asked_of.match(self.read.text)
        if asked and {*asked[1].split()} & {*unread}:
            return None  # "what is the address of the oldest", of a table without one
        if any(it[1] in unread for it in _spent_on.finditer(self.read.text)):
            return None  # "how much did we spend on the dentist"
        moved = compared is None and _moved.search(self.read.text)
        out = _out.search(self.read.text) and "out" in self.read.unread({"out"})
        if {"nothing", "nobody", "none"} & {*unread} or moved or out:
            return None
        if self.guessed_best and (unread or self.read.guessed):
            return None  # "the longest river", of a table of towns
        if len(unread) > max(1, known) or self.ungrouped or _priced.intersection(unread):
            return None
        return replace(
            found,
            doubts=(*found.doubts, *doubts),
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

    def _columns_left(self) -> list[str]:
        """Columns of numbers that are named in full behind "and", and are no part of the query: the
        second of "the average of test 1 and test 2"."""
        said = {*self.told, *self.group, *(it.field for it in self.read.filters)}
        return [
            f"“{it.field.name}”"
            for it in self.read.mentions
            if it.score >= 2 and it.field.is_measure and it.field not in said
            if not said.intersection(it.rivals)
            if self.read.word_before(it.start) == "and"
        ]

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
        """ "What percentage of the orders were returned", "what share of the budget does each
        department have"."""
        asked = [at for at, word in enumerate(self.texts) if word in
                 ("percentage", "percent", "share", "proportion", "fraction")
                 and at not in self.read.used]  # fmt: skip
        named = self.read.mention_at(asked[0]) if asked else None
        grouped = self.read.filters or self.group or self.grain
        if not asked or not grouped or (named and named.score >= 2):
            return None
        best = self._group_of_best_share(asked[0])
        self._use(*asked, *(at for at, word in enumerate(self.texts) if word in ("whole", "total")))
        verbs = [word.start for word in self.words[asked[0] + 1 :]
                 if word.text in AUXILIARIES | _sharing]  # fmt: skip
        counted = [it for it in self.read.filters if verbs and it.start >= verbs[0]]
        counted = counted or self.read.filters[-1:]
        whole = [item for item in self.read.filters if item not in counted]
        _, what, field = self._noun(asked[0] + 1)
        # Of budget.csv "the budget" is its column too, unless rows are counted by a condition.
        is_column = what == "column" or (field is not None and not counted)
        measure = field if is_column else self.measure()
        # A share "with a delay over 5 minutes" is one of rows, not of the minutes.
        limited = {item.field for item in counted}
        measure = measure if measure and measure.adds_up and measure not in limited else None
        added = f"sum({measure.sql})" if measure else "count(*)"
        part = " AND ".join(f"({item.sql})" for item in counted)
        value = f"100.0 * {added} FILTER ({part}) / nullif({added}, 0)"
        name, part_told = measure.name if measure else "", both(*(item.told for item in counted))
        told = tr("share where {conditions}", conditions=part_told)
        if not counted:
            value = f"100.0 * {added} / nullif(sum({added}) OVER (), 0)"
            told = tr("share of {name}", name=name or tr(ROWS))
        elif measure:
            told = tr("share of {name} where {conditions}", name=name, conditions=part_told)
        self.read.filters = whole
        percent = TableColumn("%", ColumnType.NUMBER, unit="%")
        if best and counted:
            sql, field, grain = best
            query = self._best_group(sql, value, told, (None if grain else field.column, percent),
                                     grain)  # fmt: skip
        else:
            query = self.grouped(value, told, percent)
        self.read.filters = [*whole, *counted]
        return query

    def _group_of_best_share(self, share: int) -> tuple[str, TableField, str] | None:
        """The SQL, the column and the unit of time of the groups of which the one with the largest
        or smallest share is asked for: "which line has the largest share of ..."."""
        before = self.texts[share - 1] if share else ""
        which = next((at for at, word in enumerate(self.texts) if word in _asking_groups), -1)
        key = self._having_key(which) if before in UP | DOWN and 0 <= which < share else None
        if key is None:
            return None
        at, sql, field, grain = key
        self.largest = before in UP
        self._use(at, share - 1)
        return sql, field, grain

    def _having(self) -> TableQuery | None:
        """Groups of many rows, or whose numbers add up to much: "which customers have more than 5
        orders", "on how many days did we use more than 20 kWh"."""
        found = _many_rows.search(self.read.text)
        times = found is not None and found[2] in ("time", "times")
        counted = found is not None and (times or stem(found[2]) in self.relation.nouns - _ROW)
        condition = f"count(*) {_SIGNS[found[0].rsplit(' ', 2)[0]]} {found[1]}" if found else ""
        if times and found and _of_one.match(self.read.text) and self.read.filters:
            self.read.use(*found.span())
            value = f"CASE WHEN {condition} THEN count(*) ELSE 0 END"
            sql = f"SELECT {value} FROM {self.relation.sql}{self.where}"
            return TableQuery(sql, Shape.EXISTS, "", (None,))
        limits = [it for it in self.read.filters if it.field and self._is_limit(it, it.field)]
        asked = next((at for at, word in enumerate(self.texts) if word in _asking_groups), -1)
        key = self._having_key(asked) if asked >= 0 and (counted or len(limits) == 1) else None
        if key is None:
            return None
        at, sql, field, grain = key
        name, column = (grain, None) if grain else (field.name, field.column)
        kept, told = self.read.filters, found[0] if found else ""
        measure = limits[0].field if limits and not counted else None
        if counted and found:
            self.read.filters = [it for it in kept if it.start not in range(*found.span())]
            self.read.use(*found.span())
            value = "count(*)"
        else:
            self.read.filters = [it for it in kept if it is not limits[0]]
            if self._is_single(sql):
                self.read.filters = kept
                return None
        many = self.texts[asked] == "many"
        other = None
        if measure and not grain:
            shown = f"count(DISTINCT {sql})" if many else f"DISTINCT {sql}"
            where = self._where(limits[0].sql)
            single = f"SELECT {shown} FROM {self.relation.sql}{where} ORDER BY 1"
            shape = Shape.VALUE if many else Shape.ROWS
            other = TableQuery(single, shape, tr("single rows"), (None if many else column,))
        if measure:
            value, added = f"sum({measure.sql})", called("sum", measure.name)
            condition = limits[0].sql.replace(measure.sql, value)
            told = limits[0].told.replace(measure.name, added)
            self.told.append(measure)
        self._use(at)
        self.told.append(field)
        order = "1" if grain else "2 DESC, 1"
        query = (
            f'SELECT {sql} AS "{name}", {value} AS value FROM {self.relation.sql}'
            f"{self._where(f'{sql} IS NOT NULL')} GROUP BY 1 HAVING {condition} ORDER BY {order}"
        )
        each = tr(_times[grain]) if grain else tr(DIFFERENT, name=name) if many else name
        told = f"{each}: {told}{self.where_told()}"
        if many:
            query = f"SELECT count(*) AS value FROM ({query})"
            return TableQuery(query, Shape.VALUE, told, (None,), other=other)
        columns = (column, measure.column if measure else None)
        return TableQuery(query, Shape.GROUPS, told, columns, grain=grain, other=other)

    def _having_key(self, asked: int) -> tuple[int, str, TableField, str] | None:
        """What the groups are after "which" or "how many": the word, the SQL, the column and the
        unit of time."""
        if self.texts[asked] == "who":
            person = self.person()
            return (asked, person.sql, person, "") if person else None
        for at in range(asked + 1, min(asked + 4, len(self.words))):
            named, grain = self.read.mention_at(at), self._grain(at)
            if grain and self.relation.dates and (dated := self._dated()):
                return at, self._time_sql(grain, dated), dated, grain
            if named:
                field = named.field
                fits = field.column.type is ColumnType.TEXT and not field.is_unique
                read = field.is_id or at in self.read.used or self.is_row_noun(at)
                return (at, field.sql, field, "") if fits and not read else None
            if self.texts[at] not in FUNCTION_WORDS and self.texts[at] not in ("different", "all"):
                return None
        return None

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
        each = self.group if found and "how many" not in found[0] else self.grain
        if found and self.aggregate == "avg" and each:
            return self._average_count(found.end())
        if not found or (self.aggregate and "how many" not in found[0]):
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
        label = self.relation.label
        if different and (counted is None or counted[0] == "count(*)"):
            named = self._noun(first)[2] if counted else None
            named = named or (label if label and not label.is_unique else None)
            if named is not None:
                counted = f"count(DISTINCT {named.sql})", tr(DIFFERENT, name=named.name)
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
        done = _done.search(self.read.text[found.end() :])
        if self.told[-1:] == [label] and done and not different:
            other = self.grouped(value, told, None)  # "how many books were borrowed", of loans
            value, told = "count(*)", tr(ROWS)
        if not value.startswith("sum") and not times and not different:
            rows = any(it.stem in self.relation.nouns for it in self.words[first : first + 2])
            added = self._verb_counted(first, rows)
            sold = value == "count(*)" and not rows and re.search(_SOLD, self.read.text)
            if not added and (sold or self._are_kept()):
                kept = hinted(self.read, "hand units quantity qty stock pieces count")
                added = next((item for item in kept if item.adds_up), None)
                sure = sold or self._names_row() or re.search(_IN_ALL, self.read.text)
                if added and not sure:
                    told_sum = called("sum", added.name)
                    other = self.grouped(f"sum({added.sql})", told_sum, added.column)
                    added = None
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

    def _average_count(self, end: int) -> TableQuery | None:
        """ "The average number of orders per customer"."""
        first = next((n for n, word in enumerate(self.words) if word.start >= end), len(self.words))
        counted = self._counted(first)
        keys = self._keys()
        if counted is None or not keys:
            return None
        if counted[0].startswith("sum") and not self.grain:  # "the average number of visits"
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
        counts = re.search(r"\bhow (?:many|much)\b", self.read.text)
        if counts and not self.looked_up and not self._names_row():
            return None  # a list does not answer that
        if self.aggregate and not self.looked_up:
            return None  # nor "what is Priya's average"
        wanted = [self.looked_up] if self.looked_up else []
        row_asked = False
        filtered = [item.field for item in self.read.filters]
        for at, word in enumerate(self.words):
            named = self.read.mention_at(at)
            if named and named.guessed and named.field in filtered:
                self.read.used.add(at)  # "the 7:48 leaves", of a column of departures
            if at in self.read.used:
                continue
            if word.text in ("who", "who's", "whose"):
                person = self._doer(at + 1) or self.person()
                if person is None or (person in filtered and not named and self.read.unread()):
                    return None
                self._use(at)
                wanted += [person] if person not in filtered else []
            elif self._asks_when(at) and (self.relation.dates or self.relation.clocks):
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
            elif named and word.text.endswith("ed") and named.field.is_unique:
                self._use(at)  # "who ordered ink", of a table with a column "order"
            elif named and (named.score >= 1.2 or named.guessed):
                wanted += [self._settled(at)] if word.text not in FUNCTION_WORDS else []
        wanted += [found[0] for at, found in verb_hints(self.read) if at not in self.read.used
                   and self.texts[at] in ("old", "tall", "long", "heavy", "big", "large", "cost",
                                          "expensive", "earn", "weigh", "far", "high",
                                          "paid")]  # fmt: skip
        for at, _ in verb_hints(self.read):
            self._use(at)
        wanted = list(dict.fromkeys(wanted))
        noun = re.search(r"\b(?:which|what) (\w+)", self.read.text)
        if noun and noun[1] in self.read.unread():
            return None  # "which supplier", of a table without one
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
        """Take what is denied as said of all rows of a key: "who has not ordered a lamp"; and two
        entries as those of different rows: "who ordered both ink and paper"."""
        measure = self.only_measure()
        for item in self.read.filters:
            values, field = item.value.split("\0"), item.field
            if "both" in self.texts and len(values) == 2 and field and field is not key:
                item.sql = (
                    f"{key.sql} IN (SELECT {key.sql} FROM {self.relation.sql} WHERE {item.sql} "
                    f"GROUP BY 1 HAVING count(DISTINCT {field.sql}) = 2)"
                )
                item.told = tr("{name} is {value}", name=field.name, value=both(*values))
                self._use(self.texts.index("both"))
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
