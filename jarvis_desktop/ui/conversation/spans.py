"""Reads the words of one paragraph of Markdown: what is bold, what is code, what leads where."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

SCHEMES = ("http://", "https://", "mailto:")
"""Addresses that may be opened; any other stays text."""
LONGEST = 8000
"""Characters of a paragraph in which marks are looked for."""
MOST_BRACKETS = 300
"""In a paragraph; each may begin a link whose end is looked for."""
DEEPEST = 40
"""Levels of quotes and lists; a text with more of them stays as it was written."""


@dataclass(frozen=True, slots=True)
class Span:
    """Words that look alike."""

    text: str
    bold: bool = False
    italic: bool = False
    struck: bool = False
    code: bool = False
    link: str = ""
    """Where a click leads; "" nowhere."""


def inline(source: str) -> tuple[Span, ...]:
    """The words of a paragraph with their looks."""
    if len(source) > LONGEST or source.count("[") > MOST_BRACKETS:
        return (Span(source),)
    tokens: list[Token] = []
    parser().inline.parse(source, parser(), {}, tokens)
    return tuple(_linked(_joined(_spans(tokens))))


@cache
def parser() -> MarkdownIt:
    """CommonMark with tables and struck words, without HTML.

    Left out besides is what turns plain text into something else unasked: code by indentation,
    headings by a line below, and definitions of links, which would vanish.
    """
    made = MarkdownIt("commonmark", {"html": False, "maxNesting": DEEPEST})
    made.enable(["table", "strikethrough"])
    made.disable(["code", "lheading", "reference", "html_block", "html_inline"])
    made.core.ruler.enableOnly(["normalize", "block"])  # the words are read when they are shown
    made.inline.ruler.before("emphasis", "factor", _factor)
    return made


def _factor(state: StateInline, silent: bool) -> bool:
    """2*3*4 is a sum, and its stars are no marks."""
    source, at = state.src, state.pos
    if source[at] != "*" or not at or not _joins(source[at - 1]):
        return False
    end = at
    while end < state.posMax and source[end] == "*":
        end += 1
    if end == state.posMax or not _joins(source[end]):
        return False
    if not silent:
        state.pending += source[at:end]
    state.pos = end
    return True


def _joins(letter: str) -> bool:
    return letter.isascii() and letter.isalnum()


_looks = {"em": "italic", "strong": "bold", "s": "struck"}


def _spans(tokens: Sequence[Token]) -> Iterator[Span]:
    deep = dict.fromkeys(_looks.values(), 0)
    link = label = ""
    for token in tokens:
        name, _, end = token.type.rpartition("_")
        if name in _looks:
            deep[_looks[name]] += 1 if end == "open" else -1
            continue
        bold, italic, struck = (bool(deep[look]) for look in ("bold", "italic", "struck"))
        look = Span("", bold=bold, italic=italic, struck=struck, link=_opened(link))
        if token.type == "link_open":
            link, label = str(token.attrs.get("href", "")), ""
            continue
        if token.type == "link_close":
            if link and not _opened(link) and link != label:
                yield replace(look, text=f" ({link})")
            link = ""
            continue
        if token.type == "image":
            text = " ".join(part for part in (token.content, f"({token.attrs['src']})") if part)
        elif token.type in ("softbreak", "hardbreak"):
            text = "\n"
        else:
            text = token.content
        label += text
        yield replace(look, text=text, code=token.type == "code_inline")


def _opened(link: str) -> str:
    return link if link.lower().startswith(SCHEMES) else ""


def _joined(spans: Iterator[Span]) -> Iterator[Span]:
    """Neighbours that look alike as one."""
    pending: list[Span] = []
    for span in spans:
        if not span.text:
            continue
        if pending and replace(pending[-1], text="") != replace(span, text=""):
            yield _one(pending)
            pending = []
        pending.append(span)
    if pending:
        yield _one(pending)


def _one(alike: Sequence[Span]) -> Span:
    return replace(alike[0], text="".join(span.text for span in alike))


_address = re.compile(r"\bhttps?://[^\s<>\"`]{2,2000}")


def _linked(spans: Iterator[Span]) -> Iterator[Span]:
    """Addresses that stand in the words lead where they say."""
    for span in spans:
        if span.link or span.code or "://" not in span.text:
            yield span
            continue
        at = 0
        for found in _address.finditer(span.text):
            address = found[0].rstrip(".,;:!?'*_…")
            if address.endswith(")") and address.count(")") > address.count("("):
                address = address.rstrip(")")
            end = found.start() + len(address)
            if before := span.text[at : found.start()]:
                yield replace(span, text=before)
            yield replace(span, text=address, link=address)
            at = end
        if rest := span.text[at:]:
            yield replace(span, text=rest)
