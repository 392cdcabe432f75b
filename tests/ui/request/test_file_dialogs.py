from pathlib import Path

import pytest
from PySide6.QtCore import QStandardPaths, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop.ui.engine import EngineThread
from jarvis_desktop.ui.request import file_dialogs
from jarvis_desktop.ui.request.file_dialogs import FileDialogs, file_dialog


def test_a_copy_is_saved_and_a_folder_that_is_closed_is_told(
    engine: EngineThread, tmp_path: Path, qtbot: QtBot
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    filing = FileDialogs(window, engine)
    source = tmp_path / "a.txt"
    source.write_text("words")
    with qtbot.waitSignal(filing.saved) as good:
        filing.save_copy(source, tmp_path / "b.txt")
    assert (tmp_path / "b.txt").read_text() == "words"
    assert good.args == [f"b.txt is saved in {tmp_path}."]
    with qtbot.waitSignal(filing.failed) as told:
        filing.save_copy(source, tmp_path / "no" / "b.txt")
    assert told.args[0].startswith("b.txt could not be saved")


def test_a_dialog_begins_with_the_documents_and_then_where_it_was_used_last(
    tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_dialogs, "_visited", [])
    monkeypatch.chdir("/")
    window = QWidget()
    qtbot.addWidget(window)
    usual = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    first = file_dialog(window, "Attach files")
    assert first.directory().absolutePath() in (usual, str(Path.home()))
    first.filesSelected.emit([str(tmp_path / "a.txt")])
    assert file_dialog(window, "Save").directory().absolutePath() == str(tmp_path)


def test_a_file_that_may_run_code_is_opened_only_after_a_question(
    engine: EngineThread, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[QUrl] = []

    def open_url(url: QUrl) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    filing = FileDialogs(window, engine)
    page, words = tmp_path / "<b>answer.html", tmp_path / "words.txt"
    page.write_text("<script>1</script>")
    words.write_text("words")

    def asked() -> QMessageBox:
        qtbot.waitUntil(lambda: isinstance(QApplication.activeModalWidget(), QMessageBox))
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        return box

    def press(name: str) -> None:
        box = asked()
        assert box.text().startswith("<b>answer.html can run code")
        next(each for each in box.findChildren(QPushButton) if each.text() == name).click()
        qtbot.waitUntil(lambda: QApplication.activeModalWidget() is None)

    filing.open(words)
    qtbot.waitUntil(lambda: [url.fileName() for url in opened] == ["words.txt"])
    filing.open(page)
    press("Cancel")
    assert len(opened) == 1
    filing.open(page)
    press("Open")
    assert opened[1].fileName() == page.name


def test_what_is_gone_or_cannot_be_looked_at_is_told(
    engine: EngineThread, tmp_path: Path, qtbot: QtBot
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    filing = FileDialogs(window, engine)
    for path in (tmp_path / "gone", tmp_path / ("long" * 100)):
        with qtbot.waitSignal(filing.failed) as told:
            filing.open(path)
        assert told.args[0].endswith("no longer exists.")
