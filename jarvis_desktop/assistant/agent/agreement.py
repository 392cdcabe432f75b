"""Whether two scripts that were written apart from each other came to the same result."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from jarvis_desktop.assistant.agent.expected_results import ExpectedResult, ResultKind
from jarvis_desktop.assistant.agent.goal_checks import answer_in, fits, near, new_numbers, wrote
from jarvis_desktop.assistant.agent.made_files import (
    Rows,
    csv_rows,
    numbers,
    picture_size,
    plain_text,
)
from jarvis_desktop.core.artifact import Artifact

TOLERANCE = 0.006
"""Of a number, relative: texts round differently."""
SHARED_WORDS = 0.7
"""Of all words in two files that say the same."""

Result = tuple[str, Sequence[Artifact]]
"""What a script printed, and the files that it made."""

_word = re.compile(r"[^\W\d_]{2,}")


def agree(
    one: Result, two: Result, expected: Sequence[ExpectedResult], words: Collection[str]
) -> bool:
    """Return whether two results are the same. Answers are compared by their numbers and by those
    of `words` that only one of them has, charts by their values, tables by their columns, texts by
    both, other files by their number and by the sizes of pictures. It reads files."""
    kinds = {each.kind for each in expected}
    goal = expected[0].goal if expected else ""
    answers = answer_in(one[0]), answer_in(two[0])
    if ResultKind.ANSWER in kinds and not _same_text(*answers, goal, words):
        return False
    if ResultKind.CHART in kinds:
        charts = [list(_chart_values(printed)) for printed, _ in (one, two)]
        if len(charts[0]) != len(charts[1]) or not all(map(_same_numbers, *charts)):
            return False
    if not all(_same_pictures(one[1], two[1], each) for each in expected):
        return False
    pairs = [(_wanted(one, each), _wanted(two, each)) for each in expected]
    return all(_same_files(*pair) for pair in pairs)


def _same_pictures(
    one: Sequence[Artifact], two: Sequence[Artifact], expected: ExpectedResult
) -> bool:
    if expected.kind is not ResultKind.FILES:
        return True
    sizes = [
        Counter(picture_size(each) for each in made if fits(each, expected)) for made in (one, two)
    ]
    return sizes[0] == sizes[1]


def _wanted(result: Result, expected: ExpectedResult) -> list[tuple[str, Artifact]]:
    """Return what was printed about each table or text that is wanted, and its file."""
    if expected.kind not in (ResultKind.TABLE, ResultKind.TEXT):
        return []
    about = wrote(result[0])
    fitting = [item for item in result[1] if fits(item, expected)]
    return [(about.get(item.title, ""), item) for item in fitting]


def _same_files(one: Sequence[tuple[str, Artifact]], two: Sequence[tuple[str, Artifact]]) -> bool:
    return len(one) == len(two) and all(
        _counted(told) == _counted(other)
        and _same_file(plain_text(item), plain_text(another))
        and _same_table(csv_rows(item) or (), csv_rows(another) or ())
        for (told, item), (other, another) in zip(one, two, strict=True)
    )


def _counted(about: str) -> str:
    """Return how many rows or lines were written."""
    found = re.match(r"\d+ (?:rows|lines)", about)
    return found[0] if found else ""


def _chart_values(printed: str) -> Iterator[list[float]]:
    for about in wrote(printed).values():
        if " points: " in about:
            yield numbers(about.partition(" points: ")[2])


def _same_text(one: str, two: str, goal: str, words: Collection[str]) -> bool:
    values = new_numbers(goal, one), new_numbers(goal, two)
    if all(values) and not _same_numbers(*values):
        return False
    said = [set(_word.findall(text.casefold())) for text in (one, two)]
    only = [(said[at] - said[1 - at]) & set(words) for at in (0, 1)]
    if only[0] and only[1]:  # each has a name that the other one lacks
        return False
    shared = said[0] & said[1]
    # Without numbers on both sides, a name must be the same.
    return bool(all(values) or shared & set(words) or (shared and not any(values)))


def _same_file(one: str, two: str) -> bool:
    """Return whether the texts of two files have the same numbers, and nearly the same words."""
    words = [set(_word.findall(text.casefold())) for text in (one, two)]
    shared, both = words[0] & words[1], words[0] | words[1]
    return sorted(numbers(one)) == sorted(numbers(two)) and len(shared) >= SHARED_WORDS * len(both)


def _same_numbers(one: Sequence[float], two: Sequence[float]) -> bool:
    """Return whether all numbers of the shorter list are in the other one."""
    fewer, more = sorted((one, two), key=len)
    return all(any(near(number, other, TOLERANCE) for other in more) for number in fewer)


def _same_table(one: Rows, two: Rows) -> bool:
    """Return whether two tables have as many rows, and the columns of the narrower one are in the
    other, whatever their names and the order of the rows."""
    if len(one) != len(two):
        return False
    fewer, more = sorted(map(_columns, (one, two)), key=len)
    return all(column in more for column in fewer)


def _columns(rows: Rows) -> list[list[str]]:
    """Return the columns of a table, each as its sorted cells."""
    return [sorted(map(_cell, column)) for column in zip(*rows[1:], strict=False)]


def _cell(text: str) -> str:
    try:
        return f"{float(text.replace(',', '')):.4g}"
    except ValueError:
        return text.casefold()
