"""Letters typed with the keyboard on something else than the field for requests."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.turn import Request
from jarvis_desktop.ui.main_window import MainWindow
from tests.ui.scene import FakeApp, Shown


def test_they_begin_a_request(window: MainWindow, app: FakeApp, qtbot: QtBot) -> None:
    answers: list[bool] = []

    async def asks(request: Request, shown: Shown) -> Status:
        answers.append(await shown.frontend.confirm("Download it?"))
        return Status.DONE

    app.assistant.script = asks
    field = window.composer.field
    QTest.keyClicks(field, "translate it")
    QTest.keyClick(field, Qt.Key.Key_Return)
    view = window.conversation.views()[0]
    qtbot.waitUntil(lambda: view.panel is not None)
    assert view.panel is not None
    no = view.panel.no
    no.setFocus()
    QTest.keyClicks(no, "D")
    assert field.hasFocus()
    QTest.keyClicks(field, "raw a cat")
    assert field.toPlainText() == "Draw a cat"
    no.setFocus()
    for key, held in (
        (Qt.Key.Key_K, Qt.KeyboardModifier.AltModifier),
        (Qt.Key.Key_Y, Qt.KeyboardModifier.ControlModifier),
        (Qt.Key.Key_Left, Qt.KeyboardModifier.NoModifier),
    ):
        QTest.keyClick(no, key, held)
    assert field.toPlainText() == "Draw a cat"
    assert not answers
    no.setFocus()
    QTest.keyClick(no, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: answers == [False])
