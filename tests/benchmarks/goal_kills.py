"""A goal of agent mode, killed at any moment: whether it reaches its end, and nothing that was
finished is done twice.

The LLM and the prices are on loopback, the sandbox is the real one, and nobody is there. Each
command is a process of its own, killed as `kill -9` does, at a moment drawn at random; what is left
is gone on with, and may be killed again. Prints a table; fails where a limit is missed.

Run: python -m tests.benchmarks.goal_kills [--kills 60]
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer

from jarvis_desktop.paths import Paths
from jarvis_desktop.sandbox.process_tree import PROC, ProcessInfo, alive
from tests.cli.cut_off import Running, Told
from tests.line_server import running
from tests.ollama import _Handler
from tests.scenarios.cut_goals import FOUND, Entry, command, cut, done_again, log_of, settle
from tests.scenarios.mediocre import Mediocre, prices

RESUME_SECONDS = 2.0
"""Limit: from the start of a process until it tells of the goal that it goes on with."""
ENDING_SECONDS = 2.0
"""Limit: from a kill until all that had descended from the process have ended."""
AT_ONCE = 0.25
"""The part of the kills that may meet a process that starts; the others come once it told of its
goal."""
PACE = 0.05
"""Seconds for each line of an answer, so that kills meet the LLM while it writes as well."""


class _Slow(_Handler):
    def line(self, text: str) -> None:
        time.sleep(PACE)
        super().line(text)


@dataclass
class Count:
    goals: int = 0
    reached: int = 0
    kills: int = 0
    before: int = 0
    """Of these, kills before the goal was written down: there was nothing to go on with."""
    amid: dict[str, int] = field(default_factory=dict)
    """Of these, kills while a round of this branch was the last one begun."""
    again: list[Entry] = field(default_factory=list)
    lost: int = 0
    """Rounds that were in the log, and are not there any more or otherwise."""
    below: int = 0
    """Processes that had descended from those that were killed."""
    survivors: int = 0
    ending: list[float] = field(default_factory=list)
    damaged: int = 0
    resumed: list[float] = field(default_factory=list)
    """Seconds."""
    work: list[float] = field(default_factory=list)
    """Seconds of the processor's time in them, which a busy computer does not change."""


@dataclass
class Ran:
    """One process, from its start to its end."""

    told: Told
    killed: bool
    below: tuple[ProcessInfo, ...]
    shown: float | None
    """Seconds until it told of its goal; None where it was killed before."""
    work: float
    """Seconds of the processor's time until then."""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=5)
    arguments = parser.parse_args()
    chance, count = random.Random(arguments.seed), Count()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name, prices() as (host, asked):
        with running(Mediocre(url=f"http://{host}/prices.csv"), _Slow) as llm:
            home = Path(name) / "home"
            os.environ["JARVIS_DESKTOP_HOME"] = str(home)
            paths = settle(home, llm.address)
            begin = (*command(host), "--new")
            longest, needed = _alone(paths, begin, asked)
            while count.kills < arguments.kills:
                _one_goal(paths, begin, longest, chance, count, arguments.kills)
            downloads = (len(asked) - needed, needed * count.goals)
        left = _mentioning(name)
        intact = _rows(paths, "SELECT count(*) FROM goals") == [(count.goals + 2,)]
    print(f"{'in all':44} {time.monotonic() - began:>8.0f} s")
    return _report(count, downloads, left, intact=intact)


def _alone(paths: Paths, begin: tuple[str, ...], asked: list[str]) -> tuple[float, int]:
    """How long the goal takes that is left alone, in seconds from when it is told of, and how many
    downloads it needs."""
    _ran(paths, begin, None)  # what the first run of all finds out is kept
    asked.clear()
    began = time.monotonic()
    ran = _ran(paths, begin, None)
    assert ran.told.status == "done"
    assert ran.shown is not None
    return time.monotonic() - began - ran.shown, len(asked)


def _ran(
    paths: Paths, arguments: tuple[str, ...], kill_after: float | None, *, at_once: bool = False
) -> Ran:
    """Run a command, and kill it so many seconds after it told of its goal, or `at_once` after
    its beginning."""
    below: list[ProcessInfo] = []
    began = time.monotonic()
    process = Running(paths.config.parent, *arguments)
    timer = Timer(kill_after or 0, lambda: below.extend(cut(process)))
    if at_once:
        timer.start()
    told_of_it = process.until("goal_taken")
    shown, work = time.monotonic() - began, _worked(process.process.pid)
    if kill_after is not None and told_of_it and not at_once:
        timer.start()
    told = process.ended()
    if timer.is_alive():
        timer.cancel()
        timer.join()
    killed = process.process.returncode == -signal.SIGKILL
    return Ran(told, killed, tuple(below), shown if told_of_it else None, work)


def _worked(number: int) -> float:
    """Seconds of the processor's time that a process took; 0 where it has ended."""
    try:
        words = (PROC / str(number) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def _one_goal(
    paths: Paths,
    begin: tuple[str, ...],
    longest: float,
    chance: random.Random,
    count: Count,
    kills: int,
) -> None:
    """One goal until it is over; processes are killed for as long as there are kills left."""
    count.goals += 1
    goals, before = _goals(paths), dict[int, Entry]()
    arguments = begin
    while True:
        kill_after = chance.uniform(0, longest) if count.kills < kills else None
        at_once = kill_after is not None and chance.random() < AT_ONCE
        ran = _ran(paths, arguments, kill_after, at_once=at_once)
        if arguments[0] == "resume" and ran.shown is not None:
            count.resumed.append(ran.shown)
            count.work.append(ran.work)
        if ran.killed:
            count.kills += 1
            _watch_them_end(ran.below, count)
        count.damaged += _rows(paths, "PRAGMA integrity_check") != [("ok",)]
        after = log_of(paths) if _goals(paths) > goals else {}
        _compare(before, after, ran.told, count)
        if ran.killed:
            _place(after, ran.told, count)
        before = after
        if _rows(paths, "SELECT turn FROM journal"):
            arguments = ("resume",)
        elif _goals(paths) > goals:
            break
        else:
            count.before += 1
    ended = _rows(paths, "SELECT status, answer FROM goals ORDER BY number DESC LIMIT 1")
    count.reached += ended == [("done", FOUND)]


def _compare(
    before: Mapping[int, Entry], after: Mapping[int, Entry], told: Told, count: Count
) -> None:
    count.again += done_again(before, after)
    # One that was begun again, and killed, is in no log.
    done = [list(entry[:3]) for entry in before.values() if entry[4] == "done"]
    for event in told.events:
        known = event.get("number") in before or event.get("number") in after
        if event["event"] == "round_started" and not known:
            begun = [event["path"], event["branch"], event["what"]]
            count.again += [begun] if begun in done else []
    count.lost += sum(after.get(number) != entry for number, entry in before.items())


def _place(after: Mapping[int, Entry], told: Told, count: Count) -> None:
    """Count what the process was at when it was killed."""
    begun = [item for item in told.events if item["event"] == "round_started"]
    ended = {item["number"] for item in told.events if item["event"] == "round_ended"}
    under_way = [item["branch"] for item in begun if item["number"] not in ended | after.keys()]
    if not told.events:
        where = "starting"
    else:
        last = told.events[-1]["event"]
        where = "the LLM's answer" if last == "traced" else (under_way or ["between"])[-1]
    count.amid[where] = count.amid.get(where, 0) + 1


def _watch_them_end(below: tuple[ProcessInfo, ...], count: Count) -> None:
    began = time.monotonic()
    while alive(below) and time.monotonic() - began < ENDING_SECONDS:
        time.sleep(0.005)
    count.below += len(below)
    count.survivors += len(alive(below))
    count.ending.append(time.monotonic() - began)


def _rows(paths: Paths, query: str) -> list[tuple[object, ...]]:
    """Read without mending: what a kill left is for the application to cope with."""
    if not paths.database.exists():
        return []
    with closing(sqlite3.connect(f"{paths.database.as_uri()}?mode=ro", uri=True)) as db:
        return list(db.execute(query))


def _goals(paths: Paths) -> int:
    """The number of the newest goal."""
    ((number,),) = _rows(paths, "SELECT coalesce(max(number), 0) FROM goals")
    return int(str(number))


def _mentioning(name: str) -> int:
    """How many processes there are whose command names a folder."""
    count = 0
    for entry in PROC.iterdir():
        try:
            count += entry.name.isdigit() and name.encode() in (entry / "cmdline").read_bytes()
        except OSError:
            continue  # it has ended
    return count


def _report(count: Count, downloads: tuple[int, int], left: int, *, intact: bool) -> int:
    resumed = sorted(count.resumed)
    worst = resumed[round(0.95 * (len(resumed) - 1))]
    slowest = max(count.ending)
    places = ", ".join(f"{where} {number}" for where, number in sorted(count.amid.items()))
    rows = (
        ("goals, kills", f"{count.goals}, {count.kills}", "", True),
        ("kills before the goal was written down", f"{count.before}", "", True),
        ("goals that reached their end", f"{count.reached}", "all", count.reached == count.goals),
        ("finished rounds done again", f"{len(count.again)}", "0", not count.again),
        ("rounds lost from the log", f"{count.lost}", "0", count.lost == 0),
        ("downloads, needed by as many goals", "{}, {}".format(*downloads), "", True),
        ("descendants at the kills", f"{count.below}", "", True),
        ("of these alive after 2 s", f"{count.survivors}", "0", count.survivors == 0),
        ("until all had ended, longest", f"{slowest:.2f} s", "2 s", slowest < ENDING_SECONDS),
        ("processes left at the end", f"{left}", "0", left == 0),
        ("databases damaged", f"{count.damaged}", "0", count.damaged == 0),
        ("all goals in the one database", f"{intact}", "True", intact),
        ("until it goes on, median", f"{statistics.median(resumed):.2f} s", "", True),
        ("of it processor's time, median", f"{statistics.median(count.work):.2f} s", "", True),
        ("until it goes on, p95", f"{worst:.2f} s", "2 s", worst <= RESUME_SECONDS),
    )
    for name, value, limit, good in rows:
        print(f"{name:44} {value:>10}  {limit:>5}{'' if good else '   MISSED'}")
    print(f"killed while at: {places}")
    for entry in count.again:
        print("again:", *entry[:3])
    return 0 if all(good for *_, good in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
