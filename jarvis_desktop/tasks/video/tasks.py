"""Takes the sound out of a video.

Says what happens in a video. No honest method without an expert.

Makes a short video from a description. No honest method without an expert.

Makes a picture move. No honest method without an expert.

Writes films that every player shows: MP4 with H.264. Runs in child processes only."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import PROMPT, Call, Port, Report
from jarvis_desktop.tasks.definition import define
from jarvis_desktop.tasks.images.generation import AVOID, SECONDS, SEED, SIZE

if TYPE_CHECKING:
    from PIL.Image import Image


def take_sound(call: Call, report: Report) -> Iterable[Artifact]:
    """The sound, as 16-bit WAV with one or two channels."""
    from jarvis_desktop.tasks.audio.media import audio_blocks, open_media, write_wav_blocks

    path, name = call.file("video"), call.title("video")
    report(None, f"taking the sound out of {name}")
    with open_media(path, name=name) as container:
        if not container.streams.audio:
            raise ExpertError(
                tr("{name} has no sound.", name=name), hint=tr("Give a video with a sound track.")
            )
    out = call.workdir / f"{Path(name).stem or 'video'}.wav"
    if not write_wav_blocks(out, audio_blocks(path, name=name)):
        out.unlink()
        raise ExpertError(
            tr("The sound track of {name} is empty.", name=name), hint=tr("Give another video.")
        )
    return [Artifact(Kind.AUDIO, path=out, name=out.name)]


VIDEO_TO_AUDIO = define(
    name="video-to-audio",
    summary="Takes the sound out of a video, as a WAV file.",
    ports=(Port("video", (Kind.VIDEO,)),),
    gives=(Kind.AUDIO,),
    cues=(
        "take the audio out", "take the sound out", "take out the audio", "take out the sound",
        "extract the audio", "extract audio", "extract the sound", "extract sound",
        "extract the soundtrack", "get the audio", "get the sound", "audio of the video",
        "sound of the video", "audio from the video", "audio from this video", "audio from",
        "sound from the video", "soundtrack", "sound track", "audio track", "rip the audio",
        "separate the audio", "video to audio", "video-to-audio", "convert the video to audio",
        "only the sound", "just the audio", "save the audio",
    ),
    method=take_sound, note="PyAV (FFmpeg)",
)  # fmt: skip


VIDEO_CLASSIFICATION = define(
    name="video-classification",
    summary="Says what happens in a video.",
    ports=(Port("video", (Kind.VIDEO,)),),
    cues=(
        "what happens in", "what is happening in the video", "what's happening in",
        "describe the video", "classify the video", "video classification", "what is in the video",
        "what is in the clip", "which action", "what activity", "what sport",
        "what are they doing",
    ),
    note="needs an expert that watches",
)  # fmt: skip


TEXT_TO_VIDEO = define(
    name="text-to-video",
    summary="Makes a short video from a description.",
    ports=(Port(PROMPT, (Kind.TEXT,)),),
    gives=(Kind.VIDEO,),
    options=(SECONDS, SIZE, AVOID, SEED),
    cues=(
        "make a video", "generate a video", "create a video", "video of", "film of", "animat*",
        "clip of", "movie of", "text to video", "short film", "a video about",
    ),
    note="needs an expert that films",
)  # fmt: skip


IMAGE_TO_VIDEO = define(
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
    note="needs an expert that films",
)  # fmt: skip


CODECS = (("libx264", {"crf": "18", "preset": "medium"}), ("mpeg4", {"q": "3"}))
"""How frames are packed, with what settings, the better way first; some builds of FFmpeg lack
H.264, whose older sister any player knows as well."""


def write_film(path: Path, frames: Iterable[Image], rate: float) -> Path:
    """Write pictures of one size as an MP4 of `rate` pictures a second, without sound.

    Sides are made even, as the codecs want them. Raises ExpertError where there is no picture,
    UnavailableError where this computer's PyAV can write no film.
    """
    import av

    av.logging.set_level(av.logging.PANIC)
    pictures = iter(frames)
    first = next(pictures, None)
    if first is None:
        raise ExpertError(tr("The film has no pictures."))
    size = (max(2, first.width // 2 * 2), max(2, first.height // 2 * 2))
    codec, settings = _codec()
    pack: Any = av.VideoFrame.from_image
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        stream: Any = container.add_stream(
            codec, rate=Fraction(rate).limit_denominator(1000), options=dict(settings)
        )
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        for picture in (first, *pictures):
            shown = picture.convert("RGB")
            shown = shown if shown.size == size else shown.resize(size)
            container.mux(stream.encode(pack(shown)))
        container.mux(stream.encode(None))
    return path


def _codec() -> tuple[str, dict[str, str]]:
    import av

    for name, settings in CODECS:
        try:
            av.Codec(name, "w")
        except av.codec.codec.UnknownCodecError:
            continue
        return name, settings
    raise UnavailableError(
        tr("Films cannot be written on this computer: PyAV knows neither H.264 nor MPEG-4."),
        hint=tr("Install PyAV from its own builds: pip install --force-reinstall av."),
    )
