"""Turns the tokens of `resources/themes` into the palette and the style sheet: light, dark, and
either with high contrast."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from string import Template
from typing import Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from jarvis_desktop import paths

Choice = Literal["system", "light", "dark", "contrast"]


@dataclass(frozen=True, slots=True)
class Tokens:
    """The look in numbers: colours as #RRGGBB, lengths in pixels, type sizes as multiples, motion
    in milliseconds."""

    light: Mapping[str, str]
    dark: Mapping[str, str]
    contrast_light: Mapping[str, str]
    contrast_dark: Mapping[str, str]
    space: Mapping[str, int]
    radius: Mapping[str, int]
    scale: Mapping[str, float]
    motion: Mapping[str, int]

    def colours(self, dark: bool, *, contrast: bool = False) -> Mapping[str, str]:
        """The colours of one scheme."""
        if contrast:
            return self.contrast_dark if dark else self.contrast_light
        return self.dark if dark else self.light


@dataclass(frozen=True, slots=True)
class Wish:
    """How the person wants it."""

    choice: Choice = "system"
    text_size: float = 1.0
    """As a multiple of the system's."""
    motion: bool = True


_wish = Wish()
"""What is worn now: as the palette, it is the whole application's."""


@cache
def tokens() -> Tokens:
    """The shipped tokens."""
    text = paths.shipped("resources", "themes", "tokens.toml").read_text("utf-8")
    return Tokens(**tomllib.loads(text))


def colour(name: str) -> QColor:
    """A colour of the scheme that is shown now."""
    return QColor(tokens().colours(is_dark(), contrast=_wish.choice == "contrast")[name])


def is_dark() -> bool:
    """Whether a dark scheme is shown."""
    palette = QGuiApplication.palette()
    return palette.window().color().lightness() < palette.windowText().color().lightness()


def duration(name: str = "usual") -> int:
    """How long a movement takes, in milliseconds; 0 where nothing is to move."""
    return tokens().motion[name] if _wish.motion else 0


def palette(colours: Mapping[str, str]) -> QPalette:
    """Qt's own roles from our colours, for what the style sheet does not reach."""
    roles = QPalette.ColorRole
    result = QPalette()
    for role, name in {
        roles.Window: "window",
        roles.WindowText: "text",
        roles.Base: "card",
        roles.AlternateBase: "sunken",
        roles.Text: "text",
        roles.Button: "raised",
        roles.ButtonText: "text",
        roles.BrightText: "danger",
        roles.PlaceholderText: "muted",
        roles.Highlight: "accent",
        roles.HighlightedText: "on_accent",
        roles.ToolTipBase: "raised",
        roles.ToolTipText: "text",
        roles.Link: "accent",
        roles.Accent: "accent",
        roles.Mid: "border",
    }.items():
        result.setColor(role, QColor(colours[name]))
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        result.setColor(QPalette.ColorGroup.Disabled, role, QColor(colours["control"]))
    return result


def stylesheet(look: Tokens, colours: Mapping[str, str], points: float) -> str:
    """The style sheet; `points` is the size of the system's type."""
    template = paths.shipped("resources", "themes", "window.qss").read_text("utf-8")
    values: dict[str, str] = dict(colours)
    values |= {f"space_{name}": f"{value}px" for name, value in look.space.items()}
    values |= {f"radius_{name}": f"{value}px" for name, value in look.radius.items()}
    values |= {f"type_{name}": f"{points * value:.1f}pt" for name, value in look.scale.items()}
    return Template(template).substitute(values)


class Theme(QObject):
    """Dresses the application as the person wishes, and again whenever the system changes between
    light and dark."""

    changed = Signal()

    def __init__(self, application: QApplication, wish: Wish | None = None) -> None:
        super().__init__(application)
        self._application = application
        application.setStyle("Fusion")
        self._font = QFont(application.font())
        self._hints = application.styleHints()
        self._hints.colorSchemeChanged.connect(self._follow)
        self.adopt(wish or Wish())

    def adopt(self, wish: Wish) -> None:
        """Show it as the person wishes from now on."""
        global _wish
        _wish = wish
        self._follow(self._hints.colorScheme())

    def _follow(self, scheme: Qt.ColorScheme) -> None:
        system = scheme == Qt.ColorScheme.Dark
        self.wear(dark={"light": False, "dark": True}.get(_wish.choice, system))

    def wear(self, *, dark: bool) -> None:
        """Show the dark scheme, or the light one."""
        look = tokens()
        colours = look.colours(dark, contrast=_wish.choice == "contrast")
        self._application.setPalette(palette(colours))
        points = self._font.pointSizeF() if self._font.pointSizeF() > 0 else 10.0
        points *= _wish.text_size
        body = QFont(self._font)
        body.setPointSizeF(points * look.scale["body"])
        self._application.setFont(body)
        # Changing one sheet into another costs Qt five times as much as setting one anew.
        self._application.setStyleSheet("")
        self._application.setStyleSheet(stylesheet(look, colours, points))
        self.changed.emit()


def space(name: str = "one") -> int:
    """A length of the grid, in pixels."""
    return tokens().space[name]
