"""What is asked of files: other formats, parts of them, and several as one."""

from __future__ import annotations

import pytest

from jarvis_desktop.assistant.planning.planner import LayeredPlanner
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context, PlanRejected
from jarvis_desktop.tasks.registry import INVENTORY
from tests.assistant.planning.planned import PLANNER, ask, file, show


@pytest.mark.parametrize(
    ("text", "names", "plan"),
    [
        ("convert this to a pdf", "a.docx", ["convert-file(file=a.docx, format=pdf)"]),
        ("cut out 0:30 to 1:10", "memo.mp3", ["cut-file(file=memo.mp3, times=0:30-1:10)"]),
        ("join these recordings", "a.wav b.wav", ["join-files(files=a.wav+b.wav)"]),
        ("extract pages 3 and 4 of report.pdf", "", ["cut-file(file=report.pdf, pages=3, 4)"]),
        (
            "turn these three photos into one PDF",
            "a.jpg b.jpg c.jpg",
            ["join-files(files=a.jpg+b.jpg+c.jpg, format=pdf)"],
        ),
        (
            "convert these photos to a pdf",
            "a.jpg b.jpg",
            ["join-files(files=a.jpg+b.jpg, format=pdf)"],
        ),
        (
            "combine a.jpg, b.jpg and c.jpg into one pdf",
            "",
            ["join-files(files=a.jpg+b.jpg+c.jpg, format=pdf)"],
        ),
        ("convert a.jpg and b.jpg to a pdf", "", ["join-files(files=a.jpg+b.jpg, format=pdf)"]),
        ("remove the last page", "r.pdf", ["cut-file(file=r.pdf, action=remove, pages=last)"]),
        ("delete page 3 of report.pdf", "", ["cut-file(file=report.pdf, action=remove, pages=3)"]),
        ("split this pdf into single pages", "r.pdf", ["cut-file(file=r.pdf, action=split)"]),
        (
            "split the recording into 3 parts",
            "m.mp3",
            ["cut-file(file=m.mp3, action=split, parts=3)"],
        ),
        (
            "split it every 10 minutes",
            "m.mp3",
            ["cut-file(file=m.mp3, action=split, times=every 10:00)"],
        ),
        ("trim this to the first 30 seconds", "m.mp3", ["cut-file(file=m.mp3, times=0:00-0:30)"]),
        (
            "remove the first 10 seconds",
            "m.mp3",
            ["cut-file(file=m.mp3, action=remove, times=0:00-0:10)"],
        ),
        (
            "cut the first 10 seconds off",
            "m.mp3",
            ["cut-file(file=m.mp3, action=remove, times=0:00-0:10)"],
        ),
        (
            "keep only the first page and convert it to png",
            "r.pdf",
            ["cut-file(file=r.pdf, action=keep, pages=1)", "convert-file(file=#0, format=png)"],
        ),
        (
            "cut out 0:10 to 0:20, make it louder and save it as mp3",
            "m.wav",
            [
                "cut-file(file=m.wav, times=0:10-0:20)",
                "audio-to-audio(audio=#0, effect=louder)",
                "convert-file(file=#1, format=mp3)",
                "save-file(content=#2)",
            ],
        ),
        ("merge report.pdf and appendix.pdf", "", ["join-files(files=report.pdf+appendix.pdf)"]),
        (
            "join these recordings as mp3",
            "a.wav b.wav",
            ["join-files(files=a.wav+b.wav, format=mp3)"],
        ),
        ("make a gif out of these", "a.jpg b.jpg", ["join-files(files=a.jpg+b.jpg, format=gif)"]),
        ("make a gif of it", "a.mp4", ["convert-file(file=a.mp4, format=gif)"]),
        ("put these clips together", "a.mp4 b.mp4", ["join-files(files=a.mp4+b.mp4)"]),
        (
            "extract the first two pages and summarise them",
            "r.pdf",
            [
                "cut-file(file=r.pdf, pages=1-2)*",
                "document-to-text(document=#0)",
                "summarization(text=#1)",
            ],
        ),
        ("cut out the dog", "a.jpg", ["image-segmentation(image=a.jpg, what=the dog)"]),
        ("behalte die seiten 2 bis 5", "r.pdf", ["cut-file(file=r.pdf, pages=2-5)"]),
        ("schneide 0:30 bis 1:10 aus", "m.mp3", ["cut-file(file=m.mp3, times=0:30-1:10)"]),
        ("füge diese aufnahmen zusammen", "a.wav b.wav", ["join-files(files=a.wav+b.wav)"]),
        (
            "mach aus diesen fotos ein pdf",
            "a.jpg b.jpg",
            ["join-files(files=a.jpg+b.jpg, format=pdf)"],
        ),
        (
            "wandle diese bilder in ein pdf um",
            "a.jpg b.jpg",
            ["join-files(files=a.jpg+b.jpg, format=pdf)"],
        ),
        ("entferne die letzte seite", "r.pdf", ["cut-file(file=r.pdf, action=remove, pages=last)"]),
        (
            "mach die aufnahme lauter und speichere sie als mp3",
            "memo.wav",
            [
                "audio-to-audio(audio=memo.wav, effect=louder)",
                "convert-file(file=#0, format=mp3)",
                "save-file(content=#1)",
            ],
        ),
        (
            "save it as mp3",
            "memo.wav",
            ["convert-file(file=memo.wav, format=mp3)", "save-file(content=#0)"],
        ),
        (
            "summarise this and save it as a pdf",
            "a.txt",
            [
                "document-to-text(document=a.txt)",
                "summarization(text=#0)",
                "convert-file(file=#1, format=pdf)",
                "save-file(content=#2)",
            ],
        ),
        (
            "transcribe this as a word document",
            "memo.wav",
            ["automatic-speech-recognition(audio=memo.wav)", "convert-file(file=#0, format=docx)"],
        ),
        ("keep all but the first page", "r.pdf", ["cut-file(file=r.pdf, action=remove, pages=1)"]),
        (
            "take the last 10 seconds of the video and turn it into a gif",
            "c.mp4",
            ["cut-file(file=c.mp4, times=last 0:10)", "convert-file(file=#0, format=gif)"],
        ),
        (
            "join the two pdfs and keep pages 1 to 3",
            "a.pdf b.pdf",
            ["join-files(files=a.pdf+b.pdf)", "cut-file(file=#0, action=keep, pages=1-3)"],
        ),
        (
            "reverse the recording and cut it to 10 seconds",
            "m.wav",
            ["audio-to-audio(audio=m.wav, effect=reverse)", "cut-file(file=#0, times=0:00-0:10)"],
        ),
        (
            "convert these to pdf",
            "a.docx b.md",
            ["convert-file(file=a.docx, format=pdf)", "convert-file(file=b.md, format=pdf)"],
        ),
        ("split the file at 1:30", "m.mp3", ["cut-file(file=m.mp3, action=split, times=1:30-end)"]),
        ("drop page 2", "r.pdf", ["cut-file(file=r.pdf, action=remove, pages=2)"]),
        (
            "save memo.wav as mp3",
            "",
            ["convert-file(file=memo.wav, format=mp3)", "save-file(content=#0)"],
        ),
        (
            "make this louder and save it as an mp3",
            "m.wav",
            [
                "audio-to-audio(audio=m.wav, effect=louder)",
                "convert-file(file=#0, format=mp3)",
                "save-file(content=#1)",
            ],
        ),
        (
            "export this as csv",
            "a.xlsx",
            ["convert-file(file=a.xlsx, format=csv)", "save-file(content=#0)"],
        ),
        (
            "mach die aufnahme lauter und speichere sie als mp3",
            "m.wav",
            [
                "audio-to-audio(audio=m.wav, effect=louder)",
                "convert-file(file=#0, format=mp3)",
                "save-file(content=#1)",
            ],
        ),
        (
            "make the photo grey and save it as a png",
            "a.jpg",
            [
                "image-editing(image=a.jpg, edit=grey)",
                "convert-file(file=#0, format=png)",
                "save-file(content=#1)",
            ],
        ),
        (
            "Say 'good morning' and save it as hello.wav",
            "",
            ["text-to-speech(text=good morning)", "save-file(content=#0, name=hello.wav)"],
        ),
        (
            "save these photos as png",
            "a.jpg b.jpg",
            [
                "convert-file(file=a.jpg, format=png)",
                "convert-file(file=b.jpg, format=png)",
                "save-file(content=#0+#1)",
            ],
        ),
        ("convert photo.jpg to PNG", "", ["convert-file(file=photo.jpg, format=png)"]),
        (
            "convert photo.jpg to photo.png",
            "",
            ["convert-file(file=photo.jpg, format=png)", "save-file(content=#0, name=photo.png)"],
        ),
        ("turn this clip into a gif", "clip.mp4", ["convert-file(file=clip.mp4, format=gif)"]),
        (
            "extract the audio as mp3",
            "clip.mp4",
            ["video-to-audio(video=clip.mp4)", "convert-file(file=#0, format=mp3)"],
        ),
        ("convert it to dwg", "a.pdf", ["convert-file(file=a.pdf, format=dwg)"]),
        ("I need this as a word document", "a.md", ["convert-file(file=a.md, format=docx)"]),
        ("make a pdf of this", "a.odt", ["convert-file(file=a.odt, format=pdf)"]),
        ("convert sales.csv to excel", "", ["convert-file(file=sales.csv, format=xlsx)"]),
        (
            "make this recording louder and convert it to mp3",
            "memo.wav",
            ["audio-to-audio(audio=memo.wav, effect=louder)", "convert-file(file=#0, format=mp3)"],
        ),
        (
            "transcribe this and save it as a word document",
            "memo.wav",
            [
                "automatic-speech-recognition(audio=memo.wav)",
                "convert-file(file=#0, format=docx)",
                "save-file(content=#1)",
            ],
        ),
        (
            "convert these photos to png",
            "a.jpg b.jpg",
            ["convert-file(file=a.jpg, format=png)", "convert-file(file=b.jpg, format=png)"],
        ),
        ("wandle das in ein pdf um", "a.docx", ["convert-file(file=a.docx, format=pdf)"]),
        ("konvertiere foto.jpg nach png", "", ["convert-file(file=foto.jpg, format=png)"]),
        (
            "read the text in this picture and convert it to a word document",
            "a.png",
            ["image-to-text(image=a.png)", "convert-file(file=#0, format=docx)"],
        ),
        (
            "turn this photo into a painting",
            "a.jpg",
            ["image-to-image(image=a.jpg, edit=painting)"],
        ),
        ("convert the pdf to text", "a.pdf", ["document-to-text(document=a.pdf)"]),
        ("turn the picture into a pdf", "a.png", ["convert-file(file=a.png, format=pdf)"]),
        (
            "convert the pdf to word and the png to jpg",
            "a.pdf b.png",
            ["convert-file(file=a.pdf, format=docx)", "convert-file(file=b.png, format=jpg)"],
        ),
        (
            "make the recording an mp3 and the picture a webp",
            "a.wav b.png",
            ["convert-file(file=a.wav, format=mp3)", "convert-file(file=b.png, format=webp)"],
        ),
        (
            "crop the picture and convert the picture to webp",
            "a.pdf b.png",
            ["image-editing(image=b.png, edit=crop)", "convert-file(file=#0, format=webp)"],
        ),
        (
            "make three versions: grey, sepia and blurred",
            "a.png",
            [
                "image-editing(image=a.png, edit=grey)",
                "image-editing(image=a.png, edit=sepia)",
                "image-editing(image=a.png, edit=blur)",
            ],
        ),
        ("put a.pdf behind b.pdf", "a.pdf b.pdf", ["join-files(files=b.pdf+a.pdf)"]),
        ("append b.pdf to a.pdf", "a.pdf b.pdf", ["join-files(files=a.pdf+b.pdf)"]),
        (
            "convert 5 miles to kilometres",
            "",
            ["calculator(expression=convert 5 miles to kilometres)"],
        ),
        (
            "draw a castle as a jpg",
            "",
            ["text-to-image(prompt=a castle)", "convert-file(file=#0, format=jpg)"],
        ),
    ],
)
async def test_plans(text: str, names: str, plan: list[str]) -> None:
    assert show(await ask(text, *names.split())) == plan


@pytest.mark.parametrize(
    ("text", "name", "plan"),
    [
        ("summarise the first page", "r.pdf", "pages=1 document-to-text summarization"),
        ("translate page 2 into German", "r.pdf", "pages=2 document-to-text translation"),
        ("translate pages 2 and 3", "r.pdf", "pages=2, 3 document-to-text translation"),
        ("extract the text from page 5", "r.pdf", "pages=5 document-to-text"),
        (
            "summarise everything after page 3",
            "r.pdf",
            "pages=4-last document-to-text summarization",
        ),
        (
            "what does page 3 say about costs?",
            "r.pdf",
            "pages=3 document-to-text question-answering",
        ),
        ("convert page 1 to png", "r.pdf", "pages=1 convert-file"),
        (
            "transcribe the first 30 seconds",
            "t.mp3",
            "times=0:00-0:30 automatic-speech-recognition",
        ),
        (
            "transcribe the last minute",
            "c.mp4",
            "times=last 1:00 video-to-audio automatic-speech-recognition",
        ),
        (
            "summarise all pages but the last",
            "r.pdf",
            "action=remove, pages=last document-to-text summarization",
        ),
        (
            "summarise all pages except the first",
            "r.pdf",
            "action=remove, pages=1 document-to-text summarization",
        ),
        (
            "convert it to text without the last page",
            "r.pdf",
            "action=remove, pages=last document-to-text",
        ),
        (
            "convert it to docx without the last page",
            "r.pdf",
            "action=remove, pages=last convert-file",
        ),
        (
            "skip the first 10 seconds and transcribe the rest",
            "t.mp3",
            "action=remove, times=0:00-0:10 automatic-speech-recognition",
        ),
    ],
)
async def test_only_a_part_of_a_file_is_worked_on(text: str, name: str, plan: str) -> None:
    cut, *others = show(await ask(text, name))
    assert cut.startswith(f"cut-file(file={name}, ")
    names = [
        f"{cut.partition(', ')[2].rstrip(')*')}",
        *(other.partition("(")[0] for other in others),
    ]
    assert " ".join(names) == plan


async def test_the_last_page_is_one_of_the_file_and_not_of_the_summary() -> None:
    plan = show(await ask("summarise the first page and translate the last page", "r.pdf"))
    assert plan[3:] == [
        "cut-file(file=r.pdf, pages=last)",
        "document-to-text(document=#3)",
        "translation(text=#4)",
    ]


async def test_an_effect_is_for_the_whole_recording_and_says_so() -> None:
    plan = await ask("make the first 5 seconds louder", "a.mp3")
    assert show(plan) == ["audio-to-audio(audio=a.mp3, effect=louder)"]
    assert isinstance(plan, Plan)
    assert plan.undone == ("first 5 seconds",)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("take a still at 0:30", "at=30.0"),
        ("take a still 12 seconds in", "at=12.0"),
        ("take 3 stills", "count=3"),
        ("take the first frame", "edge=first"),
        ("take the last frame of the video", "edge=last"),
    ],
)
async def test_stills(text: str, options: str) -> None:
    assert show(await ask(text, "c.mp4")) == [f"video-to-image(video=c.mp4, {options})"]


async def test_pages_of_a_copy_may_be_deleted_but_nothing_else() -> None:
    refused = await ask("delete all files of page 3")
    assert isinstance(refused, PlanRejected)
    assert refused.reason.startswith("I do not delete")


class Room:
    """Stands where the LLM planner is: it translates, or there is no LLM."""

    def __init__(self, answer: Plan | PlanRejected) -> None:
        self.answer = answer
        self.asked = 0

    async def plan(self, *_: object) -> Plan | PlanRejected:
        self.asked += 1
        return self.answer

    replan = revise = plan


GERMAN = "wandle den brief in ein pdf um"
PARTLY = "schneide den brief auf die ersten zwei seiten und sag mir, worum es geht"


@pytest.mark.parametrize(
    ("text", "answer", "asked", "plan"),
    [
        (GERMAN, PlanRejected("x"), 0, ["convert-file(file=a.pdf, format=pdf)"]),
        (PARTLY, PlanRejected("x"), 1, ["cut-file(file=a.pdf, pages=1-2)"]),
        (PARTLY, Plan(()), 1, []),
        ("fasse den brief für mich zusammen", Plan(()), 1, []),
    ],
)
async def test_german_is_planned_without_an_llm(
    text: str, answer: Plan | PlanRejected, asked: int, plan: list[str]
) -> None:
    room = Room(answer)
    layered = LayeredPlanner(PLANNER, room)  # type: ignore[arg-type]
    planned = await layered.plan(text, INVENTORY, Context((file("a.pdf"),)))
    assert isinstance(planned, Plan)
    assert (show(planned), room.asked) == (plan, asked)
    assert bool(planned.undone) == (bool(plan) and bool(asked))
