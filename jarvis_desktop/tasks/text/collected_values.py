"""The task that collects values out of texts by how they are written: addresses, numbers, dates.

What is collected is exact, so it can be sorted, counted and added up; names, which are a guess, are
left to the task that labels them.
"""

from __future__ import annotations

import csv
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.definition import define
from jarvis_desktop.tasks.documents.to_text import text_of
from jarvis_desktop.tasks.text.extraction import COLLECTED, find
from jarvis_desktop.text.dates import MONTHS
from jarvis_desktop.text.lazy_re import lazy_re

MAX_CHARS = 5_000_000
"""Characters of a text that are looked through; a longer text is refused, not read in part."""

_german_months = (
    "januar februar märz april mai juni juli august september oktober november dezember"
).split()
_month_numbers = {
    said: number
    for names in (MONTHS, _german_months)
    for number, name in enumerate(names, 1)
    for said in (name, name[:3])
} | {"sept": 9, "maerz": 3, "mrz": 3}

_asked = {
    "email": r"e-?mail(?:[ -]?adress?\w*| addresses?)?s?|mail[ -]?(?:addresses|adressen)",
    "web address": r"(?:web ?)?links?|urls?|web (?:address|site|page)\w*|(?:web|internet)adressen?",
    "phone number": r"(?:tele)?phone(?: number)?s?|mobile numbers?|telefonnummern?|handynummern?",
    "date": r"dates|every date|each date|all date|daten|datumsangaben",
    "time": r"times of (?:the )?day|clock times|uhrzeiten",
    "money": r"amounts?(?: of money)?|sums(?: of money)?|prices|(?:geld)?beträge|preise|summen",
    "percentage": r"per\s?cent(?:age)?s?|prozent(?:zahlen|angaben|sätze)?",
    "ip": r"ip(?:[ -]?(?:addresses|address|adressen|adresse))?s?",
    "hashtag": r"hashtags?",
    "iban": r"ibans?",
}
_asked_for = {kind: lazy_re(rf"\b(?:{form})\b", re.IGNORECASE) for kind, form in _asked.items()}
_month_names = "|".join(f"{it[:3]}(?:{it[3:]})?" for it in _german_months)
_byte = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_patterns = {
    "phone number": lazy_re(
        r"(?<![\w.,/+-])(?:(?:\+\d{1,3}|\(?0\d{1,5}\)?|\(\d{2,5}\))"
        r"(?:[ ./-]{0,2}\(?\d{1,12}\)?){1,6}"
        r"|\d{3}[-. ]\d{3}[-. ]\d{4}|\d{3}-\d{4})(?![\w-]|[.,]\d)"
    ),
    "german date": lazy_re(
        rf"(?<![\w.])\d{{1,2}}\.\s?(?:{_month_names})\b\.?(?:\s\d{{4}}\b)?",
        re.IGNORECASE,
    ),
    "ip": lazy_re(rf"(?<![\d.])(?:{_byte}\.){{3}}{_byte}(?![\d.])"),
    "hashtag": lazy_re(r"(?<![\w#&/])#[^\W\d]\w*"),
    "iban": lazy_re(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b"),
}
_headers = {
    "email": mark("e-mail"), "web address": mark("web address"), "date": mark("date"),
    "phone number": mark("phone number"), "time": mark("time"), "money": mark("amount"),
    "percentage": mark("percentage"), "ip": mark("IP address"), "hashtag": mark("hashtag"),
    "iban": mark("IBAN"),
}  # fmt: skip
"""The names of columns."""
_AMOUNTS = ("money", "percentage")
_none = mark("There is nothing of that kind in the text: {kinds}.")

_as_table = lazy_re(r"\b(?:tables?|csv|spreadsheet|excel|xlsx|tabelle)\b", re.IGNORECASE)
_added = lazy_re(
    r"\b(?:add|sum|total)\w*\s+(?:\w+\s+){0,2}?(?:up|together)\b|\b(?:the|their|in) (?:sum|total)\b"
    r"(?! of money)|\btotal (?:amount|sum)\b|\baltogether\b|\bwhat\b.*\b(?:sum|total|add up)\b"
    r"|\bzusammen(?:rechnen|zählen)?\b|\binsgesamt\b|\bsumme\b|\baddier\w*",
    re.IGNORECASE,
)
_how_many = lazy_re(r"\bhow many\b|\bcount\b|\bwie viele\b|\bzähle?\b", re.IGNORECASE)
_how_often = lazy_re(
    r"\bhow (?:often|many times)\b|\bwith (?:their |the )?counts?\b|\bwie oft\b", re.IGNORECASE
)
_every_time = lazy_re(
    r"\b(?:every|each) (?:occurrence|time)\b"
    r"|\b(?:with|including|keep) (?:the )?(?:duplicates|repeats)\b"
    r"|\bauch doppelte\b",
    re.IGNORECASE,
)
_down = lazy_re(
    r"\b(?:latest|newest|largest|highest|biggest|most recent|(?:neues|spätes|größ|höchs)te\w*)"
    r"\s+(?:\w+\s+)?(?:first|on top|zuerst)\b|\bdescending\b|\babsteigend\b|\breverse\b",
    re.IGNORECASE,
)
_up = lazy_re(
    r"\b(?:earliest|oldest|smallest|lowest|früheste\w*|älteste\w*|kleinste\w*|niedrigste\w*)"
    r"\s+(?:\w+\s+)?(?:first|on top|zuerst)\b|\b(?:sort|order|arrange)(?:ed|iert|iere?)?\b"
    r"|\balphabeti\w+|\bascending\b|\baufsteigend\b|\bchronological\w*|\bsortier\w*|\bin order\b",
    re.IGNORECASE,
)
_once = lazy_re(
    r"\b(?:without|no|ohne|keine)\s+(?:any\s+)?(?:duplicates|repeats|repetitions|dubletten|doppelte)\b",
    re.IGNORECASE,
)
_place = lazy_re(
    r"\b(?:in|from|of|aus|von)\s+(?:all\s+|both\s+|allen\s+)?(?:of\s+)?"
    r"(?:the|these|this|those|my|our|diese[nrms]?|de[nrms]|meine[nr]?)\s+"
    r"(?:e-?mails?|mails?|letters?|notes?|dates?|prices?|links?)\b(?!\s*(?:,|and\b|und\b|or\b|with\b|mit\b))",
    re.IGNORECASE,
)
"""What texts are called, which names no values."""
_other_wish = lazy_re(
    r"\b(?:names?|people|persons?|places?|namen|personen|before|after|between|since|until|larger|greater|more|less|over|under|above|below|longest"
    r"|shortest|except|without|only the (?:first|last)|average|mean|median|vor|nach|zwischen|ohne"
    r"|mehr|weniger|who|whose|sender|belongs?|domain)\b",
    re.IGNORECASE,
)
"""Words that ask for some of the values only, or for names, which are not collected here."""
_CURRENCIES = {
    "EUR": ("€", "eur", "euro", "euros"), "USD": ("$", "usd", "us$", "dollar", "dollars"),
    "GBP": ("£", "gbp", "pounds sterling", "pound", "pounds"), "CHF": ("chf", "franc", "francs",
    "franken"), "JPY": ("¥", "jpy", "yen"), "INR": ("₹",),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Value:
    """A value as it is written, what it is, and in which text it is."""

    kind: str
    text: str
    source: str

    @property
    def same(self) -> str:
        """Equal for two that are the same."""
        if self.kind in ("email", "web address", "hashtag"):
            return self.text.casefold().rstrip("/")
        if self.kind in ("phone number", "iban"):
            return re.sub(r"[^\w+]", "", self.text)
        return " ".join(self.text.split()).casefold()


def collect(call: Call, report: Report) -> Iterable[Artifact]:
    """Return the values that are asked for, in lines or as a table. Raises ExpertError if it is not
    clear which, and InputError if there is no text or none of them in it."""
    asked, items = call.words("asked"), call.inputs["text"]
    kinds = kinds_asked(asked)
    if not kinds or _other_wish.search(_once.sub(" ", asked)):
        raise ExpertError(
            tr("I did not understand which values are to be collected."),
            hint=tr("Such as: all e-mail addresses, phone numbers, links, dates or amounts."),
        )
    found: list[Value] = []
    for item in items:
        report(None, tr("Reading {name}", name=item.title))
        text = text_of(item, report, call.workdir)
        if len(text) > MAX_CHARS:
            raise InputError(tr("{name} is too long for that.", name=item.title))
        found += values_in(text, kinds, item.title if item.path else "")
    currency = _currency_asked(asked) if "money" in kinds else ""
    found = [it for it in found if not currency or _amount(it.text)[1] == currency]
    if not found:
        names = ", ".join(tr(_headers[kind]) for kind in kinds)
        raise InputError(tr(_none, kinds=names))
    if kinds == ("money",) and _added.search(asked):
        return [text_artifact(_sums(found))]
    counts = Counter(value.same for value in found)
    if not _every_time.search(asked):
        # Two payments of the same amount are two.
        once = {(it.kind, it.same): it for it in reversed(found)}
        found = [it for it in found if it.kind in _AMOUNTS or it is once[it.kind, it.same]]
    found = _in_order(found, asked)
    if _how_many.search(asked) and not _how_often.search(asked):
        told = [trn("There is {count} in the text: {kind}.",
                    "There are {count} in the text: {kind}.",
                    sum(value.kind == kind for value in found), kind=tr(_headers[kind]))
                for kind in kinds]  # fmt: skip
        return [text_artifact("\n".join([*told, *(f"- {value.text}" for value in found)]))]
    often = counts if _how_often.search(asked) else None
    if _as_table.search(asked) or often:
        path = call.workdir / "values.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(_rows(found, kinds, often, files=len(items) > 1))
        return [Artifact(Kind.TABLE, path=path, name="values.csv")]
    return [text_artifact("\n".join(value.text for value in found))]


def kinds_asked(asked: str) -> tuple[str, ...]:
    """Return the kinds of values that words name."""
    for words in (_place.sub(" ", asked), asked):
        if kinds := tuple(kind for kind, form in _asked_for.items() if form.search(words)):
            return kinds
    return ()


def values_in(text: str, kinds: Sequence[str], source: str = "") -> list[Value]:
    """Return the values of these kinds, in the order in which they occur."""
    found: list[tuple[int, Value]] = []
    for kind in kinds:
        matches = list(_matches(text, kind))
        if kind == "phone number":
            others = [span for other in ("date", "ip", "iban") for span in _matches(text, other)]
            matches = _apart(matches, others)
        for start, end in matches:
            if text[start] == "(" and text.find(")", start, end) == end - 1:
                start, end = start + 1, end - 1  # "Ida (0170 1234567)"
            found.append((start, Value(kind, " ".join(text[start:end].split()), source)))
    return [value for _, value in sorted(found, key=lambda pair: pair[0])]


def _matches(text: str, kind: str) -> Iterator[tuple[int, int]]:
    """Yield where values of a kind begin and end."""
    if kind == "date":
        german = [it.span() for it in _patterns["german date"].finditer(text)]
        plain = [
            (it.start, it.start + len(it.text))
            for it in find(text, kind)
            if re.search(r"\d", it.text)
        ]
        yield from german
        yield from _apart(plain, sorted([*german, *_matches(text, "ip")]))
    elif kind in _patterns:
        for match in _patterns[kind].finditer(text):
            if kind != "phone number" or 6 <= sum(sign.isdigit() for sign in match[0]) <= 15:
                yield match.span()
    else:
        yield from ((it.start, it.start + len(it.text)) for it in find(text, kind))


def _apart(
    spans: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return the spans that overlap with none of the others."""
    taken = sorted(others)
    starts = [start for start, _ in taken]

    def is_free(span: tuple[int, int]) -> bool:
        at = bisect_left(starts, span[1])
        return at == 0 or taken[at - 1][1] <= span[0]

    return [span for span in spans if is_free(span)]


def day_of(written: str) -> tuple[int, int, int] | None:
    """Return the year, month and day of a date as it is written, with 0 for a year or day that it
    does not have; None for one that may be read in two ways."""
    if found := re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", written):
        day = int(found[1]), int(found[2]), int(found[3])
    elif found := re.fullmatch(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})", written):
        one, two = int(found[1]), int(found[3])
        year = int(found[4]) + (2000 if len(found[4]) == 2 else 0)
        if found[2] != "." and one <= 12 and two <= 12 and one != two:
            return None
        day = (year, two, one) if found[2] == "." or one > 12 else (year, one, two)
    else:
        words = re.findall(r"[^\W\d_]+|\d+", written.casefold())
        months = [_month_numbers[word] for word in words if word in _month_numbers]
        numbers = [int(word) for word in words if word.isdigit()]
        days = [number for number in numbers if number <= 31]
        years = [number for number in numbers if number > 31]
        if len(months) != 1 or len(days) > 1 or len(days) + len(years) == 0:
            return None
        day = (years[0] if years else 0, months[0], days[0] if days else 0)
    try:
        date(day[0] or 2000, day[1], day[2] or 1)
    except ValueError:
        return None
    return day


def _in_order(found: Sequence[Value], asked: str) -> list[Value]:
    """Return the values in the order that words name, else as they occur. Raises ExpertError if
    some cannot be put in order."""
    down = bool(_down.search(asked))
    if not down and not _up.search(asked):
        return list(found)

    days = [day_of(value.text) for value in found if value.kind == "date"]
    if len({bool(day[0]) for day in days if day}) > 1:
        raise ExpertError(tr("Some of the dates have no year, so they cannot be put in order."))

    def key(value: Value) -> tuple[object, ...]:
        if value.kind == "date":
            day = day_of(value.text)
            if day is None:
                raise ExpertError(tr("It is not clear which day {date} is.", date=value.text))
            return day
        if value.kind in _AMOUNTS:
            return (_amount(value.text)[0],)
        return (value.text.casefold(),)

    kinds = dict.fromkeys(value.kind for value in found)
    return [
        value
        for kind in kinds
        for value in sorted((it for it in found if it.kind == kind), key=key, reverse=down)
    ]


def _amount(written: str) -> tuple[float, str]:
    """Return an amount and its currency, "" for none."""
    number = re.search(r"\d[\d.,' ]*", written)
    digits = (number[0] if number else "0").strip(" .,").replace(" ", "").replace("'", "")
    if re.search(r",\d{1,2}$", digits) or re.fullmatch(r"\d{1,3}(?:\.\d{3})+", digits):
        digits = digits.replace(".", "").replace(",", ".")
    scale = re.search(r"(thousand|million|billion)|\d\s?(k|m|bn)\b", written, re.IGNORECASE)
    scales = {"thousand": 1e3, "k": 1e3, "million": 1e6, "m": 1e6, "billion": 1e9, "bn": 1e9}
    times = scales[(scale[1] or scale[2]).lower()] if scale else 1
    words = set(re.findall(r"[a-z$]+|[€£¥₹]", written.casefold()))
    currency = next((name for name, signs in _CURRENCIES.items() if words & {*signs}), "")
    return float(digits.replace(",", "")) * times, currency


def _currency_asked(asked: str) -> str:
    words = set(re.findall(r"[a-z]+|[€£¥₹$]", asked.casefold()))
    return next((name for name, signs in _CURRENCIES.items() if words & {*signs}), "")


def _sums(found: Sequence[Value]) -> str:
    """Return the sum for each currency, and what it is made of."""
    added: dict[str, list[float]] = {}
    for value in found:
        amount, currency = _amount(value.text)
        added.setdefault(currency, []).append(amount)
    told = [
        trn("The sum of {count} amount is {sum} {currency}.",
            "The sum of {count} amounts is {sum} {currency}.", len(amounts),
            sum=f"{sum(amounts):,.2f}", currency=currency).replace(" .", ".")
        for currency, amounts in added.items()
    ]  # fmt: skip
    return "\n".join([*told, *(f"- {value.text}" for value in found)])


def _rows(
    found: Sequence[Value], kinds: Sequence[str], often: Counter[str] | None, *, files: bool
) -> Iterable[list[str]]:
    several = len(kinds) > 1
    header = [tr("kind"), tr("value")] if several else [tr(_headers[kinds[0]])]
    yield [*header, *([tr("count")] if often else []), *([tr("file")] if files else [])]
    for value in found:
        cells = [tr(_headers[value.kind]), value.text] if several else [value.text]
        count = [str(often[value.same])] if often else []
        yield [*cells, *count, *([value.source] if files else [])]


_verbs = ("extract", "pull", "pull out", "collect", "gather", "find", "list", "get", "copy",
          "write", "write down", "save", "take", "take out", "list of", "what are",
          "give me")  # fmt: skip
_asking = ("get me", "find me", "show me", "make a list of", "note down", "pick out")
_which = ("", "the ", "all ", "all the ", "all of the ", "every ", "each ")
COLLECT_VALUES = define(
    name="collect-values", label="Collect values",
    summary="Collects e-mail addresses, phone numbers, links, dates, amounts of money, percentages "
    "or IP addresses out of texts, each once: as a list or table, sorted, counted or added up.",
    ports=(Port("text", (Kind.TEXT, Kind.DOCUMENT), many=True),), gives=(Kind.TEXT,),
    options=(TaskOption("asked", "what is collected, such as dates", "", reads="own-words"),),
    cues=(
        *(f"{verb} {which}{what}" for verb in _verbs for which in _which for what in COLLECTED),
        *(f"{verb} {which}{what}" for verb in _asking for which in ("all the ", "every ", "each ")
          for what in COLLECTED),
        *(f"{verb} ... {what}" for verb in ("sammle", "liste", "finde", "schreibe", "such")
          for what in ("e-mail-adressen", "telefonnummern", "beträge", "daten", "links")),
        *(f"add up {which}{what}" for which in _which
          for what in ("amounts in", "sums in", "prices in")),
        "add them up", "add them all up", "add these up", "sum them up", "total them",
        "rechne sie zusammen", "zähle sie zusammen", "addiere sie",
        *(f"how many {what} are in" for what in
          ("dates", "links", "phone numbers", "e-mail addresses", "email addresses")),
    ),
    method=collect, note="patterns for how they are written; knows no names",
)  # fmt: skip
