"""Film makers, on tiny weights: what comes out is a film that plays, as long as it was wished."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.task import Value
from jarvis_desktop.tasks.audio.media import open_media
from tests.backends.bench import Bench, Given
from tests.tasks.drawing import shapes

pytestmark = pytest.mark.timeout(400)

QUICK = "tiny/film-turbo"
"""A repository that is called so takes few steps."""


def played(artifacts: tuple[Artifact, ...]) -> tuple[np.ndarray, float]:
    """Its pictures (count, height, width, 3), and how many there are a second."""
    (artifact,) = artifacts
    assert artifact.kind is Kind.VIDEO
    assert artifact.path
    with open_media(artifact.path) as container:
        stream = container.streams.video[0]
        assert stream.codec_context.name == "h264"
        assert stream.codec_context.pix_fmt == "yuv420p"
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(stream)]
        return np.stack(frames).astype(float), float(stream.average_rate)


def test_words_become_a_film(bench: Bench):
    options: dict[str, Value] = {"seconds": 0.3, "size": "64x64", "seed": 7}
    given: dict[str, Given] = {"prompt": "the cat ran home"}
    found = bench.run("text-to-video", "tiny_films:wan", given, options, repo=QUICK)
    assert found[0].name == "the cat ran home.mp4"
    frames, rate = played(found)
    assert rate == 16
    assert frames.shape == (5, 320, 320, 3)
    assert (1.0, "Step 8 of 8") in bench.reports
    assert bench.reports[-1] == (1.0, "Writing 5 pictures")


def test_a_picture_begins_a_film_in_its_proportions(bench: Bench, tmp_path: Path):
    photo = shapes(tmp_path / "beach.jpg", size=(120, 60))
    given: dict[str, Given] = {"image": photo, "prompt": "the dog ran"}
    options: dict[str, Value] = {"seconds": 0.3, "seed": 7}
    found = bench.run("image-to-video", "tiny_films:wan_from_picture", given, options, repo=QUICK)
    frames, rate = played(found)
    assert (frames.shape, rate) == ((5, 448, 896, 3), 16)
    other = shapes(tmp_path / "tall.jpg", size=(60, 90))
    found = bench.run(
        "image-to-video", "tiny_films:ltx", {"image": other}, {"seconds": 0.3}, repo=QUICK
    )
    frames, rate = played(found)
    assert (frames.shape, rate) == ((9, 736, 480, 3), 25)
    assert found[0].name == "film.mp4"


def test_a_painter_with_an_adapter_makes_films(bench: Bench):
    def filmed(seconds: float, seed: int, repo: str = QUICK) -> np.ndarray:
        frames, rate = played(
            bench.run(
                "text-to-video",
                "tiny_films:mover",
                {"prompt": "a dog"},
                {"seconds": seconds, "seed": seed},
                base="tiny_drawing:painter",
                repo=repo,
            )
        )
        assert rate == 8
        return frames

    film = filmed(0.5, 7)
    assert film.shape == (4, 32, 32, 3)
    assert (1.0, "Step 4 of 4") in bench.reports
    assert np.array_equal(film, filmed(0.5, 7))
    assert np.abs(film - filmed(0.5, 8)).mean() > 1
    # No longer than what its adapter can place in time.
    assert len(filmed(60, 7)) == 12
    assert len(filmed(0.25, 7, repo="tiny/film")) == 2
    assert (1.0, "Step 30 of 30") in bench.reports


def test_what_films_from_words_only_says_so(bench: Bench, tmp_path: Path):
    photo = shapes(tmp_path / "beach.jpg")
    with pytest.raises(ExpertError, match="from words, not from a picture"):
        bench.run("image-to-video", "tiny_films:wan", {"image": photo})
