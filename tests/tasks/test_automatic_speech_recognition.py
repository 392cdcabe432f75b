from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.tasks.automatic_speech_recognition import TYPE, transcribe
from tests.fakes import write_wav
from tests.tasks.calls import FakeServices, Reports, call_of, text_of


async def test_gives_what_was_heard_and_reports_the_note(tmp_path: Path):
    parts = FakeServices()
    parts.recogniser.hears, parts.recogniser.note = "good morning", "a weak engine"
    wav = write_wav(tmp_path / "a.wav")
    heard = Reports()
    result = await transcribe(call_of(TYPE, tmp_path, audio=wav), heard, parts.services())
    assert text_of(result) == "good morning"
    assert parts.recogniser.heard == [wav]
    assert (None, "a weak engine") in heard.heard


async def test_no_words_are_an_error_that_names_the_file(tmp_path: Path):
    parts = FakeServices()
    parts.recogniser.hears = " "
    call = call_of(TYPE, tmp_path, audio=write_wav(tmp_path / "quiet.wav"))
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
        await transcribe(call_of(TYPE, tmp_path, audio=memo), Reports(), parts.services())
    assert raised.value.message == "There is no sound in memo.wav."
    assert raised.value.hint == kept
