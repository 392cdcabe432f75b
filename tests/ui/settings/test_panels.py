"""Keys are kept in the keyring alone: never shown, never in a file or the log."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.platform import api_keys as keys
from jarvis_desktop.ui.settings import panels
from jarvis_desktop.ui.settings.page import SettingsPage
from jarvis_desktop.ui.settings.panels import KeyPanel
from tests.llm.keyring import MemoryKeyring
from tests.openai_server import running_openai_server
from tests.ui.scene import FakeAccount, FakeApp

LEFT = Qt.MouseButton.LeftButton
KEY = "hf_secretsecret"


def panel(page: SettingsPage, key: str, qtbot: QtBot) -> KeyPanel:
    page.appear(key)
    found = page.row(key).control
    assert isinstance(found, KeyPanel)
    qtbot.waitUntil(lambda: not found._jobs.busy)
    return found


def enter(panel: KeyPanel, key: str, qtbot: QtBot) -> None:
    panel.field.setFocus()
    QTest.keyClicks(panel.field, key)
    QTest.mouseClick(panel.keep, LEFT)
    qtbot.waitUntil(lambda: not panel._jobs.busy)


def press(button: object, panel: KeyPanel, qtbot: QtBot) -> None:
    QTest.mouseClick(button, LEFT)  # type: ignore[call-overload]
    qtbot.waitUntil(lambda: not panel._jobs.busy)


def test_a_key_is_kept_tested_and_removed_and_shown_to_nobody(
    page: SettingsPage,
    app: FakeApp,
    qtbot: QtBot,
    ring: MemoryKeyring,
    caplog: pytest.LogCaptureFixture,
    home: Path,
) -> None:
    caplog.set_level(logging.DEBUG)
    hub = panel(page, "hub-key", qtbot)
    assert hub.state.text() == "Not set."
    assert not hub.test.isVisible()
    assert not hub.keep.isEnabled()
    assert hub.field.echoMode() is QLineEdit.EchoMode.Password
    enter(hub, KEY, qtbot)
    assert ring.kept == {("jarvis-desktop", keys.HUB): KEY}
    assert hub.field.text() == ""
    assert hub.state.text() == "Set: it is in the system’s keyring."
    assert app.api.forgotten == 1
    press(hub.test, hub, qtbot)
    assert hub.message.text() == "It is taken; it is that of anna."
    app.api.whose = FakeAccount(may_call=False)
    press(hub.test, hub, qtbot)
    assert "may not make calls" in hub.message.text()
    press(hub.remove, hub, qtbot)
    assert ring.kept == {}
    assert app.api.forgotten == 2
    assert (hub.state.text(), hub.message.text()) == ("Not set.", "The key is deleted.")
    assert KEY not in caplog.text
    for path in home.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes()


def test_what_is_no_key_and_what_is_not_taken_is_said(
    page: SettingsPage, app: FakeApp, qtbot: QtBot, ring: MemoryKeyring
) -> None:
    hub = panel(page, "hub-key", qtbot)
    enter(hub, "sk-other", qtbot)
    assert hub.trouble.text().startswith("That is not a key of the Hugging Face Hub")
    assert ring.kept == {}
    hub.field.clear()
    enter(hub, KEY, qtbot)
    assert not hub.trouble.isVisible()
    app.api.error = UnavailableError("The Hub did not take it.", hint="Make another one.")
    press(hub.test, hub, qtbot)
    assert hub.trouble.text() == "The Hub did not take it. Make another one."
    app.policy = Policy(Mode.OFFLINE)
    press(hub.test, hub, qtbot)
    assert hub.trouble.text() == panels.KEYS_OFFLINE


def test_without_a_keyring_the_other_way_is_told(
    page: SettingsPage, qtbot: QtBot, ring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    ring.locked = True
    hub = panel(page, "hub-key", qtbot)
    assert "no keyring that is open" in hub.trouble.text()
    assert "HF_TOKEN" in hub.trouble.text()
    assert not hub.field.isVisible()
    monkeypatch.setenv("HF_TOKEN", KEY)
    hub = panel(page, "hub-key", qtbot)
    assert hub.state.text() == "Set by the variable HF_TOKEN of the environment."
    assert hub.test.isVisible()
    assert not hub.remove.isVisible()


def test_what_was_typed_and_not_kept_is_gone(page: SettingsPage, qtbot: QtBot) -> None:
    hub = panel(page, "hub-key", qtbot)
    QTest.keyClicks(hub.field, KEY)
    page.leave()
    assert hub.field.text() == ""


def test_the_key_of_a_service_is_for_its_address(
    page: SettingsPage, app: FakeApp, qtbot: QtBot, ring: MemoryKeyring
) -> None:
    service = panel(page, "service-key", qtbot)
    assert service.state.text() == panels.NO_ADDRESS
    assert not service.field.isVisible()
    with running_openai_server() as server:
        with qtbot.waitSignal(page.controller.saved):
            page.controller.change("llm.address", server.address)
        service = panel(page, "service-key", qtbot)
        enter(service, "sk-secret", qtbot)
        assert list(ring.kept.values()) == ["sk-secret"]
        press(service.test, service, qtbot)
        assert "It is taken; the service has" in service.message.text()
    press(service.test, service, qtbot)
    assert service.trouble.isVisible()
