"""What the doctor says of the voice."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jarvis_desktop import paths
from jarvis_desktop.app.health_checks import (
    Finding,
    check_hearing,
    check_speech,
    device,
    recorded,
    talk_key,
    voice,
)
from jarvis_desktop.app.single_instance import Instance
from jarvis_desktop.core.errors import ExpertError, JarvisError, UnavailableError
from jarvis_desktop.core.speech import FRAME, RATE, Sound
from jarvis_desktop.settings import Settings
from jarvis_desktop.speech.devices import Device
from jarvis_desktop.speech.voices.engine import KOKORO_STYLES, KOKORO_WEIGHTS
from tests.fake_voice import FakeMicrophone, FakeRecogniser, FakeVoice

DESK = Device("Desk, ALSA", 1, 0, True, False)
HEADSET = Device("Headset, ALSA", 1, 2, False, True)
SECOND = [Sound(bytes(2 * FRAME), 0.5, (0.1,))] * (RATE // FRAME + 1)
SPOKEN = Sound(bytes(2 * FRAME), 0.6, (0.9,))


@dataclass
class Voiced:
    """What of the application the doctor tries."""

    microphone: FakeMicrophone = field(default_factory=lambda: FakeMicrophone([*SECOND * 4]))
    voice: FakeVoice = field(default_factory=FakeVoice)
    recogniser: FakeRecogniser = field(default_factory=FakeRecogniser)


@pytest.mark.parametrize(
    ("what", "devices", "chosen", "state", "says"),
    [
        ("microphone", [DESK, HEADSET], "", "ok", "default (Desk, ALSA); 2 in all"),
        ("speaker", [HEADSET], "", "ok", "default (Headset, ALSA)"),
        ("speaker", [DESK], "", "ok", "unknown"),
        ("microphone", [DESK, HEADSET], "Headset, ALSA", "ok", "Headset, ALSA, as chosen"),
        ("microphone", [DESK], "Old, ALSA", "limited", "not there now: Old, ALSA"),
        ("speaker", [], "", "missing", "no device was found"),
    ],
)
def test_the_devices_and_which_is_used(
    what: str, devices: list[Device], chosen: str, state: str, says: str
) -> None:
    found = device(what, devices, chosen)
    assert (found.what, found.state) == (what, state)
    assert says in found.detail
    assert bool(found.fix) == (state != "ok")


def test_the_voice_that_speaks_and_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert voice("system", tmp_path) == Finding("voice", "ok", "espeak-ng")
    lacks = voice("kokoro", tmp_path)
    assert lacks.state == "limited"
    assert lacks.detail.startswith("espeak-ng: ")
    assert lacks.fix
    (tmp_path / "kokoro").mkdir()
    for name in (KOKORO_STYLES, next(iter(KOKORO_WEIGHTS))):
        (tmp_path / "kokoro" / name).write_bytes(b"")
    assert voice("kokoro", tmp_path).detail == "Kokoro, and espeak-ng for what that cannot speak"
    assert voice("hibari", tmp_path).detail == "Hibari, and espeak-ng for what that cannot speak"
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert voice("piper", tmp_path) == voice("system", tmp_path)
    assert voice("piper", tmp_path).fix == "apt install espeak-ng"
    alone = voice("hibari", tmp_path)
    assert (alone.state, alone.fix) == ("limited", "apt install espeak-ng")
    assert alone.detail == "Hibari; for other languages espeak-ng is not installed"
    monkeypatch.setattr("sys.platform", "darwin")
    assert voice("system", tmp_path).detail == "the system's own"


async def test_without_what_judges_the_end_of_speech_only_silence_is_left(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tiny = SimpleNamespace(id="whisper-base")
    app: Any = SimpleNamespace(
        settings=Settings(), weights=SimpleNamespace(installed=lambda: [tiny])
    )
    (whisper,) = await check_hearing(app)
    assert (whisper.state, whisper.detail) == ("ok", "whisper-base")
    monkeypatch.setattr(paths, "shipped", lambda *parts: tmp_path.joinpath(*parts))
    _, end = await check_hearing(app)
    assert (end.what, end.state) == ("end of speech", "limited")
    assert end.fix


@dataclass
class Running:
    """A JARVIS that answers what it is told to."""

    folder: Path
    answer: Mapping[str, object] | JarvisError

    async def handle(self, command: Mapping[str, object]) -> Mapping[str, object]:
        assert command == {"do": "talk", "action": "status"}
        if isinstance(self.answer, JarvisError):
            raise self.answer
        return self.answer


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    held = Running(tmp_path / "run", {})
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    instance = Instance(held.folder)
    assert asyncio.run_coroutine_threadsafe(instance.serve(held.handle), loop).result(60)
    yield held
    asyncio.run_coroutine_threadsafe(instance.close(), loop).result(60)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.mark.parametrize(
    ("hotkey", "state", "says"),
    [
        ({"way": "x11", "key": "F9", "holds": True, "why": "W."}, "ok", "F9, by x11: hold it"),
        ({"way": "portal", "key": "F9", "holds": False}, "ok", "press it to start and to stop."),
        ({"way": "none", "why": "Bind one."}, "limited", "none works outside"),
        (None, "limited", "none works outside"),
    ],
)
def test_the_talk_key_of_the_running_jarvis(
    running: Running, hotkey: Any, state: str, says: str
) -> None:
    running.answer = {"state": "idle", "hotkey": hotkey}
    answers, key = talk_key(lambda: running.folder)
    assert (answers.what, answers.state) == ("running JARVIS", "ok")
    assert key.state == state
    assert says in key.detail
    if hotkey and state == "limited":
        assert key.fix == "Bind one."


def test_a_running_jarvis_that_refuses_is_told(running: Running) -> None:
    running.answer = JarvisError("It does not want to.", hint="Wait.")
    assert talk_key(lambda: running.folder) == [
        Finding("talk key", "limited", "It does not want to.", "Wait.")
    ]


def test_without_a_window_the_way_to_a_key_is_told(tmp_path: Path) -> None:
    (found,) = talk_key(lambda: tmp_path)
    assert found.state == "limited"
    assert "jarvis-desktop talk toggle" in found.fix


@pytest.mark.parametrize(
    ("loudest", "speaks", "state", "says"),
    [
        (0.7, True, "ok", "at most -18 dB, and somebody spoke"),
        (0.7, False, "ok", "nobody spoke"),
        (0.05, False, "limited", "nearly silence"),
    ],
)
def test_what_a_short_record_was_like(loudest: float, speaks: bool, state: str, says: str) -> None:
    found = recorded(3.0, loudest, speaks=speaks)
    assert found.state == state
    assert says in found.detail


async def test_it_listens_for_a_moment_and_lets_the_voice_be_recognised() -> None:
    app = Voiced()
    app.microphone.sounds[3] = SPOKEN
    findings = await check_speech(app)  # type: ignore[arg-type]
    assert [item.what for item in findings] == ["recording", "spoken sentence", "recognition"]
    assert all(item.state == "ok" for item in findings), findings
    assert "3 s were heard" in findings[0].detail
    assert app.microphone.state == "closed"
    assert findings[2].detail == "fake heard that sentence as “what time is it” in 0.0 s"
    assert not app.recogniser.heard[0].exists()


async def test_each_of_it_that_fails_says_why_and_what_to_do() -> None:
    app = Voiced(FakeMicrophone(error=UnavailableError("No microphone.", hint="Plug one in.")))
    app.recogniser.error = ExpertError("It crashed.", hint="Try again.")
    record, _, recognition = await check_speech(app)  # type: ignore[arg-type]
    assert record == Finding("recording", "missing", "No microphone.", "Plug one in.")
    assert recognition == Finding("recognition", "missing", "It crashed.", "Try again.")
    app.voice.error = ExpertError("It gave no sound.", hint="Install espeak-ng.")
    _, spoken = await check_speech(app)  # type: ignore[arg-type]
    assert spoken == Finding(
        "spoken sentence", "missing", "It gave no sound.", "Install espeak-ng."
    )
