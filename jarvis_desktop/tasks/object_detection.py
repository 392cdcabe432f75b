"""Finds faces and people in a picture and says where they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.task import Option, Port, Preset, TaskType
from jarvis_desktop.tasks.definition import Definition

if TYPE_CHECKING:
    from PIL.Image import Image

    from jarvis_desktop.tasks.detectors import Box

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

TYPE = TaskType(
    name="object-detection",
    summary="Finds faces and people in a picture, counts them, says where they are and draws a "
    "box around each.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.IMAGE, Kind.TEXT),
    options=(Option("what", "what to find: faces, people or both", "both"),),
    presets=(
        *(Preset(phrase, (("what", "faces"),)) for phrase in FACES),
        *(Preset(phrase, (("what", "people"),)) for phrase in PEOPLE),
    ),
    cues=(
        "detect object*", "detect the object*", "object detection", "object-detection",
        "box around", "boxes around", "bounding box*", "locate the object*",
    ),
)  # fmt: skip

GREEN, BLUE = (40, 200, 70), (40, 120, 255)


def detect(call: Call, report: Report) -> Iterable[Artifact]:
    """The picture with boxes, and a sentence with their number and places."""
    from jarvis_desktop.tasks.detectors import find_faces, find_people
    from jarvis_desktop.tasks.pictures import on_white, read_image, save_image, to_array

    path, name = call.file("image"), call.title("image")
    wanted = call.words("what").strip().lower()
    what = KNOWN.get(wanted.removeprefix("the "))
    if what is None:
        raise ExpertError(
            f"I cannot find “{wanted}” in a picture; faces and people are what I can find.",
            hint="Ask for faces or people, or fetch an expert for object detection.",
        )
    image = on_white(read_image(path, name=name))
    pixels = to_array(image)
    report(0.1, f"looking at {name}")
    faces = find_faces(pixels)
    people = find_people(pixels) if what != "faces" else []
    found: list[tuple[str, Sequence[Box]]] = []
    if what == "people":
        alone = [face for face in faces if all(face.overlap(body) < 0.5 for body in people)]
        found = [("person", sorted([*people, *alone], key=lambda box: box.left))]
    else:
        found = [("face", faces), *([("person", people)] if people else [])]
    drawn = _drawn(image, found)
    sentence = " ".join(_sentence(name, noun, boxes, pixels.shape[1]) for noun, boxes in found)
    if what == "both" and not faces and not people:
        sentence = f"I find no faces and no people in {name}."
    return [save_image(drawn, call, "found"), text_artifact(sentence)]


def _sentence(name: str, noun: str, boxes: Sequence[Box], width: int) -> str:
    several = {"person": "people", "face": "faces"}[noun]
    if not boxes:
        return f"I find no {several} in {name}."
    thirds = [(box.left + box.width / 2) / width for box in boxes]
    places = [
        "on the left" if at < 1 / 3 else "on the right" if at > 2 / 3 else "in the middle"
        for at in thirds
    ]
    if len(boxes) == 1:
        return f"I find one {noun} in {name}, {places[0]}."
    counts = [f"{places.count(place)} {place}" for place in dict.fromkeys(places)]
    spread = (
        ", ".join(counts[:-1]) + f" and {counts[-1]}" if len(counts) > 1 else f"all {places[0]}"
    )
    return f"I find {len(boxes)} {several} in {name}: {spread}."


def _drawn(image: Image, found: Sequence[tuple[str, Sequence[Box]]]) -> Image:
    from PIL import ImageDraw, ImageFont

    out = image.copy()
    draw = ImageDraw.Draw(out)
    line = max(2, round(max(image.size) / 250))
    font = ImageFont.load_default(max(12, max(image.size) / 45))
    for noun, boxes in found:
        colour = GREEN if noun == "face" else BLUE
        for number, box in enumerate(boxes, 1):
            corner = (box.left + box.width, box.top + box.height)
            draw.rectangle((box.left, box.top, *corner), outline=colour, width=line)
            label = f"{noun} {number}" if len(boxes) > 1 else noun
            left, top, right, bottom = draw.textbbox((0, 0), label, font)
            pad = line + 1
            height = bottom - top + 2 * pad
            above = max(0, box.top - height)
            plate = (box.left, above, box.left + right - left + 2 * pad, above + height)
            draw.rectangle(plate, fill=colour)
            draw.text((box.left + pad - left, above + pad - top), label, "white", font)
    return out


DEFINITION = Definition(
    TYPE,
    method=detect,
    note="faces that look at the camera and people seen from head to foot (OpenCV); other things "
    "need an expert",
)
