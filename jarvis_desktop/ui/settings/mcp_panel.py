"""The MCP servers in the settings: a list with add, import, test and remove."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QFileDialog, QWidget

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.ui.engine import Outcome, unexpected
from jarvis_desktop.ui.request.file_dialogs import file_dialog
from jarvis_desktop.ui.session import AppJobs
from jarvis_desktop.ui.settings.schema import RowContext, SettingsRow
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import Fold, SelectOption, SettingsPanel, button, plain_field
from jarvis_desktop.ui.widgets.labels import ElidedLabel, Label
from jarvis_desktop.ui.widgets.layout import clear, hbox, vbox

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.backends.mcp.backend import McpRow
    from jarvis_desktop.backends.mcp.servers import McpServer, McpTool

    Shown = Sequence[tuple[McpServer, tuple[McpRow, ...]]]

NO_SERVERS = mark("None yet.")
APPROVALS = (("ask", mark("Ask")), ("always", mark("Always")), ("never", mark("Never")))


class McpPanel(SettingsPanel):
    """The servers, each with its tools and whether they may be called."""

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self._jobs = AppJobs(hands.settings.session, self)
        self._open: set[str] = set()
        """The servers whose tools are shown."""
        self._servers = vbox(spacing=theme.space())
        self.column.addLayout(self._servers)
        self.name = plain_field(tr("Name, such as time"))
        self.place = plain_field(tr("Address or command"))
        self.name.setMaximumWidth(180)
        self.add = button(tr("Add"), tr("Add an MCP server"), act=self._add)
        self.load = button(tr("Import…"), tr("Import the servers of another program"))
        self.name.returnPressed.connect(self.place.setFocus)
        self.place.returnPressed.connect(self._add)
        self.load.clicked.connect(self._choose)
        line = hbox(self.name, (self.place, 1), self.add, self.load, spacing=theme.space())
        self.column.addLayout(line)
        self.message = Label(role="small", wrap=True)
        self.message.hide()
        self.column.addWidget(self.message)
        self.setFocusProxy(self.name)
        hands.settings.session.settled.connect(self.appear)

    def appear(self) -> None:
        """Read the servers."""
        self._jobs.start("read", _read, self._show)

    def _add(self) -> None:
        name, place = self.name.text().strip(), self.place.text().strip()
        if name and place:
            self._do(partial(_add, lambda: [_server(name, place)]), tr("Asking…"))

    def _choose(self) -> None:
        dialog = file_dialog(self.window(), tr("Import the servers of another program"))
        dialog.setNameFilter("JSON (*.json)")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(lambda name: self.take(Path(name)))
        dialog.open()

    def take(self, path: Path) -> None:
        """Add the servers of a file in another program's form."""
        self._do(partial(_add, partial(_servers, path)), tr("Asking…"))

    def _do(self, work: Callable[[Application], Coroutine[Any, Any, str]], told: str) -> None:
        """Do something to the servers; it returns what is to be complained of. Then show them."""

        async def run(app: Application) -> tuple[Shown, str]:
            complaint = await work(app)
            return await _read(app), complaint

        if self._jobs.start("do", run, self._done):
            self.complain("")
            self._tell(told)

    def _done(self, outcome: Outcome) -> None:
        self._tell("")
        if outcome.value is None:
            if not outcome.cancelled:
                self.complain(str(outcome.error or unexpected()))
            return
        shown, complaint = outcome.value
        self.complain(complaint)
        self.name.clear()
        self.place.clear()
        self._show(Outcome(shown))

    def _tell(self, words: str) -> None:
        self.message.show_or_hide(words)

    def _show(self, outcome: Outcome) -> None:
        if outcome.error:
            self.complain(str(outcome.error))
        shown: Shown = outcome.value or ()
        clear(self._servers)
        for server, rows in shown:
            self._servers.addWidget(self._line(server, rows))
        if not shown:
            self._servers.addWidget(Label(tr(NO_SERVERS), role="small", wrap=True))

    def _line(self, server: McpServer, rows: tuple[McpRow, ...]) -> QWidget:
        test = button(tr("Test"), tr("Test the server {name}", name=server.name))
        test.clicked.connect(lambda: self._do(partial(_test, server.name), tr("Asking…")))
        remove = button(tr("Remove"), tr("Remove the server {name}", name=server.name))
        remove.clicked.connect(lambda: self._do(partial(_remove, server.name), ""))
        name = Label(one_line(server.name))
        place = ElidedLabel(one_line(server.place, limit=300), role="small")
        tools = Fold(tr("the tools of {name}", name=server.name), unfolded=False)
        tools.say(trn("{count} tool", "{count} tools", len(rows)) if rows else tr("Not tested yet"))
        tools.heading.clicked.connect(lambda: self._open.symmetric_difference_update({server.name}))
        tools.unfold(server.name in self._open)
        for row in rows:
            tools.column.addWidget(self._tool(server, row))
        line = QWidget()
        head = hbox(name, (place, 1), test, remove, spacing=theme.space())
        vbox(head, tools, parent=line, spacing=theme.space("half"))
        return line

    def _tool(self, server: McpServer, row: McpRow) -> QWidget:
        about = one_line(row.tool.description, limit=300)
        text = ElidedLabel(f"{one_line(row.tool.name)}: {about}" if about else row.tool.name)
        choice = SelectOption(tr("Whether {tool} may be called", tool=row.tool.name))
        choice.offer([(value, tr(words)) for value, words in APPROVALS], row.approval.value)
        choice.activated.connect(
            lambda: self._do(partial(_approve, server, row.tool, choice.value), "")
        )
        line = QWidget()
        hbox((text, 1), choice, parent=line, spacing=theme.space())
        return line


async def _read(app: Application) -> Shown:
    def read() -> Shown:
        return [(server, app.mcp.rows(server)) for server in app.mcp.servers.all()]

    return await asyncio.to_thread(read)


async def _add(found: Callable[[], list[McpServer]], app: Application) -> str:
    """Add servers and look what they offer; one that does not start is added all the same."""
    complaints = []
    for server in [await app.mcp.add(each) for each in await asyncio.to_thread(found)]:
        try:
            await app.mcp.test(server.name)
        except JarvisError as error:
            complaints.append(str(error))
    return " ".join(complaints)


def _server(name: str, place: str) -> McpServer:
    from jarvis_desktop.backends.mcp.servers import McpServer

    if place.startswith(("http://", "https://")):
        return McpServer(name, url=place)
    try:
        command, *args = shlex.split(place, posix=os.name != "nt")
    except ValueError as error:
        raise InputError(tr("The command lacks a quotation mark.")) from error
    return McpServer(name, command, tuple(args))


def _servers(path: Path) -> list[McpServer]:
    from jarvis_desktop.backends.mcp.servers import servers_of_file

    return servers_of_file(path)


async def _test(name: str, app: Application) -> str:
    await app.mcp.test(name)
    return ""


async def _remove(name: str, app: Application) -> str:
    await app.mcp.remove(name)
    return ""


async def _approve(server: McpServer, tool: McpTool, approval: str, app: Application) -> str:
    from jarvis_desktop.backends.mcp.servers import Approval

    await asyncio.to_thread(app.mcp.approve, server, [tool], Approval(approval))
    return ""
