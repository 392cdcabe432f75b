"""In the settings of the network: whether the Hub is reached through it."""

from __future__ import annotations

import time

from PySide6.QtWidgets import QHBoxLayout

from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.ui.application import App
from jarvis_desktop.ui.bridge import Outcome, unexpected
from jarvis_desktop.ui.look import phrases, theme
from jarvis_desktop.ui.look.section import button
from jarvis_desktop.ui.look.text import Label
from jarvis_desktop.ui.settings.rows import Hands, Row
from jarvis_desktop.ui.voice.panel import Panel

PLACE = "https://huggingface.co/robots.txt"
PATIENCE = 10.0
"""Seconds."""
OFFLINE = mark("The mode is “offline”, so nothing is reached. Choose another mode to try it.")


class NetworkPanel(Panel):
    """Asks for a small page of the Hub, and says what came of it."""

    def __init__(self, row: Row, hands: Hands) -> None:
        super().__init__(tr(row.title))
        self._settings = hands.settings
        self._trying = False
        line = QHBoxLayout()
        line.setSpacing(theme.space())
        self.test = button(tr("Test"), tr("Test the network"))
        self.test.clicked.connect(self._test)
        self.told = Label(role="small", wrap=True)
        line.addWidget(self.test)
        line.addWidget(self.told, 1)
        self.column.addLayout(line)
        self.setFocusProxy(self.test)

    def _test(self) -> None:
        app = self._settings.session.app
        if app is None or self._trying:
            return
        self._trying = True
        self._settings.write()
        self.complain("")
        self.told.setText(tr("Asking…"))
        self._settings.session.engine.run(lambda: self._ask(app), self._asked)

    async def _ask(self, app: App) -> float:
        import httpx

        await self._settings.taken_up()
        if not app.policy.allows_downloads:
            raise InputError(tr(OFFLINE))
        begun = time.monotonic()
        try:
            async with httpx.AsyncClient(timeout=PATIENCE) as client:
                await client.get(PLACE)
        except (httpx.HTTPError, OSError) as error:
            raise UnavailableError(
                tr("The Hub was not reached: {reason}.", reason=_reason(error)),
                hint=tr("Look at the proxy, and at the network of this computer."),
            ) from error
        return time.monotonic() - begun

    def _asked(self, outcome: Outcome) -> None:
        self._trying = False
        self.told.setText("")
        if outcome.value is not None:
            took = phrases.seconds(outcome.value)
            self.told.setText(tr("The Hugging Face Hub was reached, in {time}.", time=took))
        elif not outcome.cancelled:
            self.complain(str(outcome.error or unexpected()))


def _reason(error: Exception) -> str:
    return one_line(str(error) or type(error).__name__, limit=160).rstrip(".")
