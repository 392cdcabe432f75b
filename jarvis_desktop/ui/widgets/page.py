"""A page beside the conversation, such as the settings: a title, and a column that scrolls."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from jarvis_desktop.core.i18n import tr
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.icons import IconButton
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import hbox, vbox

MAX_TEXT_WIDTH = 780
"""Pixels; longer lines are hard to read."""


class WindowPage(QFrame):
    """A page: fill `column`, and put buttons beside the title into `tools`."""

    left = Signal()
    """The user wants to return to the conversation."""
    message = Signal(str, bool)
    """Carries a message for the user, and whether it is good news."""

    def __init__(self, title: str, description: str = "") -> None:
        """`description` says in a sentence what the page is for."""
        super().__init__()
        self.setObjectName("page")
        self.setAccessibleName(title)
        self.back = IconButton("back", tr("Back to the conversation"), act=self.left)
        self.back.setToolTip(tr("Back to the conversation (Esc)"))
        self.tools = hbox(spacing=theme.space())
        outer = vbox(
            hbox(
                self.back,
                Label(title, role="title"),
                None,
                self.tools,
                margins=(theme.space("two"), 10, theme.space("three"), 10),
                spacing=theme.space(),
            ),
            parent=self,
            spacing=0,
        )
        scrolled = QWidget()
        scrolled.setObjectName("scrolled")
        row = hbox(parent=scrolled, margins=theme.space("three"))
        column = QWidget()
        column.setMaximumWidth(MAX_TEXT_WIDTH)
        self.column = vbox(parent=column, spacing=theme.space("two"))
        if description:
            self.column.addWidget(Label(description, role="muted", wrap=True))
        row.addStretch(1)
        row.addWidget(column, 1000)
        row.addStretch(1)
        self.scroller = QScrollArea()
        self.scroller.setWidgetResizable(True)
        self.scroller.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.scroller.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.scroller.setWidget(scrolled)
        outer.addWidget(self.scroller, 1)

    @property
    def part(self) -> str:
        """The part that is shown; "" if the page has none."""
        return ""

    def appear(self, part: str = "") -> None:
        """The page is shown; `part` names the requested part, if any."""

    def leave(self) -> None:
        """It is hidden."""
