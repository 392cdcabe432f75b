"""A program with an editor, for tests that type into it: prints its window's number, then its whole
text as a line of JSON after each change. With an argument it has a field for a password before it,
which has the focus at first and whose text is a part of it; Tab goes from one to the other.

    python -m tests.platform.editor [password]
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time

from tests.platform.pressed import PATIENCE

START_PATIENCE = 90.0
"""Seconds in which a program with a window starts, on a busy computer."""


class Editor:
    """The running program."""

    def __init__(self, screen: str, *arguments: str) -> None:
        environment = {**os.environ, "DISPLAY": screen, "QT_QPA_PLATFORM": "xcb"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", __name__, *arguments], stdout=subprocess.PIPE, env=environment
        )
        self._lines = b""
        self.text = ""
        try:
            self.window = int(self._next(START_PATIENCE))
        except BaseException:
            self.stop()
            raise

    def wait_for(self, text: str) -> str:
        """Wait until this is the text, at most for a while; return the text."""
        until = time.monotonic() + PATIENCE
        while self.text != text and time.monotonic() < until:
            self.text = str(json.loads(self._next()))
        return self.text

    def stop(self) -> None:
        self.process.kill()
        self.process.communicate()

    def _next(self, patience: float = PATIENCE) -> bytes:
        assert self.process.stdout
        while b"\n" not in self._lines:
            ready, _, _ = select.select([self.process.stdout], [], [], patience)
            assert ready, f"only {self.text!r} arrived"
            self._lines += os.read(self.process.stdout.fileno(), 65536)
        line, _, self._lines = self._lines.partition(b"\n")
        return line


def main() -> None:
    from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

    def report() -> None:
        print(json.dumps(password.text() + editor.toPlainText()), flush=True)

    application = QApplication(sys.argv)
    window, password, editor = QWidget(), QLineEdit(), QPlainTextEdit()
    password.setEchoMode(QLineEdit.EchoMode.Password)
    password.setVisible(has_password := len(sys.argv) > 1)
    editor.setTabChangesFocus(has_password)
    layout = QVBoxLayout(window)
    for field in (password, editor):
        layout.addWidget(field)
        field.textChanged.connect(report)
    (password if has_password else editor).setFocus()
    window.show()
    print(int(window.winId()), flush=True)
    application.exec()


if __name__ == "__main__":
    main()
