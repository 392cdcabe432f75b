"""Addresses for single tasks in the settings: a list with add, test and remove."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QLineEdit, QWidget

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.platform import api_keys
from jarvis_desktop.ui.engine import Outcome, unexpected
from jarvis_desktop.ui.session import AppJobs
from jarvis_desktop.ui.settings.schema import RowContext, SettingsRow
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import SelectOption, SettingsPanel, button, plain_field
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import clear, hbox, vbox

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application

NO_ENDPOINTS = mark("None yet.")


@dataclass(frozen=True)
class Shown:
    """What is set, and the tasks that could be."""

    rows: Sequence[tuple[str, str, str]] = ()
    """The task, its name, and where it is done with what that means."""
    tasks: Mapping[str, str] = field(default_factory=dict)
    said: str = ""


class EndpointsPanel(SettingsPanel):
    """The addresses, each with its task."""

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self._jobs = AppJobs(hands.settings.session, self)
        self._rows = vbox(spacing=theme.space())
        self.column.addLayout(self._rows)
        self.task = SelectOption(tr("Task"))
        self.address = plain_field(tr("Address, such as https://HOST/PATH"))
        self.key = plain_field(tr("Key, if it wants one"))
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.add = button(tr("Add"), tr("Add the address for this task"), act=self._add)
        self.address.returnPressed.connect(self._add)
        self.key.returnPressed.connect(self._add)
        self.column.addLayout(hbox((self.task, 1), (self.address, 2), spacing=theme.space()))
        self.column.addLayout(hbox((self.key, 1), self.add, spacing=theme.space()))
        self.message = Label(role="small", wrap=True)
        self.message.hide()
        self.column.addWidget(self.message)
        self.setFocusProxy(self.task)
        hands.settings.session.settled.connect(self.appear)

    def appear(self) -> None:
        """Show what is set; nobody is asked for that."""
        self._jobs.start("read", _known, self._show)

    def _add(self) -> None:
        address, key = self.address.text().strip(), self.key.text().strip()
        if address and self.task.value:
            self._do(partial(_set, self.task.value, address, key))

    def _do(self, work: Callable[[Application], Coroutine[Any, Any, Shown]]) -> None:
        if self._jobs.start("do", work, self._done):
            self.complain("")
            self.message.hide()

    def _done(self, outcome: Outcome) -> None:
        if outcome.value is None:
            if not outcome.cancelled:
                self.complain(str(outcome.error or unexpected()))
            return
        self.address.clear()
        self.key.clear()
        self._show(outcome)

    def _show(self, outcome: Outcome) -> None:
        if outcome.error:
            self.complain(str(outcome.error))
        shown: Shown = outcome.value or Shown()
        clear(self._rows)
        for each in shown.rows:
            self._rows.addWidget(self._line(*each))
        if not shown.rows:
            self._rows.addWidget(Label(tr(NO_ENDPOINTS), role="small", wrap=True))
        self.task.offer([*shown.tasks.items()], self.task.value)
        self.message.show_or_hide(shown.said)

    def _line(self, task: str, name: str, about: str) -> QWidget:
        test = button(tr("Test"), tr("Test the address for {name}", name=name))
        test.clicked.connect(lambda: self._do(partial(_test, task)))
        remove = button(tr("Remove"), tr("Remove the address for {name}", name=name))
        remove.clicked.connect(lambda: self._do(partial(_remove, task)))
        line = QWidget()
        column = vbox(parent=line, spacing=theme.space("half"))
        column.addLayout(hbox((Label(name), 1), test, remove, spacing=theme.space()))
        column.addWidget(Label(about, role="small", wrap=True))
        return line


async def _known(app: Application, said: str = "") -> Shown:
    there = await asyncio.to_thread(app.endpoints.all)
    names = {task: app.inventory[task].called for task in app.endpoints.tasks}
    rows = []
    for task in there.keys() & names.keys():
        server = app.endpoints.find(task)
        try:
            about = f"{server.server.host}. {server.objection() or server.sent()}"
        except JarvisError as error:
            about = str(error)
        rows.append((task, names[task], one_line(about, limit=400)))
    rows.sort(key=lambda row: row[1])
    return Shown(rows, dict(sorted(names.items(), key=lambda it: it[1])), said)


async def _set(task: str, address: str, key: str, app: Application) -> Shown:
    server = await asyncio.to_thread(app.endpoints.set, task, address)
    if key:
        await asyncio.to_thread(api_keys.keep, address, key)
    server.forget_keys()
    return await _known(app)


async def _test(task: str, app: Application) -> Shown:
    server = app.endpoints.find(task)
    ms = round(1000 * await server.reach())
    answers = tr("{host} answers in {ms} ms", host=server.server.host, ms=ms)
    return await _known(app, tr("{answers}; nothing was sent.", answers=answers))


async def _remove(task: str, app: Application) -> Shown:
    await asyncio.to_thread(app.endpoints.remove, task)
    return await _known(app)
