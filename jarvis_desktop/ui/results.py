"""What an expert made, on screen: text, pictures, sounds and other files."""

from __future__ import annotations

import contextlib
import wave
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.ui import icons, phrases, theme
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.chips import size_of
from jarvis_desktop.ui.icons import IconButton, Symbol
from jarvis_desktop.ui.pictures import Picture
from jarvis_desktop.ui.text import ElidedLabel, Label, LongText

THUMBNAIL = QSize(360, 260)


def card(artifact: Artifact, actions: Actions) -> QWidget:
    """The widget for one result."""
    if artifact.path is None:
        return TextCard(artifact, actions)
    if artifact.kind is Kind.IMAGE:
        return PictureCard(artifact, actions)
    if artifact.kind is Kind.AUDIO:
        return SoundCard(artifact, actions)
    return FileCard(artifact, actions)


class TextCard(QFrame):
    """A text that can be selected and copied."""

    def __init__(self, artifact: Artifact, actions: Actions) -> None:
        super().__init__()
        self.setObjectName("card")
        self._text = artifact.text or ""
        self._actions = actions
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.space("two"), 12, theme.space(), 12)
        text = LongText("Result")
        text.show_text(self._text)
        layout.addWidget(text, 1)
        copy = IconButton("copy", "Copy this text")
        copy.clicked.connect(lambda: actions.copy_text.emit(self._text))
        layout.addWidget(copy, alignment=Qt.AlignmentFlag.AlignTop)


class PictureCard(QWidget):
    """A thumbnail; a click shows it large."""

    def __init__(self, artifact: Artifact, actions: Actions) -> None:
        super().__init__()
        assert artifact.path is not None
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.space("half"))
        name = one_line(artifact.title)
        self.thumbnail = QPushButton()
        self.thumbnail.setProperty("kind", "thumbnail")
        self.thumbnail.setAccessibleName(f"Show {name} large")
        self.thumbnail.setToolTip("Show large")
        self.thumbnail.setCursor(Qt.CursorShape.PointingHandCursor)
        self.thumbnail.setFixedSize(160, 120)
        self.thumbnail.clicked.connect(lambda: actions.enlarge.emit(artifact))
        layout.addWidget(self.thumbnail, alignment=Qt.AlignmentFlag.AlignLeft)
        self.note = Label(role="small", wrap=True)
        self.note.hide()
        layout.addWidget(self.note)
        self.line = FileLine(artifact, actions)
        self.line.setMaximumWidth(THUMBNAIL.width())
        layout.addWidget(self.line)
        ratio = self.devicePixelRatioF()
        Picture(artifact.path, THUMBNAIL * ratio, self).ready.connect(self._show_picture)

    def _show_picture(self, image: QImage, reason: str) -> None:
        if reason:
            self.thumbnail.hide()
            self.note.setText(reason)
            self.note.show()
            return
        picture = QPixmap.fromImage(image)
        ratio = self.devicePixelRatioF()
        size = QSize(round(image.width() / ratio), round(image.height() / ratio))
        self.thumbnail.setFixedSize(size + QSize(8, 8))
        self.line.setMaximumWidth(max(self.thumbnail.width(), 280))
        self.thumbnail.setIconSize(size)
        self.thumbnail.setIcon(picture)


class SoundCard(QFrame):
    """A sound with a button that plays and stops it."""

    def __init__(self, artifact: Artifact, actions: Actions) -> None:
        super().__init__()
        assert artifact.path is not None
        self.setObjectName("card")
        self._path = artifact.path
        self._name = one_line(artifact.title)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.space(), theme.space(), theme.space(), theme.space())
        layout.setSpacing(12)
        self.button = IconButton("play", "Play", kind="round", colour="on_accent")
        self._show_playing(None)
        self.button.clicked.connect(lambda: actions.play.emit(self._path))
        actions.playing.connect(self._show_playing)
        layout.addWidget(self.button)
        layout.addWidget(FileLine(artifact, actions, note=_length(self._path)), 1)

    def _show_playing(self, path: Path | None) -> None:
        if path == self._path:
            self.button.show_icon("stop", f"Stop {self._name}", tip="Stop")
        else:
            self.button.show_icon("play", f"Play {self._name}", tip="Play")


class FileCard(QFrame):
    """Any other file, or one whose kind the window cannot show."""

    def __init__(self, artifact: Artifact, actions: Actions) -> None:
        super().__init__()
        self.setObjectName("card")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, theme.space(), theme.space(), theme.space())
        layout.setSpacing(12)
        layout.addWidget(Symbol(icons.FOR_KIND[artifact.kind], size=20))
        layout.addWidget(FileLine(artifact, actions), 1)


class FileLine(QWidget):
    """A file's name and size, and what can be done with it."""

    def __init__(self, artifact: Artifact, actions: Actions, *, note: str = "") -> None:
        super().__init__()
        name = one_line(artifact.title)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.space("half"))
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(ElidedLabel(name, mode=Qt.TextElideMode.ElideMiddle))
        facts = " · ".join(fact for fact in (note, size_of(artifact)) if fact)
        words.addWidget(ElidedLabel(facts, role="small"))
        layout.addLayout(words, 1)
        for icon_name, label, wish, value in (
            ("open", "Open", actions.open_file, artifact.path),
            ("folder", "Show in folder", actions.show_folder, artifact.path),
            ("save", "Save a copy", actions.save_as, artifact),
        ):
            button = IconButton(icon_name, f"{label}: {name}", tip=label)
            button.clicked.connect(lambda _=False, wish=wish, value=value: wish.emit(value))
            layout.addWidget(button)


def _length(path: Path) -> str:
    if path.suffix.lower() == ".wav" and path.is_file():
        with contextlib.suppress(OSError, wave.Error, EOFError), wave.open(str(path)) as sound:
            return phrases.clock(sound.getnframes() / max(sound.getframerate(), 1) + 0.5)
    return ""
