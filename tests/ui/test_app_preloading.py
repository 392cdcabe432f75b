"""What the first turn needs is imported after the first paint, and all of it."""

from __future__ import annotations

import subprocess
import sys

from jarvis_desktop.ui.app import PRELOADED_MODULES

WINDOW = """
import sys
from PySide6.QtCore import QCoreApplication
import jarvis_desktop.ui.app, jarvis_desktop.ui.main_window
from jarvis_desktop.ui.app import PRELOADED_MODULES, Preloader
print(*(name for name in PRELOADED_MODULES if name in sys.modules), "before")
application = QCoreApplication([])
preparing = Preloader()
preparing._timer.timeout.connect(lambda: preparing._timer.isActive() or application.quit())
preparing.begin()
application.exec()
print(*(name for name in PRELOADED_MODULES if name not in sys.modules), "missing")
"""


def test_the_window_waits_for_none_of_it_and_has_it_later() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WINDOW], capture_output=True, text=True, timeout=200
    )
    assert done.stdout.splitlines() == ["before", "missing"], done.stderr
    assert PRELOADED_MODULES[-1].endswith("turn_view")  # it brings all the others along
