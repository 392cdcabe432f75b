"""The user's other machines in the settings: a list with pair, look and remove."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QWidget

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.ui.engine import Outcome, unexpected
from jarvis_desktop.ui.session import AppJobs
from jarvis_desktop.ui.settings.schema import RowContext, SettingsRow
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import SettingsPanel, button, plain_field
from jarvis_desktop.ui.widgets.labels import ElidedLabel, Label
from jarvis_desktop.ui.widgets.layout import clear, hbox, vbox

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.backends.machines.backend import MachineState
    from jarvis_desktop.backends.machines.discovery import FoundMachine

NO_MACHINES = mark("None yet.")
NONE_FOUND = mark(
    "No computer answered. Start “jarvis-desktop serve --experts” on the other one, in the same "
    "network, or type the address that it shows."
)


class MachinesPanel(SettingsPanel):
    """The machines, each with what it offers."""

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self._jobs = AppJobs(hands.settings.session, self)
        self._machines = vbox(spacing=theme.space())
        self.column.addLayout(self._machines)
        self.address = plain_field(tr("Address, such as 192.168.1.20"))
        self.code = plain_field(tr("Code shown there"))
        self.pair = button(tr("Pair"), tr("Pair with another computer"), act=self._pair)
        self.search = button(
            tr("Search the network"), tr("Search the network for other computers"), act=self._search
        )
        self.address.returnPressed.connect(self.code.setFocus)
        self.code.returnPressed.connect(self._pair)
        line = hbox((self.address, 1), self.code, self.pair, spacing=theme.space())
        self.column.addLayout(line)
        self.column.addLayout(hbox(self.search, None, spacing=theme.space()))
        self._found = vbox(spacing=theme.space())
        self.column.addLayout(self._found)
        self.message = Label(role="small", wrap=True)
        self.message.hide()
        self.column.addWidget(self.message)
        self.setFocusProxy(self.address)
        hands.settings.session.settled.connect(self.appear)

    def appear(self) -> None:
        """Show the machines as last seen; nobody is asked for that."""
        self._jobs.start("read", _known, self._show)

    def _pair(self) -> None:
        address, code = self.address.text().strip(), self.code.text().strip()
        if address and code:
            self._do(partial(_pair, address, code))

    def _search(self) -> None:
        if self._jobs.start("do", _find, self._show_found):
            self._wait(tr("Searching the network…"))

    def _do(self, work: Callable[[Application], Coroutine[Any, Any, Shown]]) -> None:
        if self._jobs.start("do", work, self._done):
            self._wait(tr("Asking…"))

    def _wait(self, words: str) -> None:
        self.complain("")
        clear(self._found)
        self.message.setText(words)
        self.message.show()

    def _show_found(self, outcome: Outcome) -> None:
        self.message.hide()
        if outcome.value is None:
            if not outcome.cancelled:
                self.complain(str(outcome.error or unexpected()))
            return
        found: Sequence[FoundMachine] = outcome.value
        for each in found:
            self._found.addWidget(self._found_line(each))
        if not found:
            self.message.setText(tr(NONE_FOUND))
            self.message.show()

    def _found_line(self, machine: FoundMachine) -> QWidget:
        told = machine.address
        if machine.paired:
            told += " · " + tr("paired as {name}", name=machine.paired)
        use = button(tr("Use"), tr("Use the address of {name}", name=machine.name))
        use.clicked.connect(lambda: self._use(machine))
        use.setHidden(bool(machine.paired))
        line = QWidget()
        about = ElidedLabel(told, role="small")
        hbox(Label(machine.name), (about, 1), use, parent=line, spacing=theme.space())
        return line

    def _use(self, machine: FoundMachine) -> None:
        self.address.setText(machine.address)
        self.code.setFocus()

    def _done(self, outcome: Outcome) -> None:
        self.message.hide()
        if outcome.value is None:
            if not outcome.cancelled:
                self.complain(str(outcome.error or unexpected()))
            return
        self.address.clear()
        self.code.clear()
        clear(self._found)
        self._show(outcome)

    def _show(self, outcome: Outcome) -> None:
        if outcome.error:
            self.complain(str(outcome.error))
        shown: Shown = outcome.value or ()
        clear(self._machines)
        for state in shown:
            self._machines.addWidget(self._line(state))
        if not shown:
            self._machines.addWidget(Label(tr(NO_MACHINES), role="small", wrap=True))

    def _line(self, state: MachineState) -> QWidget:
        machine = state.machine
        look = button(tr("Test"), tr("Test the machine {name}", name=machine.name))
        look.clicked.connect(lambda: self._do(partial(_look, machine.name)))
        remove = button(tr("Remove"), tr("Remove the machine {name}", name=machine.name))
        remove.clicked.connect(lambda: self._do(partial(_remove, machine.name)))
        names = sorted({each.id for each in machine.experts})
        offers = trn("{count} expert", "{count} experts", len(names))
        told = one_line(f"{machine.host}:{machine.port} · {offers}", limit=200)
        if state.seconds:
            told += " · " + tr("answered in {ms} ms", ms=round(state.seconds * 1000))
        line = QWidget()
        column = vbox(parent=line, spacing=theme.space("half"))
        about = ElidedLabel(told, role="small")
        about.setToolTip(", ".join(names))
        column.addLayout(
            hbox(Label(one_line(machine.name)), (about, 1), look, remove, spacing=theme.space())
        )
        if state.trouble:
            column.addWidget(Label(state.trouble, role="small", wrap=True))
        return line


Shown = Sequence["MachineState"]


async def _known(app: Application) -> Shown:
    from jarvis_desktop.backends.machines.backend import MachineState

    machines = await asyncio.to_thread(app.machines.machines.all)
    return [MachineState(each) for each in machines]


async def _find(app: Application) -> Sequence[FoundMachine]:
    return await app.machines.search()


async def _pair(address: str, code: str, app: Application) -> Shown:
    await app.machines.pair(address, code)
    return await _known(app)


async def _look(name: str, app: Application) -> Shown:
    state = await app.machines.look(app.machines.machines.find(name))
    return [state if each.machine.name == name else each for each in await _known(app)]


async def _remove(name: str, app: Application) -> Shown:
    await app.machines.remove(name)
    return await _known(app)
