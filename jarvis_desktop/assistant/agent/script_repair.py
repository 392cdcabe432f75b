"""Mends scripts of small LLMs before they run, and explains their errors.

A small LLM forgets imports and takes rows apart as tuples, and it mends what it is shown how to
mend. So an error is one or two lines: where it is, what it says, and the code that helps.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Sequence

from jarvis_desktop.assistant.agent.goal_checks import column_names, number_columns
from jarvis_desktop.assistant.agent.script_checks import tables_in
from jarvis_desktop.core.display import one_line

NO_PACKAGES = (
    "pandas, numpy and matplotlib are not there. Use jarvis.read_table, jarvis.chart and Python's "
    "standard library."
)

_imports = {
    "Counter": "collections",
    "defaultdict": "collections",
    "datetime": "datetime",
    "timedelta": "datetime",
    "date": "datetime",
    "Path": "pathlib",
    "Image": "PIL",
    "ImageDraw": "PIL",
    "ImageOps": "PIL",
    "ImageFilter": "PIL",
    "mean": "statistics",
    "median": "statistics",
}
"""Where names come from that small LLMs forget to import."""


def repaired(code: str) -> str:
    """Return a script with the imports that it forgets, and with rows as tuples where it takes them
    apart as such."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return code  # running it says what is wrong
    return _with_imports(_with_tuples(code, tree), tree)


def _with_tuples(code: str, tree: ast.AST) -> str:
    """Let `for name, price in rows`, with rows of a table, loop over their values."""
    nodes = list(ast.walk(tree))
    tables = tables_in(nodes)
    lines = code.encode().splitlines(keepends=True)  # columns of nodes are counted in bytes
    found: list[ast.Name] = []
    for node in nodes:
        match node:
            case (
                ast.For(target=ast.Tuple(), iter=ast.Name(id=name) as rows)
                | ast.comprehension(target=ast.Tuple(), iter=ast.Name(id=name) as rows)
            ) if name in tables:
                found.append(rows)
    # From the end, so that the places before it stay.
    for rows in sorted(found, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        line = lines[rows.lineno - 1]
        before, after = line[: rows.col_offset], line[rows.end_col_offset :]
        lines[rows.lineno - 1] = b"%s[row.values() for row in %s]%s" % (
            before, rows.id.encode(), after
        )  # fmt: skip
    return b"".join(lines).decode()


def _with_imports(code: str, tree: ast.AST) -> str:
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    for node in ast.walk(tree):
        match node:
            case ast.Import() | ast.ImportFrom():
                bound |= {(item.asname or item.name).split(".")[0] for item in node.names}
            case ast.FunctionDef() | ast.ClassDef():
                bound.add(node.name)
            case ast.arg():
                bound.add(node.arg)
    used = {node.id for node in names} - bound
    modules = {
        node.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    lines = [
        f"import {name}" if f"{name}.{name}" in code else f"from {_imports[name]} import {name}"
        for name in sorted(used & _imports.keys())
    ]
    if re.search(r"^import PIL$", code, re.MULTILINE):  # which does not load its modules
        lines += [f"import {name}" for name in sorted({*re.findall(r"\bPIL\.[A-Z]\w+", code)})]
    known = used & modules & {*sys.stdlib_module_names, "jarvis"} - _imports.keys()
    return "\n".join([*(f"import {name}" for name in sorted(known)), *lines, code])


_frame = re.compile(r'File "script[^"]*", line (\d+)[^\n]*\n\s+([^\n]+)')


def explain_error(traceback: str, code: str, names: Sequence[str], brief: str) -> str:
    """Return an error as one or two lines: where it is, what it says, and what would help. `names`
    are those of the given files, which `brief` describes."""
    lines = traceback.strip().splitlines()
    last = one_line(lines[-1] if lines else "", limit=400)
    frames = _frame.findall(traceback)
    where = f"Line {frames[-1][0]}: {one_line(frames[-1][1], limit=160)}\n" if frames else ""
    return f"{where}{last}{_hint(last, where, code, names, brief)}"


def _hint(error: str, where: str, code: str, names: Sequence[str], brief: str) -> str:
    listed = ", ".join(map(one_line, names[:12])) or "none"
    if error.startswith("FileNotFoundError"):
        return f"\nThe files are: {listed}."
    if error.startswith(("ModuleNotFoundError", "ImportError")):
        return f"\n{NO_PACKAGES}"
    if "NoneType" in error and re.search(r"\bre\.(?:search|match|fullmatch)\(|\.group\(", where):
        return "\nNot every line has that: found = re.search(…, line), and go on only if found"
    if "NoneType" in error:
        used = [name for name in _with_empty_cells.findall(brief) if f'"{name}"' in code]
        name = used[0] if used else "x"
        return f'\nEmpty cells of {name} are None. Skip these rows: if row["{name}"] is not None'
    if "is the name of a file: read it first" in error:
        return (
            "\nKeep the largest count in a variable: most = 0, then for each file: if words > most:"
            " most, best = words, name"
        )
    if "jarvis has no group" in error:
        return '\nUse a dict: groups.setdefault(row["x"], []).append(row["y"]) for each row.'
    if "jarvis has no" in error and "date" in error.partition(";")[0]:
        return "\nUse datetime.date.fromisoformat(text); the difference of two has .days."
    if "ANTIALIAS" in error:
        return "\nWrite picture.resize((width, height)) without it."
    if error.startswith("IndexError") and "split" in code:
        return "\nNot all lines have so many parts. Use re.findall or re.search instead."
    if error.startswith("NameError") and (name := re.search(r"'(\w+)'", error)):
        looped = re.search(rf"\bfor\b[^\n]*\b{name[1]}\b[^\n]*\bin\b", code)
        return (
            "\nIts loop found nothing: check the condition."
            if looped
            else "\nGive it a value in a line before."
        )
    if "got 'list'" in error:
        return (
            "\nThat is a list: go through it with for, or use jarvis.read_text for the whole text."
        )
    if "values()" in code and ("'int' and 'str'" in error or "invalid literal" in error):
        columns = ", ".join(number_columns(brief)) or "numbers"
        return f"\nSome values are text. Use only the columns of numbers: {columns}."
    if "could not convert string to float" in error or "invalid literal for int" in error:
        return "\njarvis.read_table returns numbers already; text cells are names or codes."
    if "values to unpack" in error or "no attribute 'items'" in error:
        column = next(iter(column_names(brief)), "column")
        return f'\nA row is a dict: write for row in rows, and row["{column}"] for the {column}.'
    if "'list' object has no attribute" in error or "list indices must be" in error:
        return '\nA table is a list of dicts: for row in rows, then row["column"].'
    if "'str'" in error and ("strftime" in error or "month" in error or "year" in error):
        return '\nDates are text such as "2024-01-31": the month is row["date"][:7].'
    return ""


_with_empty_cells = re.compile(r"^- (.+?): number.*; \d+ cells are empty", re.MULTILINE)
