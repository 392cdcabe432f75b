"""What words mean of all that a conversation has seen, however long it is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_desktop.assistant.planning import inputs
from jarvis_desktop.assistant.planning.embedded_planner import EmbeddedPlanner
from jarvis_desktop.assistant.planning.inputs import name_resources
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context, PlanRejected, Resource
from jarvis_desktop.core.turn import Conversation, Turn
from jarvis_desktop.tasks.registry import INVENTORY
from tests.assistant.planning.planned import NOON, conversation, file, show


def given_(name: str) -> Resource:
    return Resource("", file(name), given=True)


def made(artifact: Artifact, task: str) -> Resource:
    return Resource("", artifact, given=False, task=task)


RESOURCES = name_resources(
    [
        given_("beach.jpg"),
        given_("dog.png"),
        made(file("dog-blur.png"), "image-editing"),
        given_("memo.wav"),
        made(text_artifact("The words of the memo."), "automatic-speech-recognition"),
        made(text_artifact("The memo in short."), "summarization"),
        made(text_artifact("Die Notiz in Kürze."), "translation"),
        given_("letter.pdf"),
        made(text_artifact("Dear Anna, all is well."), "document-to-text"),
        made(file("speech.wav"), "text-to-speech"),
        given_("cat.png"),
    ]
)


ROTATED = "image-editing(image=beach.jpg, edit=rotate)"


def long_past(*attachments: Artifact) -> Context:
    """The last turn is about none of these things."""
    last = Turn("t", NOON, text="hello", reply="Hello.")
    return Context(attachments, Conversation("c", (last,)), resources=RESOURCES)


async def plan(text: str, context: Context) -> Plan | PlanRejected:
    return await EmbeddedPlanner().plan(text, INVENTORY, context)


@pytest.mark.parametrize(
    ("words", "titles"),
    [
        ("the first picture i gave you", ["beach.jpg"]),
        ("the very first picture", ["beach.jpg"]),
        ("the second picture", ["dog.png"]),
        ("the 3rd image", ["dog-blur.png"]),
        ("the third picture that i gave you", ["cat.png"]),
        ("second picture", ["dog.png"]),
        ("the last recording", ["speech.wav"]),
        ("the most recent picture", ["cat.png"]),
        ("the other picture", ["dog-blur.png"]),
        ("the original picture", ["beach.jpg"]),
        ("the first blurry picture", ["beach.jpg"]),
        ("the recording i gave you", ["memo.wav"]),
        ("the recording you made", ["speech.wav"]),
        ("the picture from before", ["cat.png"]),
        ("the picture from the beginning", ["beach.jpg"]),
        ("all the pictures i've sent you", ["beach.jpg", "dog.png", "cat.png"]),
        ("the first file i dropped", ["beach.jpg"]),
        ("the first scan and the second scan", ["beach.jpg", "dog.png"]),
        ("image 2", ["dog.png"]),
        ("picture number 3 and recording 1", ["dog-blur.png", "memo.wav"]),
        ("the first video", ["beach.jpg"]),
    ],
)
def test_what_is_meant(words: str, titles: list[str]) -> None:
    found = inputs.find_references(words, RESOURCES)
    assert found is not None
    assert [item.artifact.title for item in found] == titles


@pytest.mark.parametrize(
    "words",
    [
        "", "the picture", "blur it", "that summary", "first sharpen picture 9 and wait",
        "rotate the picture 2 degrees", "make image 2 px wide", "picture 7", "file 1",
    ],
)  # fmt: skip
def test_no_reference(words: str) -> None:
    assert inputs.find_references(words, RESOURCES) is None


@pytest.mark.parametrize("words", ["the tenth picture", "the 0th image", "the 99th recording"])
def test_what_was_never_there(words: str) -> None:
    assert inputs.find_references(words, RESOURCES) == []


def test_beside_files_of_the_request_only_what_is_said_outright() -> None:
    assert inputs.find_references("the second picture", RESOURCES, outright=True) is None
    found = inputs.find_references("the second picture i gave you", RESOURCES, outright=True)
    assert found == [RESOURCES[1]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rotate the first picture I gave you", ["image-editing(image=beach.jpg, edit=rotate)"]),
        ("blur the second picture", ["image-editing(image=dog.png, edit=blur)"]),
        ("sharpen image 3", ["image-editing(image=dog-blur.png, edit=sharpen)"]),
        ("transcribe the last recording", ["automatic-speech-recognition(audio=speech.wav)"]),
        ("transcribe the recording I gave you", ["automatic-speech-recognition(audio=memo.wav)"]),
        ("read me that summary", ["text-to-speech(text=The memo in short.)"]),
        ("read that summary aloud", ["text-to-speech(text=The memo in short.)"]),
        ("read the translated text aloud", ["text-to-speech(text=Die Notiz in Kürze.)"]),
        ("say the translation", ["text-to-speech(text=Die Notiz in Kürze.)"]),
        (
            "translate the summary into French",
            ["translation(text=The memo in short., language=French)"],
        ),
        ("save that summary as a.txt", ["save-file(content=The memo in short., name=a.txt)"]),
        (
            "summarise the transcript in one sentence",
            ["summarization(text=The words of the memo., sentences=1)"],
        ),
        (
            "summarise the letter",
            ["document-to-text(document=letter.pdf)", "summarization(text=#0)"],
        ),
        (
            "rotate the first picture and blur the second picture",
            [ROTATED, "image-editing(image=dog.png, edit=blur)"],
        ),
        (
            "rotate the first picture and sharpen the last picture",
            [ROTATED, "image-editing(image=#0, edit=sharpen)"],
        ),
        ("now blur it", ["image-editing(image=cat.png, edit=blur)"]),
        ("summarise that", ["summarization(text=Dear Anna, all is well.)"]),
        ("now the summary", ["summarization(text=Dear Anna, all is well.)"]),
        (
            "what does the first picture show?",
            [
                "visual-question-answering(image=beach.jpg, "
                "question=what does the first picture show?)"
            ],
        ),
    ],
)  # fmt: skip
async def test_plans_over_a_long_past(text: str, expected: list[str]) -> None:
    assert show(await plan(text, long_past())) == expected


async def test_a_file_of_the_request_comes_before_the_past() -> None:
    context = long_past(file("new.png"))
    assert show(await plan("blur the first picture", context)) == [
        "image-editing(image=new.png, edit=blur)"
    ]
    assert show(await plan("blur the first picture I gave you", context)) == [
        "image-editing(image=beach.jpg, edit=blur)"
    ]
    context = long_past(file("a.txt"))
    assert show(await plan("summarise a.txt and read that summary aloud", context)) == [
        "document-to-text(document=a.txt)",
        "summarization(text=#0)",
        "text-to-speech(text=#1)",
    ]  # fmt: skip


async def test_what_was_never_there_is_not_replaced_by_something_else() -> None:
    planned = await plan("rotate the tenth picture", long_past())
    assert isinstance(planned, PlanRejected)
    assert planned.reason.startswith("For “Change picture” I need a picture")
    assert isinstance(await plan("rotate the tenth picture", long_past(file("a.png"))), Plan)


def test_what_was_given_anew_is_the_newest() -> None:
    again = conversation(given=(file("beach.jpg"),))
    context = Context(conversation=again, resources=RESOURCES)
    newest, *_, oldest = inputs.conversation_sources(context)
    assert newest.value == file("beach.jpg")
    assert oldest.value == file("dog.png")
    assert len(inputs.conversation_sources(context)) == len(RESOURCES)


def test_without_a_memory_the_turns_are_all_there_is() -> None:
    assert inputs.conversation_resources(Context()) == ()
    (only,) = inputs.conversation_resources(
        Context(conversation=conversation(given=(file("a.png"),)))
    )
    assert only == Resource("image 1", file("a.png"), given=True)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            "the that my all first second 3rd 0th last other original picture pictures file one "
            "recording 2 99 image i gave you made from before the beginning blur and , .".split()
        ),
        max_size=20,
    )
)
def test_only_what_is_there_is_meant(words: list[str]) -> None:
    found = inputs.find_references(" ".join(words), RESOURCES)
    assert set(found or ()) <= set(RESOURCES)
    assert inputs.find_references(" ".join(words), ()) in (None, [])


def test_long_words_are_read_in_no_time() -> None:
    # Not a time limit: what grew with the square of the length took minutes here.
    for piece in ("the first ", "the very ", "picture ", "a-b' ", "all of the "):
        inputs.find_references(piece * (4000 // len(piece)), RESOURCES)
