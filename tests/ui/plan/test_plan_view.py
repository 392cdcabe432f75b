"""The whole way: a plan is approved, edited while it runs and run again, in the window."""

import asyncio
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.events import (
    ExpertsSelected,
    PlanAccepted,
    PlanProposed,
    TaskFinished,
    TaskStarted,
)
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.turn import Request
from jarvis_desktop.settings import PlannerSettings, Settings
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.plan.plan_view import PlanReviewPanel, PlanView
from tests.ui import scene
from tests.ui.scene import FakeApp, Shown, candidate, done, three_steps


class Planned:
    """Shows a plan, asks about it, does the first step, and waits before the others."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.accepted: Plan | None = None
        self.go_on = asyncio.Event()

    async def __call__(self, request: Request, shown: Shown) -> Status:
        shown.show(PlanProposed(self.plan))
        self.accepted = await shown.frontend.review(self.plan)
        if self.accepted is None:
            return Status.CANCELLED
        shown.show(PlanAccepted(self.accepted))
        shown.show(ExpertsSelected(scene.selections(self.accepted)))
        shown.show(TaskFinished(done(0, scene.text("Dear Sir"))))
        shown.show(TaskStarted(1, candidate("first")))
        await self.go_on.wait()
        for task in (shown.turn.plan or self.plan).tasks[1:]:
            shown.show(TaskFinished(done(task.id, scene.text("words"))))
        return Status.DONE


@pytest.fixture
def planned(app: FakeApp, picture: Path) -> Planned:
    script = Planned(three_steps(picture))
    app.assistant.script = script
    return script


def plan_view(window: MainWindow, place: int = -1) -> PlanView:
    view = window.conversation.views()[place].findChild(PlanView)
    assert view is not None
    return view


def reviewed(window: MainWindow, qtbot: QtBot) -> PlanReviewPanel:
    assert isinstance(window.session.app, FakeApp)
    window.session.app.settings = Settings(planner=PlannerSettings(ask="always"))
    window.session.send(Request(text="Read it"))
    qtbot.waitUntil(lambda: bool(window.conversation.panels()))
    [panel] = window.conversation.panels()
    assert isinstance(panel, PlanReviewPanel)
    return panel


def test_the_plan_that_is_approved_is_the_one_that_was_edited(
    window: MainWindow, planned: Planned, qtbot: QtBot
) -> None:
    panel = reviewed(window, qtbot)
    view = plan_view(window)
    assert panel.no.hasFocus(), "Enter by accident runs nothing"
    assert panel.yes.text() == "Run the plan"
    assert view.editor.set(1, "sentences", 5)
    assert panel.yes.text() == "Run the changed plan"
    QTest.mouseClick(panel.yes, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: planned.accepted is not None)
    assert planned.accepted is not None
    assert planned.accepted.task(1).args["sentences"] == 5
    qtbot.waitUntil(lambda: view.editor.stage == "during")
    assert not view.foot.isVisible()


def test_a_plan_that_is_refused_does_not_run(
    window: MainWindow, app: FakeApp, planned: Planned, qtbot: QtBot
) -> None:
    panel = reviewed(window, qtbot)
    plan_view(window).editor.remove(2)
    QTest.mouseClick(panel.no, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(app.assistant.turns))
    assert planned.accepted is None
    assert app.assistant.turns[0].status is Status.CANCELLED


def test_it_is_edited_while_it_runs_and_run_again_afterwards(
    window: MainWindow, app: FakeApp, planned: Planned, qtbot: QtBot
) -> None:
    window.session.send(Request(text="Read it"))
    qtbot.waitUntil(lambda: bool(window.conversation.views()[0].findChildren(PlanView)))
    view = plan_view(window)
    qtbot.waitUntil(lambda: view.editor.stage == "during" and bool(view.editor.plan))
    qtbot.waitUntil(lambda: view.graph is not None and 2 in view.graph.cards)
    assert view.editor.remove(2)
    qtbot.waitUntil(lambda: bool(app.assistant.changes))
    assert [task.id for task in app.assistant.changes[0]] == [0, 1]
    window.session.engine.call(planned.go_on.set)
    qtbot.waitUntil(lambda: view.editor.stage == "after")
    assert not view.editor.draft.is_edited
    assert view.editor.set(1, "sentences", 1)
    qtbot.waitUntil(view.foot.carry_out.isVisible)
    QTest.mouseClick(view.foot.carry_out, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(window.conversation.views()) == 2)
    qtbot.waitUntil(lambda: bool(app.assistant.again))
    turn, plan, afresh = app.assistant.again[0]
    assert (turn.text, afresh) == ("Read it", frozenset())
    assert plan.task(1).args["sentences"] == 1
    qtbot.waitUntil(lambda: not window.session.busy)


def test_words_and_experts_come_from_the_engine(
    window: MainWindow, app: FakeApp, planned: Planned, qtbot: QtBot
) -> None:
    reviewed(window, qtbot)
    app.assistant.experts = (candidate("reader"),)
    view = plan_view(window)
    app.assistant.revised = planned.plan.without(2)
    view.foot.words.setPlainText("do not say it")
    view.foot.words.entered.emit()
    qtbot.waitUntil(lambda: len(view.editor.plan) == 2)
    assert app.assistant.revisions == ["do not say it"]
    view.open_step(0)
    panel = view.panel
    assert panel is not None
    qtbot.waitUntil(lambda: panel.expert.count() == 2)  # type: ignore[union-attr]
    assert view.editor.controller is not None
    assert [item.name for item in view.editor.controller.inventory] == list(app.inventory)
    window.session.end()


def test_esc_closes_the_step_and_not_the_turn(
    window: MainWindow, planned: Planned, qtbot: QtBot
) -> None:
    reviewed(window, qtbot)
    view = plan_view(window)
    window.activateWindow()
    view.open_step(0)
    QApplication.processEvents()
    inside = window.focusWidget()
    assert inside is not None
    assert view.isAncestorOf(inside)
    QTest.keyClick(inside, Qt.Key.Key_Escape)
    assert view.panel is None
    assert window.session.running is not None
    assert window.conversation.panels(), "it still waits"
    window.session.end()
