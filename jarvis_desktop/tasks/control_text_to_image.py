"""Paints a picture from a description and a control picture, which says where things are.

One task type for each kind of control picture (ControlNet: Zhang, Rao and Agrawala, 2023). None has
an honest method without an expert.
"""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import PROMPT, Port, TaskType
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.painting import AVOID, SEED

CONTROLS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "canny": (
        "along the thin edges that canny-control draws",
        ("canny", "edge map", "edges"),
        (
            "from the edges of", "along the edges of", "with the edges of", "following the edges",
            "from canny edges", "use the edges of", "with canny edges", "guided by canny",
            "guided by the edges",
            "canny controlnet", "same outlines as", "with the outlines of", "from a canny",
            "from the canny", "from this canny", "using canny",
        ),
    ),
    "depth": (
        "with things as near and far as in the picture that depth-control draws",
        ("depth",),
        (
            "with the depth of", "same depth as", "from the depth of", "using the depth of",
            "use the depth of",
            "guided by the depth", "depth controlnet", "from a depth map", "from the depth map",
            "from this depth map", "with this depth map", "using this depth map",
        ),
    ),
    "hed": (
        "along the soft edges that hed-control draws",
        ("hed", "soft edge"),
        (
            "from the soft edges", "along the soft edges", "with the soft edges of",
            "guided by soft edges", "hed controlnet", "from hed", "from a hed", "using hed",
        ),
    ),
    "mlsd": (
        "along the straight lines that mlsd-control draws, as of a room or a building",
        ("mlsd", "straight lines"),
        (
            "from the straight lines", "along the straight lines", "with the straight lines of",
            "guided by straight lines", "mlsd controlnet", "from mlsd", "using mlsd",
            "from the lines of the room", "from the lines of the building",
        ),
    ),
    "normal": (
        "with surfaces that face as in the map of normals that normal-control draws",
        ("normal map", "normals", "normal"),
        (
            "from a normal map", "from the normal map", "from this normal map",
            "with the normals of", "with this normal map", "using this normal map",
            "guided by normals", "normal controlnet",
        ),
    ),
    "openpose": (
        "with people in the poses that openpose-control draws",
        ("openpose", "skeleton", "pose map"),
        (
            "in the same pose", "in the pose of", "same pose as", "with the pose of",
            "from the pose of", "from this pose", "from this skeleton", "guided by the pose",
            "openpose controlnet", "using the pose of", "use the pose of",
            "standing like the person in", "posing like",
        ),
    ),
    "scribble": (
        "after the rough strokes that scribble-control draws, or that a person drew",
        ("scribble", "sketch", "doodle", "drawing", "strokes"),
        (
            "from this scribble", "from my scribble", "from the scribble", "from a scribble",
            "from this doodle", "from my doodle", "from this sketch", "from my sketch",
            "turn this scribble into", "turn my scribble into", "turn this doodle into",
            "turn my doodle into", "turn this sketch into", "turn my sketch into",
            "scribble controlnet", "based on my sketch", "based on this sketch",
            "based on my scribble", "based on this scribble", "based on my doodle",
        ),
    ),
    "seg": (
        "with things where the areas are that seg-control draws",
        ("segmentation", "seg"),
        (
            "from a segmentation map", "from the segmentation map", "from this segmentation map",
            "with this segmentation map", "using this segmentation map", "from the areas of",
            "segmentation controlnet", "guided by the segmentation",
        ),
    ),
}  # fmt: skip
"""Kind of control -> what it settles; what people call such a picture; how they ask."""


def _definition(kind: str) -> Definition:
    what, names, cues = CONTROLS[kind]
    control = Port("image", (Kind.IMAGE,), through=f"{kind}-control", known_as=names)
    type = TaskType(
        name=f"{kind}-text-to-image",
        summary=f"Paints a picture from a description, {what}.",
        ports=(control, Port(PROMPT, (Kind.TEXT,))),
        gives=(Kind.IMAGE,),
        options=(AVOID, SEED),
        cues=cues,
    )
    return Definition(type, note="needs an expert that paints after control pictures")


DEFINITIONS = tuple(_definition(kind) for kind in CONTROLS)
