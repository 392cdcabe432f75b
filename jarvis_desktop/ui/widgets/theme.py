"""The look and the language of the window: palette and style sheet from the tokens of
`resources/themes`, light, dark, and either with high contrast.

The settings are read after the window is on the screen, which must not change its look then. The
last choice is therefore stored with the window's position."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Literal, cast

from PySide6.QtCore import QLibraryInfo, QLocale, QObject, QSettings, Qt, QTranslator, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QWidget

from jarvis_desktop import localization, paths
from jarvis_desktop.tasks.documents.chart_drawing import LOOK

if TYPE_CHECKING:
    from jarvis_desktop.settings import Settings, WindowSettings


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
class ThemeChoice:
    """The look that the user chose."""

    choice: Choice = "system"
    text_size: float = 1.0
    """As a multiple of the system's."""
    motion: bool = True


SMALLEST_POINTS = 10.0  # so that small text is 13 pixels high at 96 dots an inch

_wish = ThemeChoice()
"""The current look; like the palette, it is that of the whole application."""
_desktop_moves = True
"""Whether the desktop wants motion."""


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
    """How long an animation takes, in milliseconds; 0 if motion is off, here or in the desktop."""
    return tokens().motion[name] if _wish.motion and _desktop_moves else 0


def let_move(moves: bool) -> None:
    """Note whether the desktop wants motion."""
    global _desktop_moves
    _desktop_moves = moves


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


@cache
def _load_fonts() -> None:
    for path in sorted(paths.shipped("resources", "fonts").glob("*.ttf")):
        QFontDatabase.addApplicationFont(str(path))


def _typeface(system: QFont) -> QFont:
    """Inter, which is shipped, with the system's own font for the scripts that it lacks."""
    _load_fonts()
    made = QFont(["Inter", *system.families()])
    made.setPointSizeF(max(system.pointSizeF(), SMALLEST_POINTS))
    return made


class Theme(QObject):
    """Applies the chosen look to the application, and follows the system's change between light and
    dark."""

    changed = Signal()

    def __init__(self, application: QApplication, wish: ThemeChoice | None = None) -> None:
        super().__init__(application)
        self._application = application
        if application.style().name() != "fusion":
            application.setStyle("Fusion")
        self._font = _typeface(application.font())
        self._hints = application.styleHints()
        self._hints.colorSchemeChanged.connect(self._follow)
        self.adopt(wish or ThemeChoice())

    def adopt(self, wish: ThemeChoice) -> None:
        """Apply another look."""
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
        points = self._font.pointSizeF() * _wish.text_size
        body = QFont(self._font)
        body.setPointSizeF(points * look.scale["body"])
        self._application.setFont(body)
        # Replacing one sheet by another costs Qt five times as much as setting one on none.
        self._application.setStyleSheet("")
        self._application.setStyleSheet(stylesheet(look, colours, points))
        os.environ[LOOK] = "dark" if dark else "light"
        self.changed.emit()


def space(name: str = "one") -> int:
    """A length of the grid, in pixels."""
    return tokens().space[name]


def restyle(widget: QWidget, **properties: str | bool) -> None:
    """Set dynamic properties that the style sheet asks for, and apply the sheet again if any
    of them changed; Qt does not do so itself."""
    changed = {name: value for name, value in properties.items() if widget.property(name) != value}
    for name, value in changed.items():
        widget.setProperty(name, value)
    if changed:
        widget.style().unpolish(widget)
        widget.style().polish(widget)


_qts_own = {"zh": "zh_CN"}
"""Qt's name of a language if it differs from our code."""


class Appearance(QObject):
    """Applies the look and the language at the start, and again when the settings change."""

    relabelled = Signal()
    """The language changed: every text must be built again."""

    def __init__(self, application: QApplication, kept: Path) -> None:
        """`kept` is the file with the window's position."""
        super().__init__(application)
        self._application = application
        self._kept = QSettings(str(kept), QSettings.Format.IniFormat)
        self._translator = QTranslator(self)
        self.theme = Theme(application, self._remembered())
        self.language = ""
        """The code of the one that is spoken."""
        self._speak(str(self._kept.value("look/language", "")))

    def adopt(self, settings: Settings) -> None:
        """Look as these settings want it."""
        wanted = settings.window
        wish = ThemeChoice(wanted.theme, wanted.text_size, wanted.motion)
        if wish != self._remembered():
            self.theme.adopt(wish)
        self._remember(wanted)
        if localization.chosen(wanted.language) != self.language:
            self._speak(wanted.language)
            self.relabelled.emit()

    def _speak(self, wanted: str) -> None:
        self.language = localization.set_language(wanted)
        locale = QLocale(_qts_own.get(self.language, self.language))
        if locale.language() == QLocale.system().language():
            locale = QLocale.system()  # with the country's own dates and numbers
        QLocale.setDefault(locale)
        self._application.removeTranslator(self._translator)
        folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        if self._translator.load(locale, "qtbase", "_", folder):
            self._application.installTranslator(self._translator)
        self._application.setLayoutDirection(locale.textDirection())

    def _remembered(self) -> ThemeChoice:
        kept = self._kept
        return ThemeChoice(
            cast("Choice", str(kept.value("look/theme", "system"))),
            cast("float", kept.value("look/text_size", 1.0, type=float)) or 1.0,
            bool(kept.value("look/motion", True, type=bool)),
        )

    def _remember(self, wanted: WindowSettings) -> None:
        for name in ("theme", "text_size", "motion", "language"):
            self._kept.setValue(f"look/{name}", getattr(wanted, name))
