from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.tasks.images.detection import (
    OBJECT_DETECTION,
    DetectionBox,
    detect,
    find_faces,
    find_people,
)
from jarvis_desktop.tasks.images.findings import COLOURS
from tests.tasks.calls import call_of, quiet
from tests.tasks.drawing import face, page, shapes

MIDDLES = ((180, 220), (460, 260), (740, 220))


@pytest.fixture
def group(tmp_path: Path) -> Path:
    image = Image.new("RGB", (900, 500), (120, 140, 150))
    for middle, size in zip(MIDDLES, (130, 110, 150), strict=True):
        face(image, middle=middle, size=size)
    image.save(tmp_path / "group.jpg", quality=92)
    return tmp_path / "group.jpg"


def test_finds_the_faces_and_says_where(group: Path, tmp_path: Path) -> None:
    call = call_of(OBJECT_DETECTION.type, tmp_path / "work", image=group, what="faces")
    picture, words = detect(call, quiet)
    assert words.text == (
        "I find 3 faces in group.jpg: 1 on the left, 1 in the middle and 1 on the right."
    )
    assert (picture.kind, picture.name) == (Kind.IMAGE, "group-found.jpg")
    assert picture.path
    drawn = np.asarray(Image.open(picture.path), int)
    assert (np.abs(drawn - COLOURS[0]).sum(axis=2) < 60).sum() > 500


def test_each_box_is_around_its_face(group: Path) -> None:
    boxes = find_faces(np.asarray(Image.open(group)))
    assert len(boxes) == 3
    for box, (x, y) in zip(boxes, MIDDLES, strict=True):
        assert box.left < x - 30 < x + 30 < box.left + box.width
        assert box.top < y - 30 < y + 30 < box.top + box.height


@pytest.mark.parametrize("what", ["people", "person", "the people"])
def test_a_face_alone_is_a_person_too(group: Path, tmp_path: Path, what: str) -> None:
    _, words = detect(
        call_of(OBJECT_DETECTION.type, tmp_path / "work", image=group, what=what), quiet
    )
    assert words.text
    assert words.text.startswith("I find 3 people in group.jpg")


def test_says_that_there_are_none(tmp_path: Path) -> None:
    for file in (shapes(tmp_path / "s.png"), page(tmp_path / "s.png", ("Dear all,", "goodbye"))):
        _, words = detect(call_of(OBJECT_DETECTION.type, tmp_path / "work", image=file), quiet)
        assert words.text == "I find no faces and no people in s.png."


def test_says_what_it_can_find(group: Path, tmp_path: Path) -> None:
    with pytest.raises(ExpertError, match="cannot find “zebras”"):
        detect(call_of(OBJECT_DETECTION.type, tmp_path / "work", image=group, what="zebras"), quiet)


@pytest.mark.parametrize("size", [(1, 1), (10, 400), (63, 127), (400, 60)])
def test_survives_small_pictures(size: tuple[int, int]) -> None:
    plain = np.full((*size, 3), 128, np.uint8)
    assert find_faces(plain) == []
    assert find_people(plain) == []


def test_boxes_overlap_by_the_share_of_the_smaller() -> None:
    large, inside, beside = (
        DetectionBox(0, 0, 10, 10, 1),
        DetectionBox(2, 2, 4, 4, 1),
        DetectionBox(9, 0, 10, 10, 1),
    )
    assert large.overlap(inside) == inside.overlap(large) == 1.0
    assert large.overlap(beside) == 0.1
