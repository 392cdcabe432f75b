"""What a drag or the clipboard carries of a file."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, QUrl
from PySide6.QtGui import QImage


def mime_data(path: Path, image: QImage | None = None, text: str = "") -> QMimeData:
    """What a drag or the clipboard carries: the file, and its picture or text."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    if image is not None and not image.isNull():
        data.setImageData(image)
    if text:
        data.setText(text)
    return data
