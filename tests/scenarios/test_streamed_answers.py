"""A text that an LLM writes in a plan reaches the user piece by piece, in the real application."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from jarvis_desktop.app.build import build
from jarvis_desktop.core.events import Event, ReplyChunk, TaskChunk
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import Terms
from jarvis_desktop.core.turn import Request
from jarvis_desktop.paths import Paths
from jarvis_desktop.settings import LLMSettings, PlannerSettings, Settings
from tests.fakes import FakeFrontend
from tests.line_server import Answer
from tests.openai_server import OpenAIServer, running_openai_server
from tests.scenarios.conftest import Person

GERMAN = "Translate into German: “The meeting is moved to Thursday at half past nine.”"
MOVED = ("Das Treffen ", "ist auf Donnerstag ", "verschoben.")


@dataclass
class Desk:
    """Somebody who asks an application whose LLM is scripted."""

    person: Person
    llm: OpenAIServer

    async def answers(self, text: str, *said: Answer) -> tuple[str, Status | None, list[str]]:
        """The answer, how it went, and in short what was shown until then."""
        self.llm.answers = list(said)
        turn = await self.person.ask(text)
        return turn.reply, turn.status, list(filter(None, map(short, self.person.frontend.events)))


def short(event: Event) -> str:
    """What counts here of an event."""
    match event:
        case TaskChunk(text=text):
            return f"task {text}"
        case ReplyChunk(text=text):
            return f"says {text}"
    name = type(event).__name__
    return name if name in ("TaskStarted", "AttemptFailed", "TaskFinished") else ""


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    paths = Paths(*(tmp_path / name for name in ("config", "data", "cache", "logs")))
    with running_openai_server() as llm:
        wanted = LLMSettings(provider="openai", id="tiny", address=f"{llm.address}/v1")
        planner = PlannerSettings(kind="embedded")
        app = build(Settings(llm=wanted, planner=planner, processes=2), paths)
        yield Desk(Person(app, tmp_path), llm)
        await app.close()


async def test_a_translation_is_the_answer_while_it_is_written(desk: Desk) -> None:
    reply, status, told = await desk.answers(GERMAN, Answer(MOVED))
    assert (reply, status) == ("".join(MOVED), Status.DONE)
    assert told == [
        "TaskStarted",
        "task Das Treffen",
        "says Das Treffen",
        "task  ist auf Donnerstag",
        "says  ist auf Donnerstag",
        "task  verschoben.",
        "says  verschoben.",
        "TaskFinished",
    ]


async def test_one_that_breaks_off_is_written_again_below(desk: Desk) -> None:
    reply, status, told = await desk.answers(
        GERMAN, Answer(MOVED[:2], ends="killed"), Answer(MOVED)
    )
    half, why, whole = reply.split("\n\n")
    assert (half, whole) == ("Das Treffen ist auf Donnerstag", "".join(MOVED))
    assert why.startswith("The text above does not count: ")
    assert status is Status.DONE
    assert [item for item in told if not item.startswith(("task", "says"))] == [
        "TaskStarted",
        "AttemptFailed",
        "TaskStarted",
        "TaskFinished",
    ]


async def test_a_text_in_the_wrong_language_does_not_count(desk: Desk) -> None:
    french = Answer(
        (
            "La réunion ",
            "est reportée à jeudi prochain à neuf heures et demie.",
        )
    )
    reply, _, _ = await desk.answers(GERMAN, french, Answer(MOVED))
    assert reply.split("\n\n")[1:] == [
        "The text above does not count: tiny gave a text that is not in German.",
        "".join(MOVED),
    ]


async def test_english_is_not_even_said_before_it_is_tried_again(desk: Desk) -> None:
    english = Answer(
        (
            "The meeting was moved ",
            "to Thursday at half past nine in the morning.",
        )
    )
    reply, _, told = await desk.answers(GERMAN, english, Answer(MOVED))
    assert reply == "".join(MOVED)
    assert "AttemptFailed" in told


@pytest.mark.parametrize(
    ("text", "terms"), [(GERMAN, None), ("Why did the Roman Empire fall?", Terms())]
)
async def test_the_time_is_told_while_another_conversation_waits_for_the_llm(
    desk: Desk, text: str, terms: Terms | None
) -> None:
    desk.llm.answers = [Answer(("Rome ",), ends="silent")]
    app = desk.person.app
    slow = asyncio.create_task(
        app.assistant.handle(
            Request(text=text, terms=terms),
            FakeFrontend(),
            conversation=app.history.open_conversation().id,
        )
    )
    assert await asyncio.to_thread(desk.llm.silent.acquire, timeout=30)
    asked = len(desk.llm.asked)
    turn = await desk.person.ask("what time is it")
    assert turn.status is Status.DONE
    assert turn.reply.startswith("It is ")
    assert len(desk.llm.asked) == asked
    assert not slow.done()
    slow.cancel()
    await asyncio.gather(slow, return_exceptions=True)
