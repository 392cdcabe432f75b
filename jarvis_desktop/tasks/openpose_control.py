"""Draws the poses of the people in a picture. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.naming import IN_PICTURE

TYPE = TaskType(
    name="openpose-control",
    summary="Draws the poses of the people in a picture as coloured skeletons (OpenPose), to steer "
    "a picture generator.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.IMAGE,),
    cues=(
        "openpose*", "open pose", "openpose control", "openpose-control", "pose estimation",
        "pose detection", "pose map", "stick figure of", "skeleton of the person",
        "skeletons of the people", "body pose", "detect the pose*", "draw the pose*",
        "extract the pose*", "show the pose*", "find the pose*",
        *(f"find ... pose* {at}" for at in IN_PICTURE),
        "estimate the pose*",
    ),
)  # fmt: skip

DEFINITION = Definition(TYPE, note="needs an expert that sees poses")
