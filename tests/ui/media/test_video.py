"""The real application in a real window, used with keyboard and mouse like a person would."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jarvis_desktop.core.turn import Turn
from jarvis_desktop.paths import user_paths
from jarvis_desktop.storage.history import SqliteHistory
from jarvis_desktop.tasks.registry import INVENTORY
from tests import hidden
from tests.assistant.conftest import NOON

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.screen


@pytest.fixture
def display() -> Iterator[str]:
    """A screen of the test's own, with a window manager."""
    ours, theirs = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(theirs), "-screen", "0", "1280x900x24", "-nolisten", "tcp",
         "-noreset"],
        pass_fds=[theirs],
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(theirs)
    with open(ours) as told:
        # The whole line: a server that cannot write its end dies of that.
        number = told.readline().strip() if select.select([told], [], [], 60)[0] else ""
    assert number, "Xvfb did not start"
    name = f":{number}"
    manager = subprocess.Popen(["openbox"], env=os.environ | {"DISPLAY": name}, stderr=-3)
    yield name
    for process in (manager, server):
        process.terminate()
        process.wait(60)


def until(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.1)


def turns() -> list[Turn]:
    """What the history has by now."""
    path = user_paths()
    if not path.database.exists():
        return []
    history = SqliteHistory(
        path.database,
        store_root=path.artifacts,
        inventory={item.name: item for item in INVENTORY},
        now=lambda: NOON,
    )
    try:
        listed = history.list(5)
        return [turn for item in listed for turn in history.open_conversation(item.id).turns]
    finally:
        history.close()


def children(pid: int) -> list[str]:
    done = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return done.stdout.split()


def test_a_person_types_a_request_and_closes_the_window(display: str, home: Path) -> None:
    environment = os.environ | {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
    environment["PYTHONPATH"] = hidden.PATH
    running = subprocess.Popen(
        [sys.executable, "-m", "jarvis_desktop"], env=environment, cwd=home, stderr=subprocess.PIPE
    )

    def drive(*words: str) -> None:
        command = ["timeout", "30", "xdotool", *words]
        subprocess.run(command, env=environment, check=True, capture_output=True)

    drive("search", "--sync", "--onlyvisible", "--name", "JARVIS Desktop", "windowactivate")
    drive("key", "Escape")  # leaves the first start out
    drive("type", "--delay", "20", "What is 6 times 7?")
    drive("key", "Return")
    until(lambda: any("42" in turn.reply for turn in turns()), "no answer came")
    started = children(running.pid)
    drive("key", "alt+F4")
    _, err = running.communicate(timeout=100)
    assert running.returncode == 0
    assert b"Traceback" not in err
    for pid in started:
        assert not Path(f"/proc/{pid}/exe").exists(), "a child outlived the window"
