"""What the person asked, in a bubble on their side of the conversation."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.core.wording import tr, trn
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.flow import FlowLayout
from jarvis_desktop.ui.look.text import FIRST, TextView
from jarvis_desktop.ui.request.chips import Chip

MOST_CHIPS = 100


class RequestBubble(QWidget):
    """The words of a request and what was attached to it."""

    def __init__(self) -> None:
        super().__init__()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.space("four") * 2, 0, 0, 0)
        layout.setSpacing(theme.space())
        self._bubble = QFrame()
        self._bubble.setObjectName("request")
        self._bubble.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        inner = QHBoxLayout(self._bubble)
        inner.setContentsMargins(14, 9, 14, 9)
        self.text = TextView(tr("Your request"), hug=True)
        inner.addWidget(self.text)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self._bubble, 100)
        layout.addLayout(row)
        self._column = layout
        self._chips: QWidget | None = None
        self._drawn: tuple[Artifact, ...] = ()

    def draw(self, turn: Turn) -> None:
        """Show the request of `turn`."""
        words = turn.text
        if len(words) > FIRST:
            length = trn("{count} character", "{count} characters", len(turn.text))
            words = f"{words[:FIRST]}… ({length})"
        self._bubble.setVisible(bool(words.strip()))
        self.text.show_text(words)
        if turn.attachments != self._drawn:
            self._drawn = turn.attachments
            self._draw_chips(turn.attachments)

    def _draw_chips(self, attachments: tuple[Artifact, ...]) -> None:
        if self._chips:
            self._chips.hide()
            self._chips.deleteLater()
        self._chips = QWidget()
        flow = FlowLayout(self._chips, right=True)
        for artifact in attachments[:MOST_CHIPS]:
            flow.addWidget(Chip(artifact))
        self._column.addWidget(self._chips)
        self._chips.setVisible(bool(attachments))
