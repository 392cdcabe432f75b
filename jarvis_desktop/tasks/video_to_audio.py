"""Takes the sound out of a video."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition

TYPE = TaskType(
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
)  # fmt: skip


def take_sound(call: Call, report: Report) -> Iterable[Artifact]:
    """The sound, as 16-bit WAV with one or two channels."""
    from jarvis_desktop.tasks.media import audio_blocks, open_media, write_wav_blocks

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


DEFINITION = Definition(TYPE, method=take_sound, note="PyAV (FFmpeg)")
