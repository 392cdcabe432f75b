"""Reads pictures for the screen in worker threads, within limits.

A picture may be hostile: only regular files of well-known raster formats are decoded, never at
more pixels than are shown, and never one that would need gigabytes. SVG is left out because it can
make Qt read other files.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from PySide6.QtCore import (
    QLoggingCategory,
    QObject,
    QRunnable,
    QSize,
    Qt,
    QThreadPool,
    Signal,
    Slot,
)
from PySide6.QtGui import QImage, QImageReader

FORMATS = frozenset({"png", "jpeg", "jpg", "gif", "webp", "bmp", "tiff", "ico"})
LARGEST_FILE = 200_000_000
"""Bytes."""
LARGEST_PICTURE = 100_000_000
"""Pixels."""


def read_picture(path: Path, box: QSize) -> tuple[QImage, str]:
    """The picture scaled down to fit `box` (pixels of the screen), or the reason why not.

    Safe in any thread.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return QImage(), "This is not a file."
        if status.st_size > LARGEST_FILE:
            return QImage(), "The file is too large to show here."
    except (OSError, ValueError):
        return QImage(), "The file is not there any more."
    reader = QImageReader(os.fspath(path))
    reader.setDecideFormatFromContent(True)
    reader.setAutoTransform(True)
    if bytes(reader.format().data()).decode() not in FORMATS:
        return QImage(), "This kind of picture cannot be shown here."
    size = reader.size()
    if size.isValid():
        if size.width() * size.height() > LARGEST_PICTURE:
            return QImage(), "The picture is too large to show here."
        turned = box.transposed() if _is_turned(reader) else box
        if size.width() > turned.width() or size.height() > turned.height():
            reader.setScaledSize(size.scaled(turned, Qt.AspectRatioMode.KeepAspectRatio))
    image = reader.read()
    if image.isNull():
        return QImage(), "The picture is damaged and cannot be shown."
    if image.width() > box.width() or image.height() > box.height():
        image = image.scaled(
            box, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
        )
    return image, ""


def _is_turned(reader: QImageReader) -> bool:
    quarter = int(QImageReader(reader.fileName()).transformation().value) & 4
    return bool(quarter)


class Picture(QObject):
    """One picture being read; `ready` carries the image and the reason where there is none."""

    ready = Signal(QImage, str)

    def __init__(self, path: Path, box: QSize, parent: QObject) -> None:
        super().__init__(parent)
        # The reader's complaints about damaged files are said in the window instead.
        QLoggingCategory.setFilterRules("qt.gui.imageio*=false")
        self._delivery = _Delivery()
        self._delivery.arrived.connect(self._arrived, Qt.ConnectionType.QueuedConnection)
        QThreadPool.globalInstance().start(_Reading(path, box, self._delivery))

    @Slot(QImage, str)
    def _arrived(self, image: QImage, reason: str) -> None:
        self.ready.emit(image, reason)


class _Delivery(QObject):
    """Outlives the widget that waits, as long as the worker needs it."""

    arrived = Signal(QImage, str)


class _Reading(QRunnable):
    def __init__(self, path: Path, box: QSize, delivery: _Delivery) -> None:
        super().__init__()
        self._path, self._box, self._delivery = path, box, delivery

    def run(self) -> None:
        self._delivery.arrived.emit(*read_picture(self._path, self._box))


def finish_reading(milliseconds: int) -> bool:
    """Drop pictures that wait and let those under way end; whether they did in time."""
    pool = QThreadPool.globalInstance()
    pool.clear()
    return pool.waitForDone(milliseconds)
