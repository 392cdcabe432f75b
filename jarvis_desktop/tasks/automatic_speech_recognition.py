"""Writes down what is said in a recording."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.tasks.definition import Definition, Services

TYPE = TaskType(
    name="automatic-speech-recognition",
    summary="Writes down what is said in a recording.",
    ports=(Port("audio", (Kind.AUDIO,)),),
    gives=(Kind.TEXT,),
    cues=(
        "transcri*", "speech to text", "speech recognition", "what is said", "what's said",
        "what does he say", "what does she say", "what do they say", "what did ... say",
        "write down", "take down", "dictat*", "turn the recording into text", "subtitles",
        "captions", "minutes of", "recording to text", "audio to text", "what is spoken",
        "type up", "put the recording in writing", "voice memo to text", "listen to",
    ),
)  # fmt: skip


async def transcribe(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """The transcript; what the engine says about its quality is reported."""
    transcript = await services.recogniser.transcribe(call.file("audio"), report)
    if transcript.note:
        report(None, transcript.note)
    if not transcript.text.strip():
        raise ExpertError(f"No words were heard in {call.title('audio')}.")
    return [text_artifact(transcript.text)]


DEFINITION = Definition(TYPE, skill=transcribe, note="the recogniser that also hears the requests")
