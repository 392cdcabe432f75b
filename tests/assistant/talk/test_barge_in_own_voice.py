import pytest

from jarvis_desktop.assistant.talk.barge_in import (
    foreign_words,
    from_first_foreign_word,
    without_echo,
)

SPOKEN = "The picture shows a red bicycle in front of a house."


@pytest.mark.parametrize(
    ("heard", "foreign"),
    [
        ("", []),
        ("The picture shows a red bicycle", []),
        ("the pictures show", []),
        ("front of the houses", []),
        ("stop talking now", ["stop", "talking", "now"]),
        ("a red bicycle wait please", ["wait", "please"]),
        ("Bitte warte!", ["bitte", "warte"]),
    ],
)
def test_words_that_are_not_its_own(heard, foreign):
    assert foreign_words(heard, SPOKEN) == foreign


@pytest.mark.parametrize(
    ("heard", "left"),
    [
        ("a red bicycle what time is it", "what time is it"),
        ("a House. What time is it?", "What time is it?"),
        ("What time is it?", "What time is it?"),
        ("the picture", "picture"),
        ("house", "house"),
        ("", ""),
        ("red house paint it", "house paint it"),
    ],
)
def test_what_was_spoken_before_the_key_is_left_out(heard, left):
    assert without_echo(heard, SPOKEN) == left


def test_what_it_said_for_longer_is_left_out_up_to_the_first_other_word():
    assert from_first_foreign_word("the picture shows a house stop it", SPOKEN) == "stop it"
    assert from_first_foreign_word("the picture shows", SPOKEN) == "the picture shows"
