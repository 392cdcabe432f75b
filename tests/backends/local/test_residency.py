"""Which experts stay in memory, which leave it, and that a call under way is never touched."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import Any

import pytest

from jarvis_desktop.backends.local.placement import MemoryMeasurements
from jarvis_desktop.backends.local.residency import ResidencyKey
from jarvis_desktop.core.errors import ExpertError, Fault
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.placement import MB, MemorySize, Placement
from jarvis_desktop.core.task import Call
from tests.backends.workshop import GB, TASK, Bench, Room, computer, done, expert, works


class Gate:
    """Holds calls until it is opened, and tells when one has come."""

    def __init__(self) -> None:
        self.came = asyncio.Event()
        self.open = asyncio.Event()

    async def __call__(self, bench: Bench, call: Call):
        self.came.set()
        await self.open.wait()
        return await works(bench, call)


async def waits(room: Room, name: str, megabytes: int) -> tuple[asyncio.Task[Any], Gate]:
    """A call that is under way until its gate is opened."""
    gate = Gate()
    before, room.shop.does = room.shop.does, gate
    running = asyncio.create_task(room.run(name, megabytes))
    await gate.came.wait()
    room.shop.does = before
    return running, gate


async def settled() -> None:
    """Everything that can go on without us has gone on."""
    for _ in range(20):
        await asyncio.to_thread(lambda: None)
        await asyncio.sleep(0)


async def test_experts_stay_in_memory_side_by_side():
    room = Room(computer(16))
    for name in ("a", "b", "a", "b", "a"):
        assert await room.run(name, 3000) == ["done"]
    assert room.shop.loads == ["a", "b"]
    assert room.holding == ("b", "a")
    assert room.notes == []


async def test_the_one_that_was_used_least_lately_makes_room_and_that_is_said():
    room = Room(computer(16))  # of which experts may take 12.8 GB
    for name in ("a", "b", "c", "a"):
        await room.run(name, 4000)
    await room.run("d", 4000)
    assert room.holding == ("c", "a", "d")
    assert room.notes == ["b was put out of memory to make room for d."]
    await room.run("b", 4000)
    assert room.shop.loads == ["a", "b", "c", "d", "b"]


async def test_a_large_one_displaces_as_many_as_it_must_and_no_more():
    room = Room(computer(16))
    for name in ("a", "b", "c"):
        await room.run(name, 3000)
    await room.run("large", 8000)
    assert room.holding == ("c", "large")
    assert [note.split()[0] for note in room.notes] == ["a", "b"]


async def test_what_was_measured_decides_and_not_what_was_thought():
    room = Room(computer(16))

    async def takes_more(bench: Bench, call: Call):
        return done(main=6000 if bench.key.expert.id == "liar" else 1000)

    room.shop.does = takes_more
    await room.run("a")
    await room.run("liar")
    assert room.backend.held == MemorySize(7 * GB)
    assert room.backend.measures.known().values()
    await room.run("b", 6000)  # would fit, if the liar took what was said of it
    assert room.holding == ("liar", "b")
    assert room.notes == ["a was put out of memory to make room for b."]


async def test_one_that_took_more_than_there_is_does_not_stay():
    room = Room(computer(16), budget=4 * GB)

    async def swells(bench: Bench, call: Call):
        return done(main=5000 if bench.key.expert.id == "liar" else 1000)

    room.shop.does = swells
    await room.run("a")
    assert await room.run("liar") == ["done"]
    assert room.holding == ()
    assert room.notes == ["a was put out of memory to make room for liar."]
    with pytest.raises(ExpertError) as caught:
        await room.ask(expert("liar", 1000, half=5000))  # it is known by now
    assert caught.value.fault is Fault.MEMORY


async def test_the_sum_is_never_above_the_budget():
    room = Room(computer(64), budget=10 * GB)
    sums = []

    async def adds_up(bench: Bench, call: Call):
        sums.append(room.backend.held.main)
        return await works(bench, call)

    room.shop.does = adds_up
    for number in range(40):
        await room.run(f"expert{number * 7 % 11}", 700 + number * 613 % 5000)
    assert max(sums) <= 10 * GB
    assert len(room.holding) > 1


async def test_an_expert_that_can_never_fit_is_refused_with_numbers():
    room = Room(computer(8))
    with pytest.raises(ExpertError) as caught:
        await room.ask(expert("film", 40_000, half=20_000))
    assert caught.value.message == (
        "film needs about 20.0 GB of memory, and experts can have 6.4 GB here."
    )
    assert caught.value.fault is Fault.MEMORY
    assert not caught.value.retryable
    assert room.shop.benches == []


async def test_what_other_programs_take_counts_when_it_is_loaded():
    room = Room(computer(16, available=GB, swap=GB))
    with pytest.raises(ExpertError) as caught:
        await room.ask(expert("writer", 4000, half=2000))
    assert caught.value.message == (
        "writer needs about 2.0 GB of memory, and 1.5 GB can be had now."
    )
    assert caught.value.hint == "Close other programs, or choose a smaller expert."
    assert not caught.value.retryable


async def test_a_call_under_way_is_never_put_out_of_memory():
    room = Room(computer(16))
    running, gate = await waits(room, "long", 9000)
    late = asyncio.create_task(room.run("late", 9000))
    await settled()
    assert room.holding == ("long",)
    gate.open.set()
    assert await running == ["done"]
    assert await late == ["done"]
    assert room.notes == ["long was put out of memory to make room for late."]


async def test_calls_to_different_experts_run_side_by_side_where_memory_allows():
    room = Room(computer(16))
    first, gate = await waits(room, "a", 4000)
    second, other = await waits(room, "b", 4000)  # it came although the first is not done
    gate.open.set()
    other.open.set()
    assert list(await asyncio.gather(first, second)) == [["done"], ["done"]]


async def test_first_calls_at_once_load_an_expert_once():
    room = Room(computer(16))
    results = await asyncio.gather(*(room.run("a", 9000) for _ in range(8)))
    assert results == [["done"]] * 8
    assert room.shop.loads == ["a"]


async def test_many_at_once_all_come_to_their_end():
    room = Room(computer(16))
    sums = []

    async def adds_up(bench: Bench, call: Call):
        sums.append(room.backend.held.main)
        await asyncio.sleep(0)
        return await works(bench, call)

    room.shop.does = adds_up
    calls = (room.run(f"e{number % 9}", 1000 + number * 997 % 9000) for number in range(60))
    assert await asyncio.gather(*calls) == [["done"]] * 60
    assert max(sums) <= 12_800 * MB


async def test_one_that_waits_for_room_can_be_stopped():
    room = Room(computer(16))
    running, gate = await waits(room, "long", 9000)
    late = asyncio.create_task(room.run("late", 9000))
    await settled()
    late.cancel()
    with pytest.raises(asyncio.CancelledError):
        await late
    gate.open.set()
    assert await running == ["done"]
    assert room.shop.loads == ["long"]


async def test_stopping_a_call_ends_its_process_alone():
    room = Room(computer(16))
    await room.run("other", 2000)
    running, _ = await waits(room, "a", 4000)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert room.holding == ("other",)
    assert room.backend.held == MemorySize(2 * GB)


async def test_stopping_one_of_two_calls_leaves_the_other_its_process():
    room = Room(computer(16))
    running, _ = await waits(room, "a", 4000)
    late = asyncio.create_task(room.run("a", 4000))  # in line for the same process
    await settled()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert room.backend.held == MemorySize(4 * GB)
    assert await late == ["done"]
    assert room.holding == ("a",)
    await room.backend.close()
    assert [bench.pid for bench in room.shop.benches] == [None]


async def test_one_in_line_that_is_stopped_does_not_end_a_process_that_starts():
    room = Room(computer(16))
    gate = Gate()

    async def starts(bench: Bench, call: Call):
        bench.kill()  # not there yet
        await gate(bench, call)
        bench.revive()
        return await works(bench, call)

    room.shop.does = starts
    running = asyncio.create_task(room.run("a", 4000))
    await gate.came.wait()
    late = asyncio.create_task(room.run("a", 4000))
    await settled()
    late.cancel()
    with pytest.raises(asyncio.CancelledError):
        await late
    assert room.backend.held == MemorySize(4 * GB)
    gate.open.set()
    assert await running == ["done"]
    assert room.holding == ("a",)


async def test_a_process_that_was_let_go_while_another_call_waited_ends_with_that_call():
    room = Room(computer(16))
    gate = Gate()

    async def fails(bench: Bench, call: Call):
        await gate(bench, call)
        room.shop.does = works
        raise ExpertError("too little", fault=Fault.MEMORY)

    room.shop.does = fails
    running = asyncio.create_task(room.run("a", 4000))
    await gate.came.wait()
    late = asyncio.create_task(room.run("a", 4000))
    await settled()
    gate.open.set()
    with pytest.raises(ExpertError, match="too little memory"):
        await running
    assert await late == ["done"]
    assert [bench.pid for bench in room.shop.benches] == [None]


async def test_a_crash_is_one_failed_call_and_a_fresh_process_follows():
    room = Room(computer(16))

    async def crashes(bench: Bench, call: Call):
        bench.kill()
        raise ExpertError("The a stopped unexpectedly (exit code -9).", fault=Fault.CRASH)

    await room.run("other", 2000)
    room.shop.does = crashes
    with pytest.raises(ExpertError, match="stopped unexpectedly"):
        await room.run("a", 2000)
    assert room.holding == ("other",)
    room.shop.does = works
    assert await room.run("a", 2000) == ["done"]
    assert room.shop.loads == ["other", "a", "a"]
    assert room.places[1] == room.places[2]  # a crash says nothing against its place


async def test_a_refusal_leaves_the_expert_in_memory():
    room = Room(computer(16))

    async def refuses(bench: Bench, call: Call):
        raise ExpertError("a is for German only.")

    room.shop.does = refuses
    with pytest.raises(ExpertError, match="German only"):
        await room.run("a", 2000)
    assert room.holding == ("a",)


async def test_tasks_with_one_loader_share_a_process_and_others_do_not(monkeypatch):
    loaders = {TASK: "text:one", "summarization": "text:one", "text-generation": "text:other"}
    monkeypatch.setattr("jarvis_desktop.backends.local.backend.LOADERS", loaders)
    room = Room(computer(16))
    for task in loaders:
        await room.run("a", 2000, task=task)
    assert room.shop.loads == ["a", "a"]
    assert room.holding == ("a", "a")


async def test_an_expert_that_was_fetched_anew_is_loaded_anew():
    room = Room(computer(16))
    await room.run("a", 2000)
    await room.run("a", 2500)
    assert room.shop.loads == ["a", "a"]
    assert room.holding == ("a",)


async def test_an_idle_expert_leaves_the_memory():
    room = Room(computer(16), idle=0.01)
    await room.run("a", 2000)
    assert room.holding == ("a",)
    async with asyncio.timeout(60):
        while room.holding:
            await asyncio.sleep(0.01)
    assert room.notes == []
    assert room.backend.held == MemorySize()


async def test_the_idle_time_begins_after_what_was_measured_is_noted():
    class SlowMeasurements(MemoryMeasurements):
        def note(self, expert_id: str, place: Placement, most: MemorySize) -> None:
            time.sleep(0.05)
            super().note(expert_id, place, most)

    room = Room(computer(16), idle=0.0, measures=SlowMeasurements())
    await room.run("a", 2000)
    assert room.holding == ("a",)


async def test_a_call_keeps_it_however_long_it_takes():
    room = Room(computer(16), idle=0.0)
    running, gate = await waits(room, "a", 2000)
    await asyncio.sleep(0.01)
    assert room.holding == ("a",)
    gate.open.set()
    assert await running == ["done"]


async def test_the_most_it_took_is_measured_and_what_it_keeps_is_held():
    room = Room(computer(16))

    async def peaks(bench: Bench, call: Call):
        return done(main=1000, most=3000)

    room.shop.does = peaks
    await room.run("a", 2000)
    assert list(room.backend.measures.known().values()) == [MemorySize(3 * GB)]
    assert room.backend.held == MemorySize(GB)  # what it takes at rest


async def test_closing_ends_every_process():
    room = Room(computer(16))
    for name in ("a", "b"):
        await room.run(name, 2000)
    await room.backend.close()
    assert room.holding == ()
    assert [bench.pid for bench in room.shop.benches] == [None, None]


def test_what_is_said_of_an_expert_does_not_make_it_another_one():
    expert = Expert("one", "fill-mask", repo="a/one", revision="1" * 40)
    key = ResidencyKey(expert, "load", Placement())
    assert key == ResidencyKey(replace(expert, likes=5, task="summarization"), "load", Placement())
    assert key != ResidencyKey(replace(expert, revision="2" * 40), "load", Placement())
    assert key != ResidencyKey(replace(expert, base=expert), "load", Placement())
    assert key != ResidencyKey(expert, "other", Placement())
    assert key != ResidencyKey(expert, "load", Placement(half=True))
