from pathlib import Path

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop.ui.bridge import EngineThread
from jarvis_desktop.ui.request.filing import Filing


def test_a_copy_is_saved_and_a_folder_that_is_closed_is_told(
    engine: EngineThread, tmp_path: Path, qtbot: QtBot
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    filing = Filing(window, engine)
    source = tmp_path / "a.txt"
    source.write_text("words")
    filing.save_copy(source, tmp_path / "b.txt")
    qtbot.waitUntil(lambda: (tmp_path / "b.txt").exists())
    with qtbot.waitSignal(filing.failed) as told:
        filing.save_copy(source, tmp_path / "no" / "b.txt")
    assert told.args[0].startswith("b.txt could not be saved")
