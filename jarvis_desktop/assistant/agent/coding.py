"""What code of one goal works with: one session of Python, its files, its hosts, the library."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from jarvis_desktop.assistant.agent.desk import Desk
from jarvis_desktop.assistant.agent.given_files import GivenFiles
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.code import (
    CodeOutcome,
    CodeSession,
    Library,
    Protection,
    Sandbox,
    Script,
)
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.events import Noted

RUNS_CODE = "run_code"
"""The branch by which code runs."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a run, and what it means for the next one."""

    outcome: CodeOutcome
    lost: bool
    """Whether the variables of earlier runs were gone."""
    news: tuple[str, ...]
    """What is to be known of the library, a sentence each."""


class Workshop:
    """The workbenches of all goals of this process."""

    def __init__(
        self, sandbox: Sandbox, library: Library, *, folder_of: Callable[[str], Path]
    ) -> None:
        """`folder_of` gives the folder of a goal, by its id: it outlives the process."""
        self.sandbox = sandbox
        self.library = library
        self._folder_of = folder_of
        self._benches: dict[str, Workbench] = {}

    def bench(self, desk: Desk) -> Workbench:
        """That of the goal."""
        bench = self._benches.get(desk.goal.id)
        if bench is None:
            folder = self._folder_of(desk.goal.id)
            bench = Workbench(desk, self.sandbox, self.library, folder)
            self._benches[desk.goal.id] = bench
        return bench

    async def close(self, goal_id: str) -> None:
        """End what runs for a goal: it is over, or cancelled."""
        bench = self._benches.pop(goal_id, None)
        if bench is not None:
            await bench.close()


class Workbench:
    """The session of one goal, begun when code first runs. Files stay when it ends."""

    def __init__(self, desk: Desk, sandbox: Sandbox, library: Library, folder: Path) -> None:
        """`folder` is the goal's."""
        self.hosts = desk.goal.terms.hosts
        """What code may reach: as agreed to in advance, and what the person allowed since."""
        self.files = GivenFiles(folder / "texts")
        self._desk = desk
        self._sandbox = sandbox
        self._library = library
        self._folder = folder
        self._session: CodeSession | None = None
        self._given: dict[str, Path] = {}
        """To the session; it looks there before each run."""
        self._laid_out = False
        self._damage: frozenset[str] = frozenset()
        runs = [entry for entry in desk.log if entry.branch == RUNS_CODE]
        self._ran = any(entry.code for entry in runs)
        for entry in runs:
            self.files.own(entry.artifacts)

    async def protection(self) -> Protection:
        """What keeps code from the rest of the computer."""
        return await self._sandbox.protection()

    async def run(
        self,
        script: Script,
        *,
        approved: str,
        to: Path,
        timeout: float,
        report: Callable[[str], None],
    ) -> Ran:
        """Run a script on all files that there are by now; see `CodeSession.run`."""
        news = await self._lay_out()
        files = self.files.new(self._desk)
        try:
            session = await self._with(files)
            outcome = await session.run(
                script, approved=approved, to=to, timeout=timeout, report=report
            )
        except JarvisError:
            self.files.withdraw(files)
            await self.close()
            raise
        lost = self._ran and outcome.fresh
        self._ran = True
        return Ran(outcome, lost, news)

    async def allow(self, host: str) -> None:
        """Let code reach one more host; the session begins anew, as its walls are set by then."""
        self.hosts = (*self.hosts, host)
        await self.close()

    def library_changed(self) -> None:
        """A function was saved: the next run finds it, also in a session that goes on."""
        self._laid_out = False

    async def close(self) -> None:
        """End the session; the next run begins another one."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _lay_out(self) -> tuple[str, ...]:
        if self._laid_out:
            return ()
        refused = await asyncio.to_thread(self._library.lay_out, self._code)
        self._laid_out = True
        news = tuple(text for text in refused if text not in self._damage)
        self._damage |= set(news)
        for text in news:
            self._desk.live.show(Noted(text))
        return news

    async def _with(self, files: Mapping[str, Artifact]) -> CodeSession:
        paths = await asyncio.to_thread(self.files.paths, files)
        if self._session is None:
            self._given = dict(paths)
            self._session = self._sandbox.session(
                self._folder / "files",
                protection=await self.protection(),
                files=self._given,
                hosts=self.hosts,
                library=self._code,
            )
        self._given.update(paths)
        return self._session

    @property
    def _code(self) -> Path:
        return self._folder / "code"
