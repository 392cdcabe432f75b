"""Bars that show how disk and memory are used, with the figures in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QSizePolicy,
    QWidget,
)

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.ui.widgets import labels, theme
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import FlowLayout, hbox, vbox

if TYPE_CHECKING:
    from jarvis_desktop.app.experts import MemoryUse

HEIGHT, RADIUS, DOT = 8, 4, 9
"""Pixels."""
MIN_WIDTH_IN_ONE_LINE = 560
"""Pixels; in a narrower card the bars stand under each other."""
LEAST = 3
"""Pixels of a part that is there at all."""


@dataclass(frozen=True, slots=True)
class GaugePart:
    """One part of a bar: its size, and the token of its colour."""

    size: int
    colour: str


class Bar(QWidget):
    """A bar of coloured parts; the rest is free."""

    def __init__(self) -> None:
        super().__init__()
        self._whole, self._most = 1, 0
        self._parts: tuple[GaugePart, ...] = ()
        self.setFixedHeight(HEIGHT + 4)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_parts(self, whole: int, parts: Sequence[GaugePart], most: int = 0) -> None:
        """Show them; `most` is a mark up to which they may grow, 0 for none."""
        shown = max(1, whole), tuple(parts), most
        if shown != (self._whole, self._parts, self._most):
            self._whole, self._parts, self._most = shown
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(160, HEIGHT + 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the bar, mirrored for right-to-left languages."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.layoutDirection() == Qt.LayoutDirection.RightToLeft:
            painter.translate(self.width(), 0)
            painter.scale(-1, 1)
        box = QRectF(0, 2, self.width(), HEIGHT)
        outline = QPainterPath()
        outline.addRoundedRect(box, RADIUS, RADIUS)
        painter.fillPath(outline, theme.colour("sunken"))
        painter.save()
        painter.setClipPath(outline)
        at = 0.0
        for part in self._parts:
            if part.size > 0:
                wide = max(LEAST, self.width() * part.size / self._whole)
                painter.fillRect(QRectF(at, 2, wide, HEIGHT), theme.colour(part.colour))
                at += wide
        painter.restore()
        painter.setPen(theme.colour("control"))
        painter.drawPath(outline)
        if 0 < self._most < self._whole:
            x = self.width() * self._most / self._whole
            painter.fillRect(QRectF(x - 1, 0, 2, HEIGHT + 4), theme.colour("text"))
        painter.end()


class GaugeLegend(QWidget):
    """A figure with a dot in the colour that it has in the bar; "" is what is free."""

    def __init__(self) -> None:
        super().__init__()
        self._colour = ""
        row = hbox(parent=self, spacing=0)
        row.addSpacing(DOT + 4)
        self.figure = Label(role="small")
        row.addWidget(self.figure)

    def show_figure(self, text: str, colour: str) -> None:
        """Show another one; "" none."""
        self._colour = colour
        self.figure.setText(text)
        self.setVisible(bool(text))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        right = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        box = QRectF(self.width() - DOT if right else 0, (self.height() - DOT) / 2, DOT, DOT)
        box.adjust(0.5, 0.5, -0.5, -0.5)
        painter.setPen(theme.colour("control"))
        painter.setBrush(theme.colour(self._colour or "sunken"))
        painter.drawRoundedRect(box, 2, 2)
        painter.end()


class Gauge(QWidget):
    """One bar with its name above it and its figures below."""

    def __init__(self, name: str) -> None:
        super().__init__()
        column = vbox(parent=self, spacing=theme.space("half"))
        self.name = Label(name, role="heading")
        self.bar = Bar()
        held = QWidget()
        self._flow = FlowLayout(held, gap=10)
        self._keys: list[GaugeLegend] = []
        for widget in (self.name, self.bar, held):
            column.addWidget(widget)
        column.addStretch(1)
        self.show_figures(("", tr("Measuring…")))

    def show_room(
        self,
        name: str,
        whole: int,
        parts: Sequence[GaugePart],
        *figures: tuple[str, str],
        most: int = 0,
    ) -> None:
        """Show who has how much; each figure comes with its colour."""
        self.name.setText(name)
        self.bar.show_parts(whole, parts, most)
        self.show_figures(*figures)
        self.bar.setAccessibleName(name)

    def show_figures(self, *figures: tuple[str, str]) -> None:
        """Show the words below the bar."""
        shown = [each for each in figures if each[1]]
        while len(self._keys) < len(shown):
            self._keys.append(GaugeLegend())
            self._flow.addWidget(self._keys[-1])
        for index, key in enumerate(self._keys):
            colour, text = shown[index] if index < len(shown) else ("", "")
            key.show_figure(text, colour)
        self.bar.setAccessibleDescription(" · ".join(text for _, text in shown))


class Gauges(QFrame):
    """The disk, the main memory, and the graphics card if there is one."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("card")
        self.setAccessibleName(tr("Room on this computer"))
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(theme.space("two"), 12, theme.space("two"), 12)
        self._row.setSpacing(theme.space("two"))
        self.disk = Gauge(tr("Disk"))
        self.memory = Gauge(tr("Memory"))
        self.card = Gauge(tr("Graphics card"))
        self.card.hide()
        for gauge in (self.disk, self.memory, self.card):
            self._row.addWidget(gauge, 1)

    def show_disk(self, room: MemoryUse) -> None:
        """Show the disk: what experts have of what they may have, or of what is free."""
        has, free = labels.size(room.experts), labels.size(room.free)
        figures = [("accent", tr("Experts {size}", size=has)), ("", tr("{size} free", size=free))]
        whole, most = room.whole, 0
        if room.most:
            of = tr("Experts {has} of {most}", has=has, most=labels.size(room.most))
            figures[0] = "accent", of
            whole = max(room.most, room.experts)
            reach = room.experts + room.free  # the disk may have less room than they may take
            most = reach if reach < whole else 0
        self.disk.show_room(
            tr("Disk"), whole, [GaugePart(room.experts, "accent")], *figures, most=most
        )

    def show_memory(self, rooms: Sequence[MemoryUse]) -> None:
        """Show the memory as it is now."""
        self._show(self.memory, tr("Memory"), rooms[0])
        self.card.setVisible(len(rooms) > 1)
        for room in rooms[1:2]:
            name = one_line(room.name, limit=30) or tr("Graphics card")
            self._show(self.card, name, room)

    def _show(self, gauge: Gauge, name: str, room: MemoryUse) -> None:
        others = max(0, room.whole - room.free - room.experts - room.llm)
        parts = [
            GaugePart(room.experts, "accent"),
            GaugePart(room.llm, "done"),
            GaugePart(others, "control"),
        ]
        most = room.most if room.most < room.whole else 0
        size = labels.size(room.experts)
        gauge.show_room(
            name,
            room.whole,
            parts,
            (
                "accent",
                tr("Experts {has} of {most}", has=size, most=labels.size(most))
                if most
                else tr("Experts {size}", size=size),
            ),
            ("done", tr("LLM {size}", size=labels.size(room.llm)) if room.llm else ""),
            ("control", tr("Other programs {size}", size=labels.size(others))),
            ("", tr("{size} free", size=labels.size(room.free))),
            most=most,
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = event.size().width() < MIN_WIDTH_IN_ONE_LINE * max(
            1.0, self.fontMetrics().height() / 20
        )
        way = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        self._row.setDirection(way)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, super().minimumSizeHint().height())
