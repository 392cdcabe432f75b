"""The image viewer: pictures as large as the window, zoomed, moved and rotated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
    QTransform,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QFrame,
    QGestureEvent,
    QHBoxLayout,
    QPinchGesture,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.media.file_actions import DragOut, FileError, FileLine
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.banners import CoverParent
from jarvis_desktop.ui.widgets.forms import reword
from jarvis_desktop.ui.widgets.icons import IconButton
from jarvis_desktop.ui.widgets.images import AnimationLoader, PictureLoader
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import discard, go_round, hbox, vbox
from jarvis_desktop.ui.widgets.timers import new_timer

ZOOM_STEP = 1.25
MIN_ZOOM, MAX_ZOOM = 0.02, 16.0
PIXELATED_ZOOM = 3.0  # the scale from which single pixels are drawn as squares
WHEEL_DOUBLING = 480.0  # wheel rotation that zooms by a factor of 2, in Qt's units


class ImageView(QWidget):
    """One picture. The zoom is screen pixels per picture pixel; 0 fits it into the view."""

    zoomed = Signal(float)  # the zoom
    finer_wanted = Signal()  # more pixels are needed than were read
    missed = Signal()  # the user clicked beside the picture

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
        self._next = new_timer(self, self._advance)

    def clear(self) -> None:
        """Show nothing, and reset zoom and rotation."""
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
        """Show an animation."""
        self._frames = [(QPixmap.fromImage(self._turned(image)), wait) for image, wait in frames]
        self._frame = -1
        self._advance()

    @property
    def fit(self) -> float:
        """The zoom that shows all of it; small pictures are not enlarged."""
        if self._full.isEmpty():
            return 1.0
        ratio = self.devicePixelRatioF()
        width, height = self._full.width(), self._full.height()
        return min(self.width() * ratio / width, self.height() * ratio / height, 1.0)

    @property
    def zoom(self) -> float:
        """The current zoom."""
        return self._zoom or self.fit

    @property
    def is_larger(self) -> bool:
        """Whether it exceeds the view, so that it can be moved."""
        shown = self._shown()
        return shown.width() > self.width() + 1 or shown.height() > self.height() + 1

    def set_zoom(self, zoom: float, at: QPointF | None = None) -> None:
        """Zoom around that point of the view; 0 fits."""
        at = at or QPointF(self.rect().center())
        before = self._place()
        held = QPointF(
            (at.x() - before.x()) / max(before.width(), 1),
            (at.y() - before.y()) / max(before.height(), 1),
        )
        self._zoom = min(max(zoom, MIN_ZOOM), MAX_ZOOM) if zoom else 0.0
        shown = self._shown()
        middle = QRectF(self.rect()).center()
        self._middle = QPointF(
            held.x() + (middle.x() - at.x()) / max(shown.width(), 1),
            held.y() + (middle.y() - at.y()) / max(shown.height(), 1),
        )
        self._look()

    def zoom_by(self, factor: float, at: QPointF | None = None) -> None:
        """Multiply the zoom."""
        self.set_zoom(self.zoom * factor, at)

    def move_by(self, x: float, y: float) -> None:
        """Move it by pixels of the window."""
        shown = self._shown()
        self._middle -= QPointF(x / max(shown.width(), 1), y / max(shown.height(), 1))
        self._look()

    def turn(self) -> None:
        """Rotate it clockwise by 90 degrees."""
        self._turns = (self._turns + 1) % 4
        quarter = QTransform().rotate(90)
        self._pixmap = self._pixmap.transformed(quarter)
        self._frames = [(frame.transformed(quarter), wait) for frame, wait in self._frames]
        self._full = self._full.transposed()
        self._look()

    def wheelEvent(self, event: QWheelEvent) -> None:
        self.zoom_by(2 ** (event.angleDelta().y() / WHEEL_DOUBLING), event.position())

    def event(self, event: QEvent) -> bool:
        """Zoom with two fingers."""
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
        if event.button() == Qt.MouseButton.LeftButton:
            if not self._place().contains(event.position()):
                self.missed.emit()
            elif self.is_larger:
                self._held = event.position()
                self.setCursor(Qt.CursorShape.ClosedHandCursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._held is not None:
            way = event.position() - self._held
            self._held = event.position()
            self.move_by(way.x(), way.y())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._held = None
        self._look()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Toggle between fit and full size."""
        self.set_zoom(0.0 if self._zoom else 1.0, event.position())

    def paintEvent(self, event: QPaintEvent) -> None:
        place = self._place()
        seen = place.intersected(QRectF(self.rect()))
        if self._pixmap.isNull() or seen.isEmpty():
            return
        painter = QPainter(self)
        smooth = self.zoom < PIXELATED_ZOOM
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, smooth)
        scale = self._pixmap.width() / place.width()
        source = QRectF((seen.topLeft() - place.topLeft()) * scale, seen.size() * scale)
        painter.drawPixmap(seen, self._pixmap, source)

    def _turned(self, image: QImage) -> QImage:
        return image.transformed(QTransform().rotate(90 * self._turns)) if self._turns else image

    def _shown(self) -> QSizeF:
        return self._full * (self.zoom / self.devicePixelRatioF())

    def _place(self) -> QRectF:
        """The rectangle of the whole picture, in the view's coordinates."""
        shown = self._shown()
        middle = QRectF(self.rect()).center()
        place = QRectF(QPointF(), shown)
        x = middle.x() - self._middle.x() * shown.width()
        y = middle.y() - self._middle.y() * shown.height()
        place.moveTopLeft(QPointF(x, y))
        return place

    def _look(self) -> None:
        """Keep the picture in the view and report the change."""
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
    """The centre of the view as a fraction of the picture, with little empty space."""
    if length <= room:
        return 0.5
    half = room / length / 2
    return min(max(middle, half), 1 - half)


MAX_PICTURE = QSize(6000, 6000)
MOVE_PX = 80


def pictures_of(turns: Iterable[Turn]) -> list[Artifact]:
    """The pictures of a conversation, each once, in order."""
    items = (item for turn in turns for item in (*turn.attachments, *turn.artifacts))
    return list(dict.fromkeys(item for item in items if item.kind is Kind.IMAGE and item.path))


class ImageViewer(QFrame):
    """Covers its parent; Esc or a click beside the picture closes it."""

    def __init__(
        self, parent: QWidget, artifact: Artifact, actions: Actions, among: Sequence[Artifact] = ()
    ) -> None:
        """`among` are the pictures to page through."""
        super().__init__(parent)
        self.setObjectName("viewer")
        self._actions = actions
        self._among = list(among) if artifact in among else [artifact]
        self._index = self._among.index(artifact)
        self._before = parent.window().focusWidget()
        self._left = False
        self.view = ImageView()
        self.trouble: FileError | None = None
        self.line: FileLine | None = None
        self._picture: PictureLoader | None = None
        self._image = QImage()
        self._finest = False
        self._drag: DragOut | None = None
        self.close_button = IconButton("close", tr("Close the picture"), act=self.leave)
        self.close_button.setToolTip(tr("Close (Esc)"))
        self._head = hbox(self.close_button)
        vbox(
            self._head,
            (self.view, 1),
            self._tools(),
            parent=self,
            margins=theme.space("two"),
            spacing=theme.space(),
        )
        self.view.zoomed.connect(self._show_zoom)
        self.view.finer_wanted.connect(self._read_finer)
        self.view.missed.connect(self.leave)
        self._settled = new_timer(self, self._read, 120)
        CoverParent(self)
        self.show()
        self.raise_()
        self.view.setFocus()
        self._open()

    def leave(self) -> None:
        """Close."""
        self._left = True
        if self._before and isValid(self._before) and self._before.isVisible():
            self._before.setFocus()
        discard(self)

    def step(self, by: int) -> None:
        """Go forward by a number of pictures, if possible."""
        to = self._index + by
        if 0 <= to < len(self._among) and by:
            self._index = to
            self._open()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self.line:
            self.line.file_actions.menu(self, event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, control = event.key(), event.modifiers() & Qt.KeyboardModifier.ControlModifier
        arrows = {
            Qt.Key.Key_Left: (MOVE_PX, 0),
            Qt.Key.Key_Right: (-MOVE_PX, 0),
            Qt.Key.Key_Up: (0, MOVE_PX),
            Qt.Key.Key_Down: (0, -MOVE_PX),
        }
        if key == Qt.Key.Key_Escape:
            self.leave()
        elif control and key == Qt.Key.Key_C and self.line:
            self.line.file_actions.copy()
        elif control and key == Qt.Key.Key_S:
            self._actions.save_as.emit(self._among[self._index])
        elif key in arrows and self.view.is_larger:
            self.view.move_by(*arrows[Qt.Key(key)])
        elif key in (Qt.Key.Key_Right, Qt.Key.Key_Left):
            onward = (key == Qt.Key.Key_Right) == self.isLeftToRight()
            self.step(1 if onward else -1)
        elif key == Qt.Key.Key_PageDown:
            self.step(1)
        elif key == Qt.Key.Key_PageUp:
            self.step(-1)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.view.zoom_by(ZOOM_STEP)
        elif key == Qt.Key.Key_Minus:
            self.view.zoom_by(1 / ZOOM_STEP)
        elif key == Qt.Key.Key_0:
            self.view.set_zoom(0.0)
        elif key == Qt.Key.Key_1:
            self.view.set_zoom(1.0)
        elif key == Qt.Key.Key_R:
            self.view.turn()
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Keep the focus inside: what is below cannot be seen."""
        if self._left or not self.isVisible():  # hiding moves the focus elsewhere
            return super().focusNextPrevChild(forward)
        go_round(self, forwards=forward)
        return True

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Read the picture for the new size, once it has settled."""
        super().resizeEvent(event)
        self._settled.start()

    def _tools(self) -> QHBoxLayout:
        self.previous = IconButton("left", tr("Previous picture"))
        self.next = IconButton("right", tr("Next picture"))
        self.count = Label(role="small")
        self.out = IconButton("minus", tr("Smaller (-)"))
        self.zoom = QPushButton()
        self.zoom.setProperty("kind", "quiet")
        self.zoom.setToolTip(tr("The whole picture (0), or all its pixels (1)"))
        self.enlarge = IconButton("plus", tr("Larger (+)"))
        self.turn = IconButton("rotate", tr("Turn (R)"))
        self.previous.clicked.connect(lambda: self.step(-1))
        self.next.clicked.connect(lambda: self.step(1))
        self.out.clicked.connect(lambda: self.view.zoom_by(1 / ZOOM_STEP))
        self.zoom.clicked.connect(self._fit_or_full)
        self.enlarge.clicked.connect(lambda: self.view.zoom_by(ZOOM_STEP))
        self.turn.clicked.connect(self.view.turn)
        row = hbox(None, spacing=theme.space("half"))
        for widget in (self.previous, self.count, self.next):
            row.addWidget(widget)
            if len(self._among) == 1:
                widget.hide()
        row.addSpacing(theme.space("two"))
        for button in (self.out, self.zoom, self.enlarge, self.turn):
            row.addWidget(button)
        row.addStretch(1)
        return row

    def _open(self) -> None:
        artifact = self._among[self._index]
        name = one_line(artifact.title)
        number, all_ = self._index + 1, len(self._among)
        for old in (self.line, self.trouble):
            if old:
                discard(old)
        self.line = FileLine(artifact, self._actions)
        self._head.insertWidget(0, self.line, 1)
        self.trouble = FileError(artifact, self._actions)
        body = self.layout()
        assert isinstance(body, QVBoxLayout)
        body.insertWidget(1, self.trouble)
        self.setAccessibleName(tr("Picture {file}", file=name))
        place = tr("{number} of {all}", number=number, all=all_)
        self.view.setAccessibleName(f"{name}, {place}" if all_ > 1 else name)
        self.count.setText(place)
        self.previous.setEnabled(number > 1)
        self.next.setEnabled(number < all_)
        self._drag = DragOut(
            self.view, self.line.file_actions, lambda: self._image, lambda: not self.view.is_larger
        )
        self._image, self._finest = QImage(), False
        self.view.clear()
        self.view.show()
        self._read()

    def _read(self) -> None:
        """Read it for the view's size."""
        if not self._finest:
            room = self.view.size() if self.view.width() > 100 else self.size() * 0.9
            self._begin(room * self.devicePixelRatioF())

    def _read_finer(self) -> None:
        if not self._finest:
            self._finest = True
            self._begin(MAX_PICTURE)

    def _begin(self, box: QSize) -> None:
        path = self._among[self._index].path
        assert path is not None
        self._picture = picture = PictureLoader(path, box, self)
        picture.ready.connect(lambda image, reason: self._arrived(picture, image, reason))

    def _arrived(self, picture: PictureLoader, image: QImage, reason: str) -> None:
        if picture is not self._picture or not self.line or not self.trouble:
            return
        if reason:
            self.view.hide()
            self.trouble.say(reason)
            return
        self._image = image
        self.view.show_picture(image, picture.size.toSizeF())
        self.line.show_facts(f"{picture.size.width()} × {picture.size.height()}")
        path = self._among[self._index].path
        if picture.moves and theme.duration() and path:
            frames = AnimationLoader(path, image.size(), picture)
            frames.ready.connect(lambda made: self._move(picture, made))

    def _move(self, picture: PictureLoader, frames: Sequence[tuple[QImage, int]]) -> None:
        if picture is self._picture:
            self.view.show_frames(frames)

    def _show_zoom(self, zoom: float) -> None:
        shown = f"{round(100 * zoom)} %"
        reword(self.zoom, shown, tr("Zoom: {percent}", percent=shown))

    def _fit_or_full(self) -> None:
        whole = abs(self.view.zoom - self.view.fit) < 0.001
        self.view.set_zoom(1.0 if whole else 0.0)
