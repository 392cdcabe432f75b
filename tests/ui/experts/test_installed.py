"""The experts on this computer: listed, sorted, searched, tested and removed."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.expert import Expert
from tests.fake_house import GAMER, kept
from tests.ui.experts.scene import (
    ALL,
    PAINTER,
    STEERED,
    TRANSLATOR,
    World,
    button,
    click,
    entries,
    said,
)

DAY = 86_400
UNKNOWN = Expert("org--gone", "", repo="org/gone")


@pytest.fixture(autouse=True)
def there(world: World, tmp_path: Path) -> None:
    now = time.time()
    world.weights.kept = list(
        kept(
            tmp_path / "experts",
            (TRANSLATOR, 300, now),
            (PAINTER, 5000, now - 3 * DAY),
            (UNKNOWN, 100, now - 90 * DAY),
        )
    )
    world.weights.at_work = frozenset({"painter"})


def test_each_is_listed_with_what_a_person_wants_to_know(world: World) -> None:
    page = world.open("installed")
    shown = entries(page.installed)
    assert list(shown) == ["opus-en-fr", "org--gone", "painter"]
    assert said(shown["opus-en-fr"]).split("\n") == [
        "opus-en-fr",
        "Translate",
        "300 MB · used today · licence Apache-2.0 · English to French · needs 1.0 GB of memory",
    ]
    assert "At work" in said(shown["painter"])
    assert "used 3 days ago" in said(shown["painter"])
    assert "licence not known" in said(shown["org--gone"])
    assert "used 3 months ago" in said(shown["org--gone"])
    assert page.tabs["installed"].text() == "On this computer (3)"


def test_on_a_graphics_card_its_memory_counts(world: World) -> None:
    page = world.open("installed", hardware=GAMER)
    assert "of the graphics card" in said(entries(page.installed)["painter"])


def test_they_are_sorted_and_searched(world: World) -> None:
    page = world.open("installed")
    part = page.installed
    orders = {"size": "painter", "used": "org--gone", "task": "painter", "name": "opus-en-fr"}
    for key, first in orders.items():
        part.sort.choose(key)
        part.sort.activated.emit(part.sort.currentIndex())
        assert next(iter(entries(part))) == first, key
    part.search.setText("french")
    assert list(entries(part)) == ["opus-en-fr"]
    part.search.setText("nothing like that")
    assert entries(part) == {}
    assert "No expert here matches that" in said(part)


def test_one_is_removed_after_a_question_that_can_be_refused(world: World) -> None:
    page = world.open("installed")
    entry = entries(page.installed)["opus-en-fr"]
    click(entry, "Remove opus-en-fr")
    assert "This frees 300 MB on the disk" in said(entry)
    QTest.keyClick(button(entry, "Not now"), Qt.Key.Key_Space)
    assert not entry.asks
    assert len(world.weights.kept) == 3
    click(entry, "Remove opus-en-fr")
    click(entry, "Remove it")
    world.settle(page)
    assert [each.id for each in world.weights.kept] == ["painter", "org--gone"]
    assert list(entries(page.installed)) == ["org--gone", "painter"]
    assert world.told == [("opus-en-fr is removed; 300 MB are free again.", True)]


def test_one_at_work_is_not_removed(world: World) -> None:
    page = world.open("installed")
    remove = button(entries(page.installed)["painter"], "Remove painter")
    assert (remove.isEnabled(), remove.toolTip()) == (False, "It is at work now")


def test_one_that_came_to_work_meanwhile_stays_and_says_why(world: World) -> None:
    page = world.open("installed")
    entry = entries(page.installed)["opus-en-fr"]
    click(entry, "Remove opus-en-fr")
    world.weights.at_work = frozenset({"opus-en-fr"})
    click(entry, "Remove it")
    world.settle(page)
    assert "opus-en-fr is at work." in said(entry)


def test_what_another_is_built_upon_says_so(world: World, tmp_path: Path) -> None:
    world.weights.kept += kept(tmp_path / "experts", (STEERED, 700, time.time()))
    world.weights.at_work = frozenset()
    page = world.open("installed")
    shown = entries(page.installed)
    assert "works with painter" in said(shown["steered"])
    click(shown["painter"], "Remove painter")
    assert "steered does not work without it." in said(shown["painter"])


def test_its_folder_is_opened(world: World, tmp_path: Path) -> None:
    opened: list[Path] = []
    world.actions.open_file.connect(opened.append)
    page = world.open("installed")
    click(page.installed, "Open the folder of opus-en-fr")
    assert opened == [tmp_path / "experts" / "opus-en-fr"]


def test_one_is_tried_and_says_what_came_of_it(world: World, monkeypatch) -> None:
    page = world.open("installed")
    seen = []

    async def run(candidate, call, report) -> list[Artifact]:
        seen.append((candidate.expert.id, call.options, call.text("text")))
        report(0.5, "half")
        return [text_artifact("Le chat s'est assis.")]

    monkeypatch.setattr(world.house.local, "run", run)
    entry = entries(page.installed)["opus-en-fr"]
    click(entry, "Test opus-en-fr")
    world.settle(page)
    assert "Le chat" in entry.answer.toPlainText()
    assert entry.answer.toPlainText().startswith("It works. It took")
    assert seen[0][:2] == ("opus-en-fr", {"language": "French"})
    assert not entry.progress.isVisible()


def test_one_that_fails_its_test_says_why_and_one_that_lasts_can_be_stopped(
    world: World, monkeypatch
) -> None:
    import asyncio

    page = world.open("installed")

    async def fails(candidate, call, report) -> list[Artifact]:
        raise ExpertError("It is damaged.", hint="Download it again.")

    async def lasts(candidate, call, report) -> list[Artifact]:
        await asyncio.sleep(60)
        return []

    entry = entries(page.installed)["opus-en-fr"]
    monkeypatch.setattr(world.house.local, "run", fails)
    click(entry, "Test opus-en-fr")
    world.settle(page)
    assert "It is damaged. Download it again." in said(entry)
    monkeypatch.setattr(world.house.local, "run", lasts)
    click(entry, "Test opus-en-fr")
    assert button(entry, "Test opus-en-fr").text() == "Stop"
    click(entry, "Test opus-en-fr")
    world.settle(page)
    assert "It was stopped." in said(entry)


def test_where_there_is_none_the_page_says_what_experts_are(world: World) -> None:
    world.weights.kept.clear()
    page = world.open("installed")
    assert "No expert is on this computer yet" in said(page.installed)
    click(page.installed, "Look for experts")
    assert page.finding.isVisible()
    assert not page.installed.isVisible()


def test_tasks_without_anything_small_have_no_test(world: World, tmp_path: Path) -> None:
    films = Expert("films", "video-classification", repo="a/films", files=("*.json",))
    world.weights.kept = list(kept(tmp_path / "experts", (films, 100, time.time())))
    page = world.open("installed", experts=(*ALL, films))
    doings = entries(page.installed)["films"].doings.findChildren(QPushButton)
    names = [each.accessibleName() for each in doings if each.isVisible()]
    assert names == ["Open the folder of films", "Remove films"]
