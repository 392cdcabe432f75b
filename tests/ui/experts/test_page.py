"""The page as a whole: its figures, the keyboard, names for screen readers, and hostile names."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import Qt as GuiQt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QCheckBox,
    QComboBox,
    QLineEdit,
    QPushButton,
    QWidget,
)

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.placement import MB, MemorySize
from jarvis_desktop.experts.downloads import Download, DownloadState
from jarvis_desktop.ui.experts import controller as desks
from jarvis_desktop.ui.experts import formatting
from jarvis_desktop.ui.experts.gauges import DOT
from jarvis_desktop.ui.experts.page import PARTS
from jarvis_desktop.ui.widgets import layout
from tests.fake_house import GAMER, FakeProbe, kept
from tests.ui.experts.scene import ALL, PAINTER, TRANSLATOR, World, entries, said
from tests.ui.scene import HOSTILE


@pytest.fixture
def there(world: World, tmp_path: Path) -> None:
    world.weights.kept = list(
        kept(tmp_path / "experts", (TRANSLATOR, 300, time.time()), (PAINTER, 5000, 0.0))
    )


@pytest.mark.usefixtures("there")
def test_the_disk_and_the_memory_are_shown_with_figures(world: World) -> None:
    world.weights.budget = 20_000 * MB
    page = world.open("installed", hardware=GAMER)
    world.house.local.taken = MemorySize(2_000 * MB, 3_000 * MB)
    page.controller._measure()
    world.settle(page)
    shown = said(page.gauges)
    assert "Experts 5.3 GB of 20 GB" in shown
    assert "Experts 2.0 GB of 26 GB" in shown
    assert "NVIDIA GeForce RTX 4070" in shown
    assert "Experts 3.0 GB of 11 GB" in shown
    assert "7.0 GB free" in shown
    assert "Other programs 2.0 GB" in shown
    assert "Experts 3.0 GB of 11 GB" in page.gauges.card.bar.accessibleDescription()
    assert not page.gauges.grab().isNull()
    for way in (Qt.LayoutDirection.RightToLeft, Qt.LayoutDirection.LeftToRight):
        page.gauges.setLayoutDirection(way)
        QApplication.processEvents()
        key = page.gauges.disk._keys[0]
        right = way == Qt.LayoutDirection.RightToLeft
        dot = key.width() - key.figure.geometry().right() - 1 if right else key.figure.x()
        assert dot > DOT, "the dot stands beside the figure"


@pytest.mark.usefixtures("there")
def test_without_a_budget_what_is_free_is_the_measure(world: World) -> None:
    page = world.open("installed")
    assert said(page.gauges).split("\n")[1] == "Experts 5.3 GB"
    assert not page.gauges.card.isVisible()


def test_the_memory_is_looked_at_only_while_the_page_is_shown(world: World, monkeypatch) -> None:
    monkeypatch.setattr(desks, "MEMORY_INTERVAL_MS", 5)
    page = world.open("installed")
    probe = world.house.local.probe
    assert isinstance(probe, FakeProbe)
    world.qtbot.waitUntil(lambda: probe.asked > 3)
    page.leave()
    world.settle(page)
    before = probe.asked
    world.qtbot.wait(50)
    assert probe.asked == before
    page.appear()
    world.qtbot.waitUntil(lambda: probe.asked > before)


def test_a_part_is_asked_for_by_its_name(world: World) -> None:
    page = world.open("llms")
    for name in PARTS:
        page.appear(name)
        assert [each for each, part in page._parts.items() if part.isVisible()] == [name]
        assert page.tabs[name].isChecked()
    page.appear()
    assert page.downloads.isVisible()


def test_what_fails_on_the_engine_is_told(world: World, monkeypatch) -> None:
    page = world.open("installed")

    def broken() -> int:
        raise UnavailableError("The disk does not answer.")

    monkeypatch.setattr(world.weights, "taken", broken)
    page.controller.look()
    world.settle(page)
    assert world.told == [("The disk does not answer.", False)]


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize("part", PARTS)
def test_every_control_has_a_name_and_the_keyboard(world: World, part: str) -> None:
    page = world.open(part)
    page.downloads.show_downloads((Download("expert", "giant", DownloadState.PAUSED, 500, 200),))
    QApplication.processEvents()
    kinds = (QPushButton, QCheckBox, QComboBox, QLineEdit)
    controls = [each for each in page.findChildren(QWidget) if isinstance(each, kinds)]
    seen = [each for each in controls if each.isVisible()]
    assert len(seen) > 5
    for each in seen:
        assert each.accessibleName(), each
        assert each.focusPolicy() & Qt.FocusPolicy.TabFocus, each.accessibleName()
        assert not GuiQt.mightBeRichText(each.toolTip())


@pytest.mark.usefixtures("there")
def test_the_tab_key_goes_through_the_page_as_it_is_read(world: World) -> None:
    page = world.open("installed")
    page.activateWindow()
    page.back.setFocus()
    seen = []
    for _ in range(12):
        focused = page.focusWidget()
        assert focused
        seen.append(focused.accessibleName())
        QTest.keyClick(focused, Qt.Key.Key_Tab)
    assert seen == [
        "Back to the conversation",
        "LLMs",
        "On this computer (2)",
        "Get more",
        "Downloads",
        "Search the experts on this computer",
        "Order of the list",
        "Test opus-en-fr",
        "Open the folder of opus-en-fr",
        "Remove opus-en-fr",
        "Test painter",
        "Open the folder of painter",
    ]
    QTest.keyClick(page, Qt.Key.Key_Backtab)
    focused = page.focusWidget()
    assert focused
    assert focused.accessibleName() in ("Open the folder of painter", "Remove painter")


def test_after_the_last_one_the_keyboard_leaves_the_page(world: World) -> None:
    page = world.open("downloads")
    last = list(layout.reached(page))[-1]
    last.setFocus()
    assert not layout.go_on(page, forwards=True)  # nothing else is in this window


def test_hostile_names_are_only_text(world: World) -> None:
    bad = tuple(
        replace(
            TRANSLATOR,
            id=f"translator-{number}",
            summary=hostile,
            licence=hostile,
            languages=(hostile,),
            repo=hostile,
        )
        for number, hostile in enumerate(HOSTILE)
    )
    page = world.open("more", experts=bad)
    page.resize(460, 700)
    page.downloads.show_downloads(
        tuple(
            Download("llm", hostile, DownloadState.FAILED, 500, 200, reason=hostile)
            for hostile in HOSTILE
        )
    )
    for part in PARTS:
        page.show_part(part)
        QApplication.processEvents()
    assert page.minimumSizeHint().width() <= 460
    for each in page.findChildren(QAbstractButton):
        assert not GuiQt.mightBeRichText(each.toolTip())


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.usefixtures("there")
def test_it_fits_a_narrow_window_and_reads_from_right_to_left(world: World, part: str) -> None:
    page = world.open(part)
    page.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    page.resize(460, 700)
    QApplication.processEvents()
    inner = page.scroller.widget()
    assert inner is not None
    assert inner.width() <= page.scroller.viewport().width()
    assert not page.grab().isNull()


@pytest.mark.usefixtures("there")
def test_a_line_keeps_its_widgets_while_the_list_changes(world: World) -> None:
    page = world.open("installed")
    before = entries(page.installed)["painter"]
    world.weights.kept = world.weights.kept[1:]
    page.controller.look()
    world.settle(page)
    assert list(entries(page.installed).values()) == [before]
    assert before.property("first") is True


def test_times_languages_and_sizes_in_words() -> None:
    now = 1_000_000_000.0
    assert formatting.used(now - 100, now=now) == "used today"
    assert formatting.used(now - formatting.DAY, now=now) == "used yesterday"
    assert formatting.used(now - 5 * formatting.DAY, now=now) == "used 5 days ago"
    assert formatting.used(now - 100 * formatting.DAY, now=now) == "used 3 months ago"
    assert formatting.languages(replace(TRANSLATOR, languages=("*",))) == "many languages"
    assert formatting.languages(replace(TRANSLATOR, languages=())) == ""
    many = replace(PAINTER, languages=("en", "de", "fr", "es"))
    assert formatting.languages(many) == "4 languages"
    assert formatting.download(replace(PAINTER, download_mb=0)) == ""
    assert len(ALL) == 7
