"""The video tasks, with PyAV. The functions that read and write films run in child processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import PROMPT, Call, Port, Report, TaskOption
from jarvis_desktop.tasks.audio.media import open_media
from jarvis_desktop.tasks.definition import define, presets
from jarvis_desktop.tasks.images.generation import AVOID, SECONDS, SEED, SIZE
from jarvis_desktop.tasks.naming import original_stem

if TYPE_CHECKING:
    from PIL.Image import Image


MAX_PICTURES = 60


def take_pictures(call: Call, report: Report) -> Iterable[Artifact]:
    """Take the pictures, in the order of the video."""

    path, name = call.file("video"), call.title("video")
    count, at = int(call.number("count")), call.number("at")
    if not 1 <= count <= MAX_PICTURES:
        raise InputError(
            tr(
                "Between 1 and {most} pictures can be taken out of a video at a time.",
                most=MAX_PICTURES,
            )
        )
    artifacts = []
    with open_film(path, name=name) as (container, stream):
        length = film_seconds(container, stream)
        if at >= 0 and length and at > length:
            raise InputError(
                tr("{name} is only {length:.1f} seconds long.", name=name, length=length)
            )
        edges = {"first": [0.0], "last": [length]}
        moments = edges.get(call.words("edge")) or _moments(count, at, length)
        for number, frame in enumerate(frames_at(container, stream, moments), 1):
            report(
                number / len(moments),
                tr("Picture {number} of {count}", number=number, count=len(moments)),
            )
            out = call.workdir / f"{Path(name).stem or 'video'}-{number:02d}.png"
            upright_picture(frame).save(out, compress_level=3)
            artifacts.append(Artifact(Kind.IMAGE, path=out, name=out.name))
    if not artifacts:
        raise _no_picture(name)
    return artifacts


def _no_picture(name: str) -> InputError:
    return InputError(
        tr("{name} contains no readable picture.", name=name), hint=tr("It may be damaged.")
    )


def _moments(count: int, at: float, length: float) -> list[float]:
    if at >= 0:
        # Several pictures from a given second on are one second apart.
        return [at + i for i in range(count) if not length or at + i <= length]
    return [length * (i + 0.5) / count for i in range(count)]


VIDEO_TO_IMAGE = define(
    name="video-to-image", label="Take stills",
    summary="Takes one or more still pictures out of a video.",
    ports=(Port("video", (Kind.VIDEO,)),), gives=(Kind.IMAGE,),
    options=(
        TaskOption("count", "how many pictures, spread evenly over the video", 1,
               units=("frame*", "picture*", "image*", "still*", "screenshot*", "thumbnail*")),
        TaskOption("at", "the second to take the picture at; -1 = spread over the video", -1.0,
               reads="moment"),
        TaskOption("edge", "take the first or the last picture", "", choices=("", "first", "last")),
    ),
    presets=presets(
        ({"edge": "first"}, "first frame|first picture of|first image of|opening frame"),
        ({"edge": "last"}, "last frame|last picture of|last image of|final frame"),
    ),
    cues=(
        "take a screenshot", "take screenshots", "take a still", "take stills",
        "take a frame", "take # still*", "take # frame*", "a still",
        "# stills",
        *(f"{what} {of} {which} {video}" for what in ("picture", "pictures", "image", "images")
          for of in ("from", "of", "out of") for which in ("the", "this", "my")
          for video in ("video", "film", "clip", "movie")),
        *(f"{what} {at} {when}" for what in ("picture", "image") for at in ("from", "at")
          for when in ("second #", "minute #", "# second*")),
        "picture out of", "frame from", "frame of the video", "frames from", "frames of",
        "frames out of", "extract a frame", "extract the frame*", "extract frame*", "grab a frame",
        "still from", "still of", "stills from", "still picture*", "screenshot of the video",
        "screenshots of the video", "thumbnail*", "video to image", "video-to-image",
        "pictures out of", "key frames", "keyframes", "snapshot*",
    ),
    method=take_pictures, note="PyAV (FFmpeg)",
)  # fmt: skip


MAX_PIXELS = 50_000_000  # per picture


def even_frames(path: Path, count: int, *, name: str) -> list[Image]:
    """Take `count` upright RGB pictures spread evenly over a film; some repeat if it is short.
    Raises InputError if none can be read, ExpertError if it has no video stream."""
    with open_film(path, name=name) as (container, stream):
        length = film_seconds(container, stream)
        moments = [length * (at + 0.5) / count for at in range(count)]
        frames = [upright_picture(frame) for frame in frames_at(container, stream, moments)]
    if not frames:
        raise _no_picture(name)
    return [frames[at * len(frames) // count] for at in range(count)]


@contextmanager
def open_film(path: Path, *, name: str) -> Iterator[tuple[Any, Any]]:
    """Open a film: its container and first video stream. Raises ExpertError if it has none,
    InputError if its frames are too large or unreadable."""
    with open_media(path, name=name) as container:
        if not container.streams.video:
            raise ExpertError(
                tr("{name} has no moving picture.", name=name), hint=tr("Give a video.")
            )
        stream = container.streams.video[0]
        if stream.codec_context is None:  # PyAV has no decoder for it
            raise InputError(
                tr("{name} cannot be read as a film.", name=name),
                hint=tr("It may be damaged or cut off."),
            )
        if stream.width * stream.height > MAX_PIXELS:
            raise InputError(
                tr(
                    "{name} is too large: {width} by {height} pixels.",
                    name=name,
                    width=stream.width,
                    height=stream.height,
                )
            )
        stream.thread_type = "AUTO"
        yield container, stream


def film_seconds(container: Any, stream: Any) -> float:
    """The film's length in seconds; 0 if the file does not say."""
    import av

    if stream.duration and stream.time_base:
        return float(stream.duration * stream.time_base)
    return float((container.duration or 0) / av.time_base)


def frames_at(container: Any, stream: Any, moments: Sequence[float]) -> Iterator[Any]:
    """Yield the frame shown at each moment, in seconds; broken packets are skipped."""
    import av

    start = float((stream.start_time or 0) * stream.time_base) if stream.time_base else 0.0
    for moment in moments:
        target = moment + start
        if stream.time_base:
            container.seek(round(target / stream.time_base), stream=stream)
        shown = None
        for packet in container.demux(stream):
            try:
                frames = packet.decode()
            except av.InvalidDataError:
                continue
            for frame in frames:
                if shown is not None and frame.time is not None and frame.time > target:
                    break
                shown = frame
            else:
                continue
            break
        if shown is not None:
            yield shown


def upright_picture(frame: Any) -> Image:
    """The frame as an RGB picture, rotated as the camera was held."""
    image: Image = frame.to_image()
    turn = int(getattr(frame, "rotation", 0) or 0)
    return image.rotate(turn, expand=True) if turn else image


def take_sound(call: Call, report: Report) -> Iterable[Artifact]:
    """Extract the sound as a 16-bit WAV with one or two channels."""
    from jarvis_desktop.tasks.audio.media import audio_blocks, open_media, write_wav_blocks

    path, name = call.file("video"), call.title("video")
    report(None, tr("Taking the sound out of {name}", name=name))
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
    name="video-to-audio", label="Take the sound",
    summary="Takes the sound out of a video, as a WAV file.",
    ports=(Port("video", (Kind.VIDEO,)),), gives=(Kind.AUDIO,),
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


CONTAINERS = (".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi")
"""Endings that a film without its sound keeps; others become .mkv, which holds any pictures."""


MAX_UNTIMED = 64
"""Packets in a row that may lack the time at which they are decoded."""


def with_times(packets: Iterable[Any]) -> Iterator[Any]:
    """The packets that hold something, with the times at which they are decoded: Matroska does not
    have those of the first ones, which hold a whole picture that others build on."""
    held: dict[int, list[Any]] = {}
    for packet in packets:
        if not packet.size:
            continue
        early = held.setdefault(packet.stream.index, [])
        early.append(packet)
        if packet.dts is not None or len(early) > MAX_UNTIMED:
            yield from _timed(early)
            early.clear()
    for early in filter(None, held.values()):
        yield from _timed(early)


def _timed(packets: Sequence[Any]) -> Sequence[Any]:
    """Packets of a stream in turn, each decoded before the next, and none after it is shown."""
    end = packets[-1].dts
    if end is None:
        end = min(packet.pts or 0 for packet in packets)
    step = max(1, *(packet.duration or 0 for packet in packets))
    for before, packet in enumerate(reversed(packets)):
        packet.dts = end - before * step
    return packets


def mute(call: Call, report: Report) -> Iterable[Artifact]:
    """Copy a film without its sound; the pictures are not encoded again. Raises ExpertError if it
    has no sound."""
    import av

    path, name = call.file("video"), call.title("video")
    report(None, tr("Leaving out the sound of {name}", name=name))
    with open_film(path, name=name) as (container, stream):
        if not container.streams.audio:
            raise ExpertError(
                tr("{name} has no sound.", name=name), hint=tr("Give a video with a sound track.")
            )
        suffix = Path(name).suffix.lower()
        made = Path(call.workdir, f"muted{suffix if suffix in CONTAINERS else '.mkv'}")
        try:
            with av.open(str(made), "w") as new:
                copy = new.add_stream_from_template(stream)
                for packet in with_times(container.demux(stream)):
                    packet.stream = copy
                    new.mux(packet)
        except (av.FFmpegError, ValueError) as error:
            raise ExpertError(
                tr("{name} could not be written without its sound.", name=name)
            ) from error
    stem = original_stem(name, ("muted",)) or "video"
    return [Artifact(Kind.VIDEO, path=made, name=f"{stem}-muted{made.suffix}")]


MUTE_VIDEO = define(
    name="mute-video", label="Remove sound",
    summary="Takes the sound away from a video.",
    ports=(Port("video", (Kind.VIDEO,)),), gives=(Kind.VIDEO,),
    cues=(
        *(
            f"{away} {which} {sound}{of}"
            for away in ("remove", "delete", "strip", "take away")
            for which in ("the", "its")
            for sound in ("sound", "audio", "audio track", "sound track")
            for of in ("", " from the video", " from this video", " of the video")
        ),
        *(f"mute {which}" for which in ("the video", "this video", "the clip", "the film", "it")),
        "video without sound", "video without audio", "make the video silent", "silence the video",
    ),
    method=mute, note="PyAV (FFmpeg); the pictures stay as they are",
)  # fmt: skip


VIDEO_CLASSIFICATION = define(
    name="video-classification", label="Say what happens",
    summary="Says what happens in a video.",
    ports=(Port("video", (Kind.VIDEO,)),),
    cues=(
        "what happens in", "what is happening in the video", "what's happening in",
        "describe the video", "classify the video", "video classification", "what is in the video",
        "what is in the clip", "which action", "what activity", "what sport", "what are they doing",
    ),
    note="needs an expert that watches",
)  # fmt: skip


TEXT_TO_VIDEO = define(
    name="text-to-video", label="Make video",
    summary="Makes a short video from a description.",
    ports=(Port(PROMPT, (Kind.TEXT,)),), gives=(Kind.VIDEO,),
    options=(SECONDS, SIZE, AVOID, SEED),
    cues=(
        "make a video", "generate a video", "create a video", "video of", "film of", "animat*",
        "clip of", "movie of", "text to video", "short film", "a video about",
    ),
    note="needs an expert that films",
)  # fmt: skip


IMAGE_TO_VIDEO = define(
    name="image-to-video", label="Animate picture",
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
"""Codecs with their options, the better one first: some builds of FFmpeg lack H.264."""


def write_film(path: Path, frames: Iterable[Image], rate: float) -> Path:
    """Write pictures of one size as an MP4 with `rate` pictures a second, without sound. Sides are
    made even, as the codecs require. Raises ExpertError if there is no picture, UnavailableError if
    PyAV has no encoder here."""
    import av

    av.logging.set_level(av.logging.PANIC)
    pictures = iter(frames)
    first = next(pictures, None)
    if first is None:
        raise ExpertError(tr("The film has no pictures."))
    size = (max(2, first.width // 2 * 2), max(2, first.height // 2 * 2))
    codec, settings = film_codec()
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


def film_codec() -> tuple[str, dict[str, str]]:
    """Return the best codec for films that PyAV has here, and its options. Raises
    UnavailableError."""
    import av

    for name, settings in CODECS:
        try:
            av.Codec(name, "w")
        except av.codec.codec.UnknownCodecError:
            continue
        return name, settings
    raise UnavailableError(
        tr("Videos cannot be written on this computer: PyAV has neither H.264 nor MPEG-4."),
        hint=tr("Install PyAV from its own builds: pip install --force-reinstall av."),
    )
