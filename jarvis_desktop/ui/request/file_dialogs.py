"""Dialogs and programs of the desktop for files: choose, open and save."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.ui.engine import EngineThread, Outcome


def write_atomically(to: Path, write: Callable[[Path], object]) -> None:
    """Write a file atomically: `write` writes beside `to`, so a full disk leaves the old file
    intact. Raises StorageError."""
    part = to.with_name(f".{to.name}.part")
    try:
        try:
            write(part)
            part.replace(to)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise StorageError(
            tr("{name} could not be saved: {reason}.", name=to.name, reason=reason),
            hint=tr("Choose another folder."),
        ) from error


_visited: list[str] = []
"""The folder of the last file that was chosen, if any."""


def file_dialog(parent: QWidget, title: str) -> QFileDialog:
    """A dialog at the folder that was used last, at first that of the user's documents: the one
    in which JARVIS was started means nothing to the user."""
    dialog = QFileDialog(parent, title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    documents = QStandardPaths.StandardLocation.DocumentsLocation
    places = (*_visited, QStandardPaths.writableLocation(documents), str(Path.home()))
    dialog.setDirectory(next((place for place in places if Path(place).is_dir()), ""))
    dialog.fileSelected.connect(_visit)
    dialog.filesSelected.connect(lambda names: _visit(*names[:1]))
    return dialog


def _visit(name: str = "") -> None:
    if name:
        _visited[:] = [str(Path(name).parent)]


def saved_message(path: Path) -> str:
    """Say that a file was saved, and where."""
    folder = one_line(str(path.parent), limit=200)
    return tr("{name} is saved in {folder}.", name=one_line(path.name), folder=folder)


class FileDialogs(QObject):
    """Asks for files and opens them without blocking."""

    chosen = Signal(object)  # the list of files to attach
    failed = Signal(str)  # a message for the user
    saved = Signal(str)  # a message for the user: a copy was saved

    def __init__(self, window: QWidget, engine: EngineThread) -> None:
        super().__init__(window)
        self._window = window
        self._engine = engine

    def choose(self) -> None:
        """Ask for files to attach."""
        dialog = file_dialog(self._window, tr("Attach files"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(lambda names: self.chosen.emit([Path(name) for name in names]))
        dialog.open()

    def open(self, path: Path) -> None:
        """Open a file or folder with its usual program; ask first if that may run code."""

        def look() -> bool | None:
            from jarvis_desktop.tasks.everyday.files import may_run_code

            try:
                path.stat()
            except (OSError, ValueError):
                return None
            return not path.is_dir() and may_run_code(path)

        def looked(outcome: Outcome) -> None:
            if outcome.value is None:
                name = one_line(path.name)
                self.failed.emit(tr("{name} no longer exists.", name=name))
            elif outcome.value:
                self._ask(path)
            else:
                self._hand_over(path)

        self._engine.run(lambda: asyncio.to_thread(look), looked)

    def save_as(self, artifact: Artifact) -> None:
        """Ask where to save a copy of a result."""
        if artifact.path is None:
            return
        source = artifact.path
        dialog = file_dialog(self._window, tr("Save a copy"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.selectFile(one_line(artifact.title).replace("/", "_"))
        dialog.fileSelected.connect(lambda name: self.save_copy(source, Path(name)))
        dialog.open()

    def save_copy(self, source: Path, to: Path) -> None:
        """Copy a result to a place the user chose."""

        async def work() -> None:
            await asyncio.to_thread(write_atomically, to, partial(shutil.copyfile, source))

        def then(outcome: Outcome) -> None:
            if outcome.error:
                self.failed.emit(str(outcome.error))
            elif not outcome.cancelled:
                self.saved.emit(saved_message(to))

        self._engine.run(work, then)

    def _ask(self, path: Path) -> None:
        name = one_line(path.name, limit=80)
        box = QMessageBox(self._window)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setWindowTitle(tr("Open"))
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(tr("{name} can run code on this computer when opened. Open it?", name=name))
        yes = box.addButton(tr("Open"), QMessageBox.ButtonRole.AcceptRole)
        no = box.addButton(tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(no)
        box.setEscapeButton(no)
        yes.clicked.connect(lambda: self._hand_over(path))
        box.open()

    def _hand_over(self, path: Path) -> None:
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(path))):
            name = one_line(path.name)
            self.failed.emit(tr("No program on this computer is set to open {name}.", name=name))
