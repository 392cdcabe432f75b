import os
import struct
import zlib
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QApplication

from jarvis_desktop.ui.widgets.images import PictureLoader, finish_reading, read_closely

BOX = QSize(100, 100)


def read_picture(path: Path, box: QSize) -> tuple[QImage, str]:
    read = read_closely(path, box)
    return read.image, read.reason


@pytest.fixture
def wide(tmp_path: Path, qapp: QApplication) -> Path:
    image = QImage(400, 200, QImage.Format.Format_RGB32)
    image.fill(QColor("teal"))
    path = tmp_path / "wide.png"
    assert image.save(str(path))
    return path


def png(width: int, height: int) -> bytes:
    """A PNG that claims a size and has no pixels."""

    def chunk(name: bytes, data: bytes) -> bytes:
        crc = struct.pack(">I", zlib.crc32(name + data))
        return struct.pack(">I", len(data)) + name + data + crc

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0"))
    return b"\x89PNG\r\n\x1a\n" + body + chunk(b"IEND", b"")


def test_a_picture_is_scaled_down_to_its_place(wide: Path) -> None:
    image, reason = read_picture(wide, BOX)
    assert (image.width(), image.height(), reason) == (100, 50, "")


def test_a_small_picture_keeps_its_size(wide: Path) -> None:
    image, _ = read_picture(wide, QSize(1000, 1000))
    assert (image.width(), image.height()) == (400, 200)


def test_a_picture_with_the_wrong_name_is_still_read(wide: Path) -> None:
    renamed = wide.rename(wide.with_suffix(".jpg"))
    assert read_picture(renamed, BOX)[1] == ""


def test_a_picture_that_lies_on_its_side_is_turned(wide: Path, tmp_path: Path) -> None:
    from PIL import Image

    turned = tmp_path / "turned.jpg"
    picture = Image.open(wide)
    exif = picture.getexif()
    exif[0x0112] = 6
    picture.save(turned, exif=exif)
    image, _ = read_picture(turned, BOX)
    assert (image.width(), image.height()) == (50, 100)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("empty.png", b"", "cannot be shown"),
        ("text.png", b"hello", "cannot be shown"),
        ("cut.png", png(20, 20), "damaged"),
        ("bomb.png", png(60_000, 60_000), "too large"),
        ("vector.svg", b'<svg xmlns="http://www.w3.org/2000/svg"/>', "cannot be shown"),
    ],
)
def test_what_cannot_be_shown_says_why(
    tmp_path: Path, qapp: QApplication, name: str, content: bytes, reason: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    PictureLoader(path, BOX, qapp).deleteLater()  # silences Qt's own complaints, as in the window
    assert finish_reading(60_000)
    image, why = read_picture(path, BOX)
    assert image.isNull()
    assert reason in why


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    assert read_picture(tmp_path, BOX)[1] == "This is not a file."
    assert read_picture(tmp_path / "gone.png", BOX)[1] == "The file no longer exists."
    assert read_picture(Path("a\0b"), BOX)[1] == "The file no longer exists."
    pipe = tmp_path / "pipe.png"
    os.mkfifo(pipe)
    assert read_picture(pipe, BOX)[1] == "This is not a file."
