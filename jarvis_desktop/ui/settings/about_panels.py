"""The version in use, what is new in a newer one, and the licences of all parts."""

from __future__ import annotations

import asyncio
import platform
from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit

from jarvis_desktop import __version__
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.ui.conversation.answer import AnswerText
from jarvis_desktop.ui.engine import Outcome, unexpected
from jarvis_desktop.ui.help_page import unwrapped
from jarvis_desktop.ui.session import AppJobs
from jarvis_desktop.ui.settings.schema import RowContext, SettingsRow
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import SettingsPanel, button
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import hbox

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.app.release import Release

COMMAND = "jarvis-desktop update"
TEXT_HEIGHT = 260


class VersionPanel(SettingsPanel):
    """Shows the version, and looks for a newer one."""

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self._settings = hands.settings
        self._jobs = AppJobs(hands.settings.session, self)
        version = tr(
            "{version} on Python {python}", version=__version__, python=platform.python_version()
        )
        self.version = Label(f"JARVIS Desktop {version}", wrap=True)
        self.look = button(tr("Look for a new version"), act=self._look)
        self.message = Label(role="small", wrap=True)
        self.news = AnswerText(hands.context.actions)
        self.news.hide()
        self.copy = button(tr("Copy the command"))
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(COMMAND))
        self.copy.hide()
        self.column.addWidget(self.version)
        self.column.addLayout(hbox(self.look, (self.message, 1), spacing=theme.space()))
        self.column.addLayout(hbox(self.copy, None))
        self.column.addWidget(self.news)
        self.setFocusProxy(self.look)

    def _look(self) -> None:
        self._settings.write()
        self.complain("")

        async def look(app: Application) -> tuple[Release | None, str]:
            await self._settings.taken_up()
            own = app.updates.own
            return await app.updates.look(), own.advice() if own.package is None else ""

        if self._jobs.start("look", look, self._looked):
            self.message.setText(tr("Asking…"))

    def _looked(self, outcome: Outcome) -> None:
        self.message.setText("")
        if outcome.value is None:
            if not outcome.cancelled:
                self.complain(str(outcome.error or unexpected()))
            return
        release, advice = outcome.value
        self.news.setVisible(release is not None)
        self.copy.setVisible(release is not None and not advice)
        if release is None:
            self.message.setText(tr("This is the newest version."))
            return
        self.news.show_text(unwrapped(release.news(__version__)))
        found = tr("There is version {version}, of {date}.",
                   version=release.version, date=release.date)  # fmt: skip
        advice = advice or tr("Quit JARVIS, then: {command}", command=COMMAND)
        self.message.setText(f"{found} {advice}")


class LicencesPanel(SettingsPanel):
    """Shows the licences when they are asked for; they are long."""

    def __init__(self, row: SettingsRow, hands: RowContext) -> None:
        super().__init__(tr(row.title))
        self._jobs = AppJobs(hands.settings.session, self)
        self.show_all = button(tr("Show"), tr("Show the licences"), act=self._read)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(tr(row.title))
        self.text.setFixedHeight(TEXT_HEIGHT)
        self.text.hide()
        self.column.addLayout(hbox(self.show_all, None))
        self.column.addWidget(self.text)
        self.setFocusProxy(self.show_all)

    def _read(self) -> None:
        async def read(app: Application) -> str:
            from jarvis_desktop.app.licences import as_text, parts

            return await asyncio.to_thread(lambda: as_text(parts()))

        self._jobs.start("read", read, self._shown)

    def _shown(self, outcome: Outcome) -> None:
        if outcome.value is None:
            self.complain("" if outcome.cancelled else str(outcome.error or unexpected()))
            return
        self.text.setPlainText(outcome.value)
        self.text.show()
        self.show_all.hide()
        self.text.setFocus()
