from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.everyday.lists import LISTS, manage_lists, question, read
from tests.tasks.calls import FakeServices, call_of, quiet, text_of


async def say(services: FakeServices, folder: Path, *requests: str) -> str:
    """What is answered to the last of some requests."""
    answer = ""
    for request in requests:
        call = call_of(LISTS.type, folder, asked=request)
        answer = text_of(await manage_lists(call, quiet, services.services()))
    return answer


@pytest.mark.parametrize(
    ("requests", "answer"),
    [
        (["Add milk, eggs and bread to my shopping list"],
         "On the list “shopping” now: milk, eggs, bread."),
        (["put butter on the grocery list", "what's on my shopping list?"],
         "On the list “shopping”:\n- butter"),
        (["add tea to my shopping list", "what do I need to buy"],
         "On the list “shopping”:\n- tea"),
        (["add Tea to my shopping list", "put tea on my shopping list"],
         "That is on the list “shopping” already."),
        (["add milk and eggs to my shopping list", "remove Milk from my shopping list"],
         "Removed from the list “shopping”: milk. On the list “shopping” now: eggs."),
        (["add milk to my shopping list", "take milk and rum off my shopping list"],
         "Removed from the list “shopping”: milk. Not on the list “shopping”: rum. "
         "The list “shopping” is empty."),
        (["add a, b, c, d, e, f, g, h, i, j to my reading list", "add k to my reading list"],
         "On the list “reading” now: …, b, c, d, e, f, g, h, i, j, k."),
        (["cross rum off the shopping list"], "Not on the list “shopping”: rum."),
        (["add call Ann to my to-do list", "what do I have to do today"],
         "On the list “to-do”:\n- call Ann"),
        (["Take a note: the boiler's code is 4711, and it is old", "read me my notes"],
         "On the list “notes”:\n- the boiler's code is 4711, and it is old"),
        (["note to self: call Anna back", "jot down that it rains", "show my notes"],
         "On the list “notes”:\n- call Anna back\n- it rains"),
        (["make a note: buy ink", "write down: buy paper", "what are my notes"],
         "On the list “notes”:\n- buy ink\n- buy paper"),
        (["add to my packing list: socks, hat", "my packing list: scarf",
          "show me my packing list please"], "On the list “packing”:\n- socks\n- hat\n- scarf"),
        (["add socks to my holiday list", "add milk to my shopping list", "what lists do I have"],
         "- holiday (1)\n- shopping (1)"),
        (["which lists are there"], "There is no list yet. Say “add milk to my shopping list”."),
        (["add milk and tea to my shopping list", "clear my shopping list"],
         "Removed 2 entries from the list “shopping”."),
        (["empty the to-do list"], "The list “to-do” is empty."),
        (["remove everything from my shopping list"], "The list “shopping” is empty."),
    ],
)  # fmt: skip
async def test_lists_are_kept_and_shown(requests: list[str], answer: str, tmp_path: Path):
    assert await say(FakeServices(), tmp_path, *requests) == answer


@pytest.mark.parametrize(
    "words",
    ["add the numbers to the list", "what is in the price list", "show me a list of the files",
     "write a note to my landlord", "write down the poem", "list the files", "add 5 and 7",
     "delete all files", "put the text into a pdf",
     "add milk to my shopping list, eggs to my to-do list",
     "add milk to my shopping list and show me the list"],
)  # fmt: skip
async def test_other_words_are_about_no_list(words: str, tmp_path: Path):
    assert read(words) is None
    with pytest.raises(InputError, match="which list"):
        await say(FakeServices(), tmp_path, words)


def test_only_emptying_a_list_is_asked_about(tmp_path: Path):
    asked = [
        question(call_of(LISTS.type, tmp_path, asked=words))
        for words in ("clear my notes", "add milk to my shopping list", "hello")
    ]
    assert asked == ["Empty the list “notes”?", "", ""]
