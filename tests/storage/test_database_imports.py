"""Opening the history loads nothing that takes long to import or much memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from jarvis_desktop.storage.database import connect


def test_an_open_database_needs_neither_sqlite_utils_nor_numpy(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    connect(path)[0].close()
    look = (
        "import sys; from pathlib import Path\n"
        "from jarvis_desktop.storage import database\n"
        "database.in_memory().close()\n"
        "database.connect(Path(sys.argv[1]))[0].close()\n"
        "print([name for name in ('sqlite_utils', 'numpy', 'pandas') if name in sys.modules])\n"
    )
    command = [sys.executable, "-c", look, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]"]
