from pathlib import Path

import pytest

from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.tasks.text.question_answering import QUESTION_ANSWERING, answer, reply
from tests.tasks.calls import call_of, quiet, text_of

BRIDGE = """The Severin Bridge crosses the Rhine near the old port. It was designed by the engineer
Fritz Leonhardt in 1954. Construction began on March 3, 1956, and the bridge opened on
November 7, 1959. It cost about 25 million marks. The bridge has one tower, 77 metres tall.
Around 40,000 vehicles use it every day. It is painted green because that colour was chosen for all
bridges of the city. The operator has its seat in Cologne. Write to office@bridges.example or call
0221 555 0199. Guided tours start at 10:30 a.m. on Sundays."""

RECEIPT = """CORNER CAFE
12 Main Street
Date: 12/03/2024
2 Cappuccino 7.00
1 Croissant 2.50
Subtotal 9.50
Tax 0.95
TOTAL
$10.45
Thank you"""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When did construction begin?", "March 3, 1956"),
        ("When was the bridge opened?", "November 7, 1959"),
        ("Who designed the bridge?", "Fritz Leonhardt"),
        ("How tall is the tower?", "77 metres"),
        ("How many vehicles use it every day?", "40,000"),
        ("Why is it painted green?", "because that colour was chosen for all bridges of the city"),
        ("Where is the seat of the operator?", "Cologne"),
        ("What is the e-mail address?", "office@bridges.example"),
        ("What's the phone number?", "0221 555 0199"),
        ("What time do guided tours start?", "10:30 a.m."),
    ],
)
def test_picks_the_words_that_answer(question: str, expected: str):
    found = answer(question, BRIDGE)
    assert found.text == expected
    assert expected in found.evidence


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the total?", "$10.45"),
        ("How much is the tax?", "0.95"),
        ("how much was the croissant", "2.50"),
        ("What is the date on this receipt?", "12/03/2024"),
    ],
)
def test_reads_a_receipt_line_by_line(question: str, expected: str):
    assert answer(question, RECEIPT).text == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("whats the price", "2,450 euros"),
        ("What’s the price?", "2,450 euros"),
        ("wheres the office", "Berlin"),
        ("whos the landlord", "Anna Schmidt"),
        ("what is the colour", "dark green"),
    ],
)
def test_questions_without_an_apostrophe(question: str, expected: str):
    text = "The price is 2,450 euros. The office is in Berlin. The landlord is Anna Schmidt."
    assert answer(question, f"{text} The colour is dark green.").text == expected


@pytest.mark.parametrize(
    "question", ["What is the capital of Mongolia?", "Who won the football match?"]
)
def test_says_when_the_text_does_not_answer(question: str):
    with pytest.raises(ExpertError, match="does not seem to answer"):
        answer(question, BRIDGE)


def test_shows_the_evidence(tmp_path: Path):
    call = call_of(
        QUESTION_ANSWERING.type, tmp_path, question="Who designed the bridge?", context=BRIDGE
    )
    first, evidence = text_of(reply(call, quiet)).split("\n\n")
    assert first == "Fritz Leonhardt"
    assert evidence.startswith("“It was designed")


@pytest.mark.parametrize(("question", "context"), [("", BRIDGE), ("Who?", " ")])
def test_needs_a_question_and_a_text(tmp_path: Path, question: str, context: str):
    with pytest.raises(InputError):
        reply(call_of(QUESTION_ANSWERING.type, tmp_path, question=question, context=context), quiet)
