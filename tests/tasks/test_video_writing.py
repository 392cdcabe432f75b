"""Films that are written can be read again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.tasks import video
from jarvis_desktop.tasks.audio.media import open_media
from jarvis_desktop.tasks.video import write_film


def read(path: Path) -> tuple[list[np.ndarray], str, float]:
    with open_media(path) as container:
        stream = container.streams.video[0]
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(stream)]
        return frames, stream.codec_context.name, float(stream.average_rate)


def colours(size: tuple[int, int]) -> list[Image.Image]:
    return [Image.new("RGB", size, (0, shade, 0)) for shade in range(0, 250, 25)]


@pytest.mark.parametrize(("size", "even"), [((64, 48), (48, 64)), ((65, 47), (46, 64))])
def test_every_picture_is_there_in_its_place(tmp_path: Path, size, even):
    path = write_film(tmp_path / "film.mp4", iter(colours(size)), 12.5)
    frames, codec, rate = read(path)
    assert codec == "h264"
    assert rate == 12.5
    assert [frame.shape for frame in frames] == [(*even, 3)] * 10
    greens = [frame[..., 1].mean() for frame in frames]
    assert all(
        abs(green - shade) < 12 for green, shade in zip(greens, range(0, 250, 25), strict=True)
    )


def test_a_single_picture_is_a_film_too(tmp_path: Path):
    assert len(read(write_film(tmp_path / "film.mp4", colours((32, 32))[:1], 8))[0]) == 1


def test_a_film_of_nothing_is_refused(tmp_path: Path):
    with pytest.raises(ExpertError, match="no pictures"):
        write_film(tmp_path / "film.mp4", [], 8)


def test_without_h264_the_older_way_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(video, "CODECS", (("no-such-codec", {}), video.CODECS[1]))
    frames, codec, _ = read(write_film(tmp_path / "film.mp4", colours((64, 48)), 8))
    assert (len(frames), codec) == (10, "mpeg4")
    monkeypatch.setattr(video, "CODECS", (("no-such-codec", {}),))
    with pytest.raises(UnavailableError, match="cannot be written"):
        write_film(tmp_path / "film.mp4", colours((64, 48)), 8)
