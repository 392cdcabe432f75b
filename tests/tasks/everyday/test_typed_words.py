from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.everyday.typed_words import TYPED_WORDS, do_words, read
from tests.tasks.calls import FakeServices, call_of, quiet, text_of


async def say(asked: str, folder: Path) -> str:
    call = call_of(TYPED_WORDS.type, folder, asked=asked)
    return text_of(await do_words(call, quiet, FakeServices().services()))


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Count the words in: the quick brown fox", "4 words."),
        ("how many words are in this sentence: I like tea", "3 words."),
        ("how many characters are in “abc d”?", "5 characters."),
        ("how many r's are in strawberry", "“strawberry” has 3 letters r."),
        ("How many times does the letter s appear in the word Mississippi",
         "“Mississippi” has 4 letters s."),
        ("is Racecar a palindrome", "Yes, “Racecar” is the same from behind."),
        ("is “a nut for a jar of tuna” a palindrome?",
         "Yes, “a nut for a jar of tuna” is the same from behind."),
        ("is the word level2 a palindrome", "No, “level2” is not the same from behind."),
        ("reverse the word stressed", "desserts"),
        ("reverse the text: abc def", "fed cba"),
        ("what is lamp spelled backwards", "pmal"),
        ("spell stop backwards", "pots"),
        ("Make this uppercase: Hello World", "HELLO WORLD"),
        ("write “Hello” in small letters", "hello"),
        ("write hello world in capital letters", "HELLO WORLD"),
        ("title case: war and peace", "War And Peace"),
        ("put the following into lower case: ABC", "abc"),
        ("sort these names: Zoe, anna and Mark", "anna, Mark, Zoe"),
        ("sort the words alphabetically: pear apple fig", "apple, fig, pear"),
    ],
)  # fmt: skip
async def test_words_are_worked_on(asked: str, answer: str, tmp_path: Path):
    assert read(asked.lower()) == {}
    assert await say(asked, tmp_path) == answer


@pytest.mark.parametrize(
    "asked",
    ["write the report in capitals", "reverse the recording", "sort the table by name",
     "is it a palindrome of some kind", "how many words", "make it uppercase",
     "how many people are in the picture"],
)  # fmt: skip
async def test_other_requests_are_not_read(asked: str, tmp_path: Path):
    assert read(asked) is None
    with pytest.raises(InputError, match="which words"):
        await say(asked, tmp_path)
