"""How well an expert fits a computer, with the figures."""

from __future__ import annotations

import pytest

from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.placement import MB, PROCESSOR, Graphics, Hardware, MemorySize
from jarvis_desktop.experts.catalogue import Fit, FitLevel, fit

GB = 1000 * MB
LAPTOP = Hardware(memory=16 * GB)
GAMER = Hardware(memory=32 * GB, graphics=Graphics("card", memory=12 * GB))


def expert(memory_mb: int, half_mb: int = 0) -> Expert:
    return Expert("x", "text-to-image", files=("*",), memory_mb=memory_mb, memory_half_mb=half_mb)


@pytest.mark.parametrize(
    ("found", "hardware", "level"),
    [
        (expert(2000), LAPTOP, FitLevel.MEMORY),
        (expert(2000), GAMER, FitLevel.CARD),
        (expert(7000), LAPTOP, FitLevel.SLOWLY),  # it finds room, but a processor is slow with it
        (expert(20_000, 10_000), LAPTOP, FitLevel.SLOWLY),  # in 16 bits only
        (expert(200_000), LAPTOP, FitLevel.NO),
        (expert(40_000, 14_000), GAMER, FitLevel.SLOWLY),  # part by part
        (expert(0), LAPTOP, FitLevel.UNKNOWN),
        (Expert("x", "text-generation", providers=("a",)), LAPTOP, FitLevel.SERVED),
    ],
)
def test_levels(found: Expert, hardware: Hardware, level: FitLevel) -> None:
    assert fit(found, hardware, by_parts=True).level is level


def test_the_figures_are_those_of_the_memory_that_decides() -> None:
    assert fit(expert(2000), LAPTOP) == Fit(FitLevel.MEMORY, 2 * GB, round(12.8 * GB))
    on_card = fit(expert(2000), GAMER)
    assert (on_card.need, on_card.room) == (1300 * MB, round(10.8 * GB))
    too_large = fit(expert(200_000), LAPTOP)
    assert too_large.need > too_large.room == round(12.8 * GB)
    assert fit(expert(2000), LAPTOP, budget=GB).level is FitLevel.NO


def test_what_was_measured_counts_more_than_what_is_listed() -> None:
    measured = {("x", PROCESSOR): MemorySize(3 * GB)}
    assert fit(expert(2000), LAPTOP, measured=measured).need == 3 * GB


def test_whether_it_runs() -> None:
    assert [Fit(level).runs for level in FitLevel] == [True, True, True, False, None, None]
