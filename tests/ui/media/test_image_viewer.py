from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.media.image_viewer import ImageViewer, pictures_of
from jarvis_desktop.ui.widgets.theme import Theme, ThemeChoice
from tests.ui.media.conftest import Show
from tests.ui.scene import NOW, text

Open = Callable[..., ImageViewer]


@pytest.fixture
def field() -> QLineEdit:
    """Had the keyboard before."""
    return QLineEdit()


@pytest.fixture
def open_(actions: Actions, show: Show, field: QLineEdit, qtbot: QtBot) -> Open:
    """Opens the viewer over a window."""

    def open_(*paths: Path, read: bool = True) -> ImageViewer:
        among = [Artifact(Kind.IMAGE, path=path, name=path.name) for path in paths]
        window: QWidget = show(field)
        window.activateWindow()
        field.setFocus()
        viewer = ImageViewer(window, among[0], actions, among)
        if read:
            qtbot.waitUntil(lambda: not viewer.view._pixmap.isNull())
        return viewer

    return open_


def test_it_fits_the_picture_and_says_what_it_is(open_: Open, photo: Path, qtbot: QtBot) -> None:
    viewer = open_(photo)
    assert viewer.view.zoom == viewer.view.fit < 1
    facts = viewer.line.facts if viewer.line else None
    assert facts is not None
    # A thread finds out how large the file is.
    qtbot.waitUntil(lambda: facts.full_text().startswith("1200 × 800 · "))
    assert viewer.accessibleName() == "Picture photo.png"
    assert viewer.zoom.text() == f"{round(100 * viewer.view.fit)} %"
    assert not viewer.count.isVisible()


def test_the_keys_zoom_move_and_turn(open_: Open, photo: Path) -> None:
    viewer = open_(photo)
    view = viewer.view
    fit = view.fit
    QTest.keyClick(view, Qt.Key.Key_1)
    assert (view.zoom, viewer.zoom.text()) == (1, "100 %")
    assert view.is_larger
    before = view._place().topLeft()
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert view._place().x() < before.x()
    QTest.keyClick(view, Qt.Key.Key_0)
    assert view.zoom == fit
    QTest.keyClick(view, Qt.Key.Key_Plus)
    assert view.zoom == pytest.approx(1.25 * fit)
    QTest.keyClick(view, Qt.Key.Key_Minus)
    assert view.zoom == pytest.approx(fit)
    QTest.keyClick(view, Qt.Key.Key_R)
    assert (view._full.width(), view._full.height()) == (800, 1200)


def test_enlarging_reads_all_its_pixels(open_: Open, photo: Path, qtbot: QtBot) -> None:
    viewer = open_(photo)
    assert viewer.view._pixmap.width() < 1200
    QTest.mouseClick(viewer.zoom, Qt.MouseButton.LeftButton)
    assert viewer.view.zoom == 1
    qtbot.waitUntil(lambda: viewer.view._pixmap.width() == 1200)
    QTest.mouseClick(viewer.zoom, Qt.MouseButton.LeftButton)
    assert viewer.view.zoom == viewer.view.fit


def test_the_wheel_zooms_where_the_pointer_is(open_: Open, photo: Path) -> None:
    view = open_(photo).view
    at = QPointF(view.width() * 0.3, view.height() * 0.4)
    before = (at - view._place().topLeft()) / view._place().width()
    for _ in range(6):
        wheel = QWheelEvent(
            at, at, QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(view, wheel)
    after = (at - view._place().topLeft()) / view._place().width()
    assert view.zoom > 2 * view.fit
    assert (after.x(), after.y()) == pytest.approx((before.x(), before.y()), abs=0.01)


def test_the_mouse_moves_what_is_larger_and_no_further(open_: Open, photo: Path) -> None:
    view = open_(photo).view
    view.set_zoom(1.0)
    middle = QPoint(view.width() // 2, view.height() // 2)
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=middle)
    QTest.mouseMove(view, middle + QPoint(3000, 3000))
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=middle)
    assert view._place().topLeft() == QPointF(0, 0)
    QTest.mouseDClick(view, Qt.MouseButton.LeftButton, pos=middle)
    assert view.zoom == view.fit


def test_one_goes_from_picture_to_picture(
    open_: Open, photo: Path, moving: Path, qtbot: QtBot
) -> None:
    viewer = open_(photo, moving)
    assert viewer.count.text() == "1 of 2"
    assert not viewer.previous.isEnabled()
    QTest.keyClick(viewer.view, Qt.Key.Key_Right)
    assert viewer.count.text() == "2 of 2"
    assert not viewer.next.isEnabled()
    assert viewer.view.accessibleName() == "moving.gif, 2 of 2"
    QTest.keyClick(viewer.view, Qt.Key.Key_PageDown)
    assert viewer.count.text() == "2 of 2"
    QTest.mouseClick(viewer.previous, Qt.MouseButton.LeftButton)
    assert viewer.count.text() == "1 of 2"
    qtbot.waitUntil(lambda: not viewer.view._pixmap.isNull())


def test_a_picture_moves_only_where_that_is_wanted(
    open_: Open, moving: Path, theme: Theme, qtbot: QtBot
) -> None:
    viewer = open_(moving)
    seen: set[int] = set()

    def all_seen() -> bool:
        seen.add(viewer.view.grab().toImage().pixelColor(viewer.view.rect().center()).red())
        return len(seen) >= 3

    qtbot.waitUntil(all_seen)
    viewer.leave()
    theme.adopt(ThemeChoice(motion=False))
    still = open_(moving)
    assert not still.view._frames


def test_it_closes_and_gives_the_keyboard_back(
    open_: Open, photo: Path, field: QLineEdit, qtbot: QtBot
) -> None:
    viewer = open_(photo)
    QTest.keyClick(viewer.view, Qt.Key.Key_Escape)
    assert not viewer.isVisible()
    qtbot.waitUntil(field.hasFocus)
    viewer = open_(photo)
    QTest.mouseClick(
        viewer.view, Qt.MouseButton.LeftButton, pos=QPoint(viewer.view.width() // 2, 1)
    )
    assert not viewer.isVisible()


def test_tab_stays_within_and_reaches_all(open_: Open, photo: Path, field: QLineEdit) -> None:
    viewer = open_(photo)
    buttons = [button for button in viewer.findChildren(QPushButton) if button.isVisible()]
    reached = []
    for _ in range(len(buttons) + 1):
        here = viewer.window().focusWidget()
        QTest.keyClick(here, Qt.Key.Key_Tab)
        reached.append(viewer.window().focusWidget())
    assert set(reached) == {viewer.view, *buttons}
    assert all(button.accessibleName() for button in buttons)
    assert not field.hasFocus()


def test_a_damaged_picture_says_so(open_: Open, tmp_path: Path, qtbot: QtBot) -> None:
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"nothing")
    viewer = open_(broken, read=False)
    assert viewer.trouble is not None
    qtbot.waitUntil(viewer.trouble.isVisible)
    assert not viewer.view.isVisible()


def test_it_is_copied_and_saved_by_the_keys(
    open_: Open, photo: Path, actions: Actions, qtbot: QtBot
) -> None:
    viewer = open_(photo)
    QGuiApplication.clipboard().setText("before")
    control = Qt.KeyboardModifier.ControlModifier
    QTest.keyClick(viewer.view, Qt.Key.Key_C, control)
    data = QGuiApplication.clipboard()
    qtbot.waitUntil(lambda: data.mimeData().hasImage())
    assert data.image().width() == 1200
    assert [Path(url.toLocalFile()).name for url in data.mimeData().urls()] == ["photo.png"]
    with qtbot.waitSignal(actions.save_as) as wanted:
        QTest.keyClick(viewer.view, Qt.Key.Key_S, control)
    assert wanted.args[0].path == photo


def test_the_pictures_of_a_conversation_each_once(photo: Path) -> None:
    given = Artifact(Kind.IMAGE, path=photo)
    sound = Artifact(Kind.AUDIO, path=photo.with_suffix(".wav"))
    turns = [Turn(str(number), NOW, "", attachments=(given, sound, text("a"))) for number in (1, 2)]
    assert pictures_of(turns) == [given]
