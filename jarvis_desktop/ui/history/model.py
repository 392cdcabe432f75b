"""The lines of the side list: conversations by date, or the turns that were found."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QDate,
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    QTime,
    Signal,
)

from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import mark, tr

Index = QModelIndex | QPersistentModelIndex
ROW = Qt.ItemDataRole.UserRole
"""The Row of a line; None for a heading."""
STATE = Qt.ItemDataRole.UserRole + 1
"""Its State."""

NAMELESS = mark("Spoken request")


@dataclass(frozen=True, slots=True)
class Row:
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
class State:
    """What a line shows besides its words."""

    open: bool = False
    running: bool = False
    unread: bool = False


class HistoryModel(QAbstractListModel):
    """Conversations stand below headings; turns that were found do not."""

    more_wanted = Signal()
    """Whoever looks comes near the end of what was read."""
    renamed = Signal(str, str)
    """Carries the id of a conversation and the title that the person wrote."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines: list[Row | str] = []
        self._more = False
        self._today = date.today()
        self._open = ""
        self._running: Collection[str] = ()
        self._unread: Collection[str] = ()

    def show(self, rows: Sequence[Row], today: date, *, more: bool) -> bool:
        """Show these from the beginning; `more` says whether there are more to be read.

        Tells whether the lines are others than before.
        """
        self._more = more
        self._today = today
        lines = list(self._with_headings(rows, ""))
        if lines == self._lines:
            return False
        self.beginResetModel()
        self._lines = lines
        self.endResetModel()
        return True

    def extend(self, rows: Sequence[Row], *, more: bool) -> None:
        """Show these after the others."""
        self._more = more
        heading = next((line for line in reversed(self._lines) if isinstance(line, str)), "")
        if lines := list(self._with_headings(rows, heading)):
            first = len(self._lines)
            self.beginInsertRows(QModelIndex(), first, first + len(lines) - 1)
            self._lines += lines
            self.endInsertRows()

    def mark(self, *, opened: str, running: Collection[str], unread: Collection[str]) -> None:
        """Say which conversation is open, and where something runs or is new, by their ids."""
        self._open, self._running, self._unread = opened, running, unread
        if self._lines:
            self.dataChanged.emit(self.index(0), self.index(len(self._lines) - 1), [STATE])

    def rows(self) -> list[Row]:
        """All that was read, in their order."""
        return [line for line in self._lines if isinstance(line, Row)]

    def find(self, conversation_id: str, turn_id: str = "") -> QModelIndex:
        """The line of a conversation, or of a turn in it; an invalid one where there is none."""
        for number, line in enumerate(self._lines):
            if isinstance(line, Row) and (line.id, line.turn_id) == (conversation_id, turn_id):
                return self.index(number)
        return QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - as Qt has it
        """How many lines there are."""
        return 0 if parent.isValid() else len(self._lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a line is and says."""
        if not index.isValid():
            return None
        line = self._lines[index.row()]
        if role == ROW:
            return line if isinstance(line, Row) else None
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
        """A heading is only read; a conversation can be renamed."""
        row = self.data(index, ROW)
        if row is None:
            return Qt.ItemFlag.NoItemFlags
        usual = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return usual if row.turn_id else usual | Qt.ItemFlag.ItemIsEditable

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Rename a conversation; the new title is there once it is written."""
        row = self.data(index, ROW)
        title = one_line(str(value), limit=120)
        if row is None or not title or title == row.title:
            return False
        self.renamed.emit(row.id, title)
        return True

    def canFetchMore(self, parent: Index) -> bool:
        """Whether there are more to be read."""
        return self._more and not parent.isValid()

    def fetchMore(self, parent: Index) -> None:
        """Ask for them; they come a moment later."""
        self._more = False
        self.more_wanted.emit()

    def _with_headings(self, rows: Sequence[Row], heading: str) -> Iterator[Row | str]:
        for row in rows:
            above = "" if row.turn_id else self._heading(row)
            if above != heading:
                heading = above
                yield above
            yield row

    def _heading(self, row: Row) -> str:
        if row.pinned:
            return tr("Pinned")
        return day_heading(row.when.astimezone().date(), self._today)

    def _state(self, row: Row) -> State:
        if row.turn_id:
            return State()
        return State(row.id == self._open, row.id in self._running, row.id in self._unread)

    def _heard(self, row: Row) -> str:
        """What a screen reader says of it."""
        state = self._state(row)
        said = [row.name, QLocale().toString(_day(row.when))]
        said += [row.snippet] * bool(row.snippet)
        said += [tr("pinned")] * row.pinned + [tr("open")] * state.open
        said += [tr("a request runs")] * state.running + [tr("has a new answer")] * state.unread
        return ", ".join(said)


def day_heading(when: date, today: date) -> str:
    """The heading under which a day stands."""
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
    """A moment in few letters: the time of today, the day of this year, or the month."""
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
