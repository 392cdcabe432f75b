"""An address for a single task is added, tested and removed in the settings."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from jarvis_desktop.ui.settings.endpoints_panel import NO_ENDPOINTS, EndpointsPanel
from jarvis_desktop.ui.settings.page import SettingsPage
from jarvis_desktop.ui.widgets.labels import Label
from tests.llm.keyring import MemoryKeyring
from tests.ui.scene import FakeApp
from tests.work_server import running_work_server


def labels(panel: EndpointsPanel) -> str:
    return "\n".join(label.text() for label in panel.findChildren(Label))


def press(panel: EndpointsPanel, name: str, qtbot: QtBot) -> None:
    next(it for it in panel.findChildren(QPushButton) if it.accessibleName() == name).click()
    qtbot.waitUntil(lambda: not panel._jobs.busy)


def test_from_adding_to_removing(
    page: SettingsPage, app: FakeApp, qtbot: QtBot, ring: MemoryKeyring
) -> None:
    page.appear("endpoints")
    panel = page.row("endpoints").control
    assert isinstance(panel, EndpointsPanel)
    qtbot.waitUntil(lambda: NO_ENDPOINTS in labels(panel) and panel.task.count() > 0)
    name = panel.task.currentText()
    with running_work_server() as served:
        panel.address.setText("ftp://x")
        panel.add.click()
        qtbot.waitUntil(lambda: "is not usable" in panel.trouble.text())
        qtbot.waitUntil(lambda: not panel._jobs.busy)
        panel.address.setText(served.address.removeprefix("http://"))
        panel.key.setText("own-key")
        press(panel, "Add the address for this task", qtbot)
        assert "nothing leaves it" in labels(panel)
        assert [*ring.kept.values()] == ["own-key"]
        assert panel.key.text() == panel.trouble.text() == ""
        press(panel, f"Test the address for {name}", qtbot)
        assert "nothing was sent" in panel.message.text()
        assert not served.requests
    press(panel, f"Test the address for {name}", qtbot)
    assert panel.trouble.text()
    press(panel, f"Remove the address for {name}", qtbot)
    assert NO_ENDPOINTS in labels(panel)
    assert app.endpoints.all() == {}
