"""`jarvis-desktop talk`: a second process speaks to the running instance."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from typing import Any

import pytest

from jarvis_desktop import paths
from jarvis_desktop.app.single_instance import Instance
from jarvis_desktop.cli.commands import talk
from jarvis_desktop.cli.main import main
from jarvis_desktop.core.errors import InputError
from tests.cli.conftest import Jarvis

LIVE = {"way": "x11", "key": "Ctrl+Alt+Space", "holds": True, "why": "It is a test."}
HEAVY = {"asyncio", "ssl", "http", "multiprocessing", "filelock", "jarvis_desktop.core.plan"}
HEAVY |= {"numpy", "PySide6", "pydantic", "keyring"}


class Running:
    """What an open window does with the commands."""

    def __init__(self) -> None:
        self.actions: list[object] = []
        self.hotkey: dict[str, object] = dict(LIVE)

    async def handle(self, command: Mapping[str, object]) -> Mapping[str, object]:
        self.actions.append(command["action"])
        if self.actions[-1] == "cancel":
            raise InputError("Nothing is being said.", hint="Say something.")
        return {"state": "listening", "hotkey": self.hotkey}


@pytest.fixture
def running() -> Iterator[Running]:
    """A running instance, with a loop in a thread of its own."""
    running = Running()
    ready: Future[None] = Future()

    async def serve() -> None:
        instance = Instance(paths.run_folder())
        assert await instance.serve(running.handle)
        ends.append(asyncio.Event())
        loops.append(asyncio.get_running_loop())
        ready.set_result(None)
        await ends[0].wait()
        await instance.close()

    ends: list[asyncio.Event] = []
    loops: list[asyncio.AbstractEventLoop] = []
    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.result(60)
    yield running
    loops[0].call_soon_threadsafe(ends[0].set)
    thread.join(60)
    assert not thread.is_alive()


def test_a_second_process_reaches_the_running_one(jarvis: Jarvis, running: Running) -> None:
    done = jarvis("talk", "toggle")
    assert (done.code, done.out, done.err) == (0, "JARVIS is listening.\n", "")
    assert running.actions == ["toggle"]


def test_where_nothing_runs_a_sentence_says_what_to_do(jarvis: Jarvis) -> None:
    done = jarvis("talk", "start", "--json")
    assert done.code == 1
    assert done.json == {
        "status": "failed",
        "error": "JARVIS is not running.",
        "hint": "Start it with: jarvis-desktop",
    }
    assert done.err == "jarvis-desktop: JARVIS is not running. Start it with: jarvis-desktop\n"


def test_wrong_usage_is_2(jarvis: Jarvis) -> None:
    done = jarvis("talk", "sing")
    assert done.code == 2
    assert "start" in done.err


@pytest.mark.parametrize("action", ["start", "stop", "toggle", "status"])
def test_each_action_goes_there(
    action: str, running: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    assert talk.main([action]) == 0
    assert running.actions == [action]
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "JARVIS is listening."
    told = ["Talk key: Ctrl+Alt+Space (x11). It is a test."]
    assert lines[1:] == (told if action == "status" else [])


@pytest.mark.parametrize(
    ("hotkey", "told"),
    [
        ({"way": "none", "key": "", "why": "None is set."}, "none. None is set."),
        ({"way": "portal", "key": "", "why": "It is lent."}, "not told (portal). It is lent."),
    ],
)
def test_the_status_says_which_key_there_is(
    running: Running,
    capsys: pytest.CaptureFixture[str],
    hotkey: dict[str, object],
    told: str,
) -> None:
    running.hotkey = hotkey
    assert talk.main(["status"]) == 0
    assert capsys.readouterr().out.endswith(f"Talk key: {told}\n")


def test_json_is_the_whole_answer(running: Running, capsys: pytest.CaptureFixture[str]) -> None:
    assert talk.main(["status", "--json"]) == 0
    answer: Any = json.loads(capsys.readouterr().out)
    assert answer == {"state": "listening", "hotkey": LIVE}


def test_a_refusal_is_told(running: Running, capsys: pytest.CaptureFixture[str]) -> None:
    assert talk.main(["cancel"]) == 1
    told = "jarvis-desktop: Nothing is being said. Say something.\n"
    assert capsys.readouterr().err == told


def test_the_whole_command_line_knows_it_too(
    running: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["talk", "stop"]) == 0
    assert running.actions == ["stop"]
    with pytest.raises(SystemExit) as ended:
        main(["talk", "--help"])
    assert ended.value.code == 0
    assert "talk toggle" in capsys.readouterr().out


def test_it_imports_little() -> None:
    code = (
        "import sys\nfrom jarvis_desktop.__main__ import main\n"
        "sys.argv[1:] = ['talk', 'toggle']\nmain()\nprint(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert "jarvis_desktop.app.ipc_client" in modules
    assert not modules & HEAVY
