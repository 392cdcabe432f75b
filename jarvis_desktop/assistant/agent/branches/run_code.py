"""The branch that runs a script: it asks if it must, runs what was agreed to, and describes the
result."""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import assert_never

from jarvis_desktop.assistant.agent.approvals import Approvals
from jarvis_desktop.assistant.agent.code_session import (
    ANOTHER_WAY,
    CodeWorkspace,
    CodeWorkspaces,
    PackageInstaller,
    RepairCounter,
    ScriptRun,
    clean_code,
    format_diff,
    library_imports,
)
from jarvis_desktop.assistant.agent.goal_run import GoalRun
from jarvis_desktop.assistant.agent.roles import Observation, failure
from jarvis_desktop.assistant.prompts import cut_middle
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.code import (
    Allow,
    CodeOutcome,
    CodeRequest,
    Ending,
    ExpertCall,
    Protection,
    Script,
    Verdict,
    parsed,
)
from jarvis_desktop.core.display import one_line, printable
from jarvis_desktop.core.errors import ExpertError, InputError, JarvisError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import BranchChoice
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.ports import ArtifactStore
from jarvis_desktop.process.network_guard import is_this_computer

MAX_PRINTED_CHARS = 4000
MAX_VALUE_CHARS = 1500
MAX_ERROR_CHARS = 2500
MAX_FILES = 40


def format_run(
    ran: ScriptRun,
    made: Sequence[Artifact],
    not_kept: Sequence[str],
    *,
    timeout: float,
    protection: Protection,
) -> str:
    """Return how a run ended, what it returned, printed and made, and which files were left out."""
    outcome = ran.outcome
    return "\n".join(
        (
            describe_ending(outcome, timeout),
            *_about_session(ran, protection),
            *_output_lines(outcome),
            *_file_lines(made, (*outcome.left_out, *not_kept)),
            *ran.news,
        )
    )


def describe_ending(outcome: CodeOutcome, timeout: float) -> str:
    """Return how a run ended, in a sentence or two, with what would help."""
    match outcome.ending:
        case Ending.DONE:
            return f"It ran to its end, in {outcome.seconds:.1f} s."
        case Ending.ERROR:
            return "It ended with an error."
        case Ending.TIMEOUT:
            how = f"It was ended because it took longer than {timeout:g} seconds."
            hint = "Let it do less at a time, and print how far it is."
        case Ending.MEMORY:
            how = "It was ended because it needed more memory than it may have."
            hint = "Let it work on the data piece by piece."
        case Ending.LIMIT:
            how = "It was ended because it wrote too much, or began too many processes."
            hint = "Let it do less, in one process."
        case Ending.CRASHED:
            how = "Its Python ended in the middle of it."
            hint = "Let it do less, or do it in another way."
        case _:
            assert_never(outcome.ending)
    return f"{_sentence(outcome) or how} {hint}"


def _sentence(outcome: CodeOutcome) -> str:
    """Return the error if it is a sentence about the ending, and not a traceback."""
    is_one = outcome.ending is not Ending.ERROR and "\n" not in outcome.error
    return one_line(outcome.error, limit=300) if is_one else ""


def _about_session(ran: ScriptRun, protection: Protection) -> Iterator[str]:
    if ran.lost and protection.sandboxed:
        yield (
            "Python began anew for it, so the variables of earlier runs are gone; "
            "the files are still there."
        )
    if not protection.sandboxed:
        yield (
            "There is no sandbox on this computer: the person is asked about every script, and "
            "each begins without the variables of earlier ones."
        )


def _output_lines(outcome: CodeOutcome) -> Iterator[str]:
    if outcome.printed.strip():
        yield f"It printed:\n{_clip(outcome.printed, MAX_PRINTED_CHARS)}"
    if outcome.value:
        yield f"The value of its last expression: {_clip(outcome.value, MAX_VALUE_CHARS)}"
    if outcome.error and not _sentence(outcome):
        yield _clip(outcome.error, MAX_ERROR_CHARS)
    if outcome.missing:
        yield (
            f"The module {one_line(outcome.missing)} is not installed: import it at the top of the "
            "script, so that it can be offered to the person, or do without."
        )


def _file_lines(made: Sequence[Artifact], left_out: Sequence[str]) -> Iterator[str]:
    if made:
        listed = [f"{one_line(item.title)} ({item.kind.value})" for item in made[:MAX_FILES]]
        more = f" and {len(made) - MAX_FILES} more" if len(made) > MAX_FILES else ""
        yield f"It made or changed these files: {', '.join(listed)}{more}."
    yield from (one_line(text, limit=200) for text in left_out[:MAX_FILES])


def _clip(text: str, longest: int) -> str:
    return cut_middle(printable(text).strip("\n"), longest)


MAX_HOSTS = 3
"""Hosts that the user is asked about per run."""
MAX_COMMENT_CHARS = 2000

_host = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.\-]{0,251}[A-Za-z0-9])?(?::\d{1,5})?")


@dataclass(eq=False)
class RunCode:
    """Runs `run_code`, with the arguments `code` and `purpose`.

    `call` has experts do what a script asks for. `timeout`, in seconds, is for one run,
    without the time of experts.
    """

    workshop: CodeWorkspaces
    providing: PackageInstaller
    approvals: Approvals
    store: ArtifactStore
    _: KW_ONLY
    call: Callable[[GoalRun, ExpertCall], Awaitable[Sequence[Artifact]]]
    timeout: float = 120.0

    async def __call__(self, run: GoalRun, choice: BranchChoice) -> Observation:
        """Run the code."""
        code, said = clean_code(choice.args["code"]), choice.args["purpose"]
        purpose = one_line(said or "Do a part of the goal.", limit=300)
        mending = RepairCounter(run, said)
        if mending.is_over:
            text = f"Mending the code for this was given up, so nothing ran: {ANOTHER_WAY}."
            return failure(text, code=code)
        return await self.run(run, code, purpose, mending)

    async def run(
        self, run: GoalRun, code: str, purpose: str, mending: RepairCounter | None = None
    ) -> Observation:
        """Ask, and run what was agreed to. Without `mending`, repairs are not counted."""
        try:
            parsed(code)
        except InputError as error:
            tries = f" {mending.failed()}" if mending else ""
            return failure(f"{error} Nothing ran.{tries}", code=code)
        try:
            return await self._ask_and_run(run, code, purpose, mending)
        except JarvisError as error:
            return Observation(f"The code could not run: {error}", Status.FAILED, code=code)

    async def _ask_and_run(
        self, run: GoalRun, code: str, purpose: str, mending: RepairCounter | None
    ) -> Observation:
        bench = self.workshop.bench(run)
        request = CodeRequest(code, purpose, await bench.protection(), hosts=bench.hosts)
        verdict = await self.approvals.code(run, request)
        record_comment(run, purpose, verdict)
        if verdict.allow is Allow.NO:
            return refusal(verdict, code)
        script = Script(verdict.source)
        approved = script.sha256
        report_changes(run, code, verdict)
        if withheld := await self.providing.provide(run, script.source):
            return withheld
        return await self._run(run, script, approved, mending)

    async def _run(
        self, run: GoalRun, script: Script, approved: str, mending: RepairCounter | None
    ) -> Observation:
        bench = self.workshop.bench(run)
        to = await asyncio.to_thread(self.store.workdir)

        try:
            ran = await bench.run(
                script,
                approved=approved,
                to=to,
                timeout=self.timeout,
                report=run.progress_reporter(),
                call=partial(self.call, run),
            )
            made, not_kept = await self._store_files(ran.outcome.made)
        finally:
            await asyncio.to_thread(self.store.discard, to)
        bench.files.own(made)
        await self._count_uses(run, script.source)
        protection = await bench.protection()
        text = format_run(ran, made, not_kept, timeout=self.timeout, protection=protection)
        if hosts := await self._about_hosts(run, bench, ran):
            run.add_notices(run.inner, hosts)
            text = f"{text}\n{hosts}"
        printed = "\n".join(filter(None, (ran.outcome.printed.strip(), ran.outcome.value)))
        found = Observation(text, artifacts=made, code=script.source, printed=printed)
        if ran.outcome.ending is Ending.DONE:
            if mending:
                mending.worked()
            return found
        if mending:
            advice = mending.failed()
            run.add_notices(run.inner, advice)
            found = replace(found, text=f"{text}\n{advice}")
        return replace(found, status=Status.FAILED, error=ran.outcome.error)

    async def _store_files(
        self, made: Sequence[Artifact]
    ) -> tuple[tuple[Artifact, ...], tuple[str, ...]]:
        kept, left_out = [], []
        for item in made:
            try:
                kept.append(await asyncio.to_thread(self.store.keep, item))
            except ExpertError:  # for example an empty one
                left_out.append(f"{one_line(item.title)} was not taken: there is nothing in it.")
        return tuple(kept), tuple(left_out)

    async def _count_uses(self, run: GoalRun, source: str) -> None:
        try:
            if names := library_imports(source):
                await asyncio.to_thread(self.workshop.library.used, names)
        except JarvisError as error:
            run.live.trace(f"The use of the library was not counted: {error.message}")

    async def _about_hosts(self, run: GoalRun, bench: CodeWorkspace, ran: ScriptRun) -> str:
        """Ask about the hosts that the script wanted to reach, and return what to do about them."""
        hosts = [host for host in ran.outcome.refused_hosts if _host.fullmatch(host)]
        format_run = []
        for host in hosts[:MAX_HOSTS]:
            question = tr(
                "The code wanted to reach {host}, which is not allowed. Allow it for this goal?",
                host=f"{host}{_host_note(host)}",
            )
            if await run.live.confirm(question):
                await bench.allow(host)
                format_run.append(
                    f"The person allows code to reach {host} now: run it again. "
                    "Python begins anew for that, without the variables of earlier runs."
                )
            else:
                format_run.append(
                    f"Code may not reach {host}: do without. "
                    f"(A person can allow it in advance, with --allow-host {host}.)"
                )
        return "\n".join(format_run)


def _host_note(host: str) -> str:
    """Return what the user should know about a host before they allow it."""
    name = host.rpartition(":")[0] or host
    if is_this_computer(name):
        return tr(" (this computer)")
    try:
        public = ipaddress.ip_address(name).is_global
    except ValueError:
        return ""
    return "" if public else tr(" (a computer on your own network)")


def comment_of(verdict: Verdict) -> str:
    """Return the user's comment on the code."""
    return printable(verdict.comment.strip())[:MAX_COMMENT_CHARS]


def record_comment(run: GoalRun, purpose: str, verdict: Verdict) -> None:
    """Save the user's comment on code, for all prompts of the goal."""
    if comment := comment_of(verdict):
        run.record_answer(f"Code: {purpose}", comment)


def refusal(verdict: Verdict, code: str) -> Observation:
    """Return the observation for a No."""
    text = "The person did not allow this code, so nothing was done."
    comment = comment_of(verdict)
    text += (
        f" They say: {comment}" if comment else " Take another way, or ask what they would like."
    )
    return failure(text, code=code)


def report_changes(run: GoalRun, code: str, verdict: Verdict) -> None:
    """Tell the LLM what the user changed in code that they allowed, and their comment."""
    format_run = []
    if verdict.source != code:
        changed = format_diff(code, verdict.source)
        format_run.append(f"The person changed the code before it was used:\n{changed}")
    if comment := comment_of(verdict):
        format_run.append(f"The person says to the code: {comment}")
    if format_run:
        run.add_notices(run.inner, *format_run)
