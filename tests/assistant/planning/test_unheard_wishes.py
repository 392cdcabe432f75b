"""Behind and before every task, a wish that it does not hear is planned by itself or named."""

from __future__ import annotations

from itertools import product

import pytest

from jarvis_desktop.core.ports import PlanRejected
from tests.assistant.planning.planned import ask, show
from tests.assistant.planning.test_wishes import left_out, planned
from tests.families import some

SKILLS = {
    "what time is it in Lima": "clock",
    "set a timer for eight minutes": "timer",
    "wake me at half past six": "timer",
    "what is 12 times 31": "calculator",
    "flip a coin": "chance",
    "how many days until easter": "clock",
    "spell rhythm": "spell",
}
GERMAN_SKILLS = {
    "wie spät ist es in Lima": "clock",
    "stell einen Timer auf 8 Minuten": "timer",
    "weck mich um 6:30": "timer",
    "sag mir, wie viel 12 mal 31 ist": "calculator",
    "wirf eine Münze": "chance",
    "sag mir, welcher Tag morgen ist": "clock",
    "wie viele Tage sind es noch bis Ostern": "clock",
}
BESIDES = ("order a pizza with olives", "any news", "iron my white shirts", "lock the garage")
GERMAN_BESIDES = ("bestell mir eine Pizza", "ruf meine Mutter an", "wie wird das Wetter")


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "case", some([*product(SKILLS, BESIDES), *product(GERMAN_SKILLS, GERMAN_BESIDES)], every=3)
)
async def test_what_a_skill_does_not_hear_is_named(case: tuple[str, str]) -> None:
    skill, besides = case
    task = (SKILLS | GERMAN_SKILLS)[skill]
    joints = (" and ", ". ") if skill in SKILLS else (" und ", ". ")
    for text in (f"{one}{joint}{other}" for joint in joints for one, other in
                 ((skill, besides), (besides, skill))):  # fmt: skip
        steps, notes = await planned(text)
        assert task in [step.split()[1] for step in steps], text
        assert [note.lower() for note in notes] == [left_out(besides).lower()], text


@pytest.mark.no_cover
@pytest.mark.parametrize("case", some(list(product(GERMAN_SKILLS, repeat=2)), every=5))
async def test_two_german_skills_are_both_planned(case: tuple[str, str]) -> None:
    if case[0] != case[1]:
        steps, notes = await planned(" und ".join(case))
        assert [step.split()[1] for step in steps] == [GERMAN_SKILLS[each] for each in case]
        assert notes == []


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        # What changes the timer or the sum belongs to it.
        ("remind me in two hours to ring Ann and buy bread", ["0 timer"]),
        ("what is 3 to the power of 4, and double that", ["0 calculator"]),
        ("what is the mean of 3, 5 and 10, times 4", ["0 calculator"]),
        # A colon's text is what every wish is about.
        ("is this positive or negative, and which language is it: Das Essen war kalt und fad.",
         ["0 text-classification", "1 language-identification"]),
    ],
)  # fmt: skip
async def test_what_belongs_to_a_wish_is_not_cut_off(text: str, steps: list[str]) -> None:
    found, notes = await planned(text)
    assert [" ".join(step.split()[:2]) for step in found] == steps
    assert notes == []


@pytest.mark.parametrize("besides", ["take the stain off", "give the rest of the cake away"])
async def test_a_weak_verb_with_its_particle_is_an_order(besides: str) -> None:
    for text in (f"Rotate the photo and {besides}", f"{besides}, then rotate the photo"):
        steps, notes = await planned(text, "a.jpg")
        assert steps == ["0 image-editing image=a.jpg edit=rotate"]
        assert notes == [left_out(besides)]


async def test_another_sentence_is_no_purpose_of_a_timer() -> None:
    steps, notes = await planned("Remind me in an hour to ring Ann. Frame it in gold.")
    assert steps == ["0 timer duration=remind me in an hour to ring ann."]
    assert notes == [left_out("frame it in gold")]


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("how often does sugar occur in it and what are its three most common words", "a.txt",
         ["count-words(text=a.txt, asked=how often does sugar occur in it)",
          "count-words(text=a.txt, asked=what are its three most common words)"]),
        ("take the pauses out of it and save it as an ogg called brief", "a.wav",
         ["audio-to-audio(audio=a.wav, effect=trim-silence)",
          "convert-file(file=#0, format=ogg)", "save-file(content=#1, name=brief)"]),
        ("sum it up and list who is mentioned in it", "a.txt",
         ["document-to-text(document=a.txt)", "summarization(text=#0)",
          "token-classification(text=#0, asked=list who is mentioned in it)"]),
        ("turn it into a png and tell me what it says", "sign.jpg",
         ["convert-file(file=sign.jpg, format=png)", "image-to-text(image=sign.jpg)"]),
        ("remember that the race is on the 9th of june and tell me how many days it is until then",
         "", ["remember(fact=remember that the race is on the 9th of june)",
              "clock(what=days until, place=tell me how many days it is until: remember that the "
              "race is on the 9th of june)"]),
        ("how many weeks until easter and what weekday is that", "",
         ["clock(what=days until, place=how many weeks until easter)",
          "clock(what=day, place=what weekday is that: how many weeks until easter)"]),
        ("Vergleiche alt.txt mit neu.txt und fass neu.txt zusammen", "",
         ["text-differences(text=alt.txt+neu.txt)", "document-to-text(document=neu.txt)",
          "summarization(text=#1)"]),
        ("drop page 2 of b.pdf and turn the rest into pictures", "",
         ["cut-file(file=b.pdf, action=remove, pages=2)", "convert-file(file=#0, format=png)"]),
        ("write a transcript of it and list the key words", "a.wav",
         ["automatic-speech-recognition(audio=a.wav)", "keyword-extraction(text=#0)"]),
        ("Hol die Stichwörter aus a.txt und sag mir, welcher Tag Silvester ist", "",
         ["document-to-text(document=a.txt)", "keyword-extraction(text=#0)",
          "clock(what=day, place=what day is new year's eve)"]),
        ("get rid of the background in a.png and blur it", "",
         ["image-segmentation(image=a.png, what=foreground)",
          "image-editing(image=#0, edit=blur)"]),
        ("Schneid die letzten 3 Sekunden raus und mach sie leiser", "a.wav",
         ["cut-file(file=a.wav, action=remove, times=last 0:03)",
          "audio-to-audio(audio=#0, effect=quieter)"]),
    ],
)  # fmt: skip
async def test_each_of_two_wishes_is_a_task(text: str, name: str, expected: list[str]) -> None:
    shown = show(await ask(text, *name.split()))
    assert [step.removesuffix("*") for step in shown] == expected


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("slow it down", "clip.mp4", ["video-editing(video=clip.mp4, edit=slower)"]),
        ("turn the volume up", "clip.mp4", ["video-editing(video=clip.mp4, edit=louder)"]),
        ("speed it up", "a.wav", ["audio-to-audio(audio=a.wav, effect=faster)"]),
        ("take the sound out of clip.mp4 and make it quieter", "",
         ["video-to-audio(video=clip.mp4)", "audio-to-audio(audio=#0, effect=quieter)"]),
        ("make the recording louder and speed up the film", "clip.mp4 a.wav",
         ["audio-to-audio(audio=a.wav, effect=louder)",
          "video-editing(video=clip.mp4, edit=faster)"]),
        ("join a.wav and b.wav and make the whole thing louder", "",
         ["join-files(files=a.wav+b.wav)", "audio-to-audio(audio=#0, effect=louder)"]),
        ("merge a.png and b.png into one pdf and remove the last page", "",
         ["join-files(files=a.png+b.png, format=pdf)",
          "cut-file(file=#0, action=remove, pages=last)"]),
        ("sharpen b.png and put the other two in one pdf", "a.png b.png c.png",
         ["image-editing(image=b.png, edit=sharpen)", "join-files(files=a.png+c.png, format=pdf)"]),
        ("combine a.pdf and b.pdf into one pdf without the last page", "",
         ["join-files(files=a.pdf+b.pdf, format=pdf)",
          "cut-file(file=#0, action=remove, pages=last)"]),
        ("what differs between a.txt and b.txt, and how similar are they?", "",
         ["text-differences(text=a.txt+b.txt)", "document-to-text(document=a.txt)",
          "document-to-text(document=b.txt)", "sentence-similarity(text_1=#1, text_2=#2)"]),
    ],
)  # fmt: skip
async def test_wishes_are_about_the_files_that_are_meant(
    text: str, names: str, expected: list[str]
) -> None:
    assert [step.removesuffix("*") for step in show(await ask(text, *names.split()))] == expected


async def test_a_wish_without_its_file_is_left_out_of_others() -> None:
    steps, notes = await planned("Transcribe the recording and list the key words", "a.pdf")
    assert steps == ["0 document-to-text document=a.pdf", "1 keyword-extraction text=#0"]
    assert notes == [left_out("transcribe the recording")]


async def test_what_means_the_result_of_such_a_wish_is_left_out_too() -> None:
    steps, notes = await planned("Blur the photo, rotate it and flip a coin")
    assert [step.split()[1] for step in steps] == ["chance"]
    assert "a picture: drop one" in notes[0]
    assert notes[1:] == [left_out("blur the photo"), left_out("rotate it")]
    assert isinstance(await ask("blur the photo and rotate it"), PlanRejected)


async def test_these_subtitles_are_not_to_be_made() -> None:
    assert isinstance(
        await ask("put these subtitles into the film", "a.mp4", "a.srt"), PlanRejected
    )
    assert show(await ask("translate those captions into French", "a.srt")) == [
        "document-to-text(document=a.srt)", "translation(text=#0, language=French)",
    ]  # fmt: skip


async def test_the_other_two_of_one_file_are_its_pages() -> None:
    steps, notes = await planned("keep page 1 and put the other two in a new pdf", "a.pdf")
    assert [step.split()[1] for step in steps] == ["cut-file"]
    assert notes == [left_out("put the other two in a new pdf")]
