from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.assistant.agent.code_session import CodeWorkspaces
from jarvis_desktop.assistant.agent.function_tests import FunctionTester, LibraryTester
from jarvis_desktop.core.code import CodeOutcome, Ending
from jarvis_desktop.core.errors import UnavailableError
from tests.assistant.agent.injection.world import function
from tests.assistant.agent.workplace import BARE, ScriptedSandbox
from tests.fake_library import FakeLibrary
from tests.fakes import FakeStore


def kept_tests(folder: Path, sandbox: ScriptedSandbox) -> LibraryTester:
    workshop = CodeWorkspaces(sandbox, FakeLibrary(), folder_of=lambda goal_id: folder / goal_id)
    return LibraryTester(sandbox, FunctionTester(workshop, FakeStore(folder / "store")))


async def test_its_tests_run_in_the_sandbox(tmp_path: Path) -> None:
    def well(script: object, to: Path) -> CodeOutcome:
        return CodeOutcome(Ending.DONE, "one line\n", value="[('test_it', '')]")

    sandbox = ScriptedSandbox(does=well)
    report = await kept_tests(tmp_path, sandbox).test(function("months"))
    assert report.passed
    (session,) = sandbox.sessions
    assert session.hosts == ()
    assert session.closed


async def test_without_a_sandbox_nothing_runs(tmp_path: Path) -> None:
    sandbox = ScriptedSandbox(BARE)
    with pytest.raises(UnavailableError, match="no sandbox holds"):
        await kept_tests(tmp_path, sandbox).test(function("months"))
    assert sandbox.ran == []
