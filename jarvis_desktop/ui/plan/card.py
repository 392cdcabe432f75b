"""One step of a plan as a card: a widget of its own, so that a screen reader and the keyboard find
it, which draws itself, so that two hundred of them are quick and can be drawn at any size."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QFocusEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPixmap,
)
from PySide6.QtWidgets import QWidget

from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.look.pictures import Picture
from jarvis_desktop.ui.plan.card_look import EDGE, PREVIEW, CardLook
from jarvis_desktop.ui.plan.layout import Box
from jarvis_desktop.ui.plan.telling import Face


class TaskCard(QWidget):
    """Shows a Face; what is done with it is told to the graph."""

    opened = Signal(int)
    """The person wants to look at the step, or change it."""
    menu_wanted = Signal(int, QPointF)
    """Carries where on the screen."""
    key_pressed = Signal(int, QKeyEvent)
    focused = Signal(int)
    dragged = Signal(int, QPointF)
    """The result of the step is held there, in the coordinates of the graph."""
    let_go = Signal(int, QPointF)
    file_dropped = Signal(int, object)
    """Carries a path."""

    def __init__(self, face: Face, parent: QWidget) -> None:
        super().__init__(parent)
        self.look = CardLook(face)
        self.editable = False
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setAcceptDrops(True)
        self.setMouseTracking(True)
        self._read_picture()
        self._tell()

    @property
    def face(self) -> Face:
        """What is shown."""
        return self.look.face

    @property
    def outlet(self) -> QRectF:
        """Where its result can be taken hold of, in its own coordinates."""
        at, scale = self.look.outlet.adjusted(-4, -4, 4, 4), self.look.scale
        return QRectF(at.topLeft() * scale, at.size() * scale)

    def show_open(self, is_open: bool) -> None:
        """Show whether the step is looked at closely."""
        if is_open != self.look.is_open:
            self.look.is_open = is_open
            self.update()

    def show_fits(self, fits: bool | None) -> None:
        """Show whether it takes what is held over it; None where it need not be shown."""
        if fits is not self.look.fits:
            self.look.fits = fits
            self.update()

    def turn(self) -> None:
        """Draw the sign of what runs a little further on."""
        self.look.angle = (self.look.angle + 18) % 360
        self.update()

    def show_face(self, face: Face, time: str) -> bool:
        """Show how the step is doing now; whether that is anything new."""
        look, before = self.look, self.face
        if face == before and time == look.time:
            return False
        read = face.picture != before.picture
        said = face != before and face.spoken != before.spoken
        look.face, look.time = face, time
        if read:
            look.picture = None
            self._read_picture()
        if said:
            self._tell()
        self.update()
        return True

    def place(self, box: Box, scale: float, *, stacked: bool, mirrored_in: float = 0.0) -> None:
        """Stand there; `mirrored_in` is the width of the graph where one reads from the right."""
        x = mirrored_in - box.right if mirrored_in else box.x
        look = self.look
        look.body = QRectF(EDGE, EDGE, box.width, box.height)
        look.scale, look.stacked, look.mirrored = scale, stacked, bool(mirrored_in)
        self.update()
        edge = EDGE * scale
        self.setGeometry(
            round(x * scale),
            round(box.y * scale),
            round(box.width * scale + 2 * edge),
            round(box.height * scale + 2 * edge),
        )

    def _tell(self) -> None:
        self.setAccessibleName(self.face.spoken)
        self.setAccessibleDescription(tr("Press Enter to look at this step or to change it"))

    def _read_picture(self) -> None:
        if path := self.face.picture:
            side = round(2 * PREVIEW * self.devicePixelRatioF())
            Picture(path, QSize(side, side), self).ready.connect(self._show_picture)

    def _show_picture(self, image: QImage, trouble: str) -> None:
        if not trouble:
            self.look.picture = QPixmap.fromImage(image)
            self.update()

    # What Qt says

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw it."""
        painter = QPainter(self)
        self.look.has_focus = self.hasFocus()
        self.look.draw(painter, self.font(), ratio=self.devicePixelRatioF())
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold of its result, where that is pressed."""
        if event.button() == Qt.MouseButton.LeftButton and self.editable:
            self.look.pulls = self.outlet.contains(event.position())
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Draw an arrow out of it."""
        grabs = self.editable and self.outlet.contains(event.position())
        self.setCursor(Qt.CursorShape.CrossCursor if grabs else Qt.CursorShape.PointingHandCursor)
        if self.look.pulls and event.buttons() & Qt.MouseButton.LeftButton:
            self.dragged.emit(self.face.task_id, self.mapToParent(event.position()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End the arrow, or open the step."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if self.look.pulls:
            self.look.pulls = False
            self.update()
            self.let_go.emit(self.face.task_id, self.mapToParent(event.position()))
        elif self.rect().contains(event.position().toPoint()):
            self.opened.emit(self.face.task_id)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done."""
        self.menu_wanted.emit(self.face.task_id, QPointF(event.globalPos()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left to the graph, which knows the others."""
        event.ignore()
        self.key_pressed.emit(self.face.task_id, event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Tell of it."""
        self.focused.emit(self.face.task_id)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Show it."""
        self.update()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Invite a file."""
        if self.editable and _file(event.mimeData()):
            self._invite(True)
            event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Take the invitation back."""
        self._invite(False)

    def dropEvent(self, event: QDropEvent) -> None:
        """Work on that file."""
        self._invite(False)
        event.acceptProposedAction()
        self.file_dropped.emit(self.face.task_id, _file(event.mimeData()))

    def _invite(self, inviting: bool) -> None:
        self.look.inviting = inviting
        self.update()


def _file(dropped: QMimeData) -> Path | None:
    """The one file that is dropped; None where it is none, or several."""
    urls = dropped.urls()
    return Path(urls[0].toLocalFile()) if len(urls) == 1 and urls[0].isLocalFile() else None
