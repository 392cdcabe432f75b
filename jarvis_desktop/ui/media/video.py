"""Video on screen: decoding frames in a child process, showing them, and full screen."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QColor,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from jarvis_desktop.core.i18n import tr
from jarvis_desktop.process.child import Child
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.media.controller import MediaController
from jarvis_desktop.ui.media.playback import Playback
from jarvis_desktop.ui.media.previews import VideoFrame
from jarvis_desktop.ui.widgets import icons, theme
from jarvis_desktop.ui.widgets.layout import vbox
from jarvis_desktop.ui.widgets.timers import new_timer

MIN_FRAME_INTERVAL_S = 1 / 30
IDLE_MS = 700  # milliseconds that the process stays after the last requested frame
VISIBILITY_INTERVAL_MS = 250
FRAME_TIMEOUT_S = 10.0
MAX_WIDTH, MAX_HEIGHT = 640, 420
SCRIM = QColor(0, 0, 0, 140)  # behind signs on a video, which may have any colour


class FrameLoader(QObject):
    """Shows the frames of a video in step with a Playback.

    A frame is requested once the one before was drawn: a busy window or a heavy video drops frames
    instead of queueing them.
    """

    came = Signal(QImage)
    failed = Signal(str)

    def __init__(
        self, media: MediaController, transport: Playback, path: Path, screen: QWidget
    ) -> None:
        super().__init__(screen)
        self._media, self._transport, self._path, self._screen = media, transport, path, screen
        self._child = Child("jarvis_desktop.ui.media.worker:make_frames", name="film player")
        self._asked = self._sought = False
        self._frame: VideoFrame | None = None
        self._last = -1.0
        self._due = new_timer(self, self._show, precision=Qt.TimerType.PreciseTimer)
        self._lingering = new_timer(self, self._end, IDLE_MS)
        self._looking = new_timer(self, self._look, VISIBILITY_INTERVAL_MS, repeat=True)
        transport.changed.connect(self._changed)
        transport.jumped.connect(self._jumped)
        # not a method: a destroyed object has none left
        self.destroyed.connect(partial(_end_child, media, self._child))

    @property
    def pid(self) -> int | None:
        """The process id, if it is running."""
        return self._child.pid

    def _changed(self) -> None:
        if self._transport.playing:
            self._looking.start()
            self._ask()
        else:
            self._looking.stop()
            self._lingering.start()

    def _jumped(self) -> None:
        self._due.stop()
        self._frame = None
        self._sought = True
        self._ask()

    def _look(self) -> None:
        """Pause a video that is not visible."""
        window = self._screen.window()
        if window.isMinimized() or self._screen.visibleRegion().isEmpty():
            self._transport.pause()

    def _ask(self) -> None:
        if self._asked or self._frame or not (self._sought or self._transport.playing):
            return
        sought, self._sought = self._sought, False
        at = self._transport.position
        if not sought:
            at = max(at, self._last + MIN_FRAME_INTERVAL_S - 0.002)
        size = self._screen.size() * self._screen.devicePixelRatioF()
        self._asked = True
        self._lingering.stop()
        wanted = (self._path, at, size.width(), size.height(), sought)
        self._media.ask(
            self, lambda: self._child.call(*wanted, timeout=FRAME_TIMEOUT_S), self._arrived
        )

    def _arrived(self, outcome: Outcome) -> None:
        self._asked = False
        if not self._transport.playing:
            self._lingering.start()
        if outcome.error:
            self._transport.pause()
            self._end()
            self.failed.emit(outcome.error.message)
        elif self._sought:
            self._ask()  # the position changed in the meantime
        elif outcome.value:
            self._frame = outcome.value
            self._wait()

    def _wait(self) -> None:
        """Show the frame when it is due."""
        assert self._frame
        early = self._frame.at - self._transport.position
        if self._transport.playing and early > 0.004:
            wait = min(early, 0.25) if self._transport.runs else 0.02
            self._due.start(max(1, round(wait * 1000)))
        else:
            self._show()

    def _show(self) -> None:
        frame = self._frame
        if frame is None:
            return
        if self._transport.playing and frame.at - self._transport.position > 0.01:
            self._wait()
            return
        self._frame, self._last = None, frame.at
        self.came.emit(frame_image(frame))
        self._ask()

    def _end(self) -> None:
        self._frame = None
        _end_child(self._media, self._child)


def _end_child(media: MediaController, child: Child, _gone: object = None) -> None:
    if engine := media.engine:
        engine.call(child.kill)


def frame_image(frame: VideoFrame) -> QImage:
    """A frame as a QImage."""
    stride = 4 * frame.width
    image = QImage(frame.pixels, frame.width, frame.height, stride, QImage.Format.Format_RGB32)
    return image.copy()  # QImage does not own the bytes


class VideoCanvas(QWidget):
    """Shows frames in the video's proportions; a click plays and pauses."""

    seen = Signal()  # it is visible for the first time
    clicked = Signal()
    double_clicked = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._seen = self._fills = False
        self._picture = QImage()
        self._sign = "play"
        self._ratio = 9 / 16
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setMinimumSize(160, 90)
        self.show_proportions(16, 9)

    def show_proportions(self, width: int, height: int) -> None:
        """Set the size of the video, for its proportions."""
        self._ratio = height / max(width, 1)
        self.fill(self._fills)

    def fill(self, fills: bool) -> None:
        """Use all the room there is, or no more than a card has."""
        self._fills = fills
        if fills:
            self.setMaximumSize(QSize(2**24 - 1, 2**24 - 1))
            return
        widest = min(MAX_WIDTH, round(MAX_HEIGHT / max(self._ratio, 0.1)))
        self.setMaximumSize(max(widest, 160), MAX_HEIGHT)
        self.updateGeometry()

    def show_picture(self, picture: QImage) -> None:
        """Show a frame."""
        self._picture = picture
        self.update()

    def show_sign(self, name: str) -> None:
        """Draw an icon in the middle; "" for none."""
        self._sign = name
        self.update()

    def sizeHint(self) -> QSize:
        width = MAX_WIDTH if self._fills else self.maximumWidth()
        return QSize(width, self.heightForWidth(width))

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return max(90, min(MAX_HEIGHT, round(min(width, self.maximumWidth()) * self._ratio)))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        inside = self.rect().contains(event.position().toPoint())
        if event.button() == Qt.MouseButton.LeftButton and inside:
            self.clicked.emit()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """The two single clicks before it cancel each other out."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.double_clicked.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._seen:
            self._seen = True
            self.seen.emit()
        painter = QPainter(self)
        painter.setRenderHints(
            QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform
        )
        frame = QPainterPath()
        radius = 0 if self._fills else theme.tokens().radius["medium"]
        frame.addRoundedRect(QRectF(self.rect()), radius, radius)
        painter.setClipPath(frame)
        painter.fillRect(self.rect(), Qt.GlobalColor.black)
        if not self._picture.isNull():
            size = self._picture.size().scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio)
            place = QRectF(0, 0, size.width(), size.height())
            place.moveCenter(QRectF(self.rect()).center())
            painter.drawImage(place, self._picture)
        if self._sign:
            self._paint_sign(painter)

    def _paint_sign(self, painter: QPainter) -> None:
        middle = QRectF(self.rect()).center()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(SCRIM)
        painter.drawEllipse(middle, 28, 28)
        sign = icons.drawn(self._sign, "#ffffff").pixmap(QSize(32, 32), self.devicePixelRatioF())
        place = QRectF(0, 0, 32, 32)
        place.moveCenter(middle)
        painter.drawPixmap(place.toRect(), sign)


class VideoWindow(QWidget):
    """A full-screen window that borrows the canvas and the controls of a card."""

    left = Signal()  # it was closed, and what it borrowed must be taken back

    def __init__(self, card: QWidget, canvas: VideoCanvas, bar: QWidget, name: str) -> None:
        super().__init__(card, Qt.WindowType.Window)
        self.setWindowTitle(tr("{file}, full screen", file=name))
        foot = QFrame(self)
        foot.setObjectName("card")
        vbox(bar, parent=foot, margins=theme.space())
        canvas.fill(True)
        vbox((canvas, 1), foot, parent=self, spacing=0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_F):
            self.close()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.left.emit()
        super().closeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(event.rect(), Qt.GlobalColor.black)
