"""The OpenAI-compatible provider against a server that is not ours: `transformers serve`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.core.llm import LLM, Message, MessageRole, Prompt, answer
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.llm.choice import LLMChoice, LLMPreference
from jarvis_desktop.llm.openai_compatible import OpenAICompatibleLLM
from tests.backends.tiny import WORDS
from tests.llm.tiny import tiny_llms

__all__ = ["tiny_llms"]

# A process that imports torch is slow to start on a busy computer.
pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def place(tiny_llms: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The address of a running server, and the name of its LLM."""
    name = str(tiny_llms / "chatter")
    words = f"serve {name} --device cpu --dtype float32 --host 127.0.0.1 --port 0".split()
    home = str(tmp_path_factory.mktemp("serve"))
    running = subprocess.Popen(
        [sys.executable, "-c", "from transformers.cli.transformers import main; main()", *words],
        env={**os.environ, "HOME": home, "HF_HOME": home, "HF_HUB_OFFLINE": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert running.stderr
        log = ""
        while not (found := re.search(r"running on (http://127\.0\.0\.1:\d+)", log)):
            line = running.stderr.readline()
            assert line, log
            log += line
        yield f"{found[1]}/v1", name
    finally:
        running.kill()
        running.communicate()


def ask(**settings) -> Prompt:
    system = Message(MessageRole.SYSTEM, "you are happy .")
    return Prompt(
        (system, Message(MessageRole.USER, "what do you see ?")), **{"longest": 12, **settings}
    )


async def written(llm: LLM, prompt: Prompt) -> list[str]:
    """The pieces of an answer of tiny weights, which this server says to be cut: it only counts."""
    pieces: list[str] = []

    async def listen() -> None:
        async for piece in llm.stream(prompt):
            pieces.append(piece)

    with pytest.raises(ExpertError, match="reached its longest length"):
        await listen()
    return pieces


async def test_its_answer_comes_in_pieces(place: tuple[str, str]):
    address, name = place
    llm = OpenAICompatibleLLM(name, address)
    pieces = await written(llm, ask())
    assert len(pieces) > 3
    assert set("".join(pieces).split()) <= set(WORDS)
    assert "".join(pieces) == "".join(await written(llm, ask()))


async def test_it_takes_a_prompt_with_a_schema(place: tuple[str, str]):
    address, name = place
    llm = OpenAICompatibleLLM(name, address)
    assert not await written(llm, ask(schema={"type": "object"}))  # half a JSON is held back


async def test_it_can_be_left_in_the_middle_and_asked_again(place: tuple[str, str]):
    address, name = place
    llm = OpenAICompatibleLLM(name, address)
    async with aclosing(llm.stream(ask(longest=2000))) as pieces:
        assert await anext(pieces)
    assert await written(llm, ask())


async def test_an_llm_that_it_lacks_is_an_error_in_words(place: tuple[str, str]):
    address, _ = place
    with pytest.raises((ExpertError, UnavailableError)) as caught:
        await answer(OpenAICompatibleLLM("nobody/nothing", address), ask())
    assert caught.value.message.endswith(".") or "failed:" in caught.value.message


async def test_it_is_found_by_the_choice(place: tuple[str, str]):
    address, name = place
    choice = LLMChoice(LLMPreference("openai", name, address), Policy(), on_disk=lambda: ())
    llm = await choice.current()
    assert llm, choice.reason
    assert (llm.provider, llm.remote) == ("openai", False)
    assert await written(llm, ask())
