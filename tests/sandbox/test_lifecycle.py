"""The end of a sandboxed process is the end of all that it began, however it comes."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from jarvis_desktop.core.code import Protection
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.sandbox.bubblewrap import Bubblewrap
from jarvis_desktop.sandbox.landlock import Landlock
from jarvis_desktop.sandbox.process_tree import descendants
from jarvis_desktop.sandbox.profile import Launcher, SandboxProfile
from jarvis_desktop.sandbox.self_test import choose
from jarvis_desktop.sandbox.session import OsSandbox
from jarvis_desktop.sandbox.supervisor import SessionLimits, Supervisor

PYTHON = Path(getattr(sys, "_base_executable", sys.executable))

LAUNCHERS: dict[str, Launcher] = {
    "bubblewrap": Bubblewrap(),
    "older bubblewrap": Bubblewrap(known=()),
    "Landlock": Landlock(),
    "older Landlock": Landlock(interface=4),
}

STAYS = """
import os, signal, sys
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv("/bin/sleep", ["sleep", sys.argv[1]])
        os._exit(0)
print("ready", flush=True)
"""
AND_WAITS = STAYS + "\nwhile True: signal.pause()"
ROUNDS = 8


@pytest.fixture(params=sorted(LAUNCHERS))
def launcher(request):
    return LAUNCHERS[request.param]


@pytest.fixture
def mark():
    """Seconds to sleep that nobody else does: by it those who stay are found."""
    return f"8{secrets.randbelow(10**8):08}"


def there(mark: str) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if mark.encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return found


async def until(condition: Callable[[], object]) -> None:
    """Wait for something that takes the system a moment; the time-out of the test ends it."""
    while not condition():
        await asyncio.sleep(0.005)


def begin(launcher: Launcher, folder: Path, source: str, mark: str) -> Supervisor:
    folder.mkdir(exist_ok=True)
    argv = (str(PYTHON), "-I", "-S", "-c", source, mark)
    return Supervisor(launcher.command(SandboxProfile(folder, PYTHON), argv), SessionLimits())


async def test_a_stop_ends_all_each_time(launcher, tmp_path, mark):
    async def once(number: int) -> None:
        supervisor = begin(launcher, tmp_path / str(number), AND_WAITS, mark)
        process = await supervisor.start()
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
        await supervisor.end()

    for start in range(0, ROUNDS, 4):
        await asyncio.gather(*(once(start + each) for each in range(4)))
    await until(lambda: not there(mark))


async def test_its_own_end_ends_what_it_left(launcher, tmp_path, mark):
    supervisor = begin(launcher, tmp_path / "work", STAYS + "\nsys.exit(5)", mark)
    process = await supervisor.start()
    assert await process.wait() == 5
    await until(lambda: not there(mark))
    await supervisor.end()


async def test_who_kills_the_launcher_ends_the_script(launcher, tmp_path, mark):
    waits = "import signal, sys; print('ready', flush=True); signal.pause()"
    supervisor = begin(launcher, tmp_path / "work", waits, mark)
    process = await supervisor.start()
    assert process.stdout is not None
    await process.stdout.readline()
    found = [each.number for each in descendants(process.pid)]
    process.kill()
    await until(lambda: not any(_runs(number) for number in found))
    await supervisor.end()


@pytest.mark.parametrize("name", ["bubblewrap", "Landlock"])
async def test_nothing_outlives_an_application_that_is_killed(name, tmp_path, mark):
    app = """
import subprocess, sys
from pathlib import Path
from tests.sandbox.test_lifecycle import LAUNCHERS, AND_WAITS, PYTHON
from jarvis_desktop.sandbox.profile import SandboxProfile
name, folder, mark = sys.argv[1:]
argv = (str(PYTHON), "-I", "-S", "-c", AND_WAITS, mark)
launch = LAUNCHERS[name].command(SandboxProfile(Path(folder), PYTHON), argv)
subprocess.run(launch.argv, env=dict(launch.env), cwd=launch.cwd, pass_fds=launch.pass_fds)
"""
    root = str(Path(__file__).parents[2])
    with subprocess.Popen(
        [sys.executable, "-c", app, name, str(tmp_path), mark],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": root},
    ) as process:
        assert process.stdout is not None
        assert await asyncio.to_thread(process.stdout.readline) == b"ready\n"
        assert there(mark)
        process.send_signal(signal.SIGKILL)
        await until(lambda: not there(mark))


async def test_with_every_sandbox_off_nothing_runs_outside_of_one(tmp_path, monkeypatch):
    off = (Bubblewrap("nowhere-to-be-found"), Landlock(interface=1))
    sandbox = OsSandbox(
        packages=tmp_path,
        find=_nobody,
        check=lambda host, addresses: addresses[0],
        launchers=off,
        choose=choose,
    )
    begun: list[object] = []
    monkeypatch.setattr(asyncio, "create_subprocess_exec", begun.append)
    monkeypatch.setattr(subprocess, "Popen", begun.append)
    protection = await sandbox.protection()
    assert (protection.name, protection.sandboxed) == ("none", False)
    assert "sudo apt install bubblewrap" in protection.why
    for name in ("sandbox-exec", "AppContainer", "anything"):
        with pytest.raises(UnavailableError):
            sandbox.session(tmp_path, protection=Protection(name, True), files={})
    assert begun == []


async def _nobody(host: str) -> list[str]:
    raise UnavailableError(host)


def _runs(number: int) -> bool:
    try:
        text = Path(f"/proc/{number}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] != "Z"
