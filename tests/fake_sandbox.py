"""A sandbox and packages for tests of the assistant: nothing of it protects from anything."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import io
import re
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jarvis_desktop.core.artifact import Artifact, Kind, kind_of_name
from jarvis_desktop.core.code import CallExpert, CodeOutcome, Ending, Protection, Script
from jarvis_desktop.core.errors import InputError

SANDBOXED = Protection("bubblewrap", True)


@dataclass
class FakeSession:
    """Answers scripts with what `outcome` gives for their source.

    Without an `outcome` they run in this process: for the harmless ones of a test. The files of
    `leaves`, by name, come into existence at each run.
    """

    folder: Path
    protection: Protection
    files: Mapping[str, Path]
    hosts: tuple[str, ...]
    library: Path | None
    outcome: Callable[[str], CodeOutcome] | None
    leaves: Mapping[str, bytes]
    ran: list[str] = field(default_factory=list)
    closed: int = 0
    variables: dict[str, Any] | None = None
    gate: asyncio.Event | None = None
    """Where there is one, each run waits for it: a script that takes its time."""
    timeouts: list[float] = field(default_factory=list)

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
        if script.sha256 != approved:
            raise InputError("This is not the code that was approved, so it was not run.")
        self.ran.append(script.source)
        self.timeouts.append(timeout)
        if self.gate:
            await self.gate.wait()
        fresh = self.variables is None
        if fresh or not self.protection.sandboxed:
            self.variables = {"__name__": "__main__"}
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, source in self.files.items():
            if not (self.folder / name).exists():
                (self.folder / name).write_bytes(source.read_bytes())
        before = {path: path.read_bytes() for path in self._files()}
        outcome = self.outcome(script.source) if self.outcome else self._done(script.source)
        for name, content in self.leaves.items():
            (self.folder / name).write_bytes(content)
        if outcome.printed:
            report(outcome.printed)
        if outcome.ending in (Ending.TIMEOUT, Ending.MEMORY, Ending.LIMIT, Ending.CRASHED):
            self.variables = None
        made = tuple(
            self._copied(path, to)
            for path in self._files()
            if before.get(path) != path.read_bytes()
        )
        return replace(
            outcome,
            fresh=fresh or not self.protection.sandboxed,
            made=(*outcome.made, *made),
        )

    async def close(self) -> None:
        self.closed += 1
        self.variables = None

    def _files(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*") if path.is_file())

    def _copied(self, path: Path, to: Path) -> Artifact:
        to.mkdir(parents=True, exist_ok=True)
        (to / path.name).write_bytes(path.read_bytes())
        return Artifact(kind_of_name(path) or Kind.DOCUMENT, path=to / path.name, name=path.name)

    def _done(self, source: str) -> CodeOutcome:
        printed, value = io.StringIO(), None
        variables = self.variables
        try:
            with contextlib.redirect_stdout(printed), contextlib.chdir(self.folder):
                tree = ast.parse(source)
                last = (
                    tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
                )
                exec(compile(tree, "script.py", "exec"), variables)
                if isinstance(last, ast.Expr):
                    value = eval(
                        compile(ast.Expression(last.value), "script.py", "eval"), variables
                    )
        except ModuleNotFoundError as error:
            told = traceback.format_exc(chain=False)
            missing = (error.name or "").partition(".")[0]
            return CodeOutcome(Ending.ERROR, printed.getvalue(), error=told, missing=missing)
        except Exception:
            told = traceback.format_exc(chain=False)
            return CodeOutcome(Ending.ERROR, printed.getvalue(), error=told)
        return CodeOutcome(Ending.DONE, printed.getvalue(), "" if value is None else repr(value))


@dataclass
class FakeSandbox:
    """Begins sessions that answer as scripted, and remembers them."""

    outcome: Callable[[str], CodeOutcome] | None = None
    protects: Protection = SANDBOXED
    leaves: Mapping[str, bytes] = field(default_factory=dict)
    sessions: list[FakeSession] = field(default_factory=list)
    gate: asyncio.Event | None = None

    async def protection(self) -> Protection:
        return self.protects

    def session(
        self,
        folder: Path,
        *,
        protection: Protection,
        files: Mapping[str, Path],
        hosts: Collection[str] = (),
        library: Path | None = None,
    ) -> FakeSession:
        made = FakeSession(
            folder,
            protection,
            files,
            tuple(hosts),
            library,
            self.outcome,
            self.leaves,
            gate=self.gate,
        )
        self.sessions.append(made)
        return made

    @property
    def ran(self) -> list[str]:
        """The sources of all scripts that ran, session by session."""
        return [source for session in self.sessions for source in session.ran]


@dataclass
class FakePackages:
    """Knows which distribution each module is of; the others of a script are there."""

    distributions: Mapping[str, str] = field(default_factory=dict)
    failing: Exception | None = None
    installed: list[str] = field(default_factory=list)

    def missing(self, source: str) -> Sequence[str]:
        words = re.findall(r"^\s*(?:import|from)\s+(\w+)", source, re.MULTILINE)
        found = (self.distributions[word] for word in words if word in self.distributions)
        return tuple(name for name in dict.fromkeys(found) if name not in self.installed)

    async def install(self, names: Sequence[str], report: Callable[[str], None]) -> None:
        for name in names:
            if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*(==[\w.]+)?", name):
                raise InputError(f"{name} is not the name of a package.")
        if self.failing:
            raise self.failing
        for name in names:
            report(f"Collecting {name}")
            self.installed.append(name.partition("==")[0])
