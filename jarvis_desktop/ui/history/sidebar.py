"""The sidebar: the list of conversations with its search field and filters, and the ways to the
other pages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from functools import partial

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.storage.search import EVERYTHING, TurnFilters
from jarvis_desktop.ui.history.controller import HistoryBatch
from jarvis_desktop.ui.history.list_view import HistoryList, HistoryRow
from jarvis_desktop.ui.navigation import PLACES
from jarvis_desktop.ui.widgets import icons, theme
from jarvis_desktop.ui.widgets.forms import button
from jarvis_desktop.ui.widgets.icons import IconButton, SearchEdit, Symbol
from jarvis_desktop.ui.widgets.labels import ElidedLabel, Label
from jarvis_desktop.ui.widgets.layout import hbox, vbox

KINDS = {
    Kind.IMAGE: mark("Pictures"),
    Kind.AUDIO: mark("Sounds"),
    Kind.VIDEO: mark("Films"),
    Kind.TABLE: mark("Tables"),
    Kind.DOCUMENT: mark("Documents"),
}
DAYS = {
    0: mark("Today"),
    6: mark("Last seven days"),
    29: mark("Last 30 days"),
    364: mark("Last year"),
}
"""How many days before today a search may reach, and what that is called."""
EXPERTS = 15
"""Experts that are offered, the most used."""


class FilterMenu(QMenu):
    """Offers what a search can be narrowed to."""

    changed = Signal(object)
    """Carries the Filters that are chosen now."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.filters = EVERYTHING
        self._today = date.today
        self.setObjectName("filters")
        self.setAccessibleName(tr("Filters"))
        kinds = QActionGroup(self)
        kinds.setExclusionPolicy(QActionGroup.ExclusionPolicy.ExclusiveOptional)
        self._kinds = {
            kind: self._offer(tr(words), icons.FOR_KIND[kind], kinds)
            for kind, words in KINDS.items()
        }
        self.addSeparator()
        self.attached = self._offer(tr("With something attached"), "attach")
        self.pinned = self._offer(tr("Pinned"), "pin")
        self.addSeparator()
        days = QActionGroup(self)
        days.setExclusionPolicy(QActionGroup.ExclusionPolicy.ExclusiveOptional)
        self._days = {count: self._offer(tr(words), "", days) for count, words in DAYS.items()}
        self._experts = self.addMenu(icons.icon("goal", "muted"), tr("Expert"))
        self._experts.menuAction().setVisible(False)
        self._named: dict[str, QAction] = {}
        self.addSeparator()
        self.none = self.addAction(tr("Without filters"))
        self.none.triggered.connect(self.clear_all)

    def offer_experts(self, names: Sequence[str]) -> None:
        """Offer the experts that did something."""
        chosen = self.filters.experts
        self._experts.clear()
        group = QActionGroup(self._experts)
        group.setExclusionPolicy(QActionGroup.ExclusionPolicy.ExclusiveOptional)
        self._named = {}
        for name in names[:EXPERTS]:
            action = QAction(one_line(name, limit=60).replace("&", "&&"), self._experts)
            action.setCheckable(True)
            action.setChecked(name in chosen)
            group.addAction(action)
            self._experts.addAction(action)
            action.triggered.connect(self._choose)
            self._named[name] = action
        self._experts.menuAction().setVisible(bool(names))

    def clear_all(self) -> None:
        """Let everything pass."""
        for action in (*self._kinds.values(), *self._days.values(), *self._named.values()):
            action.setChecked(False)
        self.attached.setChecked(False)
        self.pinned.setChecked(False)
        self._choose()

    def _offer(self, words: str, icon: str, group: QActionGroup | None = None) -> QAction:
        action = self.addAction(words)
        if icon:
            action.setIcon(icons.icon(icon, "muted"))
        action.setCheckable(True)
        if group:
            group.addAction(action)
        action.triggered.connect(self._choose)
        return action

    def _choose(self) -> None:
        kind = next((kind for kind, item in self._kinds.items() if item.isChecked()), None)
        days = next((count for count, item in self._days.items() if item.isChecked()), None)
        self.filters = TurnFilters(
            kind,
            tuple(name for name, item in self._named.items() if item.isChecked()),
            self.attached.isChecked(),
            self.pinned.isChecked(),
            None if days is None else self._today() - timedelta(days=days),
        )
        self.none.setEnabled(bool(self.filters))
        self.changed.emit(self.filters)

    def words(self) -> str:
        """What is chosen, in few words."""
        days = (words for count, words in DAYS.items() if self._days[count].isChecked())
        said = [tr(KINDS[self.filters.kind])] if self.filters.kind else []
        said += [one_line(name, limit=40) for name in self.filters.experts]
        said += [tr("Attached")] * self.filters.attached + [tr("Pinned")] * self.filters.pinned
        said += map(tr, days)
        return " · ".join(said)


class SearchField(QFrame):
    """Emits the search words with every key."""

    searched = Signal(str, object)
    """Carries the words and the Filters; "" and none for the whole list."""
    down = Signal()
    """The user goes to the results."""
    entered = Signal()
    """The user wants to open the first result."""
    experts_wanted = Signal()
    """The menu opens, and has the experts that did something to offer."""

    def __init__(self) -> None:
        super().__init__()
        column = vbox(parent=self, spacing=theme.space("half"))
        row = hbox(spacing=theme.space("half"))
        self.field = _Field(tr("Search the conversations"), tr("Search"))
        self.field.setToolTip(tr("Search in all that was asked and answered (Ctrl+F)"))
        self.field.setMaxLength(500)
        self.field.clear_action.setToolTip(tr("Clear the search (Esc)"))
        self.field.clear_action.setVisible(False)
        self.field.clear_action.triggered.connect(self.field.clear)
        row.addWidget(self.field, 1)
        self.button = IconButton("filter", tr("Filters"), act=self._open_menu)
        self.menu = FilterMenu(self.button)
        row.addWidget(self.button)
        column.addLayout(row)
        self.chosen = QFrame()
        self._words = ElidedLabel(role="accent-small")
        self.without = IconButton("close", tr("Without filters"), kind="tiny")
        self.without.clicked.connect(self._drop_filters)
        hbox((self._words, 1), self.without, parent=self.chosen, margins=(2, 0, 0, 0))
        self.chosen.hide()
        column.addWidget(self.chosen)
        self.field.textChanged.connect(self._changed)
        self.field.down.connect(self.down)
        self.field.returnPressed.connect(self.entered)
        self.menu.changed.connect(self._narrowed)
        self.setFocusProxy(self.field)

    @property
    def words(self) -> str:
        """What is looked for."""
        return self.field.text().strip()

    @property
    def filters(self) -> TurnFilters:
        """What it is narrowed to."""
        return self.menu.filters

    def _changed(self) -> None:
        self.field.clear_action.setVisible(bool(self.field.text()))
        self.searched.emit(self.words, self.filters)

    def _narrowed(self, filters: TurnFilters) -> None:
        self._words.show_text(self.menu.words())
        self.chosen.setVisible(bool(filters))
        self.button.show_colour("accent" if filters else "muted")
        self.searched.emit(self.words, filters)

    def _drop_filters(self) -> None:
        self.menu.clear_all()
        self.field.setFocus()

    def _open_menu(self) -> None:
        self.experts_wanted.emit()
        self.menu.popup(self.button.mapToGlobal(self.button.rect().bottomLeft()))


class _Field(SearchEdit):
    """Down leaves it, and Esc clears it."""

    down = Signal()

    def __init__(self, name: str, inviting: str) -> None:
        super().__init__(name, inviting)
        self.clear_action = self.addAction(
            icons.icon("close", "muted"), QLineEdit.ActionPosition.TrailingPosition
        )

    def changeEvent(self, change: QEvent) -> None:
        super().changeEvent(change)
        if change.type() == QEvent.Type.PaletteChange and hasattr(self, "clear_action"):
            self.clear_action.setIcon(icons.icon("close", "muted"))

    def event(self, event: QEvent) -> bool:
        """Take Esc from the window unless the field is empty."""
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
            and event.key() == Qt.Key.Key_Escape
            and self.text()
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Down goes to what was found; Esc clears."""
        if event.key() == Qt.Key.Key_Down:
            self.down.emit()
        elif event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)


WIDTH = 272
"""Pixels at the usual text size."""
LETTERS = 35
"""Letters that must fit if the text is larger."""

NOTHING_YET = mark("Your conversations will be listed here, by the day.")
NOTHING_FOUND = mark("Nothing has these words. Fewer words find more.")
NOTHING_LEFT = mark("Nothing passes these filters.")


class Sidebar(QFrame):
    """Opens, starts and searches conversations."""

    opened = Signal(str, str)
    """Carries the ids of the conversation that was chosen and of the turn in it, or ""."""
    new_wanted = Signal(bool)
    """A new conversation is requested; carries whether it is saved."""
    private_wanted = Signal()
    """The user wants to return to the private conversation."""
    place_wanted = Signal(str, str)
    """Carries the name of the requested page, and its part."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("sidebar")
        self.search = SearchField()
        self.list = HistoryList()
        self.list.chosen.connect(lambda row: self.opened.emit(row.id, row.turn_id))
        self.list.left.connect(self.search.setFocus)
        self.search.down.connect(self.list.enter)
        self.search.searched.connect(self._sought)
        self.search.entered.connect(self._open_first)
        self.empty = _Empty()
        column = vbox(
            self._head(),
            self._beginnings(),
            self.search,
            (self.list, 1),
            (self.empty, 1),
            parent=self,
            margins=12,
            spacing=theme.space(),
        )
        self.places: dict[str, IconButton] = {}
        below = vbox(spacing=2)
        for place in PLACES:
            if place.name in ("history", "help", "keys"):  # the menu above goes there
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
        self._shown: tuple[str, TurnFilters] | None = None
        """The words and filters of the rows that are shown."""
        self._enters = False
        self.show_batch(HistoryBatch((), begins=True, more=False))

    def show_batch(self, batch: HistoryBatch) -> None:
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
        # Do nothing if the user has moved the focus elsewhere.
        self._enters = self._enters and self.window().focusWidget() is self.search.field
        if self._enters:
            self._open_first()

    def show_private(self, there: bool, *, opened: bool) -> None:
        """Show whether there is a private conversation, and whether it is open."""
        self.private.setVisible(there)
        self.private.setChecked(opened)
        self.new_private.setVisible(not there)

    def show_place(self, name: str) -> None:
        """Show which page is open; "" is the conversation."""
        for each, place in self.places.items():
            place.setChecked(each == name)

    def changeEvent(self, change: QEvent) -> None:
        super().changeEvent(change)
        if change.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()

    def _fit(self) -> None:
        self.setFixedWidth(max(WIDTH, self.fontMetrics().averageCharWidth() * LETTERS))

    def _head(self) -> QHBoxLayout:
        sign = QLabel()
        sign.setPixmap(icons.application_icon().pixmap(QSize(26, 26), self.devicePixelRatioF()))
        self.more = IconButton("more", tr("More about the conversations"))
        self.more.clicked.connect(lambda: self.open_menu())
        return hbox(sign, Label("JARVIS", role="title"), None, self.more, spacing=10)

    def _beginnings(self) -> QVBoxLayout:
        words = tr("New conversation")
        self.new = _wide(IconButton("plus", words, kind="new", text=words))
        self.new.setToolTip(tr("New conversation (Ctrl+N)"))
        self.new.clicked.connect(lambda: self.new_wanted.emit(True))
        self.new_private = IconButton("unkept", tr("New private conversation"))
        self.new_private.setToolTip(tr("New private conversation (Ctrl+Shift+N)"))
        self.new_private.clicked.connect(lambda: self.new_wanted.emit(False))
        row = hbox(self.new, self.new_private, spacing=theme.space("half"))
        words = tr("Private conversation")
        self.private = _wide(IconButton("unkept", words, kind="place", text=words))
        self.private.setToolTip(tr("The private conversation"))
        self.private.setCheckable(True)
        self.private.clicked.connect(self.private_wanted)
        self.private.hide()
        return vbox(row, self.private, spacing=theme.space("half"))

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
        for place in PLACES:
            if place.name in ("help", "keys"):
                action = menu.addAction(icons.icon(place.icon, "muted"), tr(place.title))
                action.setShortcut(QKeySequence(place.keys))
                action.triggered.connect(partial(self.place_wanted.emit, place.name, ""))
        menu.popup(self.more.mapToGlobal(QPoint(0, self.more.height())))
        return menu

    def _sought(self) -> None:
        self._enters = False

    def _open_first(self) -> None:
        """Open the first result, once it has been read."""
        self._enters = self._shown != (self.search.words, self.search.filters)
        if self._enters:
            return
        rows: list[HistoryRow] = self.list.lines.rows()
        if rows:
            self.opened.emit(rows[0].id, rows[0].turn_id)


class _Empty(QWidget):
    """Shown if the list is empty."""

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


class AsideSign(QFrame):
    """Shown above a private conversation."""

    forget_wanted = Signal()
    """The user wants to forget the conversation."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("aside")
        message = tr("Private: nothing of this conversation is kept or learned from.")
        self.setAccessibleName(message)
        self.forget = button(
            tr("Discard"),
            tr("Forget this conversation now"),
            tip=tr("End this conversation; nothing of it is left"),
        )
        self.forget.clicked.connect(self.forget_wanted)
        hbox(
            Symbol("unkept", "muted"),
            (Label(message, role="small", wrap=True), 1),
            self.forget,
            parent=self,
            margins=(theme.space("two"), theme.space(), theme.space(), theme.space()),
            spacing=theme.space(),
        )
        self.hide()
