"""Code that an LLM wrote: what runs it, what a person says to it, the library of what is kept.

The rules for a function of the code library, checked by reading it: nothing of it runs.

Whoever writes one is told all that is wrong at once; the library refuses by the same rules.

Whether code is what it looks like: a person agrees to what can be seen."""

from __future__ import annotations

import ast
import builtins
import hashlib
import io
import keyword
import re
import sys
import threading
import tokenize
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.display import one_line, printable
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr

LIBRARY = "library"
"""The name by which scripts import the code library: `from library import download_prices`."""


@dataclass(frozen=True, slots=True)
class Script:
    """A Python script. What was agreed to is known by its hash, so that nothing else can run."""

    source: str

    @property
    def sha256(self) -> str:
        """Of its bytes in UTF-8."""
        return hashlib.sha256(self.source.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Protection:
    """What keeps a script from the rest of the computer."""

    name: str
    """"bubblewrap", "Landlock", "sandbox-exec", "AppContainer"; "none" where there is nothing."""
    sandboxed: bool
    why: str = ""
    """Where it is "none": the reason, and what would help; else what a stronger one would need."""


class Ending(StrEnum):
    """How a run ended."""

    DONE = "done"
    ERROR = "error"
    """The script raised."""
    TIMEOUT = "timeout"
    MEMORY = "memory"
    LIMIT = "limit"
    """It wrote too much, or began too many processes."""
    CRASHED = "crashed"
    """Its process ended of itself."""


@dataclass(frozen=True, slots=True)
class CodeOutcome:
    """What came of a run. All of it is the script's own word, that is, data."""

    ending: Ending
    printed: str = ""
    """What it wrote, both streams in order; cut in the middle where that was much."""
    value: str = ""
    """The value of its last expression, as Python writes it; "" for None."""
    error: str = ""
    """The traceback, from the script's first line on, or a sentence for the other endings."""
    missing: str = ""
    """The module it could not import because it is not installed."""
    made: tuple[Artifact, ...] = ()
    """The files that are new or changed, figures and tables: copies in the folder given."""
    left_out: tuple[str, ...] = ()
    """What was not taken of what it left, a sentence each: a link, a device, too large."""
    refused_hosts: tuple[str, ...] = ()
    """Hosts that it wanted to reach and may not, as HOST:PORT."""
    fresh: bool = True
    """Whether the session began with this run, so that no variable of earlier ones was there."""
    seconds: float = 0.0


class CodeSession(Protocol):
    """A Python that keeps its variables from script to script, in a sandbox."""

    async def run(
        self,
        script: Script,
        *,
        approved: str,
        to: Path,
        timeout: float,
        report: Callable[[str], None],
    ) -> CodeOutcome:
        """Run a script; what it makes is copied into the folder `to`.

        `approved` is the hash of what was agreed to: raises InputError where the script is another
        one, and nothing runs. `report` is told what it prints as it does. `timeout` in seconds.
        Raises UnavailableError where there is no sandbox any more, ExpertError where its process
        cannot be started. Cancelling kills all that the script began, within a second.
        """
        ...

    async def close(self) -> None:
        """End the session and all its processes."""
        ...


class Sandbox(Protocol):
    """Where code runs, shut off from the computer and from the network."""

    async def protection(self) -> Protection:
        """The best there is here, found by trying it; the answer is kept."""
        ...

    def session(
        self,
        folder: Path,
        *,
        protection: Protection,
        files: Mapping[str, Path],
        hosts: Collection[str] = (),
        library: Path | None = None,
    ) -> CodeSession:
        """A session that works in `folder`, which is its own and stays; begun at its first run.

        `files` are copied in, under these names; those that are added to the mapping later, before
        the next run. `hosts` (HOST or HOST:PORT) are the only ones it reaches, through a proxy of
        ours. `library` is a folder that holds the package `library`. With a protection that is
        "none" no variable is kept from run to run.
        """
        ...


class Packages(Protocol):
    """The Python packages that scripts may use: an environment of their own."""

    def missing(self, source: str) -> Sequence[str]:
        """The distributions to install so that a script's imports are found, as far as known."""
        ...

    async def install(self, names: Sequence[str], report: Callable[[str], None]) -> None:
        """Install them. Raises InputError for what is no package name, UnavailableError with the
        reason. Nothing of a package runs while it is installed. Cancelling stops it."""
        ...


class Allow(StrEnum):
    """What a person says to code."""

    ONCE = "once"
    GOAL = "goal"
    """This, and what follows for the same goal."""
    NO = "no"


@dataclass(frozen=True, slots=True)
class CodeRequest:
    """Code that a person is asked about."""

    source: str
    purpose: str
    """In a sentence, in the LLM's words."""
    protection: Protection
    hosts: tuple[str, ...] = ()
    """What it may reach."""
    saves: str = ""
    """The name of the library's function that this would be kept as; "" where it is to run."""
    tests: str = ""
    """How its tests went, for a function."""
    replaces: str = ""
    """The source of the function that it would take the place of."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to it."""

    allow: Allow
    source: str
    """The code as it may run: as it was shown, or as the person edited it."""
    comment: str = ""
    """What the coder is to know."""


@dataclass(frozen=True, slots=True)
class FunctionDraft:
    """A function before it is in the library: one that may be imported by its name."""

    name: str
    source: str
    """A module that defines it, with its imports, types and docstring."""
    tests: str = ""
    """A module of functions `test_...`, which imports it from the library."""
    packages: tuple[str, ...] = ()
    """Distributions it needs."""

    @property
    def sha256(self) -> str:
        """Of all of it: what a person agrees to."""
        parts = (self.name, self.source, self.tests, *sorted(self.packages))
        whole = "\0".join(str(len(part)) + "\0" + part for part in parts)
        return hashlib.sha256(whole.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the library."""

    draft: FunctionDraft
    signature: str
    """`download_prices(symbol: str, days: int = 30) -> pandas.DataFrame`"""
    summary: str
    """The first line of its docstring."""
    version: int
    approved: datetime
    used: int = 0
    """How often a script imported it."""

    @property
    def name(self) -> str:
        """Under which it is imported."""
        return self.draft.name


class Library(Protocol):
    """Functions that were tested and agreed to. What was changed behind its back is refused."""

    def list(self) -> Sequence[Function]:
        """All, by name. Those whose files were changed are left out; `damaged` tells them."""
        ...

    def search(self, words: str, most: int) -> Sequence[Function]:
        """Those nearest in meaning to the words, the nearest first."""
        ...

    def get(self, name: str) -> Function:
        """One. Raises InputError where there is none, StorageError where it was changed."""
        ...

    def versions(self, name: str) -> Sequence[Function]:
        """All that were ever agreed to of that name, the newest first."""
        ...

    def save(self, draft: FunctionDraft, *, approved: str) -> Function:
        """Keep a function, as the next version where there is one of that name.

        `approved` is the hash of the draft that was agreed to. Raises InputError where it is
        another one, or where the name, the syntax or the size will not do.
        """
        ...

    def used(self, names: Collection[str]) -> None:
        """Count a use of each."""
        ...

    def remove(self, name: str) -> None:
        """Remove one with all its versions. Raises InputError where there is none."""
        ...

    def lay_out(self, to: Path) -> Sequence[str]:
        """Write the package `library` into a folder, from checked bytes; gives what was refused,
        a sentence each."""
        ...

    def damaged(self) -> Sequence[str]:
        """What is refused now, a sentence each."""
        ...


def deception(source: str) -> str:
    """What in a source is not what a person sees, as the end of a sentence about it; "" if all is.

    A direction mark turns words round, a lone carriage return hides the line before it, and a
    named encoding makes other letters of the same bytes.
    """
    lines = source.replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        if unseen := [letter for letter, seen in zip(line, printable(line), strict=True)
                      if letter != seen or letter == "\ufeff"]:  # fmt: skip
            return f"has a character in line {number} that cannot be seen: U+{ord(unseen[0]):04X}."
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source.encode()).readline)
    except SyntaxError:
        encoding = ""
    return "" if encoding == "utf-8" else "names an encoding: it is always UTF-8."


MAX_CODE_CHARS = 60_000
"""Characters of a function's module, and of its tests."""
MAX_PACKAGES = 20

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


def objections(draft: FunctionDraft) -> tuple[str, ...]:
    """What keeps a draft out of the library, a sentence each; () where nothing does."""
    return (
        *_about_name(draft.name),
        *_about_source(draft),
        *about_tests(draft.tests),
        *_about_packages(draft.packages),
    )


def described(draft: FunctionDraft) -> tuple[str, str]:
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
    if len(source) > MAX_CODE_CHARS:
        yield f"The tests are longer than {MAX_CODE_CHARS} characters."
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


def _about_source(draft: FunctionDraft) -> Iterator[str]:
    if len(draft.source) > MAX_CODE_CHARS:
        yield f"The code is longer than {MAX_CODE_CHARS} characters: split it into functions."
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
    if len(packages) > MAX_PACKAGES:
        yield f"A function may need {MAX_PACKAGES} packages at most."
    for name in packages[:MAX_PACKAGES]:
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
