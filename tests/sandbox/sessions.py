"""Sessions on the launchers that there are here, for the tests of what happens in them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from jarvis_desktop.core.code import CallExpert, CodeOutcome, Script
from jarvis_desktop.sandbox import session as sessions
from jarvis_desktop.sandbox.bubblewrap import Bubblewrap
from jarvis_desktop.sandbox.expert_calls import CallLimits
from jarvis_desktop.sandbox.landlock import Landlock
from jarvis_desktop.sandbox.profile import Launcher
from jarvis_desktop.sandbox.proxy import Proxy
from jarvis_desktop.sandbox.session import SandboxSession, SessionDependencies, TimeLimit
from jarvis_desktop.sandbox.supervisor import SessionLimits

LAUNCHERS: tuple[Launcher, ...] = (Bubblewrap(), Landlock())
"""Both are here wherever these tests run: one that is missing fails them."""

PYTHON = Path(getattr(sys, "_base_executable", sys.executable))
PACKAGES = next(Path(path) for path in sys.path if path.endswith("site-packages"))
"""Of the environment of the tests, where NumPy, pandas and Matplotlib are."""


@dataclass
class Bench:
    """A session, and what is needed to run scripts in it."""

    session: SandboxSession
    folder: Path
    to: Path
    told: list[str] = field(default_factory=list)

    call: CallExpert | None = None

    async def run(self, source: str, timeout: float = 100.0) -> CodeOutcome:
        script = Script(source)
        return await self.session.run(
            script,
            approved=script.sha256,
            to=self.to,
            timeout=timeout,
            report=self.told.append,
            call=self.call,
        )


@asynccontextmanager
async def bench(
    folder: Path,
    launcher: Launcher = LAUNCHERS[0],
    *,
    files: Mapping[str, Path] | None = None,
    library: Path | None = None,
    packages: Path | None = None,
    proxy: Callable[[], Proxy] | None = None,
    bounds: SessionLimits | None = None,
    call: CallExpert | None = None,
    calls: CallLimits | None = None,
) -> AsyncIterator[Bench]:
    """A session in a folder, which is closed at the end."""
    means = SessionDependencies(
        launcher,
        PYTHON,
        files=files or {},
        library=library,
        packages=packages,
        proxy=proxy,
        bounds=bounds or SessionLimits(),
        calls=calls or CallLimits(),
    )
    session = SandboxSession(folder / "work", means)
    try:
        yield Bench(session, folder / "work", folder / "to", call=call)
    finally:
        await session.close()


@contextmanager
def time_ends(when: Callable[[], object]) -> Iterator[None]:
    """Until this is left, the time of scripts is over when this holds, and not before: what a
    script does first may take long on a busy computer."""

    class EndsWhen(TimeLimit):
        def __init__(self, seconds: float) -> None:
            super().__init__(1000)
            self._looking = asyncio.ensure_future(self._look())

        async def _look(self) -> None:
            while not when():
                await asyncio.sleep(0.01)
            self.passed.set()

        def cancel(self) -> None:
            self._looking.cancel()
            super().cancel()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sessions, "TimeLimit", EndsWhen)
        yield
