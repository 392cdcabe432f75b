"""Sets timers that ring, lists them and cancels them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.ports import Timer
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.task import Option, Preset, TaskType
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition, Services
from jarvis_desktop.tasks.numbers import WORDS, with_digits

TYPE = TaskType(
    name="timer",
    summary="Sets a timer that rings, or lists or cancels timers.",
    ports=(),
    gives=(Kind.TEXT,),
    acts=True,
    options=(
        Option("duration", "how long, or until when, as it was said", "", reads="clause"),
        Option("label", "what it is for", ""),
        Option("action", "what to do", "set", choices=("set", "cancel", "list")),
    ),
    cues=(
        "timer", "timers", "set a timer", "set the timer", "start a timer", "make a timer",
        "add a timer", "set ... alarm", "add ... alarm", "make ... alarm", "create ... alarm",
        "start ... alarm", "change ... alarm", "fix ... alarm", "an alarm for", "^alarm",
        "^alarms$", "remind me in", "reminder in", "wake me in", "wake me up", "wake me at",
        "countdown", "count down from", "alert me in", "tell me when ... minutes", "let me know in",
        "remind me to", "remind me that", "remind me about", "remind me of", "remind us to",
        "how long is left", "cancel the timer", "stop the timer", "remind me at",
    ),
    presets=tuple(
        Preset(phrase, (("action", action),))
        for action, phrases in (
            ("cancel", "cancel ... timer*|stop ... timer*|delete ... timer*|clear ... timer*|"
             "remove ... timer*|turn off ... timer*|switch off ... timer*|cancel ... alarm*|"
             "stop ... alarm*|delete ... alarm*|clear ... alarm*|remove ... alarm*|"
             "turn off ... alarm*|switch off ... alarm*|get rid of ... alarm*"),
            ("list", "how long is left|how much time is left|how much time ... left|"
             "list ... timer*|show ... timer*|which timers|what timers|any timers|"
             "how long ... timer|list ... alarms|show ... alarm*|which alarms|what alarms|"
             "any alarms|check ... alarm*"),
        )
        for phrase in phrases.split("|")
    ),
)  # fmt: skip

LONGEST_DAYS = 30
_EXAMPLE = "Say “set a timer for ten minutes”."
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_UNIT = r"(s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)"
_PART = re.compile(rf"(\d+(?:\.\d+)?)[\s-]*{_UNIT}\b(?:\s+and\s+(0\.\d+)\b(?!\s*[a-z]))?")
_AT = re.compile(
    r"\b(?:(at|until|till)|for)\s+(\d{1,2})(?!\d)(?:[:.\s](\d{2})(?!\d))?"
    r"(?:\s*(o'?clock\b|[ap]\.?m\b\.?)|(?(1)|(?!\s*[^\W\d]))|"
    r"(?=\s+(?:in|on|today|tonight|tomorrow|this|and|to|sharp|with|the|called|named)\b))"
)
_LESS_THAN_NOTHING = re.compile(r"(?<![\w.)])\s*(?:[-−–]|\bminus\b|\bnegative\b)\s*\d")
_FOR_AGES = re.compile(
    r"(?:\d|\ban?|\bmany)\s*(?:months?|years?|decades?|centur(?:y|ies)|millenni(?:um|a)|"
    r"fortnights|eons?|eternity)\b|\b(?:for ?ever|until the end of time)\b"
)
_ODD_UNIT = re.compile(r"\bfor (\d[\d.]*\s*[^\W\d]+)|^(\d[\d.]*\s*[^\W\d]+)$")
_TO_SET = re.compile(r"\b(?:set|start|make|add|create|put|new|remind|reminder|wake|alert|need)\b")
_TIME = re.compile(
    r"\s*\b(?:(?:in|at|for|after|until|till|by)\s+(?:about\s+|the next\s+|roughly\s+)?"
    rf"(?:[\d#]|(?:an?|one|half|{'|'.join(WORDS)})\b)|tomorrow\b|tonight\b|today\b).*$",
    re.IGNORECASE,
)
_LABELS = (
    re.compile(r"\b(?:called|named|labell?ed)\s+(.+)$", re.IGNORECASE),
    re.compile(r"\bremind(?:er)?\b.*?\b(?:to|about|that|of)\s+(\D.+)$", re.IGNORECASE),
)
"""How people say what a timer is for, the plainest first."""
_NUMBER = rf"(?:\d[\d.,]*|(?:an?|one|half|quarters?|few|couple|{'|'.join(WORDS)})\b)"
_LENGTH = re.compile(
    rf"\b{_NUMBER}(?:[\s-]+(?:(?:and|of)\s+)?{_NUMBER})*[\s-]*"
    r"(?:[smhdw]|sec(?:ond)?s?|min(?:ute)?s?|hrs?|hours?|days?|weeks?)\b"
    r"(?:\s+and\s+(?:a\s+)?(?:half|quarter)\b)?",
    re.IGNORECASE,
)
_NO_LABEL = (
    r"(?:[\d#]|(?:about|after|alarms?|and|another|around|at|before|by|called|countdown|daily|early|"
    r"exactly|first|for|from|if|in|just|later|left|long|me|midnight|more|named|new|next|noon|now|"
    r"of|on|or|other|please|quick|roughly|second|short|starting|that|then|this|till|timers?|to|"
    r"today|tomorrow|tonight|until|us|when|with|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|"
    rf"(?:the\s+)?(?:morning|afternoon|evening|night|weekend)|{'|'.join(WORDS)})\b)"
)
"""What begins another part of the sentence."""
_LABELS_BY_PLACE = (
    re.compile(rf"\bfor\s+(?:the next\s+)?(?!{_NO_LABEL})([^\W\d].*)$", re.IGNORECASE),
    re.compile(
        r"(?:\b(?:an?|the|my|our|new|another)\s+|#[\s-]*)"
        rf"(?!{_NO_LABEL}|(?:an?|the|my|our)\b)([^\W\d][\w'’-]*(?:\s+[^\W\d][\w'’-]*){{0,3}}?)"
        r"\s+(?:timer|alarm|countdown)\b",
        re.IGNORECASE,
    ),
    re.compile(rf"\b(?:timer|alarm|countdown)\b[^#]*#[\s,:]*(?!{_NO_LABEL})([^\W\d].*)$", re.I),
)
"""What it is for by its place, where # is how long it runs: "a tea timer", "timer # pasta"."""
_QUOTED = re.compile(r"[\"“‘'](.+?)[\"”’'](?!\w)")
LONGEST_LABEL = 80
LONGEST_SAID = 500
"""Characters that are looked at."""


async def ring(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """What was done, as a sentence. Raises InputError for a duration that is none."""
    match call.words("action"):
        case "cancel":
            return [text_artifact(_cancelled(services.timers.cancel_all()))]
        case "list":
            return [text_artifact(_listed(services.timers.pending(), services.now()))]
        case _:
            now = services.now()
            seconds = seconds_of(call.words("duration"), now)
            label = call.words("label").strip() or label_of(call.words("duration"))
            timer = services.timers.set(seconds, label)
            named = f" “{label}”" if label else ""
            length = spoken_length(seconds)
            return [text_artifact(f"The timer{named} is set for {length}. {_when(timer, now)}")]


def label_of(said: str) -> str:
    """What the timer is for: "remind me in an hour to call Ann" is "call Ann"; "" where nobody
    says so."""
    said = said[:LONGEST_SAID]
    marked = re.sub(r"#(?:[\s,]*(?:and\s+)?#)+", "#", _LENGTH.sub("#", said))
    places = [(pattern, said) for pattern in _LABELS]
    places += [(pattern, marked) for pattern in _LABELS_BY_PLACE]
    for pattern, words in places:
        if found := pattern.search(words):
            quoted = _QUOTED.match(found[1])
            label = quoted[1] if quoted else _TIME.sub("", found[1]).strip(" .,!?")
            return one_line(label, limit=LONGEST_LABEL)
    return ""


def seconds_of(words: str, now: datetime) -> float:
    """How long "an hour and a half" or "until 7 pm" is. Raises InputError."""
    said = with_digits(re.sub(r"\bhalf an\b|\bhalf a\b", "0.5", _plain(words)))
    said = re.sub(r"\b(?:1 |an? )?quarter of an\b|\b0\.25 (?:of )?an\b", "0.25", said)
    said = re.sub(r"\b([\d.]+) of an? (?=hour|minute|day|week)", r"\1 ", said)
    said = re.sub(r"\b(?:an?|one)\s+(?=(?:second|minute|hour|day|week|sec|min|hr)\b)", "1 ", said)
    if _LESS_THAN_NOTHING.search(said):
        raise InputError(tr("A timer cannot run for less than no time."), hint=_EXAMPLE)
    if _FOR_AGES.search(said):
        raise _too_long()
    seconds = 0.0
    for amount, unit, half in _PART.findall(said):
        seconds += (float(amount) + float(half or 0)) * _SECONDS[unit[0]]
    if not seconds and (found := _AT.search(said)):
        seconds = _until(now, int(found[2]), int(found[3] or 0), found[4] or _half(said), said)
    if not seconds:
        raise _no_duration(said)
    if seconds > LONGEST_DAYS * 86_400:
        raise _too_long()
    return seconds


def _too_long() -> InputError:
    return InputError(
        tr("A timer can run for {longest_days} days at most.", longest_days=LONGEST_DAYS)
    )


def _no_duration(said: str) -> InputError:
    """Why no timer can be set by these words."""
    if _PART.search(said):
        return InputError(tr("A timer must run for more than zero seconds."), hint=_EXAMPLE)
    if odd := _ODD_UNIT.search(said):
        return InputError(
            tr("I do not know how long “{odd}” is.", odd=odd[1] or odd[2]), hint=_EXAMPLE
        )
    if said and not _TO_SET.search(said):
        return InputError(
            tr("I can set a timer, list the timers or cancel them; which of these is not clear."),
            hint=tr("Say “set a timer for ten minutes”, “list the timers” or “cancel the timer”."),
        )
    return InputError(tr("How long the timer should run is missing."), hint=_EXAMPLE)


def spoken_length(seconds: float) -> str:
    """A duration in words, such as "1 hour and 30 minutes"."""
    left = max(round(seconds), 0)
    parts = []
    for name, size in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {name}{'s' if count != 1 else ''}")
    if len(parts) > 1:
        return f"{', '.join(parts[:-1])} and {parts[-1]}"
    return parts[0] if parts else "less than a second"


def _plain(words: str) -> str:
    return " ".join(words.casefold().replace("’", "'").split())[:200]


def _half(said: str) -> str:
    """am or pm where the part of the day is named."""
    if "morning" in said:
        return "am"
    return "pm" if re.search(r"\b(?:afternoon|evening|tonight|night)\b", said) else ""


def _until(now: datetime, hour: int, minute: int, half: str, said: str) -> float:
    if hour > 23 or minute > 59:
        raise InputError(tr("{hour}:{minute:02} is no time of day.", hour=hour, minute=minute))
    if half.startswith(("a", "p")) and hour <= 12:
        hour = hour % 12 + (12 if half[0] == "p" else 0)
    due = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
    if "tomorrow" in said:
        return (due + timedelta(days=1) - now).total_seconds()
    # "At seven" without am or pm means the next seven there is.
    step = timedelta(days=1) if half.startswith(("a", "p")) or hour > 12 else timedelta(hours=12)
    while due <= now:
        due += step
    return (due - now).total_seconds()


def _when(timer: Timer, now: datetime) -> str:
    due = timer.due.astimezone(now.tzinfo)
    seconds = ":%S" if (due - now).total_seconds() < 600 else ""
    day = "" if due.date() == now.date() else f" on {due:%A}, {due.day} {due:%B}"
    return f"It rings at {due:%H:%M{seconds}}{day}."


def _cancelled(count: int) -> str:
    if not count:
        return "No timer is running."
    return "The timer is cancelled." if count == 1 else f"All {count} timers are cancelled."


def _listed(pending: Iterable[Timer], now: datetime) -> str:
    lines = [
        f"{timer.label or 'Timer'}: {spoken_length((timer.due - now).total_seconds())} left."
        for timer in pending
    ]
    return "\n".join(lines) or "No timer is running."


DEFINITION = Definition(TYPE, skill=ring, note="rings while the window or the terminal runs")
