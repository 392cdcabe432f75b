"""What the reader's process finds, asked without a process."""

import os
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.ui.media.previews import Peaks, VideoInfo
from jarvis_desktop.ui.media.worker import MAX_PEAKS, VideoReader, make_reader, peaks, preview
from tests.films import STEP, write_film
from tests.sound import write_tone


@pytest.fixture(autouse=True)
def unbounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound of memory is for a process of its own."""
    monkeypatch.setattr("jarvis_desktop.ui.media.worker.bound_memory", lambda: None)


def last(path: Path) -> Peaks:
    return list(peaks(path, 60))[-1]


def test_peaks_are_where_it_is_loud(tone: Path) -> None:
    found = last(tone)
    half = len(found.values) // 2
    assert found.length == 4
    assert max(found.values[: half - 1]) == 0
    assert min(found.values[half + 1 :]) == 127


@pytest.mark.parametrize("seconds", [0.003, 0.1, 5.9, 6.1, 61.7, 1000.3])
def test_there_are_never_many(tmp_path: Path, seconds: float) -> None:
    soundfile.write(tmp_path / "a.flac", np.full(int(seconds * 8000), 0.25), 8000)
    found = last(tmp_path / "a.flac")
    assert 1 <= len(found.values) <= MAX_PEAKS
    assert found.length == pytest.approx(seconds, abs=0.001)
    assert set(found.values) == {63}


def test_what_takes_long_is_told_in_parts_that_grow(tmp_path: Path) -> None:
    tone = write_tone(tmp_path / "a.wav", seconds=30)
    parts = list(peaks(tone, 0.0))
    shares = [part.share for part in parts]
    assert len(parts) > 50
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert {part.length for part in parts} == {30.0}


def test_several_are_listened_to_in_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jarvis_desktop.ui.media.worker.TURN_S", 0.0)
    handle = make_reader()
    paths = [write_tone(tmp_path / f"{number}.wav", seconds=3) for number in range(6)]
    ended = set()
    for _ in range(30):
        ended |= {path for path in paths[:4] if handle(None, "peaks", path).share == 1}
    assert ended == set(paths[:4])
    with pytest.raises(InputError):
        handle(None, "peaks", tmp_path)


def test_a_film_is_described(film: Path) -> None:
    found = make_reader()(None, "film", film, 640, 480)
    assert isinstance(found, VideoInfo)
    assert (found.width, found.height) == (64, 48)
    assert found.length == pytest.approx(4, abs=0.1)
    assert found.sound == pytest.approx(4, abs=0.1)
    assert (found.poster.width, found.poster.height) == (64, 48)


@pytest.mark.parametrize("at", [0.0, 0.5, 1.0, 1.98, 2.02, 3.3, 3.95])
def test_a_jump_is_exact_to_the_frame(film: Path, at: float) -> None:
    open_film = VideoReader(film)
    open_film.frame(3.0, 64, 48, sought=True)
    frame = open_film.frame(at, 64, 48, sought=True)
    assert frame is not None
    assert at - 0.041 < frame.at <= at + 0.001
    assert round(frame.pixels[1] / STEP) == int(at)


def test_late_frames_are_passed_over(film: Path) -> None:
    open_film = VideoReader(film)
    times = [open_film.frame(at, 64, 48, sought=False) for at in (0.0, 0.5, 1.5, 3.9, 5.0)]
    assert [frame and round(frame.at, 2) for frame in times] == [0.0, 0.52, 1.52, 3.92, None]


def test_frames_are_no_larger_than_they_are_seen(tmp_path: Path) -> None:
    film = VideoReader(write_film(tmp_path / "wide.mp4", seconds=0.2, size=(1920, 1080)))
    for box, size in (((480, 480), (480, 270)), ((4000, 4000), (960, 540))):
        frame = film.frame(0.0, *box, sought=True)
        assert frame is not None
        assert (frame.width, frame.height) == size
        assert len(frame.pixels) == 4 * frame.width * frame.height


def test_a_film_of_gigantic_pictures_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jarvis_desktop.ui.media.worker.MAX_PIXELS", 1000)
    with pytest.raises(InputError, match="too large"):
        VideoReader(write_film(tmp_path / "a.mp4", seconds=0.2))


def test_a_cover_is_no_film(tmp_path: Path, tone: Path) -> None:
    with av.open(str(tmp_path / "a.m4a"), "w", format="mp4") as container:
        track = container.add_stream("aac", rate=8000, layout="mono")
        container.mux(track.encode(None))
    with pytest.raises(InputError):
        VideoReader(tmp_path / "a.m4a")


def test_a_preview_is_short_and_each_cell_one_line(tmp_path: Path) -> None:
    row = ",".join(['"' + "long " * 200 + '\n"'] * 100)
    (tmp_path / "wide.csv").write_text("\n".join([row] * 300))
    found = preview(tmp_path / "wide.csv")
    assert (len(found.rows), len(found.columns), found.more) == (200, 60, True)
    assert max(len(cell) for cell in found.rows[0]) == 200


def test_a_playlist_opens_no_other_file(tmp_path: Path, film: Path) -> None:
    (tmp_path / "list.mp4").write_text(f"#EXTM3U\n#EXTINF:4,\n{film}\n")
    (tmp_path / "concat.mp4").write_text(f"ffconcat version 1.0\nfile {os.fspath(film)}\n")
    for name in ("list.mp4", "concat.mp4"):
        with pytest.raises(InputError):
            VideoReader(tmp_path / name)
