"""The settings page: a list of subjects, their rows in cards, and a search over all of them."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.ui.actions import PageContext
from jarvis_desktop.ui.settings.controller import SettingsNotice
from jarvis_desktop.ui.settings.controls import SettingRow
from jarvis_desktop.ui.settings.groups import GROUPS
from jarvis_desktop.ui.settings.schema import RowContext, SettingsCard, SettingsGroup
from jarvis_desktop.ui.settings.speech_controller import SpeechController
from jarvis_desktop.ui.widgets import icons, theme
from jarvis_desktop.ui.widgets.forms import SelectOption
from jarvis_desktop.ui.widgets.icons import SearchEdit
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import hbox, vbox
from jarvis_desktop.ui.widgets.page import WindowPage
from jarvis_desktop.ui.widgets.timers import new_timer

if TYPE_CHECKING:
    from jarvis_desktop.settings import Settings


class Subject(QWidget):
    """One subject: all of its rows, or those that match the search."""

    changed = Signal(str, object)
    """Carries the key of a setting and its new value; None for the default."""

    def __init__(self, group: SettingsGroup, hands: RowContext) -> None:
        super().__init__()
        self.group = group
        self.rows: dict[str, SettingRow] = {}
        self._cards: list[_Card] = []
        self.title = Label(tr(group.title), role="subject")
        column = vbox(self.title, parent=self, spacing=theme.space())
        for card in group.cards:
            made = _Card(card, hands)
            self._cards.append(made)
            column.addWidget(made)
            for key, row in made.rows.items():
                self.rows[key] = row
                row.changed.connect(self.changed)

    def show_settings(self, settings: Settings) -> None:
        """Show the settings in use."""
        for row in self.rows.values():
            row.show_settings(settings)

    def appear(self) -> None:
        """Refresh what may have changed elsewhere."""
        for row in self.rows.values():
            if appear := getattr(row.control, "appear", None):
                appear()

    def leave(self) -> None:
        """Stop running tests."""
        for row in self.rows.values():
            if leave := getattr(row.control, "leave", None):
                leave()

    def show_all(self, *, visible: bool) -> None:
        """Show all of it, or nothing."""
        self.setVisible(visible)
        for card in self._cards:
            card.show_rows(set(card.rows))

    def filter(self, sought: str) -> int:
        """Show only the matching rows and return their number."""
        count = 0
        for card in self._cards:
            about = (self.group.title, card.card.title)
            found = {key for key, each in card.rows.items() if each.row.found_by(sought, *about)}
            card.show_rows(found)
            count += len(found)
        self.highlight(sought)
        self.setVisible(bool(count))
        return count

    def highlight(self, sought: str) -> None:
        """Highlight the search words in the titles."""
        for row in self.rows.values():
            row.highlight(sought)

    def focusable(self) -> list[QWidget]:
        """The widgets that Tab reaches, from top to bottom; a reset button comes after its
        control."""
        found: list[QWidget] = []
        for row in self.rows.values():
            inner = [
                each
                for each in row.findChildren(QWidget)
                if each.focusPolicy() & Qt.FocusPolicy.TabFocus
                and each is not row.back
                and each.window() is self.window()  # lists that unfold are windows
            ]
            found += [*inner, row.back]
        return found


class _Card(QFrame):
    def __init__(self, card: SettingsCard, hands: RowContext) -> None:
        super().__init__()
        self.card = card
        self.rows: dict[str, SettingRow] = {}
        self._found: set[str] | None = None
        self._lines: list[QFrame] = []
        outer = vbox(parent=self, margins=(0, theme.space("half"), 0, 0), spacing=6)
        self._words: list[Label] = []
        if card.title:
            self._words.append(Label(tr(card.title), role="strong"))
        if card.description:
            self._words.append(Label(tr(card.description), role="small", wrap=True))
        for words in self._words:
            words.setContentsMargins(theme.space("half"), 0, 0, 0)
            outer.addWidget(words)
        frame = QFrame()
        frame.setObjectName("card")
        column = vbox(parent=frame, spacing=0)
        outer.addWidget(frame)
        for number, row in enumerate(card.rows):
            if number:
                line = QFrame()
                line.setObjectName("rule")
                line.setFixedHeight(1)
                self._lines.append(line)
                column.addWidget(line)
            made = self.rows[row.key] = SettingRow(row, hands)
            column.addWidget(made)

    def show_rows(self, keys: set[str]) -> None:
        """Show only these, with lines between them."""
        if keys == self._found:
            return
        self._found = keys
        self.setVisible(bool(keys))
        above = False
        for number, (key, row) in enumerate(self.rows.items()):
            row.setVisible(key in keys)
            if number:
                self._lines[number - 1].setVisible(above and key in keys)
            above = above or key in keys


MIN_WIDTH_WITH_LIST = 62
"""Widths of a letter "m"; in a narrower page the subjects are in a list that unfolds."""
SAVED_SHOWN_MS = 2500
"""Milliseconds for which “Saved” is shown."""


class SettingsPage(WindowPage):
    """All settings; changes apply at once."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(tr("Settings"))
        self.controller = context.settings
        self.voice = SpeechController(self.controller, self)
        self._hands = RowContext(context, self.controller, self.voice, self.show_row)
        self.subjects: dict[str, Subject] = {}
        self._here = GROUPS[0].name
        self._build()
        self._making = new_timer(self, self._make_next, repeat=True)
        self.controller.session.settled.connect(self._settled)
        self.controller.session.ready.connect(self._ready)
        self.controller.saved.connect(self._saved)
        # A method, not a closure: Qt disconnects it with the page, which may go first.
        self.controller.failed.connect(self._complain)
        self.voice.failed.connect(self._complain)
        self._subject(self._here)
        self.show_group(self._here)

    def _complain(self, reason: str) -> None:
        self.notice.complain(one_line(reason, limit=600))

    def _build(self) -> None:
        self.search = SearchEdit(tr("Search the settings"), tr("Search the settings"))
        self.search.setClearButtonEnabled(True)
        self.search.setMinimumWidth(140)
        self.search.setMaximumWidth(280)
        self.search.textChanged.connect(self._search)
        self.search.installEventFilter(self)
        self.state = Label(role="done")
        self.state.hide()
        self.tools.addWidget(self.state)
        self.tools.addWidget(self.search)
        self._fades = new_timer(self, self.state.hide, SAVED_SHOWN_MS)
        self.list = QListWidget()
        self.list.setObjectName("subjects")
        self.list.setAccessibleName(tr("Subjects"))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.unfolding = SelectOption(tr("Subjects"))
        self.unfolding.offer([(group.name, tr(group.title)) for group in GROUPS], self._here)
        self.unfolding.activated.connect(lambda: self.show_group(self.unfolding.value))
        for group in GROUPS:
            item = QListWidgetItem(icons.icon(group.icon, "muted"), tr(group.title), self.list)
            item.setData(Qt.ItemDataRole.UserRole, group.name)
        self.list.currentItemChanged.connect(self._picked)
        outer = self.layout()
        assert isinstance(outer, QVBoxLayout)
        outer.removeWidget(self.scroller)
        self._top = hbox(self.unfolding, margins=(theme.space("three"), 0, theme.space("three"), 0))
        outer.addLayout(self._top)
        self._middle = middle = hbox(self.list, (self.scroller, 1), spacing=0)
        outer.addLayout(middle, 1)
        self.notice = SettingsNotice()
        self.column.addWidget(self.notice)
        self._shown = vbox(spacing=theme.space("three"))
        self.column.addLayout(self._shown)
        self.nothing = Label(role="muted", wrap=True)
        self.nothing.hide()
        self.column.addWidget(self.nothing)
        self.column.addStretch(1)

    @property
    def part(self) -> str:
        return self._here

    def appear(self, part: str = "") -> None:
        """Show a subject or a row, and refresh what may have changed elsewhere."""
        self.voice.refresh()
        self._order()
        self._appear_rows(self.subjects.values())
        if part in {group.name for group in GROUPS}:
            self.search.clear()
            self.show_group(part)
        elif part:
            self.show_row(part)
        self._making.start()

    def leave(self) -> None:
        """Stop running tests and write pending changes."""
        for subject in self.subjects.values():
            subject.leave()
        self.controller.write()

    def row(self, key: str) -> SettingRow:
        """A row, built if its subject was not shown yet."""
        group = next(group for group in GROUPS if key in {row.key for row in group.rows})
        return self._subject(group.name).rows[key]

    def show_group(self, name: str) -> None:
        """Show one subject."""
        self._here = name
        self._subject(name)
        if not self.search.text().strip():
            for each, subject in self.subjects.items():
                subject.show_all(visible=each == name)
            self.scroller.verticalScrollBar().setValue(0)
        self._mark_here()

    def show_row(self, key: str) -> None:
        """Show a row and highlight it for a moment."""
        row = self.row(key)
        self.search.clear()
        group = next(name for name, each in self.subjects.items() if key in each.rows)
        self.show_group(group)
        row.flash()
        row.control.setFocus()
        # Once it has its place.
        QTimer.singleShot(0, row, lambda: self.scroller.ensureWidgetVisible(row, 0, 80))

    def changeEvent(self, change: QEvent) -> None:
        super().changeEvent(change)
        if change.type() == QEvent.Type.StyleChange and hasattr(self, "list"):
            for number, group in enumerate(GROUPS):
                self.list.item(number).setIcon(icons.icon(group.icon, "muted"))
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """Esc clears the search; Down goes to the results."""
        if watched is self.search and isinstance(event, QKeyEvent):
            if event.key() == Qt.Key.Key_Escape and self.search.text():
                if event.type() == QEvent.Type.ShortcutOverride:
                    event.accept()
                elif event.type() == QEvent.Type.KeyPress:
                    self.search.clear()
                return True
            if event.key() == Qt.Key.Key_Down and event.type() == QEvent.Type.KeyPress:
                self.focusNextChild()
                return True
        return False

    def _subject(self, name: str) -> Subject:
        if name not in self.subjects:
            group = next(group for group in GROUPS if group.name == name)
            subject = self.subjects[name] = Subject(group, self._hands)
            subject.changed.connect(self.controller.change)
            before = [each.name for each in GROUPS if each.name in self.subjects]
            self._shown.insertWidget(before.index(name), subject)
            subject.show_all(visible=False)
            if self.controller.now:
                subject.show_settings(self.controller.now)
            if self.isVisible():
                self._order()
                self._appear_rows([subject])
                self.voice.refresh()
        return self.subjects[name]

    def _make_next(self) -> None:
        """Build the other subjects one at a time, to keep the window responsive."""
        rest = [group.name for group in GROUPS if group.name not in self.subjects]
        if rest:
            self._subject(rest[0])
        else:
            self._making.stop()

    def _order(self) -> None:
        """Set the Tab order: search, subjects, then rows from top to bottom."""
        chain: list[QWidget] = [self.back, self.search, self.unfolding, self.list]
        for group in GROUPS:
            if group.name in self.subjects:
                chain += self.subjects[group.name].focusable()
        for before, after in pairwise(chain):
            QWidget.setTabOrder(before, after)

    def _appear_rows(self, subjects: Collection[Subject]) -> None:
        for subject in subjects:
            subject.appear()

    def _search(self, text: str) -> None:
        sought = text.strip()
        if not sought:
            self.nothing.hide()
            for subject in self.subjects.values():
                subject.highlight("")
            self.show_group(self._here)
            return
        found = 0
        for group in GROUPS:
            found += self._subject(group.name).filter(sought)
        self.nothing.setText(
            tr("No setting is about “{sought}”.", sought=one_line(sought, limit=60))
        )
        self.nothing.setVisible(not found)
        self.scroller.verticalScrollBar().setValue(0)
        self._mark_here()

    def _mark_here(self) -> None:
        """Select the current subject in the list; none during a search."""
        searching = bool(self.search.text().strip())
        names = [group.name for group in GROUPS]
        before = self.list.blockSignals(True)
        self.list.setCurrentRow(-1 if searching else names.index(self._here))
        self.list.blockSignals(before)
        self.unfolding.choose(self._here)

    def _picked(self, item: QListWidgetItem | None) -> None:
        if item:
            self.search.clear()
            self.show_group(str(item.data(Qt.ItemDataRole.UserRole)))

    def _fit(self) -> None:
        letter = self.fontMetrics().horizontalAdvance("m")
        wide = self.width() >= MIN_WIDTH_WITH_LIST * letter
        self.list.setVisible(wide)
        self.unfolding.setVisible(not wide)
        self._middle.setContentsMargins(theme.space("two") if wide else 0, 0, 0, 0)
        self._top.setContentsMargins(
            theme.space("three"), 0, theme.space("three"), 0 if wide else theme.space("half")
        )
        widest = max(self.list.fontMetrics().horizontalAdvance(tr(group.title)) for group in GROUPS)
        self.list.setFixedWidth(widest + 68)

    def _ready(self) -> None:
        self._appear_rows(self.subjects.values())

    def _settled(self) -> None:
        if settings := self.controller.now:
            for subject in self.subjects.values():
                subject.show_settings(settings)
            self.voice.look()

    def _saved(self, waits: Collection[str]) -> None:
        names = [tr(row.title) for group in GROUPS for row in group.rows if row.key in waits]
        self.notice.show_waiting(names)
        if not names:
            self.notice.complain("")
        self.state.setText(tr("Saved"))
        self.state.show()
        self._fades.start()
