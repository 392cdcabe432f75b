import pytest

from jarvis_desktop.assistant.talk.hands_free import parse_answer


@pytest.mark.parametrize(
    ("said", "means"),
    [
        ("Yes.", "yes"),
        ("yes yes", "yes"),
        ("Yes, please, go ahead.", "yes"),
        ("Okay, do it.", "yes"),
        ("Ja, gerne!", "yes"),
        ("好的，可以", "yes"),
        ("No.", "no"),
        ("No, thank you.", "no"),
        ("Don't!", "no"),
        ("Nein, bitte nicht", "no"),
        ("不要", "no"),
        ("Stop it, please", "stop"),
        ("Say that again", "repeat"),
        ("Wie bitte?", "repeat"),
        ("Please speak more slowly", "slower"),
        ("Langsamer", "slower"),
    ],
)
def test_clear_answers(said, means):
    assert parse_answer(said) == means


@pytest.mark.parametrize(
    "said",
    [
        "no yes",
        "yes no",
        "I do not think so",
        "please don't do it",
        "oh no, go back",
        "yes but not now",
    ],
)
def test_a_refusal_anywhere_is_a_no(said):
    assert parse_answer(said) == "no"


@pytest.mark.parametrize(
    "said",
    [
        "",
        "...",
        "yes delete everything",
        "yesterday",
        "maybe",
        "stop again",
        "it is sure to rain",
        "jarvis",
    ],
)
def test_anything_else_is_nothing(said):
    assert parse_answer(said) is None
