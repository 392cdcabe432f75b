"""What is left of the computer's own voice, and of the user's, in what the microphone hears."""

import numpy as np
import pytest

from jarvis_desktop.core.speech import RATE
from jarvis_desktop.speech.echo_canceller import BLOCK, TAIL_S, EchoCanceller
from jarvis_desktop.speech.played_sound import PlayedSound

POLL = 480
DEVICE_RATE = 48_000


def voice(seconds: float, seed: int) -> np.ndarray:
    """Noise as loud as speech, in syllables."""
    times = np.arange(round(seconds * RATE)) / RATE
    noise = np.random.default_rng(seed).standard_normal(len(times))
    return 0.05 * noise * np.abs(np.sin(7 * times))


def db(samples: np.ndarray) -> float:
    return float(10 * np.log10(np.mean(samples.astype(float) ** 2) + 1e-12))


class Room:
    """Plays and hears, in steps of POLL samples, from a moment at which nothing sounds."""

    def __init__(self) -> None:
        self.played = PlayedSound()
        self.canceller = EchoCanceller(self.played)
        self.now = 100.0

    def play(self, samples: np.ndarray, *, rate: int = DEVICE_RATE) -> None:
        """Play from now on."""
        self.played.begin(rate)
        times = np.arange(len(samples) * rate // RATE) * RATE / rate
        frames = np.interp(times, np.arange(len(samples)), samples)
        self.played.add(frames[:, None], self.now)

    def hear(self, samples: np.ndarray, *, jump: float = 0.0) -> np.ndarray:
        """What is left of what the microphone hears, from now on."""
        self.now += jump
        whole = (samples * 32767).astype(np.int16)
        left = []
        for at in range(0, len(whole), POLL):
            part = whole[at : at + POLL]
            self.now += len(part) / RATE
            left.append(self.canceller(part, self.now))
        return np.concatenate(left).astype(float) / 32767


def late(samples: np.ndarray, seconds: float = 0.04) -> np.ndarray:
    return np.concatenate((np.zeros(round(seconds * RATE)), samples))[: len(samples)]


@pytest.mark.parametrize("rate", [16_000, 44_100, 48_000])
def test_its_own_voice_is_gone_and_the_user_stays(rate):
    room = Room()
    own, user = voice(2.6, 1), np.zeros(round(2.6 * RATE))
    user[2 * RATE :] = voice(0.6, 2)
    room.play(own, rate=rate)
    left = room.hear(0.5 * late(own) + user)
    assert db(left[RATE : 2 * RATE]) < db(0.5 * own[RATE : 2 * RATE]) - 30
    both = slice(2 * RATE, len(left))
    assert np.corrcoef(left[both], user[both])[0, 1] > 0.8


def test_a_user_with_headphones_is_heard_as_they_are():
    room = Room()
    user = np.concatenate((voice(1.0, 3) / 200, voice(1.0, 2)))
    room.play(voice(2.0, 1))
    left = room.hear(user)
    assert db(left[RATE:] - user[RATE : len(left)]) < db(user[RATE:]) - 12


def test_while_nothing_is_played_nothing_is_changed():
    room = Room()
    samples = (voice(0.1, 1) * 32767).astype(np.int16)
    assert room.canceller(samples, room.now) is samples
    room.played.shared.wanted = False
    room.play(voice(0.5, 1))
    assert room.canceller(samples, room.now) is samples
    assert room.canceller.held == 0


def test_no_sample_is_lost_or_doubled_where_it_begins_and_ends():
    room = Room()
    samples = voice(2.0, 3)
    room.canceller(samples[:BLOCK].astype(np.int16), room.now)
    room.play(np.full(RATE // 5, 1e-4))  # too faint for anything to be learned
    left = room.hear(samples)
    assert len(left) == len(samples)
    ended = round((0.2 + TAIL_S) * RATE) + POLL
    assert np.abs(left[ended:] - samples[ended:]).max() < 1e-4
    assert room.canceller.held == 0


def test_nothing_is_taken_for_the_user_before_the_way_is_known():
    room = Room()
    own = voice(0.4, 1)
    room.play(own)
    assert not room.hear(late(own)).any()


def test_another_delay_is_learned():
    room = Room()
    own = voice(4.0, 1)
    room.play(own)
    room.hear(late(own)[:RATE])
    # The microphone has lost a tenth of a second.
    left = room.hear(late(own)[RATE + RATE // 10 :], jump=0.1)
    assert db(left[2 * RATE :]) < db(own) - 30


def test_a_microphone_that_was_closed_hears_no_echo_of_what_was_played_before():
    room = Room()
    own = voice(5.0, 1)
    heard = 0.5 * (late(own) + late(own, 0.2))
    room.play(own)
    room.hear(heard[: 2 * RATE])
    room.canceller.restart()
    room.now += 1.0
    left = room.hear(heard[3 * RATE :])
    assert db(left) < db(heard) - 30
