"""What is told of processes and of what they print, apart from any sandbox."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jarvis_desktop.core.code import Ending
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.sandbox import process_tree, supervisor
from jarvis_desktop.sandbox.profile import Launch
from jarvis_desktop.sandbox.results import (
    ProtocolError,
    ScriptOutput,
    next_message,
    pack_message,
    parse_answer,
    plain,
)
from jarvis_desktop.sandbox.supervisor import SessionLimits, Supervisor, used

FAMILY = """
import os, subprocess, sys, threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
child = subprocess.Popen([sys.executable, "-S", "-c", "print('child', flush=True); input()"],
                         stdin=subprocess.PIPE)
print("parent", flush=True)
input()
"""


@pytest.fixture
def family() -> Iterator[subprocess.Popen[str]]:
    """A process with a thread, and a child that was begun by it."""
    with subprocess.Popen(
        [sys.executable, "-S", "-c", FAMILY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        assert {parent.stdout.readline(), parent.stdout.readline()} == {"parent\n", "child\n"}
        yield parent
        parent.kill()


def test_all_that_descend_from_a_process_are_found_and_ended(
    family: subprocess.Popen[str],
) -> None:
    found = process_tree.descendants(family.pid)
    assert found[0].number == family.pid
    assert [each.tasks for each in found] == [2, 1]
    assert all(each.memory > 1 << 20 for each in found)
    assert process_tree.alive(found) == found
    process_tree.kill(found)
    family.wait()
    assert family.pid not in [each.number for each in process_tree.alive(found)]
    assert process_tree.descendants(family.pid) == ()


CHURN = """
import subprocess, sys, threading
child = subprocess.Popen([sys.executable, "-S", "-c", "print('child', flush=True); input()"],
                         stdin=subprocess.PIPE)
def churn():
    while True:
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()
for _ in range(8):
    threading.Thread(target=churn, daemon=True).start()
churn()
"""


def test_threads_that_come_and_go_hide_no_process() -> None:
    with subprocess.Popen([sys.executable, "-S", "-c", CHURN], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        parent.stdout.readline()
        for _ in range(100):
            assert len(process_tree.descendants(parent.pid)) == 2
        process_tree.pause(parent.pid)
        process_tree.kill(process_tree.descendants(parent.pid))


HEADLESS = """
import os, subprocess, sys
if len(sys.argv) == 1:
    subprocess.run([sys.executable, "-S", __file__, "child"])
import ctypes, threading
def count():
    while True:
        os.pwrite(1, bytes(1), 0)
threading.Thread(target=count).start()
ctypes.CDLL(None).pthread_exit(None)
"""


def test_one_whose_first_thread_has_ended_is_seen_held_and_ended(tmp_path: Path) -> None:
    script, out = tmp_path / "headless.py", tmp_path / "out"
    script.write_text(HEADLESS)
    with (
        out.open("wb") as file,
        subprocess.Popen([sys.executable, "-S", script], stdout=file) as parent,
    ):
        while not out.stat().st_size:
            time.sleep(0.01)
        [child] = (
            each for each in process_tree.descendants(parent.pid) if each.number != parent.pid
        )
        while Path(f"/proc/{child.number}/stat").read_text().split()[2] != "Z":
            time.sleep(0.01)
        assert process_tree.alive((child,)) == (child,)
        assert child.number in [each.number for each in process_tree.descendants(parent.pid)]
        process_tree.pause(parent.pid)
        threads = Path(f"/proc/{child.number}/task").iterdir()
        assert sorted((each / "stat").read_text().split()[2] for each in threads) == ["T", "Z"]
        process_tree.kill(process_tree.descendants(parent.pid))
        parent.wait()
    while process_tree.alive((child,)):
        time.sleep(0.01)


def test_where_the_system_lists_processes_another_way_they_are_found_too(
    family: subprocess.Popen[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    direct = process_tree.descendants(family.pid)
    monkeypatch.setattr(process_tree, "PROC", tmp_path)
    listed = process_tree._list_by_ps(family.pid)
    assert [each.number for each in listed] == [each.number for each in direct]
    assert all(each.memory > 1 << 20 for each in listed)


def test_a_number_that_is_anothers_by_now_is_left_alone() -> None:
    own = process_tree.descendants(os.getpid())[0]
    assert own.number == os.getpid()
    other = process_tree.ProcessInfo(own.number, "1", own.memory, own.tasks)
    process_tree.kill((other,))  # would end the tests
    assert process_tree.alive((other,)) == ()


def test_files_are_counted_by_what_they_take_of_the_disk(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "a").write_bytes(bytes(100_000))
    (folder / "holes").touch()
    os.truncate(folder / "holes", 1 << 40)
    (folder / "away").symlink_to("/usr", target_is_directory=True)
    count, size = used((folder, None, tmp_path / "none"), 100)
    assert count == 5
    assert 100_000 <= size < 200_000


STUBBORN = """
import os, signal, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-S", "-c",
    "import os, signal; os.setsid(); signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "os.write(1, b'child'); signal.pause()"])
os.write(1, b"parent")
signal.pause()
"""


async def test_a_launcher_that_does_not_end_is_killed_with_all_that_descends(
    tmp_path: Path,
) -> None:
    launch = Launch((sys.executable, "-S", "-c", STUBBORN), {}, tmp_path)
    started = Supervisor(launch, SessionLimits())
    process = await started.start()
    assert process.stdout is not None
    assert {*await process.stdout.readexactly(11)} == {*b"parentchild"}
    found = process_tree.descendants(process.pid)
    assert len(found) == 2
    await started.end()
    assert not started.alive
    assert process.returncode == -signal.SIGKILL
    assert process_tree.alive(found) == ()
    await started.end()


async def test_what_was_opened_for_a_start_that_failed_is_closed(tmp_path: Path) -> None:
    source, target = os.pipe()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    launch = Launch(("/no/such",), {}, tmp_path, opened=(target,), temporary=temporary)
    with pytest.raises(ExpertError, match="No such file"):
        await Supervisor(launch, SessionLimits()).start()
    assert await asyncio.to_thread(os.read, source, 1) == b""
    os.close(source)


@pytest.mark.parametrize(
    ("code", "memory", "ending", "words"),
    [
        (0, False, Ending.CRASHED, "exit code 0"),
        (3, False, Ending.CRASHED, "exit code 3"),
        (-11, False, Ending.CRASHED, "signal SIGSEGV"),
        (139, False, Ending.CRASHED, "signal SIGSEGV"),
        (-9, True, Ending.MEMORY, "memory of this computer was full"),
        (137, True, Ending.MEMORY, "memory of this computer was full"),
        (137, False, Ending.CRASHED, "signal SIGKILL"),
        (152, False, Ending.TIMEOUT, "computed for too long"),
        (255, False, Ending.CRASHED, "exit code 255"),
    ],
)
def test_exit_codes_are_told_in_words(code: int, memory: bool, ending: Ending, words: str) -> None:
    breach = supervisor._describe_exit(code, memory)
    assert breach.ending is ending
    assert words in breach.words


def printed(*parts: bytes, mark: bytes = b"\0end\0", kept: int = 1000) -> tuple[ScriptOutput, str]:
    told: list[str] = []
    made = ScriptOutput(mark, told.append, kept=kept, most=100)
    for part in parts:
        made.feed(part)
    return made, "".join(told)


def test_output_ends_at_the_mark_however_it_is_cut() -> None:
    whole = "one\ntwö\n".encode() + b"\0end\0later"
    for cut in range(len(whole) + 1):
        made, told = printed(whole[:cut], whole[cut:])
        assert (made.text(), told) == ("one\ntwö\n", "one\ntwö\n")
        assert made.ended.is_set()
    made, told = printed(*(bytes([byte]) for byte in whole))
    assert (made.text(), told) == ("one\ntwö\n", "one\ntwö\n")
    made, told = printed(b"a\0en", b"d", b"?")
    assert made.text() == told == "a�end?"
    assert not made.ended.is_set()


def test_much_output_keeps_its_beginning_and_its_end() -> None:
    made, told = printed(b"a" * 60, b"b" * 60, kept=20)
    assert made.text() == "a" * 10 + "\n… 100 bytes are left out …\n" + "b" * 10
    assert told == "a" * 10
    assert made.flooded.is_set()


def test_what_steers_a_terminal_is_taken_out() -> None:
    assert plain("\x1b[1;31mred\x1b[m\x1b]8;;http://x\x1b\\link\x1b(B") == "redlink�(B"
    assert plain("1 %\r2 %\r\nok\u202e") == "1 %\n2 %\nok�"
    assert plain("\ud800") == "�"


async def test_messages_are_read_whole_or_not_at_all() -> None:
    source = asyncio.StreamReader()
    source.feed_data(pack_message({"a": 1}) + pack_message({"b": [2]}))
    source.feed_eof()
    assert await next_message(source) == {"a": 1}
    assert await next_message(source) == {"b": [2]}
    assert await next_message(source) is None
    for garbled in (b"\xff\xff\xff\xff", b"\0\0\0\0", b"\0\0\0\x02[]", b"\0\0\0\x02{]"):
        source = asyncio.StreamReader()
        source.feed_data(garbled)
        with pytest.raises(ProtocolError):
            await next_message(source)


def test_an_answer_is_taken_for_text_of_a_size_and_no_more() -> None:
    answer = parse_answer(
        {
            "mark": "m",
            "ending": "error",
            "value": 5,
            "error": "x" * 100_000 + "\x1b[0m",
            "missing": "../pip",
            "made": ["/etc/passwd"],
        },
        "m",
    )
    assert (answer.ending, answer.value, answer.missing) == (Ending.ERROR, "", "")
    assert answer.error == "x" * 24_000
    wrong: tuple[object, ...] = ("timeout", "DONE", None, [], {})
    for ending in wrong:
        with pytest.raises(ProtocolError):
            parse_answer({"mark": "m", "ending": ending}, "m")
    with pytest.raises(ProtocolError):
        parse_answer({"ending": "done", "mark": "other"}, "m")
