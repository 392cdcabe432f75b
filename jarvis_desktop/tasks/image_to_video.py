"""Makes a picture move. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import PROMPT, Port, TaskType
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.painting import AVOID, SECONDS, SEED

TYPE = TaskType(
    name="image-to-video",
    summary="Makes a short video that begins with a picture, as a description says it goes on.",
    ports=(Port("image", (Kind.IMAGE,)), Port(PROMPT, (Kind.TEXT,), required=False)),
    gives=(Kind.VIDEO,),
    options=(SECONDS, AVOID, SEED),
    cues=(
        "animate the picture", "animate the photo", "animate the image", "animate this",
        "animate it", "animate my", "animate", "bring ... to life", "make the picture move",
        "make the photo move", "make the image move", "make this picture move",
        "make this photo move", "make it move", "into a video",
        "this photo into a video", "the photo into a video", "my photo into a video",
        "this picture into a video", "the picture into a video", "my picture into a video",
        "this image into a video", "the image into a video", "into a moving picture",
        "into a short video", "into a short clip", "into an animation", "image to video",
        "picture to video", "photo to video", "video from the picture", "video from the photo",
        "video from this picture", "video from this photo", "video out of this picture",
        "video out of this photo",
    ),
)  # fmt: skip

DEFINITION = Definition(TYPE, note="needs an expert that films")
