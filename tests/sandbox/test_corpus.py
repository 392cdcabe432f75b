"""Scripts that try to get out of the sandbox: none does, and without one most of them do.

A missing bubblewrap, Landlock or user namespace fails these tests: it must not go unnoticed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.corpus import ATTACKS, Proof
from tests.sandbox.corpus_run import BACKENDS, TOLD, corpus

ROOT = Path(__file__).parents[2]
SYSTEM_PYTHON = "/usr/bin/python3"
NOBODY = "65534"

SANDBOXES = [
    pytest.param(name, marks=[pytest.mark.exhaustive] if name.startswith("older") else [])
    for name, launcher in BACKENDS.items()
    if launcher.sandboxed
]

SLOW = {"disk", "files", "memory", "seconds"}
"""Bounds that the supervisor keeps, or the system in the same way for all."""
OLDER = {
    "older bubblewrap": {"files", "memory", "seconds", "tasks"},
    "older Landlock": {*SLOW, "tasks"},
}
"""What is not tried again there, as it would go as in the newer one."""

pytestmark = [pytest.mark.timeout(300), pytest.mark.xdist_group("corpus")]


def test_there_are_enough_attacks_of_each_kind():
    assert len(ATTACKS) >= 150
    assert {each.proof for each in ATTACKS.values()} == set(Proof)


@pytest.mark.parametrize("backend", SANDBOXES)
async def test_no_attack_gets_out(backend):
    wanted = names(without=OLDER.get(backend, set()))
    figures = await corpus(backend, *wanted)
    assert figures.failed == []
    assert set(figures.escaped) == TOLD.get(backend, set())
    assert figures.attacks == len(wanted)


def names(*, without: set[str]) -> list[str]:
    """Attacks, without those that go for a bound among these."""
    return [each.name for each in ATTACKS.values() if each.bound not in without]


async def test_without_a_sandbox_most_get_out():
    figures = await corpus("none")
    assert figures.failed == []
    assert len(figures.escaped) >= 80, "the corpus does not show what it is to show"


async def test_each_kind_of_proof_finds_what_gets_out():
    escaped = set((await corpus("none", *SAMPLE)).escaped)
    assert escaped == SAMPLE


SAMPLE = {
    "reads_ssh_key",
    "writes_outside",
    "empties_a_file",
    "leaves_a_fifo",
    "sends_signal",
    "reaches_udp",
    "reaches_socket_in_home",
    "listens",
}
"""One or two of each."""


@pytest.mark.skipif(os.geteuid() != 0, reason="these tests run as an ordinary user already")
@pytest.mark.parametrize("backend", ["bubblewrap", "older Landlock"])
def test_no_attack_of_an_ordinary_user_gets_out(backend):
    """The kernel lets root do more, and holds an ordinary user to more: both are tried."""
    figures = as_nobody(backend, names(without=SLOW))
    assert figures["failed"] == []
    assert set(figures["escaped"]) == TOLD.get(backend, set())


def as_nobody(backend: str, wanted: list[str]) -> dict[str, Any]:
    """The corpus as run by nobody."""
    paths = (str(ROOT), sysconfig.get_path("purelib"))
    user = (f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    done = subprocess.run(
        ["setpriv", *user, open_to_all(), "-B", "-c", AS_NOBODY, *paths, backend, *wanted],
        capture_output=True,
        text=True,
        env={"HOME": "/nonexistent", "PATH": os.environ["PATH"]},
        cwd="/",
    )
    assert done.returncode == 0, done.stderr
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def open_to_all() -> str:
    """A Python that anybody may start: ours may lie in the home of root."""
    ours = Path(getattr(sys, "_base_executable", sys.executable)).resolve()
    if all(folder.stat().st_mode & 0o001 for folder in ours.parents):
        return str(ours)
    return SYSTEM_PYTHON


AS_NOBODY = """
import asyncio, dataclasses, json, sys
sys.path += sys.argv[1:3]
from tests.sandbox.corpus_run import corpus
print(json.dumps(dataclasses.asdict(asyncio.run(corpus(*sys.argv[3:])))))
"""


def test_what_a_sandbox_lets_through_is_told():
    told = (ROOT / "jarvis_desktop/sandbox/landlock.py").read_text()
    assert "name of this computer" in told
    assert "whether a file whose" in told
