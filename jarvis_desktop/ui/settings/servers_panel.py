"""The server for a kind of work in the settings: its model, its key, and whether it works."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal

from jarvis_desktop.app.server_trial import try_server
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.platform.api_keys import KeyState
from jarvis_desktop.platform.work_server import Work
from jarvis_desktop.ui.engine import Outcome, unexpected
from jarvis_desktop.ui.session import AppJobs
from jarvis_desktop.ui.settings.panels import KeyPanel
from jarvis_desktop.ui.settings.schema import RowContext, SettingsRow
from jarvis_desktop.ui.widgets import labels, theme
from jarvis_desktop.ui.widgets.forms import SelectOption, SettingsPanel
from jarvis_desktop.ui.widgets.icons import IconButton
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import hbox

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application

MAX_MODELS = 500
"""Names that are offered."""


class ServerModel(SettingsPanel):
    """One of the models that the server lists."""

    changed = Signal(object)

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self._work = Work(row.key.removeprefix("servers.").removesuffix("_model"))
        self._settings = hands.settings
        self._jobs = AppJobs(hands.settings.session, self)
        self._chosen = ""
        self._names: Sequence[str] = ()
        self.list = SelectOption(tr(row.title))
        self.list.setAccessibleDescription(tr(row.help))
        self.list.activated.connect(self._picked)
        self.again = IconButton("refresh", tr("List the models of the server"), act=self._look)
        self.column.addLayout(hbox((self.list, 1), self.again, spacing=theme.space()))
        self.found = Label(role="small")
        self.found.hide()
        self.column.addWidget(self.found)
        self.setFocusProxy(self.list)
        self._offer()

    def show_value(self, name: str) -> None:
        """Show which is chosen; "" is the usual one."""
        self._chosen = name
        self._offer()

    def _look(self) -> None:
        async def look(app: Application) -> Sequence[str]:
            await self._settings.taken_up()
            return await app.servers[self._work].models()

        self._settings.write()
        self.complain("")
        self._jobs.start("look", look, self._looked)

    def _looked(self, outcome: Outcome) -> None:
        if outcome.value is None and not outcome.cancelled:
            self.complain(str(outcome.error or unexpected()))
        self._names = (outcome.value or ())[:MAX_MODELS]
        self._offer()
        self.found.show_or_hide(tr("It lists {count}.", count=len(self._names)))
        self.list.setFocus()

    def _offer(self) -> None:
        names = dict.fromkeys([*([self._chosen] if self._chosen else []), *self._names])
        usual = tr("The usual one ({name})", name=self._work.usual_model)
        self.list.offer([("", usual), *((each, each) for each in names)], self._chosen)

    def _picked(self) -> None:
        self._chosen = self.list.value
        self.changed.emit(self._chosen)


class WorkServerPanel(KeyPanel):
    """The key of the server, what is sent where, and a test."""

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        self._work = Work(row.key.removesuffix("-server"))
        super().__init__(row, hands)
        self.sent = Label(role="small", wrap=True)
        self.sent.hide()
        self.column.addWidget(self.sent)

    @property
    def _address(self) -> str:
        settings = self._hands.settings.now
        return getattr(settings.servers, self._work) if settings else ""

    def _show(self, state: KeyState) -> None:
        super()._show(replace(state, variable=""))  # that is for the LLM service
        self.test.setVisible(bool(self._address))
        self._jobs.start("sent", self._look, lambda outcome: self._tell(outcome.value or ""))

    async def _look(self, app: Application) -> str:
        await self._hands.settings.taken_up()
        server = app.servers[self._work]
        if not server.chosen.address:
            return ""
        objection = server.objection()
        return str(objection) if objection else server.sent()

    def _tell(self, words: str) -> None:
        self.sent.show_or_hide(one_line(words, limit=400))

    async def _try(self, app: Application, address: str) -> str:
        await self._hands.settings.taken_up()
        trial = await try_server(app, self._work)
        took = labels.seconds(trial.seconds)
        words = tr("{outcome} It took {time}.", outcome=trial.words, time=took)
        return one_line(words, limit=600)
