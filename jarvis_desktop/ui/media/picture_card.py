"""A picture."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QEnterEvent,
    QImage,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPixmap,
)
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.pictures import Picture
from jarvis_desktop.ui.media.deeds import Deed, DragOut
from jarvis_desktop.ui.media.file_line import FileLine, Trouble
from jarvis_desktop.ui.media.screen import SCRIM

BOX = QSize(380, 280)
"""Pixels that a thumbnail takes at most."""
UNREAD = QSize(240, 160)
"""Pixels that are kept free until it was read."""
SMALLEST = 96
NARROWEST = 300
"""Pixels of the line beneath, so that a name can be read."""


class Thumbnail(QPushButton):
    """The picture as a button."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setProperty("kind", "thumbnail")
        self.setAccessibleName(tr("Show {file} large", file=name))
        self.setToolTip(tr("Show large"))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAutoDefault(False)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._size = UNREAD
        self._picture = QPixmap()
        self.tag = ""
        """A word that stands in its corner."""

    def show_picture(self, image: QImage) -> None:
        """Show this."""
        ratio = self.devicePixelRatioF()
        self._picture = QPixmap.fromImage(image)
        self._picture.setDevicePixelRatio(ratio)
        size = self._picture.deviceIndependentSize().toSize()
        self._size = size.expandedTo(QSize(SMALLEST, SMALLEST))
        self.setIcon(self._picture)
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """As large as the picture."""
        return self._size

    def enterEvent(self, event: QEnterEvent) -> None:
        """Show that it is a button."""
        super().enterEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the picture with round corners."""
        painter = QPainter(self)
        painter.setRenderHints(
            QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform
        )
        radius = theme.tokens().radius["medium"]
        frame = QPainterPath()
        frame.addRoundedRect(QRectF(self.rect()), radius, radius)
        painter.setClipPath(frame)
        painter.fillRect(self.rect(), theme.colour("sunken"))
        place = QRectF(QPointF(), self._picture.deviceIndependentSize())
        place.moveCenter(QRectF(self.rect()).center())
        painter.drawPixmap(place.toRect(), self._picture)
        if self.tag:
            self._paint_tag(painter)
        painter.setClipping(False)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        marked = self.hasFocus() or self.underMouse()
        width = 2 if marked else 1
        painter.setPen(QPen(theme.colour("accent" if marked else "border"), width))
        half = width / 2
        painter.drawRoundedRect(
            QRectF(self.rect()).adjusted(half, half, -half, -half), radius - half, radius - half
        )

    def _paint_tag(self, painter: QPainter) -> None:
        metrics = self.fontMetrics()
        size = metrics.size(0, self.tag) + QSize(12, 4)
        top = self.height() - size.height() - theme.space()
        place = QRectF(theme.space(), top, size.width(), size.height())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(SCRIM)
        painter.drawRoundedRect(place, 5, 5)
        painter.setPen(Qt.GlobalColor.white)
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, self.tag)


class PictureCard(QWidget):
    """A thumbnail; a click shows it large, and it can be dragged elsewhere."""

    def __init__(self, artifact: Artifact, actions: Actions) -> None:
        super().__init__()
        assert artifact.path is not None
        self._image = QImage()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.space("half"))
        self.thumbnail = Thumbnail(one_line(artifact.title))
        self._enlarge = Deed("image", mark("Show large"), lambda: actions.enlarge.emit(artifact))
        self.thumbnail.clicked.connect(self._enlarge.act)
        layout.addWidget(self.thumbnail, alignment=Qt.AlignmentFlag.AlignLeading)
        self.trouble = Trouble(artifact, actions)
        layout.addWidget(self.trouble)
        self.line = FileLine(artifact, actions)
        self.line.setMaximumWidth(BOX.width())
        layout.addWidget(self.line)
        DragOut(self.thumbnail, self.line.deeds, lambda: self._image)
        box = BOX * self.devicePixelRatioF()
        self._reading = Picture(artifact.path, box, self)
        self._reading.ready.connect(self._show_picture)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What can be done with the file."""
        self.line.deeds.menu(self, event.globalPos(), self._enlarge)

    def _show_picture(self, image: QImage, reason: str) -> None:
        if reason:
            self.thumbnail.hide()
            self.trouble.say(reason)
            return
        self._image = image
        size = self._reading.size
        self.thumbnail.tag = "GIF" if self._reading.moves else ""
        self.thumbnail.show_picture(image)
        self.line.setMaximumWidth(max(self.thumbnail.sizeHint().width(), NARROWEST))
        self.line.show_facts(f"{size.width()} × {size.height()}")
