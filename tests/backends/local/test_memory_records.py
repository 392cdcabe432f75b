"""What experts were seen to take: remembered, written when it changed, and begun anew if broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.backends.local.placement import MemoryMeasurements
from jarvis_desktop.core.placement import MB, PROCESSOR, MemorySize, Placement

CARD = Placement("cuda", half=True)


def test_the_most_that_was_seen_is_what_counts() -> None:
    measures = MemoryMeasurements()
    assert measures.known() == {}
    measures.note("a", PROCESSOR, MemorySize(3 * MB, 0))
    measures.note("a", PROCESSOR, MemorySize(2 * MB, MB))
    measures.note("a", CARD, MemorySize(MB, MB))
    assert measures.known() == {
        ("a", PROCESSOR): MemorySize(3 * MB, MB),
        ("a", CARD): MemorySize(MB, MB),
    }


def test_a_system_that_tells_nothing_says_nothing() -> None:
    measures = MemoryMeasurements()
    measures.note("a", PROCESSOR, MemorySize())
    assert measures.known() == {}


def test_it_is_there_at_the_next_start(tmp_path: Path) -> None:
    file = tmp_path / "cache" / "memory.json"
    MemoryMeasurements(file).note("a", CARD, MemorySize(100 * MB, 50 * MB))
    assert MemoryMeasurements(file).known() == {("a", CARD): MemorySize(100 * MB, 50 * MB)}


def test_what_hardly_changed_is_not_written_again(tmp_path: Path) -> None:
    file = tmp_path / "memory.json"
    measures = MemoryMeasurements(file)
    measures.note("a", CARD, MemorySize(100 * MB))
    before = file.read_bytes()
    measures.note("a", CARD, MemorySize(104 * MB))
    assert file.read_bytes() == before
    measures.note("a", CARD, MemorySize(120 * MB))
    assert file.read_bytes() != before


@pytest.mark.parametrize(
    "text", ["", "[1]", "{}", '[{"expert": "a"}]', "[[", '[{"expert": "a", "place": {"x": 1}}]']
)
def test_a_broken_file_is_begun_anew(tmp_path: Path, text: str) -> None:
    file = tmp_path / "memory.json"
    file.write_text(text)
    measures = MemoryMeasurements(file)
    assert measures.known() == {}
    measures.note("a", PROCESSOR, MemorySize(MB))
    assert MemoryMeasurements(file).known() == {("a", PROCESSOR): MemorySize(MB)}


def test_a_folder_that_cannot_be_written_costs_only_the_memory_of_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    measures = MemoryMeasurements(tmp_path / "file" / "memory.json")
    measures.note("a", PROCESSOR, MemorySize(MB))
    assert measures.known() == {("a", PROCESSOR): MemorySize(MB)}
