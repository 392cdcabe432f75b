import wave
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.speech.decoding import RATE, decode
from jarvis_desktop.tasks.audio import media
from tests.sound import strongest_frequency, write_tone


def encode(to: Path, *, codec: str, form: str, seconds: float = 1.0) -> Path:
    times = np.arange(int(48_000 * seconds)) / 48_000
    samples = (0.5 * 32767 * np.sin(2 * np.pi * 500 * times)).astype(np.int16)
    with av.open(str(to), "w", format=form) as container:
        stream: Any = container.add_stream(codec, rate=48_000, layout="mono")
        frame = av.AudioFrame.from_ndarray(samples[None, :], format="s16", layout="mono")
        frame.sample_rate = 48_000
        resampler = av.AudioResampler(
            stream.codec_context.format, "mono", 48_000, frame_size=stream.frame_size
        )
        sent = 0
        for part in (*resampler.resample(frame), *resampler.resample(None)):
            part.pts = sent
            sent += part.samples
            container.mux(stream.encode(part))
        container.mux(stream.encode(None))
    return to


@pytest.mark.parametrize(
    ("name", "codec", "form"),
    [
        ("a.wav", "pcm_s16le", "wav"),
        ("a.flac", "flac", "flac"),
        ("a.mp3", "mp3", "mp3"),
        ("a.m4a", "aac", "mp4"),
        ("a.ogg", "libopus", "ogg"),
        ("a.mkv", "aac", "matroska"),
        ("misnamed.txt", "flac", "flac"),
    ],
)
def test_formats(tmp_path, name, codec, form):
    samples = decode(encode(tmp_path / name, codec=codec, form=form))
    assert samples.dtype == np.float32
    assert len(samples) / RATE == pytest.approx(1.0, abs=0.12)
    assert strongest_frequency(samples, RATE) == pytest.approx(500, abs=3)
    assert 0.4 < np.abs(samples).max() < 0.6


def test_stereo_is_mixed(tmp_path):
    with wave.open(str(tmp_path / "two.wav"), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(np.full(32_000, 8000, "<i2").tobytes())
    samples = decode(tmp_path / "two.wav")
    assert len(samples) == 16_000
    assert samples[8000] == pytest.approx(8000 / 32768, abs=0.01)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.wav", b""),
        ("text.wav", b"this is not a sound at all, only words" * 20),
        ("header.wav", b"RIFF\x24\x00\x00\x00WAVEfmt "),
        ("zeros.mp3", bytes(5000)),
        ("list.wav", b"ffconcat version 1.0\nfile 'other.wav'\n"),
        ("net.mp3", b"#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1:9/a.ts\n"),
        ("picture.wav", b"\x89PNG\r\n\x1a\n" + bytes(200)),
    ],
)
def test_what_is_no_recording_is_named(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=name):
        decode(tmp_path / name)


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    for path in (tmp_path / "gone.wav", tmp_path):
        with pytest.raises(InputError, match=path.name):
            decode(path)


def test_a_playlist_cannot_reach_another_file(tmp_path):
    write_tone(tmp_path / "secret.wav", seconds=1)
    (tmp_path / "list.m3u8").write_text(
        f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{tmp_path / 'secret.wav'}\n#EXT-X-ENDLIST\n"
    )
    with pytest.raises(InputError, match=r"list\.m3u8"):
        decode(tmp_path / "list.m3u8")


def test_what_came_before_the_damage_is_kept(tmp_path):
    whole = encode(tmp_path / "whole.flac", codec="flac", form="flac", seconds=4).read_bytes()
    (tmp_path / "cut.flac").write_bytes(whole[: len(whole) // 2])
    assert 1 < len(decode(tmp_path / "cut.flac")) / RATE < 3


def test_too_long_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(media, "MAX_SECONDS", 1)
    with pytest.raises(InputError, match=r"long\.wav is too long"):
        decode(write_tone(tmp_path / "long.wav", seconds=1.5))
