from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from jarvis_desktop.assistant.answer_writer import compose_answer
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.events import (
    AttemptFailed,
    Noted,
    PlanAccepted,
    ReplyChunk,
    Retrying,
    Speaking,
    TaskChunk,
    TaskFinished,
    TaskProgress,
    TaskStarted,
    TurnFinished,
)
from jarvis_desktop.core.expert import Attempt, Status, TaskResult
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Task, TaskType
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.prose import Prose
from jarvis_desktop.ui.conversation.turn_view import TurnView
from jarvis_desktop.ui.media.cards import ImageCard, SoundCard, TextCard
from jarvis_desktop.ui.media.file_actions import FileCard
from jarvis_desktop.ui.plan import list_view
from jarvis_desktop.ui.plan.plan_view import PlanView
from jarvis_desktop.ui.widgets import images
from jarvis_desktop.ui.widgets.labels import FIRST_CHARACTERS, LongText
from tests.fake_voice import write_wav
from tests.ui import scene
from tests.ui.scene import NOW, READ, candidate, done, failed, rows, visible_chips, words

pytestmark = pytest.mark.usefixtures("theme")


def test_a_request_that_was_just_sent(view: TurnView) -> None:
    view.draw(Turn("t", NOW, "What time is it?"))
    assert view.request.text.toPlainText() == "What time is it?"
    assert view.status.words.text() == "Planning…"
    assert not view.foot.ending.isVisible()
    assert not view.reply.isVisible()


def test_a_request_that_waits_says_why(view: TurnView) -> None:
    view.draw(Turn("t", NOW, "hello"), waiting="Getting ready…")
    assert view.status.words.text() == "Getting ready…"


def test_a_spoken_request_has_no_words_yet(view: TurnView) -> None:
    view.draw(Turn("t", NOW))
    assert "Listening" in view.status.words.text()
    assert not view.request.text.isVisible()


def test_each_task_has_a_row_with_its_name_subject_and_state(view: TurnView, turn: Turn) -> None:
    view.draw(turn.apply(TaskStarted(0, candidate("first"))))
    assert [row.name.text() for row in rows(view)] == [
        "Image to text",
        "Summarization",
        "Text to speech",
    ]
    assert [row.icon.accessibleName() for row in rows(view)] == ["running", "waiting", "waiting"]
    assert rows(view)[0].subject.full_text() == "letter.png"
    assert rows(view)[1].subject.full_text() == "from “Image to text” · sentences: 2"
    assert rows(view)[0].expert.full_text() == "first (builtin)"
    assert not view.status.isVisible()


def test_progress_is_shown_while_it_runs(view: TurnView, turn: Turn) -> None:
    running = turn.apply(TaskStarted(0, candidate("first")))
    view.draw(running.apply(TaskProgress(0, 0.6, "page 3 of 5")))
    row = rows(view)[0]
    assert row.progress.isVisible()
    assert row.progress.value() == 60
    assert row.subject.full_text() == "page 3 of 5"
    view.draw(running.apply(TaskProgress(0, None, "still reading")))
    assert not row.progress.isVisible()
    view.draw(running.apply(TaskFinished(done(0, seconds=1.5))))
    assert row.elapsed.text() == "1.5 s"
    assert row.subject.full_text() == "letter.png"


def test_a_row_shows_the_last_words_of_what_its_task_writes(view: TurnView, turn: Turn) -> None:
    turn = turn.apply(TaskStarted(0, candidate("first"))).apply(TaskProgress(0, None, "at work"))
    view.draw(turn)
    row = rows(view)[0]
    name, height = row.accessibleName(), row.sizeHint().height()
    turn = turn.apply(TaskChunk(0, "Dear Sir,\n\n" + "thank you " * 100)).apply(
        TaskChunk(0, "all.")
    )
    view.draw(turn)
    assert row.subject.full_text().endswith("thank you all.")
    assert row.subject.text().startswith("…")
    assert row.subject.text().endswith("all.")
    assert row.sizeHint().height() == height
    assert row.accessibleName() == name
    assert row.toggle.isVisible()
    view.draw(turn.apply(TaskFinished(done(0))))
    assert row.subject.text() == "letter.png"


def test_while_the_answer_is_being_written_the_status_says_so(view: TurnView, turn: Turn) -> None:
    for number in range(3):
        view.draw(turn)
        assert not view.status.isVisible()
        turn = turn.apply(TaskFinished(done(number)))
    view.draw(turn)
    assert view.status.words.text() == "Writing the answer…"
    view.draw(turn.apply(ReplyChunk("It ")))
    assert not view.status.isVisible()


def test_the_next_expert_is_named_when_one_failed(view: TurnView, turn: Turn) -> None:
    running = turn.apply(TaskStarted(0, candidate("first")))
    attempt = Attempt(candidate("first"), 0.1, "It ran out of memory.")
    failed = running.apply(AttemptFailed(0, attempt))
    view.draw(failed.apply(TaskStarted(0, candidate("second"))))
    assert rows(view)[0].expert.full_text() == "second (builtin)"
    assert rows(view)[0].reason.text() == "first: It ran out of memory. Trying the next one."


def test_a_further_try_is_told_with_its_time(view: TurnView, turn: Turn) -> None:
    busy = "The service has too much to do."
    turn = turn.apply(TaskStarted(0, candidate("first")))
    turn = turn.apply(TaskProgress(0, 0.5, "half"))
    turn = turn.apply(AttemptFailed(0, Attempt(candidate("first"), 0.1, busy)))
    view.draw(turn.apply(Retrying(0, candidate("first"), 2.0, busy)))
    row = rows(view)[0]
    assert row.reason.text() == f"Trying again in 2 s: {busy}"
    assert row.expert.full_text() == "first (builtin)"
    assert not row.progress.isVisible()
    view.draw(turn.apply(TaskStarted(0, candidate("first"))))
    assert row.reason.text() == f"first: {busy} Trying again."
    view.draw(turn.apply(TaskFinished(done(0))))
    assert not row.reason.isVisible()


def test_a_failure_says_why_and_what_it_left_out(view: TurnView, turn: Turn) -> None:
    ended = (
        turn.apply(TaskFinished(failed(0, "letter.png is damaged.")))
        .apply(TaskFinished(TaskResult(1, Status.SKIPPED, reason="It needs the text.")))
        .apply(TaskFinished(TaskResult(2, Status.CANCELLED)))
        .apply(ReplyChunk("Not done: Image to text. letter.png is damaged."))
        .apply(TurnFinished(Status.FAILED, NOW + timedelta(seconds=2)))
    )
    view.draw(ended)
    assert [row.icon.accessibleName() for row in rows(view)] == ["failed", "left out", "stopped"]
    assert rows(view)[0].reason.text() == "letter.png is damaged."
    assert view.foot.ending.full_text() == "Not done in 2.0 s"
    assert view.reply.toPlainText().startswith("Not done")


def test_a_task_without_a_result_in_a_turn_that_is_over_was_left_out(
    view: TurnView, turn: Turn
) -> None:
    view.draw(turn.apply(TurnFinished(Status.CANCELLED, NOW)))
    assert {row.icon.accessibleName() for row in rows(view)} == {"left out"}
    assert view.foot.ending.full_text() == "Stopped"


def test_every_kind_of_result_has_its_card(
    view: TurnView, turn: Turn, picture: Path, tmp_path: Path
) -> None:
    sound = write_wav(tmp_path / "speech.wav", seconds=2)
    report = tmp_path / "report.pdf"
    report.write_bytes(b"%PDF")
    artifacts = (
        scene.text("A text of its own"),
        Artifact(Kind.IMAGE, path=picture, name="sketch.png"),
        Artifact(Kind.AUDIO, path=sound),
        Artifact(Kind.DOCUMENT, path=report),
        Artifact(Kind.TEXT, path=report, name="text in a file.txt"),
    )
    view.draw(turn.apply(TaskFinished(done(2, *artifacts))))
    shown = {
        type(card)
        for kind in (TextCard, ImageCard, SoundCard, FileCard)
        for card in view.findChildren(kind)
    }
    assert shown == {TextCard, ImageCard, SoundCard, FileCard}
    assert images.finish_reading(60_000)


def test_a_text_that_the_answer_has_is_not_shown_twice(view: TurnView, turn: Turn) -> None:
    finished = turn.apply(TaskFinished(done(2, scene.text("It is\n10:30."))))
    view.draw(finished)
    assert len(view.findChildren(TextCard)) == 1
    view.draw(finished.apply(ReplyChunk("Well. It is 10:30.")))
    assert not [card for card in view.findChildren(TextCard) if card.isVisible()]


@pytest.mark.parametrize("ending", [Status.PARTLY, Status.CANCELLED])
def test_what_an_answer_would_have_been_made_of_does_not_hide_why_there_is_none(
    view: TurnView, turn: Turn, ending: Status
) -> None:
    page = "".join(f"Line {number}.\n" for number in range(400))
    turn = turn.apply(TaskFinished(done(0, scene.text(page))))
    if ending is Status.PARTLY:
        turn = turn.apply(TaskFinished(failed(1, "The text does not seem to answer that.")))
        turn = turn.apply(ReplyChunk(compose_answer(turn)))
    else:
        turn = turn.apply(ReplyChunk("Stopped."))
    view.draw(turn.apply(TurnFinished(ending, NOW)))
    card = view.findChild(TextCard)
    assert card
    shown = card.findChild(LongText)
    assert shown
    assert view.reply.y() < view._results.y()
    assert "Line 1." not in view.reply.toPlainText()
    assert "seem to answer" in view.reply.toPlainText() or "Stopped." in view.reply.toPlainText()
    assert "Line 1." in shown.view.toPlainText()
    assert "Line 399." not in shown.view.toPlainText()
    QTest.mouseClick(shown.more, Qt.MouseButton.LeftButton)
    assert "Line 399." in shown.view.toPlainText()


def test_a_result_between_is_shown_on_demand(view: TurnView, turn: Turn, qtbot: QtBot) -> None:
    view.draw(turn.apply(TaskFinished(done(0, scene.text("Dear Sir")))))
    toggle = rows(view)[0].toggle
    assert "Dear Sir" not in words(view)
    QTest.mouseClick(toggle, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    assert "Dear Sir" in words(view)
    assert toggle.accessibleName().startswith("Hide")
    QTest.mouseClick(toggle, Qt.MouseButton.LeftButton)
    assert "Dear Sir" not in words(view)


def test_a_picture_is_read_and_can_be_enlarged(
    view: TurnView, turn: Turn, picture: Path, actions: Actions, qtbot: QtBot
) -> None:
    made = Artifact(Kind.IMAGE, path=picture)
    view.draw(turn.apply(TaskFinished(done(2, made))))
    card = view.findChild(ImageCard)
    assert card is not None
    qtbot.waitUntil(lambda: not card.thumbnail.icon().isNull())
    with qtbot.waitSignal(actions.enlarge) as wanted:
        QTest.mouseClick(card.thumbnail, Qt.MouseButton.LeftButton)
    assert wanted.args == [made]


def test_a_picture_that_cannot_be_shown_says_why(
    view: TurnView, turn: Turn, tmp_path: Path, qtbot: QtBot
) -> None:
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"no picture")
    view.draw(turn.apply(TaskFinished(done(2, Artifact(Kind.IMAGE, path=broken)))))
    card = view.findChild(ImageCard)
    assert card is not None
    qtbot.waitUntil(card.trouble.isVisible)
    assert "cannot be shown" in card.trouble.words.text()
    assert not card.thumbnail.isVisible()


def test_files_are_opened_shown_and_saved(
    view: TurnView, turn: Turn, tmp_path: Path, served: Actions, qtbot: QtBot
) -> None:
    path = tmp_path / "report.pdf"
    path.write_bytes(b"%PDF")
    made = Artifact(Kind.DOCUMENT, path=path)
    view.draw(turn.apply(TaskFinished(done(2, made))))
    for name, signal, value in (
        ("Open: report.pdf", served.open_file, path),
        ("Show in folder: report.pdf", served.show_folder, path),
        ("Save a copy: report.pdf", served.save_as, made),
    ):
        buttons = [b for b in view.findChildren(QPushButton) if b.accessibleName() == name]
        with qtbot.waitSignal(signal) as wanted:
            QTest.mouseClick(buttons[0], Qt.MouseButton.LeftButton)
        assert wanted.args == [value]


def test_the_spoken_sentence_is_marked_in_the_answer_and_can_be_silenced(
    view: TurnView, turn: Turn, actions: Actions, qtbot: QtBot
) -> None:
    answered = turn.apply(ReplyChunk("Here it is. **Dear** Sir. Yours."))
    view.draw(answered.apply(Speaking("Dear Sir.")))
    [prose] = view.reply.findChildren(Prose)
    [mark] = prose.extraSelections()
    assert mark.cursor.selectedText() == "Dear Sir."
    with qtbot.waitSignal(actions.silence):
        QTest.mouseClick(view.foot.speak, Qt.MouseButton.LeftButton)
    view.draw(answered.apply(TurnFinished(Status.DONE, NOW)))
    assert not prose.extraSelections()
    with qtbot.waitSignal(actions.read_aloud):
        view.foot.speak.click()


def test_what_is_spoken_elsewhere_than_in_the_answer_can_be_silenced(
    view: TurnView, turn: Turn, actions: Actions, qtbot: QtBot
) -> None:
    view.draw(turn.apply(Speaking("The first step is done.")))
    assert view.foot.speak.isVisible()
    with qtbot.waitSignal(actions.silence):
        QTest.mouseClick(view.foot.speak, Qt.MouseButton.LeftButton)


def test_a_single_step_is_told_below_the_answer_and_a_failure_is_seen(
    view: TurnView, picture: Path
) -> None:
    plan = Plan((Task(0, READ, {"image": Artifact(Kind.IMAGE, path=picture)}),))
    turn = Turn("t", NOW, "Read it").apply(PlanAccepted(plan))
    view.draw(turn.apply(TaskStarted(0, candidate("first"))))
    line = view.findChild(PlanView)
    assert line is not None
    assert line.heading.text().startswith("Image to text · running · first")
    told = turn.apply(TaskFinished(done(0, scene.text("Dear Sir"))))
    view.draw(told.apply(ReplyChunk("Dear Sir")).apply(TurnFinished(Status.DONE, NOW)))
    QApplication.processEvents()
    assert line.folded
    assert line.mapTo(view, line.rect().topLeft()).y() > view.reply.geometry().bottom()
    view.draw(turn.apply(TaskFinished(failed(0, "It is broken."))))
    assert not line.folded


def test_a_plan_of_several_steps_folds_when_it_is_done(view: TurnView, turn: Turn) -> None:
    for number in range(3):
        turn = turn.apply(TaskFinished(done(number, scene.text("words"))))
    view.draw(turn)
    plan = view.findChild(PlanView)
    assert plan is not None
    assert not plan.folded
    view.draw(turn.apply(TurnFinished(Status.DONE, NOW)))
    assert plan.folded
    assert plan.heading.text() == "Plan · 3 steps done"
    plan.heading.click()
    assert [row.isVisible() for row in plan.rows()] == [True] * 3
    plan.heading.click()
    assert plan.folded


def test_notes_are_shown_once_each(view: TurnView, turn: Turn) -> None:
    one = turn.apply(Noted("Heard by the small recogniser."))
    view.draw(one)
    view.draw(one.apply(Noted("There is no loudspeaker.")))
    assert words(view).count("Heard by the small recogniser.") == 1
    assert words(view).count("There is no loudspeaker.") == 1


def test_the_answer_grows_without_losing_a_selection(view: TurnView, turn: Turn) -> None:
    view.draw(turn.apply(ReplyChunk("Good ")))
    field = view.reply.parts[0]
    assert isinstance(field, Prose)
    cursor = field.textCursor()
    cursor.setPosition(0)
    cursor.setPosition(4, cursor.MoveMode.KeepAnchor)
    field.setTextCursor(cursor)
    view.draw(turn.apply(ReplyChunk("Good ")).apply(ReplyChunk("morning")))
    assert field.toPlainText() == "Good morning"
    assert field.textCursor().selectedText() == "Good"


def test_the_end_says_how_it_went_and_who_heard_it(view: TurnView, turn: Turn) -> None:
    ended = replace(turn, heard_by="whisper-tiny", reply="Done.").apply(
        TurnFinished(Status.PARTLY, NOW + timedelta(seconds=135), waited=60.0)
    )
    view.draw(ended)
    assert view.foot.ending.full_text() == "Partly done in 1 min 15 s · heard by whisper-tiny"


def test_a_gigantic_text_is_shown_in_parts(view: TurnView, turn: Turn, qtbot: QtBot) -> None:
    view.draw(turn.apply(ReplyChunk("x" * 60 + "\n")).apply(ReplyChunk("y" * 50_000)))
    assert len(view.reply.toPlainText()) == FIRST_CHARACTERS
    assert view.reply.more.text() == "Show all (50,061 characters)"
    QTest.mouseClick(view.reply.more, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(view.reply.toPlainText()) == 50_061)
    assert not view.reply.more.isVisible()


def test_a_plan_of_a_thousand_tasks_shows_its_beginning(view: TurnView, picture: Path) -> None:
    given = Artifact(Kind.IMAGE, path=picture)
    plan = Plan(tuple(Task(number, READ, {"image": given}) for number in range(1000)))
    view.draw(Turn("t", NOW, "all of them").apply(PlanAccepted(plan)))
    assert len(rows(view)) == list_view.INITIAL_ROWS
    more = view.findChild(list_view.PlanListView)
    assert more is not None
    assert more.more.text() == "Show 960 more steps"
    more.more.click()
    assert len(rows(view)) == 6 * list_view.INITIAL_ROWS


def test_what_was_sent_opens_on_a_click_and_with_the_keyboard(
    view: TurnView, turn: Turn, actions: Actions, qtbot: QtBot, tmp_path: Path
) -> None:
    page = tmp_path / "page.pdf"
    page.write_bytes(b"%PDF")
    document = Artifact(Kind.DOCUMENT, path=page, name="page.pdf")
    view.draw(replace(turn, attachments=(*turn.attachments, document)))
    picture, paper = visible_chips(view)
    with qtbot.waitSignal(actions.enlarge) as enlarged:
        QTest.mouseClick(picture, Qt.MouseButton.LeftButton)
    assert enlarged.args == [turn.attachments[0]]
    opened: list[Artifact] = []
    actions.open = lambda who, artifact: opened.append(artifact)  # type: ignore[method-assign]
    QTest.keyClick(paper, Qt.Key.Key_Return)
    QTest.keyClick(paper, Qt.Key.Key_A)
    assert opened == [document]
    assert paper.toolTip() == "Open"


def test_subtitles_are_a_file_to_save_and_no_answer_in_raw_text(
    view: TurnView, actions: Actions, qtbot: QtBot
) -> None:
    subtitles = Artifact(Kind.TEXT, "1\n00:00:01,000 --> 00:00:02,000\nHello\n", name="a.srt")
    listen = TaskType("automatic-speech-recognition", "", (), (Kind.TEXT,))
    turn = Turn("t", NOW, "Make subtitles", plan=Plan((Task(0, listen),)))
    turn = turn.apply(TaskFinished(done(0, subtitles))).apply(ReplyChunk(str(subtitles.text)))
    view.draw(replace(turn, status=Status.DONE))
    (card,) = view.findChildren(TextCard)
    assert card.isVisible()
    assert not view.reply.isVisible()
    assert "a.srt" in words(view)
    with qtbot.waitSignal(actions.save_text) as saved:
        card.save.click()
    assert saved.args == ["a.srt", subtitles.text]
