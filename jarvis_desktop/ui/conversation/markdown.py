"""Parses Markdown answers into blocks of plain words: never HTML, and no picture is fetched.

While a text is growing, only its last block is parsed again.

A Qt document that is given `<img src=/dev/zero>` as HTML freezes for good.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

LINK_SCHEMES = ("http://", "https://", "mailto:")
"""Addresses that may be opened; any other stays text."""
MAX_PARAGRAPH_CHARS = 8000  # longest paragraph, in characters, in which markup is parsed
MAX_BRACKETS = 300  # per paragraph: each may start a link whose end is searched for
MAX_NESTING = 40  # levels of quotes and lists; a text with more is shown literally


@dataclass(frozen=True, slots=True)
class Span:
    """Words of one style."""

    text: str
    bold: bool = False
    italic: bool = False
    struck: bool = False
    code: bool = False
    link: str = ""  # the target of a click; "" for none


def parse_inline(source: str) -> tuple[Span, ...]:
    """Parse the words of a paragraph with their styles."""
    if len(source) > MAX_PARAGRAPH_CHARS or source.count("[") > MAX_BRACKETS:
        return (Span(source),)
    tokens: list[Token] = []
    parser().inline.parse(source, parser(), {}, tokens)
    return tuple(_link_addresses(_merge_alike(_spans(tokens))))


@cache
def parser() -> MarkdownIt:
    """CommonMark with tables and strikethrough, but without HTML, indented code, headings by
    underline and link definitions: they turn plain text into something else."""
    made = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING})
    made.enable(["table", "strikethrough"])
    made.disable(["code", "lheading", "reference", "html_block", "html_inline"])
    made.core.ruler.enableOnly(["normalize", "block"])  # the words are read when they are shown
    made.inline.ruler.before("emphasis", "factor", _literal_stars)
    return made


def _literal_stars(state: StateInline, silent: bool) -> bool:
    """Treat the stars in 2*3*4 as text."""
    source, at = state.src, state.pos
    if source[at] != "*" or not at or not _is_alphanumeric(source[at - 1]):
        return False
    end = at
    while end < state.posMax and source[end] == "*":
        end += 1
    if end == state.posMax or not _is_alphanumeric(source[end]):
        return False
    if not silent:
        state.pending += source[at:end]
    state.pos = end
    return True


def _is_alphanumeric(letter: str) -> bool:
    return letter.isascii() and letter.isalnum()


_styles = {"em": "italic", "strong": "bold", "s": "struck"}


def _spans(tokens: Sequence[Token]) -> Iterator[Span]:
    deep = dict.fromkeys(_styles.values(), 0)
    link = label = ""
    for token in tokens:
        name, _, end = token.type.rpartition("_")
        if name in _styles:
            deep[_styles[name]] += 1 if end == "open" else -1
            continue
        bold, italic, struck = (bool(deep[look]) for look in ("bold", "italic", "struck"))
        look = Span("", bold=bold, italic=italic, struck=struck, link=_openable(link))
        if token.type == "link_open":
            link, label = str(token.attrs.get("href", "")), ""
            continue
        if token.type == "link_close":
            if link and not _openable(link) and link != label:
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


def _openable(link: str) -> str:
    return link if link.lower().startswith(LINK_SCHEMES) else ""


def _merge_alike(spans: Iterator[Span]) -> Iterator[Span]:
    """Merge neighbours of the same style."""
    pending: list[Span] = []
    for span in spans:
        if not span.text:
            continue
        if pending and replace(pending[-1], text="") != replace(span, text=""):
            yield _merge(pending)
            pending = []
        pending.append(span)
    if pending:
        yield _merge(pending)


def _merge(alike: Sequence[Span]) -> Span:
    return replace(alike[0], text="".join(span.text for span in alike))


_web_address = re.compile(r"\bhttps?://[^\s<>\"`]{2,2000}")


def _link_addresses(spans: Iterator[Span]) -> Iterator[Span]:
    """Turn addresses in the words into links."""
    for span in spans:
        if span.link or span.code or "://" not in span.text:
            yield span
            continue
        at = 0
        for found in _web_address.finditer(span.text):
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


LONG_LIST_CHARS = 4000
"""Length of a list, in characters, from which its items are settled one by one."""


@dataclass(frozen=True, slots=True)
class BlockContext:
    """The surroundings of a block: quotes, lists and its list marker."""

    quotes: int = 0
    lists: int = 0
    marker: str = ""  # such as "•" or "3."; "" if no list item begins here
    tight: bool = False  # whether it follows the block before it without a gap
    done: bool | None = None  # for a task in a list, whether it is ticked; else None


@dataclass(frozen=True, slots=True)
class MarkdownText:
    """The source of a paragraph or heading; `spans` parses it."""

    source: str
    level: int = 0  # 1 to 6 for a heading
    place: BlockContext = BlockContext()
    plain: bool = False  # whether it has no markup

    def spans(self) -> tuple[Span, ...]:
        """The words with their styles."""
        return (Span(self.source),) if self.plain else parse_inline(self.source)


@dataclass(frozen=True, slots=True)
class ThematicBreak:
    """A horizontal rule."""

    place: BlockContext = BlockContext()


@dataclass(frozen=True, slots=True)
class CodeFence:
    """A code block, literally."""

    text: str
    language: str = ""
    place: BlockContext = BlockContext()


@dataclass(frozen=True, slots=True)
class MarkdownTable:
    """A table with the sources of its cells."""

    rows: tuple[tuple[str, ...], ...]  # the first one is the heading
    sides: tuple[str, ...] = ()  # the alignment of each column: "", "left", "center" or "right"
    place: BlockContext = BlockContext()
    plain: bool = False  # whether its cells have no markup

    def spans(self, row: int, column: int) -> tuple[Span, ...]:
        """The words of a cell with their styles."""
        cell = self.rows[row][column]
        return (Span(cell),) if self.plain else parse_inline(cell)

    def words(self, row: int, column: int) -> str:
        """The words of a cell, on one line."""
        return " ".join("".join(span.text for span in self.spans(row, column)).split())


Block = MarkdownText | ThematicBreak | CodeFence | MarkdownTable


@dataclass
class IncrementalMarkdown:
    """Parses a text that may still be growing."""

    _text: str = ""
    _settled: list[Block] = field(default_factory=list)
    _read: int = 0  # characters in settled blocks, which cannot change any more

    _goes_on: bool = False  # whether the unsettled rest begins inside a list

    def read(self, text: str) -> Sequence[Block]:
        """Parse `text` into blocks; those that were settled before are the same objects."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if not text.startswith(self._text):
            self._settled, self._read, self._goes_on = [], 0, False
        self._text = text
        rest = text[self._read :]
        left = self._settle(rest, parser().parse(rest))
        rest = text[self._read :]
        return [*self._settled, *_blocks(rest, left, goes_on=self._goes_on)]

    def _settle(self, rest: str, tokens: Sequence[Token]) -> Sequence[Token]:
        """Keep the blocks that cannot change any more, and return the tokens of the rest. An
        unfinished line may still continue the block before it."""
        last_line = rest.count("\n")
        begun = [at for at, item in enumerate(tokens) if item.map and item.map[0] < last_line]
        blocks = [at for at in begun if tokens[at].level == 0]
        if not blocks:
            return tokens
        last = tokens[blocks[-1]]
        settled = _offset(rest, _first_line(last))
        if settled:
            done = tokens[: blocks[-1]]
            self._settled += _blocks(rest[:settled], done, goes_on=self._goes_on)
            self._goes_on = False
            self._read += settled
        if len(rest) - settled > LONG_LIST_CHARS and last.tag in ("ul", "ol"):
            items = [tokens[at] for at in begun if tokens[at].level == 1 and tokens[at].tag == "li"]
            return self._settle_items(rest[settled:], _first_line(items[-1]) - _first_line(last))
        return tokens[blocks[-1] :]

    def _settle_items(self, rest: str, line: int) -> Sequence[Token]:
        """Keep the list items before a line of the rest."""
        settled = _offset(rest, line)
        if settled:
            done = rest[:settled]
            self._settled += _blocks(done, parser().parse(done), goes_on=self._goes_on)
            self._goes_on = True
            self._read += settled
        return parser().parse(rest[settled:])


def plain_blocks(text: str) -> list[Block]:
    """A text without markup, one block per line."""
    place = BlockContext(tight=True)
    return [MarkdownText(line, place=place, plain=True) for line in text.splitlines() or [""]]


def to_plain_text(text: str) -> str:
    """A Markdown text as plain text, as one would write a letter."""
    lines: list[str] = []
    for block in IncrementalMarkdown().read(text):
        place = block.place
        if lines and not place.tight:
            lines.append("")
        lead = "  " * max(0, place.lists - 1)
        mark = "" if place.done is None else "☑ " if place.done else "☐ "
        if place.lists:
            lead += mark or (f"{place.marker} " if place.marker else "  ")
        lines += [lead + line for line in _plain_lines(block)]
    return "\n".join(lines)


def without_markup(line: str) -> str:
    """One line of Markdown without its signs, for what is shown as plain text."""
    return "".join(span.text for span in parse_inline(line))


def _plain_lines(block: Block) -> list[str]:
    match block:
        case MarkdownText():
            return ["".join(span.text for span in block.spans())]
        case CodeFence(text=text):
            return text.splitlines()
        case MarkdownTable(rows=rows, sides=sides):
            lines = range(len(rows))
            return ["\t".join(block.words(row, at) for at in range(len(sides))) for row in lines]
        case ThematicBreak():
            return ["———"]


def _first_line(token: Token) -> int:
    return token.map[0] if token.map else 0


def _offset(text: str, line: int) -> int:
    """The position at which a line begins."""
    at = 0
    for _ in range(line):
        at = text.index("\n", at) + 1
    return at


@dataclass
class _ListContext:
    """The quotes and lists around a token."""

    quotes: int = 0
    counters: list[int | None] = field(default_factory=list)
    """The next number of each list; None for a bullet list."""
    starts: str = ""  # the marker of the item that begins here
    first: bool = True  # whether the next block is the first one of the outermost list

    def place(self, *, tight: bool = False) -> BlockContext:
        marker, self.starts = self.starts, ""
        close = bool(self.counters) and (tight or bool(marker)) and not self.first
        self.first = False
        return BlockContext(self.quotes, len(self.counters), marker, tight=close)


def _blocks(text: str, tokens: Sequence[Token], *, goes_on: bool) -> list[Block]:
    """Convert tokens to blocks; `goes_on` means that the text begins inside a list."""
    if any(token.level >= MAX_NESTING - 1 for token in tokens):  # the parser left out the rest
        return plain_blocks(text)
    within, made = _ListContext(), list[Block]()
    level, tight = 0, False
    number = 0
    while number < len(tokens):
        token = tokens[number]
        match token.type:
            case "blockquote_open":
                within.quotes += 1
            case "blockquote_close":
                within.quotes -= 1
            case "bullet_list_open" | "ordered_list_open":
                within.first, goes_on = not within.counters and not goes_on, False
                start = int(token.attrs.get("start", 1)) if token.tag == "ol" else None
                within.counters.append(start)
            case "bullet_list_close" | "ordered_list_close":
                within.counters.pop()
            case "list_item_open":
                within.starts = _marker(within.counters)
            case "list_item_close" if within.starts:  # an empty item
                made.append(MarkdownText("", place=within.place()))
            case "heading_open":
                level, tight = int(token.tag[1]), False
            case "paragraph_open":
                level, tight = 0, token.hidden
            case "inline":
                made.append(_paragraph(token.content, level, within.place(tight=tight)))
            case "hr":
                made.append(ThematicBreak(within.place()))
            case "fence":
                language = token.info.split()[0] if token.info.strip() else ""
                made.append(CodeFence(token.content.rstrip("\n"), language, within.place()))
            case "table_open":
                end = next(
                    at for at in range(number, len(tokens)) if tokens[at].type == "table_close"
                )
                made.append(_table(tokens[number:end], within.place()))
                number = end
        number += 1
    return made


def _marker(counters: list[int | None]) -> str:
    number = counters[-1]
    if number is None:
        return "•◦▪"[(len(counters) - 1) % 3]
    counters[-1] = number + 1
    return f"{number}."


_task_marker = re.compile(r"\[([ xX])\]\s+")


def _paragraph(source: str, level: int, place: BlockContext) -> MarkdownText:
    if place.marker and (task := _task_marker.match(source)):
        place = replace(place, done=task[1] != " ")
        source = source[task.end() :]
    return MarkdownText(source, level, place)


def _table(tokens: Sequence[Token], place: BlockContext) -> MarkdownTable:
    rows: list[list[str]] = []
    sides: list[str] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "th_open":
            sides.append(str(token.attrs.get("style", "")).removeprefix("text-align:"))
        elif token.type == "inline":
            rows[-1].append(token.content)
    return MarkdownTable(tuple(tuple(row) for row in rows), tuple(sides), place)
