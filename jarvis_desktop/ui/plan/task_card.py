"""One step of a plan as a card: a widget, for screen readers and the keyboard, that paints itself
at any scale, so that two hundred of them are fast."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QMimeData, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDropEvent,
    QFocusEvent,
    QFont,
    QFontMetricsF,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPixmap,
)
from PySide6.QtWidgets import QWidget

from jarvis_desktop.core.display import encodable
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.ui.plan.descriptions import ACTIVE_STATES, CardState
from jarvis_desktop.ui.plan.graph_layout import LayoutBox, LayoutSizes
from jarvis_desktop.ui.widgets import icons, theme
from jarvis_desktop.ui.widgets.icons import draw_state
from jarvis_desktop.ui.widgets.images import PictureLoader

MARGIN = 11  # pixels of the widget around the card, for the output's icon and the focus frame
PADDING = 10
ICON_WIDTH = 24
PREVIEW_SIDE = 48
CARD_RADIUS = 10.0
MIN_DETAIL_SCALE = 0.62  # at a smaller scale a card shows only its state and name

MIN_NAME_SHARE = 0.8
"""The share of the longest name that must fit before the plan wraps into another band."""


def small_font(font: QFont) -> QFont:
    """The font of secondary text."""
    scale = theme.tokens().scale
    small = QFont(font)
    small.setPointSizeF(font.pointSizeF() * scale["small"] / scale["body"])
    return small


def strong_font(font: QFont) -> QFont:
    """The font of names."""
    strong = QFont(font)
    strong.setWeight(QFont.Weight.DemiBold)
    return strong


def card_sizes(font: QFont, names: Collection[str]) -> LayoutSizes:
    """The sizes of cards for that font and these names."""
    large, small = QFontMetricsF(strong_font(font)), QFontMetricsF(small_font(font))
    letter = small.averageCharWidth()
    longest = max((large.horizontalAdvance(name) for name in names), default=0.0)
    least, most = letter * 20 + 2 * PADDING, letter * 34 + 2 * PADDING
    wanted = MIN_NAME_SHARE * (longest + ICON_WIDTH + 2 * PADDING)
    return LayoutSizes(
        narrowest=round(min(max(least, wanted), most)),
        widest=round(most),
        height=round(large.height() + 2 * small.height() + 2 * PADDING + 4),
    )


@dataclass(slots=True)
class CardLook:
    """Everything visible of a card."""

    step: CardState
    time: str = ""
    picture: QPixmap | None = None  # the thumbnail of the result
    body: QRectF = field(default_factory=QRectF)  # the card within its margin
    scale: float = 1.0
    stacked: bool = False  # whether the next step is below
    mirrored: bool = False  # whether the layout is right-to-left
    angle: int = 0  # the rotation of the running icon, in degrees
    has_focus: bool = False
    is_open: bool = False
    fits: bool | None = None
    """Whether it accepts the arrow that is being drawn; None if there is none."""
    inviting: bool = False  # whether it accepts the file that is dragged over it
    pulls: bool = False  # whether an arrow is being drawn from it
    _font: QFont = field(default_factory=QFont)
    _ratio: float = 1.0

    @property
    def outlet(self) -> QRectF:
        """The icon of its output, from which an arrow can be drawn."""
        at = QPointF(self.body.right(), self.body.center().y())
        if self.stacked:
            at = QPointF(self.body.center().x(), self.body.bottom())
        elif self.mirrored:
            at.setX(self.body.left())
        return QRectF(at.x() - 9, at.y() - 9, 18, 18)

    def draw(self, painter: QPainter, font: QFont, *, ratio: float) -> None:
        """Draw it, for a screen of that device pixel ratio."""
        self._font, self._ratio = font, ratio * max(self.scale, 1.0)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.setLayoutDirection(
            Qt.LayoutDirection.LayoutDirectionAuto
        )  # each text has its own direction
        painter.scale(self.scale, self.scale)
        if self.fits is False:
            painter.setOpacity(0.4)
        self._draw_body(painter)
        if self.scale < MIN_DETAIL_SCALE:
            self._draw_small(painter)
        else:
            self._draw_words(painter)
        self._draw_outlet(painter)

    def _draw_body(self, painter: QPainter) -> None:
        state, body = self.step.state, self.body
        background, outline, width = "card", "border", 1.0
        if self.is_open:
            background = "soft"
        elif state == "failed":
            background = "warning_soft"
        if state in ACTIVE_STATES or self.is_open:
            outline, width = "accent", 1.5
        elif state == "failed":
            outline = "warning"
        elif self.step.edited or self.step.again:
            outline, width = "accent", 1.5
        if self.has_focus:
            painter.setPen(QPen(theme.colour("accent"), 2.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(body.adjusted(-3, -3, 3, 3), CARD_RADIUS + 3, CARD_RADIUS + 3)
        pen = QPen(theme.colour("done" if self.fits or self.inviting else outline), width)
        if self.fits or self.inviting:
            pen.setWidthF(2.0)
        if state in ("skipped", "cancelled") or self.step.again:
            pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.setBrush(theme.colour(background))
        painter.drawRoundedRect(body, CARD_RADIUS, CARD_RADIUS)
        if state in ACTIVE_STATES:
            self._draw_progress(painter)

    def _draw_progress(self, painter: QPainter) -> None:
        """Draw the progress along the lower edge, if it is known."""
        if self.step.fraction is None:
            return
        inner = QPainterPath()
        inner.addRoundedRect(self.body.adjusted(1, 1, -1, -1), CARD_RADIUS - 1, CARD_RADIUS - 1)
        painter.save()
        painter.setClipPath(inner)
        painter.setPen(Qt.PenStyle.NoPen)
        line = QRectF(self.body.left(), self.body.bottom() - 4.5, self.body.width(), 4.5)
        painter.fillRect(line, theme.colour("sunken"))
        done = line.width() * self.step.fraction
        line.setLeft(line.right() - done) if self.mirrored else line.setWidth(done)
        painter.fillRect(line, theme.colour("accent"))
        painter.restore()

    def _draw_small(self, painter: QPainter) -> None:
        """Draw the name as large as possible, for a small scale."""
        font = QFont(self._font)
        font.setPointSizeF(font.pointSizeF() * min(1.7, MIN_DETAIL_SCALE / self.scale))
        row = self.body.adjusted(PADDING, 0, -PADDING, 0)
        self._draw_state(painter, QRectF(row.left(), row.center().y() - 9, 18, 18))
        self._write(painter, row.adjusted(ICON_WIDTH, 0, 0, 0), self.step.name, font, "text")

    def _draw_words(self, painter: QPainter) -> None:
        step, body = self.step, self.body.adjusted(PADDING, PADDING - 1, -PADDING, 1 - PADDING)
        strong, small = strong_font(self._font), small_font(self._font)
        high, low = QFontMetricsF(strong).height(), QFontMetricsF(small).height()
        top = QRectF(body.left(), body.top(), body.width(), max(high, 18))
        self._draw_state(painter, QRectF(top.left(), top.center().y() - 9, 18, 18))
        self._write(painter, top.adjusted(ICON_WIDTH, 0, 0, 0), step.name, strong, "text")
        second = QRectF(body.left(), top.bottom() + 2, body.width(), low)
        if self.picture is not None:
            side = body.bottom() - second.top()
            frame = QRectF(body.right() - PREVIEW_SIDE - 4, second.top(), PREVIEW_SIDE, side)
            self._draw_picture(painter, frame)
            second.setRight(frame.left() - 8)
        words, colour = step.details or step.subject, "muted"
        if step.draft:
            words, colour = step.draft, "text"
        elif step.trouble:
            words, colour = step.trouble, "warning"
        elif step.result and step.state == "done":
            words, colour = step.result, "text"
        self._write(painter, second, words, small, colour, end=bool(step.draft))
        self._draw_third(painter, second.translated(0, low + 2), small)

    def _draw_third(self, painter: QPainter, line: QRectF, font: QFont) -> None:
        """Draw the expert and the time, or that the step was changed."""
        step, colour, words = self.step, "muted", self.step.expert
        if self.time:
            wide = QFontMetricsF(font).horizontalAdvance(self.time) + 1
            time = QRectF(line.right() - wide, line.top(), wide, line.height())
            self._write(painter, time, self.time, font, "muted")
            line.setRight(time.left() - 8)
        if step.edited or step.again:
            words, colour = (tr("runs again") if step.again else tr("changed")), "accent"
        elif step.pinned:
            self._draw_icon(painter, "pin", colour, line.left(), line.center().y(), 13)
            line.setLeft(line.left() + 17)
        self._write(painter, line, words, font, colour)

    def _ink(self, colour: str) -> QColor:
        left_out = self.step.state in ("skipped", "cancelled") and colour in ("text", "warning")
        if self.is_open and colour in ("text", "muted", "accent"):
            return theme.colour("on_soft")
        return theme.colour("muted" if left_out else colour)

    def _draw_state(self, painter: QPainter, at: QRectF) -> None:
        painter.save()
        painter.translate(self._turned(at).topLeft())
        draw_state(painter, self.step.state, self.angle, ratio=self._ratio)
        painter.restore()

    def _draw_icon(
        self, painter: QPainter, name: str, colour: str, left: float, middle: float, side: int
    ) -> None:
        at = self._turned(QRectF(left, middle - side / 2, side, side))
        picture = icons.pixmap(name, colour, size=side, ratio=self._ratio)
        painter.drawPixmap(at, picture, QRectF(picture.rect()))

    def _draw_picture(self, painter: QPainter, frame: QRectF) -> None:
        assert self.picture is not None
        frame = self._turned(frame)
        clip = QPainterPath()
        clip.addRoundedRect(frame, 6, 6)
        painter.save()
        painter.setClipPath(clip)
        shown = QRectF(self.picture.rect())
        part = frame.size().scaled(shown.size(), Qt.AspectRatioMode.KeepAspectRatio)
        middle = shown.center()
        shown = QRectF(
            middle.x() - part.width() / 2,
            middle.y() - part.height() / 2,
            part.width(),
            part.height(),
        )
        painter.drawPixmap(frame, self.picture, shown)
        painter.restore()

    def _draw_outlet(self, painter: QPainter) -> None:
        """Draw the kind of the output at the arrow's start."""
        at, there = self.outlet, self.step.state == "done"
        painter.setPen(QPen(theme.colour("accent" if there or self.pulls else "border"), 1.0))
        painter.setBrush(theme.colour("soft" if there or self.pulls else "card"))
        painter.drawEllipse(at)
        colour = "on_soft" if there or self.pulls else "muted"
        picture = icons.pixmap(icons.FOR_KIND[self.step.gives], colour, size=12, ratio=self._ratio)
        painter.drawPixmap(at.adjusted(3, 3, -3, -3), picture, QRectF(picture.rect()))

    def _write(
        self,
        painter: QPainter,
        at: QRectF,
        words: str,
        font: QFont,
        colour: str,
        *,
        end: bool = False,
    ) -> None:
        """Draw one line of plain text; if it does not fit, its beginning, or its `end`."""
        if at.width() < 8 or not words:
            return
        elide = Qt.TextElideMode.ElideLeft if end else Qt.TextElideMode.ElideRight
        shown = QFontMetricsF(font).elidedText(encodable(words)[:200], elide, at.width())
        start = Qt.AlignmentFlag.AlignRight if self.mirrored else Qt.AlignmentFlag.AlignLeft
        painter.setFont(font)
        painter.setPen(self._ink(colour))
        flags = start | Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignAbsolute
        painter.drawText(self._turned(at), int(flags) | Qt.TextFlag.TextSingleLine, shown)

    def _turned(self, at: QRectF) -> QRectF:
        """Mirror a rectangle in a right-to-left layout."""
        if not self.mirrored:
            return at
        return QRectF(
            self.body.left() + self.body.right() - at.right(), at.y(), at.width(), at.height()
        )


class TaskCard(QWidget):
    """Shows a CardState and reports what the user does with it."""

    opened = Signal(int)  # the user wants to see or edit the step
    menu_wanted = Signal(int, QPointF)  # the position on the screen
    key_pressed = Signal(int, QKeyEvent)
    focused = Signal(int)
    dragged = Signal(int, QPointF)  # an arrow is being drawn to that point of the graph
    let_go = Signal(int, QPointF)
    file_dropped = Signal(int, object)  # a path

    def __init__(self, step: CardState, parent: QWidget) -> None:
        super().__init__(parent)
        self.look = CardLook(step)
        self.editable = False
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setAcceptDrops(True)
        self.setMouseTracking(True)
        self._read_picture()
        self._update_accessibility()

    @property
    def step(self) -> CardState:
        """What is shown."""
        return self.look.step

    @property
    def outlet(self) -> QRectF:
        """The area from which an arrow can be drawn, in its own coordinates."""
        at, scale = self.look.outlet.adjusted(-4, -4, 4, 4), self.look.scale
        return QRectF(at.topLeft() * scale, at.size() * scale)

    def show_open(self, is_open: bool) -> None:
        """Show whether the step's panel is open."""
        if is_open != self.look.is_open:
            self.look.is_open = is_open
            self.update()

    def show_fits(self, fits: bool | None) -> None:
        """Show whether it accepts the arrow that is being drawn; None if there is none."""
        if fits is not self.look.fits:
            self.look.fits = fits
            self.update()

    def turn(self) -> None:
        """Rotate the running icon a little further."""
        self.look.angle = (self.look.angle + 18) % 360
        self.update()

    def show_step(self, step: CardState, time: str) -> bool:
        """Show the state of the step. Return whether anything changed."""
        look, before = self.look, self.step
        if step == before and time == look.time:
            return False
        read = step.picture != before.picture
        said = step != before and step.spoken != before.spoken
        look.step, look.time = step, time
        if read:
            look.picture = None
            self._read_picture()
        if said:
            self._update_accessibility()
        self.update()
        return True

    def place(
        self, box: LayoutBox, scale: float, *, stacked: bool, mirrored_in: float = 0.0
    ) -> None:
        """Position it; `mirrored_in` is the graph's width for a right-to-left layout, else 0."""
        x = mirrored_in - box.right if mirrored_in else box.x
        look = self.look
        look.body = QRectF(MARGIN, MARGIN, box.width, box.height)
        look.scale, look.stacked, look.mirrored = scale, stacked, bool(mirrored_in)
        self.update()
        edge = MARGIN * scale
        self.setGeometry(
            round(x * scale),
            round(box.y * scale),
            round(box.width * scale + 2 * edge),
            round(box.height * scale + 2 * edge),
        )

    def _update_accessibility(self) -> None:
        self.setAccessibleName(self.step.spoken)
        self.setAccessibleDescription(tr("Press Enter to look at this step or to change it"))

    def _read_picture(self) -> None:
        if path := self.step.picture:
            side = round(2 * PREVIEW_SIDE * self.devicePixelRatioF())
            PictureLoader(path, QSize(side, side), self).ready.connect(self._show_picture)

    def _show_picture(self, image: QImage, trouble: str) -> None:
        if not trouble:
            self.look.picture = QPixmap.fromImage(image)
            self.update()

    # Qt events

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self.look.has_focus = self.hasFocus()
        self.look.draw(painter, self.font(), ratio=self.devicePixelRatioF())
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and self.editable:
            self.look.pulls = self.outlet.contains(event.position())
            self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        grabs = self.editable and self.outlet.contains(event.position())
        self.setCursor(Qt.CursorShape.CrossCursor if grabs else Qt.CursorShape.PointingHandCursor)
        if self.look.pulls and event.buttons() & Qt.MouseButton.LeftButton:
            self.dragged.emit(self.step.task_id, self.mapToParent(event.position()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if self.look.pulls:
            self.look.pulls = False
            self.update()
            self.let_go.emit(self.step.task_id, self.mapToParent(event.position()))
        elif self.rect().contains(event.position().toPoint()):
            self.opened.emit(self.step.task_id)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.menu_wanted.emit(self.step.task_id, QPointF(event.globalPos()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The graph handles the keys, because it knows the other cards."""
        event.ignore()
        self.key_pressed.emit(self.step.task_id, event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.focused.emit(self.step.task_id)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.update()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self.editable and _file(event.mimeData()):
            self._invite(True)
            event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._invite(False)

    def dropEvent(self, event: QDropEvent) -> None:
        self._invite(False)
        event.acceptProposedAction()
        self.file_dropped.emit(self.step.task_id, _file(event.mimeData()))

    def _invite(self, inviting: bool) -> None:
        self.look.inviting = inviting
        self.update()


def _file(dropped: QMimeData) -> Path | None:
    """The dropped file; None if there is none, or several."""
    urls = dropped.urls()
    return Path(urls[0].toLocalFile()) if len(urls) == 1 and urls[0].isLocalFile() else None
