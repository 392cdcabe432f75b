"""What covers the window for a moment, such as the invitation to drop files."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.look.icons import Symbol
from jarvis_desktop.ui.look.text import Label

MARGIN = 12


class Covering(QObject):
    """Keeps a widget over all of its parent, whatever size that gets."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        parent = widget.parentWidget()
        assert parent is not None
        parent.installEventFilter(self)
        widget.setGeometry(parent.rect())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the parent."""
        if event.type() == QEvent.Type.Resize and isinstance(watched, QWidget):
            self._widget.setGeometry(watched.rect())
        return super().eventFilter(watched, event)


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
        layout.addWidget(Label(tr("Drop to add"), role="title"), 0, Qt.AlignmentFlag.AlignHCenter)
        layout.addWidget(
            Label(tr("Pictures, recordings, documents: they go with your next request")),
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
