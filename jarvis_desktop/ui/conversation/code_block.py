"""Code in an answer: what language it is in, a button that copies it, and the code."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.code_text import CodeText
from jarvis_desktop.ui.conversation.coloured import Coloured
from jarvis_desktop.ui.conversation.markdown import Code
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.icons import IconButton
from jarvis_desktop.ui.look.text import Label

MOST_LINES = 40
"""Lines of code that are shown at once."""


class CodeBlock(QFrame):
    """One block of code."""

    def __init__(self, code: Code, actions: Actions) -> None:
        super().__init__()
        self.setObjectName("code")
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self._code = code
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        head = QHBoxLayout()
        half = theme.space("half")
        head.setContentsMargins(12, half, half, 0)
        self.language = Label(role="small")
        head.addWidget(self.language, 1)
        self.copy = IconButton("copy", tr("Copy the code"), kind="tiny")
        self.copy.setIconSize(QSize(14, 14))
        self.copy.clicked.connect(lambda: actions.copy_text.emit(self._code.text))
        head.addWidget(self.copy)
        column.addLayout(head)
        self.text = CodeText(tr("Code"), numbered=False, most_lines=MOST_LINES)
        column.addWidget(self.text)
        self._colours = Coloured(self.text, actions.media)
        self.show_code(code)

    def show_code(self, code: Code) -> None:
        """Show other code; what only grew is added."""
        self._code = code
        self.language.setText(one_line(code.language, limit=40) or tr("Code"))
        self.text.show_text(code.text)
        self._colours.follow(code.language)

    def showEvent(self, event: QShowEvent) -> None:
        """Have the code coloured: nobody needs the colours of what is out of sight."""
        super().showEvent(event)
        self._colours.follow(self._code.language)

    def changeEvent(self, change: QEvent) -> None:
        """Follow the theme."""
        super().changeEvent(change)
        if change.type() == QEvent.Type.PaletteChange and hasattr(self, "_colours"):
            self._colours.recolour()
