"""Deleting with a way back, conversations that are not kept, the drawer, and the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.errors import InputError, StorageError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.turn import Request
from jarvis_desktop.ui.history.controller import HistoryController
from jarvis_desktop.ui.history.page import HistoryPage
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.widgets.theme import Theme, ThemeChoice
from tests.ui import scene
from tests.ui.history.conftest import TITLES, settle, titles
from tests.ui.scene import FakeApp

Key = Qt.Key


def click(button: QPushButton) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def delete(window: MainWindow, conversation: str, qtbot: QtBot) -> None:
    view = window.sidebar.list
    view.go_to(view.lines.find(conversation))
    with qtbot.waitSignal(window.history.controller.removed, check_params_cb=bool):
        QTest.keyClick(view, Key.Key_Delete)
    settle(window, qtbot)


def opened(window: MainWindow, conversation: str, qtbot: QtBot) -> None:
    window.session.open_conversation(conversation)
    qtbot.waitUntil(lambda: window.session.open.id == conversation)


# Deleting


def test_a_conversation_is_deleted_and_brought_back(filled: MainWindow, qtbot: QtBot) -> None:
    opened(filled, "c1", qtbot)
    delete(filled, "c1", qtbot)
    assert titles(filled) == ["the weather", "the picture", "<b>a tune</b>"]
    assert filled.history.undo.isVisible()
    assert filled.history.undo.words.full_text() == "“a letter” is deleted."
    assert filled.session.open.entries == [], "it was the open one"
    click(filled.history.undo.button)
    qtbot.waitUntil(lambda: titles(filled) == list(TITLES))
    qtbot.waitUntil(lambda: filled.session.open.id == "c1")
    assert not filled.history.undo.isVisible()


def test_the_keyboard_undoes_too_but_not_what_is_final(
    filled: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    delete(filled, "c0", qtbot)
    filled.setFocus()
    filled.history.controller.undo()
    qtbot.waitUntil(lambda: titles(filled) == list(TITLES))
    delete(filled, "c0", qtbot)
    delete(filled, "c1", qtbot)
    qtbot.waitUntil(lambda: len(app.history.trashed) == 1)
    filled.history.controller.make_final()
    qtbot.waitUntil(lambda: not app.history.trashed)
    filled.history.controller.undo()
    settle(filled, qtbot)
    assert titles(filled) == ["the picture", "<b>a tune</b>"]


def test_it_becomes_final_by_itself(
    filled: MainWindow, app: FakeApp, controller: HistoryController, qtbot: QtBot
) -> None:
    controller._final.setInterval(10)
    delete(filled, "c0", qtbot)
    qtbot.waitUntil(lambda: not app.history.trashed)
    assert not filled.history.undo.isVisible()


def test_a_turn_is_deleted_pinned_and_brought_back_where_it_was(
    filled: MainWindow, app: FakeApp, controller: HistoryController, qtbot: QtBot
) -> None:
    opened(filled, "c1", qtbot)
    first, second = (entry.turn for entry in filled.session.open.entries)
    filled.user_actions.pin_turn.emit(first, True)
    qtbot.waitUntil(lambda: "c1-0" in app.history.pinned)
    assert filled.session.open.entries[0].turn.pinned
    with qtbot.waitSignal(controller.turn_gone):
        filled.user_actions.delete_turn.emit(first)
    assert [entry.turn.id for entry in filled.session.open.entries] == [second.id]
    qtbot.waitUntil(filled.history.undo.isVisible)
    with qtbot.waitSignal(controller.turn_back):
        controller.undo()
    assert [entry.turn.id for entry in filled.session.open.entries] == ["c1-0", "c1-1"]


def test_what_runs_is_not_deleted(filled: MainWindow, app: FakeApp, qtbot: QtBot) -> None:
    opened(filled, "c1", qtbot)
    app.assistant.script = scene.for_ever
    exchange = filled.session.send(Request("go on"))
    qtbot.waitUntil(lambda: bool(app.assistant.handled))
    filled.history.controller.delete(filled.sidebar.list.lines.rows()[1])
    assert "Stop it first" in filled.banner.message.text()
    filled.banner.hide()
    filled.user_actions.delete_turn.emit(exchange.turn)
    assert "Stop it first" in filled.banner.message.text()
    assert not app.history.trashed


def test_a_deletion_that_fails_is_told_and_deletes_nothing(
    filled: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    app.history.error = StorageError("The disk is full.")
    filled.history.controller.delete(filled.sidebar.list.lines.rows()[0])
    qtbot.waitUntil(lambda: filled.banner.message.text() == "The disk is full.")
    assert not filled.history.undo.isVisible()
    app.history.error = None


# Not kept


def test_a_conversation_that_is_not_kept_is_marked_and_forgotten(
    filled: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    control = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(filled, Key.Key_N, control)
    assert filled.history.sign.isVisible()
    assert filled.sidebar.private.isVisible()
    assert filled.sidebar.private.isChecked()
    exchange = filled.session.send(Request("a secret"))
    qtbot.waitUntil(lambda: exchange.turn.status is Status.DONE)
    name = filled.session.open.id
    assert name
    assert name.startswith("unkept-")
    opened(filled, "c1", qtbot)
    assert not filled.history.sign.isVisible()
    assert not filled.sidebar.private.isChecked()
    assert app.history.forgotten == []
    click(filled.sidebar.private)
    assert filled.session.open.id == name
    assert [entry.turn.text for entry in filled.session.open.entries] == ["a secret"]
    click(filled.history.sign.forget)
    qtbot.waitUntil(lambda: app.history.forgotten == [name])
    assert filled.session.open.entries == []
    assert not filled.history.sign.isVisible()
    assert not filled.sidebar.private.isVisible()


def test_what_runs_in_it_is_stopped_first(filled: MainWindow, app: FakeApp, qtbot: QtBot) -> None:
    app.assistant.script = scene.for_ever
    filled.history.begin(kept=False)
    exchange, waiting = (filled.session.send(Request(words)) for words in ("one", "two"))
    qtbot.waitUntil(lambda: bool(app.assistant.handled))
    filled.session.forget_aside()
    qtbot.waitUntil(lambda: len(app.history.forgotten) == 1)
    assert exchange.turn.status is waiting.turn.status is Status.CANCELLED
    assert not filled.session.busy
    filled.session.forget_aside()


def test_one_without_a_request_needs_no_forgetting(
    filled: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    click(filled.sidebar.new_private)
    filled.session.forget_aside()
    settle(filled, qtbot)
    assert filled.session.private is None


# Where there is little room


def test_where_the_window_is_narrow_the_list_is_a_drawer(
    filled: MainWindow, theme: Theme, qtbot: QtBot
) -> None:
    theme.adopt(ThemeChoice(motion=False))
    drawer, sidebar, button = filled.history.drawer, filled.sidebar, filled.header.lists
    filled.resize(1000, 600)
    QApplication.processEvents()
    assert not button.isVisible()
    drawer.open()
    assert not drawer.is_open
    filled.resize(470, 600)
    QApplication.processEvents()
    assert not sidebar.isVisible()
    assert button.isVisible()
    click(button)
    assert drawer.is_open
    assert sidebar.geometry().left() == 0
    assert sidebar.height() == filled.centralWidget().height()
    QTest.keyClick(sidebar, Key.Key_Escape)
    assert not drawer.is_open
    QTest.keyClick(filled, Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert drawer.is_open
    filled.resize(480, 640)
    QApplication.processEvents()
    assert sidebar.height() == 640
    QTest.mouseClick(drawer._scrim, Qt.MouseButton.LeftButton, pos=QPoint(460, 100))
    assert not drawer.is_open
    drawer.open()
    sidebar.opened.emit("c2", "")
    assert not drawer.is_open
    qtbot.waitUntil(lambda: filled.session.open.id == "c2")
    drawer.open()
    filled.resize(1000, 600)
    QApplication.processEvents()
    assert sidebar.isVisible()
    assert not drawer._scrim.isVisible()


def test_the_drawer_slides_from_where_reading_begins(filled: MainWindow, qtbot: QtBot) -> None:
    filled.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    filled.resize(470, 600)
    QApplication.processEvents()
    filled.history.drawer.open()
    qtbot.waitUntil(lambda: filled.sidebar.geometry().right() == 469)
    filled.history.drawer.close()
    filled.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


# The page


@pytest.fixture
def page(filled: MainWindow, qtbot: QtBot) -> HistoryPage:
    filled.places.go("history")
    page = filled.places.page("history")
    assert isinstance(page, HistoryPage)
    qtbot.waitUntil(lambda: page.kept.count.text() == "4 conversations, 8 requests")
    return page


def choose(window: MainWindow, path: Path) -> None:
    """Answer the file dialog that is open."""
    [dialog] = window.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(path))
    dialog.close()
    dialog.deleteLater()
    QApplication.processEvents()


def test_everything_is_exported_with_its_files(
    filled: MainWindow, page: HistoryPage, app: FakeApp, qtbot: QtBot, tmp_path: Path
) -> None:
    assert page.export.media.value == "inside"
    page.export.form.setCurrentIndex(page.export.form.findData("json"))
    assert page.export.media.value == "folder", "only a page has room inside"
    assert page.export.media.findData("inside") < 0
    click(page.export.begin)
    choose(filled, tmp_path / "out.json")
    qtbot.waitUntil(lambda: bool(app.history.exports))
    assert app.history.exports == [(tmp_path / "out.json", "json", None, "folder")]
    qtbot.waitUntil(lambda: "4 conversations are written" in filled.banner.message.text())


def test_one_conversation_is_exported_from_its_menu(
    filled: MainWindow, app: FakeApp, qtbot: QtBot, tmp_path: Path
) -> None:
    filled.history.drawer.close()
    row = filled.sidebar.list.lines.rows()[3]
    filled.sidebar.list.export_wanted.emit(row)
    page = filled.places.page("history")
    assert isinstance(page, HistoryPage)
    assert page.export.what.currentText() == "<b>a tune</b>"
    click(page.export.begin)
    choose(filled, tmp_path / "x.html")
    qtbot.waitUntil(lambda: bool(app.history.exports))
    assert app.history.exports[0][2] == ["c3"]


def test_the_open_conversation_can_be_exported_also_one_that_is_not_kept(
    filled: MainWindow, page: HistoryPage, qtbot: QtBot
) -> None:
    def offers() -> list[str]:
        page.appear()
        return [page.export.what.itemData(n) for n in range(page.export.what.count())]

    assert offers() == ["all"]
    opened(filled, "c1", qtbot)
    assert offers() == ["all", "open"]
    filled.history.begin(kept=False)
    assert offers() == ["all"]
    filled.send(Request("between us"))
    qtbot.waitUntil(lambda: bool(filled.session.open.id) and not filled.session.busy)
    assert offers() == ["all", "open"]
    assert page.export.what.value == "open"


def test_conversations_are_imported(
    filled: MainWindow, page: HistoryPage, app: FakeApp, qtbot: QtBot, tmp_path: Path
) -> None:
    click(page.import_.begin)
    choose(filled, tmp_path / "in.json")
    qtbot.waitUntil(lambda: app.history.imports == [tmp_path / "in.json"])
    said = filled.banner.message.text
    qtbot.waitUntil(lambda: said() == "2 conversations were read. 1 was there already.")
    app.history.error = InputError("JARVIS did not export this file.")
    click(page.import_.begin)
    choose(filled, tmp_path / "in.json")
    qtbot.waitUntil(lambda: "did not export" in said())
    app.history.error = None


@pytest.mark.parametrize(
    ("which", "left"), [("all", 0), ("today", 3), ("week", 0), ("year", 4), ("days", 3)]
)
def test_a_range_is_deleted_after_one_question(
    filled: MainWindow, page: HistoryPage, qtbot: QtBot, which: str, left: int
) -> None:
    section = page.delete
    section.which.setCurrentIndex(section.which.findData(which))
    assert section._days.isVisibleTo(page) == (which == "days")
    click(section.begin)
    assert section.question.isVisibleTo(page)
    click(section.never_mind)
    assert section.begin.isVisibleTo(page)
    click(section.begin)
    click(section.sure)
    qtbot.waitUntil(lambda: len(titles(filled)) == left)
    settle(filled, qtbot)
    if left < 4:
        qtbot.waitUntil(filled.history.undo.isVisible)
        filled.history.controller.undo()
        qtbot.waitUntil(lambda: len(titles(filled)) == 4)


def test_parts_of_the_page_are_gone_to(filled: MainWindow, page: HistoryPage) -> None:
    filled.sidebar.place_wanted.emit("history", "delete")
    assert filled.places.here == "history"
    assert page.delete.begin.hasFocus() or not filled.isActiveWindow()
    for part in (page.export, page.import_, page.delete):
        for button in part.findChildren(QPushButton):
            assert button.accessibleName()
