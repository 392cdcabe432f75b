"""Timers: sets, lists and cancels them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime
from itertools import pairwise

from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.ports import Timer
from jarvis_desktop.core.task import Call, Report, TaskOption, Value
from jarvis_desktop.tasks.definition import Services, define, presets
from jarvis_desktop.tasks.naming import join_words, quantity
from jarvis_desktop.text.dates import (
    MONTH,
    WEEKDAY,
    before_what_for,
    by_the_clock_of,
    due_at,
    names_time,
    repeats,
    times_spelt,
)
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.numbers import WORDS, with_digits

MAX_DAYS = 30
_EXAMPLE = "Say “set a timer for ten minutes”."
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_UNIT = r"(s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)"
_PART = lazy_re(
    rf"(\d+(?:\.\d+)?)[\s-]*{_UNIT}\b(?!\s+(?:past|to|after|before)\s+\d)"
    r"(?:\s+and\s+(0\.\d+)\b(?!\s*[a-z]))?"
)
_LESS_THAN_NOTHING = lazy_re(r"(?<![\w.)])\s*(?:[-−–]|\bminus\b|\bnegative\b)\s*\d")
_FOR_AGES = lazy_re(
    r"(?:\d|\ban?|\bmany)\s*(?:months?|years?|decades?|centur(?:y|ies)|millenni(?:um|a)|"
    r"fortnights|eons?|eternity)\b|\b(?:for ?ever|until the end of time)\b"
)
_HOUR_OF_DAY = lazy_re(r"(?<![\d:])\d{1,2}(?::?\d\d)?\s*(?:am|pm)\b")
_ODD_UNIT = lazy_re(r"\bfor (\d[\d.]*\s*[^\W\d]+)|^(\d[\d.]*\s*[^\W\d]+)$")
_SEVERAL = lazy_re(r"\b(?:timers|alarms|countdowns|reminders|another|a second)\b", re.IGNORECASE)
"""Words that mean more than one timer."""
_REMINDS = lazy_re(r"\bremind", re.IGNORECASE)
_ANOTHER_TIME = lazy_re(r"(?:,|\band)\s+(?:then\s+)?in\s+$", re.IGNORECASE)
_JOINT = lazy_re(r"[,;]\s*(?:and\s+)?|\band\s+|\bplus\s+", re.IGNORECASE)
_TO_SET = lazy_re(r"\b(?:set|start|make|add|create|put|new|remind|reminder|wake|alert|need)\b")
_TIME = lazy_re(
    r"\s*\b(?:(?:in|at|for|after|until|till|by)\s+(?:about\s+|the next\s+|roughly\s+)?"
    rf"(?:[\d#]|(?:an?|half|quarter|noon|midday|midnight|{'|'.join(WORDS)})\b)|"
    r"(?:the day after )?tomorrow\b|tonight\b|today\b|"
    rf"(?:on|next|this|every|each)\s+(?:the\s+)?(?:\d|{WEEKDAY}|{MONTH}|"
    r"(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun|morning|afternoon|evening|night|day|week)\b)).*$",
    re.IGNORECASE,
)
_LABELS = (
    lazy_re(r"\b(?:called|named|labell?ed)\s+(.+)$", re.IGNORECASE),
    lazy_re(rf"\bremind(?:er)?\b.*?\b(?:to|about|that|of(?!\s+{MONTH}))\s+(\D.+)$", re.IGNORECASE),
)
"""Phrases that name a timer's purpose, the plainest first."""
_NUMBER = rf"(?:\d[\d.,]*|(?:an?|one|half|quarters?|few|couple|{'|'.join(WORDS)})\b)"
_LENGTH = lazy_re(
    rf"\b{_NUMBER}(?:[\s-]+(?:(?:and|of)\s+)?{_NUMBER})*[\s-]*"
    r"(?:[smhdw]|sec(?:ond)?s?|min(?:ute)?s?|hrs?|hours?|days?|weeks?)\b"
    r"(?:\s+and\s+(?:a\s+)?(?:half|quarter)\b)?",
    re.IGNORECASE,
)
_FIGURE = rf"(?:\d+(?:\.\d+)?|(?:{'|'.join(WORDS)})\b)"
_SHARED_UNIT = lazy_re(
    rf"\b({_FIGURE})(?=(?:,\s*{_FIGURE})*,?\s+and\s+{_FIGURE}(\s*(?:sec(?:ond)?|min(?:ute)?|hour)s?)\b)",
    re.IGNORECASE,
)
"""Lengths that share a unit: "timers for 5 and 10 minutes"."""
_NO_LABEL = (
    r"(?:[\d#]|(?:about|after|again|ages|alarms?|almost|alright|also|and|another|"
    r"approx(?:imately)?|around|as|asap|at|because|before|beginning|but|by|called|can|cheers|could|"
    r"countdown|daily|early|ever|every(?:body|one)?|exactly|first|for|from|fun|half|him|if|"
    r"immediately|in|instead|it|jarvis|just|later|left|like|long|max(?:imum)?|maybe|me|midday|"
    r"midnight|more|named|nearly|new|next|noon|now|of|ok(?:ay)?|on|once|only|or|other|perhaps|"
    r"please|quarter|quick(?:ly)?|right|roughly|same|second|sharp|short|since|so|starting|straight|"
    r"thanks?|that|them|then|third|this|thx|till|timers?|to|today|tomorrow|tonight|too|tops|total|"
    r"twice|until|up|us|what(?:ever)?|when|which|while|will|with|would|you|"
    r"an?\s+(?:bit|moment|while)|(?:let|make|tell)\s+(?:it|me|us)|some\s+(?:more|time)|"
    r"start\s+now|the\s+(?:same|usual)|(?:the\s+)?(?:morning|afternoon|evening|night|weekend)|"
    rf"{WEEKDAY}s?|{MONTH}|{'|'.join(WORDS)})\b)"
)
"""Words that begin another part of the sentence."""
_TIMER = r"(?:timer|alarm|countdown)\b"
_ANY_KIND = (
    r"(?:different|extra|fresh|good|kitchen|little|loud|nice|normal|regular|separate|silent|simple|"
    r"single|small|usual)"
)
"""Adjectives that describe a timer rather than its purpose."""
_LABELS_BY_PLACE = (
    lazy_re(rf"\bfor\s+(?:the next\s+)?+(?!{_NO_LABEL})([\"“‘']?[^\W\d][^#]*#?)", re.IGNORECASE),
    lazy_re(
        r"(?:\b(?:an?|the|my|our|new|another)\s+|#[\s-]*)"
        rf"(?!{_NO_LABEL}|{_ANY_KIND}\s+{_TIMER}|(?:an?|the|my|our)\b)"
        rf"([^\W\d][\w'’-]*(?:\s+[^\W\d][\w'’-]*){{0,3}}?)\s+{_TIMER}",
        re.IGNORECASE,
    ),
    lazy_re(rf"\b{_TIMER}[^#]*#[\s,:]*(?!{_NO_LABEL})([\"“‘']?[^\W\d][^#]*#?)", re.IGNORECASE),
)
"""The purpose by its position, where # is the duration: "a tea timer", "timer # pasta"."""
_BEFORE_TIME = lazy_re(r"(?:[\s,]+(?:and|at|for|in|of|then|to))*[\s,]*#$", re.IGNORECASE)
_LENGTH_AFTER = lazy_re(rf"[\s,]+{_LENGTH.pattern}\W*$", re.IGNORECASE)
_HOUR_SAID = lazy_re(
    rf"\b(?:in|at)\s+(?:\d|an?\b|half\b|quarter\b|noon\b|midday\b|midnight\b|#|{'|'.join(WORDS)}\b)|"
    r"\b\d+\s*[ap]\.?m\b|\d:\d\d",
    re.IGNORECASE,
)
_TO_THE_HOUR = lazy_re(
    rf"\b(?:quarter|five|ten|twenty(?:[\s-]five)?)\s+to\s+(?:{'|'.join(WORDS)})\b", re.IGNORECASE
)
_QUOTED = lazy_re(r"[\"“‘'](.+?)[\"”’'](?!\w)")
MAX_LABEL_CHARS = 80
MAX_READ_CHARS = 500


async def manage_timers(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """Set, list, prolong or cancel timers. Raises InputError for an invalid duration."""
    said = _plain(call.words("duration"))
    if _PAUSE.search(said):
        raise InputError(
            tr("A timer cannot be paused; it runs on."),
            hint=tr("“Cancel the timer” ends it, “add 5 minutes to the timer” prolongs it."),
        )
    if longer := _LONGER.fullmatch(said):
        return [text_artifact(_prolonged(longer[1] or longer[2], services))]
    match call.words("action"):
        case "cancel":
            return [text_artifact(_format_cancelled(services.timers.cancel_all()))]
        case "list":
            return [text_artifact(_format_pending(services.timers.pending(), services.now()))]
        case _:
            now = services.now()
            words = call.words("duration")
            before = "remind me" if _REMINDS.search(words) else "timer"
            shared = label_of(words) if _REMINDS.search(words) else ""
            wanted = [(said, seconds_of(said, now)) for said in each_timer(words)]
            told = []
            for said, seconds in wanted:  # none is set if one cannot be
                label = (
                    call.words("label").strip() or label_of(said) or label_of(f"{before} {said}")
                )
                label = label or shared
                timer = services.timers.set(seconds, label)
                named = f" “{label}”" if label else ""
                length = spoken_length(seconds)
                when = _when(timer, now, once=repeats(_plain(said)))
                told.append(f"The timer{named} is set for {length}. {when}")
            return [text_artifact("\n".join(told))]


_PAUSE = lazy_re(r"\b(?:pause|unpause|resume|halt|freeze|snooze)\b.*\b(?:timers?|alarms?)\b")
_LONGER = lazy_re(
    r"(?:please )?(?:add (.+?)(?: more)? to (?:the|my) (?:timer|alarm|countdown)|"
    r"(?:prolong|extend) (?:the|my) (?:timer|alarm|countdown) by (.+?))(?: please)?"
)


def _prolonged(length: str, services: Services) -> str:
    """Let the only timer run longer. Raises InputError if there is none, or several."""
    running = services.timers.pending()
    if len(running) != 1:
        raise InputError(
            tr("No timer is running.") if not running else tr("Several timers are running."),
            hint=_EXAMPLE,
        )
    now = services.now()
    left = (running[0].due - now).total_seconds() + seconds_of(length, now)
    services.timers.cancel_all()
    timer = services.timers.set(left, running[0].label)
    return f"The timer now runs {spoken_length(left)}. {_when(timer, now, once=False)}"


_ALL_OF_THEM = lazy_re(
    r"(?:please )?(?:(delete|remove|clear|cancel|stop|end|turn off|switch off|get rid of)|show|"
    r"list|read|what are|which are)(?: me)?(?: all)?(?: of)?(?: my| the)?"
    r"(?: running| pending| active)? (?:timers|alarms|reminders|countdowns)(?: please| now)?"
)


def read_of_running(words: str) -> Mapping[str, Value] | None:
    """See `TaskType.reads`: what is said of running timers, such as "delete all reminders"."""
    said = words.strip(" ?.!")
    if found := _ALL_OF_THEM.fullmatch(said):
        return {"action": "cancel" if found[1] else "list"}
    return {"action": "set"} if _PAUSE.fullmatch(said) or _LONGER.fullmatch(said) else None


def each_timer(words: str) -> list[str]:
    """Return the words about each timer: "two timers, 4 minutes for the tea and 11 minutes for the
    pasta" are two, while "1 hour and 20 minutes" is one."""
    several = _SEVERAL.search(words)
    words = _SHARED_UNIT.sub(r"\1\2", words) if several else words
    lead = before_what_for(words.lower()) or words  # "to call Ann and talk for 5 minutes"
    lengths = [
        each
        for each in _LENGTH.finditer(words)
        if each.end() <= len(lead) or _ANOTHER_TIME.search(words, 0, each.start())
    ]
    parts, start = [], 0
    for one, other in pairwise(lengths):
        joints = list(_JOINT.finditer(words, one.end(), other.start()))
        units = [re.findall(r"[a-z]+", each[0].lower())[-1][0] for each in (one, other)]
        again = _ANOTHER_TIME.search(words, one.end(), other.start())
        if joints and (several or again or units[0] == units[1]):
            parts.append(words[start : joints[-1].start()])
            start = joints[-1].end()
    return [*parts, words[start:]]


def label_of(said: str) -> str:
    """What the timer is for: "remind me in an hour to call Ann" is "call Ann"; "" if not said."""
    said = said[:MAX_READ_CHARS]
    # The mask has the length of the text, so that positions in both are the same.
    masked = _TO_THE_HOUR.sub(lambda match: "#" * len(match[0]), said)
    for pattern in _LABELS:
        if found := pattern.search(masked):
            # If the time came first, a time in the purpose is part of it.
            timed = pattern is _LABELS[1] and _HOUR_SAID.search(masked[: found.start(1)])
            length = len(found[1] if timed else _TIME.sub("", found[1]))
            words = said[found.start(1) :]
            named = pattern is _LABELS[0]
            return _tidy(words, _LENGTH_AFTER.sub("", words[:length]) if named else words[:length])
    marked = _LENGTH.sub("#", _TO_THE_HOUR.sub("#", said))
    marked = re.sub(r"#(?:[\s,]*(?:and\s+)?#)+", "#", marked)
    for pattern in _LABELS_BY_PLACE:
        if found := pattern.search(marked):
            return _tidy(found[1], _BEFORE_TIME.sub("", _TIME.sub("", found[1])))
    return ""


def _heard(words: str) -> object:
    """Return the lengths and purposes of the timers that words ask for."""
    then = datetime(2000, 1, 1)
    found: list[tuple[float, str]] = []
    for said in each_timer(words):
        with suppress(InputError):
            found.append((seconds_of(said, then), label_of(said)))
    return found


def _tidy(words: str, label: str) -> str:
    """The quoted text at the beginning of the words, else the label."""
    quoted = _QUOTED.match(words)
    return one_line(quoted[1] if quoted else label.strip(" .,!?"), limit=MAX_LABEL_CHARS)


def seconds_of(words: str, now: datetime) -> float:
    """How many seconds "an hour and a half" or "until 7 pm" is. Raises InputError."""
    said = times_spelt(_plain(words))
    said = with_digits(re.sub(r"\bhalf an\b|\bhalf a\b", "0.5", said))
    said = re.sub(r"\b(?:1 |an? )?quarter of an\b|\b0\.25 (?:of )?an\b", "0.25", said)
    said = re.sub(r"\b([\d.]+) of an? (?=hour|minute|day|week)", r"\1 ", said)
    said = re.sub(r"\b(?:an?|one)\s+(?=(?:second|minute|hour|day|week|sec|min|hr)\b)", "1 ", said)
    if _LESS_THAN_NOTHING.search(said):
        raise InputError(tr("A timer cannot run for a negative time."), hint=_EXAMPLE)
    if len(set(_HOUR_OF_DAY.findall(said))) > 1:
        raise InputError(
            tr("Those are several times: set one timer after the other."), hint=_EXAMPLE
        )
    if _FOR_AGES.search(said):
        raise _too_long()
    lead = before_what_for(said)
    parts = _PART.findall(lead) or ([] if names_time(lead) else _PART.findall(said))
    seconds = sum(
        (float(amount) + float(half or 0)) * _SECONDS[unit[0]] for amount, unit, half in parts
    )
    whole_days = all(unit[0] in "dw" for _, unit, _ in parts)  # "in three days at nine"
    if (not seconds or (whole_days and names_time(said))) and (due := due_at(said, now)):
        seconds = (due - now).total_seconds()
    if not seconds:
        raise _no_duration(said)
    if seconds > MAX_DAYS * 86_400:
        raise _too_long()
    return seconds


def _too_long() -> InputError:
    return InputError(tr("A timer can run for {longest_days} days at most.", longest_days=MAX_DAYS))


def _no_duration(said: str) -> InputError:
    if _PART.search(said):
        return InputError(tr("A timer must run for more than zero seconds."), hint=_EXAMPLE)
    if odd := _ODD_UNIT.search(said):
        return InputError(
            tr("I do not know how long “{odd}” is.", odd=odd[1] or odd[2]), hint=_EXAMPLE
        )
    if said and not _TO_SET.search(said):
        return InputError(
            tr("I can set, list or cancel timers; it is not clear which of these you want."),
            hint=tr("Say “set a timer for ten minutes”, “list the timers” or “cancel the timer”."),
        )
    return InputError(tr("It is not clear how long the timer should run."), hint=_EXAMPLE)


def spoken_length(seconds: float) -> str:
    """A duration in words, such as "1 hour and 30 minutes"."""
    left = max(round(seconds), 0)
    parts = []
    for name, size in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        count, left = divmod(left, size)
        if count:
            parts.append(quantity(count, name))
    return join_words(parts) or "less than a second"


def _plain(words: str) -> str:
    return " ".join(words.casefold().replace("’", "'").split())[:200]


def _when(timer: Timer, now: datetime, *, once: bool) -> str:
    due = by_the_clock_of(now, timer.due)
    seconds = ":%S" if (due - now).total_seconds() < 600 else ""
    day = "" if due.date() == now.date() else f" on {due:%A}, {due.day} {due:%B}"
    only = ", once: a timer does not repeat" if once else ""
    return f"It rings at {due:%H:%M{seconds}}{day}{only}."


def _format_cancelled(count: int) -> str:
    if not count:
        return "No timer is running."
    return "The timer is cancelled." if count == 1 else f"All {count} timers are cancelled."


def _format_pending(pending: Iterable[Timer], now: datetime) -> str:
    lines = [
        f"{timer.label or 'Timer'}: {spoken_length((timer.due - now).total_seconds())} left."
        for timer in pending
    ]
    return "\n".join(lines) or "No timer is running."


TIMER = define(
    name="timer", label="Timer",
    summary="Sets a timer that rings, or lists or cancels timers.", acts=True,
    options=(
        TaskOption("duration", "how long, or until when, as it was said", "", reads="clause"),
        TaskOption("label", "what it is for", ""),
        TaskOption("action", "what to do", "set", choices=("set", "cancel", "list")),
    ),
    cues=("set a timer", "start a timer", "set an alarm", "^timer", "^remind me in #"),
    presets=presets(
        ({"action": "cancel"}, "^cancel ... timer*|^stop ... timer*|^cancel ... alarm*"),
        ({"action": "list"}, "^list ... timers|^show ... timers|^which timers"),
    ),
    hears=_heard, skill=manage_timers, reads=read_of_running,
    note="rings while the window or the terminal runs",
)  # fmt: skip
