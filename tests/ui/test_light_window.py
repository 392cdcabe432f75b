"""The window's process at rest holds nothing heavy: that lives in child processes."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

from tests import hidden

HEAVY = """numpy pandas onnxruntime torch transformers tokenizers py3langid PIL av scipy ctranslate2
    httpx ollama huggingface_hub PySide6.QtMultimedia PySide6.QtNetwork
    starlette uvicorn mcp zeroconf jarvis_desktop.server""".split()

REST = f"""
import gc, json, sys, weakref
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from jarvis_desktop.ui import app
from jarvis_desktop.ui.session import WindowSession

def watched(self, *args):
    plain(self, *args)
    self.timer = QTimer(interval=50)
    self.timer.timeout.connect(lambda: look(self))
    self.timer.start()

def look(session):
    built = session.app
    if built and built._background and built._background[0].done():  # it is warm
        if not session.property("circles"):
            session.setProperty("circles", True)
            make_circles()
        elif not circles:
            held = [name for name in {HEAVY!r} if name in sys.modules]
            print(json.dumps(held), flush=True)
            session.timer.stop()
            QApplication.quit()

class Circle:
    def __init__(self):
        self.itself = self

circles = weakref.WeakSet()

def make_circles():
    made = [Circle() for _ in range(1000)]
    circles.update(made)

plain, WindowSession.__init__ = WindowSession.__init__, watched
if __name__ == "__main__":
    gc.disable()  # as the entry point does
    sys.exit(app.run())
"""


def test_once_all_is_warm_and_circles_of_objects_went(tmp_path: Path) -> None:
    with socket.socket() as nobody:  # has the port and does not listen: no Ollama is there
        nobody.bind(("127.0.0.1", 0))
        environment = os.environ | {
            "JARVIS_DESKTOP_HOME": str(tmp_path / "home"),
            "OLLAMA_HOST": f"127.0.0.1:{nobody.getsockname()[1]}",
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "QT_QPA_PLATFORM": "offscreen",
        }
        # Whoever creates the history needs sqlite-utils, which imports numpy; later starts do not.
        history = [sys.executable, "-m", "jarvis_desktop", "history", "list"]
        quick = environment | {"PYTHONPATH": hidden.PATH}
        subprocess.run(history, env=quick, check=True, capture_output=True, timeout=200)
        # From a file, its children would run it again, as far as it is theirs.
        command = [sys.executable, "-c", REST]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []
