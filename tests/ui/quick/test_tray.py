"""The icon in the tray: its states, its menu, and desktops without a tray."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QSystemTrayIcon
from pytestqt.qtbot import QtBot

from jarvis_desktop.ui.engine import EngineThread
from jarvis_desktop.ui.quick import tray as tray_module
from jarvis_desktop.ui.quick.overlay import MICROPHONE_OPEN, PHASE_NAMES, Phase, PhaseTracker
from jarvis_desktop.ui.quick.tray import ICON_SIZES, TrayIcon, tray_icon
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.voice.talk import TalkController
from jarvis_desktop.ui.widgets.theme import Theme


class Desktop:
    """Has a tray, or none."""

    def __init__(self) -> None:
        self.has_tray = True

    def __call__(self) -> bool:
        return self.has_tray


@pytest.fixture
def desktop(monkeypatch: pytest.MonkeyPatch) -> Desktop:
    desktop = Desktop()
    monkeypatch.setattr(tray_module, "is_available", desktop)
    return desktop


@pytest.fixture
def phases(engine: EngineThread, theme: Theme) -> PhaseTracker:
    session = WindowSession(engine)
    talker = TalkController(engine, session)
    return PhaseTracker(session, talker, session)


@pytest.fixture
def tray(desktop: Desktop, phases: PhaseTracker, qtbot: QtBot) -> TrayIcon:
    return TrayIcon(phases)


def shown(tray: TrayIcon) -> QSystemTrayIcon:
    (icon,) = tray.findChildren(QSystemTrayIcon)
    assert isinstance(icon, QSystemTrayIcon)
    return icon


def become(phases: PhaseTracker, phase: Phase, *, microphone_open: bool = False) -> None:
    phases.now, phases.microphone_open = phase, microphone_open
    phases.changed.emit()


def test_it_is_there_only_while_it_is_wanted(tray: TrayIcon) -> None:
    assert not tray.is_there
    tray.want(True)
    assert tray.is_there
    assert shown(tray).isVisible()
    tray.want(False)
    assert not tray.is_there
    tray.close()


def test_without_a_tray_it_is_not_there_and_one_that_comes_is_used(
    tray: TrayIcon, desktop: Desktop, qtbot: QtBot
) -> None:
    desktop.has_tray = False
    tray.want(True)
    assert not tray.is_there
    desktop.has_tray = True
    with qtbot.waitSignal(tray.came):
        tray.look()
    assert tray.is_there
    desktop.has_tray = False
    assert not tray.is_there  # before anybody looked
    with qtbot.waitSignal(tray.went):
        tray.look()
    tray.close()


def test_it_looks_seldom(tray: TrayIcon) -> None:
    tray.want(True)
    assert tray._looking.isActive()
    assert tray._looking.interval() >= 5000
    tray.close()
    assert not tray._looking.isActive()


@pytest.mark.parametrize("phase", list(Phase))
def test_each_phase_has_an_icon_and_words(
    tray: TrayIcon, phases: PhaseTracker, phase: Phase
) -> None:
    tray.want(True)
    become(phases, phase)
    icon = shown(tray)
    assert icon.toolTip() == PHASE_NAMES[phase]
    assert icon.icon().pixmap(22, 22).toImage() == picture(phase, 22)
    become(phases, phase, microphone_open=True)
    assert icon.toolTip() == f"{PHASE_NAMES[phase]} · {MICROPHONE_OPEN}"
    assert icon.icon().pixmap(22, 22).toImage() == picture(phase, 22, microphone_open=True)
    tray.close()


def picture(phase: Phase, size: int, *, microphone_open: bool = False) -> QImage:
    return tray_icon(phase, microphone_open=microphone_open).pixmap(size, size).toImage()


@pytest.mark.parametrize("size", ICON_SIZES)
def test_no_two_icons_look_the_same(size: int, theme: Theme) -> None:
    images = [picture(phase, size) for phase in Phase]
    images += [picture(phase, size, microphone_open=True) for phase in Phase]
    assert all(image.width() == size for image in images)
    assert all(a != b for n, a in enumerate(images) for b in images[n + 1 :])


def grey(image: QImage) -> list[int]:
    plain = image.convertToFormat(QImage.Format.Format_Grayscale8)
    return [
        plain.pixelColor(x, y).lightness() // 64
        for x in range(image.width())
        for y in range(image.height())
    ]


def test_they_differ_by_shape_and_not_by_colour_alone(theme: Theme) -> None:
    greys = [grey(picture(phase, 22)) for phase in Phase]
    for number, one in enumerate(greys):
        for other in greys[number + 1 :]:
            assert sum(a != b for a, b in zip(one, other, strict=True)) > 30


@pytest.mark.parametrize("panel", ["#f3f3f3", "#1e1f22"])
@pytest.mark.parametrize("phase", list(Phase))
def test_they_stand_out_on_light_and_dark_panels(phase: Phase, panel: str, theme: Theme) -> None:
    image = picture(phase, 32)
    ground = QColor(panel)
    best = max(
        _contrast(image.pixelColor(x, y), ground)
        for x in range(8, 24)
        for y in range(8, 24)
        if image.pixelColor(x, y).alpha() == 255
    )
    assert best >= 4.5


def _contrast(one: QColor, other: QColor) -> float:
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: QColor) -> float:
    def part(value: float) -> float:
        return value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = part(colour.redF()), part(colour.greenF()), part(colour.blueF())
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_the_menu_says_what_can_be_wanted(
    tray: TrayIcon, phases: PhaseTracker, qtbot: QtBot
) -> None:
    for action, signal in (
        (tray.quick, tray.quick_wanted),
        (tray.talk, tray.talk_wanted),
        (tray.settings, tray.settings_wanted),
        (tray.quit, tray.quit_wanted),
        (tray.show_window, tray.hide_wanted),
    ):
        with qtbot.waitSignal(signal):
            action.trigger()
    tray.show_window_shown(False)
    with qtbot.waitSignal(tray.show_wanted):
        tray.show_window.trigger()
    tray.show_busy(False)
    assert not tray.stop.isEnabled()
    tray.show_busy(True)
    with qtbot.waitSignal(tray.stop_wanted):
        tray.stop.trigger()
    tray.show_speaks(True)
    with qtbot.waitSignal(tray.speak_wanted) as told:
        tray.speak.trigger()
    assert told.args == [False]
    tray.show_keys("Ctrl+Alt+J")
    assert tray.quick.text() == "Ask quickly\tCtrl+Alt+J"
    tray.show_keys("")
    assert tray.quick.text() == "Ask quickly"
    become(phases, Phase.LISTENING)
    assert tray.talk.text() == "Stop listening"
    assert all(action.text() or action.isSeparator() for action in tray.menu.actions())


@pytest.mark.parametrize(
    ("reason", "wanted"),
    [
        (QSystemTrayIcon.ActivationReason.Trigger, "show_wanted"),
        (QSystemTrayIcon.ActivationReason.MiddleClick, "quick_wanted"),
    ],
)
def test_clicks_mean_something(
    tray: TrayIcon, qtbot: QtBot, reason: QSystemTrayIcon.ActivationReason, wanted: str
) -> None:
    tray.want(True)
    with qtbot.waitSignal(getattr(tray, wanted)):
        shown(tray).activated.emit(reason)
    tray.close()
