"""Runs every check and test, on a private screen, and sums up what passed and what did not."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from environment import SetupError, executable, scripts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Env = dict[str, str]

CLOSING = re.compile(r"\b(passed|failed|errors?|no tests ran)\b.* in [\d.]+s")
PATIENCE = 5.0
"""Seconds between asking a process to end, telling it to, and ending it."""
COLOUR = re.compile(r"\x1b\[[\d;]*m")
COVERED = ("tests/core", "tests/text", "tests/assistant")
"""What covers `core`, `assistant` and `text`. Coverage doubles the time of a test, so that the
others run without."""

PARTS = {
    "window": ("tests/ui",),
    "commands": ("tests/cli",),
    "services": ("tests/server", "tests/sandbox"),
    "voice": ("tests/speech",),
    "scenarios": ("tests/scenarios",),
    "backends": ("tests/backends", "tests/llm", "tests/contracts"),
    "tasks": ("tests/tasks",),
}
"""Folders of tests, those that keep a processor busy for the longest first; "others" are all that
are in none. A part runs in one process: what one imports, compiles and keeps warm is ready for all
its tests."""
APART = ("tests/real", "tests/gpu")
"""Whose tests all have a mark that "others" leaves out; to collect them imports torch."""
LANES = 4
"""How many checks run at a time. Half of the time of the tests is waiting, so that four keep two
cores busy; more make each other late."""

Check = tuple[str, list[str]]
"""A name, and a command."""
Result = tuple[str, int, float, str]
"""The name of a check, its exit code, its seconds, and pytest's closing line if it has one."""


def run_all(root: Path, pytest_args: list[str]) -> int:
    """0 if everything passed. With `pytest_args` only pytest runs, without the coverage demand."""
    # Hundreds of processes start in the tests: none should compile every module again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # The tiny networks of the tests gain nothing from threads, which wait for each other busily.
    os.environ["OMP_NUM_THREADS"] = "1"
    with _ended_by_signals(), private_session() as env:
        if pytest_args:
            done = [step(root, "tests", ["pytest", *_pytest(), *pytest_args], env)]
        else:
            done = _in_lanes(root, _everything(), env)
    print("\n== Summary", *map(_line, done), sep="\n")
    worst = any(code for _, code, _, _ in done)
    print("Not all passed." if worst else "All passed.", flush=True)
    return int(worst)


def _everything() -> list[Check]:
    """The quick checks, then the longest first: none should run alone at the end."""
    covered = ["--cov", "--cov-report=term-missing:skip-covered", *COVERED]
    others = [f"--ignore={name}" for names in (COVERED, APART, *PARTS.values()) for name in names]
    pytest = ["pytest", *_pytest()]
    parts = [(part, [*pytest, *names]) for part, names in PARTS.items()]
    return [
        ("weights", ["python", "packaging/real_weights.py", "ci"]),
        ("format", ["ruff", "format", "--check"]),
        ("lint", ["ruff", "check"]),
        ("imports", ["lint-imports"]),
        *parts[:2],
        ("others", [*pytest, *others]),
        ("covered", [*pytest, *covered]),
        *parts[2:],
        ("types", ["mypy"]),
        # In one process, which loads each of the real weights once.
        ("real", ["pytest", "-m", "real", "tests/real"]),
    ]


def _pytest() -> list[str]:
    colour = ["--color=yes"] if sys.stdout.isatty() else []
    if sys.platform.startswith("linux"):
        return colour
    # Elsewhere there is no private screen and no private sound server to be had.
    left_out = ("screen", "sound", "gpu", "exhaustive", "real", "real_large")
    return [*colour, "-m", " and ".join(f"not {mark}" for mark in left_out)]


def step(root: Path, name: str, command: list[str], env: Env) -> Result:
    """Run one check and show what it prints."""
    began = time.monotonic()
    with _started(root, name, command, env, subprocess.PIPE) as process:
        assert process.stdout is not None
        closing = _shown(process.stdout)
        code = process.wait()
    return name, code, time.monotonic() - began, closing


def _in_lanes(root: Path, waiting: list[Check], env: Env) -> list[Result]:
    """Run checks, `LANES` at a time; show what each printed when it has ended."""
    done: list[Result] = []
    running: list[_Running] = []
    with contextlib.ExitStack() as stack:
        while waiting or running:
            while waiting and len(running) < LANES:
                name, command = waiting.pop(0)
                printed = stack.enter_context(
                    tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
                )
                process = stack.enter_context(_started(root, name, command, env, printed))
                running.append(_Running(name, process, printed, time.monotonic()))
            for check in [each for each in running if each.process.poll() is not None]:
                running.remove(check)
                done.append(check.result())
            time.sleep(0.05)
    return done


@dataclass
class _Running:
    name: str
    process: subprocess.Popen[str]
    printed: IO[str]
    began: float

    def result(self) -> Result:
        """Of one that has ended; shows what it printed."""
        spent = time.monotonic() - self.began
        print(f"\n== what {self.name} printed", flush=True)
        self.printed.seek(0)
        return self.name, self.process.returncode, spent, _shown(self.printed)


def _started(
    root: Path, name: str, command: list[str], env: Env, output: IO[str] | int
) -> contextlib.AbstractContextManager[subprocess.Popen[str]]:
    local = scripts(root) / executable(command[0])
    if local.is_file():
        command = [str(local), *command[1:]]
    print(f"\n== {name}: {Path(command[0]).name} {' '.join(command[1:])}", flush=True)
    return ended_after(
        subprocess.Popen(
            command,
            cwd=str(root),
            env=dict(env, PYTHONUNBUFFERED="1"),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
    )


def _shown(lines: Iterable[str]) -> str:
    """Print lines as they come; return pytest's closing one, if there is one."""
    closing = ""
    for line in lines:
        print(line, end="", flush=True)
        closing = _closing(line) or closing
    return closing


def _closing(line: str) -> str:
    return COLOUR.sub("", line).strip(" =\n") if CLOSING.search(line) else ""


def _line(result: Result) -> str:
    name, code, spent, closing = result
    verdict = "passed" if code == 0 else f"FAILED (exit code {code})"
    return f"  {name:<8} {spent:6.1f} s  {verdict}" + (f"  [{closing}]" if closing else "")


@contextlib.contextmanager
def private_session() -> Iterator[Env]:
    """The environment with a screen, a window manager and a message bus that nobody else uses."""
    if not sys.platform.startswith("linux"):
        yield dict(os.environ)
        return
    foreign = (
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "XDG_SESSION_TYPE",
        "QT_QPA_PLATFORM",
        "PULSE_SERVER",
        "XAUTHORITY",
    )
    env = {name: value for name, value in os.environ.items() if name not in foreign}
    with contextlib.ExitStack() as stack:
        runtime = tempfile.mkdtemp(prefix="jarvis-tests-")  # 0700, as Qt and PulseAudio demand
        stack.callback(shutil.rmtree, runtime, ignore_errors=True)
        env["XDG_RUNTIME_DIR"] = runtime
        env["JARVIS_TESTS_BUILT"] = runtime  # what one check builds, the others find there
        bus = ["dbus-daemon", "--session", "--nofork", "--print-address={}"]
        env["DBUS_SESSION_BUS_ADDRESS"] = stack.enter_context(_telling(bus, env))
        # Without -noreset the server forgets its settings whenever its last window closes.
        screen = ["Xvfb", "-displayfd", "{}", "-screen", "0", "1600x1000x24", "-noreset"]
        env["DISPLAY"] = ":" + stack.enter_context(_telling([*screen, "-nolisten", "tcp"], env))
        stack.enter_context(_quiet(["openbox"], env))
        _wait_for_window_manager(env)
        yield env


@contextlib.contextmanager
def _telling(command: list[str], env: Env) -> Iterator[str]:
    """Run a server that writes one line, where it can be reached, into the pipe named by {}."""
    reader, writer = os.pipe()
    with _quiet([word.format(writer) for word in command], env, keep=(writer,)):
        os.close(writer)
        with os.fdopen(reader) as told:
            where = told.readline().strip()
        if not where:
            raise SetupError(f"{command[0]}, which the tests need, did not start.")
        yield where


def _wait_for_window_manager(env: Env) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        # Answered only once a window manager has announced its desktops.
        asked = subprocess.run(
            ["xdotool", "get_num_desktops"], env=env, capture_output=True, check=False
        )
        if asked.returncode == 0:
            return
        time.sleep(0.05)
    raise SetupError("openbox, the window manager for the tests, did not start.")


@contextlib.contextmanager
def _quiet(command: list[str], env: Env, keep: tuple[int, ...] = ()) -> Iterator[None]:
    with ended_after(
        subprocess.Popen(
            command,
            env=env,
            pass_fds=keep,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
    ):
        yield


@contextlib.contextmanager
def ended_after(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """End a process and all that it started, first politely, when the block is left."""
    try:
        yield process
    finally:
        if os.name == "nt":
            process.terminate()
        else:
            _end_group(process)
        process.wait()
        if process.stdout:
            process.stdout.close()


def _end_group(process: subprocess.Popen[str]) -> None:
    if sys.platform == "win32":
        return
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE)


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let a plain `kill` end the children as Ctrl-C does."""

    def stop(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
