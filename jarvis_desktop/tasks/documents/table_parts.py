"""The parts of a question about a table: what is looked for, measured, counted and grouped.

Each part marks its words as read; `table_question.py` puts the parts together.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from jarvis_desktop.core.i18n import both, mark, tr
from jarvis_desktop.tasks.documents.table_database import TableColumn, TableDatabase
from jarvis_desktop.tasks.documents.table_query import Shape, TableQuery
from jarvis_desktop.tasks.documents.table_words import (
    ADJECTIVES,
    CONVERSIONS,
    DOWN,
    GRAINS,
    PERSON_STEMS,
    UNIT_NAMES,
    UP,
    ReadWords,
    TableField,
    hinted,
    in_direction,
    strength,
    verb_hints,
)
from jarvis_desktop.text.tokens import FUNCTION_WORDS, stem

_each_time = {"monthly": "month", "yearly": "year", "annual": "year", "weekly": "week",
              "daily": "day", "quarterly": "quarter", "hourly": "hour"}  # fmt: skip
FEW_VALUES = 3
"""Different values of a column that are listed if neither a sum nor an average is asked for."""

AGGREGATES = {
    "average": "avg", "mean": "avg", "avg": "avg", "averages": "avg", "total": "sum", "sum": "sum",
    "totals": "sum", "overall": "sum", "combined": "sum", "altogether": "sum", "median": "median",
    "typical": "avg", "typically": "avg", "usual": "avg", "usually": "avg", "normally": "avg",
}  # fmt: skip
_called = {
    "avg": mark("average of {name}"), "sum": mark("sum of {name}"), "max": mark("highest {name}"),
    "median": mark("median of {name}"), "min": mark("lowest {name}"),
    "stddev_samp": mark("standard deviation of {name}"),
}  # fmt: skip
_grain_names = {
    "year": mark("year"), "quarter": mark("quarter"), "month": mark("month"), "day": mark("day"),
    "week": mark("week"), "weekday": mark("weekday"), "hour": mark("hour"),
}  # fmt: skip
SAID = 0.9
"""How surely a word stands for a part of a name that is said."""
ROWS = mark("number of rows")
DIFFERENT = mark("number of different values of {name}")
_BEFORE_ADJECTIVE = frozenset("most least highest best top lowest more".split())
_AFTER_MOST = frozenset("expensive costly populous popular profitable recent common frequent often "
                        "recently frequently rated paid".split())  # fmt: skip
AUXILIARIES = frozenset(
    "is are was were did does do has have had can will would should get got make made".split()
)
_money = frozenset(
    map(stem, "expense spending cost sale payment income donation purchase earning".split())
)
"""Words for rows that each have an amount."""
_NO_SUPERLATIVES = frozenset(
    "interest request forest harvest honest invest protest contest suggest digest arrest".split()
)
COMPARE = frozenset(("compare", "comparing", "versus", "vs", "respectively"))
_group_words = frozenset(("per", "by", "each", "every", "across"))
_before_group = frozenset(("each", "every", "the", "different"))


def called(function: str, name: str) -> str:
    """Return an aggregate of a column in words: "sum of revenue"."""
    return tr(_called[function], name=name)


class QuestionParts:
    """Finds the parts of one question."""

    def __init__(self, read: ReadWords, db: TableDatabase) -> None:
        self.read = read
        self._db = db
        self.words = read.words
        self.relation = read.relation
        self.texts = [word.text for word in read.words]
        self.told: list[TableField] = []
        self.group: list[TableField] = []
        self.grain = ""
        self.looked_up: TableField | None = None
        """The measure of which single values are asked for."""
        self.limit, self.hint, self.best_at = 1, "", -1
        self.largest: bool | None = None
        """Whether the largest or the smallest is asked for; None if neither."""
        self.aggregate, self.aggregate_at = "", -1
        self.ungrouped = False
        """Whether the question has groups that the table does not: "goals per team"."""
        self.guessed_best = False
        """Whether the column of an adjective was guessed: "the most generous donor"."""
        self.by_unit = False
        """Whether the measure was named by its unit: "how many kilometres"."""
        self.of_rows = False
        """Whether single rows are looked for: "the largest order"."""

    @property
    def where(self) -> str:
        """The conditions in SQL, as a clause; "" if there are none."""
        return self._where()

    def _where(self, *more: str) -> str:
        parts = [f"({item.sql})" for item in self.read.filters] + [item for item in more if item]
        return f" WHERE {' AND '.join(parts)}" if parts else ""

    def where_told(self) -> str:
        """The conditions in words, as a clause; "" if there are none."""
        told = [item.told for item in self.read.filters]
        return tr(", where {conditions}", conditions=both(*told)) if told else ""

    def _use(self, *places: int) -> None:
        self.read.take(*places)

    def _superlative(self) -> tuple[int, bool | None, str, int]:
        """How many, whether the largest, the hint for the column, and the word; None if none."""
        at = next((n for n in range(len(self.texts)) if self._is_superlative(n)), -1)
        if at < 0:
            return 1, None, "", -1
        word, before = self.texts[at], self.texts[at - 1] if at else ""
        largest, hint = ADJECTIVES.get(word, (word in UP, ""))
        if word in UP or word in DOWN:
            largest = word in UP
        if word in ("first", "last") and not (self.relation.dates or self.relation.clocks):
            largest, hint = word == "first", "points score"
        if word in _AFTER_MOST:
            largest = largest != (before in ("least", "lowest"))
            self._use(at - 1)
        self._use(at)
        near = [*range(max(0, at - 2), at), *range(at + 1, min(at + 3, len(self.texts)))]
        for place in near:
            number = self.texts[place]
            far = place < at - 1 and before not in ("most", "least", "best", "top")
            if number.isdigit() and place not in self.read.used:
                if 0 < int(number) <= 1000 and not far:
                    self._use(place)
                    return int(number), largest, hint, at
        return 1, largest, hint, at

    def _is_superlative(self, at: int) -> bool:
        word = self.texts[at]
        before, after = (
            self.texts[n] if 0 <= n < len(self.texts) else "" for n in (at - 1, at + 1)
        )
        start, end = self.words[at].start, self.words[at].end
        if at in self.read.used:
            return False
        if word in _AFTER_MOST:
            return before in _BEFORE_ADJECTIVE
        if word in ("most", "least") and (after in _AFTER_MOST or before == "at"):
            return False
        if word in ("last", "next") and self._grain(at + 1):
            return False
        if word in ("first", "last") and not (self.relation.dates or self.relation.clocks):
            return before in ("came", "come", "finished", "finish", "is", "was")
        if "_" in (self.read.text[start - 1 : start], self.read.text[end : end + 1]):
            return False  # of a column's name, as in temp_max
        named = self.read.mention_at(at)
        if self._is_unknown_superlative(at):
            return True
        return word in UP | DOWN or (
            word in ADJECTIVES and not (named is not None and named.score >= 2)
        )

    def _is_unknown_superlative(self, at: int) -> bool:
        """Whether a word looks like a superlative that no list has: "the spiciest"."""
        word = self.texts[at]
        unknown = word not in ADJECTIVES and word not in _NO_SUPERLATIVES and len(word) > 5
        return unknown and word.endswith("est") and self.read.mention_at(at) is None

    def _aggregate(self) -> tuple[str, int]:
        for at, word in enumerate(self.texts):
            if at in self.read.used:
                continue
            if word == "deviation":
                self._use(at, at - 1)
                return "stddev_samp", at
            named = self.read.mention_at(at)
            # "The total" alone is a column of that name.
            column = named and named.field.parts == (word,) and not self._measure_after(at)
            if word in AGGREGATES and not column:
                self._use(at)
                if word != "total" or self.texts[at + 1 : at + 2] != ["number"]:
                    return AGGREGATES[word], at
        return "", -1

    def _measure_after(self, at: int) -> TableField | None:
        for place in range(at + 1, min(at + 5, len(self.words))):
            named = self.read.mention_at(place)
            if named and named.field.is_measure and place not in self.read.used:
                return named.field
        return None

    def _group(self) -> tuple[list[TableField], str]:
        """The columns that the rows are grouped by, and the unit of time."""
        groups: list[TableField] = []
        grain = ""
        for place, word in enumerate(self.texts):
            if place in self.read.used:
                continue
            if word in _each_time and self.relation.dates:
                timed = any(item.column.timed for item in self.relation.dates)
                grain = "" if word == "hourly" and not timed else _each_time[word]
                self._use(place)
            at = place + 1 if word in _group_words else len(self.texts)
            while self.texts[at : at + 1] and self.texts[at] in _before_group:
                at += 1
            while at < len(self.texts):
                single, named = self._grain(at), self.read.mention_at(at)
                rows = word != "by" and self.words[at].stem in self.relation.nouns
                end = at
                if single and any(f"{single}ly" in item.parts for item in self.relation.fields):
                    self._use(place, at)  # "pay per month", of a column of monthly pay
                    break
                sure = named and named.score >= 2 and named.field not in self.relation.dates
                if single and self.relation.dates and not sure:
                    grain = single
                elif single and named and named.field.is_year:
                    groups.append(named.field)
                elif named and named.field.is_id and named.field.is_unique:
                    self._use(place, at)  # "per order": the rows are orders already
                    break
                elif named and self._groups_by(named.field, word):
                    groups.append(self._settled(at, groups_by=True))
                    while end + 1 < len(self.words) and (
                        (more := self.read.mention_at(end + 1)) and more.field is groups[-1]
                    ):
                        end += 1
                else:
                    self._use(*((place, at) if rows else ()))
                    known = rows or at in self.read.used or self.texts[at] in FUNCTION_WORDS
                    if not known and not single and word != "by" and not self.texts[at].isdigit():
                        self.ungrouped = True
                    break
                self._use(place, *range(at, end + 1))
                at = end + 2
                if self.texts[end + 1 : at] != ["and"] or at >= len(self.texts):
                    break
                if not (self._grain(at) or self.read.mention_at(at)):
                    break
        several = next((it for it in self.read.filters if it.value.count("\0")), None)
        if several and several.field and not groups and not grain and COMPARE & {*self.texts}:
            self._use(*(at for at, word in enumerate(self.texts) if word in COMPARE))
            groups.append(several.field)
        return groups, grain

    def _groups_by(self, field: TableField, word: str) -> bool:
        if field.is_measure:
            few = field.column.whole and field.column.distinct <= min(20, self.relation.rows / 2)
            return word != "by" and field.column.distinct < 50 and (few or not field.adds_up)
        return True

    def _grain(self, at: int) -> str:
        if at >= len(self.words):
            return ""
        word = self.texts[at]
        plain = word.removesuffix("s")
        if plain == "day" and self.texts[at + 1 : at + 4] == ["of", "the", "week"]:
            self._use(at + 1, at + 2, at + 3)
            return "weekday"
        return plain if plain in GRAINS else ""

    def _settled(self, at: int, *, groups_by: bool = False) -> TableField:
        """The column of the mention at a word; a second one that fits as well is a doubt."""
        named = self.read.mention_at(at)
        assert named is not None
        chosen, rivals = named.field, named.rivals
        if rivals:

            def fits(item: TableField) -> bool:
                return item.is_measure != groups_by and not (groups_by and item.is_id)

            fitting = [item for item in (chosen, *rivals) if fits(item)] or [chosen, *rivals]
            fitting = in_direction(fitting, self.read)
            # Other words of the question may settle it: "sold the most tickets".
            fitting = self._best_named(fitting, at)
            if len(fitting) > 1:
                self.read.doubt(
                    tr(
                        "“{word}” is read as {name}; it may be {names}.",
                        word=self.texts[at],
                        name=fitting[0].name,
                        names=", ".join(item.name for item in fitting[1:3]),
                    )
                )
            chosen = fitting[0]
        self._use(at)
        chosen = self._more_exact(chosen, at)
        if chosen.is_money and not chosen.made and (other := self._other_money(chosen, at)):
            if self.texts[at] in ("cost", "costs") and {"total", "amount", "price"} & {
                *other.parts
            }:
                chosen, other = other, chosen  # "what does a repair cost", of parts_cost and total
            self._doubt_rival(self.texts[at], chosen, other)
        chosen = self.relation.names.get(chosen.sql, chosen)
        self.told.append(chosen)
        return chosen

    def _best_named(self, fields: list[TableField], at: int) -> list[TableField]:
        """Those of some columns of which the most parts are said; where things are counted, no
        price."""
        before = self.texts[max(0, at - 2) : at]
        if {"many", "most", "fewest", "fewer", "number"} & {*before}:
            fields = [it for it in fields if not it.is_money] or fields
        others = [word for place, word in enumerate(self.words) if place != at]
        said = [sum(any(strength(w, part) >= SAID for w in others) for part in it.parts)
                for it in fields]  # fmt: skip
        return [it for it, count in zip(fields, said, strict=True) if count == max(said)]

    def _other_money(self, chosen: TableField, at: int) -> TableField | None:
        """Another column of money that a word may mean as well, if only a part of the chosen one's
        name is said: "cost" of parts_cost, beside a total."""
        said = [part for part in chosen.parts if any(strength(it, part) for it in self.words)]
        others = (it for it in self.relation.fields if it.adds_up and it is not chosen)
        return next(
            (
                it
                for it in others
                if len(said) < len(chosen.parts)
                and any(strength(self.words[at], part) for part in it.parts)
            ),
            None,
        )

    def _doubt_rival(self, word: str, chosen: TableField, other: TableField) -> None:
        told = tr("“{word}” is read as {name}; it may be {names}.", word=word, name=chosen.name,
                  names=other.name)  # fmt: skip
        self.read.doubt(told)

    def _more_exact(self, chosen: TableField, at: int) -> TableField:
        """The column that was made of the chosen one, if other words speak of that: "free beds"."""
        for item in self.relation.fields if chosen.is_measure else ():
            if not item.made or not {*item.parts} & {*chosen.parts}:
                continue
            own = {*item.parts} - {*chosen.parts}
            places = [n for n, word in enumerate(self.texts) if word in own and n != at]
            if places:
                self._use(*places)
                return item
        return chosen

    def measure(self, start: int = 0) -> TableField | None:
        """The column of numbers that the question names, after a word at first."""
        if chosen := self._by_unit():
            return chosen
        places = [*range(max(start, 0), len(self.words)), *range(max(start, 0))]
        filtered = {item.field for item in self.read.filters if not item.value}
        found: list[tuple[float, int, int]] = []
        for rank, at in enumerate(places):
            named = self.read.mention_at(at)
            if named is None or at in self.read.used:
                continue
            fits = [
                it for it in (named.field, *named.rivals) if it.is_measure and it not in self.group
            ]
            if fits:
                found.append((-named.score if rank < len(places) - start else 0.0, rank, at))
        if not found:
            return self._verb_measure(filtered)
        _, _, at = min(found)
        chosen = self._settled(at)
        for other in range(len(self.words)):
            more = self.read.mention_at(other)
            if more and (more.field is chosen or chosen in more.rivals):
                self._use(other)
        return chosen

    def _by_unit(self) -> TableField | None:
        """The column in the unit that is asked for: "how many kg", or in one of the same kind."""
        for at in range(1, len(self.texts)):
            unit = UNIT_NAMES.get(self.texts[at], "")
            if not unit or self.texts[at - 1] not in ("much", "many", "more", "fewer", "less"):
                continue
            measures = [it for it in self.relation.fields if it.is_measure and not it.made]
            fits = [it for it in measures if unit in it.units]
            for item in () if fits else measures:
                for factor in (CONVERSIONS.get((own, unit)) for own in item.units):
                    name = tr("{name} in {unit}", name=item.name, unit=self.texts[at])
                    column = replace(item.column, name=name, whole=False)
                    sql = f"({item.sql} * {factor!r}::DOUBLE)"
                    fits += [replace(item, column=column, sql=sql, made=True)] if factor else []
            if len(fits) == 1:
                self._use(at, *(n for n, _ in verb_hints(self.read)))
                self.by_unit = True
                return fits[0]
        return None

    def _verb_measure(self, filtered: Collection[TableField | None]) -> TableField | None:
        """The column that a verb speaks of: "how much did we sell"."""
        for at, found in verb_hints(self.read):
            fitting = [item for item in found if item not in filtered]
            if not fitting:
                continue
            self._use(at)
            money = [item for item in fitting if item.parts[-1] not in ("units", "quantity", "qty")]
            if "how much" in self.read.text:
                total = [it for it in hinted(self.read, "total amount value") if it.is_money]
                fitting = money or total or fitting
            if len(found) > 1:
                self.read.doubt(
                    tr(
                        "“{word}” is read as {name}; there is {names} as well.",
                        word=self.texts[at],
                        name=fitting[0].name,
                        names=both(*(it.name for it in found if it is not fitting[0])),
                    )
                )
            return fitting[0]
        return None

    def _money_measure(self) -> TableField | None:
        """The column of amounts that "expenses per month" adds up, though each row is one."""
        if not any(word.stem in _money for word in self.words):
            return None
        found = [item for item in hinted(self.read, "amount total sum price value") if item.adds_up]
        return found[0] if found else None

    def only_measure(self) -> TableField | None:
        """The only column of numbers that measure something; of several, the only one of money if
        "how much" is asked."""
        measures = [item for item in self.relation.fields if item.is_measure and not item.made]
        if measures[1:] and "how much" in self.read.text and not self.read.unread():
            money = [item for item in measures if item.is_money and item.adds_up]
            measures = in_direction(money, self.read)
        return measures[0] if len(measures) == 1 else None

    def _noun(self, start: int) -> tuple[int, str, TableField | None]:
        """The noun after "how many", "which" and the like: where it is; whether it is the "rows",
        a "column", a "filter" that was read already, or ""."""
        for at in range(start, min(start + 5, len(self.words))):
            word = self.words[at]
            if word.text in AUXILIARIES and at > start:
                break
            read_already = any(
                item.start <= word.start < item.start + 60
                and at in self.read.used
                and item.field
                and item.value
                for item in self.read.filters
            )
            if at in self.read.used and read_already:
                return at, "filter", None
            named = self.read.mention_at(at)
            if self.is_row_noun(at):
                self._use(at)
                return at, "rows", named.field if named else None
            if named and at not in self.read.used:
                return at, "column", self._settled(at)
            if word.stem in PERSON_STEMS and self.relation.label:
                self._use(at)
                return at, "rows", None
            if word.text in FUNCTION_WORDS:
                if word.text in ("in", "from", "with", "that", "there", "of") and at > start:
                    break
                continue
        return start, "", None

    def _asks_when(self, at: int) -> bool:
        """Whether a word asks for a time: not in "the score when they played"."""
        before = self.texts[at - 1 : at]
        return self.texts[at].startswith("when") and before in ([], ["and"], ["or"], ["me"])

    def is_row_noun(self, at: int) -> bool:
        """Whether a word is one for the rows, rather than the name of a column."""
        word, named = self.words[at], self.read.mention_at(at)
        column = (
            named and len(named.field.parts) == 1 and named.score >= 2 and not named.field.is_id
        )
        if named and column and word.stem == self.relation.head:  # few flights have the same number
            column = named.field.column.distinct < self.relation.rows / 2
        return word.stem in self.relation.nouns and not column

    def _dated(self) -> TableField | None:
        """The column of dates that is meant."""
        dates = self.relation.dates
        for item in self.read.filters:
            if item.field in dates:
                return item.field
        for named in self.read.mentions:
            if named.field in dates:
                return named.field
        if len(dates) > 1:
            self.read.doubt_time(dates)
        return dates[0] if dates else None

    def _time_sql(self, grain: str, item: TableField) -> str:
        at = item.sql
        forms = {"weekday": f"dayname({at})", "hour": f"hour({at})", "year": f"year({at})",
                 "day": f"{at}::DATE", "week": f"date_trunc('week', {at})::DATE",
                 "month": f"strftime({at}, '%Y-%m')",
                 "quarter": f"year({at}) || '-Q' || quarter({at})"}  # fmt: skip
        return forms[grain]

    def _keys(self) -> list[tuple[str, str, TableColumn | None]]:
        """The SQL, the name and the column of each group."""
        keys: list[tuple[str, str, TableColumn | None]] = [
            (item.sql, item.name, item.column) for item in self.group
        ]
        dated = self._dated() if self.grain else None
        if self.grain and dated:
            sql = self._time_sql(self.grain, dated)
            keys.insert(0, (sql, tr(_grain_names[self.grain]), None))
        return keys

    def _is_single(self, key: str) -> bool:
        """Whether there is one row at most for each value of a key."""
        sql = f"SELECT count({key}) = count(DISTINCT {key}) FROM {self.relation.sql}{self.where}"
        return bool(self._db.rows(sql, 1)[1][0][0])

    def _counted(self, start: int) -> tuple[str, str] | None:
        """What is counted after "how many": the SQL and the words."""
        if unit := self._by_unit():
            return f"sum({unit.sql})", called("sum", unit.name)
        _, what, named = self._noun(start)
        if what == "rows" or what == "filter":
            return "count(*)", tr(ROWS)
        if what == "column" and named is not None:
            if named.is_measure:
                return f"sum({named.sql})", called("sum", named.name)
            if named.is_unique:
                return "count(*)", tr(ROWS)
            return f"count(DISTINCT {named.sql})", tr(DIFFERENT, name=named.name)
        return None

    def grouped(self, value: str, told: str, column: TableColumn | None) -> TableQuery:
        """A value, for each group if there are groups."""
        keys = self._keys()
        if (
            value.startswith("avg(")
            and self.grain
            and len(keys) == 1
            and self._is_single(keys[0][0])
        ):
            keys = []  # "the average bill per month", of a row for each month
        if not keys:
            sql = f"SELECT {value} AS value FROM {self.relation.sql}{self.where}"
            return TableQuery(sql, Shape.VALUE, f"{told}{self.where_told()}", (column,))
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
            tr("{value} for each {names}", value=told, names=named) + self.where_told(),
            (*(column for _, _, column in keys), column), grain=self.grain,
        )  # fmt: skip
