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

NO_MACHINES = mark("None yet.")


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
        self.address.returnPressed.connect(self.code.setFocus)
        self.code.returnPressed.connect(self._pair)
        line = hbox((self.address, 1), self.code, self.pair, spacing=theme.space())
        self.column.addLayout(line)
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

    def _do(self, work: Callable[[Application], Coroutine[Any, Any, Shown]]) -> None:
        if self._jobs.start("do", work, self._done):
            self.complain("")
            self.message.setText(tr("Asking…"))
            self.message.show()

    def _done(self, outcome: Outcome) -> None:
        self.message.hide()
        if outcome.value is None:
            if not outcome.cancelled:
                self.complain(str(outcome.error or unexpected()))
            return
        self.address.clear()
        self.code.clear()
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


async def _pair(address: str, code: str, app: Application) -> Shown:
    await app.machines.pair(address, code)
    return await _known(app)


async def _look(name: str, app: Application) -> Shown:
    state = await app.machines.look(app.machines.machines.find(name))
    return [state if each.machine.name == name else each for each in await _known(app)]


async def _remove(name: str, app: Application) -> Shown:
    await app.machines.remove(name)
    return await _known(app)
