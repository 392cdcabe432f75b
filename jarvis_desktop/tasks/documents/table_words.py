"""What the words of a question about a table stand for: columns, entries, numbers and dates.

A word that stands for nothing stays unread, and the answer says so. Where two readings are as
good as each other, the first is taken and the other is told.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from jarvis_desktop.core.i18n import tr
from jarvis_desktop.tasks.documents.table_database import (
    ColumnType,
    TableColumn,
)
from jarvis_desktop.tasks.documents.table_german import noun_in_english
from jarvis_desktop.text.tokens import FUNCTION_WORDS, stem

_token = re.compile(r"\d+(?:[.,]\d+)*(?![^\W_])|[^\W_]+(?:['’][^\W_]+)*")

GRAINS = ("year", "quarter", "month", "week", "weekday", "day", "hour")

UNIQUE_SHARE = 0.98
"""Of the rows: a column with so many different entries names each of them."""

MAX_MATCHED = 12
"""Entries that a single word may stand for: "Keller" for each of that name."""

# What the parts of column names and the words of questions may stand for one another.
SAME = [
    set(line.split())
    for line in """
    maximum max highest high
    minimum min lowest low
    average avg mean
    quantity units pieces count
    amount total value worth sum price cost spending spent spend expense expenditure
    out spending spent spend expense expenditure
    number num no nr
    percent percentage
    telephone phone
    birth born birthday dob
    revenue sales turnover earnings takings income proceeds
    salary pay earn wage income earnings paid
    payment pay paid
    loan loaned lent borrow borrowed
    price cost costs fare fee charge
    population people inhabitants residents
    customer client buyer
    employee staff worker colleague person people
    title movie film book song album
    country nation
    city town
    runtime duration length minutes
    score grade mark points result
    rain precipitation rainfall
    delay late overdue
    area size
    product item article
    category kind type genre sort
    merchant shop store vendor
    student pupil
    author writer
    team club
    date day when
    gender sex
    job position role occupation
    weight mass
    income gdp
    origin departure
    destination arrival
    manager boss
    start hired joined started began
    signup joined registered
    profit gain margin save saved savings surplus
    absent absence absences absentee missed
    won win wins winning victories
    lost lose loses losing losses defeats
    drawn draw draws drew
    against conceded
    distance km kilometer kilometres mileage
    attendance spectators visitors crowd audience viewers turnout
    energy kwh electricity power consumption usage use consumed
    payee recipient vendor supplier
    location place site office
    stock inventory
    year released published founded
    """.strip().splitlines()
]

_ABBREVIATIONS = dict(
    pair.replace("_", " ").split(":")
    for pair in """temp:temperature tmp:temperature qty:quantity amt:amount dept:department
    pct:percent addr:address tel:telephone dest:destination dep:departure arr:arrival hum:humidity
    precip:precipitation prcp:precipitation rh:humidity batt:battery wt:weight ht:height hrs:hours
    pax:passengers fav:favourite favorite:favourite abs:absent bal:balance cust:customer vol:volume
    desc:description acct:account bpm:heart_rate avg:average ts:time timestamp:time""".split()
)
"""What the names of columns and users write short."""

_INCOME = ("income", "revenue", "turnover", "earnings", "takings")
VERBS: Mapping[str, str] = {
    "earn": "salary wage pay income earnings",
    **dict.fromkeys(("pay", "paid"), "salary wage pay amount total cost price fee"),
    "cost": "price cost",
    "spend": "out debit amount spending total cost price value",
    "spent": "out debit amount spending total cost value",
    "buy": "amount total", "weigh": "weight mass",
    "live": "population inhabitants people residents",
    "rain": "rain precipitation rainfall", "last": "duration runtime length minutes",
    "score": "score points goals", "old": "age", "tall": "height",
    "long": "duration runtime length",
    "heavy": "weight mass", "big": "area size population", "large": "area size population",
    "expensive": "price cost amount", "spending": "amount cost total",
    "hot": "temp temperature", "warm": "temp temperature",
    **dict.fromkeys(("sell", "sold"), "units quantity revenue sales"),
    "take": "takings", "took": "takings",
    "money": "in credit takings revenue income amount total", "harvested": "yield",
    **dict.fromkeys(("driven", "drive", "drove"), "distance"),
    "far": "distance", "fast": "speed", "high": "height elevation", "delay": "delay",
    "late": "delay", "use": "consumption usage kwh", "consume": "consumption usage kwh",
    **dict.fromkeys(("raised", "raise", "donated", "given", "gave", "collected", "claimed"),
                    "amount gift donation total"),
    **dict.fromkeys(("make", "made"), "profit margin takings revenue income sales"),
    **dict.fromkeys(("owe", "owed", "owes"), "owed due outstanding balance debt"),
    "produce": "production output yield generation",
    **dict.fromkeys(_INCOME, "revenue sales amount total value fare fee price"),
}  # fmt: skip
"""Verbs and adjectives, and the columns that they speak of."""

UP = frozenset("highest largest biggest most greatest maximum max top best".split())
DOWN = frozenset("lowest smallest least minimum min fewest worst bottom".split())
ADJECTIVES: dict[str, tuple[bool, str]] = {
    "cheapest": (False, "price cost amount"), "expensive": (True, "price cost amount"),
    "priciest": (True, "price cost amount"), "dearest": (True, "price cost amount"),
    "costly": (True, "price cost amount"), "oldest": (True, "age"), "youngest": (False, "age"),
    "longest": (True, "duration runtime length distance time minutes"),
    "shortest": (False, "duration runtime length height distance time minutes"),
    "tallest": (True, "height"), "heaviest": (True, "weight mass"),
    "lightest": (False, "weight mass"), "fastest": (True, "speed"), "slowest": (False, "speed"),
    "hottest": (True, "temp temperature"), "warmest": (True, "temp temperature"),
    "coldest": (False, "temp temperature"), "coolest": (False, "temp temperature"),
    "wettest": (True, "rain precipitation rainfall"),
    "rainiest": (True, "rain precipitation rainfall"),
    "driest": (False, "rain precipitation rainfall"), "windiest": (True, "wind"),
    "richest": (True, "gdp income wealth salary"), "poorest": (False, "gdp income wealth"),
    "populous": (True, "population"), "deepest": (True, "depth"),
    "popular": (True, "votes popularity #"),
    "profitable": (True, "profit margin"), "farthest": (True, "distance"),
    "furthest": (True, "distance"), "closest": (False, "distance"),
    "latest": (True, "date"), "next": (False, "date"), "soonest": (False, "date"),
    "newest": (True, "date"), "recent": (True, "date"),
    "recently": (True, "date"), "last": (True, "date"),
    "earliest": (False, "date"), "first": (False, "date"), "common": (True, "#"),
    "frequent": (True, "#"), "often": (True, "#"), "frequently": (True, "#"),
    "busiest": (True, "#"), "largest": (True, "area population size height"),
    "biggest": (True, "area population size height"),
    "smallest": (False, "area population size height"),
    "best": (True, "rating score grade points"), "worst": (False, "rating score grade points"),
    "rated": (True, "rating score"), "paid": (True, "salary wage pay"),
}  # fmt: skip
"""Whether the largest is meant, and of which column; "#" counts rows."""

_units = frozenset(
    "eur usd gbp chf km km2 m2 mm cm kg g min mins minutes sec seconds hours hrs pct percent pc "
    "degc celsius c f lbs sqkm sqm kwh mw id".split()
)
_states = frozenset(
    "v volt volts ppm ppb hpa bar kmh mph kph c °c f db bpm rpm kw w ph psi".split()
)
"""Units of which a sum means nothing."""
_scale = re.compile(r"\b\d ?[-–] ?\d+\b|\bout of \d|/ ?\d+\b")
_currency = re.compile(r"[€$£¥]|(?<![a-z])(?:eur|usd|gbp|chf)(?![a-z])")
_lasting = frozenset(
    "runtime duration time delay length wait travel trip ride play finish half lap split race run "
    "swim bike walk work break idle cook cooking prep bake baking total".split()
)
_additive_not = frozenset(
    "price rate ratio percent pct percentage score rating grade mark temp temperature age year "
    "height weight mass speed lat latitude lon lng longitude index avg average mean median share "
    "gpa bmi level rank zip postcode id number no nr salary wage humidity pressure depth "
    "discount elevation wind distance length pulse systolic diastolic balance".split()
)
"""Parts of the names of columns that are not added up: nobody asks for a sum of ages."""

_heads = frozenset("day date time year month week no id".split())
_numbered = frozenset(
    "ward district group class cluster room store section lane page bed chapter round season shift "
    "quarter month day hour week zone region route track episode gate terminal matchday "
    "floor storey stage deck platform pitch court".split()
)
"""Names of columns whose whole numbers name things."""

ASKING = FUNCTION_WORDS | frozenset(
    """show list give tell find get display print name please csv table tables spreadsheet sheet
    file data dataset rows row entry entries record records line lines value values column columns
    see let know calculate compute work much many number count whats what's who's which's is are
    there any every all overall total altogether together sorted sort order ordered ascending
    descending get got made make make did does do had happen happened first per each average mean
    according based come came bring brought compare compared went go going take took according
    within across among amongst during one ones whole entire time times comes issued placed occurred
    registered recorded contain contains include includes included involving us please still yet
    actually currently so far ever need needs want wants typically usually normally really anything
    something stuff got when's where's who's
    everybody everyone everything anybody single played play use write""".split()
)
"""Words that say nothing about the rows."""

PERSON_STEMS = frozenset(map(stem, "people person employee worker staff member colleague".split()))

UNIT_NAMES = {
    form: unit
    for unit, forms in {
        "min": "min mins minute minutes", "h": "h hr hrs hour hours",
        "s": "s sec secs second seconds",
        "km": "km kilometre kilometres kilometer kilometers", "m": "m metre metres meter meters",
        "mm": "mm millimetre millimetres", "cm": "cm", "kg": "kg kilo kilos kilograms",
        "g": "g grams", "d": "day days", "mi": "mile miles", "kwh": "kwh",
    }.items()
    for form in forms.split()
}  # fmt: skip
CONVERSIONS = {
    ("h", "min"): 60.0, ("min", "h"): 1 / 60, ("min", "s"): 60.0, ("s", "min"): 1 / 60,
    ("h", "s"): 3600.0, ("km", "m"): 1000.0, ("m", "km"): 0.001, ("kg", "g"): 1000.0,
    ("g", "kg"): 0.001, ("cm", "mm"): 10.0, ("m", "cm"): 100.0, ("cm", "m"): 0.01,
}  # fmt: skip


class QuestionWord(NamedTuple):
    """A word of a question: folded, its stem, and where it is in the text."""

    text: str
    stem: str
    start: int
    end: int


_of_a_time = frozenset("this last previous prior next current per".split())


@dataclass(frozen=True)
class TableField:
    """A column that a question may be about."""

    column: TableColumn
    sql: str
    parts: tuple[str, ...]
    rows: int
    made: bool = False
    """Whether it is made of other columns of the file."""

    @property
    def name(self) -> str:
        """The name in the file."""
        return self.column.name

    @property
    def units(self) -> frozenset[str]:
        """The units in its name: "km" of distance_km."""
        words = (word.lower() for word in name_words(self.name) if "rate" not in self.parts)
        return frozenset(UNIT_NAMES.get(word, "") for word in words) - {""}

    @property
    def is_number(self) -> bool:
        """Whether it has numbers."""
        return self.column.type is ColumnType.NUMBER

    @property
    def is_id(self) -> bool:
        """Whether it only numbers the rows or names them."""
        return bool({"id", "no", "nr", "key", "code", "zip"} & set(self.parts)) or (
            self.parts == ("number",)
        )

    @property
    def is_year(self) -> bool:
        """Whether its numbers are years, and not those of one: "sold last year"."""
        return self.is_number and "year" in self.parts and not _of_a_time & {*self.parts}

    @property
    def is_measure(self) -> bool:
        """Whether its numbers measure something."""
        rate = self.column.unit or "/" in self.name  # "cost / month"
        names_things = self.column.whole and not rate and self.parts[-1] in _numbered
        return self.is_number and not (self.is_id or self.is_year or names_things)

    @property
    def adds_up(self) -> bool:
        """Whether a sum of it means something."""
        counts = self.parts[:2] == ("number", "of")
        sums = self.made or "due" in self.parts  # not so a plain balance
        known = ({"number"} if counts else set()) | ({"balance"} if sums else set())
        parts = {*self.parts, *map(stem, self.parts)} - known
        name = self.name.lower()
        state = _scale.search(name) or _states.intersection(re.split(r"[^a-z%°]+", name)[1:])
        return self.is_measure and not (_additive_not & parts or state)

    @property
    def is_money(self) -> bool:
        """Whether its numbers are amounts of money."""
        unit = self.column.unit not in ("", "%") or _currency.search(self.name.lower())
        return self.is_measure and bool(unit or {"price", "salary", "cost"} & {*self.parts})

    @property
    def is_unique(self) -> bool:
        """Whether every row has another entry."""
        return is_unique(self.column, self.rows)


@dataclass(frozen=True)
class Relation:
    """What a question is asked of: a table, or two that are joined."""

    sql: str  # what follows FROM
    fields: tuple[TableField, ...]
    nouns: frozenset[str]
    """Stems of the words for one of its rows."""
    rows: int
    others: frozenset[str] = frozenset()
    """Stems of the words for the rows of the table that is joined."""
    names: Mapping[str, TableField] = field(default_factory=dict)
    """The names that stand for the keys of another table, by the SQL of the key."""
    title: frozenset[str] = frozenset()
    """The words of the table's name."""
    head: str = ""
    """The stem of the last word of its name: what it is a table of."""
    tables: int = 1
    """How many tables of the same columns it is made of."""
    count: TableField | None = None
    """A column of how many rows of another table belong to each of its rows."""

    @property
    def dates(self) -> list[TableField]:
        """The columns of dates."""
        return [item for item in self.fields if item.column.type is ColumnType.DATE]

    @property
    def clocks(self) -> list[TableField]:
        """The columns of times of day."""
        return [item for item in self.fields if item.column.clock]

    @property
    def label(self) -> TableField | None:
        """The column that names the rows."""
        texts = [item for item in self.fields if item.column.type is ColumnType.TEXT]
        made = [item for item in texts if item.made]
        called = [it for it in texts if it.parts in (("name",), ("title",))]
        texts = [it for it in texts if not (it.is_id and it.column.distinct)] or texts
        nouns = [it for it in texts if self.nouns & {*it.parts, *map(stem, it.parts)}]
        named = [it for it in texts if {"name", "title"} & set(it.parts)]
        # Of several that differ in each row, the first is the name: the others describe it.
        unique = [item for item in texts if item.is_unique and not item.is_id]
        wide = sorted(texts, key=lambda item: -item.column.distinct)
        sure = [item for item in (*called, *nouns) if item.is_unique]
        return next(iter([*made, *sure, *unique, *nouns, *named, *wide]), None)


def folded(text: str) -> str:
    """Lower case without accents, of the same length."""
    out = []
    for sign in text:
        plain = unicodedata.normalize("NFKD", sign)[0] if ord(sign) > 127 else sign
        lowered = plain.lower()
        out.append(lowered if len(lowered) == 1 else sign)
    return "".join(out)


def words_of(text: str) -> list[QuestionWord]:
    """The words of a text."""
    plain = folded(text)
    return [
        QuestionWord(it[0], stem(_ABBREVIATIONS.get(it[0], it[0])), it.start(), it.end())
        for it in _token.finditer(plain)
    ]


def is_unique(column: TableColumn, rows: int) -> bool:
    """Whether nearly every row has another entry there."""
    return column.distinct >= UNIQUE_SHARE * rows


def name_words(name: str) -> list[str]:
    """The words that a column's name is made of: "unit", "Price" of "unitPrice"."""
    words = re.sub(r"[_\W]+", " ", name).split()
    return [
        part
        for word in words
        for part in (
            [word] if word.lower() in _units else re.sub(r"(?<=[a-z])(?=[A-Z])", " ", word).split()
        )
    ]


@cache
def name_parts(name: str) -> tuple[str, ...]:
    """The words of a column's name: "unitPrice", "Salary (EUR)"; units at its end do not count."""
    words = [folded(word) for word in name_words(name)]
    lasting = _lasting & {*words}  # "min" is the smallest of anything else
    bare = [
        word
        for word in words
        if word not in _units or word == "id" or (word == "min" and not lasting)
    ] or words
    short = _ABBREVIATIONS | ({"t": "temperature", "hr": "heart rate"} if words[1:] else {})
    return tuple(it for word in map(noun_in_english, bare) for it in short.get(word, word).split())


@dataclass
class Filter:
    """A condition on the rows, in SQL and in words; `start` is where the question says it."""

    sql: str
    told: str
    start: int
    field: TableField | None = None
    value: str = ""
    period: str = ""
    """The time in words, if it is a single one."""
    ends: tuple[tuple[str, str], ...] = ()
    """The first and the last of several times, each in SQL and in words."""
    others: tuple[TableField, ...] = ()
    """Other columns that have the entry as well."""
    denied: str = ""
    """The SQL of what is denied, if it is an entry: "not from Graz"."""


@dataclass
class ColumnMention:
    """Words of a question that name a column."""

    start: int
    end: int
    field: TableField
    score: float
    rivals: tuple[TableField, ...] = ()
    guessed: bool = False
    """Whether the word only means something like the column's name."""


@dataclass
class ReadWords:
    """What has been found in a question so far."""

    text: str
    words: list[QuestionWord]
    relation: Relation
    used: set[int] = field(default_factory=set)
    filters: list[Filter] = field(default_factory=list)
    mentions: list[ColumnMention] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    guessed: int = 0
    """Words that were read as a column by their meaning alone."""
    shouted: frozenset[str] = frozenset()
    """Words that the question has in capitals, and in no other: "the IT team"."""

    def doubt(self, told: str) -> None:
        """Add a note to the answer that it may be meant otherwise."""
        if told not in self.doubts:
            self.doubts.append(told)

    def doubt_time(self, dates: Sequence[TableField]) -> None:
        """Tell which of several columns of dates is meant by a time."""
        others = ", ".join(item.name for item in dates[1:3])
        told = tr("The time is that of {name}, not of {names}.", name=dates[0].name, names=others)
        self.doubt(told)

    def use(self, start: int, end: int) -> None:
        """Mark the words from one place of the text to another as read."""
        self.take(*(at for at, word in enumerate(self.words) if start <= word.start < end))

    def take(self, *places: int) -> None:
        """Mark words as read; a column that was guessed is told."""
        for at in places:
            named = (
                self.mention_at(at) if 0 <= at < len(self.words) and at not in self.used else None
            )
            if named and named.guessed:
                told = tr(
                    "“{word}” is read as {name}.", word=self.words[at].text, name=named.field.name
                )
                self.doubt(told)
                self.guessed += 1
            self.used.add(at)

    def unread(self, only: Collection[str] = ()) -> list[str]:
        """The words that stand for nothing that was found, or those of `only` that do."""
        left = (word.text for at, word in enumerate(self.words) if at not in self.used)
        return [it for it in left if (it in only if only else it not in ASKING and len(it) > 1)]

    def mention_at(self, at: int) -> ColumnMention | None:
        """The column that is named at a word."""
        place = self.words[at].start
        return next((item for item in self.mentions if item.start <= place < item.end), None)

    def word_before(self, start: int) -> str:
        """The word before a place of the text; "" if there is none."""
        before = [word for word in self.words if word.start < start]
        return before[-1].text if before else ""


def strength(word: QuestionWord, part: str) -> float:
    """How surely a word stands for a part of a column's name, from 0 to 1."""
    if word.text == part or word.stem.removesuffix("e") == stem(part).removesuffix("e"):
        return 1.0
    if len(part) >= 4 and len(word.text) >= 4:
        short, long = sorted((word.stem, stem(part)), key=len)
        if long.startswith(short) and len(short) >= 4 and len(long) - len(short) <= 4:
            # A compound is what its last word says: "matches" is not "matchday".
            return 0.0 if long.removeprefix(short) in _heads else 0.9
        if len(part) >= 5 and word.text.startswith(part):
            return 0.9  # cut off: "satisf"
        if len(word.stem) >= 5 and part.endswith((word.stem, word.text)):
            return 0.8  # a German compound: "Beitrag" of "Jahresbeitrag"
    if any({word.text, word.stem} & same and {part, stem(part)} & same for same in SAME):
        return 0.6
    if len(word.text) >= 5 and len(part) >= 5:
        from rapidfuzz.distance import DamerauLevenshtein

        if DamerauLevenshtein.distance(word.text, part, score_cutoff=1) <= 1:
            return 0.8
    return 0.0


def mentions_of(read: ReadWords) -> Iterator[ColumnMention]:
    """Each word with the column that it stands for; neighbours that name one column together."""
    found: dict[int, list[tuple[float, float, TableField]]] = defaultdict(list)
    for at, word in enumerate(read.words):
        if word.text in FUNCTION_WORDS and word.text not in ("no",):
            continue
        for each in read.relation.fields:
            best = max((strength(word, part) for part in each.parts), default=0.0)
            if best and not (best < 0.7 and each.is_id):
                near = sum(
                    max(strength(read.words[other], part) for part in each.parts)
                    for other in (at - 1, at + 1)
                    if 0 <= other < len(read.words)
                    and read.words[other].text not in FUNCTION_WORDS
                    and {part for part in each.parts if strength(read.words[other], part)}
                    != {part for part in each.parts if strength(word, part)}
                )
                found[at].append((best + near, best / len(each.parts), each))
    for start, end, each in _initials(read):
        yield ColumnMention(read.words[start].start, read.words[end - 1].end, each, 2.5)
        found = {at: listed for at, listed in found.items() if not start <= at < end}
    for at, listed in found.items():
        ranked = sorted(listed, key=lambda item: (-item[0], -item[1]))
        total, share, best_field = ranked[0]
        rivals = tuple(
            item
            for score, part, item in ranked[1:]
            if score >= total - 0.01 and part >= share - 0.01
        )
        word = read.words[at]
        yield ColumnMention(word.start, word.end, best_field, total + share, rivals)


def _initials(read: ReadWords) -> Iterator[tuple[int, int, TableField]]:
    """Words of which a column has the first letters: "home goals" of HG."""
    for each in read.relation.fields:
        short = folded(each.name) if each.name.isupper() and each.name.isalpha() else ""
        for start in range(len(read.words) if 1 < len(short) < 5 else 0):
            said = read.words[start : start + len(short)]
            plain = all(word.text not in FUNCTION_WORDS and len(word.text) > 2 for word in said)
            if plain and "".join(word.text[0] for word in said) == short:
                yield start, start + len(short), each


def hinted_fields(fields: Iterable[TableField], hint: str) -> list[TableField]:
    """The fields that a hint speaks of, the likeliest first."""
    pool = list(fields)
    found = [item for word in hint.split() for item in pool if word in item.parts]
    if not found:  # "amt" is an amount
        words = words_of(hint)
        found = [it for w in words for it in pool if any(strength(w, part) for part in it.parts)]
    if not found and {"amount", "price", "cost"} & {*hint.split()}:
        found = [it for it in pool if it.is_money and not {"pay", "salary", "wage"} & {*it.parts}]
    return list(dict.fromkeys(found))


def hinted(read: ReadWords, hint: str) -> list[TableField]:
    """The measures and dates that a hint speaks of."""
    found = hinted_fields((it for it in read.relation.fields if not it.is_id), hint)
    return in_direction(found, read)


_INWARDS = frozenset("in credit credits deposit deposits received".split())
_OUTWARDS = frozenset("out debit debits withdrawal withdrawals".split())
_ways = re.compile(
    r"\b(?:(?P<gained>(?:c[ao]me|coming|money|paid|went|go|goes) in(?:to)?\b|earn|receiv|deposit)|"
    r"sp[ae]n[dt]|pa(?:y|id)|cost|expen|went|go(?:es|ne)? (?:to|out|on)|bought|buy|out\b)"
)


def in_direction(fields: Sequence[TableField], read: ReadWords) -> list[TableField]:
    """Of money paid in and money paid out, what the question speaks of."""
    gained, spent = (
        [it for it in fields if it.is_measure and ways & {*it.parts}]
        for ways in (_INWARDS, _OUTWARDS)
    )
    way = _ways.search(read.text) if gained and spent else None
    others = (spent if way["gained"] else gained) if way else []
    return [it for it in fields if it not in others]


def verb_hints(read: ReadWords) -> list[tuple[int, list[TableField]]]:
    """Measures that verbs and adjectives may speak of: "who earns the most"."""
    found = []
    for at, word in enumerate(read.words):
        hint = VERBS.get(word.text) or VERBS.get(word.stem) or ""
        if word.text in _INCOME and read.mention_at(at):
            continue  # the table has a column for it
        if measures := [item for item in hinted(read, hint) if item.is_measure]:
            found.append((at, measures))
    return found


_asking = """average mean median total sum percentage percent share proportion fraction different
distinct unique earn earns spend spent cost costs live lives lived people person who sold sell
deviation standard correlation between difference range"""
_grains = (f"{grain}{end}" for grain in GRAINS for end in ("", "s"))
RESERVED = frozenset((*UP, *DOWN, *ADJECTIVES, *_grains, *_asking.split())) - {"paid"}
"""Words that ask rather than name an entry."""
