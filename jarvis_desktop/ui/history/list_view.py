"""The list of the sidebar: conversations by date, or search results.

Titles and snippets are drawn as plain text, never as HTML. All rows are equally tall, so that a
list of 100,000 rows is laid out at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QDate,
    QItemSelectionModel,
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    QTime,
    Signal,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPen,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QLineEdit,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.ui.widgets import icons, theme
from jarvis_desktop.ui.widgets.timers import new_timer

Index = QModelIndex | QPersistentModelIndex
ROW = Qt.ItemDataRole.UserRole
"""The HistoryRow of an item; None for a heading."""
STATE = Qt.ItemDataRole.UserRole + 1
"""The state of an item."""

NAMELESS = mark("Spoken request")


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """A conversation, or a turn that was found in one."""

    id: str
    title: str
    when: datetime
    pinned: bool = False
    turn_id: str = ""
    snippet: str = ""
    spots: tuple[tuple[int, int], ...] = ()

    @property
    def name(self) -> str:
        """The title as it is shown."""
        return one_line(self.title, limit=200) or tr(NAMELESS)


@dataclass(frozen=True, slots=True)
class HistoryRowState:
    """What a row shows besides its text."""

    open: bool = False
    running: bool = False
    asking: bool = False
    """Whether what runs waits for an answer of the user."""
    unread: bool = False


class HistoryModel(QAbstractListModel):
    """Conversations below date headings, or search results without headings."""

    more_wanted = Signal()
    """The user has scrolled near the end of the rows."""
    renamed = Signal(str, str)
    """Carries the id of a conversation and its new title."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines: list[HistoryRow | str] = []
        self._more = False
        self._today = date.today()
        self._open = ""
        self._running: Collection[str] = ()
        self._asking: Collection[str] = ()
        self._unread: Collection[str] = ()

    def show(self, rows: Sequence[HistoryRow], today: date, *, more: bool) -> bool:
        """Replace the rows and return whether they changed; `more` says whether further ones can be
        read."""
        self._more = more
        self._today = today
        lines = list(self._with_headings(rows, ""))
        if lines == self._lines:
            return False
        self.beginResetModel()
        self._lines = lines
        self.endResetModel()
        return True

    def extend(self, rows: Sequence[HistoryRow], *, more: bool) -> None:
        """Append rows."""
        self._more = more
        heading = next((line for line in reversed(self._lines) if isinstance(line, str)), "")
        if lines := list(self._with_headings(rows, heading)):
            first = len(self._lines)
            self.beginInsertRows(QModelIndex(), first, first + len(lines) - 1)
            self._lines += lines
            self.endInsertRows()

    def mark(
        self,
        *,
        opened: str,
        running: Collection[str] = (),
        asking: Collection[str] = (),
        unread: Collection[str] = (),
    ) -> None:
        """Set which conversation is open, and which run, wait for an answer or are new, by their
        ids."""
        self._open, self._running = opened, running
        self._asking, self._unread = asking, unread
        if self._lines:
            self.dataChanged.emit(self.index(0), self.index(len(self._lines) - 1))

    def running_rows(self) -> list[QModelIndex]:
        """The indexes of the conversations that run."""
        found = (self.find(conversation_id) for conversation_id in self._running)
        return [index for index in found if index.isValid()]

    def rows(self) -> list[HistoryRow]:
        """All rows, in order."""
        return [line for line in self._lines if isinstance(line, HistoryRow)]

    def find(self, conversation_id: str, turn_id: str = "") -> QModelIndex:
        """Return the index of a conversation or of a turn in it; invalid if there is none."""
        for number, line in enumerate(self._lines):
            if isinstance(line, HistoryRow) and (line.id, line.turn_id) == (
                conversation_id,
                turn_id,
            ):
                return self.index(number)
        return QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - as Qt has it
        return 0 if parent.isValid() else len(self._lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the data of an item."""
        if not index.isValid():
            return None
        line = self._lines[index.row()]
        if role == ROW:
            return line if isinstance(line, HistoryRow) else None
        if isinstance(line, str):
            heard = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
            return line if role in heard else None
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.EditRole:
                return line.name
            case Qt.ItemDataRole.AccessibleTextRole:
                return self._heard(line)
            case _ if role == STATE:
                return self._state(line)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Return the flags: only a conversation can be renamed, and a heading not selected."""
        row = self.data(index, ROW)
        if row is None:
            return Qt.ItemFlag.NoItemFlags
        usual = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return usual if row.turn_id else usual | Qt.ItemFlag.ItemIsEditable

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Emit the new title; it is shown once it is saved."""
        row = self.data(index, ROW)
        title = one_line(str(value), limit=120)
        if row is None or not title or title == row.title:
            return False
        self.renamed.emit(row.id, title)
        return True

    def canFetchMore(self, parent: Index) -> bool:
        return self._more and not parent.isValid()

    def fetchMore(self, parent: Index) -> None:
        """Request more rows."""
        self._more = False
        self.more_wanted.emit()

    def _with_headings(
        self, rows: Sequence[HistoryRow], heading: str
    ) -> Iterator[HistoryRow | str]:
        for row in rows:
            above = "" if row.turn_id else self._heading(row)
            if above != heading:
                heading = above
                yield above
            yield row

    def _heading(self, row: HistoryRow) -> str:
        if row.pinned:
            return tr("Pinned")
        return day_heading(row.when.astimezone().date(), self._today)

    def _state(self, row: HistoryRow) -> HistoryRowState:
        if row.turn_id:
            return HistoryRowState()
        return HistoryRowState(
            row.id == self._open,
            row.id in self._running,
            row.id in self._asking,
            row.id in self._unread,
        )

    def _heard(self, row: HistoryRow) -> str:
        """Return the text for a screen reader."""
        state = self._state(row)
        said = [row.name, QLocale().toString(_day(row.when))]
        said += [row.snippet] * bool(row.snippet)
        said += [tr("pinned")] * row.pinned + [tr("open")] * state.open
        said += [tr("a request runs")] * state.running + [tr("has a new answer")] * state.unread
        said += [tr("waits for your answer")] * state.asking
        return ", ".join(said)


def day_heading(when: date, today: date) -> str:
    """Return the heading for a day."""
    age = (today - when).days
    if age <= 0:
        return tr("Today")
    if age == 1:
        return tr("Yesterday")
    if age < 7:
        return tr("Last seven days")
    if (when.year, when.month) == (today.year, today.month):
        return tr("This month")
    month = QLocale().standaloneMonthName(when.month)
    month = month[:1].upper() + month[1:]
    return tr("{month} {year}", month=month, year=when.year)


def short_day(when: datetime, today: date) -> str:
    """Format a time briefly: the time of today, the day of this year, or the month."""
    moment, locale = when.astimezone(), QLocale()
    if moment.date() == today:
        time = QTime(moment.hour, moment.minute)
        return locale.toString(time, QLocale.FormatType.ShortFormat)
    if moment.year == today.year:
        name = locale.monthName(moment.month, QLocale.FormatType.ShortFormat)
        return tr("{day} {month}", day=moment.day, month=name)
    return locale.toString(_day(when), "yyyy-MM-dd")


def _day(when: datetime) -> QDate:
    day = when.astimezone()
    return QDate(day.year, day.month, day.day)


SIDE = 10
"""Pixels between the edge of a row and its text."""
TALL = 16
"""Height of a row in pixels, without its text."""
RADIUS = 8.0
LINES = 2
"""Lines of a snippet."""
MARK = 14
"""Size in pixels of an icon at the end of a row."""
TURN_MS, TURN_DEGREES = 80, 24
"""How the ring of a running conversation turns."""


class RowDelegate(QStyledItemDelegate):
    """Draws headings, conversations and search results."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.today = date.today()
        self._begin = Qt.AlignmentFlag.AlignLeft
        self.turned = 0.0
        """Degrees by which the rings of running conversations are turned."""
        self.passages = False
        """Whether the rows are search results, with a snippet below each title."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        height = QFontMetrics(option.font).height() + TALL
        if self.passages:
            height += LINES * QFontMetrics(_small(option.font)).lineSpacing() + 2
        return QSize(80, height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw a heading, a conversation or a search result."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        # Each text runs as its own letters do, from the side where lines of the window begin.
        painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        self._begin = _beginning(option.direction)
        row = index.data(ROW)
        if row is None:
            self._heading(painter, option, str(index.data()))
        else:
            state: HistoryRowState = index.data(STATE)
            ink = self._ground(painter, option, state)
            inner = option.rect.adjusted(SIDE, 0, -SIDE, 0)
            if self.passages:
                self._find(painter, option, row, inner, ink)
            else:
                self._conversation(painter, option, row, state, inner, ink)
        painter.restore()

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        field = QLineEdit(parent)
        field.setProperty("role", "rename")
        field.setMaxLength(120)
        field.setAccessibleName(tr("New title of the conversation"))
        return field

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: Index
    ) -> None:
        editor.setGeometry(option.rect.adjusted(1, 1, -1, -1))

    def _ground(
        self, painter: QPainter, option: QStyleOptionViewItem, state: HistoryRowState
    ) -> str:
        """Draw the background and return the text colour."""
        box = QRectF(option.rect).adjusted(1, 1, -1, -1)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        focused = chosen and bool(option.state & QStyle.StateFlag.State_HasFocus)
        painter.setPen(Qt.PenStyle.NoPen)
        # What the keyboard is on has a frame, so that only the open conversation is filled.
        filled = state.open or (chosen and self.passages)
        if filled:
            painter.setBrush(theme.colour("soft"))
            painter.drawRoundedRect(box, RADIUS, RADIUS)
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.setBrush(theme.colour("hover"))
            painter.drawRoundedRect(box, RADIUS, RADIUS)
        if focused:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.colour("accent"), 2))
            painter.drawRoundedRect(box, RADIUS, RADIUS)
        return "on_soft" if filled else "text"

    def _heading(self, painter: QPainter, option: QStyleOptionViewItem, words: str) -> None:
        font = _small(option.font)
        font.setWeight(QFont.Weight.DemiBold)
        inner = option.rect.adjusted(SIDE, 0, -SIDE, -5)
        _draw(painter, font, "muted", inner, words, self._begin | Qt.AlignmentFlag.AlignBottom)

    def _conversation(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        row: HistoryRow,
        state: HistoryRowState,
        inner: QRect,
        ink: str,
    ) -> None:
        rest = QRect(inner)
        if state.running or state.unread:
            self._mark(painter, _end_of(rest, MARK, option), state)
        if row.pinned:
            place = _end_of(rest, MARK, option)
            ratio = painter.device().devicePixelRatioF()
            colour = "on_soft" if ink == "on_soft" else "muted"
            painter.drawPixmap(place, icons.pixmap("pin", colour, size=MARK, ratio=ratio))
        font = QFont(option.font)
        if state.unread:
            font.setWeight(QFont.Weight.DemiBold)
        _draw(painter, font, ink, rest, row.name, self._begin | Qt.AlignmentFlag.AlignVCenter)

    def _mark(self, painter: QPainter, place: QRect, state: HistoryRowState) -> None:
        """Draw a turning ring for a running request, a question mark if it waits for an answer,
        and a dot for a new answer."""
        if state.asking:
            ratio = painter.device().devicePixelRatioF()
            painter.drawPixmap(place, icons.pixmap("question", "accent", size=MARK, ratio=ratio))
            return
        ink = theme.colour("accent")
        box = QRectF(place).adjusted(2, 2, -2, -2)
        if state.running:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.colour("border"), 2))
            painter.drawEllipse(box)
            painter.setPen(QPen(ink, 2, c=Qt.PenCapStyle.RoundCap))
            painter.drawArc(box, -round(self.turned * 16), 100 * 16)
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink)
            painter.drawEllipse(QRectF(place).center(), 4, 4)

    def _find(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        row: HistoryRow,
        inner: QRect,
        ink: str,
    ) -> None:
        small = _small(option.font)
        muted = "on_soft" if ink == "on_soft" else "muted"
        top = QRect(inner.left(), inner.top() + TALL // 2, inner.width(), 0)
        top.setHeight(QFontMetrics(option.font).height())
        day = short_day(row.when, self.today)
        width = QFontMetrics(small).horizontalAdvance(day)
        place = _end_of(top, width, option, gap=8)
        place.setHeight(top.height())
        place.moveTop(top.top())
        _draw(painter, small, muted, place, day, self._begin | Qt.AlignmentFlag.AlignVCenter)
        font = QFont(option.font)
        font.setWeight(QFont.Weight.DemiBold)
        _draw(painter, font, ink, top, row.name, self._begin | Qt.AlignmentFlag.AlignVCenter)
        below = QRectF(inner.left(), top.bottom() + 2, inner.width(), inner.height())
        self._passage(painter, small, row, below, ink)

    def _passage(
        self,
        painter: QPainter,
        font: QFont,
        row: HistoryRow,
        place: QRectF,
        ink: str,
    ) -> None:
        """Lay out two lines of text with highlighted matches."""
        layout = QTextLayout(row.snippet, font)
        wrapping = QTextOption()
        wrapping.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        wrapping.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        wrapping.setAlignment(self._begin)
        layout.setTextOption(wrapping)
        layout.setFormats([_found(start, end) for start, end in row.spots])
        layout.beginLayout()
        height = 0.0
        for _ in range(LINES):
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(place.width())
            line.setPosition(QPointF(0, height))
            height += line.height()
        layout.endLayout()
        painter.setPen(theme.colour("on_soft" if ink == "on_soft" else "muted"))
        layout.draw(painter, place.topLeft())


def _beginning(direction: Qt.LayoutDirection) -> Qt.AlignmentFlag:
    """Return the side where lines begin."""
    right = direction == Qt.LayoutDirection.RightToLeft
    side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignAbsolute


def _found(start: int, end: int) -> QTextLayout.FormatRange:
    look = QTextCharFormat()
    look.setFontWeight(QFont.Weight.DemiBold)
    look.setForeground(theme.colour("text"))
    look.setBackground(theme.colour("warning_soft"))
    marked = QTextLayout.FormatRange()
    marked.start, marked.length, marked.format = start, end - start, look
    return marked


def _small(font: QFont) -> QFont:
    small = QFont(font)
    scale = theme.tokens().scale
    small.setPointSizeF(font.pointSizeF() * scale["small"] / scale["body"])
    return small


def _end_of(rest: QRect, width: int, option: QStyleOptionViewItem, *, gap: int = 6) -> QRect:
    """Cut an area of that width off the end of a row."""
    whole = QRect(rest)
    rest.setWidth(rest.width() - width - gap)
    place = QRect(whole.right() - width + 1, 0, width, width)
    if option.direction == Qt.LayoutDirection.RightToLeft:
        rest.moveRight(whole.right())
        place.moveLeft(whole.left())
    place.moveTop(whole.top() + (whole.height() - width) // 2)
    return place


def _draw(
    painter: QPainter,
    font: QFont,
    colour: str,
    place: QRect,
    words: str,
    alignment: Qt.AlignmentFlag,
) -> None:
    """Draw one line, elided with "…" if it does not fit."""
    painter.setFont(font)
    painter.setPen(theme.colour(colour))
    painter.drawText(place, alignment, elided(words, QFontMetrics(font), place.width()))


def elided(words: str, metrics: QFontMetrics, width: int) -> str:
    """The words, elided with "…" if they need more pixels than `width`."""
    # Qt rounds the width of a text to pixels, but elides by fractions of them.
    if metrics.horizontalAdvance(words) <= width:
        return words
    return metrics.elidedText(words, Qt.TextElideMode.ElideRight, width)


class HistoryList(QListView):
    """The list with its keys and menu. Actions are emitted as signals."""

    chosen = Signal(object)
    """Carries the HistoryRow to open."""
    pin_wanted = Signal(object)
    """Carries the HistoryRow to pin or unpin."""
    delete_wanted = Signal(object)
    """Carries the HistoryRow whose conversation or turn to delete."""
    export_wanted = Signal(object)
    """Carries the HistoryRow whose conversation to export."""
    left = Signal()
    """The user has pressed Up on the first row."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("history")
        self.setAccessibleName(tr("Conversations"))
        self.lines = HistoryModel(self)
        self.setModel(self.lines)
        self.drawing = RowDelegate(self)
        self.setItemDelegate(self.drawing)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._turning = new_timer(self, self._turn, TURN_MS, repeat=True)

    def show_states(
        self,
        *,
        opened: str,
        running: Collection[str] = (),
        asking: Collection[str] = (),
        unread: Collection[str] = (),
    ) -> None:
        """Show the states of conversations, by their ids."""
        self.lines.mark(opened=opened, running=running, asking=asking, unread=unread)
        self.viewport().update()
        if set(running) - set(asking) and theme.duration():
            self._turning.start()
        else:
            self._turning.stop()
        searching, editing = self.drawing.passages, self.State.EditingState
        at = self.lines.find(opened)
        if at.isValid() and not (searching or self.hasFocus() or self.state() == editing):
            self.go_to(at, scroll=False)  # the keyboard begins at the open one

    def row(self) -> HistoryRow | None:
        """The selected row."""
        found: HistoryRow | None = self.currentIndex().data(ROW)
        return found

    def show_passages(self, passages: bool) -> None:
        """Show snippets below the titles, or titles alone."""
        if passages != self.drawing.passages:
            self.drawing.passages = passages
            self.scheduleDelayedItemsLayout()

    def go_to(self, index: QModelIndex, *, scroll: bool = True) -> None:
        """Select a row without opening it."""
        mode = QItemSelectionModel.SelectionFlag.ClearAndSelect
        self.selectionModel().setCurrentIndex(index, mode)
        if scroll and index.isValid():
            self.scrollTo(index)

    def enter(self) -> None:
        """Focus the list, at the first row if none is selected."""
        self.setFocus()
        if self.row() is None:
            self.go_to(self._next(-1, 1))

    def rename(self) -> None:
        """Edit the title in place."""
        if self.currentIndex().flags() & Qt.ItemFlag.ItemIsEditable:
            self.edit(self.currentIndex())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle the keys: Enter opens, F2 renames, Delete deletes, and Up leaves the first row."""
        row, at = self.row(), self.currentIndex().row()
        match event.key():
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if row:
                self.chosen.emit(row)
            case Qt.Key.Key_F2:
                self.rename()
            case Qt.Key.Key_Delete if row:
                self.delete_wanted.emit(row)
            case Qt.Key.Key_Up | Qt.Key.Key_Down if not event.modifiers():
                by = 1 if event.key() == Qt.Key.Key_Down else -1
                there = self._next(at, by)
                if there.isValid():
                    self.go_to(there)
                elif by < 0:
                    self.left.emit()
            case _:
                super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        row: HistoryRow | None = self.indexAt(event.position().toPoint()).data(ROW)
        if event.button() == Qt.MouseButton.LeftButton and row:
            self.chosen.emit(row)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        by_mouse = event.reason() == QContextMenuEvent.Reason.Mouse
        index = self.indexAt(event.pos()) if by_mouse else self.currentIndex()
        if index.data(ROW):
            self.go_to(index, scroll=False)
            place = event.pos() if by_mouse else self.visualRect(index).center()
            self.open_menu(place)

    def open_menu(self, place: QPoint) -> QMenu:
        """Show the menu of the selected row."""
        row = self.row()
        assert row
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setAccessibleName(tr("What can be done with this conversation"))

        def offer(icon: str, words: str, keys: str, act: Callable[[], object]) -> None:
            shown = f"{words}\t{keys}" if keys else words
            menu.addAction(icons.icon(icon, "muted"), shown).triggered.connect(lambda: act())

        offer("open", tr("Open"), tr("Enter"), lambda: self.chosen.emit(row))
        if not row.turn_id:
            offer("edit", tr("Rename"), "F2", self.rename)
            pin = tr("Unpin") if row.pinned else tr("Pin")
            offer("pin", pin, "", lambda: self.pin_wanted.emit(row))
        offer("save", tr("Export…"), "", lambda: self.export_wanted.emit(row))
        menu.addSeparator()
        offer("trash", tr("Delete"), tr("Del"), lambda: self.delete_wanted.emit(row))
        menu.popup(self.viewport().mapToGlobal(place))
        return menu

    def _turn(self) -> None:
        self.drawing.turned = (self.drawing.turned + TURN_DEGREES) % 360
        for row in self.lines.running_rows():
            self.update(row)

    def _next(self, at: int, by: int) -> QModelIndex:
        """Return the next row that is not a heading; invalid at the end."""
        at += by
        while 0 <= at < self.lines.rowCount():
            index = self.lines.index(at)
            if index.data(ROW):
                return index
            at += by
        return QModelIndex()
