"""What stands where there is nothing yet: what belongs there, and the one thing to do."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.icons import Symbol
from jarvis_desktop.ui.look.section import button
from jarvis_desktop.ui.look.text import Label


class Empty(QFrame):
    """A picture, a few words and perhaps a button."""

    def __init__(self, icon: str) -> None:
        super().__init__()
        self.setObjectName("empty")
        column = QVBoxLayout(self)
        column.setContentsMargins(*[theme.space("three")] * 4)
        column.setSpacing(theme.space())
        column.addWidget(Symbol(icon, "muted", size=28), 0, Qt.AlignmentFlag.AlignHCenter)
        self.title = Label(role="strong", wrap=True)
        self.title.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.title)
        self.told = Label(role="small", wrap=True)
        self.told.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self.told)
        row = QHBoxLayout()
        row.addStretch(1)
        self.act = button("", kind="primary")
        row.addWidget(self.act)
        row.addStretch(1)
        column.addLayout(row)

    def show_words(self, title: str, told: str, doing: str = "") -> None:
        """Say what is missing, and what to do."""
        self.title.setText(title)
        self.told.setText(told)
        self.told.setVisible(bool(told))
        self.act.setText(doing)
        self.act.setAccessibleName(doing)
        self.act.setVisible(bool(doing))
