"""Reads pictures for the screen in worker threads, within limits.

A picture may be hostile: only regular files of well-known raster formats are decoded, never at
more pixels than are shown, and never one that would need gigabytes. SVG is left out because it can
make Qt read other files.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
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

from jarvis_desktop.core.i18n import tr

FORMATS = frozenset({"png", "jpeg", "jpg", "gif", "webp", "bmp", "tiff", "ico"})
MAX_FILE_BYTES = 200_000_000
"""Bytes."""
MAX_PIXELS = 100_000_000
"""Pixels."""
MAX_FRAMES = 400
MAX_ANIMATION_PIXELS = 40_000_000
"""Pixels of all frames of an animation; further frames are left out."""
LEAST_DELAY, USUAL_DELAY = 20, 100
"""Milliseconds of a frame; one that claims less is shown for the usual time, as in browsers."""


@dataclass(frozen=True, slots=True)
class PictureResult:
    """A picture that was read."""

    image: QImage = field(default_factory=QImage)
    reason: str = ""
    """Why there is none."""
    size: QSize = field(default_factory=QSize)
    """Its pixels, of which the image may have fewer."""
    moves: bool = False
    """Whether it has more frames."""


def read_closely(path: Path, box: QSize) -> PictureResult:
    """The picture scaled down to fit `box` (pixels of the screen), or the reason why not, and what
    else there is to know. Safe in any thread."""
    if reason := _refusal(path):
        return PictureResult(reason=reason)
    reader = _reader(path)
    if bytes(reader.format().data()).decode() not in FORMATS:
        return PictureResult(reason=tr("This kind of picture cannot be shown here."))
    size = reader.size()
    turned = _is_turned(reader)
    if size.isValid():
        if size.width() * size.height() > MAX_PIXELS:
            return PictureResult(reason=tr("The picture is too large to show here."))
        place = box.transposed() if turned else box
        if size.width() > place.width() or size.height() > place.height():
            reader.setScaledSize(size.scaled(place, Qt.AspectRatioMode.KeepAspectRatio))
    image = reader.read()
    if image.isNull():
        return PictureResult(reason=tr("The picture is damaged and cannot be shown."))
    full = size if size.isValid() else image.size()
    image = _fitted(image, box)
    moves = reader.supportsAnimation() and reader.canRead()
    return PictureResult(image, size=full.transposed() if turned else full, moves=moves)


def read_frames(path: Path, box: QSize) -> list[tuple[QImage, int]]:
    """The frames of a picture that moves, each with its milliseconds, as far as the limits let.

    Safe in any thread.
    """
    frames: list[tuple[QImage, int]] = []
    if _refusal(path):
        return frames
    reader, pixels = _reader(path), 0
    while len(frames) < MAX_FRAMES and pixels < MAX_ANIMATION_PIXELS:
        size = reader.size()
        if size.width() * size.height() > MAX_ANIMATION_PIXELS:
            break
        image = reader.read()
        if image.isNull():
            break
        image = _fitted(image, box)
        pixels += image.width() * image.height()
        delay = reader.nextImageDelay()
        frames.append((image, delay if delay >= LEAST_DELAY else USUAL_DELAY))
    return frames


def _refusal(path: Path) -> str:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return tr("This is not a file.")
        if status.st_size > MAX_FILE_BYTES:
            return tr("The file is too large to show here.")
    except (OSError, ValueError):
        return tr("The file no longer exists.")
    return ""


def _reader(path: Path) -> QImageReader:
    reader = QImageReader(os.fspath(path))
    reader.setDecideFormatFromContent(True)
    reader.setAutoTransform(True)
    return reader


def _is_turned(reader: QImageReader) -> bool:
    quarter = int(QImageReader(reader.fileName()).transformation().value) & 4
    return bool(quarter)


def _fitted(image: QImage, box: QSize) -> QImage:
    if image.width() <= box.width() and image.height() <= box.height():
        return image
    return image.scaled(
        box, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
    )


class PictureLoader(QObject):
    """One picture being read; `ready` carries the image, and why there is none."""

    ready = Signal(QImage, str)

    def __init__(self, path: Path, box: QSize, parent: QObject) -> None:
        super().__init__(parent)
        self.size = QSize()
        """Its pixels, once it is ready."""
        self.moves = False
        """Whether it has more frames, once it is ready."""
        self._delivery = _Delivery()
        self._delivery.arrived.connect(self._arrived, Qt.ConnectionType.QueuedConnection)
        _begin(lambda: read_closely(path, box), self._delivery)

    @Slot(object)
    def _arrived(self, read: PictureResult) -> None:
        self.size, self.moves = read.size, read.moves
        self.ready.emit(read.image, read.reason)


class AnimationLoader(QObject):
    """The frames of one being read; `ready` carries them as `read_frames` gives them."""

    ready = Signal(object)

    def __init__(self, path: Path, box: QSize, parent: QObject) -> None:
        super().__init__(parent)
        self._delivery = _Delivery()
        self._delivery.arrived.connect(self._arrived, Qt.ConnectionType.QueuedConnection)
        _begin(lambda: read_frames(path, box), self._delivery)

    @Slot(object)
    def _arrived(self, frames: object) -> None:
        self.ready.emit(frames)


class _Delivery(QObject):
    """Outlives the widget that waits, as long as the worker needs it."""

    arrived = Signal(object)


class _Reading(QRunnable):
    def __init__(self, read: Callable[[], object], delivery: _Delivery) -> None:
        super().__init__()
        self._read, self._delivery = read, delivery

    def run(self) -> None:
        self._delivery.arrived.emit(self._read())


def _begin(read: Callable[[], object], delivery: _Delivery) -> None:
    # The reader's complaints about damaged files are said in the window instead.
    QLoggingCategory.setFilterRules("qt.gui.imageio*=false")
    QThreadPool.globalInstance().start(_Reading(read, delivery))


def finish_reading(milliseconds: int) -> bool:
    """Drop pictures that wait and let those under way end; whether they did in time."""
    pool = QThreadPool.globalInstance()
    pool.clear()
    return pool.waitForDone(milliseconds)
