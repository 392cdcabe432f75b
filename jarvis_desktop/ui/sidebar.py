"""The list of conversations at the left: by date, with a search field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
)

from jarvis_desktop.core.shown import one_line
from jarvis_desktop.ui import icons, phrases
from jarvis_desktop.ui.icons import IconButton
from jarvis_desktop.ui.text import Label

WIDTH = 248
LONGEST_LIST = 500


@dataclass(frozen=True, slots=True)
class Listing:
    """One conversation of the list."""

    id: str
    title: str
    when: datetime


class Sidebar(QFrame):
    """Chooses a conversation, starts a new one, searches."""

    opened = Signal(str)
    """Carries the id of the conversation that was chosen."""
    new_wanted = Signal()
    searched = Signal(str)
    """Carries what is looked for; "" for the whole list."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("sidebar")
        self.setFixedWidth(WIDTH)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 12, 12, 12)
        layout.setSpacing(10)
        head = QHBoxLayout()
        head.setSpacing(10)
        mark = QLabel()
        mark.setPixmap(icons.application_icon().pixmap(QSize(26, 26), self.devicePixelRatioF()))
        head.addWidget(mark)
        head.addWidget(Label("JARVIS", role="title"))
        head.addStretch(1)
        layout.addLayout(head)
        self.new = IconButton("plus", "New conversation", kind="new", text="New conversation")
        self.new.setToolTip("New conversation (Ctrl+N)")
        self.new.setSizePolicy(
            self.new.sizePolicy().Policy.Expanding, self.new.sizePolicy().Policy.Fixed
        )
        self.new.clicked.connect(self.new_wanted)
        layout.addWidget(self.new)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search")
        self.search.setAccessibleName("Search the conversations")
        self.search.setClearButtonEnabled(False)
        self.search.addAction(
            icons.icon("search", "muted"), QLineEdit.ActionPosition.LeadingPosition
        )
        layout.addWidget(self.search)
        self.list = QListWidget()
        self.list.setAccessibleName("Conversations")
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.itemActivated.connect(self._choose)
        self.list.itemClicked.connect(self._choose)
        layout.addWidget(self.list, 1)
        self.empty = Label(role="small", wrap=True)
        self.empty.setAlignment(Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self.empty, 1)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(150)
        self._pause.timeout.connect(lambda: self.searched.emit(self.search.text().strip()))
        self.search.textChanged.connect(lambda: self._pause.start())
        self.show_list((), date.today(), chosen=None)

    def show_list(
        self, conversations: Sequence[Listing], today: date, *, chosen: str | None
    ) -> None:
        """Show conversations, newest first; `chosen` is the one that is open."""
        self.list.clear()
        heading = ""
        for entry in conversations[:LONGEST_LIST]:
            day = phrases.day(entry.when.astimezone().date(), today)
            if day != heading:
                heading = day
                title = QListWidgetItem(day)
                title.setFlags(Qt.ItemFlag.NoItemFlags)
                self.list.addItem(title)
            item = QListWidgetItem(one_line(entry.title) or "Spoken request")
            item.setData(Qt.ItemDataRole.UserRole, entry.id)
            self.list.addItem(item)
            if entry.id == chosen:
                self.list.setCurrentItem(item)
        self.list.setVisible(bool(conversations))
        searching = bool(self.search.text().strip())
        self.empty.setText(
            "Nothing was found." if searching else "Your conversations will be listed here."
        )
        self.empty.setVisible(not conversations)

    def _choose(self, item: QListWidgetItem) -> None:
        if chosen := item.data(Qt.ItemDataRole.UserRole):
            self.opened.emit(chosen)
