"""Controls of the settings that are for one row alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.application import App
from jarvis_desktop.ui.bridge import Outcome, unexpected
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.section import button
from jarvis_desktop.ui.look.text import Label
from jarvis_desktop.ui.mode_choice import ModeChoice
from jarvis_desktop.ui.settings.controls import Switch
from jarvis_desktop.ui.settings.fields import fields
from jarvis_desktop.ui.settings.rows import Hands, Row
from jarvis_desktop.ui.voice.panel import Panel


class ModeControl(ModeChoice):
    """The four modes, as in the header."""

    def __init__(self, row: Row, hands: Hands) -> None:
        super().__init__()
        self.setAccessibleName(tr(row.title))

    def leave(self) -> None:
        """What was not agreed to is not asked any more."""
        self.withdraw()


class AutostartSwitch(Switch):
    """Whether JARVIS starts with the session: the system keeps that, not our file."""

    def __init__(self, row: Row, hands: Hands) -> None:
        super().__init__(row)
        self._hands = hands
        self._on = False
        self._asked = 0
        self.setEnabled(False)
        self.changed.connect(self._turn)

    def appear(self) -> None:
        """Look whether it does."""

        async def look(app: App) -> bool:
            from jarvis_desktop.ui.desktop import autostart

            return await asyncio.to_thread(autostart.is_on)

        self._ask(look)

    def _turn(self, on: bool) -> None:
        async def turn(app: App) -> bool:
            from jarvis_desktop.ui.desktop import autostart

            await asyncio.to_thread(autostart.turn, on)
            return await asyncio.to_thread(autostart.is_on)

        self.setEnabled(False)
        self._ask(turn)

    def _ask(self, work: Callable[[App], Coroutine[Any, Any, bool]]) -> None:
        session = self._hands.settings.session
        if app := session.app:
            self._asked += 1
            asked = self._asked
            session.engine.run(lambda: work(app), lambda outcome: self._told(asked, outcome))

    def _told(self, asked: int, outcome: Outcome) -> None:
        if asked != self._asked:
            return  # it was asked again since
        self.setEnabled(True)
        if outcome.value is None:
            self._hands.settings.failed.emit(str(outcome.error or unexpected()))
            self.show_value(self._on)
        else:
            self._on = outcome.value
            self.show_value(self._on)


class ResetAll(Panel):
    """Brings every default back, once the person has said so twice."""

    def __init__(self, row: Row, hands: Hands) -> None:
        super().__init__(tr(row.title))
        self._settings = hands.settings
        line = QHBoxLayout()
        line.setSpacing(theme.space())
        self.ask = button(tr("Reset all settings…"))
        self.yes = button(tr("Reset all"), kind="risk")
        self.no = button(tr("Keep them"))
        self.told = Label(role="small", wrap=True)
        for widget in (self.ask, self.yes, self.no):
            line.addWidget(widget)
        line.addWidget(self.told, 1)
        self.column.addLayout(line)
        self.ask.clicked.connect(lambda: self._show(asking=True))
        self.no.clicked.connect(lambda: self._show(asking=False))
        self.yes.clicked.connect(self._reset)
        self.setFocusProxy(self.ask)
        self._show(asking=False)

    def leave(self) -> None:
        """Nothing was said."""
        self._show(asking=False)

    def _show(self, *, asking: bool) -> None:
        focused = self.yes.hasFocus() or self.no.hasFocus() or self.ask.hasFocus()
        self.ask.setVisible(not asking)
        for widget in (self.yes, self.no):
            widget.setVisible(asking)
        count = len(self._changed())
        self.told.setText(
            tr("{count} settings are not as they were at first.", count=count) if asking else ""
        )
        if focused:
            (self.no if asking else self.ask).setFocus()

    def _changed(self) -> list[str]:
        now = self._settings.now
        return [key for key, field in fields().items() if now and field.of(now) != field.default]

    def _reset(self) -> None:
        for key in self._changed():
            self._settings.change(key, None)
        self._settings.write()
        self._show(asking=False)


def link(place: str, words: str, part: str = "") -> Callable[[Row, Hands], QWidget]:
    """Makes a button that goes to another page."""

    def make(row: Row, hands: Hands) -> QPushButton:
        made = button(tr(words))
        made.clicked.connect(lambda: hands.surroundings.actions.go.emit(place, part))
        return made

    return make
