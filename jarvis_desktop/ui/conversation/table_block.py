"""A table in an answer: a real grid that is scrolled sideways, copied and saved."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from PySide6.QtCore import (
    QSize,
)
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
)

from jarvis_desktop.core.wording import tr, trn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.markdown import Grid
from jarvis_desktop.ui.conversation.table_cells import Cells, Rows
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.icons import IconButton
from jarvis_desktop.ui.look.text import Label

AT_ONCE = 60
"""Rows that are shown until more is asked for."""
MORE = 300


class TableBlock(QFrame):
    """One table."""

    def __init__(self, grid: Grid, actions: Actions) -> None:
        super().__init__()
        self.setObjectName("answertable")
        self._actions = actions
        self._most = AT_ONCE
        self._rows = Rows(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        self.cells = Cells(self._rows, actions)
        column.addWidget(self.cells)
        self.more = QPushButton()
        self.more.setProperty("kind", "quiet")
        self.more.clicked.connect(self._show_more)
        self.more.hide()
        foot = QHBoxLayout()
        half = theme.space("half")
        foot.setContentsMargins(12, half, half, half)
        foot.setSpacing(half)
        self.size_line = Label(role="small")
        foot.addWidget(self.size_line)
        foot.addWidget(self.more)
        foot.addStretch(1)
        for icon, name, act in (
            ("copy", tr("Copy the table"), lambda: actions.copy_text.emit(self.tsv())),
            ("text", tr("Copy the table as Markdown"), self._copy_markdown),
            ("save", tr("Save the table as CSV"), self._save),
        ):
            button = IconButton(icon, name, kind="tiny")
            button.setIconSize(QSize(14, 14))
            button.clicked.connect(act)
            foot.addWidget(button)
        column.addLayout(foot)
        self.show_grid(grid)

    def show_grid(self, grid: Grid) -> None:
        """Show another table."""
        self._grid = grid
        self._rows.show(grid, self._most)
        rows, columns = len(grid.rows) - 1, len(grid.sides)
        across = trn("{count} column", "{count} columns", columns)
        size = trn("{count} row", "{count} rows", rows)
        self.size_line.setText(tr("{rows}, {columns}", rows=size, columns=across))
        self.cells.setAccessibleName(tr("Table with {rows}, {columns}", rows=size, columns=across))
        left = rows - self._most
        self.more.setVisible(left > 0)
        words = trn("Show {count} more row", "Show {count} more rows", max(1, min(left, MORE)))
        self.more.setText(words)
        self.more.setAccessibleName(words)
        self.cells.fit()

    def tsv(self) -> str:
        """The table as spreadsheets take it from the clipboard."""
        return "\n".join("\t".join(row) for row in self._worded())

    def markdown(self) -> str:
        """The table as Markdown."""
        head, *rows = (_line(row) for row in self._grid.rows)
        marks = {"left": ":--", "center": ":-:", "right": "--:"}
        rule = _line([marks.get(side, "---") for side in self._grid.sides])
        return "\n".join([head, rule, *rows])

    def csv(self) -> str:
        """The table as a file."""
        written = io.StringIO()
        csv.writer(written).writerows(self._worded())
        return written.getvalue()

    def _worded(self) -> list[list[str]]:
        columns, rows = range(len(self._grid.sides)), range(len(self._grid.rows))
        return [[self._grid.words(row, column) for column in columns] for row in rows]

    def _copy_markdown(self) -> None:
        self._actions.copy_text.emit(self.markdown())

    def _save(self) -> None:
        self._actions.save_text.emit(tr("table.csv"), self.csv())

    def _show_more(self) -> None:
        self._most += MORE
        self.show_grid(self._grid)


def _line(cells: Sequence[str]) -> str:
    escaped = (cell.replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"
