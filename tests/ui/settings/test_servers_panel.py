"""A server is set, listed and tested in the settings, and what is sent where is shown."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from jarvis_desktop.ui.settings.page import SettingsPage
from jarvis_desktop.ui.settings.servers_panel import ServerModel, WorkServerPanel
from tests.line_server import Answer
from tests.llm.keyring import MemoryKeyring
from tests.ui.scene import FakeApp
from tests.ui.settings.conftest import kept
from tests.work_server import json_answer, running_work_server

LEFT = Qt.MouseButton.LeftButton


def press(button: object, panel: ServerModel | WorkServerPanel, qtbot: QtBot) -> None:
    QTest.mouseClick(button, LEFT)  # type: ignore[call-overload]
    qtbot.waitUntil(lambda: not panel._jobs.busy)


def write(page: SettingsPage, address: str, qtbot: QtBot) -> None:
    with qtbot.waitSignal(page.controller.session.settled):
        page.controller.change("servers.transcription", address)


def test_a_server_is_set_and_tested(
    page: SettingsPage, app: FakeApp, qtbot: QtBot, ring: MemoryKeyring
) -> None:
    page.appear("transcription-server")
    panel = page.row("transcription-server").control
    models = page.row("servers.transcription_model").control
    assert isinstance(panel, WorkServerPanel)
    assert isinstance(models, ServerModel)
    assert not panel.test.isVisible()
    answers = json_answer({"text": "Forty-two."}), Answer(status=401, error="no")
    with running_work_server(*answers) as served:
        place = served.address.removeprefix("http://")
        write(page, place, qtbot)
        qtbot.waitUntil(lambda: "nothing leaves it" in panel.sent.text())
        press(models.again, models, qtbot)
        offered = [models.list.itemText(at) for at in range(models.list.count())]
        assert offered == ["The usual one (whisper-1)", "faster-whisper-small", "phi-4"]
        assert models.found.text() == "It lists 2."
        models.list.setCurrentIndex(1)
        with qtbot.waitSignal(page.controller.session.settled):
            models.list.activated.emit(1)
        assert kept(app).servers.transcription_model == "faster-whisper-small"
        press(panel.test, panel, qtbot)
        assert "It heard: “Forty-two.” It took" in panel.message.text()
        assert served.form()["model"] == "faster-whisper-small"
        panel.field.setText("sk-secret-secret")
        press(panel.keep, panel, qtbot)
        assert list(ring.kept) == [("jarvis-desktop", served.address)]
        press(panel.test, panel, qtbot)
        assert served.requests[-1][1]["authorization"] == "Bearer sk-secret-secret"
        assert "refused the key" in panel.trouble.text()
    press(models.again, models, qtbot)
    assert "does not run" in models.trouble.text()


@pytest.mark.parametrize("address", ["192.168.1.5:8000", "api.example.com"])
def test_what_the_mode_does_not_allow_is_said(
    page: SettingsPage, qtbot: QtBot, address: str
) -> None:
    page.appear("transcription-server")
    panel = page.row("transcription-server").control
    assert isinstance(panel, WorkServerPanel)
    write(page, address, qtbot)
    qtbot.waitUntil(lambda: f"sends nothing to {address}" in panel.sent.text())
