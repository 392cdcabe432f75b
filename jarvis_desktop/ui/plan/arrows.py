"""The arrows of a plan: which way a result goes, and whether it is there yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.plan.card_look import EDGE
from jarvis_desktop.ui.plan.layout import Point

TURN = 8.0
"""Pixels of the radius where an arrow turns."""
HEAD = 7.0
FAR = 46.0
"""Pixels between the dots that move along an arrow."""


@dataclass(slots=True)
class Arrow:
    """From one step to another."""

    source: int
    target: int
    path: QPainterPath
    tip: QPointF
    down: bool
    """Whether it ends pointing down."""
    mirrored: bool
    state: str = "waiting"
    """waiting, there, moving, or broken where nothing will come."""

    @property
    def bounds(self) -> QRectF:
        """What has to be drawn anew when it moves."""
        return self.path.boundingRect().adjusted(-HEAD, -HEAD, HEAD, HEAD)

    def draw(self, painter: QPainter, phase: float) -> None:
        """Draw it; `phase` from 0 to 1 is how far its dots are."""
        colour = {"moving": "accent", "there": "muted"}.get(self.state, "control")
        pen = QPen(theme.colour(colour), 2.0 if self.state == "moving" else 1.4)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        if self.state == "broken":
            pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(self.path)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour(colour))
        painter.drawPolygon(self._head())
        if self.state == "moving" and theme.duration():
            self._draw_dots(painter, phase)

    def _head(self) -> QPolygonF:
        if self.down:
            back = (QPointF(-HEAD / 1.7, -HEAD), QPointF(HEAD / 1.7, -HEAD))
        else:
            way = 1 if self.mirrored else -1
            back = (QPointF(way * HEAD, -HEAD / 1.7), QPointF(way * HEAD, HEAD / 1.7))
        return QPolygonF([self.tip, self.tip + back[0], self.tip + back[1]])

    def _draw_dots(self, painter: QPainter, phase: float) -> None:
        length = self.path.length()
        at = phase * FAR
        while at < length - HEAD:
            painter.drawEllipse(self.path.pointAtPercent(self.path.percentAtLength(at)), 3.2, 3.2)
            at += FAR


class PulledArrow(QWidget):
    """The arrow that the person is drawing, above all cards."""

    def __init__(self, canvas: QWidget) -> None:
        super().__init__(canvas)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._ends = QPointF(), QPointF()
        self.hide()

    def pull(self, start: QPointF, end: QPointF) -> None:
        """Draw it between these points of the canvas."""
        self._ends = start, end
        canvas = self.parentWidget()
        if canvas is not None:
            self.setGeometry(canvas.rect())
        self.raise_()
        self.show()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw it."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.colour("accent"), 2.0, Qt.PenStyle.DashLine))
        painter.drawPath(curve(self._ends))
        painter.setBrush(theme.colour("accent"))
        painter.drawEllipse(self._ends[1], 4.0, 4.0)
        painter.end()


def arrow(
    ends: tuple[int, int], points: Sequence[Point], *, mirrored_in: float, stacked: bool
) -> Arrow:
    """The arrow through these points, in the graph's coordinates, where cards have their edge.

    `mirrored_in` is the width of the graph where one reads from the right, else 0.
    """
    placed = [QPointF((mirrored_in - x if mirrored_in else x) + EDGE, y + EDGE) for x, y in points]
    down = stacked and len(points) == 2
    way = QPointF(0, -2) if down else QPointF(2 if mirrored_in else -2, 0)
    tip = placed[-1] + way * 0.5
    placed[-1] = tip + way * 2
    return Arrow(*ends, curve(placed), tip, down, bool(mirrored_in))


def curve(points: Sequence[QPointF]) -> QPainterPath:
    """A line through the points that swings between two levels, and turns round corners."""
    path = QPainterPath(points[0])
    for index, point in enumerate(points[1:], 1):
        before = points[index - 1]
        level, upright = before.y() == point.y(), before.x() == point.x()
        if not level and not upright:
            half = (before.x() + point.x()) / 2
            path.cubicTo(QPointF(half, before.y()), QPointF(half, point.y()), point)
            continue
        after = points[index + 1] if index + 1 < len(points) else None
        turns = after is not None and (
            (level and after.x() == point.x() and after.y() != point.y())
            or (upright and after.y() == point.y() and after.x() != point.x())
        )
        if after is None or not turns:
            path.lineTo(point)
            continue
        into, out = _towards(point, before), _towards(point, after)
        path.lineTo(point + into)
        path.quadTo(point, point + out)
    return path


def _towards(corner: QPointF, other: QPointF) -> QPointF:
    """A step from a corner along one of its legs, half of it at most."""
    leg = other - corner
    length = abs(leg.x()) + abs(leg.y())
    return leg * (min(TURN, length / 2) / length) if length else QPointF()
