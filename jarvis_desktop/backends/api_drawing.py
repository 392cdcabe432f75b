"""Asks a service for pictures and films. Used in the API's child process only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.api_answers import Question
from jarvis_desktop.backends.api_inputs import picture_of, sent
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.painting import file_stem, frame, seed_of, strength_of, wish
from jarvis_desktop.tasks.pictures import FORMATS, MOST_PIXELS, on_white, save_image

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE = 1024
"""Pixels of the squares that most experts behind an API draw."""

FRAMES_A_SECOND = 16


def draw(question: Question) -> Iterable[Artifact]:
    """A picture of what is described."""
    call = question.call
    wanted, avoid = wish(call)
    size = frame(call, side=SIDE, multiple=16)
    width, height = size.drawn if str(call.options.get("size", "")).strip() else (None, None)
    found = question.client.text_to_image(
        _worded(wanted),
        negative_prompt=avoid or None,
        width=width,
        height=height,
        seed=_seed(question),
    )
    picture = on_white(opened(question, found))
    if width and picture.size != size.wanted:
        picture = _resized(picture, size.wanted)
    path = call.workdir / f"{file_stem(wanted, 'picture')}.png"
    picture.save(path, compress_level=3)
    return [Artifact(Kind.IMAGE, path=path, name=path.name)]


def redraw(question: Question) -> Iterable[Artifact]:
    """The picture changed as the words say; a named edit is done better without an expert."""
    call = question.call
    wanted, avoid = wish(call)
    if not wanted:
        raise ExpertError(
            tr(
                "{id} changes a picture as a description says, and there is none.",
                id=question.expert.id,
            )
        )
    picture = picture_of(question)
    image, _ = sent(picture)
    more: dict[str, Any] = {}
    if call.options.get("strength"):
        more["strength"] = strength_of(call, 0.8)
    found = question.client.image_to_image(
        image, wanted, negative_prompt=avoid or None, seed=_seed(question), **more
    )
    changed = on_white(opened(question, found))
    ratio, before = changed.width / changed.height, picture.width / picture.height
    if changed.size != picture.size and abs(ratio / before - 1) < 0.03:
        changed = _resized(changed, picture.size)
    what = "edited" if call.task == "image-editing" else "restyled"
    return [save_image(changed, call, what)]


def film(question: Question) -> Iterable[Artifact]:
    """A film of what is described."""
    wanted, avoid = wish(question.call)
    found = question.client.text_to_video(
        _worded(wanted),
        negative_prompt=[avoid] if avoid else None,
        num_frames=_frames(question),
        seed=_seed(question),
    )
    return [_film(question, found, file_stem(wanted, "film"))]


def animate(question: Question) -> Iterable[Artifact]:
    """A film that begins with the picture."""
    wanted, avoid = wish(question.call)
    image, _ = sent(picture_of(question))
    found = question.client.image_to_video(
        image,
        prompt=wanted or None,
        negative_prompt=avoid or None,
        num_frames=_frames(question),
        seed=_seed(question),
    )
    return [_film(question, found, file_stem(wanted, "film"))]


def opened(question: Question, picture: Any) -> Image:
    """A picture of an answer, decoded; huggingface_hub opens it, and reads no more than its head.

    Raises ExpertError where it is too large, damaged, or of a type that is not taken.
    """
    from PIL import Image as images

    if not isinstance(picture, images.Image) or picture.format not in FORMATS:
        raise question.unusable(tr("it is no picture"))
    if picture.width * picture.height > MOST_PIXELS:
        raise question.unusable(tr("its picture is larger than any that can be worked on"))
    try:
        picture.load()
    except (OSError, SyntaxError, ValueError, TypeError, LookupError, ArithmeticError) as error:
        raise question.unusable(tr("its picture is damaged")) from error
    return picture


def _film(question: Question, body: object, stem: str) -> Artifact:
    from jarvis_desktop.tasks.media import open_media

    if not isinstance(body, bytes) or not body:
        raise question.unusable(tr("it is no film"))
    path = question.call.workdir / f"{stem}.mp4"
    path.write_bytes(body)
    try:
        with open_media(path) as container:
            streams = container.streams.video
            shown = next(container.decode(streams[0]), None) if streams else None
            film_type = container.format.name
    except InputError as error:
        raise question.unusable(tr("it is no film")) from error
    if shown is None:
        raise question.unusable(tr("its film shows nothing"))
    if "mp4" not in film_type:
        path = path.rename(path.with_suffix(".webm" if "webm" in film_type else ".mkv"))
    return Artifact(Kind.VIDEO, path=path, name=path.name)


def _worded(wanted: str) -> str:
    if not wanted:
        raise InputError(tr("There is no description of what is to be made."))
    return wanted


def _seed(question: Question) -> int | None:
    seed, chosen = seed_of(question.call)
    return seed if chosen else None


def _frames(question: Question) -> int | None:
    seconds = float(question.call.options.get("seconds", 0))
    return max(1, round(seconds * FRAMES_A_SECOND)) if seconds > 0 else None


def _resized(picture: Image, size: tuple[int, int]) -> Image:
    from PIL import Image as images

    return picture.resize(size, images.Resampling.LANCZOS)
