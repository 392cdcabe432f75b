"""Of the settings: what this desktop can do for JARVIS, and whether it knows JARVIS by name."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout

from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.quick import tray
from jarvis_desktop.ui.quick.floating_window import places_windows
from jarvis_desktop.ui.quick.overlay import UNSUPPORTED
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import SettingsPanel, button
from jarvis_desktop.ui.widgets.labels import Label

if TYPE_CHECKING:
    from jarvis_desktop.ui.settings.schema import Hands, SettingsRow

HAS_TRAY = mark("This desktop has a tray.")
LISTED = mark("JARVIS is in the menu of this desktop.")
UNLISTED = mark(
    "JARVIS is not in the menu of this desktop. Some desktops lend keys only to programs that are."
)


class DesktopPanel(SettingsPanel):
    """Looks again whenever it is looked at."""

    def __init__(self, row: SettingsRow, hands: Hands) -> None:
        super().__init__(tr(row.title))
        self._session = hands.settings.session
        self.tray = Label(role="small", wrap=True)
        self.overlay = Label(role="small", wrap=True)
        self.menu = Label(role="small", wrap=True)
        self.put = button(tr("Put it there"))
        self.put.setAccessibleName(tr("Put JARVIS into the menu of this desktop"))
        self.put.clicked.connect(self._put)
        self.put.hide()
        line = QHBoxLayout()
        line.setSpacing(theme.space())
        line.addWidget(self.menu, 1)
        line.addWidget(self.put)
        self.column.addWidget(self.tray)
        self.column.addWidget(self.overlay)
        self.column.addLayout(line)

    def appear(self) -> None:
        """Look what there is."""
        self.tray.setText(tr(HAS_TRAY if tray.is_available() else tray.NO_TRAY))
        self.overlay.setText("" if places_windows() else tr(UNSUPPORTED))
        self.overlay.setVisible(bool(self.overlay.text()))
        if sys.platform == "linux":
            self._ask(install=False)

    def _put(self) -> None:
        self.put.setEnabled(False)
        self._ask(install=True)

    def _ask(self, *, install: bool) -> None:
        def look() -> bool:
            from jarvis_desktop.platform import desktop

            if install:
                desktop.install()
            return desktop.is_installed()

        self._session.engine.run(lambda: asyncio.to_thread(look), self._looked)

    def _looked(self, outcome: Outcome) -> None:
        self.put.setEnabled(True)
        self.complain(str(outcome.error or ""))
        if isinstance(outcome.value, bool):
            self.menu.setText(tr(LISTED if outcome.value else UNLISTED))
            self.put.setVisible(not outcome.value)
