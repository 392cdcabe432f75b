from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.speech import Segment
from jarvis_desktop.tasks.audio.recognition import AUTOMATIC_SPEECH_RECOGNITION, transcribe
from tests.fake_voice import write_wav
from tests.tasks.calls import FakeServices, Reports, call_of, text_of


async def test_gives_what_was_heard_and_reports_the_note(tmp_path: Path):
    parts = FakeServices()
    parts.recogniser.hears, parts.recogniser.note = "good morning", "a weak engine"
    wav = write_wav(tmp_path / "a.wav")
    heard = Reports()
    result = await transcribe(
        call_of(AUTOMATIC_SPEECH_RECOGNITION.type, tmp_path, audio=wav), heard, parts.services()
    )
    assert text_of(result) == "good morning"
    assert parts.recogniser.heard == [wav]
    assert (None, "a weak engine") in heard.heard


async def test_no_words_are_an_error_that_names_the_file(tmp_path: Path):
    parts = FakeServices()
    parts.recogniser.hears = " "
    call = call_of(
        AUTOMATIC_SPEECH_RECOGNITION.type, tmp_path, audio=write_wav(tmp_path / "quiet.wav")
    )
    with pytest.raises(ExpertError, match=r"quiet\.wav"):
        await transcribe(call, Reports(), parts.services())


@pytest.mark.parametrize(
    ("hint", "kept"),
    [
        ("Hold the key for as long as you speak.", ""),
        ("Speak closer to the microphone and try again.", ""),
        ("Cut it into shorter parts.", "Cut it into shorter parts."),
    ],
)
async def test_errors_name_the_file_as_the_person_does(tmp_path: Path, hint: str, kept: str):
    stored = write_wav(tmp_path / "3f9a.wav")
    parts = FakeServices()
    parts.recogniser.error = InputError("There is no sound in 3f9a.wav.", hint=hint)
    memo = Artifact(Kind.AUDIO, path=stored, name="memo.wav")
    with pytest.raises(InputError) as raised:
        await transcribe(
            call_of(AUTOMATIC_SPEECH_RECOGNITION.type, tmp_path, audio=memo),
            Reports(),
            parts.services(),
        )
    assert raised.value.message == "There is no sound in memo.wav."
    assert raised.value.hint == kept


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (True, "[0:01] good morning\n[1:05] to you\n[1:02:03] all"),
        (False, "good morning to you all"),
    ],
)
async def test_each_stretch_begins_with_its_time_if_that_is_wanted(tmp_path, wanted, text):
    parts = FakeServices()
    parts.recogniser.hears = "good morning to you all"
    said = ((1.4, "good morning"), (65.0, " to you"), (3723.0, "all"))
    parts.recogniser.segments = tuple(Segment(start, start + 1, words) for start, words in said)
    call = call_of(
        AUTOMATIC_SPEECH_RECOGNITION.type,
        tmp_path,
        audio=write_wav(tmp_path / "a.wav"),
        timestamps=wanted,
    )
    assert text_of(await transcribe(call, Reports(), parts.services())) == text


async def test_an_engine_that_knows_no_times_gives_the_text_alone(tmp_path):
    call = call_of(
        AUTOMATIC_SPEECH_RECOGNITION.type,
        tmp_path,
        audio=write_wav(tmp_path / "a.wav"),
        timestamps=True,
    )
    result = await transcribe(call, Reports(), FakeServices().services())
    assert text_of(result) == "what time is it"


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("srt", "1\n00:00:01,400 --> 00:00:02,400\ngood morning\n"),
        ("vtt", "WEBVTT\n\n00:00:01.400 --> 00:00:02.400\ngood morning\n"),
    ],
)
async def test_subtitles_are_written_if_they_are_wanted(tmp_path, format, text):
    parts = FakeServices()
    parts.recogniser.segments = (Segment(1.4, 2.4, "good morning"),)
    options = {"timestamps": True, "format": format}
    call = call_of(
        AUTOMATIC_SPEECH_RECOGNITION.type, tmp_path, audio=write_wav(tmp_path / "a.wav"), **options
    )
    assert text_of(await transcribe(call, Reports(), parts.services())) == text
