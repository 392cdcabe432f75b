"""The child process: answers, refusals, crashes, hangs, cancels, and going away with its parent."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from typing import Any

import pytest

from jarvis_desktop.child import Child
from jarvis_desktop.core.errors import ExpertError, InputError


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
            case "refuse":
                raise InputError("x.png is damaged.", hint="Give another.")
            case "fail":
                raise ZeroDivisionError("line one\nline two")
            case "exit":
                os._exit(3)
            case "hang":
                while True:
                    time.sleep(60)
        raise AssertionError(what)

    return handle


@pytest.fixture
async def child():
    made = Child("tests.test_child:make", "> ", name="test part")
    yield made
    await made.close()


async def test_a_call_gets_its_answer(child: Child) -> None:
    assert await child.call("echo", "hello", timeout=30) == "> hello"


async def test_calls_use_the_same_process(child: Child) -> None:
    await child.start()
    assert await child.call("pid", timeout=30) == child.pid == await child.call("pid", timeout=30)


async def test_progress_is_passed_on(child: Child) -> None:
    seen: list[tuple[float | None, str]] = []

    def report(fraction: float | None, message: str) -> None:
        seen.append((fraction, message))

    assert await child.call("progress", timeout=30, report=report) == "whole"
    assert seen == [(0.5, "half")]
    assert await child.call("progress", timeout=30) == "whole"


async def test_a_refusal_keeps_its_hint_and_its_type(child: Child) -> None:
    with pytest.raises(InputError, match=r"x\.png") as caught:
        await child.call("refuse", timeout=30)
    assert caught.value.hint == "Give another."


async def test_a_foreign_error_becomes_one_sentence(child: Child) -> None:
    with pytest.raises(ExpertError) as caught:
        await child.call("fail", timeout=30)
    assert caught.value.message == "The test part failed: ZeroDivisionError: line one line two"


async def test_a_crash_is_a_failed_call_and_the_next_one_works(child: Child) -> None:
    with pytest.raises(ExpertError, match="exit code 3"):
        await child.call("exit", timeout=30)
    assert await child.call("echo", "again", timeout=30) == "> again"


async def test_a_hang_is_ended(child: Child) -> None:
    await child.start()
    with pytest.raises(ExpertError, match="no answer"):
        await child.call("hang", timeout=0.2)
    assert child.pid is None
    assert await child.call("echo", "again", timeout=30) == "> again"


async def test_cancelling_kills_and_the_next_call_works(child: Child) -> None:
    pid = await child.call("pid", timeout=30)
    hanging = asyncio.create_task(child.call("hang", timeout=60))
    await asyncio.sleep(0)
    hanging.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hanging
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert await child.call("echo", "again", timeout=30) == "> again"


async def test_a_kill_from_outside_is_noticed(child: Child) -> None:
    pid = await child.call("pid", timeout=30)
    hanging = asyncio.create_task(child.call("hang", timeout=60))
    await asyncio.sleep(0)
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(ExpertError, match="stopped unexpectedly"):
        await hanging


async def test_calls_wait_for_each_other(child: Child) -> None:
    answers = await asyncio.gather(*(child.call("echo", str(n), timeout=30) for n in range(5)))
    assert answers == [f"> {n}" for n in range(5)]


def test_a_busy_child_ends_with_its_parent() -> None:
    program = textwrap.dedent(
        """
        import asyncio
        from jarvis_desktop.child import Child

        async def main():
            child = Child("tests.test_child:make", name="test part")
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
    deadline = time.monotonic() + 20
    while _alive(pid):
        assert time.monotonic() < deadline, "the child outlived its parent"
        time.sleep(0.02)


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
