"""The tasks that extract from a text: key words, and dates, sums, addresses and names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.definition import define
from jarvis_desktop.tasks.text.classification import identify
from jarvis_desktop.text.dates import MONTH, WEEKDAY
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.numbers import NUMBER_WORDS
from jarvis_desktop.text.sentences import paragraphs
from jarvis_desktop.text.tokens import FUNCTION_WORDS

MAX_CHARS = 200_000
LANGUAGES = frozenset(
    "ar bg br cz da de el en es et fa fi fr hi hr hu hy id it ja lt lv nl no pl pt ro ru sk sl sv "
    "tr uk zh".split()
)
"""The languages whose function words YAKE knows; for others it would list "and" and "the"."""


def extract(call: Call, report: Report) -> Iterable[Artifact]:
    """The key words, best first, joined by commas. Raises InputError if there is no text."""
    text = call.text("text")
    if not any(sign.isalpha() for sign in text):
        raise InputError(tr("There are no words to choose key words from."))
    if len(text) > MAX_CHARS:
        report(None, tr("Reading the first {count:,} characters.", count=MAX_CHARS))
        text = text[:MAX_CHARS]
    count = min(max(int(call.number("count")), 1), 100)
    found = keywords(text, count)
    if not found:
        raise ExpertError(tr("The text is too short to have key words."))
    return [text_artifact(", ".join(found))]


def keywords(text: str, count: int) -> list[str]:
    """The best key words by YAKE, without those contained in a better one. Campos et al., "YAKE!
    Keyword extraction from single documents using multiple local features", Information Sciences
    509, 2020."""
    import yake

    language = identify(text)
    code = language.code if language.confidence > 0.8 else "en"
    code = {"cs": "cz", "nb": "no", "nn": "no"}.get(code, code)
    extractor = yake.KeywordExtractor(
        lan=code if code in LANGUAGES else "en", n=3, top=count * 4, dedup_lim=0.8
    )
    chosen: list[str] = []
    for phrase, _ in extractor.extract_keywords(text):
        words = set(phrase.casefold().split())
        # "Marcius" adds nothing to "Caius Marcius".
        if any(words & set(other.casefold().split()) == words for other in chosen):
            continue
        chosen.append(phrase)
        if len(chosen) == count:
            break
    return chosen


KEYWORD_EXTRACTION = define(
    name="keyword-extraction", label="Find key words",
    summary="Lists the key words and phrases of a text.",
    ports=(Port("text", (Kind.TEXT,)),),
    options=(TaskOption("count", "how many key words", 10, units=("key*", "word*", "tag*",
        "topic*")),),
    cues=(
        "keyword*", "keyword", "keywords", "key word*", "key phrase*", "keyphrase*",
        "key term*", "important words", "important terms", "topics", "main topics",
        "tags", "tag cloud", "hashtag*", "terms in", "main subjects", "most important words",
    ),
    method=extract, note="YAKE: statistics of the text itself",
)  # fmt: skip


MAX_LABELLED_CHARS = 500_000
MAX_PER_KIND = 100
_SHOWN = (
    "email", "web address", "date", "time", "money", "percentage", "phone number", "name",
)  # fmt: skip


_asked = {
    "email": lazy_re(r"\be-?mails?\b"),
    "web address": lazy_re(r"\b(?:links?|urls?|web (?:address|site|page)\w*|webseiten?)\b"),
    "date": lazy_re(r"\b(?:dates?|daten|datum|days?)\b"),
    "time": lazy_re(r"\b(?:times?|uhrzeiten|clock)\b"),
    "money": lazy_re(r"\b(?:sums?|prices?|amounts?|money|costs?|beträge?|preise?|summen?)\b"),
    "percentage": lazy_re(r"\b(?:per\s?cent\w*|prozent\w*)\b"),
    "phone number": lazy_re(r"\b(?:phone|telephone|telefon)"),
    "name": lazy_re(r"\b(?:names?|people|persons?|places?|who|namen|personen|orte)\b"),
}
"""How the kinds are asked for."""


def label(call: Call, report: Report) -> Iterable[Artifact]:
    """One line per kind that is asked for, or per item if it is the only kind. Raises InputError if
    there is no text."""
    text, asked = call.text("text"), call.words("asked").lower()
    if not text.strip():
        raise InputError(tr("There is no text to look through."))
    if len(text) > MAX_LABELLED_CHARS:
        report(None, tr("Reading the first {count:,} characters.", count=MAX_LABELLED_CHARS))
    found = entities(text[:MAX_LABELLED_CHARS])
    wanted = {kind for kind in _SHOWN if _asked[kind].search(asked)}
    found = {kind: items for kind, items in found.items() if kind in (wanted or _SHOWN)}
    if not found:
        none = " or ".join(_plural(kind).lower() for kind in _SHOWN if kind in wanted)
        return [text_artifact(f"There are no {none or _nothing} in the text.")]
    if len(wanted) == 1:
        return [text_artifact("\n".join(*found.values()))]
    lines = [f"{_plural(kind)}: {', '.join(items)}" for kind, items in found.items()]
    lines.append("These are found by how they are written, not by what they mean.")
    return [text_artifact("\n".join(lines))]


_nothing = "dates, sums, addresses or names"


def entities(text: str) -> dict[str, list[str]]:
    """The entities of each kind, each once, in order of appearance."""
    found: dict[str, list[str]] = {}
    for block in paragraphs(text):
        for item in find_all(block, _SHOWN):
            if item.kind == "name" and not _is_name(item, block):
                continue
            items = found.setdefault(item.kind, [])
            if item.text not in items and len(items) < MAX_PER_KIND:
                items.append(item.text)
    return {kind: found[kind] for kind in _SHOWN if kind in found}


def _is_name(item: PatternMatch, block: str) -> bool:
    if len(item.text) < 2 or item.text.casefold() in FUNCTION_WORDS:
        return False
    # The first word of a sentence is capitalised anyway.
    before = block[: item.start].rstrip(" \"'“‘(")
    opens = not before or before[-1] in ".!?:;"
    return not opens or " " in item.text


def _plural(kind: str) -> str:
    name = {"email": "e-mail", "money": "sum of money"}.get(kind, kind)
    return {
        "e-mail": "E-mails",
        "sum of money": "Sums of money",
        "web address": "Web addresses",
    }.get(name, f"{name}s".capitalize())


COLLECTED = (
    "e-mail address*", "email address*", "e-mails in", "emails in", "e-mail*", "email*",
    "phone number*", "telephone number*", "web address*", "links", "urls", "link*", "dates",
    "amounts", "amounts of money", "sums of money", "prices", "percentages", "ip address*",
    "hashtags", "ibans", "times of day",
)  # fmt: skip
"""What is known by how it is written; only beside names is it asked of the task below."""

TOKEN_CLASSIFICATION = define(
    name="token-classification", label="Find names and dates",
    summary="Lists the names, dates, sums and addresses in a text.",
    ports=(Port("text", (Kind.TEXT,)),),
    options=(TaskOption("asked", "what is listed, such as dates; all if empty", "",
                        reads="own-words"),),
    cues=(
        "entities", "named entit*", "entity recognition", "names in", "dates in",
        "phone numbers in", "e-mail addresses in", "email addresses in", "who is mentioned",
        "label the words", "token classification", "links in the text",
        *(f"{thing} mentioned" for thing in ("people", "places", "names", "companies", "dates")),
        *(
            f"{verb} {which}{what}"
            for verb in ("extract", "pull", "collect", "find", "list", "get", "pull out", "copy",
                         "list of")
            for which in ("", "the ", "all ", "all the ", "every ")
            for what in ("names", "people", "places", *(f"{it} and names" for it in COLLECTED))
        ),
        *(f"{lists} the people" for lists in ("list", "list of", "extract")),
    ),
    method=label, note="patterns for dates, sums, addresses, phones; names by capitals",
)  # fmt: skip


_MONTH = rf"{MONTH}\.?"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_NUMBER_WORD = rf"(?:{'|'.join(NUMBER_WORDS[1:])}|billion|dozen)"
_AMOUNT = r"\d{1,3}(?:[, ]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?"
_CURRENCY = r"(?:US\$|C\$|A\$|[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|JPY)\b)"
_CURRENCY_NAME = r"(?:dollars?|euros?|pounds sterling|cents?|francs?|yen|USD|EUR|GBP|CHF|JPY|[€£¥])"
_UNIT = (
    r"(?:(?:square |cubic )?(?:kilo|centi|milli)?met(?:re|er)s?|[kcm]?m[²³]?|feet|foot|ft"
    r"|inch(?:es)?"
    r"|yards?|miles?|mph|km/h|acres?|hectares?|grams?|kilos?|kilograms?|kg|g|mg|pounds?|lbs?"
    r"|ounces?"
    r"|tons?|tonnes?|lit(?:re|er)s?|gallons?|seconds?|minutes?|hours?|days?|weeks?|months?|years?"
    r"(?: old)?|decades?|centuries|degrees?|°[CF]|watts?|[kMG]?W|volts?|[kMGT]?B|times)"
)
_CAPITAL = r"[A-ZÀ-ÖØ-Þ][\w’'-]*"

KINDS: dict[str, re.Pattern[str]] = {
    "email": lazy_re(r"\b[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+\b"),
    "web address": lazy_re(r"\b(?:https?://|www\.)[^\s<>\"')\]]+[^\s<>\"')\].,;:!?]", re.I),
    "date": lazy_re(
        rf"\b(?:\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}}[./-]\d{{1,2}}[./-](?:\d{{4}}|\d{{2}})"
        rf"|(?:{WEEKDAY},?\s+)?(?:the\s+)?{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+\d{{4}})?\b"
        rf"|(?:{WEEKDAY},?\s+)?{_MONTH}\s+{_DAY}\b(?:,?\s+\d{{4}})?"
        rf"|{_MONTH},?\s+(?:of\s+)?\d{{4}}|{WEEKDAY})\b",
        re.I,
    ),
    "time": lazy_re(
        r"\b(?:[01]?\d|2[0-3])[:.][0-5]\d(?:[:.][0-5]\d)?\s*(?:[ap]\.?m\b\.?)?"
        r"|\b1?\d\s*[ap]\.?m\b\.?|\b(?:noon|midnight)\b",
        re.I,
    ),
    "money": lazy_re(
        rf"{_CURRENCY}\s?(?:{_AMOUNT})(?:\s?(?:thousand|million|billion|k|m|bn)\b)?"
        rf"|(?<![\w.])(?:{_AMOUNT})(?:\s(?:thousand|million|billion))?\s?{_CURRENCY_NAME}(?!\w)",
        re.I,
    ),
    "price": lazy_re(r"(?<![\w.,/:-])\d{1,3}(?:,?\d{3})*[.,]\d{2}(?![\w.,/:%-]\d|\d|%)"),
    "measure": lazy_re(
        rf"(?<![\w.])(?:{_AMOUNT})(?:\s(?:thousand|million|billion))?[ -]?{_UNIT}(?!\w)"
        rf"|\b{_NUMBER_WORD}(?:[ -]{_NUMBER_WORD})*[ -]{_UNIT}(?!\w)",
        re.I,
    ),
    "percentage": lazy_re(rf"(?<![\w.])(?:{_AMOUNT})\s?(?:%|per\s?cent\b)", re.I),
    "phone number": lazy_re(
        r"(?<![\w.,-])(?:\+\d{1,3}[ .-]?)?(?:\(\d{2,4}\)[ .-]?)?"
        r"\d{2,4}(?:[ .-]\d{2,4}){1,4}(?![\w-])"
    ),
    "year": lazy_re(r"(?<![\w.,$€£])(?:1[0-9]|20)\d{2}s?(?![\w,]|\.\d)"),
    "number": lazy_re(
        rf"(?<![\w.])(?:{_AMOUNT})(?:\s(?:thousand|million|billion))?(?!\w)"
        rf"|\b{_NUMBER_WORD}(?:[ -](?:and\s)?{_NUMBER_WORD})*\b",
        re.I,
    ),
    "name": lazy_re(
        rf"\b{_CAPITAL}(?:\s+(?:(?:de|da|di|du|van|von|der|den|la|le|of|the|al|bin)\s+){{0,2}}"
        rf"{_CAPITAL})*"
    ),
}


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """A match and its position in the text."""

    kind: str
    text: str
    start: int
    end: int


def find(text: str, kind: str) -> Iterator[PatternMatch]:
    """Return all matches of one kind, in order."""
    for match in KINDS[kind].finditer(text):
        if kind == "phone number" and not _is_phone(match[0]):
            continue
        yield PatternMatch(kind, match[0].strip(), match.start(), match.end())


def find_all(text: str, kinds: tuple[str, ...]) -> list[PatternMatch]:
    """Return the matches of these kinds; of overlapping ones, the kind named first wins."""
    found: list[PatternMatch] = []
    for kind in kinds:
        taken = [(item.start, item.end) for item in found]
        found += [
            item
            for item in find(text, kind)
            if not any(item.start < end and start < item.end for start, end in taken)
        ]
    return sorted(found, key=lambda item: item.start)


def _is_phone(written: str) -> bool:
    digits = sum(sign.isdigit() for sign in written)
    if KINDS["date"].fullmatch(written.strip()):
        return False
    return 7 <= digits <= 15
