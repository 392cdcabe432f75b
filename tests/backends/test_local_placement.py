"""Where an expert goes, where it goes after that failed, and who makes room for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.backends.local.worker import PlaceError, PlaceFailure
from jarvis_desktop.core.errors import ExpertError, Fault, UnavailableError
from jarvis_desktop.core.placement import PROCESSOR, Graphics, Hardware, MemorySize, Placement
from jarvis_desktop.core.task import Call
from tests.backends.workshop import CARD, GB, TASK, Bench, Room, computer, done, expert, works

PAINTER = expert("painter", 6000, half=4000, task="text-to-image")
ON_CARD = "on the graphics card in 16 bits"


class LLM:
    """An LLM that holds memory until it is asked to leave."""

    def __init__(self, *, main: int = 0, graphics: int = 0, stays: bool = False) -> None:
        self.its = MemorySize(main, graphics)
        self.asked = 0
        self.stays = stays

    async def memory(self) -> MemorySize:
        self.asked += 1
        return self.its

    async def leave(self) -> str:
        if self.stays:
            raise UnavailableError("It did not go.")
        self.its = MemorySize()
        return "qwen"


def fails(*whys: PlaceFailure):
    """Fails for these reasons, one at each call, and works after that."""
    left = list(whys)

    async def does(bench: Bench, call: Call):
        if left:
            raise PlaceError("It failed there.", left.pop(0))
        return await works(bench, call)

    return does


async def error_of(room: Room, which=PAINTER, task: str = "text-to-image") -> ExpertError:
    with pytest.raises(ExpertError) as caught:
        await room.ask(which, task=task)
    return caught.value


@pytest.mark.parametrize(
    ("hardware", "place"),
    [
        (computer(8), "on the processor"),
        (computer(6), "on the processor in 16 bits"),
        (computer(16, Graphics("card", memory=6 * GB)), ON_CARD),
        (computer(16, Graphics("card", memory=4 * GB)), f"{ON_CARD}, part by part"),
        (computer(16, Graphics("card", memory=2 * GB)), "on the processor"),
        (computer(16, Graphics("Apple GPU", "mps", 10 * GB)), "on the GPU in 16 bits"),
        (computer(64, trouble="The driver is too old."), "on the processor"),
    ],
)
async def test_an_expert_goes_to_the_best_place_that_has_room(hardware: Hardware, place: str):
    room = Room(hardware)
    assert await room.ask(PAINTER, task="text-to-image") == ["done"]
    assert room.places == [place]


async def test_a_card_without_bfloat16_computes_in_float16():
    room = Room(computer(16, Graphics("old", memory=8 * GB, bfloat16=False)))
    await room.ask(PAINTER, task="text-to-image")
    assert room.shop.benches[0].loading.place == Placement("cuda", half=True, float16=True)


async def test_only_what_the_loader_can_part_goes_part_by_part():
    room = Room(computer(16, Graphics("card", memory=4 * GB)))
    await room.ask(PAINTER, task=TASK)
    assert room.places == ["on the processor"]


async def test_the_worker_is_told_how_much_may_stay_on_the_card():
    room = Room(computer(16, CARD))
    await room.ask(PAINTER, task="text-to-image")
    assert room.shop.benches[0].loading.on_card == int(0.8 * 3600 * 10**6)


async def test_too_little_memory_sends_it_down_one_rung_after_the_other():
    room = Room(computer(16, CARD))
    room.shop.does = fails(*[PlaceFailure.MEMORY] * 4)
    down = [await error_of(room) for _ in range(4)]
    assert [error.message for error in down] == [
        f"painter found too little memory {ON_CARD}. The next try is {ON_CARD}, part by part.",
        f"painter found too little memory {ON_CARD}, part by part. "
        "The next try is on the processor.",
        "painter found too little memory on the processor. "
        "The next try is on the processor in 16 bits.",
        "painter found too little memory on the processor in 16 bits.",
    ]
    assert [error.retryable for error in down] == [True, True, True, False]
    assert {error.fault for error in down} == {Fault.MEMORY}
    assert "Close other programs" in down[3].hint
    assert room.holding == ()


async def test_after_every_rung_failed_the_next_request_begins_at_the_top():
    """Other programs may have been closed by then."""
    room = Room(computer(16))
    room.shop.does = fails(PlaceFailure.MEMORY, PlaceFailure.MEMORY)
    assert (await error_of(room)).retryable
    assert not (await error_of(room)).retryable
    await room.ask(PAINTER, task="text-to-image")
    assert room.places[-1] == "on the processor"


async def test_while_it_is_in_memory_it_keeps_its_spot():
    """Even where a better one has become free, or other programs left no room for another."""
    room = Room(full(GB), full(8 * GB))
    await room.ask(PAINTER, task="text-to-image")
    room.backend.probe.forget()
    await room.ask(PAINTER, task="text-to-image")
    assert room.places == ["on the processor"]


async def test_the_rung_is_remembered_for_this_expert_alone():
    room = Room(computer(16, CARD))
    room.shop.does = fails(PlaceFailure.MEMORY, PlaceFailure.MEMORY)
    for _ in range(2):
        await error_of(room)
    assert await room.ask(PAINTER, task="text-to-image") == ["done"]
    assert await room.ask(PAINTER, task="text-to-image") == ["done"]
    other = expert("other", 3000, task="text-to-image")
    await room.ask(other, task="text-to-image")
    assert room.places[2:] == ["on the processor", ON_CARD]


async def test_a_process_that_the_system_ended_for_its_memory_goes_down_as_well():
    room = Room(computer(16))

    async def ended(bench: Bench, call: Call):
        bench.kill()
        raise ExpertError("The memory was full.", fault=Fault.MEMORY, retryable=True)

    room.shop.does = ended
    assert (await error_of(room)).retryable
    error = await error_of(room)
    assert not error.retryable  # there is nothing below 16 bits
    assert room.places == ["on the processor", "on the processor in 16 bits"]


async def test_what_cannot_be_computed_in_16_bits_is_in_32():
    room = Room(computer(16, CARD))
    room.shop.does = fails(PlaceFailure.NUMBERS)
    error = await error_of(room)
    assert error.message == (f"painter cannot compute {ON_CARD}. The next try is on the processor.")
    assert error.retryable
    await room.ask(PAINTER, task="text-to-image")
    assert room.places == [ON_CARD, "on the processor"]


async def test_a_lost_card_is_lost_for_all_and_that_is_said_once():
    gone = computer(16, trouble="The driver of the graphics card finds no card.")
    room = Room(computer(16, CARD), gone)
    await room.run("before", 2000)
    room.shop.does = fails(PlaceFailure.CARD)
    error = await error_of(room)
    assert error.message == (
        "painter was stopped by the graphics card. The next try is on the processor."
    )
    assert error.retryable
    await room.ask(PAINTER, task="text-to-image")
    await room.run("before", 2000)
    await room.run("after", 2000)
    assert room.places == [ON_CARD, ON_CARD, *["on the processor"] * 3]
    assert room.notes == [
        "The graphics card can no longer be used; experts run on the processor. "
        "The driver of the graphics card finds no card."
    ]
    assert room.holding == ("painter", "before", "after")


async def test_a_card_that_computes_after_all_is_kept_for_the_others():
    room = Room(computer(16, CARD))
    room.shop.does = fails(PlaceFailure.CARD)
    assert (await error_of(room)).retryable
    await room.ask(PAINTER, task="text-to-image")
    await room.run("other", 2000)
    assert room.places == [ON_CARD, "on the processor", ON_CARD]
    assert room.notes == []


def full(free: int) -> Hardware:
    """A card that other programs, or the LLM, have filled."""
    return computer(16, CARD, graphics_free=free)


async def test_the_llm_leaves_the_card_where_it_must_and_that_is_said():
    llm = LLM(graphics=6 * GB)
    room = Room(full(GB), shared_memory_user=llm)
    await room.ask(PAINTER, task="text-to-image")
    assert room.places == [ON_CARD]
    assert room.notes == [
        "The language model qwen was put out of memory to make room for painter; "
        "it is loaded again when it is needed."
    ]
    # As long as it stays, nobody is asked again.
    await room.ask(PAINTER, task="text-to-image")
    assert llm.asked == 1
    # When the LLM comes back, the expert leaves.
    room.backend.make_way_for_llm()
    assert room.holding == ()


async def test_the_llm_is_left_alone_where_there_is_room_or_its_going_would_not_help():
    llm = LLM(graphics=2 * GB)
    room = Room(full(7 * GB), shared_memory_user=llm)
    await room.ask(PAINTER, task="text-to-image")
    assert (room.places, llm.asked) == ([ON_CARD], 0)
    room.backend.make_way_for_llm()
    assert room.holding == ("painter",)  # nobody went for it

    llm = LLM(graphics=GB)
    room = Room(full(GB), shared_memory_user=llm)
    await room.ask(PAINTER, task="text-to-image")
    assert room.places == ["on the processor"]
    assert llm.its == MemorySize(0, GB)
    assert room.notes == []


async def test_an_llm_that_does_not_go_costs_a_rung_and_no_failure(caplog):
    room = Room(full(GB), shared_memory_user=LLM(graphics=6 * GB, stays=True))
    await room.ask(PAINTER, task="text-to-image")
    assert room.places == ["on the processor"]
    assert room.notes == []


async def test_the_llm_leaves_the_main_memory_only_where_nothing_else_helps():
    llm = LLM(main=5 * GB)
    room = Room(computer(16, available=4500 * 10**6), shared_memory_user=llm)
    await room.ask(PAINTER, task="text-to-image")
    assert (room.places, llm.asked) == (["on the processor in 16 bits"], 0)

    room = Room(computer(16, available=2 * GB), shared_memory_user=llm)
    await room.ask(PAINTER, task="text-to-image")
    assert room.places == ["on the processor"]
    assert llm.its == MemorySize()


async def test_an_expert_that_came_while_the_llm_was_out_leaves_with_the_others():
    room = Room(full(GB), shared_memory_user=LLM(graphics=6 * GB))
    await room.ask(PAINTER, task="text-to-image")
    room.backend.probe.now[:] = [full(5 * GB)]  # type: ignore[attr-defined]
    await room.run("small", 600)
    assert set(room.holding) == {"painter", "small"}
    room.backend.make_way_for_llm()
    assert not room.holding
    await room.run("small", 600)
    room.backend.make_way_for_llm()
    assert set(room.holding) == {"small"}


async def test_an_expert_under_way_is_not_ended_for_the_llm():
    room = Room(full(GB), shared_memory_user=LLM(graphics=6 * GB))

    async def meanwhile(bench: Bench, call: Call):
        room.backend.make_way_for_llm()
        return done(main=1000)

    room.shop.does = meanwhile
    assert await room.ask(PAINTER, task="text-to-image") == ["done"]
    assert room.holding == ("painter",)


async def test_memory_of_experts_on_the_card_is_counted_there():
    room = Room(computer(32, CARD))

    async def on_card(bench: Bench, call: Call):
        return done(main=1500, graphics=3000)

    room.shop.does = on_card
    for name in ("a", "b", "c"):
        await room.ask(expert(name, 5000))
    assert room.holding == ("b", "c")
    assert room.notes == ["a was put out of memory to make room for c."]


async def test_a_measured_need_is_known_at_the_next_start(tmp_path: Path):
    from jarvis_desktop.backends.local.placement import MemoryMeasurements

    file = tmp_path / "cache" / "memory.json"
    room = Room(computer(16), measures=MemoryMeasurements(file))

    async def takes(bench: Bench, call: Call):
        return done(main=2000, most=11_000)

    room.shop.does = takes
    await room.ask(expert("liar", 1000))
    again = MemoryMeasurements(file).known()
    assert again == {("liar", PROCESSOR): MemorySize(11 * GB)}
    room = Room(computer(8), measures=MemoryMeasurements(file))
    await room.ask(expert("liar", 1000))
    assert room.places == ["on the processor in 16 bits"]
