"""A goal that a process of its own works on with nobody there, and that is killed, as a power cut
would."""

from __future__ import annotations

import json
import signal
import sqlite3
import sysconfig
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

from jarvis_desktop.paths import Paths
from jarvis_desktop.sandbox.process_tree import ProcessInfo, descendants
from tests.cli.cut_off import Running

GOAL = "Download the prices, plot the closing prices, name the best month."
FOUND = "March was best."

Entry = Sequence[str]
"""Path, branch, what was asked for, code and status of a round that is in the log."""


def settle(home: Path, llm: str) -> Paths:
    """The folders of a person whose LLM is an Ollama at an address, and who has the packages of
    this environment for code."""
    paths = Paths(*(home / name for name in ("config", "data", "cache", "logs")))
    paths.config.mkdir(parents=True)
    table = {"provider": "ollama", "address": llm}
    lines = [f"{key} = {json.dumps(value)}" for key, value in table.items()]
    paths.settings.write_text("\n".join(["[llm]", *lines, ""]))
    paths.packages.mkdir(parents=True)
    (paths.packages / "site").symlink_to(sysconfig.get_paths()["purelib"])
    return paths


def command(host: str) -> tuple[str, ...]:
    """The arguments that begin the goal, without a person."""
    terms = ("--yes-plan", "--allow-code", "sandboxed", "--allow-host", host)
    return "agent", GOAL, *terms


def cut(running: Running) -> tuple[ProcessInfo, ...]:
    """Kill a process; what descended from it at that moment."""
    process = running.process
    process.send_signal(signal.SIGSTOP)  # so that it begins nothing more meanwhile
    below = tuple(each for each in descendants(process.pid) if each.number != process.pid)
    process.send_signal(signal.SIGKILL)
    return below


def log_of(paths: Paths) -> dict[int, Entry]:
    """The log of the newest goal by numbers, as it lies in the database; empty where there is
    none."""
    if not paths.database.exists():
        return {}
    find = (
        "SELECT goal_log.number, path, branch, what, code, goal_log.status FROM goal_log"
        " WHERE goal = (SELECT max(number) FROM goals) ORDER BY goal_log.number"
    )
    with closing(sqlite3.connect(f"{paths.database.as_uri()}?mode=ro", uri=True)) as db:
        return {number: entry for number, *entry in db.execute(find)}


def done_again(before: Mapping[int, Entry], after: Mapping[int, Entry]) -> list[Entry]:
    """The rounds that were done before, and were carried out once more."""
    done = [entry[:4] for entry in before.values() if entry[4] == "done"]
    return [entry for number, entry in after.items() if number not in before and entry[:4] in done]
