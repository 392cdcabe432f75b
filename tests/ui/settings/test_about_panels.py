"""The version, what is new, and the licences."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from jarvis_desktop.app.installation import Installation, InstallKind
from jarvis_desktop.app.release import Release
from jarvis_desktop.network_settings import UpdateSettings
from jarvis_desktop.settings import Settings
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.notices import UpdateNotice
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.settings.about_panels import LicencesPanel, VersionPanel
from jarvis_desktop.ui.settings.page import SettingsPage
from tests.releases import CHANGES
from tests.ui.scene import FakeApp

NEW = Release(name="jarvis-desktop", version="0.3.0", date="2026-12-01", changes=CHANGES, files=())


def test_a_newer_version_is_shown_with_its_news(
    page: SettingsPage, app: FakeApp, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def look() -> Release | None:
        return found.pop()

    found: list[Release | None] = [NEW, None]
    monkeypatch.setattr(app.updates, "look", look)
    page.show_group("about")
    panel = page.row("version").control
    assert isinstance(panel, VersionPanel)
    panel.look.click()
    qtbot.waitUntil(lambda: panel.message.text() == "This is the newest version.")
    assert panel.news.isHidden()
    panel.look.click()
    qtbot.waitUntil(lambda: "There is version 0.3.0" in panel.message.text())
    assert panel.news.isVisible()
    assert "git pull" in panel.message.text()  # for this copy is a checkout
    assert panel.copy.isHidden()
    app.updates.own = Installation(InstallKind.UV, Path("/nowhere"))
    found.append(NEW)
    panel.look.click()
    qtbot.waitUntil(panel.copy.isVisible)
    panel.copy.click()
    assert QGuiApplication.clipboard().text() == "jarvis-desktop update"


def test_without_a_place_the_reason_is_shown(page: SettingsPage, qtbot: QtBot) -> None:
    page.show_group("about")
    panel = page.row("version").control
    assert isinstance(panel, VersionPanel)
    panel.look.click()
    qtbot.waitUntil(lambda: "knows no place of releases" in panel.trouble.text())


def test_the_licences_are_read_when_asked_for(page: SettingsPage, qtbot: QtBot) -> None:
    page.show_group("about")
    panel = page.row("licences").control
    assert isinstance(panel, LicencesPanel)
    panel.show_all.click()
    qtbot.waitUntil(panel.text.isVisible)
    assert "SIL Open Font License" in panel.text.toPlainText()


def test_the_window_looks_only_if_it_may_and_says_it_once(
    begun: WindowSession, app: FakeApp, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    async def look_daily() -> str:
        looked.append("0.3.0")
        return "0.3.0"

    monkeypatch.setattr(app.updates, "look_daily", look_daily)
    actions = Actions()
    notice = UpdateNotice(begun, actions)
    qtbot.addWidget(notice)
    begun.settled.emit(Settings())
    assert not looked
    begun.settled.emit(Settings(updates=UpdateSettings(check=True)))
    qtbot.waitUntil(lambda: not notice.isHidden())
    assert "0.3.0" in notice.words.text()
    begun.settled.emit(Settings(updates=UpdateSettings(check=True)))
    assert looked == ["0.3.0"]
    with qtbot.waitSignal(actions.go) as went:
        notice.news.click()
    assert went.args == ["settings", "version"]
    assert notice.isHidden()
