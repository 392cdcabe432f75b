"""Skeletons in the colours of OpenPose."""

from __future__ import annotations

import numpy as np

from jarvis_desktop.tasks.images.control import COLOURS, draw_poses, from_coco, palette

STANDING = [
    (50, 20), (53, 18), (47, 18), (56, 20), (44, 20), (60, 40), (40, 40), (66, 60), (34, 60),
    (70, 80), (30, 80), (56, 90), (44, 90), (57, 120), (43, 120), (58, 150), (42, 150),
]  # fmt: skip
"""Nose, eyes, ears, shoulders, elbows, wrists, hips, knees, ankles; left before right."""


def test_the_neck_is_between_the_shoulders():
    pose = from_coco(STANDING)
    assert len(pose) == 18
    assert pose[0] == (50, 20)
    assert pose[1] == (50, 40)
    assert pose[2] == (40, 40)  # the person's right shoulder, on the left of the picture
    assert pose[4] == (30, 80)
    assert pose[10] == (42, 150)
    assert pose[13] == (58, 150)
    headless = from_coco([None if at == 5 else joint for at, joint in enumerate(STANDING)])
    assert headless[1] is None


def test_limbs_and_joints_have_their_colours():
    picture = draw_poses([from_coco(STANDING)], (100, 180))
    assert picture.shape == (180, 100, 3)
    assert tuple(picture[20, 50]) == COLOURS[0]
    assert tuple(picture[80, 30]) == COLOURS[4]
    # Between knee and ankle on the right, limb 10 of OpenPose, darker than a joint.
    assert picture[135, 42].tolist() == [int(0.6 * part) for part in COLOURS[8]]
    assert not picture[:5].any()


def test_what_is_not_seen_is_not_drawn():
    assert not draw_poses([from_coco([None] * 17)], (50, 50)).any()
    assert not draw_poses([], (50, 50)).any()
    alone = from_coco([(25.0, 25.0), *[None] * 16])
    colours = np.unique(draw_poses([alone], (50, 50)).reshape(-1, 3), axis=0)
    assert colours.tolist() == [[0, 0, 0], list(COLOURS[0])]


def test_the_colours_of_scenes():
    colours = palette()
    assert colours.shape == (150, 3)
    assert colours[0].tolist() == [120, 120, 120]  # wall
    assert colours[2].tolist() == [6, 230, 230]  # sky
    assert colours[12].tolist() == [150, 5, 61]  # person
    assert colours[149].tolist() == [92, 0, 255]  # flag
