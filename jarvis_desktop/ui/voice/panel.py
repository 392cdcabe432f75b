"""What is tried or fetched in the settings: a panel with a line for what is wrong."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from jarvis_desktop.core.shown import one_line
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.text import Label

LONGEST = 600
"""Characters of a reason that are shown."""


class Panel(QWidget):
    """Fill `column`."""

    def __init__(self, name: str) -> None:
        """`name` is what a screen reader says of it."""
        super().__init__()
        self.setAccessibleName(name)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, theme.space("half"), 0, 0)
        outer.setSpacing(theme.space())
        self.column = QVBoxLayout()
        self.column.setSpacing(theme.space())
        outer.addLayout(self.column)
        self.trouble = Label(role="warning", wrap=True)
        self.trouble.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.trouble.hide()
        outer.addWidget(self.trouble)

    def complain(self, trouble: str) -> None:
        """Say what is wrong; "" takes it back."""
        shown = one_line(trouble, limit=LONGEST)
        self.trouble.setText(shown)
        self.trouble.setAccessibleName(shown)
        self.trouble.setVisible(bool(shown))

    def leave(self) -> None:
        """It is not looked at any more."""
