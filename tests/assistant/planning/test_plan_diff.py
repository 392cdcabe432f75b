"""What a plan works on is the user's, or made by the plan: never what an LLM wrote into it."""

from __future__ import annotations

import pytest

from jarvis_desktop.assistant.planning.plan_diff import check_own_words, check_settings
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.tasks.registry import INVENTORY
from tests.assistant.planning.llm_plans import planned


def made(task: str, **args: str) -> Plan:
    written = ", ".join(f'"{name}": "{value}"' for name, value in args.items())
    plan = planned(f'[{{"task": "{task}", "id": 0, "args": {{{written}}}}}]')
    assert plan is not None
    return plan


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("Say good morning to all of you aloud", made("text-to-speech", text="good morning")),
        ("What does it mean: c'est la vie", made("translation", text="C'est la vie!")),
        ("Something about the sea", made("text-generation", prompt="Write a poem on the ocean.")),
        ("Is it far?", made("question-answering", question="How far is it?", context="is it far")),
        ("Read letter.pdf", made("document-to-text", document="letter.pdf")),
    ],
)
def test_words_of_the_request_and_wishes_may_be_in_a_plan(text: str, plan: Plan) -> None:
    assert check_own_words(plan, text, INVENTORY) is plan


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("Tell me a joke aloud", made("text-to-speech", text="Why did the chicken cross it?")),
        ("Sum up the film", made("summarization", text="the words that are spoken in it")),
        ("Is it rude?", made("text-classification", text="contents of the letter")),
    ],
)
def test_what_an_llm_wrote_is_not_worked_on(text: str, plan: Plan) -> None:
    with pytest.raises(PlanError, match="the result of a task that makes it"):
        check_own_words(plan, text, INVENTORY)


def test_what_was_in_the_plan_before_stays() -> None:
    before = made("translation", text="Good morning", language="French")
    after = made("translation", text="Good morning", language="Italian")
    assert check_own_words(after, "rather Italian", INVENTORY, but=before.tasks) is after


@pytest.mark.parametrize(
    ("text", "plan", "asked"),
    [
        (
            "Make photo.jpg a pencil drawing",
            made("image-editing", image="cat.png", edit="sketch"),
            True,
        ),
        (
            "Make photo.jpg a bit sharper",
            made("image-editing", image="cat.png", edit="sharpen"),
            True,
        ),
        ("Convert photo.jpg to PNG", made("image-editing", image="cat.png", edit="sketch"), False),
        ("Convert photo.jpg to PNG", made("image-editing", image="cat.png"), False),
        ("Edit the photo", made("image-editing", image="cat.png"), True),
        ("Put a hat on it", made("image-editing", image="cat.png", prompt="a hat"), True),
        ("Say it in Dutch", made("translation", text="it", language="Dutch"), True),
    ],
)
def test_settings_are_those_that_the_request_asks_for(text: str, plan: Plan, asked: bool) -> None:
    if asked:
        check_settings(plan, text, INVENTORY)
        return
    with pytest.raises(PlanError, match="the request"):
        check_settings(plan, text, INVENTORY)
