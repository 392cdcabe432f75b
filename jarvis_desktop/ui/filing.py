"""What is done with files by way of the system: choosing, opening and saving them."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, QObject, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QWidget

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.shown import one_line


class Filing(QObject):
    """Asks for files and opens them; nothing here waits for its dialog."""

    chosen = Signal(object)
    """Carries the list of files to attach."""
    copied = Signal(object, object)
    """Carries a file (a Path) and where a copy of it is wanted (a Path)."""
    failed = Signal(str)
    """Carries what the person should know."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window

    def choose(self) -> None:
        """Ask for files to attach."""
        dialog = self._dialog("Attach files")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(lambda names: self.chosen.emit([Path(name) for name in names]))
        dialog.open()

    def open(self, path: Path) -> None:
        """Open a file or folder with its usual program."""
        if not path.exists():
            self.failed.emit(f"{path.name} is not there any more.")
        elif not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
            self.failed.emit(f"This computer has no program set to open {path.name}.")

    def save_as(self, artifact: Artifact) -> None:
        """Ask where a copy of a result is wanted."""
        if artifact.path is None:
            return
        source = artifact.path
        dialog = self._dialog("Save a copy")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.selectFile(one_line(artifact.title).replace("/", "_"))
        dialog.fileSelected.connect(lambda name: self.copied.emit(source, Path(name)))
        dialog.open()

    def _dialog(self, title: str) -> QFileDialog:
        dialog = QFileDialog(self._window, title)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        return dialog


def dropped_files(dropped: QMimeData) -> list[Path]:
    """The local files among what is dropped."""
    return [Path(url.toLocalFile()) for url in dropped.urls() if url.isLocalFile()]
