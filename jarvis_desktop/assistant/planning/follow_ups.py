"""Follow-ups that leave out what the request before them has: "and in London?", "and 10?"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jarvis_desktop.core.plan import Plan
from jarvis_desktop.text.dates import WEEKDAY
from jarvis_desktop.text.numbers import NUMBER_WORDS

MAX_WORDS = 6
MAX_WORDS_ALONE = 3
"""Of a follow-up that does not begin with "and" or the like."""

_lead = re.compile(
    r"^\W*(?:and|or|then|what about|how about|und|oder|was ist mit|wie ist es mit)\b[\s,]*(?=\w)",
    re.IGNORECASE,
)
_prepositions = "|".join(
    "about at between by for from in into of on since to until with "
    "ab auf bis für mit nach um von zu zwischen".split()
)
_alike = re.compile(r"(?:in|into|to)", re.IGNORECASE)
_preposition = re.compile(rf"(?:{_prepositions})\b", re.IGNORECASE)
_quantity = re.compile(
    rf"(?P<number>\d[\d.,:/]*(?<=\d)|\b(?:{'|'.join(NUMBER_WORDS)})\b)(?P<unit>\s*%|\s*[^\W\d]+)?",
    re.IGNORECASE,
)
_time = re.compile(
    r"\b(?:(?:next|last|this) \w+|today|tomorrow|yesterday|tonight|heute|morgen|gestern"
    rf"|{WEEKDAY})\b",
    re.IGNORECASE,
)
_and_chinese = re.compile(r"^(?:那么?)?(\w{1,8})呢\W*$")
_asked_in_chinese = re.compile(
    r"(?:^(?![离到距])|(?<=[离到]))\w+?(?=(?:现在)?是?几点|还有|是什么时候)"
)
_edges = " \t\n.?!,;"
_a_thing = re.compile(
    r"(?:the|an?|my|this|that|who|der|die|das|ein|eine|mein|wer)\b", re.IGNORECASE
)
"""Begins words that stand for no value: "and the weather?"."""
_wanted = re.compile(r"(\bhow (?:many|much) )\w+", re.IGNORECASE)
"""What a conversion asks for: "how many kilometres is ..."."""
_copula = re.compile(r"^.*?\b(?:is|are|was|were|ist|sind)\s+", re.IGNORECASE)


def whole_request(text: str, earlier: Sequence[str]) -> str | None:
    """Return a follow-up with what it leaves out of the `earlier` requests, oldest first; None if
    it is none. It is only a guess: see `changes_a_value`."""
    rest, led = _rest(text)
    short = 0 < len(rest.split()) <= (MAX_WORDS if led else MAX_WORDS_ALONE)
    plain = short and bool(led or _preposition.match(rest) or rest[0].isdigit())
    if not earlier or not (plain or _and_chinese.match(text)):
        return None
    before = whole_request(earlier[-1], earlier[:-1]) or earlier[-1]
    if chinese := _in_chinese(text, before):
        return chinese
    return _exchanged(rest, before.strip(_edges)) if plain else None


def _in_chinese(text: str, before: str) -> str | None:
    """The same for "伦敦呢？" after "东京现在几点"."""
    asked = _and_chinese.match(text)
    if asked is None or not (old := _asked_in_chinese.search(before)):
        return None
    return f"{before[: old.start()]}{asked[1]}{before[old.end() :]}"


def is_fragment(text: str) -> bool:
    """Return whether a follow-up alone is too short to be one: "and 20%?"."""
    return len(_rest(text)[0].split()) <= MAX_WORDS_ALONE


def changes_a_value(plan: Plan, before: Plan | None) -> bool:
    """Return whether a plan does what the one before it does, with another value."""
    return has_the_same_tasks(plan, before) and not plan.undone and plan != before


def has_the_same_tasks(plan: Plan, before: Plan | None) -> bool:
    """Return whether two plans have tasks of the same types, in the same order."""
    return before is not None and [it.type for it in plan] == [it.type for it in before]


def _rest(text: str) -> tuple[str, bool]:
    """Return a follow-up without "and" or the like, and whether it had that."""
    lead = _lead.match(text)
    return (text[lead.end() :] if lead else text).strip(_edges), lead is not None


def _exchanged(rest: str, before: str) -> str | None:
    """Put the words of a follow-up in the place of what they stand for."""
    if preposition := _preposition.match(rest):
        words = rest[preposition.end() :].strip()
        if _alike.fullmatch(preposition[0]):
            if found := _after_last("in|into|to", words, before):
                return found
            if _wanted.search(before):
                return _wanted.sub(lambda it: f"{it[1]}{words}", before)
        return _after_last(preposition[0], words, before) or f"{before} {rest}"
    if quantity := _quantity.fullmatch(rest):
        return _other_quantity(quantity, before)
    if _time.fullmatch(rest):
        return _time.sub(rest, before) if _time.search(before) else f"{before} {rest}"
    if _a_thing.match(rest) or len(rest.split()) > MAX_WORDS_ALONE:
        return None
    named = re.findall(rf"\b(?:{_prepositions})\b", before, re.IGNORECASE)
    copula = _copula.match(before)
    if (named or copula) and rest[0].islower():
        return None  # "what about dinner" is no place
    if named:
        return _after_last(named[-1], rest, before)
    if copula:
        return f"{copula[0]}{rest}"
    return f"{before.rpartition(' ')[0]} {rest}"


def _after_last(preposition: str, words: str, before: str) -> str | None:
    """Exchange the words from the last such preposition to the next one."""
    phrase = rf"\b({preposition})\s+\S+(?:\s+(?!(?:{_prepositions})\b)\S+)*"
    if not (found := list(re.finditer(phrase, before, re.IGNORECASE))):
        return None
    start, end = found[-1].span()
    return f"{before[:start]}{found[-1][1]} {words}{before[end:]}"


def _other_quantity(quantity: re.Match[str], before: str) -> str | None:
    """Exchange the quantity of the same unit, else the last one."""
    found = list(_quantity.finditer(before))
    unit = (quantity["unit"] or "").strip()
    same = [it for it in found if unit and (it["unit"] or "").strip() == unit]
    if not found:
        return None
    start, end = (same or found)[-1].span(0 if unit else "number")
    return f"{before[:start]}{quantity[0]}{before[end:]}"
