"""What experts were seen to take: remembered, written when it changed, and begun anew if broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.backends.measures import Measures
from jarvis_desktop.core.hardware import MB, Memory
from jarvis_desktop.core.placing import PROCESSOR, Place

CARD = Place("cuda", half=True)


def test_the_most_that_was_seen_is_what_counts() -> None:
    measures = Measures()
    assert measures.known() == {}
    measures.note("a", PROCESSOR, Memory(3 * MB, 0))
    measures.note("a", PROCESSOR, Memory(2 * MB, MB))
    measures.note("a", CARD, Memory(MB, MB))
    assert measures.known() == {
        ("a", PROCESSOR): Memory(3 * MB, MB),
        ("a", CARD): Memory(MB, MB),
    }


def test_a_system_that_tells_nothing_says_nothing() -> None:
    measures = Measures()
    measures.note("a", PROCESSOR, Memory())
    assert measures.known() == {}


def test_it_is_there_at_the_next_start(tmp_path: Path) -> None:
    file = tmp_path / "cache" / "memory.json"
    Measures(file).note("a", CARD, Memory(100 * MB, 50 * MB))
    assert Measures(file).known() == {("a", CARD): Memory(100 * MB, 50 * MB)}


def test_what_hardly_changed_is_not_written_again(tmp_path: Path) -> None:
    file = tmp_path / "memory.json"
    measures = Measures(file)
    measures.note("a", CARD, Memory(100 * MB))
    before = file.read_bytes()
    measures.note("a", CARD, Memory(104 * MB))
    assert file.read_bytes() == before
    measures.note("a", CARD, Memory(120 * MB))
    assert file.read_bytes() != before


@pytest.mark.parametrize(
    "text", ["", "[1]", "{}", '[{"expert": "a"}]', "[[", '[{"expert": "a", "place": {"x": 1}}]']
)
def test_a_broken_file_is_begun_anew(tmp_path: Path, text: str) -> None:
    file = tmp_path / "memory.json"
    file.write_text(text)
    measures = Measures(file)
    assert measures.known() == {}
    measures.note("a", PROCESSOR, Memory(MB))
    assert Measures(file).known() == {("a", PROCESSOR): Memory(MB)}


def test_a_folder_that_cannot_be_written_costs_only_the_memory_of_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    measures = Measures(tmp_path / "file" / "memory.json")
    measures.note("a", PROCESSOR, Memory(MB))
    assert measures.known() == {("a", PROCESSOR): Memory(MB)}
