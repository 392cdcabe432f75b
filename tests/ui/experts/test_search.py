"""Experts to get: searched as one types, explained, and put in line."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.experts.downloads import DownloadState
from jarvis_desktop.ui.experts import search as finding
from jarvis_desktop.ui.experts.page import ExpertsPage
from jarvis_desktop.ui.experts.search import FEW, SHOWN
from tests.experts.hub.listed import entry, index, item
from tests.fake_house import GAMER
from tests.hub import running_hub
from tests.ui.experts.scene import ALL, PAINTER, TRANSLATOR, World, button, click, entries, said


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "TYPING_PAUSE_MS", 0)


def search(world: World, page: ExpertsPage, words: str) -> list[str]:
    page.finding.filters.words.setText(words)
    return found(world, page)


def found(world: World, page: ExpertsPage) -> list[str]:
    with world.qtbot.waitSignal(page.controller.found):
        pass
    world.settle(page)
    return list(entries(page.finding))


def choose(world: World, page: ExpertsPage, name: str, value: str) -> list[str]:
    choice = getattr(page.finding.filters, name)
    choice.choose(value)
    choice.activated.emit(choice.currentIndex())
    return found(world, page)


def in_line(world: World) -> list[tuple[str, DownloadState]]:
    return [(each.name, each.state) for each in world.app.expert_manager.downloads.listed]


def test_what_fits_comes_first_and_each_says_how_well(world: World) -> None:
    page = world.open("more")
    shown = entries(page.finding)
    groups = [["opus-en-fr", "gated", "pickled"], ["painter", "giant"], ["served"], ["steered"]]
    assert list(shown) == [name for group in groups for name in group]
    assert "Paint and change pictures" in said(page.finding)
    assert "Fits this computer" in said(shown["opus-en-fr"])
    assert "300 MB · licence Apache-2.0 · English to French · 1,200 downloads a month" in said(
        shown["opus-en-fr"]
    )
    assert "Runs slowly here" in said(shown["painter"])
    assert "about 5.0 GB" in said(shown["painter"])
    assert "Too large" in said(shown["giant"])
    assert "needs 100 GB of memory, and experts may have 13 GB" in said(shown["giant"])
    assert "Runs elsewhere" in said(shown["served"])
    assert "works with painter" in said(shown["steered"])
    assert not shown["served"].doings.isVisible()


def test_with_a_graphics_card_more_fits(world: World) -> None:
    page = world.open("more", hardware=GAMER)
    assert "Fits the graphics card" in said(entries(page.finding)["painter"])


def test_it_searches_as_one_types(world: World) -> None:
    page = world.open("more")
    assert search(world, page, "french translate") == ["opus-en-fr"]
    assert page.finding.state.text() == "1 expert"
    assert search(world, page, "nothing like it") == []
    assert "Nothing was found" in said(page.finding)
    assert "read the Hub’s list" in said(page.finding)


def test_what_is_sought_can_be_narrowed(world: World) -> None:
    page = world.open("more")
    assert choose(world, page, "task", "summarization") == ["gated", "pickled"]
    assert choose(world, page, "licence", "mit") == ["pickled"]
    assert choose(world, page, "task", "") == ["pickled", "giant", "served"]
    assert choose(world, page, "licence", "") != []
    assert "giant" not in choose(world, page, "largest", "500")
    assert choose(world, page, "language", "fr") == ["opus-en-fr"]
    choose(world, page, "language", "")
    choose(world, page, "largest", "0")
    assert choose(world, page, "sort", "small")[0] == "opus-en-fr"
    assert choose(world, page, "sort", "downloads")[0] == "opus-en-fr"
    page.finding.filters.fits.setChecked(True)
    assert "giant" not in found(world, page)


def test_one_is_put_in_line_with_what_it_is_built_upon(world: World) -> None:
    page = world.open("more")
    steered = entries(page.finding)["steered"]
    click(steered, "Download steered · about 5.7 GB")
    world.qtbot.waitUntil(
        lambda: in_line(world) == [("painter", DownloadState.DONE), ("steered", DownloadState.DONE)]
    )
    assert {each.id for each in world.weights.fetched} == {"painter", "steered"}
    world.qtbot.waitUntil(lambda: "On this computer" in said(steered))
    assert not steered.doings.isVisible()


def test_the_line_of_one_that_failed_says_why_and_tries_again(world: World) -> None:
    world.weights.error = UnavailableError("The Hub cannot be reached.")
    page = world.open("more")
    line = entries(page.finding)["opus-en-fr"]
    click(line, "Download opus-en-fr")
    world.qtbot.waitUntil(lambda: in_line(world) == [("opus-en-fr", DownloadState.FAILED)])
    world.qtbot.waitUntil(lambda: "The Hub cannot be reached." in said(line))
    world.weights.error = None
    click(line, "Retry opus-en-fr")
    world.qtbot.waitUntil(lambda: in_line(world) == [("opus-en-fr", DownloadState.DONE)])
    world.qtbot.waitUntil(lambda: "On this computer" in said(line))
    assert "cannot be reached" not in said(line)


def test_what_is_too_large_is_asked_about(world: World) -> None:
    page = world.open("more")
    giant = entries(page.finding)["giant"]
    click(giant, "Download giant")
    world.settle(page)
    assert "It is too large for this computer" in said(giant)
    click(giant, "Not now")
    assert in_line(world) == []
    click(giant, "Download giant")
    world.settle(page)
    click(giant, "Download anyway")
    world.qtbot.waitUntil(lambda: in_line(world) == [("giant", DownloadState.FAILED)])


def test_a_pickle_and_what_would_be_deleted_are_asked_about(world: World) -> None:
    world.weights.gone = ("old-one",)
    page = world.open("more")
    pickled = entries(page.finding)["pickled"]
    click(pickled, "Download pickled")
    world.settle(page)
    assert "a format that can contain code" in said(pickled)
    assert "these are deleted: old-one." in said(pickled)
    click(pickled, "Download anyway")
    world.qtbot.waitUntil(lambda: in_line(world) == [("pickled", DownloadState.DONE)])


def test_a_gated_one_says_what_to_do(world: World, monkeypatch) -> None:
    opened: list[QUrl] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)
    page = world.open("more")
    gated = entries(page.finding)["gated"]
    assert "Terms to accept" in said(gated)
    click(gated, "Download gated")
    world.settle(page)
    assert "save your Hub key in the settings" in said(gated)
    click(gated, "Open its page")
    assert opened == [QUrl("https://huggingface.co/someone/gated")]
    click(gated, "Download anyway")
    world.qtbot.waitUntil(lambda: in_line(world) == [("gated", DownloadState.DONE)])


def test_offline_everything_can_be_read_and_nothing_got(world: World) -> None:
    page = world.open("more", mode=Mode.OFFLINE)
    assert "nothing is fetched" in said(page.finding.offline) or page.finding.offline.isVisible()
    assert not button(page.finding, "Download opus-en-fr").isEnabled()
    assert not page.finding.hub.act.isEnabled()


def test_a_budget_that_would_not_do_is_said(world: World, monkeypatch) -> None:
    page = world.open("more")

    def refuse(expert: object, *, spared: object = ()) -> None:
        raise UnavailableError("It takes 5.0 GB, and experts may take 1.0 GB in all.")

    monkeypatch.setattr(world.weights, "displaced", refuse)
    painter = entries(page.finding)["painter"]
    click(painter, "Download painter")
    world.settle(page)
    assert "experts may take 1.0 GB in all" in said(painter)


def test_the_hub_is_searched_where_its_list_was_read(world: World) -> None:
    page = world.open("more")
    index(
        world.house.paths.hub_index,
        entry("org/moods", cardData={"summary": "Tells moods."}),
        entry("org/strange", tags=["custom_code"], cardData={"summary": "Tells moods oddly."}),
    )
    assert search(world, page, "moods") == ["org/moods", "org/strange"]
    shown = entries(page.finding)
    assert "2 experts of the Hugging Face Hub" in page.finding.hub.said.text()
    assert "Cannot run here yet" in said(shown["org/strange"])
    assert not shown["org/strange"].doings.isVisible()
    assert button(shown["org/moods"], "Download org--moods").isEnabled()


def test_the_list_of_the_hub_is_read(world: World) -> None:
    with running_hub(listed=[item("org/moods", cardData={"summary": "Tells moods."})]) as hub:
        page = world.open("more", endpoint=hub.address)
        click(page.finding, "Read the list")
        assert page.finding.hub.act.text() == "Cancel"
        world.qtbot.waitUntil(page.finding.hub.progress.isVisible)
        world.qtbot.waitUntil(lambda: "refresh" not in page.controller.jobs)
        world.settle(page)
        assert "1 expert of the Hugging Face Hub" in page.finding.hub.said.text()
        assert page.finding.hub.act.text() == "Refresh the list"
        assert search(world, page, "moods") == ["org/moods"]


def test_reading_the_list_can_be_cancelled(world: World) -> None:
    with running_hub(hold_list=0) as hub:
        page = world.open("more", endpoint=hub.address)
        click(page.finding, "Read the list")
        assert hub.held.wait(60)
        click(page.finding, "Stop reading the list")
        world.qtbot.waitUntil(lambda: "refresh" not in page.controller.jobs)
        assert "What was read is kept." in said(page.finding.hub)
        assert not page.finding.hub.progress.isVisible()


def test_two_thousand_are_shown_at_once_and_more_on_demand(world: World) -> None:
    many = [replace(TRANSLATOR, id=f"expert-{number}") for number in range(2000)]
    page = world.open("more", experts=many)
    assert len(entries(page.finding)) == FEW, "of one aim, if nothing is sought"
    QTest.keyClick(button(page.finding, "Translate and summarise: Show 197"), Qt.Key.Key_Space)
    assert len(entries(page.finding)) == FEW + SHOWN
    search(world, page, "translate")
    hits = world.app.expert_manager.search(page.finding.filters.sought(limit=2000))
    assert len(hits) == 2000
    begin = time.thread_time()
    page.controller.found.emit(page.finding.filters.sought(limit=2000), hits, 0)
    passed = time.thread_time() - begin
    assert len(entries(page.finding)) == SHOWN
    assert passed < 0.5
    QTest.keyClick(button(page.finding, "Show more"), Qt.Key.Key_Space)
    shown = list(entries(page.finding))
    assert shown[SHOWN] == f"expert-{SHOWN}"
    assert len(shown) == 2 * SHOWN
    focused = page.focusWidget()
    assert focused
    assert focused.accessibleName().startswith(f"Download expert-{SHOWN} ")


def test_only_what_was_sought_last_is_shown(world: World) -> None:
    page = world.open("more")
    for words in ("p", "pa", "pai", "painter"):
        page.finding.filters.words.setText(words)
        page.finding.search()
    world.qtbot.waitUntil(lambda: "search" not in page.controller.jobs)
    world.settle(page)
    assert next(iter(entries(page.finding))) in ("painter", "steered")
    assert "opus-en-fr" not in entries(page.finding)


def test_what_is_here_is_marked(world: World, tmp_path: Path) -> None:
    from tests.fake_house import kept

    world.weights.kept = list(kept(tmp_path / "experts", (PAINTER, 5000, 0.0)))
    page = world.open("more", experts=ALL)
    assert "On this computer" in said(entries(page.finding)["painter"])
