"""Draws the poses of people as OpenPose does, in whose colours painters were trained to read them.

Cao, Hidalgo, Simon, Wei and Sheikh, "OpenPose", 2019. Runs in child processes only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]

Point = tuple[float, float] | None
"""Where a joint is, in pixels from the left and top; None where it is not seen."""

Pose = Sequence[Point]

FROM_COCO = (0, -1, 6, 8, 10, 5, 7, 9, 12, 14, 16, 11, 13, 15, 2, 1, 4, 3)
"""OpenPose's 18 joints (nose, neck, right arm, left arm, right leg, left leg, eyes, ears) by their
place among the 17 of COCO, which has no neck."""

LIMBS = (
    (1, 2), (1, 5), (2, 3), (3, 4), (5, 6), (6, 7), (1, 8), (8, 9), (9, 10), (1, 11), (11, 12),
    (12, 13), (1, 0), (0, 14), (14, 16), (0, 15), (15, 17),
)  # fmt: skip

COLOURS = (
    (255, 0, 0), (255, 85, 0), (255, 170, 0), (255, 255, 0), (170, 255, 0), (85, 255, 0),
    (0, 255, 0), (0, 255, 85), (0, 255, 170), (0, 255, 255), (0, 170, 255), (0, 85, 255),
    (0, 0, 255), (85, 0, 255), (170, 0, 255), (255, 0, 255), (255, 0, 170), (255, 0, 85),
)  # fmt: skip
"""One for each limb, and for each joint."""

LIMB_LIGHT = 0.6
"""How bright limbs are; joints have the full colour."""

THICK = 4 / 512
"""Half a limb's width, and a joint's, by the shorter side of the picture."""


def from_coco(joints: Pose) -> list[Point]:
    """The 18 joints of OpenPose from the 17 of COCO; the neck is between the shoulders."""
    left, right = joints[5], joints[6]
    neck = ((left[0] + right[0]) / 2, (left[1] + right[1]) / 2) if left and right else None
    return [neck if at < 0 else joints[at] for at in FROM_COCO]


def drawn(poses: Sequence[Pose], size: tuple[int, int]) -> Pixels:
    """The people's poses, 18 joints each, on black; `size` is (width, height)."""
    import cv2
    import numpy as np

    canvas = np.zeros((size[1], size[0], 3), np.uint8)
    thick = max(2, round(THICK * min(size)))
    for (one, other), colour in zip(LIMBS, COLOURS, strict=False):
        for pose in poses:
            start, end = pose[one], pose[other]
            if start is None or end is None:
                continue
            middle = (round((start[0] + end[0]) / 2), round((start[1] + end[1]) / 2))
            across, down = end[0] - start[0], end[1] - start[1]
            length, angle = math.hypot(across, down), math.degrees(math.atan2(down, across))
            outline = cv2.ellipse2Poly(
                middle, (max(1, round(length / 2)), thick), round(angle), 0, 360, 1
            )
            cv2.fillConvexPoly(canvas, np.asarray(outline, np.int32), colour)
    canvas = np.asarray(canvas * LIMB_LIGHT, np.uint8)
    for at, colour in enumerate(COLOURS):
        for pose in poses:
            if joint := pose[at]:
                cv2.circle(canvas, (round(joint[0]), round(joint[1])), thick, colour, -1)
    return canvas
