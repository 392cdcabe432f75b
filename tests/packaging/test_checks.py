"""Running the checks: verdicts, the private screen, and no process left behind."""

from __future__ import annotations

import contextlib
import itertools
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import checks
import environment
import pytest


def test_step_gives_exit_code_and_closing_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    closing = (
        "\\x1b[31m===== \\x1b[1m2 failed\\x1b[0m, 510 passed in 80.12s (0:01:20) =====\\x1b[0m"
    )
    code = f"print('some line'); print('{closing}'); raise SystemExit(1)"
    _, result, _, line = checks.step(
        tmp_path, "tests", [sys.executable, "-c", code], dict(os.environ)
    )
    assert result == 1
    assert line == "2 failed, 510 passed in 80.12s (0:01:20)"
    assert "some line" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("broken", "verdict"), [("", 0), ("ruff", 1), ("pytest", 1), ("python", 1)]
)
def test_one_failure_fails_all_but_the_rest_still_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], broken: str, verdict: int
) -> None:
    folder = environment.scripts(tmp_path)
    folder.mkdir(parents=True)
    for name in ("ruff", "mypy", "lint-imports", "pytest", "python"):
        program = folder / name
        program.write_text(
            f'#!/bin/sh\necho "{name} $*: 3 passed in 0.10s"\nexit {name == broken:d}\n'
        )
        program.chmod(0o755)
    assert checks.run_all(tmp_path, []) == verdict
    shown = capsys.readouterr().out
    for name in ("ruff format --check", "ruff check", "mypy", "lint-imports"):
        assert name in shown
    summary = shown[shown.index("== Summary") :]
    assert (
        summary.count("FAILED")
        == {"": 0, "ruff": 2, "pytest": len(checks.PARTS) + 3, "python": 1}[broken]
    )
    assert summary.count(": 3 passed in 0.10s]") == len(checks.PARTS) + 8


def test_every_test_runs_once_and_only_what_must_be_covered_with_coverage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = environment.scripts(tmp_path)
    folder.mkdir(parents=True)
    for name in ("ruff", "mypy", "lint-imports", "pytest", "python"):
        (folder / name).write_text(f'#!/bin/sh\necho "ran {name} $*"\n')
        (folder / name).chmod(0o755)
    assert checks.run_all(tmp_path, []) == 0
    ran = [line for line in capsys.readouterr().out.splitlines() if line.startswith("ran pytest")]
    covered = next(line for line in ran if "--cov" in line)
    others = next(line for line in ran if "--ignore" in line)
    for name in (*checks.COVERED, *itertools.chain(*checks.PARTS.values())):
        assert (Path(checks.__file__).parents[1] / name).is_dir()
        assert f"--ignore={name}" in others.split()
        assert sum(name in line.split() for line in ran) == 1
        assert (name in covered.split()) == (name in checks.COVERED)
    for name in checks.APART:
        assert f"--ignore={name}" in others.split()


def test_arguments_run_pytest_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = environment.scripts(tmp_path)
    folder.mkdir(parents=True)
    (folder / "pytest").write_text('#!/bin/sh\necho "args: $*"\n')
    (folder / "pytest").chmod(0o755)
    assert checks.run_all(tmp_path, ["-k", "clock"]) == 0
    shown = capsys.readouterr().out
    assert "args: -k clock\n" in shown
    assert "mypy" not in shown


def test_private_screen_has_a_window_manager_and_a_bus() -> None:
    with checks.private_session() as env:
        assert "QT_QPA_PLATFORM" not in env
        assert oct(os.stat(env["XDG_RUNTIME_DIR"]).st_mode & 0o777) == "0o700"
        asked = "xdotool get_num_desktops && dbus-send --print-reply --dest=org.freedesktop.DBus / "
        asked += "org.freedesktop.DBus.GetId && echo both"
        done = subprocess.run(
            ["sh", "-c", asked], env=env, capture_output=True, text=True, check=True
        )
        assert done.stdout.endswith("both\n")
        display = env["DISPLAY"]
    gone = subprocess.run(
        ["xdotool", "get_num_desktops"],
        env={**env, "DISPLAY": display},
        capture_output=True,
        check=False,
    )
    assert gone.returncode != 0
    assert not Path(env["XDG_RUNTIME_DIR"]).exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_ends_the_children_of_children(tmp_path: Path, number: int) -> None:
    folder = environment.scripts(tmp_path)
    folder.mkdir(parents=True)
    pid = tmp_path / "pid"
    (folder / "pytest").write_text(
        f"#!/bin/sh\ntrap '' INT\nsleep 600 &\necho $! > {pid}\necho started\nwait\nwait\n"
    )
    (folder / "pytest").chmod(0o755)
    code = (
        "import sys, pathlib; sys.path.insert(0, sys.argv[1]); import checks\n"
        "checks.PATIENCE = 0.3\n"
        "checks.run_all(pathlib.Path(sys.argv[2]), ['-x'])\n"
    )
    runner = subprocess.Popen(
        [sys.executable, "-c", code, str(Path(checks.__file__).parent), str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert runner.stdout is not None
    with runner.stdout:
        for line in runner.stdout:
            if line == "started\n":  # and then goes on reading to the end, so that nothing blocks
                runner.send_signal(number)
    assert runner.wait(60) != 0
    with contextlib.suppress(ProcessLookupError):  # it has gone
        ended = os.pidfd_open(int(pid.read_text()))
        # It was killed, and may take a moment to go.
        assert select.select([ended], [], [], 60)[0]
        os.close(ended)
