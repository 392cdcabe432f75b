import wave
from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.tasks.audio.synthesis import TEXT_TO_SPEECH, join_wavs, speak
from tests.fake_voice import FakeVoice, write_wav
from tests.tasks.calls import FakeServices, Reports, call_of, quiet


async def test_speaks_sentence_by_sentence_into_one_file(tmp_path: Path):
    parts = FakeServices()
    heard = Reports()
    call = call_of(
        TEXT_TO_SPEECH.type, tmp_path / "work", text="Good morning. How are you?\n\nIt is late."
    )
    (artifact,) = await speak(call, heard, parts.services())
    assert parts.voice.said == ["Good morning.", "How are you?", "It is late."]
    assert artifact.kind is Kind.AUDIO
    assert artifact.path is not None
    with wave.open(str(artifact.path)) as file:
        assert file.getnframes() == 3 * 1600
    assert [fraction for fraction, _ in heard.heard] == [0, 1 / 3, 2 / 3]
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["speech.wav"]


@pytest.mark.parametrize("text", ["", " \n ", "***", "x" * 100_001])
async def test_refuses_nothing_and_too_much(tmp_path: Path, text: str):
    with pytest.raises(InputError):
        await speak(
            call_of(TEXT_TO_SPEECH.type, tmp_path, text=text), quiet, FakeServices().services()
        )


class Moody(FakeVoice):
    """A voice that fails as often as `fails` says."""

    fails = 1

    async def synthesise(self, text: str, to: Path, *, pace: float = 1.0) -> Path:
        if self.fails:
            self.fails -= 1
            raise ExpertError("The voice gave no sound for this text.")
        return await super().synthesise(text, to)


async def test_a_sentence_that_fails_is_tried_once_more(tmp_path: Path):
    voice = Moody()
    services = FakeServices(voice=voice).services()
    (artifact,) = await speak(
        call_of(TEXT_TO_SPEECH.type, tmp_path, text="One. Two."), quiet, services
    )
    assert voice.said == ["One.", "Two."]
    assert artifact.path
    voice.fails = 2
    with pytest.raises(ExpertError, match="no sound"):
        await speak(call_of(TEXT_TO_SPEECH.type, tmp_path, text="One. Two."), quiet, services)
    assert voice.fails == 0


def test_parts_of_another_rate_get_that_of_the_first(tmp_path: Path):
    parts = [write_wav(tmp_path / "a.wav"), write_wav(tmp_path / "b.wav", rate=8000)]
    join_wavs(parts, tmp_path / "all.wav")
    with wave.open(str(tmp_path / "all.wav")) as file:
        assert file.getframerate() == 16_000
        assert file.getnframes() == pytest.approx(1600 + 2 * 800, abs=40)
    assert not any(part.exists() for part in parts)


async def test_numbers_and_signs_are_read_as_a_person_would(tmp_path: Path):
    parts = FakeServices()
    text = "It costs $5. Das kostet 5 $."
    await speak(call_of(TEXT_TO_SPEECH.type, tmp_path, text=text), quiet, parts.services())
    assert parts.voice.said == ["It costs 5 dollars.", "Das kostet 5 $."]


def test_a_part_that_is_no_sound(tmp_path: Path):
    broken = tmp_path / "a.wav"
    broken.write_bytes(b"RIFF")
    with pytest.raises(ExpertError, match="not audio"):
        join_wavs([broken], tmp_path / "all.wav")
