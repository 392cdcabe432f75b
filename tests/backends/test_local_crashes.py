"""Real processes that crash, hang, are killed or take too much: a failed call and nothing else."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from jarvis_desktop.backends.local.backend import LocalBackend
from jarvis_desktop.core.artifact import Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, Fault, InputError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.placement import MB, Graphics, Hardware
from jarvis_desktop.core.task import Call, TaskType
from jarvis_desktop.tasks.definition import Definition
from tests.backends.misbehaving import Folder, start
from tests.backends.workshop import GB, Seen, nothing

TASK = "fill-mask"
CARDS = Graphics("card", memory=20 * GB, id="GPU-7")


class Bench:
    """A local backend whose experts do what they are told."""

    def __init__(self, tmp_path: Path, hardware: Hardware | None = None, **settings) -> None:
        definitions = {TASK: Definition(TaskType(TASK, "", (), (Kind.TEXT,)))}
        self.work = tmp_path
        self.backend = LocalBackend(
            definitions,
            Folder(tmp_path / "expert"),
            probe=Seen(hardware or Hardware(16 * GB)),
            start=start,
            **settings,
        )

    async def do(
        self, what: str, *, name: str = "a", report=nothing, seconds: float | None = None
    ) -> str:
        call = Call(TASK, {"do": (text_artifact(what),)}, {}, self.work, seconds=seconds)
        (result,) = await self.backend.run(Candidate(Expert(name, TASK), "local"), call, report)
        return result.text or ""


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    made = Bench(tmp_path)
    yield made
    await made.backend.close()


@pytest.mark.parametrize("way", ["abort", "kill", "exit"])
async def test_a_process_that_ends_is_a_failed_call_and_nothing_else_is_lost(bench, way):
    other = await bench.do("pid", name="other")
    before = await bench.do("pid")
    with pytest.raises(ExpertError, match="stopped unexpectedly") as caught:
        await bench.do(way)
    assert caught.value.fault is Fault.CRASH
    assert caught.value.retryable
    assert bench.backend.holding == ("other",)
    assert await bench.do("pid") != before
    assert await bench.do("pid", name="other") == other


async def test_one_that_is_killed_between_calls_is_not_even_a_failed_call(bench):
    before = int(await bench.do("pid"))
    os.kill(before, signal.SIGKILL)
    async with asyncio.timeout(60):
        while bench.backend.holding:
            await asyncio.sleep(0.01)
    assert int(await bench.do("pid")) != before


async def test_one_that_is_killed_from_outside_in_the_middle_fails_at_once(bench):
    pid = int(await bench.do("pid"))
    began = asyncio.Event()
    hanging = asyncio.create_task(bench.do("hang", report=lambda fraction, words: began.set()))
    await began.wait()
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(ExpertError, match=r"exit code -9"):
        await hanging
    assert int(await bench.do("pid")) != pid


async def test_one_that_hangs_is_ended_and_a_fresh_one_follows(bench):
    before = await bench.do("pid")
    with pytest.raises(ExpertError, match="gave no answer within 1 seconds") as caught:
        await bench.do("hang", seconds=1.0)
    assert caught.value.fault is Fault.TIMEOUT
    assert bench.backend.holding == ()
    assert await bench.do("pid") != before


async def test_refusals_and_slips_leave_the_process_as_it_is(bench):
    before = await bench.do("pid")
    with pytest.raises(InputError, match="It will not"):
        await bench.do("refuse")
    with pytest.raises(ExpertError, match="ZeroDivisionError: a slip"):
        await bench.do("fail")
    assert await bench.do("close") == "closed"  # its standard streams are nothing to it
    assert await bench.do("pid") == before


@pytest.mark.usefixtures("spawned_children")  # a fork of one with libraries has more than that
async def test_a_process_never_takes_more_than_the_budget(tmp_path):
    """The system refuses it the memory; first in 32 bits, then in 16."""
    bench = Bench(tmp_path, budget=500 * MB)
    assert await bench.do("fill 100") == str(100 * MB)
    held = bench.backend.held.main
    most = next(iter(bench.backend.measures.known().values())).main
    assert 100 * MB < most < 500 * MB
    assert held < most
    for place, again in (("on the processor", True), ("on the processor in 16 bits", False)):
        with pytest.raises(ExpertError, match=f"found too little memory {place}[;.]") as caught:
            await bench.do("fill 600")
        assert caught.value.fault is Fault.MEMORY
        assert caught.value.retryable is again
    await bench.backend.close()


async def test_a_card_that_is_full_or_broken_is_told_from_other_troubles(tmp_path):
    bench = Bench(tmp_path, Hardware(32 * GB, graphics=CARDS))
    with pytest.raises(ExpertError, match="found too little memory on the graphics card") as caught:
        await bench.do("exhaust")
    assert caught.value.retryable
    with pytest.raises(ExpertError, match="stopped by the graphics card") as caught:
        await bench.do("break", name="b")
    assert caught.value.retryable
    assert "The next try is on the processor" in caught.value.message
    await bench.backend.close()


async def test_the_worker_sees_the_card_that_was_chosen_among_several(tmp_path):
    bench = Bench(tmp_path, Hardware(32 * GB, graphics=CARDS))
    with pytest.raises(ExpertError):
        await bench.do("break")
    # By now it is on the processor, where the worker need not ask torch how full the card is.
    assert await bench.do("card") == "GPU-7"
    await bench.backend.close()
