"""Find in a request the words (cues) by which users ask for a task."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import TaskType, Value
from jarvis_desktop.text.numbers import NUMBER_WORDS

_word = f"(?:{'|'.join(NUMBER_WORDS)}|half)"
NUMBER = rf"(?:\d(?:[\d,]{{0,13}}\d)?(?:\.\d{{1,6}})?|{_word}(?:[\s-]+{_word})*)"

_beginning = r"(?:^\W*|(?<=\band )|(?<=\bthen )|(?<=, )|(?<=[.!?;] ))"
_asking = "what|what's|which|who|how|when|where|then|also|was|wie|wer|dann"
_next = r"\s+(?:and\s+|und\s+)?(?:then|afterwards|after that|dann|danach)\b"
_ordering = r"\s+(?:and|und)\s+(?:turn|convert|make|change|put|save|wandle|mache?|speichere?)\b"
_gap = rf"(?:(?![.!?;]\s|,\s+(?:{_asking})\b|{_next}|{_ordering})\W)+"
"""Between words of a gap, which reaches into no other sentence, question or step."""
_clause_end = r"(?![\w'])(?=\W*$|\W*[.!?;,]\s|,?\s+(?:and|then|und|dann)\b)"
_nouns = {
    **dict.fromkeys(("picture", "photo", "image"), Kind.IMAGE),
    **dict.fromkeys(("recording", "audio"), Kind.AUDIO),
    **dict.fromkeys(("table",), Kind.TABLE),
    "video": Kind.VIDEO,
}
_thing = re.compile(rf"\b(the|this|my) ({'|'.join(_nouns)})(?![\w*-])")
_literal = re.compile(r"[^*#@^$\s.-]+")
_VARIABLE = frozenset(("the", "this", "my", *_nouns))
"""Words of cues that a file's name may replace."""
_BY_NAME = 7.0
"""How much less a cue weighs if a file's name stands for "the picture"."""
_determiners = frozenset("the that this these those its your my our their".split())


@dataclass(frozen=True, slots=True)
class CueMatch:
    """A cue found from `start` to `end`; the longer the cue, the higher its weight."""

    type: TaskType
    start: int
    end: int
    weight: float
    options: tuple[tuple[str, Value], ...] = ()
    gap: tuple[int, int] | None = None
    """Where the words in place of "..." are: "find ... in the picture"."""
    exact: bool = False
    """Whether its task has read all the words of its part, so that nothing else is asked there."""

    def overlaps(self, other: CueMatch) -> bool:
        """Return whether the two share any character."""
        return self.start < other.end and other.start < self.end

    def covers(self, other: CueMatch) -> bool:
        """Return whether this is the cue of another task that says more than `other`."""
        return (
            self.type is not other.type
            and self.start <= other.start
            and self.end >= other.end
            and self.end - self.start > other.end - other.start
        )


STEM_LETTERS = 5
"""Letters that a word shares with an option's value that it asks for."""


class _Cue(NamedTuple):
    type: TaskType
    phrase: str
    options: tuple[tuple[str, Value], ...]
    literals: tuple[str, ...]
    """What every match contains, the longest first. Looked for first, because that is quick."""


@lru_cache(maxsize=8)
def _vocabulary(inventory: tuple[TaskType, ...]) -> frozenset[str]:
    phrases = [phrase for item in inventory for phrase in item.cues]
    phrases += [preset.phrase for item in inventory for preset in item.presets]
    return frozenset(
        word for phrase in phrases for word in re.findall(r"[a-z]{7,}(?!\w|\*)", phrase)
    )


def fix_typos(text: str, inventory: Sequence[TaskType]) -> str:
    """Return the text with words that are nearly the word of a cue corrected.

    Short words stay, because they are close to too many others. So do words that differ only in
    their ending: those are other forms.
    """

    def right(match: re.Match[str]) -> str:
        from rapidfuzz import process
        from rapidfuzz.distance import DamerauLevenshtein

        word, known = match[0], _vocabulary(tuple(inventory))
        if word in known:
            return word
        near = process.extractOne(word, known, scorer=DamerauLevenshtein.distance, score_cutoff=1)
        if near is None or word[:-2] == near[0][: len(word) - 2]:
            return word
        return near[0] if near[0][0] == word[0] else word

    return re.sub(r"\b[a-z]{7,}\b", right, text)


def find_cues(text: str, inventory: Sequence[TaskType]) -> list[CueMatch]:
    """Return all cues in a lower-case text, in order; of a task's overlapping cues the heaviest."""
    kept: list[CueMatch] = []
    found = [
        CueMatch(
            *(cue.type, match.start(), match.end()),
            _weight(cue, match[0]),
            cue.options,
            gap=match.span(1) if match.re.groups else None,
        )
        for cue in _possible_cues(text, tuple(inventory))
        for match in _pattern(cue.phrase).finditer(text)
    ]
    for match in sorted(found, key=lambda item: (-item.weight, item.start)):
        rivals = (other for other in kept if other.type is match.type)
        if not any(match.overlaps(other) for other in rivals):
            kept.append(match)
    return sorted(kept, key=lambda item: (item.start, -item.weight))


def read_whole(
    text: str, inventory: Iterable[TaskType]
) -> tuple[TaskType, Mapping[str, Value]] | None:
    """Return the task that reads all of a text, and the options that it gives; see
    `TaskType.reads`."""
    low = text.lower().strip()
    for item in inventory:
        if item.reads and (options := item.reads(low)) is not None:
            return item, options
    return None


def asks_for(text: str, task_type: TaskType, option: str, value: Value) -> bool:
    """Return whether a lower-case text asks for this value of an option, by a preset or by a word
    that begins like it; also if no preset is for it, because then it cannot be seen."""
    phrases = [each.phrase for each in task_type.presets if (option, value) in each.options]
    stems = {word[:STEM_LETTERS] for word in re.findall(r"[a-z]{3,}", str(value).lower())}
    return (
        not phrases
        or any(word.startswith(stem) for word in re.findall(r"[a-z]+", text) for stem in stems)
        or any(_pattern(phrase).search(text) for phrase in phrases)
    )


def is_noun_phrase(text: str, match: CueMatch) -> bool:
    """Return whether a determiner precedes the cue: "the summary" names a thing."""
    before = re.findall(r"[\w']+", text[max(0, match.start - 40) : match.start])[-2:]
    return bool(before) and (before[-1] in _determiners or before[0] in _determiners)


def _possible_cues(text: str, inventory: tuple[TaskType, ...]) -> list[_Cue]:
    """The cues whose literal parts are all in the text, in the order of the inventory."""
    found = [
        (place, cue)
        for literal, cues in _cues_by_literal(inventory).items()
        if literal in text
        for place, cue in cues
        if all(other in text for other in cue.literals)
    ]
    return [cue for _, cue in sorted(found, key=lambda item: item[0])]


@lru_cache(maxsize=256)
def _cues_by_literal(inventory: tuple[TaskType, ...]) -> dict[str, list[tuple[int, _Cue]]]:
    """The cues with their places, by their longest literal part, which many of them share.

    There is room for every task by itself: to read the cues of all tasks again takes 0.1 s."""
    found: dict[str, list[tuple[int, _Cue]]] = {}
    every = (cue for task_type in inventory for cue in _cues_of(task_type))
    for place, cue in enumerate(every):
        found.setdefault(next(iter(cue.literals), ""), []).append((place, cue))
    return found


def _cues_of(task_type: TaskType) -> Iterable[_Cue]:
    # A name of one word, such as "stop" or "help", is an everyday word as well.
    name = task_type.title.lower()
    own = (*task_type.cues, name) if " " in name else task_type.cues
    phrases: dict[str, tuple[tuple[str, Value], ...]] = dict.fromkeys(own, ())
    phrases |= {preset.phrase: preset.options for preset in task_type.presets}
    for phrase, options in phrases.items():
        literals = [part for part in _literal.findall(phrase) if part not in _VARIABLE]
        yield _Cue(task_type, phrase, options, tuple(sorted(literals, key=len, reverse=True)))


def _weight(cue: _Cue, found: str) -> float:
    """Return the weight of a cue: its length, without a file's name and articles."""
    phrase = cue.phrase
    letters = len(re.sub(r"[*.#@^$\s]", "", phrase)) + 3 * phrase.count("@")
    words = len(re.findall(r"\w[\w'*-]*|#", phrase))
    weight = letters + 4.0 * (words - 1) + (1.0 if cue.options else 0.0)
    return weight - _BY_NAME * ("xfile" in found and _thing.search(phrase) is not None)


@cache
def _pattern(phrase: str) -> re.Pattern[str]:
    """Compile the pattern of a cue, in the syntax that TaskType documents. File names match in
    place of "the picture" and the like. Patterns are compiled on first use: there are thousands,
    and a request contains few stems."""
    parts: list[str] = []
    phrase = _thing.sub(r"\1~\2", phrase)
    for word in phrase.removeprefix("^").removesuffix("$").split():
        if word == "...":
            # The gap brings its own spaces and takes the place of the plain separator.
            parts[-1:] = [rf"((?:{_gap}[\w']+){{0,5}}?){_gap}"]
            continue
        if "~" in word:
            which, noun = word.split("~")
            file = rf"xfile\d+x{_nouns[noun]}"
            files = rf"{file}(?:(?:[\s,&]|\b(?:and|or)\b)+{file})*"
            parts += [rf"(?:{which}[\s-]+{noun}|{files})", r"[\s-]+"]
            continue
        stem = re.escape(word).replace(r"\*", r"\w*").replace(r"\#", NUMBER)
        parts += [stem.replace("@", r"\s*[-+*/x×÷^]\s*"), r"[\s-]+"]
    begin = _beginning if phrase.startswith("^") else r"(?<![\w'])"
    end = _clause_end if phrase.endswith("$") else r"(?![\w'])"
    return re.compile(begin + "".join(parts[:-1]) + end)
