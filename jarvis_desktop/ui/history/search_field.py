"""The search field of the side list, with its filters."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QVBoxLayout

from jarvis_desktop.core.wording import tr
from jarvis_desktop.storage.filters import Filters
from jarvis_desktop.ui.history.filters import FilterMenu
from jarvis_desktop.ui.look import icons, theme
from jarvis_desktop.ui.look.icons import IconButton
from jarvis_desktop.ui.look.text import ElidedLabel


class SearchField(QFrame):
    """Tells with every letter what is looked for."""

    searched = Signal(str, object)
    """Carries the words and the Filters; "" and none for the whole list."""
    down = Signal()
    """The person goes on to what was found."""
    entered = Signal()
    """The person wants the first of it."""
    experts_wanted = Signal()
    """The menu opens, and has the experts that did something to offer."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.space("half"))
        row = QHBoxLayout()
        row.setSpacing(theme.space("half"))
        self.field = _Field()
        self.field.setPlaceholderText(tr("Search"))
        self.field.setAccessibleName(tr("Search the conversations"))
        self.field.setToolTip(tr("Search in all that was asked and answered (Ctrl+F)"))
        self.field.setMaxLength(500)
        self._glass = self.field.addAction(
            icons.icon("search", "muted"), QLineEdit.ActionPosition.LeadingPosition
        )
        self._clear = self.field.addAction(
            icons.icon("close", "muted"), QLineEdit.ActionPosition.TrailingPosition
        )
        self._clear.setToolTip(tr("Clear the search (Esc)"))
        self._clear.setVisible(False)
        self._clear.triggered.connect(self.field.clear)
        row.addWidget(self.field, 1)
        self.button = IconButton("filter", tr("Filters"))
        self.menu = FilterMenu(self.button)
        self.button.clicked.connect(self._open_menu)
        row.addWidget(self.button)
        column.addLayout(row)
        self.chosen = QFrame()
        line = QHBoxLayout(self.chosen)
        line.setContentsMargins(2, 0, 0, 0)
        self._words = ElidedLabel(role="accent-small")
        line.addWidget(self._words, 1)
        self.without = IconButton("close", tr("Without filters"), kind="tiny")
        self.without.clicked.connect(self._drop_filters)
        line.addWidget(self.without)
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
    def filters(self) -> Filters:
        """What it is narrowed to."""
        return self.menu.filters

    def changeEvent(self, change: QEvent) -> None:
        """Follow the theme."""
        super().changeEvent(change)
        if change.type() == QEvent.Type.PaletteChange and hasattr(self, "menu"):
            self._glass.setIcon(icons.icon("search", "muted"))
            self._clear.setIcon(icons.icon("close", "muted"))

    def _changed(self) -> None:
        self._clear.setVisible(bool(self.field.text()))
        self.searched.emit(self.words, self.filters)

    def _narrowed(self, filters: Filters) -> None:
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


class _Field(QLineEdit):
    """Leaves downwards, and is emptied by Esc."""

    down = Signal()

    def event(self, event: QEvent) -> bool:
        """Esc is this field's as long as something stands in it."""
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
