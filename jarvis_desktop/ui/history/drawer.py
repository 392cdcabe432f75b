"""Where the side list stands: beside the conversation, or over it where the window is narrow."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEasingCurve, QEvent, QObject, QPoint, QPropertyAnimation, Qt, QTimer
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from jarvis_desktop.ui.history.sidebar import Sidebar
from jarvis_desktop.ui.look import theme

BESIDE = 488
"""Pixels that the conversation needs beside the list."""


class Drawer(QObject):
    """Takes the list out of the row where there is no room for both; a button opens it then."""

    def __init__(
        self, stage: QWidget, row: QHBoxLayout, sidebar: Sidebar, button: QPushButton
    ) -> None:
        """`row` has the list at its beginning, and fills `stage`."""
        super().__init__(stage)
        self._stage = stage
        self._row = row
        self._sidebar = sidebar
        self._button = button
        self._scrim = _Scrim(stage)
        self._scrim.pressed = self.close
        self.narrow = False
        button.hide()
        button.clicked.connect(self.open)
        stage.installEventFilter(self)
        sidebar.installEventFilter(self)
        self._slide = QPropertyAnimation(sidebar, b"pos", self)
        self._slide.setEasingCurve(QEasingCurve.Type.OutCubic)

    @property
    def is_open(self) -> bool:
        """Whether the list stands over the conversation."""
        return self.narrow and self._sidebar.isVisible()

    def open(self) -> None:
        """Show the list over the conversation."""
        if not self.narrow:
            return
        self._scrim.setGeometry(self._stage.rect())
        self._scrim.show()
        self._scrim.raise_()
        self._place()
        self._sidebar.show()
        self._sidebar.raise_()
        self._sidebar.search.setFocus()
        if duration := theme.duration():
            there = self._sidebar.pos()
            width = self._sidebar.width()
            self._slide.setDuration(duration)
            self._slide.setStartValue(there + QPoint(width if self._mirrored() else -width, 0))
            self._slide.setEndValue(there)
            self._slide.start()

    def close(self) -> None:
        """Put the list away, where it stands over the conversation."""
        if self.is_open:
            self._slide.stop()
            self._sidebar.hide()
            self._scrim.hide()
            self._button.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the size of the window and of the list; Esc puts the list away."""
        if event.type() == QEvent.Type.Resize and watched is self._stage:
            self._fit()
        elif event.type() == QEvent.Type.Resize:
            # The row is being laid out: what is in it must not change now.
            QTimer.singleShot(0, self, self._fit)
        elif isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape and self.is_open:
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()
            elif event.type() == QEvent.Type.KeyPress:
                self.close()
                return True
        return False

    def _fit(self) -> None:
        narrow = self._stage.width() < self._sidebar.width() + BESIDE
        if narrow != self.narrow:
            self.narrow = narrow
            self._button.setVisible(narrow)
            self._slide.stop()
            self._scrim.hide()
            if narrow:
                self._row.removeWidget(self._sidebar)
                self._sidebar.hide()
            else:
                self._row.insertWidget(0, self._sidebar)
                self._sidebar.show()
        elif self.is_open:
            self._slide.stop()
            self._scrim.setGeometry(self._stage.rect())
            self._place()

    def _place(self) -> None:
        width = self._sidebar.width()
        left = self._stage.width() - width if self._mirrored() else 0
        self._sidebar.setGeometry(left, 0, width, self._stage.height())

    def _mirrored(self) -> bool:
        return self._stage.layoutDirection() == Qt.LayoutDirection.RightToLeft


class _Scrim(QWidget):
    """Darkens the conversation under the list; a press on it puts the list away."""

    def __init__(self, stage: QWidget) -> None:
        super().__init__(stage)
        self.pressed: Callable[[], None] = lambda: None
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Darken."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(0, 0, 0, 110))
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Put the list away."""
        self.pressed()
