"""What the LLM takes of the memory, and that it gives it back when an expert needs it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.llm import Message, MessageRole, Prompt, answer
from jarvis_desktop.core.placement import MemorySize
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.llm.choice import LLMChoice, LLMInMemory, LLMPreference
from jarvis_desktop.llm.shipped import GB, Computer
from tests.line_server import Answer
from tests.ollama import Ollama, running_ollama

NAME = "qwen3.5:4b"
HI = Prompt((Message(MessageRole.USER, "Hi."),))


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ollama]:
    with running_ollama() as served:
        monkeypatch.setenv("OLLAMA_HOST", served.address)
        yield served


def choice(provider: str = "auto", *, graphics: int = 0, used=lambda: None, disk=()) -> LLMChoice:
    return LLMChoice(
        LLMPreference(provider),  # type: ignore[arg-type]
        Policy(),
        on_disk=lambda: disk,
        room=lambda: Computer(16 * GB, graphics * GB, 100 * GB),
        on_use=used,
    )


async def test_ollama_tells_what_its_llm_takes_of_both_memories(ollama: Ollama):
    llms = choice()
    assert await LLMInMemory(llms).memory() == MemorySize()
    ollama.loaded[NAME] = (5 * GB, 3 * GB)
    ollama.loaded["another"] = (GB, GB)
    assert await LLMInMemory(llms).memory() == MemorySize(2 * GB, 3 * GB)


async def test_it_is_gone_when_ollama_says_so(ollama: Ollama):
    llms = choice()
    ollama.loaded[NAME] = (5 * GB, 5 * GB)
    ollama.lingers = 2
    there = LLMInMemory(llms)
    assert await there.memory() == MemorySize(0, 5 * GB)
    assert await there.leave() == NAME
    assert ollama.unloaded == [NAME]
    assert NAME not in ollama.loaded


async def test_one_that_does_not_go_in_time_is_said(ollama: Ollama):
    ollama.loaded[NAME] = (5 * GB, 5 * GB)
    ollama.lingers = 10**6
    there = LLMInMemory(choice(), patience=0.5)
    assert await there.memory() != MemorySize()
    with pytest.raises(UnavailableError, match=r"qwen3\.5:4b did not leave the memory in time"):
        await there.leave()


async def test_an_ollama_that_is_gone_has_nothing_in_memory(ollama: Ollama):
    llms = choice()
    assert await llms.current()
    ollama.die()
    assert await LLMInMemory(llms).memory() == MemorySize()


async def test_without_an_llm_there_is_nothing_to_give_back(ollama: Ollama):
    assert await LLMInMemory(choice("none")).memory() == MemorySize()


async def test_one_of_the_disk_takes_its_weights_and_goes_with_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "model.safetensors").write_bytes(bytes(1000))
    (tmp_path / "config.json").write_text("{}")
    disk = ((Expert("tiny", "text-generation", download_mb=1), tmp_path),)
    llms = choice("transformers", disk=disk)
    there = LLMInMemory(llms)
    assert await there.memory() == MemorySize()  # it is not loaded
    llm = llms.in_use
    monkeypatch.setattr(type(llm), "pid", 4711)
    assert await there.memory() == MemorySize(2000)  # 32 bits on the processor
    with_card = LLMInMemory(choice("transformers", graphics=8, disk=disk))
    assert await with_card.memory() == MemorySize(0, 1000)
    assert await there.leave() == "tiny"
    await llms.close()


async def test_who_shares_the_memory_is_told_before_each_prompt(ollama: Ollama):
    told: list[int] = []
    ollama.answers = [Answer(pieces=["Hello."])]
    llm = await choice(used=lambda: told.append(len(ollama.asked))).current()
    assert llm
    assert await answer(llm, HI) == "Hello."
    assert told == [0]
