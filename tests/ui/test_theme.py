import math
import re

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from jarvis_desktop import paths
from jarvis_desktop.ui import icons, theme
from jarvis_desktop.ui.icons import IconButton
from jarvis_desktop.ui.theme import Theme

ON = {
    "text": ("window", "sidebar", "card", "raised", "sunken", "danger_soft", "done_soft", "border"),
    "muted": ("window", "sidebar", "card", "sunken", "danger_soft", "done_soft"),
    "on_soft": ("soft",),
    "on_accent": ("accent", "accent_strong"),
    "accent": ("window", "card"),
    "warning": ("window", "card"),
    "danger": ("card", "danger_soft"),
    "done": ("card", "done_soft"),
}
"""Which colours of type stand on which grounds."""


def luminance(colour: str) -> float:
    """Relative luminance, as WCAG 2 defines it."""
    ink = QColor(colour)
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else math.pow((part + 0.055) / 1.055, 2.4)
        for part in (ink.redF(), ink.greenF(), ink.blueF())
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_contrast_is_measured_as_wcag_does() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(("ink", "ground"), [(ink, on) for ink in ON for on in ON[ink]])
def test_type_can_be_read(dark: bool, ink: str, ground: str) -> None:
    colours = theme.tokens().colours(dark)
    assert contrast(colours[ink], colours[ground]) >= 4.5


@pytest.mark.parametrize("dark", [False, True])
def test_outlines_of_controls_can_be_seen(dark: bool) -> None:
    colours = theme.tokens().colours(dark)
    assert contrast(colours["control"], colours["window"]) >= 3
    assert contrast(colours["control"], colours["card"]) >= 3


def test_both_schemes_have_the_same_colours() -> None:
    look = theme.tokens()
    assert look.light.keys() == look.dark.keys()
    every = [*look.light.values(), *look.dark.values()]
    assert all(re.fullmatch("#[0-9A-F]{6}", colour) for colour in every)


@pytest.mark.parametrize("dark", [False, True])
def test_the_style_sheet_is_filled_in(dark: bool) -> None:
    look = theme.tokens()
    sheet = theme.stylesheet(look, look.colours(dark), 10)
    assert "$" not in sheet
    assert f"font-size: {10 * look.scale['display']:.1f}pt" in sheet


def test_it_follows_the_system_while_it_runs(theme: Theme, qapp: QApplication) -> None:
    from jarvis_desktop.ui.theme import is_dark, tokens

    hints = qapp.styleHints()
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert is_dark()
    assert tokens().dark["window"] in qapp.styleSheet()
    hints.colorSchemeChanged.emit(Qt.ColorScheme.Light)
    assert not is_dark()
    assert tokens().light["window"] in qapp.styleSheet()


def test_icons_follow_the_theme(theme: Theme, qtbot: QtBot) -> None:
    button = IconButton("send", "Send")
    qtbot.addWidget(button)
    light = button.icon().pixmap(32).toImage()
    theme.wear(dark=True)
    assert button.icon().pixmap(32).toImage() != light


def test_every_icon_draws_something(theme: Theme) -> None:
    files = sorted(paths.shipped("resources", "icons").glob("*.svg"))
    assert len(files) > 20
    for file in files:
        image = icons.icon(file.stem).pixmap(32).toImage()
        drawn = {image.pixelColor(x, y).alpha() > 0 for x in range(32) for y in range(32)}
        assert drawn == {True, False}, file.name
