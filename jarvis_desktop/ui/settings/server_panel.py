"""The address and the token of the server, in the settings."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit

from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.ui.engine import Outcome, unexpected
from jarvis_desktop.ui.server_control import ServerState
from jarvis_desktop.ui.session import AppJobs
from jarvis_desktop.ui.settings.schema import RowContext, SettingsRow
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import SettingsPanel, button
from jarvis_desktop.ui.widgets.icons import Symbol
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import hbox

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.settings import Settings

OFF = mark("Off.")
STARTS = mark("Starting…")
RUNS = mark("Running.")


class ServerPanel(SettingsPanel):
    """Shows whether the server runs; its address and token can be copied."""

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self._settings = hands.settings
        self._server = hands.settings.session.server
        self._jobs = AppJobs(hands.settings.session, self)
        self.symbol = Symbol("skipped", "muted", size=16)
        self.words = Label(wrap=True)
        self.column.addLayout(hbox(self.symbol, (self.words, 1), spacing=theme.space()))
        self.address = _Field(tr("Address"))
        self.token = _Field(tr("Token"))
        self.token.setEchoMode(QLineEdit.EchoMode.Password)
        self.copy_address = button(tr("Copy"), tr("Copy the address"))
        self.copy_token = button(tr("Copy"), tr("Copy the token"))
        self.renew = button(tr("New token"), tr("Make a new token; the old one is then worthless"))
        self.copy_address.clicked.connect(lambda: _copy(self._server.state.address))
        self.copy_token.clicked.connect(lambda: _copy(self._server.state.token))
        self.renew.clicked.connect(self._renew)
        lines = (
            hbox((self.address, 1), self.copy_address, spacing=theme.space()),
            hbox((self.token, 1), self.copy_token, self.renew, spacing=theme.space()),
        )
        for line in lines:
            self.column.addLayout(line)
        self._server.changed.connect(self._show)
        hands.settings.session.settled.connect(self._settled)
        self._show(self._server.state)

    def _settled(self, settings: Settings) -> None:
        self._show(self._server.state)

    def _show(self, state: ServerState) -> None:
        now = self._settings.now
        on = bool(now and now.server.on)
        runs = bool(state.address)
        self.symbol.show_icon("done" if runs else "skipped", "done" if runs else "muted")
        self.words.setText(tr(RUNS if runs else STARTS if on and not state.trouble else OFF))
        self.complain(state.trouble if on else "")
        self.address.setText(state.address)
        self.token.setText(state.token)
        self.token.home(False)
        shown = (self.address, self.token, self.copy_address, self.copy_token, self.renew)
        for widget in shown:
            widget.setVisible(runs)

    def _renew(self) -> None:
        async def renew(app: Application) -> None:
            from jarvis_desktop.server.access import new_token

            await asyncio.to_thread(new_token)

        def renewed(outcome: Outcome) -> None:
            if outcome.error:
                self.complain(str(outcome.error or unexpected()))
            elif not outcome.cancelled:
                self._server.restart()

        self._jobs.start("renew", renew, renewed)


class _Field(QLineEdit):
    """Words that can be selected, not changed."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setProperty("role", "plain")
        self.setAccessibleName(name)


def _copy(words: str) -> None:
    QGuiApplication.clipboard().setText(words)
