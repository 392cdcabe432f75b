"""What edits do to a turn that runs, and to one that has ended."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.events import PlanChanged, TaskFinished, TurnFinished
from jarvis_desktop.core.expert import Status
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.plan.plan_view import PlanView
from tests.ui import scene
from tests.ui.plan.plan_scene import (
    FakePlanController,
    cards,
    chosen,
    diamond,
    ended,
    half_done,
    menu_of,
    redrawn,
    shown,
)
from tests.ui.scene import NOW, done


def test_during_a_run_an_edit_of_what_waits_is_carried_out_at_once(
    during: PlanView, controller: FakePlanController
) -> None:
    assert during.editor.stage == "during"
    during.editor.set(2, "prompt", "a cat")
    [(plan, then)] = controller.changes
    assert plan.task(2).args["prompt"] == "a cat"
    assert not during.foot.isVisible()
    then(Outcome(True))
    assert not during.editor.waits, "it is on its way"
    redrawn(during, half_done(diamond()).apply(PlanChanged(plan)))
    assert not during.editor.draft.is_edited
    during.editor.undo()
    assert controller.changes[-1][0] == diamond(), "undoing is an edit, too"


def test_during_a_run_what_would_be_lost_is_told_first(
    during: PlanView, controller: FakePlanController
) -> None:
    during.editor.set(0, "image", Artifact(diamond().task(0).args["image"].kind, text="x"))  # type: ignore[union-attr]
    assert controller.changes == []
    assert during.foot.isVisible()
    assert during.foot.costs.text() == (
        "This runs again: Image to text, Summarization. The rest stays."
    )
    assert "runs again" in cards(during)[1].accessibleName()
    QTest.mouseClick(during.foot.carry_out, Qt.MouseButton.LeftButton)
    assert len(controller.changes) == 1


def test_during_a_run_a_change_can_be_dropped(
    during: PlanView, controller: FakePlanController
) -> None:
    during.editor.choose_expert(0, "reader-large")
    assert during.foot.isVisible()
    QTest.mouseClick(during.foot.drop, Qt.MouseButton.LeftButton)
    assert during.editor.plan == diamond()
    assert not during.foot.isVisible()
    assert controller.changes == []


def test_a_change_that_comes_too_late_can_be_run_anew(
    during: PlanView, controller: FakePlanController
) -> None:
    during.editor.set(2, "prompt", "a cat")
    turn = half_done(diamond())
    for number in (1, 2, 3):
        turn = turn.apply(TaskFinished(done(number, scene.text("x"))))
    controller.changes[0][1](Outcome(False))
    assert "just ended" in during.foot.message.text()
    redrawn(during, turn.apply(TurnFinished(Status.DONE, NOW)))
    assert during.editor.stage == "after"
    QTest.mouseClick(during.foot.carry_out, Qt.MouseButton.LeftButton)
    assert controller.again[0].plan.task(2).args["prompt"] == "a cat"


def test_a_change_that_cannot_be_is_told_and_kept(
    during: PlanView, controller: FakePlanController
) -> None:
    during.editor.set(2, "prompt", "a cat")
    controller.changes[0][1](Outcome(error=InputError("The file is gone.")))
    assert during.trouble.text() == "The file is gone."
    assert during.editor.plan.task(2).args["prompt"] == "a cat"
    assert during.foot.carry_out.isVisible()


def test_afterwards_an_edit_waits_for_run_it_again(
    after: PlanView, controller: FakePlanController
) -> None:
    assert not after.foot.isVisible()
    after.editor.set(1, "sentences", 5)
    assert after.foot.costs.text() == ("This runs again: Summarization, Save file. The rest stays.")
    assert after.foot.carry_out.text() == "Run it again"
    QTest.mouseClick(after.foot.carry_out, Qt.MouseButton.LeftButton)
    [again] = controller.again
    assert again.plan.task(1).args["sentences"] == 5
    assert again.turn.id == "t"
    assert again.afresh == frozenset()
    assert after.editor.plan == diamond(), "the old turn stays what it was"


def test_a_step_is_run_again_as_it_is(after: PlanView, controller: FakePlanController) -> None:
    chosen(menu_of(after, 2), "Run this again")
    assert after.foot.costs.text() == ("This runs again: Text to image, Save file. The rest stays.")
    after.foot.carry_out.click()
    assert controller.again[0].afresh == {2}
    assert controller.again[0].plan == diamond()


def test_a_step_is_run_again_while_the_others_run(
    during: PlanView, controller: FakePlanController
) -> None:
    """What would be lost is told first; a mark that was handed over cannot be taken back."""
    menu = menu_of(during, 2)
    assert "Run this again" not in [action.text() for action in menu.actions()], "it waits"
    menu.close()
    chosen(menu_of(during, 0), "Run this again")
    assert controller.changes == []
    assert during.foot.costs.text() == (
        "This runs again: Image to text, Summarization. The rest stays."
    )
    during.foot.carry_out.click()
    assert (controller.changes[0][0], controller.afresh) == (diamond(), [frozenset({0})])
    assert not during.editor.waits
    redrawn(during, half_done(diamond()).apply(PlanChanged(diamond(), frozenset({0}))))
    controller.changes[0][1](Outcome(True))
    assert not during.editor.draft.is_edited
    assert not during.editor.draft.can_undo
    assert not during.foot.isVisible()
    during.editor.run_afresh(0)
    assert len(controller.changes) == 1, "it has not begun anew yet"


def test_a_step_that_nothing_builds_on_yet_is_run_again_at_once(
    during: PlanView, controller: FakePlanController
) -> None:
    during.editor.run_afresh(1)
    assert controller.afresh == [frozenset({1})]
    controller.changes[0][1](Outcome(False))
    assert during.editor.waits, "it came too late, and can be run as a new turn"


def test_what_was_not_done_is_tried_as_well(qtbot: QtBot, controller: FakePlanController) -> None:
    view = shown(qtbot, controller, ended(diamond()))
    view.editor.set(1, "sentences", 5)
    assert view.foot.costs.text() == (
        "This runs again: Summarization, Text to image, Save file. The rest stays."
    )


def test_a_plan_that_is_replaced_keeps_the_edit_that_waits(
    during: PlanView, controller: FakePlanController
) -> None:
    during.editor.choose_expert(0, "reader-large")
    redrawn(during, half_done(diamond()).apply(PlanChanged(diamond().without(2))))
    assert during.editor.plan.task(0).expert == "reader-large"
