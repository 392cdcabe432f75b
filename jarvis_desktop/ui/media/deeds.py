"""What can be done with any file that is shown: opened, saved, copied, dragged elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt
from PySide6.QtGui import QDrag, QGuiApplication, QImage, QMouseEvent, QPixmap
from PySide6.QtWidgets import QAbstractButton, QApplication, QMenu, QWidget

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.look import icons
from jarvis_desktop.ui.look.pictures import Picture
from jarvis_desktop.ui.media.handing import mime_data

COPIED = QSize(8000, 8000)
"""Pixels of a picture on the clipboard, at most."""
HELD = 96
"""Pixels of what hangs at the pointer."""


@dataclass(frozen=True, slots=True)
class Deed:
    """One of them."""

    icon: str
    name: str
    """As `mark` gives it."""
    act: Callable[[], None]


class Deeds(QObject):
    """Those of one file; lives as long as the widget that shows it."""

    def __init__(self, artifact: Artifact, actions: Actions, parent: QWidget) -> None:
        super().__init__(parent)
        self.artifact = artifact
        self.text = ""
        """What goes to the clipboard besides the file."""
        self._actions = actions
        self.all = (
            Deed("open", mark("Open"), lambda: actions.open(self, artifact)),
            Deed("folder", mark("Show in folder"), self._show),
            Deed("save", mark("Save a copy"), lambda: actions.save_as.emit(artifact)),
            Deed("copy", mark("Copy"), self.copy),
        )
        self.use = Deed("attach", mark("Use in the next request"), self._use)

    def copy(self) -> None:
        """Put the file on the clipboard; a picture also as a picture, a table as its text."""
        self._actions.media.hand_out(self, self.artifact, then=lambda _: self._put())

    def menu(self, parent: QWidget, at: QPoint, *more: Deed) -> None:
        """Offer all of them at a place of the screen, and to go on with the file, after those that
        are given."""
        menu = QMenu(parent)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for deed in (*more, self.use, *self.all):
            made = menu.addAction(icons.icon(deed.icon, "muted"), tr(deed.name))
            made.triggered.connect(deed.act)
        menu.popup(at)

    def drag(self, widget: QWidget, picture: QImage) -> None:
        """Let the file be dropped elsewhere."""
        path = self.artifact.path
        assert path is not None
        drag = QDrag(widget)
        drag.setMimeData(mime_data(self._actions.media.handed(path), picture, self.text))
        held = QPixmap.fromImage(picture) if not picture.isNull() else None
        drag.setPixmap(
            held.scaled(HELD, HELD, Qt.AspectRatioMode.KeepAspectRatio)
            if held
            else icons.pixmap(icons.FOR_KIND[self.artifact.kind], "accent", size=32)
        )
        drag.exec(Qt.DropAction.CopyAction)

    def get_ready(self) -> None:
        """It may be dragged in a moment."""
        self._actions.media.hand_out(self, self.artifact)

    def _show(self) -> None:
        self._actions.show_folder.emit(self.artifact.source or self.artifact.path)

    def _use(self) -> None:
        """By the name that it is known by here."""

        def attach(paths: list[Path]) -> None:
            self._actions.attach.emit(paths[0])

        self._actions.media.hand_out(self, self.artifact, then=attach)

    def _put(self) -> None:
        path = self.artifact.path
        if path and self.artifact.kind is Kind.IMAGE:
            Picture(path, COPIED, self).ready.connect(lambda image, _: self._put_with(image))
        else:
            self._put_with(QImage())

    def _put_with(self, image: QImage) -> None:
        path = self.artifact.path
        assert path is not None
        data = mime_data(self._actions.media.handed(path), image, self.text)
        QGuiApplication.clipboard().setMimeData(data)


class DragOut(QObject):
    """Lets a widget be dragged out of the window, where it stands for a file."""

    def __init__(
        self,
        widget: QWidget,
        deeds: Deeds,
        picture: Callable[[], QImage] = QImage,
        may: Callable[[], bool] = lambda: True,
    ) -> None:
        """`picture` gives what hangs at the pointer; `may` says whether a drag means that now."""
        super().__init__(widget)
        self._widget, self._deeds, self._picture, self._may = widget, deeds, picture, may
        self._from: QPoint | None = None
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Begin to drag once the mouse was moved far enough with its button down."""
        if not isinstance(event, QMouseEvent):
            return False
        if event.type() == QEvent.Type.MouseButtonPress:
            if event.button() == Qt.MouseButton.LeftButton and self._may():
                self._from = event.position().toPoint()
                self._deeds.get_ready()
        elif event.type() == QEvent.Type.MouseButtonRelease:
            self._from = None
        elif event.type() == QEvent.Type.MouseMove and self._from is not None:
            way = (event.position().toPoint() - self._from).manhattanLength()
            if way >= QApplication.startDragDistance():
                self._from = None
                if isinstance(self._widget, QAbstractButton):
                    self._widget.setDown(False)
                self._deeds.drag(self._widget, self._picture())
                return True
        return False
