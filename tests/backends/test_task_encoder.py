"""The shipped weights, as they are loaded by the application."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jarvis_desktop.backends.task_encoder import TaskEncoder, describe_inventory
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.paths import shipped
from jarvis_desktop.tasks.registry import INVENTORY

FOLDER = shipped("models", "planner")


def tool(name: str, summary: str, takes: str, gives: Kind) -> TaskType:
    ports = tuple(Port(word, (Kind(word),)) for word in takes.split())
    return TaskType(name, summary, ports, (gives,))


KITCHEN = (
    tool("recipe-finder", "Finds a recipe for the food in a picture.", "image", Kind.TEXT),
    tool("menu-translator", "Puts a menu into another language.", "text", Kind.TEXT),
    tool("dinner-bell", "Reads a text aloud in the kitchen.", "text", Kind.AUDIO),
    tool("plate-cutter", "Cuts the plate out of a photo.", "image", Kind.IMAGE),
)
"""Tasks that were in no training text."""


@pytest.fixture(scope="module")
def encoder() -> TaskEncoder:
    return TaskEncoder(FOLDER)


def likely(encoder: TaskEncoder, text: str, inventory: tuple[TaskType, ...]) -> set[str]:
    scores = encoder.score(text, inventory)
    return {item.name for item, value in zip(inventory, scores.tasks, strict=True) if value > 0.3}


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("please put this letter into Polish", {"translation"}),
        ("clean up the noise in this recording", {"audio-to-audio"}),
        ("what is the capital of Peru", set()),
        ("order a taxi to the airport", set()),
    ],
)
def test_our_own_tasks(encoder: TaskEncoder, text: str, asked: set[str]) -> None:
    assert likely(encoder, text, INVENTORY) == asked


def test_tasks_that_were_never_seen(encoder: TaskEncoder) -> None:
    text = "I have a photo 'soup.jpg'. Find me a recipe for it and read it out loud."
    scores = encoder.score(text, KITCHEN)
    finder, translator, bell, cutter = scores.tasks
    assert min(finder, bell) > 5 * max(translator, cutter)
    assert scores.links[0][2] > 5 * scores.links[2][0]
    assert scores.order[0][2] > 0.5 > scores.order[2][0]


def test_the_order_of_an_inventory_changes_nothing(encoder: TaskEncoder) -> None:
    text = "Translate the menu."
    there = encoder.score(text, KITCHEN).tasks
    back = encoder.score(text, KITCHEN[::-1]).tasks
    assert there == pytest.approx(back[::-1], abs=1e-3)


def test_shapes_and_ranges(encoder: TaskEncoder) -> None:
    for text in ("", "a", "word " * 3000, "日本語で書いてください 🙂", "\x00\ufffe"):
        scores = encoder.score(text, KITCHEN)
        size = len(KITCHEN)
        assert len(scores.tasks) == len(scores.links) == len(scores.order) == size
        assert all(0 <= value <= 1 for row in scores.links for value in row)
        assert all(0 <= place <= len(text) for place in scores.where)


def test_several_threads_may_ask(encoder: TaskEncoder) -> None:
    texts = ["Translate the menu.", "Cut the plate out of it."] * 10
    one_by_one = [encoder.score(text, KITCHEN) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda text: encoder.score(text, KITCHEN), texts)) == one_by_one


def test_weights_that_are_missing_or_broken(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="weights"):
        TaskEncoder(tmp_path).warm(describe_inventory(KITCHEN))
    for name in ("tokenizer.json", "encoder.onnx", "decoder.onnx"):
        (tmp_path / name).write_text("{}")
    with pytest.raises(UnavailableError, match="weights"):
        TaskEncoder(tmp_path).score("x", KITCHEN)


def test_they_are_small_and_speak_of_no_place() -> None:
    files = [path for path in FOLDER.iterdir() if path.suffix == ".onnx"]
    assert sum(path.stat().st_size for path in files) < 30_000_000
    assert all(b"site-packages" not in path.read_bytes() for path in files)
