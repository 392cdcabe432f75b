"""The page of the settings: every row is written, holds, and can be brought back."""

from __future__ import annotations

from functools import partial

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QSlider, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.ui.settings.controller import RESTART
from jarvis_desktop.ui.settings.controls import Select, Slide, TextControl
from jarvis_desktop.ui.settings.groups import GROUPS
from jarvis_desktop.ui.settings.page import SettingsPage
from jarvis_desktop.ui.settings.panels import AutostartSwitch, ResetAll
from jarvis_desktop.ui.settings.schema import fields
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.theme import Theme, ThemeChoice
from tests.ui.scene import FakeApp
from tests.ui.settings.conftest import kept
from tests.ui.settings.driving import drive, write

LEFT = Qt.MouseButton.LeftButton
ROWS = [row.key for group in GROUPS for row in group.rows]


def shown(page: SettingsPage) -> list[str]:
    """The keys of the rows that can be seen, from top to bottom."""
    return [
        key
        for group in GROUPS
        if group.name in page.subjects
        for key, row in page.subjects[group.name].rows.items()
        if row.isVisible()
    ]


def test_the_invitation_to_search_is_not_cut(page: SettingsPage) -> None:
    page.search.setPlaceholderText("Einstellungen durchsuchen")
    page.search.updateGeometry()
    QApplication.processEvents()
    words = page.search.fontMetrics().horizontalAdvance(page.search.placeholderText())
    assert page.search.width() > words + page.search.height()


def test_only_the_chosen_subject_is_shown(whole_page: SettingsPage) -> None:
    assert set(whole_page.subjects) == {group.name for group in GROUPS}
    assert shown(whole_page) == ["mode"]


@pytest.mark.parametrize("table", sorted({key.rpartition(".")[0] for key in fields()}))
def test_each_row_is_written_holds_and_is_brought_back(
    page: SettingsPage, app: FakeApp, qtbot: QtBot, table: str
) -> None:
    app.weights.here = ("whisper-tiny",)  # else there is no recogniser to choose
    page.voice.look()
    for key in [key for key in fields() if key.rpartition(".")[0] == table]:
        page.show_row(key)
        qtbot.waitUntil(partial(is_ready, page, key))
        is_written_holds_and_is_brought_back(page, app, qtbot, key)


def is_ready(page: SettingsPage, key: str) -> bool:
    control = page.row(key).control
    return control.isEnabled() and not control.rect().isEmpty()


def is_written_holds_and_is_brought_back(
    page: SettingsPage, app: FakeApp, qtbot: QtBot, key: str
) -> None:
    field, row = fields()[key], page.row(key)
    assert not row.back.isVisible(), key
    with qtbot.waitSignal(page.controller.saved):
        wanted = drive(row)
    assert wanted != field.default, key
    assert field.of(app.adopted[-1]) == field.of(kept(app)) == wanted
    qtbot.waitUntil(row.back.isVisible)
    assert row.back.accessibleName().startswith("Reset ")
    with qtbot.waitSignal(page.controller.saved):
        QTest.mouseClick(row.back, LEFT)
    assert field.of(app.adopted[-1]) == field.of(kept(app)) == field.default
    qtbot.waitUntil(lambda: not row.back.isVisible())
    assert key.rpartition(".")[2] + " =" not in app.paths.settings.read_text()


@pytest.mark.parametrize(
    ("key", "typed", "says"),
    [
        ("experts.disk_budget_gb", "much", "from 0 to 1,000,000"),
        ("llm.context", "12", "from 2,048 to 1,048,576"),
        ("agent.rounds", "0", "from 1 to 10,000"),
        ("agent.rounds", "2.5", "from 1 to 10,000"),
        ("agent.tokens", "1", "at least 10,000"),
        ("network.proxy", "proxy:3128", "such as http://proxy:3128"),
        ("network.proxy", "http://me:secret@proxy", "without a name or password"),
        ("api.provider", "Groq Inc", "small letters"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(
    page: SettingsPage, app: FakeApp, key: str, typed: str, says: str
) -> None:
    page.show_row(key)
    row = page.row(key)
    entry = row.control
    assert isinstance(entry, TextControl)
    before = entry.text()
    write(entry, typed)
    assert says in row.trouble.text()
    assert row.trouble.isVisible()
    assert entry.accessibleDescription() == row.trouble.text()
    assert app.adopted == []
    QTest.keyClick(entry, Qt.Key.Key_Escape)
    assert entry.text() == before
    assert not row.trouble.isVisible()


def test_the_arrows_count(page: SettingsPage, app: FakeApp, qtbot: QtBot) -> None:
    page.show_row("agent.rounds")
    entry = page.row("agent.rounds").control
    assert isinstance(entry, TextControl)
    entry.setFocus()
    for _ in range(3):
        QTest.keyClick(entry, Qt.Key.Key_Up)
    QTest.keyClick(entry, Qt.Key.Key_Down)
    assert entry.text() == "62"
    with qtbot.waitSignal(page.controller.saved):
        QTest.keyClick(entry, Qt.Key.Key_Return)
    assert kept(app).agent.rounds == 62


def test_nothing_is_taken_from_under_the_fingers_of_one_who_types(
    page: SettingsPage, qtbot: QtBot
) -> None:
    page.show_row("llm.id")
    entry = page.row("llm.id").control
    assert isinstance(entry, TextControl)
    QTest.keyClicks(entry, "qwen")
    with qtbot.waitSignal(page.controller.saved):
        page.controller.change("window.motion", False)
    assert entry.text() == "qwen"


def test_the_search_shows_what_it_is_about_and_marks_it(page: SettingsPage) -> None:
    page.search.setText("wake")
    assert shown(page) == ["speech.microphone", "speech.wake_word"]
    row = page.row("speech.wake_word")
    assert row.title._sought == ("wake",)
    row.grab()
    assert page.list.currentRow() == -1
    assert not page.subjects["mode"].isVisible()
    page.search.setText("xylophone")
    assert shown(page) == []
    assert page.nothing.text() == "No setting is about “xylophone”."
    assert page.nothing.isVisible()
    QTest.keyClick(page.search, Qt.Key.Key_Escape)
    assert page.search.text() == ""
    assert shown(page) == ["mode"]
    assert page.list.currentRow() == 0
    page.search.setText("proxy")
    page.search.setFocus()
    QTest.keyClick(page.search, Qt.Key.Key_Down)
    assert page.focusWidget() is not page.search


def test_a_subject_is_chosen_from_the_list_or_unfolded(page: SettingsPage) -> None:
    page.search.setText("proxy")
    page.list.setFocus()
    page.list.setCurrentRow(3)
    assert page.search.text() == ""
    assert shown(page)[0] == "planner.ask"
    QTest.keyClick(page.list, Qt.Key.Key_Down)
    assert page.subjects["experts"].isVisible()
    page.resize(460, 700)
    QApplication.processEvents()
    assert page.unfolding.isVisible()
    assert not page.list.isVisible()
    page.unfolding.setCurrentIndex(page.unfolding.findData("network"))
    page.unfolding.activated.emit(page.unfolding.currentIndex())
    assert page.subjects["network"].isVisible()


def test_one_can_go_to_a_subject_or_a_row(page: SettingsPage, qtbot: QtBot) -> None:
    page.appear("network")
    assert shown(page)[:2] == ["network.proxy", "network-test"]
    page.search.setText("proxy")
    page.appear("speech.wake_word")
    row = page.row("speech.wake_word")
    assert row.isVisible()
    assert row.property("marked") is True
    view = page.scroller.viewport()
    qtbot.waitUntil(lambda: view.rect().contains(row.mapTo(view, QPoint(5, 5))))
    row._marked.timeout.emit()
    assert row.property("marked") is False


def test_what_comes_into_a_highlighted_row_keeps_no_colour_of_it(page: SettingsPage) -> None:
    page.appear("speech.wake_word")
    row = page.row("speech.wake_word")
    late = Label("Found out while the row was highlighted")
    late.setParent(row)
    late.show()
    row._marked.timeout.emit()
    assert late.palette().windowText().color() == row.title.palette().windowText().color()


def test_what_waits_for_a_restart_is_said_and_can_be_had(
    page: SettingsPage, app: FakeApp, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes: list[int] = []
    monkeypatch.setattr(QApplication, "exit", codes.append)
    app.waits = ("processes", "speech.wake_word")
    with qtbot.waitSignal(page.controller.saved):
        page.controller.change("processes", 2)
    assert page.state.text() == "Saved"
    told = page.notice.words.text()
    assert told == "Applies after a restart of JARVIS: Wake word, Built-in methods at once."
    QTest.mouseClick(page.notice.restart, LEFT)
    assert codes == [RESTART]


def test_what_cannot_be_written_is_told_and_what_is_true_is_shown(
    page: SettingsPage, app: FakeApp, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object) -> None:
        raise StorageError("The disk is full.")

    monkeypatch.setattr("jarvis_desktop.settings.change", refuse)
    page.show_row("window.theme")
    select = page.row("window.theme").control
    assert isinstance(select, Select)
    with qtbot.waitSignal(page.controller.failed):
        drive(page.row("window.theme"))
    assert page.notice.words.text() == "The disk is full."
    assert page.notice.isVisible()
    assert not page.notice.restart.isVisible()
    assert select.value == "system"


def test_a_value_that_nobody_offers_is_shown_as_it_is(page: SettingsPage, qtbot: QtBot) -> None:
    with qtbot.waitSignal(page.controller.saved):
        page.controller.change("speech.wake_word", "/mine.json")
    select = page.row("speech.wake_word").control
    assert isinstance(select, Select)
    assert (select.value, select.currentText()) == ("/mine.json", "/mine.json")


def test_the_wheel_changes_nothing(page: SettingsPage) -> None:
    slide = page.row("speech.rate").control
    assert isinstance(slide, Slide)
    for widget in (slide.slider, page.row("window.theme").control):
        event = QWheelEvent(
            QPointF(5, 5), QPointF(5, 5), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(widget, event)
    assert slide.chosen() == 170


def controls(page: SettingsPage) -> list[QWidget]:
    return [
        each
        for each in page.findChildren(QWidget)
        if each.isVisible()
        and each.isEnabled()
        and each.focusPolicy() & Qt.FocusPolicy.TabFocus
        and each.window() is page
    ]


@pytest.mark.parametrize("group", [group.name for group in GROUPS])
def test_the_tab_key_reaches_all_of_it_from_top_to_bottom(page: SettingsPage, group: str) -> None:
    page.show_group(group)
    QApplication.processEvents()
    wanted = controls(page)
    for each in wanted:
        assert each.accessibleName(), each
    page.activateWindow()
    page.back.setFocus()
    seen: list[QWidget] = []
    while (focused := page.focusWidget()) is not None and focused not in seen:
        seen.append(focused)
        QTest.keyClick(focused, Qt.Key.Key_Tab)
    missed = {each.accessibleName() for each in wanted} - {each.accessibleName() for each in seen}
    radios = {name for each in wanted if each.inherits("QRadioButton")
              if (name := each.accessibleName())}  # fmt: skip
    assert missed <= radios  # of a group of them Tab reaches the one that is chosen
    heights = [
        each.mapTo(page, QPoint(0, 0)).y() for each in seen if page.scroller.isAncestorOf(each)
    ]
    assert heights == sorted(heights)


@pytest.mark.parametrize(("width", "size"), [(460, 1.0), (460, 2.0), (1000, 2.0)])
def test_it_fits_a_narrow_window_and_large_type(
    whole_page: SettingsPage, theme: Theme, width: int, size: float
) -> None:
    theme.adopt(ThemeChoice(text_size=size))
    whole_page.resize(width, 700)
    for group in GROUPS:
        whole_page.show_group(group.name)
        QApplication.processEvents()
        inner = whole_page.scroller.widget()
        assert inner
        assert inner.minimumSizeHint().width() <= whole_page.scroller.viewport().width(), group.name


def test_right_to_left_is_drawn(whole_page: SettingsPage) -> None:
    whole_page.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    for group in GROUPS:
        whole_page.show_group(group.name)
        whole_page.grab()
    whole_page.search.setText("key")
    whole_page.grab()


def test_moving_a_slider_shows_the_value_at_once(page: SettingsPage) -> None:
    slide = page.row("window.text_size").control
    assert isinstance(slide, Slide)
    assert slide.slider.accessibleName() == "Text size: 100 %"
    QTest.keyClick(slide.slider, Qt.Key.Key_Right)
    assert slide.value.text() == "110 %"
    assert isinstance(slide.slider, QSlider)
    slide.slider.setSliderDown(True)
    slide.show_value(2.0)  # what comes back must not tear the handle away
    assert slide.value.text() == "110 %"


def test_everything_is_brought_back_once_that_was_said_twice(
    page: SettingsPage, app: FakeApp, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(page.controller.saved):
        page.controller.change("window.theme", "dark")
        page.controller.change("mode", "offline")
    page.show_row("reset")
    panel = page.row("reset").control
    assert isinstance(panel, ResetAll)
    QTest.mouseClick(panel.ask, LEFT)
    assert panel.message.text() == "2 settings differ from their defaults."
    assert panel.focusWidget() is panel.no
    QTest.mouseClick(panel.no, LEFT)
    assert panel.ask.isVisible()
    QTest.mouseClick(panel.ask, LEFT)
    with qtbot.waitSignal(page.controller.saved):
        QTest.mouseClick(panel.yes, LEFT)
    assert kept(app) == type(kept(app))()


def test_the_session_starts_jarvis_or_says_why_not(
    page: SettingsPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    on: list[bool] = []

    def turn(wanted: bool) -> None:
        if len(on) == 1:
            raise StorageError("It is not allowed here.")
        on.append(wanted)

    monkeypatch.setattr("jarvis_desktop.platform.desktop.set_autostart", turn)
    monkeypatch.setattr("jarvis_desktop.platform.desktop.is_autostarted", lambda: bool(on))
    page.appear("autostart")
    switch = page.row("autostart").control
    assert isinstance(switch, AutostartSwitch)
    qtbot.waitUntil(switch.isEnabled)
    QTest.mouseClick(switch, LEFT)
    qtbot.waitUntil(switch.isEnabled)
    assert on == [True]
    assert switch.isChecked()
    with qtbot.waitSignal(page.controller.failed):
        QTest.mouseClick(switch, LEFT)
    assert page.notice.words.text() == "It is not allowed here."
    assert switch.isChecked()


def test_pages_are_gone_to(page: SettingsPage) -> None:
    gone: list[tuple[str, str]] = []
    page._hands.context.actions.go.connect(lambda *to: gone.append(to))
    for key in ("experts-page", "history-page"):
        page.show_row(key)
        QTest.mouseClick(page.row(key).control, LEFT)
    assert gone == [("experts", ""), ("history", "")]
