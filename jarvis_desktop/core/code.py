"""Code that an LLM wrote: its sandbox, the user's verdict, the code library and its rules.

The rules for a library function are checked by reading the code: nothing is run. All violations are
reported at once, to the LLM as well as by the library. Because the user approves what they see,
code with hidden characters is refused.
"""

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
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.display import one_line, printable
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Arg

LIBRARY = "library"
"""The name by which scripts import the code library: `from library import download_prices`."""


@dataclass(frozen=True, slots=True)
class Script:
    """A Python script. The user approves its hash, so that nothing else can run."""

    source: str

    @property
    def sha256(self) -> str:
        """The hash of its UTF-8 bytes."""
        return hashlib.sha256(self.source.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True, slots=True)
class Protection:
    """What isolates a script from the rest of the computer."""

    name: str
    """ "bubblewrap", "Landlock", "sandbox-exec", "AppContainer", or "none"."""
    sandboxed: bool
    why: str = ""
    """For "none": the reason and a remedy. Otherwise what a stronger sandbox would need."""


class Ending(StrEnum):
    """How a run ended."""

    DONE = "done"
    ERROR = "error"
    """The script raised."""
    TIMEOUT = "timeout"
    MEMORY = "memory"
    LIMIT = "limit"
    """It wrote too much, or started too many processes."""
    CRASHED = "crashed"
    """Its process crashed or exited."""


@dataclass(frozen=True, slots=True)
class CodeOutcome:
    """The outcome of a run. Everything in it comes from the script, so it is data."""

    ending: Ending
    printed: str = ""
    """Its output, both streams in order; cut in the middle if long."""
    value: str = ""
    """The repr of its last expression; "" for None."""
    error: str = ""
    """The traceback from the script's first line on, or a sentence for the other endings."""
    missing: str = ""
    """The module that it could not import because it is not installed."""
    made: tuple[Artifact, ...] = ()
    """New or changed files, figures and tables: copies in the given folder."""
    left_out: tuple[str, ...] = ()
    """Files that were not copied, a sentence each: a link, a device, too large."""
    refused_hosts: tuple[str, ...] = ()
    """Hosts that it tried to reach without permission, as HOST:PORT."""
    fresh: bool = True
    """Whether the session started with this run, without variables of earlier runs."""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ExpertCall:
    """A task that a script wants to have done by an expert. Everything in it is untrusted."""

    task: str
    """What may be the name of a task type."""
    args: Mapping[str, Arg]
    """Texts, numbers, and copies of files by what may be the names of ports and options."""


CallExpert = Callable[[ExpertCall], Awaitable[Sequence[Artifact]]]
"""Does such a task and returns its results, texts and files. Raises JarvisError if it cannot."""


class CodeSession(Protocol):
    """A Python interpreter in a sandbox that keeps its variables between scripts."""

    async def run(
        self,
        script: Script,
        *,
        approved: str,
        to: Path,
        timeout: float,
        report: Callable[[str], None],
        call: CallExpert | None = None,
    ) -> CodeOutcome:
        """Run a script and copy the files that it makes into the folder `to`.

        `approved` is the hash that the user approved: if the script has another, InputError is
        raised and nothing runs. `report` receives the output as it is printed. `timeout` is in
        seconds, without those in which experts work for the script; `call` has them do it, and
        gets copies of the script's files in `to`. Raises UnavailableError if the sandbox is gone,
        ExpertError if its process cannot start. Cancelling kills everything that the script
        started, within a second.
        """

    async def close(self) -> None:
        """End the session and all its processes."""


class Sandbox(Protocol):
    """Where code runs, isolated from the computer and the network."""

    async def protection(self) -> Protection:
        """Return the best protection available here. It is tried out once."""

    def session(
        self,
        folder: Path,
        *,
        protection: Protection,
        files: Mapping[str, Path],
        hosts: Collection[str] = (),
        library: Path | None = None,
    ) -> CodeSession:
        """Return a session that works in `folder`, its own, which stays. It starts at its first
        run.

        `files` are copied in under these names; files added to the mapping later follow before the
        next run. `hosts` (HOST or HOST:PORT) are the only ones it can reach, through our proxy.
        `library` is a folder with the package `library`. With the protection "none" no variables
        are kept between runs.
        """


class Packages(Protocol):
    """The Python packages that scripts may use, in their own environment."""

    def missing(self, source: str) -> Sequence[str]:
        """Return the distributions that a script's imports need, as far as known."""

    async def install(self, names: Sequence[str], report: Callable[[str], None]) -> None:
        """Install packages. Raises InputError for an invalid name, UnavailableError with the
        reason.

        No code of a package runs during installation. Cancelling stops it.
        """


class Allow(StrEnum):
    """The user's answer to code."""

    ONCE = "once"
    GOAL = "goal"
    """This script and later ones for the same goal."""
    NO = "no"


@dataclass(frozen=True, slots=True)
class CodeRequest:
    """Code that the user is asked about."""

    source: str
    purpose: str
    """One sentence, written by the LLM."""
    protection: Protection
    hosts: tuple[str, ...] = ()
    """Hosts that it may reach."""
    saves: str = ""
    """The name under which the library would save this function; "" if it is to run."""
    tests: str = ""
    """The result of the function's tests."""
    replaces: str = ""
    """The source of the function that it would replace."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The user's answer to a code request."""

    allow: Allow
    source: str
    """The code that may run: as shown, or as edited by the user."""
    comment: str = ""
    """A comment for the coder."""


@dataclass(frozen=True, slots=True)
class FunctionDraft:
    """A function before it is in the library, to be imported by its name."""

    name: str
    source: str
    """A module that defines it, with imports, types and docstring."""
    tests: str = ""
    """A module of functions `test_...` that imports it from the library."""
    packages: tuple[str, ...] = ()
    """Distributions that it needs."""

    @property
    def sha256(self) -> str:
        """The hash of all of it, which is what the user approves."""
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
    """How often a script has imported it."""

    @property
    def name(self) -> str:
        """The name to import it by."""
        return self.draft.name


class Library(Protocol):
    """Tested and approved functions. A function that was changed on the disk is refused."""

    def list(self) -> Sequence[Function]:
        """Return all functions by name, without changed ones, which `damaged` reports."""

    def search(self, words: str, most: int) -> Sequence[Function]:
        """Return at most `most` functions, the nearest in meaning first."""

    def get(self, name: str) -> Function:
        """Return a function. Raises InputError if it does not exist, StorageError if it was
        changed."""

    def versions(self, name: str) -> Sequence[Function]:
        """Return all approved versions of a function, the newest first."""

    def save(self, draft: FunctionDraft, *, approved: str) -> Function:
        """Save a function, as the next version if the name exists.

        `approved` is the hash of the approved draft. Raises InputError if it is another, or if the
        name, syntax or size is not acceptable.
        """

    def used(self, names: Collection[str]) -> None:
        """Count one use of each."""

    def remove(self, name: str) -> None:
        """Remove a function with all versions. Raises InputError if it does not exist."""

    def lay_out(self, to: Path) -> Sequence[str]:
        """Write the package `library` into a folder from verified bytes. Return what was refused, a
        sentence each."""

    def damaged(self) -> Sequence[str]:
        """Return what is refused now, a sentence each."""


def deception(source: str) -> str:
    """Return how a source differs from what the user sees, as the end of a sentence; "" if not.

    Direction marks reorder words, a lone carriage return hides the line before it, and a declared
    encoding gives the same bytes another meaning.
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
# Device names on Windows.
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
    """Parse a source. Raises InputError with the line if it is not valid Python."""
    try:
        # An invalid escape such as "\d" warns, which must not appear in our own output.
        with _parsing, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
            compile(tree, "code", "exec", dont_inherit=True)  # finds a stray "return"
            return tree
    except SyntaxError as error:
        where = f" in line {error.lineno}" if error.lineno else ""
        line = one_line(error.text or "", limit=200).strip()
        raise InputError(
            tr(
                "{what} is not valid Python{where}: {msg}.",
                what=what,
                where=where,
                msg=one_line(str(error.msg), limit=200),
            ),
            hint=tr("The line is: {line}", line=line) if line else "",
        ) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputError(tr("{what} cannot be read by Python.", what=what)) from error


def objections(draft: FunctionDraft) -> tuple[str, ...]:
    """Return what keeps a draft out of the library, a sentence each."""
    return (
        *_about_name(draft.name),
        *_about_source(draft),
        *about_tests(draft.tests),
        *_about_packages(draft.packages),
    )


def described(draft: FunctionDraft) -> tuple[str, str]:
    """Return the signature of a draft's function and the first line of its docstring.

    Raises InputError if it has no function of that name.
    """
    function = _functions(parsed(draft.source)).get(draft.name)
    if function is None:
        raise InputError(tr("The code has no function {name}.", name=one_line(draft.name)))
    returns = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    words = (ast.get_docstring(function) or "").strip()
    signature = f"{function.name}({ast.unparse(function.args)}){returns}"
    return signature, one_line(words.split("\n\n")[0], limit=200)


def cases_in(source: str) -> tuple[str, ...]:
    """Return the names of a module's test functions in order. Raises InputError."""
    tree = parsed(source, "The tests' code")
    return tuple(name for name in _functions(tree) if name.startswith("test_"))


def about_tests(source: str) -> Iterator[str]:
    """Yield what is wrong with a function's tests, a sentence each. No tests are fine."""
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
        yield f"Line {doing.lineno} of the tests is outside of a test function."


def _about_name(name: str) -> Iterator[str]:
    shown = one_line(name, limit=60)
    if not _name.fullmatch(name):
        yield (
            f"“{shown}” is not a valid name: use lower-case letters, digits and _, "
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
            yield f"“{one_line(name, limit=60)}” is not a valid package name."


def _functions(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}


def _doing(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a module that are neither imports, definitions nor constants."""
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
    """Return the names that a module's statements assign, once per assignment."""
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
