"""A table in an answer: a grid for keyboard and screen reader, which can be copied and saved."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QMimeData,
    QModelIndex,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPalette,
    QResizeEvent,
    QShowEvent,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from jarvis_desktop.core.display import encodable
from jarvis_desktop.core.i18n import tr, trn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.code_view import monospaced
from jarvis_desktop.ui.conversation.markdown import MarkdownTable, Span
from jarvis_desktop.ui.conversation.prose import direction
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import reword
from jarvis_desktop.ui.widgets.icons import IconButton
from jarvis_desktop.ui.widgets.labels import Label, goes_through
from jarvis_desktop.ui.widgets.layout import hbox, vbox

MEASURED_ROWS = 60  # rows that are measured for the width of a column
MAX_COLUMN_PX = 340
MIN_COLUMN_PX = 110  # pixels that a column of many words keeps in a narrow table
MAX_CELL_CHARS = 2000  # characters of a cell that are shown; all of them are copied
PADDING = QSize(12, 7)

Index = QModelIndex | QPersistentModelIndex
_sides = {"right": Qt.AlignmentFlag.AlignRight, "center": Qt.AlignmentFlag.AlignHCenter}


class TableRows(QAbstractTableModel):
    """The model: the first rows of a table."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.grid = MarkdownTable(((),))
        self._most = 0

    def show(self, grid: MarkdownTable, most: int) -> None:
        """Show a table, with at most `most` rows."""
        self.beginResetModel()
        self.grid, self._most = grid, most
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else min(len(self.grid.rows) - 1, self._most)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.grid.sides)

    def words(self, row: int, column: int) -> str:
        """The words of a cell; row -1 is the heading."""
        return encodable(self.grid.words(row + 1, column)[:MAX_CELL_CHARS])

    def side(self, column: int) -> Qt.AlignmentFlag:
        """The alignment of a column."""
        return _sides.get(self.grid.sides[column], Qt.AlignmentFlag.AlignLeading)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The words of a cell."""
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return self.words(index.row(), index.column())
        return None

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation == Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.DisplayRole:
                return self.words(-1, section)[:200]
            if role == Qt.ItemDataRole.TextAlignmentRole:
                return self.side(section) | Qt.AlignmentFlag.AlignVCenter
        return None


class TableGrid(QTableView):
    """The view: as tall as its rows, and as wide as there is room."""

    def __init__(self, rows: TableRows, actions: Actions) -> None:
        super().__init__()
        self._rows = rows
        self._actions = actions
        self.setModel(rows)
        self.setItemDelegate(_Cell(self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(True)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalHeader().hide()
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideRight)
        self.activated.connect(self._follow)

    def fit(self) -> None:
        """Size the columns by their words, and the grid by its rows."""
        if not self.isVisible():
            return  # it will be done when the grid is shown
        columns = range(self._rows.columnCount())
        self.setLayoutDirection(direction([Span(self._rows.words(-1, at)) for at in columns]))
        metrics, bold = self.fontMetrics(), QFont(self.font())
        bold.setBold(True)
        header, room = self.horizontalHeader(), self.viewport().width()
        natural = [self._natural(column, metrics, QFontMetrics(bold)) for column in columns]
        widths = _narrowed(natural, room)
        spare = room - sum(widths)
        # share out the rest, so that the grid ends where the text does
        share, rest = divmod(max(spare, 0), max(len(widths), 1))
        for column, width in enumerate(widths):
            header.resizeSection(column, width + share + (rest if column == 0 else 0))
        self.resizeRowsToContents()
        height = self.verticalHeader().length() + header.sizeHint().height()
        if spare < 0:
            height += self.horizontalScrollBar().sizeHint().height()
        self.setFixedHeight(height + 2 * self.frameWidth())

    def _natural(self, column: int, metrics: QFontMetrics, bold: QFontMetrics) -> int:
        rows = range(min(self._rows.rowCount(), MEASURED_ROWS))
        widths = [metrics.horizontalAdvance(self._rows.words(row, column)[:80]) for row in rows]
        head = bold.horizontalAdvance(str(self._rows.headerData(column, Qt.Orientation.Horizontal)))
        return min(max([head + 6, *widths]) + 2 * PADDING.width() + 2, MAX_COLUMN_PX)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit()

    def changeEvent(self, change: QEvent) -> None:
        super().changeEvent(change)
        if change.type() == QEvent.Type.FontChange and hasattr(self, "_rows"):
            self.fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll sideways only; vertical scrolling is the conversation's."""
        sideways = abs(event.angleDelta().x()) > abs(event.angleDelta().y())
        held = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if sideways or held:
            super().wheelEvent(event)
        else:
            event.ignore()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            data = QMimeData()
            data.setText(self.selected())
            QGuiApplication.clipboard().setMimeData(data)
        elif goes_through(event):
            event.ignore()
        else:
            super().keyPressEvent(event)

    def selected(self) -> str:
        """The selected cells, as tab-separated words."""
        chosen = self.selectionModel().selectedIndexes()
        rows: dict[int, list[str]] = {}
        for index in sorted(chosen, key=lambda index: (index.row(), index.column())):
            words = self._rows.grid.words(index.row() + 1, index.column())
            rows.setdefault(index.row(), []).append(words)
        return "\n".join("\t".join(row) for row in rows.values())

    def _follow(self, index: QModelIndex) -> None:
        """Follow the first link of a cell on Enter or a double click."""
        spans = self._rows.grid.spans(index.row() + 1, index.column())
        if link := next((span.link for span in spans if span.link), ""):
            self._actions.open_link.emit(link)


def _narrowed(widths: Sequence[int], room: int) -> list[int]:
    """Widths that fit into the room, as long as the columns stay readable."""
    result = list(widths)
    while (over := sum(result) - room) > 0 and max(result) > MIN_COLUMN_PX:
        widest = max(result)
        below = max([width for width in result if width < widest], default=MIN_COLUMN_PX)
        columns = [place for place, width in enumerate(result) if width == widest]
        each = min(widest - max(below, MIN_COLUMN_PX), -(-over // len(columns)))
        for place in columns:
            result[place] -= max(each, 1)
    return result


class _Cell(QStyledItemDelegate):
    """Draws a cell's words with their styles."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        box = QRectF(option.rect)
        painter.save()
        if chosen:
            painter.fillRect(box, option.palette.color(QPalette.ColorRole.Highlight))
        painter.setPen(theme.colour("border"))
        painter.drawLine(box.topLeft(), box.topRight())
        painter.setClipRect(box)
        words = self._laid_out(option, index, chosen=chosen)
        painter.setPen(theme.colour("on_accent" if chosen else "text"))
        words.draw(painter, box.topLeft() + QPointF(PADDING.width(), PADDING.height()))
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(theme.colour("accent"))
            painter.drawRect(box.adjusted(1, 1, -1, -1))
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        rows, view = index.model(), self.parent()
        assert isinstance(rows, TableRows)
        assert isinstance(view, QTableView)
        line, metrics = rows.words(index.row(), index.column()), view.fontMetrics()
        room = view.columnWidth(index.column()) - 2 * PADDING.width()
        if 1.15 * metrics.horizontalAdvance(line) < room:  # bold words are a little wider
            return QSize(option.rect.width(), metrics.height() + 2 * PADDING.height())
        words = self._laid_out(option, index)
        height = round(words.boundingRect().height() + 0.49)
        return QSize(option.rect.width(), height + 2 * PADDING.height())

    def _laid_out(
        self, option: QStyleOptionViewItem, index: Index, *, chosen: bool = False
    ) -> QTextLayout:
        rows, view = index.model(), self.parent()
        assert isinstance(rows, TableRows)
        assert isinstance(view, QTableView)
        spans = rows.grid.spans(index.row() + 1, index.column())
        text = encodable("".join(span.text for span in spans)).replace("\n", "\u2028")
        text = text[:MAX_CELL_CHARS]
        words = QTextLayout(text, view.font())
        words.setFormats(_ranges(spans, plain=chosen))
        alignment = QTextOption(rows.side(index.column()))
        alignment.setTextDirection(direction(spans))
        alignment.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        words.setTextOption(alignment)
        width = view.columnWidth(index.column()) - 2 * PADDING.width()
        words.beginLayout()
        down = 0.0
        while (line := words.createLine()).isValid():
            line.setLineWidth(max(20, width))
            line.setPosition(QPointF(0, down))
            down += line.height()
        words.endLayout()
        return words


def _ranges(spans: Sequence[Span], *, plain: bool) -> list[QTextLayout.FormatRange]:
    ranges: list[QTextLayout.FormatRange] = []
    at = 0
    for span in spans:
        length = len(span.text.encode("utf-16-le", "replace")) // 2
        look = QTextCharFormat()
        if span.bold:
            look.setFontWeight(QFont.Weight.DemiBold)
        look.setFontItalic(span.italic)
        look.setFontStrikeOut(span.struck)
        if span.code:
            look.setFontFamilies(monospaced().families())
        if span.link:
            look.setFontUnderline(True)
            if not plain:
                look.setForeground(theme.colour("accent"))
        part = QTextLayout.FormatRange()
        part.start, part.length, part.format = at, length, look
        ranges.append(part)
        at += length
    return ranges


INITIAL_ROWS = 60
ROWS_PER_CLICK = 300


class TableBlock(QFrame):
    """One table with its buttons."""

    def __init__(self, grid: MarkdownTable, actions: Actions) -> None:
        super().__init__()
        self.setObjectName("answertable")
        self._actions = actions
        self._most = INITIAL_ROWS
        self._rows = TableRows(self)
        self.cells = TableGrid(self._rows, actions)
        column = vbox(self.cells, parent=self, margins=1, spacing=0)
        self.more = QPushButton()
        self.more.setProperty("kind", "quiet")
        self.more.clicked.connect(self._show_more)
        self.more.hide()
        half = theme.space("half")
        self.size_line = Label(role="small")
        foot = hbox(self.size_line, self.more, None, margins=(12, half, half, half), spacing=half)
        for icon, name, act in (
            ("copy", tr("Copy the table"), lambda: actions.copy_text.emit(self.tsv())),
            ("text", tr("Copy the table as Markdown"), self._copy_markdown),
            ("save", tr("Save the table as CSV"), self._save),
        ):
            button = IconButton(icon, name, kind="tiny", act=act)
            button.setIconSize(QSize(14, 14))
            foot.addWidget(button)
        column.addLayout(foot)
        self.show_grid(grid)

    def show_grid(self, grid: MarkdownTable) -> None:
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
        words = trn(
            "Show {count} more row", "Show {count} more rows", max(1, min(left, ROWS_PER_CLICK))
        )
        reword(self.more, words)
        self.cells.fit()

    def tsv(self) -> str:
        """The table as tab-separated text, for spreadsheets."""
        return "\n".join("\t".join(row) for row in self._worded())

    def markdown(self) -> str:
        """The table as Markdown."""
        head, *rows = (_line(row) for row in self._grid.rows)
        marks = {"left": ":--", "center": ":-:", "right": "--:"}
        rule = _line([marks.get(side, "---") for side in self._grid.sides])
        return "\n".join([head, rule, *rows])

    def csv(self) -> str:
        """The table as CSV."""
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
        self._most += ROWS_PER_CLICK
        self.show_grid(self._grid)


def _line(cells: Sequence[str]) -> str:
    escaped = (cell.replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"
