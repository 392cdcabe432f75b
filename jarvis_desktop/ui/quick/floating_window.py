"""A frameless window on top: a rounded plate with a shadow.

Without a compositor there is no shadow, and the corners are cut off.
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
from PySide6.QtWidgets import QFrame, QWidget

from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.layout import vbox

SHADOW_PX = 24
SHADOW_OPACITY = 62
SHADOW_OFFSET = 6


class FloatingWindow(QWidget):
    """Fill `plate`; `name` is its name in the style sheet."""

    def __init__(self, name: str, flags: Qt.WindowType, *, radius: str = "large") -> None:
        super().__init__(None, Qt.WindowType.FramelessWindowHint | flags)
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
        self._radius = theme.tokens().radius[radius]
        self.edge = 0
        """Pixels from the window's edge to that of the plate."""
        self.plate = QFrame()
        self.plate.setObjectName(name)
        self._around = vbox(self.plate, parent=self, spacing=0)

    def look_at_desktop(self) -> None:
        """Use a shadow if the desktop composes windows now. Call it before each showing: the first
        window must not wait for the answer."""
        self.edge = SHADOW_PX if composes() else 0
        self._around.setContentsMargins(*[self.edge] * 4)
        self._cut_corners()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self.edge:
            return
        painter = QPainter(self)
        ratio = self.devicePixelRatioF()
        drawn = _shadow(self._radius, ratio)
        corner = SHADOW_PX + SHADOW_OFFSET + self._radius
        whole, place = round(drawn.width() / ratio), self.rect()
        for from_x, width, to_x, to_width in _parts(whole, corner, place.width()):
            for from_y, height, to_y, to_height in _parts(whole, corner, place.height()):
                source = QRectF(from_x * ratio, from_y * ratio, width * ratio, height * ratio)
                painter.drawPixmap(QRectF(to_x, to_y, to_width, to_height), drawn, source)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._cut_corners()

    def _cut_corners(self) -> None:
        if self.edge:
            self.clearMask()
            return
        path = QPainterPath()
        path.addRoundedRect(QRectF(self.rect()), self._radius, self._radius)
        self.setMask(QRegion(path.toFillPolygon().toPolygon()))


def composes() -> bool:
    """Whether the desktop composes windows, so that they can be translucent."""
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
    """Whether a program can place its windows; on Wayland only the desktop does."""
    return not QGuiApplication.platformName().startswith("wayland")


def screen_of_cursor() -> QScreen:
    """The screen with the pointer."""
    return QGuiApplication.screenAt(QCursor.pos()) or QGuiApplication.primaryScreen()


def within(place: QRect, room: QRect) -> QPoint:
    """The top left corner of a rectangle moved into `room`; its start takes precedence."""
    left = max(room.left(), min(place.left(), room.right() - place.width() + 1))
    top = max(room.top(), min(place.top(), room.bottom() - place.height() + 1))
    return QPoint(left, top)


def _parts(whole: int, corner: int, wanted: int) -> tuple[tuple[int, int, int, int], ...]:
    """Source start and length, target start and length of the three pieces of an axis."""
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
    """The shadow around a small plate."""
    side = 2 * (SHADOW_PX + SHADOW_OFFSET + radius) + 2
    drawn = QPixmap(round(side * ratio), round(side * ratio))
    drawn.setDevicePixelRatio(ratio)
    drawn.fill(Qt.GlobalColor.transparent)
    painter = QPainter(drawn)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    plate = QRectF(0, 0, side, side).adjusted(SHADOW_PX, SHADOW_PX, -SHADOW_PX, -SHADOW_PX)
    before = 0.0
    for step in range(SHADOW_PX, 0, -1):
        # painted over the ones before, each ring adds up to the wanted opacity
        wanted = SHADOW_OPACITY / 255 * (1 - step / SHADOW_PX) ** 2
        alpha = (wanted - before) / (1 - before)
        before = wanted
        painter.setBrush(QColor(0, 0, 0, round(alpha * 255)))
        ring = plate.adjusted(
            -step, -step + SHADOW_OFFSET, step, step + min(SHADOW_OFFSET, SHADOW_PX - step)
        )
        painter.drawRoundedRect(ring, radius + step, radius + step)
    painter.end()
    return drawn
