"""Takes running text apart into sentences, for every task that reads: text from scans and PDFs
has line breaks in mid-sentence, page numbers and headings, which must not become sentences.

Where sentences end, and where long ones are cut: the stretches that a voice says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from jarvis_desktop.text.lazy_re import lazy_re

MAX_SENTENCE_CHARS = 80
"""Words after which a stretch without an end mark, such as a raw transcript, is cut."""
CUT = 35

_PAGE_NUMBER = lazy_re(
    r"[\W_]*(?:(?:page|seite|p\.)\s*)?\d{1,4}(?:\s*(?:of|/)\s*\d{1,4})?[\W_]*", re.IGNORECASE
)
_ITEM = lazy_re(r"\s*(?:[-*•‣▪–]|\(?\d{1,3}[.)]|[a-z]\))\s+\S")
_ENDED = lazy_re(r"""[.!?:;。！？…]["'”’)\]]*$""")
_EAST_ASIAN_END = lazy_re(r"(?<=[。！？])(?=\S)")
_HYPHENATED = lazy_re(r"(?<=[a-zà-ÿ])[-‐\u00ad]$")


def paragraphs(text: str, *, numbers: bool = False) -> list[str]:
    """The text's blocks, each on one line, broken lines healed.

    Lines of a number alone are left out as page numbers unless `numbers`.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n")
    blocks = re.split(r"\n\s*\n", text)
    return [healed for block in blocks for healed in _heal(block.split("\n"), numbers)]


def sentences(text: str) -> list[str]:
    """The sentences in order, without headings and page numbers.

    A text of headings alone gives those, so that something is there whenever there are words.
    """
    blocks = paragraphs(text)
    running = [block for block in blocks if not is_heading(block)]
    return [part for block in running or blocks for part in _split(block)]


def stretches(text: str) -> list[str]:
    """All of the text in stretches to be spoken one by one, headings and numbers too."""
    blocks = paragraphs(text, numbers=True)
    parts = [part for block in blocks for part in _split(block)]
    return [part for part in parts if any(sign.isalnum() for sign in part)]


def is_heading(block: str) -> bool:
    """Whether a block is a title, a label or a page header rather than a sentence."""
    words = block.split()
    if _ENDED.search(block):
        return block.endswith(":") and len(words) <= 6
    return len(words) <= 4 or (len(words) <= 12 and (block.isupper() or block.istitle()))


def _heal(lines: Iterable[str], numbers: bool) -> Iterator[str]:
    kept = [line for line in map(str.strip, lines) if line]
    if not numbers:
        kept = [line for line in kept if not _PAGE_NUMBER.fullmatch(line)]
    widest = max(map(len, kept), default=0)
    current = ""
    previous = ""
    for line in kept:
        if not current:
            current = line
        elif _goes_on(previous, line, widest):
            # Hyphenation at the line's end is a matter of the page, not of the word.
            if _HYPHENATED.search(current) and line[0].islower():
                current = current[:-1] + line
            else:
                current += " " + line
        else:
            yield _spaced(current)
            current = line
        previous = line
    if current:
        yield _spaced(current)


def _goes_on(line: str, following: str, widest: int) -> bool:
    if _ITEM.match(following) or (line.endswith(":") and len(line.split()) <= 4):
        return False
    if following[0].islower() or line[-1] in ",-‐":
        return True
    # A line well short of the block's width that ends nothing is a heading or a list entry.
    return len(line) >= 0.6 * widest if not _ENDED.search(line) else not line.isupper()


def _spaced(line: str) -> str:
    return " ".join(line.split())


def _split(block: str) -> Iterator[str]:
    from segtok.segmenter import split_single

    for piece in _EAST_ASIAN_END.split(block):
        for sentence in split_single(piece):
            if sentence := sentence.strip():
                yield from _short_enough(sentence)


def _short_enough(sentence: str) -> Iterator[str]:
    words = sentence.split()
    if len(words) <= MAX_SENTENCE_CHARS:
        yield sentence
        return
    start = 0
    for at in range(1, len(words) + 1):
        clause_ends = words[at - 1][-1] in ",;:" and at - start >= CUT // 2
        if at == len(words) or clause_ends or at - start >= CUT:
            yield " ".join(words[start:at])
            start = at


MAX_SPOKEN_CHARS = 300
"""Characters of one stretch; a voice that is cut off says at most this much."""

_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st sr jr vs etc e.g i.e fig no vol pp p approx inc ltd co corp dept est al "
    "cf jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun u.s u.k a.m "
    "p.m".split()
)
_MAY_END = frozenset("etc inc ltd co corp a.m p.m u.s u.k al".split())
_BREAK = lazy_re(r"([.!?…]+[\"'”’)\]]*)(?=\s|$)|([。！？]+[」』”’]*)")


def spoken_sentences(text: str) -> list[str]:
    """The text in stretches to speak one after the other: sentences, long ones cut in parts.

    No word is lost, no stretch is without words or longer than 300 characters.
    """
    found: list[str] = []
    for line in text.splitlines():
        for sentence in split(" ".join(line.split())):
            found.extend(cut(sentence))
    return [part for part in found if has_words(part)]


def has_words(text: str) -> bool:
    """Whether there is anything to say."""
    return any(letter.isalnum() for letter in text)


def split(line: str) -> list[str]:
    """The sentences of one line."""
    parts, start = [], 0
    for match in _BREAK.finditer(line):
        if match.group(1) and not ends_here(line, match.start(), match.end()):
            continue
        parts.append(line[start : match.end()].strip())
        start = match.end()
    parts.append(line[start:].strip())
    return [part for part in parts if part]


def ends_here(line: str, at: int, after: int) -> bool:
    """Whether the point at `at` ends a sentence rather than an abbreviation or a number."""
    if line[at] != "." or line[at : at + 2] == "..":
        return True
    following = line[after:].lstrip()[:1]
    word = line[:at].rsplit(maxsplit=1)[-1].lstrip("(\"'“‘[").lower() if line[:at].split() else ""
    if word in _ABBREVIATIONS:
        return word in _MAY_END and following.isupper()
    if len(word) == 1 and word.isalpha():
        return word == "i" and following.isupper()  # an initial, unless it is the word I
    if word.isdigit() and at == len(word):
        return False  # the number of a list item
    return not following.islower()


def cut(sentence: str) -> list[str]:
    """The sentence, or parts of it that are short enough: after commas, else between words."""
    parts = []
    while len(sentence) > MAX_SPOKEN_CHARS:
        head = sentence[: MAX_SPOKEN_CHARS + 1]
        at = max(head.rfind(mark) + 1 for mark in (", ", "; ", ": ", "– "))
        if at < MAX_SPOKEN_CHARS // 3:
            at = head.rfind(" ")
        if at <= 0:
            at = MAX_SPOKEN_CHARS
        parts.append(sentence[:at].strip())
        sentence = sentence[at:].strip()
    return [*parts, sentence]
