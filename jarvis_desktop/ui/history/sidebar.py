"""The list of conversations beside the open one: by date, with a search field."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from functools import partial

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QMenu, QSizePolicy, QVBoxLayout, QWidget

from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.storage.filters import Filters
from jarvis_desktop.ui.history.desk import Batch
from jarvis_desktop.ui.history.list_view import HistoryList
from jarvis_desktop.ui.history.model import Row
from jarvis_desktop.ui.history.search_field import SearchField
from jarvis_desktop.ui.look import icons, theme
from jarvis_desktop.ui.look.icons import IconButton, Symbol
from jarvis_desktop.ui.look.text import Label
from jarvis_desktop.ui.places import PLACES

WIDTH = 272
"""Pixels, where type is of its usual size."""
LETTERS = 35
"""Letters that are to find room, where it is larger."""

NOTHING_YET = mark("Your conversations will be listed here, by the day.")
NOTHING_FOUND = mark("Nothing has these words. Fewer words find more.")
NOTHING_LEFT = mark("Nothing passes these filters.")


class Sidebar(QFrame):
    """Chooses a conversation, begins one, searches."""

    opened = Signal(str, str)
    """Carries the ids of the conversation that was chosen and of the turn in it, or ""."""
    new_wanted = Signal(bool)
    """A new conversation is wanted; carries whether it is to be kept."""
    aside_wanted = Signal()
    """The person wants back to the conversation that is not kept."""
    place_wanted = Signal(str, str)
    """Carries the name of the page that the person wants, and what of it."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("sidebar")
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(theme.space())
        column.addLayout(self._head())
        column.addLayout(self._beginnings())
        self.search = SearchField()
        column.addWidget(self.search)
        self.list = HistoryList()
        self.list.chosen.connect(lambda row: self.opened.emit(row.id, row.turn_id))
        self.list.left.connect(self.search.setFocus)
        self.search.down.connect(self.list.enter)
        self.search.searched.connect(self._sought)
        self.search.entered.connect(self._open_first)
        column.addWidget(self.list, 1)
        self.empty = _Empty()
        column.addWidget(self.empty, 1)
        self.places: dict[str, IconButton] = {}
        below = QVBoxLayout()
        below.setSpacing(2)
        for place in PLACES:
            if place.name in ("history", "keys"):  # the menu above goes there
                continue
            title = tr(place.title)
            button = _wide(IconButton(place.icon, title, kind="place", text=title))
            button.setToolTip(f"{title} ({place.keys})" if place.keys else title)
            button.setCheckable(True)
            button.clicked.connect(partial(self.place_wanted.emit, place.name, ""))
            self.places[place.name] = button
            below.addWidget(button)
        column.addLayout(below)
        self._fit()
        self._shown: tuple[str, Filters] | None = None
        """What the list was searched for, as it stands."""
        self._enters = False
        self.show_batch(Batch((), begins=True, more=False))

    def show_batch(self, batch: Batch) -> None:
        """Show what was read."""
        today, bar, view = date.today(), self.list.verticalScrollBar(), self.list
        searching = bool(self.search.words or self.search.filters)
        if batch.begins:
            row, at = view.row(), bar.value()
            view.drawing.today = today
            view.show_passages(searching)
            if view.lines.show(batch.rows, today, more=batch.more) and row and not searching:
                # Who looks further down stays there when something above has changed.
                view.go_to(view.lines.find(row.id), scroll=False)
                view.doItemsLayout()
                bar.setValue(at)
        else:
            view.lines.extend(batch.rows, more=batch.more)
        nothing = not view.lines.rowCount()
        view.setVisible(not nothing)
        self.empty.setVisible(nothing)
        if self.search.words:
            self.empty.show_words("search", tr(NOTHING_FOUND))
        else:
            words = NOTHING_LEFT if self.search.filters else NOTHING_YET
            self.empty.show_words("filter" if self.search.filters else "history", tr(words))
        self._shown = self.search.words, self.search.filters
        # Who has gone elsewhere meanwhile is not fetched back.
        self._enters = self._enters and self.window().focusWidget() is self.search.field
        if self._enters:
            self._open_first()

    def show_open(self, opened: str, *, running: Collection[str], unread: Collection[str]) -> None:
        """Say which conversation is open, and where something runs or is new, by their ids."""
        self.list.lines.mark(opened=opened, running=running, unread=unread)

    def show_aside(self, there: bool, *, opened: bool) -> None:
        """Say whether there is a conversation that is not kept, and whether it is open."""
        self.aside.setVisible(there)
        self.aside.setChecked(opened)
        self.unkept.setVisible(not there)

    def show_place(self, name: str) -> None:
        """Say where the person is; "" is the conversation."""
        for each, button in self.places.items():
            button.setChecked(each == name)

    def changeEvent(self, change: QEvent) -> None:
        """Be as wide as the type needs."""
        super().changeEvent(change)
        if change.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def _fit(self) -> None:
        self.setFixedWidth(max(WIDTH, self.fontMetrics().averageCharWidth() * LETTERS))

    def _head(self) -> QHBoxLayout:
        head = QHBoxLayout()
        head.setSpacing(10)
        sign = QLabel()
        sign.setPixmap(icons.application_icon().pixmap(QSize(26, 26), self.devicePixelRatioF()))
        head.addWidget(sign)
        head.addWidget(Label("JARVIS", role="title"))
        head.addStretch(1)
        self.more = IconButton("more", tr("More about the conversations"))
        self.more.clicked.connect(lambda: self.open_menu())
        head.addWidget(self.more)
        return head

    def _beginnings(self) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(theme.space("half"))
        row = QHBoxLayout()
        row.setSpacing(theme.space("half"))
        words = tr("New conversation")
        self.new = _wide(IconButton("plus", words, kind="new", text=words))
        self.new.setToolTip(tr("New conversation (Ctrl+N)"))
        self.new.clicked.connect(lambda: self.new_wanted.emit(True))
        row.addWidget(self.new)
        self.unkept = IconButton("unkept", tr("New conversation that is not remembered"))
        self.unkept.setToolTip(tr("Talk without being remembered (Ctrl+Shift+N)"))
        self.unkept.clicked.connect(lambda: self.new_wanted.emit(False))
        row.addWidget(self.unkept)
        column.addLayout(row)
        words = tr("Not remembered")
        self.aside = _wide(IconButton("unkept", words, kind="place", text=words))
        self.aside.setToolTip(tr("The conversation that is not remembered"))
        self.aside.setCheckable(True)
        self.aside.clicked.connect(self.aside_wanted)
        self.aside.hide()
        column.addWidget(self.aside)
        return column

    def open_menu(self) -> QMenu:
        """Show what can be done with all conversations."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setAccessibleName(tr("More about the conversations"))
        for icon, words, part in (
            ("save", tr("Export…"), "export"),
            ("download", tr("Import…"), "import"),
            ("trash", tr("Delete…"), "delete"),
        ):
            action = menu.addAction(icons.icon(icon, "muted"), words)
            action.triggered.connect(partial(self.place_wanted.emit, "history", part))
        menu.addSeparator()
        keys = menu.addAction(icons.icon("keyboard", "muted"), tr("Keyboard shortcuts"))
        keys.setShortcut(QKeySequence("F1"))
        keys.triggered.connect(partial(self.place_wanted.emit, "keys", ""))
        menu.popup(self.more.mapToGlobal(QPoint(0, self.more.height())))
        return menu

    def _sought(self) -> None:
        self._enters = False

    def _open_first(self) -> None:
        """The best of what is looked for; where that is not read yet, once it is."""
        self._enters = self._shown != (self.search.words, self.search.filters)
        if self._enters:
            return
        rows: list[Row] = self.list.lines.rows()
        if rows:
            self.opened.emit(rows[0].id, rows[0].turn_id)


class _Empty(QWidget):
    """What stands where nothing is listed."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setSpacing(theme.space())
        column.addStretch(2)
        self._symbol = Symbol("history", "muted", size=28)
        column.addWidget(self._symbol, alignment=Qt.AlignmentFlag.AlignHCenter)
        self.words = Label(role="small", wrap=True)
        self.words.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.words)
        column.addStretch(3)

    def show_words(self, icon: str, words: str) -> None:
        """Say why nothing is listed."""
        self._symbol.show_icon(icon, "muted")
        self.words.setText(words)


def _wide(button: IconButton) -> IconButton:
    button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
    return button
