"""Requests in, plans out: what the embedded planner makes of everyday words."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_desktop.assistant.planning import mentions, sources
from jarvis_desktop.assistant.planning.embedded import EmbeddedPlanner
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context, Declined
from jarvis_desktop.core.result import Status, TaskResult
from jarvis_desktop.core.suffixes import kind_of_name
from jarvis_desktop.core.task import Item, Port, Ref, Task, TaskType
from jarvis_desktop.core.turn import Conversation, Turn
from jarvis_desktop.tasks.registry import INVENTORY

NOON = datetime(2026, 1, 1, tzinfo=UTC)


def file(name: str) -> Artifact:
    kind = kind_of_name(name)
    assert kind
    return Artifact(kind, path=Path("/store") / name, name=name)


def conversation(
    *made: Artifact, given: tuple[Artifact, ...] = (), reply: str = ""
) -> Conversation:
    """One earlier turn that made these results."""
    clock = next(item for item in INVENTORY if item.name == "clock")
    turn = Turn(
        "t",
        NOON,
        attachments=given,
        plan=Plan((Task(0, clock),)),
        results={0: TaskResult(0, Status.DONE, made)},
        reply=reply,
    )
    return Conversation("c", (turn,))


async def ask(
    text: str, *names: str, earlier: Conversation | None = None, folder: Path | None = None
) -> Plan | Declined:
    """What is planned for a text with files; those it names outright are at hand too."""
    known = {item.title for turn in (earlier.turns if earlier else ()) for item in turn.artifacts}
    named = [
        item.name
        for item in mentions.files(text)
        if not item.output and item.name not in (*names, *known)
    ]
    context = Context(tuple(file(name) for name in (*names, *named)), earlier, folder)
    return await EmbeddedPlanner().plan(text, INVENTORY, context)


def show(planned: Plan | Declined) -> list[str]:
    assert isinstance(planned, Plan), planned
    return [_shown(task) for task in planned]


def _shown(task: Task) -> str:
    args = ", ".join(
        f"{name}={'+'.join(_value(item) for item in (arg if isinstance(arg, tuple) else (arg,)))}"
        for name, arg in task.args.items()
    )
    return f"{task.type.name}({args})" + ("*" if task.wanted else "")


def _value(item: Item) -> str:
    if isinstance(item, Ref):
        return f"#{item.task_id}"
    if isinstance(item, Artifact):
        return item.name or item.text or ""
    return str(item)


@pytest.mark.parametrize(
    ("text", "names", "plan"),
    [
        # one step
        ("What does this sign say?", ["sign.jpg"], ["image-to-text(image=sign.jpg)"]),
        (
            "Is this review positive or negative: 'I loved it'",
            [],
            ["text-classification(text=I loved it)"],
        ),
        (
            "is this email angry: You never answer my calls",
            [],
            ["text-classification(text=You never answer my calls)"],
        ),
        ("say hello world", [], ["text-to-speech(text=hello world)"]),
        ("Draw me a castle", [], ["text-to-image(prompt=a castle)"]),
        ("tell me a joke", [], ["text-generation(prompt=tell me a joke)"]),
        (
            "translate 'good morning' to French",
            [],
            ["translation(text=good morning, language=French)"],
        ),
        (
            "What is 2 plus 2, and then draw me a castle and also a dog",
            [],
            [
                "calculator(expression=what is 2 plus 2)",
                "text-to-image(prompt=a castle and also a dog)",
            ],
        ),
        ("flip a coin", [], ["chance(what=coin, among=flip a coin)"]),
        ("stop", [], ["stop()"]),
        (
            "What is in this image?",
            ["cat.jpg"],
            ["visual-question-answering(image=cat.jpg, question=what is in this image?)"],
        ),
        # conversions that nobody asks for by name
        (
            "Read me the letter in scan.png",
            [],
            ["image-to-text(image=scan.png)", "text-to-speech(text=#0)"],
        ),
        (
            "Read me the text in this picture",
            ["scan.png"],
            ["image-to-text(image=scan.png)", "text-to-speech(text=#0)"],
        ),
        (
            "summarise clip.mp4",
            [],
            [
                "video-to-audio(video=clip.mp4)",
                "automatic-speech-recognition(audio=#0)",
                "summarization(text=#1)",
            ],
        ),
        # chains
        (
            "read the text in this picture summarize it and say the summary out loud",
            ["scan.png"],
            [
                "image-to-text(image=scan.png)",
                "summarization(text=#0)",
                "text-to-speech(text=#1)",
            ],
        ),
        (
            "Summarise report.pdf in three sentences and read it to me",
            [],
            [
                "document-to-text(document=report.pdf)",
                "summarization(text=#0, sentences=3)",
                "text-to-speech(text=#1)",
            ],
        ),
        (
            "Take the audio out of clip.mp4, transcribe it and summarise it",
            [],
            [
                "video-to-audio(video=clip.mp4)",
                "automatic-speech-recognition(audio=#0)",
                "summarization(text=#1)",
            ],
        ),
        # what is asked for on the way belongs to the answer
        (
            "Transcribe meeting.wav and give me the key words",
            [],
            [
                "automatic-speech-recognition(audio=meeting.wav)*",
                "keyword-extraction(text=#0)",
            ],
        ),
        (
            "transcribe and summarise meeting.wav",
            [],
            ["automatic-speech-recognition(audio=meeting.wav)*", "summarization(text=#0)"],
        ),
        # several files
        (
            "blur a.jpg and b.jpg",
            [],
            ["image-editing(image=a.jpg, edit=blur)", "image-editing(image=b.jpg, edit=blur)"],
        ),
        (
            "summarise these and read them aloud",
            ["a.txt", "b.txt"],
            [
                "document-to-text(document=a.txt)",
                "document-to-text(document=b.txt)",
                "summarization(text=#0)",
                "summarization(text=#1)",
                "text-to-speech(text=#2)",
                "text-to-speech(text=#3)",
            ],
        ),
        (
            "blur the first picture and sharpen the second",
            ["a.png", "b.png"],
            ["image-editing(image=a.png, edit=blur)", "image-editing(image=b.png, edit=sharpen)"],
        ),
        (
            "blur the first one and sharpen the other",
            ["a.png", "b.png"],
            ["image-editing(image=a.png, edit=blur)", "image-editing(image=b.png, edit=sharpen)"],
        ),
        (
            "summarise the document and blur the photo",
            ["a.jpg", "b.pdf"],
            [
                "document-to-text(document=b.pdf)",
                "summarization(text=#0)",
                "image-editing(image=a.jpg, edit=blur)",
            ],
        ),
        (
            "make a.jpg black and white and a bit brighter, then crop it to 300x200",
            [],
            [
                "image-editing(image=a.jpg, edit=grey)",
                "image-editing(image=#0, edit=brightness, amount=30.0)",
                "image-editing(image=#1, edit=crop, size=300x200)",
            ],
        ),
        (
            "Turn photo.jpg into a pencil sketch and rotate it 90 degrees",
            [],
            [
                "image-to-image(image=photo.jpg, edit=sketch)",
                "image-editing(image=#0, edit=rotate, amount=90.0)",
            ],
        ),
        (
            "take 3 frames out of clip.mp4 and make them grey",
            [],
            [
                "video-to-image(video=clip.mp4, count=3)",
                "image-editing(image=#0, edit=grey)",
            ],
        ),
        # names of results
        (
            "Say 'good morning' and save it as hello.wav",
            [],
            ["text-to-speech(text=good morning)", "save-file(content=#0, name=hello.wav)"],
        ),
        (
            "rotate a.jpg into b.jpg",
            [],
            [
                "image-editing(image=a.jpg, edit=rotate)",
                "save-file(content=#0, name=b.jpg, folder=/home)",
            ],
        ),
        (
            "sharpen a.jpg into b.jpg",
            [],
            ["image-editing(image=a.jpg, edit=sharpen)", "save-file(content=#0, name=b.jpg)"],
        ),
        # a noun beside "that" says which
        (
            "what does the sign in a.png say and blur that picture",
            [],
            ["image-to-text(image=a.png)", "image-editing(image=a.png, edit=blur)"],
        ),
        # questions that name no task
        (
            "When is the meeting?",
            ["letter.pdf"],
            [
                "document-to-text(document=letter.pdf)",
                "question-answering(context=#0, question=when is the meeting?)",
            ],
        ),
        (
            "When is the meeting?",
            ["letter.png"],
            ["document-question-answering(document=letter.png, question=when is the meeting?)"],
        ),
        # pasted texts and quotes
        (
            "How do these two sentences compare: 'A' and 'B'",
            [],
            ["sentence-similarity(text_1=A, text_2=B)"],
        ),
        (
            "summarise this: The cat sat. The dog ran.",
            [],
            ["summarization(text=The cat sat. The dog ran.)"],
        ),
        (
            "inpainting of a.png 'a red hat'",
            [],
            ["inpainting(image=a.png, prompt=a red hat)"],
        ),
    ],
)
async def test_plans(text: str, names: list[str], plan: list[str]) -> None:
    folder = Path("/home") if any("folder" in step for step in plan) else None
    assert show(await ask(text, *names, folder=folder)) == plan


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
            ["image-editing(image=photo.jpg, edit=rotate)"],
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
        ("Frobnicate the widget", [], "I found no task"),
        ("what is love", [], "I cannot answer that from what is on this computer"),
        ("👍", [], "I can only work from words."),
        ("lorem ipsum " * 100, [], "That is a text of 1,200 characters"),
        ("Fasse bitte diesen Text zusammen", [], "Ohne Sprachmodell"),
        ("blur it", [], "For image editing I need a picture"),
        ("summarise", [], "For summarization I need a text"),
        ("compare these sentences: 'only one'", [], "For sentence similarity I need a text"),
        ("who won?", ["song.wav"], None),
    ],
)
async def test_declines(text: str, names: list[str], reason: str | None) -> None:
    planned = await ask(text, *names)
    if reason is None:
        assert isinstance(planned, Plan)
    else:
        assert isinstance(planned, Declined)
        assert planned.reason.startswith(reason)


async def test_a_file_that_is_not_there_is_named() -> None:
    planned = await EmbeddedPlanner().plan("blur a.jpg and b.jpg", INVENTORY, Context())
    assert planned == Declined(
        "I cannot find a.jpg and b.jpg. Drop the file on the window or give its full path."
    )
    planned = await EmbeddedPlanner().plan("blur a.jpg", INVENTORY, Context(folder=Path("/x")))
    assert isinstance(planned, Declined)
    assert "I cannot find a.jpg in /x." in planned.reason


async def test_an_inventory_that_cannot_answer_questions() -> None:
    context = Context((file("letter.pdf"),))
    clock = [item for item in INVENTORY if item.name == "clock"]
    planned = await EmbeddedPlanner().plan("When is the meeting?", clock, context)
    assert isinstance(planned, Declined)


async def test_a_plan_that_breaks_a_rule_is_declined_not_raised() -> None:
    odd = TaskType(
        "odd", "", (Port("text", (Kind.TEXT,)), Port("file", (Kind.IMAGE,))), (), cues=("oddly",)
    )
    planned = await EmbeddedPlanner().plan("oddly 'a text'", (odd,), Context())
    assert planned == Declined(
        "For odd I need a picture: drop one on the window, or name its file."
    )
    strict = TaskType("clock", "", (), (), cues=("tick",), presets=())
    text = "tick tick"
    assert isinstance(await EmbeddedPlanner().plan(text, (strict,), Context()), Plan)


async def test_an_option_no_plan_allows_is_declined() -> None:
    from jarvis_desktop.core.task import Option, Preset

    broken = TaskType(
        "broken",
        "",
        (),
        (Kind.TEXT,),
        options=(Option("mood", "", "fine", choices=("fine",)),),
        presets=(Preset("sulk", (("mood", "sulky"),)),),
    )
    planned = await EmbeddedPlanner().plan("sulk", (broken,), Context())
    assert planned == Declined(
        "I could not make a plan of that. Task 0 (broken) knows no mood 'sulky'."
    )


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
        found = sources.route((have,), (want,), INVENTORY)
        return None if found is None else [item.name for item in found]

    assert names(Kind.TEXT, Kind.TEXT) == []
    assert names(Kind.VIDEO, Kind.TEXT) == ["video-to-audio", "automatic-speech-recognition"]
    assert names(Kind.TABLE, Kind.TEXT) == ["document-to-text"]
    assert names(Kind.TEXT, Kind.IMAGE) is None
    assert names(Kind.AUDIO, Kind.IMAGE) is None


def test_ordinals_beyond_what_is_there() -> None:
    assert sources.ordinal("the third picture", 2) is None
    assert sources.ordinal("the third picture", 3) == 2
    assert sources.ordinal("the last one", 4) == 3
    assert sources.ordinal("the picture", 3) is None


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            "summarise read it the picture aloud and then , . blur 'a' a.png x.wav xquote0x "
            "xfile9x "
            "translate to german save as out.txt say this these second both delete ? : \n".split(
                " "
            )
        )
        | st.text(max_size=8),
        max_size=14,
    )
)
def test_no_words_raise_and_every_plan_is_whole(words: list[str]) -> None:
    import asyncio

    context = Context((file("a.png"), file("x.wav")))
    planned = asyncio.run(EmbeddedPlanner().plan(" ".join(words), INVENTORY, context))
    assert isinstance(planned, Plan | Declined)
    if isinstance(planned, Declined):
        assert planned.reason
    else:
        assert len(planned) > 0
