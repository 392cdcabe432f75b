from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jarvis_desktop.assistant.planning.request_parser import find_urls
from jarvis_desktop.assistant.request_reader import MAX_LINKS, AttachmentIntake
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.context import current_note
from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.core.turn import Request
from tests.fake_web import FakeWeb
from tests.fakes import FakeStore

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
    assert [item.text for item in find_urls(text)] == found


@pytest.fixture
def web() -> FakeWeb:
    return FakeWeb({CAT: ("cat.png", "a cat"), PAGE: ("Cat.html", "<p>cats</p>")})


@pytest.fixture
def store(tmp_path: Path) -> FakeStore:
    return FakeStore(tmp_path / "store")


async def test_files_are_fetched_by_their_addresses_once(store, web):
    found = await AttachmentIntake(store, web=web).linked(
        f"Blur {CAT}, read {PAGE}, and blur {CAT}."
    )
    assert {url: item.name for url, item in found.items()} == {CAT: "cat.png", PAGE: "Cat.html"}
    assert web.asked == [CAT, PAGE]


async def test_words_without_addresses_ask_for_nothing(store, web):
    assert await AttachmentIntake(store, web=web).linked("Blur cat.png") == {}
    assert not web.asked


async def test_nothing_is_fetched_where_nothing_may_be(store):
    with pytest.raises(InputError, match="the mode is offline"):
        await AttachmentIntake(store).linked(f"Blur {CAT}")


async def test_the_mode_of_the_moment_counts(store, web):
    online = False
    intake = AttachmentIntake(store, web=web, online=lambda: online)
    with pytest.raises(InputError, match="the mode is offline"):
        await intake.linked(f"Blur {CAT}")
    assert not web.asked
    online = True
    assert await intake.linked(f"Blur {CAT}")


async def test_what_cannot_be_had_is_told(store, web):
    with pytest.raises(UnavailableError, match="not found"):
        await AttachmentIntake(store, web=web).linked("Blur https://example.com/dog.png")


async def test_all_are_fetched_at_once_and_each_is_told(store):
    class Together(FakeWeb):
        async def fetch(self, url: str, folder: Path) -> Path:
            await both.wait()
            return await super().fetch(url, folder)

    def note(text: str) -> None:
        notes.append(text)
        if len(notes) == 2:
            both.set()

    notes: list[str] = []
    both = asyncio.Event()
    current_note.set(note)
    web = Together({CAT: ("cat.png", "a cat"), PAGE: ("Cat.html", "<p>cats</p>")})
    assert len(await AttachmentIntake(store, web=web).linked(f"Blur {CAT}, read {PAGE}")) == 2
    assert notes == [f"Downloading {CAT} …", f"Downloading {PAGE} …"]


async def test_one_that_fails_ends_the_others_with_its_own_sentence(store):
    class Slow(FakeWeb):
        async def fetch(self, url: str, folder: Path) -> Path:
            if url == CAT:
                await asyncio.Event().wait()
            return await super().fetch(url, folder)

    with pytest.raises(UnavailableError, match="not found"):
        await AttachmentIntake(store, web=Slow()).linked(f"Blur {CAT} and {PAGE}")
    assert not list(store.root.iterdir())


async def test_files_of_one_name_are_told_apart(store, web):
    urls = [f"https://{host}.example.com/Cat.PNG" for host in "abc"]
    web.pages |= {url: ("Cat.PNG", f"cat {url}") for url in urls}
    given = (Artifact(Kind.IMAGE, path=Path("cat.png")), Artifact(Kind.IMAGE, path=Path("dog.png")))
    found = await AttachmentIntake(store, web=web).linked(" and ".join(urls), given)
    assert [found[url].title for url in urls] == ["Cat-2.PNG", "Cat-3.PNG", "Cat-4.PNG"]
    read = [item.path.read_text() for item in found.values() if item.path]
    assert read == [f"cat {url}" for url in urls]


async def test_the_words_tell_an_address_from_a_file_that_was_given(house, tmp_path):
    mine = tmp_path / "a.txt"
    mine.write_text("mine")
    house.web.pages["https://example.com/a.txt"] = ("a.txt", "theirs")
    turn = await house.handle(
        Request("Compare a.txt with https://example.com/a.txt", files=(mine,))
    )
    ((words, context),) = house.planner.asked
    assert words == "Compare a.txt with a-2.txt"
    assert [item.name for item in context.attachments] == ["a.txt", "a-2.txt"]
    assert "Downloading https://example.com/a.txt …" in turn.notes


async def test_so_many_addresses_are_refused(store, web):
    text = " ".join(f"https://example.com/{number}" for number in range(MAX_LINKS + 1))
    with pytest.raises(InputError, match="more than"):
        await AttachmentIntake(store, web=web).linked(text)
    assert not web.asked


async def test_the_planner_reads_a_file_s_name_in_the_place_of_its_address(house):
    house.web.pages["https://www.example.com/a.txt"] = ("a.txt", "words")
    turn = await house.handle(Request("Read www.example.com/a.txt aloud"))
    assert turn.text == "Read www.example.com/a.txt aloud"
    ((words, context),) = house.planner.asked
    assert words == "Read a.txt aloud"
    assert [item.name for item in context.attachments] == ["a.txt"]


async def test_addresses_in_a_long_pasted_text_are_content(house):
    pasted = "Words upon words. " * 2000 + "It all stands at https://example.com/a.txt as they say."
    await house.handle(Request(f"What is this about?\n{pasted}"))
    assert not house.web.asked
