"""What a goal asks to have at the end, read from its words.

It is read by rules, not by an LLM: the LLM that writes the scripts would repeat its own slip.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import PurePath

from jarvis_desktop.core.artifact import Kind, kind_of_name
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import tr


class ResultKind(StrEnum):
    """What a part of a goal asks for."""

    ANSWER = "answer"
    """Something to be printed."""
    CHART = "chart"
    TABLE = "table"
    TEXT = "text"
    """A text in a file."""
    FILES = "files"
    """Files of any kind, such as each picture in another size."""


@dataclass(frozen=True, slots=True)
class ExpectedResult:
    """One thing that a goal asks for."""

    kind: ResultKind
    clause: str
    """The words of the goal that ask for it."""
    name: str = ""
    """The name of the file, if the goal says one."""
    goal: str = ""
    """All words of the goal."""
    unique: bool = False
    """Whether its rows may not repeat."""
    parts: bool = False
    """Whether parts of lines are wanted, not whole ones."""
    suffixes: tuple[str, ...] = ()
    """Of the wanted files, if the goal says a format."""
    count: int = 1
    """How many files are wanted at least."""


MAX_CLAUSES = 8

_sentence_end = re.compile(r"(?<=[.!?;。！？；])(?:\s+|(?<=[。！？；]))|\n+")
_verbs = (
    "add analy[sz]e append average calculate check choose clean combine compare compute convert "
    "count create crop delete describe detect divide draw explain export extract fill filter find "
    "fix flag generate give group highlight identify join keep let list make mark merge name "
    "cut divide normali[sz]e organi[sz]e pick plot print produce put read remove rename replace "
    "report resize "
    "save say show sort split store sum summari[sz]e tell transform translate turn visuali[sz]e "
    "work write drop dedupe deduplicate rotate shrink graph chart rank standardi[sz]e"
).replace(" ", "|")
_next_step = re.compile(
    rf"(?:,|;)?\s+(?:and\s+then|then|and\s+also|and\s+finally|und\s+dann|et\s+ensuite)\s+"
    rf"|,\s*(?:and\s+)?(?=(?:{_verbs})\b)|\s+and\s+(?=(?:{_verbs})\b)",
    re.IGNORECASE,
)
_file_name = re.compile(
    r"(?<![\w./-])[\w-][\w.-]*\.(?:csv|tsv|xlsx|json|jsonl|txt|md|html?|png|jpe?g|svg|pdf|webp|bmp"
    r"|gif|log|xml|ya?ml)\b",
    re.IGNORECASE,
)
_chart = re.compile(
    r"\b(?:charts?|plot\w*|graphs?|diagrams?|histograms?|pie|scatter|visuali[sz]\w+|bar\s?chart"
    r"|diagramm\w*|grafik\w*|graphique|gr[áa]fic\w+)\b|图表|柱状图|折线图|饼图",
    re.IGNORECASE,
)
_saving = re.compile(
    r"\b(?:save|write|export|store|create|make|produce|generate|put|give\s+me|build|output|convert"
    r"|turn|merge|combine|join|speicher\w*|schreib\w*|erstell\w*|enregistre\w*|guarda\w*)\b|保存|生成|写",
    re.IGNORECASE,
)
_table = re.compile(
    r"\b(?:csv|tsv|tables?|spreadsheets?|excel|xlsx|tabelle\w*|tableau|tabla)\b|表格", re.IGNORECASE
)
_into_table = re.compile(
    r"\b(?:into|as|to|in)\s+(?:an?|one)\s+(?:[\w-]+\s+){0,2}(?:csv|tsv|tables?|spreadsheet|excel)\b",
    re.IGNORECASE,
)
_text_file = re.compile(
    r"\b(?:text\s?file|markdown|txt|(?:in|into|to|as)\s+an?\s+(?:new\s+)?(?:text\s+|json\s+)?file"
    r"|json|report\s+file|textdatei|datei)\b|文件",
    re.IGNORECASE,
)
_changing = re.compile(
    r"^\W*(?:please\s+|can\s+you\s+|could\s+you\s+|i\s+want\s+you\s+to\s+)?"
    r"(?:clean|remove|drop|delete|dedup\w*|sort|rename|convert|merge|combine|join|split|cut|divide"
    r"|resize|shrink|crop|rotate|normali[sz]e|standardi[sz]e|fill|fix|replace|filter|transform|organi[sz]e"
    r"|bereinig\w*|entfern\w*|sortier\w*)\b",
    re.IGNORECASE,
)
_asking = re.compile(
    r"\?|？|^\W*(?:and\s+|also\s+)?(?:which|what|how\s+(?:many|much|often|long|old|far)|who|when|where"
    r"|welche\w*|wie\s?viele?|wer|was|wann|nenne|quel\w*|combien"
    r"|cu[áa]nt\w+|qu[ée])\b|\b(?:tell|say|let\s+me\s+know|find\s+out|report|sag|dis-moi|dime)\b"
    r"|哪|多少|几|什么",
    re.IGNORECASE,
)
_computing = re.compile(
    r"^\W*(?:and\s+|also\s+)?(?:name|count|calculate|compute|z[äa]hle|berechne)\b", re.IGNORECASE
)
"""What is printed unless it goes into a file."""
_each = re.compile(
    r"\b(?:all|each|every|the)\s+(?:of\s+)?(?:the\s+|these\s+|my\s+)?"
    r"(?:files?|pictures?|photos?|images?|pngs?|jpe?gs?|notes?|documents?|texts?|logs?|tables?"
    r"|csvs?)\b",
    re.IGNORECASE,
)
_extracting = re.compile(
    r"\b(?:extract|pull|pick|take|get|find|collect)\b(?!.*\b(?:lines?|sentences?|paragraphs?)\b)",
    re.IGNORECASE,
)
_each_picture = re.compile(
    r"\b(?:(?:all|each|every)\s+(?:of\s+)?(?:the\s+|these\s+|my\s+)?(?:pictures?|photos?|images?)"
    r"|(?:these|those)\s+(?:pictures|photos|images))\b",
    re.IGNORECASE,
)
_format = re.compile(
    r"\b(?:as|to|into|in)\s+(?:an?\s+)?(?:[a-z]+\s+)?"
    r"(jpe?gs?|png|webp|bmp|gif|tiff?|pdf|txt|markdown|csv|json)\b",
    re.IGNORECASE,
)
_formats = {
    **dict.fromkeys(("jpg", "jpeg", "jpgs", "jpegs"), (".jpg", ".jpeg")),
    **dict.fromkeys(("tif", "tiff"), (".tif", ".tiff")),
    "markdown": (".md",),
}
_repeats = re.compile(
    r"\b(?:duplicat\w*|dedup\w*|repeated|repeats|doppelt\w*|doublons?|duplicad\w*)\b|重复",
    re.IGNORECASE,
)


def clauses(goal: str) -> tuple[str, ...]:
    """Return the parts of a goal, one for each thing to do."""
    found: list[str] = []
    for sentence in _sentence_end.split(goal):
        found += [part.strip(" ,;") for part in _next_step.split(sentence)]
    found = [one_line(part) for part in found if re.search(r"\w\w|[^\x00-\x7f]", part)]
    return tuple(found[: MAX_CLAUSES - 1]) + (
        ("; ".join(found[MAX_CLAUSES - 1 :]),) if len(found) >= MAX_CLAUSES else ()
    )


def expected_results(goal: str, given: Collection[str]) -> tuple[ExpectedResult, ...]:
    """Return what a goal asks for. `given` are the names of the files at hand. If its words name
    nothing, an answer is expected."""
    found: list[ExpectedResult] = []
    for clause in clauses(goal):
        names = [name for name in _file_name.findall(clause) if name not in given]
        drawn = bool(_chart.search(goal)) or not any(map(_is_picture, given))
        kinds = [
            _kind_of(name) if drawn or not _is_picture(name) else ResultKind.FILES for name in names
        ]
        found += [
            _expected(kind, clause, goal, given, name)
            for name, kind in zip(names, kinds, strict=True)
        ]
        if _chart.search(clause) and ResultKind.CHART not in kinds:
            found.append(_expected(ResultKind.CHART, clause, goal, given))
        elif not names and (kind := _unnamed(clause, given)):
            found.append(_expected(kind, clause, goal, given))
        if _asking.search(clause):
            found.append(_expected(ResultKind.ANSWER, clause, goal, given))
    computed = [clause for clause in clauses(goal) if _computing.search(clause)]
    if computed and not any(each.kind in (ResultKind.TABLE, ResultKind.TEXT) for each in found):
        found.append(_expected(ResultKind.ANSWER, computed[0], goal, given))
    found = _without_repeats(found)
    return tuple(found) or (_expected(ResultKind.ANSWER, goal, goal, given),)


def _expected(
    kind: ResultKind, clause: str, goal: str, given: Collection[str], name: str = ""
) -> ExpectedResult:
    table = kind is ResultKind.TABLE
    found = ExpectedResult(
        kind,
        clause,
        name,
        goal,
        unique=table and bool(_repeats.search(goal)),
        parts=table and bool(_extracting.search(goal)),
    )
    if kind is not ResultKind.FILES or name:
        return found
    formats = [word.casefold() for word in _format.findall(goal)]
    suffixes = _formats.get(formats[-1], (f".{formats[-1]}",)) if formats else ()
    pictures = [each for each in given if _is_picture(each)]
    count = len(pictures) if _each_picture.search(goal) and pictures else 1
    return replace(found, suffixes=suffixes, count=count)


def _kind_of(name: str) -> ResultKind:
    suffix = PurePath(name).suffix.lower()
    if suffix in (".csv", ".tsv", ".xlsx"):
        return ResultKind.TABLE
    return ResultKind.CHART if _is_picture(name) else ResultKind.TEXT


def _is_picture(name: str) -> bool:
    return kind_of_name(name) is Kind.IMAGE or name.lower().endswith(".svg")


def _unnamed(clause: str, given: Collection[str]) -> ResultKind | None:
    """Return which kind of file a clause asks for without a name."""
    saves, changes = _saving.search(clause), _changing.search(clause)
    if (saves or changes) and _each.search(clause) and not _table.search(clause):
        return ResultKind.FILES
    if (saves and _table.search(clause)) or _into_table.search(clause):
        return ResultKind.TABLE
    if saves and _text_file.search(clause):
        return ResultKind.TEXT
    named = _format.search(clause)
    if saves and named and _is_picture(f"x.{named[1]}") and any(map(_is_picture, given)):
        return ResultKind.FILES
    if changes and any(_kind_of(name) is ResultKind.TABLE for name in given):
        return ResultKind.TABLE
    return ResultKind.FILES if changes and given else None


def _without_repeats(found: Sequence[ExpectedResult]) -> list[ExpectedResult]:
    """Return each thing once: "clean the table", "save it as clean.csv" are one table."""
    named = {each.kind for each in found if each.name}
    kept: list[ExpectedResult] = []
    for each in found:
        same = [item for item in kept if item.kind is each.kind and item.name == each.name]
        files = each.kind in (ResultKind.FILES, ResultKind.TABLE) and named
        if not same and (each.name or (each.kind not in named and not files)):
            kept.append(each)
    return kept


INSTRUCTIONS = {
    ResultKind.ANSWER: "print the answer as one short sentence with the values",
    ResultKind.CHART: "draw the chart with jarvis.chart",
    ResultKind.TABLE: "write the new table with jarvis.write_table",
    ResultKind.TEXT: "write the text with jarvis.write_text",
    ResultKind.FILES: "write the new files, and print how many",
}


def instructions(expected: Sequence[ExpectedResult]) -> str:
    """Return what a script must do at the end, for its author."""
    told = [
        INSTRUCTIONS[each.kind] + (f' as "{each.name}"' if each.name else "") for each in expected
    ]
    if all(each.kind is not ResultKind.ANSWER for each in expected):
        told.append("print in one short sentence what was done")
    return "; ".join(told)


def format_expected(result: ExpectedResult) -> str:
    """Return the name of a result, for the user."""
    if result.name:
        return f"“{result.name}”"
    return {
        ResultKind.ANSWER: tr("the answer"),
        ResultKind.CHART: tr("the chart"),
        ResultKind.TABLE: tr("the new table"),
        ResultKind.TEXT: tr("the text file"),
        ResultKind.FILES: tr("the new files"),
    }[result.kind]
