"""Requests with a real LLM behind a real server."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from jarvis_desktop.core.events import ReplyChunk
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.llm import LLM, Message, MessageRole, Prompt, answer
from tests.real.conftest import LLMHouse
from tests.real.llm_server import WINDOW
from tests.scenarios.conftest import Person

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture
def person(llm_house: LLMHouse, tmp_path: Path) -> Person:
    return Person(llm_house.app, tmp_path)


async def llm_of(house: LLMHouse) -> LLM:
    llm = await house.app.llms.current()
    assert llm
    return llm


def prompt(text: str, **more: Any) -> Prompt:
    return Prompt((Message(MessageRole.USER, text),), **more)


async def test_a_plain_question_is_answered_by_one_streamed_call(
    llm_house: LLMHouse, person: Person
) -> None:
    before = llm_house.proxy.prompts
    turn = await person.ask("What is the capital of France?")
    assert turn.status is Status.DONE
    assert "Paris" in turn.reply
    assert "<data" not in turn.reply
    assert llm_house.proxy.prompts == before + 1
    assert len([each for each in person.frontend.events if isinstance(each, ReplyChunk)]) > 1


@pytest.mark.parametrize(
    "text", ["What time is it?", "What is 17 * 23 + 4?", "Set a timer for 20 minutes"]
)
async def test_built_in_skills_do_not_ask_the_llm(
    llm_house: LLMHouse, person: Person, text: str
) -> None:
    before = llm_house.proxy.prompts
    turn = await person.ask(text)
    assert turn.status is Status.DONE
    assert llm_house.proxy.prompts == before


async def test_an_answer_that_is_stopped_frees_the_server(
    llm_house: LLMHouse, person: Person
) -> None:
    asked = prompt("Write a very long story about a dog and a cat.", longest=2000)
    pieces = (await llm_of(llm_house)).stream(asked)
    await anext(pieces)
    await pieces.aclose()  # type: ignore[attr-defined]
    async with httpx.AsyncClient(base_url=llm_house.proxy.address) as server:
        while (slot := (await server.get("/slots")).json()[0])["is_processing"]:
            await asyncio.sleep(0.05)
    assert slot["next_token"][0]["n_decoded"] < 1000
    assert (await person.ask("What is the capital of Italy?")).status is Status.DONE


async def test_the_server_enforces_a_schema(llm_house: LLMHouse) -> None:
    schema = {
        "type": "object",
        "properties": {"capital": {"enum": ["red", "green"]}},
        "required": ["capital"],
        "additionalProperties": False,
    }
    llm = await llm_of(llm_house)
    asked = prompt("What is the capital of France?", schema=schema, longest=50)
    assert json.loads(await answer(llm, asked))["capital"] in ("red", "green")
    assert llm.enforces_schema


async def test_the_context_of_the_server_is_known(llm_house: LLMHouse) -> None:
    llm = await llm_of(llm_house)
    await answer(llm, prompt("Say yes."))
    assert llm.window == WINDOW
