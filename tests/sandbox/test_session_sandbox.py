"""Which launcher a session gets, and what is told where there is none."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path

import pytest

from jarvis_desktop.core.code import CodeOutcome, CodeSession, Ending, Protection, Script
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.sandbox.profile import Launcher
from jarvis_desktop.sandbox.session import OsSandbox, interpreter
from jarvis_desktop.sandbox.supervisor import SessionLimits
from jarvis_desktop.storage.web_fetch import checked, look_up
from tests.sandbox.sessions import LAUNCHERS, PYTHON

BEST = Protection("bubblewrap", True)


def sandbox(folder: Path, *, network: bool = True, best: Protection = BEST) -> OsSandbox:
    return OsSandbox(
        launchers=LAUNCHERS,
        choose=lambda python, launchers: best,
        packages=folder / "packages",
        find=look_up,
        check=checked,
        network=lambda: network,
        bounds=SessionLimits(tasks=64),
    )


async def run(session: CodeSession, source: str, to: Path) -> CodeOutcome:
    script = Script(source)
    try:
        return await session.run(
            script, approved=script.sha256, to=to, timeout=100, report=lambda text: None
        )
    finally:
        await session.close()


async def test_the_trial_is_made_once_also_when_who_waits_is_cancelled(tmp_path: Path) -> None:
    trials: list[str] = []
    begun, go_on = threading.Event(), threading.Event()

    def choose(python: Path, launchers: tuple[Launcher, ...]) -> Protection:
        assert (python, launchers) == (PYTHON, LAUNCHERS)
        trials.append("a trial")
        begun.set()
        go_on.wait()
        return BEST

    made = OsSandbox(
        packages=tmp_path, find=look_up, check=checked, launchers=LAUNCHERS, choose=choose
    )
    first = asyncio.ensure_future(made.protection())
    await asyncio.to_thread(begun.wait)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    go_on.set()
    assert await made.protection() == await made.protection() == BEST
    assert trials == ["a trial"]


async def test_a_sandbox_that_is_not_here_is_never_replaced(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="gVisor is not available"):
        sandbox(tmp_path).session(
            tmp_path / "work", protection=Protection("gVisor", True), files={}
        )


async def test_hosts_are_those_of_the_session_and_offline_there_are_none(tmp_path: Path) -> None:
    source = "import socket\nsocket.create_connection(('127.0.0.1', 9))"
    named = sandbox(tmp_path).session(
        tmp_path / "a", protection=BEST, files={}, hosts=["127.0.0.1:9"]
    )
    done = await run(named, source, tmp_path / "to")
    assert "ConnectionRefusedError" in done.error
    assert done.refused_hosts == ()
    for made, hosts in (
        (sandbox(tmp_path), ()),
        (sandbox(tmp_path, network=False), ("127.0.0.1:9",)),
    ):
        session = made.session(tmp_path / "a", protection=BEST, files={}, hosts=hosts)
        done = await run(session, source, tmp_path / "to")
        assert done.ending is Ending.ERROR
        assert done.refused_hosts == ("127.0.0.1:9",)


async def test_a_built_application_has_no_python_for_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert interpreter() == PYTHON
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert interpreter() is None
    protection = await sandbox(tmp_path).protection()
    assert not protection.sandboxed
    assert "without a Python" in protection.why
    session = sandbox(tmp_path).session(tmp_path / "work", protection=BEST, files={})
    with pytest.raises(UnavailableError, match="without a Python"):
        await run(session, "1", tmp_path / "to")
