"""The graph shows how each step is doing, to the eye and to a screen reader, and stays quick."""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent, QFont, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.events import (
    AttemptFailed,
    PlanAccepted,
    TaskChunk,
    TaskFinished,
    TaskProgress,
    TaskStarted,
    TurnFinished,
)
from jarvis_desktop.core.expert import Attempt, Status
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Ref, Task
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui.plan.controller import PlanController
from jarvis_desktop.ui.widgets import images
from jarvis_desktop.ui.widgets.theme import Theme, ThemeChoice
from tests.families import some
from tests.ui import scene
from tests.ui.plan.plan_scene import (
    FakePlanController,
    all_done,
    cards,
    diamond,
    ended,
    half_done,
    letter,
    redrawn,
    shown,
    turn_of,
)
from tests.ui.scene import HOSTILE, NOW, READ, SUM, candidate, done


def test_each_step_has_a_card_that_says_state_inputs_and_results(
    qtbot: QtBot, controller: FakePlanController
) -> None:
    view = shown(qtbot, controller, half_done(diamond()))
    first, second, third, fourth = (cards(view)[number] for number in range(4))
    assert first.accessibleName().startswith("Step 1, Image to text: done.")
    assert "gives text" in first.accessibleName()
    assert "Dear Sir" in first.accessibleName()
    assert "Step 2, Summarization: running" in second.accessibleName()
    assert "takes the result of step 1" in second.accessibleName()
    assert "gives picture" in third.accessibleName()
    assert "takes the result of step 2, 3" in fourth.accessibleName()
    assert view.heading.text() == "Plan · 1 of 4 done"


def test_progress_and_failure_are_said(qtbot: QtBot, controller: FakePlanController) -> None:
    turn = half_done(diamond()).apply(TaskProgress(1, 0.4, "page 2 of 5"))
    view = shown(qtbot, controller, turn)
    assert "running, 40 %" in cards(view)[1].accessibleName()
    assert "page 2 of 5" in cards(view)[1].accessibleName()
    redrawn(view, ended(diamond()))
    assert "failed" in cards(view)[2].accessibleName()
    assert "It needs 2 GB of memory" in cards(view)[2].accessibleName()
    assert "left out" in cards(view)[3].accessibleName()


def test_a_card_shows_the_last_words_of_what_its_step_writes(
    qtbot: QtBot, controller: FakePlanController
) -> None:
    turn = half_done(diamond())
    view = shown(qtbot, controller, turn)
    card = cards(view)[1]
    place, name, before = card.geometry(), card.accessibleName(), card.grab().toImage()
    turn = turn.apply(TaskChunk(1, "Thank you " * 100 + "all."))
    redrawn(view, turn)
    assert card.step.draft.endswith("Thank you all.")
    assert card.grab().toImage() != before
    assert (card.geometry(), card.accessibleName()) == (place, name)
    redrawn(view, turn.apply(AttemptFailed(1, Attempt(candidate("first"), 0.1, "It broke."))))
    assert card.step.draft == ""


def test_a_step_whose_expert_is_fetched_says_so(
    qtbot: QtBot, controller: FakePlanController
) -> None:
    turn = turn_of(diamond()).apply(TaskProgress(0, 0.25, "Fetching reader: 25 MB of 100 MB"))
    view = shown(qtbot, controller, turn)
    step = cards(view)[0].step
    assert (step.state, step.fraction) == ("fetching", 0.25)
    assert "Image to text: downloading its expert, 25 %" in step.spoken
    assert "25 MB of 100 MB" in step.spoken
    assert not step.expert
    redrawn(view, turn.apply(TaskStarted(0, candidate("first"))))
    assert cards(view)[0].step.state == "running"
    redrawn(view, turn.apply(TurnFinished(Status.CANCELLED, NOW)))
    assert cards(view)[0].step.state == "skipped"


def test_what_runs_is_kept_in_view_unless_one_looks_elsewhere(
    qtbot: QtBot, controller: FakePlanController
) -> None:
    steps = [Task(0, READ, {"image": letter()})]
    steps += [Task(number, SUM, {"text": Ref(number - 1)}) for number in range(1, 40)]
    turn = turn_of(Plan(tuple(steps)))
    view = shown(qtbot, controller, turn.apply(TaskStarted(20, candidate("first"))), width=420)
    assert view.graph is not None
    assert not cards(view)[20].visibleRegion().isEmpty()
    bar = view.graph.verticalScrollBar()
    bar.setValue(0)
    ended = turn.apply(TaskFinished(done(20, scene.text("x"))))
    redrawn(view, ended.apply(TaskStarted(21, candidate("first"))))
    assert bar.value() == 0, "the person scrolled away"
    view.graph.ensureWidgetVisible(cards(view)[21])
    redrawn(view, ended.apply(TaskStarted(39, candidate("first"))))
    assert not cards(view)[39].visibleRegion().isEmpty()
    cards(view)[39].setFocus()
    redrawn(view, ended.apply(TaskStarted(1, candidate("first"))))
    assert cards(view)[1].visibleRegion().isEmpty(), "one works in it"


def test_arrows_move_only_while_data_does(qtbot: QtBot, controller: FakePlanController) -> None:
    view = shown(qtbot, controller, half_done(diamond()))
    assert view.graph is not None
    states = {ends: item.state for ends, item in view.graph.canvas.arrows.items()}
    assert states == {(0, 1): "moving", (0, 2): "there", (1, 3): "waiting", (2, 3): "waiting"}
    redrawn(view, ended(diamond()))
    states = {ends: item.state for ends, item in view.graph.canvas.arrows.items()}
    assert states == {(0, 1): "there", (0, 2): "there", (1, 3): "there", (2, 3): "broken"}


@pytest.mark.parametrize("motion", [True, False])
def test_nothing_moves_where_no_motion_is_wanted(
    qtbot: QtBot, controller: FakePlanController, theme: Theme, motion: bool
) -> None:
    theme.adopt(ThemeChoice(motion=motion))
    view = shown(qtbot, controller, half_done(diamond()))
    assert view.graph is not None
    before = view.graph.canvas.phase
    if motion:
        canvas = view.graph.canvas
        qtbot.waitUntil(lambda: canvas.phase != before)
    else:
        QTest.qWait(120)
        assert view.graph.canvas.phase == before
    theme.adopt(ThemeChoice())


def test_a_picture_is_a_thumbnail_on_its_card(
    qtbot: QtBot, controller: FakePlanController, picture: Path
) -> None:
    view = shown(qtbot, controller, half_done(diamond()))
    made = done(2, Artifact(Kind.IMAGE, path=picture, name="sketch.png"))
    redrawn(view, half_done(diamond()).apply(TaskFinished(made)))
    qtbot.waitUntil(lambda: cards(view)[2].look.picture is not None)
    assert "sketch.png" in cards(view)[2].accessibleName()


def test_a_single_step_is_a_quiet_line_that_opens(
    qtbot: QtBot, controller: FakePlanController
) -> None:
    view = shown(qtbot, controller, all_done(Plan((Task(0, READ, {"image": letter()}),))))
    assert view.folded
    assert view.heading.text() == "Image to text · first (builtin)"
    assert not list(view.rows())
    QTest.mouseClick(view.heading, Qt.MouseButton.LeftButton)
    assert view.graph is None
    assert [row.name.text() for row in view.rows()] == ["Image to text"]
    assert not view.form.isVisible()


def test_the_form_is_switched_and_remembered(qtbot: QtBot, controller: FakePlanController) -> None:
    view, other = (shown(qtbot, controller, half_done(diamond())) for _ in range(2))
    assert view.form.accessibleName() == "Show as a list"
    QTest.mouseClick(view.form, Qt.MouseButton.LeftButton)
    assert view.graph is None
    assert other.graph is None, "all plans of the window are shown in that form"
    names = [row.accessibleName() for row in view.rows()]
    assert names[1].startswith("Step 2, Summarization: running")
    assert controller._settings.value("plan_form") == "outline"
    QTest.mouseClick(view.form, Qt.MouseButton.LeftButton)
    assert view.graph is not None
    assert [card.accessibleName() for card in cards(view).values()] == names


def test_without_a_desk_a_plan_is_a_list_that_is_only_read(qtbot: QtBot, theme: Theme) -> None:
    view = shown(qtbot, None, ended(diamond()))
    assert view.graph is None
    assert not view.change.isVisible()
    assert not view.form.isVisible()


def test_arrow_keys_go_from_card_to_card(qtbot: QtBot, controller: FakePlanController) -> None:
    view = shown(qtbot, controller, half_done(diamond()))
    assert view.graph is not None
    view.graph.focus_step(0)
    steps = []
    for key in (
        Qt.Key.Key_Right,
        Qt.Key.Key_Down,
        Qt.Key.Key_Right,
        Qt.Key.Key_Home,
        Qt.Key.Key_End,
    ):
        QTest.keyClick(cards(view)[view.graph.current], key)
        steps.append(view.graph.current)
    assert set(steps[:2]) == {1, 2}
    assert steps[2:] == [3, 0, 3]
    policies = [card.focusPolicy() for card in cards(view).values()]
    assert policies.count(Qt.FocusPolicy.StrongFocus) == 1, "Tab reaches one card, not each"


def test_right_to_left_begins_on_the_right(qtbot: QtBot, controller: FakePlanController) -> None:
    view = shown(qtbot, controller, half_done(diamond()))
    view.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    redrawn(view, half_done(diamond()))
    assert cards(view)[0].x() > cards(view)[1].x() > cards(view)[3].x()
    assert view.graph is not None
    view.graph.focus_step(0)
    QTest.keyClick(cards(view)[0], Qt.Key.Key_Left)
    assert view.graph.current in (1, 2)
    view.grab()


@pytest.mark.parametrize(("width", "points"), [(460, 10.0), (380, 20.0), (780, 16.0)])
def test_it_fits_narrow_windows_and_large_type(
    qtbot: QtBot, controller: FakePlanController, width: int, points: float
) -> None:
    font = QApplication.font()
    larger = QFont(font)
    larger.setPointSizeF(points)
    QApplication.setFont(larger)
    view = shown(qtbot, controller, half_done(diamond()), width=width)
    assert view.width() <= width
    assert all(card.geometry().right() <= view.width() for card in cards(view).values())
    view.grab()
    QApplication.setFont(font)


def test_the_wheel_with_ctrl_changes_the_size_and_one_button_shows_all(
    qtbot: QtBot, controller: FakePlanController
) -> None:
    tasks = [Task(0, READ, {"image": letter()})]
    tasks += [Task(number, SUM, {"text": Ref(number - 1)}) for number in range(1, 40)]
    view = shown(qtbot, controller, turn_of(Plan(tuple(tasks))))
    graph = view.graph
    assert graph is not None
    assert view.whole.isVisible()
    before = graph.canvas.height()
    assert before > graph.height()
    QTest.mouseClick(view.whole, Qt.MouseButton.LeftButton)
    assert graph.canvas.height() <= graph.height()
    QTest.mouseClick(view.whole, Qt.MouseButton.LeftButton)
    assert graph.canvas.height() == before
    event = QWheelEvent(
        QPointF(50, 50),
        graph.mapToGlobal(QPointF(50, 50)),
        QPoint(),
        QPoint(0, -240),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(graph.viewport(), event)
    assert graph.canvas.scale < 1
    assert graph.canvas.height() < before


def large(count: int = 200) -> Turn:
    tasks = [Task(0, READ, {"image": letter()})]
    tasks += [Task(number, SUM, {"text": Ref((number - 1) // 2)}) for number in range(1, count)]
    return turn_of(Plan(tuple(tasks)))


def test_two_hundred_steps_are_drawn_again_only_where_they_changed(
    qtbot: QtBot, controller: FakePlanController
) -> None:
    turn = large()
    view = shown(qtbot, controller, turn)
    assert view.graph is not None
    assert len(cards(view)) == 200
    drawn: list[int] = []
    draw = view.graph.show_plan
    view.graph.show_plan = lambda *args, **kwargs: drawn.append(draw(*args, **kwargs)) or 0  # type: ignore[method-assign, func-returns-value]
    view.draw(turn)
    assert drawn == []
    view.draw(turn.apply(TaskStarted(7, candidate("first"))))
    assert drawn == [1]


def test_two_hundred_steps_are_quick(qtbot: QtBot, controller: FakePlanController) -> None:
    turn = large()
    view = shown(qtbot, controller, turn)

    def spent(drawn: Turn) -> float:
        began = time.process_time()
        view.draw(drawn)
        return time.process_time() - began

    assert min(spent(replace(turn)) for _ in range(7)) < 0.02
    assert min(spent(turn) for _ in range(7)) < 0.005


def test_a_plan_beyond_all_measure_is_a_list(qtbot: QtBot, controller: FakePlanController) -> None:
    view = shown(qtbot, controller, large(300))
    assert view.graph is None
    assert not view.form.isVisible()


@pytest.mark.parametrize("hostile", some(HOSTILE))
def test_foreign_words_are_only_words(
    qtbot: QtBot, controller: FakePlanController, hostile: str
) -> None:
    given = Artifact(Kind.IMAGE, path=Path("/nowhere/x.png"), name=hostile)
    odd = replace(READ, name=hostile or "odd", summary=hostile)
    plan = Plan(
        (
            Task(0, odd, {"image": given}, expert=hostile),
            Task(1, SUM, {"text": Ref(0), "sentences": 1}),
        )
    )
    turn = Turn("t", NOW, hostile).apply(PlanAccepted(plan))
    turn = turn.apply(TaskStarted(1, candidate("first"))).apply(TaskProgress(1, 3.0, hostile))
    view = shown(qtbot, controller, turn.apply(TaskFinished(done(0, scene.text(hostile)))))
    view.grab()
    view.open_step(0)
    redrawn(view, turn.apply(TaskFinished(scene.failed(0, hostile))))
    view.grab()
    assert view.minimumSizeHint().width() <= 780
    assert images.finish_reading(60_000)


def test_from_afar_and_with_a_chosen_expert_it_can_still_be_drawn(
    qtbot: QtBot, controller: FakePlanController
) -> None:
    view = shown(qtbot, controller, half_done(diamond().pinned(2, "painter")))
    assert "painter" in cards(view)[2].accessibleName()
    view.grab()
    assert view.graph is not None
    view.graph.zoom = 0.4
    redrawn(view, half_done(diamond().pinned(2, "painter")))
    assert view.graph.canvas.scale == 0.4
    view.grab()


def test_a_narrow_graph_is_gone_through_from_above_to_below(
    qtbot: QtBot, controller: FakePlanController
) -> None:
    view = shown(qtbot, controller, half_done(diamond()), width=420)
    assert view.graph is not None
    view.graph.focus_step(0)
    seen = [0]
    for _ in range(3):
        QTest.keyClick(cards(view)[seen[-1]], Qt.Key.Key_Down)
        seen.append(view.graph.current)
    assert seen == [0, 1, 2, 3]
    QTest.keyClick(cards(view)[3], Qt.Key.Key_Down)
    assert view.graph.current == 3
    view.grab()


def test_the_right_button_opens_the_menu_in_both_forms(
    qtbot: QtBot, controller: FakePlanController, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown_menus: list[str] = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, at: shown_menus.append(menu.accessibleName()))
    view = shown(qtbot, controller, half_done(diamond()))
    reason = QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(cards(view)[1], QContextMenuEvent(reason, QPoint(5, 5), QPoint(5, 5)))
    controller.show_form("outline")
    row = next(view.rows())
    QApplication.sendEvent(row, QContextMenuEvent(reason, QPoint(5, 5), QPoint(5, 5)))
    QTest.keyClick(row, Qt.Key.Key_Menu)
    assert shown_menus == ["Actions for this step"] * 3


def test_a_file_is_asked_for_without_waiting(
    qtbot: QtBot, controller: FakePlanController, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialogs: list[QFileDialog] = []
    monkeypatch.setattr(QFileDialog, "open", lambda dialog: dialogs.append(dialog))
    view = shown(qtbot, controller, half_done(diamond()))
    chosen: list[Path] = []
    PlanController.choose_file(controller, view, chosen.append)
    dialogs[0].fileSelected.emit("/nowhere/letter.png")
    assert chosen == [Path("/nowhere/letter.png")]
