"""What opens the history brings along nothing that takes long or much."""

from __future__ import annotations

import subprocess
import sys


def test_neither_numpy_nor_pandas_comes_with_it() -> None:
    look = (
        "import sys, importlib\n"
        "from jarvis_desktop.storage import database\n"
        "with database.in_memory().conn: pass\n"
        "print([name for name in ('numpy', 'pandas') if name in sys.modules])\n"
        "print(importlib.import_module.__module__, importlib.import_module('numpy').__name__)\n"
    )
    told = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines() == ["[]", "importlib numpy"]
