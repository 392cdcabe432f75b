"""What covers the window for a moment: the invitation to drop files, and a picture shown large."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QImage, QKeyEvent, QMouseEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.ui import theme
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.icons import IconButton, Symbol
from jarvis_desktop.ui.pictures import Picture
from jarvis_desktop.ui.results import FileLine
from jarvis_desktop.ui.text import Label

MARGIN = 12


class DropZone(QFrame):
    """Says that what is held over the window may be dropped."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("dropzone")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        layout = QVBoxLayout(self)
        layout.addStretch(1)
        layout.addWidget(
            Symbol("attach", "on_soft", size=32), alignment=Qt.AlignmentFlag.AlignHCenter
        )
        layout.addWidget(Label("Drop to add", role="title"), 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addWidget(
            Label("Pictures, recordings, documents: they go with your next request"),
            alignment=Qt.AlignmentFlag.AlignHCenter,
        )
        layout.addStretch(1)
        self.hide()

    def appear(self) -> None:
        """Cover the parent."""
        parent = self.parentWidget()
        assert parent is not None
        self.setGeometry(parent.rect().adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN))
        self.raise_()
        self.show()


class Viewer(QFrame):
    """One picture as large as the window allows; Esc or a click closes it."""

    def __init__(self, parent: QWidget, artifact: Artifact, actions: Actions) -> None:
        super().__init__(parent)
        assert artifact.path is not None
        self.setObjectName("viewer")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(f"Picture {artifact.title}")
        self._path = artifact.path
        layout = QVBoxLayout(self)
        layout.setContentsMargins(*[theme.space("two")] * 4)
        bar = QHBoxLayout()
        bar.addWidget(FileLine(artifact, actions), 1)
        self.close_button = IconButton("close", "Close the picture")
        self.close_button.setToolTip("Close (Esc)")
        self.close_button.clicked.connect(self.leave)
        bar.addWidget(self.close_button)
        layout.addLayout(bar)
        self.picture = QLabel()
        self.picture.setTextFormat(Qt.TextFormat.PlainText)
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.picture.setMinimumSize(40, 40)
        layout.addWidget(self.picture, 1)
        self._settled = QTimer(self)
        self._settled.setSingleShot(True)
        self._settled.setInterval(120)
        self._settled.timeout.connect(self._read)
        self.setGeometry(parent.rect())
        self.show()
        self.raise_()
        self.setFocus()
        self._read()

    def leave(self) -> None:
        """Close."""
        self.hide()
        self.deleteLater()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc closes."""
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click beside the buttons closes."""
        self.leave()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Read the picture at its new size, once the size has settled."""
        super().resizeEvent(event)
        self._settled.start()

    def _read(self) -> None:
        ratio = self.devicePixelRatioF()
        space = self.picture.size() if self.picture.width() > 100 else self.size() * 0.9
        box = QSize(round(space.width() * ratio), round(space.height() * ratio))
        Picture(self._path, box, self).ready.connect(self._show_picture)

    def _show_picture(self, image: QImage, reason: str) -> None:
        if reason:
            self.picture.setText(reason)
            return
        pixmap = QPixmap.fromImage(image)
        pixmap.setDevicePixelRatio(self.devicePixelRatioF())
        self.picture.setPixmap(pixmap)
