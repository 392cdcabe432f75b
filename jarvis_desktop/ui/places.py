"""Where one can be in the window: in the conversation, or on one of the pages beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from jarvis_desktop.core.wording import mark
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.look.page import Page

if TYPE_CHECKING:
    from jarvis_desktop.ui.session import Session
    from jarvis_desktop.ui.settings.desk import SettingsDesk
    from jarvis_desktop.ui.voice.talking import Talker


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a page is made with."""

    session: Session
    talker: Talker
    actions: Actions
    settings: SettingsDesk


@dataclass(frozen=True, slots=True)
class Place:
    """A page that can be gone to; it is made when somebody first does."""

    name: str
    title: str
    icon: str
    keys: str
    make: Callable[[Surroundings], Page]


def _experts(surroundings: Surroundings) -> Page:
    from jarvis_desktop.ui.experts.page import ExpertsPage

    return ExpertsPage(surroundings)


def _settings(surroundings: Surroundings) -> Page:
    from jarvis_desktop.ui.settings.page import SettingsPage

    return SettingsPage(surroundings)


def _doctor(surroundings: Surroundings) -> Page:
    from jarvis_desktop.ui.doctor.page import DoctorPage

    return DoctorPage(surroundings)


def _history(surroundings: Surroundings) -> Page:
    from jarvis_desktop.ui.history.page import HistoryPage

    return HistoryPage(surroundings)


def _keys(surroundings: Surroundings) -> Page:
    from jarvis_desktop.ui.shortcuts_page import ShortcutsPage

    return ShortcutsPage(surroundings)


PLACES: tuple[Place, ...] = (
    Place("history", mark("Conversations"), "history", "Ctrl+H", _history),
    Place("experts", mark("Experts and LLMs"), "llm", "Ctrl+M", _experts),
    Place("settings", mark("Settings"), "sliders", "Ctrl+,", _settings),
    Place("doctor", mark("Check-up"), "health", "", _doctor),
    Place("keys", mark("Keyboard shortcuts"), "keyboard", "F1", _keys),
)


class Places(QStackedWidget):
    """The conversation, and the pages that were opened."""

    gone = Signal(str)
    """Carries the name of the place where the person is now; "" is the conversation."""
    told = Signal(str, bool)
    """Carries what a page tells, and whether it is good news."""

    def __init__(self, conversation: QWidget, surroundings: Surroundings) -> None:
        super().__init__()
        self._surroundings = surroundings
        self._conversation = conversation
        self._pages: dict[str, Page] = {}
        self.addWidget(conversation)

    @property
    def here(self) -> str:
        """The name of the place that is shown; "" is the conversation."""
        shown = self.currentWidget()
        return next((name for name, page in self._pages.items() if page is shown), "")

    def page(self, name: str) -> Page:
        """The page of that name, made where it was not opened yet."""
        if name not in self._pages:
            place = next(item for item in PLACES if item.name == name)
            page = self._pages[name] = place.make(self._surroundings)
            page.left.connect(self.back)
            page.told.connect(self.told)
            self.addWidget(page)
        return self._pages[name]

    def go(self, name: str, part: str = "") -> None:
        """Show a page, and what of it is wanted."""
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
