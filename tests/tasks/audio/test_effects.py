from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.audio import effects
from jarvis_desktop.tasks.audio.effects import AUDIO_TO_AUDIO, EFFECT_PRESETS, EFFECTS, apply_effect
from jarvis_desktop.tasks.audio.media import read_audio, write_wav
from tests.tasks.calls import call_of, quiet

RATE = 16_000
Sound = NDArray[np.float32]


def tone(frequency: float, seconds: float, loudness: float = 0.4) -> Sound:
    times = np.arange(int(RATE * seconds)) / RATE
    return (loudness * np.sin(2 * np.pi * frequency * times))[None].astype(np.float32)


def silence(seconds: float) -> Sound:
    return np.zeros((1, int(RATE * seconds)), np.float32)


def syllables(count: int) -> Sound:
    """Bursts of a voiced sound with pauses between, as speech has."""
    times = np.arange(int(0.25 * RATE)) / RATE
    envelope = np.hanning(len(times))
    voice = sum(np.sin(2 * np.pi * 140 * k * times) / k for k in range(1, 12))
    one = np.concatenate([0.3 * envelope * voice, np.zeros(int(0.2 * RATE))])
    return np.tile(one, count)[None].astype(np.float32)


def ratio(clean: Sound, sound: Sound) -> float:
    """The signal-to-noise ratio in decibels, whatever the loudness."""
    gain = (clean * sound).sum() / (sound**2).sum()
    return float(10 * np.log10((clean**2).sum() / ((clean - gain * sound) ** 2).sum()))


def test_denoising_gains_five_decibels_and_leaves_clean_sound_alone():
    clean = syllables(12)
    noise = np.random.default_rng(5).normal(0, 0.05, clean.shape).astype(np.float32)
    before = ratio(clean, clean + noise)
    after = ratio(clean, effects.denoise(clean + noise, RATE, quiet))
    assert after > before + 5
    assert ratio(clean, effects.denoise(clean, RATE, quiet)) > 25


@pytest.mark.parametrize("factor", [0.5, 0.8, 1.25, 2.0])
def test_speed_changes_the_length_and_not_the_pitch(factor: float):
    changed = effects.stretch(tone(440, 2), RATE, factor, quiet)
    assert changed.shape[1] == pytest.approx(2 * RATE / factor, rel=0.01)
    spectrum = np.abs(np.fft.rfft(changed[0] * np.hanning(changed.shape[1])))
    assert np.argmax(spectrum) * RATE / changed.shape[1] == pytest.approx(440, abs=3)
    assert np.sqrt((changed**2).mean()) == pytest.approx(0.4 / np.sqrt(2), rel=0.1)


def test_both_channels_of_stereo_stay_together():
    stereo = np.concatenate([tone(440, 1), 0.5 * tone(440, 1)])
    changed = effects.stretch(stereo, RATE, 1.5, quiet)
    np.testing.assert_allclose(changed[1], 0.5 * changed[0], atol=1e-6)


def test_normalising_meets_the_level_and_no_peak_is_cut():
    for loudness in (0.001, 0.02, 0.9):
        sound = effects.normalise(np.concatenate([tone(300, 1, loudness), silence(3)], 1), RATE)
        assert np.sqrt((sound[:, :RATE] ** 2).mean()) == pytest.approx(0.1, rel=0.1)
        assert np.abs(sound).max() <= 0.9


def test_silence_cannot_be_normalised_or_trimmed():
    with pytest.raises(InputError, match="silent"):
        effects.normalise(silence(1), RATE)
    with pytest.raises(InputError, match="silent"):
        effects.trim(silence(1), RATE)


def test_louder_and_quieter_in_decibels():
    sound = tone(300, 1, 0.1)
    assert np.abs(effects.amplify(sound, 6)).max() == pytest.approx(0.2, rel=0.01)
    assert np.abs(effects.amplify(sound, -6)).max() == pytest.approx(0.05, rel=0.01)
    assert np.abs(effects.amplify(sound, 40)).max() < 1


def test_trimming_takes_the_ends_and_shortens_pauses():
    sound = np.concatenate([silence(1), tone(300, 1), silence(3), tone(300, 1), silence(2)], 1)
    assert effects.trim(sound, RATE).shape[1] / RATE == pytest.approx(2.75, abs=0.3)


def test_names_tell_the_last_of_several_effects(tmp_path: Path):
    source = write_wav(tmp_path / f"{'m' * 90}-faster-louder.wav", tone(300, 1), RATE)
    call = call_of(AUDIO_TO_AUDIO.type, tmp_path / "work", audio=source, effect="louder")
    (artifact,) = apply_effect(call, quiet)
    assert artifact.name == f"{'m' * 60}-louder.wav"


@pytest.mark.parametrize("effect", EFFECTS)
def test_each_effect_makes_a_sound(tmp_path: Path, effect: str):
    source = write_wav(tmp_path / "memo.wav", syllables(6), RATE)
    (artifact,) = apply_effect(
        call_of(AUDIO_TO_AUDIO.type, tmp_path / "work", audio=source, effect=effect), quiet
    )
    assert artifact.path is not None
    assert artifact.name == f"memo-{effect}.wav"
    sound, rate = read_audio(artifact.path)
    assert rate == RATE
    assert np.abs(sound).max() > 0.01


@pytest.mark.parametrize(
    ("effect", "quiet_at"), [("fade-in", {0}), ("fade-out", {3}), ("fade", {0, 3})]
)
def test_fades(effect: str, quiet_at: set[int]):
    faded = effects.fade(tone(300, 4), RATE, effect, 1.0)
    loud = [float(np.abs(part).mean()) for part in np.split(faded[0], 4)]
    whole = float(np.abs(tone(300, 4)).mean())
    assert {at for at, each in enumerate(loud) if each < 0.8 * whole} == quiet_at


def test_a_fade_is_never_longer_than_the_recording():
    faded = effects.fade(tone(300, 1), RATE, "fade", 9.0)
    assert (
        np.abs(faded[:, RATE // 2 - 50 : RATE // 2 + 50]).max() > 0.9 * np.abs(tone(300, 1)).max()
    )


def test_reverse_is_its_own_inverse(tmp_path: Path):
    source = write_wav(tmp_path / "memo.wav", syllables(2), RATE)
    (once,) = apply_effect(
        call_of(AUDIO_TO_AUDIO.type, tmp_path / "a", audio=source, effect="reverse"), quiet
    )
    assert once.path is not None
    (twice,) = apply_effect(
        call_of(AUDIO_TO_AUDIO.type, tmp_path / "b", audio=once.path, effect="reverse"), quiet
    )
    assert twice.path is not None
    np.testing.assert_allclose(read_audio(twice.path)[0], read_audio(source)[0], atol=1e-3)


@pytest.mark.parametrize(
    ("effect", "amount", "length"),
    [("faster", 2.0, 0.5), ("slower", 0.5, 2.0), ("slower", 2.0, 2.0), ("faster", 0.0, 0.8)],
)
def test_amounts(tmp_path: Path, effect: str, amount: float, length: float):
    source = write_wav(tmp_path / "memo.wav", syllables(4), RATE)
    call = call_of(
        AUDIO_TO_AUDIO.type, tmp_path / "work", audio=source, effect=effect, amount=amount
    )
    (artifact,) = apply_effect(call, quiet)
    assert artifact.path is not None
    sound, _ = read_audio(artifact.path)
    assert sound.shape[1] == pytest.approx(length * syllables(4).shape[1], rel=0.02)


@pytest.mark.parametrize(
    ("effect", "length", "loudness"),
    [("faster", 2 / 3, 1.0), ("slower", 2.0, 1.0), ("louder", 1.0, 1.5), ("quieter", 1.0, 0.5)],
)
def test_percent(tmp_path: Path, effect: str, length: float, loudness: float):
    source = write_wav(tmp_path / "hum.wav", tone(300, 4), RATE)
    call = call_of(
        AUDIO_TO_AUDIO.type, tmp_path / "work", audio=source, effect=effect, percent=50.0
    )
    (artifact,) = apply_effect(call, quiet)
    assert artifact.path is not None
    sound, _ = read_audio(artifact.path)
    assert sound.shape[1] == pytest.approx(length * tone(300, 4).shape[1], rel=0.02)
    middle = sound[:, sound.shape[1] // 4 : -sound.shape[1] // 4]
    assert abs(middle).max() == pytest.approx(loudness * abs(tone(300, 4)).max(), rel=0.1)


@pytest.mark.parametrize(("effect", "amount"), [("faster", 50.0), ("louder", 90.0)])
def test_absurd_amounts_are_refused(tmp_path: Path, effect: str, amount: float):
    source = write_wav(tmp_path / "memo.wav", syllables(1), RATE)
    with pytest.raises(InputError, match="at most"):
        apply_effect(
            call_of(
                AUDIO_TO_AUDIO.type, tmp_path / "w", audio=source, effect=effect, amount=amount
            ),
            quiet,
        )


def test_the_phrases_name_effects_and_options_there_are():
    for preset in EFFECT_PRESETS:
        assert dict(preset.options)["effect"] in EFFECTS
        assert all(AUDIO_TO_AUDIO.type.option(name) for name, _ in preset.options)
