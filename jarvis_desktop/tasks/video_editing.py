"""The task that edits videos: each of their pictures, with the edits of pictures."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Preset, Report, TaskOption
from jarvis_desktop.tasks.audio.effects import EFFECT_PRESETS
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
_SPEEDS = {"faster": 1.25, "slower": 0.8}
_GAINS = {"louder": 6.0, "quieter": -6.0}
_OF_FILM = (*_SPEEDS, *_GAINS)
"""What changes no picture: the speed of pictures and sound, by a factor, and the loudness, in
decibels."""


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
    to = call.workdir / f"{original_stem(name, (*EDITS, *_OF_FILM)) or 'video'}-{which}.mp4"
    if which in _OF_FILM:
        part = FilmPart(path, name, speed=_speed(which, wish), gain=_gain(which, wish))
        write_parts([part], to, report=report)
    else:
        write_parts(
            [FilmPart(path, name)], to, report=report,
            change=lambda picture: apply_edit(picture, which, wish),
        )  # fmt: skip
    return [Artifact(Kind.VIDEO, path=to, name=to.name)]


def _speed(which: str, wish: EditRequest) -> float:
    """The factor of the speed: "slower by 2" is half of it, and more than 4 are percent. Raises
    InputError."""
    if which not in _SPEEDS:
        return 1.0
    if wish.amount > 4:
        factor = 1 + wish.amount / 100 if which == "faster" else 1 - wish.amount / 100
    else:
        factor = wish.amount or _SPEEDS[which]
        factor = 1 / factor if (factor < 1) == (which == "faster") else factor
    if not 0.25 <= factor <= 4:
        raise InputError(tr("The speed can be changed by a factor of 4 at most."))
    return factor


def _gain(which: str, wish: EditRequest) -> float:
    """Decibels of the sound. Raises InputError."""
    gain = abs(wish.amount or _GAINS.get(which, 0.0)) if which in _GAINS else 0.0
    if gain > 40:
        raise InputError(tr("The loudness can be changed by 40 decibels at most."))
    return gain if which == "louder" else -gain


_FILM_PRESETS = tuple(
    Preset(
        each.phrase,
        tuple(("edit" if name == "effect" else name, value) for name, value in each.options),
    )
    for each in EFFECT_PRESETS
    if dict(each.options)["effect"] in _OF_FILM
)


VIDEO_EDITING = define(
    name="video-editing", label="Change video",
    summary="Edits a video in a named way: smaller, larger, rotated, flipped, cropped, black and "
    "white, brighter, blurred, with a text on it, faster, louder.",
    ports=(Port("video", (Kind.VIDEO,)),), gives=(Kind.VIDEO,),
    options=(
        TaskOption("edit", "which edit", "", choices=("", *EDITS, *_OF_FILM)),
        *EDIT_OPTIONS,
    ),
    presets=(
        *(it for it in edit_presets(EDITS) if it.phrase not in _OF_TIME_OR_SOUND),
        *_FILM_PRESETS,
    ),
    exact="edit",
    cues=("edit the video", "edit this video", "edit my video", "video edit*"),
    method=edit_video, patience=10,
    note="PyAV (FFmpeg), and Pillow for each picture; the original stays as it is",
)  # fmt: skip
