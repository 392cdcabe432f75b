"""Flips coins, rolls dice, picks numbers and picks one of several things."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Option, Preset, TaskType
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition, Services
from jarvis_desktop.tasks.numbers import with_digits

TYPE = TaskType(
    name="chance",
    summary="Flips a coin, rolls dice, picks a number or one of several things by chance.",
    ports=(),
    gives=(Kind.TEXT,),
    options=(
        Option("what", "what decides", "coin", choices=("coin", "dice", "number", "choice")),
        Option("count", "how many coins or dice", 1),
        Option("low", "the smallest number", 1),
        Option("high", "the largest number; of dice, the sides", 0),
        Option("among", "the things to pick from, or the whole request", "", reads="clause"),
    ),
    cues=(
        "flip a coin", "flip coin", "flip the coin", "flip # coins", "toss a coin", "toss the coin",
        "coin flip", "coin toss", "heads or tails", "roll a die", "roll a dice", "roll the dice",
        "roll dice", "roll the die", "throw the dice", "throw a die", "roll # dice", "roll # die",
        "roll a d#", "random number", "pick a number", "choose a number", "a number between",
        "number between # and #", "pick one of", "choose one of", "choose between", "pick between",
        "pick at random", "choose at random", "decide between",
    ),
    presets=tuple(
        Preset(phrase, (("what", what),))
        for what, phrases in (
            ("dice", "roll a die|roll a dice|roll the dice|roll dice|roll ... dice|roll a #|"
             "roll # dice|throw the dice|throw a die|roll a d#"),
            ("number", "random number|pick a number|choose a number|number between|number from"),
            ("choice", "pick one of|choose one of|choose between|pick between|decide between|"
             "pick one|choose one|choose for me"),
        )
        for phrase in phrases.split("|")
    ),
)  # fmt: skip

MOST = 100


async def draw(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """What came up. Raises InputError for ranges that are empty and choices that are none."""
    said = with_digits(call.words("among").casefold())
    count, low, high = (int(call.number(name)) for name in ("count", "low", "high"))
    if found := re.search(r"\b(?:between|from)\s+(-?\d+)\s+(?:and|to)\s+(-?\d+)", said):
        low, high = int(found[1]), int(found[2])
    if found := re.search(r"\b(\d+)\s+(?:\d+[\s-]sided )?(?:coins|dice|times)\b", said):
        count = int(found[1])
    if found := re.search(r"\b(\d+)[\s-]sided\b|\bd(\d+)\b", said):
        high = int(found[1] or found[2])
    if not 1 <= count <= MOST:
        raise InputError(tr("Between 1 and {most} can be drawn at once.", most=MOST))
    match call.words("what"):
        case "dice":
            return [text_artifact(_dice(count, high or 6))]
        case "number":
            return [text_artifact(f"{_between(low, high or 100)}.")]
        case "choice":
            return [text_artifact(_choice(call.words("among")))]
        case _:
            return [text_artifact(_coins(count))]


def _between(low: int, high: int) -> int:
    if low > high:
        raise InputError(tr("There is no number from {low} to {high}.", low=low, high=high))
    return low + secrets.randbelow(high - low + 1)


def _coins(count: int) -> str:
    sides = [secrets.choice(("heads", "tails")) for _ in range(count)]
    if count == 1:
        return f"{sides[0].capitalize()}."
    return f"{', '.join(sides).capitalize()}: {sides.count('heads')} times heads."


def _dice(count: int, sides: int) -> str:
    if not 2 <= sides <= 1_000_000:
        raise InputError(tr("Dice have two sides at least."))
    rolled = [_between(1, sides) for _ in range(count)]
    if count == 1:
        return f"A {rolled[0]}."
    return f"{', '.join(map(str, rolled))}: {sum(rolled)} together."


def _choice(among: str) -> str:
    listed = re.sub(r"^.*?\b(?:choose|pick|decide|select)\b", "", among, count=1, flags=re.I)
    listed = re.sub(
        r"^[\s:]*(?:(?:one|between|from|of|for me|these)\b[\s:]*)+", "", listed, flags=re.I
    )
    ends = r",|;|\bor\b" if re.search(r",|;|\bor\b", listed) else r"\band\b"
    things = [re.sub(r"^(?:and|or)\s+", "", part.strip(" ?.!")) for part in re.split(ends, listed)]
    things = [thing for thing in things if thing]
    if len(things) < 2:
        raise InputError(
            tr("There must be two things at least to choose between."),
            hint=tr("Say “tea or coffee”."),
        )
    return f"{secrets.choice(things)}."


DEFINITION = Definition(TYPE, skill=draw, note="the system's source of randomness")
