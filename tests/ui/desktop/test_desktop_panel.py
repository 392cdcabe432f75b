"""The settings say what this desktop lacks, and put JARVIS into its menu."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.platform import desktop as menu_entry
from jarvis_desktop.ui.actions import Actions, PageContext
from jarvis_desktop.ui.quick import tray as tray_module
from jarvis_desktop.ui.quick.overlay import UNSUPPORTED
from jarvis_desktop.ui.quick.tray import NO_TRAY
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.settings import panels
from jarvis_desktop.ui.settings.controller import SettingsController
from jarvis_desktop.ui.settings.panels import HAS_TRAY, LISTED, UNLISTED, DesktopPanel
from jarvis_desktop.ui.settings.schema import RowContext, SettingsRow
from jarvis_desktop.ui.settings.speech_controller import SpeechController
from jarvis_desktop.ui.voice.talk import TalkController
from jarvis_desktop.ui.widgets.theme import Theme
from tests.ui.desktop.conftest import Desktop

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have other menus")


@pytest.fixture
def panel(
    session: WindowSession,
    actions: Actions,
    desktop: Desktop,
    theme: Theme,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> DesktopPanel:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_DIRS", str(tmp_path))
    settings = SettingsController(session)
    talker = TalkController(session.engine, session)
    context = PageContext(session, talker, actions, settings)
    voice = SpeechController(settings, session)
    panel = DesktopPanel(
        SettingsRow("desktop", "This desktop"),
        RowContext(context, settings, voice, lambda key: None),
    )
    qtbot.addWidget(panel)
    panel.show()
    return panel


def test_what_the_desktop_lacks_is_said(
    panel: DesktopPanel, desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel.appear()
    assert panel.tray.text() == HAS_TRAY
    assert not panel.overlay.isVisible()
    desktop.has_tray = False
    monkeypatch.setattr(panels, "places_windows", lambda: False)
    panel.appear()
    assert panel.tray.text() == NO_TRAY
    assert panel.overlay.text() == UNSUPPORTED
    assert panel.overlay.isVisible()
    assert not tray_module.is_available()


def test_jarvis_is_put_into_the_menu(panel: DesktopPanel, qtbot: QtBot) -> None:
    panel.appear()
    qtbot.waitUntil(lambda: panel.menu.text() == UNLISTED)
    assert panel.put.isVisible()
    panel.put.click()
    qtbot.waitUntil(lambda: panel.menu.text() == LISTED)
    assert not panel.put.isVisible()
    assert menu_entry.is_installed()


def test_why_it_cannot_be_put_there_is_said(
    panel: DesktopPanel, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def install() -> None:
        raise StorageError("The disk is full.")

    monkeypatch.setattr(menu_entry, "install", install)
    panel.put.click()
    qtbot.waitUntil(lambda: panel.trouble.text() == "The disk is full.")
    assert panel.put.isEnabled()
