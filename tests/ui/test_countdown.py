"""Running timers are counted down where the user looks, and cost nothing elsewhere."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.ports import Timer
from jarvis_desktop.ui.countdown import Countdown, clock
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.quick.overlay import PhaseTracker
from jarvis_desktop.ui.quick.quick_box import QuickBoxController
from jarvis_desktop.ui.quick.tray import TrayIcon
from tests.tasks.calls import NOON
from tests.ui.scene import FakeApp


@pytest.fixture
def countdown(window: MainWindow, app: FakeApp) -> Countdown:
    window.countdown.now = lambda: app.timers.now
    return window.countdown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.2, "0:01"), (61, "1:01"), (3600, "1:00:00"), (-3, "0:00"), (100 * 3600, "100:00:00")],
)
def test_how_long_it_takes(seconds: float, shown: str) -> None:
    assert clock(seconds) == shown


def test_the_next_timer_is_counted_down_above_the_conversation(
    window: MainWindow, countdown: Countdown, app: FakeApp, qtbot: QtBot
) -> None:
    button = window.header.timers
    assert button.isHidden()
    app.timers.set(90, "tea")
    assert (button.text(), button.isVisible()) == ("tea 1:30", True)
    app.timers.set(60, "")
    assert button.text() == "1:00 +1"
    assert countdown.tip.count("\n") == 1
    app.timers.now = NOON + timedelta(seconds=1)
    with qtbot.waitSignal(countdown.changed):
        pass
    assert button.text() == "0:59 +1"


def test_it_rests_without_timers_and_while_nobody_can_see_it(
    window: MainWindow, countdown: Countdown, app: FakeApp, qtbot: QtBot
) -> None:
    assert not countdown.is_ticking
    app.timers.set(90, "tea")
    assert countdown.is_ticking
    window.hide()
    qtbot.waitUntil(lambda: not countdown.is_ticking)
    window.show()
    assert countdown.is_ticking
    app.timers.cancel_all()
    assert not countdown.is_ticking


@pytest.mark.qt_log_ignore("does not support grabbing", "does not support raise")
def test_a_timer_is_cancelled_where_it_is_seen(
    window: MainWindow, countdown: Countdown, app: FakeApp, qtbot: QtBot
) -> None:
    app.timers.set(90, "tea & <b>cake</b>")
    app.timers.set(99, "")
    button = window.header.timers
    button.click()
    (menu,) = button.findChildren(QMenu)
    named, unnamed = menu.actions()
    assert named.text() == "Cancel “tea && <b>cake</b>”"
    assert unnamed.text().startswith("Cancel the timer of ")
    assert "<" not in button.toolTip()
    named.trigger()
    menu.close()
    qtbot.waitUntil(lambda: [timer.label for timer in countdown.timers] == [""])


@pytest.mark.parametrize("closed", ["button", "banner", "request"])
def test_a_rung_timer_says_so_until_it_was_seen(
    window: MainWindow, countdown: Countdown, app: FakeApp, qtbot: QtBot, closed: str
) -> None:
    window.session.rang.emit(Timer("1", "tea", NOON))
    button = window.header.timers
    assert button.text() == "Time is up: tea"
    if closed == "button":
        button.click()
    elif closed == "banner":
        window.banner.closed.emit()
    else:
        window.composer.field.insertPlainText("Thanks")
        window.composer.go.click()
        qtbot.waitUntil(lambda: not window.session.busy)
    assert button.isHidden()


def test_the_quick_box_and_the_tray_show_them_too(
    window: MainWindow, countdown: Countdown, app: FakeApp, qtbot: QtBot
) -> None:
    phases = PhaseTracker(window.session, window.talker, window)
    quick, tray = QuickBoxController(window, phases, window), TrayIcon(phases, window)
    tray.serve(countdown)
    app.timers.set(90, "tea")
    assert quick.box.timers.text() == tray.timers.text() == "tea 1:30"
    assert tray.timers.isVisible()
    with qtbot.waitSignal(tray.show_wanted):
        tray.timers.trigger()
    window.session.rang.emit(Timer("1", "", datetime.now().astimezone()))
    assert tray.timers.text() == "Time is up"
    tray.timers.trigger()
    assert tray.timers.text() == "tea 1:30"
    quick.close()
    QApplication.processEvents()
    app.timers.cancel_all()
    assert not tray.timers.isVisible()
    tray.close()
