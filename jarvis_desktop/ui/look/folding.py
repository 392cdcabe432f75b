"""A part of a card that can be folded away under its heading."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QVBoxLayout, QWidget

from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.icons import IconButton


class Fold(QWidget):
    """A heading that shows and hides what is in `column`."""

    def __init__(self, name: str, *, unfolded: bool = True) -> None:
        """`name` says what it holds, as in "Show the rounds"."""
        super().__init__()
        self._name = name
        self._body = QWidget()
        self.column = QVBoxLayout(self._body)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(6)
        self.heading = IconButton(
            "down", tr("Hide {name}", name=name), kind="fold", text=" ", tip=tr("Hide")
        )
        self.heading.setIconSize(QSize(14, 14))
        self.heading.clicked.connect(lambda: self.unfold(self._body.isHidden()))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.space("half"))
        layout.addWidget(self.heading)
        layout.addWidget(self._body)
        self.unfold(unfolded)

    @property
    def unfolded(self) -> bool:
        """Whether it shows what is in it."""
        return not self._body.isHidden()

    def unfold(self, unfolded: bool) -> None:
        """Show what is in it, or only the heading."""
        self._body.setVisible(unfolded)
        if unfolded:
            self.heading.show_icon("down", tr("Hide {name}", name=self._name), tip=tr("Hide"))
        else:
            self.heading.show_icon("right", tr("Show {name}", name=self._name), tip=tr("Show"))

    def say(self, heading: str) -> None:
        """Write another heading."""
        self.heading.setText(heading.replace("&", "&&"))
        self.heading.setAccessibleDescription(heading)
