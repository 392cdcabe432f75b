"""A server speaks, and this computer's voice where it cannot."""

from __future__ import annotations

import json
import struct
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jarvis_desktop.core.errors import ExpertError, JarvisError, UnavailableError
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.platform.work_server import Work, WorkAddress, WorkServer
from jarvis_desktop.speech.server_voice import ServerVoice, VoiceWithServer
from tests.fake_voice import FakeVoice
from tests.line_server import Answer
from tests.work_server import ScriptedServer, running_work_server

TONE = (np.sin(np.arange(2400) / 10) * 16_000).astype("<i2")


def wav(data: bytes, *, form: int = 1, channels: int = 1, bits: int = 16, size: int = -1) -> bytes:
    """A WAV file of 24 kHz, with parts that nobody knows around the sound."""
    width = channels * bits // 8
    told = struct.pack("<HHIIHH", form, channels, 24_000, 24_000 * width, width, bits)
    if form == 0xFFFE:
        told += struct.pack("<HHIH", 22, bits, 0, 1) + bytes(14)
    parts = b"LIST" + struct.pack("<I", 3) + b"abc\0"
    parts += b"fmt " + struct.pack("<I", len(told)) + told
    parts += b"data" + struct.pack("<I", len(data) if size < 0 else size) + data
    return b"RIFF" + struct.pack("<I", 0xFFFFFFFF) + b"WAVE" + parts


def there(served: ScriptedServer | str, rate: float = 175, volume: float = 1.0) -> ServerVoice:
    choice = WorkAddress(served if isinstance(served, str) else served.address)
    server = WorkServer(Work.SPEECH, lambda: choice, Policy(Mode.LOCAL), key=lambda place: "")
    return ServerVoice(server, lambda: (rate, volume))


def samples(path: Path) -> Any:
    with wave.open(str(path)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 24_000)
        return np.frombuffer(file.readframes(file.getnframes()), "<i2")


@pytest.mark.parametrize(
    "body",
    [
        wav(TONE.tobytes()),
        wav(TONE.tobytes(), size=0xFFFFFFFF),
        wav(TONE.tobytes() + b"\x01", size=0),
        wav(np.repeat(TONE, 2).tobytes(), channels=2),
        wav((TONE / 32768).astype("<f4").tobytes(), form=3, bits=32),
        wav(TONE.tobytes(), form=0xFFFE),
    ],
    ids=["plain", "streamed", "of no length", "stereo", "numbers with a point", "extensible"],
)
async def test_what_it_spoke_is_kept_as_one_channel(body: bytes, tmp_path: Path) -> None:
    with running_work_server(Answer(body=body)) as served:
        path = await there(served, rate=140).synthesise("Hello.", tmp_path / "a.wav", pace=1.5)
        assert json.loads(served.bodies[0]) == {
            "model": "tts-1",
            "voice": "alloy",
            "input": "Hello.",
            "response_format": "wav",
            "speed": 1.2,
        }
    assert np.abs(samples(path) - TONE.astype(int)).max() <= 1


async def test_the_volume_of_the_settings_holds(tmp_path: Path) -> None:
    with running_work_server(Answer(body=wav(TONE.tobytes()))) as served:
        path = await there(served, volume=0.5).synthesise("Hello.", tmp_path / "a.wav")
    assert np.abs(samples(path)).max() == pytest.approx(8_000, abs=5)


BAD = {
    "a page": b"<html>Log in</html>",
    "MP3": b"ID3" + bytes(100),
    "nothing": b"",
    "a header alone": b"RIFF\0\0\0\0WAVE",
    "eight bits": wav(TONE.tobytes(), bits=8),
    "many channels": wav(TONE.tobytes(), channels=9),
    "a silent one": wav(bytes(4800)),
    "no sound": wav(b""),
    "no numbers": wav(np.full(100, np.nan, "<f4").tobytes(), form=3, bits=32),
}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD)
async def test_what_is_no_sound_is_an_error(body: bytes, tmp_path: Path) -> None:
    answer, words = Answer(body=body), r"cannot be used|no sound"
    with running_work_server(answer) as served, pytest.raises(ExpertError, match=words):
        await there(served).synthesise("Hello.", tmp_path / "a.wav")
    assert list(tmp_path.glob("*.*")) == []


async def test_where_it_cannot_this_computer_speaks_and_says_why_once(tmp_path: Path) -> None:
    local, told = FakeVoice(), list[JarvisError]()
    bad, good = Answer(status=500, error="no memory"), Answer(body=wav(TONE.tobytes()))
    with running_work_server(bad, bad, good, bad, bad) as served:
        voice = VoiceWithServer(there(served), local, told.append)
        for number in range(4):
            await voice.synthesise(f"Number {number}.", tmp_path / "a.wav")
    assert local.said == ["Number 0.", "Number 1.", "Number 3."]
    words = "The server failed: no memory. This computer’s voice speaks instead."
    assert [error.message for error in told] == [words, words]
    with pytest.raises(UnavailableError, match="nothing to say"):
        await voice.synthesise(" ", tmp_path / "a.wav")
    with pytest.raises(UnavailableError, match="nothing to say"):
        await there("").synthesise("...", tmp_path / "a.wav")


async def test_where_none_is_set_this_computer_speaks(tmp_path: Path) -> None:
    local = FakeVoice()
    await VoiceWithServer(there(""), local, print).synthesise("Hello.", tmp_path / "a.wav")
    assert local.said == ["Hello."]
