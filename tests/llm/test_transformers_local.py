"""A local LLM as it is: real transformers, in a real child process, on tiny random weights."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.core.llm import Message, MessageRole, Prompt, Think, Usage, answer
from jarvis_desktop.llm.transformers_local import DEFAULT_WINDOW, TransformersLLM
from tests.backends.tiny import WORDS
from tests.llm.tiny import WINDOW, mark, tiny_llms

__all__ = ["tiny_llms"]

# Each of them starts a process that imports torch: slow on a busy computer.
pytestmark = [pytest.mark.timeout(400), pytest.mark.usefixtures("warm_experts")]

LONG = WINDOW - 200
"""More words than are written within the time of a test that waits for them."""

Make = Callable[..., TransformersLLM]


def ask(text: str = "what do you see ?", **settings) -> Prompt:
    system = Message(MessageRole.SYSTEM, "you are happy .")
    return Prompt((system, Message(MessageRole.USER, text)), **{"longest": 12, **settings})


@pytest.fixture
async def make(tiny_llms: Path) -> AsyncIterator[Make]:
    """Makes an LLM of the tiny ones, or of a folder, that is closed at the end."""
    made: list[TransformersLLM] = []

    def build(name: str = "chatter", *, folder: Path | None = None, **settings) -> TransformersLLM:
        made.append(TransformersLLM(name, folder or tiny_llms / name, **settings))
        return made[-1]

    yield build
    for llm in made:
        await llm.close()


async def read_a_piece(llm: TransformersLLM) -> None:
    async with aclosing(llm.stream(ask(longest=LONG))) as pieces:
        async for _ in pieces:
            break


async def gone(llm: TransformersLLM) -> None:
    async with asyncio.timeout(60):
        while llm.pid:
            await asyncio.sleep(0.01)


async def test_the_answer_comes_in_pieces_and_is_the_same_again(make: Make, usages: list[Usage]):
    llm = make()
    pieces = [piece async for piece in llm.stream(ask())]
    assert len(pieces) > 3
    words = "".join(pieces).split()
    assert len(words) == 11
    assert set(words) <= set(WORDS)
    pid = llm.pid
    assert await answer(llm, ask()) == "".join(pieces)
    assert llm.pid == pid  # the weights stay in memory
    assert [usage.written for usage in usages] == [12, 12]
    assert usages[0].read == usages[1].read > 8


async def test_an_answer_that_may_be_no_longer_is_an_error_after_its_pieces(make: Make):
    heard: list[str] = []

    async def listen() -> None:
        async for piece in make("endless").stream(ask()):
            heard.append(piece)

    with pytest.raises(ExpertError, match="answer of endless reached its longest length"):
        await listen()
    assert len("".join(heard).split()) == 12


async def test_a_temperature_and_a_schema_are_taken(make: Make):
    llm = make()
    assert await answer(llm, ask(temperature=1.5, schema={"type": "object"}))


async def test_leaving_stops_the_writing_and_keeps_the_weights(make: Make):
    llm = make(grace=3)
    await read_a_piece(llm)
    pid = llm.pid
    assert pid
    # It has stopped by itself: otherwise it would have been killed, as the rest takes longer.
    assert await answer(llm, ask())
    assert llm.pid == pid


async def test_cancelling_stops_the_writing_too(make: Make):
    llm = make(grace=3)
    begun = asyncio.Event()

    async def read() -> None:
        async for _ in llm.stream(ask(longest=LONG)):
            begun.set()

    reading = asyncio.create_task(read())
    await begun.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    pid = llm.pid
    assert await answer(llm, ask())
    assert llm.pid == pid


async def test_a_writer_that_does_not_stop_is_killed(make: Make):
    llm = make(grace=0)
    await read_a_piece(llm)
    await gone(llm)
    assert await answer(llm, ask())


async def test_an_idle_one_leaves_the_memory(make: Make):
    llm = make(idle=0.05)
    assert await answer(llm, ask())
    await gone(llm)


async def test_one_that_retires_writes_what_was_asked_for_first(make: Make):
    llm = make()
    async with aclosing(llm.stream(ask())) as pieces:
        heard = await anext(pieces)
        retiring = asyncio.create_task(llm.retire())
        async for piece in pieces:
            heard += piece
    assert len(heard.split()) == 11
    await retiring
    assert llm.pid is None


async def test_prompts_that_come_together_are_answered_in_turn(make: Make):
    llm = make()
    first, second = await asyncio.gather(answer(llm, ask()), answer(llm, ask("a cat ran home")))
    assert len(first.split()) == len(second.split()) == 11


async def test_a_prompt_that_does_not_fit_is_refused_with_numbers(make: Make):
    llm = make(most_context=64)
    with pytest.raises(ExpertError, match="too long for chatter: about 1"):
        await answer(llm, ask("the cat " * 40))
    assert llm.pid is None
    # Fewer bytes a token than is reckoned with: the tokenizer knows better.
    with pytest.raises(ExpertError, match=r"too long for chatter: \d+ tokens, of 64"):
        await answer(llm, ask("a." * 30, longest=8))


async def test_a_template_without_a_system_gets_its_words_from_the_user(make: Make):
    llm = make("strict")
    assert await answer(llm, ask())
    only = Prompt((Message(MessageRole.SYSTEM, "you are happy ."),), longest=3)
    assert await answer(llm, only)


async def test_reasoning_that_the_template_begins_is_not_in_the_answer(make: Make):
    llm = make("thinker")
    with pytest.raises(ExpertError, match="gave no answer"):
        await answer(llm, ask(think=Think.LOW))
    assert await answer(llm, ask())


async def test_what_was_not_made_for_conversations_is_refused(make: Make):
    llm = make("bare")
    with pytest.raises(ExpertError, match="no chat template") as caught:
        await answer(llm, ask())
    assert "llm list" in caught.value.hint


async def test_one_changed_byte_is_found_before_loading(make: Make, tiny_llms: Path, tmp_path):
    folder = shutil.copytree(tiny_llms / "chatter", tmp_path / "chatter")
    path = folder / "model.safetensors"
    body = bytearray(path.read_bytes())
    body[-3] ^= 1
    path.write_bytes(body)
    with pytest.raises(ExpertError, match=r"damaged: model\.safetensors is not as it was fetched"):
        await answer(make(folder=folder), ask())


@pytest.mark.parametrize(
    "config",
    [
        {"model_type": "llama", "_attn_implementation": "someone/kernel"},
        {"model_type": "x", "text_config": [{"attn_implementation": "someone/kernel"}]},
    ],
)
async def test_settings_that_would_fetch_code_are_refused(make: Make, tmp_path: Path, config):
    folder = tmp_path / "hostile"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ExpertError, match="asks for code from the Hub"):
        await answer(make(folder=mark(folder)), ask())


async def test_one_that_was_removed_is_unavailable(make: Make, tmp_path: Path):
    llm = make(folder=tmp_path / "none")
    with pytest.raises(UnavailableError, match="no longer on this computer") as caught:
        await answer(llm, ask())
    assert "llm pull chatter" in caught.value.hint
    assert llm.pid is None


@pytest.mark.parametrize(
    ("config", "window"),
    [
        ('{"max_position_embeddings": 4096}', 4096),
        ('{"max_position_embeddings": 131072}', 8192),
        ('{"text_config": {"max_position_embeddings": 3000}}', 3000),
        ('{"max_position_embeddings": "many"}', DEFAULT_WINDOW),
        ("[1]", DEFAULT_WINDOW),
        ("nonsense", DEFAULT_WINDOW),
    ],
)
def test_the_window_is_what_the_settings_say_within_bounds(tmp_path: Path, config, window):
    (tmp_path / "config.json").write_text(config)
    assert TransformersLLM("x", tmp_path).window == window


def test_nothing_leaves_this_computer(tmp_path: Path):
    llm = TransformersLLM("x", tmp_path)
    assert (llm.provider, llm.remote, llm.sees) == ("transformers", False, False)
