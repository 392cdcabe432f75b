from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.images.control import CONTROL_TASKS, DRAWERS, normals
from tests.tasks.calls import call_of, quiet
from tests.tasks.drawing import shapes

TASKS = [CONTROL_TASKS[kind] for kind in DRAWERS]


def drawn(task: Definition, image: Path, tmp_path: Path) -> np.ndarray:
    call = call_of(task.type, tmp_path / "work", image=image)
    assert task.method
    (artifact,) = task.method(call, quiet)
    assert artifact.path
    assert artifact.name.startswith(image.stem + "-")
    return np.asarray(Image.open(artifact.path))


@pytest.mark.parametrize("task", [CONTROL_TASKS[kind] for kind in ("canny", "hed", "scribble")])
def test_strokes_run_along_the_disc_and_not_inside_of_it(tmp_path: Path, task: Definition) -> None:
    out = drawn(task, shapes(tmp_path / "s.png", size=(480, 320)), tmp_path)
    assert out.shape == (320, 480)
    assert out[160, 225:255].max() > 150  # the left rim of the disc
    assert out[150:170, 300:340].max() < 40
    assert out[280:, :200].max() < 40
    assert 0.001 < (out > 100).mean() < 0.2


def test_lines_are_straight_ones(tmp_path: Path) -> None:
    image = Image.new("L", (300, 200), 255)
    draw = ImageDraw.Draw(image)
    draw.line((20, 30, 280, 30), 0, 6)
    draw.line((40, 180, 220, 60), 0, 6)
    image.save(tmp_path / "lines.png")
    out = drawn(CONTROL_TASKS["mlsd"], tmp_path / "lines.png", tmp_path)
    assert (out[24:38, 30:270].max(axis=0) > 100).mean() > 0.9
    assert out[100:, 250:].max() == 0


def test_areas_have_few_flat_colours(tmp_path: Path) -> None:
    out = drawn(CONTROL_TASKS["seg"], shapes(tmp_path / "s.png"), tmp_path)
    assert len(np.unique(out.reshape(-1, 3), axis=0)) <= 10
    assert out[80, 160, 0] > 150 > out[80, 160, 2]
    assert out[150, 20, 2] > out[150, 20, 0]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("size", [(1, 1), (2, 300), (64, 64)])
def test_survives_pictures_with_nothing_in_them(
    tmp_path: Path, task: Definition, size: tuple[int, int]
) -> None:
    Image.new("RGB", size, "grey").save(tmp_path / "plain.png")
    assert drawn(task, tmp_path / "plain.png", tmp_path).shape[:2] == size[::-1]


def test_normals_tell_which_way_a_slope_faces() -> None:
    ramp = np.tile(np.linspace(0.2, 1, 200, dtype=np.float32), (120, 1))
    towards_left, flat = normals(ramp), normals(np.full((120, 200), 0.5, np.float32))
    assert towards_left.shape == (120, 200, 3)
    assert flat[60, 100].tolist() == [128, 128, 255]
    assert towards_left[60, 100, 0] > 134
    assert normals(ramp[:, ::-1].copy())[60, 100, 0] < 122
    assert normals(ramp.T.copy())[100, 60, 1] > 134
    assert normals(np.zeros((9, 9), np.float32))[4, 4].tolist() == [128, 128, 255]


def test_normals_do_not_hang_on_the_size() -> None:
    small = np.tile(np.linspace(0.2, 1, 100, dtype=np.float32), (60, 1))
    large = np.tile(np.linspace(0.2, 1, 800, dtype=np.float32), (480, 1))
    one, other = normals(small)[30, 50].astype(int), normals(large)[240, 400].astype(int)
    assert np.abs(one - other).max() <= 3
