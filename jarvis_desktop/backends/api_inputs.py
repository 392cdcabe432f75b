"""Makes of files what is sent to a service: pictures and recordings, written anew.

What is sent is small enough, of a type that every service reads, and without the notes that cameras
and recorders leave in their files, such as the place. Used in the API's child process only.
"""

from __future__ import annotations

import io
import wave
from typing import TYPE_CHECKING

from jarvis_desktop.backends.api_answers import Question
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.media import read_audio
from jarvis_desktop.tasks.pictures import on_white, read_image

if TYPE_CHECKING:
    from huggingface_hub.inference._common import MimeBytes
    from PIL.Image import Image

LONGEST_SIDE = 1600
"""Pixels of a picture that is sent."""

MOST_BYTES = 4_000_000
"""Of a picture that is sent: services refuse more than 5 to 10 MB."""

LONGEST_SOUND = 900.0
"""Seconds of a recording that is sent."""

RATE = 16_000
"""Samples a second of speech."""


def picture_of(question: Question, port: str = "image") -> Image:
    """The picture of a port, on white, as it was given."""
    call = question.call
    return on_white(read_image(call.file(port), name=call.title(port)))


def sent(picture: Image) -> tuple[MimeBytes, float]:
    """A picture as a JPEG to send, and by what its sides were divided for that."""
    from PIL import Image as images

    smaller, shrunk = picture, max(1.0, max(picture.size) / LONGEST_SIDE)
    if shrunk > 1.0:
        width, height = (max(1, round(side / shrunk)) for side in picture.size)
        smaller = picture.resize((width, height), images.Resampling.LANCZOS)
    body = b""
    for quality in (92, 80, 60):
        file = io.BytesIO()
        smaller.save(file, "JPEG", quality=quality)
        body = file.getvalue()
        if len(body) <= MOST_BYTES:
            break
    return typed(body, "image/jpeg"), shrunk


def sound_of(question: Question, *, rate: int = RATE, longest: float = LONGEST_SOUND) -> MimeBytes:
    """The recording as a mono WAV to send. Raises ExpertError where it is too long."""
    import numpy as np

    call = question.call
    samples, rate = read_audio(call.file("audio"), rate=rate, mono=True, name=call.title("audio"))
    seconds = samples.shape[1] / rate
    if seconds > longest:
        raise ExpertError(
            tr(
                "{call} is too long for {id}: {seconds:.0f} minutes.",
                call=call.title("audio"),
                id=question.expert.id,
                seconds=seconds / 60,
            ),
            hint=tr("Cut it into parts, or use an expert of this computer."),
        )
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(rate)
        clipped = np.clip(np.nan_to_num(samples[0]), -1.0, 1.0) * 32767.0
        writer.writeframes(clipped.round().astype("<i2").tobytes())
    return typed(file.getvalue(), "audio/wav")


def page_of(question: Question) -> Image:
    """The picture of a document. Raises ExpertError for those that are no pictures."""
    given = question.call.inputs["document"][0]
    if given.kind is not Kind.IMAGE:
        raise ExpertError(
            tr(
                "{id} reads pictures of documents, and {title} is none.",
                id=question.expert.id,
                title=given.title,
            )
        )
    return picture_of(question, "document")


def typed(body: bytes, mime: str) -> MimeBytes:
    """Bytes that tell huggingface_hub what they are: without it, services refuse them."""
    from huggingface_hub.inference._common import MimeBytes

    return MimeBytes(body, mime)
