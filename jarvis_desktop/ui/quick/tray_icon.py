"""The icon in the tray for each state, drawn from one SVG. Panels are light or dark whatever our
own scheme is, so that it brings its own ground along."""

from __future__ import annotations

from functools import cache
from string import Template

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from jarvis_desktop import paths
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.quick.phases import Phase

SIZES = (16, 20, 22, 24, 32, 44, 48, 64)
_grounds = {
    Phase.IDLE: "accent",
    Phase.LISTENING: "danger",
    Phase.THINKING: "accent",
    Phase.WORKING: "accent",
    Phase.ASKING: "warning",
    Phase.SPEAKING: "done",
}
"""Tokens of the light scheme: white stands out on each."""
LIGHTER = 128
"""Where the ground begins, in percent of the token's lightness."""


@cache
def tray_icon(phase: Phase, *, microphone_open: bool = False) -> QIcon:
    """The icon of a phase, with a mark where the microphone is open besides."""
    renderer = QSvgRenderer(QByteArray(_svg(phase, microphone_open).encode()))
    icon = QIcon()
    for pixels in SIZES:
        picture = QPixmap(pixels, pixels)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        renderer.render(painter, QRectF(0, 0, pixels, pixels))
        painter.end()
        icon.addPixmap(picture)
    return icon


def _svg(phase: Phase, microphone_open: bool) -> str:
    colours = theme.tokens().light
    ground = QColor(colours[_grounds[phase]])
    shown = {each.value: "inline" if each is phase else "none" for each in Phase}
    source = paths.shipped("resources", "icons", "tray.svg").read_text("utf-8")
    return Template(source).substitute(
        shown,
        open="inline" if microphone_open else "none",
        deep=ground.name(),
        light=ground.lighter(LIGHTER).name(),
        signal=colours["danger"],
    )
