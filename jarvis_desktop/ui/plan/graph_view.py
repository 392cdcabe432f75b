"""The plan as a graph: cards at the places of the layout, and arrows between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QHideEvent,
    QKeyEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
    QShowEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from jarvis_desktop.core.i18n import tr
from jarvis_desktop.ui.plan.descriptions import CardState
from jarvis_desktop.ui.plan.graph_layout import GraphLayout, Point, lay_out
from jarvis_desktop.ui.plan.task_card import MARGIN, TaskCard, card_sizes
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.layout import discard
from jarvis_desktop.ui.widgets.timers import new_timer

CORNER_RADIUS = 8.0
ARROW_HEAD = 7.0
DOT_DISTANCE = 46.0


@dataclass(slots=True)
class Arrow:
    """An arrow from one step to another."""

    source: int
    target: int
    path: QPainterPath
    tip: QPointF
    down: bool  # whether it ends pointing down
    mirrored: bool
    state: str = "waiting"  # waiting, there, moving, or broken if no result will come

    @property
    def bounds(self) -> QRectF:
        """The area to redraw when it changes."""
        return self.path.boundingRect().adjusted(-ARROW_HEAD, -ARROW_HEAD, ARROW_HEAD, ARROW_HEAD)

    def draw(self, painter: QPainter, phase: float) -> None:
        """Draw it; `phase` from 0 to 1 is the progress of its dots."""
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
            back = (QPointF(-ARROW_HEAD / 1.7, -ARROW_HEAD), QPointF(ARROW_HEAD / 1.7, -ARROW_HEAD))
        else:
            way = 1 if self.mirrored else -1
            back = (
                QPointF(way * ARROW_HEAD, -ARROW_HEAD / 1.7),
                QPointF(way * ARROW_HEAD, ARROW_HEAD / 1.7),
            )
        return QPolygonF([self.tip, self.tip + back[0], self.tip + back[1]])

    def _draw_dots(self, painter: QPainter, phase: float) -> None:
        length = self.path.length()
        at = phase * DOT_DISTANCE
        while at < length - ARROW_HEAD:
            painter.drawEllipse(self.path.pointAtPercent(self.path.percentAtLength(at)), 3.2, 3.2)
            at += DOT_DISTANCE


class PulledArrow(QWidget):
    """The arrow that the user is drawing, above all cards."""

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
    """The arrow through these points, mirrored in a graph of that width unless it is 0."""
    placed = [
        QPointF((mirrored_in - x if mirrored_in else x) + MARGIN, y + MARGIN) for x, y in points
    ]
    down = stacked and len(points) == 2
    way = QPointF(0, -2) if down else QPointF(2 if mirrored_in else -2, 0)
    tip = placed[-1] + way * 0.5
    placed[-1] = tip + way * 2
    return Arrow(*ends, curve(placed), tip, down, bool(mirrored_in))


def curve(points: Sequence[QPointF]) -> QPainterPath:
    """A path through the points with rounded corners, and a curve between two levels."""
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
    """A step from a corner along one of its legs, at most half of it."""
    leg = other - corner
    length = abs(leg.x()) + abs(leg.y())
    return leg * (min(CORNER_RADIUS, length / 2) / length) if length else QPointF()


MAX_HEIGHT = 520  # pixels; taller graphs scroll
MIN_ZOOM, MAX_ZOOM = 0.3, 1.6
FIT_SCALES = (1.0, 0.85, 0.72, 0.62, 0.52, 0.44, 0.36, MIN_ZOOM)
"""The scales tried until the whole plan fits."""
ZOOM_STEP = 1.12
FRAME_MS = 50

Graph = Mapping[int, Sequence[int]]


class Canvas(QWidget):
    """Holds the cards and draws the arrows."""

    def __init__(self) -> None:
        super().__init__()
        self.arrows: dict[tuple[int, int], Arrow] = {}
        self.scale = 1.0
        self.phase = 0.0
        self.pulled = PulledArrow(self)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(self.scale, self.scale)
        seen = QRectF(event.rect())
        seen = QRectF(seen.topLeft() / self.scale, seen.size() / self.scale)
        order = ("broken", "waiting", "there", "moving")
        for item in sorted(self.arrows.values(), key=lambda item: order.index(item.state)):
            if item.bounds.intersects(seen):
                item.draw(painter, self.phase)
        painter.end()

    def move_dots(self) -> None:
        """Move the dots of active arrows."""
        self.phase = (self.phase + 0.08) % 1
        for item in self.arrows.values():
            if item.state == "moving":
                at = item.bounds
                self.update(
                    QRectF(at.topLeft() * self.scale, at.size() * self.scale).toAlignedRect()
                )


class GraphView(QScrollArea):
    """All cards: as wide as its place, as tall as needed up to a limit."""

    opened = Signal(int)
    menu_wanted = Signal(int, QPointF)
    remove_wanted = Signal(int)
    move_wanted = Signal(int, int)
    connect_wanted = Signal(int, int)  # the step with the result, and the one that should take it
    file_dropped = Signal(int, object)
    arranged = Signal()  # the layout changed

    def __init__(self, could_take: Callable[[int], frozenset[int]]) -> None:
        """`could_take` returns the steps that could take the result of one."""
        super().__init__()
        self._could_take = could_take
        self._takers: frozenset[int] = frozenset()
        self.setObjectName("graph")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(tr("Steps of the plan"))
        self.canvas = Canvas()
        self.setWidget(self.canvas)
        for shown in (self.canvas, self.viewport()):
            shown.setAutoFillBackground(False)
        self.cards: dict[int, TaskCard] = {}
        self.current = -1  # the step that has the keyboard, or had it last
        self.editable = False
        self.zoom = 1.0
        self.whole = False  # whether the whole plan should be visible at once, as far as possible
        self._graph: Graph = {}
        self._drawn: tuple[object, ...] = ()
        self._order: list[int] = []
        self._followed = -1  # the running step that was scrolled to last
        self._beat = new_timer(self, self._move, FRAME_MS, repeat=True)

    # content

    def show_plan(self, steps: Sequence[CardState], graph: Graph, times: Mapping[int, str]) -> int:
        """Show the steps; return how many cards were redrawn."""
        drawn = 0
        for step in steps:
            card = self.cards.get(step.task_id)
            if card is None:
                card = self.cards[step.task_id] = self._card(step)
                drawn += 1
            drawn += card.show_step(step, times.get(step.task_id, ""))
            card.editable = self.editable
        there = {step.task_id for step in steps}
        for task_id in self.cards.keys() - there:
            discard(self.cards.pop(task_id))
        if self.current not in there:
            self.current = steps[0].task_id if steps else -1
        self._graph = dict(graph)
        self._arrange()
        self._show_arrows()
        self._rove()
        self._pace()
        self._follow()
        return drawn

    def show_times(self, times: Mapping[int, str]) -> None:
        """Show how long running steps have taken."""
        for task_id, words in times.items():
            card = self.cards[task_id]
            card.show_step(card.step, words)

    def show_open(self, task_id: int) -> None:
        """Mark the step whose panel is open, or none for -1."""
        for number, card in self.cards.items():
            card.show_open(number == task_id)

    def focus_step(self, task_id: int) -> None:
        """Focus a step and scroll to it."""
        if card := self.cards.get(task_id):
            card.setFocus(Qt.FocusReason.OtherFocusReason)
            self.ensureWidgetVisible(card, 8, 8)

    def show_whole(self, whole: bool) -> None:
        """Show the whole plan at once, or at its usual size."""
        self.whole, self.zoom = whole, 1.0
        self._arrange()

    @property
    def is_folded(self) -> bool:
        """Whether part of it is out of view, or it was scaled."""
        return self.whole or self.zoom != 1.0 or self.canvas.height() > MAX_HEIGHT

    def _card(self, step: CardState) -> TaskCard:
        card = TaskCard(step, self.canvas)
        card.opened.connect(self.opened)
        card.menu_wanted.connect(self.menu_wanted)
        card.key_pressed.connect(self._key)
        card.focused.connect(self._focused)
        card.dragged.connect(self._pull)
        card.let_go.connect(self._let_go)
        card.file_dropped.connect(self.file_dropped)
        card.show()
        return card

    def _arrange(self) -> None:
        """Lay everything out again if anything relevant changed."""
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        graph = tuple((task, tuple(sources)) for task, sources in self._graph.items())
        key = (graph, self.width(), self.zoom, self.whole, mirrored, self.font())
        if key == self._drawn or self.width() < 60:
            return
        self._drawn = key
        scale = self.zoom
        placed = self._layout(scale)
        if self.whole:
            for scale in FIT_SCALES:
                placed = self._layout(scale)
                if self._height(placed, scale) <= MAX_HEIGHT:
                    break
        if self._height(placed, scale) > MAX_HEIGHT:
            placed = self._layout(scale, beside=self.verticalScrollBar().sizeHint().width())
        self._put(placed, scale, mirrored)

    def _layout(self, scale: float, beside: int = 0) -> GraphLayout:
        """The layout at that scale, leaving `beside` pixels free."""
        sizes = card_sizes(self.font(), {card.step.name for card in self.cards.values()})
        room = (self.width() - beside) / scale - 2 * MARGIN
        return lay_out(self._graph, max(room, 120.0), sizes)

    def _height(self, placed: GraphLayout, scale: float) -> int:
        return round((placed.height + 2 * MARGIN) * scale)

    def _put(self, placed: GraphLayout, scale: float, mirrored: bool) -> None:
        room = placed.width if mirrored else 0.0
        self._order = [*placed.cards]
        for task_id, box in placed.cards.items():
            card = self.cards[task_id]
            card.place(box, scale, stacked=placed.stacked, mirrored_in=room)
        self.canvas.arrows = {
            ends: arrow(ends, points, mirrored_in=room, stacked=placed.stacked)
            for ends, points in placed.arrows.items()
        }
        self._show_arrows()
        self.canvas.scale = scale
        height = self._height(placed, scale)
        self.canvas.setFixedSize(round((placed.width + 2 * MARGIN) * scale), height)
        self.setFixedHeight(min(height, MAX_HEIGHT))
        self.canvas.update()
        self.arranged.emit()

    def _show_arrows(self) -> None:
        for (source, target), item in self.canvas.arrows.items():
            given, taker = self.cards[source].step.state, self.cards[target].step.state
            state = "waiting"
            if given in ("failed", "skipped", "cancelled"):
                state = "broken"
            elif given == "done":
                state = "moving" if taker == "running" else "there"
            if state != item.state:
                item.state = state
                self.canvas.update()

    # animation

    def _follow(self) -> None:
        """Scroll to the running step, unless the user works here or has scrolled away."""
        runs = next((each for each in self._order if self.cards[each].step.state == "running"), -1)
        if runs in (-1, self._followed) or not self.isVisible():
            return
        before, focused = self.cards.get(self._followed), self.window().focusWidget()
        self._followed = runs
        if before and before.visibleRegion().isEmpty():
            return
        if focused is None or not self.isAncestorOf(focused):
            self.ensureWidgetVisible(self.cards[runs], 8, 40)

    def _pace(self) -> None:
        runs = any(card.step.state == "running" for card in self.cards.values())
        if runs and self.isVisible() and theme.duration():
            self._beat.start()
        else:
            self._beat.stop()

    def _move(self) -> None:
        self.canvas.move_dots()
        for card in self.cards.values():
            if card.step.state == "running":
                card.turn()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._arrange()
        self._pace()
        self._follow()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._beat.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def changeEvent(self, change: QEvent) -> None:
        super().changeEvent(change)
        if change.type() in (QEvent.Type.FontChange, QEvent.Type.LayoutDirectionChange):
            self._arrange()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom with Ctrl; else leave scrolling to the conversation unless the user works here."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            steps = event.angleDelta().y() / 120
            self.whole = False
            self.zoom = min(max(self.zoom * ZOOM_STEP**steps, MIN_ZOOM), MAX_ZOOM)
            if abs(self.zoom - 1) < 0.05:
                self.zoom = 1.0
            self._arrange()
            event.accept()
        elif any(card.hasFocus() for card in self.cards.values()):
            super().wheelEvent(event)
        else:
            event.ignore()

    # keyboard

    def _focused(self, task_id: int) -> None:
        self.current = task_id
        self._rove()

    def _rove(self) -> None:
        """Let Tab reach only the step that was focused last (roving focus)."""
        for number, card in self.cards.items():
            here = number == self.current
            card.setFocusPolicy(Qt.FocusPolicy.StrongFocus if here else Qt.FocusPolicy.ClickFocus)

    def _key(self, task_id: int, event: QKeyEvent) -> None:
        key, alt = event.key(), event.modifiers() & Qt.KeyboardModifier.AltModifier
        ways = {
            Qt.Key.Key_Left: (-1, 0),
            Qt.Key.Key_Right: (1, 0),
            Qt.Key.Key_Up: (0, -1),
            Qt.Key.Key_Down: (0, 1),
        }
        if key in ways:
            x, y = ways[Qt.Key(key)]
            if alt:
                forward = -x if self.layoutDirection() == Qt.LayoutDirection.RightToLeft else x
                self.move_wanted.emit(task_id, forward + y)
            else:
                self.focus_step(self._neighbour(task_id, x, y))
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self.focus_step(self._order[0 if key == Qt.Key.Key_Home else -1])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space, Qt.Key.Key_F2):
            self.opened.emit(task_id)
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.remove_wanted.emit(task_id)
        elif key == Qt.Key.Key_Menu or (
            key == Qt.Key.Key_F10 and event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        ):
            card = self.cards[task_id]
            self.menu_wanted.emit(task_id, QPointF(card.mapToGlobal(card.rect().center())))
        else:
            return
        event.accept()

    def _neighbour(self, task_id: int, x: int, y: int) -> int:
        """The nearest card in that direction, or the next one in reading order."""
        here = self.cards[task_id].geometry().center()
        best, nearest = task_id, float("inf")
        for number, card in self.cards.items():
            away = card.geometry().center() - here
            ahead, aside = (away.x() * x, away.y()) if x else (away.y() * y, away.x())
            if ahead > 4 and number != task_id and ahead + 3 * abs(aside) < nearest:
                beside = not x or abs(aside) < self.cards[task_id].height()
                if beside:
                    best, nearest = number, ahead + 3 * abs(aside)
        if best == task_id and x:
            order = self._order
            forward = -x if self.layoutDirection() == Qt.LayoutDirection.RightToLeft else x
            at = order.index(task_id) + forward
            return order[at] if 0 <= at < len(order) else task_id
        return best

    # arrows drawn by the user

    def _pull(self, source: int, at: QPointF) -> None:
        card = self.cards[source]
        if self.canvas.pulled.isHidden():
            self._takers = self._could_take(source)
        self.canvas.pulled.pull(card.outlet.center() + QPointF(card.pos()), at)
        over = self._at(at)
        for number, other in self.cards.items():
            could = number in self._takers
            other.show_fits(None if number == source or (could and number != over) else could)
        self.ensureVisible(round(at.x()), round(at.y()), 30, 30)

    def _let_go(self, source: int, at: QPointF) -> None:
        self.canvas.pulled.hide()
        target = self._at(at)
        for other in self.cards.values():
            other.show_fits(None)
        if target not in (-1, source):
            self.connect_wanted.emit(source, target)

    def _at(self, at: QPointF) -> int:
        found = (key for key, card in self.cards.items() if card.geometry().contains(at.toPoint()))
        return next(found, -1)
