"""The pages of the window beside the conversation, and the one that lists the shortcuts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QStackedWidget, QWidget

from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.ui.actions import PageContext
from jarvis_desktop.ui.shortcuts import (
    AS_BEFORE,
    GROUPS,
    LEFT_TO_RIGHT,
    WINDOW,
    WindowShortcut,
    shown,
)
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import Section, button
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.page import WindowPage


@dataclass(frozen=True, slots=True)
class NavigationPlace:
    """A page of the window; it is created when it is first opened."""

    name: str
    title: str
    icon: str
    keys: str
    make: Callable[[PageContext], WindowPage]


def _experts(context: PageContext) -> WindowPage:
    from jarvis_desktop.ui.experts.page import ExpertsPage

    return ExpertsPage(context)


def _settings(context: PageContext) -> WindowPage:
    from jarvis_desktop.ui.settings.page import SettingsPage

    return SettingsPage(context)


def _doctor(context: PageContext) -> WindowPage:
    from jarvis_desktop.ui.health_page import HealthPage

    return HealthPage(context)


def _history(context: PageContext) -> WindowPage:
    from jarvis_desktop.ui.history.page import HistoryPage

    return HistoryPage(context)


def _help(context: PageContext) -> WindowPage:
    from jarvis_desktop.ui.help_page import HelpPage

    return HelpPage(context)


def _keys(context: PageContext) -> WindowPage:
    return ShortcutsPage(context)


PLACES: tuple[NavigationPlace, ...] = (
    NavigationPlace("history", mark("Conversations"), "history", "Ctrl+H", _history),
    NavigationPlace("experts", mark("Experts and LLMs"), "llm", "Ctrl+M", _experts),
    NavigationPlace("settings", mark("Settings"), "sliders", "Ctrl+,", _settings),
    NavigationPlace("doctor", mark("Check-up"), "health", "", _doctor),
    NavigationPlace("help", mark("Help"), "question", "F1", _help),
    NavigationPlace("keys", mark("Keyboard shortcuts"), "keyboard", "Shift+F1", _keys),
)


class PageStack(QStackedWidget):
    """The conversation, and the pages opened so far."""

    gone = Signal(str)
    """Carries the name of the open page; "" is the conversation."""
    message = Signal(str, bool)
    """Carries a message of a page, and whether it is good news."""

    def __init__(self, conversation: QWidget, context: PageContext) -> None:
        super().__init__()
        self._context = context
        self._conversation = conversation
        self._pages: dict[str, WindowPage] = {}
        self.addWidget(conversation)

    @property
    def here(self) -> str:
        """The name of the place that is shown; "" is the conversation."""
        shown = self.currentWidget()
        return next((name for name, page in self._pages.items() if page is shown), "")

    @property
    def part(self) -> str:
        """The part of the page that is shown."""
        return self._pages[self.here].part if self.here else ""

    def page(self, name: str) -> WindowPage:
        """Return the page of that name, and create it if necessary."""
        if name not in self._pages:
            place = next(item for item in PLACES if item.name == name)
            page = self._pages[name] = place.make(self._context)
            page.left.connect(self.back)
            page.message.connect(self.message)
            self.addWidget(page)
        return self._pages[name]

    def go(self, name: str, part: str = "") -> None:
        """Show a page, and the part of it that `what` names."""
        page = self.page(name)
        if page is not self.currentWidget():
            self._leave()
            self.setCurrentWidget(page)
        page.back.setFocus()
        page.appear(part)
        self.gone.emit(name)

    def back(self) -> None:
        """Show the conversation."""
        if self.here:
            self._leave()
            self.setCurrentWidget(self._conversation)
            self.gone.emit("")

    def _leave(self) -> None:
        if self.here:
            self._pages[self.here].leave()


TOLD = mark("What can be done with the keyboard. Tab goes on to the next thing.")
GLOBAL = mark(
    "The keys that work in every program, to talk, to dictate and to ask quickly, are chosen in "
    "the settings."
)


class ShortcutsPage(WindowPage):
    """The list of all shortcuts."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(tr("Keyboard shortcuts"), tr(TOLD))
        pages = tuple(WindowShortcut((each.keys,), each.title) for each in PLACES if each.keys)
        for title, table in GROUPS:
            self.column.addWidget(_group(tr(title), table + pages if table is WINDOW else table))
        self.column.addWidget(Label(tr(GLOBAL), role="small", wrap=True))
        self.choose = button(tr("Choose them"))
        self.choose.clicked.connect(lambda: context.actions.go.emit("settings", "keys"))
        self.column.addWidget(self.choose, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addStretch(1)


def _group(title: str, table: tuple[WindowShortcut, ...]) -> Section:
    section = Section(title)
    grid = QGridLayout()
    grid.setHorizontalSpacing(theme.space("two"))
    grid.setVerticalSpacing(theme.space("half"))
    grid.setColumnStretch(0, 1)
    for row, shortcut in enumerate(table):
        words, keys = tr(shortcut.words), ", ".join(map(shown, shortcut.keys))
        grid.addWidget(Label(words, wrap=True), row, 0)
        grid.addWidget(
            Label(f"{LEFT_TO_RIGHT}{keys}{AS_BEFORE}", role="tag"),
            row,
            1,
            Qt.AlignmentFlag.AlignRight,
        )
    section.column.addLayout(grid)
    return section
