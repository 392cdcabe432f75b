"""Runs the corpus in a sandbox, and tells which attacks got out and by what."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from jarvis_desktop.sandbox.bubblewrap import Bubblewrap
from jarvis_desktop.sandbox.landlock import Landlock
from jarvis_desktop.sandbox.process_tree import descendants
from jarvis_desktop.sandbox.profile import Launcher, ProcessLimits, SandboxProfile
from jarvis_desktop.sandbox.self_test import Unsandboxed
from jarvis_desktop.sandbox.supervisor import SessionLimits, Supervisor, used
from tests.sandbox import (
    attacks_files,
    attacks_kernel,
    attacks_network,
    attacks_processes,
    attacks_resources,
    attacks_secrets,
)
from tests.sandbox.corpus import ATTACKS, PRELUDE, Attack, Proof
from tests.sandbox.corpus_stage import Stage, kill

MODULES = (
    attacks_files,
    attacks_kernel,
    attacks_network,
    attacks_processes,
    attacks_resources,
    attacks_secrets,
)
"""Where the attacks are: importing them makes them known."""

MIB, GIB = 1 << 20, 1 << 30
LIMITS = ProcessLimits(
    cpu=1,
    memory=1024 * MIB,
    file_size=4 * MIB,
    open_files=128,
    processes=256,
    temporary=8 * MIB,
)
BOUNDS = SessionLimits(memory=256 * MIB, tasks=256, disk=96 * MIB, files=1000)
FORKING = replace(BOUNDS, memory=8 * GIB)
"""What processes share counts for each of them, so that many small ones look large."""

BACKENDS: Mapping[str, Launcher] = {
    "bubblewrap": Bubblewrap(),
    "older bubblewrap": Bubblewrap(known=()),
    "Landlock": Landlock(),
    "older Landlock": Landlock(interface=4),
    "none": Unsandboxed(),
}
TOLD = {
    "Landlock": {"learns_host_name", "finds_out_that_a_file_exists", "reads_target_of_link"},
}
TOLD["older Landlock"] = TOLD["Landlock"]
"""What a backend is known to let through, as the documents tell: names, no contents."""

AT_A_TIME = 3
GROUP = 45
"""Attacks that share a sandbox, one after the other."""
LONG = 20.0
"""Seconds after which a process is ended from outside."""
GONE = 10.0
"""Seconds after the end in which whoever is still there has got away; on a busy computer it may
take some until all are gone."""
LIVING = 0.6
"""Seconds that one which is not to end lives."""


@dataclass
class Figures:
    """What came of a backend."""

    backend: str
    attacks: int = 0
    escaped: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    """Those of which nothing is known, because what they ran in gave no answer."""
    stopping: dict[str, float] = field(default_factory=dict)
    """Seconds from the wish to the end of all processes, by the first attack of each."""
    told: dict[str, str] = field(default_factory=dict)


@dataclass
class Peaks:
    tasks: int = 0
    memory: int = 0
    disk: int = 0
    files: int = 0
    seconds: float = 0.0

    def passed(self) -> set[str]:
        """The bounds that were passed more than twice."""
        kinds = ("tasks", "memory", "disk", "files")
        return {kind for kind in kinds if getattr(self, kind) > 2 * getattr(BOUNDS, kind)} | (
            {"seconds"} if self.seconds >= LONG else set()
        )


class Run:
    """All attacks against one backend."""

    def __init__(self, backend: str, stage: Stage) -> None:
        self._launcher = BACKENDS[backend]
        self._stage = stage
        self.figures = Figures(backend)

    async def all(self, wanted: Sequence[Attack]) -> Figures:
        figures, stage = self.figures, self._stage
        figures.attacks = len(wanted)
        together = [each for each in wanted if not each.alone]
        groups = [together[start : start + GROUP] for start in range(0, len(together), GROUP)]
        alone = [[each] for each in wanted if each.alone]
        # Those that keep every processor busy come last, so that the others get some of it.
        forking = [group for group in alone if group[0].bound == "tasks"]
        calm = [group for group in groups + alone if group not in forking]
        gate = asyncio.Semaphore(AT_A_TIME)

        async def gated(group: list[Attack]) -> None:
            async with gate:
                await self._one(group)

        await asyncio.gather(*(gated(group) for group in calm))
        for group in forking:
            await self._one(group)
        stage.hear()
        marks = stage.marks()
        for each in together:
            reached = each.proof is Proof.REACHED and each.name.encode() in stage.received
            if reached or (each.proof is Proof.MARK and each.name in marks):
                figures.escaped.append(each.name)
        figures.escaped.sort()
        return figures

    async def _one(self, group: list[Attack]) -> None:
        stage, figures = self._stage, self.figures
        work = stage.root / f"work-{group[0].name}"
        work.mkdir(mode=0o700)
        box = SandboxProfile(
            folder=work,
            python=stage.python,
            readable=((stage.root / "library", "/jarvis/library"),),
            limits=LIMITS,
        )
        alone = group[0].alone
        inside = self._launcher.inside
        facts = stage.facts | {
            **asdict(LIMITS),
            **{f"bound_{name}": value for name, value in asdict(BOUNDS).items()},
            "disk": BOUNDS.disk,
            "files": BOUNDS.files,
            "alone": alone,
            "work": inside(box, work),
            "library": inside(box, stage.root / "library"),
        }
        sources = [(each.name, each.source) for each in group]
        given = json.dumps([facts, sources]).encode() + b"\n"
        argv = (str(stage.python), "-I", "-S", "-c", PRELUDE)
        launch = await asyncio.to_thread(self._launcher.command, box, argv)
        supervisor = Supervisor(launch, FORKING if group[0].bound == "tasks" else BOUNDS)
        lives = group[0].proof is Proof.LIVES
        living, bound = LIVING if lives else LONG, group[0].bound
        printed, peaks, stopping = await self._watched(supervisor, given, living, bound)
        if lives:
            survivors, stopping = await self._survivors(stopping)
            if survivors:
                figures.escaped.append(group[0].name)
                kill(survivors)
        elif alone:
            figures.told[group[0].name] = str(peaks)
            if group[0].bound in peaks.passed():
                figures.escaped.append(group[0].name)
        else:
            self._judge(group, printed)
        figures.stopping[group[0].name] = stopping
        figures.escaped += [
            name for name in stage.left_in(work) if name in {each.name for each in group}
        ]

    async def _watched(
        self, supervisor: Supervisor, given: bytes, seconds: float, bound: str
    ) -> tuple[str, Peaks, float]:
        process = await supervisor.start()
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(given)
        output, errors = bytearray(), bytearray()
        reading = [
            asyncio.ensure_future(_read(process.stdout, output)),
            asyncio.ensure_future(_read(process.stderr, errors)),
        ]
        watching = asyncio.ensure_future(supervisor.watch(0))
        ending = asyncio.ensure_future(process.wait())
        peaks = Peaks()
        folders = (supervisor._launch.cwd, supervisor._launch.temporary)
        looking = asyncio.ensure_future(_look(process.pid, folders, peaks, bound))
        began = time.monotonic()
        await asyncio.wait({watching, ending}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        peaks.seconds = time.monotonic() - began if seconds == LONG else 0.0
        began = time.monotonic()
        await supervisor.end()
        stopping = time.monotonic() - began
        for task in (watching, looking, ending):
            task.cancel()
        await asyncio.wait(reading, timeout=1)
        for task in reading:
            task.cancel()
        await asyncio.gather(watching, looking, ending, *reading, return_exceptions=True)
        if errors:
            self.figures.told[f"errors of {process.pid}"] = errors.decode("utf-8", "replace")[
                -2000:
            ]
        return output.decode("utf-8", "replace"), peaks, stopping

    async def _survivors(self, stopping: float) -> tuple[list[int], float]:
        """Those who stay, and how long it took until none was there, `stopping` among it."""
        began = time.monotonic() - stopping
        while (found := self._stage.survivors()) and time.monotonic() < began + GONE:
            await asyncio.sleep(0.005)
        return found, time.monotonic() - began

    def _judge(self, group: list[Attack], printed: str) -> None:
        figures, stage = self.figures, self._stage
        said = {}
        for line in printed.splitlines():
            answer = json.loads(line)
            said[answer["name"]] = answer
        for each in group:
            answer = said.get(each.name)
            if answer is None:
                figures.failed.append(each.name)
                continue
            got = answer.get("got", "")
            figures.told[each.name] = got[:80] or answer["kept"]
            done = each.proof is Proof.DONE and got
            if done or (each.proof is Proof.SECRET and stage.token in got):
                figures.escaped.append(each.name)


async def _read(source: asyncio.StreamReader, into: bytearray) -> None:
    while data := await source.read(1 << 16):
        if len(into) < 4 * MIB:
            into += data


async def _look(root: int, folders: tuple[Path | None, ...], peaks: Peaks, bound: str) -> None:
    """Watch what it goes for, and only that: what looks takes time from who is to end it."""
    before = len(os.listdir("/proc"))
    while bound:
        if bound == "tasks":
            peaks.tasks = max(peaks.tasks, len(os.listdir("/proc")) - before)
        elif bound == "memory":
            found = await asyncio.to_thread(descendants, root)
            peaks.memory = max(peaks.memory, sum(each.memory for each in found))
        else:
            files, disk = await asyncio.to_thread(used, folders, 1_000_000)
            peaks.disk, peaks.files = max(peaks.disk, disk), max(peaks.files, files)
        await asyncio.sleep(0.02)


async def corpus(backend: str, *names: str) -> Figures:
    """All attacks, or those named, against a backend."""
    wanted = [each for name, each in ATTACKS.items() if not names or name in names]
    if not BACKENDS[backend].sandboxed:  # nothing would stop these but the supervisor
        wanted = [each for each in wanted if each.proof is not Proof.PASSED]
    with Stage() as stage:
        return await Run(backend, stage).all(wanted)


if __name__ == "__main__":
    print(json.dumps(asdict(asyncio.run(corpus(*sys.argv[1:])))))
