"""Runs the tests of a function in a session of their own, with the library as it is."""

from __future__ import annotations

import asyncio
import importlib.util
import shutil
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from jarvis_desktop.assistant.agent import outcomes, testing_code
from jarvis_desktop.assistant.agent.coding import Workshop
from jarvis_desktop.assistant.agent.testing_code import Report
from jarvis_desktop.core.code import CodeOutcome, Draft, Script
from jarvis_desktop.core.drafting import cases_in
from jarvis_desktop.core.ports import ArtifactStore

CHECKERS = ("typeguard", "typing_extensions")
"""What checks types while tests run: plain Python, laid beside the library."""


@dataclass(frozen=True, slots=True)
class TryingOut:
    """Runs test scripts."""

    workshop: Workshop
    store: ArtifactStore
    timeout: float = 60.0
    """Seconds, for all tests of a function together."""

    async def run(
        self,
        script: Script,
        draft: Draft,
        earlier: str,
        *,
        approved: str,
        hosts: Collection[str],
        report: Callable[[str], None],
    ) -> Report:
        """How the tests of a draft went, and those of what it takes the place of.

        `hosts` are what they may reach. Raises JarvisError where they could not run at all.
        """
        folder = await asyncio.to_thread(self.store.workdir)
        try:
            outcome = await self._outcome(script, approved, folder, hosts, report)
        finally:
            await asyncio.to_thread(self.store.discard, folder)
        expected = [*cases_in(draft.tests), *(f"earlier {name}" for name in cases_in(earlier))]
        return testing_code.report_of(outcome, expected, outcomes.ended(outcome, self.timeout))

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
        for name in CHECKERS:
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
