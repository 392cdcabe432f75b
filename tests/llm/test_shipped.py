"""The shipped list of LLMs, and what of it suits which computer."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.experts.catalogue import load as load_experts
from jarvis_desktop.llm.shipped import GB, Computer, ShippedLLM, fitting, load
from jarvis_desktop.paths import shipped

LLMS = load(shipped("models", "llms.toml"))
BLOCK = """
[[llm]]
id = "tiny"
ollama = "tiny:1b"
download_mb = 100
memory_gb = 1.5
licence = "MIT"
languages = ["en"]
good_at = "nothing"
"""


def room(memory: float, graphics: float = 0, disk: float = 100) -> Computer:
    return Computer(round(memory * GB), round(graphics * GB), round(disk * GB))


def test_the_list_reaches_from_small_to_large_computers() -> None:
    assert 6 <= len(LLMS) <= 12
    needs = [llm.memory_gb for llm in LLMS]
    assert needs == sorted(needs)
    assert needs[0] <= 1
    assert needs[-1] == 24
    assert all(llm.need > llm.download_mb * 1_000_000 for llm in LLMS)


def test_what_it_says_of_experts_is_true() -> None:
    experts = {item.id: item for item in load_experts(shipped("models", "experts"))}
    for llm in LLMS:
        if llm.expert:
            assert experts[llm.expert].task == "text-generation"


@pytest.mark.parametrize(
    ("computer", "offered"),
    [
        (room(0.5), None),
        (room(2), "smollm2-360m"),
        (room(7.8), "qwen3.5-2b"),
        (room(16), "qwen3.5-4b"),
        (room(64), "qwen3.5-4b"),
        (room(32, graphics=8), "qwen3.5-4b"),
        (room(32, graphics=12), "gemma4-e4b"),
        (room(64, graphics=24), "qwen3.5-27b"),
        (room(64, graphics=24, disk=10), "gemma4-e4b"),
        (room(64, graphics=24, disk=0.1), None),
    ],
)
def test_what_suits_a_computer_is_offered(computer: Computer, offered: str | None) -> None:
    found = fitting(LLMS, computer)
    assert (found.id if found else None) == offered


def test_where_nothing_suits_the_smallest_that_can_run_is_offered() -> None:
    large = ShippedLLM(
        id="large",
        ollama="large:9b",
        download_mb=6000,
        memory_gb=9,
        licence="MIT",
        languages=("en",),
        good_at="waiting",
    )
    assert fitting([large], room(16)) is large
    assert fitting([large], room(10)) is None


def test_the_smallest_comes_first_whatever_the_file_says(tmp_path: Path) -> None:
    path = tmp_path / "llms.toml"
    smaller = BLOCK.replace("tiny", "mini").replace("1.5", "0.5")
    path.write_text(BLOCK + smaller)
    assert [llm.id for llm in load(path)] == ["mini", "tiny"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "wrong at llm"),
        ("[[llm", "cannot be read"),
        (BLOCK + BLOCK, "tiny is in it twice"),
        (BLOCK.replace("1.5", "0"), "memory_gb"),
        (BLOCK.replace("tiny:1b", "tiny"), "ollama"),
        (BLOCK + "colour = 1\n", "colour"),
    ],
)
def test_a_list_with_a_mistake_is_named(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "llms.toml"
    path.write_text(text)
    with pytest.raises(JarvisError, match=says) as caught:
        load(path)
    assert "llms.toml" in caught.value.message
