from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.tasks.audio.media import read_audio
from jarvis_desktop.tasks.video import (
    MUTE_VIDEO,
    VIDEO_TO_AUDIO,
    film_seconds,
    mute,
    open_film,
    take_sound,
)
from tests.tasks.calls import call_of, quiet
from tests.tasks.filming import film


@pytest.mark.parametrize("ending", ["mp4", "mkv", "avi"])
def test_takes_the_sound_out(tmp_path: Path, ending: str) -> None:
    file = film(tmp_path / f"clip.{ending}")
    (sound,) = take_sound(call_of(VIDEO_TO_AUDIO.type, tmp_path / "work", video=file), quiet)
    assert (sound.kind, sound.name) == (Kind.AUDIO, "clip.wav")
    assert sound.path
    samples, rate = read_audio(sound.path)
    assert rate == 16_000
    assert abs(samples.shape[1] / rate - 4) < 0.2
    peak = np.abs(np.fft.rfft(samples[0])).argmax() * rate / samples.shape[1]
    assert abs(peak - 440) < 2


def test_says_that_there_is_no_sound(tmp_path: Path) -> None:
    file = film(tmp_path / "silent.mp4", sound=False)
    with pytest.raises(ExpertError, match=r"silent\.mp4 has no sound"):
        take_sound(call_of(VIDEO_TO_AUDIO.type, tmp_path / "work", video=file), quiet)


def test_names_a_broken_video(tmp_path: Path) -> None:
    file = tmp_path / "clip.mp4"
    file.write_bytes(film(tmp_path / "whole.mp4").read_bytes()[:2000])
    with pytest.raises(InputError, match=r"clip\.mp4"):
        take_sound(call_of(VIDEO_TO_AUDIO.type, tmp_path / "work", video=file), quiet)


@pytest.mark.parametrize(
    ("ending", "codec"),
    [("mp4", "mpeg4"), ("mkv", "mpeg4"), ("avi", "mpeg4"), ("mkv", "libx264")],
)
def test_takes_the_sound_away(tmp_path: Path, ending: str, codec: str) -> None:
    file = film(tmp_path / f"clip.{ending}", codec=codec)
    (muted,) = mute(call_of(MUTE_VIDEO.type, tmp_path / "work", video=file), quiet)
    assert (muted.kind, muted.name) == (Kind.VIDEO, f"clip-muted.{ending}")
    assert muted.path
    with open_film(muted.path, name="") as (container, stream):
        assert not container.streams.audio
        assert abs(film_seconds(container, stream) - 4) < 0.2
        assert sum(1 for _ in container.decode(stream)) == 40
    with pytest.raises(ExpertError, match="has no sound"):
        mute(call_of(MUTE_VIDEO.type, tmp_path / "work2", video=muted.path), quiet)
