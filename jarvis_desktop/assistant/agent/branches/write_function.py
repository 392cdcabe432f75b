"""The branch that adds a function to the library: it checks, tests, asks and saves."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, replace
from functools import partial

from jarvis_desktop.assistant.agent import function_tests
from jarvis_desktop.assistant.agent.approvals import Approvals
from jarvis_desktop.assistant.agent.branches.run_code import record_comment, refusal, report_changes
from jarvis_desktop.assistant.agent.code_session import (
    ANOTHER_WAY,
    CodeWorkspaces,
    PackageInstaller,
    RepairCounter,
    clean_code,
)
from jarvis_desktop.assistant.agent.function_tests import (
    FunctionTester,
    FunctionTestReport,
    join_tests,
    user_tests,
)
from jarvis_desktop.assistant.agent.goal_run import GoalRun
from jarvis_desktop.assistant.agent.roles import Observation, failure
from jarvis_desktop.core.code import (
    Allow,
    CodeRequest,
    Function,
    FunctionDraft,
    Script,
    Verdict,
    about_tests,
    objections,
)
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import InputError, JarvisError, StorageError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import BranchChoice

_fence = re.compile(r"```[\w+-]*[ \t]*\n(.*?)```", re.DOTALL)
_first_line = re.compile(r"^(?:import |from |def test_)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _FunctionJob:
    """A function on its way into the library."""

    draft: FunctionDraft
    old: Function | None
    """The version that it replaces."""
    earlier: str
    """The tests of that version, which must pass as well; "" if it should behave differently."""


@dataclass(eq=False)
class WriteFunction:
    """Runs `write_function`, with `name`, `code`, `tests`, `packages` and `replaces`."""

    workshop: CodeWorkspaces
    providing: PackageInstaller
    approvals: Approvals
    trying: FunctionTester

    async def __call__(self, run: GoalRun, choice: BranchChoice) -> Observation:
        """Add the function to the library, or say why not."""
        name = choice.args["name"]
        mending = RepairCounter(run, name)
        if mending.is_over:
            text = f"Mending {one_line(name)} was given up, so nothing was done: {ANOTHER_WAY}."
            return failure(text)
        try:
            work = await self._prepare(run, name, choice)
            return await self._add(run, work, mending)
        except JarvisError as error:
            return Observation(f"The function could not be saved: {error}", Status.FAILED)

    async def _prepare(self, run: GoalRun, name: str, choice: BranchChoice) -> _FunctionJob:
        """Return the function as the LLM wrote it, with the tests that the user gave for it."""
        args = choice.args
        old = await asyncio.to_thread(self._existing, name)
        kept = run.frames[run.inner].kept.get(_key(name), "")
        earlier = ""
        otherwise = args["replaces"] in (name, "True")
        if old is not None and not otherwise:
            earlier = join_tests(old.draft.tests, "")
            kept = kept or user_tests(old.draft.tests)
        tests = join_tests(clean_code(args["tests"]), kept)
        draft = FunctionDraft(name, clean_code(args["code"]), tests, tuple(args["packages"]))
        return _FunctionJob(draft, old, earlier)

    def _existing(self, name: str) -> Function | None:
        try:
            return self.workshop.library.get(name)
        except (InputError, StorageError):  # a damaged one gets a new version
            return None

    async def _add(self, run: GoalRun, work: _FunctionJob, mending: RepairCounter) -> Observation:
        """Test, ask and save; start over whenever the user changes something."""
        while True:
            if wrong := _problems(work.draft):
                text = f"{wrong}\nNothing was saved. {mending.failed()}"
                return failure(text, code=work.draft.source)
            tried = await self._test(run, work)
            if isinstance(tried, Observation):
                return tried
            tested, report = tried
            changed_by_person, work = tested != work, tested
            if report is None or (changed_by_person and _problems(work.draft)):
                continue
            if not report.passed:
                return _failed_tests(run, work, report, mending)
            verdict = await self.approvals.code(run, await self._request(run, work, report))
            approved = replace(work.draft, source=verdict.source).sha256
            record_comment(run, f"Keep {work.draft.name} in the library", verdict)
            if verdict.allow is Allow.NO:
                _save_tests(run, work.draft, _with_comment(work.draft, verdict))
                return refusal(verdict, work.draft.source)
            report_changes(run, work.draft.source, verdict)
            changed = _with_comment(replace(work.draft, source=verdict.source), verdict)
            if changed == work.draft:
                break
            _save_tests(run, work.draft, changed)
            work = replace(work, draft=changed)
        mending.worked()
        return await self._saved(run, work.draft, approved)

    async def _test(
        self, run: GoalRun, work: _FunctionJob
    ) -> tuple[_FunctionJob, FunctionTestReport | None] | Observation:
        """Return the test report, and the function as the user left it in the test script. There is
        no report if the user added tests, which must run first."""
        bench = self.workshop.bench(run)
        written = function_tests.write_script(work.draft, work.earlier)
        purpose = f"Test the function {work.draft.name} before it is kept in the library."
        protection = await bench.protection()
        request = CodeRequest(written, purpose, protection, hosts=bench.hosts)
        verdict = await self.approvals.code(run, request)
        record_comment(run, purpose, verdict)
        if verdict.allow is Allow.NO:
            _save_tests(run, work.draft, _with_comment(work.draft, verdict))
            return refusal(verdict, work.draft.source)
        script, before = Script(verdict.source), work.draft
        approved = script.sha256
        if script.source != written:
            taken_out = function_tests.read_script(script.source, work.draft)
            if taken_out is None:
                text = "The person changed the test so that the function cannot be told from it."
                return failure(text, code=work.draft.source)
            work = replace(work, draft=taken_out[0], earlier=taken_out[1])
        report_changes(run, written, verdict)
        draft = _with_comment(work.draft, verdict)
        _save_tests(run, before, draft)
        if draft != work.draft:
            return replace(work, draft=draft), None
        if withheld := await self.providing.provide(run, draft.source, draft.tests, work.earlier):
            return withheld
        return work, await self.trying.run(
            script,
            work.draft,
            work.earlier,
            approved=approved,
            hosts=bench.hosts,
            report=run.progress_reporter(),
        )

    async def _request(
        self, run: GoalRun, work: _FunctionJob, report: FunctionTestReport
    ) -> CodeRequest:
        draft = work.draft
        needs = f" It needs {', '.join(draft.packages)}." if draft.packages else ""
        return CodeRequest(
            draft.source,
            f"Keep {draft.name} in the library, for this goal and later ones.{needs}",
            await self.workshop.bench(run).protection(),
            saves=draft.name,
            tests=f"{report.summary}\n\n{draft.tests}",
            replaces=work.old.draft.source if work.old else "",
        )

    async def _saved(self, run: GoalRun, draft: FunctionDraft, approved: str) -> Observation:
        library = self.workshop.library
        function = await asyncio.to_thread(partial(library.save, draft, approved=approved))
        self.workshop.bench(run).library_changed()
        run.remember(run.inner, **{_key(draft.name): ""})
        text = (
            f"{function.name} is in the library now (version {function.version}), for "
            f"“from library import {function.name}”: {function.signature}: {function.summary}"
        )
        return Observation(text, code=draft.source, trusted=True)


def tests_in_words(comment: str) -> str:
    """Return the runnable tests in what the user says; "" if there are none."""
    fenced = "\n\n\n".join(_fence.findall(comment))
    first = _first_line.search(comment)
    for tried in (fenced, comment[first.start() :] if first else ""):
        if tried.strip() and not any(about_tests(tried)):
            return tried.strip()
    return ""


def _save_tests(run: GoalRun, before: FunctionDraft, draft: FunctionDraft) -> None:
    """Save tests that the user just gave for whatever the LLM writes next."""
    tests = user_tests(draft.tests)
    if tests != user_tests(before.tests):
        run.remember(run.inner, **{_key(draft.name): tests})


def _with_comment(draft: FunctionDraft, verdict: Verdict) -> FunctionDraft:
    tests = tests_in_words(verdict.comment)
    persons = user_tests(draft.tests)
    if not tests or tests in persons:
        return draft
    return replace(draft, tests=join_tests(draft.tests, f"{persons}\n\n\n{tests}"))


def _problems(draft: FunctionDraft) -> str:
    """Return what is wrong with a draft, one line each; "" if nothing is."""
    wrong = list(objections(draft))
    if not draft.tests.strip():
        wrong.append("It has no tests: write at least one function “def test_…()” with asserts.")
    return "\n".join(wrong)


def _failed_tests(
    run: GoalRun, work: _FunctionJob, report: FunctionTestReport, mending: RepairCounter
) -> Observation:
    advice = mending.failed()
    run.add_notices(run.inner, advice)
    text = f"The function was not saved: not all of its tests passed.\n{report.text}\n{advice}"
    return Observation(text, Status.FAILED, code=work.draft.source)


def _key(name: str) -> str:
    return f"tests {name}"
