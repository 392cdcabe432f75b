import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import hidden

ROOT = Path(__file__).parents[2]


def run(*args: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": hidden.PATH}
    return subprocess.run(
        [sys.executable, *args],
        capture_output=True,
        text=True,
        timeout=200,
        env=environment,
        cwd=ROOT,
        check=False,
    )


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


RARELY = [pytest.param(when, marks=pytest.mark.exhaustive) for when in ("0", "30", "400")]


@pytest.mark.parametrize("when", ["build", "start", "3", "120", "signal", "hang", *RARELY])
def test_it_closes_cleanly_at_any_moment(when: str) -> None:
    done = run("-m", "tests.ui.closing", when)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    if when in {"start", "30", "120", "400", "signal"}:  # at the others it may still be built
        assert "threads []" in done.stdout
    if when != "hang":
        assert "did not" not in done.stderr
    for pid in re.findall(r"child (\d+)", done.stdout):
        assert not is_alive(int(pid))


def test_a_slip_in_a_slot_is_logged_and_the_window_stays(tmp_path: Path) -> None:
    done = run("-m", "tests.ui.closing", "slot")
    assert done.returncode == 0, done.stderr
    assert "An error nobody caught" in done.stderr
    assert "a slip in a slot" in done.stderr


def test_the_window_imports_nothing_heavy() -> None:
    check = (
        "import sys, jarvis_desktop.ui.app;"
        "heavy = {'torch', 'transformers', 'ctranslate2', 'numpy', 'cv2', 'PIL', 'pydantic',"
        " 'sqlite_utils', 'sounddevice', 'jarvis_desktop.app.build'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    assert run("-c", check).stdout.strip() == "[]"
