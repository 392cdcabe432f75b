from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.audio import media
from jarvis_desktop.tasks.audio.media import audio_blocks, read_audio, write_wav, write_wav_blocks


def tone(seconds: float = 0.5, rate: int = 8000, channels: int = 1) -> np.ndarray:
    times = np.arange(int(seconds * rate)) / rate
    return np.tile(0.5 * np.sin(2 * np.pi * 440 * times), (channels, 1)).astype(np.float32)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    given = tone(channels=2)
    samples, rate = read_audio(write_wav(tmp_path / "a.wav", given, 8000))
    assert (samples.shape, rate) == (given.shape, 8000)
    assert samples.dtype == np.float32
    assert np.abs(samples - given).max() < 1e-4


def test_converts_rate_and_channels(tmp_path: Path) -> None:
    file = write_wav(tmp_path / "a.wav", tone(channels=2), 8000)
    samples, rate = read_audio(file, rate=16000, mono=True)
    assert rate == 16000
    assert samples.shape[0] == 1
    assert abs(samples.shape[1] - 8000) < 100
    peak = np.abs(np.fft.rfft(samples[0])).argmax() * rate / samples.shape[1]
    assert abs(peak - 440) < 4


def test_sound_longer_than_the_first_guess_is_whole(tmp_path: Path) -> None:
    file = write_wav(tmp_path / "long.wav", tone(seconds=70, rate=2000), 2000)
    assert read_audio(file)[0].shape == (1, 140_000)


def test_loud_samples_are_clipped(tmp_path: Path) -> None:
    samples, _ = read_audio(write_wav(tmp_path / "a.wav", np.array([3.0, -3.0] * 100), 8000))
    assert samples.max() <= 1.0
    assert samples.min() >= -1.0


def test_writes_blocks(tmp_path: Path) -> None:
    def blocks() -> Iterator[tuple[np.ndarray, int]]:
        yield tone(channels=2), 8000
        yield tone(channels=2), 8000

    assert write_wav_blocks(tmp_path / "b.wav", blocks()) == 1.0
    samples, rate = read_audio(tmp_path / "b.wav")
    assert (samples.shape, rate) == ((2, 8000), 8000)


@pytest.mark.parametrize("samples", [np.zeros(0), np.array([0.0, np.nan]), np.array([np.inf])])
def test_refuses_to_write_what_is_no_sound(tmp_path: Path, samples: np.ndarray) -> None:
    with pytest.raises(InputError, match=r"out\.wav"):
        write_wav(tmp_path / "out.wav", samples, 8000)


@pytest.mark.parametrize(
    "content",
    [b"", b"RIFF", b"not sound at all" * 50, b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0" + bytes(16)],
)
def test_refuses_what_is_no_sound(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "x.wav"
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"memo\.wav") as caught:
        read_audio(file, name="memo.wav")
    assert str(tmp_path) not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.wav cannot be opened"):
        read_audio(tmp_path / "gone.wav")


@pytest.mark.parametrize(
    "playlist",
    [
        "#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{target}\n#EXT-X-ENDLIST\n",
        "ffconcat version 1.0\nfile {target}\n",
        "#EXTM3U\n#EXTINF:9,\nhttp://127.0.0.1:9/a.wav\n",
    ],
)
def test_a_play_list_opens_no_other_file(tmp_path: Path, playlist: str) -> None:
    target = write_wav(tmp_path / "secret.wav", tone(), 8000)
    file = tmp_path / "song.wav"
    file.write_text(playlist.format(target=target), encoding="utf-8")
    with pytest.raises(InputError, match=r"song\.wav cannot be read"):
        read_audio(file)


def test_refuses_what_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_wav(tmp_path / "long.wav", tone(seconds=3), 8000)
    monkeypatch.setattr(media, "MAX_SECONDS", 2)
    with pytest.raises(InputError, match=r"long\.wav is too long"):
        read_audio(file)
    monkeypatch.setattr(media, "MAX_SECONDS", 9)
    monkeypatch.setattr(media, "MAX_SAMPLES", 20_000)
    with pytest.raises(InputError, match=r"long\.wav is too long"):
        read_audio(file)
    assert sum(block.shape[1] for block, _ in audio_blocks(file)) == 24_000
