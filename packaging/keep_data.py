"""Makes the data folder of this version, which every later version must be able to open.

    .venv/bin/python packaging/keep_data.py       once for each release; commit what it writes

The result, in tests/released, is what somebody has who used a little of everything: conversations
with files, settings, memory, functions, a goal, dictations, an MCP server, an engine.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from PIL import Image

from jarvis_desktop import __version__
from jarvis_desktop import settings as settings_file
from jarvis_desktop.app.build import build
from jarvis_desktop.backends.mcp.servers import Approval, McpServer, McpServers, McpTool
from jarvis_desktop.cli.main import main as command
from jarvis_desktop.core.code import FunctionDraft
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import (
    CodeTerms,
    ControllerFrame,
    Goal,
    LogEntry,
    Outline,
    OutlineStep,
    Terms,
)
from jarvis_desktop.core.ports import Timer
from jarvis_desktop.paths import Paths, user_paths
from jarvis_desktop.storage.records import DictationLog

RELEASED = Path(__file__).resolve().parent.parent / "tests" / "released"
MOMENT = datetime(2030, 1, 2, 3, 4, tzinfo=UTC)
"""Far off, so that no timer rings and nothing is too old."""
NOTE = "The garden has three apple trees. The oldest was planted in 1962 by Ada's grandfather.\n"
SETTINGS = '# Mine\nmode = "hybrid"\n\n[speech]\nwords = ["Reykjavik"] # a trip\nrate = 200\n'


def main() -> int:
    """The exit code: 0 written, 1 something could not be done."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        os.environ["JARVIS_DESKTOP_HOME"] = str(home)
        if not fill(user_paths(), Path(folder)):
            return 1
        RELEASED.mkdir(exist_ok=True)
        target = RELEASED / f"{__version__}.zip"
        pack(home, target)
    print(f"{target.name}: {target.stat().st_size // 1000} kB")
    return 0


def fill(paths: Paths, folder: Path) -> bool:
    """Use the program in a home of its own; whether all of it worked."""
    picture, note = folder / "red.png", folder / "garden.txt"
    Image.new("RGB", (32, 24), "red").save(picture)
    note.write_text(NOTE)
    for words in (
        ["ask", "What is 15 percent of 240?"],
        ["ask", "--new", "Make this picture black and white", "--file", str(picture)],
        ["ask", "Who planted the oldest tree?", "--file", str(note)],
        ["memory", "add", "My sister is called Ada."],
    ):
        if command(words):
            return False
    paths.config.mkdir(parents=True)
    paths.settings.write_text(SETTINGS, "utf-8")
    settings, _ = settings_file.load(paths.settings)
    app = build(settings, paths)
    for conversation in app.history.list():
        if "15" in conversation.title:
            app.history.pin(conversation.id, True)
    app.history.timers.add(Timer("tea", "Tea", MOMENT))
    frame = ControllerFrame("assistant", "Plot it", Outline((OutlineStep(1, "Plot"),)), kept={})
    terms = Terms(True, CodeTerms.SANDBOXED, ("example.org",))
    goal = Goal("aa11", app.history.list()[0].id, "Plot the prices", terms, MOMENT)
    app.goals.begin(goal, [frame])
    entry = LogEntry(1, "assistant", "coder", "Plot it", Status.DONE, "A chart.", MOMENT)
    app.goals.keep("aa11", [frame], [entry])
    source = '"""Sums."""\n\n\ndef twice(x: int) -> int:\n    """Twice the number."""\n'
    draft = FunctionDraft("twice", f"{source}    return 2 * x\n")
    app.library.save(draft, approved=draft.sha256)
    app.history.close()
    DictationLog(paths.data / "dictations.json", now=lambda: MOMENT).add("Dear Ada,")
    server, tool = McpServer("notes", command="notes-server"), McpTool("find", "Finds a note.", {})
    servers = McpServers(paths.mcp_servers, paths.mcp_tools)
    servers.add(server)
    servers.keep_tools(server, [tool])
    servers.approve(server, [tool], Approval.ALWAYS)
    engine = paths.engines / "2.13.0-cp311-12345678"
    engine.mkdir(parents=True)
    record = {"torch": "2.13.0+cpu", "python": "cp311", "size": 7}
    (engine / "engine.json").write_text(json.dumps(record))
    return True


def pack(home: Path, target: Path) -> None:
    """Write the settings and the data, without logs and without empty folders."""
    with ZipFile(target, "w", compresslevel=9) as packed:
        for path in sorted(home.rglob("*")):
            name = path.relative_to(home)
            if path.is_file() and name.parts[0] in ("config", "data"):
                about = ZipInfo(str(name), (2026, 1, 1, 0, 0, 0))
                packed.writestr(about, path.read_bytes(), ZIP_DEFLATED)


if __name__ == "__main__":
    sys.exit(main())
