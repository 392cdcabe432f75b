"""Where the person's data lie, and how much of the disk they take."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout

from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.paths import Paths
from jarvis_desktop.ui.application import App
from jarvis_desktop.ui.bridge import Outcome
from jarvis_desktop.ui.look import phrases, theme
from jarvis_desktop.ui.look.icons import IconButton
from jarvis_desktop.ui.look.text import ElidedLabel, Label
from jarvis_desktop.ui.settings.rows import Hands, Row
from jarvis_desktop.ui.voice.panel import Panel

NAMES = (
    mark("Conversations"),
    mark("Files of conversations"),
    mark("Goals and code of agent mode"),
    mark("Experts that were fetched"),
    mark("List of the Hub"),
    mark("Settings"),
    mark("Logs"),
)


def places(paths: Paths) -> tuple[tuple[Path, ...], ...]:
    """The files and folders of each of NAMES; the first is the one that is opened."""
    history = paths.database
    return (
        (history, *(history.with_name(f"{history.name}-{end}") for end in ("wal", "shm"))),
        (paths.artifacts,),
        (paths.goals, paths.code_library, paths.packages),
        (paths.weights,),
        (paths.hub_index,),
        (paths.config,),
        (paths.logs,),
    )


def size_of(paths: Iterable[Path]) -> int:
    """The bytes that files and folders take; links are not followed. It may take a while."""
    total, waiting = 0, list(paths)
    while waiting:
        path = waiting.pop()
        with suppress(OSError):  # it is gone, or not ours to look into
            if path.is_dir() and not path.is_symlink():
                waiting += path.iterdir()
            else:
                total += path.lstat().st_size
    return total


class FolderPanel(Panel):
    """One line for each of them."""

    def __init__(self, row: Row, hands: Hands) -> None:
        super().__init__(tr(row.title))
        self._session = hands.settings.session
        self._actions = hands.surroundings.actions
        self._counting = False
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.space("two"))
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(1, 1)
        self.column.addLayout(grid)
        self.sizes: list[Label] = []
        self.where: list[ElidedLabel] = []
        self.opens: list[IconButton] = []
        self._first: list[Path] = []
        middle = Qt.TextElideMode.ElideMiddle
        for number, name in enumerate(NAMES):
            where = ElidedLabel(role="small", mode=middle)
            size = Label("…", role="small")
            size.setAlignment(Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter)
            show = IconButton("folder", tr("Open the folder: {name}", name=tr(name)), kind="icon")
            show.setEnabled(False)
            show.clicked.connect(lambda _=False, number=number: self._open(number))
            words = Label(tr(name), wrap=True)
            for column, widget in enumerate((words, where, size, show)):
                grid.addWidget(widget, number, column)
            self.where.append(where)
            self.sizes.append(size)
            self.opens.append(show)

    def appear(self) -> None:
        """Count anew."""
        app = self._session.app
        if app is None or self._counting:
            return
        self._counting = True
        found = places(app.paths)
        self._first = [each[0] for each in found]
        for path, where, show in zip(self._first, self.where, self.opens, strict=True):
            where.show_text(one_line(tilde(path), limit=300))
            show.setEnabled(True)

        async def count(app: App) -> list[int]:
            return [await asyncio.to_thread(size_of, each) for each in places(app.paths)]

        self._session.engine.run(lambda: count(app), self._counted)

    def _counted(self, outcome: Outcome) -> None:
        self._counting = False
        for label, size in zip(self.sizes, outcome.value or (), strict=False):
            label.setText(phrases.size(size) if size else tr("empty"))

    def _open(self, number: int) -> None:
        path = self._first[number]
        act = self._actions.show_folder if path.suffix == ".db" else self._actions.open_file
        act.emit(path)


def tilde(path: Path) -> str:
    """A path, the person's home shortened."""
    home = str(Path.home())
    text = str(path)
    return f"~{text[len(home) :]}" if text.startswith(home + os.sep) else text
