"""Whether a script did what a goal asks for, as far as that can be seen without understanding it.

An LLM that says "done" proves nothing, and a script that ends without an error proves little. So
what it printed and wrote is compared with the words of the goal (`missing`): files exist and hold
something, groups are whole, periods and the order of rows are those that the goal names. Each
problem is a sentence for the author of the script.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePath

from jarvis_desktop.assistant.agent.expected_results import (
    INSTRUCTIONS,
    ExpectedResult,
    ResultKind,
    format_expected,
)
from jarvis_desktop.assistant.agent.made_files import Rows, csv_rows, numbers, plain_text
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.display import one_line
from jarvis_desktop.text.numbers import with_digits

MAX_ANSWER_CHARS = 2500
"""Characters of an answer; more is a dump of data."""
MAX_LISTED = 12
"""Values of a column that an answer is expected to name one of."""

_wrote = re.compile(r"^Wrote ([^:\n]+): (.*)$", re.MULTILINE)
_nothing = re.compile(
    r"\W*(?:none|nan|null|true|false|done|ok|\[\]|\{\}|\(\)|0 rows)?\W*", re.IGNORECASE
)
COUNTABLE = re.compile(
    r"\b(?:how\s+(?:many|much|often|long|old|far)|averages?|totals?|sums?|medians?|percent\w*|wie\s?viele?"
    r"|combien|cu[áa]nt\w+)\b|多少|几",
    re.IGNORECASE,
)


_mean = re.compile(r"\b(?:averages?|means?|medians?|totals?|sums?)\b", re.IGNORECASE)


def new_numbers(goal: str, answer: str) -> list[float]:
    """Return the numbers of an answer without those that the goal names, such as "worker 2"."""
    named = numbers(goal)
    return [number for number in numbers(answer) if number not in named]


def answer_in(printed: str) -> str:
    """Return what a script printed, without the lines about the files that it wrote."""
    return _wrote.sub("", printed).strip()


def wrote(printed: str) -> Mapping[str, str]:
    """Return what a script printed about each file that it wrote, by name."""
    return dict(_wrote.findall(printed))


def missing(
    expected: Sequence[ExpectedResult],
    printed: str,
    made: Sequence[Artifact],
    given: Collection[Artifact] = (),
    brief: str = "",
) -> Iterator[tuple[ExpectedResult, str]]:
    """Yield what is not there, and what is wrong. `brief` describes the given files, as
    `jarvis.describe` prints it. It reads files, so do not call it on a loop."""
    answer, about = answer_in(printed), wrote(printed)
    often = Counter(name for name, _ in _wrote.findall(printed))
    for each in expected:
        if each.kind is ResultKind.ANSWER:
            if wrong := _wrong_answer(each, answer, brief):
                yield each, wrong
            continue
        fitting = [item for item in made if fits(item, each)]
        if not fitting:
            yield each, _not_made(each, made)
        elif len(fitting) < each.count:
            yield each, f"{len(fitting)} of {each.count} files were written: write all of them"
        elif often[fitting[-1].title] > 1:
            yield each, f"{fitting[-1].title} was written again and again: write it after the loop"
        elif wrong := _wrong_file(each, fitting[-1], about, given):
            yield each, wrong


def fits(item: Artifact, expected: ExpectedResult) -> bool:
    """Return whether a file can be what is expected, by its name and kind."""
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
    return f"{format_expected(expected)} was not written: {INSTRUCTIONS[expected.kind]}"


def _wrong_answer(expected: ExpectedResult, answer: str, brief: str) -> str:
    if _nothing.fullmatch(answer):
        return "nothing was printed that answers the goal: print the values"
    if len(answer) > MAX_ANSWER_CHARS:
        return "too much was printed: print only the answer, in one short sentence"
    found = new_numbers(expected.goal, answer)
    if COUNTABLE.search(expected.clause) and not found:
        return "the answer has no number: print the values"
    if _mean.search(expected.clause) and not any(found):
        return "the result is 0: no row or line fits the condition"
    return (
        _about_all_rows(expected.goal, answer, brief)
        or _names_nothing(expected.clause, answer, brief)
        or _wrong_moment(expected.clause, answer)
        or _wrong_percentage(expected.clause, answer)
    )


def _wrong_file(
    expected: ExpectedResult, item: Artifact, about: Mapping[str, str], given: Collection[Artifact]
) -> str:
    told = about.get(item.title, "")
    goal = expected.goal
    if expected.kind is ResultKind.CHART:
        if re.search(r"\b1 points:", told):
            return "the chart shows one point only: group the rows first, then draw all groups"
        return _repeated_period(goal, [[moment] for moment in _moment.findall(told)])
    if expected.kind is ResultKind.TEXT:
        text = plain_text(item)
        return (
            _wrong_words(goal, text)
            or _cut_off(goal, text, given)
            or _lost_headings(goal, text, given)
        )
    if expected.kind is not ResultKind.TABLE:
        return ""
    if told.startswith("0 rows"):
        return "the table has no rows: check the condition"
    rows = csv_rows(item)
    if rows is None:
        return ""
    if len(rows) < 2:
        return "the table has no rows"
    return _wrong_rows(expected, rows, given) or _wrong_words(goal, plain_text(item))


def _wrong_rows(expected: ExpectedResult, rows: Rows, given: Collection[Artifact]) -> str:
    goal = expected.goal
    if expected.unique and len(set(rows)) < len(rows):
        return "the new table still has duplicate rows: if row not in new: new.append(row)"
    if any(re.match(r"[\[({]['\"\d]", cell) for row in rows for cell in row):
        return "a cell holds a list or a dict: write one text or number in each cell"
    if rows[0] in rows[1:]:
        return "a row has the names of the columns as its cells"
    grouped = not _file_each.search(goal)
    one = len(rows) == 2 or len(rows[0]) == 1
    if grouped and one and (_group.search(goal) or _each_period.search(goal)):
        return "the table needs a row for each group: write it after the loop, as a list of dicts"
    if grouped and (repeated := _repeated_group(goal, rows)):
        return f"{repeated} repeats: add up in a dict, d[{repeated}] = d.get({repeated}, 0) + value"
    if expected.parts and _ends_with_marks(rows):
        return 'the cells end with a comma or a full stop: take it off with cell.rstrip(".,;:")'
    if expected.parts and _has_whole_lines(rows, given):
        return "the cells are whole lines: take out only the part, with re.findall"
    if expected.parts and (kind := _not_only(goal, rows)):
        return f'the cells have more than the {kind[0]}: use re.findall(r"{kind[1]}", text)'
    return (
        _repeated_period(goal, rows[1:])
        or _same_but_for_case(goal, rows)
        or _wrong_order(goal, rows)
        or _lost_rows(goal, rows, given)
    )


# Groups and periods.

_group = re.compile(
    r"\b(?:(?:per|each|every|pro|je|jede[nrs]?|par|chaque|por|cada)"
    r"|(?:totals?|sums?|averages?|means?|medians?|numbers?|counts?|shares?)\b[^.?]{0,40}\bby)\s+"
    r"(\w{3,})(?:\s*(?:,|and|und|et|y)\s+(\w+))?",
    re.IGNORECASE,
)
_file_each = re.compile(
    r"\b(?:files?|csvs?|tables?|sheets?|datei\w*|tabellen?)\s+(?:for|per|f[üu]r|pro)\s+"
    r"(?:each|every|jede\w?|\w+$)|\bsplit\b.*\b(?:files|tables|by|per)\b",
    re.IGNORECASE,
)
"""Words that ask for a file for each group, with all the rows of that."""


def _repeated_group(goal: str, rows: Rows) -> str:
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


_each_period = re.compile(
    r"\b(?:per|each|every|by|pro|je|jede[nrms]?|par|chaque|por|cada)\s+(?:single\s+)?"
    r"(hour|day|month|year|stunde|tag|monat|jahr|heure|jour|mois|hora|d[íi]a|mes|a[ñn]o)s?\b"
    r"|\b(hour|dai|month|year|stünd|täg|monat|jähr)(?:ly|lich)\w*",
    re.IGNORECASE,
)
_periods = {
    **dict.fromkeys(("hour", "stunde", "stünd", "heure", "hora"), "hour"),
    **dict.fromkeys(("day", "dai", "tag", "täg", "jour", "dia", "día"), "day"),
    **dict.fromkeys(("month", "monat", "mois", "mes"), "month"),
    **dict.fromkeys(("year", "jahr", "jähr", "año", "ano"), "year"),
}
_moment = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d?:\d\d(?::\d\d)?)?|\b\d\d?:\d\d(?::\d\d)?\b")
_parts = re.compile(r"(?:(\d{4})-(\d\d)-(\d\d))?[ T]?(?:(\d\d?):\d\d(?::\d\d)?)?")


def _period_of(cell: str, period: str) -> tuple[str, ...] | None:
    """Return the hour, day, month or year of a date or time of day; None if it is not one."""
    found = _parts.fullmatch(cell.strip())
    if not found or not any(found.groups()):
        return None
    year, month, day, hour = (part or "" for part in found.groups())
    whole = {
        "hour": (year, month, day, hour.zfill(2)),
        "day": (year, month, day),
        "month": (year, month),
        "year": (year,),
    }[period]
    return whole if whole[-1].strip("0") or period == "hour" else None


def _start_of(moment: str, period: str) -> str:
    """Return the beginning of a date or time of day that says which period it is in."""
    size = {"day": 10, "month": 7, "year": 4}.get(period)
    return moment[:size] if size else moment.partition(":")[0]


def _repeated_period(goal: str, rows: Sequence[Sequence[str]]) -> str:
    """Return what is wrong if a goal groups by a period, and two rows are of the same one."""
    asked = _each_period.search(goal)
    if not asked:
        return ""
    period = _periods[(asked[1] or asked[2]).casefold()]
    seen: dict[tuple[object, ...], Sequence[str]] = {}
    for row in rows:
        periods = [_period_of(cell, period) for cell in row]
        if not any(periods):
            return ""
        others = (cell for cell, of in zip(row, periods, strict=True) if not of)
        key = (*filter(None, periods), *(cell for cell in others if not numbers(cell)))
        if key in seen:
            one, two = (
                next(cell for cell, of in zip(each, periods, strict=False) if of)
                for each in (seen[key], row)
            )
            start = _start_of(one, period)
            return f'{one} and {two} are the same {period}: take text[:{len(start)}], "{start}"'
        seen[key] = row
    return ""


def _same_but_for_case(goal: str, rows: Rows) -> str:
    """Return what is wrong if a goal groups, and two groups are the same word."""
    if not (_group.search(goal) or COUNTABLE.search(goal)):
        return ""
    for column in zip(*rows[1:], strict=False):
        seen: dict[str, str] = {}
        if len(set(column)) < len(column):
            continue
        for cell in column:
            other = seen.setdefault(cell.casefold(), cell)
            if other != cell:
                return f"{other} and {cell} are the same: compare with .lower()"
    return ""


# The order and the number of rows.

_descending = re.compile(
    r"\b(?:highest|largest|biggest|greatest|most|best|newest|latest|longest)\b(?:\s\w+){0,2}\s"
    r"(?:at\s+the\s+)?(?:first|top)\b|\bdescending\b|\bfrom\s+(?:the\s+)?(?:highest|largest|most|best)\b"
    r"|\babsteigend\w*",
    re.IGNORECASE,
)
_ascending = re.compile(
    r"\b(?:lowest|smallest|least|fewest|oldest|earliest|cheapest|shortest)\b(?:\s\w+){0,2}\s"
    r"(?:at\s+the\s+)?(?:first|top)\b|\bascending\b|\bfrom\s+(?:the\s+)?(?:lowest|smallest|least)\b"
    r"|\baufsteigend\w*",
    re.IGNORECASE,
)
_sorted_by = re.compile(
    r"\b(?:sort\w*|order(?:ed)?|rank\w*)\b[^.?]{0,30}\bby\s+(?:the\s+)?(\w{3,})", re.I
)


def names_order(goal: str) -> bool:
    """Return whether a goal says in which order rows or lines are."""
    return bool(
        _sorted_by.search(goal) or _descending.search(goal) or _ascending.search(goal)
    ) or bool(re.search(r"\b(?:sort|sortier)", goal, re.IGNORECASE))


def _wrong_order(goal: str, rows: Rows) -> str:
    """Return what is wrong if a goal names an order, and no column is in it."""
    columns = {name: list(map(_sortable, cells)) for name, *cells in zip(*rows, strict=False)}
    named = _sorted_by.search(goal)
    if named:
        columns = {
            name: cells
            for name, cells in columns.items()
            if _is_about(name.casefold(), named[1].casefold())
        }
    down, up = bool(_descending.search(goal)), bool(_ascending.search(goal))
    if not columns or not (named or down or up):
        return ""
    for cells in columns.values():
        rises = all(one <= two for one, two in pairwise(cells))
        falls = all(one >= two for one, two in pairwise(cells))
        if (falls and not up) or (rises and not down):
            return ""
    which = named[1] if named else "the highest first" if down else "the lowest first"
    return f"the rows are not in the right order: sort them by {which} at the end"


def _sortable(cell: str) -> tuple[int, float, str]:
    try:
        return (0, float(cell.replace(",", "")), "")
    except ValueError:
        return (1, 0.0, cell.casefold())


_together = re.compile(
    r"\b(?:put|bring)\b[^.?]{0,50}\btogether\b|\b(?:merge|combine|concatenate|append|stack|join|unite)\b"
    r"|\bin(?:to)?\s+(?:one|a\s+single)\s+(?:table|file|list|csv|spreadsheet)\b",
    re.IGNORECASE,
)
_fewer = re.compile(
    r"\b(?:only|without|remove|drop|delete|filter|where|that\s+(?:are|have)|with\s+(?:more|less|fewer)"
    r"|duplicat\w*|top|first|last|unique|distinct)\b",
    re.IGNORECASE,
)


def _lost_rows(goal: str, rows: Rows, given: Collection[Artifact]) -> str:
    """Return what is wrong if tables of the same columns were put together, and rows are lost."""
    if not _together.search(goal) or _group.search(goal) or _fewer.search(goal):
        return ""
    tables = [table for item in given if (table := csv_rows(item))]
    alike = [table for table in tables if table[0] == tables[0][0]]
    if len(alike) < 2:
        return ""
    whole = sum(len(table) - 1 for table in alike)
    if len(rows) - 1 == whole:
        return ""
    return f"the {len(alike)} files have {whole} rows in all, the new table has {len(rows) - 1}"


# Words and parts of lines.

_about_words = re.compile(r"\b(?:words?|w[öo]rter\w*|mots?|palabras?)\b|词", re.IGNORECASE)
_word_with_mark = re.compile(r"[^\W\d_]{2,}[.;!?]+[\"']?\W{0,3}\d|[^\W\d_]{2,},[:,]")
_length = re.compile(
    r"\b(more\s+than|over|longer\s+than|at\s+least)\s+(\d+)\s+(?:letters|characters)\b",
    re.IGNORECASE,
)
_line_of_word = re.compile(r"^\W*([^\W\d_]{2,})\W+\d+\W*$", re.MULTILINE)


def _wrong_words(goal: str, text: str) -> str:
    """Return what is wrong if a goal counts words, and the words are not clean."""
    if not _about_words.search(goal):
        return ""
    if marked := _word_with_mark.search(text):
        word = marked[0].strip(" :\t0123456789")
        return f'"{word}" is a word with a mark: take words with re.findall(r"\\w+", text.lower())'
    words, seen = _line_of_word.findall(text), dict[str, str]()
    if asked := _length.search(with_digits(goal)):
        least = int(asked[2]) + (not asked[1].lower().startswith("at"))
        if short := next((word for word in words if len(word) < least), ""):
            return f'"{short}" is too short: take words of {least} or more letters, \\w{{{least},}}'
    for word in words:
        if seen.setdefault(word.casefold(), word) != word:
            return f"{seen[word.casefold()]} and {word} are one word: use text.lower() first"
    return ""


def _ends_with_marks(rows: Rows) -> bool:
    """Return whether cells of most rows end with a mark of the sentence that they are from."""
    return 2 * sum(any(re.search(r"\w[,;:.]$", cell) for cell in row) for row in rows[1:]) > (
        len(rows) - 1
    )


_collecting = re.compile(
    r"\b(?:collect|gather|list|copy|extract|pull|find)\b[^.?]{0,40}\b(?:items?|lines?|entries|todos?|tasks?"
    r"|sentences?|remarks?|messages?)\b",
    re.IGNORECASE,
)


def _cut_off(goal: str, text: str, given: Collection[Artifact]) -> str:
    """Return what is wrong if a goal collects the items of a text, and most lack their ends."""
    if not _collecting.search(goal):
        return ""
    ends = [
        line.strip() for item in given for line in plain_text(item).splitlines() if line.strip()
    ]
    items = [line.strip(" -*[]x.\t") for line in text.splitlines() if not line.startswith("#")]
    items = [item for item in items if any(item in line for line in ends)]
    whole = sum(any(line.rstrip(".").endswith(item) for line in ends) for item in items)
    if 2 * whole < len(items):
        return (
            "the items are cut off: keep whole lines, "
            '[line for line in jarvis.read_lines(name) if "…" in line]'
        )
    return ""


_all_headings = re.compile(
    r"\b(?:all|every|each)\b[^.?]{0,20}\bhead(?:ing|line)s?\b|\balle[nr]?\b[^.?]{0,20}überschriften",
    re.IGNORECASE,
)
_heading = re.compile(r"^#{1,6} +(.*\S)", re.MULTILINE)


def _lost_headings(goal: str, text: str, given: Collection[Artifact]) -> str:
    """Return what is wrong if a goal lists all headings of Markdown, and some are not listed."""
    if not _all_headings.search(goal):
        return ""
    listed = {line.strip(" #-*\t") for line in text.splitlines()}
    headings = [found[1] for item in given for found in _heading.finditer(plain_text(item))]
    if all(heading.strip(" #-*") in listed for heading in headings):
        return ""
    return (
        "headings are missing: each line that begins with # is one, "
        're.findall(r"^#+ +(.+)", text, re.MULTILINE)'
    )


def _has_whole_lines(rows: Rows, given: Collection[Artifact]) -> bool:
    """Return whether most rows of a table repeat whole lines of a given text."""
    texts = map(plain_text, given)
    lines = {line.strip() for text in texts for line in text.splitlines() if line.count(" ") > 2}
    return 2 * sum(any(cell in lines for cell in row) for row in rows[1:]) > len(rows) - 1


_kinds_of_parts = (
    (
        re.compile(r"\be-?mails?\b", re.IGNORECASE),
        "e-mail address",
        r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+",
    ),
    (re.compile(r"\b(?:links?|urls?)\b", re.IGNORECASE), "link", r"https?://\S+"),
    (re.compile(r"\bphone", re.IGNORECASE), "phone number", r"\+?\d[\d ()/-]{3,}\d"),
)


def _not_only(goal: str, rows: Rows) -> tuple[str, str] | None:
    """Return the kind of part that a goal asks for and its pattern, if no column has only such."""
    for asked, name, pattern in _kinds_of_parts:
        columns = [cells for _, *cells in zip(*rows, strict=False)]
        if asked.search(goal) and not any(
            all(re.fullmatch(pattern, cell) for cell in cells if cell) for cells in columns
        ):
            return name, pattern
    return None


# What an answer says.

_period = re.compile(
    r"\b(?:quarters?|quartals?|q[1-4]|january|february|march|april|may|june|july|august|september"
    r"|october|november|december|januar|februar|m[äa]rz|mai|juni|juli|oktober|dezember"
    r"|mondays?|tuesdays?|wednesdays?|thursdays?|fridays?|saturdays?|sundays?|weekends?)\b",
    re.IGNORECASE,
)
_per_period = re.compile(r"\b(?:per|each|every|by|which|pro|je|welche\w*)\s+quart", re.IGNORECASE)
_column = re.compile(r"^- (.+?): ", re.MULTILINE)
_number_column = re.compile(r"^- (.+?): number", re.MULTILINE)
_listed = re.compile(r"^- (.+?): text, one of: ([^\n;]+)", re.MULTILINE)
_whole = re.compile(
    r"^- .+?: number, .*?; in all (-?\d+\.?\d*), on average (-?\d+\.?\d*)(?:;|$)", re.MULTILINE
)


def column_names(brief: str) -> Sequence[str]:
    """Return the columns of the tables that a description of the files names."""
    return _column.findall(brief)


def number_columns(brief: str) -> Sequence[str]:
    """Return the columns of numbers that a description of the files names."""
    return _number_column.findall(brief)


def listed_values(brief: str) -> Sequence[tuple[str, Sequence[str]]]:
    """Return the columns of few values that a description of the files lists, and these values."""
    return [(column, values.split(", ")) for column, values in _listed.findall(brief)]


def _about_all_rows(goal: str, answer: str, brief: str) -> str:
    """Return what is wrong if a goal is about some rows, and an answer has the sum or the average
    of all rows."""
    said = goal.casefold()
    values = {value for _, found in listed_values(brief) for value in found}
    named = [value for value in values if re.search(rf"\b{re.escape(value.casefold())}\b", said)]
    period = None if _per_period.search(goal) else _period.search(goal)
    if not named and not period:
        return ""
    of_all = [float(number) for found in _whole.findall(brief) for number in found]
    if any(near(number, one, 1e-4) for number in numbers(answer) for one in of_all if one):
        which = named[0] if named else period[0] if period else ""
        return f"that is the value of all rows: use only those of {which}"
    return ""


_which = re.compile(
    r"\b(?:which|what|welche[rsmn]?|quel(?:le)?s?|qu[ée])\s+(\w{3,})", re.IGNORECASE
)


def _names_nothing(clause: str, answer: str, brief: str) -> str:
    """Return what is wrong if a goal asks which one of a column, and the answer names none."""
    asked = {noun.casefold() for noun in _which.findall(clause)}
    said = answer.casefold()
    for column, values in listed_values(brief):
        if column.casefold() in asked and not any(value.casefold() in said for value in values):
            return f"the answer names no {column}"
    return ""


_one_day = re.compile(
    r"\b(?:which|what)\s+(day|month|year)\b|\bwelche[mnrs]?\s+(tag|monat|jahr)\b", re.IGNORECASE
)


def _wrong_moment(clause: str, answer: str) -> str:
    """Return what is wrong if a goal asks for a day, month or year, and the answer is a moment."""
    asked = _one_day.search(clause)
    found = re.search(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d", answer)
    if asked and found:
        period = _periods[(asked[1] or asked[2]).casefold()]
        size = len(_start_of(found[0], period))
        return f"that is a moment, not a {period}: group the rows by the {period}, [:{size}]"
    return ""


def _wrong_percentage(clause: str, answer: str) -> str:
    found = numbers(answer)
    if re.search(r"\bpercent|\bprozent|\bpour\s?cent|%", clause, re.IGNORECASE) and not any(
        0 <= number <= 100 for number in found
    ):
        return "a percentage is between 0 and 100"
    return ""


def near(one: float, two: float, tolerance: float) -> bool:
    """Return whether two numbers differ by no more than this share of the larger one."""
    return abs(one - two) <= max(abs(one), abs(two)) * tolerance
