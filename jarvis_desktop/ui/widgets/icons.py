"""The icon family, in the colours of the scheme that is shown, and buttons that carry icons.

How something is doing, as a small picture that a screen reader can name."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from PySide6.QtCore import QByteArray, QEvent, QRectF, QSize, Qt, SignalInstance
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QHideEvent,
    QIcon,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QShowEvent,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton, QSizePolicy, QWidget

from jarvis_desktop import paths
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.timers import new_timer

FOR_KIND = {
    Kind.TEXT: "text",
    Kind.IMAGE: "image",
    Kind.AUDIO: "audio",
    Kind.VIDEO: "video",
    Kind.TABLE: "table",
    Kind.DOCUMENT: "document",
}

MIRRORED = frozenset(("back", "left", "right", "undo", "redo"))
"""Icons that are mirrored in right-to-left languages."""

_redressed = (
    QEvent.Type.StyleChange,
    QEvent.Type.PaletteChange,
    QEvent.Type.LayoutDirectionChange,
)


def icon(name: str, colour: str = "text", *, widget: QWidget | None = None) -> QIcon:
    """An icon in a colour of the theme, such as icon("send", "on_accent"); it points as one reads
    in `widget`, or in the application."""
    reads = widget.layoutDirection() if widget else QGuiApplication.layoutDirection()
    mirrored = name in MIRRORED and reads == Qt.LayoutDirection.RightToLeft
    return drawn(name, theme.colour(colour).name(), mirrored=mirrored)


def pixmap(name: str, colour: str = "text", *, size: int = 16, ratio: float = 1.0) -> QPixmap:
    """An icon as a picture of `size` pixels, for a screen of that device pixel ratio."""
    return icon(name, colour).pixmap(QSize(size, size), ratio)


def application_icon() -> QIcon:
    """The mark of the application, in its own colours."""
    return QIcon(str(paths.shipped("resources", "icons", "jarvis.svg")))


@lru_cache(maxsize=256)
def drawn(name: str, colour: str, *, mirrored: bool = False) -> QIcon:
    """An icon in any colour."""
    source = _source(name).replace("currentColor", QColor(colour).name())
    renderer = QSvgRenderer(QByteArray(source.encode()))
    result = QIcon()
    for pixels in (16, 20, 32, 48):
        picture = QPixmap(pixels, pixels)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        if mirrored:
            painter.translate(pixels, 0)
            painter.scale(-1, 1)
        renderer.render(painter, QRectF(0, 0, pixels, pixels))
        painter.end()
        result.addPixmap(picture)
    return result


@lru_cache(maxsize=64)
def _source(name: str) -> str:
    return paths.shipped("resources", "icons", f"{name}.svg").read_text("utf-8")


class Symbol(QLabel):
    """An icon that is only looked at."""

    _shown: tuple[int, int, float] | None = None

    def __init__(self, name: str, colour: str = "muted", *, size: int = 18) -> None:
        super().__init__()
        self._icon_name, self._colour, self._size = name, colour, size
        self._paint_icon()

    def show_icon(self, name: str, colour: str) -> None:
        """Show another icon."""
        self._icon_name, self._colour = name, colour
        self._paint_icon()

    def show_picture(self, picture: QPixmap) -> None:
        """Show a picture in the icon's place."""
        self._size, self._shown = 0, None
        self.setPixmap(picture)

    def changeEvent(self, change: QEvent) -> None:
        super().changeEvent(change)
        if change.type() in _redressed:
            self._paint_icon()

    def _paint_icon(self) -> None:
        if getattr(self, "_size", 0):
            drawing = icon(self._icon_name, self._colour)
            shown = drawing.cacheKey(), self._size, self.devicePixelRatioF()
            # Styles change several times while a window is built, and each picture that is set
            # lays its label out again.
            if shown != self._shown:
                self._shown = shown
                self.setPixmap(drawing.pixmap(QSize(self._size, self._size), shown[2]))


class IconButton(QPushButton):
    """A button with an icon of the family and a name that a screen reader says.

    `kind` picks its look in the style sheet. `tip` is given where the name holds foreign words:
    Qt reads tool tips as HTML.
    """

    _shown = -1

    def __init__(
        self,
        icon_name: str,
        name: str,
        *,
        kind: str = "icon",
        text: str = "",
        colour: str = "muted",
        tip: str = "",
        act: Callable[..., object] | SignalInstance | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        if act:
            self.clicked.connect(act)
        self._icon_name = icon_name
        self._colour = colour
        self.setProperty("kind", kind)
        self.setAccessibleName(name)
        self.setToolTip(tip or name)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAutoDefault(False)
        self.setIconSize(QSize(16, 16) if text else QSize(18, 18))
        self._paint_icon()

    def show_icon(self, icon_name: str, name: str, *, tip: str = "") -> None:
        """Change the icon and what the button is called."""
        self._icon_name = icon_name
        self.setAccessibleName(name)
        self.setToolTip(tip or name)
        self._paint_icon()

    def show_colour(self, colour: str) -> None:
        """Draw the icon in another colour of the theme."""
        if colour != self._colour:
            self._colour = colour
            self._paint_icon()

    def changeEvent(self, change: QEvent) -> None:
        super().changeEvent(change)
        if change.type() in _redressed:
            self._paint_icon()

    def _paint_icon(self) -> None:
        if hasattr(self, "_icon_name"):
            drawing = icon(self._icon_name, self._colour, widget=self)
            if drawing.cacheKey() != self._shown:
                self._shown = drawing.cacheKey()
                self.setIcon(drawing)


class SearchEdit(QLineEdit):
    """A field with a magnifying glass in front, that a screen reader calls `name`."""

    def __init__(self, name: str, inviting: str) -> None:
        super().__init__()
        self.setPlaceholderText(inviting)
        self.setAccessibleName(name)
        self.glass = self.addAction(
            icon("search", "muted"), QLineEdit.ActionPosition.LeadingPosition
        )

    def sizeHint(self) -> QSize:
        """Wide enough for the invitation, with the glass and the button that clears."""
        size = super().sizeHint()
        words = self.fontMetrics().horizontalAdvance(self.placeholderText())
        return size.expandedTo(QSize(words + 3 * size.height() // 2, 0))

    def changeEvent(self, change: QEvent) -> None:
        super().changeEvent(change)
        if change.type() in _redressed and hasattr(self, "glass"):
            self.glass.setIcon(icon("search", "muted"))


_looks = {
    "waiting": ("waiting", "muted"),
    "fetching": ("download", "accent"),
    "done": ("done", "done"),
    "partly": ("done", "warning"),
    "failed": ("failed", "warning"),
    "skipped": ("skipped", "muted"),
    "cancelled": ("cancelled", "muted"),
    "open": ("waiting", "muted"),
    "doing": ("play", "accent"),
    "dropped": ("skipped", "muted"),
}
_names = {
    "waiting": mark("waiting"),
    "running": mark("running"),
    "fetching": mark("downloading its expert"),
    "done": mark("done"),
    "partly": mark("partly done"),
    "failed": mark("failed"),
    "skipped": mark("left out"),
    "cancelled": mark("stopped"),
    "open": mark("open"),
    "doing": mark("being done"),
    "dropped": mark("dropped"),
}


def draw_state(painter: QPainter, state: str, angle: int, *, ratio: float) -> None:
    """Draw a state, "" for none, 18 pixels large; `angle` is how far what runs has turned."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if state == "running":
        box = QRectF(2.5, 2.5, 13, 13)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.colour("border"), 2.2))
        painter.drawEllipse(box)
        pen = QPen(theme.colour("accent"), 2.2)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawArc(box, -angle * 16, 100 * 16)
    elif state:
        name, colour = _looks[state]
        painter.drawPixmap(0, 0, pixmap(name, colour, size=18, ratio=ratio))


class StateIcon(QWidget):
    """Shows a state; it turns while something runs."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(18, 18)
        self._state = ""
        self._angle = 0
        self._timer = new_timer(self, self._turn, 50, repeat=True)

    def show_state(self, state: str) -> None:
        """Show another state."""
        if state != self._state:
            self._state = state
            self.setAccessibleName(tr(_names.get(state, "")))
            self._beat()
            self.update()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._beat()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        draw_state(painter, self._state, self._angle, ratio=self.devicePixelRatioF())
        painter.end()

    def _beat(self) -> None:
        if self._state == "running" and self.isVisible():
            self._timer.start()
        else:
            self._timer.stop()

    def _turn(self) -> None:
        self._angle = (self._angle + 18) % 360
        self.update()
