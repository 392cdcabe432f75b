"""The task that edits videos: each of their pictures, with the edits of pictures."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.definition import define
from jarvis_desktop.tasks.images.editing import EDIT_OPTIONS, EditRequest, apply_edit, edit_presets
from jarvis_desktop.tasks.naming import original_stem

_OF_TIME_OR_SOUND = ("trim*", "muted", "reverse it")
"""Phrases that mean something else of a video."""
EDITS = (
    *("grey", "brightness", "contrast", "colour", "blur", "sharpen", "rotate", "flip", "crop"),
    *("resize", "invert", "sepia", "caption", "border"),
)
"""The edits that are quick enough for thousands of pictures."""


def edit_video(call: Call, report: Report) -> Iterable[Artifact]:
    """Edit every picture of a video; the sound stays. Raises InputError."""
    from jarvis_desktop.tasks.formats.film import FilmPart, write_parts

    path, name, which = call.file("video"), call.title("video"), call.words("edit")
    if not which:
        raise InputError(
            tr("Say what is to change in {name}.", name=name),
            hint=tr("What works: smaller, rotate, flip, crop, black and white, brighter, text ..."),
        )
    said = (call.words(option) for option in ("direction", "size", "words", "colour"))
    wish = EditRequest(call.number("amount"), *said)
    if wish.size.lower().endswith("b"):
        raise InputError(
            tr("A video cannot be made for a size of its file."),
            hint=tr("Say “half the size”, which makes its pictures smaller."),
        )
    to = call.workdir / f"{original_stem(name, EDITS) or 'video'}-{which}.mp4"
    write_parts(
        [FilmPart(path, name)], to, report=report,
        change=lambda picture: apply_edit(picture, which, wish),
    )  # fmt: skip
    return [Artifact(Kind.VIDEO, path=to, name=to.name)]


VIDEO_EDITING = define(
    name="video-editing", label="Change video",
    summary="Edits a video in a named way: smaller, larger, rotated, flipped, cropped, black and "
    "white, brighter, blurred, with a text on it.",
    ports=(Port("video", (Kind.VIDEO,)),), gives=(Kind.VIDEO,),
    options=(
        TaskOption("edit", "which edit", "", choices=("", *EDITS)),
        *EDIT_OPTIONS,
    ),
    presets=tuple(it for it in edit_presets(EDITS) if it.phrase not in _OF_TIME_OR_SOUND),
    exact="edit",
    cues=("edit the video", "edit this video", "edit my video", "video edit*"),
    method=edit_video, patience=10,
    note="PyAV (FFmpeg), and Pillow for each picture; the original stays as it is",
)  # fmt: skip
