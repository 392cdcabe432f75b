"""What the window says where a request in another conversation waits for an answer."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.look.notices import Card
from jarvis_desktop.ui.session import Exchange, Session


class ElsewhereNotice(Card):
    """Stays for as long as the question does, and leads to it: all other requests wait behind it,
    and a conversation that has just begun is not in the history yet."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__("note", parent)
        self._session = session
        self.go = self.offer(tr("Go there"), kind="primary")
        self.go.clicked.connect(self._go)
        session.asked.connect(self._look)
        session.switched.connect(self._look)
        session.busy_changed.connect(self._look)

    def _asking(self) -> Exchange | None:
        """What waits where nobody sees it."""
        running = self._session.running
        hidden = running and running.question and running.place is not self._session.open
        return running if hidden else None

    def _look(self) -> None:
        asking = self._asking()
        if asking and asking.question:
            parts = [(asking.turn.text, 60), (asking.question.text, 200)]
            told = ": ".join(one_line(text, limit=limit) for text, limit in parts if text.strip())
            self.say(tr("Another conversation waits for an answer"), told)
        else:
            self.hide()

    def _go(self) -> None:
        if asking := self._asking():
            self._session.open_place(asking.place)
