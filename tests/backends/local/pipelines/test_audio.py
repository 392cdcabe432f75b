"""Audio experts that are really run, with tiny weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from jarvis_desktop.backends.local.pipelines.audio import quiet_chunks
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.tasks.audio.media import read_audio, write_wav
from jarvis_desktop.tasks.everyday.save_file import convert
from jarvis_desktop.text.numbers import in_words

ASR, NAMED = "automatic-speech-recognition", "audio-classification"
TTS, MUSIC = "text-to-speech", "text-to-audio"


@pytest.fixture
def recording(tmp_path):
    """A sound of so many seconds, in stereo at 44.1 kHz if that is wanted, in any format."""

    def make(seconds: float, ending: str = ".wav", *, rate: int = 16_000, channels: int = 1):
        count = max(int(seconds * rate), 1)
        noise = np.random.default_rng(1).normal(0, 0.1, (channels, count)).astype(np.float32)
        path = write_wav(tmp_path / "sound.wav", noise, rate)
        if ending == ".wav":
            return path
        return convert(Artifact(Kind.AUDIO, path=path), ending, tmp_path, lambda *_: None)[0]

    return make


@pytest.mark.parametrize("builder", ["speller", "scribe", "moonshine"])
def test_speech_is_written_down(bench, recording, builder):
    said = bench.text(ASR, f"tiny_sound:{builder}", {"audio": recording(1.0)})
    assert set(said.replace("A", "cat").split()) == {"cat"}
    assert bench.text(ASR, f"tiny_sound:{builder}", {"audio": recording(1.0)}) == said


@pytest.mark.parametrize("ending", [".mp3", ".m4a", ".ogg"])
def test_any_sound_is_brought_to_what_the_expert_takes(bench, recording, ending):
    path = recording(1.0, ending, rate=44_100, channels=2)
    assert bench.text(ASR, "tiny_sound:speller", {"audio": path}) == "A"
    assert bench.text(NAMED, "tiny_sound:wave_namer", {"audio": path}).startswith("dog: 100%")


@pytest.mark.parametrize("seconds", [0.0, 0.1])
def test_a_moment_of_sound_is_enough_to_be_asked_about(bench, recording, seconds):
    assert bench.text(ASR, "tiny_sound:speller", {"audio": recording(seconds)}) == "A"
    assert bench.text(NAMED, "tiny_sound:wave_namer", {"audio": recording(seconds)})
    assert bench.text(NAMED, "tiny_media:listener", {"audio": recording(seconds)})


def test_a_long_recording_is_heard_in_parts_with_their_times(bench, recording):
    path = recording(70.0)
    said = bench.text(ASR, "tiny_sound:speller", {"audio": path}, options={"timestamps": True})
    lines = said.splitlines()
    assert len(lines) == 4
    assert lines[0] == "[0:00] A"
    starts = [line.split("]")[0][1:] for line in lines]
    assert starts == sorted(starts)
    assert bench.text(ASR, "tiny_sound:speller", {"audio": path}) == "A A A A"
    assert any(words.endswith("of 70 seconds") for _, words in bench.reports)


def test_nothing_is_invented_where_it_is_silent(bench, tmp_path):
    path = write_wav(tmp_path / "silence.wav", np.zeros(40 * 16_000, np.float32), 16_000)
    with pytest.raises(ExpertError, match=r"No words were heard in silence\.wav"):
        bench.run(ASR, "tiny_sound:scribe", {"audio": path})


@pytest.mark.parametrize(("task", "builder"), [(ASR, "speller"), (NAMED, "wave_namer")])
def test_what_is_no_sound_is_refused(bench, tmp_path, task, builder):
    note = tmp_path / "note.wav"
    note.write_text("not a sound")
    with pytest.raises(InputError, match=r"note\.wav cannot be read as sound"):
        bench.run(task, f"tiny_sound:{builder}", {"audio": note})


def test_sounds_are_named_over_the_whole_recording(bench, recording):
    said = bench.text(NAMED, "tiny_sound:wave_namer", {"audio": recording(35.0)})
    assert said.splitlines() == ["dog: 100%", "cat: 0%"]
    said = bench.text(NAMED, "tiny_media:listener", {"audio": recording(35.0)})
    assert said.splitlines()[0] == "Dog: 100%"


def test_sound_is_cut_where_it_is_quiet():
    rate = 100
    sound = np.ones(50 * rate, np.float32)
    sound[25 * rate : 26 * rate] = 0.0
    (first, second) = quiet_chunks(sound, rate, seconds=30)
    assert first[0] == 0
    assert 25 * rate <= first[1] == second[0] <= 26 * rate
    assert second[1] == len(sound)
    assert quiet_chunks(sound[: 20 * rate], rate, seconds=30) == [(0, 20 * rate)]


def samples(results: Sequence[Artifact]) -> tuple[Any, int]:
    (sound,) = results
    assert sound.kind is Kind.AUDIO
    assert sound.path
    return read_audio(sound.path)


def voice(bench, text: str, **settings):
    return samples(bench.run(TTS, "tiny_sound:voice", {"text": text}, **settings))


def test_a_text_is_spoken_and_the_same_again(bench):
    sound, rate = voice(bench, "The cat sat on the mat.")
    assert (len(sound), rate) == (1, 16_000)
    assert abs(sound).max() <= 1
    assert (sound == voice(bench, "The cat sat on the mat.")[0]).all()


def test_a_long_text_is_spoken_sentence_by_sentence(bench):
    one = voice(bench, "The cat sat on the mat.")[0].shape[1]
    three, rate = voice(bench, "The cat sat on the mat. " * 3)
    assert three.shape[1] == 3 * one + 2 * int(0.3 * rate)
    assert (1 / 3, "Speaking sentence 2 of 3") in bench.reports


def test_what_cannot_be_spoken_is_refused(bench):
    with pytest.raises(InputError, match="nothing to say"):
        voice(bench, " ... ")
    with pytest.raises(ExpertError, match="knows none of the letters"):
        voice(bench, "Привет, мир.")
    with pytest.raises(InputError, match="too long to be spoken"):
        voice(bench, "a " * 60_000)


def test_numbers_are_spoken_by_a_voice_that_knows_letters_only(bench):
    digits = voice(bench, "It is 1999.", languages=("en",))[0]
    assert (digits == voice(bench, "It is nineteen ninety nine.", languages=("en",))[0]).all()


def test_a_voice_made_of_two_experts_needs_both(bench):
    asked = {"text": "the cat sat"}
    sound, rate = samples(
        bench.run(TTS, "tiny_sound:reader_aloud", asked, base="tiny_sound:vocoder")
    )
    assert rate == 16_000
    assert sound.size
    with pytest.raises(ExpertError, match="lacks its vocoder"):
        bench.run(TTS, "tiny_sound:reader_aloud", asked)


@pytest.mark.parametrize("text", ["The cat sat.", "Die Katze sitzt auf der Matte und schläft."])
def test_a_voice_that_acts_is_told_in_which_voice_to_speak(bench, text):
    sound, rate = samples(bench.run(TTS, "tiny_sound:actor", {"text": text}))
    assert rate == 256
    assert sound.size
    assert (sound == samples(bench.run(TTS, "tiny_sound:actor", {"text": text}))[0]).all()


def test_what_does_not_speak_is_refused(bench):
    with pytest.raises(ExpertError, match="does not speak here"):
        bench.run(TTS, "tiny:sorter", {"text": "the cat"})
    with pytest.raises(ExpertError, match="does not compose here"):
        bench.run(MUSIC, "tiny:sorter", {"prompt": "a song"})


def test_music_is_as_long_as_was_asked_and_the_seed_decides(bench):
    def made(**options: float) -> tuple[Any, int]:
        return samples(bench.run(MUSIC, "tiny_sound:composer", {"prompt": "a song"}, options))

    short, rate = made(seconds=2.0)
    assert rate == 256
    assert short.shape == (1, 2 * rate)
    assert (short == made(seconds=2.0)[0]).all()
    assert (short != made(seconds=2.0, seed=7)[0]).any()
    long, _ = made(seconds=90.0)
    assert long.shape[1] <= 30 * rate
    assert long.shape[1] > 29 * rate
    assert any("At most 30 seconds" in words for _, words in bench.reports)
    assert any(0 < (share or 0) < 1 for share, _ in bench.reports)


def test_music_needs_words(bench):
    with pytest.raises(InputError, match="nothing to make music of"):
        bench.run(MUSIC, "tiny_sound:composer", {"prompt": " "})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("3 cats", "three cats"),
        ("in 1905 and 2024", "in nineteen oh five and twenty twenty four"),
        ("2005", "two thousand and five"),
        (
            "1,234,567",
            "one million two hundred and thirty four thousand five hundred and sixty seven",
        ),
        ("$3.50", "three point five zero dollars"),
        ("-7%", "minus seven percent"),
        ("3.5 % of it", "three point five percent of it"),
        ("007", "zero zero seven"),
        ("9" * 13, " ".join(["nine"] * 13)),
        ("5kg", "five kg"),
        ("R2D2", "R2D2"),
        ("1000", "one thousand"),
        ("1900", "nineteen hundred"),
        ("no digits", "no digits"),
    ],
)
def test_numbers_become_words(text, said):
    assert in_words(text) == said
