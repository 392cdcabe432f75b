import subprocess
import wave
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import ExpertError, JarvisError, UnavailableError
from jarvis_desktop.speech.voice import LocalVoice
from jarvis_desktop.speech.voices.engine import KnownVoice, SpeechRequest, choose
from jarvis_desktop.text.languages import language_of, plain_language

TEXT = "The summary says that the meeting was moved to Tuesday."
FRENCH = "Bonjour tout le monde, voici le résumé des 97 pages que vous avez demandé."


@pytest.fixture
async def broken():
    voice = LocalVoice(system_args=("tests.speech.engines:Engine",))
    yield voice
    await voice.close()


def samples(path: Path) -> bytes:
    with wave.open(str(path)) as file:
        return bytes(file.readframes(file.getnframes()))


def seconds(path: Path) -> float:
    with wave.open(str(path)) as file:
        return float(file.getnframes() / file.getframerate())


def loudest(path: Path) -> int:
    return int(max(abs(each) for each in memoryview(samples(path)).cast("h")))


async def test_longer_text_gives_longer_speech_and_a_higher_rate_shorter(tmp_path):
    slow, fast = LocalVoice(rate=140), LocalVoice(rate=280, volume=0.5)
    try:
        word = await slow.synthesise("Tuesday.", tmp_path / "word.wav")
        sentence = await slow.synthesise(TEXT, tmp_path / "slow.wav")
        quick = await fast.synthesise(TEXT, tmp_path / "fast.wav")
    finally:
        await slow.close()
        await fast.close()
    assert seconds(word) < seconds(sentence) / 2
    assert seconds(quick) < seconds(sentence) * 0.75
    assert loudest(quick) == pytest.approx(loudest(sentence) / 2, rel=0.15)


async def test_the_first_utterance_is_whole(tmp_path):
    voice = LocalVoice(rate=175)
    try:
        first, second = [
            samples(await voice.synthesise(TEXT, tmp_path / f"{number}.wav")) for number in (1, 2)
        ]
    finally:
        await voice.close()
    plain = ["espeak-ng", "-v", "gmw/en-us", "-s", "175", "-w", str(tmp_path / "p.wav"), TEXT]
    subprocess.run(plain, check=True)
    # Later ones differ by a few samples, as eSpeak's own do: its pitch wanders.
    assert first == samples(tmp_path / "p.wav")
    assert len(second) == pytest.approx(len(first), rel=0.002)


async def test_sentences_that_follow_at_once_are_whole_whatever_was_set(tmp_path):
    voice = LocalVoice()
    to = tmp_path / "said.wav"
    try:
        usual = {text: seconds(await voice.synthesise(text, to)) for text in (TEXT, "It is late.")}
        for pace in (1.5, 0.8, 1.0) * 6:
            for text, length in usual.items():
                said = seconds(await voice.synthesise(text, to, pace=pace))
                assert said == pytest.approx(length / pace, rel=0.15)
    finally:
        await voice.close()


async def test_a_voice_at_volume_nothing_is_not_a_failed_one(tmp_path):
    voice = LocalVoice(volume=0)
    assert 0 < loudest(await voice.synthesise("hello", tmp_path / "said.wav")) < 500
    await voice.close()


async def test_what_cannot_be_pronounced_is_an_error_and_not_a_silent_file(broken, tmp_path):
    for text, reason in [
        ("mute", "no sound for this text"),
        ("nothing is written", "no sound for this text"),
        ("half", "no sound for this text"),
        ("raise something", "engine is confused"),
    ]:
        with pytest.raises(ExpertError, match=reason):
            await broken.synthesise(text, tmp_path / "said.wav")
    assert [*tmp_path.glob("*.wav"), *tmp_path.glob(".*.wav")] == []


@pytest.mark.parametrize("fault", ["crash", "exit quietly"])
async def test_a_dead_engine_is_started_anew(broken, tmp_path, fault):
    with pytest.raises(ExpertError, match="stopped unexpectedly"):
        await broken.synthesise(fault, tmp_path / "said.wav")
    await broken.synthesise("speak", tmp_path / "said.wav")
    assert seconds(tmp_path / "said.wav") > 0


async def test_a_hung_engine_is_ended_within_two_seconds(broken, tmp_path):
    await broken.warm()
    with pytest.raises(ExpertError, match="no answer within 2 seconds"):
        await broken.synthesise("hang on, this is some sentence", tmp_path / "said.wav")
    await broken.synthesise("speak", tmp_path / "said.wav")


async def test_nothing_is_printed_by_the_engine(broken, tmp_path, capfd):
    await broken.synthesise("speak", tmp_path / "said.wav")
    await broken.close()
    assert capfd.readouterr().out == ""


async def test_no_engine_says_what_to_install(tmp_path):
    voice = LocalVoice(system_args=("tests.speech.engines:missing",))
    with pytest.raises(UnavailableError) as caught:
        await voice.synthesise("hello", tmp_path / "said.wav")
    assert "espeak-ng" in caught.value.hint
    await voice.close()


async def test_an_unknown_voice_is_named_once_and_the_usual_one_speaks(tmp_path):
    told: list[JarvisError] = []
    voice = LocalVoice(
        voice="klingon", system_args=("tests.speech.engines:Engine",), tell=told.append
    )
    for number in (1, 2):
        await voice.synthesise("speak", tmp_path / f"{number}.wav")
    assert [str(error) for error in told] == [
        "There is no voice named klingon; the usual one speaks."
    ]
    await voice.close()


async def test_aiff_becomes_wav(tmp_path):
    voice = LocalVoice(system_args=("tests.speech.engines:aiff",))
    assert seconds(await voice.synthesise("hello", tmp_path / "said.wav")) > 0.05
    await voice.close()


async def test_a_foreign_text_gets_a_voice_of_its_language(tmp_path):
    ours, french = LocalVoice(), LocalVoice(voice="roa/fr-be")
    try:
        by_text = await ours.synthesise(FRENCH, tmp_path / "fr.wav")
        chosen = await french.synthesise(FRENCH, tmp_path / "be.wav")
        english = await french.synthesise(TEXT, tmp_path / "en.wav")
        usual = await ours.synthesise(TEXT, tmp_path / "en2.wav")
    finally:
        await ours.close()
        await french.close()
    assert seconds(by_text) != pytest.approx(seconds(chosen), rel=0.001)
    assert seconds(english) == pytest.approx(seconds(usual), rel=0.01)


VOICES = (
    KnownVoice("us", ("en",)),
    KnownVoice("uk", ("en",)),
    KnownVoice("de", ("de",)),
    KnownVoice("at", ("de",)),
)


@pytest.mark.parametrize(
    ("chosen", "language", "voice"),
    [
        ("", None, "us"),
        ("", "en", "us"),
        ("", "de", "de"),
        ("", "ja", "us"),
        ("at", None, "at"),
        ("at", "de", "at"),
        ("at", "en", "us"),
        ("at", "ja", "at"),
        ("uk", "en", "uk"),
        ("uk", "de", "de"),
        ("gone", None, "us"),
        ("gone", "de", "de"),
    ],
)
def test_a_chosen_voice_is_kept_for_its_language(chosen, language, voice, tmp_path):
    order = SpeechRequest("36", tmp_path / "said.wav", voice=chosen, language=language)
    found = choose(VOICES, order)
    assert found is not None
    assert found.id == voice
    assert choose((), order) is None


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Hallo, das ist die Zusammenfassung des Berichts.", "de"),
        ("Ciao a tutti, questo è il riassunto.", "it"),
        ("Привет, как дела?", "ru"),
        ("你好，世界", "zh"),
        ("Quarterly results presentation meeting yesterday.", "en"),
    ],
)
def test_a_language_that_must_be_looked_at(text, language):
    assert language_of(text) == language
    assert plain_language(text) == "?"


@pytest.mark.parametrize("text", ["36", "10:42", "castle.png", "", "Müller", "Guten Tag"])
def test_what_says_little_has_no_language(text):
    assert plain_language(text) is None


@pytest.mark.parametrize("text", [TEXT, "Timer set for a minute.", "It is 10:42."])
def test_what_is_plainly_english(text):
    assert plain_language(text) == "en"
