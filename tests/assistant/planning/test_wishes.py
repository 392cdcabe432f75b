"""No wish is dropped without a word: it is in the plan, or a note names it."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from jarvis_desktop.assistant.planning.embedded_planner import EmbeddedPlanner
from jarvis_desktop.core.context import current_note
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import AnswerDirectly, Context, PlanRejected
from jarvis_desktop.tasks.registry import INVENTORY
from tests.assistant.planning.llm_plans import lines
from tests.assistant.planning.planned import PLANNER, file
from tests.assistant.planning.test_llm_planner import SMALL, Likely, Room, shown
from tests.families import some

SEES = "0 image-to-text image=photo.jpg what=caption"


async def planned(
    text: str, *names: str, without: str = "", planner: EmbeddedPlanner = PLANNER
) -> tuple[list[str], list[str]]:
    """The plan in lines, and the notes."""
    notes: list[str] = []
    before = current_note.set(notes.append)
    inventory = tuple(item for item in INVENTORY if item.name != without)
    try:
        found = await planner.plan(text, inventory, Context(tuple(map(file, names))))
    finally:
        current_note.reset(before)
    assert isinstance(found, Plan)
    return lines(found), notes


def left_out(words: str) -> str:
    return f"I did not understand “{words}”, so that was left out."


@pytest.mark.parametrize(
    ("text", "names", "words"),
    [
        (
            "Give me the picture upside down, smaller, and in warm brown tones",
            ("photo.jpg",),
            "in warm brown tones",
        ),
        ("Read the invoice to me slowly", ("receipt.png",), "slowly"),
        ("Translate the letter into French and read it out loud very slowly",
         ("letter.pdf",), "very slowly"),
        (
            "Sort out which of these two photos is the brighter one after you sharpen both",
            ("a.jpg", "b.jpg"),
            "which of these two photos is the brighter one after you sharpen both",
        ),
    ],
)  # fmt: skip
async def test_what_no_task_does_is_named(text: str, names: tuple[str, ...], words: str) -> None:
    steps, notes = await planned(text, *names)
    assert steps
    assert notes == [left_out(words)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Make it brighter, and with more contrast", "photo.jpg"),
        ("Rotate the photo, and make it 300 pixels wide", "photo.jpg"),
        ("Read this aloud", "letter.pdf"),
        ("Write a short poem, in the style of an old sailor", "photo.jpg"),
        ("Crop it, please and thank you very much", "photo.jpg"),
        ("What is in here? Rotate it", "photo.jpg"),
        ("Say what the letter says aloud", "letter.pdf"),
        ('How similar are "the cat sleeps" and "raise the exposure"?', "letter.pdf"),
    ],
)
async def test_what_is_understood_or_says_little_is_not_noted(text: str, name: str) -> None:
    _, notes = await planned(text, name)
    assert notes == []


async def test_how_it_is_read_is_not_what_is_read() -> None:
    steps, _ = await planned("Read the invoice to me slowly", "receipt.png")
    assert steps == ["0 image-to-text image=receipt.png", "1 text-to-speech text=#0"]
    alone, notes = await planned("Say slowly")
    assert (alone, notes) == (["0 text-to-speech text=slowly"], [])


async def test_a_first_wish_without_a_cue_is_written() -> None:
    text = "Put the invoice into plain words for my grandmother and read it out slowly"
    steps, _ = await planned(text, "receipt.png")
    assert steps == [
        "0 image-to-text image=receipt.png",
        "1 text-generation prompt=put the invoice into plain words for my grandmother text=#0",
        "2 text-to-speech text=#1",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Summarise the letter in French",
            ["1 summarization text=#0", "2 translation text=#1 language=French"],
        ),
        ("Translate the letter into French", ["1 translation text=#0 language=French"]),
    ],
)
async def test_a_summary_in_another_language_is_both(text: str, expected: list[str]) -> None:
    steps, _ = await planned(text, "letter.pdf")
    assert steps[1:] == expected


async def test_a_text_is_written_in_its_language_at_once() -> None:
    steps, _ = await planned("Write a poem in Spanish")
    assert steps == ["0 text-generation prompt=write a poem in spanish"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write a funny caption for this photo", "1 text-generation prompt=write a funny caption "
         "for this photo text=#0"),
        ("Write a haiku about it", "1 text-generation prompt=write a haiku about it text=#0"),
        ("Write a caption for photo.jpg",
         "1 text-generation prompt=write a caption for photo.jpg text=#0"),
    ],
)  # fmt: skip
async def test_a_text_about_a_picture_needs_somebody_who_sees_it(text: str, expected: str) -> None:
    steps, _ = await planned(text, "photo.jpg")
    assert steps == [SEES, expected]


@pytest.mark.no_cover
async def test_a_text_that_is_not_about_the_picture_needs_nobody() -> None:
    steps, _ = await planned("Write a poem about autumn", "photo.jpg")
    assert steps == ["0 text-generation prompt=write a poem about autumn"]
    steps, _ = await planned("Write a haiku about it", "photo.jpg", without="image-to-text")
    assert steps == ["0 text-generation prompt=write a haiku about it"]


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("What colour is the car in the picture?", "visual-question-answering"),
        ("Would this photo suit a children's book?", "visual-question-answering"),
        ("Which letter is in the picture?", "document-question-answering"),
        ("How much is it?", "document-question-answering"),
    ],
)
async def test_what_a_picture_shows_is_not_looked_for_in_its_text(text: str, task: str) -> None:
    steps, _ = await planned(text, "photo.jpg", planner=EmbeddedPlanner())
    assert [step.split()[1] for step in steps] == [task]


ORDERS = {
    "make it brighter": "image-editing",
    "rotate it by 90 degrees": "image-editing",
    "read the text in it": "image-to-text",
    "tell me what time it is": "clock",
    "set a timer for ten minutes": "timer",
    "flip a coin": "chance",
    "work out 17 times 23": "calculator",
    "find the faces in it": "object-detection",
}
BESIDES = (
    "order a pizza with olives",
    "book a flight to Rome",
    "turn off the lights in the hall",
    "water the plants on the balcony",
    "print it on thick paper",
    "e-mail it to my sister",
)
"""What no task does."""


# Five apart, so that each joint comes beside another wish.
@pytest.mark.no_cover
@pytest.mark.parametrize(
    "case", some(list(product(BESIDES, [" and ", ", then ", ". ", ", and also "])), every=5)
)
async def test_every_wish_is_planned_or_named(case: tuple[str, str]) -> None:
    besides, joint = case
    for order, task in ORDERS.items():
        for text in (f"{order}{joint}{besides}", f"{besides}{joint}{order}"):
            steps, notes = await planned(text.capitalize(), "photo.jpg")
            assert task in [step.split()[1] for step in steps], text
            assert [note.lower() for note in notes] == [left_out(besides).lower()], text


@pytest.mark.no_cover
@pytest.mark.parametrize("case", some(list(product(ORDERS, [" and ", ", then ", ". "])), every=5))
async def test_two_wishes_are_both_planned(case: tuple[str, str]) -> None:
    first, joint = case
    for second, other in ORDERS.items():
        steps, notes = await planned(f"{first}{joint}{second}", "photo.jpg")
        assert {ORDERS[first], other} == {step.split()[1] for step in steps}, second
        assert notes == [], second


PROMPT = '{"plan": [{"task": "text-generation", "id": 0, "args": {"prompt": "%s"}}]}'


async def test_an_llm_plans_no_text_about_a_picture_that_nobody_sees() -> None:
    room = Room(PROMPT % "Describe the picture", PROMPT % "Write about spring")
    room.context = replace(room.context, attachments=(file("photo.jpg"),))
    assert shown(await room.plan("Do it")) == ["0 text-generation prompt=Write about spring"]
    assert "does not see the picture" in room.last
    free = Room(PROMPT % "Describe a picture", files=False)
    assert shown(await free.plan("Do it")) == ["0 text-generation prompt=Describe a picture"]


async def test_files_are_worked_on_at_once_if_no_task_fits() -> None:
    room = Room("never asked", scorer=Likely(), ability=SMALL)
    room.context = replace(room.context, attachments=(file("letter.pdf"),))
    assert shown(await room.plan("Proofread this")) == [
        "0 document-to-text document=letter.pdf",
        "1 text-generation prompt=Proofread this text=#0",
    ]
    assert room.llm.prompts == []
    photo = Room(PROMPT % "It", PROMPT % "It", scorer=Likely(), ability=SMALL)
    photo.context = replace(photo.context, attachments=(file("photo.jpg"),))
    found = await photo.plan("Do something")
    assert not isinstance(found, AnswerDirectly | PlanRejected)
    assert photo.llm.prompts
