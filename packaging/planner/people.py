"""What users say to assistants, by our tasks; with slips of the keyboard and of recognition.

The sentences are those of CLINC150 (Larson et al. 2019) and SLURP (Bastianelli et al. 2020), which
stay in the folder that is named to `train_everyday.py`.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

CLINC_TASKS = {
    **dict.fromkeys(("time", "date", "timezone"), "clock"),
    **dict.fromkeys(("timer", "alarm", "reminder", "reminder_update"), "timer"),
    **dict.fromkeys(("calculator", "measurement_conversion"), "calculator"),
    **dict.fromkeys(("flip_coin", "roll_dice"), "chance"),
    **dict.fromkeys(("what_can_i_ask_you", "greeting", "goodbye", "thank_you"), "help"),
    **dict.fromkeys(("are_you_a_bot", "what_is_your_name", "who_made_you"), "help"),
    "spelling": "spell",
    "translate": "translation",
    "repeat": "repeat",
    "change_user_name": "remember",
}
CLINC_UNDECIDED = frozenset({"cancel", "user_name", "tell_joke", "recipe", "definition"})
"""Intents that a task may or may not do; nothing is learnt from them."""

SLURP_TASKS = {
    **dict.fromkeys(("datetime_query", "datetime_convert"), "clock"),
    **dict.fromkeys(("alarm_set", "alarm_query", "alarm_remove"), "timer"),
    "qa_maths": "calculator",
    "general_greet": "help",
}
SLURP_UNDECIDED = frozenset(
    "calendar_set general_quirky general_joke qa_definition query set quirky greet factoid".split()
)

HEARD = {
    "two": "to", "to": "two", "four": "for", "for": "four", "eight": "ate", "one": "won",
    "their": "there", "hour": "our", "our": "hour", "week": "weak", "weeks": "weaks",
    "roll": "role", "die": "dye", "dice": "dies", "right": "write", "write": "right",
    "weigh": "way", "by": "buy", "bye": "by", "know": "no", "new": "knew", "time": "thyme",
    "what's": "watts", "whats": "what is", "meters": "meeters", "ounces": "ounce is",
    "feet": "feat", "pound": "pounds", "mile": "mild", "inches": "in just", "coin": "coins",
    "heads": "head", "flip": "flick", "timer": "time are", "alarm": "a lum", "spell": "spelled",
    "spelled": "spell", "translate": "trance late", "date": "day", "wake": "weak",
    "minutes": "minute", "half": "have", "sum": "some", "plus": "pulse", "times": "time",
    "percent": "per cent", "hello": "hallo", "thanks": "tanks", "repeat": "re peat",
}  # fmt: skip
"""What a recogniser writes in place of a word."""
_NEAR = {
    near: around
    for row in ("qwertyuiop", "asdfghjkl", "zxcvbnm")
    for near, around in zip(row, zip(" " + row[:-1], row[1:] + " ", strict=True), strict=True)
}
JOINTS = (" and ", " and then ", ", then ", " then ", ". ", ", and ", " and also ", ", ", " plus ")
FILLERS = ("uh ", "um ", "please ", "hey jarvis ", "ok ", "so ", "well ", "can you ", "could you ")


CHOICES = {
    "clock what=days until": r"how (?:many|much|long)\b.*"
    r"\b(?:days?|weeks?|sleeps|until|till|before)",
    "clock what=day": r"\b(?:what|which|week|the)\s?day\b(?!.*\b(?:date|month|year)\b)",
    "clock what=date": r"\b(?:dates?|days?|month|year|today)\b",
    "clock what=time": "",
    "chance what=dice": r"\bd(?:ice|ie|\d+)\b|\bsided\b",
    "chance what=number": r"\bnumber\b",
    "chance what=choice": r"\b(?:choose|pick|decide|should|or)\b(?!.*\b(?:coin|heads|tails)\b)",
    "chance what=coin": "",
    "timer action=cancel": r"\b(?:cancel|delete|remove|stop|(?:turn|shut|switch)\b.*\boff|"
    r"disable|kill|get rid|clear|erase)\b",
    "timer action=list": r"^(?!.*\b(?:set|make|add|create|wake)\b)(?:.*\bhow (?:much|long|many)\b|"
    r".*\b(?:what|which|any|list|show|check|see|read|view)\b.*\b(?:timers?|alarms?|remind\w*)\b|"
    r".*\b(?:did|what|do) i\b)",
    "timer action=set": "",
    "remember action=list": r"^(?:what|which|list|show|do you)\b",
    "remember action=keep": "",
}  # fmt: skip
"""What a request for a task chooses, and how it is recognized in the sentences to learn from; the
first that fits."""


def choice(task: str, text: str) -> str:
    """Return which entry of CHOICES the words mean; "" if the task has none."""
    fitting = (
        name
        for name, form in CHOICES.items()
        if name.startswith(f"{task} ") and re.search(form, text.lower())
    )
    return next(fitting, "")


Said = tuple[str, tuple[str, ...]]
"""A request, and the tasks it asks for with their choices."""


def labelled(folder: Path, *splits: str) -> list[Said]:
    """Return the requests of these splits of CLINC150, and all of SLURP with its own split."""
    found: list[Said] = []
    for line in _lines(folder / "clinc150_train.jsonl"):
        if line["split"] in splits and line["intent"] not in CLINC_UNDECIDED:
            found.append(_said(line["text"], CLINC_TASKS.get(line["intent"], "")))
    if "devel" in splits:
        for line in _lines(folder / "slurp_devel.jsonl"):
            if line["intent"] not in SLURP_UNDECIDED:
                found.append(_said(line["text"], SLURP_TASKS.get(line["intent"], "")))
    return found


def _said(text: str, *tasks: str) -> Said:
    known = tuple(dict.fromkeys(task for task in tasks if task))
    chosen = (choice(task, text) for task in known)
    return text, (*known, *(name for name in chosen if name))


def slips(said: Sequence[Said], dice: random.Random, *, others: int) -> list[Said]:
    """Return the requests misspelt or misheard; of those that ask for nothing, only so many."""
    rest = [item for item in said if not item[1]]
    chosen = [item for item in said if item[1]] + dice.sample(rest, min(others, len(rest)))
    return [(slip(text, dice), tasks) for text, tasks in chosen]


def joined(said: Sequence[Said], dice: random.Random, count: int) -> list[Said]:
    """Return requests for two or three things, of which some ask for nothing of ours."""
    asking, rest = [item for item in said if item[1]], [item for item in said if not item[1]]
    found: list[Said] = []
    for _ in range(count):
        parts = [dice.choice(asking if dice.random() < 0.75 else rest) for _ in range(2)]
        if dice.random() < 0.25:
            parts.append(dice.choice(asking))
        text = "".join(
            (dice.choice(JOINTS) if place else "") + part[0].rstrip(" .?!")
            for place, part in enumerate(parts)
        )
        found.append((text, tuple(dict.fromkeys(name for part in parts for name in part[1]))))
    return found


def slip(text: str, dice: random.Random) -> str:
    """Return the text as it may be typed in a hurry or heard."""
    words = text.split()
    kind = dice.random()
    if kind < 0.45:
        for _ in range(1 + (len(words) > 8)):
            place = dice.randrange(len(words))
            words[place] = _mistype(words[place], dice)
    elif kind < 0.8:
        words = [HEARD[word] if word in HEARD and dice.random() < 0.6 else word for word in words]
        words = [re.sub(r"['.,?!]", "", word) for word in words]
    elif kind < 0.9 and len(words) > 4:
        words.pop(0 if dice.random() < 0.5 else dice.randrange(len(words)))
    else:
        words.insert(0, dice.choice(FILLERS).strip())
    return " ".join(word for word in words if word) or text


def _mistype(word: str, dice: random.Random) -> str:
    """Return a word of letters with one swapped, doubled, dropped or a key beside it."""
    if len(word) < 3 or not word.isalpha():
        return word
    at = dice.randrange(len(word) - 1)
    match dice.randrange(4):
        case 0:
            return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        case 1:
            return word[:at] + word[at] + word[at:]
        case 2:
            return word[:at] + word[at + 1 :]
        case _:
            key = dice.choice(_NEAR.get(word[at].lower(), (word[at],))).strip()
            return word[:at] + key + word[at + 1 :]


def _lines(path: Path) -> Iterator[dict[str, str]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)
