"""What can be done with a turn: the row below it, its menu, its keys, and who carries it out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, SignalInstance
from PySide6.QtGui import QContextMenuEvent, QDesktopServices, QEnterEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.events import (
    AttemptFailed,
    ExpertsSelected,
    PlanAccepted,
    ReplyChunk,
    RoundEnded,
    RoundStarted,
    TaskChunk,
    TaskFinished,
    TaskStarted,
    TurnFinished,
)
from jarvis_desktop.core.expert import Attempt, Candidate, Expert, Spent, Status, TaskResult
from jarvis_desktop.core.turn import Request, Turn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.turn_details import attempts_table, format_api_calls
from jarvis_desktop.ui.conversation.turn_footer import is_plain
from jarvis_desktop.ui.conversation.turn_view import TurnView
from jarvis_desktop.ui.main_window import MainWindow
from tests.ui import scene
from tests.ui.scene import NOW, FakeApp, three_steps

OVER = Turn("t", NOW, "What is it?", reply="It is **this**.", status=Status.DONE)
LOCAL = Candidate(Expert("small-ocr", "image-to-text"), "local", heavy=True)
SERVED = Candidate(Expert("big-ocr", "image-to-text"), "api", remote=True, provider="hf-inference")
BUILT_IN = Candidate(Expert("builtin/image-to-text", "image-to-text"), "builtin")
LLM = Candidate(Expert("qwen3:4b", "summarization"), "llm")


@pytest.fixture(autouse=True)
def no_popups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Qt's screenless platform can do nothing of what menus want."""
    monkeypatch.setattr(QMenu, "popup", lambda *_: None)


@pytest.fixture
def shown(view: TurnView) -> TurnView:
    view.draw(OVER)
    return view


def hover(view: TurnView) -> None:
    at = QPointF(5, 5)
    QApplication.sendEvent(view, QEnterEvent(at, at, at))


def offered(view: TurnView, *, at: QPoint | None = None) -> dict[str, object]:
    """What the menu offers, each with how to choose it."""
    place = at or QPoint(5, 5)
    reason = QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(view, QContextMenuEvent(reason, place, view.mapToGlobal(place)))
    made = view.findChildren(QMenu)[-1]
    return {item.text().partition("\t")[0]: item for item in made.actions() if item.text()}


def test_the_row_shows_while_one_looks_at_it(shown: TurnView) -> None:
    QApplication.sendEvent(shown, QEvent(QEvent.Type.Leave))
    assert not shown.foot._buttons or not shown.foot._buttons.isVisible()
    hover(shown)
    assert shown.foot.copy.isVisible()
    assert shown.foot.again.accessibleName() == "Answer again"
    QApplication.sendEvent(shown, QEvent(QEvent.Type.Leave))
    assert not shown.foot.copy.isVisible()
    shown.look_at(newest=True)
    assert shown.foot.copy.isVisible()


@pytest.mark.parametrize(
    ("button", "signal", "value"),
    [
        ("copy", "copy_text", "It is this."),
        ("speak", "read_aloud", OVER),
        ("again", "answer_again", OVER),
        ("edit", "edit_turn", OVER),
    ],
)
def test_each_button_says_what_is_wanted(
    shown: TurnView, actions: Actions, qtbot: QtBot, button: str, signal: str, value: object
) -> None:
    hover(shown)
    wished: SignalInstance = getattr(actions, signal)
    with qtbot.waitSignal(wished) as wanted:
        QTest.mouseClick(getattr(shown.foot, button), Qt.MouseButton.LeftButton)
    assert wanted.args == [value]


def test_the_menu_offers_all_there_is(shown: TurnView, actions: Actions, qtbot: QtBot) -> None:
    assert list(offered(shown)) == [
        "Copy the answer",
        "Copy as Markdown",
        "Save the answer…",
        "Copy the request",
        "Read aloud",
        "Edit and send again",
        "Answer again",
        "Pin",
        "Delete",
    ]
    with qtbot.waitSignal(actions.pin_turn) as pinned:
        offered(shown)["Pin"].trigger()  # type: ignore[attr-defined]
    assert pinned.args == [OVER, True]
    with qtbot.waitSignal(actions.delete_turn):
        offered(shown)["Delete"].trigger()  # type: ignore[attr-defined]
    with qtbot.waitSignal(actions.copy_text) as copied:
        offered(shown)["Copy as Markdown"].trigger()  # type: ignore[attr-defined]
    assert copied.args == ["It is **this**."]
    with qtbot.waitSignal(actions.save_text) as saved:
        offered(shown)["Save the answer…"].trigger()  # type: ignore[attr-defined]
    assert saved.args == ["Answer.md", "It is **this**."]


def test_what_runs_is_only_stopped(view: TurnView, actions: Actions, qtbot: QtBot) -> None:
    view.draw(replace(OVER, status=None, reply=""))
    assert list(offered(view)) == ["Copy the request", "Edit and send again", "Stop"]
    with qtbot.waitSignal(actions.stop_turn):
        offered(view)["Stop"].trigger()  # type: ignore[attr-defined]


def test_what_is_selected_is_copied_from_the_menu(
    shown: TurnView, actions: Actions, qtbot: QtBot
) -> None:
    field = shown.reply.parts[0]
    field.selectAll()  # type: ignore[union-attr]
    with qtbot.waitSignal(actions.copy_text) as copied:
        offered(shown)["Copy the selection"].trigger()  # type: ignore[attr-defined]
    assert copied.args == ["It is this."]


def test_keys_do_the_usual(shown: TurnView, actions: Actions, qtbot: QtBot) -> None:
    shown.setFocus()
    for key, held, signal in (
        (Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier, actions.copy_text),
        (Qt.Key.Key_F2, Qt.KeyboardModifier.NoModifier, actions.edit_turn),
        (Qt.Key.Key_F5, Qt.KeyboardModifier.NoModifier, actions.answer_again),
        (Qt.Key.Key_Delete, Qt.KeyboardModifier.NoModifier, actions.delete_turn),
    ):
        with qtbot.waitSignal(signal):
            QTest.keyClick(shown, key, held)


def test_it_is_seen_what_is_pinned_and_what_is_read(shown: TurnView, actions: Actions) -> None:
    hover(shown)
    shown.draw(replace(OVER, pinned=True))
    assert shown.foot._pinned is not None
    assert shown.foot._pinned.isVisible()
    assert "Unpin" in offered(shown)
    actions.reading.emit(OVER)
    assert shown.foot.speak.accessibleName() == "Stop reading"
    assert "Stop reading" in offered(shown)
    actions.reading.emit(None)
    assert shown.foot.speak.accessibleName() == "Read aloud"


def tried(picture: Path) -> Turn:
    plan = three_steps(picture)
    attempts = (
        Attempt(LOCAL, 4.1, "It ran out of memory."),
        Attempt(SERVED, 1.2, "It is busy."),
        Attempt(BUILT_IN, 0.8),
    )
    return (
        Turn("t", NOW, "Read it", status=None)
        .apply(PlanAccepted(plan))
        .apply(ExpertsSelected(scene.selections(plan)))
        .apply(TaskFinished(TaskResult(0, Status.DONE, (scene.text("Dear Sir"),), attempts)))
        .apply(TaskFinished(TaskResult(1, Status.DONE, (), (Attempt(LLM, 2.0),))))
        .apply(TaskFinished(TaskResult(2, Status.SKIPPED, reason="There is no loudspeaker.")))
    )


def test_who_did_what_is_told_try_by_try(picture: Path) -> None:
    grid = attempts_table(tried(picture))
    assert grid is not None
    full = "failed: It ran out of memory. Then the next one was tried."
    busy = "failed: It is busy. Then the next one was tried."
    assert grid.rows[1:] == (
        ("Image to text", "small-ocr", full, "this computer", "4.1 s", "free"),
        ("", "big-ocr", busy, "API of hf-inference", "1.2 s", "–"),
        ("", "builtin/image-to-text", "done", "built in", "0.8 s", "free"),
        ("Summarization", "qwen3:4b", "done", "this computer", "2.0 s", "free"),
        ("Text to speech", "–", "left out: There is no loudspeaker.", "–", "–", "–"),
    )
    assert attempts_table(OVER) is None


def test_what_an_api_costs_is_told_as_far_as_it_was_told() -> None:
    def ended(*attempts: Attempt) -> Turn:
        return OVER.apply(TaskFinished(TaskResult(0, Status.DONE, (), attempts)))

    def costs(*attempts: Attempt) -> list[str]:
        grid = attempts_table(ended(*attempts))
        assert grid is not None
        return [row[5] for row in grid.rows[1:]]

    silent = Attempt(SERVED, 1.0, spent=Spent(calls=2))
    frank = Attempt(SERVED, 1.0, spent=Spent(1, 1200, 0.00042))
    lost = Attempt(SERVED, 1.0, "It is busy.")
    assert costs(silent, frank, lost, Attempt(LOCAL, 1.0)) == [
        "price not reported by hf-inference",
        "$0.00042, 1,200 tokens",
        "–",
        "free",
    ]
    assert costs(Attempt(replace(SERVED, provider="auto"), 1.0)) == ["price unknown"]
    assert costs(Attempt(SERVED, 1.0, spent=Spent(dollars=0.0))) == ["$0.00"]
    assert format_api_calls(ended(silent, lost)) == "3 calls of an API: price unknown."
    assert format_api_calls(ended(frank)) == "1 call of an API: $0.00042, 1,200 tokens."
    assert format_api_calls(ended(silent, frank)).endswith(
        "1,200 tokens, not all prices are known."
    )
    assert format_api_calls(ended(Attempt(LOCAL, 1.0))) == ""


def test_what_fails_while_it_runs_is_told_too(picture: Path) -> None:
    plan = three_steps(picture)
    running = Turn("t", NOW, "x").apply(PlanAccepted(plan))
    grid = attempts_table(running.apply(AttemptFailed(0, Attempt(LOCAL, 1.0, "No."))))
    assert grid is not None
    assert grid.rows[1][2] == "failed: No. Then the next one was tried."


def test_rounds_are_told_with_their_time() -> None:
    turn = (
        replace(OVER, agentic=True)
        .apply(RoundStarted(1, "assistant/coder", "run_code", "count"))
        .apply(RoundEnded(1, Status.FAILED, "Traceback", seconds=3.0))
    )
    grid = attempts_table(turn)
    assert grid is not None
    assert grid.rows[1] == ("Run code", "Coder", "failed", "–", "3.0 s", "–")


def test_details_show_it_and_follow_the_turn(view: TurnView, picture: Path) -> None:
    turn = tried(picture)
    view.draw(turn)
    view.foot.closer.click()
    QApplication.processEvents()
    assert view.details is not None
    assert view.details.account is not None
    assert view.details.account.isVisible()
    assert view.details.account.cells.model().rowCount() == 5
    view.draw(turn.apply(TaskFinished(scene.failed(2, "It is broken."))))
    assert "It is broken." in view.details.account.tsv()


def test_sources_are_the_files_that_were_used(
    view: TurnView, picture: Path, served: Actions, qtbot: QtBot
) -> None:
    turn = tried(picture).apply(ReplyChunk("It says so."))
    view.draw(turn)
    assert view.sources is None
    view.draw(turn.apply(TurnFinished(Status.DONE, NOW)))
    assert view.sources is not None
    assert view.sources.isVisible()
    (chip,) = [b for b in view.sources.children() if b.objectName() == "" and hasattr(b, "click")]
    with qtbot.waitSignal(served.open_file) as opened:
        chip.click()
    assert opened.args == [picture]


def test_only_what_an_llm_wrote_is_markdown(picture: Path) -> None:
    plan = three_steps(picture)
    turn = Turn("t", NOW, "x", reply="2*3*4 = 24").apply(PlanAccepted(plan.without(2).without(1)))
    for doer, plain in ((BUILT_IN, True), (LLM, False)):
        result = TaskResult(0, Status.DONE, (scene.text("2*3*4 = 24"),), (Attempt(doer, 0.1),))
        assert is_plain(turn.apply(TaskFinished(result))) is plain
        writing = Turn("t", NOW, "x").apply(PlanAccepted(plan)).apply(TaskStarted(0, doer))
        for event in (TaskChunk(0, "2*3"), ReplyChunk("2*3")):
            writing = writing.apply(event)
        assert is_plain(writing) is plain
    assert not is_plain(OVER)


# The desk that carries it out


def test_an_answer_is_read_aloud_and_stopped(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    told: list[Turn | None] = []
    window.user_actions.reading.connect(told.append)
    window.user_actions.read_aloud.emit(OVER)
    assert told == [OVER]
    qtbot.waitUntil(lambda: bool(app.player.played))
    window.user_actions.read_aloud.emit(OVER)
    assert told == [OVER, None]
    qtbot.waitUntil(lambda: not app.speaker.speaking)


def test_a_request_comes_back_into_the_input(window: MainWindow, qtbot: QtBot) -> None:
    field = window.composer.field
    field.setPlainText("a draft")
    window.user_actions.edit_turn.emit(OVER)
    assert field.toPlainText() == "What is it?"
    field.undo()
    assert field.toPlainText() == "a draft"


def test_a_request_is_answered_again(window: MainWindow, app: FakeApp, qtbot: QtBot) -> None:
    window.user_actions.answer_again.emit(OVER)
    qtbot.waitUntil(lambda: bool(app.assistant.turns))
    assert app.assistant.handled[0][0] == Request("What is it?")


def test_the_files_of_a_request_keep_their_names_when_it_is_sent_again(
    window: MainWindow, app: FakeApp, tmp_path: Path, qtbot: QtBot
) -> None:
    scan = tmp_path / "scan.txt"
    scan.write_text("words")
    turn = replace(OVER, attachments=(app.store.take_in(scan),))
    window.user_actions.edit_turn.emit(turn)
    attached = window.composer.attached
    qtbot.waitUntil(lambda: bool(attached.files()))
    window.user_actions.answer_again.emit(turn)
    qtbot.waitUntil(lambda: bool(app.assistant.turns))
    (sent,) = app.assistant.handled[0][0].files
    assert sent.name == attached.files()[0].name == "scan.txt"
    assert sent.read_text() == "words"


def test_links_are_opened_with_the_desktop(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def open_url(url: object) -> bool:
        opened.append(url.toString())  # type: ignore[attr-defined]
        return len(opened) == 1

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    window.user_actions.open_link.emit("https://a.example/1")
    window.user_actions.open_link.emit("file:///etc/passwd")
    assert opened == ["https://a.example/1"]
    window.user_actions.open_link.emit("mailto:a@b.example")
    assert "No program" in window.banner.message.text()


def test_a_table_is_saved(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "table.csv"
    window.turns.write(path, "a,b\r\n")
    qtbot.waitUntil(path.exists)
    qtbot.waitUntil(lambda: path.read_bytes() == b"a,b\r\n")
    window.turns.write(tmp_path / "no" / "such.csv", "x")
    qtbot.waitUntil(lambda: "could not be saved" in window.banner.message.text())


def test_nothing_is_put_on_the_clipboard_unasked(shown: TurnView) -> None:
    QGuiApplication.clipboard().setText("mine")
    hover(shown)
    offered(shown)
    assert QGuiApplication.clipboard().text() == "mine"
