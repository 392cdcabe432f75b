"""What a turn tells those who look closer, and that foreign words stay words."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import Qt as GuiQt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.events import (
    ExpertsSelected,
    Noted,
    PlanAccepted,
    ReplyChunk,
    Speaking,
    TaskFinished,
    TaskProgress,
    TaskStarted,
    Traced,
    TurnFinished,
)
from jarvis_desktop.core.expert import Selection, Status
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Task
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui.conversation.turn_view import TurnView
from jarvis_desktop.ui.widgets import images
from tests.families import some
from tests.ui import scene
from tests.ui.scene import HOSTILE, NOW, READ, candidate, done, failed, rows, words

pytestmark = pytest.mark.usefixtures("theme")


might_be_rich = GuiQt.mightBeRichText


def test_a_new_plan_takes_the_place_of_the_old_rows(view: TurnView, turn: Turn) -> None:
    view.draw(turn)
    assert turn.plan is not None
    shorter = turn.plan.without(2).replacing(Task(1, scene.SUM, {"text": "other words"}))
    view.draw(turn.apply(PlanAccepted(shorter)))
    visible = [row for row in rows(view) if row.isVisible()]
    assert [row.subject.full_text() for row in visible] == ["letter.png", "“other words”"]


def test_why_an_expert_was_chosen_is_shown_on_demand(view: TurnView, turn: Turn) -> None:
    chosen = tuple(
        replace(item, reason="fake:1b chose first: it reads letters best.")
        for item in turn.selections
    )
    view.draw(turn.apply(ExpertsSelected(chosen)).apply(TaskFinished(done(0))))
    toggle = rows(view)[0].toggle
    assert toggle.accessibleName() == "Show the details of Image to text"
    assert "it reads letters best" not in words(view)
    toggle.setFocus()
    QTest.keyClick(toggle, Qt.Key.Key_Space)
    QApplication.processEvents()
    assert "Why this expert: fake:1b chose first: it reads letters best." in words(view)


def test_a_task_without_a_candidate_says_why_only_once(view: TurnView, turn: Turn) -> None:
    nobody = (Selection(0, (), "There is no expert."),)
    ended = TaskFinished(failed(0, "There is no expert."))
    view.draw(turn.apply(ExpertsSelected(nobody)).apply(ended))
    assert not rows(view)[0].toggle.isVisible()
    assert words(view).count("There is no expert.") == 1


def test_how_it_was_answered_is_shown_to_those_who_look_closer(view: TurnView, turn: Turn) -> None:
    view.draw(turn)
    assert not view.foot.closer.isVisible()
    turn = turn.apply(Traced("Prompt: plan.md,\nversion 1.")).apply(Traced("Asked again."))
    view.draw(turn)
    assert view.foot.closer.accessibleName() == "Show how this was answered"
    assert "version 1" not in words(view)
    view.foot.closer.setFocus()
    QTest.keyClick(view.foot.closer, Qt.Key.Key_Space)
    assert view.details is not None
    assert view.details.lines.text() == "Prompt: plan.md, version 1.\nAsked again."
    assert view.details.isVisible()
    assert view.foot.closer.accessibleName() == "Hide how this was answered"
    view.draw(turn.apply(Traced("Two turns were left out.")))
    assert view.details.lines.text().endswith("Two turns were left out.")
    QTest.keyClick(view.foot.closer, Qt.Key.Key_Space)
    assert not view.details.isVisible()


@pytest.mark.parametrize("hostile", some(HOSTILE))
def test_foreign_text_is_only_text_wherever_it_appears(
    view: TurnView, tmp_path: Path, hostile: str, qtbot: QtBot
) -> None:
    given = Artifact(Kind.IMAGE, path=tmp_path / "missing.png", name=hostile)
    plan = Plan((Task(0, READ, {"image": given}), Task(1, scene.SUM, {"text": hostile or "x"})))
    turn = (
        Turn("t", NOW, hostile, heard_by=hostile, attachments=(given,))
        .apply(PlanAccepted(plan))
        .apply(ExpertsSelected(tuple(replace(s, reason=hostile) for s in scene.selections(plan))))
        .apply(Traced(hostile))
        .apply(TaskStarted(0, candidate("first")))
        .apply(TaskProgress(0, 2.5, hostile))
    )
    view.draw(turn)
    view.foot.closer.click()
    turn = (
        turn.apply(Noted(hostile))
        .apply(Speaking(hostile))
        .apply(TaskFinished(failed(0, hostile)))
        .apply(TaskFinished(done(1, scene.text(hostile), given)))
        .apply(ReplyChunk(hostile))
    )
    view.draw(turn)
    QApplication.processEvents()
    rows(view)[1].toggle.click()
    view.draw(turn.apply(TurnFinished(Status.PARTLY, NOW)))
    assert images.finish_reading(60_000)
    view.grab()
    for label in view.findChildren(QLabel):
        assert label.textFormat() == Qt.TextFormat.PlainText or not label.text()
    for widget in view.findChildren(QWidget):
        assert not might_be_rich(widget.toolTip())
    assert view.width() <= 800
    assert view.minimumSizeHint().width() <= 800
