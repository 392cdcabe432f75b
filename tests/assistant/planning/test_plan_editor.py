"""Changing a plan in words without an LLM: what is surely meant, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_desktop.assistant.planning import plan_editor
from jarvis_desktop.assistant.planning.embedded_planner import EmbeddedPlanner
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context, PlanRejected
from jarvis_desktop.core.task import Preset, Ref, Task, TaskOption, TaskType
from jarvis_desktop.tasks.registry import INVENTORY
from tests.assistant.planning.llm_plans import lines
from tests.assistant.planning.planned import file

BY_NAME = {item.name: item for item in INVENTORY}
SCAN = file("scan.png")
CONTEXT = Context((SCAN, file("notes.txt")))
PLAN = Plan(
    (
        Task(0, BY_NAME["image-to-text"], {"image": SCAN}),
        Task(1, BY_NAME["summarization"], {"text": Ref(0), "sentences": 3}),
        Task(2, BY_NAME["translation"], {"text": Ref(1), "language": "German"}),
        Task(3, BY_NAME["text-to-speech"], {"text": Ref(2)}),
    )
)
READ, SUM, TRANSLATE, SPEAK = lines(PLAN)
NOT = "I did not understand “{}”, so the plan is unchanged."
SAID = (
    "leave out drop no step 1 2 9 the summary and in Spanish, five sentences too read it aloud "
    'a.png "x" save as y.txt'
).split()


async def revised(words: str, plan: Plan = PLAN) -> list[str] | str:
    outcome = await EmbeddedPlanner().revise(words, INVENTORY, CONTEXT, plan=plan)
    return outcome.reason if isinstance(outcome, PlanRejected) else lines(outcome)


@pytest.mark.parametrize(
    "words",
    ["leave out the summary", "Leave the summary out, please.", "skip the summary", "drop step 2",
     "without the summary", "no summary", "remove the second step", "delete step number 2"],
)  # fmt: skip
async def test_a_step_is_left_out_and_the_next_takes_its_input(words: str) -> None:
    spanish = TRANSLATE.replace("#1", "#0")
    assert await revised(words) == [READ, spanish, SPEAK]


@pytest.mark.parametrize(
    "words", ["don't read it aloud", "without the speech", "drop the last step"]
)
async def test_the_last_step_is_left_out(words: str) -> None:
    assert await revised(words) == [READ, SUM, TRANSLATE]


@pytest.mark.parametrize(
    "words",
    ["in Spanish instead", "use Spanish", "Turn it into Spanish", "translate it to Spanish"],
)
async def test_another_language(words: str) -> None:
    assert await revised(words) == [READ, SUM, TRANSLATE.replace("German", "Spanish"), SPEAK]


@pytest.mark.parametrize(
    "words", ["in five sentences", "make it 5 sentences", "5 sentences please"]
)
async def test_another_number(words: str) -> None:
    assert await revised(words) == [READ, SUM.replace("3", "5"), TRANSLATE, SPEAK]


async def test_a_step_more_at_the_end() -> None:
    assert await revised("read it aloud too", PLAN.without(3)) == [READ, SUM, TRANSLATE, SPEAK]
    more = await revised("save the summary as s.txt as well")
    assert more[-1] == "4 save-file content=#1 name=s.txt"
    more = await revised("translate it into French too")
    assert more[4:] == ["4 translation text=#2 language=French"]
    more = await revised("also summarise notes.txt")
    assert more[-1].endswith("text=#4")
    assert more[-2] == "4 document-to-text document=notes.txt"


async def test_several_edits_at_once() -> None:
    short = await revised("leave out the summary and the translation")
    assert short == [READ, SPEAK.replace("#2", "#0")]
    both = await revised("in Spanish and don't read it aloud")
    assert both == [READ, SUM, TRANSLATE.replace("German", "Spanish")]
    both = await revised("only two sentences, in French")
    assert both == [READ, SUM.replace("3", "2"), TRANSLATE.replace("German", "French"), SPEAK]


TWICE = Plan(
    (
        Task(0, BY_NAME["translation"], {"text": "Good morning to you all", "language": "German"}),
        Task(1, BY_NAME["translation"], {"text": "Good night to you all", "language": "German"}),
        Task(2, BY_NAME["save-file"], {"content": (Ref(0), Ref(1)), "name": "x.txt"}),
    )
)


async def test_steps_of_one_kind() -> None:
    assert all("Spanish" in line for line in (await revised("in Spanish", TWICE))[:2])
    assert "several such steps" in await revised("leave out the translation", TWICE)
    left = await revised("leave out all the translations", TWICE)
    assert left == ["2 save-file content=Good morning to you all+Good night to you all name=x.txt"]
    assert (await revised("leave out the first one", TWICE))[-1].startswith(
        "2 save-file content=Good morning to you all+#1"
    )
    assert (await revised("save it as y.txt instead", TWICE))[-1].endswith("name=y.txt")


async def test_what_is_said_for_one_of_several_steps() -> None:
    castle, moon = (
        Task(at, BY_NAME[name], {"prompt": name, "seed": 1})
        for at, name in enumerate(("text-to-image", "text-to-video"))
    )
    drawn = Plan((castle, moon))
    assert await revised("use seed 7", drawn) == (
        "Several steps could be meant: name the one you mean."
    )
    told = await revised("generate a video with seed 7", drawn)
    assert told == [lines(drawn)[0], lines(drawn)[1].replace("seed=1", "seed=7")]


async def test_an_input_that_nothing_can_take_the_place_of_is_named() -> None:
    assert await revised("leave out step 1") == (
        "“Read text” cannot be left out alone: “Summarise” needs its result."
    )


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("", "Say what should change."),
        ("do it nicely", f"{NOT.format('do it nicely')} {plan_editor.SUPPORTED_EDITS}"),
        ("leave out the picture and use a blue background", "I did not understand “picture”"),
        ("leave out the summary in blue", "I did not understand “blue”"),
        ("in Spanish with a blue border", "I did not understand “blue border”"),
        ("leave out the", "I did not understand “the”"),
        ("leave out step 9", "The plan has no step 9."),
        ("leave out step 0", "The plan has no step 0."),
        ("make the summary shorter", "I did not understand “make the summary shorter”"),
        ("turn it upside down too", "The plan contains nothing to use for “Change picture”."),
        ("read it aloud as well", "The plan does that already."),
        ("leave out the summary and read it aloud in French", "The plan does that already."),
        ("summarise it, and for xyz.png paint it black too", "I cannot find xyz.png"),
        ("summarise it again too, notes.txt should shine", "I did not understand “notes.txt"),
    ],
)  # fmt: skip
async def test_what_is_not_wholly_understood_changes_nothing(words: str, why: str) -> None:
    outcome = await revised(words)
    assert isinstance(outcome, str), outcome
    assert outcome.startswith(why)


@given(st.text(max_size=60) | st.lists(st.sampled_from(SAID), max_size=9).map(" ".join))
@settings(deadline=None)
async def test_any_words_give_a_plan_or_a_reason(words: str) -> None:
    outcome = await EmbeddedPlanner().revise(words, INVENTORY, CONTEXT, plan=PLAN)
    assert outcome.reason if isinstance(outcome, PlanRejected) else Plan(outcome.tasks)


async def test_a_step_that_no_plan_takes() -> None:
    preset = Preset("sulk", (("mood", "sulky"),))
    broken = TaskType(
        "broken", "", (), (Kind.TEXT,), (TaskOption("mood", "", "", ("glad",)),), presets=(preset,)
    )
    told = await EmbeddedPlanner().revise("sulk too", (broken,), CONTEXT, plan=PLAN)
    assert told == PlanRejected("That cannot be added. Task 4 (broken) knows no mood 'sulky'.")
