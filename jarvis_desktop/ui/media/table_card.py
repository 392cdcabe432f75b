"""A card with the first rows of a table."""

from __future__ import annotations

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QFrame, QTableView

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import tr, trn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.media.file_actions import FileError, FileLine
from jarvis_desktop.ui.media.previews import TablePreview
from jarvis_desktop.ui.widgets import icons, theme
from jarvis_desktop.ui.widgets.flow_layout import hbox, vbox
from jarvis_desktop.ui.widgets.icons import Symbol
from jarvis_desktop.ui.widgets.labels import Label

VISIBLE_ROWS = 8
MAX_COLUMN_PX = 260
CELL_PADDING_PX = 32
MEASURED_ROWS = 40
"""Rows that are measured for the width of a column."""

Index = QModelIndex | QPersistentModelIndex


class PreviewRows(QAbstractTableModel):
    """The model of a Preview."""

    def __init__(self, preview: TablePreview, parent: QObject) -> None:
        super().__init__(parent)
        self._preview = preview

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - as Qt has it
        return 0 if parent.isValid() else len(self._preview.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - as Qt has it
        return 0 if parent.isValid() else len(self._preview.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        cell = self._preview.rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return cell
        if role == Qt.ItemDataRole.TextAlignmentRole and is_number(cell):
            return Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter
        return None

    def headerData(
        self, section: int, side: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if side == Qt.Orientation.Vertical:
            return section + 1
        return self._preview.columns[section] or str(section + 1)


class PreviewTable(QTableView):
    """Shows the rows; leaves scrolling to the conversation unless it has the keyboard."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName("grid")
        self.setAccessibleName(name)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAlternatingRowColors(True)
        self.setShowGrid(False)
        self.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setDefaultAlignment(
            Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter
        )
        self.verticalHeader().setHighlightSections(False)

    def show_preview(self, preview: TablePreview) -> None:
        """Show the rows, as many as fit."""
        self.setModel(PreviewRows(preview, self))
        head, metrics = self.horizontalHeader(), self.fontMetrics()
        row = metrics.height() + 8
        self.verticalHeader().setDefaultSectionSize(row)
        for column in range(len(preview.columns)):
            cells = [line[column][:80] for line in preview.rows[:MEASURED_ROWS]]
            width = max(metrics.horizontalAdvance(cell) for cell in cells) + CELL_PADDING_PX
            width = max(width, head.sectionSizeHint(column))
            self.setColumnWidth(column, min(width, MAX_COLUMN_PX))
        head.setStretchLastSection(True)
        shown = max(1, min(len(preview.rows), VISIBLE_ROWS))
        bar = self.horizontalScrollBar().sizeHint().height()
        self.setFixedHeight(head.sizeHint().height() + shown * row + bar)

    def chosen(self) -> str:
        """The selected cells as tab-separated text."""
        rows: dict[int, list[str]] = {}
        for index in sorted(self.selectedIndexes(), key=lambda each: (each.row(), each.column())):
            rows.setdefault(index.row(), []).append(str(index.data()))
        return "\n".join("\t".join(row) for row in rows.values())

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class TableCard(QFrame):
    """The file, and its first rows as a grid."""

    def __init__(self, artifact: Artifact, actions: Actions) -> None:
        super().__init__()
        assert artifact.path is not None
        self.setObjectName("card")
        self._path, self._actions, self._seen = artifact.path, actions, False
        self.line = FileLine(artifact, actions)
        self.grid = PreviewTable(tr("Rows of {file}", file=one_line(artifact.title)))
        self.grid.hide()
        self.trouble = FileError(artifact, actions)
        self.note = Label(role="small", wrap=True)
        self.note.hide()
        head = hbox(
            Symbol(icons.FOR_KIND[artifact.kind], size=20),
            (self.line, 1),
            margins=(12, theme.space(), theme.space(), 0),
            spacing=12,
        )
        foot = vbox(self.note, self.trouble, margins=(12, 0, 12, theme.space()))
        vbox(head, self.grid, foot, parent=self, margins=1, spacing=theme.space())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Read the file once the card is visible."""
        super().paintEvent(event)
        if not self._seen:
            self._seen = True
            self._actions.media.look(self, "table", self._path, then=self._found)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy) and (chosen := self.grid.chosen()):
            self._actions.copy_text.emit(chosen)
        else:
            super().keyPressEvent(event)

    def _found(self, outcome: Outcome) -> None:
        preview = outcome.value
        if outcome.error:
            self.trouble.say(outcome.error.message)
        elif isinstance(preview, TablePreview):
            rows = (preview.columns, *preview.rows) if any(preview.columns) else preview.rows
            self.line.deeds.text = "\n".join("\t".join(row) for row in rows)
            columns = trn("{count} column", "{count} columns", len(preview.columns))
            if preview.more:
                self.note.setText(tr("The first {count} rows.", count=len(preview.rows)))
                self.note.show()
                self.line.show_facts(columns)
            else:
                count = trn("{count} row", "{count} rows", len(preview.rows))
                self.line.show_facts(count, columns)
            self.grid.show_preview(preview)
            self.grid.show()


def is_number(cell: str) -> bool:
    """Whether a cell is aligned like a number."""
    digits = sum(letter.isdigit() for letter in cell)
    return digits > 0 and digits * 2 >= len(cell) and not any(map(str.isalpha, cell))
