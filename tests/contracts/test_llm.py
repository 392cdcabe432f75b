"""What every LLM does, whoever runs it."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.core.llm import LLM, Ability, Message, MessageRole, Prompt, answer
from jarvis_desktop.llm.ollama import OllamaLLM, OllamaServer
from jarvis_desktop.llm.openai_compatible import OpenAICompatibleLLM
from jarvis_desktop.llm.transformers_local import TransformersLLM
from tests.fakes import FakeLLM
from tests.line_server import Answer, LineServer
from tests.llm.tiny import tiny_llms
from tests.ollama import running_ollama
from tests.openai_server import running_openai_server

__all__ = ["tiny_llms"]

# A process that imports torch is slow to start on a busy computer.
pytestmark = [pytest.mark.timeout(400), pytest.mark.usefixtures("warm_experts")]


@dataclass
class Subject:
    """An LLM, and how a test makes it behave."""

    llm: LLM
    linger: Callable[[], None]
    """Its next answer begins, but is not over for a long while."""
    stopped: Callable[[], Awaitable[None]]
    """Returns when the work on an answer that was left has stopped where it runs."""
    vanish: Callable[[], None]
    """It cannot be reached any more."""
    will: Callable[[Sequence[str], str], None] | None = None
    """Its next answers have these pieces, and then end: "done", "length", "error" or "killed"."""


@asynccontextmanager
async def fake(request):
    llm = FakeLLM()

    def will(pieces: Sequence[str], ends: str) -> None:
        llm.answers = [[*pieces, *([] if ends == "done" else [ExpertError("It broke off.")])]]

    def linger():
        llm.hold = True

    def vanish():
        llm.answers = [UnavailableError("It is not there.")]

    async def stopped():
        assert llm.stopped == 1

    yield Subject(llm, linger, stopped, vanish, will)


def served(llm: LLM, server: LineServer) -> Subject:
    """A subject whose answers come from a server of the test."""

    def will(pieces: Sequence[str], ends: str) -> None:
        server.ends_by = "length" if ends == "length" else "stop"
        ends = "done" if ends == "length" else ends
        server.answers = [Answer(pieces, ends=ends, error="out of memory")]

    async def stopped():
        assert await asyncio.to_thread(server.left.acquire, timeout=100)

    return Subject(llm, lambda: will(["Well", ","], "silent"), stopped, server.die, will)


@asynccontextmanager
async def ollama(request):
    with running_ollama() as server:
        place = OllamaServer(server.address)
        yield served(OllamaLLM(await place.find("qwen3.5:4b"), place.server), server)


@asynccontextmanager
async def openai(request):
    with running_openai_server() as server:
        yield served(OpenAICompatibleLLM("tiny", server.address), server)


@asynccontextmanager
async def transformers(request):
    folder = request.getfixturevalue("tmp_path") / "chatter"
    shutil.copytree(request.getfixturevalue("tiny_llms") / "chatter", folder)
    llm = TransformersLLM("chatter", folder)

    async def stopped():
        pid = llm.pid
        assert await answer(llm, asked(longest=4))
        assert llm.pid == pid  # it was not killed

    # It always writes as much as it may.
    yield Subject(llm, lambda: None, stopped, lambda: shutil.rmtree(folder))
    await llm.close()


Maker = Callable[[pytest.FixtureRequest], AbstractAsyncContextManager[Subject]]
SCRIPTED: dict[str, Maker] = {"fake": fake, "ollama": ollama, "openai": openai}
"""Those whose answers a test can choose."""
MAKERS: dict[str, Maker] = {**SCRIPTED, "transformers": transformers}


@pytest.fixture(params=MAKERS)
async def subject(request):
    async with MAKERS[request.param](request) as made:
        yield made


@pytest.fixture(params=SCRIPTED)
async def scripted(request):
    async with SCRIPTED[request.param](request) as made:
        yield made


def asked(text: str = "Are you there?", **settings: Any) -> Prompt:
    return Prompt(
        (Message(MessageRole.SYSTEM, "Be brief."), Message(MessageRole.USER, text)), **settings
    )


async def test_it_says_what_it_is(subject):
    llm = subject.llm
    assert llm.name
    assert llm.provider in ("ollama", "openai", "transformers")
    assert llm.remote is False
    assert llm.window >= 2048
    assert llm.sees is False
    assert llm.ability in Ability
    assert llm.enforces_schema in (True, False)


async def test_it_answers(subject):
    assert (await answer(subject.llm, asked(longest=16))).strip()


async def test_two_prompts_at_once_are_both_answered(subject):
    both = (answer(subject.llm, asked(longest=16)), answer(subject.llm, asked(longest=16)))
    assert all(each.strip() for each in await asyncio.gather(*both))


async def test_a_prompt_with_a_schema_is_answered(subject):
    prompt = asked(longest=16, schema={"type": "object"})
    assert (await answer(subject.llm, prompt)).strip()


async def test_a_prompt_that_does_not_fit_is_refused_and_never_cut(subject):
    with pytest.raises(ExpertError, match=f"too long for {subject.llm.name}"):
        await answer(subject.llm, asked("word " * subject.llm.window))


async def test_closing_the_iterator_stops_the_work(subject):
    subject.linger()
    async with aclosing(subject.llm.stream(asked())) as pieces:
        assert await anext(pieces)
    await subject.stopped()


async def test_cancelling_stops_the_work(subject):
    subject.linger()
    begun = asyncio.Event()

    async def listen() -> None:
        async for _ in subject.llm.stream(asked()):
            begun.set()

    listener = asyncio.create_task(listen())
    await begun.wait()
    listener.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listener
    await subject.stopped()


async def test_one_that_is_not_there_is_unavailable(subject):
    subject.vanish()
    with pytest.raises(UnavailableError):
        await answer(subject.llm, asked())


async def test_the_pieces_come_as_they_are_written(scripted):
    scripted.will(["Hello", ", ", "Ada", ".", "\n\nHow are you?"], "done")
    pieces = [piece async for piece in scripted.llm.stream(asked())]
    assert "".join(pieces) == "Hello, Ada.\n\nHow are you?"
    assert len(pieces) > 2
    assert all(pieces)


@pytest.mark.parametrize("ends", ["error", "killed", "length"])
async def test_an_answer_that_breaks_off_is_an_error_after_its_pieces(scripted, ends):
    scripted.will(["Once", " upon"], ends)
    heard: list[str] = []

    async def listen() -> None:
        async for piece in scripted.llm.stream(asked()):
            heard.append(piece)

    with pytest.raises(ExpertError):
        await listen()
    assert "".join(heard) == "Once upon"


async def test_it_answers_again_after_a_failure(scripted):
    scripted.will(["Once"], "error")
    with pytest.raises(ExpertError):
        await answer(scripted.llm, asked())
    scripted.will(["Yes", "."], "done")
    assert await answer(scripted.llm, asked()) == "Yes."
