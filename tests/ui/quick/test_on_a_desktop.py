"""The real application on a real screen with a window manager and a tray, started as people start
it: more than once, for files, by a key, and after it was killed."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jarvis_desktop import paths
from jarvis_desktop.app.ipc_client import ask
from jarvis_desktop.core.errors import JarvisError
from tests import hidden
from tests.screen import Screen, start_screen

ROOT = Path(__file__).parents[3]
PATIENCE = 90.0
WINDOW, BOX = "^JARVIS Desktop$", "^Ask JARVIS"

pytestmark = [pytest.mark.screen, pytest.mark.timeout(300)]


class Person:
    """Starts programs, presses keys and looks at what is there."""

    def __init__(self, screen: Screen, home: Path) -> None:
        self.screen = screen
        self.environment = os.environ | {"DISPLAY": screen.name, "QT_QPA_PLATFORM": "xcb"}
        self.environment |= {"XDG_SESSION_TYPE": "x11", "DBUS_SESSION_BUS_ADDRESS": "disabled:"}
        self.environment["PYTHONFAULTHANDLER"] = "1"
        self.environment.pop("WAYLAND_DISPLAY", None)
        self.home = home
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", "jarvis_desktop", *words],
            env=self.environment | {"PYTHONPATH": hidden.PATH},
            cwd=self.home,
            stderr=subprocess.PIPE,
        )
        self.started.append(process)
        return process

    def drive(self, *words: str) -> str:
        command = ["timeout", "30", "xdotool", *words]
        done = subprocess.run(
            command, env=self.environment, check=False, capture_output=True, text=True
        )
        return done.stdout.strip()

    def sees(self, title: str) -> bool:
        return bool(self.drive("search", "--onlyvisible", "--name", title))

    def looks_at(self, title: str) -> bool:
        return bool(re.search(title, self.drive("getactivewindow", "getwindowname")))

    def until(self, condition: Callable[[], object], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f"{what}\n{self.what_is_there()}"
            time.sleep(0.05)

    def what_is_there(self) -> str:
        """Which windows are seen, whether one answers, and where each program is."""
        windows = self.drive("search", "--onlyvisible", "--name", ".", "getwindowname", "%@")
        active = self.drive("getactivewindow", "getwindowname")
        answers = self.is_reached()
        places = []
        for process in self.started:
            if process.poll() is None:
                process.send_signal(signal.SIGABRT)  # faulthandler shows the stacks
                places.append(process.communicate(timeout=PATIENCE)[1].decode())
        return "\n".join((windows, f"active: {active}", f"answers: {answers}", *places))

    def is_reached(self) -> bool:
        """Whether a JARVIS answers, which has its keys by then."""
        try:
            answer = ask(paths.run_folder(), {"do": "talk", "action": "status"})
        except JarvisError:
            return False
        return bool(answer["hotkey"]["way"] == "x11")

    def ends(self, process: subprocess.Popen[bytes]) -> int:
        _, err = process.communicate(timeout=PATIENCE)
        assert b"Traceback" not in err
        return process.returncode


@pytest.fixture
def person(home: Path) -> Iterator[Person]:
    screen = start_screen("1280x900x24")
    person = Person(screen, home)
    manager = subprocess.Popen(["openbox"], env=person.environment, stderr=subprocess.DEVNULL)
    person.until(lambda: person.drive("get_num_desktops"), "openbox did not start")
    yield person
    for process in person.started:
        if process.poll() is None:
            process.kill()
            process.wait()
        assert process.stderr
        process.stderr.close()
    manager.kill()
    manager.wait()
    screen.stop()


@pytest.fixture
def tray(person: Person) -> Iterator[None]:
    assert shutil.which("trayer"), "trayer is missing: see packaging/system_packages.py"
    command = ["trayer", "--edge", "bottom", "--align", "right", "--width", "20", "--height", "26"]
    process = subprocess.Popen(command, env=person.environment, stdout=-3, stderr=-3)
    person.until(lambda: has_tray(person.screen), f"no tray came; it ended: {process.poll()}")
    yield
    process.kill()
    process.wait()


def has_tray(screen: Screen) -> bool:
    name = "_NET_SYSTEM_TRAY_S0"
    core = screen.connection.core
    atom = core.InternAtom(False, len(name), name).reply().atom
    return bool(core.GetSelectionOwner(atom).reply().owner)


def test_one_jarvis_serves_all_starts_and_lives_in_the_tray(
    person: Person, tray: None, home: Path
) -> None:
    first = person.start()
    person.until(lambda: person.looks_at(WINDOW), "the window did not come")
    person.until(person.is_reached, "it does not answer")

    person.drive("key", "alt+F4")
    person.until(lambda: not person.sees(WINDOW), "the window did not go")
    assert first.poll() is None

    letter = home / "a letter.txt"
    letter.write_text("Dear all")
    assert person.ends(person.start(letter.name)) == 0
    person.until(lambda: person.looks_at(WINDOW), "the window did not come back")

    person.drive("key", "alt+F4")
    person.until(lambda: not person.sees(WINDOW), "the window did not go again")
    person.drive("key", "ctrl+alt+j")
    person.until(lambda: person.looks_at(BOX), "the quick box did not come")
    person.drive("key", "Escape")
    person.until(lambda: not person.sees(BOX), "the quick box did not go")
    assert person.ends(person.start("--quick")) == 0
    person.until(lambda: person.looks_at(BOX), "the quick box did not come back")
    assert not person.sees(WINDOW)

    assert person.ends(person.start()) == 0
    person.until(lambda: person.sees(WINDOW), "the window did not come for the second start")

    first.send_signal(signal.SIGTERM)
    assert person.ends(first) == 0


def test_one_that_was_killed_is_no_obstacle_and_without_a_tray_closing_ends(
    person: Person,
) -> None:
    first = person.start("--hidden")
    person.until(lambda: person.sees(WINDOW), "without a tray it is not hidden")
    person.until(person.is_reached, "it does not answer")
    first.kill()
    assert first.wait(PATIENCE) == -signal.SIGKILL
    second = person.start()
    person.until(lambda: person.looks_at(WINDOW), "the second window did not come")
    person.until(person.is_reached, "the second one does not answer")
    person.drive("key", "alt+F4")
    assert person.ends(second) == 0


def test_started_hidden_it_is_only_in_the_tray(person: Person, tray: None) -> None:
    first = person.start("--hidden")
    person.until(person.is_reached, "it does not answer")
    assert not person.sees(WINDOW)
    assert person.ends(person.start("--hidden")) == 0
    assert not person.sees(WINDOW)
    assert person.ends(person.start("--new")) == 0
    person.until(lambda: person.looks_at(WINDOW), "the window did not come")
    first.send_signal(signal.SIGTERM)
    assert person.ends(first) == 0
