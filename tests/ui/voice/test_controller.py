"""Answering by voice: what is said is written into the field of the question, and no more."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.ports import Review
from jarvis_desktop.ui.request import composer
from jarvis_desktop.ui.voice import talk as dictation
from tests.ui import goal_scene, scene
from tests.ui.voice_scene import ASKING, LEFT, Asked, Slow, line, settled

ENTER, CONTROL = Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier


@pytest.mark.parametrize("kind", ASKING)
def test_what_is_said_is_written_into_the_field_and_not_sent(asked: Asked, kind: str) -> None:
    panel = asked.ask(ASKING[kind])
    field = line(panel).field
    QTest.keyClicks(field, "Only one:")
    asked.hear(" yes, use CSV ")
    asked.qtbot.waitUntil(lambda: field.toPlainText() == "Only one: yes, use CSV")
    settled(asked, panel)
    assert "Heard: “yes, use CSV”" in scene.words(panel)
    assert asked.window.focusWidget() is field
    assert field.textCursor().atEnd()
    assert asked.answers == []
    assert not panel.answered
    assert len(asked.app.assistant.handled) == 1


def test_a_plan_is_commented_by_voice(asked: Asked) -> None:
    panel = asked.ask(ASKING["plan"])
    asked.hear("Accept it.")
    field = line(panel).field
    asked.qtbot.waitUntil(lambda: field.toPlainText() == "Accept it.")
    QTest.keyClick(field, ENTER)
    asked.qtbot.waitUntil(lambda: bool(asked.answers))
    assert asked.answers == [Review(goal_scene.DRAFT, "Accept it.")]  # a comment, and no yes


def test_the_key_answers_as_the_button_does(asked: Asked) -> None:
    panel = asked.ask(ASKING["words"])
    asked.app.recogniser.hears = "March"
    QTest.keyPress(line(panel).field, Qt.Key.Key_F4)
    asked.qtbot.waitUntil(lambda: bool(asked.window.composer.meter.levels()))
    QTest.keyRelease(line(panel).field, Qt.Key.Key_F4)
    asked.qtbot.waitUntil(lambda: line(panel).field.toPlainText() == "March")
    assert asked.answers == []


def test_the_button_says_what_it_does(asked: Asked) -> None:
    talk = asked.window.composer.talk
    assert (talk.text(), talk.accessibleName()) == (composer.TALK, composer.TALK)
    panel = asked.ask(ASKING["words"], lambda frontend: frontend.confirm("Shall I?"))
    assert (talk.text(), talk.accessibleName()) == (composer.ANSWER, composer.ANSWER)
    assert talk.toolTip() == composer.ANSWER_TIP.format(key="F4")
    QTest.mouseClick(panel.no, LEFT)
    # The next one wants a yes or a no: neither is given by voice.
    asked.qtbot.waitUntil(lambda: asked.panel() is not panel)
    assert (talk.text(), talk.toolTip()) == (composer.TALK, composer.TALK_TIP.format(key="F4"))
    asked.speak()
    assert len(asked.window.session.open.entries) == 2
    assert asked.window.session.open.entries[1].request.heard
    assert asked.answers == [""]


def test_in_a_narrow_window_the_button_and_the_field_show_all(asked: Asked) -> None:
    panel = asked.ask(ASKING["plan"])
    asked.hear("Group the prices by week, and leave out the last month, which is not over yet")
    settled(asked, panel)
    field, talk = line(panel).field, asked.window.composer.talk
    wide = field.height()
    asked.window.resize(asked.window.minimumSize())
    asked.qtbot.waitUntil(lambda: field.height() > wide)
    assert talk.text() == composer.SHORT_ANSWER
    assert talk.accessibleName() == composer.ANSWER
    asked.qtbot.waitUntil(lambda: talk.width() >= talk.sizeHint().width())


def test_while_it_is_written_down_that_is_shown_and_no_key_answers(
    asked: Asked, slow: Slow
) -> None:
    slow.hears = "by week"
    panel = asked.ask(ASKING["plan"])
    asked.begin()
    assert dictation.LISTENING in scene.words(panel)
    QTest.mouseRelease(asked.window.composer.talk, LEFT)
    asked.qtbot.waitUntil(lambda: dictation.WRITING in scene.words(panel))
    field = line(panel).field
    QTest.keyClick(field, ENTER, CONTROL)  # it would accept the plan without the comment
    QTest.keyClicks(field, "Group")
    QTest.keyClick(field, ENTER)
    assert not panel.answered
    asked.window.session.engine.call(slow.go_on.set)
    asked.qtbot.waitUntil(lambda: field.toPlainText() == "Group by week")
    assert dictation.WRITING not in scene.words(panel)
    QTest.keyClick(field, ENTER)
    assert panel.answered


def test_an_answer_in_words_waits_for_what_is_written_down(asked: Asked, slow: Slow) -> None:
    panel = asked.ask(ASKING["words"])
    field = line(panel).field
    QTest.keyClicks(field, "March")
    asked.speak()
    QTest.keyClick(field, ENTER)
    assert not panel.answered
    asked.window.session.engine.call(slow.go_on.set)
    settled(asked, panel)
    QTest.keyClick(field, ENTER)
    assert panel.answered


@pytest.mark.parametrize("silence", ["raised", "empty"])
def test_a_recording_of_silence_says_so_beside_the_field(asked: Asked, silence: str) -> None:
    told = "There is no sound in your recording. Hold the button while you speak."
    if silence == "raised":
        asked.app.recogniser.error = InputError(
            "There is no sound in your recording.", hint="Hold the button while you speak."
        )
    asked.app.recogniser.hears = "  "
    panel = asked.ask(ASKING["words"])
    asked.speak()
    settled(asked, panel)
    expected = told if silence == "raised" else dictation.NOTHING
    asked.qtbot.waitUntil(lambda: expected in scene.words(panel))
    assert line(panel).field.toPlainText() == ""
    assert not asked.window.banner.isVisible()
    asked.app.recogniser.error = None
    asked.hear("March")
    asked.qtbot.waitUntil(lambda: line(panel).field.toPlainText() == "March")
    assert expected not in scene.words(panel)


@pytest.mark.parametrize("why", ["answered", "elsewhere"])
def test_what_is_written_down_too_late_is_told(asked: Asked, slow: Slow, why: str) -> None:
    panel = asked.ask(ASKING["words"])
    asked.speak()
    if why == "answered":
        QTest.mouseClick(panel.no, LEFT)
        asked.qtbot.waitUntil(lambda: not asked.window.conversation.panels())
    else:
        asked.window.session.new_conversation()
    with asked.qtbot.waitSignal(asked.window.spoken.late):
        asked.window.session.engine.call(slow.go_on.set)
    said = "The question is no longer open. You said: “what time is it”"
    assert asked.window.banner.message.text() == said
    assert len(asked.app.assistant.handled) == 1


def test_a_silent_recording_that_comes_too_late_is_nothing(
    asked: Asked, slow: Slow, qtbot: QtBot
) -> None:
    slow.error = InputError("There is no sound in your recording.")
    panel = asked.ask(ASKING["words"])
    asked.speak()
    QTest.mouseClick(panel.no, LEFT)
    qtbot.waitUntil(lambda: not asked.window.session.busy)
    asked.window.session.engine.call(slow.go_on.set)
    qtbot.waitUntil(lambda: asked.window.talker.now.state == "idle")
    QApplication.processEvents()
    assert not asked.window.banner.isVisible()


def test_a_question_that_comes_while_one_speaks_gets_nothing_of_it(asked: Asked) -> None:
    window = asked.window
    first = asked.ask(
        lambda frontend: frontend.confirm("Shall I?"),
        lambda frontend: frontend.ask("Which month?"),
    )
    QTest.keyPress(window.composer.field, Qt.Key.Key_F4)
    asked.qtbot.waitUntil(lambda: bool(window.composer.meter.levels()))
    QTest.mouseClick(first.yes, LEFT)
    asked.qtbot.waitUntil(lambda: asked.panel() is not first)
    assert window.talker.active
    assert window.composer.talk.text() != composer.ANSWER
    QTest.keyRelease(window.composer.field, Qt.Key.Key_F4)
    # A new request, as it was begun.
    asked.qtbot.waitUntil(lambda: len(window.session.open.entries) == 2)
    assert line(asked.panel()).field.toPlainText() == ""
    assert window.composer.talk.text() == composer.ANSWER


def test_escape_drops_what_is_said_and_leaves_the_question_open(asked: Asked) -> None:
    panel = asked.ask(ASKING["code"])
    QTest.mousePress(asked.window.composer.talk, LEFT)
    asked.qtbot.waitUntil(lambda: bool(asked.window.composer.meter.levels()))
    asked.window.activateWindow()
    asked.qtbot.waitUntil(asked.window.isActiveWindow)
    QTest.keyClick(asked.window, Qt.Key.Key_Escape)
    QTest.mouseRelease(asked.window.composer.talk, LEFT)
    settled(asked, panel)
    assert not line(panel).isVisible()
    assert not panel.answered
    assert asked.app.recogniser.hearings[0].dropped


def test_the_keyboard_is_not_taken_from_one_who_types(asked: Asked, slow: Slow) -> None:
    panel = asked.ask(ASKING["words"])
    asked.speak()
    typed = asked.window.composer.field
    typed.setFocus()
    QTest.keyClicks(typed, "and then")
    asked.window.session.engine.call(slow.go_on.set)
    settled(asked, panel)
    assert asked.window.focusWidget() is typed
    assert line(panel).field.toPlainText() == "what time is it"


def test_one_who_types_in_the_field_goes_on_where_they_were(asked: Asked) -> None:
    panel = asked.ask(ASKING["words"])
    field = line(panel).field
    QTest.keyClicks(field, "March")
    field.moveCursor(field.textCursor().MoveOperation.Start)
    asked.app.recogniser.hears = "and May"
    QTest.keyPress(field, Qt.Key.Key_F4)
    asked.qtbot.waitUntil(lambda: bool(asked.window.composer.meter.levels()))
    QTest.keyRelease(field, Qt.Key.Key_F4)
    asked.qtbot.waitUntil(lambda: field.toPlainText() == "March and May")
    assert field.textCursor().atStart()


def test_one_may_speak_again_while_the_first_is_written_down(asked: Asked, slow: Slow) -> None:
    panel = asked.ask(ASKING["words"])
    asked.hear("March")
    asked.begin()
    asked.window.session.engine.call(slow.go_on.set)
    field = line(panel).field
    asked.qtbot.waitUntil(lambda: field.toPlainText() == "March")
    assert asked.window.talker.active  # the button is held all the time
    assert dictation.LISTENING in scene.words(panel)
    slow.hears = "and May"
    QTest.mouseRelease(asked.window.composer.talk, LEFT)
    asked.qtbot.waitUntil(lambda: field.toPlainText() == "March and May")
    settled(asked, panel)


def test_of_two_that_are_said_the_one_that_was_nothing_is_told_beside_its_field(
    asked: Asked, slow: Slow
) -> None:
    panel = asked.ask(ASKING["words"])
    asked.speak()
    asked.begin()
    slow.error = InputError("Nobody seems to speak.")
    asked.window.session.engine.call(slow.go_on.set)
    asked.qtbot.waitUntil(lambda: "Nobody seems to speak." in scene.words(panel))
    slow.error = None
    QTest.mouseRelease(asked.window.composer.talk, LEFT)
    field = line(panel).field
    asked.qtbot.waitUntil(lambda: field.toPlainText() == "what time is it")


def test_foreign_words_of_a_recogniser_are_only_words(asked: Asked) -> None:
    asked.app.recogniser.note = "<b>Heard</b> by the small recogniser."
    panel = asked.ask(ASKING["words"])
    asked.hear("<img src='/dev/zero'>\u202egnp " + "a" * 5000)
    asked.qtbot.waitUntil(lambda: line(panel).field.toPlainText().startswith("<img src"))
    assert "\u202e" not in line(panel).field.toPlainText()
    assert line(panel).message.textFormat() == Qt.TextFormat.PlainText
    assert "<b>Heard</b> by the small recogniser." in line(panel).message.text()
    assert panel.minimumSizeHint().width() <= 700
