"""Finds stilted English: forms that the word list in CONTRIBUTING replaces.

    .venv/bin/python -m tests.english_forms [FOLDER ...]

Prints each hit as `file:line: kind: form: text`, and the share of each kind that has one.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FORMS = re.compile(
    r"""
    \bthe\ person(?:'s)?\b | \ba\ person(?:'s)?\b | \bpeople\ who\b
    | \banew\b | \bmeanwhile\b | \bfor\ want\ of\b | \bin\ vain\b | \bforthwith\b
    | \bwhere\ (?:there|it|they|he|she|one|none|nobody|nothing|somebody|someone)\b
    | \bwhere\ (?:this|that|no|not|a|an)\b
    | \bwhat\ (?:came|comes|becomes|became|lies|stands|remains|belongs)\b
    | \b(?:tells?|telling|told)\ (?:of|what|that|how|whether|whoever|apart|by|as|to|at|once)\b
    | \b(?:is|are|was|were|be|been|being|gets?)\ told\b
    | \b(?:lies?|lay|lying|stands?|stood|standing)\ (?:in|on|at|t?here|beside|below|above)\b
    | \bso\ many\b | \bbut\ for\b | \bof\ (?:its|their|one's)\ own\b | \bof\ ours\b
    | (?<!there\ )(?<!There\ )\b(?:is|are|was|were)\ (?:no|none)\b(?!\ (?:longer|more|such))
    | \b(?:go|goes|going|gone|went)\ on\ with\b | \blook(?:s|ed|ing)?\ over\b
    | \b(?:let|lets|letting)\ go\b | \bsees?\ to\ it\b | \bseeing\ to\b
    | \bhas\ (?:been\ )?begun\b | \bis\ begun\b | \bnever\ begun\b | \bbegun\ with\b
    | \bone\ after\ the\ other\b | \bever\ so\b | \bhad\ better\b | \bin\ its\ stead\b
    | \bwho(?:m)?ever\b | \b(?:where)?upon\b | \btherein\b | \bthereof\b | \bthereby\b
    | \bas\ (?:it|they)\ (?:comes?|stands?|lies?)\b | \bof\ late\b | \bby\ itself\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
SHOWN = {"tr", "trn", "mark"}
MAX_SHARE = 0.01
"""Some hits are good English ("return None where it was found")."""


class Text(NamedTuple):
    """A piece of English in the code."""

    path: Path
    line: int
    kind: str
    words: str


def texts(path: Path) -> Iterator[Text]:
    """The docstrings, comments, texts that users see and help of options in a module."""
    source = path.read_text("utf-8")
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            # The text below an attribute describes it as well.
            if isinstance(node.value.value, str):
                yield Text(path, node.lineno, "docstring", node.value.value)
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else None
            name = node.func.id if isinstance(node.func, ast.Name) else name
            given = [*node.args] if name in SHOWN else []
            given += [item.value for item in node.keywords if item.arg in {"help", "description"}]
            for value in given:
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield Text(path, value.lineno, "shown", value.value)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield Text(path, token.start[0], "comment", token.string)


@cache
def all_texts(*folders: Path) -> tuple[Text, ...]:
    """Every text below some folders, or in some files."""
    files = [
        path
        for folder in folders
        for path in (sorted(folder.rglob("*.py")) if folder.is_dir() else [folder])
    ]
    return tuple(text for path in files for text in texts(path))


def stilted(text: Text) -> str | None:
    """The first form of the list in a text."""
    found = FORMS.search(re.sub(r"\s+", " ", text.words))
    return found and found[0]


def main(folders: list[str]) -> None:
    """Print what is found."""
    total: dict[str, int] = {}
    hits: dict[str, int] = {}
    for text in all_texts(*[Path(folder) for folder in folders] or [ROOT / "jarvis_desktop"]):
        total[text.kind] = total.get(text.kind, 0) + 1
        if form := stilted(text):
            hits[text.kind] = hits.get(text.kind, 0) + 1
            line = re.sub(r"\s+", " ", text.words).strip()
            print(f"{text.path}:{text.line}: {text.kind}: [{form}] {line[:160]}")
    for kind, number in total.items():
        count = hits.get(kind, 0)
        print(f"{kind:<10} {count} of {number}: {100 * count / number:.1f} %")


if __name__ == "__main__":
    main(sys.argv[1:])
