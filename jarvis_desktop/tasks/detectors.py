"""Finds faces and people with the detectors that come with OpenCV 4. Runs in children only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]

SIDE = 900
"""Pictures are looked at with at most so many pixels on their longer side."""


@dataclass(frozen=True, slots=True)
class Box:
    """Where something is, in pixels of the picture, and how sure that is; above 0 is likely."""

    left: int
    top: int
    width: int
    height: int
    score: float

    @property
    def area(self) -> int:
        """Its area."""
        return self.width * self.height

    def overlap(self, other: Box) -> float:
        """The share, 0 to 1, of the smaller box that lies in the other."""
        wide = min(self.left + self.width, other.left + other.width) - max(self.left, other.left)
        high = min(self.top + self.height, other.top + other.height) - max(self.top, other.top)
        return max(0, wide) * max(0, high) / max(1, min(self.area, other.area))


def find_faces(pixels: Pixels) -> list[Box]:
    """The faces in an RGB picture that look at the camera, from left to right.

    The "alt2" cascade is the one of OpenCV's four that hardly ever sees faces in foliage and fur.
    """
    import cv2

    small, scale = _reduced(pixels, 2.0)
    grey = cv2.equalizeHist(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY))
    least = max(24, round(max(small.shape) * 0.03))
    cascade = _cascade("haarcascade_frontalface_alt2.xml")
    found, _, weights = cascade.detectMultiScale3(
        grey, scaleFactor=1.1, minNeighbors=4, minSize=(least, least), outputRejectLevels=True
    )
    boxes = [_box(rect, float(weight)) for rect, weight in zip(found, weights, strict=True)]
    faces = (_scaled(box, scale) for box in _distinct(boxes))
    return sorted(faces, key=lambda box: box.left)


def find_people(pixels: Pixels) -> list[Box]:
    """Upright people seen from head to foot, from left to right.

    The detector answers near every real person several times, near a chance likeness once or
    twice or faintly, so both the number of answers and the strongest of them must be enough.
    """
    import cv2

    small, scale = _reduced(pixels, 1.0)
    if small.shape[0] < 160 or small.shape[1] < 96:  # less than its window ends the process
        return []
    found, weights = _people_detector().detectMultiScale(
        small, hitThreshold=0.0, winStride=(8, 8), padding=(16, 16), scale=1.05, groupThreshold=0
    )
    raw = [_box(rect, float(weight)) for rect, weight in zip(found, weights, strict=True)]
    boxes = []
    grouped, counts = cv2.groupRectangles([list(rect) for rect in found], 3, 0.2)
    for rect in grouped if len(counts) else ():
        middle = _box(rect, 0.0)
        near = [box.score for box in raw if middle.overlap(box) > 0.7 and _alike(box, middle)]
        if (best := max(near, default=0.0)) >= 1.4:
            boxes.append(replace(middle, score=best))
    return sorted((_scaled(box, scale) for box in _distinct(boxes)), key=lambda box: box.left)


def _alike(one: Box, other: Box) -> bool:
    return 0.5 < one.width / other.width < 2.0


@cache
def _cascade(name: str) -> Any:
    import cv2

    return cv2.CascadeClassifier(cv2.data.haarcascades + name)  # type: ignore[attr-defined]


@cache
def _people_detector() -> Any:
    import cv2

    hog: Any = cv2.HOGDescriptor()
    hog.setSVMDetector(cv2.HOGDescriptor.getDefaultPeopleDetector())
    return hog


def _distinct(boxes: list[Box]) -> list[Box]:
    """The boxes without those that mostly lie in a surer one."""
    kept: list[Box] = []
    for box in sorted(boxes, key=lambda box: -box.score):
        if all(box.overlap(other) < 0.45 for other in kept):
            kept.append(box)
    return kept


def _reduced(pixels: Pixels, most: float) -> tuple[Pixels, float]:
    import cv2
    import numpy as np

    scale = min(most, SIDE / max(pixels.shape[:2]))
    way = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=way)), scale


def _box(rect: Sequence[int], score: float) -> Box:
    left, top, width, height = (int(n) for n in rect)
    return Box(left, top, width, height, score)


def _scaled(box: Box, scale: float) -> Box:
    sides = (box.left, box.top, box.width, box.height)
    return _box([round(n / scale) for n in sides], box.score)
