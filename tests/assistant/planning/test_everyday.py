"""Everyday requests in people's own words, read with the shipped weights."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from jarvis_desktop.assistant.planning.embedded_planner import EmbeddedPlanner
from jarvis_desktop.core.ports import Context, PlanRejected
from jarvis_desktop.tasks.registry import INVENTORY
from tests.assistant.planning.planned import ask, conversation, show
from tests.assistant.planning.test_llm_planner import Likely


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("how many kilometres is 26 miles", "calculator"),
        ("tell me what the time is in Dallas", "clock"),
        ("what things are you able to help me with", "help"),
        ("what day are we in", "clock"),
        ("waht time is it in tokio", "clock"),
        ("set me up a timmer for ten minuts", "timer"),
        ("could you let a coin decide", "chance"),
        ("flip me a coin", "chance"),
        ("how is necessary spelled", "spell"),
        ("I did not catch what you just said", "repeat"),
    ],
)
async def test_is_understood_in_any_words(text: str, expected: str) -> None:
    assert [line.partition("(")[0] for line in show(await ask(text))] == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("is 2027 a prime number", ["calculator"]),
        ("Please convert 6 foot 2 to cm.", ["calculator"]),
        ("add 2 hours and 20 minutes to 9:45", ["clock"]),
        ("what day was 9 november 1989", ["clock"]),
        ("how old is someone born on 2 june 1988, and round 2.345 to two decimals",
         ["clock", "calculator"]),
        ("what time is it and what is 91 in roman numerals", ["clock", "calculator"]),
        ("add milk to my shopping list and set a timer for 5 minutes", ["lists", "timer"]),
        ("add milk and eggs to my shopping list and tell me what time it is", ["lists", "clock"]),
        ("how tall is 180 cm in feet and inches, and what day was 9 november 1989",
         ["calculator", "clock"]),
        ("delete all reminders", ["timer"]),
        ("delete all my notes", ["lists"]),
        ("generate a strong password", ["chance"]),
        ("how much disk space is left on this computer", ["this-computer"]),
    ],
)  # fmt: skip
async def test_what_a_task_reads_as_a_whole_is_its(text: str, expected: list[str]) -> None:
    assert [line.partition("(")[0] for line in show(await ask(text))] == expected


@pytest.mark.parametrize("text", ["help! my phone is gone", "how do i get better at go"])
async def test_the_list_of_all_that_works_answers_nothing_else(text: str) -> None:
    assert isinstance(await ask(text), PlanRejected)


async def test_a_file_is_not_taken_for_a_list_of_that_name() -> None:
    planned = show(await ask("remove the duplicates from my guest list", "guests.csv"))
    assert [line.partition("(")[0] for line in planned] == ["edit-table"]
    rejected = await ask("delete guests.csv from my shopping list", "guests.csv")
    assert isinstance(rejected, PlanRejected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("which day of the week are we on", "what=day"),
        ("would you tell me today's date", "what=date"),
        ("please throw a pair of dice", "what=dice"),
        ("get rid of my alarm", "action=cancel"),
        ("what is on my list of reminders", "action=list"),
    ],
)
async def test_a_choice_is_read_with_the_task(text: str, expected: str) -> None:
    (line,) = show(await ask(text))
    assert expected in line


@pytest.mark.parametrize(
    ("text", "said", "language"),
    [
        ("Say good morning in French", "good morning", "French"),
        ("what is the Swedish word for bread", "bread", "Swedish"),
        ("how do they say hello and goodbye in Mexico", "hello and goodbye", "Spanish"),
        ("in French, how do I say good evening", "good evening", "French"),
        ("how do I say where is the station if I were Italian", "where is the station", "Italian"),
    ],
)
async def test_what_is_to_be_translated_is_found(text: str, said: str, language: str) -> None:
    assert show(await ask(text)) == [f"translation(text={said}, language={language})"]


async def test_a_translation_without_words_is_of_the_last_answer() -> None:
    planned = await ask("translate it into German", earlier=conversation(reply="The answer."))
    assert isinstance(planned, PlanRejected)


@pytest.mark.parametrize(
    "text",
    [
        "i made a transaction recently",
        "what does it cost to use my card abroad",
        "read me my meeting schedule",
        "when does my train leave",
        "the timer of the oven is broken",
    ],
)
async def test_what_nothing_does_is_not_planned(text: str) -> None:
    assert isinstance(await ask(text), PlanRejected)


@pytest.mark.parametrize(
    ("text", "tasks"),
    [
        ("find out what 12 times 12 is, flip a coin and tell me the date",
         ["calculator", "chance", "clock"]),
        ("set a timer for five and a half minutes", ["timer"]),
        ("say hello and goodbye", ["text-to-speech"]),
        ("please flip me a coin and order a pizza", ["chance"]),
        ("roll a die and tell me what number it shows", ["chance"]),
        (
            "what time is it in tokyo and how many kilometres is 26 miles",
            ["clock", "calculator"],
        ),
        ("always answer in German", ["remember"]),
    ],
)  # fmt: skip
async def test_several_wishes_are_told_apart(text: str, tasks: list[str]) -> None:
    assert [line.partition("(")[0] for line in show(await ask(text))] == tasks


class OnlyAsAWhole(Likely):
    """Finds the clock in a request, and in none of its parts."""

    def everyday(self, texts: Sequence[str]) -> list[dict[str, float]]:
        return [{"clock": 0.9}, *({"clock": 0.3} for _ in texts[1:])]


@pytest.mark.parametrize("guesses", [True, False])
async def test_what_only_the_whole_request_says_is_understood(guesses: bool) -> None:
    planner = EmbeddedPlanner(OnlyAsAWhole(), guesses=guesses)
    planned = await planner.plan("over there, is it late", INVENTORY, Context())
    assert show(planned) == ["clock(place=over there, is it late)"]


class TimerAsAWhole(Likely):
    """Finds the timer in a request, and in none of its parts."""

    def everyday(self, texts: Sequence[str]) -> list[dict[str, float]]:
        return [{"timer": 0.9}, *({"timer": 0.3} for _ in texts[1:])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in ten minutes ring a bell, then frame it in gold",
         ["timer(duration=in ten minutes ring a bell)"]),
        ("later on, ring a bell", ["timer(duration=later on, ring a bell)"]),
    ],
)  # fmt: skip
async def test_a_whole_request_is_a_task_as_far_as_it_is_heard(
    text: str, expected: list[str]
) -> None:
    planned = await EmbeddedPlanner(TimerAsAWhole()).plan(text, INVENTORY, Context())
    assert show(planned) == expected


async def test_a_task_without_a_file_is_not_meant_by_words_that_name_one() -> None:
    assert show(await ask("correct the spelling in notes.txt", "notes.txt")) == [
        "document-to-text(document=notes.txt)",
        "text-generation(prompt=correct the spelling in notes.txt, text=#0)",
    ]


@pytest.mark.parametrize(
    "text", ["what rhymes with time", "synonyms for time", "what is the meaning of time"]
)
async def test_a_question_about_a_word_is_not_what_the_word_says(text: str) -> None:
    assert isinstance(await ask(text), PlanRejected)


async def test_a_condition_belongs_to_what_depends_on_it() -> None:
    text = "If I put 1000 euros at 3 percent a year, how much do I have after 10 years?"
    assert [task.type.name for task in await ask(text)] == ["calculator"]  # type: ignore[union-attr]
    planned = show(await ask("if you can, blur a.png, and sharpen it", "a.png"))
    assert planned[0] == "image-editing(image=a.png, edit=blur)"
    assert len(planned) == 2


async def test_days_are_counted_beside_another_wish() -> None:
    planned = await ask("what time is it in Rome, and how many days are there until Christmas")
    assert [task.type.name for task in planned] == ["clock", "clock"]  # type: ignore[union-attr]
