"""Paints the lines of the side list. Titles and passages are foreign words: they are drawn letter
by letter as they are, and never read as HTML."""

from __future__ import annotations

from datetime import date

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QPainter,
    QPen,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import (
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.history.model import ROW, STATE, Row, State, short_day
from jarvis_desktop.ui.look import icons, theme

Index = QModelIndex | QPersistentModelIndex

SIDE = 10
"""Pixels between the edge of a line and its words."""
TALL = 16
"""Pixels of a line besides its letters."""
RADIUS = 8.0
LINES = 2
"""Lines of a passage."""
MARK = 14
"""Pixels of a sign at the end of a line."""


class RowDelegate(QStyledItemDelegate):
    """Every line is equally tall, so that a list of 100,000 is laid out at once."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.today = date.today()
        self._begin = Qt.AlignmentFlag.AlignLeft
        self.passages = False
        """Whether the lines are turns that were found, with a passage below each title."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """As tall as its lines of text."""
        height = QFontMetrics(option.font).height() + TALL
        if self.passages:
            height += LINES * QFontMetrics(_small(option.font)).lineSpacing() + 2
        return QSize(80, height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw a heading, a conversation or a find."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        # Each text runs as its own letters do, from the side where lines of the window begin.
        painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        self._begin = _beginning(option.direction)
        row = index.data(ROW)
        if row is None:
            self._heading(painter, option, str(index.data()))
        else:
            state: State = index.data(STATE)
            ink = self._ground(painter, option, state)
            inner = option.rect.adjusted(SIDE, 0, -SIDE, 0)
            if self.passages:
                self._find(painter, option, row, inner, ink)
            else:
                self._conversation(painter, option, row, state, inner, ink)
        painter.restore()

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """The title as a field in its place."""
        field = QLineEdit(parent)
        field.setProperty("role", "rename")
        field.setMaxLength(120)
        field.setAccessibleName(tr("New title of the conversation"))
        return field

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: Index
    ) -> None:
        """Over the whole line."""
        editor.setGeometry(option.rect.adjusted(1, 1, -1, -1))

    def _ground(self, painter: QPainter, option: QStyleOptionViewItem, state: State) -> str:
        """Draw what lies below the words; the colour for them."""
        box = QRectF(option.rect).adjusted(1, 1, -1, -1)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        focused = chosen and bool(option.state & QStyle.StateFlag.State_HasFocus)
        painter.setPen(Qt.PenStyle.NoPen)
        if state.open or chosen:
            painter.setBrush(theme.colour("soft"))
            painter.drawRoundedRect(box, RADIUS, RADIUS)
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.setBrush(theme.colour("hover"))
            painter.drawRoundedRect(box, RADIUS, RADIUS)
        if focused:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.colour("accent"), 2))
            painter.drawRoundedRect(box, RADIUS, RADIUS)
        return "on_soft" if state.open or chosen else "text"

    def _heading(self, painter: QPainter, option: QStyleOptionViewItem, words: str) -> None:
        font = _small(option.font)
        font.setWeight(QFont.Weight.DemiBold)
        inner = option.rect.adjusted(SIDE, 0, -SIDE, -5)
        _draw(painter, font, "muted", inner, words, self._begin | Qt.AlignmentFlag.AlignBottom)

    def _conversation(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        row: Row,
        state: State,
        inner: QRect,
        ink: str,
    ) -> None:
        rest = QRect(inner)
        if state.running:
            self._dot(painter, option, rest, "warning", filled=False)
        elif state.unread:
            self._dot(painter, option, rest, "accent", filled=True)
        if row.pinned:
            place = _end_of(rest, MARK, option)
            ratio = painter.device().devicePixelRatioF()
            colour = "on_soft" if ink == "on_soft" else "muted"
            painter.drawPixmap(place, icons.pixmap("pin", colour, size=MARK, ratio=ratio))
        font = QFont(option.font)
        if state.unread:
            font.setWeight(QFont.Weight.DemiBold)
        _draw(painter, font, ink, rest, row.name, self._begin | Qt.AlignmentFlag.AlignVCenter)

    def _dot(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        rest: QRect,
        colour: str,
        *,
        filled: bool,
    ) -> None:
        middle = QPointF(_end_of(rest, MARK, option).center()) + QPointF(0.5, 0.5)
        ink = theme.colour(colour)
        painter.setPen(QPen(ink, 2))
        painter.setBrush(ink if filled else Qt.BrushStyle.NoBrush)
        painter.drawEllipse(middle, 3.5, 3.5)

    def _find(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        row: Row,
        inner: QRect,
        ink: str,
    ) -> None:
        small = _small(option.font)
        muted = "on_soft" if ink == "on_soft" else "muted"
        top = QRect(inner.left(), inner.top() + TALL // 2, inner.width(), 0)
        top.setHeight(QFontMetrics(option.font).height())
        day = short_day(row.when, self.today)
        width = QFontMetrics(small).horizontalAdvance(day)
        place = _end_of(top, width, option, gap=8)
        place.setHeight(top.height())
        place.moveTop(top.top())
        _draw(painter, small, muted, place, day, self._begin | Qt.AlignmentFlag.AlignVCenter)
        font = QFont(option.font)
        font.setWeight(QFont.Weight.DemiBold)
        _draw(painter, font, ink, top, row.name, self._begin | Qt.AlignmentFlag.AlignVCenter)
        below = QRectF(inner.left(), top.bottom() + 2, inner.width(), inner.height())
        self._passage(painter, small, row, below, ink)

    def _passage(
        self,
        painter: QPainter,
        font: QFont,
        row: Row,
        place: QRectF,
        ink: str,
    ) -> None:
        """Two lines of text, with what was found in bold letters on a ground of their own."""
        layout = QTextLayout(row.snippet, font)
        wrapping = QTextOption()
        wrapping.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        wrapping.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
        wrapping.setAlignment(self._begin)
        layout.setTextOption(wrapping)
        layout.setFormats([_found(start, end) for start, end in row.spots])
        layout.beginLayout()
        height = 0.0
        for _ in range(LINES):
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(place.width())
            line.setPosition(QPointF(0, height))
            height += line.height()
        layout.endLayout()
        painter.setPen(theme.colour("on_soft" if ink == "on_soft" else "muted"))
        layout.draw(painter, place.topLeft())


def _beginning(direction: Qt.LayoutDirection) -> Qt.AlignmentFlag:
    """The side where lines begin."""
    right = direction == Qt.LayoutDirection.RightToLeft
    side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignAbsolute


def _found(start: int, end: int) -> QTextLayout.FormatRange:
    look = QTextCharFormat()
    look.setFontWeight(QFont.Weight.DemiBold)
    look.setForeground(theme.colour("text"))
    look.setBackground(theme.colour("warning_soft"))
    marked = QTextLayout.FormatRange()
    marked.start, marked.length, marked.format = start, end - start, look
    return marked


def _small(font: QFont) -> QFont:
    small = QFont(font)
    scale = theme.tokens().scale
    small.setPointSizeF(font.pointSizeF() * scale["small"] / scale["body"])
    return small


def _end_of(rest: QRect, width: int, option: QStyleOptionViewItem, *, gap: int = 6) -> QRect:
    """A place of that width at the end of a line, which becomes shorter by it."""
    whole = QRect(rest)
    rest.setWidth(rest.width() - width - gap)
    place = QRect(whole.right() - width + 1, 0, width, width)
    if option.direction == Qt.LayoutDirection.RightToLeft:
        rest.moveRight(whole.right())
        place.moveLeft(whole.left())
    place.moveTop(whole.top() + (whole.height() - width) // 2)
    return place


def _draw(
    painter: QPainter,
    font: QFont,
    colour: str,
    place: QRect,
    words: str,
    alignment: Qt.AlignmentFlag,
) -> None:
    """One line, cut with "…" where it does not fit."""
    painter.setFont(font)
    painter.setPen(theme.colour(colour))
    shown = QFontMetrics(font).elidedText(words, Qt.TextElideMode.ElideRight, place.width())
    painter.drawText(place, alignment, shown)
