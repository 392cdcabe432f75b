"""What is dropped and pasted becomes chips, text, or a reason; and nothing waits."""

import asyncio
import io
import os
import threading
from pathlib import Path

import pytest
from PIL import Image
from PySide6.QtCore import QByteArray, QMimeData, Qt, QUrl
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.turn import Request
from jarvis_desktop.storage.file_inspection import MAX_FILES
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.request import attachments
from jarvis_desktop.ui.request.attachments import MAX_CHIPS, AttachmentChip
from tests.ui import scene
from tests.ui.scene import FakeApp, visible_chips


def files_of(*paths: Path) -> QMimeData:
    held = QMimeData()
    held.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return held


def picture() -> bytes:
    content = io.BytesIO()
    Image.new("RGB", (8, 6), "teal").save(content, "PNG")
    return content.getvalue()


def chips(window: MainWindow) -> list[AttachmentChip]:
    return visible_chips(window.composer)


def written(folder: Path, *names: str) -> list[Path]:
    paths = [folder / name for name in names]
    for path in paths:
        path.write_text("some words\n")
    return paths


def test_dropped_files_are_shown_with_kind_and_size(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    paths = written(tmp_path, "one.txt", "two.csv", "three.md")
    assert window.composer.attached.take(files_of(*paths))
    qtbot.waitUntil(lambda: len(chips(window)) == 3)
    assert window.composer.attached.files() == tuple(paths)
    assert chips(window)[0].accessibleName() == "one.txt, document, 11 bytes"
    assert chips(window)[1].artifact.kind is Kind.TABLE


def test_hostile_drops_are_refused_with_the_reason(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (good,) = written(tmp_path, "good.txt")
    (tmp_path / "big").touch()
    os.truncate(tmp_path / "big", 10_000_000_000)
    window.composer.attached.take(files_of(tmp_path / "pipe", good, tmp_path / "big"))
    qtbot.waitUntil(lambda: len(chips(window)) == 1)
    told = window.banner.message.text()
    assert "pipe is a pipe" in told
    assert "big" in told


def test_only_a_few_reasons_are_told(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    window.composer.attached.take(files_of(*(tmp_path / f"{n}.txt" for n in range(9))))
    qtbot.waitUntil(lambda: not window.banner.isHidden())
    assert "There is no file 0.txt" in window.banner.message.text()
    assert "6 more cannot be used." in window.banner.message.text()


def test_many_files_show_some_and_count_the_others(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    (folder := tmp_path / "folder").mkdir()
    written(folder, *(f"{n:03}.txt" for n in range(30)))
    attached = window.composer.attached
    attached.take(files_of(folder))
    qtbot.waitUntil(lambda: len(attached.files()) == 30)
    assert len(chips(window)) == MAX_CHIPS
    assert attached.more.text() == f"and {30 - MAX_CHIPS} more"
    first = chips(window)[0]
    first.removed.emit(first.artifact.path)
    assert len(chips(window)) == MAX_CHIPS, "one that was counted takes its place"
    QTest.mouseClick(attached.clear_all, Qt.MouseButton.LeftButton)
    assert attached.files() == ()
    assert attached.isHidden()


def test_what_has_no_room_is_refused(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    written(tmp_path, *(f"{n:03}.txt" for n in range(MAX_FILES + 1)))
    window.composer.attached.take(files_of(tmp_path))
    qtbot.waitUntil(lambda: "Too many files" in window.banner.message.text())
    assert chips(window) == []


def test_a_pasted_picture_becomes_a_file_that_goes_when_it_is_not_wanted(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    held = QMimeData()
    held.setData("image/png", QByteArray(picture()))
    QGuiApplication.clipboard().setMimeData(held)
    window.composer.field.setFocus()
    QTest.keyClick(window.composer.field, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: len(chips(window)) == 1)
    (chip,) = chips(window)
    path = chip.artifact.path
    assert chip.artifact.kind is Kind.IMAGE
    assert path
    assert path.read_bytes() == picture()
    chip.removed.emit(path)
    qtbot.waitUntil(lambda: not path.exists())


def test_a_picture_of_this_program_can_be_pasted(window: MainWindow, qtbot: QtBot) -> None:
    QGuiApplication.clipboard().setImage(QImage.fromData(picture()))
    window.composer.field.paste()
    qtbot.waitUntil(lambda: len(chips(window)) == 1)
    (chip,) = chips(window)
    assert chip.artifact.path
    assert QImage(str(chip.artifact.path)).size() == QImage.fromData(picture()).size()


def test_a_pasted_picture_goes_after_its_turn(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    held = QMimeData()
    held.setData("image/png", QByteArray(picture()))
    window.composer.attached.take(held)
    qtbot.waitUntil(lambda: len(chips(window)) == 1)
    (path,) = window.composer.attached.files()
    window.composer.send()
    qtbot.waitUntil(lambda: not path.exists())
    assert app.assistant.handled[0][0].files == (path,)


def test_a_pasted_picture_stays_where_its_turn_never_began(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    app.assistant.script = scene.for_ever
    window.send(Request("work for ever"))
    held = QMimeData()
    held.setData("image/png", QByteArray(picture()))
    window.composer.attached.take(held)
    qtbot.waitUntil(lambda: len(chips(window)) == 1)
    (path,) = window.composer.attached.files()
    window.composer.send()
    waiting = window.session.open.entries[-1]
    window.session.end()
    qtbot.waitUntil(lambda: not window.session.busy)
    window.turns.edit(waiting.turn)
    qtbot.waitUntil(lambda: window.composer.attached.files() == (path,))
    assert path.read_bytes() == picture()
    app.assistant.script = scene.echo
    window.composer.send()
    qtbot.waitUntil(lambda: not window.session.busy)
    window.session.engine.submit(asyncio.sleep(0)).result(60)  # what was to be removed is by now
    assert path.read_bytes() == picture(), "the first of them shows it still"


def test_a_picture_of_a_browser_comes_with_its_address(window: MainWindow, qtbot: QtBot) -> None:
    held = QMimeData()
    held.setUrls([QUrl("https://example.org/a.png")])
    held.setData("image/png", QByteArray(picture()))
    window.composer.attached.take(held)
    qtbot.waitUntil(lambda: len(chips(window)) == 1)
    assert window.composer.field.toPlainText() == ""


def test_cells_of_a_table_are_text_though_they_come_with_a_picture(window: MainWindow) -> None:
    held = QMimeData()
    held.setText("a\tb")
    held.setData("image/png", QByteArray(picture()))
    assert window.composer.attached.take(held)
    assert window.composer.field.toPlainText() == "a\tb"


@pytest.mark.parametrize("text", ["hello", "<img src='/dev/zero'>"])
def test_text_and_addresses_go_into_the_field(window: MainWindow, text: str) -> None:
    held = QMimeData()
    held.setText(text)
    window.composer.field.setPlainText("Read this:")
    window.composer.field.moveCursor(window.composer.field.textCursor().MoveOperation.End)
    window.composer.attached.take(held)
    assert window.composer.field.toPlainText() == f"Read this: {text}"
    held = QMimeData()
    held.setUrls([QUrl("https://example.org/a b"), QUrl("javascript:alert(1)")])
    window.composer.attached.take(held)
    assert window.composer.field.toPlainText().endswith(" https://example.org/a%20b")


def test_nothing_that_can_be_used_is_refused(window: MainWindow) -> None:
    held = QMimeData()
    held.setData("application/x-odd", QByteArray(b"odd"))
    assert not attachments.accepts(held)
    assert not window.composer.attached.take(held)


def test_a_request_waits_for_its_files(
    window: MainWindow, app: FakeApp, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path,) = written(tmp_path, "note.txt")
    go_on = threading.Event()
    look = app.store.look_at

    def slowly(path: Path) -> tuple[Kind, int]:
        go_on.wait(60)
        return look(path)

    monkeypatch.setattr(app.store, "look_at", slowly)
    window.composer.attached.take(files_of(path))
    window.composer.field.setPlainText("read it")
    window.composer.send()
    assert window.composer.field.toPlainText() == "read it"
    go_on.set()
    qtbot.waitUntil(lambda: bool(app.assistant.handled))
    request, _ = app.assistant.handled[0]
    assert (request.text, request.files) == ("read it", (path,))


def test_a_disk_that_does_not_answer_is_given_up(
    window: MainWindow, app: FakeApp, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    monkeypatch.setattr(attachments, "DISK_TIMEOUT_S", 0.05)
    monkeypatch.setattr(app.store, "look_at", lambda path: go_on.wait(60))
    window.composer.attached.take(files_of(*written(tmp_path, "far.txt")))
    qtbot.waitUntil(
        lambda: "The disk with far.txt does not respond." in window.banner.message.text()
    )
    go_on.set()


def test_disks_that_do_not_answer_keep_nothing_else_waiting(
    window: MainWindow, app: FakeApp, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, looked_at = threading.Event(), list[Path]()
    look_at = app.store.look_at

    def hang(path: Path) -> tuple[Kind, int]:
        looked_at.append(path)
        go_on.wait(60)
        return look_at(path)

    monkeypatch.setattr(app.store, "look_at", hang)
    many = [f"far {number}.txt" for number in range(40)]
    for path in written(tmp_path, *many):
        window.composer.attached.take(files_of(path))
    qtbot.waitUntil(lambda: len(looked_at) == len(many))
    assert window.session.engine.submit(asyncio.to_thread(lambda: "done")).result(60) == "done"
    go_on.set()


def test_an_error_of_the_store_is_told(
    window: MainWindow, app: FakeApp, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> Path:
        raise UnavailableError("The disk is full.")

    monkeypatch.setattr(app.store, "workdir", full)
    held = QMimeData()
    held.setData("image/png", QByteArray(picture()))
    window.composer.attached.take(held)
    qtbot.waitUntil(lambda: "The disk is full." in window.banner.message.text())


@pytest.mark.parametrize("waits", [False, True])
def test_a_pasted_picture_goes_with_the_conversation_that_is_not_kept(
    window: MainWindow, app: FakeApp, qtbot: QtBot, waits: bool
) -> None:
    session = window.session
    app.assistant.script = scene.for_ever
    if waits:
        session.send(Request("go on"))
    session.new_conversation(kept=False)
    QGuiApplication.clipboard().setImage(QImage.fromData(picture()))
    window.composer.field.paste()
    qtbot.waitUntil(lambda: len(chips(window)) == 1)
    path = chips(window)[0].artifact.path
    assert path
    window.composer.field.setPlainText("look")
    window.composer.send()
    qtbot.waitUntil(lambda: bool(session.running))
    assert path.exists()
    session.forget_aside()
    qtbot.waitUntil(lambda: not path.exists())
    session.end()
    qtbot.waitUntil(lambda: not session.busy)
