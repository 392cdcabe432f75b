"""Sets timers that ring, lists them and cancels them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.ports import Timer
from jarvis_desktop.core.task import Option, Preset, TaskType
from jarvis_desktop.tasks.definition import Definition, Services
from jarvis_desktop.tasks.numbers import with_digits

TYPE = TaskType(
    name="timer",
    summary="Sets a timer that rings, or lists or cancels timers.",
    ports=(),
    gives=(Kind.TEXT,),
    options=(
        Option("duration", "how long, or until when, as it was said", "", reads="clause"),
        Option("label", "what it is for", ""),
        Option("action", "what to do", "set", choices=("set", "cancel", "list")),
    ),
    cues=(
        "timer", "timers", "set a timer", "start a timer", "remind me in", "reminder in",
        "wake me in", "wake me up", "alarm", "countdown", "count down", "alert me in",
        "tell me when ... minutes", "let me know in", "how long is left", "cancel the timer",
        "stop the timer", "time left", "remind me at",
    ),
    presets=tuple(
        Preset(phrase, (("action", action),))
        for action, phrases in (
            ("cancel", "cancel ... timer*|stop ... timer*|delete ... timer*|clear ... timer*|"
             "turn off ... timer*|cancel ... alarm*|turn off ... alarm*|stop ... alarm*"),
            ("list", "time left|how long is left|how much time is left|time is left|"
             "list ... timer*|show ... timer*|which timers|what timers|any timers|"
             "how long ... timer"),
        )
        for phrase in phrases.split("|")
    ),
)  # fmt: skip

LONGEST_DAYS = 30
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_UNIT = r"(s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)"
_PART = re.compile(rf"(\d+(?:\.\d+)?)[\s-]*{_UNIT}\b(?:\s+and\s+(0\.\d+)\b(?!\s*[a-z]))?")
_AT = re.compile(r"\b(?:at|for|until|till)\s+(\d{1,2})(?:[:.](\d{2}))?\s*(o'?clock|[ap]\.?m\b\.?)?")


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
            label = call.words("label").strip()
            timer = services.timers.set(seconds, label)
            named = f" “{label}”" if label else ""
            length = spoken_length(seconds)
            return [text_artifact(f"The timer{named} is set for {length}. {_when(timer, now)}")]


def seconds_of(words: str, now: datetime) -> float:
    """How long "an hour and a half" or "until 7 pm" is. Raises InputError."""
    said = with_digits(re.sub(r"\bhalf an\b|\bhalf a\b", "0.5", _plain(words)))
    said = re.sub(r"\b(?:1 |an? )?quarter of an\b|\b0\.25 (?:of )?an\b", "0.25", said)
    said = re.sub(r"\b([\d.]+) of an? (?=hour|minute|day|week)", r"\1 ", said)
    said = re.sub(r"\b(?:an?|one)\s+(?=(?:second|minute|hour|day|week|sec|min|hr)\b)", "1 ", said)
    seconds = 0.0
    for amount, unit, half in _PART.findall(said):
        seconds += (float(amount) + float(half or 0)) * _SECONDS[unit[0]]
    if not seconds and (found := _AT.search(said)):
        seconds = _until(now, int(found[1]), int(found[2] or 0), found[3] or _half(said), said)
    if not seconds:
        raise InputError(
            "How long the timer should run is missing.", hint="Say “set a timer for ten minutes”."
        )
    if seconds > LONGEST_DAYS * 86_400:
        raise InputError(f"A timer can run for {LONGEST_DAYS} days at most.")
    return seconds


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
        raise InputError(f"{hour}:{minute:02} is no time of day.")
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
