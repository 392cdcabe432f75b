"""All that the coder's branches work with, around a goal_run whose round is under way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_desktop.assistant.agent.approvals import Approvals
from jarvis_desktop.assistant.agent.branches.run_code import RunCode
from jarvis_desktop.assistant.agent.branches.write_function import WriteFunction
from jarvis_desktop.assistant.agent.code_session import (
    CodeWorkspace,
    CodeWorkspaces,
    PackageInstaller,
)
from jarvis_desktop.assistant.agent.function_tests import FunctionTester
from jarvis_desktop.assistant.agent.goal_run import GoalRun
from jarvis_desktop.assistant.agent.roles import Observation
from jarvis_desktop.core.artifact import Artifact, Kind, kind_of_name, text_artifact
from jarvis_desktop.core.code import (
    Allow,
    CallExpert,
    CodeOutcome,
    CodeRequest,
    Ending,
    ExpertCall,
    Protection,
    Script,
    Verdict,
)
from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.events import RoundStarted
from jarvis_desktop.core.goal import (
    BranchChoice,
    CodeTerms,
    ControllerFrame,
    GoalLimits,
    GoalMemory,
    Terms,
)
from jarvis_desktop.core.ports import Context
from tests.assistant.agent.scripted import goal_run_for
from tests.fake_library import FakeLibrary
from tests.fakes import FakeFrontend, FakeStore

IN_SANDBOX = Protection("bubblewrap", True)
BARE = Protection("none", False, "This system has none.")
WELL = CodeOutcome(Ending.DONE)

Does = Callable[[Script, Path], CodeOutcome]


@dataclass
class ScriptedSession:
    """Answers each script as it is told to."""

    place: ScriptedSandbox
    folder: Path
    files: Mapping[str, Path]
    hosts: Collection[str]
    library: Path | None
    ran: list[Script] = field(default_factory=list)
    found: list[list[str]] = field(default_factory=list)
    """The names of the files that were there for each."""
    timeouts: list[float] = field(default_factory=list)
    closed: bool = False

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
        if approved != script.sha256:
            raise InputError("That is another script.")
        self.ran.append(script)
        self.found.append(list(self.files))
        self.timeouts.append(timeout)
        report("one line\n")
        if self.place.hold:
            await asyncio.Event().wait()
        if self.place.errors:
            raise self.place.errors.pop(0)
        return self.place.does(script, to)

    async def close(self) -> None:
        self.closed = True


@dataclass
class ScriptedSandbox:
    """Remembers its sessions."""

    shelter: Protection = IN_SANDBOX
    does: Does = lambda script, to: WELL
    errors: list[JarvisError] = field(default_factory=list)
    hold: bool = False
    sessions: list[ScriptedSession] = field(default_factory=list)

    async def protection(self) -> Protection:
        return self.shelter

    def session(
        self,
        folder: Path,
        *,
        protection: Protection,
        files: Mapping[str, Path],
        hosts: Collection[str] = (),
        library: Path | None = None,
    ) -> ScriptedSession:
        assert protection == self.shelter
        self.sessions.append(ScriptedSession(self, folder, files, tuple(hosts), library))
        return self.sessions[-1]

    @property
    def ran(self) -> list[str]:
        return [script.source for session in self.sessions for script in session.ran]


@dataclass
class ListedPackages:
    """Knows which sources need what; `error` is why nothing can be installed."""

    needs: dict[str, str] = field(default_factory=dict)
    """Word in a source -> distribution."""
    error: JarvisError | None = None
    installed: list[str] = field(default_factory=list)

    def missing(self, source: str) -> Sequence[str]:
        return tuple(
            name
            for word, name in self.needs.items()
            if word in source and name not in self.installed
        )

    async def install(self, names: Sequence[str], report: Callable[[str], None]) -> None:
        report(f"Installing {', '.join(names)}\n")
        if self.error:
            raise self.error
        self.installed += names


class Workplace:
    """The branches, and all that stands behind them."""

    def __init__(self, root: Path, frontend: FakeFrontend, *, code: CodeTerms) -> None:
        self.root = root
        self.frontend = frontend
        self.sandbox = ScriptedSandbox()
        self.packages = ListedPackages()
        self.library = FakeLibrary()
        self.store = FakeStore(root / "store")
        self.workshop = CodeWorkspaces(
            self.sandbox, self.library, folder_of=lambda goal: root / goal
        )
        self.approvals = Approvals(code=code, acting=())
        providing = PackageInstaller(self.packages, self.workshop)
        self.calls: list[ExpertCall] = []
        self.run_code = RunCode(
            self.workshop, providing, self.approvals, self.store, call=self._call
        )
        self.trying = FunctionTester(self.workshop, self.store)
        self.write_function = WriteFunction(self.workshop, providing, self.approvals, self.trying)

    async def _call(self, run: GoalRun, call: ExpertCall) -> Sequence[Artifact]:
        self.calls.append(call)
        return (text_artifact(f"{call.task} for {run.goal.id}"),)

    def goal_run(
        self,
        *,
        terms: Terms | None = None,
        limits: GoalLimits | None = None,
        context: Context | None = None,
        files: Sequence[Artifact] = (),
        memory: GoalMemory | None = None,
    ) -> GoalRun:
        """A goal_run with the coder's frame on it, in its third round."""
        goal_run = goal_run_for(
            self.frontend,
            frames=[ControllerFrame("assistant", "x"), ControllerFrame("coder", "y")],
            terms=terms,
            limits=limits,
            context=context,
            files=files,
            memory=memory,
        )
        goal_run.inner = 1
        goal_run.number = 3
        goal_run.live.show(RoundStarted(3, goal_run.path(1), "run_code", "to see"))
        return goal_run

    def bench(self, goal_run: GoalRun) -> CodeWorkspace:
        return self.workshop.bench(goal_run)

    async def run(self, goal_run: GoalRun, code: str, purpose: str = "to see") -> Observation:
        return await self.run_code(
            goal_run, BranchChoice("run_code", {"code": code, "purpose": purpose})
        )

    async def write(self, goal_run: GoalRun, **args: object) -> Observation:
        return await self.write_function(
            goal_run, BranchChoice("write_function", {"packages": [], "replaces": "", **args})
        )

    def answers(self, *verdicts: Callable[[CodeRequest], Verdict]) -> None:
        """What the person says to one piece of code after the other; at last always yes."""
        queue = list(verdicts)

        def judge(request: CodeRequest) -> Verdict:
            return queue.pop(0)(request) if queue else yes(request)

        self.frontend.judge = judge


def yes(request: CodeRequest) -> Verdict:
    return Verdict(Allow.ONCE, request.source)


def no(comment: str = "") -> Callable[[CodeRequest], Verdict]:
    return lambda request: Verdict(Allow.NO, request.source, comment)


def edits(old: str, new: str, comment: str = "") -> Callable[[CodeRequest], Verdict]:
    def judge(request: CodeRequest) -> Verdict:
        assert old in request.source
        return Verdict(Allow.ONCE, request.source.replace(old, new), comment)

    return judge


def file(folder: Path, name: str, text: str = "a,b\n1,2\n") -> Artifact:
    """A file that a goal was given, or that a script made."""
    (folder / name).write_text(text)
    return Artifact(kind_of_name(name) or Kind.DOCUMENT, path=folder / name, name=name)
