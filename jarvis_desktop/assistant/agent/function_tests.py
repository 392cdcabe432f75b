"""Test library functions: write the test script, run it in its own session, and read the results.

The user sees the script before it runs and may change it, so it contains the function and its tests
as they are. typeguard checks types while the tests run.
"""

from __future__ import annotations

import ast
import asyncio
import importlib.util
import shutil
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from jarvis_desktop.assistant.agent.branches import run_code
from jarvis_desktop.assistant.agent.code_session import CodeWorkspaces
from jarvis_desktop.assistant.prompts import cut_middle
from jarvis_desktop.core.code import (
    CodeOutcome,
    Ending,
    Function,
    FunctionDraft,
    Sandbox,
    Script,
    cases_in,
    parsed,
)
from jarvis_desktop.core.display import one_line, printable
from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.ports import ArtifactStore

FUNCTION, TESTS, EARLIER_TESTS = "FUNCTION", "TESTS", "EARLIER_TESTS"
MAX_TRACEBACKS = 3
MAX_TRACEBACK_CHARS = 1200

USER_TESTS_HEADING = "# Tests that the person gave"
"""Tests after this line are kept, whatever an LLM makes of the rest."""

_harness = '''
import importlib
import linecache
import pathlib
import reprlib
import sys
import traceback
import types

import typeguard

sys.dont_write_bytecode = True
typeguard.config.collection_check_strategy = typeguard.CollectionCheckStrategy.ALL_ITEMS
typeguard.config.forward_ref_policy = typeguard.ForwardRefPolicy.IGNORE
results = []


def attempt(label, work):
    """Do one thing and note how it went."""
    try:
        work()
    except BaseException as error:
        results.append((label, describe_error(error)))
        print("FAILED", label)
    else:
        results.append((label, ""))
        print("passed", label)


def describe_error(error):
    """The traceback from the code under test on, with the values at its last line."""
    steps = traceback.extract_tb(error.__traceback__)
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    own = [step for step in steps if step.filename in ours or "library" in step.filename]
    lines = traceback.format_list(own) + traceback.format_exception_only(error)
    if place is not None and place.tb_frame.f_code.co_filename in ours:
        names = {k: v for k, v in place.tb_frame.f_locals.items() if not k.startswith("__")}
        if place.tb_frame.f_code.co_name != "<module>" and names:
            values = ", ".join(f"{k} = {reprlib.repr(v)}" for k, v in names.items())
            lines.append(f"with {values}\\n")
    failed = sum(1 for result in results if result[1])
    return "".join(lines)[-2000 if failed < 5 else -100 :]


def load():
    """Import the function as the library will give it, with its types checked."""
    folder = pathlib.Path("under_test")
    folder.mkdir(exist_ok=True)
    path = folder.resolve() / f"draft_{NAME}.py"
    path.write_text(FUNCTION.lstrip("\\n"), encoding="utf-8")
    ours.add(str(path))
    sys.path.insert(0, str(path.parent))
    importlib.invalidate_caches()
    typeguard.install_import_hook([path.stem])
    module = importlib.import_module(path.stem)
    try:
        import library
    except ImportError:
        library = sys.modules["library"] = types.ModuleType("library")
    setattr(library, NAME, getattr(module, NAME))
    sys.modules[f"library.{NAME}"] = module


def run_tests(label, source):
    """Run each test function of a module by itself."""
    source = source.lstrip("\\n")
    filename = f"<{label.strip() or 'tests'}>"
    ours.add(filename)
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    tests = {"__name__": "tests", NAME: getattr(sys.modules["library"], NAME)}
    try:
        exec(compile(source, filename, "exec", dont_inherit=True), tests)
    except BaseException as error:
        results.append((f"{label}the tests are read", describe_error(error)))
        return
    for name, test in list(tests.items()):
        if name.startswith("test_") and callable(test):
            attempt(label + name, test)


ours = set()
attempt("the function is imported", load)
if not results[0][1]:
    run_tests("", TESTS)
    run_tests("earlier ", EARLIER_TESTS)
results
'''


@dataclass(frozen=True, slots=True)
class FunctionTestReport:
    """How the tests of a function went. Its texts are the script's own words."""

    passed: bool
    summary: str
    """One line per test."""
    failures: str = ""
    """The first tracebacks, or how the whole script ended."""

    @property
    def text(self) -> str:
        """All of it."""
        return f"{self.summary}\n{self.failures}".strip()


def write_script(draft: FunctionDraft, earlier: str) -> str:
    """Return the test script; `earlier` holds the tests of the version that it replaces."""
    parts = (
        f'"""Tests {draft.name}: each test by itself, with the types checked."""\n',
        f"NAME = {draft.name!r}\n",
        f"{FUNCTION} = {_quoted(draft.source)}\n",
        f"{TESTS} = {_quoted(draft.tests)}\n",
        f"{EARLIER_TESTS} = {_quoted(earlier)}\n",
    )
    return "\n".join(parts) + _harness


def read_script(script: str, draft: FunctionDraft) -> tuple[FunctionDraft, str] | None:
    """Return the draft and the earlier tests in a script that the user changed. None if they can no
    longer be found."""
    try:
        tree = parsed(script)
    except InputError:
        return None
    found: dict[str, str] = {}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(value))):
                found.setdefault(name, value.strip("\n") + "\n")
    if not {FUNCTION, TESTS, EARLIER_TESTS} <= found.keys():
        return None
    return replace(draft, source=found[FUNCTION], tests=found[TESTS]), found[EARLIER_TESTS]


def parse_report(outcome: CodeOutcome, expected: Sequence[str], ending: str) -> FunctionTestReport:
    """Read the outcome of the script. All of `expected` must have passed, and nothing failed.
    `ending` says in a sentence how it ended."""
    results = _results(outcome.value) if outcome.ending is Ending.DONE else None
    if results is None:
        said = printable(f"{ending}\n{outcome.printed}\n{outcome.error}").strip()
        return FunctionTestReport(
            False, "The tests did not run to their end.", cut_middle(said, 3000)
        )
    failed = {label: error for label, error in results.items() if error}
    absent = [name for name in expected if name not in results]
    count = len(results) - len(failed)
    summary = [f"{count} of {len(results) + len(absent)} passed."]
    summary += [f"{'FAILED' if label in failed else 'passed'} {label}" for label in results]
    summary += [f"NOT RUN {name}" for name in absent]
    tracebacks = [
        f"{label}:\n{cut_middle(error, MAX_TRACEBACK_CHARS)}"
        for label, error in list(failed.items())[:MAX_TRACEBACKS]
    ]
    return FunctionTestReport(not failed and not absent, "\n".join(summary), "\n".join(tracebacks))


def join_tests(tests: str, persons: str) -> str:
    """Return an LLM's tests, followed by those of the user."""
    own = tests.partition(USER_TESTS_HEADING)[0].rstrip()
    return (
        f"{own}\n\n\n{USER_TESTS_HEADING}\n{persons.strip()}\n" if persons.strip() else f"{own}\n"
    )


def user_tests(tests: str) -> str:
    """Return the user's part of a function's tests."""
    return tests.partition(USER_TESTS_HEADING)[2].strip()


def _results(value: str) -> dict[str, str] | None:
    try:
        listed = ast.literal_eval(value)
        if not isinstance(listed, list):
            return None
        pairs = (
            (one_line(str(label), limit=120), printable(str(error))) for label, error in listed
        )
        return dict(pairs) or None
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None


def _quoted(source: str) -> str:
    """Return the source as a readable Python literal."""
    for mark in ("'''", '"""'):
        if mark not in source:
            return f"r{mark}\n{source.rstrip()}\n{mark}"
    lines = "\n".join(f"    {line!r}" for line in source.splitlines(keepends=True))
    return f"(\n{lines}\n)"


TYPE_CHECKERS = ("typeguard", "typing_extensions")
"""What checks types while tests run: plain Python, copied beside the library."""


@dataclass(frozen=True, slots=True)
class FunctionTester:
    """Runs test scripts."""

    workshop: CodeWorkspaces
    store: ArtifactStore
    timeout: float = 60.0
    """Seconds for all tests of a function together."""

    async def run(
        self,
        script: Script,
        draft: FunctionDraft,
        earlier: str,
        *,
        approved: str,
        hosts: Collection[str],
        report: Callable[[str], None],
    ) -> FunctionTestReport:
        """Run the tests of a draft, and those of the version that it replaces. `hosts` are what
        they may reach. Raises JarvisError if they could not run at all."""
        folder = await asyncio.to_thread(self.store.workdir)
        try:
            outcome = await self._outcome(script, approved, folder, hosts, report)
        finally:
            await asyncio.to_thread(self.store.discard, folder)
        expected = [*cases_in(draft.tests), *(f"earlier {name}" for name in cases_in(earlier))]
        return parse_report(outcome, expected, run_code.describe_ending(outcome, self.timeout))

    async def _outcome(
        self,
        script: Script,
        approved: str,
        folder: Path,
        hosts: Collection[str],
        report: Callable[[str], None],
    ) -> CodeOutcome:
        files, code, to = (folder / name for name in ("files", "code", "made"))
        await asyncio.to_thread(self._lay_out, files, code, to)
        sandbox = self.workshop.sandbox
        protection = await sandbox.protection()
        session = sandbox.session(files, protection=protection, files={}, hosts=hosts, library=code)
        try:
            return await session.run(
                script, approved=approved, to=to, timeout=self.timeout, report=report
            )
        finally:
            await session.close()

    def _lay_out(self, files: Path, code: Path, to: Path) -> None:
        for folder in (files, code, to):
            folder.mkdir()
        self.workshop.library.lay_out(code)
        for name in TYPE_CHECKERS:
            spec = importlib.util.find_spec(name)
            assert spec is not None
            assert spec.origin is not None
            source = Path(spec.origin)
            if spec.submodule_search_locations:
                shutil.copytree(
                    source.parent, code / name, ignore=shutil.ignore_patterns("__pycache__")
                )
            else:
                shutil.copy(source, code)


class LibraryTester:
    """Runs the tests of saved functions, only in a sandbox, without asking."""

    def __init__(self, sandbox: Sandbox, trying: FunctionTester) -> None:
        self._sandbox = sandbox
        self._trying = trying

    async def test(self, function: Function) -> FunctionTestReport:
        """Run the tests of a function. Raises UnavailableError without a sandbox."""
        protection = await self._sandbox.protection()
        if not protection.sandboxed:
            raise UnavailableError(
                tr("Its tests are code, and no sandbox holds here, so they were not run."),
                hint=protection.why,
            )
        script = Script(write_script(function.draft, ""))
        return await self._trying.run(
            script, function.draft, "", approved=script.sha256, hosts=(), report=lambda text: None
        )
