from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.tasks.video import even_frames
from tests.fake_voice import write_wav
from tests.tasks.filming import film


def test_pictures_are_spread_evenly(tmp_path: Path) -> None:
    frames = even_frames(film(tmp_path / "a.mp4", seconds=4), 4, name="a.mp4")
    greys = [float(np.asarray(frame).mean()) for frame in frames]
    assert len(greys) == 4
    assert all(abs(grey - (25 + 50 * at)) < 12 for at, grey in enumerate(greys))
    assert {frame.size for frame in frames} == {(96, 64)}


def test_a_film_of_one_picture_gives_it_as_often_as_wanted(tmp_path: Path) -> None:
    path = film(tmp_path / "a.mp4", seconds=1, rate=1, sound=False)
    frames = even_frames(path, 8, name="a.mp4")
    assert len(frames) == 8
    assert len({frame.tobytes() for frame in frames}) == 1


def test_what_is_no_film_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExpertError, match=r"a\.wav has no moving picture"):
        even_frames(write_wav(tmp_path / "a.wav"), 4, name="a.wav")
    whole = film(tmp_path / "a.mp4", seconds=1, rate=1, sound=False).read_bytes()
    (tmp_path / "half.mp4").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"half\.mp4 cannot be read"):
        even_frames(tmp_path / "half.mp4", 4, name="half.mp4")
