"""The words by which people ask, from end to end: which task a request comes to."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact, kind_of_name
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context
from jarvis_desktop.tasks.registry import INVENTORY
from tests.assistant.planning.planned import PLANNER


async def planned(text: str, *names: str) -> list[str]:
    """The names of the planned tasks; [] where the request is declined."""
    given = [
        Artifact(kind, path=Path(f"/{name}"), name=name)
        for name in names
        if (kind := kind_of_name(name))
    ]
    plan = await PLANNER.plan(text, INVENTORY, Context(tuple(given), None))
    return [task.type.name for task in plan.tasks] if isinstance(plan, Plan) else []


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("what is 2+2", "calculator"),
        ("2+2*3", "calculator"),
        ("(2+3)*4", "calculator"),
        ("what's 12 x 12", "calculator"),
        ("what is 100/7", "calculator"),
        ("15% of 240", "calculator"),
        ("tip of 18 percent on 56.40", "calculator"),
        ("tell me what 2 plus 2 is", "calculator"),
        ("2 plus 3 plus 4", "calculator"),
        ("how much is 3,5 kg in pounds", "calculator"),
        ("how many feet are in a mile", "calculator"),
        ("what is 3 hours in minutes", "calculator"),
        ("set an alarm for seven", "timer"),
        ("remove the alarm for tomorrow", "timer"),
        ("fix alarm", "timer"),
        ("what is today's date", "clock"),
        ("time in tokyo", "clock"),
        ("say that again", "repeat"),
        ("roll two dice", "chance"),
        ("hello", "help"),
        ("hi there", "help"),
        ("how would i say i need directions if i were french", "translation"),
        ("say hello", "text-to-speech"),
        ("write an email to my boss", "text-generation"),
        ("tell me what time it is", "clock"),
    ],
)
async def test_is_heard(text: str, task: str):
    assert await planned(text) == [task]


@pytest.mark.parametrize(
    "text",
    [
        "how much is starbucks stock",
        "how much is my car worth",
        "create a loop that continues 10 times",
        "make my pin 1234 for my account",
        "give me the time of the events",
        "what's the date in the letter",
        "cancel all my appointments",
        "hey do i have any new emails",
        "play a random song from my playlist",
        "send an email to my boss",
        "raise the volume of the current music",
        "open twitter",
        "turn down the lights",
        "that is an interesting fact",
    ],
)
async def test_everyday_words_ask_for_no_task(text: str):
    assert await planned(text) == []


@pytest.mark.parametrize(
    ("text", "name", "tasks"),
    [
        ("read me the letter in this picture", "a.png", ["image-to-text", "text-to-speech"]),
        ("find the faces in the picture", "a.png", ["object-detection"]),
        ("who is in this photo", "a.png", ["visual-question-answering"]),
        ("whats in this picture", "a.png", ["visual-question-answering"]),
        ("what is this?", "a.png", ["visual-question-answering"]),
        ("what's the date in the letter", "a.pdf", ["document-question-answering"]),
        ("give me the gist in two sentences", "a.pdf", ["document-to-text", "summarization"]),
        ("how many people came", "a.txt", ["document-to-text", "question-answering"]),
        ("what's the highest amount", "t.csv", ["table-question-answering"]),
        ("resize to 300 x 200", "a.jpg", ["image-editing"]),
        ("read this", "a.png", ["image-to-text"]),
        ("read this", "a.pdf", ["document-to-text"]),
        ("open this", "a.png", ["open-file"]),
        ("is this positive or negatve", "a.txt", ["document-to-text", "text-classification"]),
        ("transcirbe this", "a.wav", ["automatic-speech-recognition"]),
        ("remove the background noise", "a.wav", ["audio-to-audio"]),
    ],
)
async def test_is_heard_with_a_file(text: str, name: str, tasks: list[str]):
    assert await planned(text, name) == tasks
