"""Each edit by mouse and by keyboard alone."""

from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Ref
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.plan.list_view import describe_expert
from jarvis_desktop.ui.plan.plan_view import PlanView
from tests.ui.plan.plan_scene import (
    FAR,
    LARGE,
    FakePlanController,
    cards,
    chosen,
    diamond,
    menu_of,
    shown,
    turn_of,
)


def ids(view: PlanView) -> list[int]:
    return [task.id for task in view.editor.plan]


def press(view: PlanView, task_id: int, key: Qt.Key, modifier: Qt.KeyboardModifier) -> None:
    QTest.keyClick(cards(view)[task_id], key, modifier)
    QApplication.processEvents()


PLAIN = Qt.KeyboardModifier.NoModifier
CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier


def test_delete_removes_and_ctrl_z_brings_back(before: PlanView) -> None:
    before.graph.focus_step(1)  # type: ignore[union-attr]
    press(before, 1, Qt.Key.Key_Delete, PLAIN)
    assert ids(before) == [0, 2, 3]
    assert before.editor.plan.task(3).args["content"] == (Ref(2),)
    focused = next(card for card in cards(before).values() if card.hasFocus())
    press(before, focused.step.task_id, Qt.Key.Key_Z, CONTROL)
    assert ids(before) == [0, 1, 2, 3]
    assert before.editor.plan == diamond()
    press(before, 0, Qt.Key.Key_Z, CONTROL | SHIFT)
    assert ids(before) == [0, 2, 3]
    QTest.mouseClick(before.undo, Qt.MouseButton.LeftButton)
    assert ids(before) == [0, 1, 2, 3]
    QTest.mouseClick(before.redo, Qt.MouseButton.LeftButton)
    assert ids(before) == [0, 2, 3]


def test_removing_a_source_takes_what_cannot_be_without_it(before: PlanView) -> None:
    assert before.editor.remove(2)
    assert ids(before) == [0, 1, 3]
    before.editor.undo()
    before.remove_step(0)
    assert before.trouble.text() == "Nothing would be left of the plan."
    assert ids(before) == [0, 1, 2, 3]


def test_alt_and_an_arrow_move_a_step(before: PlanView) -> None:
    press(before, 2, Qt.Key.Key_Up, ALT)
    assert ids(before) == [0, 2, 1, 3]
    press(before, 2, Qt.Key.Key_Down, ALT)
    assert ids(before) == [0, 1, 2, 3]
    press(before, 1, Qt.Key.Key_Up, ALT)
    assert ids(before) == [0, 1, 2, 3]
    assert before.trouble.text() == (
        "“Summarization” takes the result of “Image to text”, so it must come after it."
    )
    press(before, 3, Qt.Key.Key_Down, ALT)
    assert ids(before) == [0, 1, 2, 3], "the last one stays where it is"


def test_a_step_is_rewired_by_dragging_its_result(before: PlanView) -> None:
    source, target = cards(before)[1], cards(before)[2]
    start = source.outlet.center().toPoint()
    end = source.mapFromGlobal(target.mapToGlobal(target.rect().center()))
    QTest.mousePress(source, Qt.MouseButton.LeftButton, PLAIN, start)
    _drag(source, end)
    assert before.graph is not None
    assert before.graph.canvas.pulled.isVisible()
    assert target.look.fits is True
    assert cards(before)[0].look.fits is False
    before.grab()
    QTest.mouseRelease(source, Qt.MouseButton.LeftButton, PLAIN, end)
    assert before.editor.plan.task(2).args["prompt"] == Ref(1)
    assert not before.graph.canvas.pulled.isVisible()
    assert target.look.fits is None


def _drag(card: QWidget, to: QPoint) -> None:
    left = Qt.MouseButton.LeftButton
    at = QPointF(to)
    move = QMouseEvent(
        QEvent.Type.MouseMove, at, card.mapToGlobal(at), left, left, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(card, move)


def test_what_does_not_fit_says_so_and_changes_nothing(before: PlanView) -> None:
    assert not before.editor.connect_steps(2, 1)
    assert before.trouble.text() == "“Summarization” takes no picture."
    assert before.editor.plan == diamond()
    assert not before.editor.connect_steps(3, 1), "it would go round in a circle"
    assert "wait for each other" in before.trouble.text()
    before.editor.move(2, -1)
    assert before.trouble.isHidden(), "a good edit takes the complaint back"


def test_a_step_is_rewired_from_the_menu(before: PlanView) -> None:
    menu = menu_of(before, 2)
    inputs = next(item for item in menu.actions() if item.text() == "Take as prompt")
    below = inputs.menu()
    assert isinstance(below, QMenu)
    assert [item.text() for item in below.actions()] == ["1 · Image to text", "2 · Summarization"]
    assert [item.isChecked() for item in below.actions()] == [True, False]
    chosen(menu, "Take as prompt", "2 ·")
    assert before.editor.plan.task(2).args["prompt"] == Ref(1)


def test_an_input_of_many_takes_one_more(before: PlanView) -> None:
    assert before.editor.connect_steps(0, 3)
    assert before.editor.plan.task(3).args["content"] == (Ref(1), Ref(2), Ref(0))
    assert before.editor.connect_steps(0, 3)
    assert before.editor.plan.task(3).args["content"] == (Ref(1), Ref(2), Ref(0))


@pytest.mark.qt_log_ignore("does not support")
def test_the_menu_opens_by_the_keyboard_and_names_everything(before: PlanView) -> None:
    press(before, 1, Qt.Key.Key_Menu, PLAIN)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    words = [item.text() for item in menu.actions() if item.text()]
    assert words == [
        "Look at it or change it",
        "Take as text",
        "Expert",
        "Move earlier",
        "Move later",
        "Remove",
    ]
    menu.close()
    press(before, 1, Qt.Key.Key_F10, SHIFT)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    menu.close()


def test_an_expert_is_chosen_from_the_menu(before: PlanView) -> None:
    chosen(menu_of(before, 0), "Expert", "reader-large")
    assert before.editor.plan.task(0).expert == "reader-large"
    assert "reader-large" in cards(before)[0].accessibleName()
    chosen(menu_of(before, 0), "Expert", "reader-far")
    assert before.editor.plan.task(0).expert == "reader-far@nearby"
    chosen(menu_of(before, 0), "Expert", "The best one")
    assert before.editor.plan == diamond()


def test_experts_say_where_they_run_and_how_large_they_are() -> None:
    assert describe_expert(LARGE) == "reader-large · on this computer · 1.3 GB"
    assert describe_expert(FAR) == "reader-far · by nearby, over the network"


def test_trouble_with_experts_is_said_in_the_menu(
    before: PlanView, controller: FakePlanController
) -> None:
    controller.experts = Outcome(error=InputError("Nobody can do this.", hint="Fetch an expert."))
    menu = menu_of(before, 0)
    experts = next(item for item in menu.actions() if item.text() == "Expert").menu()
    assert isinstance(experts, QMenu)
    experts.aboutToShow.emit()
    assert experts.actions()[-1].text() == "Nobody can do this. Fetch an expert."


def test_a_file_is_dropped_on_a_card(before: PlanView, tmp_path: Path) -> None:
    _drop(before, 0, tmp_path / "other.png")
    held = before.editor.plan.task(0).args["image"]
    assert isinstance(held, Artifact)
    assert held.path == tmp_path / "other.png"
    _drop(before, 0, tmp_path / "sound.wav")
    assert before.trouble.text() == "“Image to text” cannot work on this file."
    assert before.editor.plan.task(0).args["image"] == held


def _drop(view: PlanView, task_id: int, path: Path) -> None:
    files = QMimeData()
    files.setUrls([QUrl.fromLocalFile(str(path))])
    copied, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    card = cards(view)[task_id]
    enter = QDragEnterEvent(QPoint(20, 20), copied, files, left, PLAIN)
    QApplication.sendEvent(card, enter)
    assert enter.isAccepted()
    assert card.look.inviting
    QApplication.sendEvent(card, QDropEvent(QPointF(20, 20), copied, files, left, PLAIN))
    assert not card.look.inviting


def test_words_change_the_plan(before: PlanView, controller: FakePlanController) -> None:
    assert before.foot.words.isVisible()
    before.foot.words.setFocus()
    QTest.keyClicks(before.foot.words, "leave the picture out")
    QTest.keyClick(before.foot.words, Qt.Key.Key_Return)
    [(plan, words, then)] = controller.revisions
    assert (plan, words) == (diamond(), "leave the picture out")
    assert before.foot.busy.isVisible()
    assert before.foot.message.text() == "Changing the plan…"
    assert not before.editor.set(1, "sentences", 9), "one change after the other"
    then(Outcome(diamond().without(2)))
    assert ids(before) == [0, 1, 3]
    assert "Left out: Text to image." in before.foot.message.text()
    assert before.foot.words.toPlainText() == ""
    assert not before.foot.busy.isVisible()
    before.editor.undo()
    assert ids(before) == [0, 1, 2, 3]


def test_words_that_are_not_understood_stay(
    before: PlanView, controller: FakePlanController
) -> None:
    before.foot.words.setPlainText("make it nicer")
    QTest.mouseClick(before.foot.send, Qt.MouseButton.LeftButton)
    controller.revisions[0][2](Outcome(error=InputError("What is nicer was not understood.")))
    assert before.trouble.text() == "What is nicer was not understood."
    assert before.foot.words.toPlainText() == "make it nicer"
    assert before.foot.message.isHidden()
    before.editor.revise("again")
    controller.revisions[1][2](Outcome(diamond()))
    assert before.foot.message.text() == "Nothing changed."


def test_words_are_invited_by_a_button_where_nothing_is_asked(after: PlanView) -> None:
    assert not after.foot.isVisible()
    QTest.mouseClick(after.change, Qt.MouseButton.LeftButton)
    assert after.foot.words.isVisible()
    assert after.window().focusWidget() is after.foot.words
    assert after.foot.add.isVisible()


def test_the_outline_is_edited_by_the_keyboard_alone(
    before: PlanView, controller: FakePlanController
) -> None:
    controller.show_form("outline")
    rows = list(before.rows())
    rows[1].setFocus()
    QTest.keyClick(rows[1], Qt.Key.Key_Down)
    assert rows[2].hasFocus()
    QTest.keyClick(rows[2], Qt.Key.Key_Up, ALT)
    assert ids(before) == [0, 2, 1, 3]
    assert [row.step.task_id for row in before.rows()] == [0, 2, 1, 3]
    QTest.keyClick(rows[2], Qt.Key.Key_Delete)
    assert ids(before) == [0, 1, 3]
    QTest.keyClick(next(before.rows()), Qt.Key.Key_Z, CONTROL)
    assert ids(before) == [0, 2, 1, 3]
    last = list(before.rows())[-1]
    QTest.keyClick(next(before.rows()), Qt.Key.Key_End)
    assert last.hasFocus()
    QTest.keyClick(last, Qt.Key.Key_Return)
    assert before.panel is not None
    QTest.keyClick(before.panel, Qt.Key.Key_Escape)
    assert before.panel is None
    assert last.hasFocus()


def test_a_plan_of_one_step_cannot_lose_it(qtbot: QtBot, controller: FakePlanController) -> None:
    one = Plan(diamond().tasks[:1])
    view = shown(qtbot, controller, turn_of(one))
    view.review(True)
    remove = next(item for item in menu_of(view, 0).actions() if item.text() == "Remove")
    assert not remove.isEnabled()
    view.remove_step(0)
    assert ids(view) == [0]
