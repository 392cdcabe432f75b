"""Finds faces, people and other everyday things in a picture and says where they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.task import Option, Port, Preset, TaskType
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.found import Box
from jarvis_desktop.tasks.naming import IN_PICTURE

if TYPE_CHECKING:
    from jarvis_desktop.tasks.detectors import Box as Place

KNOWN = {
    "": "both", "both": "both", "all": "both", "auto": "both", "everything": "both",
    "objects": "both", "face": "faces", "faces": "faces", "person": "people", "persons": "people",
    "people": "people", "man": "people", "men": "people", "woman": "people", "women": "people",
    "child": "people", "children": "people", "pedestrian": "people", "pedestrians": "people",
    "humans": "people", "human": "people",
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
    """Heavier than the cues that ask for anything at all in a picture."""
    asked = ("find ...", "detect ...", "locate ...", "mark ...", "where is ...", "where are ...")
    return tuple(f"{ask} {noun} {at}" for ask in asked for noun in nouns for at in IN_PICTURE)


TYPE = TaskType(
    name="object-detection",
    summary="Finds faces, people and, with an expert, everyday things such as cars and dogs in a "
    "picture, counts them, says where they are and draws a box around each.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.IMAGE, Kind.TEXT),
    options=(
        Option("what", "what to find: everything, faces, people, or things such as cars",
               "everything", reads="gap"),
        Option("threshold", "how sure it must be, 0 to 1; 0 = what suits the expert", 0.0),
    ),
    presets=(
        *(Preset(phrase, (("what", "faces"),)) for phrase in _in_pictures("face*")),
        *(Preset(phrase, (("what", "people"),)) for phrase in _in_pictures(*_PEOPLE)),
        *(Preset(phrase, (("what", "faces"),)) for phrase in FACES),
        *(Preset(phrase, (("what", "people"),)) for phrase in PEOPLE),
    ),
    cues=(
        "detect object*", "detect the object*", "object detection", "object-detection",
        *(f"how many ... {seen} {place}" for seen in _SEEN for place in IN_PICTURE),
        "box around", "boxes around", "bounding box*", "locate the object*",
    ),
)  # fmt: skip


def detect(call: Call, report: Report) -> Iterable[Artifact]:
    """The picture with boxes, and a sentence with their number and places."""
    from jarvis_desktop.tasks.detectors import find_faces, find_people
    from jarvis_desktop.tasks.drawing import box_results
    from jarvis_desktop.tasks.pictures import on_white, read_image, to_array

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
    report(0.1, f"looking at {name}")
    faces = find_faces(pixels)
    people = find_people(pixels) if what != "faces" else []
    if what == "people":
        alone = [face for face in faces if all(face.overlap(body) < 0.5 for body in people)]
        found = _boxes("person", sorted([*people, *alone], key=lambda box: box.left))
    else:
        found = [*_boxes("face", faces), *_boxes("person", people)]
    none = "faces and no people" if what == "both" else what
    return box_results(call, image, found, none=none)


def _boxes(label: str, places: Sequence[Place]) -> list[Box]:
    # How sure the detectors are is no probability, and so it is not shown.
    return [Box(label, at.left, at.top, at.left + at.width, at.top + at.height) for at in places]


DEFINITION = Definition(
    TYPE,
    method=detect,
    note="faces that look at the camera and people seen from head to foot (OpenCV); other things "
    "need an expert",
)
