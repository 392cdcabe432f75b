"""The small cards that stand for attached files."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.ui import icons, phrases, theme
from jarvis_desktop.ui.icons import IconButton, Symbol
from jarvis_desktop.ui.pictures import Picture
from jarvis_desktop.ui.text import ElidedLabel, Label

PREVIEW = 28


class Chip(QFrame):
    """A file's kind or picture, its name and size; with a button to take it away, if asked for."""

    removed = Signal(object)
    """Carries the path."""

    def __init__(self, artifact: Artifact, *, removable: bool = False) -> None:
        super().__init__()
        self.setObjectName("chip")
        self.artifact = artifact
        name = one_line(artifact.title)
        size = size_of(artifact)
        self.setAccessibleName(f"{name}, {artifact.kind}, {size}" if size else name)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(6, 4, 8, 4)
        layout.setSpacing(theme.space())
        self._symbol = Symbol(icons.FOR_KIND[artifact.kind], size=20)
        self._symbol.setFixedSize(PREVIEW, PREVIEW)
        self._symbol.setAlignment(Qt.AlignmentFlag.AlignCenter)
        layout.addWidget(self._symbol)
        layout.addWidget(ElidedLabel(name, mode=Qt.TextElideMode.ElideMiddle, widest=220))
        if size:
            layout.addWidget(Label(size, role="small"))
        if removable:
            button = IconButton("close", f"Remove {name}", kind="tiny", tip="Remove")
            button.setIconSize(QSize(14, 14))
            button.clicked.connect(self._remove)
            layout.addWidget(button)
        if artifact.kind is Kind.IMAGE and artifact.path is not None:
            ratio = self.devicePixelRatioF()
            box = QSize(PREVIEW, PREVIEW) * (2 * ratio)
            Picture(artifact.path, box, self).ready.connect(self._show_picture)

    def _show_picture(self, image: QImage, reason: str) -> None:
        if reason:
            return
        ratio = self.devicePixelRatioF()
        side = round(PREVIEW * ratio)
        filled = image.scaled(
            side,
            side,
            Qt.AspectRatioMode.KeepAspectRatioByExpanding,
            Qt.TransformationMode.SmoothTransformation,
        )
        left, top = (filled.width() - side) // 2, (filled.height() - side) // 2
        picture = QPixmap.fromImage(filled.copy(left, top, side, side))
        picture.setDevicePixelRatio(ratio)
        self._symbol.show_picture(picture)

    def _remove(self) -> None:
        self.removed.emit(self.artifact.path)


def file_chip(path: Path, parent: QWidget | None = None) -> Chip:
    """The chip of a file that is about to be sent."""
    chip = Chip(given(path), removable=True)
    chip.setParent(parent)
    return chip


def given(path: Path) -> Artifact:
    """What a file seems to be before it has been looked into."""
    return Artifact(phrases.kind_of(path), path=path, name=path.name or str(path))


def size_of(artifact: Artifact) -> str:
    """The size of an artifact's file in words; "folder" or "" where that is all one can say."""
    if artifact.path is None:
        return ""
    try:
        if artifact.path.is_dir():
            return "folder"
        return phrases.size(artifact.path.stat().st_size)
    except (OSError, ValueError):
        return ""
