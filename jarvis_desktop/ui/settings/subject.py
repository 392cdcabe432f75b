"""One subject of the settings on the screen: its title, and its rows in cards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.text import Label
from jarvis_desktop.ui.settings.line import SettingRow
from jarvis_desktop.ui.settings.rows import Card, Group, Hands

if TYPE_CHECKING:
    from jarvis_desktop.settings import Settings


class Subject(QWidget):
    """Shows all of it, or what is sought."""

    changed = Signal(str, object)
    """Carries the key of a setting and its new value; None for the default."""

    def __init__(self, group: Group, hands: Hands) -> None:
        super().__init__()
        self.group = group
        self.rows: dict[str, SettingRow] = {}
        self._cards: list[_Card] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.space())
        self.title = Label(tr(group.title), role="subject")
        column.addWidget(self.title)
        for card in group.cards:
            made = _Card(card, hands)
            self._cards.append(made)
            column.addWidget(made)
            for key, row in made.rows.items():
                self.rows[key] = row
                row.changed.connect(self.changed)

    def show_settings(self, settings: Settings) -> None:
        """Show what holds."""
        for row in self.rows.values():
            row.show_settings(settings)

    def appear(self) -> None:
        """It is shown now: look anew at what may have changed elsewhere."""
        for row in self.rows.values():
            if appear := getattr(row.control, "appear", None):
                appear()

    def leave(self) -> None:
        """It is not looked at any more: end what is being tried."""
        for row in self.rows.values():
            if leave := getattr(row.control, "leave", None):
                leave()

    def show_all(self, *, visible: bool) -> None:
        """Show all of it, or nothing."""
        self.setVisible(visible)
        for card in self._cards:
            card.show_rows(set(card.rows))

    def filter(self, sought: str) -> int:
        """Show only the rows that are about it; how many those are."""
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
        """Mark it in the titles."""
        for row in self.rows.values():
            row.highlight(sought)

    def focusable(self) -> list[QWidget]:
        """What Tab reaches, from top to bottom, the way back to a default after its control."""
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
    def __init__(self, card: Card, hands: Hands) -> None:
        super().__init__()
        self.card = card
        self.rows: dict[str, SettingRow] = {}
        self._lines: list[QFrame] = []
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, theme.space("half"), 0, 0)
        outer.setSpacing(6)
        self._words: list[Label] = []
        if card.title:
            self._words.append(Label(tr(card.title), role="strong"))
        if card.told:
            self._words.append(Label(tr(card.told), role="small", wrap=True))
        for words in self._words:
            words.setContentsMargins(theme.space("half"), 0, 0, 0)
            outer.addWidget(words)
        frame = QFrame()
        frame.setObjectName("card")
        column = QVBoxLayout(frame)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
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
        self.setVisible(bool(keys))
        above = False
        for number, (key, row) in enumerate(self.rows.items()):
            row.setVisible(key in keys)
            if number:
                self._lines[number - 1].setVisible(above and key in keys)
            above = above or key in keys
