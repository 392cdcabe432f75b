"""What the window asks of the settings: to read them, and to change them for good and at once. It
lives on the main thread and gives its work to the engine."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.ui.application import App
from jarvis_desktop.ui.bridge import Outcome, unexpected
from jarvis_desktop.ui.session import Session

if TYPE_CHECKING:
    from jarvis_desktop.settings import Settings, Value

SETTLING = 300
"""Milliseconds without a change after which the changes are written: a slider tells of many."""


class SettingsDesk(QObject):
    """One for the window. That settings are others now is told by `Session.settled`."""

    saved = Signal(object)
    """What was changed is written and taken up; carries the names of what waits for a restart."""
    failed = Signal(str)
    """Carries why something was not changed."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.waiting: frozenset[str] = frozenset()
        """The names of what was changed and waits for a restart, such as "processes"."""
        self.now: Settings | None = None
        """As they are in use; None until they are known."""
        self._pending: dict[str, Value | None] = {}
        self._writing = asyncio.Lock()
        self._later = QTimer(self, singleShot=True, interval=SETTLING)
        self._later.timeout.connect(self.write)
        session.settled.connect(self._settled)
        session.ready.connect(self.write)  # what was changed before there was anybody to ask

    def change(self, key: str, value: Value | None) -> None:
        """Change a setting such as "mode" or "speech.rate", soon; None brings its default back."""
        self._pending[key] = value
        self._later.start()

    def write(self) -> None:
        """Write what was changed now, and let it be taken up."""
        self._later.stop()
        app = self.session.app
        if app is None:
            return  # it is kept until there is one
        values, self._pending = self._pending, {}
        if values:
            self.session.engine.run(lambda: self._write(app, values), self._written)

    async def taken_up(self) -> None:
        """Wait until what is being written is taken up; runs on the engine."""
        async with self._writing:
            return

    async def _write(self, app: App, values: dict[str, Value | None]) -> _Written:
        from jarvis_desktop import settings

        path = app.paths.settings
        async with self._writing:
            # All in one: who quits meanwhile has changed all of it, or nothing.
            trouble = await asyncio.to_thread(_change, path, values)
            chosen, _ = await asyncio.to_thread(settings.load, path)
            return _Written(frozenset(await app.adopt(chosen)), trouble)

    def _written(self, outcome: Outcome) -> None:
        done = outcome.value or _Written(frozenset(), str(outcome.error or unexpected()))
        self.waiting |= done.waits
        if self.session.app:  # also where it failed: show what is true
            self.session.settled.emit(self.session.app.settings)
        if done.trouble:
            self.failed.emit(done.trouble)
        else:
            self.saved.emit(self.waiting)

    def _settled(self, settings: Settings) -> None:
        self.now = settings


def _change(path: Path, values: dict[str, Value | None]) -> str:
    """Write settings; what kept one of their tables from being written. Blocks."""
    from jarvis_desktop import settings

    tables: defaultdict[str, dict[str, Value | None]] = defaultdict(dict)
    for key, value in values.items():
        table, _, name = key.rpartition(".")
        tables[table][name] = value
    trouble = ""
    for table, wanted in tables.items():
        try:
            settings.change(path, table, wanted)
        except JarvisError as error:
            trouble = str(error)
    return trouble


class _Written:
    def __init__(self, waits: frozenset[str], trouble: str) -> None:
        self.waits = waits
        self.trouble = trouble
