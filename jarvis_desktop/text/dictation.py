"""What is written of dictated words: spoken commands, the user's own words and replacements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from jarvis_desktop.text.lazy_re import lazy_re

MIN_SIMILARITY = 0.85
"""From 0 to 1: how much a heard word must resemble one of the user's to be taken for it."""
MIN_SIMILAR_LETTERS = 6
"""Shorter words resemble too many others."""

_command = lazy_re(
    r"\s*(?:(?P<line>(?<!\w)(?:new\s?line|neue\s+zeile)(?!\w)|换行|換行)"
    r"|(?P<paragraph>(?<!\w)(?:new\s+paragraph|neuer\s+absatz)(?!\w)|新段落)"
    r"|(?P<scratch>(?<!\w)(?:scratch\s+that|streiche?\s+das)(?!\w)|划掉|劃掉))"
    r"\s*(?P<mark>[.,;:!?…。，；：！？]*)\s*",
    re.IGNORECASE,
)
_last_word = lazy_re(r"(\w+)\s*\Z")
_SPOKEN_OF = frozenset(
    "a an the this that each every another to would should will can could must i you we they "
    "ein eine einer einen der die das dieser diese jeder kein keine".split()
)
"""Words after which a command is spoken of and not given: "a new line of cars"."""
_sentence_end = lazy_re(r"[.!?…]+[\"'”’)]*(?=\s)|[。！？]|\n")
_word = lazy_re(r"\w+(?:['’]\w+)*")


@dataclass(frozen=True)
class DictationRules:
    """How dictated words are written."""

    words: Sequence[str] = ()
    """Names and other words of the user in their spelling."""
    replacements: Sequence[str] = ()
    """Such as "my mail = anna@example.org"; those without a "=" are ignored."""
    commands: bool = True
    """Whether "new line", "new paragraph" and "scratch that" are obeyed."""

    def written(self, spoken: str) -> str:
        """Return what is to be written."""
        text = _obeyed(spoken) if self.commands else spoken
        text = _spelled(text.strip(" "), self.words)
        if self._replaced:
            text = self._pattern.sub(lambda found: self._replaced[_key(found[0])], text)
        return text

    @cached_property
    def _replaced(self) -> dict[str, str]:
        pairs = (each.partition("=") for each in self.replacements)
        return {
            _key(said): written.strip().replace("\\n", "\n")
            for said, sign, written in pairs
            if sign and said.strip()
        }

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        longest_first = sorted(self._replaced, key=len, reverse=True)
        return re.compile("|".join(map(_phrase, longest_first)), re.IGNORECASE)


def _key(said: str) -> str:
    return " ".join(re.split(r"[\s-]+", said.strip())).casefold()


def _phrase(key: str) -> str:
    """The pattern of a phrase between words; Chinese and Japanese have nothing between them."""
    before = r"(?<!\w)" if key[0] < "\u2e80" else ""
    after = r"(?!\w)" if key[-1] < "\u2e80" else ""
    return before + r"[\s-]+".join(map(re.escape, key.split(" "))) + after


def _obeyed(spoken: str) -> str:
    """Carry out the commands in what was said."""
    text, at = "", 0
    for found in _command.finditer(spoken):
        before = _joined(text, spoken[at : found.start()])
        word = _last_word.search(before)
        if word and word[1].casefold() in _SPOKEN_OF:
            continue
        if found["scratch"]:
            if not found["mark"] and found.end() < len(spoken):
                continue  # "scratch that itch"
            text = _without_last_sentence(before)
        else:
            text = before.rstrip() + ("\n" if found["line"] else "\n\n")
        at = found.end()
    return _joined(text, spoken[at:])


def _joined(before: str, after: str) -> str:
    if not before or not after:
        return before + after
    if before.endswith("\n"):
        return before + after[:1].upper() + after[1:]
    return f"{before.rstrip()} {after.lstrip()}"


def _without_last_sentence(text: str) -> str:
    text = text.rstrip(" ")
    ends = [found.end() for found in _sentence_end.finditer(text) if found.end() < len(text)]
    return text[: ends[-1]] if ends else ""


def _spelled(text: str, own: Iterable[str]) -> str:
    """Spell the user's own words as they do, also those that were heard a little differently."""
    for word in sorted(own, key=len, reverse=True):
        parts = _word.findall(word)
        wanted = "".join(parts).casefold()
        for start, end in reversed(_places(text, wanted, len(parts))):
            if text[start:end].casefold() != word.casefold() or not word.istitle():
                text = text[:start] + word + text[end:]
    return text


def _places(text: str, wanted: str, count: int) -> list[tuple[int, int]]:
    """Where words stand that are, or resemble, the `count` wanted ones without their spaces."""
    found, after = [], 0
    spans = [match.span() for match in _word.finditer(text)]
    for at, (start, _) in enumerate(spans):
        for last in range(at, min(at + count + 2, len(spans))):
            end = spans[last][1]
            heard = re.sub(r"[\s-]", "", text[start:end]).casefold()
            alike = last - at + 1 == count and _resembles(heard, wanted)
            if start >= after and (heard == wanted or alike):
                found.append((start, end))
                after = end
    return found


def _resembles(heard: str, wanted: str) -> bool:
    if len(wanted) < MIN_SIMILAR_LETTERS or heard[:1] != wanted[:1]:
        return False
    if heard.startswith(wanted) or wanted.startswith(heard):
        return False  # another form of the same word, such as a plural
    return SequenceMatcher(None, heard, wanted).ratio() >= MIN_SIMILARITY
