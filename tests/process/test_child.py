"""The child process: answers, refusals, crashes, hangs, cancels, and going away with its parent."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing.spawn
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from multiprocessing import forkserver
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from jarvis_desktop.core.context import current_draft
from jarvis_desktop.core.errors import ExpertError, Fault, InputError
from jarvis_desktop.process.child import Child, memory_kills

SPAWNED = pytest.mark.usefixtures("spawned_children")


def make(prefix: str = "") -> Callable[..., Any]:
    """The factory that the tests' children use."""

    def handle(report: Callable[[float | None, str], None], what: str, *args: Any) -> Any:
        match what:
            case "echo":
                return prefix + args[0]
            case "pid":
                return os.getpid()
            case "progress":
                report(0.5, "half")
                return "whole"
            case "draft":
                for piece in ("Two ", "words."):
                    current_draft.get()(piece)
                return "Two words."
            case "refuse":
                raise InputError("x.png is damaged.", hint="Give another.")
            case "fail":
                raise ZeroDivisionError("line one\nline two")
            case "unpicklable":
                return lambda: None
            case "garbled":
                return Garbled()
            case "exit":
                os._exit(3)
            case "hang":
                while True:
                    time.sleep(60)
        raise AssertionError(what)

    return handle


class Garbled:
    """Pickles, but does not come out again."""

    def __reduce__(self) -> tuple[Any, ...]:
        return int, ("no number",)


def make_where(file: Path) -> Callable[..., Any]:
    """A factory that needs something which may be missing."""
    if not file.exists():
        raise OSError(f"lib{file.name}.so: cannot open shared object file")
    return make()


def refuse() -> Callable[..., Any]:
    """A factory that says itself why it cannot."""
    raise InputError("There is no engine.", hint="Install one.")


def of_the_test() -> list[BaseProcess]:
    return [each for each in multiprocessing.active_children() if each.name == "test part"]


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch):
    """Holds up the start of processes until it is opened."""
    gate = Gate(BaseProcess.start)
    monkeypatch.setattr(BaseProcess, "start", lambda process: gate.pass_(process))
    yield gate
    gate.opened.set()


class Gate:
    def __init__(self, start: Callable[[BaseProcess], None]) -> None:
        self.start = start
        self.reached = threading.Event()
        self.opened = threading.Event()
        self.passed = 0

    def pass_(self, process: BaseProcess) -> None:
        self.reached.set()
        self.opened.wait()
        self.passed += 1
        self.start(process)


@pytest.fixture
async def child():
    made = Child("tests.process.test_child:make", "> ", name="test part")
    yield made
    await made.close()


@SPAWNED
async def test_a_call_gets_its_answer(child: Child) -> None:
    assert await child.call("echo", "hello", timeout=100) == "> hello"


async def test_calls_use_the_same_process(child: Child) -> None:
    await child.start()
    assert await child.call("pid", timeout=100) == child.pid == await child.call("pid", timeout=100)


async def test_progress_is_passed_on(child: Child) -> None:
    seen: list[tuple[float | None, str]] = []

    def report(fraction: float | None, message: str) -> None:
        seen.append((fraction, message))

    assert await child.call("progress", timeout=100, report=report) == "whole"
    assert seen == [(0.5, "half")]
    assert await child.call("progress", timeout=100) == "whole"


async def test_what_a_call_writes_arrives_while_it_runs(child: Child) -> None:
    pieces: list[str] = []
    token = current_draft.set(pieces.append)
    assert await child.call("draft", timeout=100) == "Two words."
    current_draft.reset(token)
    assert pieces == ["Two ", "words."]
    assert await child.call("draft", timeout=100) == "Two words."


async def test_a_refusal_keeps_its_hint_and_its_type(child: Child) -> None:
    with pytest.raises(InputError, match=r"x\.png") as caught:
        await child.call("refuse", timeout=100)
    assert caught.value.hint == "Give another."


async def test_a_foreign_error_becomes_one_sentence(child: Child) -> None:
    with pytest.raises(ExpertError) as caught:
        await child.call("fail", timeout=100)
    assert caught.value.message == "The test part failed: ZeroDivisionError: line one line two"


@SPAWNED
async def test_a_crash_is_a_failed_call_and_the_next_one_works(child: Child) -> None:
    with pytest.raises(ExpertError, match="exit code 3"):
        await child.call("exit", timeout=100)
    assert await child.call("echo", "again", timeout=100) == "> again"


@SPAWNED
async def test_a_hang_is_ended(child: Child) -> None:
    await child.start()
    with pytest.raises(ExpertError, match="no answer") as caught:
        await child.call("hang", timeout=0.2)
    assert (caught.value.fault, caught.value.retryable) == (Fault.TIMEOUT, True)
    assert child.pid is None
    assert await child.call("echo", "again", timeout=100) == "> again"


@SPAWNED
async def test_cancelling_kills_and_the_next_call_works(child: Child) -> None:
    pid = await child.call("pid", timeout=100)
    hanging = asyncio.create_task(child.call("hang", timeout=60))
    await asyncio.sleep(0)
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    assert child.pid is None
    await child.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert await child.call("echo", "again", timeout=100) == "> again"


@SPAWNED
async def test_a_kill_from_outside_is_noticed(child: Child) -> None:
    pid = await child.call("pid", timeout=100)
    hanging = asyncio.create_task(child.call("hang", timeout=60))
    await asyncio.sleep(0)
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(ExpertError, match="stopped unexpectedly") as caught:
        await hanging
    assert (caught.value.fault, caught.value.retryable) == (Fault.CRASH, True)


async def test_a_kill_for_want_of_memory_is_told_from_others(
    child: Child, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = tmp_path / "vmstat"
    monkeypatch.setattr("jarvis_desktop.process.child.EVENTS", events)
    events.write_text("nr_free_pages 1\noom_kill 41\n")
    pid = await child.call("pid", timeout=100)
    hanging = asyncio.create_task(child.call("hang", timeout=60))
    await asyncio.sleep(0)
    events.write_text("nr_free_pages 1\noom_kill 42\n")
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(ExpertError, match="memory of this computer was full") as caught:
        await hanging
    assert (caught.value.fault, caught.value.retryable) == (Fault.MEMORY, True)
    events.unlink()
    assert memory_kills() == 0


async def test_calls_wait_for_each_other(child: Child) -> None:
    answers = await asyncio.gather(*(child.call("echo", str(n), timeout=100) for n in range(5)))
    assert answers == [f"> {n}" for n in range(5)]


@pytest.mark.parametrize("slip", [ValueError, OSError, EOFError, TimeoutError])
async def test_a_report_that_raises_does_not_leave_its_answer_to_the_next_call(
    child: Child, slip: type[Exception]
) -> None:
    def report(fraction: float | None, message: str) -> None:
        raise slip("a slip of the caller's")

    with pytest.raises(slip, match="a slip"):
        await child.call("progress", timeout=100, report=report)
    assert await child.call("echo", "mine", timeout=100) == "> mine"


async def test_a_call_that_cannot_be_sent_raises_and_the_next_one_works(child: Child) -> None:
    with pytest.raises(Exception, match="pickle"):
        await child.call("echo", lambda: None, timeout=100)
    assert await child.call("echo", "again", timeout=100) == "> again"


async def test_the_log_tells_where_but_not_what(
    child: Child, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO), pytest.raises(ExpertError):
        await child.call("fail", timeout=100)
    assert "ZeroDivisionError" in caplog.text
    assert "test_child.py" in caplog.text
    assert "line one" not in caplog.text


async def test_a_result_that_does_not_pickle_is_a_failed_call(child: Child) -> None:
    with pytest.raises(ExpertError, match=r"failed: .*pickle"):
        await child.call("unpicklable", timeout=100)
    assert await child.call("echo", "again", timeout=100) == "> again"


async def test_an_answer_that_cannot_be_read_ends_the_call(
    child: Child, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO), pytest.raises(ExpertError, match="stopped unexpectedly"):
        await child.call("garbled", timeout=100)
    assert "ValueError" in caplog.text
    assert await child.call("echo", "again", timeout=100) == "> again"


async def test_a_factory_that_cannot_be_built_is_told_and_tried_anew(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    child = Child("tests.process.test_child:make_where", tmp_path / "sound", name="test part")
    await child.start()
    for _ in range(2):
        with pytest.raises(ExpertError) as caught:
            await child.call("echo", "", timeout=100)
        assert caught.value.message == (
            "The test part failed: OSError: libsound.so: cannot open shared object file"
        )
    (tmp_path / "sound").touch()
    assert await child.call("echo", "again", timeout=100) == "again"
    await child.close()
    assert capfd.readouterr().err == ""


async def test_a_factory_that_refuses_is_passed_on() -> None:
    child = Child("tests.process.test_child:refuse", name="test part")
    with pytest.raises(InputError, match="no engine"):
        await child.call("echo", "", timeout=100)
    await child.close()


async def test_a_factory_that_is_not_there_is_a_failed_call() -> None:
    child = Child("tests.nowhere:make", name="test part")
    with pytest.raises(ExpertError, match="failed: ModuleNotFoundError"):
        await child.call("echo", "", timeout=100)
    await child.close()


@SPAWNED
async def test_one_that_died_while_idle_is_replaced(child: Child) -> None:
    pid = await child.call("pid", timeout=100)
    os.kill(pid, signal.SIGKILL)
    await asyncio.to_thread(os.waitid, os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert child.pid is None
    assert await child.call("echo", "again", timeout=100) == "> again"


async def test_a_process_that_cannot_be_started_is_one_sentence(
    child: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(process: BaseProcess) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    with monkeypatch.context() as patch:
        patch.setattr(BaseProcess, "start", start)
        for begin in (child.start(), child.call("pid", timeout=100)):
            with pytest.raises(ExpertError, match="test part could not be started") as caught:
                await begin
            assert caught.value.retryable
    assert await child.call("echo", "again", timeout=100) == "> again"


async def test_a_thread_that_cannot_be_started_leaves_no_process(
    child: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = threading.Thread.start

    def start(thread: threading.Thread) -> None:
        if thread.name == "test part-pipe":
            raise RuntimeError("can't start new thread")
        real(thread)

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        with pytest.raises(ExpertError, match="could not be started"):
            await child.start()
    assert not of_the_test()
    assert await child.call("echo", "again", timeout=100) == "> again"


async def test_a_start_that_is_cancelled_is_used_by_the_next_call(child: Child, gate: Gate) -> None:
    for _ in range(2):
        starting = asyncio.create_task(child.start())
        await asyncio.to_thread(gate.reached.wait)
        await asyncio.sleep(0)  # the second one comes to wait for what the first one began
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
    gate.opened.set()
    assert await child.call("echo", "again", timeout=100) == "> again"
    assert gate.passed == 1


@SPAWNED
async def test_one_that_is_killed_while_it_starts_is_not_left(child: Child, gate: Gate) -> None:
    calling = asyncio.create_task(child.call("pid", timeout=100))
    await asyncio.to_thread(gate.reached.wait)
    closing = asyncio.create_task(child.close())
    await asyncio.sleep(0)
    gate.opened.set()
    await closing
    with pytest.raises(ExpertError, match="ended while it started"):
        await calling
    assert not of_the_test()
    assert await child.call("echo", "again", timeout=100) == "> again"


async def test_no_kill_waits_on_the_loop_and_none_for_ever(
    child: Child, monkeypatch: pytest.MonkeyPatch
) -> None:
    joined: list[tuple[threading.Thread, float | None]] = []
    real = BaseProcess.join

    def join(process: BaseProcess, timeout: float | None = None) -> None:
        joined.append((threading.current_thread(), timeout))
        real(process, timeout)

    monkeypatch.setattr(BaseProcess, "join", join)
    await child.start()
    child.kill()
    with pytest.raises(ExpertError, match="exit code 3"):
        await child.call("exit", timeout=100)
    await child.start()
    await child.close()
    assert len(joined) == 3
    assert all(thread is not threading.main_thread() and timeout for thread, timeout in joined)
    assert not of_the_test()


def test_a_child_says_nothing_when_its_parent_is_killed_while_it_starts() -> None:
    reader, writer = os.pipe()
    os.close(writer)
    command = multiprocessing.spawn.get_command_line(tracker_fd=reader, pipe_handle=reader)
    ended = subprocess.run(command, pass_fds=(reader,), capture_output=True, timeout=60)
    os.close(reader)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, b"", b"")


def test_a_busy_child_ends_with_its_parent() -> None:
    program = textwrap.dedent(
        """
        import asyncio
        from jarvis_desktop.process.child import Child

        async def main():
            child = Child("tests.process.test_child:make", name="test part")
            print(await child.call("pid", timeout=60), flush=True)
            await child.call("hang", timeout=600)

        if __name__ == "__main__":
            asyncio.run(main())
        """
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    # The end of the orphan shows as the end of /proc/PID or as a zombie of init.
    deadline = time.monotonic() + 60
    while _alive(pid):
        assert time.monotonic() < deadline, "the child outlived its parent"
        time.sleep(0.02)


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def test_who_goes_away_while_asking_for_a_fork_ends_no_warm_process(child: Child) -> None:
    assert await child.call("echo", "one", timeout=100) == "> one"
    child.kill()
    with socket.socket(socket.AF_UNIX) as asking:
        asking.connect(forkserver._forkserver._forkserver_address)  # type: ignore[attr-defined]
    assert await child.call("echo", "two", timeout=100) == "> two"
