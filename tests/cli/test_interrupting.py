"""Ctrl-C while something can be stopped, and while an editor has the terminal."""

from __future__ import annotations

import asyncio
import os
import queue
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from jarvis_desktop.cli.input import edited, stoppable, wake_by_signals
from jarvis_desktop.core.errors import InputError


@pytest.fixture
def usual() -> Iterator[list[int]]:
    """The signals that came to what was there before."""
    seen: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        seen.append(number)

    before = signal.signal(signal.SIGINT, remember)
    yield seen
    signal.signal(signal.SIGINT, before)


async def round_of_the_loop() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


async def test_what_can_be_stopped_is_stopped_first(
    usual: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    answers = [True, False, True]
    with stoppable(lambda: answers.pop(0)):
        signal.raise_signal(signal.SIGINT)
        # Nothing is stopped within the handler, wherever that came in between.
        assert len(answers) == 3
        await round_of_the_loop()
        assert (len(answers), usual) == (2, [])
        signal.raise_signal(signal.SIGINT)
        await round_of_the_loop()
        assert usual == [signal.SIGINT]
        signal.raise_signal(signal.SIGINT)
        await round_of_the_loop()
    assert capsys.readouterr().err.count("This step is stopped") == 2
    signal.raise_signal(signal.SIGINT)
    assert len(usual) == 2


async def test_a_loop_that_is_busy_makes_nobody_deaf(usual: list[int]) -> None:
    asked: list[bool] = []
    with stoppable(lambda: not asked.append(True)):  # type: ignore[func-returns-value]
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        assert usual == [signal.SIGINT]
        await round_of_the_loop()
    assert asked == [True]


async def test_where_ctrl_c_is_not_for_us_it_stays_so() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with stoppable(lambda: True):
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_leave_ctrl_c_alone() -> None:
    before, seen = signal.getsignal(signal.SIGINT), list[object]()

    async def work() -> None:
        with stoppable(lambda: True):
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=asyncio.run, args=(work(),))
    thread.start()
    thread.join()
    assert seen == [before]


async def test_ctrl_c_that_another_thread_receives_wakes_the_loop() -> None:
    wanted: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def receive() -> None:
        while wanted.get():
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    heard = asyncio.Event()
    before = signal.signal(signal.SIGINT, lambda number, frame: heard.set())
    thread = threading.Thread(target=receive)
    thread.start()
    try:
        wake_by_signals()
        for _ in range(20):  # in some, the loop sleeps when the signal arrives
            heard.clear()
            wanted.put(True)
            await heard.wait()
    finally:
        wanted.put(False)
        thread.join()
        signal.signal(signal.SIGINT, before)
        asyncio.get_running_loop().remove_signal_handler(signal.SIGURG)


def use_editor(folder: Path, monkeypatch: pytest.MonkeyPatch, does: str) -> None:
    script = folder / "editor.py"
    script.write_text(f"import os, signal, sys, pathlib\nfile = pathlib.Path(sys.argv[1])\n{does}")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")


async def test_ctrl_c_is_the_editors_while_it_has_the_terminal(
    usual: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A terminal sends it to both.
    does = "os.kill(os.getppid(), signal.SIGINT)\nfile.write_text('after it')"
    use_editor(tmp_path, monkeypatch, does)
    stopped: list[bool] = []
    with stoppable(lambda: not stopped.append(True)):  # type: ignore[func-returns-value]
        assert await edited("before", "plan.md") == "after it"
        await round_of_the_loop()
    assert (stopped, usual) == ([], [])


async def test_an_editor_is_ended_with_the_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = tmp_path / "there"
    os.mkfifo(there)
    does = f"pathlib.Path({str(there)!r}).write_text(str(os.getpid()))\nsignal.pause()"
    use_editor(tmp_path, monkeypatch, does)
    editing = asyncio.create_task(edited("before", "plan.md"))
    editor = int(await asyncio.to_thread(there.read_text))
    editing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await editing
    with pytest.raises(ProcessLookupError):
        os.kill(editor, 0)


async def test_what_is_edited_is_for_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_editor(
        tmp_path,
        monkeypatch,
        "file.write_text(f'{file.name} {file.parent.stat().st_mode & 0o77}')",
    )
    assert await edited("x", "code.py") == "code.py 0"


async def test_without_an_editor_there_is_nothing_to_edit_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError, match="There is no editor"):
        await edited("x", "code.py")
