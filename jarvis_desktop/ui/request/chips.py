"""The small cards that stand for attached files."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QImage, QPixmap
from PySide6.QtWidgets import QFrame, QHBoxLayout

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr
from jarvis_desktop.storage.offers import Offered
from jarvis_desktop.ui.look import icons, phrases, theme
from jarvis_desktop.ui.look.icons import IconButton, Symbol
from jarvis_desktop.ui.look.pictures import Picture
from jarvis_desktop.ui.look.text import ElidedLabel, Label

PREVIEW = 28


class Chip(QFrame):
    """A file's kind or picture, its name and size; with a button to take it away, if asked for."""

    removed = Signal(object)
    """Carries the path."""

    def __init__(self, artifact: Artifact, *, size: str = "", removable: bool = False) -> None:
        """`size` in words."""
        super().__init__()
        self.setObjectName("chip")
        self.artifact = artifact
        name = one_line(artifact.title)
        kind = tr(phrases.KINDS[artifact.kind])
        told = (name, kind, size) if size else (name, kind)
        self.setAccessibleName(", ".join(told))
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
            button = IconButton(
                "close", tr("Remove {name}", name=name), kind="tiny", tip=tr("Remove")
            )
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


class FileChip(Chip):
    """A file that is about to be sent."""

    def __init__(self, offered: Offered) -> None:
        self.offered = offered
        path = offered.path
        artifact = Artifact(offered.kind, path=path, name=path.name or str(path))
        super().__init__(artifact, size=phrases.size(offered.size), removable=True)


def given(path: Path) -> Artifact:
    """What a file seems to be before it has been looked into."""
    return Artifact(phrases.kind_of(path), path=path, name=path.name or str(path))
