"""Experts that draw control pictures, on tiny weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.tasks.images.control import COLOURS, normals
from tests.backends.bench import Bench
from tests.tasks.drawing import shapes

pytestmark = pytest.mark.timeout(400)


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    return shapes(tmp_path / "beach.jpg", size=(90, 60))


def drawn(bench: Bench, task: str, builder: str, photo: Path, **settings) -> np.ndarray:
    (found,) = bench.run(task, builder, {"image": photo}, **settings)
    assert found.path
    assert found.name == f"beach-{task.removesuffix('-control')}.png"
    with Image.open(found.path) as image:
        assert image.size == (90, 60)
        return np.asarray(image)


def test_depth_is_grey_and_as_large_as_the_picture(bench: Bench, photo: Path):
    depth = drawn(bench, "depth-control", "tiny_media:depth", photo)
    assert (depth.min(), depth.max()) == (0, 255)


def test_normals_are_of_length_one(bench: Bench, photo: Path):
    facing = drawn(bench, "normal-control", "tiny_media:depth", photo).astype(float) / 127.5 - 1
    assert np.abs(np.linalg.norm(facing, axis=2) - 1).max() < 0.02
    assert facing[..., 2].min() > 0


@pytest.mark.parametrize("expert", ["tiny_sight:metres", "tiny_media:depth"])
def test_normals_face_as_the_picture_of_depth_has_it(bench: Bench, photo: Path, expert: str):
    facing = drawn(bench, "normal-control", expert, photo).astype(float)
    depth = (drawn(bench, "depth-control", expert, photo) / 255).astype(np.float32)
    other = normals(depth).astype(float)
    for axis in (0, 1):
        assert np.corrcoef(facing[..., axis].ravel(), other[..., axis].ravel())[0, 1] > 0.5


def test_areas_have_the_colour_of_what_they_are(bench: Bench, photo: Path):
    areas = drawn(bench, "seg-control", "tiny_steering:scene", photo)
    assert np.unique(areas.reshape(-1, 3), axis=0).tolist() == [[6, 230, 230]]
    with pytest.raises(ExpertError, match="knows 21 kinds of things"):
        drawn(bench, "seg-control", "tiny_steering:small_scene", photo)


@pytest.mark.parametrize("base", ["", "tiny_steering:detector"])
def test_poses_are_drawn_in_the_colours_of_openpose(bench: Bench, photo: Path, base: str):
    pose = drawn(bench, "openpose-control", "tiny_steering:poser", photo, base=base)
    colours = {tuple(colour) for colour in np.unique(pose.reshape(-1, 3), axis=0).tolist()}
    limbs = {tuple(int(0.6 * part) for part in colour) for colour in COLOURS}
    assert colours <= {(0, 0, 0), *COLOURS, *limbs}
    assert len(colours & set(COLOURS)) >= 2


def test_nobody_has_no_pose(bench: Bench, photo: Path):
    with pytest.raises(ExpertError, match=r"no people in beach\.jpg"):
        drawn(
            bench, "openpose-control", "tiny_steering:poser", photo,
            base="tiny_steering:no_detector",
        )  # fmt: skip
    with pytest.raises(ExpertError, match=r"no pose in beach\.jpg"):
        drawn(bench, "openpose-control", "tiny_steering:blind_poser", photo)
