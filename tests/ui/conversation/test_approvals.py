"""What the person says to the plan of a goal, and to code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import Qt as GuiQt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.code import Allow, CodeRequest, Verdict
from jarvis_desktop.core.goal import Outline, OutlineStep, StepState, outline_from_markdown
from jarvis_desktop.core.ports import Review
from jarvis_desktop.ui.conversation import approvals
from jarvis_desktop.ui.conversation.approvals import (
    EDIT_COMMENT,
    QUESTION_CHARS,
    ApprovalPanel,
    CodeReview,
    OutlineReview,
    QuestionPanel,
)
from jarvis_desktop.ui.engine import EngineThread, Outcome, QtFrontend
from jarvis_desktop.ui.widgets.theme import Theme
from tests.families import some
from tests.ui import goal_scene
from tests.ui.goal_scene import DRAFT, code_request
from tests.ui.scene import HOSTILE, words

ENTER, CTRL = Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier
SOME_HOSTILE = [HOSTILE[place] for place in (0, 2, 5, 7, 8, 11, 16, 17)]


class Asked:
    """Asks something on the engine and shows its panel; keeps the answer."""

    def __init__(self, engine: EngineThread, qtbot: QtBot) -> None:
        self.frontend = QtFrontend(engine)
        self.outcomes: list[Outcome] = []
        self._engine = engine
        self.qtbot = qtbot
        self._asked: list[Any] = []
        self.frontend.asked.connect(self._asked.append)

    def show(self, work: Callable[[], Any], build: Callable[[Any], ApprovalPanel]) -> ApprovalPanel:
        self.job = self._engine.run(work, self.outcomes.append)
        self.qtbot.waitUntil(lambda: bool(self._asked))
        panel = build(self._asked.pop())
        self.qtbot.addWidget(panel)
        panel.resize(700, 500)
        panel.show()
        panel.activateWindow()
        panel.take_focus()
        QApplication.processEvents()
        return panel

    @property
    def answer(self) -> Any:
        self.qtbot.waitUntil(lambda: bool(self.outcomes))
        return self.outcomes[0].value


@pytest.fixture
def asked(engine: EngineThread, qtbot: QtBot, theme: Theme) -> Asked:
    return Asked(engine, qtbot)


@pytest.fixture
def armed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code can be allowed at once."""
    monkeypatch.setattr(approvals, "ARMING_MS", 0)


def plan(
    asked: Asked, outline: Outline = DRAFT, why: str = "", before: Outline | None = None
) -> OutlineReview:
    panel = asked.show(
        lambda: asked.frontend.review_outline(outline, why),
        lambda question: OutlineReview(question, before),
    )
    assert isinstance(panel, OutlineReview)
    return panel


def code(asked: Asked, request: CodeRequest | None = None, **changes: object) -> CodeReview:
    request = request or code_request(**changes)
    panel = asked.show(lambda: asked.frontend.review_code(request), CodeReview)
    assert isinstance(panel, CodeReview)
    asked.qtbot.waitUntil(panel.yes.isEnabled)
    return panel


def click(button: QWidget) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_a_plan_is_taken_as_it_is(asked: Asked) -> None:
    panel = plan(asked)
    shown = "\n".join(f"{step.id}. {step.text}" for step in DRAFT)
    assert panel.text.toPlainText() == shown  # no raw Markdown
    assert not panel.revise.isEnabled()
    click(panel.yes)
    assert asked.answer == Review(DRAFT)
    QApplication.processEvents()
    assert not panel.isEnabled()


@pytest.mark.parametrize("where", ["comment", "text", "yes"])
def test_control_and_enter_take_it_from_anywhere(asked: Asked, where: str) -> None:
    panel = plan(asked)
    field = getattr(panel, where)
    field.setFocus()
    QTest.keyClick(field, ENTER, CTRL)
    assert asked.answer == Review(DRAFT)


def test_enter_alone_takes_nothing(asked: Asked) -> None:
    panel = plan(asked)
    assert panel.comment.hasFocus()
    QTest.keyClick(panel.comment, ENTER)
    panel.text.setFocus()
    QTest.keyClick(panel.text, ENTER)
    assert not panel.answered


def test_an_edited_plan_is_understood_while_it_is_written(asked: Asked) -> None:
    panel = plan(asked)
    assert not panel.mine.isVisible()
    text = DRAFT.markdown.replace("Plot them by month", "Plot them by week")
    panel.text.setPlainText(text + "\nSend me the chart")
    assert panel.mine.text() == (
        "You changed:\nStep 2 now says: Plot them by week\nStep 5 is new: Send me the chart"
    )
    click(panel.yes)
    edited = asked.answer.outline
    assert [step.id for step in edited] == [1, 2, 3, 4, 5]
    assert edited.step(2) == OutlineStep(2, "Plot them by week")
    assert edited.step(5) == OutlineStep(5, "Send me the chart")
    assert asked.answer.comment == ""


def test_states_and_notes_outlast_an_edit(asked: Asked) -> None:
    panel = plan(asked, goal_scene.AT_WORK)
    shown = panel.text.toPlainText()
    assert shown.startswith("[x] 1. ")
    panel.text.setPlainText(shown.replace("largest gain", "largest loss"))
    click(panel.yes)
    edited = asked.answer.outline
    assert edited.step(1) == goal_scene.AT_WORK.step(1)
    assert edited.step(3) == OutlineStep(3, "Find the month with the largest loss")
    assert edited.step(4).state is StepState.DROPPED


def test_an_empty_plan_is_no_plan(asked: Asked) -> None:
    panel = plan(asked)
    panel.text.setPlainText("  \n ")
    assert panel.wrong.text() == "The plan has no step."
    for button in (panel.yes, panel.revise):
        assert not button.isEnabled()
    panel.text.setFocus()
    QTest.keyClick(panel.text, ENTER, CTRL)
    panel.comment.setPlainText("like that")
    QTest.keyClick(panel.comment, ENTER)
    assert not panel.answered
    panel.text.setPlainText(DRAFT.markdown)
    assert not panel.wrong.isVisible()
    assert panel.yes.isEnabled()


@pytest.mark.parametrize("keys", [None, (ENTER, Qt.KeyboardModifier.NoModifier), (ENTER, CTRL)])
def test_a_comment_has_it_written_anew(asked: Asked, keys: Any) -> None:
    panel = plan(asked)
    assert panel.yes.property("kind") == "primary"
    QTest.keyClicks(panel.comment, "by week")
    assert (panel.yes.property("kind"), panel.revise.property("kind")) == ("", "primary")
    if keys:
        QTest.keyClick(panel.comment, *keys)
    else:
        click(panel.revise)
    assert asked.answer == Review(DRAFT, "by week")


def test_an_edit_without_a_comment_can_be_sent_back_too(asked: Asked) -> None:
    panel = plan(asked)
    panel.text.setPlainText("1. Guess")
    click(panel.revise)
    assert asked.answer == Review(outline_from_markdown("1. Guess", DRAFT), EDIT_COMMENT)


def test_stopping_wants_no_plan(asked: Asked) -> None:
    click(plan(asked).no)
    assert asked.answer is None


def test_what_changed_since_the_last_draft_is_told_once(asked: Asked) -> None:
    after = DRAFT.with_state(4, StepState.DROPPED, "you said so")
    after = Outline((*after.steps, OutlineStep(5, "Save the chart")))
    panel = plan(asked, after, "As you asked. Step 5 is new: Save the chart", DRAFT)
    assert panel.why.view.toPlainText().splitlines() == [
        "As you asked. Step 5 is new: Save the chart",
        "Step 4 is dropped now (you said so).",
    ]
    asked.job.cancel()


def test_code_runs_once_to_the_byte(asked: Asked, armed: None) -> None:
    source = "print('\u202e\u00a0')\r\n"
    panel = code(asked, source=source)
    assert panel.source.toPlainText() == "print('\\u202e\\xa0')\n"
    assert panel.unseen.isVisible()
    panel.comment.setPlainText(" the file is large ")
    click(panel.yes)
    assert asked.answer == Verdict(Allow.ONCE, source, "the file is large")


def test_code_is_allowed_for_the_goal(asked: Asked, armed: None) -> None:
    panel = code(asked)
    assert panel.goal.isVisible()
    assert not panel.unseen.isVisible()
    click(panel.goal)
    assert asked.answer == Verdict(Allow.GOAL, goal_scene.CODE)


def test_code_that_was_edited_runs_as_edited(asked: Asked, armed: None) -> None:
    panel = code(asked)
    panel.source.setFocus()
    QTest.keyClicks(panel.source, "import csv")
    QTest.keyClick(panel.source, ENTER)
    click(panel.yes)
    assert asked.answer == Verdict(Allow.ONCE, "import csv\n" + goal_scene.CODE)


def test_no_key_but_on_its_button_allows_code(asked: Asked, armed: None) -> None:
    panel = code(asked)
    assert panel.comment.hasFocus()
    for field in (panel.comment, panel.source, panel):
        field.setFocus()
        for modifier in (Qt.KeyboardModifier.NoModifier, CTRL):
            QTest.keyClick(field, ENTER, modifier)
    assert not panel.answered
    panel.yes.setFocus()
    QTest.keyClick(panel.yes, Qt.Key.Key_Space)
    assert asked.answer.allow is Allow.ONCE


def test_a_click_that_was_meant_for_something_else_allows_nothing(asked: Asked) -> None:
    request = code_request()
    panel = asked.show(lambda: asked.frontend.review_code(request), CodeReview)
    assert isinstance(panel, CodeReview)
    for button in (panel.yes, panel.goal):
        assert not button.isEnabled()
        click(button)
    assert panel.no.isEnabled()
    click(panel.no)
    assert asked.answer == Verdict(Allow.NO, request.source)


def test_escape_refuses(asked: Asked, armed: None) -> None:
    panel = code(asked)
    panel.comment.setPlainText("use csv")
    assert panel.refuse()
    assert asked.answer == Verdict(Allow.NO, goal_scene.CODE, "use csv")


def test_what_protects_it_is_said(asked: Asked, armed: None) -> None:
    panel = code(asked)
    assert panel.shield.title.text() == "In a sandbox: bubblewrap, no network"
    assert panel.shield.title.property("role") == "done"
    assert panel.shield.objectName() == "safe"
    assert "month as a bar." in words(panel)
    asked.job.cancel()


def test_the_hosts_it_may_reach_are_named(asked: Asked, armed: None) -> None:
    hosts = tuple(f"host{number}.example:443" for number in range(30))
    panel = code(asked, hosts=hosts)
    assert "no network" not in words(panel)
    assert all(host in words(panel).replace("\u200b", "") for host in hosts)
    asked.job.cancel()


def test_without_a_sandbox_a_red_banner_stands_above_it(asked: Asked, armed: None) -> None:
    panel = code(asked, protection=goal_scene.BARE)
    assert panel.shield.objectName() == "unsafe"
    assert panel.shield.title.text() == "Not sandboxed"
    assert panel.shield.title.property("role") == "danger"
    assert approvals.DANGER in words(panel)
    assert "no user namespaces" in words(panel)
    assert not panel.goal.isVisible()
    assert panel.yes.property("kind") == "risk"
    assert panel.shield.y() < panel.source.y()
    asked.job.cancel()


def test_a_function_is_kept_with_its_tests_in_view(asked: Asked, armed: None) -> None:
    panel = code(asked, source=goal_scene.FUNCTION, saves="download_prices", tests=goal_scene.TESTS)
    assert "Keep “download_prices” in the code library?" in words(panel)
    assert panel.yes.text() == "Keep it"
    assert not panel.goal.isVisible()
    assert "3 of 3 passed" in panel.findChildren(QPlainTextEdit)[1].toPlainText()
    click(panel.yes)
    assert asked.answer == Verdict(Allow.ONCE, goal_scene.FUNCTION)


def test_what_changes_in_a_function_is_shown_and_follows_an_edit(
    asked: Asked, armed: None, qtbot: QtBot
) -> None:
    panel = code(
        asked, source=goal_scene.FUNCTION, saves="download_prices", replaces=goal_scene.OLDER
    )
    assert "Change “download_prices” in the code library?" in words(panel)
    shown = panel.difference.toPlainText()
    assert "-    return prices.tail(days)" in shown
    assert "+    return prices.sort_index().tail(days)" in shown
    assert not panel.source.isVisible()
    panel.source.setPlainText(goal_scene.OLDER)
    qtbot.waitUntil(lambda: panel.difference.toPlainText() == "Nothing changes.")
    asked.job.cancel()


def test_a_window_that_closes_means_no(engine: EngineThread, qtbot: QtBot, theme: Theme) -> None:
    one, two, three = (Asked(engine, qtbot) for _ in range(3))
    plan(one).answer(None)
    code(two).answer(None)
    three.show(lambda: three.frontend.ask("Which?"), QuestionPanel).answer(None)
    assert one.answer is None
    assert two.answer == Verdict(Allow.NO, goal_scene.CODE)
    assert three.answer == ""


def test_a_long_question_leaves_its_answer_in_view(asked: Asked) -> None:
    long = "Which column? " + "column " * 2000
    panel = asked.show(lambda: asked.frontend.ask(long), QuestionPanel)
    assert isinstance(panel, QuestionPanel)
    assert panel.height() < 600
    assert len(words(panel)) < QUESTION_CHARS + 200
    assert panel.words.hasFocus()
    QTest.keyClick(panel.words, ENTER)
    assert not panel.answered  # an accidental Enter answers nothing
    QTest.keyClicks(panel.words, "the")
    QTest.keyClick(panel.words, ENTER, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(panel.words, "third")
    QTest.keyClick(panel.words, ENTER)
    assert asked.answer == "the\nthird"


def test_an_open_question_may_be_skipped(asked: Asked) -> None:
    panel = asked.show(lambda: asked.frontend.ask("Which?"), QuestionPanel)
    assert not panel.yes.isEnabled()
    assert not panel.refuse()
    click(panel.no)
    assert asked.answer == ""


@pytest.mark.parametrize(("yes", "named"), [("", "Yes, do it"), ("Download", "Download")])
def test_the_button_says_what_a_yes_does(asked: Asked, yes: str, named: str) -> None:
    panel = asked.show(lambda: asked.frontend.confirm("Get it now?", yes=yes), QuestionPanel)
    assert panel.yes.text() == named
    click(panel.yes)
    assert asked.answer is True


@pytest.mark.parametrize("hostile", some(SOME_HOSTILE))
def test_foreign_words_are_only_words(
    engine: EngineThread, qtbot: QtBot, theme: Theme, armed: None, hostile: str
) -> None:
    text = hostile or "x"
    request = code_request(
        source=hostile,
        purpose=hostile,
        saves=text,
        tests=hostile,
        replaces=hostile[::-1],
        hosts=(hostile,),
        protection=goal_scene.BARE.__class__(hostile, sandboxed=True, why=hostile),
    )
    outline = Outline((OutlineStep(1, text[:400], StepState.FAILED, hostile[:400]),))
    one, two = Asked(engine, qtbot), Asked(engine, qtbot)
    for panel in (plan(one, outline, hostile), code(two, request)):
        panel.grab()
        for label in panel.findChildren(QLabel):
            assert label.textFormat() == Qt.TextFormat.PlainText or not label.text()
        for widget in panel.findChildren(QWidget):
            assert not GuiQt.mightBeRichText(widget.toolTip())
        assert panel.minimumSizeHint().width() <= 700
    one.job.cancel()
    two.job.cancel()


def test_all_can_be_reached_and_is_named(engine: EngineThread, qtbot: QtBot, theme: Theme) -> None:
    one, two = Asked(engine, qtbot), Asked(engine, qtbot)
    whole = code_request(saves="f", tests="fine", replaces="x = 1")
    for panel in (plan(one), code(two, whole)):
        controls = [
            widget
            for kind in (QAbstractButton, QPlainTextEdit)
            for widget in panel.findChildren(kind)
        ]
        assert len(controls) >= 5
        for control in controls:
            assert control.accessibleName(), control
            assert control.focusPolicy() & Qt.FocusPolicy.TabFocus, control.accessibleName()
    one.job.cancel()
    two.job.cancel()
