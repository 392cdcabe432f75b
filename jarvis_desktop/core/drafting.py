"""The rules for a function of the code library, checked by reading it: nothing of it runs.

Whoever writes one is told all that is wrong at once; the library refuses by the same rules.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator

from jarvis_desktop.core.code import LIBRARY, Draft
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.readable import deception
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr

LONGEST = 60_000
"""Characters of a function's module, and of its tests."""
MOST_PACKAGES = 20

_name = re.compile(r"[a-z][a-z0-9_]{1,59}")
_distribution = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")
_reserved = {LIBRARY, "typeguard", "typing_extensions", *sys.stdlib_module_names}
# Windows takes these for devices.
_reserved |= {
    "con",
    "prn",
    "aux",
    "nul",
    *(f"{port}{n}" for port in ("com", "lpt") for n in "123456789"),
}
_definitions = (
    *(ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
    *(ast.Assign, ast.AnnAssign, ast.Pass),
)
_parsing = threading.Lock()


def parsed(source: str, what: str = "The code") -> ast.Module:
    """The syntax tree of a source. Raises InputError, with the line, where it is no Python."""
    try:
        # A "\d" in a text is worth a warning to whoever wrote it, but not one in our own output.
        with _parsing, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
            compile(tree, "code", "exec", dont_inherit=True)  # knows of a "return" outside, too
            return tree
    except SyntaxError as error:
        where = f" in line {error.lineno}" if error.lineno else ""
        line = one_line(error.text or "", limit=200).strip()
        raise InputError(
            tr(
                "{what} is no valid Python{where}: {msg}.",
                what=what,
                where=where,
                msg=one_line(str(error.msg), limit=200),
            ),
            hint=tr("The line is: {line}", line=line) if line else "",
        ) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputError(tr("{what} is no text that Python can read.", what=what)) from error


def objections(draft: Draft) -> tuple[str, ...]:
    """What keeps a draft out of the library, a sentence each; () where nothing does."""
    return (
        *_about_name(draft.name),
        *_about_source(draft),
        *about_tests(draft.tests),
        *_about_packages(draft.packages),
    )


def described(draft: Draft) -> tuple[str, str]:
    """The signature and the first line of the docstring of a draft's function.

    Raises InputError where it has none of that name.
    """
    function = _functions(parsed(draft.source)).get(draft.name)
    if function is None:
        raise InputError(tr("The code has no function {name}.", name=one_line(draft.name)))
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    words = (ast.get_docstring(function) or "").strip()
    signature = f"{function.name}({ast.unparse(function.args)}){returns}"
    return signature, one_line(words.split("\n\n")[0], limit=200)


def cases_in(source: str) -> tuple[str, ...]:
    """The names of the test functions of a module, in their order. Raises InputError."""
    tree = parsed(source, "The tests' code")
    return tuple(name for name in _functions(tree) if name.startswith("test_"))


def about_tests(source: str) -> Iterator[str]:
    """What is wrong with the tests of a function, a sentence each; none at all are well."""
    if not source.strip():
        return
    if len(source) > LONGEST:
        yield f"The tests are longer than {LONGEST} characters."
        return
    if hidden := deception(source):
        yield f"The tests' code {hidden}"
        return
    try:
        tree = parsed(source, "The tests' code")
    except InputError as error:
        yield str(error)
        return
    tests = {name: node for name, node in _functions(tree).items() if name.startswith("test_")}
    if not tests:
        yield "The tests have no function “def test_…()”."
    for name, test in tests.items():
        if len(test.args.posonlyargs) + len(test.args.args) > len(test.args.defaults):
            yield f"{name} takes arguments: a test is called without any."
    for node in tree.body:
        if isinstance(node, ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield f"{node.name} is “async”: a test is a plain function."
    for doing in _doing(tree.body):
        yield f"Line {doing.lineno} of the tests stands outside of a test function."


def _about_name(name: str) -> Iterator[str]:
    shown = one_line(name, limit=60)
    if not _name.fullmatch(name):
        yield (
            f"“{shown}” will not do as a name: take small letters, digits and _, "
            "such as download_prices."
        )
    elif keyword.iskeyword(name) or hasattr(builtins, name) or name in _reserved:
        yield f"“{shown}” is a name that Python or the library uses itself: take another one."
    elif name.startswith("test"):
        yield f"“{shown}” sounds like a test: take a name that does not begin with “test”."


def _about_source(draft: Draft) -> Iterator[str]:
    if len(draft.source) > LONGEST:
        yield f"The code is longer than {LONGEST} characters: part it into several functions."
        return
    if hidden := deception(draft.source):
        yield f"The code {hidden}"
        return
    try:
        tree = parsed(draft.source)
    except InputError as error:
        yield str(error)
        return
    function = _functions(tree).get(draft.name)
    if function is None:
        yield f"The code has no “def {one_line(draft.name, limit=60)}(…)” at its top level."
    else:
        yield from _about_function(function)
        if _bindings(tree.body).count(draft.name) > 1:
            yield f"{draft.name} is given a value more than once: define it once."
    for node in _doing(tree.body):
        yield (
            f"Line {node.lineno} does something when the code is imported: only imports, "
            "definitions and constants may stand outside of functions."
        )
    if draft.name in _from_library(tree):
        yield f"The code imports {draft.name} from the library, that is, itself."


def _about_function(function: ast.FunctionDef) -> Iterator[str]:
    name = function.name
    if not (ast.get_docstring(function) or "").strip():
        yield f"{name} has no docstring: say in its first line what it does."
    args = function.args
    all_args = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
    bare = [arg.arg for arg in all_args if arg is not None and arg.annotation is None]
    if bare:
        yield f"{name} has arguments without a type: {', '.join(bare)}."
    if function.returns is None:
        yield f"{name} does not say what type it returns."


def _about_packages(packages: Iterable[str]) -> Iterator[str]:
    packages = tuple(packages)
    if len(packages) > MOST_PACKAGES:
        yield f"A function may need {MOST_PACKAGES} packages at most."
    for name in packages[:MOST_PACKAGES]:
        if not _distribution.fullmatch(name):
            yield f"“{one_line(name, limit=60)}” is no name of a package."


def _functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def _doing(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module that are neither imports, definitions nor constants."""
    for node in body:
        match node:
            case ast.Expr(value=ast.Constant()):  # a docstring
                continue
            case ast.If():
                yield from _doing([*node.body, *node.orelse])
            case ast.Try():
                handled = [inner for handler in node.handlers for inner in handler.body]
                yield from _doing([*node.body, *handled, *node.orelse, *node.finalbody])
            case _ if not isinstance(node, _definitions):
                yield node


def _bindings(body: Iterable[ast.stmt]) -> list[str]:
    """The names that statements of a module give values to, each as often as they do."""
    found: list[str] = []
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.append(node.name)
                inner = (item for item in ast.walk(node) if isinstance(item, ast.Global))
                found += [name for item in inner for name in item.names]
            case ast.Import() | ast.ImportFrom():
                found += [(item.asname or item.name).split(".")[0] for item in node.names]
            case ast.If() | ast.Try():
                found += _bindings(item for item in ast.iter_child_nodes(node)
                                   if isinstance(item, ast.stmt))  # fmt: skip
                handlers = getattr(node, "handlers", ())
                found += [name for item in handlers for name in _bindings(item.body)]
            case _:
                names = (item for item in ast.walk(node) if isinstance(item, ast.Name))
                found += [item.id for item in names if not isinstance(item.ctx, ast.Load)]
    return found


def _from_library(tree: ast.Module) -> set[str]:
    return {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        if not node.level and (node.module or "").split(".")[0] == LIBRARY
        for alias in node.names
    }
