"""Small jobs on words that the user types or says: counting, turning round, capitals, sorting."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Report, TaskOption, Value
from jarvis_desktop.tasks.definition import Services, define
from jarvis_desktop.tasks.naming import quantity
from jarvis_desktop.text.lazy_re import lazy_re

_ASKED = r"(?:(?:hey |ok |okay )?jarvis[, ]+|please |(?:can|could) you (?:please )?|tell me )*"
_TEXT = r"(?:this |the )?(?:text|sentence|phrase|word|words|following)?"
_QUOTED = r"[\"“„'‘](?P<quoted>.+?)[\"”“'’]"
_BEHIND = rf"(?:{_TEXT} ?: ?(?P<behind>.+)|{_TEXT} ?{_QUOTED})"
"""Words that are set apart, so that none of them is taken for the request."""
_CASES = (
    r"(?:all )?(?:upper ?case|capital letters|capitals|caps)",
    r"(?:all )?(?:lower ?case|small letters)",
    r"(?:title ?case|initial capitals)",
)
_MAKE = r"(?:make|put|turn|convert|change|write|set|transform)"


def _counted(noun: str, count: Callable[[str], int]) -> Callable[[str], str]:
    return lambda words: f"{quantity(count(words), noun)}."


def _letter_count(letter: str, words: str) -> str:
    count = words.casefold().count(letter.casefold())
    return f"“{words}” has {quantity(count, 'letter')} {letter}."


def _palindrome(words: str) -> str:
    bare = re.sub(r"\W", "", words.casefold())
    answer = "Yes" if bare == bare[::-1] else "No"
    verb = "is" if answer == "Yes" else "is not"
    return f"{answer}, “{words}” {verb} the same from behind."


def _from_behind(words: str) -> str:
    return words[::-1]


def _sorted(words: str) -> str:
    items = [item for item in re.split(r"\s*[,;]\s*(?:and\s+)?|\s+and\s+", words) if item]
    if len(items) < 2:
        items = words.split()
    return ", ".join(sorted(items, key=str.casefold))


_HINT = lazy_re(
    r"[:\"“„'‘]|backward|behind|palindrome|letter|reverse|capital|case|\bcaps\b| in ", re.IGNORECASE
)
"""One of these is in all that is read here, and patterns take a while to be compiled."""
_CHANGES: tuple[Callable[[str], str], ...] = (str.upper, str.lower, str.title)
_REQUESTS: tuple[tuple[str, Callable[..., str]], ...] = (
    (rf"(?:count|how many) (?:the )?words(?: are)?(?: there)? in ?{_BEHIND}",
     _counted("word", lambda words: len(words.split()))),
    (rf"(?:count|how many) (?:the )?characters(?: are)?(?: there)? in ?{_BEHIND}",
     _counted("character", len)),
    (r"how (?:many|often)(?: times)?(?: does)?(?: the)?(?: letter)? (?P<letter>[a-z])(?:'?s)?"
     r"(?: (?:are|is|occur|appear))?(?: there)? in (?:the word )?"
     rf"(?:(?P<behind>[\w-]+)|{_QUOTED})", _letter_count),
    (rf"is (?:the word )?(?:(?P<behind>[\w-]+)|{_QUOTED}) a palindrome", _palindrome),
    (rf"(?:reverse|turn (?:round|around)|mirror) (?:the letters (?:of|in) )?{_BEHIND}",
     _from_behind),
    (r"(?:reverse|spell) (?:the word )?(?P<behind>[\w-]+) (?:backwards?|from behind)",
     _from_behind),
    (r"reverse the word (?P<behind>[\w-]+)", _from_behind),
    (r"(?:what is|what's) (?P<behind>[\w-]+) (?:spelled |written )?backwards?", _from_behind),
    *((rf"(?:{_MAKE} {_TEXT} ?(?:in|into|to)? ?)?{case}{_BEHIND}", change)
      for case, change in zip(_CASES, _CHANGES, strict=True)),
    *((rf"{_MAKE} {_QUOTED} (?:in|into|to) {case}", change)
      for case, change in zip(_CASES, _CHANGES, strict=True)),
    *((rf"(?:write|spell) (?!(?:the|this|that|it|them|a|an|my) )(?P<behind>[^:]+?) in {case}",
       change)
      for case, change in zip(_CASES, _CHANGES, strict=True)),
    (r"(?:sort|alphabeti[sz]e)(?: (?:these|the|this|my))?(?: (?:names|words|list|items))?"
     r"(?: alphabetically)? ?: ?(?P<behind>.+)", _sorted),
)  # fmt: skip
_FORMS = tuple(
    (lazy_re(rf"{_ASKED}(?:{form})", re.IGNORECASE | re.DOTALL), answer)
    for form, answer in _REQUESTS
)


def _answer(words: str) -> str | None:
    said = words.strip(" ?.!")
    if not _HINT.search(said):
        return None
    for form, answer in _FORMS:
        if found := form.fullmatch(said):
            groups = found.groupdict()
            given = groups.get("behind") or groups.get("quoted") or ""
            letter = groups.get("letter")
            return answer(letter, given) if letter else answer(given.strip())
    return None


def read(words: str) -> Mapping[str, Value] | None:
    """See `TaskType.reads`."""
    return None if _answer(words) is None else {}


async def do_words(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """Do it and return the words. Raises InputError for other requests."""
    answer = _answer(call.words("asked"))
    if answer is None:
        raise InputError(
            tr("It is not clear what to do with which words."),
            hint=tr("Say “write “hello” in capitals” or “is “level” a palindrome”."),
        )
    return [text_artifact(answer)]


TYPED_WORDS = define(
    name="words", label="Words",
    summary="Counts, reverses, sorts or capitalises words that are typed or said.",
    options=(TaskOption("asked", "what to do with which words, as it was said", "",
        reads="own-words"),),
    skill=do_words, reads=read, note="by rules, and nothing else",
)  # fmt: skip
