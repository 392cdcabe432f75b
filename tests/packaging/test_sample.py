"""The sample request is what its builder says."""

from __future__ import annotations

import wave
from pathlib import Path

import build_sample
from PIL import Image, ImageChops

from jarvis_desktop.paths import shipped


def test_recording_is_what_recognisers_take() -> None:
    path = shipped("resources", "sample", "request.wav")
    with wave.open(str(path)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16_000, 1, 2)
        assert 3 < file.getnframes() / 16_000 < 8
    assert path.stat().st_size <= 250_000


def test_picture_is_drawn_anew_alike(tmp_path: Path) -> None:
    build_sample.draw(tmp_path / "letter.png")
    with (
        Image.open(tmp_path / "letter.png") as made,
        Image.open(shipped("resources", "sample", "letter.png")) as kept,
    ):
        assert made.size == kept.size
        assert not ImageChops.difference(made.convert("RGB"), kept.convert("RGB")).getbbox()
