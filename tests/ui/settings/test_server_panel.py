"""The server of the running window is switched on and off in the settings."""

from __future__ import annotations

import socket

import httpx
import keyring
import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from jarvis_desktop.ui.settings.page import SettingsPage
from jarvis_desktop.ui.settings.panels import OFF, RUNS, ServerPanel
from tests.llm.keyring import MemoryKeyring
from tests.ui.scene import FakeApp


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def panel(page: SettingsPage) -> ServerPanel:
    page.appear("server-state")
    found = page.row("server-state").control
    assert isinstance(found, ServerPanel)
    return found


def test_from_on_to_off(panel: ServerPanel, page: SettingsPage, qtbot: QtBot) -> None:
    assert panel.words.text() == OFF
    assert not panel.address.isVisible()
    port = free_port()
    page.controller.change("server.port", port)
    page.controller.change("server.on", True)
    qtbot.waitUntil(lambda: panel.words.text() == RUNS, timeout=20_000)
    assert panel.address.text() == f"http://127.0.0.1:{port}/v1"
    panel.copy_token.click()
    token = QGuiApplication.clipboard().text()
    assert keyring.get_password("jarvis-desktop", "api-server") == token
    assert panel.token.displayText() != token

    def answer(token: str) -> int:
        known = {"Authorization": f"Bearer {token}"}
        return httpx.get(f"{panel.address.text()}/models", headers=known, timeout=60).status_code

    assert answer(token) == 200
    panel.renew.click()
    qtbot.waitUntil(lambda: panel.token.text() not in ("", token), timeout=20_000)
    assert [answer(token), answer(panel.token.text())] == [401, 200]
    page.controller.change("server.on", False)
    qtbot.waitUntil(lambda: panel.words.text() == OFF)
    with socket.socket() as gone:
        assert gone.connect_ex(("127.0.0.1", port)) != 0


def test_a_port_that_is_taken_is_said_and_another_one_helps(
    panel: ServerPanel, page: SettingsPage, qtbot: QtBot
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        page.controller.change("server.port", other.getsockname()[1])
        page.controller.change("server.on", True)
        qtbot.waitUntil(lambda: "uses it already" in panel.trouble.text(), timeout=20_000)
        assert panel.words.text() == OFF
        page.controller.change("server.port", free_port())
        qtbot.waitUntil(lambda: panel.words.text() == RUNS, timeout=20_000)
    assert not panel.trouble.isVisible()


def test_without_a_keyring_the_reason_is_said(
    panel: ServerPanel, page: SettingsPage, ring: MemoryKeyring, qtbot: QtBot, app: FakeApp
) -> None:
    from keyring.backends.fail import Keyring

    keyring.set_keyring(Keyring())
    page.controller.change("server.on", True)
    qtbot.waitUntil(lambda: "no keyring that is open" in panel.trouble.text(), timeout=20_000)
