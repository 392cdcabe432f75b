"""Quotes, file names, cues and options: what is read out of the words of a request."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from jarvis_desktop.assistant.planning import intents, planned_step, request_parser
from jarvis_desktop.assistant.planning.intents import CueMatch
from jarvis_desktop.assistant.planning.planned_step import PlannedStep
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.task import Port, Preset, TaskOption, TaskType, Value
from jarvis_desktop.core.turn import Conversation, Turn
from jarvis_desktop.tasks import registry
from jarvis_desktop.text.languages import other_language

SHORTEN = TaskType(
    "summarization",
    "",
    (Port("text", (Kind.TEXT,)),),
    (Kind.TEXT,),
    options=(
        TaskOption("sentences", "", 3, units=("sentence*", "line*")),
        TaskOption("plain", "", False),
    ),
    cues=("summar*", "boil * down", "in short"),
)
EDIT = TaskType(
    "image-editing",
    "",
    (Port("image", (Kind.IMAGE,)),),
    (Kind.IMAGE,),
    options=(
        TaskOption("edit", "", "grey", choices=("grey", "back-light", "")),
        TaskOption("amount", "", 0.0, units=("percent", "%", "degrees")),
    ),
    presets=(
        Preset("upside down", (("edit", "rotate"), ("amount", 180.0))),
        Preset("darker", (("edit", "brightness"), ("amount", -30.0))),
    ),
)
SAVE = TaskType(
    "save-file",
    "",
    (Port("content", tuple(Kind)),),
    (Kind.TEXT,),
    options=(
        TaskOption("name", "", "", reads="file-name"),
        TaskOption("words", "", "", reads="last-reply"),
        TaskOption("language", "", "English", reads="language"),
        TaskOption("all", "", "", reads="clause"),
        TaskOption("rest", "", "", reads="after-cue"),
    ),
    cues=("save",),
)
CALCULATE = TaskType("calculator", "", (), (Kind.TEXT,), cues=("# plus #", "say ... loud"))
INVENTORY = (SHORTEN, EDIT, SAVE, CALCULATE)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("compare 'A' and 'B'", ["A", "B"]),
        ('say "it\'s late"', ["it's late"]),
        ("say “it’s late”", ["it’s late"]),
        ("sag „guten Tag“ und «bonjour»", ["guten Tag", "bonjour"]),
        ("it's Peter's, isn't it", []),
        ("read 'my scan.png'", []),
        ("say '' and ' '", []),
        ("is it good: 'It's great, don't you think?'", ["It's great, don't you think?"]),
    ],
)
def test_quotes(text: str, quoted: list[str]) -> None:
    assert [item.text for item in request_parser.find_quotes(text)] == quoted


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("blur a.jpg and b.JPG.", ["a.jpg", "b.JPG"]),
        (
            "read /tmp/x/scan.png, ~/a-b.pdf, ../up.txt",
            ["/tmp/x/scan.png", "~/a-b.pdf", "../up.txt"],
        ),
        (r"open C:\Users\me\x.jpg", [r"C:\Users\me\x.jpg"]),
        ("read 'my own scan.png' and b.png", ["my own scan.png", "b.png"]),
        ("open /etc/passwd", ["/etc/passwd"]),
        ("please open the file ~/notes.", ["~/notes"]),
        (r"Open up C:\Users\me\Makefile", [r"C:\Users\me\Makefile"]),
        ("summarise /var/log/a.log and read /tmp/x", ["/var/log/a.log", "/tmp/x"]),
        ("what is /usr/bin for", []),
        ("open and/or close it 24/7", []),
        ("rate it 8/10, /shrug", []),
        ("see example.com, 3.14 and e.g. this", []),
    ],
)
def test_file_names(text: str, named: list[str]) -> None:
    assert [item.text for item in request_parser.find_files(text)] == named


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("save it as out.wav", True),
        ("turn it into out.png", True),
        ("write it to out.txt", True),
        ("a file called out.txt", True),
        ("save the picture in a file named out.png", True),
        ("I have an image named out.png", False),
        ("read the scan called out.png", False),
        ("read out.txt", False),
    ],
)
def test_names_of_what_is_to_be_made(text: str, output: bool) -> None:
    assert request_parser.find_files(text)[0].output is output


def test_the_name_is_the_last_part_of_the_path() -> None:
    assert request_parser.find_files(r"open C:\Users\me\x.jpg")[0].name == "x.jpg"


@pytest.mark.parametrize(
    ("text", "absolute"),
    [
        ("read /a/b.txt", True),
        ("read ~/b.txt", True),
        (r"read C:\b.txt", True),
        ("read a/b.txt", False),
        ("read b.txt", False),
    ],
)
def test_whether_a_path_says_where_the_file_lies(text: str, absolute: bool) -> None:
    assert request_parser.find_files(text)[0].is_absolute is absolute


def found(text: str) -> list[tuple[str, str]]:
    return [
        (item.type.name, text[item.start : item.end]) for item in intents.find_cues(text, INVENTORY)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("summarise this", [("summarization", "summarise")]),
        ("boil it down", [("summarization", "boil it down")]),
        ("two plus twenty five", [("calculator", "two plus twenty five")]),
        ("1,200 plus 3.5", [("calculator", "1,200 plus 3.5")]),
        ("say the word out loud", [("calculator", "say the word out loud")]),
        ("say loud", [("calculator", "say loud")]),
        ("say one two three four five six loud", []),
        ("turn it upside down", [("image-editing", "upside down")]),
        ("image editing", [("image-editing", "image editing")]),
        ("unsummarised, saved", []),
    ],
)
def test_cues(text: str, expected: list[tuple[str, str]]) -> None:
    assert found(text) == expected


def test_a_longer_cue_of_the_same_task_wins() -> None:
    one = TaskType("t", "", (), (), cues=("read", "read the text"))
    assert [(item.start, item.end) for item in intents.find_cues("read the text", (one,))] == [
        (0, 13)
    ]


def test_noun_phrases() -> None:
    text = "say the summary and summarise it, this good summary"
    matches = intents.find_cues(text, (SHORTEN,))
    assert [intents.is_noun_phrase(text, item) for item in matches] == [True, False, True]


def read(text: str, reply: str = "") -> request_parser.ParsedRequest:
    turns = (Turn("t", datetime(2026, 1, 1, tzinfo=UTC), reply=reply),) if reply else ()
    return request_parser.parse_request(
        text, INVENTORY, Context((), Conversation("c", turns), Path("/here"))
    )


def test_quotes_and_names_are_taken_out() -> None:
    made = read("Please summarise “Hello there” and a.TXT, then 'b c.txt'")
    assert made.text == "summarise xquote0x and xfile0xdocument , then xfile1xdocument"
    assert made.quotes == ("Hello there",)
    assert [item.text for item in made.files] == ["a.TXT", "b c.txt"]
    assert made.words(0, len(made.text)) == "summarise Hello there and a.TXT , then b c.txt"
    assert made.quotes_in(0, 9) == []
    assert made.files_in(0, len(made.text)) == list(made.files)


def test_a_file_that_is_to_be_made_stands_for_no_picture():
    assert read("blur a.jpg and save it as b.jpg").text == (
        "blur xfile0ximage and save it as xfile1x"
    )


def test_a_long_text_without_a_colon_is_content_too() -> None:
    made = read("Summarise the following tale. " + "The whale sings. " * 500)
    assert made.text == "summarise the following tale. xquote0x"
    assert made.quotes[0].startswith("The whale sings.")
    made = read("whale " * 1000)
    assert len(made.text) < 400


def test_marks_of_our_own_in_a_request_mean_nothing() -> None:
    made = read("summarise xquote7x and xfile0x")
    assert made.text == "summarise and"
    assert made.quotes_in(0, len(made.text)) == []


def test_a_mark_that_stands_for_nothing_is_passed_over() -> None:
    made = request_parser.ParsedRequest("xquote0x xfile3x")
    assert made.quotes_in(0, 16) == []
    assert made.files_in(0, 16) == []


def test_spoken_file_names() -> None:
    assert read("summarise report dot pdf").files[0].text == "report.pdf"


@pytest.mark.parametrize(
    "text",
    [
        "Hey Jarvis, could you please summarise it",
        "okay jarvis can you just summarise it",
        "I'd like you to summarise it for me",
    ],
)
def test_courtesies_are_passed_over(text: str) -> None:
    assert read(text).text == "summarise it"


def test_nothing_but_courtesy_is_kept() -> None:
    assert read("Hello Jarvis").text == "hello jarvis"


def test_a_pasted_text_is_no_instruction() -> None:
    made = read("Summarise this: save the whales. “They” sing.")
    assert made.text == "summarise this xquote0x"
    assert made.quotes == ("save the whales. “They” sing.",)
    made = read("In short\nsave the whales now")
    assert made.quotes == ("save the whales now",)


def test_a_pasted_text_may_come_first() -> None:
    body = "The whale sings in the sea. " * 10
    made = read(f"{body}\nSummarise it")
    assert made.text == "summarise it xquote0x"
    assert made.quotes == (body.strip(),)


@pytest.mark.parametrize("body", ["guten Abend", "bonjour", "A whole sentence.", "short"])
def test_what_stands_after_a_colon_is_the_text_however_short(body: str) -> None:
    made = read(f"Summarise this: {body}")
    assert made.text == "summarise this xquote0x"
    assert made.quotes == (body,)


@pytest.mark.parametrize(
    "text",
    [
        "note: save it",  # no cue before the colon
        "summarise this: the summary",  # a name for something else
        "summarise this: it",
        "summarise this: a.txt",
        "summarise this: https://example.com/a",
        "summarise this: .",  # nothing at all
        "summarise it as: short",  # tells how
        "save: short words",  # the words behind the cue are its own
        "turn it by: 12 percent",  # works on no text
        'summarise: "A whole sentence here" and "another one"',  # quoted already
        "one two\nsummarise it",  # too short before the last line
    ],
)
def test_what_is_no_pasted_text(text: str) -> None:
    assert "xquote0x" not in read(text).text or '"' in text


def options(text: str, kind: TaskType, reply: str = "", **given: Value) -> dict[str, Value]:
    made = read(text, reply)
    matches = [item for item in intents.find_cues(made.text, (kind,)) if item.type is kind]
    cue = matches[0] if matches else CueMatch(kind, 0, 0, 0.0)
    step = PlannedStep(kind, 0, len(made.text), cue, (*cue.options, *given.items()))
    return planned_step.read_options(step, made)


def test_numbers_with_their_units() -> None:
    assert options("summarise it in two sentences", SHORTEN) == {"sentences": 2}
    assert options("summarise it in 12 lines", SHORTEN) == {"sentences": 12}
    assert options("summarise it", SHORTEN) == {}
    assert options("turn it by 12.5%", EDIT) == {"amount": 12.5}
    assert options(f"summarise it in {'9' * 400} sentences", SHORTEN) == {}


def test_choices_by_their_words() -> None:
    assert options("make it grey", EDIT) == {"edit": "grey"}
    assert options("back lighted please", EDIT) == {"edit": "back-light"}


def test_a_phrase_brings_its_options_and_a_number_goes_before_them() -> None:
    assert options("upside down", EDIT) == {"edit": "rotate", "amount": 180.0}
    assert options("upside down by 170 degrees", EDIT) == {"edit": "rotate", "amount": 170.0}
    assert options("darker by 40 percent", EDIT) == {"edit": "brightness", "amount": -40.0}


def test_readers() -> None:
    assert options("save it in French as A.txt", SAVE, "The reply.") == {
        "name": "A.txt",
        "words": "The reply.",
        "language": "French",
        "all": "save it in french as A.txt",
        "rest": "it in french as A.txt",
    }
    assert options("save: german", SAVE)["language"] == "German"
    assert options("save", SAVE) == {"all": "save", "rest": ""}


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("12", 12),
        ("1,200", 1200),
        ("2,5", 2.5),
        ("3.5", 3.5),
        ("seven", 7),
        ("twenty five", 25),
        ("twenty-five", 25),
        ("a hundred", 100),
        ("two hundred", 200),
        ("three thousand two hundred", 3200),
        ("one million", 1_000_000),
        ("two and a half", 2.5),
    ],
)
def test_number_words(words: str, value: float) -> None:
    assert options(f"turn it by {words} percent", EDIT) == {"amount": value}


@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("Schicke diesen Text bitte an meine Mutter und an mich", "Ohne Sprachmodell"),
        ("Résume ce texte pour moi", "Sans modèle"),
        ("Resume este texto por favor", "Sin un modelo"),
        ("请总结这个文件", "没有语言模型"),
        ("要約してください", "言語モデル"),
        ("요약해 주세요", "언어 모델"),
        ("сделай резюме", "Без языковой"),
        ("لخص هذا النص", "بدون نموذج"),
        ("इसे संक्षेप में बताओ", "भाषा मॉडल"),
    ],
)
def test_other_languages_are_answered_in_their_own(text: str, begins: str) -> None:
    answer = other_language(text)
    assert answer is not None
    assert answer.startswith(begins)


@pytest.mark.parametrize("text", ["make the thing do it", "xyzzy", "👍", "", "die hard"])
def test_what_may_be_english(text: str) -> None:
    assert other_language(text) is None


def test_to_look_for_single_tasks_lets_no_cue_of_all_be_read_again() -> None:
    intents.find_cues("", registry.INVENTORY)
    for each in registry.INVENTORY:
        intents.find_cues("", (each,))
    read = intents._cues_by_literal.cache_info().misses
    intents.find_cues("", registry.INVENTORY)
    assert intents._cues_by_literal.cache_info().misses == read
