"""Follow-ups that leave out what the request before them has."""

from __future__ import annotations

import pytest

from jarvis_desktop.assistant.planning.follow_ups import whole_request
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import PlanRejected
from jarvis_desktop.core.turn import Conversation, Turn
from tests.assistant.planning.planned import NOON, ask, file, show


async def last_of(*said: str, given: str = "") -> Plan | PlanRejected:
    """What is planned for the last of several requests in one conversation."""
    turns: tuple[Turn, ...] = ()
    for number, text in enumerate(said[:-1]):
        planned = await ask(text, *filter(None, [given]), earlier=Conversation("c", turns))
        plan = planned if isinstance(planned, Plan) else None
        files = (file(given),) if given else ()
        turns = (*turns, Turn(str(number), NOON, text=text, plan=plan, attachments=files))
    return await ask(said[-1], earlier=Conversation("c", turns))


@pytest.mark.parametrize(
    ("said", "plan"),
    [
        (
            ("what time is it in Tokyo", "and in London?"),
            "clock(what=time, place=what time is it in london)",
        ),
        (
            ("what time is it in Tokyo", "what about Rome?"),
            "clock(what=time, place=what time is it in rome)",
        ),
        (
            ("wie spät ist es in Tokio", "und in Rom"),
            "clock(what=time, place=what time is it in rom)",
        ),
        (
            ("how many kilometres is 26 miles", "and 10 miles?"),
            "calculator(expression=how many kilometres is 10 miles)",
        ),
        (
            ("how many kilometres is 26 miles", "and 10 miles?", "what about 5"),
            "calculator(expression=how many kilometres is 5 miles)",
        ),
        (
            ("how many kilometres is 26 miles", "and in feet"),
            "calculator(expression=how many feet is 26 miles)",
        ),
        (
            ("convert 6 feet to cm", "in inches?"),
            "calculator(expression=convert 6 feet to inches)",
        ),
        (
            ("what is 15% of 80", "and 20%?", "and of 50"),
            "calculator(expression=what is 20% of 50)",
        ),
        (("when is Easter", "and Christmas?"), "clock(what=days until, place=when is christmas)"),
        (
            ("when is Easter", "and next year?"),
            "clock(what=days until, place=when is easter next year)",
        ),
        (
            ("how many days until Friday", "and until Sunday"),
            "clock(what=days until, place=how many days until sunday)",
        ),
        (("spell necessary", "and rhythm"), "spell(word=spell rhythm)"),
    ],
)
async def test_the_rest_is_that_of_the_request_before(said: tuple[str, ...], plan: str) -> None:
    assert show(await last_of(*said)) == [plan]


@pytest.mark.parametrize(
    ("text", "before", "whole"),
    [
        ("and tomorrow", "what is the date today", "what is the date tomorrow"),
        ("and three", "roll two dice", "roll three dice"),
        ("and 12", "pick a number", None),
        ("and the end", "what is the date", None),
        ("and why", "what is the date", None),
        ("what about dinner", "what time is it in Tokyo", None),
        ("and to German", "translate hello to French", "translate hello to German"),
        ("and of the garage", "how high is the roof", "how high is the roof of the garage"),
        ("in metres", "how high is it", "how high is it in metres"),
        ("伦敦呢？", "东京现在几点", "伦敦现在几点"),
        ("那复活节呢", "离圣诞节还有多少天", "离复活节还有多少天"),
        ("为什么呢", "what time is it", None),
        ("thank you", "what time is it in Tokyo", None),
        ("and then make it as bright as it can be", "sharpen it", None),
        ("and", "what time is it", None),
    ],
)
def test_words_are_exchanged_for_what_they_stand_for(
    text: str, before: str, whole: str | None
) -> None:
    assert whole_request(text, [before]) == whole


def test_the_first_request_follows_none() -> None:
    assert whole_request("and in London", []) is None


@pytest.mark.parametrize(
    "said",
    [
        ("what time is it in Tokyo", "what about the capital of France?"),
        ("what time is it in Tokyo", "and who lives there?"),
        ("who was Alan Turing", "and in London?"),
        ("what time is it", "and on whom does it depend in the end?"),
    ],
)
async def test_what_is_no_follow_up_is_left_to_others(said: tuple[str, ...]) -> None:
    assert isinstance(await last_of(*said), PlanRejected)


async def test_what_has_a_plan_of_its_own_is_none() -> None:
    assert show(await last_of("what is 15% of 80", "and what time is it in Rome")) == [
        "clock(what=time, place=and what time is it in rome)"
    ]
    refused = await last_of("what time is it in Tokyo", "and in my folder delete all files")
    assert isinstance(refused, PlanRejected)
    assert refused.final
