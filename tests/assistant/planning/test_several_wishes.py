"""Requests of two and three wishes: each is a task of its own, on what it means."""

from __future__ import annotations

from itertools import permutations

import pytest

from jarvis_desktop.core.plan import Plan
from tests.assistant.planning.planned import ask
from tests.assistant.planning.test_wishes import left_out, planned
from tests.families import some


def shown(plan: Plan) -> list[str]:
    """The names of the tasks that the answer shows."""
    return [task.type.name for task in plan.answers]


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        # What is only said about a result leaves it part of the answer.
        ("Transcribe this and tell me how many words there are", "memo.wav",
         ["0 automatic-speech-recognition audio=memo.wav *", "1 file-details file=#0"]),
        ("Find the key words, and which language is it in?", "essay.txt",
         ["0 document-to-text document=essay.txt", "1 keyword-extraction text=#0",
          "2 language-identification text=#0"]),
        ("Make the recording louder and tell me how long it is", "memo.wav",
         ["0 audio-to-audio audio=memo.wav effect=louder *", "1 file-details file=#0"]),
        # The text is saved, and not what is said about it.
        ("Transcribe this, tell me the language and save the text as a.txt", "memo.wav",
         ["0 automatic-speech-recognition audio=memo.wav *", "1 language-identification text=#0",
          "2 save-file content=#0 name=a.txt"]),
        # A format, however it is wished for.
        ("Sharpen it and make it an ico", "photo.jpg",
         ["0 image-editing image=photo.jpg edit=sharpen", "1 convert-file file=#0 format=ico"]),
        ("Blur it and give me a PDF", "photo.jpg",
         ["0 image-editing image=photo.jpg edit=blur", "1 convert-file file=#0 format=pdf"]),
        ("Transcribe this. It should be in a Word document.", "memo.wav",
         ["0 automatic-speech-recognition audio=memo.wav", "1 convert-file file=#0 format=docx"]),
        ("Turn page 3 into a picture and blur it", "book.pdf",
         ["0 cut-file file=book.pdf pages=3", "1 convert-file file=#0 format=png",
          "2 image-editing image=#1 edit=blur"]),
        ("Split the recording into two halves and make them mp3", "song.wav",
         ["0 cut-file file=song.wav action=split", "1 convert-file file=#0 format=mp3"]),
        ("Make a gif of the clip, and also give me its sound as an mp3", "clip.mp4",
         ["0 convert-file file=clip.mp4 format=gif", "1 convert-file file=clip.mp4 format=mp3"]),
        # Pages after pages.
        ("Delete the last page, then rotate the first one", "book.pdf",
         ["0 cut-file file=book.pdf action=remove pages=last",
          "1 cut-file file=#0 action=turn-right pages=1"]),
        # Texts.
        ("Replace salt with sugar and make everything upper case", "list.txt",
         ["0 edit-text text=list.txt wish=Replace salt with sugar",
          "1 edit-text text=#0 wish=make everything upper case"]),
        ("Remove the duplicate lines and count how many remain", "list.txt",
         ["0 edit-text text=list.txt wish=Remove the duplicate lines *", "1 file-details file=#0"]),
        ("Read me the sign, then put it in all caps", "sign.png",
         ["0 image-to-text image=sign.png", "1 text-to-speech text=#0",
          "2 edit-text text=#0 wish=put it in all caps"]),
        # One question after another.
        ("Which city sold the most and what was the average amount?", "sales.csv",
         ["0 table-question-answering table=sales.csv question=Which city sold the most",
          "1 table-question-answering table=sales.csv question=what was the average amount?"]),
        ("Show the average price per shop and draw it as a bar chart", "sales.csv",
         ["0 table-question-answering table=sales.csv question=Show the average price per shop *",
          "1 chart table=sales.csv "
          "question=draw it as a bar chart: Show the average price per shop"]),
        # Without a cue, by the encoder.
        ("Mute this clip and then turn it into a gif", "clip.mp4",
         ["0 mute-video video=clip.mp4", "1 convert-file file=#0 format=gif"]),
        ("What's being said in the recording? And make it twice as fast, please", "memo.wav",
         ["0 automatic-speech-recognition audio=memo.wav",
          "1 audio-to-audio audio=memo.wav effect=faster amount=2.0"]),
        # What was asked for is shown, even if only its text is read afterwards.
        ("Turn this PDF into a Word document, also summarise it", "letter.pdf",
         ["0 convert-file file=letter.pdf format=docx *", "1 document-to-text document=#0",
          "2 summarization text=#1"]),
        ("Turn it into HTML, and then into a PDF as well", "readme.md",
         ["0 convert-file file=readme.md format=html *", "1 convert-file file=#0 format=pdf"]),
        # Several formats.
        ("Save this as mp3, ogg and flac", "memo.wav",
         ["0 convert-file file=memo.wav format=mp3", "1 convert-file file=memo.wav format=ogg",
          "2 convert-file file=memo.wav format=flac", "3 save-file content=#0+#1+#2"]),
        ("Convert this to pdf and to plain text", "minutes.docx",
         ["0 convert-file file=minutes.docx format=pdf",
          "1 convert-file file=minutes.docx format=txt"]),
        # The text is written, and not what was spoken; the file converted, and not what it says.
        ("Read this aloud, and also save it to a file called sign.txt", "sign.png",
         ["0 image-to-text image=sign.png", "1 text-to-speech text=#0",
          "2 save-file content=#0 name=sign.txt"]),
        ("How long is it, and can you make a gif out of it", "clip.mp4",
         ["0 file-details file=clip.mp4", "1 convert-file file=clip.mp4 format=gif"]),
        ("Which city sold the most? Put the answer into a file called best.txt", "sales.csv",
         ["0 table-question-answering table=sales.csv question=Which city sold the most?",
          "1 save-file content=#0 name=best.txt"]),
        ("Find the cheapest item, and what do they cost on average?", "items.csv",
         ["0 table-question-answering table=items.csv question=Find the cheapest item",
          "1 table-question-answering table=items.csv question=what do they cost on average?"]),
        # A picture cannot be changed if there is only a recording.
        ("Transcribe this and put the text into a Word file called memo.docx", "memo.wav",
         ["0 automatic-speech-recognition audio=memo.wav", "1 convert-file file=#0 format=docx",
          "2 save-file content=#1 name=memo.docx"]),
        ("Plot the amounts by city as a pie and tell me the total", "sales.csv",
         ["0 chart table=sales.csv question=plot the amounts by city as a pie",
          "1 table-question-answering table=sales.csv question=tell me the total"]),
        ("Turn it into a csv and show me everything in Food", "budget.xlsx",
         ["0 convert-file file=budget.xlsx format=csv",
          "1 table-question-answering table=budget.xlsx question=show me everything in Food"]),
        ("Put FOR SALE on it in red, and let me have a bmp", "photo.jpg",
         ["0 image-editing image=photo.jpg edit=caption words=FOR SALE colour=red",
          "1 convert-file file=#0 format=bmp"]),
        ("Write Lake Trip across the video and hand me an mkv", "trip.mp4",
         ["0 video-editing video=trip.mp4 edit=caption words=Lake Trip",
          "1 convert-file file=#0 format=mkv"]),
        ("Chop the recording into pieces of 15 seconds, all of them mp3", "song.wav",
         ["0 cut-file file=song.wav action=split times=every 0:15",
          "1 convert-file file=#0 format=mp3"]),
        ("Let it fade in over 4 seconds, then fade out the last 2 seconds", "song.wav",
         ["0 audio-to-audio audio=song.wav effect=fade-in seconds=4.0",
          "1 audio-to-audio audio=#0 effect=fade-out seconds=2.0"]),
        ("Trim off the last two seconds and give me mp3", "song.wav",
         ["0 cut-file file=song.wav action=remove times=last 0:02",
          "1 convert-file file=#0 format=mp3"]),
        ("Remove the pauses, then transcribe what is left", "memo.wav",
         ["0 audio-to-audio audio=memo.wav effect=trim-silence *",
          "1 automatic-speech-recognition audio=#0"]),
        ("Stick the words Summer 24 on this clip and give it a red border", "trip.mp4",
         ["0 video-editing video=trip.mp4 edit=caption words=Summer 24",
          "1 video-editing video=#0 edit=border colour=red"]),
        ("Crop it to a square and tell me how big the file became", "photo.jpg",
         ["0 image-editing image=photo.jpg edit=crop size=1:1 *", "1 file-details file=#0"]),
        ("Make it half the size and give it to me as small.png", "photo.jpg",
         ["0 image-editing image=photo.jpg edit=resize amount=50.0",
          "1 save-file content=#0 name=small.png"]),
        ("Put it in order by name and work out the mean salary for every department", "staff.csv",
         ["0 edit-table table=staff.csv question=Put it in order by name *",
          "1 table-question-answering table=#0 "
          "question=work out the mean salary for every department"]),
        ("Extract the text of page 1 as a text file", "report.pdf",
         ["0 cut-file file=report.pdf pages=1", "1 document-to-text document=#0",
          "2 convert-file file=#1 format=txt"]),
        # The two ends of a range are no two wishes.
        ("How many days lie between 3 March and 20 June, and what's the time?", "",
         ["0 clock what=days until place=how many days lie between 3 march and 20 june",
          "1 clock what=time place=what's the time?"]),
        # In German.
        ("Schneide die ersten 3 Sekunden weg und blende die Aufnahme aus", "song.wav",
         ["0 cut-file file=song.wav action=remove times=0:00-0:03",
          "1 audio-to-audio audio=#0 effect=fade-out"]),
        ("Verkleinere das Video auf die Hälfte und gib es mir als klein.mov", "film.mp4",
         ["0 video-editing video=film.mp4 edit=resize amount=50.0",
          "1 save-file content=#0 name=klein.mov"]),
        ("Drehe das Foto nach links und mach es heller", "foto.jpg",
         ["0 image-editing image=foto.jpg edit=rotate amount=-90.0 direction=left",
          "1 image-editing image=#0 edit=brightness amount=30.0"]),
        ("Verschriftliche die Aufnahme und sag mir, wie lang sie ist", "memo.wav",
         ["0 automatic-speech-recognition audio=memo.wav", "1 file-details file=memo.wav"]),
        ("Ersetze Salz durch Zucker und zähle die Wörter", "liste.txt",
         ["0 edit-text text=liste.txt wish=Ersetze Salz durch Zucker *", "1 file-details file=#0"]),
        ("Konvertiere das Bild in PNG und mach es kleiner", "foto.jpg",
         ["0 convert-file file=foto.jpg format=png",
          "1 image-editing image=#0 edit=resize amount=50.0"]),
        ("Nimm die ersten zwei Seiten und mach daraus ein Word-Dokument", "buch.pdf",
         ["0 cut-file file=buch.pdf pages=1-2", "1 convert-file file=#0 format=docx"]),
    ],
)  # fmt: skip
async def test_each_wish_is_a_task(text: str, name: str, expected: list[str]) -> None:
    steps, notes = await planned(text, *filter(None, [name]))
    assert (steps, notes) == (expected, [])


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("Transcribe this and tell me the language", "memo.wav",
         ["automatic-speech-recognition", "language-identification"]),
        ("Rotate it and I'd like to know the size", "photo.jpg",
         ["image-editing", "file-details"]),
        ("Make the recording louder and tell me how long it is", "memo.wav",
         ["audio-to-audio", "file-details"]),
        ("Make it grey and save it as a.png", "photo.jpg", ["save-file"]),
        ("Make it sepia, and then tell me its size", "photo.jpg",
         ["image-editing", "file-details"]),
        ("List the dates and names in this letter, and say if it sounds positive or negative",
         "letter.txt", ["token-classification", "text-classification"]),
    ],
)  # fmt: skip
async def test_the_answer_shows_what_was_asked_for(
    text: str, name: str, expected: list[str]
) -> None:
    plan = await ask(text, name)
    assert isinstance(plan, Plan)
    assert shown(plan) == expected


async def test_a_file_is_joined_to_what_was_made_before() -> None:
    steps, _ = await planned("Remove page 1 of a.pdf, append b.pdf", "a.pdf", "b.pdf")
    assert steps[1:] == ["1 join-files files=#0+b.pdf"]
    steps, _ = await planned("Append b.pdf", "a.pdf", "b.pdf")
    assert steps == ["0 join-files files=a.pdf+b.pdf"]


async def test_a_name_to_give_is_no_file_to_find() -> None:
    steps, _ = await planned("Put both in one PDF and call it album.pdf", "a.jpg", "b.jpg")
    assert steps == [
        "0 join-files files=a.jpg+b.jpg format=pdf",
        "1 save-file content=#0 name=album.pdf",
    ]


async def test_questions_are_not_mixed() -> None:
    steps, _ = await planned("What's 7 times 8, what's the date tomorrow, and roll a die")
    assert [step.split()[1] for step in steps] == ["calculator", "clock", "chance"]
    steps, _ = await planned("Spell rhythm and tell me how many letters it has")
    assert steps == ["0 spell word=spell rhythm"]


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("Rotate it. It should be on my desk by noon.", "photo.jpg",
         "it should be on my desk by noon"),
        ("Take page 1, put it on my desktop", "book.pdf", "put it on my desktop"),
        ("Mach das Bild heller und druck es aus", "foto.jpg", "druck es aus"),
        ("What's the capital of Peru, rotate the picture", "photo.jpg",
         "what's the capital of peru"),
        ("What time is it, and the weather?", "", "the weather"),
        ("What's the date, and any news?", "", "any news"),
        ("Remember that my locker code is 4711 and order a pizza", "", "order a pizza"),
        ("Spell rhythm and tell me what it means", "", "tell me what it means"),
        ("How much is 50 dollars in euros and what is 50 miles in km", "",
         "how much is 50 dollars in euros"),
        # What is to be sent or locked, whatever the file is called.
        ("Upload clip.mp4 to YouTube and tell me how long it is", "clip.mp4",
         "upload clip.mp4 to youtube"),
        ("Lock report.pdf with a password, and count its pages", "report.pdf",
         "lock report.pdf with a password"),
        ("Mute the clip and email it to Anna", "clip.mp4", "email it to anna"),
        # What changes a recording in a way that no task knows is no other change.
        ("Let the song sound nicer and hand me a flac", "song.wav", "let the song sound nicer"),
    ],
)  # fmt: skip
async def test_what_is_left_out_is_named(text: str, name: str, words: str) -> None:
    steps, notes = await planned(text, *filter(None, [name]))
    assert len(steps) == 1
    assert words not in steps[0].lower()
    assert notes == [left_out(words)]


@pytest.mark.parametrize(
    "text", ["Rotate it so that I can print it", "Remember to buy milk and order a pizza"]
)
async def test_what_explains_or_belongs_to_a_wish_is_not_another(text: str) -> None:
    _, notes = await planned(text, *(["photo.jpg"] if "it" in text.split() else []))
    assert notes == []


async def test_that_is_the_result_before() -> None:
    steps, _ = await planned("What is 250 divided by 8, and what's that times 3?")
    assert steps == [
        "0 calculator expression=what is 250 divided by 8",
        "1 calculator expression=what's that times 3: what is 250 divided by 8",
    ]
    steps, _ = await planned("Remember that Tom was born on 3 May. How many days until then?")
    assert steps[1].endswith("until then: remember that tom was born on 3 may.")
    steps, _ = await planned("What's that times 3?")
    assert steps == ["0 calculator expression=what's that times 3?"]


async def test_what_is_compared_with_is_the_older_one() -> None:
    for text in (
        "What is different in b.txt compared with a.txt?",
        "What changed in b.txt since a.txt",
    ):
        steps, _ = await planned(text, "a.txt", "b.txt")
        assert steps == ["0 text-differences text=a.txt+b.txt"]
    steps, _ = await planned("List the changes and put them in a Word file", "a.txt", "b.txt")
    assert steps == ["0 text-differences text=a.txt+b.txt", "1 convert-file file=#0 format=docx"]


@pytest.mark.parametrize("asked", ["what weekday is the second one", "what day is that"])
async def test_one_of_two_days_is_that_of_the_question_before(asked: str) -> None:
    steps, _ = await planned(f"How many days are there between 3 May and 9 May, and {asked}?")
    assert steps[1] == (
        f"1 clock what=day place={asked}: how many days are there between 3 may and 9 may"
    )


async def test_a_question_that_needs_the_one_before_is_not_asked_alone() -> None:
    plan = await ask("How many live in Rome, and what is their average age?", "people.csv")
    assert isinstance(plan, Plan)
    assert [task.type.name for task in plan].count("table-question-answering") == 1


WISHES = {
    "memo.wav": {
        "transcribe it": "automatic-speech-recognition",
        "make it louder": "audio-to-audio",
        "tell me how long it is": "file-details",
        "cut off the first 2 seconds": "cut-file",
        "find out which language it is in": "language-identification",
        "summarise it": "summarization",
        "what are the key words": "keyword-extraction",
        "I need it as an ogg": "convert-file",
        "who called": "",
    },
    "photo.jpg": {
        "make it black and white": "image-editing",
        "give me a pdf": "convert-file",
        "how big is it": "file-details",
        "read the text in it": "image-to-text",
        "it should be a bit brighter": "image-editing",
        "print it": "",
    },
    "report.pdf": {
        "take out page 2": "cut-file",
        "how many pages does it have": "file-details",
        "translate it into German": "translation",
        "find the dates in it": "collect-values",
        "make it a Word document": "convert-file",
        "sign it": "",
    },
    "sales.csv": {
        "what was the average amount": "table-question-answering",
        "draw a bar chart of amount by city": "chart",
        "remove the duplicates": "edit-table",
        "convert it to Excel": "convert-file",
    },
    "": {
        "what's 7 times 8": "calculator",
        "what time is it in Rome": "clock",
        "flip a coin": "chance",
        "set a timer for 5 minutes": "timer",
        "spell rhythm": "spell",
        "remember that I like tea": "remember",
    },
}
"""Wishes for a file, and the task of each; "" if no task does it."""
PAIRS = [(name, pair) for name, wishes in WISHES.items() for pair in permutations(wishes, 2)]


@pytest.mark.no_cover
@pytest.mark.parametrize("case", some(PAIRS, every=5))
async def test_two_wishes_are_both_done_or_named(case: tuple[str, tuple[str, str]]) -> None:
    name, pair = case
    text = " and ".join(pair)
    steps, notes = await planned(text, *filter(None, [name]))
    done = [step.split()[1] for step in steps]
    for task in filter(None, (WISHES[name][wish] for wish in pair)):
        done.remove(task)  # raises if it is not among them
    named = [wish for wish in pair if not WISHES[name][wish]]
    assert notes == [left_out(wish) for wish in named]


@pytest.mark.parametrize("other", ["the soup needs more salt", "the soup", "call Anna"])
async def test_what_is_quoted_asks_for_nothing(other: str) -> None:
    plan = await ask(f'How similar are "make the picture brighter" and "{other}"?')
    assert isinstance(plan, Plan)
    (task,) = plan
    assert task.args == {"text_1": "make the picture brighter", "text_2": other}
