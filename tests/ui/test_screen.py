import os
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.screen


@pytest.fixture
def display() -> Iterator[str]:
    """A screen of the test's own."""
    ours, theirs = os.pipe()
    server = subprocess.Popen(
        [
            "Xvfb",
            "-displayfd",
            str(theirs),
            "-screen",
            "0",
            "1280x900x24",
            "-nolisten",
            "tcp",
            "-noreset",
        ],
        pass_fds=[theirs],
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    with open(ours) as told:
        # The whole line: a server that cannot write its end dies of that.
        number = told.readline().strip() if select.select([told], [], [], 20)[0] else ""
    assert number, "Xvfb did not start"
    yield f":{number}"
    server.terminate()
    server.wait(10)


def seconds(which: str, display: str) -> float:
    """From the start of the program to the first paint."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.ui.first_paint", which],
        env=os.environ | {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb", "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


def test_the_window_is_on_the_screen_soon_after_a_bare_one_would_be(display: str) -> None:
    # In turns, and the best of several: what else the computer does must not count.
    runs = [(seconds("bare", display), seconds("ours", display)) for _ in range(6)]
    bare, ours = (min(times) for times in zip(*runs, strict=True))
    assert ours - bare <= 0.5
