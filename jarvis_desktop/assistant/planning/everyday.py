"""Everyday requests in words that no cue lists, by what a small network learned from users.

It says how likely a text asks for the time, a sum, a timer or a translation, and what it chooses
of that; see `models/planner/README.md`. A request is read as a whole and in its parts, so that one
with several wishes is understood, while "five and a half minutes" stays one thing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from jarvis_desktop.assistant.planning import intents, planned_step, steps, wish_words
from jarvis_desktop.assistant.planning.intents import CueMatch
from jarvis_desktop.assistant.planning.request_parser import ParsedRequest
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.ports import LIVE_DATA, NO_TASK, TaskScorer
from jarvis_desktop.core.task import TaskType, Value

MIN_PROBABILITY = 0.6
"""A part asks for a task from this probability on, ..."""
MIN_OF_HELP = 0.72
"""... or from this for the help, which answers nothing else with its list of all that works, ..."""
MIN_BESIDE_CUE = 0.9
"""... from this, if it has the cue of another task, ..."""
MIN_OF_WHOLE = 0.15
"""... and, beside other parts, if the whole request is this likely to, ..."""
MIN_ALONE = 0.97
"""... or the part itself is this likely to."""
MAX_DOUBTED = 0.1
"""The cue of an everyday task does not count if the task is less likely than this."""
MIN_LONG_CUE = 10.0
"""The weight of a cue of several words, or of a long one."""
MIN_NOTHING = 0.95
"""A part that names no file and is this likely to ask for nothing of ours does so, whatever cues it
has: "read me my meeting schedule"."""
MAX_OTHER = 0.5
"""One saying asks for no other task that is more likely than this."""
TRANSLATION, GREETING = "translation", "help"
WEIGHT = 24.0
"""Of a task that is certain; a cue weighs as much as its letters."""
MAX_CHARS = 200
"""Characters of a part that are read."""
MAX_PARTS = 6
"""Parts that are read: each takes milliseconds."""

MIN_LIVE = 0.6
"""A question is about today from this probability on: one that could have been answered is not
refused lightly."""
Part = tuple[int, int, list[CueMatch]]
"""The beginning and end of a part of the request, and the cues in it."""
Likely = Mapping[str, float]


def read_exactly(
    read: ParsedRequest, parts: Sequence[Part], inventory: Sequence[TaskType], *, tables: bool
) -> list[Part]:
    """Return the parts; what a task reads as a whole, such as a sum, has only its cue. Parts become
    one where "and" is in it: "add milk and eggs to my shopping list". With `tables` at hand,
    "remove the doubles from my guest list" means one of them."""
    found: list[Part] = []
    rest = list(parts)
    while rest:
        start, _, cues = rest[0]
        readings = (
            (count, [cue])
            for count in range(min(len(rest), MAX_PARTS), 0, -1)
            if (cue := _exact_cue(read, start, rest[count - 1][1], inventory, tables=tables))
        )
        count, held = next(readings, (1, cues))
        found.append((start, rest[count - 1][1], held))
        rest = rest[count:]
    return found


def _exact_cue(
    read: ParsedRequest, start: int, end: int, inventory: Sequence[TaskType], *, tables: bool
) -> CueMatch | None:
    if read.files_in(start, end):
        return None
    words = planned_step.without_joints(read.text[start:end])
    at = read.text.index(words, start)
    words = words.rstrip(" .!?,")
    readers = (item for item in inventory if not (tables and item.acts))
    if (found := intents.read_whole(words, readers)) is None:
        return None
    task_type, options = found
    return CueMatch(task_type, at, at + len(words), WEIGHT, tuple(options.items()), exact=True)


def open_parts(parts: Sequence[Part], *, about: bool) -> list[Part]:
    """Return the parts to read: those that no cue settles. A cue settles a part if there is
    something to work on, as `about` says, or if its task has read all of it."""
    settled = [bool(cues) and (about or cues[0].exact) for _, _, cues in parts]
    return [part for part, is_settled in zip(parts, settled, strict=True) if not is_settled][
        :MAX_PARTS
    ]


def texts(read: ParsedRequest, asked: Sequence[Part]) -> list[str]:
    """Return what the network reads: the whole request, then the parts in question."""
    spans = [(0, len(read.text)), *((start, end) for start, end, _ in asked)]
    return [read.with_nouns(start, end)[:MAX_CHARS] for start, end in dict.fromkeys(spans)]


def matches(
    read: ParsedRequest,
    parts: Sequence[Part],
    asked: Sequence[Part],
    likely: Sequence[Likely],
    inventory: Sequence[TaskType],
    *,
    about: bool = False,
) -> list[CueMatch]:
    """Return the cues that hold, and one for each part that asks for a task without any. `likely`
    belongs to the `texts` of the parts in question; `about` says that there is something to work
    on."""
    whole = likely[0]
    known = [item for item in inventory if item.name in whole]
    if len(parts) > 1 and not about and (said := _one_saying(read, parts, whole, known)):
        return [said]
    found: list[CueMatch] = []
    by_start = _by_start(asked, likely)
    for start, end, cues in parts:
        if start not in by_start or read.is_foreign(start, end):
            found += cues
            continue
        chances = by_start[start]
        task_type = max(known, key=lambda item: chances[item.name], default=None)
        if task_type is None:
            return [cue for _, _, cues in parts for cue in cues]
        held = [cue for cue in cues if _holds(cue, chances, read)]
        named = read.files_in(start, end) or read.quotes_in(start, end)
        may_be_ours = named or (about and len(parts) == 1)
        if chances.get(NO_TASK, 0.0) >= MIN_NOTHING and not may_be_ours:
            held = [cue for cue in held if cue.type.name == steps.WRITING or _is_all(cue, read)]
        chance = chances[task_type.name]
        if whole[task_type.name] < MIN_OF_WHOLE and chance < MIN_ALONE:
            chance = 0.0
        if read.files_in(start, end) and not task_type.ports:
            chance = 0.0  # "correct the spelling in notes.txt" spells nothing
        if task_type.name != TRANSLATION and _about_a_word.search(read.text, start, end):
            chance = 0.0  # "what rhymes with time" asks for no time
        if wish_words.PUTS.match(read.text, start) and any(
            item.output for item in read.files_in(start, end)
        ):
            chance = 0.0  # "gib es mir als kurz.mov" translates nothing
        others = [
            cue.weight
            for cue in held
            if cue.type not in known and (named or about or _may_be_meant(cue))
        ]
        # "Say hello": the words behind the cue are what it works on.
        repeats = any(wish_words.takes_words(cue.type) and cue.start <= start + 1 for cue in held)
        least = MIN_OF_HELP if task_type.name == GREETING else MIN_PROBABILITY
        sure = 1.0 if repeats else MIN_BESIDE_CUE if others else least
        own = any(cue.type is task_type for cue in held)
        own |= bool(found) and task_type.name == GREETING  # "say hello and goodbye"
        if chance >= sure and not own and WEIGHT * chance > max(others, default=0.0):
            held = [cue for cue in held if cue.type not in known or wish_words.is_literal(cue.type)]
            held.append(_match(task_type, start, end, chance, chances, read))
        found += held
    if not found and len(parts) > 1:
        everything: list[Part] = [(*_may_be_one(parts, by_start), [])]
        found = matches(read, everything, everything, [whole], inventory, about=about)
        return [_as_far_as_heard(cue, parts, read) for cue in found]
    return sorted(found, key=lambda item: (item.start, -item.weight))


def _may_be_one(parts: Sequence[Part], by_start: Mapping[int, Likely]) -> tuple[int, int]:
    """Return the beginning and end of parts that may be one wish: all except those around them
    that surely ask for no task."""
    known = [
        (start, end)
        for start, end, _ in parts
        if by_start.get(start, {}).get(NO_TASK, 0.0) < MIN_NOTHING
    ] or [(start, end) for start, end, _ in parts]
    return known[0][0], known[-1][1]


def _as_far_as_heard(cue: CueMatch, parts: Sequence[Part], read: ParsedRequest) -> CueMatch:
    """Return a cue without the parts at its end that change nothing in what its task takes."""
    hears = cue.type.hears
    if hears is None or not (heard := hears(read.words(cue.start, cue.end))):
        return cue
    ends = (min(end, cue.end) for _, end, _ in parts if end > cue.start)
    return replace(cue, end=next(it for it in ends if hears(read.words(cue.start, it)) == heard))


_about_a_word = re.compile(
    r"\b(?:rhym\w+|synonyms?|antonyms?|opposite of|meaning of|definition of|define)\b"
)


def _one_saying(
    read: ParsedRequest, parts: Sequence[Part], whole: Likely, known: Sequence[TaskType]
) -> CueMatch | None:
    """Return the whole request if all of it is one thing to translate: "how do they say hello and
    goodbye in French"."""
    sure = [item for item in known if whole[item.name] >= MAX_OTHER]
    found = [cue for _, _, cues in parts for cue in cues]
    alone = [item.name for item in sure] == [TRANSLATION] and whole[TRANSLATION] >= MIN_BESIDE_CUE
    if not alone or any(cue.type != sure[0] for cue in found):
        return None
    return _match(sure[0], 0, len(read.text), whole[TRANSLATION], whole, read)


def _may_be_meant(cue: CueMatch) -> bool:
    """Return whether a cue counts without a file: "flip" alone turns no picture."""
    ports = cue.type.ports
    return not ports or Kind.TEXT in ports[0].kinds or cue.weight >= MIN_LONG_CUE


def _holds(cue: CueMatch, chances: Likely, read: ParsedRequest) -> bool:
    """Return whether the cue counts: not if the network knows its task and finds it unlikely, while
    the cue itself is not long enough to be as certain."""
    sure = chances.get(cue.type.name, 1.0) >= MAX_DOUBTED or cue.weight >= WEIGHT
    return sure or wish_words.is_literal(cue.type) or _is_all(cue, read)


def _is_all(cue: CueMatch, read: ParsedRequest) -> bool:
    """Return whether a request is its cue, and nothing besides."""
    return not re.search(r"\w", read.text[: cue.start] + read.text[cue.end :])


def _match(
    task_type: TaskType,
    start: int,
    end: int,
    chance: float,
    chances: Likely,
    read: ParsedRequest,
) -> CueMatch:
    words = planned_step.without_joints(read.text[start:end]).rstrip(" .!?")
    options = _chosen(task_type, chances)
    return CueMatch(task_type, start, start + len(words), WEIGHT * chance, options)


def _chosen(task_type: TaskType, chances: Likely) -> tuple[tuple[str, Value], ...]:
    """Return the likeliest choice of each option that the network knows."""
    found = []
    for option in task_type.options:
        names = {choice: f"{task_type.name} {option.name}={choice}" for choice in option.choices}
        rated = {choice: chances[name] for choice, name in names.items() if name in chances}
        if rated and (best := max(rated, key=rated.__getitem__)) != option.default:
            found.append((option.name, best))
    return tuple(found)


def foreign(
    read: ParsedRequest, asked: Sequence[Part], likely: Sequence[Likely]
) -> dict[int, float]:
    """Return how likely the parts without a cue, by their beginnings, ask for nothing of ours; what
    is asked of today's news or weather, or is to be sent, does so for sure."""
    by_start = _by_start(asked, likely)
    return {
        start: 1.0
        if by_start[start].get(LIVE_DATA, 0.0) >= MIN_LIVE
        or wish_words.SENDS.match(read.text, start)
        or read.is_foreign(start, end)  # the network reads English
        else by_start[start].get(NO_TASK, 0.0)
        for start, end, cues in asked
        if not cues
    }


def _by_start(asked: Sequence[Part], likely: Sequence[Likely]) -> dict[int, Likely]:
    """Return the chances of each part; a single part is the whole request."""
    starts = [start for start, _, _ in asked]
    return dict(zip(starts, likely[-len(starts) :], strict=True)) if starts else {}


def why_unknowable(scorer: TaskScorer, text: str) -> str:
    """Return why nobody here can answer an English question about the weather, news, prices, scores
    or traffic of today, else "". It may block for milliseconds.

    A small LLM invents such answers, whatever its prompt says, and no task can look them up. What
    is missed is left to the rule in the prompt of the direct answer.
    """
    try:
        (likely,) = scorer.everyday([text])
    except UnavailableError:  # `doctor` reports it
        return ""
    if likely.get(LIVE_DATA, 0.0) < MIN_LIVE:
        return ""
    return tr(
        "I cannot look that up: nothing here knows the weather, news, prices, scores, traffic "
        "or opening hours of today."
    )
