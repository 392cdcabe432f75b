"""Time zones by the names of cities, countries and regions."""

from __future__ import annotations

import re
from functools import cache
from zoneinfo import ZoneInfo

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr

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


def known_place(said: str) -> str:
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
