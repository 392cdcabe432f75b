"""The page on which every key is listed."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout

from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.page import Page
from jarvis_desktop.ui.look.section import Section, button
from jarvis_desktop.ui.look.text import Label
from jarvis_desktop.ui.places import PLACES, Surroundings
from jarvis_desktop.ui.shortcuts import (
    AS_BEFORE,
    GROUPS,
    LEFT_TO_RIGHT,
    WINDOW,
    Shortcut,
    shown,
)

TOLD = mark("What can be done with the keyboard. Tab goes on to the next thing.")
GLOBAL = mark("The keys that work in every program are chosen in the settings.")


class ShortcutsPage(Page):
    """Only to be read."""

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__(tr("Keyboard shortcuts"), tr(TOLD))
        pages = tuple(Shortcut((each.keys,), each.title) for each in PLACES if each.keys)
        for title, table in GROUPS:
            self.column.addWidget(_group(tr(title), table + pages if table is WINDOW else table))
        self.column.addWidget(Label(tr(GLOBAL), role="small", wrap=True))
        self.choose = button(tr("Choose them"))
        self.choose.clicked.connect(lambda: surroundings.actions.go.emit("settings", "keys"))
        self.column.addWidget(self.choose, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addStretch(1)


def _group(title: str, table: tuple[Shortcut, ...]) -> Section:
    section = Section(title)
    grid = QGridLayout()
    grid.setHorizontalSpacing(theme.space("two"))
    grid.setVerticalSpacing(theme.space("half"))
    grid.setColumnStretch(0, 1)
    for row, shortcut in enumerate(table):
        words, keys = tr(shortcut.words), ", ".join(map(shown, shortcut.keys))
        grid.addWidget(Label(words, wrap=True), row, 0)
        grid.addWidget(
            Label(f"{LEFT_TO_RIGHT}{keys}{AS_BEFORE}", role="tag"),
            row,
            1,
            Qt.AlignmentFlag.AlignRight,
        )
    section.column.addLayout(grid)
    return section
