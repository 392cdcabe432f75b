"""The detection tasks, and OpenCV's detectors of faces and people, which run in child processes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.definition import define, presets
from jarvis_desktop.tasks.images.findings import BoundingBox
from jarvis_desktop.tasks.naming import IN_PICTURE, named_things

KNOWN = {"": "both"} | {
    word: what
    for what, words in (
        ("both", "both all auto everything objects"),
        ("faces", "face faces"),
        ("people", "person persons people man men woman women child children human humans "
         "pedestrian pedestrians"),
    )
    for word in words.split()
}  # fmt: skip

FACES = (
    "find the face*", "find face*", "find all face*", "detect face*", "detect the face*",
    "face detection", "how many faces are", "how many faces can", "how many faces do",
    "how many faces$", "count the faces", "where are the faces", "where is the face",
    "mark the face*", "locate the face*", "is there a face",
)  # fmt: skip
PEOPLE = (
    "find the people", "find people", "find the person", "find everyone", "detect people",
    "detect the people", "people detection", "how many people are", "how many people can",
    "how many people do you", "how many people$", "how many people in", "how many persons",
    "count the people", "count the persons", "where are the people", "mark the people",
    "locate the people", "is there a person", "is anyone in", "is anybody in",
)  # fmt: skip


_SEEN = ("", "are", "are there", "do you see", "can you see", "can be seen")
_PEOPLE = ("people", "person", "everyone")


def _in_pictures(*nouns: str) -> tuple[str, ...]:
    """Cues that outweigh those for searching anything in a picture."""
    asked = ("find ...", "detect ...", "locate ...", "mark ...", "where is ...", "where are ...")
    return tuple(f"{ask} {noun} {at}" for ask in asked for noun in nouns for at in IN_PICTURE)


def detect(call: Call, report: Report) -> Iterable[Artifact]:
    """Draw boxes around faces and people, and say how many there are and where."""
    from jarvis_desktop.tasks.images.findings import box_results
    from jarvis_desktop.tasks.images.io import on_white, read_image, to_array

    path, name = call.file("image"), call.title("image")
    wanted = call.words("what").strip().lower()
    what = KNOWN.get(wanted.removeprefix("the "))
    if what is None:
        raise ExpertError(
            tr(
                "I cannot find “{wanted}” in a picture; faces and people are what I can find.",
                wanted=wanted,
            ),
            hint=tr("Ask for faces or people, or fetch an expert for object detection."),
        )
    image = on_white(read_image(path, name=name))
    pixels = to_array(image)
    report(0.1, tr("Looking at {name}", name=name))
    faces = find_faces(pixels)
    people = find_people(pixels) if what != "faces" else []
    if what == "people":
        alone = [face for face in faces if all(face.overlap(body) < 0.5 for body in people)]
        found = _boxes("person", sorted([*people, *alone], key=lambda box: box.left))
    else:
        found = [*_boxes("face", faces), *_boxes("person", people)]
    none = "faces and no people" if what == "both" else what
    return box_results(call, image, found, none=none)


def _boxes(label: str, places: Sequence[DetectionBox]) -> list[BoundingBox]:
    # The detectors' scores are not probabilities, so they are not shown.
    return [
        BoundingBox(label, at.left, at.top, at.left + at.width, at.top + at.height) for at in places
    ]


OBJECT_DETECTION = define(
    name="object-detection", label="Find objects",
    summary="Finds faces, people and, with an expert, everyday things such as cars and dogs in a "
    "picture, counts them, says where they are and draws a box around each.",
    ports=(Port("image", (Kind.IMAGE,)),), gives=(Kind.IMAGE, Kind.TEXT),
    options=(
        TaskOption("what", "what to find: everything, faces, people, or things such as cars",
               "everything", reads="gap"),
        TaskOption("threshold", "how sure it must be, 0 to 1; 0 = what suits the expert", 0.0),
    ),
    presets=presets(
        ({"what": "faces"}, _in_pictures("face*")), ({"what": "people"}, _in_pictures(*_PEOPLE)),
        ({"what": "faces"}, FACES), ({"what": "people"}, PEOPLE),
    ),
    cues=(
        "detect object*", "detect the object*", "object detection", "object-detection",
        *(f"how many ... {seen} {place}" for seen in _SEEN for place in IN_PICTURE),
        "box around", "boxes around", "bounding box*", "locate the object*",
    ),
    method=detect,
    note="faces that look at the camera and people seen from head to foot (OpenCV); other things "
    "need an expert",
)  # fmt: skip


_ASKED = (
    "find ...", "locate ...", "where is ...", "where's ...", "where are ...", "point out ...",
    "mark ...", "detect ...", "show me where ...", "draw a box around ...", "draw boxes around ...",
)  # fmt: skip


def things_to_find(words: str) -> list[str]:
    """List the things to find: "find the red car in the picture" names red car. Raises InputError
    if nothing is named."""
    things = named_things(words)
    if not things:
        raise InputError(
            tr("Finding something in a picture needs a name for it."), hint=tr("Say what to find.")
        )
    return things


ZERO_SHOT_OBJECT_DETECTION = define(
    name="zero-shot-object-detection", label="Find what is named",
    summary="Finds anything that is named in a picture, such as a red car or a street sign, says "
    "where it is and draws a box around it.",
    ports=(Port("image", (Kind.IMAGE,)),), gives=(Kind.IMAGE, Kind.TEXT),
    options=(
        TaskOption("what", "what to find; several things separated by commas", "", reads="thing"),
        TaskOption("threshold", "how sure it must be, 0 to 1; 0 = what suits the expert", 0.0),
    ),
    cues=(
        *(f"{ask} {place}" for ask in _ASKED for place in IN_PICTURE),
        "show me where ... is$", "show me where ... are$", "zero-shot object detection",
        "zero shot object detection", "open vocabulary detection", "open-vocabulary detection",
    ),
    note="needs an expert that finds what words name",
)  # fmt: skip


if TYPE_CHECKING:
    from jarvis_desktop.tasks.images.io import Pixels

MAX_SIDE = 900  # larger pictures are searched at this size


@dataclass(frozen=True, slots=True)
class DetectionBox:
    """Where something is, in pixels of the picture, with a score; above 0 is likely."""

    left: int
    top: int
    width: int
    height: int
    score: float

    @property
    def area(self) -> int:
        """Width by height."""
        return self.width * self.height

    def overlap(self, other: DetectionBox) -> float:
        """The share, 0 to 1, of the smaller box that lies inside the other."""
        wide = min(self.left + self.width, other.left + other.width) - max(self.left, other.left)
        high = min(self.top + self.height, other.top + other.height) - max(self.top, other.top)
        return max(0, wide) * max(0, high) / max(1, min(self.area, other.area))


def find_faces(pixels: Pixels) -> list[DetectionBox]:
    """Find the faces that look at the camera in an RGB picture, from left to right. Of OpenCV's
    four cascades, "alt2" is the one that hardly ever sees faces in foliage and fur."""
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


def find_people(pixels: Pixels) -> list[DetectionBox]:
    """Find upright people, visible from head to foot, from left to right. The detector answers
    several times near a real person, but once, twice or faintly near a chance likeness, so both the
    number of answers and the best score must be high enough."""
    import cv2

    small, scale = _reduced(pixels, 1.0)
    if (
        small.shape[0] < 160 or small.shape[1] < 96
    ):  # a picture below its window size ends the process
        return []
    found, weights = _people_detector().detectMultiScale(
        small, hitThreshold=0.0, winStride=(8, 8), padding=(16, 16), scale=1.05, groupThreshold=0
    )
    raw = [_box(rect, float(weight)) for rect, weight in zip(found, weights, strict=True)]
    boxes = []
    grouped, counts = cv2.groupRectangles([list(rect) for rect in found], 3, 0.2)
    for rect in grouped if len(counts) else ():
        middle = _box(rect, 0.0)
        near = [
            box.score
            for box in raw
            if middle.overlap(box) > 0.7 and 0.5 < box.width / middle.width < 2.0
        ]
        if (best := max(near, default=0.0)) >= 1.4:
            boxes.append(replace(middle, score=best))
    return sorted((_scaled(box, scale) for box in _distinct(boxes)), key=lambda box: box.left)


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


def _distinct(boxes: list[DetectionBox]) -> list[DetectionBox]:
    """Drop boxes that mostly overlap a surer one."""
    kept: list[DetectionBox] = []
    for box in sorted(boxes, key=lambda box: -box.score):
        if all(box.overlap(other) < 0.45 for other in kept):
            kept.append(box)
    return kept


def _reduced(pixels: Pixels, most: float) -> tuple[Pixels, float]:
    import cv2
    import numpy as np

    scale = min(most, MAX_SIDE / max(pixels.shape[:2]))
    way = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=way)), scale


def _box(rect: Sequence[int], score: float) -> DetectionBox:
    left, top, width, height = (int(n) for n in rect)
    return DetectionBox(left, top, width, height, score)


def _scaled(box: DetectionBox, scale: float) -> DetectionBox:
    sides = (box.left, box.top, box.width, box.height)
    return _box([round(n / scale) for n in sides], box.score)
