"""A window without a frame: a rounded plate with a shadow, above the others.

Where nothing composes windows there is no shadow, and the corners are cut.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import Any

from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QCursor,
    QGuiApplication,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPixmap,
    QRegion,
    QResizeEvent,
    QScreen,
)
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from jarvis_desktop.ui.widgets import theme

SHADOW = 24
"""Pixels around the plate that its shadow takes."""
DARKEST = 62
"""How dark the shadow is at the plate, of 255."""
SUNK = 6
"""Pixels that the shadow lies lower than the plate."""


class Floating(QWidget):
    """Fill `plate`; it is `name` in the style sheet."""

    def __init__(self, name: str, flags: Qt.WindowType, *, radius: str = "large") -> None:
        super().__init__(None, Qt.WindowType.FramelessWindowHint | flags)
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
        self._radius = theme.tokens().radius[radius]
        self._edge = 0
        self.plate = QFrame()
        self.plate.setObjectName(name)
        self._around = QVBoxLayout(self)
        self._around.setSpacing(0)
        self._around.setContentsMargins(0, 0, 0, 0)
        self._around.addWidget(self.plate)

    @property
    def edge(self) -> int:
        """Pixels from the window's side to that of the plate."""
        return self._edge

    def look_at_desktop(self) -> None:
        """Have a shadow where the desktop can show one, as it is now. To be called before each
        showing: the window that JARVIS starts with must not wait for the answer."""
        self._edge = SHADOW if composes() else 0
        self._around.setContentsMargins(*[self._edge] * 4)
        self._cut_corners()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the shadow, piece by piece from one that was drawn before."""
        if not self._edge:
            return
        painter = QPainter(self)
        ratio = self.devicePixelRatioF()
        drawn = _shadow(self._radius, ratio)
        corner = SHADOW + SUNK + self._radius
        whole, place = round(drawn.width() / ratio), self.rect()
        for from_x, width, to_x, to_width in _parts(whole, corner, place.width()):
            for from_y, height, to_y, to_height in _parts(whole, corner, place.height()):
                source = QRectF(from_x * ratio, from_y * ratio, width * ratio, height * ratio)
                painter.drawPixmap(QRectF(to_x, to_y, to_width, to_height), drawn, source)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cut the corners anew."""
        super().resizeEvent(event)
        self._cut_corners()

    def _cut_corners(self) -> None:
        if self._edge:
            self.clearMask()
            return
        path = QPainterPath()
        path.addRoundedRect(QRectF(self.rect()), self._radius, self._radius)
        self.setMask(QRegion(path.toFillPolygon().toPolygon()))


def composes() -> bool:
    """Whether the desktop lets what is behind a window shine through."""
    if QGuiApplication.platformName() != "xcb" or sys.platform != "linux":
        return True
    try:
        import xcffib.xproto
    except (ImportError, OSError):
        return False
    library: Any = xcffib
    try:
        connection = library.connect()
        try:
            number = os.environ.get("DISPLAY", "").rpartition(".")[2]
            name = f"_NET_WM_CM_S{number if number.isdigit() else 0}"
            core = connection.core
            atom = core.InternAtom(True, len(name), name).reply().atom
            return bool(atom and core.GetSelectionOwner(atom).reply().owner)
        finally:
            connection.disconnect()
    except library.XcffibException:
        return False


def places_windows() -> bool:
    """Whether a program may say where its windows are; on Wayland the desktop alone does."""
    return not QGuiApplication.platformName().startswith("wayland")


def screen_of_cursor() -> QScreen:
    """The screen that the person looks at."""
    return QGuiApplication.screenAt(QCursor.pos()) or QGuiApplication.primaryScreen()


def within(place: QRect, room: QRect) -> QPoint:
    """Where the place begins when it is moved into the room, its beginning first."""
    left = max(room.left(), min(place.left(), room.right() - place.width() + 1))
    top = max(room.top(), min(place.top(), room.bottom() - place.height() + 1))
    return QPoint(left, top)


def _parts(whole: int, corner: int, wanted: int) -> tuple[tuple[int, int, int, int], ...]:
    """Of one direction: where each of three pieces is taken from and how long it is, and where it
    goes and how long it becomes."""
    first = min(corner, wanted // 2)
    last = min(corner, wanted - first)
    between = wanted - first - last
    return (
        (0, first, 0, first),
        (corner, whole - 2 * corner, first, between),
        (whole - last, last, wanted - last, last),
    )


@cache
def _shadow(radius: int, ratio: float) -> QPixmap:
    """The shadow of a small plate."""
    side = 2 * (SHADOW + SUNK + radius) + 2
    drawn = QPixmap(round(side * ratio), round(side * ratio))
    drawn.setDevicePixelRatio(ratio)
    drawn.fill(Qt.GlobalColor.transparent)
    painter = QPainter(drawn)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    plate = QRectF(0, 0, side, side).adjusted(SHADOW, SHADOW, -SHADOW, -SHADOW)
    before = 0.0
    for step in range(SHADOW, 0, -1):
        # Laid over those before, each ring makes it as dark as it is to be there.
        wanted = DARKEST / 255 * (1 - step / SHADOW) ** 2
        alpha = (wanted - before) / (1 - before)
        before = wanted
        painter.setBrush(QColor(0, 0, 0, round(alpha * 255)))
        ring = plate.adjusted(-step, -step + SUNK, step, step + min(SUNK, SHADOW - step))
        painter.drawRoundedRect(ring, radius + step, radius + step)
    painter.end()
    return drawn
