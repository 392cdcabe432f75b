"""The largest and smallest that a question asks for: rows, groups, times, and the most frequent."""

from __future__ import annotations

import re
from dataclasses import replace

from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.tasks.documents.table_database import ColumnType, TableColumn
from jarvis_desktop.tasks.documents.table_meaning import LOOSE, nearest
from jarvis_desktop.tasks.documents.table_parts import (
    AUXILIARIES,
    DIFFERENT,
    ROWS,
    QuestionParts,
    called,
)
from jarvis_desktop.tasks.documents.table_query import Shape, TableQuery
from jarvis_desktop.tasks.documents.table_relations import birth_of
from jarvis_desktop.tasks.documents.table_words import (
    DOWN,
    PERSON_STEMS,
    UP,
    TableField,
    hinted,
    verb_hints,
)
from jarvis_desktop.text.tokens import FUNCTION_WORDS

MAX_NAMING = 4
"""Columns that describe a row without a name."""
_HARMS = frozenset(
    "delay late lateness wait waiting absent absence absences missed cost costs price expense fine "
    "error errors defect defects fault faults complaint complaints loss losses out".split()
)
"""Of these, much is bad."""
COUNTING = ("most", "least", "fewest")
_spent_on = re.compile(r"\W*what (?:do|did|does|have) .*\b(?:most|least)\b[^,]*\b(?:on|for)\W*$")
_sizes = frozenset((*COUNTING, "biggest", "largest", "smallest", "popular"))


class Extremes(QuestionParts):
    """Finds what is the largest or the smallest."""

    def best(self) -> TableQuery | None:
        """The largest or smallest of something."""
        if self.largest is None:
            return None
        subject, grain = self._subject()
        if subject is None and not grain and _spent_on.search(self.read.text):
            kinds = hinted(self.read, "category kind type item product article for payee")
            subject = next((it for it in kinds if it.column.type is ColumnType.TEXT), None)
        measure: TableField | None = None
        date_wanted = self.hint == "date"
        if "#" in self.hint and not hinted(self.read, self.hint):
            self.hint = "#"
        counts = self.hint == "#"
        if counts and (measure := self._done_often()):
            counts = False
        birth = birth_of(self.relation.fields) if self.hint == "age" else None
        if self.hint and not (counts or date_wanted or birth or measure):
            measure = self._hinted_measure()
        group = subject is not None and not subject.is_unique
        if measure and group and not measure.adds_up and self.texts[self.best_at] in _sizes:
            return self._most_rows(subject)  # "the biggest team", of a table with heights
        if measure is None and not counts and not date_wanted and self.hint != "age":
            counted = self._counts_after()
            if counted:
                counts = True
                sold = re.search(
                    r"\b(?:sold|bought|ordered|shipped|sells?|buys?)\b", self.read.text
                )
                if sold and (units := hinted(self.read, "units quantity qty")):
                    counts, measure = False, units[0]
            else:
                if different := self._most_different(subject):
                    return different
                measure = self.measure(self.best_at + 1) or self.only_measure() or self._worth()
                if measure is None and subject and subject.is_unique:  # "do we have the most of"
                    held = hinted(self.read, "stock quantity qty units pieces inventory count")
                    measure = next((item for item in held if item.is_measure), None)
        if measure is None and self.hint == "speed" and (took := self._time_taken()):
            measure, self.largest = took, not self.largest
        if birth is not None:
            measure, self.largest = birth, not self.largest
        elif self.hint == "age" and measure is None and self.relation.dates:
            date_wanted, self.largest = True, not self.largest  # the oldest order
        if measure is None and self.texts[self.best_at] in ("longest", "shortest"):
            begun = hinted(self.read, "start hired joined hire since entry began")
            begun = [item for item in begun if item in self.relation.dates]
            if begun and subject is not None:  # "who has been with us the longest"
                measure, self.largest = begun[0], not self.largest
        if date_wanted and measure is None:
            named = self._measure_named_after(self.best_at)
            measure = (
                named
                or self._dated()
                or next(iter(self.relation.clocks), None)
                or next((item for item in self.relation.fields if item.is_year), None)
            )
        if subject is None and not grain and self.group and len(self.group) == 1 and not measure:
            subject = self.group.pop()
        if counts and subject is not None and not grain and len(self._keys()) == 1:
            return self._best_of_each(None, subject, tr(ROWS))
        if counts:
            return self._most_frequent(subject, grain)
        if measure is None and not date_wanted:
            found = self._most_rows(subject)
            if found or not (measure := self._guessed_measure()):
                return found
        if measure is None:
            return None
        if self.texts[self.best_at] in ("best", "worst") and _HARMS & {*measure.parts}:
            self.largest = not self.largest  # the worst delay is the longest
        if measure.parts == ("difference",):
            measure = replace(measure, sql=f"abs({measure.sql})")
        self.told.append(measure)
        keys = self._keys()
        if keys and subject is None and not grain:
            function = self.aggregate or ("max" if self.largest else "min")
            return self.grouped(
                f"{function}({measure.sql})", called(function, measure.name), measure.column
            )
        return self._best_of(measure, subject, grain)

    def _guessed_measure(self) -> TableField | None:
        """The column that an adjective means most nearly: "the most generous", "the lightest"."""
        word = self.texts[self.best_at]
        if word in ("most", "least"):
            after = self.texts[self.best_at + 1 : self.best_at + 2]
            if not after or after[0] in FUNCTION_WORDS:
                return None
            word = after[0]
            self._use(self.best_at + 1)
        plain = re.sub(r"(?:i?e)?st$", "", word)
        measures = [it for it in self.relation.fields if it.is_measure and not it.made]
        found = nearest(plain, measures, LOOSE) or self.only_measure()
        if found:
            self.guessed_best = True
            self.read.doubt(tr("“{word}” is read as {name}.", word=word, name=found.name))
        return found

    def _time_taken(self) -> TableField | None:
        """The column of how long something took, which is short for the fastest."""
        found = [
            it for it in self.relation.fields if it.is_measure and it.units & {"h", "min", "s"}
        ]
        found = [it for it in found if {"finish", "total", "time"} & {*it.parts}] or found
        if found:
            told = tr("“{word}” is read as {name}.", word=self.texts[self.best_at],
                      name=found[0].name)  # fmt: skip
            self.read.doubt(told)
        return next(iter(found), None)

    def _worth(self) -> TableField | None:
        """What makes something the best if the question has no word for it: points, or money."""
        word = self.texts[self.best_at]
        hints = ("points score rating", "profit", "takings revenue sales earned", "amount")
        for hint in hints if word in ("best", "worst", "top", "bottom") else ():
            for found in hinted(self.read, hint):
                if found.adds_up or hint is hints[0]:
                    self.read.doubt(tr("“{word}” is read as {name}.", word=word, name=found.name))
                    return found
        return None

    def _done_often(self) -> TableField | None:
        """The column that counts what a verb says: "who visited most often", of visits."""
        for at, word in enumerate(self.texts):
            named = self.read.mention_at(at)
            if word.endswith("ed") and named and named.field.is_measure and named.field.adds_up:
                return self._settled(at)
        return None

    def _best_of(self, measure: TableField, subject: TableField | None, grain: str) -> TableQuery:
        word = self.texts[self.best_at]
        name = called("max" if self.largest else "min", measure.name)
        if measure.column.type is ColumnType.DATE:
            form = mark("latest {name}") if self.largest else mark("earliest {name}")
            name = tr(form, name=measure.name)
        self.told += [subject] if subject else []
        key, shown = "", None
        if grain and (dated := self._dated()):
            key, shown = self._time_sql(grain, dated), None
        elif subject is not None:
            key, shown = subject.sql, subject.column
        if subject is not None and not grain and len(self._keys()) == 1:
            if subject in self.group:  # "the most expensive order of each city", of its cities
                function = "max" if self.largest else "min"
                return self.grouped(f"{function}({measure.sql})", name, measure.column)
            return self._best_of_each(measure, subject, measure.name)
        grouped = bool(key) and not (subject and subject.is_unique) and not self.of_rows
        if grouped and subject and self._describes(measure, key):
            grouped = False  # "the longest film", of a table of its showings
        near = {word.stem for word in self.words[self.best_at + 1 : self.best_at + 3]}
        single = near & self.relation.nouns  # "the largest order"
        if grouped and (self.aggregate or (measure.adds_up and not single)):
            good_at = self.texts[self.best_at] in ("best", "worst") and self.texts[
                self.best_at + 1 : self.best_at + 2
            ] in (["in"], ["at"])
            function = self.aggregate or ("avg" if good_at else "sum")
            return self._best_sum(function, measure, key, shown, grain)
        if not key:
            label, only = self.relation.label, self.limit == 1 and self._only_value()
            if not only and (label is None or not label.is_unique):
                return self._best_whole(measure, name)
            key, shown = (label.sql, label.column) if label else ("", None)
            grouped = False
        query = TableQuery(
            self._best_row(measure, key), Shape.BEST,
            f"{name}{self.where_told()}", (shown, measure.column), grain=grain,
        )  # fmt: skip
        if grouped:
            way = "avg" if not measure.adds_up else "sum"
            return replace(query, other=self._best_sum(way, measure, key, shown, grain))
        named = any(
            it.field.is_measure and it.score >= 1.5 and it.end > self.words[self.best_at].start
            for it in self.read.mentions
        )
        if word in ("largest", "biggest", "smallest", "best", "worst") and not named:
            rivals = [item for item in hinted(self.read, self.hint) if item.is_measure]
            if rivals[1:]:
                told = called("max" if self.largest else "min", rivals[1].name)
                sql, columns = self._best_row(rivals[1], key), (shown, rivals[1].column)
                return replace(query, other=TableQuery(sql, Shape.BEST, told, columns))
        return query

    def _describes(self, measure: TableField, key: str) -> bool:
        """Whether a column has one value for each group, of which there are several rows."""
        sql = (
            f"SELECT max(n), max(m) FROM (SELECT count(DISTINCT {measure.sql}) AS n, count(*) AS m "
            f"FROM {self.relation.sql} GROUP BY {key})"
        )
        values, rows = self._db.rows(sql, 1)[1][0]
        return bool(values == 1 < rows)

    def _best_sum(
        self, way: str, measure: TableField, key: str, shown: TableColumn | None, grain: str
    ) -> TableQuery:
        value, told = f"{way}({measure.sql})", called(way, measure.name)
        return self._best_group(key, value, told, (shown, measure.column), grain)

    def _best_of_each(
        self, measure: TableField | None, subject: TableField, name: str
    ) -> TableQuery:
        """ "The most expensive product of each category": the best within each group."""
        ((group, group_name, column),) = self._keys()
        order, name = self._order, called("max" if self.largest else "min", name)
        summed = measure is None or (measure.adds_up and not subject.is_unique and not self.of_rows)
        value = "count(*)"
        if measure is not None:
            value = f"sum({measure.sql})" if summed else measure.sql
        shown = f'{group} AS "{group_name}", {subject.sql} AS name, {value} AS value'
        kept = self._where(
            f"{measure.sql if measure else group} IS NOT NULL", f"{group} IS NOT NULL"
        )
        rank = f"rank() OVER (PARTITION BY {group} ORDER BY {value} {order}) <= {self.limit}"
        sql = (
            f"SELECT {'' if summed else 'DISTINCT '}{shown} FROM {self.relation.sql}{kept}"
            f"{' GROUP BY 1, 2' if summed else ''} QUALIFY {rank} ORDER BY 1, value {order}, 2"
        )
        told = tr("{value} for each {names}", value=name, names=group_name) + self.where_told()
        shown_columns = (column, subject.column, measure.column if measure else None)
        return TableQuery(sql, Shape.GROUPS, told, shown_columns)

    def _best_whole(self, measure: TableField, name: str) -> TableQuery:
        """The row of a table that has no name for its rows: by its first texts and dates."""
        texts = (ColumnType.TEXT, ColumnType.DATE)
        said = {item.field for item in self.read.filters if item.value} | {measure}
        named = [it for it in self.relation.fields
                 if it.column.type in texts and it not in said and not it.is_id]  # fmt: skip
        shown = named[:MAX_NAMING]
        key = ", ".join(f'{item.sql} AS "{item.name}"' for item in shown)
        return TableQuery(
            self._best_row(measure, key), Shape.BEST,
            f"{name}{self.where_told()}", (*(item.column for item in shown), measure.column),
        )  # fmt: skip

    def _best_row(self, measure: TableField, key: str) -> str:
        one = key if " AS " in key or not key else f"{key} AS name"
        chosen = f"DISTINCT {one}, {measure.sql}" if key else measure.sql
        kept, order = self._where(f"{measure.sql} IS NOT NULL"), self._order
        return (
            f"SELECT {chosen} AS value FROM {self.relation.sql}{kept} "
            f"QUALIFY rank() OVER (ORDER BY {measure.sql} {order}) <= {self.limit} "
            f"ORDER BY value {order}{', 1' if key else ''}"
        )

    @property
    def _order(self) -> str:
        return "DESC" if self.largest else "ASC"

    def _best_group(
        self, key: str, value: str, name: str,
        shown: tuple[TableColumn | None, TableColumn | None] = (None, None), grain: str = "",
    ) -> TableQuery:  # fmt: skip
        """The groups with the largest or smallest value."""
        kept = f"{key} IS NOT NULL"
        sql = (
            f"SELECT {key} AS name, {value} AS value FROM {self.relation.sql}{self._where(kept)} "
            f"GROUP BY 1 QUALIFY rank() OVER (ORDER BY value {self._order}) <= {self.limit} "
            f"ORDER BY value {self._order}, name"
        )
        told = called("max" if self.largest else "min", name) + self.where_told()
        return TableQuery(sql, Shape.BEST, told, shown, grain=grain)

    def _most_frequent(self, subject: TableField | None, grain: str) -> TableQuery | None:
        if grain and (dated := self._dated()):
            return self._best_group(self._time_sql(grain, dated), "count(*)", tr(ROWS), grain=grain)
        if subject is not None and self._is_single(subject.sql):
            often = hinted(self.read, "visits times trips count number")
            measure = next((item for item in often if item.adds_up), None)
            if measure is not None:  # "who has come most often", of a table of members
                self.told.append(measure)
                self.read.doubt(tr("“{word}” is read as {name}.",
                                   word=self.texts[self.best_at], name=measure.name))  # fmt: skip
                return self._best_of(measure, subject, "")
            subject = None
        if subject is None or subject.is_unique:
            subject = self._frequent_column()
        if subject is None:
            return None
        return self._best_group(subject.sql, "count(*)", tr(ROWS), (subject.column, None))

    def _most_different(self, subject: TableField | None) -> TableQuery | None:
        """ "Which city has the most customers": how many different entries go with each."""
        at = self.best_at + 1
        named = self.read.mention_at(at) if at < len(self.words) else None
        if subject is None or named is None or self.texts[self.best_at] not in COUNTING:
            return None
        if named.field.is_measure or named.field is subject:
            return None
        counted = self._settled(at)
        query = self._best_group(
            subject.sql, f"count(DISTINCT {counted.sql})", tr(DIFFERENT, name=counted.name),
            (subject.column, None),
        )  # fmt: skip
        verb = [word for word in self.texts[: self.best_at] if word != "the"][-1:]
        done = verb and verb[0] not in AUXILIARIES
        if done and counted is self.relation.label and not counted.is_unique:  # "borrowed the most"
            return replace(self._most_frequent(subject, "") or query, other=query)
        return query

    def _most_rows(self, subject: TableField | None) -> TableQuery | None:
        """ "Which team is the biggest", "who refereed the most games": by the number of rows."""
        counted = subject is not None and not subject.is_unique
        if subject is None or not counted or self.texts[self.best_at] not in _sizes:
            return None
        return self._most_frequent(subject, "")

    def _frequent_column(self) -> TableField | None:
        """The column of which the most frequent entry is asked for."""
        filtered = [item.field for item in self.read.filters]
        texts = [it for it in self.relation.fields if it.column.type is ColumnType.TEXT
                 and not it.is_unique and it not in filtered]  # fmt: skip
        for at in range(len(self.words)):
            named = self.read.mention_at(at)
            if named and named.field in texts and at not in self.read.used:
                return self._settled(at)
        if texts[1:]:
            told = tr("What is counted is {name}; it may be {names} that is meant.",
                      name=texts[0].name, names=texts[1].name)  # fmt: skip
            self.read.doubt(told)
        return next(iter(texts), None)

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
                return not self._measure_after(at) and not verb_hints(self.read)
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
                return self.measure(self.best_at + 1)
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
        plain = found[0].parts == (self.hint.split()[0],)
        if found[1:] and word not in (*UP, *DOWN) and not plain:
            self._doubt_rival(word, found[0], found[1])
        return found[0]

    def _measure_named_after(self, at: int) -> TableField | None:
        for place in range(at + 1, min(at + 3, len(self.words))):
            named = self.read.mention_at(place)
            if named and named.field.column.type is ColumnType.DATE and named.score >= 1.5:
                return self._settled(place)
        return None

    def _subject(self) -> tuple[TableField | None, str]:
        """What is looked for: the column, or the unit of time: "which month", "who"."""
        two = next((it.field for it in self.read.filters if it.value.count("\0") == 1), None)
        if two and not two.is_unique and "or" in self.texts:
            return two, ""  # "do more flights go to Oslo or to Rome"
        for at, word in enumerate(self.texts):
            if word in ("which", "what", "whose", "name", "list", "show", "give"):
                if AUXILIARIES.intersection(self.texts[at + 1 : at + 2]):
                    continue
                if found := self._subject_at(at + 1, self.best_at):
                    return found
            if word in ("who", "whose"):
                return self._doer(at + 1) or self.person(), ""
            asked_when = self._asks_when(at)
            if asked_when and not self.relation.dates and self.relation.clocks:
                self._use(at)
                return self.relation.clocks[0], ""
            if asked_when and self.relation.dates:
                self._use(at)
                self.of_rows = self.texts[at + 1 : at + 2] in (["was"], ["were"], ["is"])
                dated = self._dated()
                return None, "month" if dated and dated.column.monthly else "day"
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
            if self.is_row_noun(at):
                self._use(at)
                self.of_rows = True
                return self.relation.label, ""
            asked = (
                named and self.texts[at - 1] in ("which", "what") and self._names_few(named.field)
            )
            if named and (asked or not named.field.is_measure) and at not in self.read.used:
                chosen = self._settled(at)
                return (None, "day") if dated else (chosen, "")
            if self.words[at].stem in PERSON_STEMS and self.relation.label:
                self._use(at)
                return self.relation.label, ""
            if self.texts[at] in AUXILIARIES or named:
                break
        return None

    def _names_few(self, field: TableField) -> bool:
        """Whether whole numbers that recur may name things: "which screen"."""
        few = field.column.distinct <= min(30, self.relation.rows / 2)
        return field.column.whole and few

    def _doer(self, at: int) -> TableField | None:
        """The column that a verb after "who" names: "referee" of "who refereed the match"."""
        while at < len(self.words) and self.texts[at] in AUXILIARIES:
            at += 1
        named = self.read.mention_at(at) if at < len(self.words) else None
        verb = self.texts[at].endswith(("ed", "s")) if named else False
        if named is None or not verb or (named.score < 1.4 and not named.guessed):
            return None
        if named.guessed and any(item.field is named.field for item in self.read.filters):
            return None  # "who directed Red Sky", of a table with films alone
        return self._settled(at) if named.field.column.type is ColumnType.TEXT else None

    def person(self) -> TableField | None:
        """The column that "who" asks for."""
        label = self.relation.label
        if label is not None and label.made:
            return label
        names = (
            "name employee student customer player person borrower driver donor member owner "
            "manager charge agent teacher tenant guest leader nurse doctor coach organiser contact "
            "supplier author"
        ).split()
        said = [item.field for item in self.read.filters if item.value]
        texts = [it for it in self.relation.fields if it.column.type is ColumnType.TEXT]
        people = [it for word in names for it in texts if word in it.parts and it not in said]
        found = people[0] if people else label
        if others := [item for item in people[1:] if item is not found]:
            told = tr("“{word}” is read as {name}; it may be {names}.", word="who",
                      name=people[0].name, names=others[0].name)  # fmt: skip
            self.read.doubt(told)
        return None if found is not None and (found.is_id or found.column.clock) else found

    def _only_value(self) -> bool:
        """Whether only the number is asked for: "what is the highest price"."""
        return bool(re.match(r"\W*(?:what(?:'s| is| was| are| were)|the|find|tell|give|maximum|"
                             r"minimum|highest|lowest|how)\b", self.read.text))  # fmt: skip
