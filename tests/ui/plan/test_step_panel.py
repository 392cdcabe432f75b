"""One step, close up: results, fields for all that it takes, and who does it."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.events import TaskChunk, TaskFinished
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Ref, Task
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.plan.plan_view import PlanView
from jarvis_desktop.ui.plan.step_panel import PortRow, StepPanel
from jarvis_desktop.ui.widgets.forms import Fold, GrowingTextField
from tests.ui.plan.plan_scene import (
    COMPARE,
    FAR,
    LARGE,
    FakePlanController,
    cards,
    diamond,
    ended,
    half_done,
    letter,
    redrawn,
    shown,
    turn_of,
)
from tests.ui.scene import READ, done, words


@pytest.fixture
def view(qtbot: QtBot, controller: FakePlanController) -> PlanView:
    view = shown(qtbot, controller, turn_of(diamond()))
    view.review(True)
    return view


def panel(view: PlanView, task_id: int) -> StepPanel:
    view.open_step(task_id)
    QApplication.processEvents()
    assert isinstance(view.panel, StepPanel)
    return view.panel


def port(view: PlanView, task_id: int, name: str) -> PortRow:
    row = panel(view, task_id).rows[name]
    assert isinstance(row, PortRow)
    return row


def arg(view: PlanView, task_id: int, name: str) -> object:
    return view.editor.plan.task(task_id).args.get(name)


def field(row: PortRow) -> GrowingTextField:
    assert row.field is not None
    return row.field


def choose(row: PortRow, words: str) -> None:
    menu = row.menu()
    next(item for item in menu.actions() if item.text().startswith(words)).trigger()
    QApplication.processEvents()


def test_enter_opens_a_step_and_esc_closes_it(view: PlanView) -> None:
    assert view.graph is not None
    view.graph.focus_step(1)
    QTest.keyClick(cards(view)[1], Qt.Key.Key_Return)
    assert isinstance(view.panel, StepPanel)
    assert view.panel.accessibleName() == "Step 2, Summarization"
    assert cards(view)[1].look.is_open
    assert view.isAncestorOf(view.window().focusWidget())
    QTest.keyClick(view.window().focusWidget(), Qt.Key.Key_Escape)
    assert view.panel is None
    assert cards(view)[1].hasFocus(), "the keyboard is where it was"
    assert not cards(view)[1].look.is_open


def test_a_click_opens_and_the_next_one_closes(view: PlanView) -> None:
    for is_open in (True, False):
        QTest.mouseClick(cards(view)[2], Qt.MouseButton.LeftButton)
        assert (view.panel is not None) == is_open


def test_each_option_has_the_right_control(view: PlanView) -> None:
    rows: Any = panel(view, 2).rows
    assert list(rows) == ["prompt", "style", "seed", "strength", "sharp", "avoid"]
    rows["style"].choice.setCurrentIndex(1)
    rows["seed"].box.setValue(7)
    rows["strength"].box.setValue(0.8)
    rows["sharp"].tick.click()
    line = rows["avoid"].line
    line.setFocus()
    QTest.keyClicks(line, "dogs")
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert view.editor.plan.task(2).args == {
        "prompt": Ref(0),
        "style": "sketch",
        "seed": 7,
        "strength": 0.8,
        "sharp": True,
        "avoid": "dogs",
    }
    assert view.panel is not None
    assert id(view.panel.rows) == id(rows), "the fields stay where they are"
    rows["seed"].box.setValue(0)
    assert arg(view, 2, "seed") is None, "the usual value need not be said"


def test_undo_shows_in_the_fields(view: PlanView) -> None:
    rows: Any = panel(view, 1).rows
    assert rows["sentences"].value == 2
    rows["sentences"].box.setValue(5)
    view.editor.undo()
    assert isinstance(view.panel, StepPanel)
    assert view.panel.rows["sentences"].value == 2
    assert view.editor.plan == diamond()


def test_every_control_has_a_name(view: PlanView) -> None:
    shown_panel = panel(view, 2)
    for row in shown_panel.rows.values():
        row.take_focus()
        inside = view.window().focusWidget()
        assert inside is not None
        assert inside.accessibleName(), row.name
    for button in shown_panel.findChildren(QPushButton):
        assert button.accessibleName()
    assert shown_panel.expert.accessibleName() == "Expert"


def test_words_take_the_place_of_a_result(view: PlanView) -> None:
    row = port(view, 2, "prompt")
    assert row.field is None
    assert "The result of step 1, Image to text" in words(row)
    choose(row, "Your own words")
    QTest.keyClicks(field(row), "a cat on a mat")
    QTest.keyClick(field(row), Qt.Key.Key_Return)
    assert arg(view, 2, "prompt") == "a cat on a mat"


def test_words_are_entered_when_the_field_is_left(view: PlanView) -> None:
    row = port(view, 2, "prompt")
    choose(row, "Your own words")
    QTest.keyClicks(field(row), "a dog")
    assert isinstance(view.panel, StepPanel)
    view.panel.expert.setFocus()
    assert arg(view, 2, "prompt") == "a dog"


def test_the_result_of_another_step_is_chosen(view: PlanView) -> None:
    choose(port(view, 2, "prompt"), "The result of step 2")
    assert arg(view, 2, "prompt") == Ref(1)


def test_a_file_is_chosen(view: PlanView, controller: FakePlanController) -> None:
    choose(port(view, 0, "image"), "A file…")
    held = arg(view, 0, "image")
    assert isinstance(held, Artifact)
    assert held.path == controller.file
    controller.file = Path("/nowhere/words.txt")
    choose(port(view, 1, "text"), "A file…")
    held = arg(view, 1, "text")
    assert isinstance(held, Artifact)
    assert held.kind is Kind.TEXT


def test_a_file_of_another_kind_is_refused_beside_the_field(
    view: PlanView, controller: FakePlanController
) -> None:
    controller.file = Path("/nowhere/sound.wav")
    choose(port(view, 0, "image"), "A file…")
    assert arg(view, 0, "image") == letter()
    assert isinstance(view.panel, StepPanel)
    assert view.panel.trouble.isVisible()
    assert "takes image as its image, not audio" in view.panel.trouble.text()
    assert view.trouble.isHidden(), "told once"


def test_several_inputs_are_taken_away_one_by_one(view: PlanView) -> None:
    row = port(view, 3, "content")
    choose(row, "The result of step 1")
    assert arg(view, 3, "content") == (Ref(1), Ref(2), Ref(0))
    for button in row.findChildren(QPushButton):
        if button.accessibleName() == "Take The result of step 2, Summarization away":
            button.click()
    assert arg(view, 3, "content") == (Ref(2), Ref(0))


def test_what_need_not_be_there_can_be_nothing(
    qtbot: QtBot, controller: FakePlanController
) -> None:
    plan = Plan(
        (
            Task(0, READ, {"image": letter()}),
            Task(1, COMPARE, {"text_1": Ref(0), "text_2": text_artifact("Dear")}),
        )
    )
    view = shown(qtbot, controller, turn_of(plan))
    view.review(True)
    row = port(view, 1, "text_2")
    assert field(row).toPlainText() == "Dear"
    assert row.value == text_artifact("Dear"), "what nobody touched is what it was"
    choose(row, "Nothing")
    assert arg(view, 1, "text_2") is None


def test_words_that_must_be_there_are_asked_for(view: PlanView) -> None:
    row = port(view, 1, "text")
    choose(row, "Your own words")
    field(row).setPlainText("x")
    field(row).entered.emit()
    field(row).setPlainText("")
    field(row).entered.emit()
    assert arg(view, 1, "text") == "x"
    assert isinstance(view.panel, StepPanel)
    assert "missing its text" in view.panel.trouble.text()


def test_an_expert_is_chosen(view: PlanView, controller: FakePlanController) -> None:
    shown_panel = panel(view, 0)
    offered = [shown_panel.expert.itemText(at) for at in range(shown_panel.expert.count())]
    assert offered[0] == "The best one (JARVIS chooses)"
    assert offered[1] == "reader-large · on this computer · 1.3 GB"
    shown_panel.expert.setCurrentIndex(2)
    assert view.editor.plan.task(0).expert == FAR.kept_as
    shown_panel.expert.setCurrentIndex(1)
    assert view.editor.plan.task(0).expert == LARGE.kept_as
    shown_panel.expert.setCurrentIndex(0)
    assert view.editor.plan == diamond()


def test_an_expert_that_is_gone_is_still_named(
    qtbot: QtBot, controller: FakePlanController
) -> None:
    controller.experts = Outcome(error=InputError("Nobody."))
    plan = diamond().pinned(0, "long-gone")
    view = shown(qtbot, controller, turn_of(plan))
    view.review(True)
    assert panel(view, 0).expert.currentText() == "long-gone"


def test_results_and_reasons_are_shown(qtbot: QtBot, controller: FakePlanController) -> None:
    view = shown(qtbot, controller, ended(diamond()))
    assert "Words 0" in words(panel(view, 0))
    assert panel(view, 2).reason.text() == "It needs 2 GB of memory."


def test_a_step_that_ended_can_be_run_again_or_removed_from_here(
    qtbot: QtBot, controller: FakePlanController
) -> None:
    view = shown(qtbot, controller, ended(diamond()))
    shown_panel = panel(view, 1)
    shown_panel.again.click()
    assert view.editor.draft.now.afresh == {1}
    shown_panel.remove.click()
    assert [task.id for task in view.editor.plan] == [0, 2, 3]
    assert view.panel is None


def test_it_follows_a_turn_that_goes_on(qtbot: QtBot, controller: FakePlanController) -> None:
    controller.live.add("t")
    view = shown(qtbot, controller, turn_of(diamond()))
    shown_panel = panel(view, 0)
    row = shown_panel.rows["image"]
    redrawn(view, half_done(diamond()))
    assert "Dear Sir" in words(shown_panel)
    assert shown_panel.rows["image"] is row


def test_it_shows_all_that_the_step_has_written_so_far(
    qtbot: QtBot, controller: FakePlanController
) -> None:
    controller.live.add("t")
    turn = half_done(diamond())
    view = shown(qtbot, controller, turn)
    shown_panel = panel(view, 1)
    draft = shown_panel.draft
    assert draft.isHidden()
    for piece in ("# Two\n", "words"):
        turn = turn.apply(TaskChunk(1, piece))
        redrawn(view, turn)
    assert draft.isVisible()
    assert draft.toPlainText() == "# Two\nwords"
    redrawn(view, turn.apply(TaskFinished(done(1, text_artifact("Two words")))))
    assert draft.isHidden()
    assert "Two words" in words(shown_panel)


def test_a_list_has_the_step_below_its_row(qtbot: QtBot, controller: FakePlanController) -> None:
    controller.show_form("outline")
    view = shown(qtbot, controller, ended(diamond()))
    rows = list(view.rows())
    QTest.mouseClick(rows[0].toggle, Qt.MouseButton.LeftButton)
    assert isinstance(view.panel, StepPanel)
    assert rows[0].isAncestorOf(view.panel)
    assert rows[0].toggle.accessibleName() == "Hide the details of Image to text"
    QTest.mouseClick(rows[0].toggle, Qt.MouseButton.LeftButton)
    assert view.panel is None
    assert rows[0].toggle.accessibleName() == "Show the details of Image to text"


def test_without_a_desk_nothing_can_be_changed(qtbot: QtBot, theme: object) -> None:
    view = shown(qtbot, None, ended(diamond()))
    shown_panel = panel(view, 0)
    assert shown_panel.rows == {}
    assert not shown_panel.more.isVisible()
    assert "Words 0" in words(shown_panel)


def test_unused_kinds_say_that_nothing_is_there(
    qtbot: QtBot, controller: FakePlanController
) -> None:
    row = PortRow(READ.ports[0], None, [], controller.choose_file)
    qtbot.addWidget(row)
    assert row.value is None
    assert "Nothing yet" in [label.text() for label in row.findChildren(type(row.label))]
    choose(row, "A file…")
    assert row.value == letter(controller.file)


def test_what_matters_is_in_sight_and_the_rest_under_more(view: PlanView) -> None:
    rows: Any = panel(view, 2).rows
    assert [name for name, row in rows.items() if row.isVisible()] == ["prompt", "style", "seed"]
    (fold,) = [item for item in view.findChildren(Fold) if item.isAncestorOf(rows["avoid"])]
    QTest.mouseClick(fold.heading, Qt.MouseButton.LeftButton)
    assert all(row.isVisible() for row in rows.values())


def test_the_panel_closes_when_the_plan_runs(view: PlanView) -> None:
    panel(view, 1)
    view.review(False)
    assert view.panel is None
