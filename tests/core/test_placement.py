"""Where an expert goes on many computers: hardware is a value."""

from __future__ import annotations

import pytest

from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.placement import (
    MB,
    PROCESSOR,
    Graphics,
    Hardware,
    MemorySize,
    Placement,
    current_limits,
    fallback_places,
    limits,
    places,
    required_memory,
    too_large,
)

GB = 1000 * MB
CARD = Placement("cuda", half=True)
OLD_CARD = Placement("cuda", half=True, float16=True)
BY_PARTS = Placement("cuda", half=True, offload=True)
NARROW = Placement(half=True)
APPLE = Placement("mps", half=True)


def card(gigabytes: float, *, bfloat16: bool = True) -> Graphics:
    return Graphics("card", memory=int(gigabytes * GB), bfloat16=bfloat16)


def computer(gigabytes: float, graphics: Graphics | None = None) -> Hardware:
    return Hardware(memory=int(gigabytes * GB), graphics=graphics)


LAPTOP = computer(8)
OFFICE = computer(16)
SMALL_CARD = computer(16, card(6))
OLD = computer(16, card(8, bfloat16=False))
PLAYER = computer(32, card(12))
STUDIO = computer(64, card(24))
MAC = computer(16, Graphics("Apple GPU", "mps", int(10.6 * GB)))
DEAD_DRIVER = Hardware(memory=64 * GB, trouble="The driver is too old.")

SMALL = Expert("translator", "translation", memory_mb=1200, download_mb=300)
PAINTER = Expert("sdxl", "text-to-image", memory_mb=14_000, memory_half_mb=7500)
FILM = Expert("film", "text-to-video", memory_mb=40_000, memory_half_mb=20_400)
UNKNOWN = Expert("unknown", "translation")


@pytest.mark.parametrize(
    ("hardware", "expert", "best"),
    [
        (LAPTOP, SMALL, (PROCESSOR, NARROW)),
        (LAPTOP, PAINTER, ()),
        (LAPTOP, UNKNOWN, (PROCESSOR, NARROW)),
        (computer(12), PAINTER, (NARROW,)),
        (OFFICE, PAINTER, (NARROW,)),
        (OFFICE, FILM, ()),
        (SMALL_CARD, SMALL, (CARD, BY_PARTS, PROCESSOR, NARROW)),
        (SMALL_CARD, PAINTER, (NARROW,)),
        (OLD, PAINTER, (Placement("cuda", half=True, offload=True, float16=True), NARROW)),
        (OLD, SMALL, (OLD_CARD, Placement("cuda", True, True, True), PROCESSOR, NARROW)),
        (PLAYER, PAINTER, (CARD, BY_PARTS, PROCESSOR, NARROW)),
        (PLAYER, FILM, (NARROW,)),
        (STUDIO, FILM, (CARD, BY_PARTS, PROCESSOR, NARROW)),
        (MAC, PAINTER, (APPLE, NARROW)),
        (MAC, FILM, ()),
        (DEAD_DRIVER, FILM, (PROCESSOR, NARROW)),
        (Hardware(), FILM, (PROCESSOR, NARROW)),
    ],
)
def test_the_places_of_an_expert(hardware: Hardware, expert: Expert, best: tuple[Placement, ...]):
    found = places(expert, hardware, limits(hardware))
    assert found == best
    # Whatever is offered is one of the computer's rungs, in their order.
    every = fallback_places(hardware.graphics)
    assert [every.index(place) for place in found] == sorted(every.index(each) for each in found)


def test_places_that_failed_and_loaders_that_cannot_go_by_parts_are_left_out():
    limit = limits(STUDIO)
    assert places(PAINTER, STUDIO, limit, offloads=False) == (CARD, PROCESSOR, NARROW)
    assert places(PAINTER, STUDIO, limit, without={CARD, PROCESSOR}) == (BY_PARTS, NARROW)


@pytest.mark.parametrize(
    ("hardware", "budget", "most"),
    [
        (computer(4), 0, MemorySize(2500 * MB)),  # 1.5 GB are left to the system
        (computer(1), 0, MemorySize()),
        (LAPTOP, 0, MemorySize(6400 * MB)),
        (computer(64, card(24)), 0, MemorySize(51_200 * MB, 21_600 * MB)),
        (computer(64, card(24)), 4000 * MB, MemorySize(4000 * MB, 4000 * MB)),
        (LAPTOP, 100 * GB, MemorySize(6400 * MB)),
        (Hardware(), 4000 * MB, MemorySize(4000 * MB)),
    ],
)
def test_the_limit_leaves_the_system_its_part(hardware: Hardware, budget: int, most: MemorySize):
    assert limits(hardware, budget) == most


def test_a_memory_that_is_not_known_bounds_nothing():
    assert MemorySize(10**15).within(limits(Hardware()))


def test_what_is_free_now_and_what_is_ours_bound_the_moment():
    busy = Hardware(8 * GB, 2 * GB, swap=GB, graphics=card(8), graphics_free=3 * GB)
    assert current_limits(busy, MemorySize()) == MemorySize(2500 * MB, 3 * GB)
    assert current_limits(busy, MemorySize(2 * GB, GB)) == MemorySize(4500 * MB, 4 * GB)
    assert current_limits(busy, MemorySize(9 * GB, 9 * GB)) == limits(busy)
    unknown = Hardware(8 * GB, graphics=card(8))
    assert current_limits(unknown, MemorySize()) == limits(unknown)


def test_the_estimate_rests_on_the_catalogue_or_on_the_weights():
    half = Expert("h", "t", memory_half_mb=2400)
    tiny = Expert("t", "t", memory_half_mb=100)
    sharp = Expert("s", "t", download_mb=1000)
    fp16 = Expert("f", "t", download_mb=1000, files=("*/*.fp16.safetensors",))
    control = Expert("c", "t", download_mb=500, base=Expert("b", "t", download_mb=500))
    assert required_memory(half, PROCESSOR) == MemorySize(4400 * MB)
    assert required_memory(half, NARROW) == MemorySize(2400 * MB)
    assert required_memory(tiny, PROCESSOR) == required_memory(tiny, NARROW) == MemorySize(100 * MB)
    assert (
        required_memory(sharp, PROCESSOR)
        == required_memory(control, PROCESSOR)
        == MemorySize(1600 * MB)
    )
    assert required_memory(sharp, NARROW) == MemorySize(1000 * MB)
    assert required_memory(fp16, PROCESSOR) == MemorySize(2800 * MB)
    assert required_memory(fp16, CARD) == MemorySize(1800 * MB, 1700 * MB)
    assert required_memory(fp16, BY_PARTS) == MemorySize(2400 * MB, 1400 * MB)
    assert required_memory(fp16, APPLE) == MemorySize(1600 * MB, 1200 * MB)
    assert required_memory(UNKNOWN, CARD) == MemorySize()


def test_what_was_measured_counts_more_than_any_estimate():
    measured = {
        (FILM.id, PROCESSOR): MemorySize(5 * GB),
        (SMALL.id, PROCESSOR): MemorySize(12 * GB),
    }
    assert required_memory(FILM, PROCESSOR, measured) == MemorySize(5 * GB)
    assert places(FILM, LAPTOP, limits(LAPTOP), measured=measured) == (PROCESSOR,)
    assert places(SMALL, LAPTOP, limits(LAPTOP), measured=measured) == (NARROW,)


def test_an_expert_that_fits_nowhere_is_refused_with_numbers():
    assert too_large(FILM, LAPTOP, limits(LAPTOP)) == (
        "needs about 20.4 GB of memory, and experts can have 6.4 GB here"
    )
    assert too_large(FILM, SMALL_CARD, limits(SMALL_CARD)) == (
        "needs about 20.4 GB of memory, "
        "and experts can have 12.8 GB, or 5.4 GB of the graphics card here"
    )


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (PROCESSOR, "on the processor"),
        (NARROW, "on the processor in 16 bits"),
        (BY_PARTS, "on the graphics card in 16 bits, part by part"),
        (APPLE, "on the GPU in 16 bits"),
        (Placement("tpu"), "tpu"),
    ],
)
def test_a_place_in_words(place: Placement, words: str):
    assert str(place) == words


def test_memories_add_up_and_never_go_below_nothing():
    one, other = MemorySize(3, 1), MemorySize(1, 2)
    assert one + other == MemorySize(4, 3)
    assert one - other == MemorySize(2, 0)
    assert one.most(other) == MemorySize(3, 2)
    assert one.least(other) == MemorySize(1, 1)
    assert not one.within(other)
    assert other.within(MemorySize(1, 2))
