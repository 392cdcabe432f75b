import re
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.speech.voice import LocalVoice
from jarvis_desktop.speech.voices import engine as phonemes
from jarvis_desktop.speech.voices import kokoro as kokoro_voice
from jarvis_desktop.speech.voices.engine import (
    KokoroVoice,
    NeuralVoice,
    PiperVoice,
    SpeechRequest,
    kokoro_weights,
    neural_voice,
)
from jarvis_desktop.speech.voices.kokoro import MAX_PHONEMES, VOCABULARY
from tests.speech.neural import piper_program, piper_voices, tiny_kokoro


class Telling(LocalVoice):
    """Keeps what it tells."""

    def __init__(self, engine: NeuralVoice, **how: Any) -> None:
        self.told: list[str] = []
        super().__init__(engine=engine, tell=lambda error: self.told.append(str(error)), **how)


@pytest.fixture
async def speaking():
    """Makes voices that are closed at the end."""
    made: list[Telling] = []

    def make(engine, **how):
        made.append(Telling(engine, **how))
        return made[-1]

    yield make
    for voice in made:
        await voice.close()


def heard(path: Path) -> tuple[int, Any]:
    """The samples a second, and the samples."""
    with wave.open(str(path)) as file:
        frames = file.readframes(file.getnframes())
        return file.getframerate(), np.frombuffer(frames, "<i2").astype(float) / 32767


def test_neural_voices_go_by_the_name_in_the_settings(tmp_path):
    assert neural_voice("kokoro", tmp_path) == KokoroVoice(tmp_path / "kokoro")
    assert neural_voice("piper", tmp_path) == PiperVoice(tmp_path / "piper")
    assert neural_voice("system", tmp_path) is None


def test_what_a_neural_voice_lacks_is_said_with_where_to_get_it(tmp_path, monkeypatch):
    kokoro, piper = (
        KokoroVoice(tmp_path / "kokoro"),
        PiperVoice(tmp_path / "piper", "no-such-piper"),
    )
    lacking = str(kokoro.lacking())
    assert "kokoro-v1.0.onnx (326 MB) and voices-v1.0.bin (28 MB)" in lacking
    assert str(tmp_path / "kokoro") in lacking
    tiny_kokoro(tmp_path / "kokoro")
    assert kokoro.lacking() is None
    assert "not installed" in str(piper.lacking())
    piper = PiperVoice(tmp_path / "piper", piper_program(tmp_path / "program"))
    assert "en_US-lessac-medium" in str(piper.lacking())
    (piper_voices(tmp_path / "piper") / "de_DE-half.onnx").write_bytes(b"")
    assert piper.lacking() is None
    assert piper.speaks("en")
    assert not piper.speaks("de")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "espeak-ng is not installed" in str(kokoro.lacking())


def test_the_best_weights_are_taken(tmp_path):
    assert kokoro_weights(tmp_path) is None
    for name in ("kokoro-v1.0.int8.onnx", "kokoro-v1.0.onnx"):
        (tmp_path / name).touch()
        assert kokoro_weights(tmp_path) == tmp_path / name


async def test_without_weights_the_system_speaks_and_says_so_once(speaking, tmp_path):
    voice = speaking(KokoroVoice(tmp_path / "none"))
    for number in (1, 2):
        await voice.synthesise("hello", tmp_path / f"{number}.wav")
    (told,) = voice.told
    assert "Kokoro cannot speak" in told
    assert "The system's voice speaks instead." in told
    tiny_kokoro(tmp_path / "none")
    await voice.synthesise("hello", tmp_path / "3.wav")
    assert [heard(tmp_path / f"{number}.wav")[0] for number in (1, 2, 3)] == [22050, 22050, 24000]


async def test_kokoro_gets_the_sounds_the_style_and_the_speed(speaking, tmp_path):
    voice = speaking(KokoroVoice(tiny_kokoro(tmp_path / "k")), volume=0.5)
    sounds = [VOCABULARY[sound] for sound in phonemes.phonemes("Hello, you.", "en-us", timeout=60)]
    rate, samples = heard(await voice.synthesise("Hello, you.", tmp_path / "said.wav"))
    assert rate == 24000
    assert samples.max() == pytest.approx(0.3 * 0.5, rel=0.01)
    silent = np.flatnonzero(np.abs(samples) > 1e-3)
    hummed = 0.15 * np.concatenate(
        [np.sin(np.arange(600) * 2 * np.pi / 24000 * sound * 20) for sound in (0, *sounds, 0)]
    )
    begins = np.flatnonzero(np.abs(hummed) > 1e-3)[0]
    length = silent[-1] - silent[0]
    expected = hummed[begins : begins + length]
    assert samples[silent[0] : silent[-1]] == pytest.approx(expected, abs=1e-3)


async def test_kokoro_leaves_languages_it_lacks_to_the_system(speaking, tmp_path):
    voice = speaking(KokoroVoice(tiny_kokoro(tmp_path / "k")), voice="bm_george")
    said = {
        language: heard(await voice.synthesise(text, tmp_path / f"{language}.wav"))
        for language, text in (
            ("en", "It is in the house."),
            ("fr", "Bonjour à tous, voici le résumé du rapport."),
            ("de", "Hallo, das ist die Zusammenfassung des Berichts."),
        )
    }
    assert [rate for rate, _ in said.values()] == [24000, 24000, 22050]
    assert said["en"][1].max() == pytest.approx(0.2, rel=0.01)
    assert said["fr"][1].max() == pytest.approx(0.25, rel=0.01)
    assert voice.told == []


async def test_weights_that_are_cut_off_are_told(speaking, tmp_path):
    folder = tiny_kokoro(tmp_path / "k")
    weights = folder / "kokoro-v1.0.onnx"
    weights.write_bytes(weights.read_bytes()[:300])
    voice = speaking(KokoroVoice(folder))
    await voice.warm()
    assert heard(await voice.synthesise("hello", tmp_path / "said.wav"))[0] == 22050
    (told,) = voice.told
    assert "weights of Kokoro cannot be used" in told
    assert f"again into {folder}" in told


@pytest.mark.parametrize("styles", [b"", b"no archive", b"PK\x03\x04 no archive either"])
def test_styles_that_are_broken_are_told(tmp_path, styles):
    engine = kokoro_voice.KokoroEngine(tiny_kokoro(tmp_path))
    (tmp_path / "voices-v1.0.bin").write_bytes(styles)
    with pytest.raises(UnavailableError, match="cannot be used"):
        engine.ready()
    (tmp_path / "voices-v1.0.bin").unlink()
    with pytest.raises(UnavailableError, match="not there any more"):
        engine.ready()


def test_a_text_that_is_too_long_for_one_run_is_cut_between_words(tmp_path, monkeypatch):
    engine = kokoro_voice.KokoroEngine(tiny_kokoro(tmp_path))
    engine.ready()
    runs: list[str] = []

    def run(sounds, voice, pace):
        runs.append(sounds)
        return np.ones(9)

    monkeypatch.setattr(kokoro_voice, "phonemes", lambda *_, **__: "abcde, " * 100 + "f" * 600)
    monkeypatch.setattr(engine, "_run", run)
    engine.speak(SpeechRequest("long", tmp_path / "said.wav"), None)
    assert [len(run) <= MAX_PHONEMES for run in runs] == [True] * 4
    assert "".join(runs).replace(" ", "") == "abcde," * 100 + "f" * 600
    monkeypatch.undo()
    monkeypatch.setattr(kokoro_voice, "phonemes", lambda *_, **__: "漢")
    with pytest.raises(ExpertError, match="no sound"):
        engine.speak(SpeechRequest("漢", tmp_path / "said.wav"), None)


@pytest.mark.parametrize(
    ("text", "sounds"),
    [
        ("Hello, world!", "həlˈoʊ, wˈɜːld!"),
        ("Hello (world): yes", "həlˈoʊ (wˈɜːld): jˈɛs"),
        ("“Hello”", "“həlˈoʊ”"),
        ("3.5", "θɹˈiː pɔɪnt fˈaɪv"),
        ("...", "..."),
    ],
)
def test_phonemes_keep_the_marks(text, sounds):
    assert phonemes.phonemes(text, "en-us", timeout=60) == sounds


def test_phonemes_of_other_languages():
    assert phonemes.phonemes("Ciao a tutti.", "it", timeout=60) == "tʃˈao a tˈutːɪ."
    with pytest.raises(ExpertError, match="how this text sounds"):
        phonemes.phonemes("hello", "it", timeout=0)


def test_a_clause_that_espeak_cuts_itself_is_put_together(monkeypatch):
    whole = phonemes.phonemes("Well: he said so", "en-us", timeout=60)
    monkeypatch.setattr(phonemes, "_PAUSE", re.compile("(!)"))
    assert phonemes.phonemes("Well: he said so", "en-us", timeout=60) == whole.replace(":", "")


def test_phonemes_without_espeak_say_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnavailableError, match="espeak-ng"):
        phonemes.phonemes("hello", "en-us", timeout=60)
