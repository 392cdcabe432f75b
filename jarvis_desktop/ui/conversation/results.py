"""What an expert made, on screen: a card for each kind of result."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.icons import IconButton
from jarvis_desktop.ui.look.text import LongText
from jarvis_desktop.ui.media.file_line import FileCard
from jarvis_desktop.ui.media.film_card import FilmCard
from jarvis_desktop.ui.media.picture_card import PictureCard
from jarvis_desktop.ui.media.sound_card import SoundCard
from jarvis_desktop.ui.media.table_card import TableCard

_cards = {
    Kind.IMAGE: PictureCard,
    Kind.AUDIO: SoundCard,
    Kind.VIDEO: FilmCard,
    Kind.TABLE: TableCard,
}


def card(artifact: Artifact, actions: Actions) -> QWidget:
    """The widget for one result."""
    if artifact.path is None:
        return TextCard(artifact, actions)
    return _cards.get(artifact.kind, FileCard)(artifact, actions)


class TextCard(QFrame):
    """A text that can be selected and copied."""

    def __init__(self, artifact: Artifact, actions: Actions) -> None:
        super().__init__()
        self.setObjectName("card")
        self._text = artifact.text or ""
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.space("two"), 12, theme.space(), 12)
        text = LongText(tr("Result"))
        text.show_text(self._text)
        layout.addWidget(text, 1)
        copy = IconButton("copy", tr("Copy this text"))
        copy.clicked.connect(lambda: actions.copy_text.emit(self._text))
        layout.addWidget(copy, alignment=Qt.AlignmentFlag.AlignTop)
