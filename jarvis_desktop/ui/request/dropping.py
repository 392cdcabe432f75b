"""What happens while something is held over the window, and when it is let go there."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QMimeData, QObject
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QWidget

from jarvis_desktop.ui.look.overlays import DropZone
from jarvis_desktop.ui.request.offering import accepts


class Dropping(QObject):
    """Invites what can be used, and hands it on."""

    def __init__(self, window: QWidget, zone: DropZone, take: Callable[[QMimeData], bool]) -> None:
        """`take` says False to what it cannot use."""
        super().__init__(window)
        self._zone = zone
        self._take = take
        window.setAcceptDrops(True)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt's events of dragging, wherever on the window."""
        if isinstance(event, QDragEnterEvent):
            if accepts(event.mimeData()):
                self._zone.appear()
                event.acceptProposedAction()
            return True
        if event.type() == QEvent.Type.DragLeave:
            self._zone.hide()
            return True
        if isinstance(event, QDropEvent) and event.type() == QEvent.Type.Drop:
            self._zone.hide()
            if self._take(event.mimeData()):
                event.acceptProposedAction()
            return True
        return super().eventFilter(watched, event)
