"""What is offered where there is no LLM: over an Ollama on loopback, for 16 GB of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.llm.catalogue import OFFLINE, OLLAMA_URL, SERVICE, LLMOfferFinder
from jarvis_desktop.llm.choice import LLMChoice, LLMPreference, Provider
from jarvis_desktop.llm.shipped import GB, Computer, load
from jarvis_desktop.paths import Paths, shipped
from tests.fake_fetcher import FakeFetcher
from tests.ollama import Ollama, running_ollama

WRITER = Expert("qwen2.5-1.5b", "text-generation", download_mb=3100, licence="Apache-2.0")


@dataclass
class House:
    """An application without an LLM."""

    llms: LLMChoice
    policy: Policy
    paths: Paths
    weights: FakeFetcher = field(default_factory=FakeFetcher)
    experts: Sequence[Expert] = (WRITER,)


Offered = Callable[..., LLMOfferFinder]


@pytest.fixture
def offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Offered:
    """The offering for some settings; no Ollama runs."""
    monkeypatch.setenv("OLLAMA_HOST", "http://127.0.0.1:9")
    paths = Paths(*(tmp_path / name for name in ("config", "data", "cache", "logs")))

    def make(
        provider: Provider = "auto", id: str = "", *, mode: Mode = Mode.LOCAL, disk: int = 100
    ) -> LLMOfferFinder:
        llms = LLMChoice(
            LLMPreference(provider, id),
            Policy(mode),
            on_disk=lambda: [],
            shipped=load(shipped("models", "llms.toml")),
            room=lambda: Computer(16 * GB, 0, disk * GB),
        )
        return LLMOfferFinder(House(llms, Policy(mode), paths))

    return make


@pytest.fixture
def ollama(offered: Offered, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ollama]:
    with running_ollama(llms={}) as server:
        monkeypatch.setenv("OLLAMA_HOST", server.address)
        yield server


async def names(offering: LLMOfferFinder) -> tuple[list[str], str]:
    """What can be fetched now, and what if Ollama ran."""
    missing = await offering.missing()
    assert missing
    return [each.name for each in missing.offers], getattr(missing.with_ollama, "name", "")


async def test_the_advice_is_of_what_is_offered(offered: Offered) -> None:
    assert await names(offered()) == (["qwen2.5-1.5b"], "qwen3.5:4b")
    advice = await offered().advice()
    assert advice.startswith("qwen3.5:4b (")
    assert f"install Ollama from {OLLAMA_URL} and fetch it with: jarvis-desktop llm pull" in advice
    assert advice.endswith(" Without Ollama: jarvis-desktop llm pull qwen2.5-1.5b.")
    # What the mode or the disk has no place for is not advised.
    assert "Without Ollama" not in await offered(mode=Mode.LITE).advice()
    assert await names(offered(disk=0)) == ([], "")
    assert await offered(disk=0).advice() == SERVICE
    assert (await offered("transformers").advice()).startswith("qwen2.5-1.5b (about 3.1 GB")
    assert await offered("openai", "x").advice() == SERVICE
    assert await offered(mode=Mode.OFFLINE).advice() == OFFLINE
    assert "llm use auto" in await offered("none").advice()


async def test_where_ollama_runs_it_fetches_it(offered: Offered, ollama: Ollama) -> None:
    assert await names(offered()) == (["qwen3.5:4b"], "")
    advice = await offered().advice()
    assert advice.endswith("To use it, fetch it with: jarvis-desktop llm pull qwen3.5:4b.")


@pytest.mark.parametrize("provider", ["auto", "ollama"])
async def test_a_named_one_of_the_list_is_offered_with_its_size(
    offered: Offered, ollama: Ollama, provider: Provider
) -> None:
    assert await names(offered(provider, "qwen3.5:0.8b")) == (["qwen3.5:0.8b"], "")
    advice = await offered(provider, "qwen3.5:0.8b").advice()
    assert advice.startswith("qwen3.5:0.8b (about 1.0 GB, licence Apache-2.0): Fetch it with:")
    assert await names(offered(provider, "frob:1b")) == ([], "")
    assert (await offered(provider, "frob:1b").advice()).startswith("Fetch it with:")


async def test_a_named_one_without_ollama(offered: Offered) -> None:
    assert await names(offered("auto", "qwen3.5:0.8b")) == ([], "qwen3.5:0.8b")
    assert await names(offered("transformers", "qwen2.5-1.5b")) == (["qwen2.5-1.5b"], "")


def test_who_was_told_offline_is_told_once_more_where_there_is_a_way(offered: Offered) -> None:
    assert not offered(mode=Mode.OFFLINE).informed
    offered(mode=Mode.OFFLINE).note_informed()
    assert offered(mode=Mode.OFFLINE).informed
    assert not offered().informed
    offered().note_informed()
    assert offered().informed
    offered(mode=Mode.OFFLINE).note_informed()
    assert offered().informed
