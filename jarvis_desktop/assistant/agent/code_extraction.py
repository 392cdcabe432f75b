"""Code as text: taken out of an LLM's answer, compared with what a person made of it, shortened."""

from __future__ import annotations

import ast
import difflib
import re
import textwrap

from jarvis_desktop.core.code import LIBRARY, parsed
from jarvis_desktop.core.display import encodable, printable
from jarvis_desktop.core.errors import InputError

MAX_PREVIEW_CHARS = 2_000
"""Characters that a person reads of what a round gave."""

_fenced = re.compile(r"^[ \t]*```[\w+-]*[ \t]*\n(.*?)^[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE)


def clean_code(code: str) -> str:
    """The code of an LLM's answer, without the marks and escapes that LLMs put around it.

    What is Python already stays as it is, but for its line ends. What cannot be made Python is
    given back with its line ends mended alone.
    """
    code = encodable(code).removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    code = f"{code.strip(chr(10)).rstrip()}\n"
    fenced = textwrap.dedent("\n".join(_fenced.findall(code)))
    escaped = code.replace("\\n", "\n").replace('\\"', '"') if code.count("\n") == 1 else ""
    for tried in (code, textwrap.dedent(code), fenced, escaped):
        if tried.strip() and is_python(tried):
            return tried
    return code


def is_python(code: str) -> bool:
    """Whether it has no syntax error."""
    try:
        parsed(code)
    except InputError:
        return False
    return True


def library_imports(code: str) -> tuple[str, ...]:
    """The names that a script takes from the library, in their order; () where it is no Python."""
    try:
        tree = parsed(code)
    except InputError:
        return ()
    aliases: set[str] = set()
    found: dict[str, None] = {}
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(level=0, module=str(module), names=names):
                whole, _, inner = module.partition(".")
                if whole == LIBRARY:
                    found |= dict.fromkeys([inner] if inner else [name.name for name in names])
            case ast.Import(names=names):
                for name in names:
                    whole, _, inner = name.name.partition(".")
                    if whole == LIBRARY:
                        aliases.add(name.asname or whole)
                        found |= {inner: None} if inner else {}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=whole), attr=attribute) if whole in aliases:
                found[attribute] = None
    return tuple(found)


def format_diff(before: str, after: str, *, longest: int = 2000) -> str:
    """What was changed, line by line, as programmers write it."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
    return cut_middle("\n".join(list(lines)[2:]), longest)


def cut_middle(text: str, longest: int) -> str:
    """The text with its middle left out where it is too long: its end often says most."""
    if len(text) <= longest:
        return text
    head = longest // 3
    left_out = len(text) - longest
    return f"{text[:head]}\n[… {left_out} characters left out …]\n{text[-(longest - head) :]}"


def preview(text: str) -> str:
    """What a person reads of what a round gave."""
    return printable(cut_middle(text, MAX_PREVIEW_CHARS))
