"""Search by what people type: which task they mean, which language, and which expert of a list.

The encoder of the planner understands whole English requests, and little of two or three words, of
German and of Chinese: it finds the task for half of the searches of the tests, and words find nine
of ten.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from gettext import NullTranslations
from itertools import pairwise
from math import log

from jarvis_desktop import localization
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.paths import shipped
from jarvis_desktop.text.languages import NAMES
from jarvis_desktop.text.tokens import FUNCTION_WORDS, stem, tokens

_chinese = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")
_SKIPPED = FUNCTION_WORDS | frozenset(
    "der die das den dem des ein eine einen einem einer eines und oder mit im ins aus auf zu zum "
    "zur von vom für fur nach bei ist sind ich mir mich bitte was wie es expert experte model "
    "modell ai ki want need app tool".split()
)
_PARTICLES = frozenset("的了把给吗呢请我这个一有几里")
_SYNONYMS = {
    stem(other): stem(word)
    for word, others in {
        "picture": "photo image photograph pic",
        "bild": "foto bilder fotos bildes",
        "remove": "delete erase",
        "entfernen": "loschen wegmachen",
        "video": "film movie clip",
        "find": "search look",
        "people": "person persons",
        "person": "leute personen menschen",
        "make": "create generate produce",
        "erzeugen": "erstellen machen generieren",
        "recognise": "recognize identify detect",
        "summarise": "summarize",
        "recording": "memo",
        "aufnahme": "aufnahmen",
    }.items()
    for other in others.split()
}
_INTO = frozenset(("to", "into", "ins", "nach", "auf", "in", "成", "为"))
MIN_SHARED = 5
"""Letters with which two forms of a word begin alike, such as "übersetzen" and "Übersetzer"."""
UNKNOWN_WEIGHT = 0.5
"""The weight of a word that no task has; rare words of tasks weigh up to 3.7."""
OWN_WEIGHT, NAME_WEIGHT = 0.3, 1.0
"""How much words of an expert's own description add to the fit of its task, and its name."""
PAIR_BONUS, LANGUAGE_BONUS, MANY_BONUS = 0.5, 0.3, 0.2
"""What an expert for the named pair of languages, for one or for many languages has ahead."""
MIN_SHARE = 0.5
"""Experts with less than this share of the best score are left out."""


def _split(text: str) -> tuple[list[str], list[str]]:
    """The words of a text, and its runs of characters of a script without spaces."""
    return tokens(_chinese.sub(" ", text)), _chinese.findall(text)


def _stems(words: Iterable[str], runs: Iterable[str]) -> list[str]:
    """The words that tell something, and pairs of neighbours, which keep "text to speech" apart
    from "speech to text"; of a run, its characters and their pairs."""
    found = [stem(word) for word in words if word not in _SKIPPED]
    found = [_SYNONYMS.get(word, word) for word in found]
    found += [f"{first} {second}" for first, second in pairwise(found)]
    for run in runs:
        signs = [sign for sign in run if sign not in _PARTICLES]
        found += [*signs, *(first + second for first, second in pairwise(signs))]
    return found


def _same(word: str, other: str) -> bool:
    """Whether two stems are forms of one word, or one of them is part of a German compound."""
    if word == other or " " in word or " " in other:
        return word == other
    shorter = min(len(word), len(other))
    if shorter > MIN_SHARED and (word in other or other in word):
        return True
    alike = max(MIN_SHARED, shorter - 2)
    return shorter >= MIN_SHARED and word[:alike] == other[:alike]


@dataclass(frozen=True, slots=True)
class _Wish:
    """What was typed, without the names of languages."""

    words: tuple[str, ...]
    languages: tuple[str, ...]
    """ISO 639-1 codes, in the order of naming."""
    into: str
    """The one into which something is to be translated; "" if that is not said."""


def _wish(text: str) -> _Wish:
    named = _language_names()
    words, runs = _split(text)
    codes = [_language(word) for word in words]
    found = [(code, before) for code, before in zip(codes, ["", *words], strict=False) if code]
    rest = []
    for run in runs:
        for name in (name for name in named if name in run):
            found.append((named[name], run[: run.index(name)][-1:]))
            run = run.replace(name, "")
        rest.append(run)
    into = next((code for code, before in found if before in _INTO), "")
    stems = _stems((word for word, code in zip(words, codes, strict=True) if not code), rest)
    return _Wish(tuple(stems), tuple(code for code, _ in found), into)


@cache
def _catalogues() -> tuple[NullTranslations, ...]:
    return tuple(map(localization.load, localization.LANGUAGES))


@cache
def _language_names() -> Mapping[str, str]:
    """ISO 639-1 codes by the names of the languages, in each language of the window."""
    named: dict[str, str] = {}
    for catalogue in _catalogues():
        for code, name in NAMES.items():
            words, runs = _split(catalogue.gettext(name))
            named.update(dict.fromkeys([*words, *runs], code))
    return named


def _language(word: str) -> str:
    """The code of the language that a word names, also as a German adjective; "" if none."""
    named = _language_names()
    forms = (word.removesuffix(ending) for ending in ("", "e", "er", "es", "en", "em", "n"))
    return next((named[form] for form in forms if form in named), "")


class TaskWords:
    """Says how well each task fits the words that were typed."""

    def __init__(self, phrases: Mapping[str, Iterable[str]]) -> None:
        """`phrases` has for each task what people type for it."""
        self._phrases = {
            task: [_stems(*_split(phrase)) for phrase in said] for task, said in phrases.items()
        }
        counts = Counter(
            word
            for said in self._phrases.values()
            for word in {word for phrase in said for word in phrase}
        )
        self._weights = {
            word: log(1 + len(self._phrases) / count) * (0.5 if _is_minor(word) else 1.0)
            for word, count in counts.items()
        }

    def scores(self, words: Collection[str]) -> dict[str, float]:
        """Return the fit of each task from 0 to 1, without those that do not fit at all."""
        forms = {word: {each for each in self._weights if _same(each, word)} for word in words}
        whole = sum(self._weight(word) for word in words)
        typed: dict[str, float] = {}
        """What the words of tasks weigh that are a form of a typed one."""
        for word, known in forms.items():
            for each in known:
                typed[each] = max(typed.get(each, 0.0), self._weight(word))
        best = {
            task: max(self._fit(phrase, typed, whole) for phrase in phrases)
            for task, phrases in self._phrases.items()
        }
        return {task: fit for task, fit in best.items() if fit}

    def _fit(self, phrase: Sequence[str], typed: Mapping[str, float], whole: float) -> float:
        """The weight of the words that are both typed and in the phrase, by that of all words."""
        shared = sum(typed.get(word, 0.0) for word in phrase)
        rest = sum(self._weight(word) for word in phrase if word not in typed)
        return min(1.0, shared / (whole + rest)) if shared else 0.0

    def _weight(self, word: str) -> float:
        return self._weights.get(word, UNKNOWN_WEIGHT)


def _is_minor(word: str) -> bool:
    """Whether it is a pair of words or a single character, which others contain as well."""
    return " " in word or len(word) == 1


@cache
def _task_words() -> TaskWords:
    listed = tomllib.loads(shipped("resources", "expert_words.toml").read_text("utf-8"))
    return TaskWords(
        {
            task: [task.replace("-", " "), *(phrase for each in said.values() for phrase in each)]
            for task, said in listed.items()
        }
    )


@lru_cache(maxsize=1024)
def _own_words(expert: Expert) -> frozenset[str]:
    """The words of what is said of an expert, in each language of the window."""
    said = (catalogue.gettext(expert.summary) for catalogue in _catalogues())
    found = (word for text in said for word in _stems(*_split(text)) if not _is_minor(word))
    return frozenset(found) | frozenset(map(stem, _name_words(expert)))


def _name_words(expert: Expert) -> set[str]:
    return {
        part
        for word in tokens(f"{expert.id} {expert.repo}".replace("-", " "))
        for part in word.split(".")
    }


def _described(words: Collection[str], experts: Sequence[Expert]) -> dict[Expert, float]:
    """For each expert, how much of the words is in its description, from 0 to 1. The fewer of them
    have a word, the more it weighs."""
    own = {expert: _own_words(expert) for expert in experts}
    vocabulary = set().union(*own.values())
    having: Counter[Expert] = Counter()
    whole = 0.0
    for word in words:
        forms = {each for each in vocabulary if _same(word, each)}
        found = [expert for expert, known in own.items() if known & forms]
        weight = log(1 + len(experts) / (1 + len(found)))
        whole += weight
        having.update(dict.fromkeys(found, weight))
    return {expert: weight / whole for expert, weight in having.items()}


def _language_bonus(expert: Expert, wish: _Wish) -> float | None:
    """What speaks for an expert because of the named languages; None if it knows one not."""
    if not wish.languages:
        return 0.0
    named, known = set(wish.languages), expert.languages
    if expert.task == "translation" and len(known) == 2:
        into = wish.into or (wish.languages[1] if len(wish.languages) > 1 else "")
        if not named <= set(known) or into not in ("", known[1]):
            return None
        return PAIR_BONUS if into else LANGUAGE_BONUS
    if named & set(known):
        return LANGUAGE_BONUS
    return MANY_BONUS if "*" in known or not known else None


def find(text: str, experts: Sequence[Expert]) -> list[Expert]:
    """Return the experts that fit what was typed, the best first, and in the given order those that
    fit alike; all of them for no words."""
    wish = _wish(text)
    if not wish.words and not wish.languages:
        return list(experts)
    fits = _task_words().scores(wish.words)
    if not wish.words and len(wish.languages) > 1:
        fits = {"translation": 1.0}
    raw = [word for word in tokens(text.replace("-", " ")) if word not in _SKIPPED]
    described = _described([word for word in wish.words if not _is_minor(word)], experts)
    found = []
    for expert in experts:
        ahead = _language_bonus(expert, wish)
        if ahead is None:
            continue
        score = max(
            fits.get(expert.task, 0.0), *(0.9 * fits.get(task, 0.0) for task in expert.also), 0.0
        )
        score += OWN_WEIGHT * described.get(expert, 0.0)
        score += NAME_WEIGHT * bool(raw and set(raw) <= _name_words(expert))
        if score or not wish.words:
            found.append((score + ahead, expert))
    least = MIN_SHARE * max((score for score, _ in found), default=0.0)
    found.sort(key=lambda pair: -round(pair[0], 1))
    return [expert for score, expert in found if score >= least]
