"""Sessions on each launcher that there is here: what ends them, and what goes in and out."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.code import Ending, Script
from jarvis_desktop.core.errors import ExpertError, InputError, StorageError, UnavailableError
from jarvis_desktop.sandbox.profile import Launch, Launcher, SandboxProfile
from jarvis_desktop.sandbox.self_test import Unsandboxed
from jarvis_desktop.sandbox.session import SandboxSession, SessionDependencies
from jarvis_desktop.sandbox.supervisor import SessionLimits
from tests.sandbox.sessions import LAUNCHERS, bench, time_ends

each = pytest.mark.parametrize("launcher", LAUNCHERS, ids=lambda item: item.name)

DAEMON = """
import os, sys
def begin_daemon():
    source, target = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            code = "import time; time.sleep(600)"
            os.execv(sys.executable, [sys.executable, "-S", "-c", code, {!r}])
        os._exit(0)
    os.close(target)
    os.read(source, 1)  # its end is closed when the daemon has begun
begin_daemon()
print("begun")
"""
"""A process that leaves its parent, its session and its group, and is known by a word."""

FOREVER = "\nimport time\nwhile True:\n    time.sleep(1)\n"


def running(word: str) -> list[str]:
    """The processes of this computer that were started with a word."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in path.read_bytes() and int(path.parent.name) != os.getpid():
                found.append(path.parent.name)
        except OSError:
            continue
    return found


async def until(holds: Callable[[], object]) -> None:
    """Wait for something that happens soon; the test's own time-out is the limit."""
    while not holds():
        await asyncio.sleep(0.01)


@each
async def test_only_what_was_agreed_to_runs(tmp_path: Path, launcher: Launcher) -> None:
    async with bench(tmp_path, launcher) as made:
        script, other = Script("open('ran', 'w')"), Script("open('ran', 'w') ")
        with pytest.raises(InputError, match="approved"):
            await made.session.run(
                script, approved=other.sha256, to=made.to, timeout=10, report=made.told.append
            )
        assert not made.folder.exists()
        # What UTF-8 cannot hold is hashed and run as one and the same.
        odd = await made.run("'\ud800' == '?'")
        assert odd.value == "True"


@each
async def test_files_go_in_under_their_names_and_out_when_new(
    tmp_path: Path, launcher: Launcher
) -> None:
    given = tmp_path / "abc123.csv"
    given.write_text("day,price\n1,2\n")
    async with bench(tmp_path, launcher, files={"prices.csv": given}) as made:
        first = await made.run("text = open('prices.csv').read()\ntext")
        assert (first.value, first.made) == ("'day,price\\n1,2\\n'", ())
        second = await made.run(
            "import os\n"
            "os.mkdir('deep')\n"
            "open('deep/a.txt', 'w').write('one')\n"
            "open('b.xlsx', 'w').write('two')\n"
            "open('.hidden', 'w').write('three')\n"
            "open('empty.txt', 'w').close()\n"
            "os.symlink('/etc/passwd', 'link.txt')\n"
        )
        assert [(item.kind, item.name) for item in second.made] == [
            (Kind.TABLE, "b.xlsx"),
            (Kind.DOCUMENT, "a.txt"),
        ]
        assert [item.path and item.path.read_text() for item in second.made] == ["two", "one"]
        assert list(second.left_out) == [
            "empty.txt was left out: it is empty.",
            "link.txt was left out: it is a link.",
        ]
        assert (await made.run("1")).made == ()
        changed = await made.run("open('prices.csv', 'a').write('2,3\\n')")
        assert [item.name for item in changed.made] == ["prices.csv"]
        # What the script made of it stays, until the file that was given is another one.
        assert (await made.run("open('prices.csv').read()")).value.endswith("2,3\\n'")
        given.write_text("day,price\n9,9\n")
        again = await made.run("open('prices.csv').read()")
        assert (again.value, again.made) == ("'day,price\\n9,9\\n'", ())


@each
async def test_the_library_is_read_and_not_written(tmp_path: Path, launcher: Launcher) -> None:
    package = tmp_path / "laid_out" / "library"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "def answer():\n    return 1 / 0 if shy else 42\nshy = False\n"
    )
    async with bench(tmp_path, launcher, library=tmp_path / "laid_out") as made:
        await made.run("open('library.py', 'w').write('answer = lambda: 0')")
        done = await made.run("import library\nfrom library import answer\nanswer()")
        assert done.value == "42"
        failed = await made.run("library.shy = True\nanswer()")
        assert 'File "library/__init__.py", line 2, in answer' in failed.error
        refused = await made.run("open(library.__file__, 'w')")
        assert refused.ending is Ending.ERROR
        assert "OSError" in refused.error or "PermissionError" in refused.error
    assert [path.name for path in package.iterdir()] == ["__init__.py"]


@each
async def test_time_runs_out_for_all_that_a_script_began(
    tmp_path: Path, launcher: Launcher
) -> None:
    word = secrets.token_hex(8)
    async with bench(tmp_path, launcher) as made:
        await made.run("x = 1")
        await made.run(DAEMON.format(word))
        assert len(running(word)) == 1
        source = "open('part.txt', 'w').write('half')\nprint('written')" + FOREVER
        with time_ends(lambda: "written\n" in "".join(made.told)):
            done = await made.run(source, timeout=0.3)
        assert (done.ending, done.fresh) == (Ending.TIMEOUT, False)
        assert done.error == "It was ended because it took longer than 0.3 seconds."
        assert [item.name for item in done.made] == ["part.txt"]
        assert running(word) == []
        after = await made.run("'x' in globals()")
        assert (after.value, after.fresh) == ("False", True)


@each
async def test_cancelling_ends_all_that_a_script_began(tmp_path: Path, launcher: Launcher) -> None:
    word = secrets.token_hex(8)
    async with bench(tmp_path, launcher) as made:
        task = asyncio.ensure_future(made.run(DAEMON.format(word) + FOREVER))
        await until(lambda: "begun" in "".join(made.told))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert running(word) == []
        assert (await made.run("1")).fresh


@each
async def test_closing_ends_all_that_a_script_began(tmp_path: Path, launcher: Launcher) -> None:
    word = secrets.token_hex(8)
    async with bench(tmp_path, launcher) as made:
        await made.run(DAEMON.format(word))
        assert running(word)
        await made.session.close()
        assert running(word) == []
        assert (await made.run("1")).fresh


APPLICATION = """
import asyncio, sys
from pathlib import Path
from tests.sandbox.sessions import LAUNCHERS, bench

async def main():
    async with bench(Path(sys.argv[1]), LAUNCHERS[int(sys.argv[2])]) as made:
        made.told = type("Told", (list,), {"append": lambda self, text: print(text, flush=True)})()
        await made.run(sys.stdin.read())

asyncio.run(main())
"""


@each
async def test_nothing_outlives_an_application_that_is_killed(
    tmp_path: Path, launcher: Launcher
) -> None:
    word = secrets.token_hex(8)
    with subprocess.Popen(
        [sys.executable, "-c", APPLICATION, str(tmp_path), str(LAUNCHERS.index(launcher))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as application:
        assert application.stdin is not None
        assert application.stdout is not None
        application.stdin.write(DAEMON.format(word) + FOREVER)
        application.stdin.close()
        assert await asyncio.to_thread(application.stdout.readline) == "begun\n"
        assert running(word)
        application.send_signal(signal.SIGKILL)
    await until(lambda: not running(word) and not running(str(tmp_path)))


@each
@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import os\nos._exit(3)", "exit code 3"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
        ("import os\nos.closerange(3, 64)", "exit code 70"),
    ],
)
async def test_a_process_that_ends_is_a_run_that_failed(
    tmp_path: Path, launcher: Launcher, source: str, words: str
) -> None:
    async with bench(tmp_path, launcher) as made:
        done = await made.run(f"print('last words', flush=True)\n{source}")
        assert (done.ending, done.printed) == (Ending.CRASHED, "last words\n")
        assert words in done.error
        assert (await made.run("1")).fresh


FORGE = """
import json, os
def say(body):
    for number in range(3, 64):
        try:
            if os.fstat(number).st_mode & 0o170000 == 0o010000:
                os.write(number, len(body).to_bytes(4, "big") + body)
        except OSError:
            pass
"""


@pytest.mark.parametrize(
    "body",
    [
        b'{"ending": "done", "value": "forged", "mark": "guess"}',
        b'{"ending": "done", "value": "forged"}',
        b"[1]",
        b"not JSON",
        b"[" * 100_000,
        b'{"ending": ["done"], "mark": "guess"}',
    ],
    ids=["mark", "no-mark", "list", "words", "deep", "kinds"],
)
async def test_what_a_script_says_in_the_kernels_name_ends_the_session(
    tmp_path: Path, body: bytes
) -> None:
    async with bench(tmp_path) as made:
        done = await made.run(FORGE + f"say({body!r})" + FOREVER)
        assert done.ending is Ending.CRASHED
        assert done.value == ""
        assert "only its own Python process may write" in done.error


@each
@pytest.mark.parametrize(
    ("source", "bounds", "ending", "words"),
    [
        (
            "parts = []\nwhile True:\n    parts.append(bytearray(b'x') * (1 << 20))",
            SessionLimits(memory=150 << 20),
            Ending.MEMORY,
            "more than 157 MB of memory",
        ),
        (
            "import subprocess\nfor _ in range(20):\n    subprocess.Popen(['sleep', '600'])"
            + FOREVER,
            SessionLimits(tasks=12),
            Ending.LIMIT,
            "more than 12 processes and threads",
        ),
        (
            "import threading\nwait = threading.Event().wait\n"
            "for _ in range(20):\n    threading.Thread(target=wait, daemon=True).start()" + FOREVER,
            SessionLimits(tasks=12),
            Ending.LIMIT,
            "more than 12 processes and threads",
        ),
        (
            "n = 0\nwhile True:\n    n += 1\n    open(f'part{n % 8}', 'wb').write(bytes(1 << 20))",
            SessionLimits(disk=4 << 20),
            Ending.LIMIT,
            "wrote more than 4 MB to its folder",
        ),
        (
            "import time\nfor n in range(100):\n    open(str(n), 'w').close()" + FOREVER,
            SessionLimits(files=50),
            Ending.LIMIT,
            "made more than 50 files",
        ),
        (
            "while True:\n    print('x' * 10000)",
            SessionLimits(printed=1 << 20),
            Ending.LIMIT,
            "printed without end",
        ),
    ],
    ids=["memory", "processes", "threads", "disk", "files", "printed"],
)
async def test_bounds_on_all_processes_together_end_a_script(
    tmp_path: Path,
    launcher: Launcher,
    source: str,
    bounds: SessionLimits,
    ending: Ending,
    words: str,
) -> None:
    async with bench(tmp_path, launcher, bounds=bounds) as made:
        done = await made.run(source)
        assert done.ending is ending
        assert words in done.error
        assert (await made.run("1")).fresh


class Failing:
    """A launcher that does not start what it should."""

    name, sandboxed, stronger = "none that works", True, ""

    def __init__(self, argv: tuple[str, ...]) -> None:
        self.argv = argv
        self.folder: Path | None = None

    def command(self, box: SandboxProfile, argv: object) -> Launch:
        if not self.argv:
            raise UnavailableError("There is no sandbox.")
        return Launch(self.argv, {}, box.folder, stop=signal.SIGKILL)

    def inside(self, box: SandboxProfile, path: Path) -> str:
        return str(path)


@pytest.mark.parametrize(
    ("argv", "kind", "words"),
    [
        ((), UnavailableError, "There is no sandbox"),
        (("/no/such/program",), ExpertError, "No such file or directory"),
        (("/bin/sh", "-c", "echo 'no permission' >&2; exit 1"), ExpertError, "no permission"),
        (("/bin/sh", "-c", "exec >&-; exec sleep 600"), ExpertError, "no sign of life"),
        (("/bin/sh", "-c", "echo nonsense; exec sleep 600"), ExpertError, "no sign of life"),
    ],
    ids=["none", "missing", "refusing", "mute", "garbled"],
)
async def test_a_process_that_does_not_start_is_told(
    tmp_path: Path, argv: tuple[str, ...], kind: type[Exception], words: str
) -> None:
    async with bench(tmp_path, Failing(argv)) as made:
        with pytest.raises(kind, match=words):
            await made.run("1")


async def test_a_session_without_a_python_says_so(tmp_path: Path) -> None:
    session = SandboxSession(tmp_path / "work", SessionDependencies(LAUNCHERS[0], None))
    with pytest.raises(UnavailableError, match="without a Python"):
        await session.run(
            Script("1"), approved=Script("1").sha256, to=tmp_path, timeout=1, report=print
        )


async def test_what_cannot_be_given_is_told_and_nothing_runs(tmp_path: Path) -> None:
    async with bench(tmp_path, files={"x.csv": tmp_path / "none"}) as made:
        with pytest.raises(InputError, match=r"x\.csv cannot be read"):
            await made.run("1")
    (tmp_path / "in_the_way").write_text("")
    async with bench(tmp_path / "in_the_way") as made:
        with pytest.raises(StorageError, match="cannot be created"):
            await made.run("1")


async def test_scripts_of_one_session_run_one_after_the_other(tmp_path: Path) -> None:
    async with bench(tmp_path) as made:
        await made.run("order = []")
        source = "import time\norder.append({0})\ntime.sleep(0.05)\norder.append({0})"
        await asyncio.gather(*(made.run(source.format(n)) for n in (1, 2)))
        assert (await made.run("order")).value in ("[1, 1, 2, 2]", "[2, 2, 1, 1]")


async def test_without_a_sandbox_no_variable_is_kept(tmp_path: Path) -> None:
    async with bench(tmp_path, Unsandboxed()) as made:
        first = await made.run("x = 1\nx")
        second = await made.run("'x' in globals()")
        assert (first.fresh, second.fresh) == (True, True)
        assert (first.value, second.value) == ("1", "False")
