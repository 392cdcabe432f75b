from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.assistant.intake import MOST_LINKS, Intake
from jarvis_desktop.assistant.planning.mentions import urls
from jarvis_desktop.core.errors import InputError, UnavailableError
from tests.fakes import FakeStore, FakeWeb

CAT = "https://example.com/cat.png"
PAGE = "https://example.com/wiki/Cat_(animal)"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"Blur {CAT}.", [CAT]),
        (f"(see {CAT})", [CAT]),
        (f"What does “{PAGE}” say?", [PAGE]),
        (f"Read {PAGE}, then stop", [PAGE]),
        ("Read www.example.com/x?a=1&b=2!", ["https://www.example.com/x?a=1&b=2"]),
        ("Read HTTP://example.com", ["HTTP://example.com"]),
        (f"{CAT} and <{PAGE}>", [CAT, PAGE]),
        ("Blur cat.png and mail me at a@example.com", []),
    ],
)
def test_addresses_are_found_in_words(text, found):
    assert [item.text for item in urls(text)] == found


@pytest.fixture
def web() -> FakeWeb:
    return FakeWeb({CAT: ("cat.png", "a cat"), PAGE: ("Cat.html", "<p>cats</p>")})


@pytest.fixture
def store(tmp_path: Path) -> FakeStore:
    return FakeStore(tmp_path / "store")


async def test_a_file_takes_the_place_of_its_address(store, web):
    text, files = await Intake(store, web=web).linked(f"Blur {CAT}, read {PAGE}, and blur {CAT}.")
    assert text == "Blur cat.png, read Cat.html, and blur cat.png."
    assert [item.name for item in files] == ["cat.png", "Cat.html"]
    assert sorted(web.asked) == [CAT, PAGE]


async def test_words_without_addresses_stay(store, web):
    assert await Intake(store, web=web).linked("Blur cat.png") == ("Blur cat.png", ())
    assert not web.asked


async def test_nothing_is_fetched_where_nothing_may_be(store):
    with pytest.raises(InputError, match="the mode is offline"):
        await Intake(store).linked(f"Blur {CAT}")


async def test_what_cannot_be_had_is_told(store, web):
    with pytest.raises(UnavailableError, match="not found"):
        await Intake(store, web=web).linked("Blur https://example.com/dog.png")


async def test_so_many_addresses_are_refused(store, web):
    text = " ".join(f"https://example.com/{number}" for number in range(MOST_LINKS + 1))
    with pytest.raises(InputError, match="more than"):
        await Intake(store, web=web).linked(text)
    assert not web.asked
