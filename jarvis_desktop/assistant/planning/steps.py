"""Cuts a request into steps: which task is asked for, in which stretch of the words."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from jarvis_desktop.assistant.planning import intents
from jarvis_desktop.assistant.planning.inputs import CONVERTERS, FOLLOWING, PROMPT
from jarvis_desktop.assistant.planning.intents import CueMatch
from jarvis_desktop.assistant.planning.request_parser import ParsedRequest
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import TaskType, Value

_boundary = re.compile(
    r"[.!?;\n]+(?=\s|$)|,(?=\s|$)|"
    r"\b(?:and then|then|after that|afterwards|and also|and|also|plus)\b"
)
_not_before_a_verb = frozenset(
    "the a an this that these those my your our its their his her of in on for with from to into "
    "as by at about no more some any every each what which how whose very".split()
)

_joining = frozenset("in into with from along using following guided based posing standing".split())

_negation = re.compile(
    r"\b(?:not|don't|dont|do not|doesn't|never|without|no need to|instead of|rather than)"
    r"(?:\s+\w+)?\s*$"
)
_marked = re.compile(r"\bxfile\d+x[a-z]*\b")
_determined = re.compile(r"\b(?:the|that|this|your|my)\s+$")
_sentence_end = re.compile(r"[.!?\n]+(?=\s|$)")
_small_words = frozenset(
    "a all also an and as both do file files for here in is it me my of ok on one or other photo "
    "picture pictures please same second so that the then there these this those to too two well "
    "with you image images document documents recording from at but not".split()
)
"""Words that may stand beside a further file without asking for anything new."""

AS_SAID = "as-said"
"""The reader of options that take the words of a request as they are."""

FitScorer = Callable[[TaskType, int, int], float]
"""How well the inputs at hand suit a task asked for in that stretch: added to its score."""


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One task asked for. `start` to `end` is its stretch of the text, `cue` where it was heard."""

    type: TaskType
    start: int
    end: int
    cue: CueMatch
    options: tuple[tuple[str, Value], ...] = ()
    refers_to: tuple[str, ...] = ()
    """Names of task types whose earlier results this stretch speaks of: "the summary"."""


class NotUnderstoodError(Exception):
    """A stretch of the words asks for something, on a file of its own, that no cue tells."""

    def __init__(self, start: int, end: int) -> None:
        super().__init__(start, end)
        self.start = start
        self.end = end


def split_steps(
    reading: ParsedRequest, inventory: Sequence[TaskType], fit: FitScorer
) -> list[PlannedStep]:
    """The steps of a request, in the order they are asked for; empty where no task is heard.

    Raises NotUnderstood rather than do to a file what was asked for another one.
    """
    matches = _kept_whole(reading.text, intents.find_cues(reading.text, inventory))
    steps: list[PlannedStep] = []
    for start, end, found in _stretches(reading.text, matches):
        inside = [item for item in found if not _is_negated(reading.text[start : item.start])]
        asked, refers = _without_references(reading, inside, steps)
        if not asked:
            if steps and found == inside:
                words = set(re.findall(r"[a-z']+", _marked.sub(" ", reading.text[start:end])))
                if _marked.search(reading.text[start:end]) and words - _small_words:
                    raise NotUnderstoodError(start, end)
                last = steps[-1]
                steps[-1] = replace(last, end=end, refers_to=(*last.refers_to, *refers))
            continue
        groups = _groups(reading.text, asked)
        starts = [start, *(group[0].start for group in groups[1:]), end]
        for group, (begins, closes) in zip(groups, itertools.pairwise(starts), strict=True):
            rivals = [item for item in group if not _is_implied(item, group)]
            scores = {item: item.weight + fit(item.type, begins, end) for item in rivals}
            best = max(rivals, key=scores.__getitem__)
            options = tuple(
                pair for item in group if item.type is best.type for pair in item.options
            )
            steps.append(PlannedStep(best.type, begins, closes, best, options, refers))
    if steps:
        # What stands before the first cue ("for scan.png, ...") belongs to the first step.
        steps[0] = replace(steps[0], start=0)
    return steps


def _stretches(text: str, matches: list[CueMatch]) -> list[tuple[int, int, list[CueMatch]]]:
    """The text cut at sentence ends, commas and "and", but never inside a cue."""
    cuts = [0]
    for boundary in _boundary.finditer(text):
        if not any(item.start < boundary.end() and boundary.start() < item.end for item in matches):
            cuts.append(boundary.end())
    cuts.append(len(text))
    return [
        (start, end, [item for item in matches if start <= item.start < end])
        for start, end in itertools.pairwise(cuts)
    ]


def _kept_whole(text: str, matches: list[CueMatch]) -> list[CueMatch]:
    """Without the cues in what is to be taken word for word: "always translate mails". Such a
    cue, where it is the weightiest of its place, is stretched to the end of its sentence."""
    kept: list[CueMatch] = []
    taken = 0
    for match in matches:
        if match.start < taken:
            continue
        first = not kept or kept[-1].start < match.start
        if first and any(option.reads == AS_SAID for option in match.type.options):
            closing = _sentence_end.search(text, match.end)
            taken = closing.start() if closing else len(text)
            match = replace(match, end=taken)
        kept.append(match)
    return kept


def _without_references(
    reading: ParsedRequest, matches: list[CueMatch], steps: list[PlannedStep]
) -> tuple[list[CueMatch], tuple[str, ...]]:
    """The cues that ask for something, and the names of earlier tasks the others speak of.

    Where nothing but results of earlier turns is spoken of, they are asked for anew.
    """
    text, earlier = reading.text, {step.type.name for step in steps}
    named = [item for item in matches if item.type.name in earlier and not item.options]
    asked, names = _split_off(
        text, matches, [it for it in named if intents.is_noun_phrase(text, it)]
    )
    made = [item for item in asked if item.type.name in reading.made and not item.options]
    made = [item for item in made if _determined.search(text, max(0, item.start - 8), item.start)]
    wider, more = _split_off(text, asked, made)
    return (wider, (*names, *more)) if wider else (asked, names)


def _split_off(
    text: str, matches: list[CueMatch], references: list[CueMatch]
) -> tuple[list[CueMatch], tuple[str, ...]]:
    names = tuple(dict.fromkeys(item.type.name for item in references))
    asked = [
        item
        for item in matches
        if item not in references and not any(item.overlaps(other) for other in references)
    ]
    # "Read that" is no cue of its own in "read that summary aloud".
    starts = {other.start for other in references}
    clear = [item for item in asked if not _points_on(text[item.start : item.end], item, starts)]
    return clear or asked, names


def _points_on(cue: str, match: CueMatch, starts: set[int]) -> bool:
    return match.end + 1 in starts and _determined.search(f"{cue} ") is not None


def _groups(text: str, matches: list[CueMatch]) -> list[list[CueMatch]]:
    """Cues of one step each: a new one begins where another task's cue stands like a verb."""
    groups: list[list[CueMatch]] = []
    for match in matches:
        current = groups[-1] if groups else []
        if (
            current
            and _takes_words(current[-1].type)
            and not text[current[-1].end : match.start].strip()
        ):
            continue  # "say hello": what follows at once is to be said, not done
        same = any(match.overlaps(item) or match.type is item.type for item in current)
        before = re.findall(r"[\w'-]+", text[max(0, match.start - 40) : match.start])[-1:]
        verb_like = not before or before[0] not in _not_before_a_verb
        # "A knight | in the same pose as": what begins so goes with what stands before it.
        verb_like &= text[match.start : match.end].split()[0] not in _joining
        if current and (same or not verb_like):
            current.append(match)
        else:
            groups.append([match])
    return groups


def _is_negated(before: str) -> bool:
    return _negation.search(before[-60:]) is not None


def _takes_words(task_type: TaskType) -> bool:
    """Whether a few words behind the cue are what the task works on."""
    first = task_type.ports[:1]
    return (
        bool(first)
        and first[0].kinds[0] is Kind.TEXT
        and (task_type.name in FOLLOWING or first[0].name == PROMPT)
    )


def _is_implied(match: CueMatch, group: list[CueMatch]) -> bool:
    """Whether a conversion is only the way to another task: "read me the text in this picture"
    wants to hear it, and that it must be read off the picture first is seen from the kinds."""
    return match.type.name in CONVERTERS and any(
        not match.overlaps(other)
        and other.type.name in FOLLOWING
        and set(match.type.gives) & set(other.type.ports[0].kinds)
        for other in group
    )
