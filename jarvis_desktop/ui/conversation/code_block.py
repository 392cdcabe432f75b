"""Code in an answer: what language it is in, a button that copies it, and the code."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.code_text import CodeText
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
        self.show_code(code)

    def show_code(self, code: Code) -> None:
        """Show other code; what only grew is added."""
        self._code = code
        self.language.setText(one_line(code.language, limit=40) or tr("Code"))
        self.text.show_text(code.text)
