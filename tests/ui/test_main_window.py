import asyncio
import threading
from datetime import datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from jarvis_desktop import settings
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.ports import Timer
from jarvis_desktop.core.turn import Conversation, Request, Turn
from jarvis_desktop.storage.file_inspection import InspectedFile
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.history.drawer import MIN_CONVERSATION_WIDTH
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.request.attachments import AttachmentChip
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.welcome import EXAMPLES
from tests.ui import scene
from tests.ui.scene import HOSTILE, NOW, FakeApp, Shown


def type_and_send(window: MainWindow, qtbot: QtBot, words: str) -> None:
    QTest.keyClicks(window.composer.field, words)
    QTest.keyClick(window.composer.field, Qt.Key.Key_Return)


def files_of(*paths: Path) -> QMimeData:
    dropped = QMimeData()
    dropped.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return dropped


def drop(window: MainWindow, dropped: QMimeData) -> None:
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    plain = Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(window, QDragEnterEvent(QPoint(50, 50), copy, dropped, left, plain))
    QApplication.sendEvent(window, QDropEvent(QPointF(50, 50), copy, dropped, left, plain))


def test_what_is_typed_is_sent_and_answered(window: MainWindow, app: FakeApp, qtbot: QtBot) -> None:
    assert window.stack.currentWidget() is window.welcome
    type_and_send(window, qtbot, "what time is it")
    qtbot.waitUntil(lambda: bool(app.assistant.turns))
    assert app.assistant.handled[0][0] == Request("what time is it")
    assert window.stack.currentWidget() is window.conversation
    view = window.conversation.views()[0]
    qtbot.waitUntil(lambda: view.reply.toPlainText() == "You said: what time is it")
    assert window.composer.field.toPlainText() == ""
    assert window.header.title.full_text() == "what time is it"


def test_shift_enter_begins_a_line_and_nothing_is_not_sent(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    field = window.composer.field
    QTest.keyClick(field, Qt.Key.Key_Return)
    QTest.keyClicks(field, "  ")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert not window.composer.go.isEnabled()
    height = field.height()
    QTest.keyClick(field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert field.toPlainText() == "  \n"
    assert field.height() > height
    assert app.assistant.handled == []


def test_files_dropped_anywhere_become_chips_and_go_with_the_request(
    window: MainWindow, app: FakeApp, tmp_path: Path, qtbot: QtBot
) -> None:
    one, two = tmp_path / "one.csv", tmp_path / "two.txt"
    one.write_text("a,b")
    two.write_text("words")
    drop(window, files_of(one, two, one))
    qtbot.waitUntil(lambda: len(window.composer.attached.files()) == 2)
    chips = window.composer.findChildren(AttachmentChip)
    assert [chip.accessibleName() for chip in chips] == [
        "one.csv, table, 3 bytes",
        "two.txt, document, 5 bytes",
    ]
    remove = next(b for b in chips[0].findChildren(QAbstractButton))
    QTest.mouseClick(remove, Qt.MouseButton.LeftButton)
    assert window.composer.attached.files() == (two,)
    type_and_send(window, qtbot, "sum it up")
    qtbot.waitUntil(lambda: bool(app.assistant.turns))
    assert app.assistant.handled[0][0].files == (two,)
    assert window.composer.attached.files() == ()


def test_the_window_invites_what_is_held_over_it(window: MainWindow, tmp_path: Path) -> None:
    event = QDragEnterEvent(
        QPoint(5, 5),
        Qt.DropAction.CopyAction,
        held := files_of(tmp_path),
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(window, event)
    assert event.isAccepted()
    assert window.drop_zone.isVisible()
    assert held.hasUrls()
    drop(window, held)
    assert not window.drop_zone.isVisible()


def test_text_that_is_dropped_is_typed(window: MainWindow) -> None:
    dropped = QMimeData()
    dropped.setText("some words")
    drop(window, dropped)
    assert window.composer.field.toPlainText() == "some words"


def test_escape_stops_what_runs(window: MainWindow, app: FakeApp, qtbot: QtBot) -> None:
    app.assistant.script = scene.for_ever
    assert not window.composer.stop.isVisible()
    type_and_send(window, qtbot, "for ever")
    qtbot.waitUntil(lambda: bool(app.assistant.handled))
    assert window.composer.stop.isVisible()
    QTest.keyClick(window, Qt.Key.Key_Escape)
    view = window.conversation.views()[0]
    qtbot.waitUntil(lambda: view.foot.ending.full_text() == "Stopped")
    assert not window.composer.stop.isVisible()


def test_a_question_is_answered_in_the_window(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    answers: list[bool] = []

    async def asks(request: Request, shown: Shown) -> Status:
        answers.append(await shown.frontend.confirm("Write a.txt to <b>Documents</b>?"))
        return Status.DONE

    app.assistant.script = asks
    type_and_send(window, qtbot, "write it")
    view = window.conversation.views()[0]
    qtbot.waitUntil(lambda: view.panel is not None)
    assert view.panel is not None
    assert not answers
    QTest.mouseClick(view.panel.yes, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: view.panel is None and answers == [True])


def test_a_question_in_another_conversation_can_be_reached(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    answers: list[bool] = []

    async def asks(request: Request, shown: Shown) -> Status:
        answers.append(await shown.frontend.confirm("Write a.txt?"))
        return Status.DONE

    app.assistant.script = asks
    type_and_send(window, qtbot, "write it")
    qtbot.waitUntil(lambda: bool(window.conversation.panels()))
    assert not window.elsewhere.isVisible()
    window.session.new_conversation()
    assert window.elsewhere.isVisible()
    assert window.elsewhere.words.text() == "write it: Write a.txt?"
    app.assistant.script = scene.echo
    type_and_send(window, qtbot, "and this")  # waits behind it, and the way there stays
    assert window.elsewhere.isVisible()
    QTest.mouseClick(window.elsewhere.go, Qt.MouseButton.LeftButton)
    assert not window.elsewhere.isVisible()
    panel = next(iter(window.conversation.panels()))
    QTest.mouseClick(panel.yes, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: answers == [True] and len(app.assistant.turns) == 2)


def test_plans_are_shown_first_once_that_is_chosen_above_the_conversation(
    window: MainWindow, app: FakeApp, tmp_path: Path, qtbot: QtBot
) -> None:
    plan = scene.three_steps(tmp_path / "a.png")
    agreed: list[object] = []

    async def plans(request: Request, shown: Shown) -> Status:
        agreed.append(await shown.frontend.review(plan))
        return Status.DONE

    app.assistant.script = plans
    qtbot.waitUntil(window.header.review.isEnabled)
    assert window.header.review.accessibleName() == "Plans: Ask about larger plans"
    actions = window.header.plans_menu().actions()
    assert [action.isChecked() for action in actions] == [False, True, False]
    with qtbot.waitSignal(window.session.settled):
        actions[0].trigger()
    assert app.adopted[-1].planner.ask == "always"
    assert window.header.review.accessibleName() == "Plans: Ask about every plan"
    type_and_send(window, qtbot, "go")
    view = window.conversation.views()[0]
    qtbot.waitUntil(lambda: view.panel is not None)
    assert view.panel is not None
    QTest.mouseClick(view.panel.no, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: agreed == [None])


def test_what_is_typed_is_answered_in_writing_unless_the_settings_want_it_spoken(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    def spoken(text: str) -> bool:
        count = len(app.assistant.turns)
        type_and_send(window, qtbot, text)
        qtbot.waitUntil(lambda: len(app.assistant.turns) > count)
        return bool(app.assistant.handled[-1][0].speak)

    assert window.header.speak.isChecked()
    assert not spoken("in writing")
    window.session.settled.emit(settings.Settings(speech=settings.SpeechSettings(speak_typed=True)))
    assert spoken("aloud")
    window.header.speak.click()
    assert not spoken("quietly")


def test_a_new_conversation_ends_what_is_being_said(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    QTest.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: app.assistant.speech_ended == 1)


def test_an_example_is_one_click_and_the_sample_brings_its_picture(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    assert len(EXAMPLES) == 6
    sample = next(button for button in window.welcome.buttons if button.example.sample)
    QTest.mouseClick(sample, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(app.assistant.turns))
    request = app.assistant.handled[0][0]
    assert request.text == sample.example.text
    assert request.files[0].parts[-3:] == ("resources", "sample", "letter.png")


def test_the_mode_is_shown_and_the_microphone_leads_to_its_settings(window: MainWindow) -> None:
    assert window.header.mode.text() == "Local"
    for button in (window.header.voice, window.welcome.voice, window.composer.unheard.settings):
        window.places.back()
        window.composer.unheard.say("There is no microphone.")
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        assert window.places.here == "settings"


def test_a_picture_is_enlarged_and_escape_closes_it(
    window: MainWindow, qapp: QApplication, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "a.png"
    assert window.grab().save(str(path))
    window.user_actions.enlarge.emit(Artifact(Kind.IMAGE, path=path))
    viewer = window._viewer
    assert viewer is not None
    qtbot.waitUntil(viewer.view.isVisible)
    QTest.keyClick(viewer.view, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window._viewer is None)


def test_a_file_that_is_gone_is_told(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    with qtbot.waitSignal(window.filing.failed):
        window.user_actions.open_file.emit(tmp_path / "gone.pdf")
    assert window.banner.message.text() == "gone.pdf no longer exists."


def test_what_was_saved_is_told(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    source = tmp_path / "a.txt"
    source.write_text("words")
    window.filing.save_copy(source, tmp_path / "copy.txt")
    said = f"copy.txt is saved in {tmp_path}."
    qtbot.waitUntil(lambda: window.banner.accessibleName() == said)
    window.turns.write(tmp_path / "table.csv", "a,b")
    said = f"table.csv is saved in {tmp_path}."
    qtbot.waitUntil(lambda: window.banner.accessibleName() == said)


def test_a_result_goes_on_in_the_next_request(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    made = tmp_path / "made.txt"
    made.write_text("words")
    window.user_actions.attach.emit(made)
    qtbot.waitUntil(lambda: window.composer.attached.files() == (made,))


def test_text_is_copied(window: MainWindow) -> None:
    window.user_actions.copy_text.emit("<b>words</b>")
    assert QGuiApplication.clipboard().text() == "<b>words</b>"


def test_a_timer_that_rings_is_told(window: MainWindow) -> None:
    window.session.rang.emit(Timer("t", "tea", datetime.now().astimezone()))
    assert window.banner.message.text() == "The timer is up: tea"


def test_conversations_are_opened_from_the_list_and_searched(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    turn = Turn("t", NOW, "the weather", reply="Rain.", status=Status.DONE)
    app.history.conversations = {"a": Conversation("a", (turn,))}
    window.session.kept.emit()
    lines = window.sidebar.list.lines
    qtbot.waitUntil(lambda: lines.rowCount() == 2)
    assert lines.index(1).data() == "the weather"
    window.sidebar.list.chosen.emit(lines.rows()[0])
    qtbot.waitUntil(lambda: len(window.conversation.views()) == 1)
    assert window.conversation.views()[0].reply.toPlainText() == "Rain."
    window.sidebar.search.field.setText("nothing like it")
    qtbot.waitUntil(lambda: window.sidebar.empty.isVisible())
    QTest.mouseClick(window.sidebar.new, Qt.MouseButton.LeftButton)
    assert window.stack.currentWidget() is window.welcome


def test_foreign_names_are_only_text_in_the_frame_of_the_window(
    window: MainWindow, qtbot: QtBot
) -> None:
    for hostile in HOSTILE:
        window.banner.say(hostile)
        window.header.show_title(hostile)
        path = Path("/nowhere") / (hostile.replace("\0", "")[:200] or "x")
        window.composer.attached._attach([InspectedFile(path, Kind.IMAGE, 5)])
    assert window.minimumSizeHint().width() <= 800


def test_news_leaves_by_itself_and_an_error_stays(window: MainWindow, qtbot: QtBot) -> None:
    banner = window.banner
    banner.say("It is ready.", calm=True)
    assert banner._leaving.isActive()
    banner._leaving.setInterval(0)
    banner.say("It is ready.", calm=True)
    qtbot.waitUntil(banner.isHidden)
    for stays in (partial(banner.say, "It broke."), partial(window._rang, Timer("t", "tea", NOW))):
        stays()
        assert banner.isVisible()
        assert not banner._leaving.isActive()


def test_every_control_has_a_name_and_can_be_reached_by_keyboard(
    window: MainWindow, app: FakeApp, tmp_path: Path, qtbot: QtBot
) -> None:
    window.composer.attached._attach([InspectedFile(tmp_path / "a.txt", Kind.TEXT, 5)])
    type_and_send(window, qtbot, "hello")
    qtbot.waitUntil(lambda: bool(app.assistant.turns))
    window.composer.attached._attach([InspectedFile(tmp_path / "a.txt", Kind.TEXT, 5)])
    kinds = (QAbstractButton, QLineEdit, QPlainTextEdit)
    controls: list[QWidget] = [
        widget
        for kind in kinds
        for widget in window.findChildren(kind)
        if not isinstance(widget.parent(), QLineEdit) and not widget.isHidden()
    ]
    assert len(controls) > 20
    for control in controls:
        assert control.accessibleName(), control
        assert control.focusPolicy() & Qt.FocusPolicy.TabFocus, control.accessibleName()


def test_its_place_and_switches_are_remembered(
    window: MainWindow, session: WindowSession, tmp_path: Path, qtbot: QtBot
) -> None:
    window.resize(700, 500)
    window.header.speak.setChecked(False)
    window.close()
    again = MainWindow(session, tmp_path / "window.ini")
    qtbot.addWidget(again)
    assert (again.width(), again.height()) == (700, 500)
    assert not again.header.speak.isChecked()


def test_what_was_set_a_moment_before_the_end_is_kept(
    window: MainWindow, session: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    window.settings_controller.change("window.theme", "dark")
    window.close()
    session.end()
    session.engine.submit(session.close_app()).result(60)
    assert settings.load(app.paths.settings)[0].window.theme == "dark"


def test_what_was_set_last_is_kept_though_no_thread_was_free_to_write_it(
    window: MainWindow, session: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    go_on, ended = threading.Event(), list[Outcome]()

    async def occupy_all_threads() -> None:
        await asyncio.gather(*(asyncio.to_thread(go_on.wait, 5) for _ in range(40)))

    session.engine.run(occupy_all_threads, ended.append)
    window.settings_controller.change("window.theme", "light")
    window.settings_controller.write()
    window.settings_controller.change("window.theme", "dark")
    window.close()
    session.end()
    closing = session.engine.submit(session.close_app())
    qtbot.waitUntil(lambda: bool(ended))
    assert ended[0].cancelled
    go_on.set()
    closing.result(60)
    assert settings.load(app.paths.settings)[0].window.theme == "dark"


def test_a_narrow_window_leaves_the_list_out(window: MainWindow) -> None:
    window.resize(window.sidebar.width() + MIN_CONVERSATION_WIDTH - 10, 600)
    assert not window.sidebar.isVisible()
    window.resize(window.sidebar.width() + MIN_CONVERSATION_WIDTH + 10, 600)
    assert window.sidebar.isVisible()
