"""Changes to a table by words: its order, rows and columns, and tables that are put together.

Columns are found loosely, as in questions. If two fit, or none, the wish is refused with their
names rather than guessed: a changed table is not read as closely as an answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import both, mark, tr, trn
from jarvis_desktop.tasks.documents import table_cleaning
from jarvis_desktop.tasks.documents.table_conditions import read_words
from jarvis_desktop.tasks.documents.table_database import (
    CELLS,
    ColumnType,
    LoadedTable,
    TableColumn,
    TableDatabase,
    literal,
    quoted,
)
from jarvis_desktop.tasks.documents.table_relations import birth_of, relation_of
from jarvis_desktop.tasks.documents.table_words import (
    ADJECTIVES,
    DOWN,
    UP,
    ReadWords,
    Relation,
    TableField,
    folded,
    hinted_fields,
    mentions_of,
)
from jarvis_desktop.text.numbers import with_digits

MAX_NAMED = 20
"""Columns that are listed."""
_ROW = '"\u2060row"'
"""The column with the place of a row; no file has that name."""

_period = re.compile(r"\b(month|year|day|date|monat|jahr|tag|datum)")

_german = tuple(
    (re.compile(form), english)
    for form, english in (
        (r"\b(?:sortier|ordne)\w*\b", "sort"), (r"\b(?:entfern|losch|streich)\w*\b", "remove"),
        (r"\bdoppelt\w*(?: (?:zeilen|eintrage|datensatze))?\b|\bduplikate\w*\b", "duplicates"),
        (r"\bspalten?\b", "column"), (r"\b(?:zeilen|eintrage|datensatze)\b", "rows"),
        (r"\bbehalte?\b", "keep"), (r"\bnur\b", "only"), (r"\babsteigend\b", "descending"),
        (r"\baufsteigend\b", "ascending"), (r"\bzuerst\b", "first"),
        (r"\bhochste\w*", "highest"), (r"\b(?:niedrigste|kleinste)\w*", "lowest"),
        (r"\bgro(?:ß|ss)te\w*", "largest"), (r"\bneueste\w*", "newest"),
        (r"\balteste\w*", "oldest"), (r"\bteuerste\w*", "most expensive"),
        (r"\b(?:billigste|gunstigste)\w*", "cheapest"), (r"\bleere\w*\b", "empty"),
        (r"\b(?:summen|gesamt|ergebnis)zeile\b", "total row"), (r"\bohne\b", "without"),
        (r"\b(?:in|bei) denen\b", "where"), (r"\b(?:fug|erganz)\w*\b", "add"),
        (r"\bdie ersten?\b", "the first"), (r"\bdie letzten?\b", "the last"),
        (r"\b(?:verbind|verknupf|verein)\w*\b|\badd\b(?=.*\bzusammen\b)", "join"),
        (r"\b(?:uber|anhand(?: der)?|nach)\b(?: (?:der|dem|den))?", "by"),
        (r"\b(?:unter|an)(?:einander|hang\w*)\b", "append"),
    )
)  # fmt: skip
_verbs = (
    r"(?:sort|order(?= (?:it|them|the|by|this|all))|arrange|rank|remove|delete|drop|erase|discard|"
    r"get rid of|throw (?:out|away)|dedup\w*|keep|only keep|filter|rename|call|add|append|"
    r"join|merge|combine|stack|take|give me|show|limit|leave out|(?:the )?(?:first|last|top) \d|"
    r"(?:the )?\d+ (?:\w+est|most|least)|sortier\w*|entfern\w*|l[öo]sch\w*|behalte?|benenn\w*|"
    r"f[üu]ge?|erg[äa]nze|nimm|verbinde|nur)"
)
_between = re.compile(
    r"(?:\s*[,;.]\s*|\s+)(?:(?:and|und|then|dann|danach|also|finally|please|bitte)\s+){0,3}"
    rf"(?={_verbs}\b)",
    re.IGNORECASE,
)
_joint = re.compile(r"(?:\s*(?:[,;.]|\b(?:and|und|then|dann|also)))+\s*$", re.IGNORECASE)


def parts_of(wish: str) -> list[str]:
    """Return the changes that a wish names, each in its words."""
    wish = with_digits(wish) if "\n" not in wish else wish
    cuts = [0]
    for found in _between.finditer(wish):
        joined = re.search(r"[,;.]|and|und|then|dann", found[0], re.IGNORECASE)
        if joined and wish[cuts[-1] : found.start()].strip():
            cuts.append(found.end())
    ends = [*cuts[1:], len(wish)]
    parts = (_joint.sub("", wish[a:b].strip()).strip() for a, b in zip(cuts, ends, strict=True))
    return [part for part in parts if part]


_UP_FIRST = r"high\w*|large\w*|big\w*|great\w*|most|new\w*|late\w*|recent|expensive|long\w*|z"
_to = re.compile(rf"\b(?:from )?(?:the )?({_UP_FIRST})(?: \w+)? ?(?:to|-|–) ?(?:the )?\w+")
_descending = re.compile(r"\b(?:descending|desc|reversed?|backwards|decreasing)\b")
_first = re.compile(r"\b(?:the )?(?:most |least )?(\w+)(?: ones?| \w+)? (?:first|on top)\b")
_order_words = re.compile(
    r"\b(?:in )?(?:ascending|asc|descending|desc|reversed?|increasing|decreasing|backwards|"
    r"alphabetical\w*|chronological\w*|numerical\w*)\b(?: order)?"
)
_sorted = re.compile(r"\b(?:sort|order|arrange|rank)(?:ed|ing)?\b")
_removing = re.compile(
    r"\b(?:remove|delete|drop|erase|discard|get rid of|throw (?:out|away)|leave out|exclude|take "
    r"out)\b"
)
_without = re.compile(r"\bwithout (?:the )?(?:\w+ ){1,3}columns?\b|\bwithout duplicates\b")
_keeping = re.compile(r"\b(?:keep|filter|only|limit|retain|just)\b")
_column = re.compile(r"\b(?:columns?|fields?)\b")
_duplicates = re.compile(r"\b(?:duplicat\w*|doubles?|repeated|dedup\w*|identical)\b")
_NUMBERED = frozenset("order invoice customer ticket index position row product article".split())
"""Columns of whole numbers that number things rather than count them."""
_total = re.compile(r"\b(?:total|sums?|totals)(?: row| line)?\b")
_rename = re.compile(
    r"\b(?:re)?name (?:the )?(?:columns? |fields? )?[\"“„']?(?P<old>.+?)[\"”“']? (?:to|as|into) "
    r"(?:be )?[\"“„']?(?P<new>[^\"”“']+?)[\"”“'.]?\s*$|"
    r"\bcall (?:the )?columns? [\"“„']?(?P<old2>.+?)[\"”“']? [\"“„'](?P<new2>.+?)[\"”“']\s*$|"
    r"\bchange (?:the )?(?:name of )?(?:the )?column(?: name)? "
    r"[\"“„']?(?P<old3>.+?)[\"”“']? (?:to|into) "
    r"[\"“„']?(?P<new3>[^\"”“']+?)[\"”“'.]?\s*$|"
    r"\bbenenne? (?:die )?(?:spalte )?[\"“„']?(?P<old4>.+?)[\"”“']? (?:in|zu) "
    r"[\"“„']?(?P<new4>[^\"”“']+?)[\"”“']?(?: um)?[.]?\s*$",
    re.IGNORECASE,
)
_limit = re.compile(
    r"\b(?P<end>first|last|top|bottom) (?P<n>\d{1,7})\b|"
    r"\b(?P<m>\d{1,7}) (?:(?P<way>most|least) )?(?P<word>\w+)\b"
)
_append = re.compile(r"\b(?:append|stack|below|under|underneath|concatenate)\b")
_joining = re.compile(r"\b(?:join|merge|combine|append|stack|concatenate|match|put)\b")


class TableEditor:
    """One table that is changed step by step."""

    def __init__(self, db: TableDatabase, table: LoadedTable, title: str) -> None:
        self._db = db
        self.title = title
        self.table = replace(table, sql=f"edited_{table.sql}")
        self.names = [item.name for item in table.columns]
        self._cells = [f"c{at}" for at in range(1, len(self.names) + 1)]
        self.told: list[str] = []
        self.doubts: list[str] = []
        self._tags: list[str] = []
        self._only = ""
        typed = ", ".join(f"t.{item.sql}" for item in table.columns)
        raw = ", ".join(f"c.{name} AS {_cell(name)}" for name in self._cells)
        db.change(
            f"CREATE TABLE {self.table.sql} AS SELECT t.rowid + 1 AS {_ROW}, {typed}, {raw} FROM "
            f"{table.sql} t JOIN {table.sql}{CELLS} c ON t.rowid = c.rowid"
        )

    @property
    def called(self) -> str:
        """What the name of the new file ends with."""
        return self._tags[0] if len(set(self._tags)) == 1 else "edited"

    @property
    def count(self) -> int:
        """How many rows the table has."""
        return int(self.value_of("count(*)"))

    def apply(self, part: str) -> None:
        """Make the change that these words name. Raises InputError if they name none."""
        text = folded(part)
        for form, english in _german:
            text = form.sub(english, text)
        ways: tuple[tuple[object, Callable[[], None]], ...] = (
            (_rename.search(part), lambda: self._rename(part)),
            (_duplicates.search(text), lambda: table_cleaning.deduplicate(self, text)),
            (
                _total.search(text) and re.search(r"\badd|append|row|line", text),
                lambda: self._total(text),
            ),
            *table_cleaning.ways(self, text),
            (self._speaks_of_columns(text), lambda: self._choose_columns(text)),
            (_sorted.search(text), lambda: self._sort(text)),
            (_limit.search(text) and not self._has_condition(text), lambda: self._keep_few(text)),
            (_removing.search(text) or _keeping.search(text), lambda: self._filter(text)),
        )
        way = next((change for asked, change in ways if asked), None)
        if way is None:
            raise ExpertError(
                tr("I did not understand what “{words}” changes in a table.", words=part),
                hint=tr(
                    "A table can be sorted, filtered, joined with another, and rid of duplicates; "
                    "columns can be removed and renamed."
                ),
            )
        way()

    def rows(self) -> Iterator[Sequence[Any]]:
        """The names of the columns, and each row with its cells as they are in the file."""
        yield self.names
        yield from self._db.stream(self._result())

    def export(self, to: Path) -> None:
        """Write the table as JSON or Parquet."""
        self._db.export(self._result(), to)

    def relation(self) -> Relation:
        """What its columns are asked by."""
        return relation_of(self.table)

    def parts_by(self, words: str, most: int) -> Iterator[str]:
        """Yield what each of the first `most` parts is for that words divide the table into: by the
        values of columns, or by the months, days or years of a date. Meanwhile the table has only
        these rows. Raises InputError if the words name no column."""
        fields = self.columns_of(words)
        of_dates = [it for it in self.relation().fields if it.column.type is ColumnType.DATE]
        period = _period.search(folded(words))
        if period and not fields and len(of_dates) == 1:
            form = {"month": "%Y-%m", "monat": "%Y-%m", "year": "%Y", "jahr": "%Y"}.get(period[1])
            key = f"strftime({of_dates[0].sql}, '{form or '%Y-%m-%d'}')"
        elif fields:
            cells = (self.cell_of(item) for item in fields)
            key = " || ' ' || ".join(map(table_cleaning.trimmed, cells))
        else:
            raise self.no_column(words)
        sql = f"SELECT min({key}) FROM {self.table.sql} GROUP BY lower({key}) ORDER BY min({_ROW})"
        for (value,) in self._db.rows(sql, most)[1]:
            told = "IS NULL" if value is None else f"= lower({literal(value)})"
            self._only = f"WHERE lower({key}) {told}"
            yield value or tr("empty")
        self._only = ""

    def parts_of_rows(self, size: int) -> Iterator[str]:
        """Yield the number of each part of so many rows; meanwhile the table has only these."""
        for number, first in enumerate(range(1, self.count + 1, size), 1):
            self._only = f"WHERE {_ROW} BETWEEN {first} AND {first + size - 1}"
            yield str(number)
        self._only = ""

    def _result(self) -> str:
        chosen = ", ".join(
            f"{_cell(cell)} AS {quoted(name)}"
            for cell, name in zip(self._cells, self.names, strict=True)
        )
        return f"SELECT {chosen} FROM {self.table.sql} {self._only} ORDER BY {_ROW}"

    @property
    def row(self) -> str:
        """The column with the place of a row, in SQL."""
        return _ROW

    @property
    def cells(self) -> list[str]:
        """The columns with the cells as they are in the file, in SQL."""
        return [_cell(name) for name in self._cells]

    def cell_of(self, field: TableField) -> str:
        """The cells of a column as they are in the file, in SQL."""
        return self.cells[self.names.index(field.name)]

    def value_of(self, sql: str) -> Any:
        """What an expression over all rows comes to."""
        return self._db.rows(f"SELECT {sql} FROM {self.table.sql}", 1)[1][0][0]

    def change(self, sql: str) -> None:
        """Change cells by the rest of an UPDATE."""
        self._db.change(f"UPDATE {self.table.sql} {sql}")

    def renew(self, rest: str, order: str = _ROW) -> None:
        """Keep what the rest of a SELECT finds, in an order."""
        at = self.table.sql
        self._db.change(
            f"CREATE TABLE fresh AS SELECT row_number() OVER (ORDER BY {order}) AS {_ROW}, "
            f"* EXCLUDE ({_ROW}) FROM {at} {rest}"
        )
        self._db.change(f"DROP TABLE {at}")
        self._db.change(f"ALTER TABLE fresh RENAME TO {at}")

    def _read(self, words: str) -> ReadWords:
        return read_words(words, self.relation(), self._db)

    def columns_of(self, words: str, *, made: bool = False) -> list[TableField]:
        """The columns that words name, in their order. Raises InputError if two fit one word."""
        relation = self.relation()
        found: list[tuple[int, TableField]] = []
        rest = f" {folded(words)} "
        for item in sorted(relation.fields, key=lambda it: -len(it.name)):
            if item.made:
                continue
            name = r"[\s_-]*".join(map(re.escape, re.findall(r"[^\W_]+", folded(item.name))))
            if name and (at := re.search(rf"(?<![^\W_]){name}(?![^\W_])", rest)):
                found.append((at.start(), item))
                rest = rest[: at.start()] + " " * len(at[0]) + rest[at.end() :]
        read = self._read(rest)
        blank = ReadWords(read.text, read.words, relation)
        for named in mentions_of(blank):
            fields = [it for it in (named.field, *named.rivals) if made or not it.made]
            fields = [it for it in fields if all(it is not other for _, other in found)]
            if not fields or named.score < 1.1:
                continue
            fields = [it for it in fields if it.made] or fields
            if len(fields) > 1:
                word = read.text[named.start : named.end]
                raise InputError(
                    tr(
                        "“{word}” may be {names}.",
                        word=word,
                        names=both(*(it.name for it in fields)),
                    ),
                    hint=tr("Name the column as it is written in the table."),
                )
            if not any(it is fields[0] for _, it in found):
                found.append((named.start + 1, fields[0]))
        return [item for _, item in sorted(found, key=lambda pair: pair[0])]

    def no_column(self, words: str) -> InputError:
        """Return the error that no column is named."""
        names = ", ".join(self.names[:MAX_NAMED])
        words = " ".join(words.split())
        return InputError(
            tr("The table has no column that “{words}” names.", words=words),
            hint=tr("Its columns are: {names}.", names=names),
        )

    def _speaks_of_columns(self, text: str) -> bool:
        if _without.search(text):
            return True
        if not (_removing.search(text) or _keeping.search(text)):
            return False
        if re.search(r"\b(?:filter\w*|where|whose)\b", text):
            return False
        if _column.search(text):
            return not re.search(r"\b(?:rows?|lines?|entries|records)\b", text)
        words = _removing.sub(" ", text)
        named = re.sub(r"\b(?:the|all|and|it|out|of|from)\b", " ", words)
        try:
            fields = self.columns_of(named)
        except InputError:
            return False
        told = {word for item in fields for word in re.findall(r"[^\W_]+", folded(item.name))}
        return bool(fields) and bool(_removing.search(text)) and {*named.split()} <= told

    def _choose_columns(self, text: str) -> None:
        text = text[text.index("without") :] if _without.search(text) else text
        words = _column.sub(" ", _keeping.sub(" ", _removing.sub(" ", text)))
        fields = self.columns_of(words)
        if not fields:
            raise self.no_column(words)
        chosen = {item.name for item in fields}
        removes = bool(_removing.search(text) or _without.search(text))
        kept = [at for at, name in enumerate(self.names) if (name in chosen) != removes]
        if not kept:
            raise InputError(tr("No column would be left."))
        names = both(*(item.name for item in fields))
        if removes:
            self.say(
                trn("Removed the column {names}.", "Removed the columns {names}.", len(fields),
                    names=names), "fewer-columns",
            )  # fmt: skip
        else:
            kept.sort(key=lambda at: [it.name for it in fields].index(self.names[at]))
            self.say(
                trn("Kept only the column {names}.", "Kept only the columns {names}.", len(fields),
                    names=names), "fewer-columns",
            )  # fmt: skip
        left = [self.names[at] for at in kept]
        self._cells = [self._cells[at] for at in kept]
        self.names = left
        columns = tuple(item for item in self.table.columns if item.name in left)
        self.table = replace(self.table, columns=columns)

    def _rename(self, part: str) -> None:
        match = _rename.search(part)
        assert match is not None
        old, new = (
            next(
                value for name, value in match.groupdict().items() if value and name.startswith(of)
            )
            for of in ("old", "new")
        )
        fields = self.columns_of(_column.sub(" ", old))
        if not fields:
            raise self.no_column(old)
        new = new.strip()
        if new.casefold() in {name.casefold() for name in self.names} - {fields[0].name.casefold()}:
            raise InputError(tr("There is a column {name} already.", name=new))
        name = fields[0].name
        self.names = [new if item == name else item for item in self.names]
        if new != name:
            self._db.change(
                f"ALTER TABLE {self.table.sql} RENAME COLUMN {quoted(name)} TO {quoted(new)}"
            )
        self.table = replace(
            self.table,
            columns=tuple(
                replace(item, name=new) if item.name == name else item
                for item in self.table.columns
            ),
        )
        self.say(tr("Renamed the column {name} to {new}.", name=name, new=new), "renamed")

    def _total(self, text: str) -> None:
        fields = [
            it for it in self.relation().fields
            if it.adds_up and not it.made and not (it.column.whole and _NUMBERED & {*it.parts})
        ]  # fmt: skip
        of = re.search(r"\b(?:of|for|over) (.+)", text)
        named = [it for it in self.columns_of(of[1]) if it.is_number] if of else []
        fields = named or fields
        if not fields:
            raise InputError(tr("The table has no numbers to add up."))
        number = {item.name: item for item in fields}
        label = next((name for name in self.names if name not in number), None)
        values = []
        for cell, name in zip(self._cells, self.names, strict=True):
            if name in number:
                sql = f"SELECT sum({number[name].sql}) FROM {self.table.sql}"
                ((added,),) = self._db.rows(sql, 1)[1]
                values.append((cell, literal(self.as_written(added, number[name]))))
            elif name == label:
                values.append((cell, literal(tr("Total"))))
        last = f"(SELECT coalesce(max({_ROW}), 0) + 1 FROM {self.table.sql})"
        self._db.change(
            f"INSERT INTO {self.table.sql} ({_ROW}, {', '.join(_cell(cell) for cell, _ in values)})"
            f" VALUES ({last}, {', '.join(value for _, value in values)})"
        )
        names = both(*(item.name for item in fields))
        told = trn("Added a row with the sum of {names}.", "Added a row with the sums of {names}.",
                   len(fields), names=names)  # fmt: skip
        self.say(told, "with-total")

    def as_written(self, value: Any, field: TableField) -> str:
        """Return a number as the cells of its column are written."""
        kept = f"WHERE {field.sql} IS NOT NULL LIMIT 500"
        sql = f"SELECT {self.cell_of(field)}::VARCHAR FROM {self.table.sql} {kept}"
        cells = [str(row[0]) for row in self._db.rows(sql, 500)[1]]
        digits = [re.sub(r"[^\d.,]", "", item) for item in cells]
        german = any(re.search(r",\d{1,2}$", it) or re.search(r"\.\d{3},", it) for it in digits)
        point = "," if german else "."
        decimals = max((len(it.rpartition(point)[2]) for it in digits if point in it), default=0)
        grouped = any(re.search(r"\.\d{3}," if german else r"\d,\d{3}", item) for item in digits)
        text = (
            f"{value or 0:,.{min(decimals, 6)}f}"
            if grouped
            else f"{value or 0:.{min(decimals, 6)}f}"
        )
        if german:
            text = text.translate(str.maketrans(",.", ".,"))
        unit = field.column.unit
        sample = next(iter(cells), "")
        space = " " if re.search(r"\d\s+\S|\S\s+\d", sample) and unit else ""
        if not unit:
            return text
        return f"{unit}{space}{text}" if field.column.before else f"{text}{space}{unit}"

    def _has_condition(self, text: str) -> bool:
        return bool(re.search(r"\b(?:where|whose|with|from|than|before|after|since)\b", text)) and (
            not re.search(r"\bwith the (?:\w+est|most|least)\b", text)
        )

    def _filter(self, text: str) -> None:
        removes = bool(_removing.search(text))
        words = re.sub(
            r"\b(?:the|all|any|those) (?=rows?\b|lines?\b|entries\b|records\b)", "", text
        )
        words = _keeping.sub(" ", _removing.sub(" ", words))
        read = self._read(words)
        conditions = [(item.sql, item.told) for item in read.filters]
        if not conditions:
            raise InputError(
                tr("I did not understand which rows are meant by “{words}”.",
                   words=" ".join(words.split())),
                hint=tr("Say it with the names of columns: {names}.",
                        names=", ".join(self.names[:MAX_NAMED])),
            )  # fmt: skip
        self._doubt(read)
        before = self.count
        sql = " AND ".join(f"({condition})" for condition, _ in conditions)
        self.renew(f"WHERE {'NOT ' if removes else ''}coalesce(({sql}), false)")
        told = both(*(told for _, told in conditions))
        if removes:
            said = trn("Removed {count} row of {whole}: {conditions}.",
                       "Removed {count} rows of {whole}: {conditions}.", before - self.count,
                       whole=f"{before:,}", conditions=told)  # fmt: skip
        else:
            said = trn("Kept {count} row of {whole}: {conditions}.",
                       "Kept {count} rows of {whole}: {conditions}.", self.count,
                       whole=f"{before:,}", conditions=told)  # fmt: skip
        self.say(said, "filtered")

    def _doubt(self, read: ReadWords) -> None:
        self.doubts += read.doubts
        mentioned = {place for item in read.mentions for place in range(item.start, item.end)}
        unread = [
            word.text
            for at, word in enumerate(read.words)
            if at not in read.used and word.start not in mentioned and word.text in read.unread()
            if word.stem not in read.relation.nouns
        ]
        if unread:
            words = ", ".join(f"“{word}”" for word in dict.fromkeys(unread))
            self.doubts.append(tr("Not understood: {words}.", words=words))

    def _sort(self, text: str) -> None:
        words = _sorted.sub(" ", text, count=1)
        behind = re.search(r"\bby\b(.*)", words)
        pieces = re.split(r",|\bthen\b|\band\b", behind[1] if behind else words)
        keys: list[tuple[TableField, bool]] = []
        left: list[str] = []
        for piece in pieces:
            plain = _first.sub(" ", _to.sub(" ", _order_words.sub(" ", piece)))
            fields = self.columns_of(plain, made=True)
            # "Sort the songs from the longest to the shortest" names no order by song.
            if not keys and not (behind and fields) and (hint := self.hinted(piece)):
                fields = [hint]
            down = self._is_down(piece, fields[-1:])
            if fields:
                keys += [
                    (item, bool(down)) for item in fields if all(item is not k for k, _ in keys)
                ]
            elif down is not None and keys:
                keys[-1] = keys[-1][0], down
            elif rest := " ".join(plain.split()):
                left.append(rest)
        whole = self._is_down(text, [keys[-1][0]] if keys else [])
        if len(keys) == 1 and whole is not None:
            keys = [(keys[0][0], whole)]
        label = self.relation().label
        if not keys and label and re.search(r"\balphabetical", text):
            keys = [(label, bool(whole))]
        if not keys:
            raise self.no_column(behind[1] if behind else words)
        if behind and left:
            names = ", ".join(f"“{rest}”" for rest in left)
            self.doubts.append(tr("Not understood: {words}.", words=names))
        self.order_by(keys)
        told = both(*(f"{item.name}, {_direction(item.column, down)}" for item, down in keys))
        self.say(trn("Sorted {count} row by {keys}.", "Sorted {count} rows by {keys}.", self.count,
                      keys=told), "sorted")  # fmt: skip

    def order_by(self, keys: Sequence[tuple[TableField, bool]]) -> None:
        """Sort the rows by columns, each with whether its largest comes first."""
        order = []
        for item, down in keys:
            way = "DESC" if down else "ASC"
            text = item.column.type is ColumnType.TEXT
            plain = f"strip_accents(lower({item.sql}))" if text else item.sql
            order.append(f"{plain} {way} NULLS LAST")
        self.renew("", f"{', '.join(order)}, {_ROW}")

    def _is_down(self, words: str, fields: Sequence[TableField]) -> bool | None:
        """Whether the largest comes first; None if the words do not say."""
        if _descending.search(words):
            return True
        if re.search(r"\b(?:ascending|asc|increasing)\b", words):
            return False
        if _to.search(words):
            return True
        found = _first.search(words)
        if found is None or found[1] not in UP | DOWN | ADJECTIVES.keys():
            return False if re.search(r"\bto\b|\ba ?- ?z\b", words) else None
        least = "least " in found[0]
        largest = found[1] in UP if found[1] in UP | DOWN else ADJECTIVES[found[1]][0]
        if found[1] in ("oldest", "youngest") and fields:
            dates = fields[0].column.type is ColumnType.DATE
            return (found[1] == "youngest") if dates else (found[1] == "oldest")
        return largest != least

    def hinted(self, words: str) -> TableField | None:
        """The column that an adjective speaks of: the price of "cheapest first"."""
        relation = self.relation()
        for word in words.split():
            hint = ADJECTIVES.get(word, (True, ""))[1]
            if word in ("oldest", "youngest") and (birth := birth_of(relation.fields)):
                return birth
            if hint == "date" or word in ("oldest", "newest", "chronologically"):
                return next(iter(relation.dates), None)
            pool = [item for item in relation.fields if item.is_measure]
            if hint and (fields := hinted_fields(pool, hint) or pool[: len(pool) == 1]):
                return fields[0]
        return None

    def _keep_few(self, text: str) -> None:
        found = _limit.search(text)
        assert found is not None
        number = int(found["n"] or found["m"])
        before = self.count
        word = found["word"] or ""
        sized = bool(found["way"]) or word in UP | DOWN or word in ADJECTIVES
        behind = re.search(r"\b(?:by|with the \w+|highest|lowest)\b(.*)", text)
        if sized or (found["end"] in ("top", "bottom") and behind):
            fields = self.columns_of(behind[1]) if behind else []
            largest, _ = ADJECTIVES.get(word, (word in UP or found["end"] == "top", ""))
            if found["way"] == "least" or word in DOWN:
                largest = False
            named = fields or [it for it in self.columns_of(text[found.end() :]) if it.is_number]
            item = named[0] if named else self.hinted(word)
            if item is None:
                raise self.no_column(text)
            self.order_by([(item, largest)])
            self.renew(f"WHERE {_ROW} <= {number}")
            form = mark("Kept the {count} rows of {whole} with the lowest {name}.")
            if largest:
                form = mark("Kept the {count} rows of {whole} with the highest {name}.")
            told = tr(form, count=f"{self.count:,}", whole=f"{before:,}", name=item.name)
        elif found["end"]:
            last = found["end"] in ("last", "bottom")
            self.renew(f"WHERE {_ROW} > {before - number}" if last else f"WHERE {_ROW} <= {number}")
            form = mark("Kept the last {count} rows of {whole}.") if last else mark(
                "Kept the first {count} rows of {whole}."
            )  # fmt: skip
            if _removing.search(text):
                raise InputError(tr("Say which rows are to be kept."))
            told = tr(form, count=f"{self.count:,}", whole=f"{before:,}")
        else:
            self._filter(text)
            return
        self.say(told, "shorter")

    def say(self, told: str, tag: str) -> None:
        """Note a change that was made, and what the name of the file may end with."""
        self.told.append(told)
        self._tags.append(tag)

    def append(self, other: TableEditor) -> None:
        """Put the rows of another table with the same columns below."""
        own = {_plain(name): cell for name, cell in zip(self.names, self._cells, strict=True)}
        typed = {_plain(it.name): it for it in self.table.columns}
        there = {_plain(it.name): it for it in other.table.columns}
        pairs = [
            (own[_plain(name)], cell)
            for name, cell in zip(other.names, other._cells, strict=True)
            if _plain(name) in own
        ]
        same = [name for name in typed if name in there and typed[name].type is there[name].type]
        last = self.count
        into = [_ROW, *(_cell(cell) for cell, _ in pairs), *(typed[name].sql for name in same)]
        chosen = [
            f"{_ROW} + {last + 1}", *(_cell(cell) for _, cell in pairs),
            *(there[name].sql for name in same),
        ]  # fmt: skip
        self._db.change(
            f"INSERT INTO {self.table.sql} ({', '.join(into)}) SELECT {', '.join(chosen)} FROM "
            f"{other.table.sql}"
        )
        self.renew("")
        told = trn("Put {count} row of {other} below the {own} of {name}.",
                   "Put {count} rows of {other} below the {own} of {name}.", other.count,
                   other=other.title, own=f"{last:,}", name=self.title)  # fmt: skip
        self.say(told, "merged")

    def join(self, other: TableEditor, key: TableColumn, foreign: TableColumn) -> None:
        """Add the columns of another table to the rows with the same entry in a column."""
        taken = {name.casefold() for name in self.names}
        names, cells, columns, chosen = [], [], [], []
        for cell, column in zip(other._cells, other.table.columns, strict=True):
            if column.name == foreign.name:
                continue
            name = column.name
            while name.casefold() in taken:
                name = (
                    f"{column.name} ({Path(other.title).stem})"
                    if name == column.name
                    else f"{name}*"
                )
            taken.add(name.casefold())
            new = f"{cell}_{other.table.sql}"
            names.append(name)
            cells.append(new)
            columns.append(replace(column, name=name))
            chosen += [f"o.{column.sql} AS {quoted(name)}", f"o.{_cell(cell)} AS {_cell(new)}"]
        at = self.table.sql
        condition = f"s.{key.sql} = o.{foreign.sql}"
        if key.type is not foreign.type or key.type is ColumnType.TEXT:
            one, two = (
                f"lower(trim({it}::VARCHAR))" for it in (f"s.{key.sql}", f"o.{foreign.sql}")
            )
            condition = f"{one} = {two}"
        before = self.count
        sql = (
            f"SELECT count(*) FROM {at} s WHERE NOT EXISTS "
            f"(SELECT 1 FROM {other.table.sql} o WHERE {condition})"
        )
        missing = int(self._db.rows(sql, 1)[1][0][0])
        if missing == before:
            raise InputError(
                tr("No {name} of {one} is in {other}.", name=key.name, one=self.title,
                   other=other.title)
            )  # fmt: skip
        self._db.change(
            f"CREATE TABLE fresh AS SELECT s.*, {', '.join(chosen)} FROM {at} s LEFT JOIN "
            f"{other.table.sql} o ON {condition} ORDER BY s.{_ROW}, o.{_ROW}"
        )
        self._db.change(f"DROP TABLE {at}")
        self._db.change(f"ALTER TABLE fresh RENAME TO {at}")
        self.names += names
        self._cells += cells
        self.table = replace(self.table, columns=(*self.table.columns, *columns))
        self.renew("")
        told = tr("Joined {name} and {other} by {key}: {count} rows.", name=self.title,
                  other=other.title, key=key.name, count=f"{self.count:,}")  # fmt: skip
        if missing:
            told += " " + trn("{count} row has no match in {other}.",
                              "{count} rows have no match in {other}.", missing,
                              other=other.title)  # fmt: skip
        self.say(told, "joined")


def combined(editors: Sequence[TableEditor], parts: Sequence[str]) -> TableEditor | None:
    """Return the tables put together if the first part of a wish asks for it: below one another if
    their columns are the same, else joined by the column that both have. Raises InputError."""
    text = folded(parts[0]) if parts else ""
    for form, english in _german:
        text = form.sub(english, text)
    if not _joining.search(text):
        return None
    first, *others = editors
    for other in others:
        by = re.search(r"\b(?:by|on|using|via|with the same|along) (.+)", text)
        names = {_plain(name) for name in first.names}
        shared = names & {_plain(name) for name in other.names}
        alike = len(shared) >= 0.8 * max(len(names), len(other.names))
        if not by and (alike or _append.search(text)):
            if not shared:
                raise InputError(
                    tr("{name} and {other} have no column of the same name.", name=first.title,
                       other=other.title)
                )  # fmt: skip
            first.append(other)
            continue
        key, foreign = _keys(first, other, by[1] if by else "")
        first.join(other, key, foreign)
    return first


def _keys(first: TableEditor, other: TableEditor, words: str) -> tuple[TableColumn, TableColumn]:
    """The columns of the two tables by which they are joined. Raises InputError."""
    if words:
        found = [editor.columns_of(words) for editor in (first, other)]
        if not all(found):
            missing = first if not found[0] else other
            raise missing.no_column(words)
        return found[0][0].column, found[1][0].column
    pairs = [
        (one, two)
        for one in first.table.columns
        for two in other.table.columns
        if _plain(one.name) == _plain(two.name)
    ]
    names = [one.name for one, _ in pairs]
    likely = [
        pair
        for pair in pairs
        if re.search(r"(?:^|[\W_])(?:id|nr|no|key|code|number)$", pair[0].name, re.I)
    ]
    chosen = likely if len(likely) == 1 else pairs
    if len(chosen) != 1:
        told = tr("{name} and {other} have no column of the same name.", name=first.title,
                  other=other.title)  # fmt: skip
        if chosen:
            told = tr("{name} and {other} share the columns {names}.", name=first.title,
                      other=other.title, names=both(*names))  # fmt: skip
        raise InputError(told, hint=tr("Say by which column they are to be joined."))
    return chosen[0]


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", folded(name))


def _cell(name: str) -> str:
    return f'"\u2060{name}"'


def _direction(column: TableColumn, down: bool) -> str:
    """The order of a column in words."""
    if column.type is ColumnType.TEXT:
        return tr("from Z to A") if down else tr("from A to Z")
    if column.type is ColumnType.DATE:
        return tr("newest first") if down else tr("oldest first")
    return tr("highest first") if down else tr("lowest first")
