"""The branch that runs a script: asks where it must, runs what was agreed to, tells what came.

Puts what came of a run into words, for the LLM that wrote the script and for the person."""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections.abc import Iterator, Sequence
from typing import assert_never

from jarvis_desktop.assistant.agent.approvals import Approvals
from jarvis_desktop.assistant.agent.code_extraction import (
    cleaned,
    difference,
    from_library,
    middle_cut,
)
from jarvis_desktop.assistant.agent.code_session import (
    ANOTHER_WAY,
    Mending,
    Providing,
    Ran,
    Workbench,
    Workshop,
)
from jarvis_desktop.assistant.agent.goal_run import Desk
from jarvis_desktop.assistant.agent.roles import Observation
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.code import (
    Allow,
    CodeOutcome,
    CodeRequest,
    Ending,
    Protection,
    Script,
    Verdict,
    parsed,
)
from jarvis_desktop.core.display import one_line, printable
from jarvis_desktop.core.errors import ExpertError, InputError, JarvisError
from jarvis_desktop.core.events import RoundProgress
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import BranchChoice
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.ports import ArtifactStore
from jarvis_desktop.process.network_guard import is_here

LONGEST_PRINTED = 4000
LONGEST_VALUE = 1500
LONGEST_ERROR = 2500
MOST_FILES = 40


def told(
    ran: Ran,
    made: Sequence[Artifact],
    not_kept: Sequence[str],
    *,
    timeout: float,
    protection: Protection,
) -> str:
    """How it ended, what it gave, printed and made, and what was not taken of it."""
    outcome = ran.outcome
    return "\n".join(
        (
            ended(outcome, timeout),
            *_about_session(ran, protection),
            *_said(outcome),
            *_files(made, (*outcome.left_out, *not_kept)),
            *ran.news,
        )
    )


def ended(outcome: CodeOutcome, timeout: float) -> str:
    """How a run ended, in a sentence or two, with what would help."""
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
    """The error where it is a sentence about how it ended, and no traceback."""
    is_one = outcome.ending is not Ending.ERROR and "\n" not in outcome.error
    return one_line(outcome.error, limit=300) if is_one else ""


def _about_session(ran: Ran, protection: Protection) -> Iterator[str]:
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


def _said(outcome: CodeOutcome) -> Iterator[str]:
    if outcome.printed.strip():
        yield f"It printed:\n{_shown(outcome.printed, LONGEST_PRINTED)}"
    if outcome.value:
        yield f"The value of its last expression: {_shown(outcome.value, LONGEST_VALUE)}"
    if outcome.error and not _sentence(outcome):
        yield _shown(outcome.error, LONGEST_ERROR)
    if outcome.missing:
        yield (
            f"The module {one_line(outcome.missing)} is not installed: import it at the top of the "
            "script, so that it can be offered to the person, or do without."
        )


def _files(made: Sequence[Artifact], left_out: Sequence[str]) -> Iterator[str]:
    if made:
        listed = [f"{one_line(item.title)} ({item.kind.value})" for item in made[:MOST_FILES]]
        more = f" and {len(made) - MOST_FILES} more" if len(made) > MOST_FILES else ""
        yield f"It made or changed these files: {', '.join(listed)}{more}."
    yield from (one_line(text, limit=200) for text in left_out[:MOST_FILES])


def _shown(text: str, longest: int) -> str:
    return middle_cut(printable(text).strip("\n"), longest)


MOST_HOSTS = 3
"""That one run is asked about."""
LONGEST_COMMENT = 2000

_host = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.\-]{0,251}[A-Za-z0-9])?(?::\d{1,5})?")


class RunCode:
    """Carries out `run_code`, with the arguments `code` and `purpose`."""

    def __init__(
        self,
        workshop: Workshop,
        providing: Providing,
        approvals: Approvals,
        store: ArtifactStore,
        *,
        timeout: float = 120.0,
    ) -> None:
        """`timeout` in seconds, of one run."""
        self._workshop = workshop
        self._providing = providing
        self._approvals = approvals
        self._store = store
        self._timeout = timeout

    async def __call__(self, desk: Desk, choice: BranchChoice) -> Observation:
        """Run the code."""
        code, said = cleaned(choice.args["code"]), choice.args["purpose"]
        purpose = one_line(said or "Do a part of the goal.", limit=300)
        mending = Mending(desk, said)
        if mending.is_over:
            text = f"Mending the code for this was given up, so nothing ran: {ANOTHER_WAY}."
            return Observation(text, Status.FAILED, code=code, trusted=True)
        try:
            parsed(code)
        except InputError as error:
            text = f"{error} Nothing ran. {mending.failed()}"
            return Observation(text, Status.FAILED, code=code, trusted=True)
        try:
            return await self._agreed(desk, code, purpose, mending)
        except JarvisError as error:
            return Observation(f"The code could not run: {error}", Status.FAILED, code=code)

    async def _agreed(self, desk: Desk, code: str, purpose: str, mending: Mending) -> Observation:
        """Ask, and run what was agreed to."""
        bench = self._workshop.bench(desk)
        request = CodeRequest(code, purpose, await bench.protection(), hosts=bench.hosts)
        verdict = await self._approvals.code(desk, request)
        hear(desk, purpose, verdict)
        if verdict.allow is Allow.NO:
            return refused(verdict, code)
        script = Script(verdict.source)
        approved = script.sha256
        tell_changed(desk, code, verdict)
        if withheld := await self._providing.provide(desk, script.source):
            return withheld
        return await self._run(desk, script, approved, mending)

    async def _run(
        self, desk: Desk, script: Script, approved: str, mending: Mending
    ) -> Observation:
        bench = self._workshop.bench(desk)
        number = desk.number
        to = await asyncio.to_thread(self._store.workdir)

        def report(text: str) -> None:
            desk.live.show(RoundProgress(number, printable(text)))

        try:
            ran = await bench.run(
                script, approved=approved, to=to, timeout=self._timeout, report=report
            )
            made, not_kept = await self._kept(ran.outcome.made)
        finally:
            await asyncio.to_thread(self._store.discard, to)
        bench.files.own(made)
        await self._count_uses(desk, script.source)
        protection = await bench.protection()
        text = told(ran, made, not_kept, timeout=self._timeout, protection=protection)
        if hosts := await self._about_hosts(desk, bench, ran):
            desk.tell(desk.inner, hosts)
            text = f"{text}\n{hosts}"
        if ran.outcome.ending is Ending.DONE:
            mending.worked()
            return Observation(text, artifacts=made, code=script.source)
        advice = mending.failed()
        desk.tell(desk.inner, advice)
        text = f"{text}\n{advice}"
        return Observation(text, Status.FAILED, artifacts=made, code=script.source)

    async def _kept(self, made: Sequence[Artifact]) -> tuple[tuple[Artifact, ...], tuple[str, ...]]:
        kept, left_out = [], []
        for item in made:
            try:
                kept.append(await asyncio.to_thread(self._store.keep, item))
            except ExpertError:  # it is empty, say
                left_out.append(f"{one_line(item.title)} was not taken: there is nothing in it.")
        return tuple(kept), tuple(left_out)

    async def _count_uses(self, desk: Desk, source: str) -> None:
        try:
            if names := from_library(source):
                await asyncio.to_thread(self._workshop.library.used, names)
        except JarvisError as error:
            desk.live.trace(f"The use of the library was not counted: {error.message}")

    async def _about_hosts(self, desk: Desk, bench: Workbench, ran: Ran) -> str:
        """Ask about the hosts that the script wanted to reach; what is to be made of it."""
        hosts = [host for host in ran.outcome.refused_hosts if _host.fullmatch(host)]
        told = []
        for host in hosts[:MOST_HOSTS]:
            question = tr(
                "The code wanted to reach {host}, which it may not. Allow it for this goal?",
                host=f"{host}{_whose(host)}",
            )
            if await desk.live.confirm(question):
                await bench.allow(host)
                told.append(
                    f"The person allows code to reach {host} now: run it again. "
                    "Python begins anew for that, without the variables of earlier runs."
                )
            else:
                told.append(
                    f"Code may not reach {host}: do without. "
                    f"(A person can allow it in advance, with --allow-host {host}.)"
                )
        return "\n".join(told)


def _whose(host: str) -> str:
    """What a person should know of a host before they allow it."""
    name = host.rpartition(":")[0] or host
    if is_here(name):
        return tr(" (this very computer)")
    try:
        public = ipaddress.ip_address(name).is_global
    except ValueError:
        return ""
    return "" if public else tr(" (a computer of your own network)")


def comment_of(verdict: Verdict) -> str:
    """What the person says to the code."""
    return printable(verdict.comment.strip())[:LONGEST_COMMENT]


def hear(desk: Desk, purpose: str, verdict: Verdict) -> None:
    """Keep what the person says to code, for all prompts of the goal."""
    if comment := comment_of(verdict):
        desk.heard(f"Code: {purpose}", comment)


def refused(verdict: Verdict, code: str) -> Observation:
    """What the LLM is told of a No."""
    text = "The person did not allow this code, so nothing was done."
    comment = comment_of(verdict)
    text += (
        f" They say: {comment}" if comment else " Take another way, or ask what they would like."
    )
    return Observation(text, Status.FAILED, code=code, trusted=True)


def tell_changed(desk: Desk, code: str, verdict: Verdict) -> None:
    """See that the LLM knows what the person made of code that they allowed, and said to it."""
    told = []
    if verdict.source != code:
        changed = difference(code, verdict.source)
        told.append(f"The person changed the code before it was used:\n{changed}")
    if comment := comment_of(verdict):
        told.append(f"The person says to the code: {comment}")
    if told:
        desk.tell(desk.inner, *told)
