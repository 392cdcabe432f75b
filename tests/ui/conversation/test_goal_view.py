"""A turn of agent mode on screen: its plan, the plans further in, and its rounds."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import Qt as GuiQt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.events import (
    OutlineChanged,
    PlanAccepted,
    RoundEnded,
    RoundProgress,
    RoundStarted,
    TaskFinished,
    TaskStarted,
    TurnFinished,
)
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import Outline, OutlineStep, StepState
from jarvis_desktop.core.turn import MAX_PRINTED_CHARS, Turn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation import goal_view
from jarvis_desktop.ui.conversation.answer import AnswerText
from jarvis_desktop.ui.conversation.goal_view import (
    INITIAL_ROUNDS,
    ROUNDS_PER_CLICK,
    GoalOutlineView,
    GoalView,
    RoundRow,
    RoundsView,
)
from jarvis_desktop.ui.conversation.turn_view import TurnView
from jarvis_desktop.ui.media.cards import ImageCard
from jarvis_desktop.ui.widgets import images
from jarvis_desktop.ui.widgets.forms import Fold
from tests.families import some
from tests.ui import goal_scene, scene
from tests.ui.goal_scene import CODER, DRAFT, beginning, ended, folded, under_way
from tests.ui.scene import HOSTILE, NOW, candidate, done, words

pytestmark = pytest.mark.usefixtures("theme")

SOME_HOSTILE = [HOSTILE[place] for place in (0, 2, 5, 7, 8, 11, 16, 17)]


def only(view: TurnView, kind: type[QWidget]) -> QWidget:
    found = [item for item in view.findChildren(kind) if item.isVisible()]
    assert len(found) == 1
    return found[0]


def outlines(view: TurnView) -> list[list[str]]:
    return [
        [row.accessibleName() for row in item.rows]
        for item in view.findChildren(GoalOutlineView)
        if item.isVisible()
    ]


def rounds(view: TurnView) -> tuple[RoundRow, ...]:
    found = view.findChild(RoundsView)
    assert found is not None
    return found.rows()


def open_round(view: TurnView, place: int) -> str:
    """Look closer at a round; all that can be read of it."""
    row = rounds(view)[place]
    row.toggle.setFocus()
    QTest.keyClick(row.toggle, Qt.Key.Key_Space)
    QApplication.processEvents()
    return read(row)


def read(row: QWidget) -> str:
    code = [item.toPlainText() for item in row.findChildren(QPlainTextEdit) if item.isVisible()]
    return "\n".join([words(row), *code])


def test_before_there_is_a_plan_it_says_so(view: TurnView) -> None:
    view.draw(folded(beginning()[:2]))
    assert view.status.words.text() == "Writing a plan…"
    assert not view.findChildren(GoalView)[0].isVisible()
    view.draw(folded(beginning()))
    assert view.status.words.text() == "Thinking about the next step…"


def test_each_step_has_its_state_in_words_and_as_a_picture(view: TurnView) -> None:
    view.draw(folded(under_way()))
    assert outlines(view)[0] == [
        "Step 1, done: Download the closing prices of the last year from prices.example",
        "Step 2, doing: Plot them by month",
        "Step 3, to do: Find the month with the largest gain",
        "Step 4, dropped: Say which month was best, with the figures",
    ]
    first, _, _, last = view.findChildren(GoalOutlineView)[0].rows
    assert (first.word.text(), first.icon.accessibleName()) == ("done", "done")
    assert first.note.text() == "251 rows, saved as prices.csv"
    assert last.text.font().strikeOut()
    assert not first.text.font().strikeOut()
    assert "Plan · 1 of 4 steps done, 1 dropped" in words(view)


def test_a_plan_follows_what_happens(view: TurnView) -> None:
    turn = folded(under_way())
    view.draw(turn)
    rows = view.findChildren(GoalOutlineView)[0].rows
    changed = goal_scene.AT_WORK.with_state(2, StepState.FAILED, "no such column")
    view.draw(turn.apply(OutlineChanged(Outline(changed.steps[:3]))))
    now = view.findChildren(GoalOutlineView)[0].rows
    assert now == rows[:3]
    assert now[1].word.text() == "failed"
    assert now[1].word.property("role") == "warning"
    view.draw(turn.apply(OutlineChanged(Outline((*changed.steps, OutlineStep(9, "Say it"))))))
    assert outlines(view)[0][-1] == "Step 9, to do: Say it"


def test_the_plans_further_in_are_below_and_can_be_folded_away(view: TurnView) -> None:
    view.draw(folded(under_way()))
    assert [len(item) for item in outlines(view)] == [4, 3]
    _, fold = view.findChildren(Fold)
    assert fold.heading.text() == "Coder’s plan · 1 of 3 steps done, 1 failed"
    assert fold.heading.accessibleName() == "Hide Coder’s plan"
    fold.heading.setFocus()
    QTest.keyClick(fold.heading, Qt.Key.Key_Space)
    assert [len(item) for item in outlines(view)] == [4]
    assert fold.heading.accessibleName() == "Show Coder’s plan"


def test_a_round_says_who_does_what_and_how_it_went(view: TurnView) -> None:
    view.draw(folded(under_way()))
    told = [
        (row.who.text(), row.title.text(), row.what.full_text(), row.icon.accessibleName())
        for row in rounds(view)
    ]
    assert told == [
        (
            "JARVIS",
            "Hand over to the coder",
            "Download the prices and plot them by month",
            "running",
        ),
        ("Coder", "Code library", "A function that downloads prices", "done"),
        ("Librarian", "Write a function", "download_prices(symbol, days)", "done"),
        ("Coder", "Run code", "Group the prices by month", "failed"),
        ("Coder", "Run code", "12 months, drawing", "running"),
    ]
    assert rounds(view)[3].facts.text() == "failed"
    assert rounds(view)[3].reason.text() == "KeyError: 'close'"
    assert "Rounds · 5, 1 failed" in words(view)
    assert not view.status.isVisible()


def test_a_role_or_branch_of_another_version_is_named_as_it_is(view: TurnView) -> None:
    view.draw(folded(beginning()).apply(RoundStarted(1, "assistant/web_reader", "look_up", "x")))
    row = rounds(view)[0]
    assert (row.who.text(), row.title.text()) == ("Web_reader", "Look up")


def test_the_time_of_a_round_runs_and_then_stands(
    view: TurnView, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(goal_view, "time", SimpleNamespace(monotonic=lambda: now[0]))
    turn = folded(beginning()).apply(RoundStarted(1, CODER, "run_code", "x"))
    view.draw(turn)
    now[0] += 7
    view.draw(turn)
    assert rounds(view)[0].elapsed.text() == "7.0 s"
    view.draw(turn.apply(RoundEnded(1, Status.DONE, "fine")))
    now[0] += 60
    view.draw(turn.apply(RoundEnded(1, Status.DONE, "fine")).apply(TurnFinished(Status.DONE, NOW)))
    assert rounds(view)[0].elapsed.text() == "7.0 s"


def test_a_round_that_tells_its_time_shows_that_one(
    view: TurnView, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(goal_view, "time", SimpleNamespace(monotonic=lambda: now[0]))
    turn = folded(beginning()).apply(RoundStarted(1, CODER, "run_code", "x"))
    view.draw(turn)
    now[0] += 60  # the person was asked meanwhile
    turn = turn.apply(RoundEnded(1, Status.DONE, "fine", seconds=3.5))
    view.draw(turn)
    assert rounds(view)[0].elapsed.text() == "3.5 s"


def test_the_clock_ticks_by_itself(view: TurnView, qtbot: QtBot) -> None:
    view.draw(folded(beginning()).apply(RoundStarted(1, CODER, "run_code", "x")))
    qtbot.waitUntil(lambda: rounds(view)[0].elapsed.text() not in ("", "0.0 s"))


def test_a_round_shows_its_code_and_what_came_of_it(
    view: TurnView, actions: Actions, qtbot: QtBot
) -> None:
    view.draw(folded(under_way()))
    assert "pct_change" not in read(rounds(view)[3])
    told = open_round(view, 3)
    assert goal_scene.CODE.rstrip() in told
    assert goal_scene.TRACEBACK in told
    assert told.count("251 rows") == 1  # what was printed is in it
    assert rounds(view)[3].toggle.accessibleName() == "Hide round 4"
    copy = next(
        button
        for button in rounds(view)[3].findChildren(type(rounds(view)[3].toggle))
        if button.accessibleName() == "Copy: Code of round 4"
    )
    with qtbot.waitSignal(actions.copy_text) as copied:
        QTest.mouseClick(copy, Qt.MouseButton.LeftButton)
    assert copied.args == [goal_scene.CODE]
    rounds(view)[3].toggle.click()
    assert "pct_change" not in read(rounds(view)[3])


def test_what_a_script_prints_comes_live_and_not_without_end(view: TurnView) -> None:
    turn = folded(under_way())
    view.draw(turn)
    assert "12 months, drawing" in open_round(view, 4)
    turn = turn.apply(RoundProgress(5, "a new line\n"))
    view.draw(turn)
    assert "12 months, drawing\na new line" in read(rounds(view)[4])
    assert rounds(view)[4].what.full_text() == "a new line"
    for number in range(6000):
        turn = turn.apply(RoundProgress(5, f"line {number}\n"))
    view.draw(turn)
    printed = rounds(view)[4].findChildren(QPlainTextEdit)[1]
    assert printed.toPlainText().endswith("line 5999")
    assert len(printed.toPlainText()) <= MAX_PRINTED_CHARS


def test_what_a_round_made_is_shown_with_it_and_in_the_end(
    view: TurnView, picture: Path, qtbot: QtBot
) -> None:
    made = goal_scene.chart(picture)
    view.draw(folded(under_way()))
    turn = folded(ended(made)[:-2])
    view.draw(turn)
    assert rounds(view)[4].facts.text() == "1 result"
    assert not view.findChildren(ImageCard)
    open_round(view, 4)
    assert only(view, ImageCard)
    rounds(view)[4].toggle.click()
    turn = turn.apply(TurnFinished(Status.DONE, NOW + timedelta(seconds=80)))
    view.draw(turn)
    assert only(view, ImageCard)
    assert view.foot.ending.full_text() == "Done in 1 min 20 s"
    assert images.finish_reading(60_000)


def test_a_turn_of_the_history_shows_its_plan_and_the_rounds_on_demand(
    view: TurnView, picture: Path
) -> None:
    view.draw(folded(ended(goal_scene.chart(picture))))
    assert [len(item) for item in outlines(view)] == [4]
    assert not rounds(view)
    assert "November was the best month" in words(view)
    fold, _ = view.findChildren(Fold)
    assert fold.heading.accessibleName() == "Show the rounds"
    assert fold.heading.text() == "Rounds · 7, 1 failed"
    fold.heading.click()
    assert [row.number for row in rounds(view)] == [1, 2, 3, 4, 5, 6, 7]
    assert {row.elapsed.text() for row in rounds(view)} == {""}
    assert goal_scene.CODE.rstrip() in open_round(view, 3)
    assert images.finish_reading(60_000)


def test_what_was_stopped_does_not_run_for_ever(view: TurnView) -> None:
    turn = folded(under_way())
    view.draw(turn)
    view.draw(turn.apply(TurnFinished(Status.CANCELLED, NOW)))
    assert rounds(view)[4].icon.accessibleName() == "stopped"
    assert rounds(view)[4].facts.text() == "stopped"
    assert not view.status.isVisible()


def test_what_the_experts_of_a_round_do_is_shown_while_they_do_it(
    view: TurnView, picture: Path
) -> None:
    turn = folded(beginning()).apply(RoundStarted(1, "assistant", "run_experts", "Read it"))
    turn = turn.apply(PlanAccepted(scene.three_steps(picture)))
    view.draw(turn.apply(TaskStarted(0, candidate("first"))))
    assert "Experts · 3 steps" in words(view)
    for number in range(3):
        turn = turn.apply(TaskFinished(done(number)))
    view.draw(turn)
    assert "Experts" not in [row.name.text() for row in scene.rows(view) if row.isVisible()]
    assert not [row for row in scene.rows(view) if row.isVisible()]


def long_turn(count: int) -> Turn:
    turn = folded(beginning())
    for number in range(1, count + 1):
        turn = turn.apply(RoundStarted(number, CODER, "run_code", f"photo {number}", "x = 1"))
        turn = turn.apply(RoundEnded(number, Status.DONE, f"renamed photo {number}"))
    return turn


def test_of_three_hundred_rounds_the_newest_have_widgets(view: TurnView) -> None:
    turn = long_turn(300)
    view.draw(turn)
    assert [row.number for row in rounds(view)] == list(range(301 - INITIAL_ROUNDS, 301))
    earlier = view.findChildren(RoundsView)[0].earlier
    assert earlier.text() == "Show 25 of 292 earlier rounds"
    earlier.click()
    QApplication.processEvents()
    numbers = [row.number for row in rounds(view)]
    assert numbers == list(range(301 - INITIAL_ROUNDS - ROUNDS_PER_CLICK, 301))
    tops = [row.y() for row in rounds(view)]
    assert tops == sorted(tops)


def test_a_few_earlier_rounds_are_shown_at_once(view: TurnView) -> None:
    view.draw(long_turn(INITIAL_ROUNDS + 1))
    earlier = view.findChildren(RoundsView)[0].earlier
    assert earlier.text() == earlier.accessibleName() == "Show 1 earlier round"
    earlier.click()
    assert not earlier.isVisible()


def test_a_round_that_is_read_stays_while_others_come(view: TurnView) -> None:
    view.draw(long_turn(10))
    assert "renamed photo 4" in open_round(view, 1)
    kept = rounds(view)[1]
    view.draw(long_turn(60))
    assert [row.number for row in rounds(view)] == [4, *range(61 - INITIAL_ROUNDS, 61)]
    assert rounds(view)[0] is kept
    kept.toggle.click()
    view.draw(long_turn(61))
    assert 4 not in [row.number for row in rounds(view)]


@pytest.mark.parametrize("hostile", some(SOME_HOSTILE))
def test_foreign_text_is_only_text_in_agent_mode(
    view: TurnView, tmp_path: Path, hostile: str
) -> None:
    step = OutlineStep(1, (hostile or "x")[:400], StepState.FAILED, hostile[:400])
    made = replace(goal_scene.chart(tmp_path / "missing.png"), name=hostile)
    turn = folded(beginning()).apply(OutlineChanged(Outline((step,))))
    turn = turn.apply(OutlineChanged(Outline((step,)), path=f"assistant/{hostile}"))
    turn = turn.apply(RoundStarted(1, f"assistant/{hostile}", hostile, hostile, hostile))
    turn = turn.apply(RoundProgress(1, hostile))
    view.draw(turn)
    turn = turn.apply(RoundEnded(1, Status.FAILED, hostile, (made,), hostile))
    turn = turn.apply(RoundStarted(2, "assistant", "ask_user", hostile))
    view.draw(turn.apply(RoundEnded(2, Status.PARTLY, hostile)))
    for row in rounds(view):
        row.toggle.click()
    QApplication.processEvents()
    assert images.finish_reading(60_000)
    view.grab()
    for label in view.findChildren(QLabel):
        assert label.textFormat() == Qt.TextFormat.PlainText or not label.text()
    for widget in view.findChildren(QWidget):
        assert not GuiQt.mightBeRichText(widget.toolTip())
    assert view.minimumSizeHint().width() <= 800


@pytest.mark.parametrize(
    ("states", "told"),
    [
        ("", "4 steps"),
        ("x", "1 of 4 steps done"),
        ("x!-", "1 of 4 steps done, 1 failed, 1 dropped"),
        ("xxxx", "4 of 4 steps done"),
    ],
)
def test_how_far_a_plan_is(states: str, told: str) -> None:
    outline = DRAFT
    by_mark = {"x": StepState.DONE, "!": StepState.FAILED, "-": StepState.DROPPED}
    for number, mark in enumerate(states, 1):
        outline = outline.with_state(number, by_mark[mark])
    assert goal_view.tally_steps(outline) == told


RAW = "**Read** `prices.csv` <img src=http://127.0.0.1:9/x.png> ![p](file:///dev/zero)"
READ = "Read prices.csv <img src=http://127.0.0.1:9/x.png> "


def test_what_an_llm_says_is_rendered_and_loads_nothing(view: TurnView) -> None:
    turn = folded(under_way())
    steps = Outline((OutlineStep(1, RAW, StepState.DOING, "see *this*"),))
    turn = turn.apply(OutlineChanged(steps))
    number, said = next(
        (number, item) for number, item in turn.rounds.items() if not item.code and item.status
    )
    told = replace(said, branch="intermediate_answer", what=RAW, observation=f"# So\n\n{RAW}")
    view.draw(replace(turn, rounds={number: told}))
    row = view.findChildren(GoalOutlineView)[0].rows[0]
    assert row.text.text().startswith(READ)
    assert row.note.text() == "see this"
    shown = open_round(view, 0)
    assert "**" not in shown
    assert "`" not in shown
    answer = rounds(view)[0].findChild(AnswerText)
    assert answer is not None
    assert READ.strip() in answer.toPlainText()
    assert "# " not in answer.toPlainText()
    assert "\ufffc" not in answer.toPlainText(), "no picture"
