"""Talking in the terminal, with a real sound server as microphone and loudspeaker."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

import numpy as np
import pytest

from jarvis_desktop.cli.commands import speech
from tests.cli.conftest import Jarvis
from tests.cli.terminal import terminal
from tests.cli.warm import WarmProcess
from tests.scenarios import files
from tests.sound import SoundServer


def start(folder: Path, server: SoundServer, *args: str) -> subprocess.Popen[str]:
    environment = {**os.environ, **server.environment}
    environment.pop("DISPLAY", None)
    return WarmProcess(
        *args,
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
    )


def until(running: subprocess.Popen[str], words: str) -> None:
    assert running.stderr is not None
    for line in running.stderr:
        if words in line:
            return
    raise AssertionError(f"it ended without saying {words!r}")


def press_enter(running: subprocess.Popen[str]) -> None:
    assert running.stdin is not None
    running.stdin.write("\n")
    running.stdin.flush()


@pytest.mark.sound
def test_a_spoken_request_is_answered_aloud_and_not_kept(
    tmp_path: Path, sound_server: SoundServer, home: Path
) -> None:
    question = files.speech(tmp_path / "question.wav", "What time is it?")
    running = start(tmp_path, sound_server, "listen", "--once", "--json")
    until(running, "press Enter to start")
    press_enter(running)
    until(running, "Listening; press Enter to stop")
    kept = sizes(home)
    sound_server.say_into_microphone(question).wait()
    assert sizes(home) == kept
    ear = sound_server.listening()
    press_enter(running)
    out, err = running.communicate(timeout=200)
    turn = json.loads(out)
    assert turn["heard_by"] == "whisper"
    assert turn["status"] == "done", (turn["text"], turn["reply"])
    assert turn["reply"].startswith("It is ")
    assert np.abs(ear.samples).max() > 0.05, "the answer was not heard"
    assert "Traceback" not in err
    assert running.returncode == 0
    assert not list(home.rglob("*.wav"))


@pytest.mark.sound
def test_saying_nothing_is_told(tmp_path: Path, sound_server: SoundServer) -> None:
    running = start(tmp_path, sound_server, "listen", "--once")
    until(running, "press Enter to start")
    press_enter(running)
    until(running, "Listening")
    press_enter(running)
    out, err = running.communicate(timeout=200)
    assert running.returncode == 1
    assert "no sound" in err
    assert out == ""


def test_no_microphone_is_told(jarvis: Jarvis, no_sound_device: None) -> None:
    assert "microphone" in jarvis("listen", "--once", stdin="\n\n").err


def test_the_input_may_have_ended_already(tmp_path: Path) -> None:
    for given in (subprocess.DEVNULL, (tmp_path / "empty").open("w+b")):
        running = WarmProcess(
            "listen", cwd=tmp_path, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        out, err = running.communicate(timeout=200)
        assert running.returncode == 0
        assert err.endswith("The input has ended.\n")
        assert out == ""
        if not isinstance(given, int):
            given.close()


def sizes(folder: Path) -> dict[Path, int]:
    """Of all files but the log."""
    found = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".log"]
    return {path: path.stat().st_size for path in found}


@pytest.mark.sound
def test_a_question_takes_the_keys(tmp_path: Path, sound_server: SoundServer) -> None:
    question = files.speech(tmp_path / "question.wav", "Draw me a castle.")
    with terminal(tmp_path, "listen", "--once", environment=sound_server.environment) as running:
        running.until("Ctrl-D ends.")
        assert not running.shows_what_is_typed()
        running.type("\n")
        running.until("Listening")
        sound_server.say_into_microphone(question).wait()
        running.type("\n")
        running.until("Download it now? [y/N] ")
        assert running.shows_what_is_typed()
        running.type("no\n")
        assert running.ends() == 1
        assert running.shows_what_is_typed()


def waiting_keys(*presses: str) -> Callable[[], Awaitable[str]]:
    keys: asyncio.Queue[str] = asyncio.Queue()
    for key in presses:
        keys.put_nowait(key)
    return keys.get


async def test_a_held_key_that_stops_repeating_was_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech, "HELD_GAP", 0.02)
    assert await speech.until_released(waiting_keys(" ", " ", " ")) is None


async def test_a_key_that_never_repeats_was_a_tap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech, "FIRST_GAP", 0.01)
    assert await speech.until_released(waiting_keys()) == speech.TAP


async def test_another_key_ends_what_is_held() -> None:
    assert await speech.until_released(waiting_keys(" ", "\x1b")) == speech.ESCAPE
