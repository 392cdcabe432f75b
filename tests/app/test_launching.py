"""What the command line asks of the window, and how a second start tells the first."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jarvis_desktop.app import ipc_client
from jarvis_desktop.app.ipc_client import (
    MAX_LINE_BYTES,
    LaunchRequest,
    commands,
    hand_over,
    read_launch_request,
)
from jarvis_desktop.app.single_instance import Instance
from jarvis_desktop.core.errors import InputError

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there it is a named pipe")


@pytest.fixture(autouse=True)
def no_token(monkeypatch):
    for name in ipc_client.ACTIVATION_TOKENS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def letter(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a letter äö.txt"
    path.write_text("Dear all")
    return path


def test_without_anything_the_window_is_wanted():
    assert read_launch_request([]) == LaunchRequest()
    assert list(commands(LaunchRequest())) == [{"do": "show", "token": ""}]


@pytest.mark.parametrize(
    ("words", "wish"),
    [
        (["--hidden"], LaunchRequest(hidden=True)),
        (["--quick"], LaunchRequest(quick=True)),
        (["--new", "--talk"], LaunchRequest(new=True, talk=True)),
    ],
)
def test_flags_are_read(words, wish):
    assert read_launch_request(words) == wish


@pytest.mark.parametrize(
    "words", [["ask", "x"], ["--version"], ["--help"], ["nowhere.txt"], ["-x"]]
)
def test_all_else_is_for_the_command_line(words, letter):
    assert read_launch_request(words) is None


def test_files_are_made_absolute_and_addresses_of_files_read(letter):
    assert read_launch_request([letter.name, "--new"]) == LaunchRequest((letter,), new=True)
    assert read_launch_request([letter.as_uri()]) == LaunchRequest((letter,))


def test_a_link_that_leads_nowhere_is_told_by_the_window(letter):
    link = letter.with_name("link")
    link.symlink_to("gone")
    assert read_launch_request(["link"]) == LaunchRequest((link,))


def test_a_name_with_a_folder_is_meant_as_a_file(letter):
    assert read_launch_request(["./nowhere.txt"]) == LaunchRequest((letter.parent / "nowhere.txt",))


def test_the_desktops_token_goes_along(letter, monkeypatch):
    monkeypatch.setenv("DESKTOP_STARTUP_ID", "older")
    monkeypatch.setenv("XDG_ACTIVATION_TOKEN", "tok")
    told = list(commands(LaunchRequest((letter,), new=True, quick=True, talk=True)))
    assert told == [
        {"do": "new", "token": "tok"},
        {"do": "open", "paths": [str(letter)], "token": "tok"},
        {"do": "quick", "token": "tok"},
        {"do": "talk", "action": "toggle"},
    ]


def test_ten_thousand_files_take_several_commands():
    files = tuple(
        Path(f"/somewhere/with a long name/picture \udcff {n:08}.png") for n in range(10_000)
    )
    told = list(commands(LaunchRequest(files)))
    assert all(len(json.dumps(command)) + 1 <= MAX_LINE_BYTES for command in told)
    names: list[object] = []
    for command in told:
        assert isinstance(command["paths"], list)
        names += command["paths"]
    assert names == [str(path) for path in files]


class Running:
    """A JARVIS that is asked, and what it was told."""

    def __init__(self, folder: Path, refuse: bool = False) -> None:
        self.instance = Instance(folder)
        self.told: list[dict[str, object]] = []
        self.refuse = refuse

    async def handle(self, command):
        if self.refuse:
            raise InputError("This JARVIS does not know the command.")
        self.told.append(dict(command))
        return {}


async def test_the_running_one_does_it(tmp_path, letter):
    running = Running(tmp_path)
    assert await running.instance.serve(running.handle)
    other = Instance(tmp_path)
    done = await asyncio.to_thread(hand_over, LaunchRequest((letter,)), tmp_path, other.claim)
    assert done
    assert running.told == [{"do": "open", "paths": [str(letter)], "token": ""}]
    assert await asyncio.to_thread(hand_over, LaunchRequest(hidden=True), tmp_path, other.claim)
    assert running.told[1:] == [{"do": "talk", "action": "status"}]  # which changes nothing
    await running.instance.close()
    await other.close()


async def test_where_none_runs_this_one_is_asked_from_now_on(tmp_path):
    first, second = Instance(tmp_path), Instance(tmp_path)
    assert not await asyncio.to_thread(hand_over, LaunchRequest(), tmp_path, first.claim)
    assert not second.claim()
    assert first.claim()
    await first.close()
    assert second.claim()
    await second.close()


async def test_one_that_is_only_starting_is_waited_for(tmp_path):
    running, other = Running(tmp_path), Instance(tmp_path)
    assert running.instance.claim()
    handing = asyncio.create_task(
        asyncio.to_thread(hand_over, LaunchRequest(quick=True), tmp_path, other.claim)
    )
    await asyncio.sleep(0)
    assert await running.instance.serve(running.handle)
    assert await handing
    assert running.told == [{"do": "quick", "token": ""}]
    await running.instance.close()


async def test_one_that_never_answers_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(ipc_client, "START_TIMEOUT_S", 0.05)
    monkeypatch.setattr(ipc_client, "RETRY_INTERVAL_S", 0.01)
    hangs, other = Instance(tmp_path), Instance(tmp_path)
    assert hangs.claim()
    assert not await asyncio.to_thread(hand_over, LaunchRequest(), tmp_path, other.claim)
    await hangs.close()


async def test_a_terminal_that_is_reached_has_no_window(tmp_path):
    running = Running(tmp_path, refuse=True)
    assert await running.instance.serve(running.handle)
    assert not await asyncio.to_thread(
        hand_over, LaunchRequest(), tmp_path, Instance(tmp_path).claim
    )
    await running.instance.close()


def test_a_folder_that_cannot_be_used_keeps_no_window_away(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert not hand_over(LaunchRequest(), blocked, Instance(blocked / "run").claim)


def test_what_a_click_waits_for_is_little():
    code = (
        "import jarvis_desktop.app.ipc_client, sys;"
        "heavy = {'asyncio', 'PySide6', 'pydantic', 'filelock', 'argparse', 'urllib.request'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("words", [["--quick"], ["--hidden"]])
def test_without_a_screen_the_window_cannot_be_wanted(words):
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    done = subprocess.run(
        [sys.executable, "-m", "jarvis_desktop", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=environment,
    )
    assert done.returncode == 1
    assert "There is no screen here" in done.stderr
