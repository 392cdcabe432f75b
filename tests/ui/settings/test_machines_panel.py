"""Another computer is paired, tested and removed in the settings."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from jarvis_desktop.backends.machines.backend import MachineState
from jarvis_desktop.backends.machines.discovery import FoundMachine
from jarvis_desktop.backends.machines.machines import Machine
from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.ui.settings.machines_panel import NO_MACHINES, NONE_FOUND, MachinesPanel
from jarvis_desktop.ui.settings.page import SettingsPage
from jarvis_desktop.ui.widgets.labels import Label
from tests.ui.scene import FakeApp

BOX = Machine("box", "192.0.2.7", 8766, "", (Expert("painter", "text-to-image"),))


class FakeMachines:
    """Pairs with one computer."""

    def __init__(self) -> None:
        self.known: list[Machine] = []
        self.machines = self
        self.found: tuple[FoundMachine, ...] = ()
        self.trouble = ""

    def all(self) -> tuple[Machine, ...]:
        return tuple(self.known)

    def find(self, name: str) -> Machine:
        return next(each for each in self.known if each.name == name)

    async def pair(self, address: str, code: str) -> Machine:
        if code != "K7Q2-9XWM":
            raise InputError("The pairing code is wrong.")
        self.known.append(BOX)
        return BOX

    async def search(self) -> tuple[FoundMachine, ...]:
        if self.trouble:
            raise UnavailableError(self.trouble)
        return self.found

    async def look(self, machine: Machine) -> MachineState:
        return MachineState(machine, trouble="box cannot be reached.")

    async def remove(self, name: str) -> None:
        self.known.clear()


def press(panel: MachinesPanel, name: str) -> None:
    next(it for it in panel.findChildren(QPushButton) if it.accessibleName() == name).click()


def labels(panel: MachinesPanel) -> str:
    return "\n".join(label.text() for label in panel.findChildren(Label))


def test_from_pairing_to_removing(page: SettingsPage, app: FakeApp, qtbot: QtBot) -> None:
    app.machines = FakeMachines()  # type: ignore[assignment]
    page.appear("machines")
    panel = page.row("machines").control
    assert isinstance(panel, MachinesPanel)
    qtbot.waitUntil(lambda: NO_MACHINES in labels(panel))
    panel.address.setText("192.0.2.7")
    panel.code.setText("0000-0000")
    panel.pair.click()
    qtbot.waitUntil(lambda: "code is wrong" in panel.trouble.text())
    panel.code.setText("K7Q2-9XWM")
    panel.pair.click()
    qtbot.waitUntil(lambda: "box" in labels(panel).split())
    assert panel.code.text() == panel.trouble.text() == ""
    qtbot.waitUntil(lambda: not panel._jobs.busy)
    press(panel, "Test the machine box")
    qtbot.waitUntil(lambda: "box cannot be reached." in labels(panel))
    qtbot.waitUntil(lambda: not panel._jobs.busy)
    press(panel, "Remove the machine box")
    qtbot.waitUntil(lambda: NO_MACHINES in labels(panel))


def test_computers_of_the_network_are_searched_for_on_request(
    page: SettingsPage, app: FakeApp, qtbot: QtBot
) -> None:
    machines = FakeMachines()
    app.machines = machines  # type: ignore[assignment]
    page.appear("machines")
    panel = page.row("machines").control
    assert isinstance(panel, MachinesPanel)
    qtbot.waitUntil(lambda: NO_MACHINES in labels(panel))
    panel.search.click()
    qtbot.waitUntil(lambda: NONE_FOUND.split()[0] in panel.message.text())
    machines.found = (
        FoundMachine("<b>box</b>", "192.0.2.7", 8766),
        FoundMachine("desk", "192.0.2.8", 8766, "desk"),
    )
    panel.search.click()
    qtbot.waitUntil(lambda: "paired as desk" in labels(panel))
    assert "<b>box</b>" in labels(panel)
    qtbot.waitUntil(lambda: not panel._jobs.busy)
    press(panel, "Use the address of <b>box</b>")
    assert panel.address.text() == "192.0.2.7:8766"
    assert panel.window().focusWidget() is panel.code
    machines.trouble = "This computer is in no network."
    panel.search.click()
    qtbot.waitUntil(lambda: "in no network" in panel.trouble.text())
    assert "<b>box</b>" not in labels(panel)
