"""How a step looks as a card. It is drawn at any scale."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QPainter,
    QPainterPath,
    QPen,
    QPixmap,
)

from jarvis_desktop.core.shown import encodable
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.look import icons, theme
from jarvis_desktop.ui.look.states import draw_state
from jarvis_desktop.ui.plan.layout import Measures
from jarvis_desktop.ui.plan.telling import UNDER_WAY, Face

EDGE = 11
"""Pixels around a card that belong to its widget: there are the sign of what it gives and the sign
that it has the keyboard."""
PAD = 10
AFTER_ICON = 24
PREVIEW = 48
RADIUS = 10.0
LEGIBLE = 0.62
"""At a smaller scale a card shows only how its step is doing, and its name."""

CROWDED = 0.8
"""How much of the longest name must fit, rather than that the plan goes on in a further band."""


def small_font(font: QFont) -> QFont:
    """The type of what is less important."""
    scale = theme.tokens().scale
    small = QFont(font)
    small.setPointSizeF(font.pointSizeF() * scale["small"] / scale["body"])
    return small


def strong_font(font: QFont) -> QFont:
    """The type of names."""
    strong = QFont(font)
    strong.setWeight(QFont.Weight.DemiBold)
    return strong


def measures(font: QFont, names: Collection[str]) -> Measures:
    """The sizes of cards with that type, and with these names."""
    large, small = QFontMetricsF(strong_font(font)), QFontMetricsF(small_font(font))
    letter = small.averageCharWidth()
    longest = max((large.horizontalAdvance(name) for name in names), default=0.0)
    least, most = letter * 20 + 2 * PAD, letter * 34 + 2 * PAD
    wanted = CROWDED * (longest + AFTER_ICON + 2 * PAD)
    return Measures(
        narrowest=round(min(max(least, wanted), most)),
        widest=round(most),
        height=round(large.height() + 2 * small.height() + 2 * PAD + 4),
    )


@dataclass(slots=True)
class CardLook:
    """All that is to be seen of a card."""

    face: Face
    time: str = ""
    picture: QPixmap | None = None
    """The thumbnail of what was made."""
    body: QRectF = field(default_factory=QRectF)
    """Where the card itself is within its edge."""
    scale: float = 1.0
    stacked: bool = False
    """Whether what follows stands below."""
    mirrored: bool = False
    """Whether one reads from the right."""
    angle: int = 0
    """How far the sign of what runs has turned."""
    has_focus: bool = False
    is_open: bool = False
    fits: bool | None = None
    """Whether it takes what is held over the graph; None where nothing is."""
    inviting: bool = False
    """Whether it takes the file that is held over it."""
    pulls: bool = False
    """Whether its result is held."""
    _font: QFont = field(default_factory=QFont)
    _ratio: float = 1.0

    @property
    def outlet(self) -> QRectF:
        """The sign of what it gives, from which an arrow can be drawn."""
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
        painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)  # each text has its own
        painter.scale(self.scale, self.scale)
        if self.fits is False:
            painter.setOpacity(0.4)
        self._draw_body(painter)
        if self.scale < LEGIBLE:
            self._draw_small(painter)
        else:
            self._draw_words(painter)
        self._draw_outlet(painter)

    def _draw_body(self, painter: QPainter) -> None:
        state, body = self.face.state, self.body
        background, outline, width = "card", "border", 1.0
        if self.is_open:
            background = "soft"
        elif state == "failed":
            background = "warning_soft"
        if state in UNDER_WAY or self.is_open:
            outline, width = "accent", 1.5
        elif state == "failed":
            outline = "warning"
        elif self.face.edited or self.face.again:
            outline, width = "accent", 1.5
        if self.has_focus:
            painter.setPen(QPen(theme.colour("accent"), 2.0))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(body.adjusted(-3, -3, 3, 3), RADIUS + 3, RADIUS + 3)
        pen = QPen(theme.colour("done" if self.fits or self.inviting else outline), width)
        if self.fits or self.inviting:
            pen.setWidthF(2.0)
        if state in ("skipped", "cancelled") or self.face.again:
            pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.setBrush(theme.colour(background))
        painter.drawRoundedRect(body, RADIUS, RADIUS)
        if state in UNDER_WAY:
            self._draw_progress(painter)

    def _draw_progress(self, painter: QPainter) -> None:
        """A line along the lower edge; where nobody knows how far it is there is none."""
        if self.face.fraction is None:
            return
        inner = QPainterPath()
        inner.addRoundedRect(self.body.adjusted(1, 1, -1, -1), RADIUS - 1, RADIUS - 1)
        painter.save()
        painter.setClipPath(inner)
        painter.setPen(Qt.PenStyle.NoPen)
        line = QRectF(self.body.left(), self.body.bottom() - 4.5, self.body.width(), 4.5)
        painter.fillRect(line, theme.colour("sunken"))
        done = line.width() * self.face.fraction
        line.setLeft(line.right() - done) if self.mirrored else line.setWidth(done)
        painter.fillRect(line, theme.colour("accent"))
        painter.restore()

    def _draw_small(self, painter: QPainter) -> None:
        """As little as can be read from afar."""
        font = QFont(self._font)
        font.setPointSizeF(font.pointSizeF() * min(1.7, LEGIBLE / self.scale))
        row = self.body.adjusted(PAD, 0, -PAD, 0)
        self._draw_state(painter, QRectF(row.left(), row.center().y() - 9, 18, 18))
        self._write(painter, row.adjusted(AFTER_ICON, 0, 0, 0), self.face.name, font, "text")

    def _draw_words(self, painter: QPainter) -> None:
        face, body = self.face, self.body.adjusted(PAD, PAD - 1, -PAD, 1 - PAD)
        strong, small = strong_font(self._font), small_font(self._font)
        high, low = QFontMetricsF(strong).height(), QFontMetricsF(small).height()
        top = QRectF(body.left(), body.top(), body.width(), max(high, 18))
        self._draw_state(painter, QRectF(top.left(), top.center().y() - 9, 18, 18))
        self._write(painter, top.adjusted(AFTER_ICON, 0, 0, 0), face.name, strong, "text")
        second = QRectF(body.left(), top.bottom() + 2, body.width(), low)
        if self.picture is not None:
            side = body.bottom() - second.top()
            frame = QRectF(body.right() - PREVIEW - 4, second.top(), PREVIEW, side)
            self._draw_picture(painter, frame)
            second.setRight(frame.left() - 8)
        words, colour = face.details or face.subject, "muted"
        if face.trouble:
            words, colour = face.trouble, "warning"
        elif face.result and face.state == "done":
            words, colour = face.result, "text"
        self._write(painter, second, words, small, colour)
        self._draw_third(painter, second.translated(0, low + 2), small)

    def _draw_third(self, painter: QPainter, line: QRectF, font: QFont) -> None:
        """Who does it, and the time; or that it is another step now than was done."""
        face, colour, words = self.face, "muted", self.face.expert
        if self.time:
            wide = QFontMetricsF(font).horizontalAdvance(self.time) + 1
            time = QRectF(line.right() - wide, line.top(), wide, line.height())
            self._write(painter, time, self.time, font, "muted")
            line.setRight(time.left() - 8)
        if face.edited or face.again:
            words, colour = (tr("runs again") if face.again else tr("changed")), "accent"
        elif face.pinned:
            self._draw_icon(painter, "pin", colour, line.left(), line.center().y(), 13)
            line.setLeft(line.left() + 17)
        self._write(painter, line, words, font, colour)

    def _ink(self, colour: str) -> QColor:
        left_out = self.face.state in ("skipped", "cancelled") and colour in ("text", "warning")
        if self.is_open and colour in ("text", "muted", "accent"):
            return theme.colour("on_soft")
        return theme.colour("muted" if left_out else colour)

    def _draw_state(self, painter: QPainter, at: QRectF) -> None:
        painter.save()
        painter.translate(self._turned(at).topLeft())
        draw_state(painter, self.face.state, self.angle, ratio=self._ratio)
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
        """The kind of what it gives, as the arrow's beginning."""
        at, there = self.outlet, self.face.state == "done"
        painter.setPen(QPen(theme.colour("accent" if there or self.pulls else "border"), 1.0))
        painter.setBrush(theme.colour("soft" if there or self.pulls else "card"))
        painter.drawEllipse(at)
        colour = "on_soft" if there or self.pulls else "muted"
        picture = icons.pixmap(icons.FOR_KIND[self.face.gives], colour, size=12, ratio=self._ratio)
        painter.drawPixmap(at.adjusted(3, 3, -3, -3), picture, QRectF(picture.rect()))

    def _write(self, painter: QPainter, at: QRectF, words: str, font: QFont, colour: str) -> None:
        """One line of plain text, which ends in "…" where it does not fit."""
        if at.width() < 8 or not words:
            return
        elide = Qt.TextElideMode.ElideRight
        shown = QFontMetricsF(font).elidedText(encodable(words)[:200], elide, at.width())
        start = Qt.AlignmentFlag.AlignRight if self.mirrored else Qt.AlignmentFlag.AlignLeft
        painter.setFont(font)
        painter.setPen(self._ink(colour))
        flags = start | Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignAbsolute
        painter.drawText(self._turned(at), int(flags) | Qt.TextFlag.TextSingleLine, shown)

    def _turned(self, at: QRectF) -> QRectF:
        """The place as it is where one reads from the right."""
        if not self.mirrored:
            return at
        return QRectF(
            self.body.left() + self.body.right() - at.right(), at.y(), at.width(), at.height()
        )
