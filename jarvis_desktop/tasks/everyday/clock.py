"""The clock: time, day and date, here or elsewhere, and the days until a date."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from datetime import date, datetime, timedelta

from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Report, TaskOption
from jarvis_desktop.tasks.definition import Services, define, presets
from jarvis_desktop.tasks.everyday import time_sums
from jarvis_desktop.tasks.everyday.time_zones import known_place, zone_of
from jarvis_desktop.tasks.naming import quantity
from jarvis_desktop.text.dates import day_asked
from jarvis_desktop.text.numbers import with_digits


async def tell_time(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """Answer in a sentence. Raises InputError for an unknown place or day."""
    now = services.now()
    words = call.words("place")
    said = with_digits(" ".join(words.casefold().replace("’", "'").split()))
    if told := await asyncio.to_thread(time_sums.answer, said, now):
        return [text_artifact(told)]
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
        return known_place(said)
    if found := re.search(r"(?i)\b(?:in|at|for)\s+(?:the city of\s+)?(?!the\s+moment)(.+)$", said):
        return "" if re.fullmatch(_NO_PLACE, found[1].casefold()) else found[1]
    return "" if re.search(r"(?i)\b(?:time|date|day|month|year|hour|clock)\b", said) else said


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
         [*(f"how many {unit} {some}{until}" for unit in ("days", "weeks")
            for some in ("", "... ") for until in ("until", "till", "between")),
          *(f"{how_long} {feast}" for feast in _FEASTS for how_long in ("how long until",
            "how long till", "how long is it until", "how long is it till", "when is", "when's"))]),
    ),
    skill=tell_time, reads=time_sums.read,
    note="this computer's clock and the time zone database",
)  # fmt: skip
