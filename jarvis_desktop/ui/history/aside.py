"""The sign that the open conversation is not kept."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout

from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.icons import Symbol
from jarvis_desktop.ui.look.section import button
from jarvis_desktop.ui.look.text import Label


class AsideSign(QFrame):
    """Stands above such a conversation as long as it is open."""

    forget_wanted = Signal()
    """The person is done with it."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("aside")
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.space("two"), theme.space(), theme.space(), theme.space())
        row.setSpacing(theme.space())
        row.addWidget(Symbol("unkept", "muted"))
        told = tr("Not remembered: nothing of this conversation is kept or learned from.")
        self.setAccessibleName(told)
        row.addWidget(Label(told, role="small", wrap=True), 1)
        self.forget = button(
            tr("Forget it"),
            tr("Forget this conversation now"),
            tip=tr("End this conversation; nothing of it is left"),
        )
        self.forget.clicked.connect(self.forget_wanted)
        row.addWidget(self.forget)
        self.hide()
