"""Questions that only live data answers are refused, by the shipped weights and on every way."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.assistant.planning.everyday import why_unknowable
from jarvis_desktop.backends.task_encoder import TaskEncoder
from jarvis_desktop.core.ports import AnswerDirectly, PlanRejected
from jarvis_desktop.paths import shipped
from tests.assistant.planning.test_llm_planner import BAD, DIRECT, Likely, Room
from tests.benchmarks.live_data import LIVE, ORDINARY

REASON = "I cannot look that up."


@pytest.fixture(scope="module")
def encoder() -> TaskEncoder:
    return TaskEncoder(shipped("models", "planner"))


def test_the_shipped_weights_know_most_live_questions(encoder: TaskEncoder) -> None:
    reasons = [why_unknowable(encoder, text) for text in LIVE]
    known = [reason for reason in reasons if reason.startswith("I cannot look that up")]
    assert len(known) >= 0.8 * len(LIVE)


def test_the_shipped_weights_let_ordinary_questions_pass(encoder: TaskEncoder) -> None:
    assert [text for text in ORDINARY if why_unknowable(encoder, text)] == []


def test_without_the_encoder_nothing_is_refused(tmp_path: Path) -> None:
    assert why_unknowable(TaskEncoder(tmp_path), "Will it rain?") == ""


def asks_weather(text: str) -> str:
    return REASON if "weather" in text else ""


@pytest.mark.parametrize(
    ("room", "text"),
    [
        (Room(DIRECT, scorer=Likely(), files=False), "Is the weather good?"),
        (Room(DIRECT, files=False), "Is the weather good?"),
        (Room(BAD, files=False), "Is the weather good?"),
        (Room("How is the weather?", scorer=Likely(), files=False), "Wie ist denn das Wetter?"),
    ],
    ids=["no task is likely", "the LLM says so", "no plan was made", "in another language"],
)
async def test_no_way_leads_to_an_invented_answer(room: Room, text: str) -> None:
    room.planner.cannot_know = asks_weather
    assert await room.plan(text) == PlanRejected(REASON, final=True)


async def test_other_questions_are_answered() -> None:
    room = Room(DIRECT, scorer=Likely(), files=False)
    room.planner.cannot_know = asks_weather
    assert await room.plan("Is the moon far?") == AnswerDirectly()
