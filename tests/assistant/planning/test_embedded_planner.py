# ruff: noqa: E501
"""Requests in, plans out: what the embedded planner makes of everyday words."""

from __future__ import annotations

import pytest

from jarvis_desktop.assistant.planning import request_parser
from jarvis_desktop.core.ports import PlanRejected
from tests.assistant.planning.planned import ask, conversation, file, show


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
            "Translate good morning into French, Spanish and Italian",
            [],
            [
                "translation(text=good morning, language=French)",
                "translation(text=good morning, language=Spanish)",
                "translation(text=good morning, language=Italian)",
            ],
        ),
        (
            "translate good morning into French and what is 2 plus 2",
            [],
            [
                "translation(text=good morning, language=French)",
                "calculator(expression=what is 2 plus 2)",
            ],
        ),
        (
            "Read the letter aloud to me",
            ["brief.pdf"],
            ["document-to-text(document=brief.pdf)", "text-to-speech(text=#0)"],
        ),
        (
            "Translate good morning into French",
            [],
            ["translation(text=good morning, language=French)"],
        ),
        (
            "please translate for me the cat sat on the mat to Spanish",
            [],
            ["translation(text=the cat sat on the mat, language=Spanish)"],
        ),
        (
            "translate this page from English into German",
            ["letter.txt"],
            ["document-to-text(document=letter.txt)", "translation(text=#0, language=German)"],
        ),
        (
            "Remind me to translate the letter in ten minutes",
            [],
            ["timer(duration=remind me to translate the letter in ten minutes)"],
        ),
        (
            "What is 2 plus 2, and then draw me a castle and also a dog",
            [],
            [
                "calculator(expression=what is 2 plus 2)",
                "text-to-image(prompt=a castle and also a dog)",
            ],
        ),
        ("Was kannst du?", [], ["help(topic=what can you do)"]),
        ("你能做什么？", [], ["help(topic=what can you do)"]),
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
                "video-to-audio(video=clip.mp4)*",
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
                "save-file(content=#0, name=b.jpg)",
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
    assert show(await ask(text, *names)) == plan


@pytest.mark.parametrize(
    ("text", "names", "reason"),
    [
        (
            "How big is this picture?",
            [],
            "For “Show file details” I need a file: drop one on the window, or name it.",
        ),
        ("open it", [], "For “Open file” I need a file: drop one on the window, or name it."),
        (
            "read the document",
            [],
            "For “Read document” I need a document or a table: "
            "drop one on the window, or name its file.",
        ),
        (
            "what's the due date on the invoice",
            ["a.wav"],
            "For “Ask the document” I need a picture or a document: "
            "drop one on the window, or name its file.",
        ),
    ],
)
async def test_says_in_one_sentence_which_file_it_needs(
    text: str, names: list[str], reason: str
) -> None:
    planned = await ask(text, *names)
    assert isinstance(planned, PlanRejected)
    assert planned.reason == reason


@pytest.mark.parametrize(
    ("text", "names", "plan"),
    [
        (
            "Remind me in 20 minutes to call mum and tell me how long rice has to cook",
            [],
            [
                "timer(duration=remind me in 20 minutes to call mum)",
                "text-generation(prompt=tell me how long rice has to cook)",
            ],
        ),
        (
            "Make this photo black and white and write a funny caption",
            ["a.png"],
            [
                "image-editing(image=a.png, edit=grey)",
                "text-generation(prompt=write a funny caption)",
            ],
        ),
        (
            "Transcribe this and write a friendly reply to it",
            ["a.wav"],
            [
                "automatic-speech-recognition(audio=a.wav)",
                "text-generation(prompt=write a friendly reply to it, text=#0)",
            ],
        ),
        (
            "Write a reply to the letter in this picture",
            ["a.png"],
            [
                "image-to-text(image=a.png)",
                "text-generation(prompt=write a reply to the letter in this picture, text=#0)",
            ],
        ),
        (
            "Which month was best for apples?",
            ["a.csv"],
            ["table-question-answering(table=a.csv, question=Which month was best for apples?)"],
        ),
        (
            "What changed between these two?",
            ["a.txt", "b.docx"],
            ["text-differences(text=a.txt+b.docx)"],
        ),
        (
            "Compare a.txt with b.txt",
            ["a.txt", "b.txt"],
            ["text-differences(text=a.txt+b.txt)"],
        ),
        (
            "Summarise this, please",
            ["a.csv"],
            ["table-question-answering(table=a.csv, question=Summarise this)"],
        ),
        (
            "Summarise the comments",
            ["a.csv"],
            ["document-to-text(document=a.csv)", "summarization(text=#0)"],
        ),
    ],
)
async def test_wishes_in_other_words(text: str, names: list[str], plan: list[str]) -> None:
    assert show(await ask(text, *names)) == plan


@pytest.mark.parametrize(
    ("text", "name", "unread"),
    [
        ("Scan the lines of my poem and save it as b.txt", "poem.txt", "scan the lines of my"),
        ("Who wrote this? Save it as b.txt", "letter.txt", "who wrote this"),
        ("Save the names of the guests to b.txt", "guests.txt", "names of the"),
    ],
)
async def test_a_file_is_not_just_saved_where_more_was_asked(
    text: str, name: str, unread: str
) -> None:
    planned = await ask(text, name)
    assert isinstance(planned, PlanRejected)
    assert planned.reason.startswith(f"I did not understand “{unread}")


@pytest.mark.parametrize(
    "text", ["Save a copy of the letter as b.txt", "Save the text of the letter as b.txt"]
)
async def test_a_whole_file_is_saved(text: str) -> None:
    assert show(await ask(text, "letter.txt")) == ["save-file(content=letter.txt, name=b.txt)"]


@pytest.mark.parametrize(
    "text",
    [
        "Create a table year.csv from this",
        "Turn this JSON into a CSV called year.csv",
        "Count the errors and write them to year.csv",
        "List them in year.csv",
        "Make year.csv with one row for each month",
    ],
)
async def test_the_name_of_a_file_to_be_made_is_not_looked_for(text: str) -> None:
    (found,) = request_parser.find_files(text)
    assert found.output


@pytest.mark.parametrize(
    ("text", "names", "plan"),
    [
        (
            "Replace Mr Smith with Mr Jones everywhere in the letter and save it as b.txt",
            ["letter.txt"],
            [
                "edit-text(text=letter.txt, wish=Replace Mr Smith with Mr Jones everywhere in the "
                "letter)",
                "save-file(content=#0, name=b.txt)",
            ],
        ),
        (
            "Sort the guests by name, without the empty lines",
            ["guests.txt"],
            [
                "edit-text(text=guests.txt, wish=Sort the guests by name)",
                "edit-text(text=#0, wish=without the empty lines)",
            ],
        ),
        (
            "replace hello with bye and translate it into French",
            ["a.txt"],
            ["edit-text(text=a.txt, wish=replace hello with bye)*",
             "document-to-text(document=#0)", "translation(text=#1, language=French)"],
        ),
        (
            "How many orders did each customer make? put it into a PDF",
            ["o.csv"],
            ["table-question-answering(table=o.csv, question=How many orders did each customer "
             "make?)*", "convert-file(file=#0, format=pdf)"],
        ),
        (
            "rotate by 45 degrees and save as r.png, and also give me a jpg",
            ["a.png"],
            ["image-editing(image=a.png, edit=rotate, amount=45.0)",
             "save-file(content=#0, name=r.png)", "convert-file(file=#0, format=jpg)"],
        ),
        ("make it 200 px", ["a.png"], ["image-editing(image=a.png, edit=resize, size=longest 200)"]),
        (
            "read out the packing list",
            ["notes.md"],
            ["document-to-text(document=notes.md)", "text-to-speech(text=#0)"],
        ),
        (
            "turn this into a presentation",
            ["notes.md"],
            ["convert-file(file=notes.md, format=pptx)"],
        ),
        (
            "Split this list into one file for each country",
            ["people.csv"],
            ["cut-file(file=people.csv, action=split, parts=1, by=country)"],
        ),
        (
            "cut this book into chapters",
            ["book.txt"],
            ["cut-file(file=book.txt, action=split)"],
        ),
        (
            "How many questions are asked in this story?",
            ["story.txt"],
            ["file-details(file=story.txt, about=sentences)"],
        ),
        (
            "Find the five most frequent words and write them to words.txt",
            ["story.txt"],
            ["count-words(text=story.txt, asked=Find the five most frequent words)",
             "save-file(content=#0, name=words.txt)"],
        ),
        (
            "Which words are in both of these texts?",
            ["a.txt", "b.txt"],
            ["count-words(text=a.txt+b.txt, asked=Which words are in both of these texts?)"],
        ),
        (
            "pull all e-mail addresses out of this text into a CSV",
            ["mails.txt"],
            ["collect-values(text=mails.txt, asked=pull all e-mail addresses out of this text)",
             "convert-file(file=#0, format=csv)"],
        ),
        (
            "list the amounts in this letter and add them up",
            ["letter.txt"],
            ["collect-values(text=letter.txt, asked=list the amounts in this letter and add "
             "them up)"],
        ),
        (
            "collect the dates and names in this letter",
            ["letter.txt"],
            ["document-to-text(document=letter.txt)",
             "token-classification(text=#0, asked=collect the dates and names in this letter)"],
        ),
        (
            "replace the sky with stars",
            ["photo.jpg"],
            ["image-editing(image=photo.jpg, prompt=replace the sky with stars)"],
        ),
    ],
)  # fmt: skip
async def test_texts_are_edited_by_their_lines(
    text: str, names: list[str], plan: list[str]
) -> None:
    assert show(await ask(text, *names)) == plan


async def test_a_step_takes_no_earlier_file_if_it_cannot_take_those_that_came_with_it() -> None:
    earlier = conversation(file("people.csv"))
    asked = "remove the column phone"
    assert show(await ask(asked, earlier=earlier)) == [
        f"edit-table(table=people.csv, question={asked})"
    ]
    assert isinstance(await ask(asked, "letter.txt", earlier=earlier), PlanRejected)


async def test_a_step_takes_no_other_file_than_the_earlier_one_that_it_names() -> None:
    earlier = conversation(file("people.csv"), file("letter.txt"))
    asked = "remove the column phone from letter.txt"
    assert isinstance(await ask(asked, earlier=earlier), PlanRejected)


@pytest.mark.parametrize(
    ("text", "names", "plan"),
    [
        ("rotate this pdf by 90 degrees", ["a.pdf"], "cut-file(file=a.pdf, action=turn-right)"),
        ("turn page 2 of a.pdf the right way round", [], "cut-file(file=a.pdf, action=upright, pages=2)"),
        ("page 3 is upside down, turn it round", ["a.pdf"], "cut-file(file=a.pdf, action=upright, pages=3)"),
        ("turn the second page upside down", ["a.pdf"], "cut-file(file=a.pdf, action=turn-over, pages=2)"),
        ("rotate pages 1-3 to the left", ["a.pdf"], "cut-file(file=a.pdf, action=turn-left, pages=1-3)"),
        ("rotate it by 180 degrees", ["a.pdf"], "cut-file(file=a.pdf, action=turn-over)"),
        ("drehe Seite 2 um 90 Grad", ["a.pdf"], "cut-file(file=a.pdf, action=turn-right, pages=2)"),
        ("dreh das PDF nach links", ["a.pdf"], "cut-file(file=a.pdf, action=turn-left)"),
        ("把 a.pdf 旋转 90 度", [], "cut-file(file=a.pdf, action=turn-right)"),
        ("rotate it by 90 degrees", ["a.png"], "image-editing(image=a.png, edit=rotate, amount=90.0)"),
        ("how loud is this recording", ["a.wav"], "file-details(file=a.wav, about=loudness)"),
        ("what's the peak level of a.wav?", [], "file-details(file=a.wav, about=loudness)"),
        ("wie laut ist die Aufnahme", ["a.wav"], "file-details(file=a.wav, about=loudness)"),
        ("increase the volume of the recording", ["a.wav"], "audio-to-audio(audio=a.wav, effect=louder)"),
        ("add the text HELLO to this picture", ["a.png"], "image-editing(image=a.png, edit=caption, words=HELLO)"),
        ('write "Happy Birthday" on this picture', ["a.png"], "image-editing(image=a.png, edit=caption, words=Happy Birthday)"),
        ("put the word Hello at the top of the photo", ["a.png"], "image-editing(image=a.png, edit=caption, direction=top, words=Hello)"),
        ("add text to this picture", ["a.png"], "image-editing(image=a.png, edit=caption)"),
        ("schreibe Hallo auf das Bild", ["a.png"], "image-editing(image=a.png, edit=caption, words=Hallo)"),
        ("在图片上写你好", ["a.png"], "image-editing(image=a.png, edit=caption, words=你好)"),
        ("replace 'a, b' with 'c and d' in this text", ["n.txt"], "edit-text(text=n.txt, wish=replace a, b with c and d in this text)"),
        ("replace 'cat' with 'dog' in 'the cat sat on the cat'", [], "edit-text(text=the cat sat on the cat, wish=replace cat with dog in the cat sat on the cat)"),
        ("what text is in this picture", ["a.png"], "image-to-text(image=a.png)"),
        ("add a red hat to the picture", ["a.png"], "image-editing(image=a.png, prompt=add a red hat to the picture)"),
    ],
)  # fmt: skip
async def test_what_files_are_asked_for(text: str, names: list[str], plan: str) -> None:
    assert show(await ask(text, *names)) == [plan]


@pytest.mark.parametrize(
    "text",
    ["who is speaking", "how many people are speaking", "whose voice is this?", "wer spricht in der Aufnahme"],
)  # fmt: skip
async def test_says_that_nothing_tells_voices_apart(text: str) -> None:
    planned = await ask(text, "a.wav")
    assert isinstance(planned, PlanRejected)
    assert planned.reason == "Nothing here tells voices apart. What is said can be transcribed."


async def test_names_the_question_about_voices_beside_another_wish() -> None:
    planned = await ask("transcribe this and tell me who is speaking", "a.wav")
    assert not isinstance(planned, PlanRejected)
    assert planned.undone == ("tell me who is speaking",)


@pytest.mark.parametrize(
    "text",
    [
        "why did they cut the wood?",
        "How did the writer improve their quarters?",
        "when did they blur it",
    ],
)
async def test_a_question_of_how_something_went_changes_no_file(text: str) -> None:
    planned = show(await ask(text, "diary.pdf"))
    assert [step.partition("(")[0] for step in planned] == [
        "document-to-text",
        "question-answering",
    ]
    assert isinstance(await ask(text), PlanRejected)


@pytest.mark.parametrize(
    ("text", "names", "plan"),
    [
        (
            "Rename these pictures to rome_1.jpg and so on",
            ["a.jpg", "b.jpg", "c.txt"],
            ["arrange-files(files=a.jpg+b.jpg, wish=Rename these pictures to rome_1.jpg and so on)"],
        ),
        (
            "Which of these are duplicate files? Write them to twins.txt",
            ["a.txt", "b.txt"],
            ["arrange-files(files=a.txt+b.txt, wish=Which of these are duplicate files?)",
             "save-file(content=#0, name=twins.txt)"],
        ),
        (
            "list all files with size and date in a table",
            ["a.txt", "b.csv", "c.png"],
            ["arrange-files(files=a.txt+b.csv+c.png, wish=list all files with size and date in a "
             "table)"],
        ),
        (
            "Which documents are copies of one another?",
            ["a.txt", "b.txt", "c.txt"],
            ["arrange-files(files=a.txt+b.txt+c.txt, wish=Which documents are copies of one "
             "another?)"],
        ),
        (
            "put my letters into a single text file all.txt",
            ["a.txt", "b.txt"],
            ["join-files(files=a.txt+b.txt, format=txt)", "save-file(content=#0, name=all.txt)"],
        ),
        (
            "cut the novel into one text file for each chapter",
            ["novel.txt"],
            ["cut-file(file=novel.txt, action=split, by=chapter)"],
        ),
        (
            "turn server.log into a table",
            ["server.log"],
            ["convert-file(file=server.log, format=csv)"],
        ),
        (
            "create a table people.csv out of notes.txt",
            ["notes.txt"],
            ["convert-file(file=notes.txt, format=csv)",
             "save-file(content=#0, name=people.csv)"],
        ),
        (
            "count the words in each of the letters and save it as words.csv",
            ["a.txt", "b.txt"],
            ["count-words(text=a.txt+b.txt, asked=count the words in each of the letters)",
             "save-file(content=#0, name=words.csv)"],
        ),
        (
            "merge one.txt and two.txt into both.txt",
            ["one.txt", "two.txt"],
            ["join-files(files=one.txt+two.txt, format=txt)",
             "save-file(content=#0, name=both.txt)"],
        ),
    ],
)  # fmt: skip
async def test_many_files_are_listed_and_arranged(
    text: str, names: list[str], plan: list[str]
) -> None:
    assert show(await ask(text, *names)) == plan
