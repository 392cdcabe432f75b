"""Charts of tables: what is drawn is read like a question about a table, and added up by DuckDB.

`table_question.py` finds the columns, groups, months and conditions in the words; here they become
the places and the values of a chart, which `chart_drawing.py` draws.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from typing import Any

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.context import current_detail
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import both, mark, tr
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.definition import define
from jarvis_desktop.tasks.documents import chart_drawing
from jarvis_desktop.tasks.documents.chart_drawing import LOOK, MAX_SERIES, Chart, ChartSeries, Place
from jarvis_desktop.tasks.documents.table_conditions import read_words
from jarvis_desktop.tasks.documents.table_database import ColumnType, TableColumn, TableDatabase
from jarvis_desktop.tasks.documents.table_parts import ROWS, called
from jarvis_desktop.tasks.documents.table_qa import (
    MAX_NAMED,
    cell_text,
    left_out,
    load_tables,
    moment_text,
    question_of,
    with_doubts,
)
from jarvis_desktop.tasks.documents.table_question import QuestionReader, relations_of
from jarvis_desktop.tasks.documents.table_words import TableField

KINDS = ("line", "bar", "pie", "scatter", "histogram")
MAX_BARS = 40
"""Names at an axis; of more, the largest are drawn."""
MAX_TIMED_BARS = 120
MAX_SLICES = 9
MAX_TIMES = 20_000
"""Points of a line."""
MAX_POINTS = 5_000
"""Points of a scatter chart; of more, a sample is drawn."""
MAX_BINS = 60
MAX_DAYS, MAX_WEEKS_DAYS = 400, 92
"""Days up to which a sum over time is drawn for each day if a day has one row, or several."""

_noun = r"(?:charts?|graphs?|plots?|diagrams?|diagramme?|visuali[sz]ations?|kurve)"
_kinds = {
    "histogram": r"histogram\w*|(?:frequency )?distribution|verteilung|häufigkeitsverteilung",
    "scatter": r"scatter(?:[ -]?(?:plot|chart|graph|diagram))?|point cloud|"
    r"(?:streu|punkt(?:e|wolken)?)[ -]?diagramm|punktwolke",
    "pie": rf"(?:pie|donut|doughnut)(?:[ -]?{_noun})?|(?:kreis|torten|kuchen)[ -]?diagramm",
    "bar": rf"(?:bars?|columns?)[ -]?{_noun}|bars(?= (?:of|for))|"
    r"(?<=as )bars|(?:balken|säulen)[ -]?diagramm",
    "line": rf"(?:lines?|curve)[ -]?{_noun}|(?:linien|kurven|verlaufs)[ -]?diagramm|trend|"
    r"development|verlauf|entwicklung",
}
_kind = re.compile("|".join(rf"\b(?P<{kind}>(?:{words})\b)" for kind, words in _kinds.items()))
_over_time = re.compile(
    r"\b(?:over|across|through|throughout|against|versus|vs|by|per)(?: the)? "
    r"(?P<unit>time|dates?|years|months|weeks|days|quarters)\b|"
    r"\bim (?:zeit)?verlauf(?: der zeit)?\b|\b(?:über|im lauf\w*) (?:die|der) (?:zeit|jahre)\b"
)
_against = re.compile(r"\b(?:against|versus|vs|as a function of|depending on|gegen(?:über)?)\b\.?")
_not_drawn = re.compile(
    r"^\W*(?:please\W+|bitte\W+|now\W+)*(?:(?:can|could) you )?(?:draw|plot|make|create|show|give|"
    r"generate|render|visuali[sz]e|display|chart|graph|zeichne|erstelle|mach|zeige?|plotte|male|"
    r"stelle?|gib)\b(?: (?:me|us|mir|uns|dann|danach|daraus|davon))*|"
    rf"\b(?:(?:as|into|in|with|als|mit) )?(?:(?:an?|the|eine?[nms]?|das|die|der|dem) )?"
    rf"(?:(?:simple|nice|quick|small|stacked|grouped|einfaches) )*\b{_noun}\b"
    r"(?: (?:of|for|showing|that shows|with|from|über|von|für|zu[mr]?)\b)?|"
    r"\b(?:as|in|als) (?:an? |ein(?:e|en)? )?(?:svg|png|picture|image|file|bild|datei)\b(?: file)?|"
    r"\b(?:in|with|on|mit|im|auf)(?: an?| einem)? (?:dark|light|black|white|dunkle[mn]?|helle[mn]?)"
    r"(?: (?:theme|mode|colou?rs|background|hintergrund|modus|design))?\b|\bsvg\b|\bdar\W*$"
)
"""Words that say that a chart is wanted, rather than of what."""
_dark = re.compile(
    r"\b(?:dark|black|dunkle[mnrs]?|schwarze[mnrs]?)"
    r" (?:theme|mode|colou?rs|background|look|hintergrund|modus|design|farben)\b"
)
_before_name = frozenset("by per of for against and versus vs each every over across x y".split())

_said_anyway = frozenset(
    "against coloured colored grouped split chart share breakdown history".split()
)

_weekdays = (
    mark("Monday"), mark("Tuesday"), mark("Wednesday"), mark("Thursday"), mark("Friday"),
    mark("Saturday"), mark("Sunday"),
)  # fmt: skip


def draw_chart(call: Call, report: Report) -> Iterable[Artifact]:
    """Return the chart as a picture, and what it shows. Raises InputError if it cannot be drawn."""
    db = load_tables(call, report)
    db.lock()
    question = question_of(call)
    report(None, tr("Reading the question"))
    chart, told, doubts = read_chart(question, db, kind=call.words("kind").strip().lower())
    report(None, tr("Drawing the chart"))
    path = call.workdir / f"chart.{call.words('format')}"
    look = call.words("look") or os.environ.get(LOOK, "light")
    dark = _dark.search(question.casefold()) is not None
    chart_drawing.draw(chart, path, dark=dark or look == "dark")
    kind = Kind.IMAGE if path.suffix == ".png" else Kind.DOCUMENT
    told = with_doubts(tr("The chart shows the {value}.", value=told), doubts)
    return [Artifact(kind, path=path, name=path.name), text_artifact(told)]


def read_chart(question: str, db: TableDatabase, *, kind: str = "") -> tuple[Chart, str, list[str]]:
    """Return the chart that words ask for, what it shows, and doubts. Raises InputError."""
    words = " ".join(question.casefold().split())
    found = _kind.search(words)
    if kind not in KINDS:
        kind = (found.lastgroup or "") if found else ""
    time = _over_time.search(words)
    unit = (time["unit"] or "time").removesuffix("s") if time else ""
    plain = _kind.sub(" chart ", _over_time.sub(" ", words))
    against = bool(_against.search(plain))
    plain = " ".join(_against.sub(" against ", plain).split())
    plain = " ".join(_not_drawn.sub(" ", plain).split())
    readers = [
        _ChartReader(read_words(plain, relation, db), db, against=against)
        for relation in relations_of(db)
    ]
    for reader in readers:
        reader.look(kind, unit)
    best = min(readers, key=lambda item: len(item.read.unread()))
    return best.chart()


class _ChartReader(QuestionReader):
    """Finds what a chart is made of."""

    def __init__(self, *args: Any, against: bool) -> None:
        super().__init__(*args)
        self._against = against
        self._notes: list[str] = []
        self._measures: list[TableField] = []
        self._kind = ""

    def look(self, kind: str, unit: str) -> None:
        """Read the words. `unit` is that of "over the months", or "time"."""
        self._kind = kind
        self.limit, self.largest, self.hint, self.best_at = self._superlative()
        self.group, self.grain = self._group()
        self.aggregate, _ = self._aggregate()
        if self.largest is not None and self.limit == 1 and not self.aggregate:
            self.aggregate = "max" if self.largest else "min"
        while (found := self.measure()) and found not in self._measures:
            self._measures.append(found)
            if len(self._measures) == MAX_SERIES or self._kind in ("pie", "histogram"):
                break
        if not self._measures and (amount := self._money_measure()):
            self._measures.append(amount)
        self.told += self._measures
        counted = not self._measures and len(self.group) + bool(self.grain) == 1
        if self._needs_group() or (counted and self._kind != "pie"):
            self._group_by_names()
        years = [item for item in self.relation.fields if item.is_year]
        over = bool(unit) or (
            bool(self._measures) and not self.group and not self.grain
            and self._kind in ("", "line") and not (self._against and self._measures[1:])
        )  # fmt: skip
        if over and not self.grain:
            if self.relation.dates:
                self.grain = unit if unit not in ("", "time", "date") else self._best_grain()
                self._part_mixed()
            elif years and years[0] not in self.group:
                self.group.insert(0, years[0])
            elif unit:
                raise InputError(
                    tr("{table} has no column with dates.", table=self._title), hint=self._columns
                )
        self._use_nouns()
        self._use(*(at for at, word in enumerate(self.texts) if word in _said_anyway))

    def chart(self) -> tuple[Chart, str, list[str]]:
        """Return the chart, what it shows, and doubts."""
        self._check_names()
        keys = self._keys()
        two = self._kind in ("", "scatter") and self._measures[1:]
        if two and (self._against or not keys):
            return self._done(self._scatter())
        if self._kind in ("bar", "pie", "line") and not (keys or self._measures):
            self._measures += filter(None, [self.only_measure()])  # "draw a bar chart"
        if not keys and self._measures and self._kind in ("", "bar", "pie", "line"):
            label = self.relation.label
            if label and label.is_unique and (self._kind or self.relation.rows <= MAX_BARS):
                self.group = [label]
                return self._done(self._grouped_values(self._keys()))
        if self._kind in ("", "histogram") and (self._kind or not keys):
            return self._done(self._histogram())
        if self._kind == "scatter":
            return self._done(self._scatter())
        if not keys:
            raise InputError(tr("Name the column that the chart compares by."), hint=self._columns)
        return self._done(self._grouped_values(keys))

    def _done(self, made: tuple[Chart, str]) -> tuple[Chart, str, list[str]]:
        chart, told = made
        unread = dict.fromkeys(self.read.unread())
        words = ", ".join(f"“{word}”" for word in unread)
        unclear = [tr("Not understood: {words}.", words=words)] if unread else []
        fields = dict.fromkeys([*self.told, *self.group])
        doubts = [*self.read.doubts, *unclear, *left_out(fields)]
        if self._notes:
            told = f"{told}. {' '.join(self._notes)}".removesuffix(".")
        return chart, told, doubts

    @property
    def _title(self) -> str:
        return self._db.tables[0].title

    def _names(self) -> list[str]:
        return [item.name for item in self.relation.fields[:MAX_NAMED]]

    @property
    def _columns(self) -> str:
        return tr("Its columns are {names}.", names=", ".join(self._names()))

    def _check_names(self) -> None:
        """Raise InputError if the words name a column that is not there, or none has numbers."""
        unread = self.read.unread()
        after = [
            word.text for word in self.words
            if word.text in unread and self.read.word_before(word.start) in _before_name
        ]  # fmt: skip
        counts = bool(self.group or self.grain) and not self.aggregate
        missing = after or ([] if self._measures or (counts and not unread) else unread)
        if missing:
            raise InputError(
                tr("{table} has no column “{name}”.", table=self._title, name=missing[0]),
                hint=self._columns,
            )
        numbers = any(item.is_measure for item in self.relation.fields)
        if not numbers and (self._kind in ("scatter", "histogram") or not counts):
            raise InputError(
                tr("{table} has no column of numbers to draw.", table=self._title),
                hint=self._columns,
            )

    def _needs_group(self) -> bool:
        return not self.group and not self.grain and not (self._kind == "" and self._measures[1:])

    def _group_by_names(self) -> None:
        """Group by columns that the words name without "by": "a pie chart of the countries"."""
        for at in range(len(self.words)):
            named = self.read.mention_at(at)
            if named is None or at in self.read.used:
                continue
            field = named.field
            other = field.is_measure or field.is_id or field.column.type is ColumnType.DATE
            if not other and not (self.group and field.is_unique):
                self.group.append(self._settled(at, groups_by=True))
                return

    def _best_grain(self) -> str:
        """Return the unit of time for which enough, but not too many points are drawn."""
        dated = self._dated()
        assert dated is not None
        at = dated.sql
        sql = (
            f"SELECT count(*), count(DISTINCT {at}::DATE), date_diff('day', min({at}), max({at})) "
            f"FROM {self.relation.sql}{self.where}"
        )
        rows, days, span = self._db.rows(sql, 1)[1][0]
        adds_up = not self._measures or any(item.adds_up for item in self._measures)
        single = rows <= 1.05 * days
        if not adds_up or single or (span or 0) <= MAX_WEEKS_DAYS:
            return "day"
        return "month" if (span or 0) <= 366 * 10 else "year"

    def _part_mixed(self) -> None:
        """Draw a line for each name if a day has a row for each: prices of several shares."""
        dated = self._dated()
        if self.group or self.aggregate or self.grain != "day" or len(self._measures) != 1:
            return
        if dated is None or self._measures[0].adds_up:
            return
        for item in self.relation.fields:
            if (
                item.column.type is not ColumnType.TEXT
                or not 1 < item.column.distinct <= MAX_SERIES
            ):
                continue
            sql = (
                f"SELECT count(*), count(DISTINCT ({dated.sql}, {item.sql})), "
                f"count(DISTINCT {dated.sql}) FROM {self.relation.sql}{self.where}"
            )
            rows, pairs, days = self._db.rows(sql, 1)[1][0]
            if rows == pairs > days:
                self.group = [item]
                return

    def _time_sql(self, grain: str, item: TableField) -> str:
        if grain == "weekday":
            return f"isodow({item.sql})"
        return (
            f"date_trunc('{grain}', {item.sql})::DATE" if grain != "hour" else f"hour({item.sql})"
        )

    def _grouped_values(self, keys: list[tuple[str, str, TableColumn | None]]) -> tuple[Chart, str]:
        """Return a chart with a value for each group, and for each measure or second group."""
        keys = keys[:2] if len(self._measures) < 2 else keys[:1]
        functions = [
            self.aggregate or ("sum" if item.adds_up else "avg") for item in self._measures
        ]
        values = [
            f"{function}({item.sql})"
            for function, item in zip(functions, self._measures, strict=True)
        ] or ["count(*)"]
        chosen = ", ".join(sql for sql, _, _ in keys)
        numbers = ", ".join(str(at + 1) for at in range(len(keys)))
        ordered = bool(self.grain) or self._has_order(keys[0])
        top = self.largest is not None and self.limit > 1
        way = "ASC" if top and not self.largest else "DESC"
        first = "" if ordered and not top else f"{len(keys) + 1} {way} NULLS LAST, "
        order = f"{first}{numbers}"
        sql = (
            f"SELECT {chosen}, {', '.join(values)}, count(*) FROM {self.relation.sql}"
            f"{self._where(f'{keys[0][0]} IS NOT NULL')} GROUP BY {numbers} ORDER BY {order}"
        )
        current_detail.get()(f"SQL: {sql}")
        rows = self._db.rows(sql, MAX_TIMES * MAX_SERIES)[1]
        if not rows or all(row[len(keys)] is None for row in rows):
            raise InputError(tr("No row fits, so there is nothing to draw."))
        single = bool(self._measures) and max(row[-1] for row in rows) == 1
        names = [
            item.name if single else called(function, item.name)
            for function, item in zip(functions, self._measures, strict=True)
        ] or [tr(ROWS)]
        adds = not self._measures or all(function == "sum" for function in functions)
        if len(keys) > 1:
            places, series = self._pivoted(rows, adds=adds)
        else:
            places = [row[0] for row in rows]
            series = [
                ChartSeries(name, [row[at + 1] for row in rows]) for at, name in enumerate(names)
            ]
        value = ", ".join(names)
        over_days = self.grain == "day" and single
        told = tr("{value} over time", value=value) if over_days else tr(
            "{value} for each {names}", value=value, names=both(*(name for _, name, _ in keys))
        )  # fmt: skip
        told += self.where_told()
        kind = self._kind or self._fitting_kind(places, adds=adds)
        places, series = self._shortened(kind, places, series, adds=adds, top=top)
        column = self._measures[0].column if self._measures else None
        return self._of(kind, told, places, series, column, keys, value), told

    def _has_order(self, key: tuple[str, str, TableColumn | None]) -> bool:
        column = key[2]
        return column is not None and column.type in (ColumnType.NUMBER, ColumnType.DATE)

    def _fitting_kind(self, places: Sequence[Any], *, adds: bool) -> str:
        times = isinstance(places[0], date) or (self.group and self.group[0].is_year)
        return "line" if times and len(places) > (6 if adds else 2) else "bar"

    def _pivoted(
        self, rows: Sequence[tuple[Any, ...]], *, adds: bool
    ) -> tuple[list[Any], list[ChartSeries]]:
        """Return the places, and a series for each entry of the second group, the largest first."""
        weight: Counter[str] = Counter()
        table: dict[Any, dict[str, Any]] = defaultdict(dict)
        shown = self.group[-1].column
        for place, other, value, count in rows:
            name = cell_text(other, shown)
            weight[name] += abs(value or 0) if adds else count
            table[place][name] = value
        kept = [name for name, _ in weight.most_common(MAX_SERIES)]
        if len(weight) > MAX_SERIES:
            self._note_cut(MAX_SERIES, len(weight))
        return [*table], [ChartSeries(n, [row.get(n) for row in table.values()]) for n in kept]

    def _note_cut(self, count: int, whole: int) -> None:
        self._notes.append(
            tr("Only the {count} largest of {whole} are drawn.", count=count, whole=f"{whole:,}")
        )

    def _shortened(
        self, kind: str, places: list[Any], series: list[ChartSeries], *, adds: bool, top: bool
    ) -> tuple[list[Any], list[ChartSeries]]:
        """Leave out the smallest of too many groups; a pie shows them as one slice."""
        values = series[0].values
        if top and len(places) > self.limit:
            keep = [*range(self.limit)]
        elif kind == "pie":
            if len(series) > 1:
                raise InputError(tr("A pie shows one value for each name: ask for bars instead."))
            if any(value is not None and value < 0 for value in values):
                raise InputError(tr("A pie cannot show negative values: ask for bars instead."))
            order = sorted(range(len(places)), key=lambda at: -(values[at] or 0))
            filled = [at for at in order if values[at]]
            if not filled:
                raise InputError(tr("No row fits, so there is nothing to draw."))
            keep = filled if len(filled) <= MAX_SLICES else filled[: MAX_SLICES - 1]
            rest = sum(values[at] or 0 for at in filled[len(keep) :])
            if rest and adds:
                others = tr("others ({count})", count=len(filled) - len(keep))
                slices = [*(values[at] for at in keep), rest]
                return [*(places[at] for at in keep), others], [ChartSeries("", slices)]
            if rest:
                self._note_cut(len(keep), len(filled))
        elif len(places) > MAX_BARS and not isinstance(places[0], date):
            size = [max(abs(it.values[at] or 0) for it in series) for at in range(len(places))]
            order = sorted(range(len(places)), key=lambda at: -size[at])
            keep = sorted(order[:MAX_BARS])
            self._note_cut(MAX_BARS, len(places))
        else:
            return places, series
        cut = [ChartSeries(it.name, [it.values[at] for at in keep]) for it in series]
        return [places[at] for at in keep], cut

    def _of(
        self, kind: str, told: str, places: list[Any], series: list[ChartSeries],
        column: TableColumn | None, keys: Sequence[tuple[str, str, TableColumn | None]], value: str,
    ) -> Chart:  # fmt: skip
        if kind == "bar" and isinstance(places[0], date) and len(places) > MAX_TIMED_BARS:
            kind = "line"
            self._notes.append(tr("A line is drawn, because there are too many bars."))
        shown = keys[0][2]
        named: list[Place] = [self._place(item, kind, shown) for item in places]
        dated = self._dated() if self.grain else None
        return Chart(
            kind, _capital(told), named, series, across=dated.name if dated else keys[0][1],
            up="" if len(series) > 1 and len(keys) == 1 else value,
            number=_writer(column, [v for it in series for v in it.values]),
            place_number=lambda number: cell_text(int(number), shown), timed=bool(self.grain),
        )  # fmt: skip

    def _place(self, value: Any, kind: str, column: TableColumn | None) -> Place:
        """Return a date or a number if it is drawn to scale, else a name."""
        if self.grain == "weekday":
            return tr(_weekdays[int(value) - 1])
        if self.grain == "hour":
            return f"{value}:00"
        if isinstance(value, date):
            moment = value.date() if isinstance(value, datetime) and not column else value
            if kind == "line":
                return moment
            if self.grain == "month":
                month, year = moment_text(f"{value:%Y-%m}", "month").rsplit(" ", 1)
                return f"{month[:3]} {year}"
            if self.grain in ("quarter", "year"):
                quarter = f" Q{(value.month + 2) // 3}" if self.grain == "quarter" else ""
                return f"{value.year}{quarter}"
            return cell_text(value, column)
        if kind == "line" and isinstance(value, int | float) and not isinstance(value, bool):
            return value
        return cell_text(value, column)

    def _scatter(self) -> tuple[Chart, str]:
        measures = self._measures[:2]
        dated = self._dated()
        if len(measures) < 2 and not (measures and dated):
            others = [item for item in self.relation.fields if item.is_measure]
            measures += [item for item in others if item not in measures][: 2 - len(measures)]
            if len(measures) < 2:
                raise InputError(
                    tr("A scatter chart needs two columns of numbers."), hint=self._columns
                )
        if len(measures) == 2:
            up, across = measures if self._against else measures[::-1]
        else:
            assert dated is not None
            up, across = measures[0], dated
        group = self.group[:1]
        chosen = ", ".join(item.sql for item in (across, up, *group))
        kept = self._where(f"{across.sql} IS NOT NULL", f"{up.sql} IS NOT NULL")
        sql = f"SELECT {chosen} FROM {self.relation.sql}{kept}"
        current_detail.get()(f"SQL: {sql}")
        ((count,),) = self._db.rows(f"SELECT count(*) FROM ({sql})", 1)[1]
        if not count:
            raise InputError(tr("No row fits, so there is nothing to draw."))
        if count > MAX_POINTS:
            sql = f"SELECT * FROM ({sql}) USING SAMPLE reservoir({MAX_POINTS} ROWS) REPEATABLE (1)"
            self._notes.append(
                tr("{count} of {whole} rows are drawn.", count=f"{MAX_POINTS:,}",
                   whole=f"{count:,}")
            )  # fmt: skip
        rows = self._db.rows(sql, MAX_POINTS)[1]
        names = self._series_names([row[2] for row in rows]) if group else [""]
        parts = [[row for row in rows if not group or self._entry(row[2]) == n] for n in names]
        told = tr("{name} against {other}", name=up.name, other=across.name) + self.where_told()
        return Chart(
            "scatter", _capital(told), [],
            [ChartSeries(n, [row[1] for row in of]) for n, of in zip(names, parts, strict=True)],
            across=across.name, up=up.name, number=_writer(up.column, [row[1] for row in rows]),
            place_number=_writer(across.column, [row[0] for row in rows]),
            own_places=[[row[0] for row in part] for part in parts],
        ), told  # fmt: skip

    def _entry(self, value: Any) -> str:
        return cell_text(value, self.group[0].column)

    def _series_names(self, values: Sequence[Any]) -> list[str]:
        counted = Counter(map(self._entry, values))
        if len(counted) > MAX_SERIES:
            self._note_cut(MAX_SERIES, len(counted))
        return [name for name, _ in counted.most_common(MAX_SERIES)]

    def _histogram(self) -> tuple[Chart, str]:
        measure = next(iter(self._measures), None) or self.only_measure()
        if measure is None:
            raise InputError(
                tr("Name the column of numbers whose distribution is drawn."), hint=self._columns
            )
        at, kept = measure.sql, self._where(f"{measure.sql} IS NOT NULL")
        sql = (
            f"SELECT min({at}), max({at}), count(*), quantile_cont({at}, 0.25), "
            f"quantile_cont({at}, 0.75) FROM {self.relation.sql}{kept}"
        )
        low, high, count, first, third = self._db.rows(sql, 1)[1][0]
        if not count:
            raise InputError(tr("No row fits, so there is nothing to draw."))
        # Freedman and Diaconis, "On the histogram as a density estimator", 1981.
        width = 2 * float(third - first) / count ** (1 / 3) or float(high - low) / 10
        width = _round_up(max(width, float(high - low) / MAX_BINS) or 1.0)
        if measure.column.whole:
            width = max(1.0, width)
        start = math.floor(low / width) * width
        group = self.group[:1]
        sql = (
            f"SELECT floor(({at} - {start}) / {width})::BIGINT, count(*)"
            f"{''.join(f', {item.sql}' for item in group)} FROM {self.relation.sql}{kept} "
            f"GROUP BY 1{', 3' if group else ''} ORDER BY 1"
        )
        current_detail.get()(f"SQL: {sql}")
        rows = self._db.rows(sql, MAX_TIMES)[1]
        weight: Counter[str] = Counter()
        counts: dict[str, Counter[int]] = defaultdict(Counter)
        for place, number, *other in rows:
            name = self._entry(other[0]) if group else tr(ROWS)
            counts[name][place] += number
            weight[name] += number
        if len(weight) > MAX_SERIES:
            self._note_cut(MAX_SERIES, len(weight))
        bins = range(rows[-1][0] + 1)
        told = tr("distribution of {name}", name=measure.name) + self.where_told()
        return Chart(
            "histogram", _capital(told), [start + place * width for place in bins],
            [ChartSeries(name, [counts[name][place] for place in bins])
             for name, _ in weight.most_common(MAX_SERIES)],
            across=measure.name, up=tr(ROWS), place_number=_writer(measure.column, [low, high]),
            width=width,
        ), told  # fmt: skip


def _round_up(value: float) -> float:
    """Return the next of 1, 2, 5, 10, 20, ..."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value * 0.999)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _writer(column: TableColumn | None, values: Iterable[Any]) -> Callable[[float], str]:
    """Return how numbers of a column are written in a chart of these values: short if large."""
    peak = max((abs(value) for value in values if isinstance(value, int | float)), default=0)
    unit = column.unit if column else ""

    def written(value: float) -> str:
        if peak < 1e7:
            return cell_text(int(value) if float(value).is_integer() else value, column)
        short = f"{value / (1e9 if peak >= 1e10 else 1e6):,.4g}"
        form = mark("{number} bn") if peak >= 1e10 else mark("{number} m")
        return f"{tr(form, number=short)} {unit}".strip() if value else "0"

    return written


CHART = define(
    name="chart", label="Draw chart",
    summary="Draws a chart of a table: lines, bars, a pie, points or a histogram, by groups and "
    "months, as a picture or as SVG.",
    ports=(Port("table", (Kind.TABLE,), many=True), Port("question", (Kind.TEXT,))),
    gives=(Kind.IMAGE, Kind.TEXT, Kind.DOCUMENT),
    options=(
        TaskOption("kind", "line, bar, pie, scatter or histogram; what fits, if empty", ""),
        TaskOption("format", "the kind of file", "png", choices=("png", "svg")),
        TaskOption("look", "light or dark; as the window, if empty", ""),
    ),
    cues=(
        "^plot", "^chart", "^graph", "plot ... against", "plot ... versus", "plot ... vs",
        "plot ... over", "plot ... by", "^visuali* ... by", "^visuali* ... per", "^zeichne den",
        "^visuali* ... over time", "chart of", "graph of", "plot of", "diagram of", "a chart",
        "a graph", "a plot", "chart from", "bar chart", "column chart", "line chart", "pie chart",
        "scatter plot", "scatter chart", "bar graph", "line graph", "bar plot", "line plot",
        "donut chart", "draw a chart", "draw a bar chart", "draw a line chart",
        "draw a pie chart", "draw ... pie of", "pie of", "draw a graph", "draw a histogram",
        "draw a scatter plot",
        "make a chart", "make a graph", "draw a diagram", "histogram", "histogram of",
        "show the distribution of", "distribution of",
        "balkendiagramm", "säulendiagramm", "liniendiagramm", "kreisdiagramm", "tortendiagramm",
        "kuchendiagramm", "streudiagramm", "punktdiagramm", "histogramm", "diagramm", "plotte",
        "^zeichne die", "^zeichne das", "im zeitverlauf",
    ),
    method=draw_chart,
    note="DuckDB adds up the values, and matplotlib draws them",
)  # fmt: skip
