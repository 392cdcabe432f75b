"""What a goal asks to have at the end, read from its words, and whether it is there.

An LLM that says "done" proves nothing. So a goal counts as reached only if something was computed:
an answer was printed, and the charts, tables and files that the goal names were made and hold
something.
"""

from __future__ import annotations

import ast
import csv
import io
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import PurePath

from jarvis_desktop.core.artifact import Artifact, Kind, kind_of_name
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
    "normali[sz]e organi[sz]e pick plot print produce put read remove rename replace report resize "
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
    r"(?:clean|remove|drop|delete|dedup\w*|sort|rename|convert|merge|combine|join|split|resize"
    r"|shrink|crop|rotate|normali[sz]e|standardi[sz]e|fill|fix|replace|filter|transform|organi[sz]e"
    r"|bereinig\w*|entfern\w*|sortier\w*)\b",
    re.IGNORECASE,
)
_asking = re.compile(
    r"\?|？|^\W*(?:and\s+|also\s+)?(?:which|what|how\s+(?:many|much|often|long|old|far)|who|when|where"
    r"|name|count|calculate|compute|welche\w*|wie\s?viele?|wer|was|wann|nenne|quel\w*|combien"
    r"|cu[áa]nt\w+|qu[ée])\b|\b(?:tell|say|let\s+me\s+know|find\s+out|report|sag|dis-moi|dime)\b"
    r"|哪|多少|几|什么",
    re.IGNORECASE,
)
_countable = re.compile(
    r"\b(?:how\s+(?:many|much|often|long|old|far)|averages?|totals?|sums?|medians?|percent\w*|wie\s?viele?"
    r"|combien|cu[áa]nt\w+)\b|多少|几",
    re.IGNORECASE,
)
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
    r"\b(?:all|each|every)\s+(?:of\s+)?(?:the\s+|these\s+|my\s+)?(?:pictures?|photos?|images?)\b",
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


_instructions = {
    ResultKind.ANSWER: "print the answer as one short sentence with the values",
    ResultKind.CHART: "draw the chart with jarvis.chart",
    ResultKind.TABLE: "write the new table with jarvis.write_table",
    ResultKind.TEXT: "write the text with jarvis.write_text",
    ResultKind.FILES: "write the new files, and print how many",
}


def instructions(expected: Sequence[ExpectedResult]) -> str:
    """Return what a script must do at the end, for its author."""
    told = [
        _instructions[each.kind] + (f' as "{each.name}"' if each.name else "") for each in expected
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


_wrote = re.compile(r"^Wrote ([^:\n]+): (.*)$", re.MULTILINE)
_nothing = re.compile(
    r"\W*(?:none|nan|null|true|false|done|ok|\[\]|\{\}|\(\)|0 rows)?\W*", re.IGNORECASE
)
MAX_ANSWER_CHARS = 2500
"""Characters of an answer; more is a dump of data."""
MAX_TABLE_BYTES = 20_000_000
MAX_TEXT_BYTES = 200_000


def answer_in(printed: str) -> str:
    """Return what a script printed, without the lines about the files that it wrote."""
    return _wrote.sub("", printed).strip()


def missing(
    expected: Sequence[ExpectedResult],
    printed: str,
    made: Sequence[Artifact],
    given: Collection[Artifact] = (),
    brief: str = "",
) -> Iterator[tuple[ExpectedResult, str]]:
    """Yield what is not there, and what is wrong, in words for the author of the script. `brief`
    describes the given files, as `jarvis.describe` prints it. It reads files, so do not call it on
    a loop."""
    answer = answer_in(printed)
    for each in expected:
        if each.kind is ResultKind.ANSWER:
            if _nothing.fullmatch(answer):
                yield each, "nothing was printed that answers the goal: print the values"
            elif len(answer) > MAX_ANSWER_CHARS:
                yield each, "too much was printed: print only the answer, in one short sentence"
            elif _countable.search(each.clause) and not _numbers(answer):
                yield each, "the answer has no number: print the values"
            elif wrong := _about_all_rows(each.goal, answer, brief):
                yield each, wrong
            continue
        fitting = [item for item in made if _fits(item, each)]
        if not fitting:
            yield each, _not_made(each, made)
        elif len(fitting) < each.count:
            yield each, f"{len(fitting)} of {each.count} files were written: write all of them"
        elif wrong := _wrong(each, fitting, printed, given):
            yield each, wrong


def _fits(item: Artifact, expected: ExpectedResult) -> bool:
    if expected.name:
        return item.title.casefold() == expected.name.casefold()
    suffix = PurePath(item.title).suffix.lower()
    if expected.suffixes and suffix not in expected.suffixes:
        return False
    match expected.kind:
        case ResultKind.CHART:
            return item.kind is Kind.IMAGE or suffix in (".svg", ".pdf", ".html")
        case ResultKind.TABLE:
            return item.kind is Kind.TABLE or suffix in (".csv", ".tsv", ".xlsx", ".json")
        case ResultKind.TEXT:
            return item.kind in (Kind.TEXT, Kind.DOCUMENT, Kind.TABLE) or suffix == ".json"
    return True


def _not_made(expected: ExpectedResult, made: Sequence[Artifact]) -> str:
    if expected.name and made:
        names = ", ".join(one_line(item.title) for item in made[:5])
        return f"the file must be called {expected.name}, not {names}"
    if expected.suffixes and made:
        return f"the files must end with {expected.suffixes[0]}"
    return f"{format_expected(expected)} was not written: {_instructions[expected.kind]}"


def _wrong(
    expected: ExpectedResult,
    fitting: Sequence[Artifact],
    printed: str,
    given: Collection[Artifact],
) -> str:
    about = dict(_wrote.findall(printed))
    told = about.get(fitting[-1].title, "")
    if expected.kind is ResultKind.CHART and re.search(r"\b1 points:", told):
        return "the chart shows one point only: group the rows first, then draw all groups"
    if told.startswith("0 rows"):
        return "the table has no rows: check the condition"
    if expected.kind is ResultKind.TABLE:
        lines = _csv_lines(fitting[-1])
        if lines is not None and len(lines) < 2:
            return "the table has no rows"
        if lines and expected.unique and len(set(lines)) < len(lines):
            return "the new table still has duplicate rows"
        if lines and (repeated := _repeated_group(expected.goal, lines)):
            return f"{repeated} repeats: put all rows of the same {repeated} together first"
        if lines and expected.parts and _ends_with_marks(lines):
            return "the cells end with a comma or a full stop that does not belong to them"
        if lines and expected.parts and _has_whole_lines(lines, given):
            return "the cells are whole lines: take out only the part, with re.findall"
    return ""


_group = re.compile(
    r"\b(?:(?:per|each|every|pro|je|jede[nrs]?|par|chaque|por|cada)"
    r"|(?:totals?|sums?|averages?|means?|medians?|numbers?|counts?|shares?)\b[^.?]{0,40}\bby)\s+"
    r"(\w{3,})(?:\s*(?:,|and|und|et|y)\s+(\w+))?",
    re.IGNORECASE,
)


def _repeated_group(goal: str, rows: Sequence[tuple[str, ...]]) -> str:
    """Return the column by which a goal groups, if it has a value twice; "" if none has."""
    header = [name.casefold() for name in rows[0]]
    for one, two in _group.findall(goal.casefold()):
        if any(name.startswith(two) for name in header if two):  # by two columns together
            continue
        column = next((at for at, name in enumerate(header) if _is_about(name, one)), None)
        if column is not None:
            values = [row[column] for row in rows[1:] if len(row) > column]
            if len(set(values)) < len(values):
                return rows[0][column]
    return ""


def _is_about(column: str, noun: str) -> bool:
    return column.startswith(noun) or (len(column) > 2 and noun.startswith(column))


_period = re.compile(
    r"\b(?:quarters?|quartals?|q[1-4]|january|february|march|april|may|june|july|august|september"
    r"|october|november|december|januar|februar|m[äa]rz|mai|juni|juli|oktober|dezember"
    r"|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|weekends?)\b",
    re.IGNORECASE,
)
_per_period = re.compile(r"\b(?:per|each|every|by|which|pro|je|welche\w*)\s+quart", re.IGNORECASE)
_values = re.compile(r"text, one of: ([^\n;]+)")
_whole = re.compile(
    r"^- .+?: number, .*?; in all (-?\d+\.?\d*), on average (-?\d+\.?\d*)(?:;|$)", re.MULTILINE
)


def _about_all_rows(goal: str, answer: str, brief: str) -> str:
    """Return what is wrong if a goal is about some rows, and an answer has the sum or the average
    of all rows."""
    said = goal.casefold()
    values = {value for found in _values.findall(brief) for value in found.split(", ")}
    named = [value for value in values if re.search(rf"\b{re.escape(value.casefold())}\b", said)]
    period = None if _per_period.search(goal) else _period.search(goal)
    if not named and not period:
        return ""
    of_all = [float(number) for found in _whole.findall(brief) for number in found]
    if any(_near(number, one, 1e-4) for number in _numbers(answer) for one in of_all if one):
        which = named[0] if named else period[0] if period else ""
        return f"that is the value of all rows: use only those of {which}"
    return ""


def _ends_with_marks(rows: Sequence[tuple[str, ...]]) -> bool:
    """Return whether cells of most rows end with a mark of the sentence that they are from."""
    return 2 * sum(any(re.search(r"\w[,;:.]$", cell) for cell in row) for row in rows[1:]) > (
        len(rows) - 1
    )


def _has_whole_lines(rows: Sequence[tuple[str, ...]], given: Collection[Artifact]) -> bool:
    """Return whether most rows of a table repeat whole lines of a given text."""
    texts = [_text(item) for item in given]
    lines = {line.strip() for text in texts for line in text.splitlines() if line.count(" ") > 2}
    return 2 * sum(any(cell in lines for cell in row) for row in rows[1:]) > len(rows) - 1


def _csv_lines(item: Artifact) -> list[tuple[str, ...]] | None:
    """Return the rows of a CSV file, the names of its columns first; None for other files."""
    if item.path is None or PurePath(item.title).suffix.lower() not in (".csv", ".tsv"):
        return None
    try:
        text = item.path.read_bytes()[:MAX_TABLE_BYTES].decode("utf-8", "replace")
        tab = item.title.lower().endswith(".tsv")
        reader = csv.reader(io.StringIO(text), delimiter="\t" if tab else ",")
        return [tuple(cell.strip() for cell in line) for line in reader if any(line)]
    except (OSError, csv.Error):
        return None


# Whether two scripts that were written apart from each other came to the same result.

TOLERANCE = 0.006
"""Of a number, relative: texts round differently."""
SHARED_WORDS = 0.7
"""Of all words in two files that say the same."""
MAX_VOCABULARY_BYTES = 4_000_000
_plain_texts = (".txt", ".md", ".log", ".json", ".jsonl", ".html")
Result = tuple[str, Sequence[Artifact]]
"""What a script printed, and the files that it made."""

_number = re.compile(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?![\w])")
_word = re.compile(r"[^\W\d_]{2,}")
_name = re.compile(r"\b[^\W\d_a-z][^\W\d_]+|\b\w*\d\w*[^\W\d_]\w*|\b\w*[^\W\d_]\w*\d\w*")


def data_words(files: Mapping[str, Artifact]) -> frozenset[str]:
    """Return the words by which results over these files can differ: names of files, words in the
    cells of tables, and names in texts. It reads files."""
    found: set[str] = set()
    for name, item in files.items():
        found |= set(_word.findall(PurePath(name).stem.casefold()))
        text = item.text or ""
        if item.path and (item.kind is Kind.TABLE or PurePath(name).suffix.lower() in _plain_texts):
            with suppress(OSError):
                text = item.path.read_bytes()[:MAX_VOCABULARY_BYTES].decode("utf-8", "replace")
        if item.kind is Kind.TABLE:
            text = text.partition("\n")[2]  # without the names of the columns
            found |= set(_word.findall(text.casefold()))
        else:
            found |= {word.casefold() for word in _name.findall(text)}
    return frozenset(found)


_column = re.compile(r"^- (.+?): ", re.MULTILINE)


def invented_values(code: str, goal: str, words: Collection[str], brief: str) -> tuple[str, ...]:
    """Return the values of the files by which a script chooses, although the goal does not name
    them. `words` are those of `data_words`."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    columns, said = _column.findall(brief.casefold()), goal.casefold()
    found: dict[str, None] = {}
    for value in _chosen_by(tree):
        parts = _word.findall(value.casefold())
        known = value.casefold() in columns or any(part[:4] in said for part in parts)
        if parts and not known and all(part in words for part in parts):
            found[value] = None
    return tuple(found)


def _chosen_by(tree: ast.AST) -> Iterator[str]:
    """Yield the texts that are compared with, or looked up."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare():
                inner: list[ast.AST] = [node.left, *node.comparators]
            case ast.Subscript():
                inner = [node.slice]
            case ast.Call(func=ast.Attribute(attr="get" | "startswith" | "endswith")):
                inner = [*node.args]
            case _:
                continue
        for part in inner:
            constants = (each for each in ast.walk(part) if isinstance(each, ast.Constant))
            yield from (each.value for each in constants if isinstance(each.value, str))


def agree(
    one: Result, two: Result, expected: Sequence[ExpectedResult], words: Collection[str]
) -> bool:
    """Return whether two results are the same. Answers are compared by their numbers and by those
    of `words` that only one of them has, charts by their values, tables by their columns, texts by
    both. It reads files."""
    kinds = {each.kind for each in expected}
    if ResultKind.ANSWER in kinds and not _same_text(answer_in(one[0]), answer_in(two[0]), words):
        return False
    if ResultKind.FILES in kinds and len(one[1]) != len(two[1]):
        return False
    if ResultKind.CHART in kinds:
        charts = [list(_chart_values(printed)) for printed, _ in (one, two)]
        if len(charts[0]) != len(charts[1]) or not all(map(_same_numbers, *charts)):
            return False
    pairs = [(_wanted(one, each), _wanted(two, each)) for each in expected]
    return all(_same_files(*pair) for pair in pairs)


def _wanted(result: Result, expected: ExpectedResult) -> list[tuple[str, Artifact]]:
    """Return what was printed about each table or text that is wanted, and its file."""
    if expected.kind not in (ResultKind.TABLE, ResultKind.TEXT):
        return []
    about = dict(_wrote.findall(result[0]))
    fitting = [item for item in result[1] if _fits(item, expected)]
    return [(about.get(item.title, ""), item) for item in fitting]


def _same_files(one: Sequence[tuple[str, Artifact]], two: Sequence[tuple[str, Artifact]]) -> bool:
    return len(one) == len(two) and all(
        _counted(told) == _counted(other)
        and _same_file(_text(item), _text(another))
        and _same_table(_csv_lines(item) or (), _csv_lines(another) or ())
        for (told, item), (other, another) in zip(one, two, strict=True)
    )


def _counted(about: str) -> str:
    """Return how many rows or lines were written."""
    found = re.match(r"\d+ (?:rows|lines)", about)
    return found[0] if found else ""


def _chart_values(printed: str) -> Iterator[list[float]]:
    for _, about in _wrote.findall(printed):
        if " points: " in about:
            yield _numbers(about.partition(" points: ")[2])


def _text(item: Artifact) -> str:
    """Return the text of a small text file; "" for others."""
    if item.path is None or PurePath(item.title).suffix.lower() not in _plain_texts:
        return ""
    try:
        return item.path.read_bytes()[:MAX_TEXT_BYTES].decode("utf-8", "replace")
    except OSError:
        return ""


def _same_text(one: str, two: str, words: Collection[str]) -> bool:
    numbers = _numbers(one), _numbers(two)
    if all(numbers) and not _same_numbers(*numbers):
        return False
    said = [set(_word.findall(text.casefold())) for text in (one, two)]
    only = [(said[at] - said[1 - at]) & set(words) for at in (0, 1)]
    if only[0] and only[1]:  # each has a name that the other one lacks
        return False
    shared = said[0] & said[1]
    # Without numbers on both sides, a name must be the same.
    return bool(all(numbers) or shared & set(words) or (shared and not any(numbers)))


def _same_file(one: str, two: str) -> bool:
    """Return whether the texts of two files have the same numbers, and nearly the same words."""
    words = [set(_word.findall(text.casefold())) for text in (one, two)]
    shared, both = words[0] & words[1], words[0] | words[1]
    return sorted(_numbers(one)) == sorted(_numbers(two)) and len(shared) >= SHARED_WORDS * len(
        both
    )


def _numbers(text: str) -> list[float]:
    return [float(found.replace(",", "")) for found in _number.findall(text)]


def _same_numbers(one: Sequence[float], two: Sequence[float]) -> bool:
    """Return whether all numbers of the shorter list are in the other one."""
    fewer, more = sorted((one, two), key=len)
    return all(any(_near(number, other) for other in more) for number in fewer)


def _near(one: float, two: float, tolerance: float = TOLERANCE) -> bool:
    return abs(one - two) <= max(abs(one), abs(two)) * tolerance


def _same_table(one: Sequence[tuple[str, ...]], two: Sequence[tuple[str, ...]]) -> bool:
    """Return whether two tables have as many rows, and the columns of the narrower one are in the
    other, whatever their names and the order of the rows."""
    if len(one) != len(two):
        return False
    fewer, more = sorted(map(_columns, (one, two)), key=len)
    return all(column in more for column in fewer)


def _columns(lines: Sequence[tuple[str, ...]]) -> list[list[str]]:
    """Return the columns of a table, each as its sorted cells."""
    return [sorted(map(_cell, column)) for column in zip(*lines[1:], strict=False)]


def _cell(text: str) -> str:
    try:
        return f"{float(text.replace(',', '')):.4g}"
    except ValueError:
        return text.casefold()
