"""A file's name, what is known of it, and what can be done with it: the foot of every card."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.look import icons, phrases, theme
from jarvis_desktop.ui.look.icons import IconButton, Symbol
from jarvis_desktop.ui.look.text import ElidedLabel, Label
from jarvis_desktop.ui.media.deeds import Deed, Deeds, DragOut

THANKS = 1500
"""Milliseconds in which a button says that it has copied."""


class FileLine(QWidget):
    """Can be dragged elsewhere by the name."""

    def __init__(self, artifact: Artifact, actions: Actions) -> None:
        super().__init__()
        self.deeds = Deeds(artifact, actions, self)
        self._facts: list[str] = []
        self._size = ""
        name = one_line(artifact.title)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.space("half"))
        self.words = QWidget()
        self.words.setCursor(Qt.CursorShape.OpenHandCursor)
        words = QVBoxLayout(self.words)
        words.setContentsMargins(0, 0, 0, 0)
        words.setSpacing(0)
        self.facts = ElidedLabel(role="small")
        for label in (ElidedLabel(name, mode=Qt.TextElideMode.ElideMiddle), self.facts):
            # A label goes by the direction of its text, which is not that of the window.
            side = (
                Qt.AlignmentFlag.AlignLeft if self.isLeftToRight() else Qt.AlignmentFlag.AlignRight
            )
            label.setAlignment(
                side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter
            )
            words.addWidget(label)
        layout.addWidget(self.words, 1)
        for deed in self.deeds.all:
            layout.addWidget(self._button(deed, name))
        DragOut(self.words, self.deeds)
        if artifact.path:
            actions.media.size(self, artifact.path, self._show_size)

    def show_facts(self, *facts: str) -> None:
        """Show what else is known of the file."""
        self._facts = [fact for fact in facts if fact]
        self._draw()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer the same."""
        self.deeds.menu(self, event.globalPos())

    def _button(self, deed: Deed, name: str) -> IconButton:
        label = tr(deed.name)
        button = IconButton(deed.icon, tr("{deed}: {file}", deed=label, file=name), tip=label)
        button.clicked.connect(deed.act)
        if deed.icon == "copy":
            button.clicked.connect(lambda: self._thank(button, button.accessibleName()))
        return button

    def _thank(self, button: IconButton, name: str) -> None:
        button.show_icon("done", tr("Copied"))
        QTimer.singleShot(THANKS, button, lambda: button.show_icon("copy", name, tip=tr("Copy")))

    def _show_size(self, count: int) -> None:
        self._size = phrases.size(count)
        self._draw()

    def _draw(self) -> None:
        self.facts.show_text(" · ".join((*self._facts, *([self._size] if self._size else []))))


class Trouble(QWidget):
    """Why a file cannot be shown here, and the way out."""

    def __init__(self, artifact: Artifact, actions: Actions) -> None:
        super().__init__()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, theme.space("half"))
        layout.setSpacing(theme.space())
        self.words = Label(role="warning", wrap=True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout.addWidget(self.words)
        self.other = QPushButton(tr("Open with another program"))
        name = one_line(artifact.title)
        self.other.setAccessibleName(tr("Open {file} with another program", file=name))
        self.other.clicked.connect(lambda: actions.open(self, artifact))
        layout.addWidget(self.other, alignment=Qt.AlignmentFlag.AlignLeading)
        self.hide()

    def say(self, reason: str, *, final: bool = True) -> None:
        """Show the reason; `final` where nothing can be shown at all."""
        self.words.setText(one_line(reason, limit=300))
        self.words.setAccessibleName(self.words.text())
        self.other.setVisible(final)
        self.show()


class FileCard(QFrame):
    """A file that the window cannot show."""

    def __init__(self, artifact: Artifact, actions: Actions) -> None:
        super().__init__()
        self.setObjectName("card")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, theme.space(), theme.space(), theme.space())
        layout.setSpacing(12)
        symbol = Symbol(icons.FOR_KIND[artifact.kind], size=20)
        layout.addWidget(symbol)
        self.line = FileLine(artifact, actions)
        layout.addWidget(self.line, 1)
        DragOut(symbol, self.line.deeds)
