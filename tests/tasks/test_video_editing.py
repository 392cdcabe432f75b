"""Tests of edits of whole videos."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Value
from jarvis_desktop.tasks.video import film_seconds, open_film
from jarvis_desktop.tasks.video_editing import EDITS, VIDEO_EDITING, edit_video
from tests.tasks.calls import call_of, quiet
from tests.tasks.filming import film


def edited(path: Path, tmp_path: Path, **options: Value) -> Path:
    (made,) = edit_video(call_of(VIDEO_EDITING.type, tmp_path / "w", video=path, **options), quiet)
    assert made.kind is Kind.VIDEO
    assert made.path
    return made.path


@pytest.mark.parametrize(
    ("options", "size"),
    [
        ({"edit": "rotate"}, (64, 96)),
        ({"edit": "resize", "amount": 50.0}, (48, 32)),
        ({"edit": "crop", "size": "1:1"}, (64, 64)),
        ({"edit": "border", "amount": 7.0}, (110, 78)),
    ],
)
def test_size_length_and_sound(
    tmp_path: Path, options: dict[str, Value], size: tuple[int, int]
) -> None:
    made = edited(film(tmp_path / "clip.mp4", seconds=2), tmp_path, **options)
    assert made.name == f"clip-{options['edit']}.mp4"
    with open_film(made, name="") as (container, stream):
        assert (stream.width, stream.height) == size
        assert len(container.streams.audio) == 1
        assert abs(film_seconds(container, stream) - 2) < 0.2
        assert sum(1 for _ in container.decode(stream)) == 20


def test_every_picture_is_changed(tmp_path: Path) -> None:
    made = edited(film(tmp_path / "clip.mp4", seconds=2, sound=False), tmp_path, edit="invert")
    with open_film(made, name="") as (container, stream):
        shades = [np.asarray(frame.to_image()).mean() for frame in container.decode(stream)]
    assert np.allclose(shades[:10], 230, atol=8)
    assert np.allclose(shades[10:], 180, atol=8)


def _loudness(path: Path) -> float:
    with open_film(path, name="") as (container, _):
        blocks = [frame.to_ndarray() for frame in container.decode(audio=0)]
        return float(np.sqrt(np.mean(np.concatenate(blocks, axis=1) ** 2)))


@pytest.mark.parametrize(
    ("options", "seconds"),
    [
        ({"edit": "faster", "amount": 2.0}, 1),
        ({"edit": "slower"}, 2.5),
        ({"edit": "slower", "amount": 0.3}, 6.67),
        ({"edit": "slower", "amount": 50.0}, 4),
        ({"edit": "faster", "amount": 100.0}, 1),
    ],
)
def test_the_speed_of_pictures_and_sound(
    tmp_path: Path, options: dict[str, Value], seconds: float
) -> None:
    made = edited(film(tmp_path / "clip.mp4", seconds=2), tmp_path, **options)
    with open_film(made, name="") as (container, stream):
        assert abs(film_seconds(container, stream) - seconds) < 0.3
        assert sum(1 for _ in container.decode(stream)) == 20
    with open_film(made, name="") as (container, _):
        samples = sum(frame.samples for frame in container.decode(audio=0))
    assert abs(samples / 48_000 - seconds) < 0.3


def test_a_film_without_sound_gets_slower_too(tmp_path: Path) -> None:
    made = edited(film(tmp_path / "a.mp4", seconds=1, sound=False), tmp_path, edit="slower")
    with open_film(made, name="") as (container, stream):
        assert not container.streams.audio
        assert abs(film_seconds(container, stream) - 1.25) < 0.2


def test_the_loudness_of_the_sound(tmp_path: Path) -> None:
    clip = film(tmp_path / "clip.mp4", seconds=2)
    usual, louder, quieter = (
        _loudness(edited(clip, tmp_path / name, edit=name, amount=amount))
        for name, amount in (("resize", 50.0), ("louder", 0.0), ("quieter", 12.0))
    )
    assert 1.5 < louder / usual < 2.3
    assert 0.2 < quieter / usual < 0.3


@pytest.mark.parametrize(("edit", "amount"), [("faster", 500.0), ("louder", 60.0)])
def test_too_much_is_refused(tmp_path: Path, edit: str, amount: float) -> None:
    with pytest.raises(InputError, match="at most"):
        edited(film(tmp_path / "a.mp4", seconds=1), tmp_path, edit=edit, amount=amount)


@pytest.mark.parametrize("edit", EDITS)
def test_every_edit(tmp_path: Path, edit: str) -> None:
    assert (
        edited(film(tmp_path / "a.mp4", seconds=1), tmp_path, edit=edit, words="Hi").stat().st_size
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "Say what is to change in a.mp4"),
        ({"edit": "resize", "size": "10 MB"}, "half the size"),
    ],
)
def test_what_it_cannot_do(tmp_path: Path, options: dict[str, Value], message: str) -> None:
    with pytest.raises(InputError) as caught:
        edited(film(tmp_path / "a.mp4", seconds=1), tmp_path, **options)
    assert message in str(caught.value)


def test_names_a_broken_video(tmp_path: Path) -> None:
    (tmp_path / "clip.mp4").write_bytes(film(tmp_path / "whole.mp4").read_bytes()[:2000])
    with pytest.raises(InputError, match=r"clip\.mp4"):
        edited(tmp_path / "clip.mp4", tmp_path, edit="grey")
