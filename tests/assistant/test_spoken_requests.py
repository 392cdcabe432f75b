"""Requests whose words were spoken, and written down while they were."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_desktop.assistant.assistant import Assistant
from jarvis_desktop.assistant.talk.hands_free import HandsFree
from jarvis_desktop.core.artifact import text_artifact
from jarvis_desktop.core.events import Event
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.speech import Transcript
from jarvis_desktop.core.task import Task
from jarvis_desktop.core.turn import Request
from tests.assistant.conftest import House, names
from tests.types import CLOCK

HEARD = Transcript("what time is it", "whisper", "en", note="It is often wrong.")


class Person:
    """Answers aloud."""

    def __init__(self, answer: str) -> None:
        self.answer_text = answer
        self.asked: list[str] = []

    async def answer(
        self, ask: Callable[[], Awaitable[None]], *, limit: float, early: bool = False
    ) -> Transcript | None:
        await ask()
        return Transcript(self.answer_text, "whisper")

    async def say(self, text: str, show: Callable[[Event], None]) -> None:
        self.asked.append(text)

    def slower(self) -> None:
        raise AssertionError("nobody wants that")


@pytest.fixture
def answered(house: House) -> House:
    house.planner.planned = Plan((Task(1, CLOCK, {}),))
    house.backend.does = lambda candidate, call: (text_artifact("noon"),)
    return house


async def test_the_words_are_shown_with_what_heard_them(answered: House) -> None:
    turn = await answered.handle(Request(heard=HEARD))
    assert names(answered)[1:3] == ["Transcribed", "Noted"]
    assert (turn.text, turn.heard_by) == ("what time is it", "whisper")
    assert turn.notes == ("It is often wrong.",)
    assert answered.planner.asked[0][0] == "what time is it"


@pytest.mark.parametrize("says", ["no", "yes"])
async def test_what_acts_is_asked_about_aloud_and_never_agreed_to_so(
    answered: House, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jarvis_desktop.assistant.talk.hands_free.SCREEN_TIMEOUT_S", 0)
    person = Person(says)
    answered.backend.ask = "This sends your picture away. Go on?"

    async def never(question: str, *, yes: str = "") -> bool:
        await asyncio.Event().wait()
        return False

    answered.frontend.confirm = never  # type: ignore[method-assign]
    aloud = HandsFree(person, person)  # type: ignore[arg-type]
    answered.assistant = Assistant(
        replace(answered.assistant._dependencies, hands_free=lambda: aloud)
    )
    turn = await answered.handle(Request(heard=HEARD))
    assert turn.status is Status.FAILED
    assert person.asked[0] == "This sends your picture away. Go on?"
    assert answered.backend.calls == []


async def test_what_was_typed_is_asked_about_on_the_screen(answered: House) -> None:
    person = Person("yes")
    answered.backend.ask = "This sends your picture away. Go on?"
    aloud = HandsFree(person, person)  # type: ignore[arg-type]
    answered.assistant = Assistant(
        replace(answered.assistant._dependencies, hands_free=lambda: aloud)
    )
    await answered.handle(Request(text="what time is it"))
    assert answered.frontend.questions == ["This sends your picture away. Go on?"]
    assert person.asked == []


async def test_the_names_of_files_are_words_that_may_be_said(
    answered: House, tmp_path: Path
) -> None:
    first, second = answered.file("holiday.png"), answered.file("report.png")
    await answered.handle(Request(text="what time is it", files=(first,)))
    await answered.handle(Request(text="what time is it", files=(second, first)))
    assert answered.assistant.names() == ("holiday", "report")
