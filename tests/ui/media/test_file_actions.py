from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QDrag, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.media import file_actions
from jarvis_desktop.ui.media.cards import ImageCard
from jarvis_desktop.ui.media.file_actions import FileCard
from jarvis_desktop.ui.widgets.icons import IconButton
from tests.ui.media.conftest import Show, card_of
from tests.ui.scene import FakeApp


def stored(app: FakeApp, path: Path) -> Path:
    kept = app.store.take_in(path).path
    assert kept is not None
    return kept


@pytest.fixture
def dragged(monkeypatch: pytest.MonkeyPatch) -> list[QDrag]:
    """What was begun to be dragged; nothing waits for the mouse."""
    begun: list[QDrag] = []

    class Drag(QDrag):
        def exec(self, *actions: object) -> Qt.DropAction:
            begun.append(self)
            return Qt.DropAction.CopyAction

    monkeypatch.setattr(file_actions, "QDrag", Drag)
    return begun


def test_a_thumbnail_is_dragged_out_as_file_and_picture(
    photo: Path, app: FakeApp, actions: Actions, show: Show, dragged: list[QDrag], qtbot: QtBot
) -> None:
    photo = stored(app, photo)
    card = card_of(Kind.IMAGE, photo, actions, "A photo.png")
    assert isinstance(card, ImageCard)
    show(card)
    qtbot.waitUntil(lambda: not card.thumbnail.icon().isNull())
    QTest.mousePress(card.thumbnail, Qt.MouseButton.LeftButton, pos=QPoint(50, 50))
    qtbot.waitUntil(lambda: actions.media.handed(photo) != photo)
    QTest.mouseMove(card.thumbnail, QPoint(52, 51))
    assert not dragged
    QTest.mouseMove(card.thumbnail, QPoint(90, 90))
    data = dragged[0].mimeData()
    assert [Path(url.toLocalFile()).name for url in data.urls()] == ["A photo.png"]
    assert data.hasImage()
    assert not dragged[0].pixmap().isNull()
    QTest.mouseRelease(card.thumbnail, Qt.MouseButton.LeftButton, pos=QPoint(90, 90))


def test_a_click_is_no_drag(
    photo: Path, actions: Actions, show: Show, dragged: list[QDrag], qtbot: QtBot
) -> None:
    card = card_of(Kind.IMAGE, photo, actions)
    assert isinstance(card, ImageCard)
    show(card)
    with qtbot.waitSignal(actions.enlarge):
        QTest.mouseClick(card.thumbnail, Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(actions.enlarge):
        QTest.keyClick(card.thumbnail, Qt.Key.Key_Space)
    assert not dragged


def test_any_file_is_dragged_out_by_its_name(
    tone: Path, actions: Actions, show: Show, dragged: list[QDrag]
) -> None:
    card = card_of(Kind.DOCUMENT, tone, actions)
    assert isinstance(card, FileCard)
    show(card)
    QTest.mousePress(card.line.words, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    QTest.mouseMove(card.line.words, QPoint(60, 5))
    assert [url.toLocalFile() for url in dragged[0].mimeData().urls()] == [str(tone)]


def test_it_is_opened_and_used_by_its_name(
    photo: Path, app: FakeApp, actions: Actions, show: Show, qtbot: QtBot
) -> None:
    photo = stored(app, photo)
    card = card_of(Kind.IMAGE, photo, actions, "A photo.png")
    assert isinstance(card, ImageCard)
    show(card)
    for signal, action in (
        (actions.open_file, card.line.file_actions.all[0]),
        (actions.attach, card.line.file_actions.use),
    ):
        with qtbot.waitSignal(signal) as wanted:
            action.act()
        assert wanted.args[0].name == "A photo.png"
        assert wanted.args[0] != photo


@pytest.mark.qt_log_ignore("does not support")
def test_the_menu_offers_the_same_as_the_buttons_and_to_go_on_with_it(
    photo: Path, actions: Actions, show: Show, qtbot: QtBot
) -> None:
    card = card_of(Kind.IMAGE, photo, actions)
    assert isinstance(card, ImageCard)
    show(card)
    card.line.file_actions.menu(card, card.mapToGlobal(QPoint(5, 5)), card._enlarge)
    menu = card.findChild(QMenu)
    assert isinstance(menu, QMenu)
    names = [action.text() for action in menu.actions()]
    used = "Use in the next request"
    assert names == ["Show large", used, "Open", "Show in folder", "Save a copy", "Copy"]
    for action, signal in zip(
        menu.actions(),
        (
            actions.enlarge,
            actions.attach,
            actions.open_file,
            actions.show_folder,
            actions.save_as,
        ),
        strict=False,
    ):
        with qtbot.waitSignal(signal):
            action.trigger()
    menu.close()


def test_a_button_says_that_it_has_copied(
    tone: Path, app: FakeApp, actions: Actions, show: Show, qtbot: QtBot
) -> None:
    card = card_of(Kind.DOCUMENT, stored(app, tone), actions, "The tone.wav")
    assert isinstance(card, FileCard)
    show(card)
    QGuiApplication.clipboard().setText("before")
    button = next(
        button
        for button in card.findChildren(IconButton)
        if button.accessibleName() == "Copy: The tone.wav"
    )
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert button.accessibleName() == "Copied"
    clipboard = QGuiApplication.clipboard()
    qtbot.waitUntil(lambda: clipboard.mimeData().hasUrls())
    assert Path(clipboard.mimeData().urls()[0].toLocalFile()).name == "The tone.wav"
