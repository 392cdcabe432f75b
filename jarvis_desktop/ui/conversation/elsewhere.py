"""What the window says where a request in another conversation waits for an answer."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.icons import Symbol
from jarvis_desktop.ui.look.text import Label
from jarvis_desktop.ui.session import Exchange, Session


class ElsewhereNotice(QFrame):
    """Stays for as long as the question does, and leads to it: all other requests wait behind it,
    and a conversation that has just begun is not in the history yet."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self._session = session
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.space("two"), 12, 12, 12)
        row.setSpacing(12)
        row.addWidget(Symbol("note", "accent", size=20))
        self.words = Label(wrap=True)
        row.addWidget(self.words, 1)
        self.go = QPushButton(tr("Go there"))
        self.go.setAccessibleName(self.go.text())
        self.go.clicked.connect(self._go)
        row.addWidget(self.go)
        session.asked.connect(self._look)
        session.switched.connect(self._look)
        session.busy_changed.connect(self._look)
        self.hide()

    def _asking(self) -> Exchange | None:
        """What waits where nobody sees it."""
        running = self._session.running
        hidden = running and running.question and running.place is not self._session.open
        return running if hidden else None

    def _look(self) -> None:
        asking = self._asking()
        self.setVisible(asking is not None)
        if asking and asking.question:
            question = one_line(asking.question.text, limit=200)
            told = tr("Another conversation waits for an answer: {question}", question=question)
            self.words.setText(told)
            self.setAccessibleName(told)

    def _go(self) -> None:
        if asking := self._asking():
            self._session.open_place(asking.place)
