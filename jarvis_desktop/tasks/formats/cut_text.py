"""Splits texts for the task cut-file: at chapters and headings, or by lines and words."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.display import unique_name
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.tasks.documents.to_text import read_document
from jarvis_desktop.tasks.formats.conversion import ending_of, stem_of
from jarvis_desktop.tasks.formats.document_files import WRITERS
from jarvis_desktop.tasks.formats.documents import DocumentTree, read_tree
from jarvis_desktop.tasks.text.line_editing import PLAIN

MAX_TITLE_CHARS = 60
MAX_HEADING_CHARS = 120

_number = (
    r"(?:\d+|[ivxlc]+|one|two|three|four|five|six|seven|eight|nine|ten|eins|zwei|drei|vier|fünf)"
)
_chapter = re.compile(
    r"\W*(chapter|kapitel|chapitre|part|teil|book|buch|act|akt|scene|szene|section|abschnitt|lesson|"
    rf"lektion|day|tag|week|woche|letter|brief)\s+{_number}\b.*",
    re.IGNORECASE,
)
_markdown = re.compile(r"(#{1,6})\s+\S.*")
_numbered = re.compile(r"\d{1,3}(?:\.\d{1,3})*[.)]?\s+[^\W\d_].*[^.,;:]")
_headings = tuple(f"h{level}" for level in range(1, 7))

Block = tuple[str, Any]
"""What a line or an element is called if it begins a part, "" if not; and itself."""


def divided(
    item: Artifact, by: str, count: int, call: Call, report: Report, most: int
) -> Iterable[Artifact]:
    """Yield the first `most` parts of a text: of "100 lines" or "500 words" each, `count` parts of
    about the same length, or else one for each chapter or heading, which keep the form of Word,
    OpenDocument and web pages. Raises InputError if there are no headings."""
    assert item.path is not None
    ending = ending_of(item.path)
    size = re.match(r"(\d+) (\w+)", by)
    title, made = stem_of(item), set[str]()
    if ending in ("docx", "odt", "html") and not size and count < 2:
        tree = read_tree(item, report=report, workdir=call.workdir)
        pieces = _at_headings(_of_elements(list(tree.body)), item.title)
    else:
        text = read_document(item.path, name=item.title, report=report, workdir=call.workdir)
        ending = ending if f".{ending}" in PLAIN else "txt"
        lines = text.splitlines(keepends=True)
        if size or count > 1:
            pieces = _by_length(lines, size, count)
        else:
            pieces = _at_headings(_of_lines(lines), item.title)
    for number, (called, blocks) in enumerate(islice(pieces, most), 1):
        path = call.workdir / f"part-{number}.{ending}"
        if isinstance(blocks[0], str):
            path.write_text("".join(blocks).strip() + "\n", "utf-8", newline="\n")
        else:
            part = DocumentTree(called or title, "")
            part.body.extend(blocks)
            WRITERS[ending](part, path)
        plain = " ".join(re.sub(r"[^\w\s-]", "", called).split())[:MAX_TITLE_CHARS].strip()
        name = unique_name(f"{title}-{plain or number}.{ending}", made)
        made.add(name.casefold())
        yield Artifact(Kind.DOCUMENT, path=path, name=name)


def _at_headings(blocks: Sequence[Block], name: str) -> Iterator[tuple[str, list[Any]]]:
    """Yield each part with what it is called; what is before the first has no name."""
    if sum(bool(called) for called, _ in blocks) < 2:
        raise InputError(
            tr("{name} has no chapters or headings that I can see.", name=name),
            hint=tr("Say instead, such as: into 3 parts, or every 100 lines."),
        )
    title, part = "", list[Any]()
    for called, block in blocks:
        if called and _says_something(part):
            yield title, part
        if called:
            title, part = called, []
        part.append(block)
    yield title, part


def _says_something(part: Sequence[Any]) -> bool:
    return any(not isinstance(block, str) or block.strip() for block in part)


def _of_elements(elements: Sequence[Any]) -> list[Block]:
    """The elements of a document, with its headings of the highest rank that occurs twice."""
    ranks = Counter(each.tag for each in elements if each.tag in _headings)
    rank = next((tag for tag in _headings if ranks[tag] > 1), "")
    return [
        (" ".join(each.text_content().split()) if each.tag == rank else "", each)
        for each in elements
    ]


def _of_lines(lines: Sequence[str]) -> list[Block]:
    """The lines of a text, with its headings: those of Markdown, "Chapter 3", or numbered ones.
    Where a table of contents comes first, the last line of the same words is the heading."""
    for kind in (_markdown_headings(lines), _chapter_headings(lines), _numbered_headings(lines)):
        last = {words.casefold(): at for at, words in kind.items()}
        found = {at: words for at, words in kind.items() if last[words.casefold()] == at}
        if len(found) > 1:
            return [(found.get(at, ""), line) for at, line in enumerate(lines)]
    return [("", line) for line in lines]


def _markdown_headings(lines: Sequence[str]) -> dict[int, str]:
    ranks, code = dict[int, str](), False
    for at, line in enumerate(lines):
        code ^= line.lstrip().startswith("```")
        if not code and (found := _markdown.match(line)):
            ranks[at] = found[1]
    often = Counter(ranks.values())
    rank = next((sign for sign in sorted(often) if often[sign] > 1), "")
    return {at: lines[at].strip("# \t\r\n") for at, sign in ranks.items() if sign == rank}


def _chapter_headings(lines: Sequence[str]) -> dict[int, str]:
    found = {
        at: each for at, line in enumerate(lines) if (each := _chapter.fullmatch(line.strip()))
    }
    found = {at: each for at, each in found.items() if len(each[0]) < MAX_HEADING_CHARS}
    words = Counter(each[1].casefold() for each in found.values())
    kind = words.most_common(1)[0][0] if words else ""
    return {at: each[0].strip() for at, each in found.items() if each[1].casefold() == kind}


def _numbered_headings(lines: Sequence[str]) -> dict[int, str]:
    return {
        at: line.strip()
        for at, line in enumerate(lines)
        if len(line) < MAX_HEADING_CHARS
        and _numbered.fullmatch(line.strip())
        and not (at and lines[at - 1].strip())
    }


def _by_length(
    lines: Sequence[str], size: re.Match[str] | None, count: int
) -> Iterator[tuple[str, list[Any]]]:
    """Yield parts of so many lines or words, or a number of parts, cut between lines."""
    words = size is None or size[2].startswith(("word", "w\u00f6rt"))
    lengths = [len(line.split()) if words else 1 for line in lines]
    limit = max(1, int(size[1]) if size else math.ceil(sum(lengths) / count))
    parts, before = dict[int, list[str]](), 0
    for line, length in zip(lines, lengths, strict=True):
        parts.setdefault(before // limit, []).append(line)
        before += length
    for number, part in enumerate(parts.values(), 1):
        yield str(number), part
