"""The quick box: asking and answering there, and what becomes of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.events import (
    PlanAccepted,
    ReplyChunk,
    TaskChunk,
    TaskFinished,
    TaskStarted,
)
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.core.speech import Partial, Talking, Transcript
from jarvis_desktop.core.turn import Request
from jarvis_desktop.settings import PlannerSettings, Settings
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.approvals import QuestionPanel
from jarvis_desktop.ui.quick import quick_box as box_module
from jarvis_desktop.ui.quick.quick_box import QuickBox
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.voice.talk import TalkController
from jarvis_desktop.ui.widgets.theme import Theme, ThemeChoice
from tests.families import some
from tests.ui.scene import HOSTILE, FakeApp, Shown, candidate, done, three_steps

Key = Qt.Key


@pytest.fixture
def box(
    session: WindowSession, app: FakeApp, actions: Actions, theme: Theme, qtbot: QtBot
) -> Iterator[QuickBox]:
    """The box over a started application, on the screen."""
    talker = TalkController(session.engine, session)
    session.ready.connect(talker.use)
    box = QuickBox(session, talker, actions)
    qtbot.addWidget(box)
    box.sent.connect(lambda request: session.send(request, place=session.quick))
    with qtbot.waitSignal(session.ready):
        session.start(app.build)
    box.appear()
    qtbot.waitUntil(box.isActiveWindow)
    yield box
    session.end()
    talker.cancel()
    session.engine.submit(session.close_app()).result(60)


def ask(box: QuickBox, text: str, qtbot: QtBot) -> None:
    box.line.field.setPlainText(text)
    QTest.keyClick(box.line.field, Key.Key_Return)


def answered(box: QuickBox, words: str, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: words in box.reply.text.toPlainText())


def test_what_is_typed_is_answered_there(
    box: QuickBox, app: FakeApp, session: WindowSession, qtbot: QtBot
) -> None:
    assert box.scroller.isHidden()
    ask(box, "What is **six**?", qtbot)
    answered(box, "You said: What is six?", qtbot)  # as Markdown
    assert box.line.field.toPlainText() == ""
    assert box.reply.asked.full_text() == "What is **six**?"
    assert box.scroller.isVisible()
    assert session.open.entries == []
    assert [entry.turn.reply for entry in session.quick.entries] == ["You said: What is **six**?"]


def test_enter_goes_on_in_the_same_conversation(box: QuickBox, app: FakeApp, qtbot: QtBot) -> None:
    for words in ("one", "two"):
        ask(box, words, qtbot)
        answered(box, f"You said: {words}", qtbot)
    assert [conversation for _, conversation in app.assistant.handled] == ["new-1", "new-1"]
    assert box.line.field.placeholderText() == "Ask a follow-up"


def test_a_new_conversation_begins_where_it_is_wanted(
    box: QuickBox, app: FakeApp, qtbot: QtBot
) -> None:
    ask(box, "one", qtbot)
    answered(box, "one", qtbot)
    qtbot.keyClick(box, Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert box.scroller.isHidden()
    ask(box, "two", qtbot)
    answered(box, "two", qtbot)
    assert [conversation for _, conversation in app.assistant.handled] == ["new-1", "new-2"]
    assert app.assistant.speech_ended == 1


def test_what_was_asked_long_ago_is_not_gone_on_with(
    box: QuickBox, session: WindowSession, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(box, "one", qtbot)
    answered(box, "one", qtbot)
    box.leave()
    box.appear()
    assert session.quick.entries
    box.leave()
    monkeypatch.setattr(box_module, "CONTINUE_S", -1.0)
    box.appear()
    assert not session.quick.entries
    assert box.scroller.isHidden()


def test_escape_closes_it_and_what_runs_goes_on(
    box: QuickBox, app: FakeApp, session: WindowSession, qtbot: QtBot
) -> None:
    go_on = asyncio.Event()

    async def script(request: Request, shown: Shown) -> Status:
        await go_on.wait()
        shown.show(ReplyChunk("late"))
        return Status.DONE

    app.assistant.script = script
    ask(box, "wait", qtbot)
    qtbot.waitUntil(lambda: box.line.stop.isVisible())
    qtbot.keyClick(box, Key.Key_Escape)
    assert not box.isVisible()
    assert session.busy
    session.engine.call(go_on.set)
    qtbot.waitUntil(lambda: not session.busy)
    box.appear()
    answered(box, "late", qtbot)


def test_ctrl_enter_wants_the_window(box: QuickBox, app: FakeApp, qtbot: QtBot) -> None:
    box.line.field.setPlainText("a thought")
    with qtbot.waitSignal(box.window_wanted):
        qtbot.keyClick(box.line.field, Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert app.assistant.handled == []


def test_up_recalls_what_was_asked(box: QuickBox, qtbot: QtBot) -> None:
    field = box.line.field
    for words in ("one", "two", "two"):
        ask(box, words, qtbot)
        answered(box, words, qtbot)
    field.setPlainText("dra")
    seen = []
    for key in (Key.Key_Up, Key.Key_Up, Key.Key_Up, Key.Key_Down, Key.Key_Down, Key.Key_Down):
        qtbot.keyClick(field, key)
        seen.append(field.toPlainText())
    assert seen == ["two", "one", "one", "two", "dra", "dra"]


def test_up_moves_within_several_lines_first(box: QuickBox, qtbot: QtBot) -> None:
    ask(box, "one", qtbot)
    field = box.line.field
    field.setPlainText("two\nlines")
    field.moveCursor(field.textCursor().MoveOperation.End)
    qtbot.keyClick(field, Key.Key_Up)
    assert field.toPlainText() == "two\nlines"
    qtbot.keyClick(field, Key.Key_Up)
    assert field.toPlainText() == "one"


def dropped(box: QuickBox, mime: QMimeData) -> QDropEvent:
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    copy = Qt.DropAction.CopyAction
    enter = QDragEnterEvent(QPoint(20, 20), copy, mime, buttons, keys)
    box.dragEnterEvent(enter)
    assert enter.isAccepted()
    assert box.plate.property("invites") == "true"
    drop = QDropEvent(QPointF(20, 20), copy, mime, buttons, keys)
    drop.ignore()
    box.dropEvent(drop)
    assert box.plate.property("invites") == "false"
    return drop


def test_files_that_are_dropped_go_with_the_request(
    box: QuickBox, app: FakeApp, picture: Path, qtbot: QtBot
) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(picture))])
    assert dropped(box, mime).isAccepted()
    qtbot.waitUntil(lambda: box.line.attached.files() == (picture,))
    ask(box, "What is this?", qtbot)
    answered(box, "What is this?", qtbot)
    assert app.assistant.handled[0][0].files == (picture,)
    assert box.line.attached.files() == ()


def test_a_drop_that_is_no_use_says_why(box: QuickBox, tmp_path: Path, qtbot: QtBot) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(tmp_path / "gone.png"))])
    dropped(box, mime)
    qtbot.waitUntil(lambda: box.line.refused.isVisible())
    assert "gone.png" in box.line.refused.text()
    box.dragLeaveEvent(QDragLeaveEvent())


def test_a_question_is_answered_there(box: QuickBox, app: FakeApp, qtbot: QtBot) -> None:
    async def script(request: Request, shown: Shown) -> Status:
        sure = await shown.frontend.confirm("Fetch 244 MB?")
        shown.show(ReplyChunk(f"sure: {sure}"))
        return Status.DONE

    app.assistant.script = script
    ask(box, "Listen", qtbot)
    qtbot.waitUntil(lambda: box.reply.panel is not None)
    panel = box.reply.panel
    assert isinstance(panel, QuestionPanel)
    qtbot.waitUntil(panel.no.hasFocus)  # an accidental Enter does nothing that is not undone
    panel.yes.click()
    answered(box, "sure: True", qtbot)
    assert box.reply.panel is None
    qtbot.waitUntil(box.line.field.hasFocus)


def test_words_that_are_asked_for_can_be_spoken(box: QuickBox, app: FakeApp, qtbot: QtBot) -> None:
    async def script(request: Request, shown: Shown) -> Status:
        words = await shown.frontend.ask("Which language?")
        shown.show(ReplyChunk(f"words: {words}"))
        return Status.DONE

    app.assistant.script = script
    ask(box, "Translate", qtbot)
    qtbot.waitUntil(lambda: box.reply.panel is not None)
    talker = box._talker
    talker._happened(Talking("listening", held=True))
    talker._happened(Talking("recognising"))
    box.take(Transcript("French", "fake"))
    talker._happened(Talking("idle"))
    panel = box.reply.panel
    assert isinstance(panel, QuestionPanel)
    assert panel.words.toPlainText() == "French"  # read before it is sent
    panel.yes.click()
    answered(box, "words: French", qtbot)


def test_a_plan_is_looked_at_in_the_window(
    box: QuickBox, app: FakeApp, picture: Path, qtbot: QtBot
) -> None:
    async def script(request: Request, shown: Shown) -> Status:
        agreed = await shown.frontend.review(three_steps(picture))
        shown.show(ReplyChunk(f"agreed: {agreed is not None}"))
        return Status.DONE

    app.assistant.script = script
    box.sent.disconnect()
    app.settings = Settings(planner=PlannerSettings(ask="always"))
    box.sent.connect(lambda given: box._session.send(given, place=box._session.quick))
    ask(box, "Read it", qtbot)
    qtbot.waitUntil(lambda: box.reply.handed.isVisible())
    assert box.reply.panel is None
    with qtbot.waitSignal(box.window_wanted):
        box.reply.handed.button.click()


def test_what_is_said_is_asked(box: QuickBox, app: FakeApp, qtbot: QtBot) -> None:
    assert box.listens
    box.line.field.setPlainText("typed")
    box.take(Transcript("spoken", "fake"))
    qtbot.waitUntil(lambda: len(app.assistant.handled) == 1)
    request, _ = app.assistant.handled[0]
    assert request.heard
    assert request.heard.text == "spoken"
    assert request.speak
    assert box.line.field.toPlainText() == "typed"
    box.fail("Nothing was heard.")
    assert box.line.unheard.isVisible()


def test_talking_is_seen_and_escape_drops_it(box: QuickBox, qtbot: QtBot) -> None:
    talker = box._talker
    talker._happened(Talking("listening", held=True))
    talker.partial.emit(Partial("read", "it"))
    assert box.line.meter.isVisible()
    assert box.line.strip.words.text == "read it"
    qtbot.keyClick(box, Key.Key_Escape)
    assert box.isVisible()
    talker._happened(Talking("idle"))
    assert not box.line.meter.isVisible()


def test_steps_are_told_while_they_run(
    box: QuickBox, app: FakeApp, picture: Path, qtbot: QtBot
) -> None:
    go_on = asyncio.Event()
    plan = three_steps(picture)
    made = Artifact(Kind.IMAGE, path=picture, name="made.png")

    async def script(request: Request, shown: Shown) -> Status:
        shown.show(PlanAccepted(plan))
        shown.show(TaskFinished(done(0, text_artifact("read"))))
        shown.show(TaskStarted(1, candidate("second")))
        shown.show(TaskChunk(1, "It is about\n"))
        shown.show(TaskChunk(1, "a cat"))
        await go_on.wait()
        for task in (1, 2):
            shown.show(TaskFinished(done(task, made)))
        return Status.DONE

    app.assistant.script = script
    ask(box, "Read it", qtbot)
    state = box.reply.state.words
    qtbot.waitUntil(lambda: state.full_text() == "Step 2 of 3 · summarization")
    qtbot.waitUntil(lambda: box.reply.draft.full_text() == "It is about a cat")
    assert box.reply.draft.isVisible()
    box._session.engine.call(go_on.set)
    qtbot.waitUntil(lambda: len(box.reply.results) == 1)
    assert box.reply.draft.isHidden()


def test_of_many_results_a_few_are_shown(
    box: QuickBox, app: FakeApp, picture: Path, qtbot: QtBot
) -> None:
    made = [text_artifact(f"poem {n}") for n in range(5)]

    async def script(request: Request, shown: Shown) -> Status:
        shown.show(PlanAccepted(three_steps(picture)))
        shown.show(TaskFinished(done(2, *made)))
        return Status.DONE

    app.assistant.script = script
    ask(box, "Draw five", qtbot)
    qtbot.waitUntil(lambda: box.reply.more.text() == "2 more in the window")


@pytest.mark.parametrize("text", some(HOSTILE))
def test_hostile_texts_harm_nothing(box: QuickBox, app: FakeApp, qtbot: QtBot, text: str) -> None:
    async def script(request: Request, shown: Shown) -> Status:
        shown.show(ReplyChunk(text))
        await shown.frontend.confirm(text)
        return Status.DONE

    app.assistant.script = script
    box.sent.emit(Request(text=text or "x"))
    qtbot.waitUntil(lambda: box.reply.panel is not None)
    assert box.width() <= box.screen().availableGeometry().width()
    assert box.reply.panel
    box.reply.panel.no.click()
    qtbot.waitUntil(lambda: not box._session.busy)


def controls(box: QuickBox) -> list[QWidget]:
    return [
        item
        for item in box.findChildren(QWidget)
        if item.focusPolicy() != Qt.FocusPolicy.NoFocus
        and item.isVisible()
        and isinstance(item, QPushButton | type(box.line.field))
    ]


def test_every_control_has_a_name_and_can_be_reached(box: QuickBox, qtbot: QtBot) -> None:
    ask(box, "one", qtbot)
    answered(box, "one", qtbot)
    qtbot.waitUntil(lambda: box.reply.copy.isVisible())
    wanted = controls(box)
    assert len(wanted) >= 7
    assert all(item.accessibleName() for item in wanted)
    reached: list[QWidget | None] = []
    for _ in range(40):
        reached.append(box.focusWidget())
        box.focusNextChild()
    assert {item for item in wanted if item.isEnabled()} <= set(reached)


@pytest.mark.parametrize("size", [1.0, 2.0])
def test_it_fits_the_screen(box: QuickBox, theme: Theme, size: float, qtbot: QtBot) -> None:
    theme.adopt(ThemeChoice("light", size))
    ask(box, "word " * 2000, qtbot)
    answered(box, "word word", qtbot)
    box.leave()
    box.appear()
    room = box.screen().availableGeometry()
    qtbot.waitUntil(lambda: box.height() > 200)
    assert room.contains(box.geometry())


def test_it_opens_within_a_tenth_of_a_second(box: QuickBox) -> None:
    spent = []
    for _ in range(5):
        box.leave()
        began = time.thread_time()
        box.appear()
        spent.append(time.thread_time() - began)
    assert min(spent) < 0.1


def test_the_mode_is_told_with_what_it_means(box: QuickBox) -> None:
    box.show_mode(Mode.OFFLINE)
    assert box.mode.full_text() == "Offline"
    assert box.mode.toolTip() == "Nothing leaves this computer, and nothing is downloaded."


def test_the_key_opens_and_closes_it(box: QuickBox) -> None:
    box.toggle()
    assert not box.isVisible()
    box.toggle()
    assert box.isVisible()
    assert box.close()  # or it would keep JARVIS from ending
    box.toggle()
    assert box.isVisible()  # it was only put away
