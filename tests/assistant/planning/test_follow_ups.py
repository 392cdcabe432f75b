"""Requests about earlier results, requests that are declined, and plans over other inventories."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_desktop.assistant.planning import inputs
from jarvis_desktop.assistant.planning.embedded_planner import EmbeddedPlanner
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context, PlanRejected
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.core.turn import Conversation
from jarvis_desktop.tasks.registry import INVENTORY
from tests.assistant.planning.planned import ask, conversation, file, show

PHOTO, SKETCH = file("photo.jpg"), file("sketch.png")


@pytest.mark.parametrize(
    ("text", "earlier", "plan"),
    [
        (
            "now blur it",
            conversation(SKETCH, given=(PHOTO,)),
            ["image-editing(image=sketch.png, edit=blur)"],
        ),
        (
            "blur photo.jpg again",
            conversation(SKETCH, PHOTO),
            ["image-editing(image=photo.jpg, edit=blur)"],
        ),
        (
            "rotate the second picture",
            conversation(PHOTO, SKETCH),
            ["image-editing(image=sketch.png, edit=rotate)"],
        ),
        ("sharpen", conversation(SKETCH), ["image-editing(image=sketch.png, edit=sharpen)"]),
        (
            "read it to me",
            conversation(text_artifact("The long answer.")),
            ["text-to-speech(text=The long answer.)"],
        ),
        (
            "what does it mean",
            conversation(text_artifact("Fish swim in the sea.")),
            [
                "question-answering(context=Fish swim in the sea., question=what does it mean)",
            ],
        ),
        (
            "Which language is this: guten Abend",
            conversation(text_artifact("The long answer.")),
            ["language-identification(text=guten Abend)"],
        ),
        (
            "Translate this to German: the text",
            conversation(text_artifact("The long answer.")),
            ["translation(text=The long answer., language=German)"],
        ),
        ("repeat that", conversation(reply="It is noon."), ["repeat(words=It is noon.)"]),
    ],
)
async def test_follow_ups(text: str, earlier: Conversation, plan: list[str]) -> None:
    assert show(await ask(text, earlier=earlier)) == plan


@pytest.mark.parametrize(
    ("text", "names", "reason"),
    [
        ("", [], "There was nothing in that request."),
        ("  \n ", [], "There was nothing in that request."),
        ("delete all my files", [], "I do not delete"),
        ("please wipe the disk", [], "I do not delete"),
        ("format my computer", [], "I do not delete"),
        ("rm -rf /", [], "I do not delete"),
        ("empty the trash", [], "I do not delete"),
        ("Frobnicate the widget", [], "I found no task"),
        ("what is love", [], "That needs a language model"),
        ("👍", [], "I can only work from words."),
        ("lorem ipsum " * 100, [], "That is a text of 1,200 characters"),
        ("Schicke bitte diesen Text an meine Mutter", [], "Ohne Sprachmodell"),
        ("blur it", [], "For “Change picture” I need a picture"),
        ("summarise", [], "For “Summarise” I need a text"),
        ("compare these sentences: 'only one'", [], "For “Compare texts” I need a text"),
        ("who won?", ["song.wav"], None),
    ],
)
async def test_declines(text: str, names: list[str], reason: str | None) -> None:
    planned = await ask(text, *names)
    if reason is None:
        assert isinstance(planned, Plan)
    else:
        assert isinstance(planned, PlanRejected)
        assert planned.reason.startswith(reason)


@pytest.mark.parametrize(
    "text",
    [
        "Say the room is empty",
        "say 'delete everything'",
        "remove the noise from x.wav",
        "turn a.png into another format and blur it",
        "remove the background of a.png",
    ],
)
async def test_what_only_sounds_destructive_is_done(text: str) -> None:
    assert isinstance(await ask(text), Plan)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "piece", ["it's 'a ", "'a ", "a.txt ", "“a ", "the whale sings. ", "read "]
)
async def test_a_text_of_any_length_is_planned_in_no_time(piece: str) -> None:
    # Not a time limit: what grew with the square of the length took minutes here.
    text = "Summarise this: " + piece * (200_000 // len(piece))
    assert isinstance(await ask(text[:200_000]), Plan | PlanRejected)
    assert isinstance(await ask(piece * (200_000 // len(piece))), Plan | PlanRejected)


@pytest.mark.parametrize(
    ("text", "names", "plan"),
    [
        ("never blur this just rotate it", ["a.png"], ["image-editing(image=a.png, edit=rotate)"]),
        (
            "transcribe x.wav but don't summarise it",
            [],
            ["automatic-speech-recognition(audio=x.wav)"],
        ),
        (
            "make it smaller without cropping",
            ["a.png"],
            ["image-editing(image=a.png, edit=resize, amount=50.0)"],
        ),
    ],
)
async def test_what_is_not_wanted_is_not_done(text: str, names: list[str], plan: list[str]) -> None:
    assert show(await ask(text, *names)) == plan


async def test_only_a_no_is_no_request() -> None:
    planned = await ask("do not blur this picture", "a.png")
    assert planned == PlanRejected("You asked for nothing to be done, so nothing was done.")


async def test_what_was_not_understood_is_not_taken_for_more_of_the_same() -> None:
    planned = await ask("rotate a.jpg and flibber b.jpg")
    assert isinstance(planned, PlanRejected)
    assert planned.reason.startswith("I did not understand “flibber b.jpg”, so nothing was done.")
    assert len(show(await ask("rotate a.jpg and b.jpg too, please"))) == 2


async def test_slips_of_the_finger_are_set_right() -> None:
    assert show(await ask("sumarize this: one two three four five")) == [
        "summarization(text=one two three four five)"
    ]
    assert show(await ask("tanscribe x.wav")) == ["automatic-speech-recognition(audio=x.wav)"]


async def test_clauses_begin_behind_a_joint() -> None:
    assert show(await ask("blur a.jpg and then say done")) == [
        "image-editing(image=a.jpg, edit=blur)",
        "text-to-speech(text=done)",
    ]


async def test_the_same_thing_twice_is_done_once() -> None:
    assert show(await ask("blur a.png, blur a.png")) == ["image-editing(image=a.png, edit=blur)"]


async def test_what_was_said_before_may_be_of_no_use() -> None:
    planned = await ask("blur it", earlier=conversation(text_artifact("only words")))
    assert isinstance(planned, PlanRejected)


async def test_another_file_than_the_one_that_is_named_is_not_meant() -> None:
    planned = await ask("sharpen page 2 of report.pdf", "report.pdf", earlier=conversation(SKETCH))
    assert isinstance(planned, PlanRejected)
    assert "picture" in planned.reason, planned.reason


async def test_a_file_is_converted_once_for_all_who_need_it() -> None:
    assert show(await ask("summarise x.wav and give me the key words of x.wav")) == [
        "automatic-speech-recognition(audio=x.wav)",
        "summarization(text=#0)",
        "keyword-extraction(text=#0)",
    ]


async def test_n_is_and() -> None:
    assert show(await ask("blur a.jpg n make b.jpg black n white")) == [
        "image-editing(image=a.jpg, edit=blur)",
        "image-editing(image=b.jpg, edit=grey)",
    ]


async def test_a_greeting_beside_a_request_asks_for_nothing() -> None:
    assert show(await ask("hello, blur a.png")) == ["image-editing(image=a.png, edit=blur)"]


async def test_a_file_that_is_not_there_is_named() -> None:
    planned = await EmbeddedPlanner().plan("blur a.jpg and b.jpg", INVENTORY, Context())
    assert planned == PlanRejected(
        "I cannot find a.jpg and b.jpg. Drop the file on the window or give its full path.",
        final=True,
    )
    planned = await EmbeddedPlanner().plan("blur a.jpg", INVENTORY, Context(folder=Path("/x")))
    assert isinstance(planned, PlanRejected)
    assert "I cannot find a.jpg in /x." in planned.reason
    planned = await EmbeddedPlanner().plan("open /etc/nothing", INVENTORY, Context())
    assert isinstance(planned, PlanRejected)
    assert planned.reason == "I cannot find /etc/nothing."


async def test_a_file_is_opened_by_its_full_path() -> None:
    given = Artifact(Kind.DOCUMENT, path=Path("/store/1"), name="passwd")
    context = Context((given,), None)
    planned = await EmbeddedPlanner().plan("open /etc/passwd", INVENTORY, context)
    assert show(planned) == ["open-file(file=passwd)"]


async def test_an_inventory_that_cannot_answer_questions() -> None:
    context = Context((file("letter.pdf"),))
    clock = [item for item in INVENTORY if item.name == "clock"]
    planned = await EmbeddedPlanner().plan("When is the meeting?", clock, context)
    assert isinstance(planned, PlanRejected)


async def test_a_plan_that_breaks_a_rule_is_declined_not_raised() -> None:
    odd = TaskType(
        "odd", "", (Port("text", (Kind.TEXT,)), Port("file", (Kind.IMAGE,))), (), cues=("oddly",)
    )
    planned = await EmbeddedPlanner().plan("oddly 'a text'", (odd,), Context())
    assert planned == PlanRejected(
        "For “Odd” I need a picture: drop one on the window, or name its file.", final=True
    )
    strict = TaskType("clock", "", (), (), cues=("tick",), presets=())
    text = "tick tick"
    assert isinstance(await EmbeddedPlanner().plan(text, (strict,), Context()), Plan)


async def test_an_option_no_plan_allows_is_declined() -> None:
    from jarvis_desktop.core.task import Preset, TaskOption

    broken = TaskType(
        "broken",
        "",
        (),
        (Kind.TEXT,),
        options=(TaskOption("mood", "", "fine", choices=("fine",)),),
        presets=(Preset("sulk", (("mood", "sulky"),)),),
    )
    planned = await EmbeddedPlanner().plan("sulk", (broken,), Context())
    assert planned == PlanRejected(
        "I could not make a plan of that. Task 0 (broken) knows no mood 'sulky'."
    )


async def test_a_question_about_nothing_at_hand_needs_a_language_model() -> None:
    text = (Kind.TEXT,)
    look_up = TaskType(
        "look-up", "", (Port("question", text), Port("context", text)), text, cues=("who won",)
    )
    planned = await EmbeddedPlanner().plan("who won the cup of 1930", (look_up,), Context())
    assert isinstance(planned, PlanRejected)
    assert "needs a language model" in planned.reason


async def test_a_port_for_many_gets_all_at_once() -> None:
    stitch = TaskType(
        "stitch", "", (Port("images", (Kind.IMAGE,), many=True),), (Kind.IMAGE,), cues=("stitch",)
    )
    context = Context((file("a.png"), file("b.png")))
    planned = await EmbeddedPlanner().plan("stitch these together", (stitch,), context)
    assert show(planned) == ["stitch(images=a.png+b.png)"]


async def test_a_port_that_may_stay_empty() -> None:
    maybe = TaskType(
        "maybe", "", (Port("image", (Kind.IMAGE,), required=False),), (), cues=("perhaps",)
    )
    assert show(await EmbeddedPlanner().plan("perhaps", (maybe,), Context())) == ["maybe()"]


def test_ways_between_kinds() -> None:
    def names(have: Kind, want: Kind) -> list[str] | None:
        found = inputs.find_route((have,), (want,), INVENTORY)
        return None if found is None else [item.name for item in found]

    assert names(Kind.TEXT, Kind.TEXT) == []
    assert names(Kind.VIDEO, Kind.TEXT) == ["video-to-audio", "automatic-speech-recognition"]
    assert names(Kind.TABLE, Kind.TEXT) == ["document-to-text"]
    assert names(Kind.TEXT, Kind.IMAGE) is None
    assert names(Kind.AUDIO, Kind.IMAGE) is None


def test_ordinals_beyond_what_is_there() -> None:
    assert inputs.parse_ordinal("the third picture", 2) is None
    assert inputs.parse_ordinal("the third picture", 3) == 2
    assert inputs.parse_ordinal("the last one", 4) == 3
    assert inputs.parse_ordinal("the picture", 3) is None


WORDS = st.lists(
    st.sampled_from(
        "summarise read it the picture aloud and then , . blur 'a' a.png x.wav xquote0x xfile9x "
        "translate to german save as out.txt say this these second both delete ? : \n".split(" ")
    )
    | st.text(max_size=8),
    max_size=14,
)


def is_whole(words: list[str]) -> None:
    context = Context((file("a.png"), file("x.wav")))
    planned = asyncio.run(EmbeddedPlanner().plan(" ".join(words), INVENTORY, context))
    assert isinstance(planned, Plan | PlanRejected)
    if isinstance(planned, PlanRejected):
        assert planned.reason
    else:
        assert len(planned) > 0


@settings(max_examples=60, deadline=None)
@given(WORDS)
def test_no_words_raise_and_every_plan_is_whole(words: list[str]) -> None:
    is_whole(words)


@pytest.mark.exhaustive
@settings(max_examples=300, deadline=None)
@given(WORDS)
def test_no_other_words_do_either(words: list[str]) -> None:
    is_whole(words)
