"""Pictures as large as the window allows, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QContextMenuEvent, QImage, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget
from shiboken6 import isValid

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.look import tabbing, theme
from jarvis_desktop.ui.look.icons import IconButton
from jarvis_desktop.ui.look.overlays import Covering
from jarvis_desktop.ui.look.pictures import MovingPicture, Picture
from jarvis_desktop.ui.look.text import Label
from jarvis_desktop.ui.media.deeds import DragOut
from jarvis_desktop.ui.media.file_line import FileLine, Trouble
from jarvis_desktop.ui.media.picture_view import STEP, PictureView

FINEST = QSize(6000, 6000)
"""Pixels that are read of a picture that is enlarged."""
MOVE = 80
"""Pixels that an arrow key moves a picture."""


def pictures_of(turns: Iterable[Turn]) -> list[Artifact]:
    """The pictures of a conversation, each once, in the order in which one sees them."""
    items = (item for turn in turns for item in (*turn.attachments, *turn.artifacts))
    return list(dict.fromkeys(item for item in items if item.kind is Kind.IMAGE and item.path))


class Viewer(QFrame):
    """Covers its parent; Esc or a click beside the picture closes it."""

    def __init__(
        self, parent: QWidget, artifact: Artifact, actions: Actions, among: Sequence[Artifact] = ()
    ) -> None:
        """`among` are the pictures that can be gone to from here."""
        super().__init__(parent)
        self.setObjectName("viewer")
        self._actions = actions
        self._among = list(among) if artifact in among else [artifact]
        self._index = self._among.index(artifact)
        self._before = parent.window().focusWidget()
        self._left = False
        self.view = PictureView()
        self.trouble: Trouble | None = None
        self.line: FileLine | None = None
        self._picture: Picture | None = None
        self._image = QImage()
        self._finest = False
        self._drag: DragOut | None = None
        self._head = QHBoxLayout()
        self.close_button = IconButton("close", tr("Close the picture"))
        self.close_button.setToolTip(tr("Close (Esc)"))
        self.close_button.clicked.connect(self.leave)
        self._head.addWidget(self.close_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[theme.space("two")] * 4)
        layout.setSpacing(theme.space())
        layout.addLayout(self._head)
        layout.addWidget(self.view, 1)
        layout.addLayout(self._tools())
        self.view.zoomed.connect(self._show_zoom)
        self.view.finer_wanted.connect(self._read_finer)
        self.view.missed.connect(self.leave)
        self._settled = QTimer(self, interval=120, singleShot=True)
        self._settled.timeout.connect(self._read)
        Covering(self)
        self.show()
        self.raise_()
        self.view.setFocus()
        self._open()

    def leave(self) -> None:
        """Close."""
        self._left = True
        if self._before and isValid(self._before) and self._before.isVisible():
            self._before.setFocus()
        self.hide()
        self.deleteLater()

    def step(self, by: int) -> None:
        """Show the picture so many places further on, if there is one."""
        to = self._index + by
        if 0 <= to < len(self._among) and by:
            self._index = to
            self._open()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What can be done with the file."""
        if self.line:
            self.line.deeds.menu(self, event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """All that can be done with the mouse."""
        key, control = event.key(), event.modifiers() & Qt.KeyboardModifier.ControlModifier
        arrows = {
            Qt.Key.Key_Left: (MOVE, 0),
            Qt.Key.Key_Right: (-MOVE, 0),
            Qt.Key.Key_Up: (0, MOVE),
            Qt.Key.Key_Down: (0, -MOVE),
        }
        if key == Qt.Key.Key_Escape:
            self.leave()
        elif control and key == Qt.Key.Key_C and self.line:
            self.line.deeds.copy()
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
            self.view.zoom_by(STEP)
        elif key == Qt.Key.Key_Minus:
            self.view.zoom_by(1 / STEP)
        elif key == Qt.Key.Key_0:
            self.view.set_zoom(0.0)
        elif key == Qt.Key.Key_1:
            self.view.set_zoom(1.0)
        elif key == Qt.Key.Key_R:
            self.view.turn()
        else:
            super().keyPressEvent(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Stay within: what is beneath cannot be seen."""
        if self._left or not self.isVisible():  # what hides hands its focus on
            return super().focusNextPrevChild(forward)
        tabbing.go_round(self, forwards=forward)
        return True

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Read the picture for its new size, once the size has settled."""
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
        self.out.clicked.connect(lambda: self.view.zoom_by(1 / STEP))
        self.zoom.clicked.connect(self._fit_or_full)
        self.enlarge.clicked.connect(lambda: self.view.zoom_by(STEP))
        self.turn.clicked.connect(self.view.turn)
        row = QHBoxLayout()
        row.setSpacing(theme.space("half"))
        row.addStretch(1)
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
                old.hide()
                old.deleteLater()
        self.line = FileLine(artifact, self._actions)
        self._head.insertWidget(0, self.line, 1)
        self.trouble = Trouble(artifact, self._actions)
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
            self.view, self.line.deeds, lambda: self._image, lambda: not self.view.is_larger
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
            self._begin(FINEST)

    def _begin(self, box: QSize) -> None:
        path = self._among[self._index].path
        assert path is not None
        self._picture = picture = Picture(path, box, self)
        picture.ready.connect(lambda image, reason: self._arrived(picture, image, reason))

    def _arrived(self, picture: Picture, image: QImage, reason: str) -> None:
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
            frames = MovingPicture(path, image.size(), picture)
            frames.ready.connect(lambda made: self._move(picture, made))

    def _move(self, picture: Picture, frames: Sequence[tuple[QImage, int]]) -> None:
        if picture is self._picture:
            self.view.show_frames(frames)

    def _show_zoom(self, zoom: float) -> None:
        shown = f"{round(100 * zoom)} %"
        self.zoom.setText(shown)
        self.zoom.setAccessibleName(tr("Zoom: {percent}", percent=shown))

    def _fit_or_full(self) -> None:
        whole = abs(self.view.zoom - self.view.fit) < 0.001
        self.view.set_zoom(1.0 if whole else 0.0)
