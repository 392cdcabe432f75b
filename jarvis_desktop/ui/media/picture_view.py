"""One picture that can be looked at closely: zoomed, moved about, turned."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSizeF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QImage,
    QMouseEvent,
    QNativeGestureEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QTransform,
    QWheelEvent,
)
from PySide6.QtWidgets import QGestureEvent, QPinchGesture, QSizePolicy, QWidget

STEP = 1.25
LEAST, MOST = 0.02, 16.0
PIXELLATED = 3.0
"""How much enlarged a picture shows its pixels as squares."""
WHEEL = 480.0
"""What a wheel turns to zoom by a factor of 2."""


class PictureView(QWidget):
    """Zoom is pixels of the screen for one of the picture; 0 fits it into the view."""

    zoomed = Signal(float)
    """Carries the zoom."""
    finer_wanted = Signal()
    """It is enlarged beyond the pixels that were read."""
    missed = Signal()
    """Somebody clicked beside the picture."""

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(40, 40)
        self.grabGesture(Qt.GestureType.PinchGesture)
        self._pixmap = QPixmap()
        self._frames: Sequence[tuple[QPixmap, int]] = ()
        self._frame = 0
        self._full = QSizeF()
        self._zoom = 0.0
        self._turns = 0
        self._middle = QPointF(0.5, 0.5)
        self._held: QPointF | None = None
        self._next = QTimer(self, singleShot=True)
        self._next.timeout.connect(self._advance)

    def clear(self) -> None:
        """Show nothing, and forget how it was looked at."""
        self._pixmap, self._frames, self._full = QPixmap(), (), QSizeF()
        self._next.stop()
        self._turns, self._zoom = 0, 0.0
        self._middle = QPointF(0.5, 0.5)
        self.update()

    def show_picture(self, image: QImage, full: QSizeF) -> None:
        """Show a picture of `full` pixels, of which the image may have fewer."""
        self._full = full.transposed() if self._turns % 2 else full
        self._pixmap = QPixmap.fromImage(self._turned(image))
        self._look()

    def show_frames(self, frames: Sequence[tuple[QImage, int]]) -> None:
        """Let it move."""
        self._frames = [(QPixmap.fromImage(self._turned(image)), wait) for image, wait in frames]
        self._frame = -1
        self._advance()

    @property
    def fit(self) -> float:
        """The zoom at which all of it is seen; small ones are not enlarged."""
        if self._full.isEmpty():
            return 1.0
        ratio = self.devicePixelRatioF()
        width, height = self._full.width(), self._full.height()
        return min(self.width() * ratio / width, self.height() * ratio / height, 1.0)

    @property
    def zoom(self) -> float:
        """As it is seen now."""
        return self._zoom or self.fit

    @property
    def is_larger(self) -> bool:
        """Whether it does not fit the view, so that it can be moved about."""
        shown = self._shown()
        return shown.width() > self.width() + 1 or shown.height() > self.height() + 1

    def set_zoom(self, zoom: float, at: QPointF | None = None) -> None:
        """Zoom; what is at that place of the view stays there. 0 fits."""
        at = at or QPointF(self.rect().center())
        before = self._place()
        held = QPointF(
            (at.x() - before.x()) / max(before.width(), 1),
            (at.y() - before.y()) / max(before.height(), 1),
        )
        self._zoom = min(max(zoom, LEAST), MOST) if zoom else 0.0
        shown = self._shown()
        middle = QRectF(self.rect()).center()
        self._middle = QPointF(
            held.x() + (middle.x() - at.x()) / max(shown.width(), 1),
            held.y() + (middle.y() - at.y()) / max(shown.height(), 1),
        )
        self._look()

    def zoom_by(self, factor: float, at: QPointF | None = None) -> None:
        """Enlarge it, or make it smaller."""
        self.set_zoom(self.zoom * factor, at)

    def move_by(self, x: float, y: float) -> None:
        """Move it by pixels of the window."""
        shown = self._shown()
        self._middle -= QPointF(x / max(shown.width(), 1), y / max(shown.height(), 1))
        self._look()

    def turn(self) -> None:
        """Turn it clockwise by a quarter."""
        self._turns = (self._turns + 1) % 4
        quarter = QTransform().rotate(90)
        self._pixmap = self._pixmap.transformed(quarter)
        self._frames = [(frame.transformed(quarter), wait) for frame, wait in self._frames]
        self._full = self._full.transposed()
        self._look()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the pointer."""
        self.zoom_by(2 ** (event.angleDelta().y() / WHEEL), event.position())

    def event(self, event: QEvent) -> bool:
        """Zoom by two fingers."""
        if isinstance(event, QGestureEvent):
            pinch = event.gesture(Qt.GestureType.PinchGesture)
            if isinstance(pinch, QPinchGesture):
                at = QPointF(self.mapFromGlobal(pinch.hotSpot().toPoint()))
                self.zoom_by(pinch.scaleFactor(), at)
                return True
        if isinstance(event, QNativeGestureEvent) and (
            event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture
        ):
            self.zoom_by(1 + event.value(), event.position())
            return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold of it, or miss it."""
        if event.button() == Qt.MouseButton.LeftButton:
            if not self._place().contains(event.position()):
                self.missed.emit()
            elif self.is_larger:
                self._held = event.position()
                self.setCursor(Qt.CursorShape.ClosedHandCursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move it about."""
        if self._held is not None:
            way = event.position() - self._held
            self._held = event.position()
            self.move_by(way.x(), way.y())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go."""
        self._held = None
        self._look()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Between all of it and all its pixels."""
        self.set_zoom(0.0 if self._zoom else 1.0, event.position())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw what of it is in the view."""
        place = self._place()
        seen = place.intersected(QRectF(self.rect()))
        if self._pixmap.isNull() or seen.isEmpty():
            return
        painter = QPainter(self)
        smooth = self.zoom < PIXELLATED
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
        scale = self._pixmap.width() / place.width()
        source = QRectF((seen.topLeft() - place.topLeft()) * scale, seen.size() * scale)
        painter.drawPixmap(seen, self._pixmap, source)

    def _turned(self, image: QImage) -> QImage:
        return image.transformed(QTransform().rotate(90 * self._turns)) if self._turns else image

    def _shown(self) -> QSizeF:
        return self._full * (self.zoom / self.devicePixelRatioF())

    def _place(self) -> QRectF:
        """Where the whole picture is, in the view's coordinates."""
        shown = self._shown()
        middle = QRectF(self.rect()).center()
        place = QRectF(QPointF(), shown)
        x = middle.x() - self._middle.x() * shown.width()
        y = middle.y() - self._middle.y() * shown.height()
        place.moveTopLeft(QPointF(x, y))
        return place

    def _look(self) -> None:
        """After a change: keep it in the view, and tell."""
        shown = self._shown()
        self._middle = QPointF(
            _kept(self._middle.x(), self.width(), shown.width()),
            _kept(self._middle.y(), self.height(), shown.height()),
        )
        larger = self.is_larger
        self.setCursor(Qt.CursorShape.OpenHandCursor if larger else Qt.CursorShape.ArrowCursor)
        self.update()
        self.zoomed.emit(self.zoom)
        if self._pixmap.width() * 1.1 < min(self._full.width() * self.zoom, self._full.width()):
            self.finer_wanted.emit()

    def _advance(self) -> None:
        if self._frames:
            self._frame = (self._frame + 1) % len(self._frames)
            self._pixmap, wait = self._frames[self._frame]
            self._next.start(wait)
            self.update()


def _kept(middle: float, room: float, length: float) -> float:
    """The place of a picture that is in the middle, with no more empty room than must be."""
    if length <= room:
        return 0.5
    half = room / length / 2
    return min(max(middle, half), 1 - half)
