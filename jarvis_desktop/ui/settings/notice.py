"""What the settings have to say: that something was refused, or waits for a restart."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout

from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.icons import Symbol
from jarvis_desktop.ui.look.section import button
from jarvis_desktop.ui.look.text import Label
from jarvis_desktop.ui.restarting import RESTART


class Notice(QFrame):
    """A line above the rows; hidden while there is nothing to say."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("banner")
        self._waits = ""
        line = QHBoxLayout(self)
        line.setContentsMargins(12, theme.space(), 12, theme.space())
        line.setSpacing(10)
        self._symbol = Symbol("failed", "danger")
        line.addWidget(self._symbol, alignment=Qt.AlignmentFlag.AlignTop)
        self.words = Label(wrap=True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        line.addWidget(self.words, 1)
        self.restart = button(tr("Restart now"))
        self.restart.clicked.connect(lambda: QApplication.exit(RESTART))
        line.addWidget(self.restart)
        self.hide()

    def complain(self, reason: str) -> None:
        """Say what is wrong; "" takes it back."""
        self._say(reason or self._waits, wrong=bool(reason))

    def show_waiting(self, names: Sequence[str]) -> None:
        """Say what waits for a restart."""
        self._waits = (
            tr("Holds after a restart of JARVIS: {names}.", names=", ".join(names)) if names else ""
        )
        self._say(self._waits, wrong=False)

    def _say(self, words: str, *, wrong: bool) -> None:
        self.setProperty("calm", "false" if wrong else "true")
        self.style().unpolish(self)
        self.style().polish(self)
        self._symbol.show_icon(*(("failed", "danger") if wrong else ("refresh", "muted")))
        self.restart.setVisible(not wrong)
        self.words.setText(words)
        self.setAccessibleName(words)
        self.setVisible(bool(words))
