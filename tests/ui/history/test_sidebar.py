from datetime import timedelta
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.storage.search import TurnFilters
from jarvis_desktop.ui.history.controller import HistoryBatch
from jarvis_desktop.ui.history.list_view import HistoryRow
from jarvis_desktop.ui.history.sidebar import Sidebar
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.widgets.icons import IconButton
from jarvis_desktop.ui.widgets.theme import Theme, ThemeChoice
from tests.ui.history.conftest import NOW, TITLES, conversation, settle, titles
from tests.ui.scene import HOSTILE, FakeApp

Key = Qt.Key

popups = pytest.mark.qt_log_ignore("grabbing the keyboard", "raise", "propagateSizeHints")
"""Qt's screenless platform cannot do what menus ask for."""


def press(widget: QWidget, *keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(widget, key)


def go_to(window: MainWindow, conversation: str) -> None:
    view = window.sidebar.list
    view.go_to(view.lines.find(conversation))


def test_only_with_the_keyboard_a_turn_is_found_and_opened(
    filled: MainWindow, qtbot: QtBot
) -> None:
    QTest.keyClick(filled, Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    search, view = filled.sidebar.search.field, filled.sidebar.list
    QTest.keyClicks(search, "more of")
    settle(filled, qtbot)
    qtbot.waitUntil(lambda: view.lines.rowCount() == 4)
    assert titles(filled) == list(TITLES)
    press(search, Key.Key_Down)
    assert view.row() == view.lines.rows()[0]
    press(view, Key.Key_Down)
    assert view.row() == view.lines.rows()[1]
    with qtbot.waitSignal(filled.session.sought) as sought:
        press(view, Key.Key_Return)
    assert sought.args == [1]
    assert filled.session.open.id == "c1"
    view.setFocus()
    press(view, Key.Key_Up, Key.Key_Up)
    assert search.hasFocus() or not filled.isActiveWindow()
    press(search, Key.Key_Escape)
    assert search.text() == ""
    qtbot.waitUntil(lambda: titles(filled) == list(TITLES))


def test_enter_in_the_field_opens_the_best(filled: MainWindow, qtbot: QtBot) -> None:
    filled.sidebar.search.field.setText("picture")
    qtbot.waitUntil(lambda: titles(filled) == ["the picture", "the picture"])
    with qtbot.waitSignal(filled.session.switched):
        press(filled.sidebar.search.field, Key.Key_Return)
    assert filled.session.open.id == "c2"


def test_enter_waits_for_what_is_being_looked_for(filled: MainWindow, qtbot: QtBot) -> None:
    field = filled.sidebar.search.field
    field.setFocus()
    field.setText("picture")
    with qtbot.waitSignal(filled.session.switched):
        press(field, Key.Key_Return)
    assert filled.session.open.id == "c2"
    field.setText("letter")
    press(field, Key.Key_Return)
    field.setText("letters")  # it was not to be that
    qtbot.waitUntil(lambda: titles(filled) == [])
    settle(filled, qtbot)
    assert filled.session.open.id == "c2"


def test_who_went_elsewhere_meanwhile_stays_there(filled: MainWindow, qtbot: QtBot) -> None:
    field = filled.sidebar.search.field
    field.setFocus()
    field.setText("picture")
    press(field, Key.Key_Return)
    filled.composer.field.setFocus()
    qtbot.waitUntil(lambda: titles(filled) == ["the picture", "the picture"])
    settle(filled, qtbot)
    assert filled.session.open.id is None


def test_nothing_is_opened_where_nothing_was_found(filled: MainWindow, qtbot: QtBot) -> None:
    filled.sidebar.search.field.setText("no such words")
    qtbot.waitUntil(lambda: filled.sidebar.empty.isVisible())
    assert "Fewer words" in filled.sidebar.empty.words.text()
    press(filled.sidebar.search.field, Key.Key_Return)
    assert filled.session.open.id is None


def test_the_arrow_keys_pass_over_headings(sidebar: Sidebar) -> None:
    view = sidebar.list
    view.enter()
    seen = [view.row()]
    for _ in range(6):
        press(view, Key.Key_Down)
        seen.append(view.row())
    assert seen == [*view.lines.rows(), *[view.lines.rows()[-1]] * 3]


def test_a_conversation_is_renamed_in_its_place(
    filled: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    go_to(filled, "c1")
    press(filled.sidebar.list, Key.Key_F2)
    [field] = filled.sidebar.list.viewport().findChildren(QLineEdit)
    assert field.text() == "a letter"
    assert field.accessibleName()
    field.selectAll()
    QTest.keyClicks(field, "My <i>letter</i>")
    press(field, Key.Key_Return)
    qtbot.waitUntil(lambda: "My <i>letter</i>" in titles(filled))
    assert app.history.titles == {"c1": "My <i>letter</i>"}
    filled.session.open_conversation("c1")
    qtbot.waitUntil(lambda: filled.header.title.full_text() == "My <i>letter</i>")


def test_a_title_that_cannot_be_written_is_told(
    filled: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    app.history.error = StorageError("There is no room on the disk.")
    filled.sidebar.list.lines.renamed.emit("c1", "x")
    qtbot.waitUntil(lambda: filled.banner.isVisible())
    assert filled.banner.message.text() == "There is no room on the disk."
    app.history.error = None


def menu_of(window: MainWindow, conversation: str) -> QMenu:
    go_to(window, conversation)
    return window.sidebar.list.open_menu(QPoint(5, 5))


def act(menu: QMenu, words: str) -> None:
    [action] = [item for item in menu.actions() if item.text().split("\t")[0] == words]
    action.trigger()
    menu.close()


@popups
def test_a_conversation_is_pinned_by_its_menu(
    filled: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    act(menu_of(filled, "c2"), "Pin")
    qtbot.waitUntil(lambda: titles(filled)[0] == "the picture")
    assert filled.sidebar.list.lines.index(0).data() == "Pinned"
    assert filled.sidebar.list.row() == filled.sidebar.list.lines.rows()[0], "it is still chosen"
    act(menu_of(filled, "c2"), "Unpin")
    qtbot.waitUntil(lambda: titles(filled) == list(TITLES))


@popups
def test_the_menu_comes_by_the_keyboard_too(filled: MainWindow) -> None:
    view = filled.sidebar.list
    for reason in (QContextMenuEvent.Reason.Keyboard, QContextMenuEvent.Reason.Mouse):
        go_to(filled, "c0")
        place = view.visualRect(view.lines.find("c1")).center()
        event = QContextMenuEvent(reason, place, view.viewport().mapToGlobal(place))
        view.contextMenuEvent(event)
        [menu] = [item for item in view.findChildren(QMenu) if item.isVisible()]
        assert [item.text().split("\t")[0] for item in menu.actions() if item.text()] == [
            "Open",
            "Rename",
            "Pin",
            "Export…",
            "Delete",
        ]
        by_mouse = reason == QContextMenuEvent.Reason.Mouse
        assert view.row() == view.lines.rows()[1 if by_mouse else 0]
        menu.close()
        menu.deleteLater()
        QApplication.processEvents()


def test_a_click_opens_and_a_heading_does_not(filled: MainWindow, qtbot: QtBot) -> None:
    view = filled.sidebar.list
    place = view.visualRect(view.lines.find("c1")).center()
    with qtbot.waitSignal(filled.session.switched):
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert filled.session.open.id == "c1"
    with qtbot.assertNotEmitted(view.chosen):
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(20, 8))
        QTest.mouseClick(view.viewport(), Qt.MouseButton.RightButton, pos=place)


@popups
def test_filters_are_chosen_shown_and_taken_back(
    filled: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    search = filled.sidebar.search
    app.history.used = ("whisper-tiny", "a&b")
    QTest.mouseClick(search.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(search.menu._named))
    search.menu.close()
    search.menu._kinds[Kind.IMAGE].trigger()
    search.menu.attached.trigger()
    search.menu._named["whisper-tiny"].trigger()
    search.menu._days[6].trigger()
    filters = search.filters
    assert filters == TurnFilters(
        Kind.IMAGE,
        ("whisper-tiny",),
        attached=True,
        since=search.menu._today() - timedelta(days=6),
    )
    assert search.menu.words() == "Pictures · whisper-tiny · Attached · Last seven days"
    assert search.chosen.isVisible()
    qtbot.waitUntil(lambda: ("", filters) in app.history.searches)
    search.menu.offer_experts(("whisper-tiny", "other"))
    assert search.menu._named["whisper-tiny"].isChecked()
    QTest.mouseClick(search.without, Qt.MouseButton.LeftButton)
    assert not search.filters
    assert not search.chosen.isVisible()
    qtbot.waitUntil(lambda: titles(filled) == list(TITLES))


def test_what_passes_no_filter_says_so(filled: MainWindow, qtbot: QtBot) -> None:
    filled.sidebar.search.menu.pinned.trigger()
    qtbot.waitUntil(lambda: filled.sidebar.empty.isVisible())
    assert "filters" in filled.sidebar.empty.words.text()
    filled.sidebar.search.menu.clear_all()


def test_an_empty_history_teaches(window: MainWindow) -> None:
    assert window.sidebar.empty.isVisible()
    assert "listed here" in window.sidebar.empty.words.text()


def test_whoever_has_scrolled_down_stays_there_when_something_is_new(
    filled: MainWindow, qtbot: QtBot
) -> None:
    rows = [HistoryRow(f"r{n}", f"about {n}", NOW - timedelta(days=n)) for n in range(200)]
    sidebar = filled.sidebar
    sidebar.show_batch(HistoryBatch(rows, begins=True, more=False))
    QApplication.processEvents()
    bar = sidebar.list.verticalScrollBar()
    sidebar.list.go_to(sidebar.list.lines.find("r100"))
    bar.setValue(1500)
    fresh = [HistoryRow("new", "new", NOW), *rows]
    sidebar.show_batch(HistoryBatch(fresh, begins=True, more=False))
    QApplication.processEvents()
    assert bar.value() == 1500
    row = sidebar.list.row()
    assert row
    assert row.id == "r100"


def test_marks_of_what_runs_and_what_is_new(filled: MainWindow, app: FakeApp, qtbot: QtBot) -> None:
    from jarvis_desktop.core.turn import Request
    from tests.ui import scene

    filled.session.open_conversation("c1")
    qtbot.waitUntil(lambda: filled.session.open.id == "c1")
    app.assistant.script = scene.for_ever
    exchange = filled.session.send(Request("go on"))
    lines = filled.sidebar.list.lines
    qtbot.waitUntil(lambda: lines._running == {"c1"})
    filled.session.new_conversation()
    filled.session.end()
    qtbot.waitUntil(lambda: exchange.turn.status is not None)
    settle(filled, qtbot)
    qtbot.waitUntil(lambda: set(lines._unread) == {"c1"} and not lines._running)
    filled.session.open_conversation("c1")
    qtbot.waitUntil(lambda: not lines._unread)


def test_what_runs_stands_above_the_others_before_the_history_has_it(
    filled: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    from jarvis_desktop.core.turn import Request
    from tests.ui import scene

    app.assistant.script = scene.for_ever
    app.history.pinned = {"c3"}
    first = filled.session.send(Request("what is new"))
    filled.session.new_conversation(kept=False)
    filled.session.send(Request("what nobody may see"))
    qtbot.waitUntil(lambda: titles(filled)[1] == "what is new")
    assert titles(filled)[0] == TITLES[3]
    filled.session.open_conversation("c2")
    qtbot.waitUntil(lambda: filled.session.open.id == "c2")
    filled.session.send(Request("and then"))
    qtbot.waitUntil(lambda: titles(filled) == [TITLES[3], TITLES[2], "what is new", *TITLES[:2]])
    assert filled.sidebar.list.row() == filled.sidebar.list.lines.rows()[1]
    assert first.place.id
    filled.places.go("settings")
    assert not filled.sidebar.list.lines._open, "only the page is highlighted"
    filled.sidebar.opened.emit(first.place.id, "")
    assert filled.session.open is first.place
    assert filled.sidebar.list.lines._open == first.place.id
    filled.session.end()
    qtbot.waitUntil(lambda: not filled.session.busy)
    settle(filled, qtbot)
    # This history keeps nothing that was asked.
    qtbot.waitUntil(lambda: titles(filled) == [TITLES[3], *TITLES[:3]])


def test_a_request_discarded_before_it_began_names_no_conversation(
    filled: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    from jarvis_desktop.core.turn import Request
    from tests.ui import scene

    session = filled.session
    ready, session.app = session.app, None  # as while JARVIS starts
    session.send(Request("never mind"))
    session.stop()
    session.app = ready
    assert titles(filled) == list(TITLES)
    app.assistant.script = scene.for_ever
    session.send(Request("what is new"))
    qtbot.waitUntil(lambda: titles(filled) == ["what is new", *TITLES])
    assert filled.header.title.full_text() == "what is new"
    session.end()
    qtbot.waitUntil(lambda: not session.busy)
    qtbot.waitUntil(lambda: titles(filled) == list(TITLES))


def test_a_request_stopped_while_it_waits_names_no_conversation(
    filled: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    from jarvis_desktop.core.turn import Request
    from tests.ui import scene

    app.assistant.script = scene.for_ever
    session = filled.session
    first = session.send(Request("what is new"))
    qtbot.waitUntil(lambda: titles(filled)[0] == "what is new")
    name = first.place.id
    assert name
    second = session.send(Request("never mind"))
    qtbot.waitUntil(lambda: bool(second.turn.id))
    session.stop_turn(second.turn)
    qtbot.waitUntil(lambda: second not in session.active)
    # It is saved before the one that it waited for.
    saved = {name: conversation(name, "never mind")}
    app.history.conversations = saved | app.history.conversations
    session.kept.emit()
    settle(filled, qtbot)
    assert titles(filled) == ["what is new", *TITLES]
    app.history.titles[name] = "A name of mine"
    session.kept.emit()
    qtbot.waitUntil(lambda: titles(filled)[0] == "A name of mine")


def test_discarding_a_private_conversation_drops_what_waits_in_it(
    filled: MainWindow, qtbot: QtBot
) -> None:
    from jarvis_desktop.core.turn import Request

    session = filled.session
    ready, session.app = session.app, None  # as while JARVIS starts
    session.new_conversation(kept=False)
    filled.send(Request("what nobody may see"))
    assert filled.composer.stop.isVisible()
    QTest.mouseClick(filled.history.sign.forget, Qt.MouseButton.LeftButton)
    session.app = ready
    assert not session.busy
    assert not filled.composer.stop.isVisible()
    assert not filled.sidebar.private.isVisible()


def test_hostile_titles_and_passages_are_drawn_as_they_are(theme: Theme, qtbot: QtBot) -> None:
    sidebar = Sidebar()
    qtbot.addWidget(sidebar)
    sidebar.resize(272, 600)
    sidebar.show()
    for hostile in HOSTILE:
        shown = hostile[:400].replace("\0", "")
        spots = ((0, 2), (3, 90))
        rows = [HistoryRow("a", hostile, NOW, turn_id="t", snippet=shown, spots=spots)]
        sidebar.search.field.setText("x")
        sidebar.show_batch(HistoryBatch(rows, begins=True, more=False))
        sidebar.grab()
        sidebar.search.field.setText("")
        sidebar.show_batch(
            HistoryBatch([HistoryRow("a", hostile, NOW, pinned=True)], begins=True, more=False)
        )
        sidebar.list.show_states(opened="a", running={"a"})
        sidebar.grab()


@pytest.mark.parametrize("choice", ["light", "dark", "contrast"])
@pytest.mark.parametrize("direction", list(Qt.LayoutDirection)[:2])
def test_it_is_drawn_in_every_dress_and_direction(
    theme: Theme, qtbot: QtBot, choice: Any, direction: Qt.LayoutDirection
) -> None:
    theme.adopt(ThemeChoice(choice, text_size=2.0))
    sidebar = Sidebar()
    qtbot.addWidget(sidebar)
    sidebar.setLayoutDirection(direction)
    sidebar.resize(400, 700)
    sidebar.show()
    rows = [
        HistoryRow(f"r{n}", f"about {n}", NOW - timedelta(days=n), pinned=n < 2) for n in range(9)
    ]
    sidebar.show_batch(HistoryBatch(rows, begins=True, more=False))
    sidebar.list.go_to(sidebar.list.lines.find("r1"))
    sidebar.list.show_states(opened="r0", running={"r2", "r4"}, asking={"r4"}, unread={"r3"})
    drawn = sidebar.list.viewport().grab().toImage()
    assert len(colours(drawn)) > 8


def colours(image: QImage) -> set[int]:
    return {
        image.pixel(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)
    }


@popups
def test_every_control_has_a_name_and_can_be_reached(filled: MainWindow) -> None:
    for button in filled.sidebar.findChildren(IconButton):
        assert button.accessibleName()
        assert button.focusPolicy() & Qt.FocusPolicy.TabFocus
    assert filled.sidebar.list.accessibleName()
    assert filled.sidebar.list.focusPolicy() & Qt.FocusPolicy.TabFocus
    menu = filled.sidebar.open_menu()
    assert [item.text() for item in menu.actions() if not item.isSeparator()] == [
        "Export…", "Import…", "Delete…", "Help", "Keyboard shortcuts",
    ]  # fmt: skip
    menu.close()
