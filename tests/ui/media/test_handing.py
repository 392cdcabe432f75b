import os
import time
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QDrag, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.look.icons import IconButton
from jarvis_desktop.ui.media import deeds
from jarvis_desktop.ui.media.file_line import FileCard
from jarvis_desktop.ui.media.handing import hand_out, safe_name, tidy
from jarvis_desktop.ui.media.picture_card import PictureCard
from tests.ui.media.conftest import Show, card_of
from tests.ui.scene import HOSTILE


@pytest.mark.parametrize(
    ("title", "stored", "expected"),
    [
        ("photo.png", "ab12.png", "photo.png"),
        ("photo.jpeg", "ab12.jpg", "photo.jpeg"),
        ("photo", "ab12.png", "photo.png"),
        ("photo.exe", "ab12.png", "photo.exe.png"),
        ("../../etc/passwd", "ab12.txt", "_.._etc_passwd.txt"),
        ("a<b>:c|d?.png", "ab12.png", "a_b__c_d_.png"),
        ("con.png", "ab12.png", "_con.png"),
        (".hidden", "ab12.png", "hidden.png"),
        ("\u202egnp.exe", "ab12.png", "_gnp.exe.png"),
        ("...", "ab12.png", "file.png"),
        ("two\nlines.png", "ab12.png", "two lines.png"),
        ("ends in a dot.", "ab12", "ends in a dot"),
    ],
)
def test_names_are_good_in_any_folder(title: str, stored: str, expected: str) -> None:
    assert safe_name(Artifact(Kind.IMAGE, path=Path(stored), name=title)) == expected


@pytest.mark.parametrize("title", HOSTILE)
def test_any_title_gives_a_name_that_can_be_written(
    title: str, photo: Path, tmp_path: Path
) -> None:
    artifact = Artifact(Kind.IMAGE, path=photo, name=title)
    handed = hand_out(artifact, tmp_path / "handed")
    assert handed.read_bytes() == photo.read_bytes()
    assert handed.parent.parent == tmp_path / "handed"
    assert len(os.fsencode(handed.name)) <= 255


def test_what_cannot_be_copied_is_given_as_it_lies(photo: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    artifact = Artifact(Kind.IMAGE, path=photo, name="a.png")
    assert hand_out(artifact, tmp_path / "taken") == photo
    gone = Artifact(Kind.IMAGE, path=tmp_path / "gone.png")
    assert hand_out(gone, tmp_path / "handed") == gone.path


def test_what_was_handed_out_long_ago_is_removed(photo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "handed"
    old = hand_out(Artifact(Kind.IMAGE, path=photo, name="a.png"), folder)
    os.utime(old.parent, (time.time() - 90_000,) * 2)
    new = hand_out(Artifact(Kind.IMAGE, path=tmp_path / "x.png", name="b.png"), folder)
    (tmp_path / "x.png").write_bytes(b"x")
    new = hand_out(Artifact(Kind.IMAGE, path=tmp_path / "x.png", name="b.png"), folder)
    tidy(folder)
    tidy(tmp_path / "nowhere")
    assert not old.exists()
    assert new.exists()


@pytest.fixture
def dragged(monkeypatch: pytest.MonkeyPatch) -> list[QDrag]:
    """What was begun to be dragged; nothing waits for the mouse."""
    begun: list[QDrag] = []

    class Drag(QDrag):
        def exec(self, *actions: object) -> Qt.DropAction:
            begun.append(self)
            return Qt.DropAction.CopyAction

    monkeypatch.setattr(deeds, "QDrag", Drag)
    return begun


def test_a_thumbnail_is_dragged_out_as_file_and_picture(
    photo: Path, actions: Actions, show: Show, dragged: list[QDrag], qtbot: QtBot
) -> None:
    card = card_of(Kind.IMAGE, photo, actions, "A photo.png")
    assert isinstance(card, PictureCard)
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
    assert isinstance(card, PictureCard)
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


@pytest.mark.qt_log_ignore("does not support")
def test_the_menu_offers_the_same_as_the_buttons_and_to_go_on_with_it(
    photo: Path, actions: Actions, show: Show, qtbot: QtBot
) -> None:
    card = card_of(Kind.IMAGE, photo, actions)
    assert isinstance(card, PictureCard)
    show(card)
    card.line.deeds.menu(card, card.mapToGlobal(QPoint(5, 5)), card._enlarge)
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
    tone: Path, actions: Actions, show: Show, qtbot: QtBot
) -> None:
    card = card_of(Kind.DOCUMENT, tone, actions, "The tone.wav")
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
