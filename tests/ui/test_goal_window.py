"""Agent mode in the window: wishing for it, stopping it in two steps, and going on with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.code import Allow, Verdict
from jarvis_desktop.core.events import (
    GoalTaken,
    RoundEnded,
    RoundStarted,
    TurnFinished,
    TurnStarted,
)
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import Terms, outline_from_markdown
from jarvis_desktop.core.ports import Review, Unfinished
from jarvis_desktop.core.turn import Conversation, Request, Turn
from jarvis_desktop.ui.conversation import approvals
from jarvis_desktop.ui.conversation.approvals import ApprovalPanel, OutlineReview, QuestionPanel
from jarvis_desktop.ui.engine import Outcome, Then
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.pending_turn import StopButtonState, StopScope
from tests.ui import goal_scene, scene
from tests.ui.scene import NOW, FakeApp, Shown


def send(window: MainWindow, words: str = "go") -> None:
    QTest.keyClicks(window.composer.field, words)
    QTest.keyClick(window.composer.field, Qt.Key.Key_Return)


def press(
    window: MainWindow,
    qtbot: QtBot,
    key: Qt.Key,
    modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
) -> None:
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)  # a shortcut is one of the active window only
    QTest.keyClick(window, key, modifier)


def panel_of(window: MainWindow, qtbot: QtBot) -> ApprovalPanel:
    qtbot.waitUntil(lambda: bool(window.conversation.panels()))
    return window.conversation.panels()[0]


def works(*, asks: bool = False) -> Callable[[Request, Shown], object]:
    """Works on a goal; where it `asks`, an interruption ends its step and it asks the person."""

    async def script(request: Request, shown: Shown) -> Status:
        for event in goal_scene.under_way():
            if not isinstance(event, TurnStarted):
                shown.show(event)
        if not asks:
            return await scene.for_ever(request, shown)
        app = shown.frontend.parent().app  # type: ignore[attr-defined]
        await app.assistant.cut.wait()
        shown.show(RoundEnded(5, Status.CANCELLED, "You stopped it."))
        said = await shown.frontend.ask("What should be different?")
        shown.show(RoundStarted(6, "assistant", "re_plan", said))
        return await scene.for_ever(request, shown)

    return script


def test_a_goal_is_off_until_it_is_wished_for(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    goal = window.composer.goal
    assert not goal.isChecked()
    assert goal.accessibleName() == "Goal: work on this in several steps"
    assert "several steps" in goal.toolTip()
    send(window, "one")
    qtbot.waitUntil(lambda: len(app.assistant.turns) == 1)
    press(window, qtbot, Qt.Key.Key_G, Qt.KeyboardModifier.ControlModifier)
    assert goal.isChecked()
    assert window.composer.field.hasFocus()
    assert "what you want to achieve" in window.composer.field.placeholderText()
    send(window, "two")
    qtbot.waitUntil(lambda: len(app.assistant.turns) == 2)
    assert [request.terms for request, _ in app.assistant.handled] == [None, Terms()]


def test_a_spoken_goal_is_one_too(window: MainWindow, app: FakeApp, qtbot: QtBot) -> None:
    QTest.mouseClick(window.composer.goal, Qt.MouseButton.LeftButton)
    QTest.mousePress(window.composer.talk, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(window.composer.meter.levels()))
    QTest.mouseRelease(window.composer.talk, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(app.assistant.turns))
    request = app.assistant.handled[0][0]
    assert request.heard
    assert request.terms == Terms()


def test_it_is_remembered_for_its_conversation_only(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    app.assistant.script = scene.for_ever
    window.composer.goal.click()
    send(window)
    qtbot.waitUntil(lambda: bool(app.assistant.handled))
    place = window.session.open.id
    assert place is not None
    window.sidebar.new.click()
    assert not window.composer.goal.isChecked()
    window.session.open_conversation(place)
    assert window.composer.goal.isChecked()


def test_the_plan_and_the_code_are_agreed_to_in_the_window(
    window: MainWindow, app: FakeApp, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(approvals, "ARMING_MS", 0)
    said: list[object] = []

    async def script(request: Request, shown: Shown) -> Status:
        for event in goal_scene.beginning()[1:]:
            shown.show(event)
        said.append(await shown.frontend.review_outline(goal_scene.DRAFT, ""))
        said.append(await shown.frontend.review_outline(goal_scene.AT_WORK, ""))
        said.append(await shown.frontend.review_code(goal_scene.code_request()))
        return Status.DONE

    app.assistant.script = script
    send(window, goal_scene.WORDS)
    first = panel_of(window, qtbot)
    view = window.conversation.views()[0]
    assert first.question.outline == goal_scene.DRAFT
    assert "to do" not in scene.words(view)  # the plan is in the panel, and not twice
    assert isinstance(first, OutlineReview)
    qtbot.waitUntil(lambda: window.focusWidget() is first.comment)
    first.text.setPlainText(goal_scene.DRAFT.markdown.replace("by month", "by week"))
    QTest.keyClicks(first.comment, "shorter")
    QTest.keyClick(first.comment, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(said) == 1 and panel_of(window, qtbot) is not first)
    second = panel_of(window, qtbot)
    assert "Step 4 is dropped now" in scene.words(second)
    assert "Step 2 now says: Plot them by month" in scene.words(second)
    QTest.mouseClick(second.yes, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(said) == 2 and panel_of(window, qtbot) is not second)
    third = panel_of(window, qtbot)
    qtbot.waitUntil(third.yes.isEnabled)
    QTest.mouseClick(third.yes, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(app.assistant.turns) and not window.session.busy)
    edited = outline_from_markdown(first.outline.markdown.replace("by month", "by week"))
    assert said == [
        Review(edited, "shorter"),
        Review(goal_scene.AT_WORK),
        Verdict(Allow.ONCE, goal_scene.CODE),
    ]
    qtbot.waitUntil(lambda: not window.conversation.panels())


def test_escape_refuses_code_before_it_stops_anything(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    said: list[Verdict] = []

    async def script(request: Request, shown: Shown) -> Status:
        shown.show(goal_scene.beginning()[1])
        said.append(await shown.frontend.review_code(goal_scene.code_request()))
        return Status.DONE

    app.assistant.script = script
    send(window)
    panel_of(window, qtbot)
    window.composer.field.setFocus()
    press(window, qtbot, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: bool(app.assistant.turns))
    assert [verdict.allow for verdict in said] == [Allow.NO]
    assert app.assistant.interrupted == 0


def test_the_first_stop_ends_the_step_and_the_second_the_request(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    app.assistant.interrupts = [True, True]
    app.assistant.script = works(asks=True)  # type: ignore[assignment]
    stop = window.composer.stop
    send(window)
    waiting = window.session.send(Request("next"))
    qtbot.waitUntil(lambda: stop.text() == "Stop this step")
    assert stop.accessibleName() == "Stop this step"
    assert "say what should change" in stop.toolTip()
    QTest.mouseClick(stop, Qt.MouseButton.LeftButton)
    assert stop.text() == "End"
    panel = panel_of(window, qtbot)
    assert panel.question.text == "What should be different?"
    assert stop.text() == "End"
    assert waiting.waiting
    assert isinstance(panel, QuestionPanel)
    QTest.keyClicks(panel.words, "use csv")
    QTest.mouseClick(panel.yes, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: stop.text() == "Stop this step")
    press(window, qtbot, Qt.Key.Key_Escape)
    assert stop.text() == "End"
    qtbot.waitUntil(lambda: app.assistant.interrupted == 2)
    press(window, qtbot, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not window.session.busy)
    assert app.assistant.interrupted == 2
    assert waiting.turn.status is Status.CANCELLED
    assert [item.turn.status for item in window.session.open.entries] == [Status.CANCELLED] * 2


def test_where_nothing_is_to_be_interrupted_one_stop_ends_it(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    app.assistant.script = works()  # type: ignore[assignment]
    send(window)
    qtbot.waitUntil(lambda: window.composer.stop.text() == "Stop this step")
    QTest.mouseClick(window.composer.stop, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not window.session.busy)
    assert app.assistant.interrupted == 1
    assert window.session.open.entries[0].turn.status is Status.CANCELLED
    send(window, "again")  # a plain request is stopped as ever
    app.assistant.script = scene.for_ever
    qtbot.waitUntil(lambda: window.composer.stop.isVisible())
    window.session.stop()
    qtbot.waitUntil(lambda: not window.session.busy)


def test_a_request_that_is_no_goal_is_stopped_at_once(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    app.assistant.script = scene.for_ever
    send(window)
    qtbot.waitUntil(lambda: bool(app.assistant.handled))
    assert window.composer.stop.text() == "Stop"
    window.session.stop()
    qtbot.waitUntil(lambda: not window.session.busy)
    assert app.assistant.interrupted == 0


def test_an_interruption_that_comes_too_late_stops_nothing_else(
    window: MainWindow, app: FakeApp, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The goal ended while the engine was asked, and the next request runs already."""
    session, over, outcomes = window.session, asyncio.Event(), list[Then]()

    async def script(request: Request, shown: Shown) -> Status:
        if request.text == "two":
            return await scene.for_ever(request, shown)
        shown.show(GoalTaken())
        await over.wait()
        return Status.DONE

    app.assistant.script = script
    first, second = session.send(Request("one")), session.send(Request("two"))
    qtbot.waitUntil(lambda: first.turn.agentic and bool(second.waiting))
    with monkeypatch.context() as patch:
        patch.setattr(session, "run", lambda work, then: outcomes.append(then))
        session.stop()
    session.engine.call(over.set)
    qtbot.waitUntil(lambda: len(app.assistant.handled) == 2 and first.turn.status is Status.DONE)
    qtbot.waitUntil(lambda: session.active == (second,))
    outcomes[0](Outcome(False))
    assert session.busy
    assert second.turn.status is None


def test_only_an_answer_to_what_is_asked_after_a_stop_goes_on() -> None:
    def after(*asked: bool) -> StopScope:
        brake = StopButtonState()
        brake.take(RoundStarted(1, "assistant", "coder", ""))
        brake.press()
        for waits in asked:
            brake.asked(waits=waits)
        return brake.next

    assert after() is StopScope.REST
    assert after(False) is StopScope.REST  # the question that the stop took away
    assert after(False, True) is StopScope.REST
    assert after(False, True, False) is StopScope.STEP


def test_a_goal_that_was_cut_off_is_offered_and_goes_on(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    async def script(request: Request, shown: Shown) -> Status:
        for event in goal_scene.ended()[2:]:
            if not isinstance(event, TurnFinished):
                shown.show(event)
        return Status.DONE

    app.assistant.script = script
    known = Turn("t", NOW, goal_scene.WORDS, outline=goal_scene.AT_WORK)
    app.assistant.left = [
        Unfinished("a", known, goal=True),
        Unfinished("a", Turn("u", NOW), goal=True),
    ]
    notice = window.resume_notice
    notice._look(app.build())
    qtbot.waitUntil(notice.isVisible)
    assert notice.go_on.isVisible()
    assert notice.words.text() == (
        "A goal: 1 of 4 steps done, 1 dropped. Finished steps are not repeated. "
        "1 more request after this one."
    )
    QTest.mouseClick(notice.go_on, Qt.MouseButton.LeftButton)
    assert notice.title.text() == "A goal was interrupted"
    assert notice.words.text() == "A goal of agent mode. Finished steps are not repeated."
    qtbot.waitUntil(lambda: bool(app.assistant.turns) and not window.session.busy)
    exchange = window.session.open.entries[0]
    assert exchange.turn.agentic
    window.conversation.draw_now()
    view = window.conversation.view(exchange)
    assert view
    assert "Plan · 3 of 4 steps done, 1 dropped" in scene.words(view)


def test_a_goal_of_the_history_is_read_back(window: MainWindow, app: FakeApp, qtbot: QtBot) -> None:
    turn = goal_scene.folded(goal_scene.ended())
    app.history.conversations = {"a": Conversation("a", (turn,))}
    window.session.open_conversation("a")
    qtbot.waitUntil(lambda: len(window.conversation.views()) == 1)
    told = scene.words(window.conversation.views()[0])
    assert "Plan · 3 of 4 steps done, 1 dropped" in told
    assert "Rounds · 7, 1 failed" in told
    assert "November was the best month" in told


def test_every_control_of_a_goal_has_a_name_and_can_be_reached(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    app.assistant.script = works()  # type: ignore[assignment]
    send(window)
    qtbot.waitUntil(lambda: window.composer.stop.text() == "Stop this step")
    view = window.conversation.views()[0]
    window.conversation.draw_now()
    buttons = [item for item in view.findChildren(QPushButton) if item.isVisible()]
    assert len(buttons) >= 6
    for button in buttons:
        assert button.accessibleName()
        assert button.focusPolicy() & Qt.FocusPolicy.TabFocus
