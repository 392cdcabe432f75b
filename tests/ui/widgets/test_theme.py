import math
import re

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from jarvis_desktop import paths
from jarvis_desktop.ui.widgets import icons, theme
from jarvis_desktop.ui.widgets.icons import IconButton
from jarvis_desktop.ui.widgets.theme import Theme

ON = {
    "text": (
        "window",
        "sidebar",
        "card",
        "raised",
        "sunken",
        "danger_soft",
        "done_soft",
        "hover",
        "soft",
    ),
    "muted": ("window", "sidebar", "card", "sunken", "danger_soft", "done_soft", "soft"),
    "on_soft": ("soft",),
    "on_accent": ("accent", "accent_strong"),
    "accent": ("window", "card"),
    "warning": ("window", "card"),
    "danger": ("card", "danger_soft"),
    "done": ("card", "done_soft"),
    "code_keyword": ("sunken", "card"),
    "code_string": ("sunken", "card"),
    "code_number": ("sunken", "card"),
    "code_name": ("sunken", "card"),
}
"""Which colours of type stand on which grounds."""


SCHEMES = {"light": 4.5, "dark": 4.5, "contrast_light": 7, "contrast_dark": 7}
"""The contrast that each has at least."""


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


@pytest.mark.parametrize(("scheme", "least"), SCHEMES.items())
@pytest.mark.parametrize(("ink", "ground"), [(ink, on) for ink in ON for on in ON[ink]])
def test_type_can_be_read(scheme: str, least: float, ink: str, ground: str) -> None:
    colours = getattr(theme.tokens(), scheme)
    assert contrast(colours[ink], colours[ground]) >= least


@pytest.mark.parametrize("scheme", SCHEMES)
def test_outlines_of_controls_can_be_seen(scheme: str) -> None:
    colours = getattr(theme.tokens(), scheme)
    assert contrast(colours["control"], colours["window"]) >= 3
    assert contrast(colours["control"], colours["card"]) >= 3


def test_all_schemes_have_the_same_colours() -> None:
    look = theme.tokens()
    first, *others = [getattr(look, scheme) for scheme in SCHEMES]
    assert all(other.keys() == first.keys() for other in others)
    every = [colour for colours in (first, *others) for colour in colours.values()]
    assert all(re.fullmatch("#[0-9A-F]{6}", colour) for colour in every)


def test_the_person_chooses_the_scheme(theme: Theme, qapp: QApplication) -> None:
    from jarvis_desktop.ui.widgets.theme import ThemeChoice, colour, is_dark, tokens

    theme.adopt(ThemeChoice("dark"))
    assert is_dark()
    qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Light)
    assert is_dark(), "the system is not followed"
    theme.adopt(ThemeChoice("contrast"))
    assert colour("text").name().upper() == tokens().contrast_light["text"]
    qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert colour("text").name().upper() == tokens().contrast_dark["text"]


def test_text_grows_from_the_systems_size(theme: Theme, qapp: QApplication) -> None:
    from jarvis_desktop.ui.widgets.theme import ThemeChoice

    before = qapp.font().pointSizeF()
    theme.adopt(ThemeChoice(text_size=1.5))
    assert qapp.font().pointSizeF() == pytest.approx(1.5 * before, rel=0.01)
    theme.adopt(ThemeChoice())
    assert qapp.font().pointSizeF() == pytest.approx(before)


def test_nothing_moves_where_no_motion_is_wanted(theme: Theme) -> None:
    from jarvis_desktop.ui.widgets.theme import ThemeChoice, duration

    assert duration("quick") < duration() < duration("slow")
    theme.adopt(ThemeChoice(motion=False))
    assert duration("slow") == 0


@pytest.mark.parametrize("dark", [False, True])
def test_the_style_sheet_is_filled_in(dark: bool) -> None:
    look = theme.tokens()
    sheet = theme.stylesheet(look, look.colours(dark), 10)
    assert "$" not in sheet
    assert f"font-size: {10 * look.scale['display']:.1f}pt" in sheet


def test_it_follows_the_system_while_it_runs(theme: Theme, qapp: QApplication) -> None:
    from jarvis_desktop.ui.widgets.theme import is_dark, tokens

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


@pytest.mark.parametrize("name", sorted(icons.MIRRORED))
def test_what_points_along_the_text_is_mirrored_with_it(
    theme: Theme, qtbot: QtBot, name: str
) -> None:
    button = IconButton(name, "On")
    qtbot.addWidget(button)
    plain = button.icon().pixmap(32).toImage()
    button.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    turned = button.icon().pixmap(32).toImage()
    assert turned != plain
    alphas = [[image.pixelColor(x, 16).alpha() for x in range(32)] for image in (plain, turned)]
    near = zip(alphas[0], reversed(alphas[1]), strict=True)
    assert all(abs(one - other) < 40 for one, other in near)


def test_what_points_nowhere_stays_as_it_is(theme: Theme, qtbot: QtBot) -> None:
    button = IconButton("send", "Send")
    qtbot.addWidget(button)
    plain = button.icon().pixmap(32).toImage()
    button.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    assert button.icon().pixmap(32).toImage() == plain
