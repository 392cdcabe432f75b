"""What the sandbox keeps in, what it costs, and how fast it ends: per launcher, and in sessions.

Prints each figure beside its limit; fails where one is missed. Seconds are those of this computer,
so that figures of time mean something on a calm one only; the load is printed.

Run: python -m tests.benchmarks.sandbox [--rounds 200] [--starts]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_desktop.sandbox.profile import Launcher, SandboxProfile
from jarvis_desktop.sandbox.self_test import attempt
from jarvis_desktop.sandbox.supervisor import SessionLimits, Supervisor
from tests.sandbox.corpus import ATTACKS
from tests.sandbox.corpus_run import BACKENDS, TOLD, corpus
from tests.sandbox.sessions import bench
from tests.sandbox.test_lifecycle import AND_WAITS, there

PYTHON = Path(getattr(sys, "_base_executable", sys.executable))
TIMED = ("bubblewrap", "Landlock")

MORE_TO_START, MOST_TO_STOP, MOST_TO_TRY = 0.025, 1.0, 0.3
"""Seconds: p95 more than a bare start, from a stop to the end of all, of a trial."""
LEAST_BARE = 40
"""Attacks that get out where nothing holds them, so that the rest means something."""
STARTS, TRIALS, ENDS_OF_SESSIONS = 60, 10, 10


@dataclass
class Report:
    missed: list[str] = field(default_factory=list)

    def row(self, name: str, figure: str, limit: str = "", *, held: bool = True) -> None:
        print(f"{name:58} {figure:>16}   {limit}{'' if held else '   MISSED'}", flush=True)
        if not held:
            self.missed.append(name)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=200, help="stops per launcher")
    parser.add_argument("--starts", action="store_true", help="only what a start costs")
    arguments = parser.parse_args()
    rounds: int = arguments.rounds
    report = Report()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, user {os.geteuid()}")
    _starts(report)
    if arguments.starts:
        return bool(report.missed)
    _escapes(report)
    for name in TIMED:
        _trials(report, name)
        asyncio.run(_stops(report, name, rounds))
        asyncio.run(_sessions(report, name))
    print(f"load {os.getloadavg()[0]:.1f}")
    return bool(report.missed)


def _escapes(report: Report) -> None:
    for backend, launcher in BACKENDS.items():
        figures = asyncio.run(corpus(backend))
        told = TOLD.get(backend, set())
        escaped = set(figures.escaped) - told
        count = f"{len(escaped)} of {figures.attacks}"
        if not launcher.sandboxed:
            held = len(escaped) >= LEAST_BARE
            report.row(
                "attacks that got out, nothing holding", count, f">= {LEAST_BARE}", held=held
            )
            continue
        known = f", besides {len(told)} that are told" if told else ""
        held = not escaped and not figures.failed
        report.row(f"attacks that got out, {backend}{known}", count, "0", held=held)
        for name in sorted(escaped):
            print(f"    {name}: {ATTACKS[name].proof.value}")


def _starts(report: Report) -> None:
    """In turn, so that what else the computer does falls on all alike."""
    with tempfile.TemporaryDirectory() as name:
        box = SandboxProfile(Path(name), PYTHON)
        argv = (str(PYTHON), "-I", "-c", "pass")
        times: dict[str, list[float]] = {"": [], **{each: [] for each in TIMED}}
        for _ in range(STARTS):
            for backend, found in times.items():
                found.append(_start(BACKENDS.get(backend), box, argv))
    bare = times.pop("")
    report.row("start of python -I -c pass, p50 / p95", f"{_ms(bare, 50)} / {_ms(bare, 95)} ms")
    for backend, found in times.items():
        more = [one - other for one, other in zip(sorted(found), sorted(bare), strict=True)]
        report.row(f"  the same in {backend}", f"{_ms(found, 50)} / {_ms(found, 95)} ms")
        limit = f"<= {MORE_TO_START * 1000:.0f} ms at p95"
        held = _part(found, 95) - _part(bare, 95) <= MORE_TO_START
        report.row("    more than bare", f"{_ms(more, 50)} / {_ms(more, 95)} ms", limit, held=held)


def _start(launcher: Launcher | None, box: SandboxProfile, argv: Sequence[str]) -> float:
    began = time.perf_counter()
    if launcher is None:
        subprocess.run(argv, check=True, env={})
        return time.perf_counter() - began
    launch = launcher.command(box, argv)
    subprocess.run(
        launch.argv, check=True, env=dict(launch.env), cwd=launch.cwd, pass_fds=launch.pass_fds
    )
    took = time.perf_counter() - began
    launch.close()
    return took


def _trials(report: Report, backend: str) -> None:
    found = [_timed(lambda: attempt(BACKENDS[backend], PYTHON)) for _ in range(TRIALS)]
    limit = f"<= {MOST_TO_TRY * 1000:.0f} ms"
    held = _part(found, 95) <= MOST_TO_TRY
    report.row(
        f"trial of {backend}, p50 / p95",
        f"{_ms(found, 50)} / {_ms(found, 95)} ms",
        limit,
        held=held,
    )


async def _stops(report: Report, backend: str, rounds: int) -> None:
    """Scripts that ignore signals and leave daemons, ended from outside."""
    took: list[float] = []
    mark = f"7{time.time_ns() % 10**9:09}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for _ in range(rounds):
            argv = (str(PYTHON), "-I", "-S", "-c", AND_WAITS, mark)
            launch = BACKENDS[backend].command(SandboxProfile(folder, PYTHON), argv)
            supervisor = Supervisor(launch, SessionLimits())
            process = await supervisor.start()
            assert process.stdout is not None
            await process.stdout.readline()
            began = time.perf_counter()
            await supervisor.end()
            with suppress(TimeoutError):
                async with asyncio.timeout(5):
                    while there(mark):
                        await asyncio.sleep(0.001)
            took.append(time.perf_counter() - began)
    _ends(report, f"{backend}: stop to all dead", took, len(there(mark)))


async def _sessions(report: Report, backend: str) -> None:
    """The same for a session that is cancelled while a script runs."""
    took: list[float] = []
    mark = f"6{time.time_ns() % 10**9:09}"
    source = f"import sys; sys.argv = ['', '{mark}']\n{AND_WAITS}"
    with tempfile.TemporaryDirectory() as name:
        for number in range(ENDS_OF_SESSIONS):
            async with bench(Path(name) / str(number), BACKENDS[backend]) as one:
                running = asyncio.ensure_future(one.run(source))
                while "ready" not in "".join(one.told):
                    await asyncio.sleep(0.005)
                began = time.perf_counter()
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)
                while there(mark) and time.perf_counter() - began < 5:
                    await asyncio.sleep(0.001)
                took.append(time.perf_counter() - began)
        _ends(report, f"{backend}: cancel of a session to all dead", took, len(there(mark)))
        begun = await _timed_session(Path(name) / "timed", BACKENDS[backend])
    report.row(f"{backend}: first script of a session", f"{begun * 1000:.0f} ms")


async def _timed_session(folder: Path, launcher: Launcher) -> float:
    async with bench(folder, launcher) as one:
        began = time.perf_counter()
        outcome = await one.run("1 + 1")
        assert outcome.value == "2"
        return time.perf_counter() - began


def _ends(report: Report, name: str, took: list[float], left: int) -> None:
    worst = max(took)
    figure = f"{_ms(took, 50)} / {worst * 1000:.0f} ms"
    limit = f"<= {MOST_TO_STOP * 1000:.0f} ms"
    report.row(f"{name}, p50 / max", figure, limit, held=worst <= MOST_TO_STOP)
    report.row(f"    left of {len(took)} runs", f"{left}", "0", held=not left)


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _part(found: Sequence[float], percent: int) -> float:
    return statistics.quantiles(found, n=100, method="inclusive")[percent - 1]


def _ms(found: Sequence[float], percent: int) -> str:
    return f"{_part(found, percent) * 1000:.1f}"


if __name__ == "__main__":
    sys.exit(main())
