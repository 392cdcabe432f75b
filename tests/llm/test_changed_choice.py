"""Another LLM is wanted, or another mode holds, while JARVIS runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.llm import Prompt
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.llm.choice import LLMPreference
from jarvis_desktop.llm.openai_compatible import OpenAICompatibleLLM
from tests.llm.test_choice import ELSEWHERE, World, ask, chosen, world

assert world  # a fixture


async def test_a_far_llm_is_asked_no_more_once_the_mode_says_so(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    asked = []

    async def stream(self: OpenAICompatibleLLM, prompt: Prompt) -> AsyncIterator[str]:
        asked.append(prompt)
        yield "Yes, "
        choice._policy.mode = Mode.OFFLINE
        yield "I am."

    monkeypatch.setattr(OpenAICompatibleLLM, "stream", stream)
    choice = world.choice("openai", "gpt-5", address=ELSEWHERE, mode=Mode.HYBRID)
    llm = await choice.current()
    assert llm
    pieces: list[str] = []

    async def hear() -> None:
        async for piece in llm.stream(ask()):
            pieces.append(piece)

    for _ in range(2):
        with pytest.raises(UnavailableError, match="allows no LLM of another computer"):
            await hear()
        assert pieces == ["Yes, "]
    assert len(asked) == 1
    assert await chosen(choice) is None
    choice._policy.mode = Mode.LITE
    choice.forget()
    assert await chosen(choice) == ("openai", "gpt-5")


async def test_another_one_is_used_from_the_next_prompt_on(world: World):
    choice = world.choice(context=4096)
    first = await choice.current()
    assert first
    choice.choose(LLMPreference("auto", context=8192))
    second = await choice.current()
    assert second
    assert (first.name, first.window) == (second.name, 4096)
    assert second.window == 8192
    choice.choose(LLMPreference("none"))
    assert await choice.current() is None
    choice.choose(LLMPreference("openai", "tiny", address=world.service.address))
    assert await chosen(choice) == ("openai", "tiny")


async def test_a_choice_that_changes_while_it_is_looked_for_is_not_missed(world: World):
    choice = world.choice()
    looking = asyncio.create_task(choice.current())
    await asyncio.sleep(0)
    choice.choose(LLMPreference("none"))
    await looking
    assert await choice.current() is None


async def test_a_look_that_is_cancelled_is_made_anew(world: World):
    choice = world.choice()
    looking = asyncio.create_task(choice.current())
    await asyncio.sleep(0)
    looking.cancel()
    await asyncio.gather(looking, return_exceptions=True)
    assert await chosen(choice) == ("ollama", "qwen3.5:4b")
