"""MCP servers are added, tested, allowed and removed in the settings."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from jarvis_desktop.ui.settings.mcp_panel import NO_SERVERS, McpPanel
from jarvis_desktop.ui.settings.page import SettingsPage
from jarvis_desktop.ui.widgets.forms import SelectOption
from jarvis_desktop.ui.widgets.labels import Label
from tests.ui.scene import FakeApp

SERVER = Path(__file__).parents[2] / "backends" / "mcp" / "odd_server.py"


def labels(panel: McpPanel) -> list[str]:
    return [label.text() for label in panel.findChildren(Label)]


def test_from_adding_to_removing(
    page: SettingsPage, app: FakeApp, qtbot: QtBot, tmp_path: Path
) -> None:
    page.appear("mcp")
    panel = page.row("mcp").control
    assert isinstance(panel, McpPanel)
    qtbot.waitUntil(lambda: NO_SERVERS in labels(panel))
    panel.name.setText("odd")
    panel.place.setText(shlex.join([sys.executable, str(SERVER), "obeys", str(tmp_path / "notes")]))
    panel.add.click()
    qtbot.waitUntil(lambda: bool(panel.findChildren(SelectOption)), timeout=20_000)
    assert panel.name.text() == panel.place.text() == ""
    (choice,) = panel.findChildren(SelectOption)
    choice.choose("always")
    choice.activated.emit(1)
    server = app.mcp.servers.find("odd")
    qtbot.waitUntil(lambda: app.mcp.rows(server)[0].approval == "always")
    file = tmp_path / "claude.json"
    file.write_text(json.dumps({"mcpServers": {"gone": {"command": "/no/such/program"}}}))
    qtbot.waitUntil(lambda: not panel._jobs.busy)
    panel.take(file)
    qtbot.waitUntil(lambda: "gone did not start" in panel.trouble.text())
    panel.take(tmp_path / "nothing.json")
    qtbot.waitUntil(lambda: "cannot be read" in panel.trouble.text())
    for name in ("odd", "gone"):
        qtbot.waitUntil(lambda: not panel._jobs.busy)
        button = next(
            each
            for each in panel.findChildren(QPushButton)
            if each.accessibleName() == f"Remove the server {name}"
        )
        button.click()
    qtbot.waitUntil(lambda: NO_SERVERS in labels(panel))
