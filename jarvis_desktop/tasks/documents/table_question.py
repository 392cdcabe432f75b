"""A question about tables, as a query in SQL: without a language model, by the words alone.

The words are matched with columns and entries (`table_words.py`); here they are put together: what
is counted, added up or compared, for which groups, of which rows. What stays unread, and every
choice between two readings, is a doubt that is told with the answer.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from jarvis_desktop.core.i18n import both, mark, tr
from jarvis_desktop.tasks.documents.table_conditions import read_words
from jarvis_desktop.tasks.documents.table_database import ColumnType, TableColumn, TableDatabase
from jarvis_desktop.tasks.documents.table_parts import (
    AUXILIARIES,
    DIFFERENT,
    FEW_VALUES,
    PERSON_STEMS,
    ROWS,
    QuestionParts,
    called,
)
from jarvis_desktop.tasks.documents.table_words import (
    DOWN,
    UNIT_NAMES,
    UP,
    Relation,
    TableField,
    hinted,
    joined,
    relation_of,
    verb_hints,
)
from jarvis_desktop.text.tokens import FUNCTION_WORDS, stem

COUNTING = ("most", "least", "fewest")
_traded = re.compile(
    r"\W*(?:what|which things?) (?:did|do|does|has|have) .*\b(?:buy|bought|order(?:ed)?|sell|sold|"
    r"purchased?)\b"
)
_goods = "product item article goods title book film dish name"
_sharing = frozenset("come comes came belong work works cost costs live go goes".split())


class Shape(Enum):
    """What an answer looks like."""

    VALUE = "value"
    """One number or entry."""
    BEST = "best"
    """The rows or groups with the largest or smallest value, ties included."""
    GROUPS = "groups"
    """A value for each group."""
    ROWS = "rows"
    """Entries or rows that meet the conditions."""
    EXISTS = "exists"
    """Yes or no, with the number of rows."""


@dataclass(frozen=True)
class TableQuery:
    """A question as SQL, and in words."""

    sql: str
    shape: Shape
    told: str
    """What is asked: "the sum of revenue where region is North"."""
    shown: tuple[TableColumn | None, ...] = ()
    """The column that each column of the result has its unit from."""
    doubts: tuple[str, ...] = ()
    other: TableQuery | None = None
    """Another reading; the doubt is told only if it has another answer."""
    where: tuple[str, ...] = ()
    """The conditions in words."""
    grain: str = ""
    """The unit of time of the first column."""
    fields: tuple[TableField, ...] = ()
    """The columns that it speaks of."""
    unread: float = 0.0
    """How many words of the question stand for nothing."""


def read_question(question: str, db: TableDatabase) -> TableQuery | None:
    """The reading of a question over one table, or over two that are joined, with the fewest
    unread words. None if nothing of the question fits."""
    best: TableQuery | None = None
    for relation in relations_of(db):
        found = QuestionReader(read_words(question, relation, db), db).query()
        if found is not None and (best is None or found.unread < best.unread):
            best = found
    return best


def relations_of(db: TableDatabase) -> list[Relation]:
    """Return the tables, and each two that can be joined."""
    relations = [relation_of(table) for table in db.tables]
    for one, other in itertools.combinations(db.tables, 2):
        if pair := joined(one, other, db):
            relations.append(pair)
    return relations


class QuestionReader(QuestionParts):
    """Puts a query together out of what the words stand for."""

    def query(self) -> TableQuery | None:
        """The query, or None if the words fit nothing."""
        self.limit, self.largest, self.hint, self.best_at = self._superlative()
        self.group, self.grain = self._group()
        self.aggregate, self.aggregate_at = self._aggregate()
        ways: Sequence[Callable[[], TableQuery | None]] = (
            self._share, self._having, self._best, self._count, self._value, self._listed,
        )  # fmt: skip
        found = None
        for way in ways:
            if found := way():
                break
            if way == self._best and self.largest is not None:
                return None  # "the longest" of what is not there
        if found is None:
            return None
        self._use_nouns()
        unread = self.read.unread()
        doubts = list(self.read.doubts)
        if unread:
            words = ", ".join(f"“{word}”" for word in dict.fromkeys(unread))
            doubts.append(tr("Not understood: {words}.", words=words))
        known = len(self.read.used)
        if len(unread) > max(1, known):
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
            unread=len(unread) + 0.5 * any(item.is_id and not item.is_unique for item in self.told),
        )

    def _use_nouns(self) -> None:
        """Take words as read that only name the rows, or columns that are part of the query."""
        said = [*self.told, *self.group, *(item.field for item in self.read.filters if item.field)]
        hints = verb_hints(self.read)
        for at, word in enumerate(self.words):
            named = self.read.mention_at(at)
            persons = word.stem in PERSON_STEMS and self.relation.label is not None
            if (
                word.stem in self.relation.nouns | self.relation.others
                or persons
                or (named and {named.field, *named.rivals} & {*said})
                or any(place == at and {*found} & {*said} for place, found in hints)
                or any(
                    word.text in UNIT_NAMES and UNIT_NAMES[word.text] in item.units for item in said
                )
            ):
                self._use(at)

    def _grouped(self, value: str, told: str, column: TableColumn | None) -> TableQuery:
        """A value, for each group if there are groups."""
        keys = self._keys()
        if not keys:
            sql = f"SELECT {value} AS value FROM {self.relation.sql}{self.where}"
            return TableQuery(sql, Shape.VALUE, f"{told}{self._where_told()}", (column,))
        named = ", ".join(name for _, name, _ in keys)
        chosen = ", ".join(f'{sql} AS "{name}"' for sql, name, _ in keys)
        numbers = ", ".join(str(at) for at in range(1, len(keys) + 1))
        order = numbers if self.grain else f"{len(keys) + 1} DESC NULLS LAST, {numbers}"
        sql = (
            f"SELECT {chosen}, {value} AS value FROM {self.relation.sql}"
            f"{self._where(f'{keys[0][0]} IS NOT NULL')} GROUP BY {numbers} ORDER BY {order}"
        )
        return TableQuery(
            sql, Shape.GROUPS,
            tr("{value} for each {names}", value=told, names=named) + self._where_told(),
            (*(column for _, _, column in keys), column), grain=self.grain,
        )  # fmt: skip

    def _share(self) -> TableQuery | None:
        """ "What percentage of the orders were returned"."""
        asked = [at for at, word in enumerate(self.texts) if word in
                 ("percentage", "percent", "share", "proportion", "fraction")
                 and at not in self.read.used]  # fmt: skip
        if not asked or not self.read.filters:
            return None
        named = self.read.mention_at(asked[0])
        if named and named.score >= 2:
            return None
        self._use(asked[0])
        verbs = [word.start for word in self.words[asked[0] + 1 :]
                 if word.text in AUXILIARIES | _sharing]  # fmt: skip
        counted = [it for it in self.read.filters if verbs and it.start >= verbs[0]]
        counted = counted or self.read.filters[-1:]
        whole = [item for item in self.read.filters if item not in counted]
        _, what, field = self._noun(asked[0] + 1)
        measure = field if what == "column" else self._measure()
        measure = measure if measure and measure.adds_up else None
        part = " AND ".join(f"({item.sql})" for item in counted)
        added = f"sum({measure.sql})" if measure else "count(*)"
        value = f"100.0 * {added} FILTER ({part}) / nullif({added}, 0)"
        self.read.filters = whole
        part_told = both(*(item.told for item in counted))
        told = tr("share where {conditions}", conditions=part_told)
        if measure:
            told = tr("share of {name} where {conditions}", name=measure.name, conditions=part_told)
        query = self._grouped(value, told, TableColumn("%", ColumnType.NUMBER, unit="%"))
        self.read.filters = [*whole, *counted]
        return query

    def _having(self) -> TableQuery | None:
        """ "Which customers have more than 5 orders"."""
        found = re.search(
            r"\b(?:more than|over|at least|fewer than|less than|exactly|at most) (\d+) (\w+)",
            self.read.text,
        )
        if not found or stem(found[2]) not in self.relation.nouns - {stem("row")}:
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
        signs = {"more than": ">", "over": ">", "at least": ">=", "fewer than": "<",
                "less than": "<", "exactly": "=", "at most": "<="}  # fmt: skip
        sign = signs[found[0].rsplit(" ", 2)[0]]
        inside = range(*found.span())
        self.read.filters = [it for it in self.read.filters if it.start not in inside]
        self.read.use(*found.span())
        sql = (
            f'SELECT {named.sql} AS "{named.name}", count(*) AS value FROM {self.relation.sql}'
            f"{self._where(f'{named.sql} IS NOT NULL')} "
            f"GROUP BY 1 HAVING count(*) {sign} {found[1]} ORDER BY 2 DESC, 1"
        )
        told = f"{named.name}: {found[0]}{self._where_told()}"
        if self.texts[which] == "many":
            told = f"{tr(DIFFERENT, name=named.name)}: {found[0]}{self._where_told()}"
            return TableQuery(f"SELECT count(*) FROM ({sql})", Shape.VALUE, told, (None,))
        return TableQuery(sql, Shape.GROUPS, told, (named.column, None))

    def _best(self) -> TableQuery | None:
        """The largest or smallest of something."""
        if self.largest is None:
            return None
        subject, grain = self._subject()
        measure: TableField | None = None
        date_wanted = self.hint == "date"
        counts = self.hint == "#"
        if self.hint and not counts and not date_wanted:
            measure = self._hinted_measure()
        if measure is None and not counts and not date_wanted:
            counted = self._counts_after()
            if counted:
                counts = True
                sold = re.search(
                    r"\b(?:sold|bought|ordered|shipped|sells?|buys?)\b", self.read.text
                )
                if sold and (units := hinted(self.read, "units quantity qty")):
                    counts, measure = False, units[0]
            else:
                measure = self._measure(self.best_at + 1) or self._only_measure()
        if date_wanted and measure is None:
            named = self._measure_named_after(self.best_at)
            measure = (
                named
                or self._dated()
                or next((item for item in self.relation.fields if item.is_year), None)
            )
        if subject is None and not grain and self.group and len(self.group) == 1 and not measure:
            subject = self.group.pop()
        if counts:
            return self._most_frequent(subject, grain)
        if measure is None:
            return self._most_different(subject)
        self.told.append(measure)
        keys = self._keys()
        if keys and subject is None and not grain:
            function = self.aggregate or ("max" if self.largest else "min")
            return self._grouped(
                f"{function}({measure.sql})", called(function, measure.name), measure.column
            )
        return self._best_of(measure, subject, grain)

    def _best_of(self, measure: TableField, subject: TableField | None, grain: str) -> TableQuery:
        where_not_null = f"{measure.sql} IS NOT NULL"
        order = "DESC" if self.largest else "ASC"
        word = self.texts[self.best_at]
        name = called("max" if self.largest else "min", measure.name)
        if measure.column.type is ColumnType.DATE:
            form = mark("latest {name}") if self.largest else mark("earliest {name}")
            name = tr(form, name=measure.name)
        key, shown = "", None
        if grain and (dated := self._dated()):
            key, shown = self._time_sql(grain, dated), None
        elif subject is not None:
            key, shown = subject.sql, subject.column
        grouped = bool(key) and not (subject and subject.is_unique) and not self.of_rows
        if grouped and (self.aggregate or (measure.adds_up and not self._row_noun_near())):
            function = self.aggregate or "sum"
            return self._best_group(key, function, measure, shown, order, grain)
        if not key and self.limit == 1 and self._only_value():
            function = "max" if self.largest else "min"
            label = self.relation.label
            sql = self._best_row(measure, label.sql if label else "", order, where_not_null)
            told = f"{name}{self._where_told()}"
            columns = (label.column if label else None, measure.column)
            return TableQuery(sql, Shape.BEST, told, columns)
        if not key:
            label = self.relation.label
            key, shown = (label.sql, label.column) if label else ("", None)
            grouped = bool(label and not label.is_unique)
        query = TableQuery(
            self._best_row(measure, key, order, where_not_null), Shape.BEST,
            f"{name}{self._where_told()}", (shown, measure.column), grain=grain,
        )  # fmt: skip
        if grouped and key and (grain or subject) and not self.of_rows:
            way = "avg" if not measure.adds_up else "sum"
            return replace(query, other=self._best_group(key, way, measure, shown, order, grain))
        named = any(
            it.field.is_measure and it.score >= 1.5 and it.end > self.words[self.best_at].start
            for it in self.read.mentions
        )
        if word in ("largest", "biggest", "smallest", "best", "worst") and not named:
            rivals = [item for item in hinted(self.read, self.hint) if item.is_measure]
            if len(rivals) > 1:
                other = self._best_row(rivals[1], key, order, f"{rivals[1].sql} IS NOT NULL")
                return replace(query, other=TableQuery(
                    other, Shape.BEST, called("max" if self.largest else "min", rivals[1].name),
                    (shown, rivals[1].column),
                ))  # fmt: skip
        return query

    def _best_row(self, measure: TableField, key: str, order: str, kept: str) -> str:
        chosen = f"{key} AS name, {measure.sql} AS value" if key else f"{measure.sql} AS value"
        rank = f"QUALIFY rank() OVER (ORDER BY {measure.sql} {order}) <= {self.limit}"
        distinct = "DISTINCT " if key else ""
        return (
            f"SELECT {distinct}{chosen} FROM {self.relation.sql}{self._where(kept)} {rank} "
            f"ORDER BY value {order}{', name' if key else ''}"
        )

    def _best_group(
        self, key: str, function: str, measure: TableField | None, shown: TableColumn | None,
        order: str, grain: str,
    ) -> TableQuery:  # fmt: skip
        value = f"{function}({measure.sql})" if measure else "count(*)"
        name = called(function, measure.name) if measure else tr(ROWS)
        columns = shown, measure.column if measure else None
        return self._best_value(key, value, name, columns, order, grain)

    def _best_value(
        self, key: str, value: str, name: str,
        shown: tuple[TableColumn | None, TableColumn | None], order: str, grain: str = "",
    ) -> TableQuery:  # fmt: skip
        kept = f"{key} IS NOT NULL"
        sql = (
            f"SELECT {key} AS name, {value} AS value FROM {self.relation.sql}{self._where(kept)} "
            f"GROUP BY 1 QUALIFY rank() OVER (ORDER BY value {order}) <= {self.limit} "
            f"ORDER BY value {order}, name"
        )
        told = called("max" if order == "DESC" else "min", name) + self._where_told()
        return TableQuery(sql, Shape.BEST, told, shown, grain=grain)

    def _most_frequent(self, subject: TableField | None, grain: str) -> TableQuery | None:
        order = "DESC" if self.largest else "ASC"
        if grain and (dated := self._dated()):
            return self._best_group(self._time_sql(grain, dated), "count", None, None, order, grain)
        if subject is None or subject.is_unique:
            subject = self._frequent_column()
        if subject is None:
            return None
        return self._best_group(subject.sql, "count", None, subject.column, order, "")

    def _most_different(self, subject: TableField | None) -> TableQuery | None:
        """ "Which city has the most customers": how many different entries go with each."""
        at = self.best_at + 1
        named = self.read.mention_at(at) if at < len(self.words) else None
        if subject is None or named is None or self.texts[self.best_at] not in COUNTING:
            return None
        counted = self._settled(at)
        if counted.is_measure or counted is subject:
            return None
        order = "DESC" if self.largest else "ASC"
        value = f"count(DISTINCT {counted.sql})"
        return self._best_value(
            subject.sql, value, tr(DIFFERENT, name=counted.name), (subject.column, None), order
        )

    def _frequent_column(self) -> TableField | None:
        for named in self.read.mentions:
            at = next(n for n, word in enumerate(self.words) if word.start == named.start)
            if (
                named.field.column.type is ColumnType.TEXT
                and not named.field.is_unique
                and (at not in self.read.used)
            ):
                return self._settled(at)
        texts = [
            it for it in self.relation.fields
            if it.column.type is ColumnType.TEXT and not it.is_unique
            and all(each.field is not it for each in self.read.filters)
        ]  # fmt: skip
        if not texts:
            return None
        if len(texts) > 1:
            one, other = texts[0].name, texts[1].name
            told = tr("What is counted is {name}; it may be {names} that is meant.", name=one,
                      names=other)  # fmt: skip
            self.read.doubt(told)
        return texts[0]

    def _counts_after(self) -> bool:
        """Whether rows are counted: "the most orders", "the highest number of films"."""
        most = self.texts[self.best_at] in COUNTING
        values = {item.start for item in self.read.filters if item.value}
        for at in range(self.best_at + 1, min(self.best_at + 5, len(self.words))):
            named = self.read.mention_at(at)
            exact = named and named.field.is_measure and named.score >= 1.9
            if exact and at not in self.read.used:
                return False
            if self.texts[at] in ("number", "count") and self.texts[at + 1 : at + 2] == ["of"]:
                noun = self._noun(at + 2)
                return noun[1] in ("rows", "filter")
            if most and self.words[at].stem in self.relation.nouns:
                self._use(at)
                return True
            if most and self.words[at].start in values:
                return not self._measure_after(at)
            if self.texts[at] in (*AUXILIARIES, "in", "by", "of"):
                break
        return False

    def _hinted_measure(self) -> TableField | None:
        """The column an adjective speaks of; one named after it goes first."""
        found = [item for item in hinted(self.read, self.hint) if item.is_measure]
        for at in range(len(self.words)):
            named = self.read.mention_at(at)
            if named and named.field in found and not named.rivals and named.score >= 1.5:
                return self._settled(at)
            other = named and not {named.field, *named.rivals} & {*found} and named.score >= 1.5
            if named and other and named.field.is_measure and at not in self.read.used:
                return self._measure(self.best_at + 1)
        if not found:
            return None
        word = self.texts[self.best_at]
        if len(found) > 1 and word not in (*UP, *DOWN):
            extreme = {True: {"max", "maximum", "high"}, False: {"min", "minimum", "low"}}
            fitting = [it for it in found if extreme[bool(self.largest)] & set(it.parts)]
            found = fitting or found
        for at in range(len(self.texts)):
            named = self.read.mention_at(at)
            if named and named.field is found[0] and named.score >= 1.5:
                self._use(at)
        return found[0]

    def _measure_named_after(self, at: int) -> TableField | None:
        for place in range(at + 1, min(at + 3, len(self.words))):
            named = self.read.mention_at(place)
            if named and named.field.column.type is ColumnType.DATE and named.score >= 1.5:
                return self._settled(place)
        return None

    def _subject(self) -> tuple[TableField | None, str]:
        """What is looked for: the column, or the unit of time: "which month", "who"."""
        for at, word in enumerate(self.texts):
            if word in ("which", "what", "whose", "name", "list", "show", "give"):
                if AUXILIARIES.intersection(self.texts[at + 1 : at + 2]):
                    continue
                if found := self._subject_at(at + 1, self.best_at):
                    return found
            if word in ("who", "whose"):
                return self._person(), ""
            if word == "when" and self.relation.dates:
                self._use(at)
                return None, "day"
        return self._subject_at(self.best_at + 1, len(self.words)) or (None, "")

    def _subject_at(self, start: int, end: int) -> tuple[TableField | None, str] | None:
        for at in range(start, min(start + 3, end if end > start else start + 3, len(self.words))):
            if self.texts[at].isdigit() or self.texts[at] in ("the", "of", "different", *UP, *DOWN):
                continue
            named = self.read.mention_at(at)
            grain = self._grain(at)
            dated = named and named.field.column.type is ColumnType.DATE
            sure = named and named.score >= 2
            if grain and self.relation.dates and (dated or not sure):
                self._use(at)
                return None, grain
            rows = self.words[at].stem in self.relation.nouns
            if rows and not (named and sure and not named.field.is_id):
                self._use(at)
                self.of_rows = True
                return self.relation.label, ""
            if named and not named.field.is_measure and at not in self.read.used:
                chosen = self._settled(at)
                return (None, "day") if dated else (chosen, "")
            if self.words[at].stem in PERSON_STEMS and self.relation.label:
                self._use(at)
                return self.relation.label, ""
            if self.texts[at] in AUXILIARIES or named:
                break
        return None

    def _person(self) -> TableField | None:
        names = ("name", "employee", "student", "customer", "player", "person", "author", "driver")
        texts = [it for it in self.relation.fields if it.column.type is ColumnType.TEXT]
        return next((it for word in names for it in texts if word in it.parts), self.relation.label)

    def _row_noun_near(self) -> bool:
        """Whether single rows are compared: "the largest order"."""
        near = self.words[self.best_at + 1 : self.best_at + 3]
        return any(word.stem in self.relation.nouns for word in near)

    def _only_value(self) -> bool:
        """Whether only the number is asked for: "what is the highest price"."""
        return bool(re.match(r"\W*(?:what(?:'s| is| was| are| were)|the|find|tell|give|maximum|"
                             r"minimum|highest|lowest|how)\b", self.read.text))  # fmt: skip

    def _count(self) -> TableQuery | None:
        """ "How many": rows, different entries, or a sum of what is counted in a column."""
        found = re.search(
            r"\bhow many\b|\b(?:the |total )*number of\b|\bcount(?: of)?\b", self.read.text
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
        counted = self._counted(first)
        if different and counted and counted[0] == "count(*)":
            _, _, named = self._noun(first)
            if named is not None:
                counted = f"count(DISTINCT {named.sql})", tr(DIFFERENT, name=named.name)
        if counted is None:
            if not self.read.filters and not self.group and not self.grain:
                return None
            counted = "count(*)", tr(ROWS)
        value, told = counted
        if value == "count(*)" and re.search(
            r"\b(?:sold|bought|ordered|shipped)\b", self.read.text
        ):
            units = hinted(self.read, "units quantity qty")
            if units and not self._row_noun_used(first):
                value, told = f"sum({units[0].sql})", called("sum", units[0].name)
        column = None
        for item in self.relation.fields:
            if value == f"sum({item.sql})":
                column = item.column
                self.told.append(item)
        return self._grouped(value, told, column)

    def _row_noun_used(self, first: int) -> bool:
        return any(word.stem in self.relation.nouns for word in self.words[first : first + 2])

    def _average_count(self, end: int) -> TableQuery | None:
        """ "The average number of orders per customer"."""
        first = next((n for n, word in enumerate(self.words) if word.start >= end), len(self.words))
        counted = self._counted(first)
        keys = self._keys()
        if counted is None or not keys or counted[0].startswith("sum"):
            return None
        sql = (
            f"SELECT avg(n) AS value FROM (SELECT {counted[0]} AS n FROM {self.relation.sql}"
            f"{self.where} GROUP BY {', '.join(sql for sql, _, _ in keys)})"
        )
        each = tr("{value} for each {names}", value=counted[1], names=keys[0][1])
        told = called("avg", each) + self._where_told()
        return TableQuery(sql, Shape.VALUE, told, (None,))

    def _value(self) -> TableQuery | None:
        """A sum, an average, or the value of some row."""
        if self.read.filters and _traded.match(self.read.text):
            goods = [item for item in hinted(self.read, _goods) if not item.is_measure]
            self.looked_up = goods[0] if goods else None
            if goods:
                return None
        much = "how much" in self.read.text
        measure = self._measure(self.aggregate_at + 1 if self.aggregate_at >= 0 else 0)
        if measure is None and (self.aggregate or much):
            measure = self._only_measure()
        if measure is None:
            return self._counted_groups()
        function = self.aggregate
        keys = bool(self.group or self.grain)
        if not function and re.match(
            r"\W*(?:which|who|list|what \w+s? (?:cost|ha))\b", self.read.text
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
        self.told.append(measure)
        return self._grouped(
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
            return self._grouped(f"sum({amount.sql})", called("sum", amount.name), amount.column)
        return self._grouped("count(*)", tr(ROWS), None)

    def _few_values(self, measure: TableField) -> bool:
        """Whether the conditions leave so few rows that their own values are asked for."""
        return bool(self.read.filters) and self._values(measure) <= FEW_VALUES

    def _values(self, field: TableField) -> int:
        """How many different values the rows that meet the conditions have."""
        sql = f"SELECT count(DISTINCT {field.sql}) FROM {self.relation.sql}{self.where}"
        return int(self._db.rows(sql, 1)[1][0][0])

    def _listed(self) -> TableQuery | None:
        """Entries or rows that meet the conditions: a look-up, or a list."""
        wanted = [self.looked_up] if self.looked_up else []
        row_asked = False
        filtered = [item.field for item in self.read.filters]
        for at, word in enumerate(self.words):
            named = self.read.mention_at(at)
            if at in self.read.used:
                continue
            if word.text in ("who", "whose") and (person := self._person()) not in filtered:
                wanted += [person] if person else []
            elif word.text == "when" and self.relation.dates:
                dated = self._dated()
                wanted += [dated] if dated else []
            elif word.text == "where":
                wanted += hinted(self.read, "city country place location address town")[:1]
            elif word.stem in self.relation.nouns and not (named and named.score >= 2):
                row_asked = True
                self._use(at)
            elif named and named.score >= 1.4 and word.text not in FUNCTION_WORDS:
                wanted.append(self._settled(at))
        wanted += [found[0] for at, found in verb_hints(self.read) if at not in self.read.used
                   and self.texts[at] in ("old", "tall", "long", "heavy", "big", "large", "cost",
                                          "expensive", "earn", "weigh", "far", "high",
                                          "paid")]  # fmt: skip
        for at, _ in verb_hints(self.read):
            self._use(at)
        wanted = list(dict.fromkeys(wanted))
        if re.match(
            r"\W*(?:is|are|was|were) there\b|\W*(?:does|do|did|has|have) any", self.read.text
        ):
            if self.read.filters:
                sql = f"SELECT count(*) FROM {self.relation.sql}{self.where}"
                return TableQuery(sql, Shape.EXISTS, "", (None,))
            return None
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
            wanted = list(self.relation.fields)
        self.told += wanted
        shown = wanted
        if len(wanted) == 1 and label and label not in wanted and not self._names_row():
            alike = self._values(wanted[0]) == 1
            shown = [label, *wanted] if wanted[0].is_measure and not alike else wanted
        chosen = ", ".join(f'{item.sql} AS "{item.name}"' for item in shown)
        kept = [f"{wanted[0].sql} IS NOT NULL"] if len(wanted) == 1 else []
        sql = f"SELECT DISTINCT {chosen} FROM {self.relation.sql}{self._where(*kept)} ORDER BY ALL"
        told = f"{', '.join(item.name for item in shown)}{self._where_told()}"
        return TableQuery(sql, Shape.ROWS, told, tuple(item.column for item in shown))

    def _names_row(self) -> bool:
        label = self.relation.label
        return bool(label and label.is_unique) and any(
            item.field is label and item.value and "\0" not in item.value
            for item in self.read.filters
        )
