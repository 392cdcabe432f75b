"""Cleans a table by words: removes duplicates and empty rows, keeps one row of each, and fills or
drops empty cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import both, tr, trn
from jarvis_desktop.tasks.documents.table_database import literal
from jarvis_desktop.tasks.documents.table_words import ADJECTIVES, TableField, folded

if TYPE_CHECKING:
    from jarvis_desktop.tasks.documents.table_editor import TableEditor

_removing = re.compile(r"\b(?:remove|delete|drop|discard|exclude|leave out|get rid of|take out)\b")
_keeping = re.compile(r"\b(?:keep|filter|only)\b")
_empty_rows = re.compile(r"\b(?:empty|blank) (?:rows?|lines?)\b")
_without = re.compile(
    r"\b(?:without|with no|(?:that|which|who) (?:have|has) no|lacking)\s+(?:(?:an?|any|the)\s+)?"
    r"(?P<a>.+)"
    r"|\b(?:where|whose)\s+(?:the\s+)?(?P<b>.+?)\s+(?:is|are)\s+(?:empty|missing|blank|not given)\b"
    r"|\bwith\s+(?:an?\s+)?(?:empty|missing|blank)\s+(?P<c>.+)"
)
_having = re.compile(
    r"\b(?:with|having|(?:that|which|who) have)\s+(?:an?|any|some)\s+(?P<a>.+)"
    r"|\b(?:where|whose)\s+(?:the\s+)?(?P<b>.+?)\s+is\s+(?:given|not empty|there)\b"
)
_said_besides = frozenset(
    "address addresses value values entry entries number given cell cells column field at all in "
    "it an a the any".split()
)
"""Words beside the name of a column that add nothing."""
_one_of_each = re.compile(
    r"\b(?P<which>newest|latest|most recent|last|oldest|earliest|first|highest|lowest|largest|"
    r"smallest|cheapest|dearest|most expensive|best|longest|shortest)\b(?P<what>.*?)"
    r"\b(?:for (?:each|every)|of (?:each|every)|per)\s+(?P<key>.+)"
)
_fill = re.compile(
    r"\b(?:fill|replace|set)\b.*?\b(?:empty|missing|blank)\s+(?:cells?\s+(?:of|in)\s+(?:the\s+)?)?"
    r"(?P<what>.*?)\s*\b(?:with|by|to)\s+(?:the\s+)?(?P<value>.+)"
)
_LAST = frozenset(
    {"newest", "latest", "most recent", "last", "highest", "largest", "best", "longest", "dearest",
     "most expensive"}
)  # fmt: skip


def ways(editor: TableEditor, text: str) -> Iterator[tuple[bool, Callable[[], None]]]:
    """Yield the ways of cleaning that are asked for, each with True."""
    removing, keeping = _removing.search(text), _keeping.search(text)
    if removing and _empty_rows.search(text):
        yield True, partial(remove_empty_rows, editor)
    if fill := _fill.search(text):
        yield True, partial(fill_empty, editor, fill)
    if one := _one_of_each.search(text) if keeping else None:
        yield True, partial(keep_one_of_each, editor, one)
    lacking = _without.search(text) if removing else _having.search(text) if keeping else None
    if field := _alone(editor, lacking) if lacking else None:
        yield True, partial(remove_without, editor, field)


def deduplicate(editor: TableEditor, text: str) -> None:
    """Keep the first of the rows that are the same, in all columns or in those that are named."""
    of = re.search(r"\b(?:by|based on|with the same|of the same|in|on|same) (.+)", text)
    of_table = of is None or re.search(r"\btable|file|csv\b", of[1])
    fields = [] if of is None or of_table else editor.columns_of(of[1])
    alike = [item.sql for item in fields] or list(map(trimmed, editor.cells))
    before = editor.count
    editor.renew(
        f"QUALIFY row_number() OVER (PARTITION BY {', '.join(alike)} ORDER BY {editor.row}) = 1"
    )
    removed = before - editor.count
    if not removed:
        told = tr("There are no duplicates in the {count} rows.", count=f"{before:,}")
    else:
        told = trn("Removed {count} duplicate row of {whole}.",
                   "Removed {count} duplicate rows of {whole}.", removed,
                   whole=f"{before:,}")  # fmt: skip
    if fields:
        told += " " + tr("Rows are duplicates if {names} are the same; the first one stays.",
                         names=both(*(item.name for item in fields)))  # fmt: skip
    editor.say(told, "without-duplicates")
    if _empty_rows.search(text):
        remove_empty_rows(editor)


def remove_empty_rows(editor: TableEditor) -> None:
    """Remove the rows without any cell."""
    before = editor.count
    empty = " AND ".join(f"{trimmed(cell)} = ''" for cell in editor.cells)
    editor.renew(f"WHERE NOT ({empty})")
    told = trn("Removed {count} empty row.", "Removed {count} empty rows.", before - editor.count)
    editor.say(told, "without-empty-rows")


def remove_without(editor: TableEditor, field: TableField) -> None:
    """Remove the rows whose cell in this column is empty."""
    before = editor.count
    editor.renew(f"WHERE {trimmed(editor.cell_of(field))} != ''")
    told = trn("Removed {count} row of {whole}: {conditions}.",
               "Removed {count} rows of {whole}: {conditions}.", before - editor.count,
               whole=f"{before:,}", conditions=tr("{name} is empty", name=field.name))  # fmt: skip
    editor.say(told, "filtered")


def keep_one_of_each(editor: TableEditor, asked: re.Match[str]) -> None:
    """Keep the newest row of each person, the cheapest of each shop, and the like. Raises
    InputError if no column says which that is."""
    keys = editor.columns_of(_one_name(asked["key"]))
    if not keys:
        raise editor.no_column(asked["key"])
    which = asked["which"].removeprefix("most ")
    named = [it for it in editor.columns_of(asked["what"]) if it not in keys]
    dates = [it for it in editor.relation().dates if not it.made]
    by_date = ADJECTIVES.get(which, (True, ""))[1] == "date" or which in _OF_DATES
    field = next(iter(named), None) or (dates[0] if by_date and len(dates) == 1 else None)
    field = field or (None if by_date else editor.hinted(which))
    if field is None and which not in ("first", "last"):
        raise editor.no_column(asked["which"])
    before = editor.count
    order = f"{field.sql if field else editor.row} {'DESC' if which in _LAST else 'ASC'} NULLS LAST"
    alike = ", ".join(f"lower({trimmed(editor.cell_of(key))})" for key in keys)
    editor.renew(
        f"QUALIFY row_number() OVER (PARTITION BY {alike} ORDER BY {order}, {editor.row}) = 1"
    )
    told = trn("Kept {count} row of {whole}: one for each {name}.",
               "Kept {count} rows of {whole}: one for each {name}.", editor.count,
               whole=f"{before:,}", name=both(*(key.name for key in keys)))  # fmt: skip
    if field:
        told += " " + (
            tr("It is the one with the highest {name}.", name=field.name)
            if which in _LAST
            else tr("It is the one with the lowest {name}.", name=field.name)
        )
    editor.say(told, "one-of-each")


_OF_DATES = frozenset({"newest", "latest", "recent", "oldest", "earliest", "first", "last"})


def fill_empty(editor: TableEditor, asked: re.Match[str]) -> None:
    """Write a value into the empty cells of columns: the average, the median, or what is said."""
    fields = editor.columns_of(_one_name(asked["what"]))
    if not fields:
        raise editor.no_column(asked["what"])
    value = asked["value"].strip(" .\"“”„'")
    for field in fields:
        cell = editor.cell_of(field)
        computed = re.match(r"(average|mean|median)\b", value)
        if computed and not field.is_number:
            raise InputError(tr("{name} has no numbers.", name=field.name))
        written = value
        if computed:
            form = "median" if computed[1] == "median" else "avg"
            number = editor.value_of(f"{form}({field.sql})")
            written = editor.as_written(round(float(number or 0), 2), field)
        empty = f"{trimmed(cell)} = ''"
        count = int(editor.value_of(f"count(*) FILTER ({empty})"))
        editor.change(f"SET {cell} = {literal(written)} WHERE {empty}")
        told = trn("Filled {count} empty cell of {name} with {value}.",
                   "Filled {count} empty cells of {name} with {value}.", count, name=field.name,
                   value=written)  # fmt: skip
        editor.say(told, "filled")


def _alone(editor: TableEditor, asked: re.Match[str]) -> TableField | None:
    """Return the column that such words name, if they name nothing else."""
    words = _one_name(next(filter(None, asked.groupdict().values())))
    fields = editor.columns_of(words)
    named = {word for item in fields for word in re.findall(r"[^\W_]+", folded(item.name))}
    left = {*re.findall(r"[^\W_]+", words)} - named - _said_besides
    left -= {f"{word}s" for word in named} | {word.removesuffix("s") for word in named}
    return fields[0] if len(fields) == 1 and not left else None


def _one_name(words: str) -> str:
    return words.replace("e-mail", "email").strip(" .")


def trimmed(cell: str) -> str:
    """Return the text of a cell in SQL, "" for an empty one."""
    return f"trim(coalesce({cell}::VARCHAR, ''))"
