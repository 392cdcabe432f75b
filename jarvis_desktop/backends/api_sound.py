"""Asks a service about recordings, and for some. Used in the API's child process only."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jarvis_desktop.backends.api_answers import Question, in_parts
from jarvis_desktop.backends.api_inputs import sound_of
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.automatic_speech_recognition import written
from jarvis_desktop.tasks.found import label_lines
from jarvis_desktop.tasks.media import read_audio, write_wav
from jarvis_desktop.tasks.sentences import sentences

SPOKEN_AT_ONCE = 900
"""Characters that are spoken in one request."""

MOST_REQUESTS = 40
"""That one text may take to be spoken."""

FULL_RATE, LONGEST_FULL = 44_100, 240.0
"""Samples a second of a recording that is changed, and how many seconds of it are sent."""

CLEANED = frozenset({"", "denoise", "enhance", "separate"})
"""What experts that change recordings were made for."""


def transcribe(question: Question) -> Iterable[Artifact]:
    """What is said."""
    timed = bool(question.call.options.get("timestamps"))
    found = question.client.automatic_speech_recognition(
        sound_of(question), extra_body={"return_timestamps": True} if timed else None
    )
    if timed:
        return [text_artifact(written(_stretches(question, found.chunks), times=True))]
    if isinstance(found.text, str) and not found.text.strip():
        raise InputError(tr("Nothing is said in {call}.", call=question.call.title("audio")))
    return [text_artifact(question.words(found.text))]


def _stretches(question: Question, chunks: Any) -> list[tuple[float, str]]:
    """What is said, with the second at which each stretch begins."""
    stretches = []
    for each in chunks if isinstance(chunks, list) else ():
        (start, *_) = question.several(each.timestamp)
        if isinstance(start, bool) or not isinstance(start, int | float) or not 0 <= start < 1e6:
            raise question.unusable(tr("it does not say when what is said"))
        stretches.append((float(start), question.words(each.text)))
    if not stretches:
        raise ExpertError(tr("{id} does not say when what is said.", id=question.expert.id))
    return stretches


def classify(question: Question) -> Iterable[Artifact]:
    """What kinds of sound it holds, the likeliest first."""
    found = question.scores(question.client.audio_classification(sound_of(question)))
    return [text_artifact(label_lines(found))]


def change(question: Question) -> Iterable[Artifact]:
    """The recording without noise, or its voices apart."""
    effect = str(question.call.options.get("effect", ""))
    if effect not in CLEANED:
        raise ExpertError(
            tr("{id} cannot make a recording {effect}.", id=question.expert.id, effect=effect)
        )
    found = question.several(
        question.client.audio_to_audio(sound_of(question, rate=FULL_RATE, longest=LONGEST_FULL))
    )
    stem = Path(question.call.title("audio")).stem[:60] or "sound"
    results = []
    for at, each in enumerate(found, 1):
        name = f"{stem}-{at}.wav" if len(found) > 1 else f"{stem}-cleaned.wav"
        results.append(_sound(question, each.blob, name))
    return results


def speak(question: Question) -> Iterable[Artifact]:
    """One recording of the whole text, asked for in stretches of whole sentences."""
    import numpy as np

    parts = in_parts(sentences(question.text("text")), SPOKEN_AT_ONCE)
    if len(parts) > MOST_REQUESTS:
        raise ExpertError(tr("The text is too long to be spoken by {id}.", id=question.expert.id))
    spoken, rate = [], 0
    for at, part in enumerate(parts):
        question.report(at / len(parts), f"part {at + 1} of {len(parts)}")
        body = question.client.text_to_speech(part)
        sound = _sound(question, body, f"part-{at}.wav")
        assert sound.path is not None
        samples, rate = read_audio(sound.path, rate=rate or None, mono=True)
        spoken.append(samples)
        sound.path.unlink()
    path = write_wav(question.call.workdir / "speech.wav", np.concatenate(spoken, axis=1), rate)
    return [Artifact(Kind.AUDIO, path=path, name=path.name)]


def compose(question: Question) -> Iterable[Artifact]:
    """Music or a sound as described; huggingface_hub has no function for it, only the route."""
    from huggingface_hub import get_session

    prompt = question.text("prompt")
    if question.provider != "hf-inference":
        raise question.not_served()
    response = get_session().post(
        f"https://router.huggingface.co/hf-inference/models/{question.expert.repo}",
        json={"inputs": prompt},
        headers={"Authorization": f"Bearer {question.key}"},
    )
    return [_sound(question, response.read(), "music.wav")]


def _sound(question: Question, body: object, name: str) -> Artifact:
    """A recording of an answer as a WAV. Raises ExpertError where it is none, or silent."""
    if not isinstance(body, bytes) or not body:
        raise question.unusable(tr("it is no recording"))
    raw = question.call.workdir / "answer"
    raw.write_bytes(body)
    try:
        samples, rate = read_audio(raw)
        if not samples.shape[1] or not float(abs(samples).max()):
            raise question.unusable(tr("its recording is silent"))
        path = write_wav(question.call.workdir / name, samples, rate)
    except InputError as error:
        raise question.unusable(tr("it is no recording")) from error
    finally:
        raw.unlink()
    return Artifact(Kind.AUDIO, path=path, name=path.name)
