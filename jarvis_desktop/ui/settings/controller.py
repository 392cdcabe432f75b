"""Changes settings from the main thread: they are written to the file and applied on the engine.
What others write to the file, such as the command line, is applied too.

Also the notice about refused changes and pending restarts, and the restart itself."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from PySide6.QtCore import QFileSystemWatcher, QObject, Qt, Signal
from PySide6.QtWidgets import QApplication, QFrame

from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.platform import api_keys, desktop
from jarvis_desktop.process import network_guard
from jarvis_desktop.ui.engine import Outcome, unexpected
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import button
from jarvis_desktop.ui.widgets.icons import Symbol
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import hbox
from jarvis_desktop.ui.widgets.timers import new_timer

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.settings import Settings, Value


WRITE_DELAY_MS = 300
"""Milliseconds without a change before settings are written: a slider emits many changes."""


class SettingsController(QObject):
    """One for each window. `WindowSession.settled` carries the new settings."""

    saved = Signal(object)
    """Changes are written and applied; carries the names of those that need a restart."""
    failed = Signal(str)
    """Carries why a change failed."""

    def __init__(self, session: WindowSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.waiting: frozenset[str] = frozenset()
        """The names of changed settings that need a restart, such as "processes"."""
        self.now: Settings | None = None
        """The settings in use; None until they are known."""
        self._pending: dict[str, Value | None] = {}
        self._writing = asyncio.Lock()
        self._writes: set[asyncio.Task[Any]] = set()
        self._later = new_timer(self, self.write, WRITE_DELAY_MS)
        self._watcher = QFileSystemWatcher(self)
        self._watcher.directoryChanged.connect(self._noticed)
        self._watcher.fileChanged.connect(self._noticed)
        self._stamp: tuple[int, int] | None = None
        self._reads = new_timer(self, self._read_again, WRITE_DELAY_MS)
        session.ready.connect(self._watch)
        session.settled.connect(self._settled)
        session.ready.connect(self.write)  # what was changed before there was anybody to ask

    def change(self, key: str, value: Value | None) -> None:
        """Change a setting such as "mode" or "speech.rate" soon; None restores its default."""
        self._pending[key] = value
        self._later.start()

    def write(self) -> None:
        """Write and apply pending changes now."""
        self._later.stop()
        if self.session.app is None:
            return  # it is kept until there is one
        values, self._pending = self._pending, {}
        if values:
            self.session.run(lambda app: self._write(app, values), self._written)

    async def taken_up(self) -> None:
        """Wait until pending writes are applied; runs on the engine."""
        if self._writes:
            await asyncio.wait(self._writes)

    async def _write(self, app: Application, values: dict[str, Value | None]) -> _Written:
        from jarvis_desktop import settings

        task = asyncio.current_task()
        assert task
        self._writes.add(task)
        path = app.paths.settings
        saving = asyncio.ensure_future(self._save(path, values))
        try:
            trouble = await asyncio.shield(saving)
            async with self._writing:
                chosen, _ = await asyncio.to_thread(settings.load, path)
                return _Written(frozenset(await app.adopt(chosen)), trouble)
        except asyncio.CancelledError:
            await saving  # JARVIS is closing: the last changes must still reach the file
            raise
        finally:
            self._writes.discard(task)

    def _watch(self, app: Application) -> None:
        path = app.paths.settings
        self._stamp = _stamp(path)
        with suppress(OSError):  # before the first setting there is no folder to be watched
            path.parent.mkdir(parents=True, exist_ok=True)
        # The file is replaced when it is written, and its watch ends with it.
        there = [str(each) for each in (path.parent, path) if each.exists()]
        if there:
            self._watcher.addPaths(there)

    def _noticed(self) -> None:
        if app := self.session.app:
            before = self._stamp
            self._watch(app)
            if self._stamp != before:
                self._reads.start()

    def _read_again(self) -> None:
        def read(outcome: Outcome) -> None:
            if outcome.value or outcome.error:
                self._written(outcome)

        self.session.run(self._adopt_file, read)

    async def _adopt_file(self, app: Application) -> _Written | None:
        from jarvis_desktop import settings

        async with self._writing:
            if self._writes:
                return None  # a write of our own takes up the file as it is then
            chosen, trouble = await asyncio.to_thread(settings.load, app.paths.settings)
            if trouble:
                return _Written(frozenset(), trouble)
            if chosen == app.settings:
                return None
            return _Written(frozenset(await app.adopt(chosen)), "")

    async def _save(self, path: Path, values: dict[str, Value | None]) -> str:
        async with self._writing:
            return await asyncio.to_thread(_change, path, values)

    def _written(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return  # JARVIS is closing
        done = outcome.value or _Written(frozenset(), str(outcome.error or unexpected()))
        self.waiting |= done.waits
        if app := self.session.app:  # even if it failed: show the real values
            self._watch(app)
            self.session.settled.emit(app.settings)
        if done.trouble:
            self.failed.emit(done.trouble)
        else:
            self.saved.emit(self.waiting)

    def _settled(self, settings: Settings) -> None:
        self.now = settings


def _stamp(path: Path) -> tuple[int, int] | None:
    """What differs once a file was written again; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def _change(path: Path, values: dict[str, Value | None]) -> str:
    """Write settings and return why a table could not be written, or "". Blocks."""
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


RESTART = 85
"""The exit code that asks for a restart."""


def restart() -> NoReturn:
    """Replace this process by a new one, with the environment it was started with."""
    network_guard.apply_policy(offline=False)
    network_guard.use_proxy("")
    api_keys.give_back()
    words = desktop.command()
    os.execv(words[0], words)  # noqa: S606 - it is our own program


class SettingsNotice(QFrame):
    """A line above the rows, hidden when it is empty."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("banner")
        self._waits = ""
        self._symbol = Symbol("failed", "danger")
        self.words = Label(wrap=True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.restart = button(tr("Restart now"), act=lambda: QApplication.exit(RESTART))
        hbox(
            (self._symbol, Qt.AlignmentFlag.AlignTop),
            (self.words, 1),
            self.restart,
            parent=self,
            margins=(12, theme.space(), 12, theme.space()),
            spacing=10,
        )
        self.hide()

    def complain(self, reason: str) -> None:
        """Show what is wrong; "" hides it."""
        self._say(reason or self._waits, wrong=bool(reason))

    def show_waiting(self, names: Sequence[str]) -> None:
        """Show which settings need a restart."""
        self._waits = (
            tr("Applies after a restart of JARVIS: {names}.", names=", ".join(names))
            if names
            else ""
        )
        self._say(self._waits, wrong=False)

    def _say(self, words: str, *, wrong: bool) -> None:
        theme.restyle(self, calm="false" if wrong else "true")
        self._symbol.show_icon(*(("failed", "danger") if wrong else ("refresh", "muted")))
        self.restart.setVisible(not wrong)
        self.words.setText(words)
        self.setAccessibleName(words)
        self.setVisible(bool(words))
