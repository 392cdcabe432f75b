"""Questions that only live data answers are refused, by the shipped weights and on every way."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from jarvis_desktop.assistant.planning.live_data import LiveDataCheck
from jarvis_desktop.backends.task_encoder import TaskEncoder
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.ports import AnswerDirectly, PlanRejected
from jarvis_desktop.paths import shipped
from tests.assistant.planning.test_llm_planner import BAD, DIRECT, Likely, Room
from tests.benchmarks.live_data import LIVE, ORDINARY

REASON = "I cannot look that up."


@pytest.fixture(scope="module")
def check() -> LiveDataCheck:
    folder = shipped("models", "planner")
    return LiveDataCheck(folder / "live_data.json", TaskEncoder(folder).directions)


def test_the_shipped_weights_know_most_live_questions(check: LiveDataCheck) -> None:
    known = [text for text in LIVE if check(text).startswith("I cannot look that up")]
    assert len(known) >= 0.8 * len(LIVE)


def test_the_shipped_weights_let_ordinary_questions_pass(check: LiveDataCheck) -> None:
    assert [text for text in ORDINARY if check(text)] == []


def test_without_the_encoder_nothing_is_refused(tmp_path: Path) -> None:
    def broken(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        raise UnavailableError("Its weights are gone.")

    assert LiveDataCheck(tmp_path / "none.json", broken)("Will it rain?") == ""


def test_the_length_of_a_direction_does_not_count(tmp_path: Path) -> None:
    weights = tmp_path / "weights.json"
    weights.write_text(json.dumps({"bias": -0.5, "weights": [2.0, -1.0]}))
    found = [
        bool(LiveDataCheck(weights, lambda texts, it=it: [it])("?"))  # type: ignore[misc]
        for it in ((1.0, 0.0), (50.0, 0.0), (0.0, 50.0), (0.0, 0.0))
    ]
    assert found == [True, True, False, False]


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
