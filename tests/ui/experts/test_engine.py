"""The card of what runs experts: offered with its size, shown, replaced and removed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jarvis_desktop.core.placement import MB
from jarvis_desktop.experts.downloads import DownloadReport
from jarvis_desktop.experts.engines import MARKER, PYTHON, Engines
from jarvis_desktop.process import engine
from tests.ui.experts.scene import World, click, entries, said


@pytest.fixture(autouse=True)
def without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "in_environment", lambda: False)


def have(root: Path, name: str) -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    record = {"torch": "2.12.0+cpu", "python": PYTHON, "size": 1_200_000_000}
    (folder / MARKER).write_text(json.dumps(record), "utf-8")
    return folder


def test_it_is_offered_with_its_size(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fetch(self: Engines, name: str, report: DownloadReport) -> None:
        report(1.0, 300 * MB)

    monkeypatch.setattr(Engines, "fetch", fetch)
    page = world.open("installed")
    (shown,) = entries(page.installed.engine).values()
    assert "Not installed" in said(shown)
    assert "about 300 MB to download" in said(shown)
    click(shown, "Download torch")
    world.qtbot.waitUntil(lambda: bool(page.watch.listed), timeout=10_000)
    (download,) = page.watch.listed
    assert (download.key, download.size) == (("engine", "torch"), 300 * MB)


def test_an_older_one_can_be_replaced_and_removed(world: World) -> None:
    page = world.open("installed")
    folder = have(world.app.paths.engines, "2.12.0-of-before")
    page.controller.look()
    world.settle(page)
    (shown,) = entries(page.installed.engine).values()
    assert "torch 2.12.0+cpu" in said(shown)
    assert "There is a newer one" in said(shown)
    click(shown, "Remove torch")
    click(shown, "Remove it")
    world.settle(page)
    assert not folder.exists()


def test_beside_jarvis_there_is_nothing_to_show(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "in_environment", lambda: True)
    page = world.open("installed")
    assert not page.installed.engine.isVisible()
