"""What a session does between two scripts, and what is left of one that is ended at any moment."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from jarvis_desktop.core.code import Ending
from jarvis_desktop.core.errors import StorageError, UnavailableError
from jarvis_desktop.sandbox.landlock import Landlock
from jarvis_desktop.sandbox.process_tree import descendants
from jarvis_desktop.sandbox.profile import Launcher
from jarvis_desktop.sandbox.supervisor import SessionLimits
from tests.sandbox.sessions import LAUNCHERS, bench

each = pytest.mark.parametrize("launcher", LAUNCHERS, ids=lambda item: item.name)

SPIN = """
import os, threading
def count(path):
    with open(path, 'w') as file:
        while True:
            file.seek(0)
            file.write(str(int(open(path).read() or 0) + 1))
            file.flush()
for name in ('.a', '.b'):
    open(name, 'w').close()
threading.Thread(target=count, args=('.a',), daemon=True).start()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        count('.b')
    os._exit(0)
os.wait()
while not (os.path.getsize('.a') and os.path.getsize('.b')):
    pass
"""


@each
async def test_between_two_scripts_nothing_of_a_session_runs(
    tmp_path: Path, launcher: Launcher
) -> None:
    async with bench(tmp_path, launcher) as made:
        assert (await made.run(SPIN)).ending is Ending.DONE
        files = [made.folder / ".a", made.folder / ".b"]
        counts = [file.read_text() for file in files]
        # A process of this computer that is begun now, and ends, has had the time to run.
        process = await asyncio.create_subprocess_exec("/bin/true")
        await process.wait()
        assert [file.read_text() for file in files] == counts
        goes_on = "\n".join(
            f"while open({name!r}).read() in ('', {count!r}): pass"
            for name, count in zip((".a", ".b"), counts, strict=True)
        )
        assert (await made.run(goes_on)).ending is Ending.DONE


@each
async def test_closing_while_a_script_runs_tells_whoever_waits_for_it(
    tmp_path: Path, launcher: Launcher
) -> None:
    async with bench(tmp_path, launcher) as made:
        runs = [asyncio.ensure_future(made.run("print('begun')\nwhile True: pass"))]
        while "begun" not in "".join(made.told):
            await asyncio.sleep(0.01)
        runs.append(asyncio.ensure_future(made.run("1")))  # waits for the first
        await asyncio.sleep(0)
        await asyncio.gather(made.session.close(), made.session.close())
        for run in runs:
            with pytest.raises(UnavailableError, match="closed before the script had ended"):
                await run
        assert (await made.run("2")).value == "2"


@pytest.fixture
async def nothing_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """No process, no descriptor and no folder for temporary files outlives the test."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))

    def opened() -> Counter[str]:
        links = []
        for name in os.listdir("/proc/self/fd"):
            with suppress(OSError):
                links.append(os.readlink(f"/proc/self/fd/{name}"))
        return Counter(link for link in links if link.startswith(("pipe", "/memfd")))

    before, processes = opened(), len(descendants(os.getpid()))
    yield
    # What an earlier test left may have gone in between.
    assert not opened() - before
    assert len(descendants(os.getpid())) <= processes
    assert list(temporary.iterdir()) == []


async def some_steps(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


@each
@pytest.mark.usefixtures("nothing_left")
async def test_a_session_that_is_cancelled_at_any_step_leaves_nothing(
    tmp_path: Path, launcher: Launcher
) -> None:
    async with bench(tmp_path, launcher) as made:
        for step in range(0, 60, 3):
            run = asyncio.ensure_future(made.run("while True: pass"))
            # Steps of the loop are shorter than what is done in threads: wait for some of those.
            await asyncio.sleep(step / 1000 if step % 2 else 0)
            await some_steps(step)
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run


@each
@pytest.mark.usefixtures("nothing_left")
async def test_a_session_that_is_closed_at_any_step_leaves_nothing(
    tmp_path: Path, launcher: Launcher
) -> None:
    async with bench(tmp_path, launcher) as made:
        for step in range(1, 40, 3):
            run = asyncio.ensure_future(made.run("while True: pass"))
            await asyncio.sleep(step / 1000 if step % 2 else 0)
            await some_steps(step)
            await made.session.close()
            with pytest.raises(UnavailableError):
                await run


@pytest.mark.usefixtures("nothing_left")
async def test_temporary_files_go_however_deep_they_lie(tmp_path: Path) -> None:
    deep = (
        "import os\nos.chdir(os.environ['TMPDIR'])\n"
        "for n in range(1200):\n    os.mkdir('d')\n    os.chdir('d')\n"
    )
    async with bench(tmp_path, Landlock()) as made:
        await made.run(deep)


HIDING = {
    "unlinked": (
        "kept = []\nfor n in range(16):\n"
        "    kept.append(open('x', 'wb'))\n    os.unlink('x')\n"
        "    kept[-1].write(block)\n    kept[-1].flush()\n",
        "wrote more than",
    ),
    "deep": (
        "for n in range(40):\n    os.mkdir('d')\n    os.chdir('d')\n"
        "for n in range(16):\n    open(str(n), 'wb').write(block)\n",
        "cannot be looked into",
    ),
    "beyond all paths": (
        "for n in range(1200):\n    os.mkdir('dddd')\n    os.chdir('dddd')\n"
        "for n in range(16):\n    open(str(n), 'wb').write(block)\n",
        "cannot be looked into",
    ),
}


@each
@pytest.mark.parametrize("way", HIDING)
async def test_what_is_hidden_counts_and_does_not_stay(
    tmp_path: Path, launcher: Launcher, way: str
) -> None:
    source, words = HIDING[way]
    async with bench(tmp_path, launcher, bounds=SessionLimits(disk=8 << 20)) as made:
        await made.run("open('kept.txt', 'w').write('x')")
        start = "import os\nblock = bytes(1 << 20)\n"
        done = await made.run(f"{start}{source}while True: pass")
        assert done.ending is Ending.LIMIT
        assert words in done.error
        assert [path.name for path in made.folder.iterdir()] == ["kept.txt"]
        again = await made.run("import time\ntime.sleep(0.2)\nopen('kept.txt').read()")
        assert (again.ending, again.value) == (Ending.DONE, "'x'")


async def test_what_filled_the_folder_goes_and_what_was_given_comes_again(tmp_path: Path) -> None:
    given = tmp_path / "given.csv"
    given.write_text("1\n")
    bounds = SessionLimits(files=40)
    async with bench(tmp_path, files={"given.csv": given}, bounds=bounds) as made:
        many = "for n in range(100):\n    open(f'n{n}', 'w').write('x')\n"
        done = await made.run(f"open('given.csv', 'a').write('2')\n{many}while True: pass")
        assert done.ending is Ending.LIMIT
        assert "more than 40 files" in done.error
        assert done.made  # what was taken before it went
        assert list(made.folder.iterdir()) == []
        again = await made.run("import time\ntime.sleep(0.2)\nopen('given.csv').read()")
        assert (again.ending, again.value) == (Ending.DONE, "'1\\n'")


async def test_a_disk_that_is_nearly_full_ends_a_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = iter([9 << 20, *[4 << 20] * 1000])
    monkeypatch.setattr("jarvis_desktop.sandbox.supervisor._free", lambda folder: next(free))
    async with bench(tmp_path) as made:
        done = await made.run("while True: pass")
        assert (done.ending, done.error) == (
            Ending.LIMIT,
            "It was ended because the disk has only 4 MB left.",
        )


async def test_a_folder_that_was_closed_is_opened_and_a_link_is_refused(tmp_path: Path) -> None:
    async with bench(tmp_path) as made:
        await made.run("import os\nos.chmod('.', 0o300)")
        assert (await made.run("1")).ending is Ending.DONE
        assert made.folder.stat().st_mode & 0o777 == 0o700
        await made.session.close()
        (tmp_path / "private").mkdir()
        made.folder.rmdir()
        made.folder.symlink_to(tmp_path / "private", target_is_directory=True)
        with pytest.raises(StorageError, match="It is a link"):
            await made.run("open('x', 'w')")
        assert list((tmp_path / "private").iterdir()) == []


async def test_a_file_that_could_not_be_carried_in_is_carried_in_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = tmp_path / "given.csv"
    given.write_text("1")

    def full(*args: object) -> None:
        raise StorageError("The disk is full.")

    async with bench(tmp_path, files={"given.csv": given}) as made:
        with monkeypatch.context() as patch:
            patch.setattr("jarvis_desktop.sandbox.session.copy_in", full)
            with pytest.raises(StorageError):
                await made.run("1")
        assert (await made.run("open('given.csv').read()")).value == "'1'"


async def test_a_pool_of_threads_that_is_not_closed_holds_nobody_up(tmp_path: Path) -> None:
    async with bench(tmp_path) as made:
        done = await made.run(
            "from concurrent.futures import ThreadPoolExecutor\n"
            "pool = ThreadPoolExecutor(2)\n"
            "list(pool.map(str, range(2)))"
        )
        assert (done.ending, done.value) == (Ending.DONE, "['0', '1']")
