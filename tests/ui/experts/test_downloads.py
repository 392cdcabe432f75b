"""The list of downloads on the page, and the mark in the side list."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.experts.downloads import Download, DownloadState
from jarvis_desktop.ui.experts.controller import DownloadMark
from jarvis_desktop.ui.experts.page import ExpertsPage
from tests.ui.experts.scene import PAINTER, TRANSLATOR, World, button, click, entries, said

MB = 1_000_000
FETCHING = Download(
    "llm", "gemma3:4b", DownloadState.FETCHING, 4000 * MB, 1000 * MB, 10.0 * MB, False
)
ASKING = Download("expert", "opus-en-fr", DownloadState.FETCHING, 300 * MB)
CHECKING = replace(ASKING, have=300 * MB, asking=False)
WAITING = Download("expert", "painter", size=5000 * MB)
PAUSED = Download("expert", "gated", DownloadState.PAUSED, 500 * MB, 200 * MB, asking=False)
FAILED = Download(
    "expert", "giant", DownloadState.FAILED, reason="The disk is full. Remove something."
)
DONE = Download("expert", "pickled", DownloadState.DONE, 400 * MB, 400 * MB)


class Held:
    """Keeps every fetch from its end until it is let go."""

    def __init__(self, world: World) -> None:
        self.go = asyncio.Event()
        fetch = world.weights.fetch

        async def held(expert, report, *, spared=()):
            report(0.4, "two fifths")
            world.weights.halves[expert.id] = expert.download_mb * MB * 2 // 5
            await self.go.wait()
            return await fetch(expert, report)

        world.weights.fetch = held  # type: ignore[method-assign]


@pytest.fixture
def held(world: World) -> Held:
    return Held(world)


def get(world: World, page: ExpertsPage, *experts) -> None:
    for expert in experts:
        world.engine.call(world.app.expert_manager.fetch, expert)


def wait(world: World, true: Callable[[], object]) -> None:
    world.qtbot.waitUntil(lambda: bool(true()))


def test_each_state_has_its_words_and_what_can_be_done(world: World) -> None:
    page = world.open("downloads")
    page.downloads.show_downloads((FETCHING, ASKING, WAITING, PAUSED, FAILED, DONE))
    shown = entries(page.downloads)
    assert said(shown["gemma3:4b"]).split("\n") == [
        "gemma3:4b",
        "LLM of Ollama",
        "Downloading",
        "1.0 GB of 4.0 GB · 10 MB a second · 5 min left",
    ]
    assert shown["gemma3:4b"].progress.value() == 250
    assert "Asking what there is to fetch" in said(shown["opus-en-fr"])
    assert shown["opus-en-fr"].progress.maximum() == 0
    assert said(shown["painter"]).endswith("Waits its turn\n5.0 GB")
    assert "200 MB of 500 MB" in said(shown["gated"])
    assert shown["gated"].progress.value() == 400
    assert "The disk is full. Remove something." in said(shown["giant"])
    doings = {
        name: [each.accessibleName() for each in entry.doings.findChildren(QPushButton)]
        for name, entry in shown.items()
    }
    assert doings == {
        "gemma3:4b": ["Pause gemma3:4b", "Cancel gemma3:4b"],
        "opus-en-fr": ["Pause opus-en-fr", "Cancel opus-en-fr"],
        "painter": ["Pause painter", "Cancel painter"],
        "gated": ["Resume gated", "Cancel gated"],
        "giant": ["Retry giant", "Cancel giant"],
        "pickled": ["Take pickled off the list"],
    }
    page.downloads.show_downloads((CHECKING,))
    assert "checking that it is whole" in said(page.downloads)
    page.downloads.show_downloads((replace(FETCHING, speed=0.2 * MB),))
    assert "4.2 h left" in said(page.downloads)
    page.downloads.show_downloads((replace(FETCHING, have=3900 * MB),))
    assert "10 s left" in said(page.downloads)


def test_with_nothing_in_line_the_part_says_what_it_is_for(world: World) -> None:
    page = world.open("downloads")
    assert "Nothing is being downloaded" in said(page.downloads)
    click(page.downloads, "Look for experts")
    assert page.finding.isVisible()


def test_one_is_paused_and_gone_on_with_by_keyboard(world: World, held: Held) -> None:
    page = world.open("downloads")
    get(world, page, TRANSLATOR)
    wait(world, lambda: "120 MB of 300 MB" in said(page.downloads))
    pause = button(page.downloads, "Pause opus-en-fr")
    pause.setFocus()
    QTest.keyClick(pause, Qt.Key.Key_Space)
    wait(world, lambda: "Paused" in said(page.downloads))
    focused = page.focusWidget()
    assert focused
    assert focused.accessibleName() == "Resume opus-en-fr"
    QTest.keyClick(focused, Qt.Key.Key_Space)
    wait(world, lambda: "Downloading" in said(page.downloads))
    assert page.tabs["downloads"].text() == "Downloads (1)"
    world.engine.call(held.go.set)
    wait(world, lambda: "Ready" in said(page.downloads))
    assert page.tabs["downloads"].text() == "Downloads"
    click(page.downloads, "Clear those that are ready")
    wait(world, lambda: "Nothing is being downloaded" in said(page.downloads))


def test_several_wait_in_line(world: World, held: Held) -> None:
    page = world.open("downloads")
    experts = [replace(TRANSLATOR, id=name) for name in ("a", "b", "c")]
    world.house.catalogue.experts = (*world.house.catalogue.experts, *experts)
    get(world, page, *experts)
    wait(world, lambda: "Waits its turn" in said(page.downloads))
    assert list(entries(page.downloads)) == ["a", "b", "c"]


def test_cancelling_one_of_which_much_is_here_asks_first(world: World, held: Held) -> None:
    page = world.open("downloads")
    get(world, page, TRANSLATOR)
    wait(world, lambda: "120 MB of 300 MB" in said(page.downloads))
    entry = entries(page.downloads)["opus-en-fr"]
    click(entry, "Cancel opus-en-fr")
    assert "The 120 MB that arrived are deleted" in said(entry)
    click(entry, "Not now")
    click(entry, "Cancel opus-en-fr")
    click(entry, "Cancel it")
    wait(world, lambda: "Nothing is being downloaded" in said(page.downloads))
    assert world.weights.halves == {}


def test_what_ollama_keeps_is_not_said_to_be_deleted(world: World) -> None:
    page = world.open("downloads")
    page.downloads.show_downloads((FETCHING,))
    entry = entries(page.downloads)["gemma3:4b"]
    click(entry, "Cancel gemma3:4b")
    assert "Ollama keeps the 1.0 GB that arrived until it is restarted" in said(entry)
    assert "deleted" not in said(entry)


def test_one_that_failed_is_tried_again(world: World) -> None:
    world.weights.error = UnavailableError("The Hub cannot be reached.", hint="Try again later.")
    page = world.open("downloads")
    get(world, page, TRANSLATOR)
    wait(world, lambda: "The Hub cannot be reached." in said(page.downloads))
    world.weights.error = None
    click(page.downloads, "Retry opus-en-fr")
    wait(world, lambda: "Ready" in said(page.downloads))
    click(page.downloads, "Take opus-en-fr off the list")
    wait(world, lambda: "Nothing is being downloaded" in said(page.downloads))


def test_what_an_earlier_run_left_is_there_as_paused(world: World, held: Held) -> None:
    world.weights.halves = {"painter": 1000 * MB}
    page = world.open("more")  # it writes where the list is kept
    kept = world.app.paths.data / "downloads.json"
    world.close()
    world.pages.clear()
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text('[{"kind": "expert", "name": "painter", "reason": ""}]', "utf-8")
    page = world.open("downloads")
    wait(world, lambda: "1.0 GB of 5.0 GB" in said(page.downloads))
    assert button(page.downloads, "Resume painter")


def test_the_mark_shows_that_something_is_fetched(world: World, held: Held) -> None:
    page = world.open("downloads")
    place = QPushButton("Experts and LLMs")
    world.qtbot.addWidget(place)
    place.resize(240, 36)
    place.show()
    mark = DownloadMark(place, page.controller.session)
    assert not mark.isVisible()
    get(world, page, PAINTER)
    wait(world, mark.isVisible)
    assert place.accessibleDescription() == "1 download under way"
    assert not mark.grab().isNull()
    world.engine.call(held.go.set)
    wait(world, lambda: not mark.isVisible())
    assert place.accessibleDescription() == ""
