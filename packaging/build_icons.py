"""Draws the application's icon in the sizes of the hicolor theme, from resources/icons/jarvis.svg.

Run it after a change of that file: .venv/bin/python packaging/build_icons.py
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "resources" / "icons" / "jarvis.svg"
ICONS = ROOT / "packaging" / "linux" / "icons"
APP_ID = "org.jarvisdesktop.JarvisDesktop"
SIZES = (16, 22, 24, 32, 48, 64, 128, 256, 512)


def build(folder: Path = ICONS) -> list[Path]:
    """Write the icons; what was written."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QRectF, Qt
    from PySide6.QtGui import QGuiApplication, QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    application = QGuiApplication.instance() or QGuiApplication([])
    renderer = QSvgRenderer(str(SOURCE), application)
    written = []
    for size in SIZES:
        image = QImage(size, size, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        renderer.render(painter, QRectF(0, 0, size, size))
        painter.end()
        path = folder / f"{size}x{size}" / "apps" / f"{APP_ID}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        image.save(str(path))
        written.append(path)
    scalable = folder / "scalable" / "apps" / f"{APP_ID}.svg"
    scalable.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(SOURCE, scalable)
    return [*written, scalable]


if __name__ == "__main__":
    print(*build(*map(Path, sys.argv[1:])), sep="\n")
