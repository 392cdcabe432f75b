"""What is played, as the microphone's process sees it."""

import multiprocessing

import numpy as np
import pytest

from jarvis_desktop.speech.played_sound import CAPACITY, FULL_SCALE, PlayedSound

RATE = 1000


@pytest.fixture
def played():
    played = PlayedSound()
    played.begin(RATE)
    return played


def ramp(start: int, count: int) -> np.ndarray:
    """Stereo frames that tell where they are."""
    return np.repeat(np.arange(start, start + count)[:, None] / FULL_SCALE, 2, axis=1)


def test_frames_are_found_at_the_moment_at_which_they_are_heard(played):
    played.add(ramp(0, 100), heard=50.0)
    played.add(ramp(100, 100), heard=50.1)
    assert played.frames(played.place(50.05), 100).tolist() == list(range(50, 150))
    assert played.coming(50.19)
    assert not played.coming(50.21)


def test_before_and_after_is_silence(played):
    played.add(ramp(1, 10), heard=50.0)
    assert played.frames(played.place(49.998), 14).tolist() == [0, 0, *range(1, 11), 0, 0]


def test_only_the_last_seconds_are_kept(played):
    for at in range(0, CAPACITY + 300, 100):
        played.add(ramp(at % 1000, 100), heard=50 + at / RATE)
    assert played.frames(played.place(50), 100).tolist() == [0] * 100
    last = played.place(50 + (CAPACITY + 200) / RATE)
    assert played.frames(last - 100, 200).tolist() != [0] * 200


def test_what_was_silenced_is_not_heard(played):
    played.add(ramp(0, 200), heard=50.0)
    played.stop(50.1)
    assert not played.coming(50.11)
    assert played.frames(played.place(50.05), 100).tolist() == [*range(50, 100), *[0] * 50]


def test_each_stream_has_its_own_time_and_rate(played):
    played.add(ramp(0, 100), heard=50.0)
    played.stop(51.0)
    played.begin(2 * RATE)
    assert not played.coming(0.0)  # nothing of it is known yet
    played.stop(51.0)
    played.add(ramp(500, 100), heard=70.0)
    assert played.shared.rate == 2 * RATE
    assert played.frames(played.place(70.0), 100).tolist() == list(range(500, 600))
    assert played.frames(played.place(70.0) - 100, 100).tolist() == [0] * 100


def test_nothing_is_kept_that_nobody_needs(played):
    played.shared.wanted = False
    played.add(ramp(0, 100), heard=50.0)
    assert not played.coming(0.0)
    played.shared.wanted = True
    assert not played.coming(0.0)


def _play(played: PlayedSound) -> None:
    played.add(ramp(0, 100), heard=50.0)


def test_another_process_sees_it(played):
    process = multiprocessing.get_context("spawn").Process(target=_play, args=(played,))
    process.start()
    process.join()
    assert played.frames(played.place(50.0), 100).tolist() == list(range(100))
