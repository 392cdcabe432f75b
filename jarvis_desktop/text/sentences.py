"""Splits text into sentences: for every task that reads, and for speech.

Text from scans and PDFs has line breaks within sentences, page numbers and headings; these must not
become sentences. Speech gets the same sentences, cut into stretches that a voice can say.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from jarvis_desktop.text.lazy_re import lazy_re

MAX_SENTENCE_WORDS = 80
"""A stretch without an end mark, such as a raw transcript, is cut once it has more words."""
CUT_WORDS = 35
MAX_SPOKEN_CHARS = 300
"""Characters of one spoken stretch; a voice that is interrupted says at most this much more."""

_PAGE_NUMBER = lazy_re(
    r"[\W_]*(?:(?:page|seite|p\.)\s*)?\d{1,4}(?:\s*(?:of|/)\s*\d{1,4})?[\W_]*", re.IGNORECASE
)
_ITEM = lazy_re(r"\s*(?:[-*•‣▪–]|\(?\d{1,3}[.)]|[a-z]\))\s+\S")
_ENDED = lazy_re(r"""[.!?:;。！？…]["'”’)\]]*$""")
_HYPHENATED = lazy_re(r"(?<=[a-zà-ÿ])[-‐\u00ad]$")

_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st sr jr vs etc e.g i.e fig vol pp p approx inc ltd co corp dept est al "
    "cf jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun u.s u.k a.m "
    "p.m mt gen rev hon nr bzw z.b mme ca".split()
)
_ALSO_WORDS = frozenset({"sat", "sun"})
"""Abbreviations that are ordinary words when they are in lower case: "The cat sat."."""
_MAY_END = frozenset("etc inc ltd co corp a.m p.m u.s u.k al".split())
_BREAK = lazy_re(r"([.!?…]+[\"'”’)\]]*)(?=\s|$)|([。！？]+[」』”’]*)")
_FOLLOWING = lazy_re(r"\s*(\S?)")


def paragraphs(text: str, *, numbers: bool = False) -> list[str]:
    """Return the blocks of a text, each on one line with its line breaks removed.

    Lines with only a number are left out as page numbers unless `numbers`.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n")
    blocks = re.split(r"\n\s*\n", text)
    return [joined for block in blocks for joined in _join_lines(block.split("\n"), numbers)]


def sentences(text: str) -> list[str]:
    """Return the sentences in order, without headings and page numbers.

    A text that only has headings returns those, so that words never yield an empty list.
    """
    blocks = paragraphs(text)
    running = [block for block in blocks if not is_heading(block)]
    return [part for block in running or blocks for part in _split_block(block)]


def stretches(text: str) -> list[str]:
    """Return all of the text in stretches to be spoken, including headings and numbers."""
    blocks = paragraphs(text, numbers=True)
    return [part for block in blocks for part in _split_block(block) if has_words(part)]


def is_heading(block: str) -> bool:
    """Whether a block is a title, a label or a page header rather than a sentence."""
    words = block.split()
    if _ENDED.search(block):
        return block.endswith(":") and len(words) <= 6
    return len(words) <= 4 or (len(words) <= 12 and (block.isupper() or block.istitle()))


def _join_lines(lines: Iterable[str], numbers: bool) -> Iterator[str]:
    kept = [line for line in map(str.strip, lines) if line]
    if not numbers:
        kept = [line for line in kept if not _PAGE_NUMBER.fullmatch(line)]
    widest = max(map(len, kept), default=0)
    current = ""
    previous = ""
    for line in kept:
        if not current:
            current = line
        elif _continues(previous, line, widest):
            # A hyphen at the end of a line belongs to the layout, not to the word.
            if _HYPHENATED.search(current) and line[0].islower():
                current = current[:-1] + line
            else:
                current += " " + line
        else:
            yield " ".join(current.split())
            current = line
        previous = line
    if current:
        yield " ".join(current.split())


def _continues(line: str, following: str, widest: int) -> bool:
    if _ITEM.match(following) or (line.endswith(":") and len(line.split()) <= 4):
        return False
    if following[0].islower() or line[-1] in ",-‐":
        return True
    # A line well short of the block's width without an end mark is a heading or a list entry.
    return len(line) >= 0.6 * widest if not _ENDED.search(line) else not line.isupper()


def _split_block(block: str) -> Iterator[str]:
    for sentence in split(block):
        words = sentence.split()
        if len(words) <= MAX_SENTENCE_WORDS:
            yield sentence
            continue
        start = 0
        for at in range(1, len(words) + 1):
            clause_ends = words[at - 1][-1] in ",;:" and at - start >= CUT_WORDS // 2
            if at == len(words) or clause_ends or at - start >= CUT_WORDS:
                yield " ".join(words[start:at])
                start = at


def spoken_sentences(text: str) -> list[str]:
    """Split the text into the pieces to speak: sentences, with long ones cut.

    No word is lost. Each piece has words and at most MAX_SPOKEN_CHARS.
    """
    lines = (" ".join(line.split()) for line in text.splitlines())
    parts = (part for line in lines for sentence in split(line) for part in cut(sentence))
    return [part for part in parts if has_words(part)]


def has_words(text: str) -> bool:
    """Whether there is anything to say."""
    return any(letter.isalnum() for letter in text)


def split(line: str) -> list[str]:
    """Return the sentences of one line."""
    parts, start = [], 0
    for match in _BREAK.finditer(line):
        if match.group(1) and not ends_here(line, match.start(), match.end()):
            continue
        parts.append(line[start : match.end()].strip())
        start = match.end()
    parts.append(line[start:].strip())
    return [part for part in parts if part]


def ends_here(line: str, at: int, after: int) -> bool:
    """Whether the mark at `at` ends a sentence; `after` is where the text after it begins.

    Looks at one character of that text, so that a stream can decide as soon as it has it.
    """
    found = _FOLLOWING.match(line, after)
    following = found[1] if found else ""
    if line[at] != "." or line[at : at + 2] == "..":
        # A question that somebody else asks: "Who?" he said.
        return not (following.islower() and line[after - 1] in '"”’')
    words = line[max(at - 40, 0) : at].split()  # bounded, because the line may be a whole book
    written = words[-1].lstrip("(\"'“‘[") if words else ""
    word = written.lower()
    if word == "no":
        return not following.isdigit()
    if word in _ABBREVIATIONS and written not in _ALSO_WORDS:
        return word in _MAY_END and following.isupper()
    if len(word) == 1 and word.isalpha():
        return word == "i" and following.isupper()  # an initial, unless it is the word I
    if word.isdigit() and at == len(word):
        return False  # the number of a list item
    return not following.islower()


def cut(sentence: str) -> list[str]:
    """Return the sentence in parts that are short enough: cut after commas, else between words."""
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
