"""The clock: time, day and date, here or elsewhere, and the days until a date."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Report, TaskOption
from jarvis_desktop.tasks.definition import Services, define, presets
from jarvis_desktop.tasks.naming import quantity
from jarvis_desktop.text.dates import day_asked
from jarvis_desktop.text.numbers import with_digits

_BIG_CITIES = {
    city: zone
    for zone, cities in {
        "America/Los_Angeles": "san francisco|seattle|las vegas|san diego|california|hollywood|"
        "pacific|kalifornien|洛杉矶",
        "America/Chicago": "texas|dallas|houston|austin|central",
        "America/New_York": "florida|boston|washington|miami|atlanta|philadelphia|orlando|"
        "manhattan|eastern|纽约",
        "America/Toronto": "montreal|ottawa", "America/Edmonton": "calgary",
        "America/Denver": "mountain",
        "America/Sao_Paulo": "rio de janeiro|brasilia",
        "Europe/Berlin": "munich|hamburg|frankfurt|cologne|germany|münchen|köln|deutschland|柏林",
        "Europe/Zurich": "geneva|bern|lausanne|zürich|genf|schweiz",
        "Europe/Vienna": "wien|österreich",
        "Europe/Rome": "milan|rom|mailand|neapel|venedig|italien|罗马",
        "Europe/Madrid": "barcelona|spain|spanien",
        "Europe/Paris": "lyon|marseille|frankreich|巴黎",
        "Europe/London": "manchester|edinburgh|glasgow|england|scotland|wales|uk|britain|伦敦",
        "Europe/Athens": "athen|griechenland", "Europe/Brussels": "brüssel|belgien",
        "Europe/Warsaw": "warschau|polen", "Europe/Prague": "prag",
        "Europe/Copenhagen": "kopenhagen|dänemark", "Africa/Cairo": "kairo|ägypten",
        "Europe/Amsterdam": "the hague", "Europe/Moscow": "saint petersburg|moskau|莫斯科",
        "Europe/Istanbul": "ankara|turkey|türkei",
        "Asia/Shanghai": "beijing|shenzhen|china|peking|schanghai|北京|上海|中国",
        "Asia/Kolkata": "mumbai|delhi|new delhi|bangalore|chennai|neu-delhi|indien",
        "Asia/Tokyo": "osaka|kyoto|tokio|东京|日本", "Asia/Hong_Kong": "hongkong|香港",
        "Asia/Singapore": "singapur|新加坡",
        "Asia/Dubai": "abu dhabi", "Asia/Jerusalem": "tel aviv",
        "Asia/Karachi": "islamabad", "Africa/Johannesburg": "cape town",
        "Australia/Sydney": "canberra|悉尼", "Pacific/Auckland": "wellington|new zealand",
        "Pacific/Honolulu": "hawaii", "Asia/Ho_Chi_Minh": "saigon|ho chi minh|hanoi",
        "America/Vancouver": "british columbia",
        "Europe/Lisbon": "portugal|lissabon", "UTC": "utc", "Etc/GMT": "gmt",
    }.items()
    for city in cities.split("|")
}  # fmt: skip
"""Cities that are not the name of a time zone, also in German and Chinese, and countries with a
second zone on a far island."""


async def tell_time(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """Answer in a sentence. Raises InputError for an unknown place or day."""
    now = services.now()
    words = call.words("place")
    said = with_digits(" ".join(words.casefold().replace("’", "'").split()))
    said = _of_the_two(said)
    if call.words("what") == "week":
        return [text_artifact(_week(_other_day(said, "week", now.date()), now.date()))]
    if found := _between.search(said):
        return [text_artifact(_days_between(found["first"], found["last"], said, now.date()))]
    if day := _other_day(said, call.words("what"), now.date()):
        return [text_artifact(_answer_for_day(day, now.date(), call.words("what"), said))]
    now += timedelta(days=_AWAY.get(_day_word(words), 0))
    place = place_in(words)
    where = ""
    if place:
        now = now.astimezone(await asyncio.to_thread(zone_of, place))
        where = f" in {place if any(map(str.isupper, place)) else place.title()}"
    return [text_artifact(_sentence(call.words("what"), now, where, _day_word(words)))]


def _week(day: date | None, today: date) -> str:
    """The calendar week of a day, or of today."""
    number = (day or today).isocalendar()
    which = f"{day.day} {day:%B %Y} {'was' if day < today else 'is'} in" if day else "It is"
    return f"{which} week {number.week} of {number.year}."


_between = re.compile(
    r"\bhow (?:many (?:days|weeks)|long)\b.*\b(?:between|from) (?P<first>.+?) "
    r"(?:and|to|until|till) (?P<last>.+?)\W*$"
)

_from_today = re.compile(r"\b(?:today|tomorrow|yesterday|now|ago|last|next|this|in)\b")
"""What says of a day how far it is from today."""


_one_of_two = re.compile(
    r"\bthe (?P<which>first|former|second|last|latter)\b[^:]*$|(?:(?<=day is )|(?<=day was ))that$"
)


def _of_the_two(said: str) -> str:
    """Name the day that is meant of two: "what weekday was the second one: how many days lie
    between 3 March and 20 June"."""
    asked, _, earlier = said.partition(": ")
    named, days = _one_of_two.search(asked), _between.search(earlier)
    if not named or not days:
        return said
    which = "first" if named["which"] in ("first", "former") else "last"
    return f"{asked[: named.start()]}{days[which]}"


def _days_between(first: str, last: str, said: str, today: date) -> str:
    """How long it is from one day to another. Raises InputError for a day that cannot be worked
    out."""
    one, other = (day_asked(f"when is {words}", today) for words in (first, last))
    if one and other and one > other and not _from_today.search(last):
        # In the middle of May, the next 10 June comes before the next 3 May.
        other = day_asked(f"when is {last}", one)
    if one is None or other is None:
        raise _unknown_day()
    begin, end = sorted((one, other))
    length = _length((end - begin).days, said)
    return f"From {begin.day} {begin:%B %Y} to {end.day} {end:%B %Y} it is {length}."


def _length(days: int, said: str) -> str:
    if "week" not in said.partition(": ")[0] or days < 7:
        return quantity(days, "day")
    more = f" and {quantity(days % 7, 'day')}" if days % 7 else ""
    return f"{quantity(days // 7, 'week')}{more}"


_AWAY = {"Tomorrow": 1, "Yesterday": -1}


def _day_word(words: str) -> str:
    said = words.casefold()
    return next((day for day in ("tomorrow", "yesterday") if day in said), "today").capitalize()


def _other_day(said: str, what: str, today: date) -> date | None:
    """The day that is asked about, unless it is today, tomorrow or yesterday. Raises InputError for
    days that cannot be worked out."""
    counted = what == "days until"
    if what == "time" and not re.search(rf"{_OTHER_DAYS}|\bwhen (?:is|was)\b", said):
        return None
    if not counted and re.search(r"(?<!after )(?<!before )\b(?:today|tomorrow|yesterday)\b", said):
        return None
    day = day_asked(said, today)
    if day is None and (counted or re.search(_OTHER_DAYS, said)):
        raise _unknown_day()
    return day


def _unknown_day() -> InputError:
    told = tr("I do not know which day that is.")
    return InputError(told, hint=tr("Say “what day is 24 December”."))


def _answer_for_day(day: date, today: date, what: str, said: str) -> str:
    named = f"{day:%A}, {day.day} {day:%B %Y}"
    if what != "days until":
        return f"{day.day} {day:%B %Y} {'was' if day < today else 'is'} a {day:%A}."
    days = abs((day - today).days)
    if not days:
        return f"{named} is today."
    length = _length(days, said)
    return f"{named} was {length} ago." if day < today else f"It is {length} until {named}."


_OTHER_DAYS = (
    r"\b(?:easter|thanksgiving|birthday|ramadan|hanukkah|(?:next|last) (?:\w+day|week|month|year)|"
    r"weeks? from|days? (?:from|ago|until|till)|\d+(?:st|nd|rd|th)|was the|independence)\b"
)


def place_in(words: str) -> str:
    """The place in "what time is it in Tokyo right now", or in "Tokyo"; "" if none is named."""
    said = " ".join(words.split()).strip(" ?.!,")
    asides = r"(?i)(?:[, ]+(?:(?:right )?now|please|today|tomorrow|at the moment|currently))+$"
    said = re.sub(asides, "", said)
    if re.search(r"(?i)\btime\s?zones?\b", said):
        return _known_place(said)
    if found := re.search(r"(?i)\b(?:in|at|for)\s+(?:the city of\s+)?(?!the\s+moment)(.+)$", said):
        return "" if re.fullmatch(_NO_PLACE, found[1].casefold()) else found[1]
    return "" if re.search(r"(?i)\b(?:time|date|day|month|year|hour|clock)\b", said) else said


def _known_place(said: str) -> str:
    """The longest place among the words that has a time zone; "" if there is none."""
    words = re.findall(r"[\w.-]+", re.sub(r"(?i)'s\b", "", said))
    spans = [
        " ".join(words[start : start + size])
        for size in (4, 3, 2, 1)
        for start in range(len(words) - size + 1)
    ]
    known = (_BIG_CITIES, _zones(), _countries())
    keys = {span: span.casefold().replace(".", "") for span in spans}
    found = (
        span
        for span, key in keys.items()
        if any(key in names for names in known) or key.replace(" ", "_") in _zones()
    )
    return next((span for span in found if span.casefold() not in ("is", "us", "in", "it")), "")


_NO_PLACE = (
    r"(?:the )?(?:morning|evening|afternoon|night|moment|today|me|us|here|my time zone|this .*)"
)


def _sentence(what: str, now: datetime, where: str, today: str) -> str:
    day = f"{now:%A}, {now.day} {now:%B %Y}"
    verb = "was" if today == "Yesterday" else "is"
    match what:
        case "date":
            return f"{f'The date{where}' if where else today} {verb} {day}."
        case "day":
            return f"{f'The day{where}' if where else today} {verb} {now:%A}."
        case _:
            return f"It is {now:%H:%M}{where}{f', on {now:%A}' if where else ''}."


def zone_of(place: str) -> ZoneInfo:
    """The time zone of a city, a country with one zone, or a zone's own name."""
    key = place.casefold().removeprefix("the ").replace(".", "")
    key = re.sub(r"\s+(?:standard |daylight )?time(?:\s?zone)?$", "", key)
    if zone := _BIG_CITIES.get(key) or _zones().get(key.replace(" ", "_")):
        return ZoneInfo(zone)
    zones = _countries().get(key, ())
    if len(zones) == 1:
        return ZoneInfo(zones[0])
    if zones:
        raise InputError(
            tr("{place} has several time zones.", place=place), hint=tr("Name a city there.")
        )
    raise InputError(
        tr("I do not know the time zone of {place}.", place=place),
        hint=tr("Name a large city near it, or a country."),
    )


@cache
def _zones() -> dict[str, str]:
    """Zones by the city they are named after, and by their whole names."""
    from zoneinfo import available_timezones

    names = sorted(available_timezones())
    by_city = {name.rpartition("/")[2].casefold(): name for name in names}
    return by_city | {name.casefold(): name for name in names}


@cache
def _countries() -> dict[str, tuple[str, ...]]:
    """The zones of each country, from the tables of the time zone database."""
    from importlib.resources import files

    tables = files("tzdata").joinpath("zoneinfo")
    zones: dict[str, list[str]] = {}
    for line in _rows(tables.joinpath("zone.tab").read_text("utf-8")):
        zones.setdefault(line[0], []).append(line[2])
    names = _rows(tables.joinpath("iso3166.tab").read_text("utf-8"))
    known = {name.casefold(): tuple(zones.get(code, ())) for code, name, *_ in names}
    known["usa"] = known["us"] = known["america"] = known["united states"]
    return known


def _rows(table: str) -> list[list[str]]:
    return [line.split("\t") for line in table.splitlines() if line and line[0] != "#"]


_FEASTS = (
    "christmas",
    "easter",
    "good friday",
    "halloween",
    "new year",
    "pentecost",
    "thanksgiving",
    "valentine's day",
    "whit monday",
)
CLOCK = define(
    name="clock", label="Tell the time",
    summary="Tells the current time, day or date, here or in another place, the weekday of a date "
    "and how many days it is until then.",
    options=(
        TaskOption("what", "what is asked for", "time", choices=("time", "date", "day",
            "days until", "week")),
        TaskOption(
            "place", "a city, country or time zone, or a date; empty for here and now", "",
            reads="clause",
        ),
    ),
    cues=(
        "what time is it", "what's the time$", "what is the time$", "tell me the time$", "^time in",
        "what day is it", "what date is it$", "what is the date$", "what's the date$",
        "what is the date in *$", "what's the date in *$", "what is the date in new *$",
        "what's the date in new *$",
    ),
    presets=presets(
        ({"what": "week"},
         "what week is it|which week is it|what calendar week|which calendar week|"
         "what week of the year|which week of the year|week number"),
        ({"what": "day"}, "what day is it|what weekday|which weekday|what day of the week|"
         "which day of the week"),
        ({"what": "date"}, "what date is it$|what is the date$|what's the date$"
         "|what is the date in *$|what's the date in *$|what is the date in new *$"
         "|what's the date in new *$"),
        ({"what": "days until"},
         [*(f"how many {unit} {there}{until}" for unit in ("days", "weeks")
            for there in ("", "are there ", "are left ", "is it ", "are there left ")
            for until in ("until", "till")),
          *(f"how many {unit} {there}between" for unit in ("days", "weeks")
            for there in ("", "are ", "are there ", "is it ", "lie ", "are in ", "pass ")),
          *(f"{how_long} {feast}" for feast in _FEASTS for how_long in ("how long until",
            "how long till", "how long is it until", "how long is it till", "when is", "when's"))]),
    ),
    skill=tell_time, note="this computer's clock and the time zone database",
)  # fmt: skip
