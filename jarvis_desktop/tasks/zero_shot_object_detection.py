"""Finds what is named in a picture, whatever it is. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Option, Port, TaskType
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.naming import IN_PICTURE, named_things

_ASKED = (
    "find ...", "locate ...", "where is ...", "where's ...", "where are ...", "point out ...",
    "mark ...", "detect ...", "show me where ...", "draw a box around ...", "draw boxes around ...",
)  # fmt: skip

TYPE = TaskType(
    name="zero-shot-object-detection",
    summary="Finds anything that is named in a picture, such as a red car or a street sign, says "
    "where it is and draws a box around it.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.IMAGE, Kind.TEXT),
    options=(
        Option("what", "what to find; several things parted by commas", "", reads="thing"),
        Option("threshold", "how sure it must be, 0 to 1; 0 = what suits the expert", 0.0),
    ),
    cues=(
        *(f"{ask} {place}" for ask in _ASKED for place in IN_PICTURE),
        "show me where ... is$", "show me where ... are$",
        "zero-shot object detection", "zero shot object detection",
        "open vocabulary detection", "open-vocabulary detection",
    ),
)  # fmt: skip


def wanted(words: str) -> list[str]:
    """The things to find: "find the red car in the picture" names red car.

    Raises InputError where nothing is named.
    """
    things = named_things(words)
    if not things:
        raise InputError(
            tr("Finding something in a picture needs a name for it."), hint=tr("Say what to find.")
        )
    return things


DEFINITION = Definition(TYPE, note="needs an expert that finds what words name")
