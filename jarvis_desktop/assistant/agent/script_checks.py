"""What the code of a script shows to be wrong with its result.

Small LLMs make the same slips again and again, and a script and a query may overlook the same. So
a script that ran is read for what it overlooks: a column or value that the goal names, or one that
it does not name. Slips, such as a row that is looked up in a list, are hints only. Each is a
sentence for the author of the script, with the code that mends it.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import prod

from jarvis_desktop.assistant.agent.goal_checks import column_names, listed_values, number_columns


def slips(code: str, goal: str) -> Iterator[str]:
    """Yield what is likely wrong with a script that failed, or whose result nothing confirms:
    values that it never computes, and what the goal asks for and its code does not have."""
    nodes = _nodes(code)
    for table, column in dict.fromkeys(_looked_up(nodes)):
        yield (
            f"{table} is a list, so first make a dict of it: by_{column} = "
            f'{{row["{column}"]: row for row in {table}}}, then by_{column}[…]'
        )
    for name in _by_length_of_keys(nodes):
        yield f"max({name}, key=len) takes the longest key: key=lambda key: len({name}[key])"
    for name in _never_changed(nodes):
        yield f"{name} is printed but never changes"
    for asked, needed, advice in _computations:
        if asked.search(goal) and not needed.search(code):
            yield advice
    if ".rotate(" in code and "expand" not in code:
        yield "picture.rotate(angle, expand=True) keeps the corners"


def overlooked(
    code: str, goal: str, words: Mapping[str, Collection[str]], brief: str
) -> Iterator[str]:
    """Yield what a script leaves out of a goal, or puts into it: columns, values and months that
    only one of them names, and spellings. `words` are those of `data_words`."""
    nodes, folds = _nodes(code), _folds.search(code)
    for column in dict.fromkeys(column_names(brief)):
        if column.casefold() not in code.casefold() and re.search(
            rf"\b{re.escape(column)}s?\b", goal, re.IGNORECASE
        ):
            yield f'the goal is about the column "{column}", which the script does not use'
    if months := _quarter(goal):
        chosen_months = {*re.findall(r"[\"'](0[1-9]|1[0-2])[\"']", code)}
        if chosen_months and chosen_months != {*months}:
            yield f"that quarter is the months {', '.join(months)} and no others"
    if _asks_for_names(goal) and _prints_only_counts(nodes):
        yield "the goal asks which ones: print their names, not only how many"
    yield from _overwritten(nodes, goal, brief)
    for value in _ignored_values(code, goal, words, brief):
        yield f'the goal is about "{value}", but the script takes all: choose by "{value}"'
    chosen = dict.fromkeys(_chosen_by(nodes))
    for value in _invented_values(chosen, goal, words, brief):
        yield f'the goal does not name "{value}": take all values of the rows and name none'
    for value in chosen:
        others = {*words.get(value.casefold(), ())} - {*chosen}
        if others and value in words[value.casefold()] and not folds:
            yield f'"{value}" is also written "{min(others)}": compare with .lower()'


def _nodes(code: str) -> Sequence[ast.AST]:
    """Return the nodes of a script; none if it is not Python."""
    try:
        return list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError):
        return ()


_folds = re.compile(r"\.(?:lower|casefold|upper|title|capitalize)\(")
_computations = (
    (
        re.compile(
            r"\b(?:most|highest|largest|biggest|best|longest|shortest|lowest|cheapest|smallest|fewest"
            r"|oldest|newest|earliest|latest|warmest|coldest)\b",
            re.IGNORECASE,
        ),
        re.compile(r"max|min\b|sort|most_common|nlargest|nsmallest|[<>]"),
        "the most is found with max(values), or max(rows, key=...), for each group",
    ),
    (
        re.compile(r"\bmedian", re.IGNORECASE),
        re.compile(r"\bmedian\("),
        "a median is statistics.median(values)",
    ),
    (
        re.compile(
            r"\b(?:altogether|in\s+total|totals?|sums?|averages?|insgesamt|summe)\b", re.IGNORECASE
        ),
        re.compile(r"\+=|\bf?sum\(|\bmean\(|\+ |Counter\("),
        "a total is added up: total += value for each, or sum(values)",
    ),
    (
        re.compile(
            r"\bcompared\s+(?:with|to)\s+how\b|\brelative\s+to\b|\bratio\b|\bin\s+proportion\b"
            r"|\bpercent\w*|\bprozent",
            re.IGNORECASE,
        ),
        re.compile(r"/|\bnormalize\b"),
        "a share is one value divided by the other, for each: part / whole",
    ),
    (
        re.compile(r"\bhow\s+many\s+words\b|\bcount\b[^.?]{0,20}\bwords\b", re.IGNORECASE),
        re.compile(r"\bsplit\(|\bre\."),
        "words are counted with len(text.split())",
    ),
    (
        re.compile(
            r"\b(?:frequent|common|often|different|unique|distinct|each|every)\b(?:\s+\w+)?\s+words?\b"
            r"|\bwords?\b[^.?]{0,20}\b(?:most|least|more|less)\s+(?:often|frequent\w*)",
            re.IGNORECASE,
        ),
        _folds,
        "a word with a capital letter is counted apart: use text.lower() first",
    ),
)
"""What a goal asks for, the code that computes it, and the advice if it is not there."""


def _invented_values(
    chosen: Collection[str], goal: str, words: Collection[str], brief: str
) -> Iterator[str]:
    """Yield the values by which a script chooses that are in the files and not in the goal."""
    columns, said = column_names(brief.casefold()), goal.casefold()
    # Who chooses by the only value of a column chooses all rows.
    only = {values[0] for _, values in listed_values(brief) if len(values) == 1}
    for value in (each for each in chosen if each not in only):
        parts = re.findall(r"[^\W\d_]{2,}", value.casefold())
        known = value.casefold() in columns or any(part[:4] in said for part in parts)
        if parts and not known and all(part in words for part in parts):
            yield value


_quarters = (
    re.compile(
        r"\b(?:first|1st|erste[nrsm]?|premier)\s+(?:quart|trim)|\b1\.\s*quart|\bq1\b", re.IGNORECASE
    ),
    re.compile(
        r"\b(?:second|2nd|zweite[nrsm]?|deuxi.me)\s+(?:quart|trim)|\b2\.\s*quart|\bq2\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:third|3rd|dritte[nrsm]?|troisi.me)\s+(?:quart|trim)|\b3\.\s*quart|\bq3\b",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:fourth|4th|vierte[nrsm]?|quatri.me)\s+(?:quart|trim)|\b4\.\s*quart|\bq4\b",
        re.IGNORECASE,
    ),
)


def _quarter(goal: str) -> Sequence[str]:
    """Return the months of the only quarter that a goal names, such as "04"; () if it names none or
    several."""
    named = [at for at, pattern in enumerate(_quarters) if pattern.search(goal)]
    return [f"{3 * named[0] + month:02}" for month in (1, 2, 3)] if len(named) == 1 else ()


def _ignored_values(
    code: str, goal: str, words: Mapping[str, Collection[str]], brief: str
) -> Iterator[str]:
    """Yield the values of the files that a goal names and a script does not: words that are written
    in capitals, such as ERROR, and single values of a column that has few."""
    said, code = {word.casefold() for word in re.findall(r"\w{3,}", goal)}, code.casefold()
    said |= {word.removesuffix("s") for word in said}
    named = [word.upper() for word in sorted(said & {*words}) if word.upper() in words[word]]
    for _, values in listed_values(brief):
        mentioned = [value for value in values if value.casefold() in said]
        named += mentioned if len(mentioned) == 1 else []
    yield from (value for value in dict.fromkeys(named) if value.casefold() not in code)


def _chosen_by(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Yield the texts that are compared with, looked up, or values of variables. What is only
    counted, `len(table["Ulm"])`, chooses nothing."""
    counted = {
        part
        for node in nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "len"
        for part in ast.walk(node)
    }
    for node in (each for each in nodes if each not in counted):
        match node:
            case ast.Assign(value=ast.Constant(value=str(text))):
                yield text
                continue
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


def tables_in(nodes: Sequence[ast.AST]) -> set[str]:
    """Return the names that are tables."""
    return _assigned(
        nodes,
        lambda value: (
            isinstance(value, ast.Call) and ast.unparse(value.func).endswith("read_table")
        ),
    )


def _assigned(nodes: Sequence[ast.AST], is_it: Callable[[ast.expr], bool]) -> set[str]:
    """Return the names that such a value is assigned to."""
    return {
        target.id
        for node in nodes
        if isinstance(node, ast.Assign) and is_it(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _looked_up(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield each table in which a row is looked up by a cell, and the column of the cell."""
    tables, columns = tables_in(nodes), _columns_by_name(nodes)
    for node in nodes:
        match node:
            case ast.Subscript(
                value=ast.Name(id=table), slice=ast.Subscript(slice=ast.Constant(value=str(column)))
            ) if table in tables:
                yield table, column
            case ast.Subscript(value=ast.Name(id=table), slice=ast.Name(id=name)) if (
                table in tables and name in columns
            ):
                yield table, columns[name]


def _asks_for_names(goal: str) -> bool:
    """Return whether a goal asks who or which ones, and not how many."""
    return bool(_which_ones.search(goal)) and not _how_many.search(goal)


_which_ones = re.compile(r"\b(?:who|which|wer|welche\w*|quel\w*|qui)\b", re.IGNORECASE)
_how_many = re.compile(
    r"\bhow\s+(?:many|much|often)|\bcount\b|\bwie\s?viele?\b|\bcombien\b", re.IGNORECASE
)


def _prints_only_counts(nodes: Sequence[ast.AST]) -> bool:
    """Return whether all values that a script prints are lengths."""
    shown = [
        part.value
        for node in nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "print"
        for part in ast.walk(node)
        if isinstance(part, ast.FormattedValue)
    ]
    return bool(shown) and all(
        isinstance(each, ast.Call) and ast.unparse(each.func) == "len" for each in shown
    )


_latest = re.compile(
    r"\b(?:last|latest|newest|most\s+recent|current|final|letzte\w*)\b", re.IGNORECASE
)
_rows = re.compile(r": table, (\d+) rows", re.MULTILINE)


def _overwritten(nodes: Sequence[ast.AST], goal: str, brief: str) -> Iterator[str]:
    """Yield the values of groups that each row of the group replaces, where all are meant: the
    columns by which they are grouped have fewer values than there are rows."""
    numbers, of_column = {*number_columns(brief)}, _columns_by_name(nodes)
    sizes = {column: len(values) for column, values in listed_values(brief)}
    rows = min(map(int, _rows.findall(brief)), default=0)
    if _latest.search(goal):
        return
    for loop in (node for node in nodes if isinstance(node, ast.For)):
        inner = list(ast.walk(loop))
        added = {ast.unparse(each.target) for each in inner if isinstance(each, ast.AugAssign)}
        for node in inner:
            match node:
                case ast.Assign(targets=[ast.Subscript() as target], value=value):
                    keys, of = [_column_of(target.slice, of_column)], target.value
                    while isinstance(of, ast.Subscript):
                        keys.append(_column_of(of.slice, of_column))
                        of = of.value
                    parts = list(ast.walk(value))
                    adds = ast.unparse(of) in {ast.unparse(part) for part in parts}
                    adds |= ast.unparse(target) in added
                    counted = any(_column_of(part, of_column) in numbers for part in parts)
                    if adds or not counted or prod(sizes.get(key, rows) for key in keys) >= rows:
                        continue
                    one, key = ast.unparse(target.value), ast.unparse(target.slice)
                    yield (
                        f"each row overwrites {ast.unparse(target)}: add up with "
                        f"{one}[{key}] = {one}.get({key}, 0) + {ast.unparse(value)}"
                    )


def _columns_by_name(nodes: Sequence[ast.AST]) -> Mapping[str, str]:
    """Return the columns whose cells are given names: `shop = row["shop"]`."""
    found: dict[str, str] = {}
    for node in nodes:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Subscript(slice=ast.Constant(value=str(column))),
            ):
                found[name] = column
    return found


def _column_of(node: ast.AST, of_column: Mapping[str, str]) -> str:
    """Return the column of a cell; "" for anything else."""
    match node:
        case ast.Name(id=name):
            return of_column.get(name, "")
        case ast.Subscript(slice=ast.Constant(value=str(column))):
            return column
    return ""


def _by_length_of_keys(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Yield the dicts of which the longest or shortest key is taken although a value is meant."""
    dicts = _assigned(nodes, lambda value: isinstance(value, ast.Dict | ast.DictComp))
    for node in nodes:
        match node:
            case ast.Call(
                func=ast.Name(id="max" | "min" | "sorted"),
                args=[ast.Name(id=name)],
                keywords=[ast.keyword(arg="key", value=ast.Name(id="len")), *_],
            ) if name in dicts:
                yield name


def _never_changed(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Yield the names that are printed, and were only ever set to 0 or None."""
    names = [node for node in nodes if isinstance(node, ast.Name)]
    stores = Counter(node.id for node in names if isinstance(node.ctx, ast.Store))
    printed = {
        part.id
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
        for part in ast.walk(node)
        if isinstance(part, ast.Name)
    }
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=None | 0)) if (
                stores[name] == 1 and name in printed
            ):
                yield name
