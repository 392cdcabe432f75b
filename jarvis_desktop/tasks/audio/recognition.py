"""Writes down what is said in a recording.

Says what kind of sound a recording is. No honest method without an expert."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Preset, Report, TaskOption
from jarvis_desktop.tasks.audio.subtitles import written_as
from jarvis_desktop.tasks.definition import Services, define

SUBTITLES = (("format", "srt"),)
"""What experts that know no such format give instead has its times in each line."""


_AT_THE_MICROPHONE = re.compile(r"\b(?:key|microphone)\b")


async def transcribe(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """The transcript; what the engine says about its quality is reported."""
    path, title = call.file("audio"), call.title("audio")
    try:
        transcript = await services.recogniser.transcribe(path, report)
    except (InputError, ExpertError) as error:
        # The stored file's name means nothing to a person, nor does what helps at a microphone.
        hint = "" if _AT_THE_MICROPHONE.search(error.hint) else error.hint
        message = error.message.replace(path.name, title)
        raise type(error)(
            message, hint=hint, retryable=error.retryable, fault=error.fault
        ) from error
    if transcript.note:
        report(None, transcript.note)
    if not transcript.text.strip():
        raise ExpertError(tr("No words were heard in {title}.", title=title))
    format = str(call.options.get("format", "text"))
    if format != "text" and transcript.segments:
        return [text_artifact(written_as(transcript, format))]
    if call.options.get("timestamps") and transcript.segments:
        lines = [(segment.start, segment.text.strip()) for segment in transcript.segments]
        return [text_artifact(written(lines, times=True))]
    return [text_artifact(transcript.text)]


def written(lines: Sequence[tuple[float, str]], *, times: bool) -> str:
    """Stretches of speech, each with the second it begins at, as running text or line by line."""
    if not times:
        return " ".join(text for _, text in lines)
    return "\n".join(f"[{clock_time(start)}] {text}" for start, text in lines)


def clock_time(seconds: float) -> str:
    """A place in a recording, such as 1:05 or 1:02:03."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


AUTOMATIC_SPEECH_RECOGNITION = define(
    name="automatic-speech-recognition",
    summary="Writes down what is said in a recording.",
    ports=(Port("audio", (Kind.AUDIO,)),),
    options=(
        TaskOption("timestamps", "whether each stretch begins with its time", False),
        TaskOption("format", "text, or subtitles in one of their formats", "text",
               choices=("text", "srt", "vtt")),
    ),
    cues=(
        "transcri*", "transcribe", "transcript", "transcription", "speech to text",
        "speech recognition", "what is said", "what's said", "whats said", "what does he say",
        "what does she say", "what do they say", "what did ... say", "write down", "take down",
        "dictat*", "turn the recording into text", "minutes of",
        "recording to text", "audio to text", "what is spoken", "type up",
        "put the recording in writing", "voice memo to text", "listen to xfile*",
        "listen to the recording", "listen to this",
    ),
    presets=tuple(
        Preset(phrase, (("timestamps", True), *also))
        for phrase, also in (
            ("subtitles", SUBTITLES), ("captions for", SUBTITLES),
            ("with timestamps", ()), ("with time stamps", ()), ("with timecodes", ()),
            ("with the times", ()), ("when what is said", ()),
        )
    ),
    skill=transcribe, note="the recogniser that also hears the requests",
)  # fmt: skip


AUDIO_CLASSIFICATION = define(
    name="audio-classification",
    summary="Says what kind of sound a recording is.",
    ports=(Port("audio", (Kind.AUDIO,)),),
    cues=(
        "what sound", "what is this sound", "what's this sound", "kind of sound", "which sound",
        "classify the audio", "classify the sound", "classify the recording",
        "audio classification", "what instrument", "which instrument", "what genre", "which genre",
        "is it music", "what bird", "emotion in the voice", "who is speaking", "what noise",
    ),
    note="needs an expert that listens",
)  # fmt: skip
