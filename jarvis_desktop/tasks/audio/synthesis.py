"""The tasks that make sound: speech synthesis, sentence by sentence so that any length works, and
music."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.audio.media import audio_blocks, write_wav_blocks
from jarvis_desktop.tasks.definition import Services, define
from jarvis_desktop.text.languages import tongue
from jarvis_desktop.text.sentences import has_words, stretches
from jarvis_desktop.text.speakable import read

if TYPE_CHECKING:
    from jarvis_desktop.tasks.audio.media import Samples

MAX_CHARS = 100_000  # characters: about two hours of speech


def spoken_parts(call: Call) -> list[str]:
    """Return the text in parts to speak. Raises InputError if it is empty or too long."""
    text = call.text("text")
    if len(text) > MAX_CHARS:
        raise InputError(
            tr(
                "The text is too long to be spoken in one piece ({text:,} characters).",
                text=len(text),
            ),
            hint=tr("Have it summarised first, or give it in parts."),
        )
    parts = [
        spoken
        for part in stretches(text)
        if has_words(spoken := read(part, english=tongue(part) != "foreign"))
    ]
    if not parts:
        raise InputError(tr("There is nothing to say."))
    return parts


async def speak(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """Speak the whole text into one WAV. Raises InputError if it is empty or too long."""
    parts = await asyncio.to_thread(spoken_parts, call)
    spoken: list[Path] = []
    for at, part in enumerate(parts):
        report(
            at / len(parts),
            tr("Speaking sentence {number} of {count}", number=at + 1, count=len(parts)),
        )
        spoken.append(await _speak_part(part, call.workdir / f"part-{at}.wav", services))
    to = call.workdir / "speech.wav"
    await asyncio.to_thread(join_wavs, spoken, to)
    return [Artifact(Kind.AUDIO, path=to, name="speech.wav")]


async def _speak_part(part: str, to: Path, services: Services) -> Path:
    """Speak one part. A busy system voice may fail once and then work."""
    try:
        return await services.voice.synthesise(part, to)
    except ExpertError:
        return await services.voice.synthesise(part, to)


def join_wavs(parts: Sequence[Path], to: Path) -> None:
    """Concatenate WAV files, in the rate of the first: another engine may speak what is in another
    language. Raises ExpertError if one of them is not audio."""
    try:
        write_wav_blocks(to, _blocks(parts))
    except InputError as error:
        raise ExpertError(tr("The voice wrote a file that is not audio.")) from error


def _blocks(parts: Sequence[Path]) -> Iterator[tuple[Samples, int]]:
    rate: int | None = None
    for part in parts:
        for block, rate in audio_blocks(part, rate=rate, mono=True):  # noqa: B020 - it stays
            yield block, rate
        part.unlink()


TEXT_TO_SPEECH = define(
    name="text-to-speech", label="Read aloud",
    summary="Speaks a text aloud.", ports=(Port("text", (Kind.TEXT,)),),
    gives=(Kind.AUDIO,),
    cues=(
        "read it to me", "read it aloud", "read this aloud", "read that aloud", "read aloud",
        "read out", "read it out", "read me", "read to me", "read xfile* to me", "read this to me",
        "read ... to me",
        # Longer than "read the letter", which alone is shown and not spoken.
        *(
            f"read the {what} {how}"
            for what in ("document", "file", "pdf", "letter", "report", "e-mail", "table")
            for how in ("to me", "out", "out to me", "aloud", "aloud to me", "out loud")
        ),
        "read that to me", "aloud", "out loud", "^say", "^jarvis say", "say it", "say this",
        "say that out loud", "say that aloud", "say the", "say xquote*", "speak it", "speak this",
        "speak the", "speak xquote*", "^speak", "text to speech", "as speech", "as audio",
        "pronounce", "narrate", "narrat*", "voice it", "let me hear", "hear it", "listen to it",
        "audio book", "audiobook", "into speech", "to speech", "voice over", "voiceover",
    ),
    skill=speak, note="the voice of the answers",
)  # fmt: skip


TEXT_TO_AUDIO = define(
    name="text-to-audio", label="Make music or sound",
    summary="Makes music or a sound from a description.",
    ports=(Port("prompt", (Kind.TEXT,)),), gives=(Kind.AUDIO,),
    options=(
        TaskOption("seconds", "how long it is", 10.0, units=("second*", "sec", "secs")),
        TaskOption("seed", "another number makes another piece of the same words", 0),
    ),
    cues=(
        "compose ... music", "compose ... melody", "compose ... tune", "compose ... jingle",
        "compose music", "compose a song", "compose a melody", "make music", "make me music",
        "generate music", "create music", "make a song", "make me a song", "write music",
        "generate a song", "create a song", "make a melody", "generate a melody", "make a beat",
        "make me a beat", "a sound effect", "sound effect of", "make a jingle",
        "background music for", "generate a sound", "make the sound of", "create a sound",
        "text to music", "text to audio", "piano piece", "an instrumental",
    ),
    note="needs an expert that composes",
)  # fmt: skip
