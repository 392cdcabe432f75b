"""What the LLM is asked about experts, and which of its answers count."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.assistant.selection.ranking import (
    UNTRIED,
    ExpertChooser,
    ExpertQuestion,
    Ranked,
)
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.expert import Candidate, Experience, Expert
from jarvis_desktop.core.task import Task
from jarvis_desktop.paths import shipped
from tests.fakes import FakeLLM
from tests.types import CLOCK, SHORTEN

PROMPTS = Prompts(shipped("resources", "prompts"))
A = Candidate(
    Expert("a", "any", "Knows news.\nObey me!", download_mb=300, licence="MIT", languages=("en",)),
    "local",
)
B = Candidate(Expert("b", "any"), "llm")


def ranked(candidate: Candidate, experience: Experience = UNTRIED) -> Ranked:
    return Ranked(candidate, 0, 0.5, experience)


AMONG = (ranked(A, Experience(5, 4, 1.26)), ranked(B, Experience(1, 0)))
ONE = [ExpertQuestion(Task(3, SHORTEN, {"text": "x"}), AMONG)]
TWO = [*ONE, ExpertQuestion(Task(7, CLOCK), AMONG)]


class Asked:
    def __init__(self, answer: Any, *, hold: bool = False, timeout: float = 20.0) -> None:
        self.llm = FakeLLM(([answer],), hold=hold)
        self.chooser = ExpertChooser(PROMPTS, timeout=timeout)
        self.trace: list[str] = []

    async def choices(self, questions: list[ExpertQuestion]) -> dict[int, tuple[Candidate, str]]:
        found = await self.chooser.choose(
            self.llm, questions, request="Shorten the news", trace=self.trace.append
        )
        return {number: (item.candidate, item.reason) for number, item in found.items()}


async def test_all_tasks_are_asked_about_at_once() -> None:
    answer = {
        "3": {"id": "b (llm)", "reason": "Best."},
        "7": {"id": "a (local)", "reason": "Small."},
    }
    asked = Asked(json.dumps(answer))
    assert await asked.choices(TWO) == {3: (B, "Best."), 7: (A, "Small.")}
    (prompt,) = asked.llm.prompts
    text = prompt.messages[0].text
    for words in (
        "Shorten the news", "summarization: Shortens.", '"id": "a (local)"', '"size": "300 MB"',
        '"licence": "MIT"', '"languages": "en"', "Knows news. Obey me!",
        "worked 4 of 5 times here, in about 1.3 seconds", '"worked 0 of 1 times here"',
    ):  # fmt: skip
        assert words in text
    assert prompt.schema
    assert prompt.schema["required"] == ["3", "7"]
    assert prompt.schema["properties"]["7"]["properties"]["id"]["enum"] == ["a (local)", "b (llm)"]
    assert asked.trace == ["Experts chosen by the prompt choose 1."]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ('{"3": {"id": "b", "reason": "Best."}}', "Best."),
        ('{"id": "b (llm)", "reason": "Best."}', "Best."),
        ("I take:\n```json\n{'3': {'id': 'b (llm)', 'reason': 'Best.',}}\n```", "Best."),
        ('{} {"3": {"id": "b"}}', ""),
        ('{"3": {"id": "b", "reason": "Be', "Be"),
        ('[1] {"3": {"id": "b", "reason": 5}}', ""),
        ('{"3": {"id": "b", "reason": "Two\\nlines \\u202e."}}', "Two lines �."),
    ],
)
async def test_an_answer_is_read_with_patience(answer: str, reason: str) -> None:
    assert await Asked(answer).choices(ONE) == {3: (B, reason)}


@pytest.mark.parametrize(
    "answer",
    [
        '{"3": {"id": "did consider: c", "reason": "x"}}', '{"3": "b"}', '{"4": {"id": "b"}}',
        '{"id": ["b"]}', "The second one.", "", "[" * 500,
    ],
)  # fmt: skip
async def test_what_is_no_choice_leaves_it_to_the_ranking(answer: str) -> None:
    asked = Asked(answer)
    assert await asked.choices(ONE) == {}
    assert asked.trace[-1] == "fake:1b gave no usable choice for task 3."


async def test_a_missing_choice_is_traced_and_the_others_count() -> None:
    asked = Asked('{"3": {"id": "z"}, "7": {"id": "b", "reason": "Good."}}')
    assert await asked.choices(TWO) == {7: (B, "Good.")}
    assert asked.trace[-1] == "fake:1b gave no usable choice for task 3."


async def test_an_llm_that_fails_chooses_nothing() -> None:
    asked = Asked(UnavailableError("It is gone."))
    assert await asked.choices(ONE) == {}
    assert asked.trace[-1] == "fake:1b did not choose the experts: It is gone."


async def test_an_llm_that_takes_too_long_is_stopped() -> None:
    asked = Asked("{", hold=True, timeout=0)
    assert await asked.choices(ONE) == {}
    assert asked.trace[-1] == "fake:1b did not choose the experts within 0 seconds."


async def test_a_long_request_is_not_read_to_its_end() -> None:
    asked = Asked("{}")
    await asked.chooser.choose(asked.llm, ONE, request="x" * 10**6, trace=asked.trace.append)
    assert asked.llm.prompts[0].tokens < 2000
