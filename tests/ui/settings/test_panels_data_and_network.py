"""Where the data lie, and whether the network is reached."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.ui.settings import panels
from jarvis_desktop.ui.settings.page import SettingsPage
from jarvis_desktop.ui.settings.panels import FolderPanel, NetworkPanel, size_of
from tests.ui.scene import FakeApp

LEFT = Qt.MouseButton.LeftButton


def test_sizes_are_those_of_all_that_is_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    (folder / "b").mkdir(parents=True)
    (folder / "one").write_bytes(bytes(100))
    (folder / "b" / "two").write_bytes(bytes(50))
    (tmp_path / "outside").write_bytes(bytes(5000))
    (folder / "link").symlink_to(tmp_path / "outside")
    (folder / "round").symlink_to(folder)
    links = sum((folder / name).lstat().st_size for name in ("link", "round"))
    assert size_of([folder]) == 150 + links
    assert size_of([folder / "one", tmp_path / "not there"]) == 100


def test_the_folders_are_shown_with_their_sizes_and_opened(
    page: SettingsPage, app: FakeApp, qtbot: QtBot
) -> None:
    app.paths.logs.mkdir(parents=True, exist_ok=True)
    (app.paths.logs / "x.log").write_bytes(bytes(2500))
    app.paths.database.parent.mkdir(parents=True, exist_ok=True)
    app.paths.database.write_bytes(bytes(700))
    app.paths.database.with_name("history.db-wal").write_bytes(bytes(50))
    actions = page._hands.context.actions
    opened: list[Path] = []
    actions.open_file.connect(opened.append)
    actions.show_folder.connect(opened.append)
    page.appear("folders")
    panel = page.row("folders").control
    assert isinstance(panel, FolderPanel)
    qtbot.waitUntil(lambda: "count" not in panel._jobs)
    page.appear("folders")
    qtbot.waitUntil(lambda: "count" not in panel._jobs)
    assert panel.sizes[0].text() == "750 bytes"
    assert panel.sizes[-1].text() == "2.5 kB"
    assert panel.sizes[1].text() == "empty"
    assert panel.where[0].full_text().startswith("~")
    QTest.mouseClick(panel.opens[-1], LEFT)
    QTest.mouseClick(panel.opens[0], LEFT)
    assert opened == [app.paths.logs, app.paths.database]
    assert panel.opens[0].accessibleName() == "Open the folder: Conversations"


class Answering:
    """Stands for httpx's client."""

    error: Exception | None = None
    asked: list[str]

    def __init__(self, **settings: object) -> None:
        Answering.asked = []

    async def __aenter__(self) -> Answering:
        return self

    async def __aexit__(self, *error: object) -> None:
        pass

    async def get(self, address: str) -> None:
        Answering.asked.append(address)
        if Answering.error:
            raise Answering.error


def test_whether_the_hub_is_reached_is_told(
    page: SettingsPage, app: FakeApp, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(httpx, "AsyncClient", Answering)
    page.appear("network-test")
    panel = page.row("network-test").control
    assert isinstance(panel, NetworkPanel)

    def press() -> None:
        QTest.mouseClick(panel.test, LEFT)
        qtbot.waitUntil(lambda: "test" not in panel._jobs)

    press()
    assert panel.message.text().startswith("The Hugging Face Hub was reached, in 0")
    assert Answering.asked == [panels.PLACE]
    monkeypatch.setattr(Answering, "error", httpx.ConnectError("no way out"))
    press()
    assert panel.trouble.text().startswith("The Hub was not reached: no way out. Look at")
    app.policy = Policy(Mode.OFFLINE)
    Answering.asked = []
    press()
    assert panel.trouble.text() == panels.OFFLINE
    assert Answering.asked == []
