"""A hundred sounds of rooms and desks in which nobody speaks, the same at each run.

They are made, not recorded: noise, hum, music, drums, clicks, keyboards, claps, coughs, alarms,
wind. Each has its own loudness, pitch and rhythm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

RATE = 16_000

Samples = np.ndarray[Any, Any]
Random = np.random.Generator


def sounds() -> Iterator[tuple[str, Samples]]:
    """What it is, and the sound, from -1 to 1 at 16 kHz."""
    for kind, (count, make) in KINDS.items():
        for number in range(count):
            random = np.random.default_rng([len(kind), *kind.encode(), number])
            samples = make(random)
            peak = np.abs(samples).max()
            loudness = 10 ** random.uniform(-1.6, -0.05)
            yield kind, samples * (loudness / peak) if peak else samples


def _times(random: Random, least: float = 2.0, most: float = 5.0) -> Samples:
    return np.arange(int(random.uniform(least, most) * RATE)) / RATE


def noise(random: Random, count: int, slope: float) -> Samples:
    """Noise whose power falls with frequency to the power of `slope`."""
    spectrum = np.fft.rfft(random.standard_normal(count))
    frequencies = np.maximum(np.fft.rfftfreq(count, 1 / RATE), 20)
    return np.fft.irfft(spectrum * frequencies ** (-slope / 2), count)


def _band(random: Random, count: int, low: float, high: float) -> Samples:
    spectrum = np.fft.rfft(random.standard_normal(count))
    frequencies = np.fft.rfftfreq(count, 1 / RATE)
    return np.fft.irfft(spectrum * ((frequencies > low) & (frequencies < high)), count)


def _at(places: Samples, count: int, make: Callable[[], Samples]) -> Samples:
    """The same kind of event at each of these seconds."""
    samples = np.zeros(count)
    for place in places:
        event = make()[: max(0, count - int(place * RATE))]
        samples[int(place * RATE) : int(place * RATE) + len(event)] += event
    return samples


def _beats(random: Random, seconds: float, low: float, high: float) -> Samples:
    """Seconds of events whose distances vary between these."""
    places: Samples = np.cumsum(random.uniform(low, high, int(seconds / low) + 1))
    return places[places < seconds]


def _silence(random: Random) -> Samples:
    return np.zeros(len(_times(random)))


def _hiss(random: Random) -> Samples:
    """A microphone in a quiet room, before it is made louder."""
    return noise(random, len(_times(random)), random.uniform(0.0, 0.5))


def _of_colour(slope: float) -> Callable[[Random], Samples]:
    return lambda random: noise(random, len(_times(random)), slope)


def _hum(random: Random) -> Samples:
    times = _times(random)
    mains = random.choice((50, 60))
    tones = sum(
        random.uniform(0.1, 1) / order * np.sin(2 * np.pi * mains * order * times)
        for order in range(1, 9)
    )
    return np.asarray(tones + 0.02 * random.standard_normal(len(times)))


def _note(random: Random, pitch: float, seconds: float, timbre: int, *, attack: float) -> Samples:
    """A note of a plucked (attack near 0) or blown instrument, with vibrato."""
    times = np.arange(int(seconds * RATE)) / RATE
    vibrato = 1 + 0.006 * np.sin(2 * np.pi * random.uniform(4, 6) * times)
    phase = 2 * np.pi * np.cumsum(pitch * vibrato) / RATE
    orders = [order for order in range(1, 14) if order * pitch < 7_000]
    tone = sum(np.sin(order * phase) / order ** (0.7 + 0.4 * timbre) for order in orders)
    fade = np.exp(-times / seconds * (3 if attack < 0.03 else 1))
    return np.asarray(tone * np.minimum(1, times / attack) * fade)


def _pitch(random: Random) -> float:
    return float(110 * 2 ** (random.choice((0, 2, 4, 5, 7, 9, 11, 12, 14, 16, 17, 19, 24)) / 12))


def _chords(random: Random) -> Samples:
    count, length = len(_times(random, 3, 6)), random.uniform(0.5, 1.5)
    timbre, attack = int(random.integers(0, 4)), random.choice((0.005, 0.05))

    def chord() -> Samples:
        root = _pitch(random)
        third = random.choice((3, 4))
        steps = (0, third, 7, 12)
        notes = [
            _note(random, root * 2 ** (step / 12), length, timbre, attack=attack) for step in steps
        ]
        return np.asarray(sum(notes))

    return _at(np.arange(0, count / RATE, length), count, chord)


def _melody(random: Random) -> Samples:
    count, length = len(_times(random, 3, 6)), random.uniform(0.12, 0.6)
    timbre, attack = int(random.integers(0, 4)), random.choice((0.005, 0.02, 0.06))
    return _at(
        np.arange(0, count / RATE, length),
        count,
        lambda: _note(random, _pitch(random), length * 1.1, timbre, attack=attack),
    )


def _hit(random: Random, pitch: float, seconds: float, air: float) -> Samples:
    """A drum: a falling tone and noise, both dying away."""
    times = np.arange(int(seconds * RATE)) / RATE
    tone = np.sin(2 * np.pi * pitch * (1 + np.exp(-times * 30)) * times)
    return (tone + air * random.standard_normal(len(times))) * np.exp(-times * 6 / seconds)


def _drums(random: Random) -> Samples:
    count, beat = len(_times(random, 3, 6)), random.uniform(0.2, 0.5)
    kinds = ((55.0, 0.3, 0.05), (190.0, 0.2, 1.0), (6_000.0, 0.06, 3.0))
    return _at(
        np.arange(0.1, count / RATE, beat / 2),
        count,
        lambda: _hit(random, *kinds[random.integers(len(kinds))]),
    )


def _click(random: Random, low: float, high: float, seconds: float) -> Samples:
    count = int(seconds * RATE)
    times = np.arange(count) / RATE
    return _band(random, count, low, high) * np.exp(-times * 7 / seconds)


def _key_press(random: Random) -> Samples:
    """Down, the bottom of the way, and up again."""
    down = _click(random, 1_000, 7_500, 0.012)
    bottom = 1.5 * _click(random, 150, 3_000, 0.03)
    up = 0.6 * _click(random, 1_500, 7_500, 0.01)
    samples = np.zeros(int(random.uniform(0.09, 0.14) * RATE))
    for event, place in ((down, 0), (bottom, 0.008), (up, 0.07)):
        start = int(place * RATE)
        samples[start : start + len(event)] += event[: len(samples) - start]
    return samples * random.uniform(0.4, 1)


def _with_room(random: Random, samples: Samples) -> Samples:
    """It echoes in a room, and there is a little noise."""
    length = int(random.uniform(0.05, 0.25) * RATE)
    echo = 0.2 * random.standard_normal(length) * np.exp(-np.arange(length) * 6 / length)
    echo[0] = 1
    size = len(samples) + length
    wet = np.fft.irfft(np.fft.rfft(samples, size) * np.fft.rfft(echo, size), size)[: len(samples)]
    quiet = 10 ** random.uniform(-4, -2.3) * np.abs(wet).max()
    return np.asarray(wet + quiet * random.standard_normal(len(samples)))


def _keyboard(low: float, high: float) -> Callable[[Random], Samples]:
    def make(random: Random) -> Samples:
        times = _times(random)
        places = _beats(random, len(times) / RATE, low, high)
        return _with_room(random, _at(places, len(times), lambda: _key_press(random)))

    return make


def _mouse(random: Random) -> Samples:
    times = _times(random)
    places = _beats(random, len(times) / RATE, 0.15, 1.2)
    samples = _at(places, len(times), lambda: _click(random, 2_000, 7_800, 0.008))
    return _with_room(random, samples)


def _claps(random: Random) -> Samples:
    times = _times(random)
    places = _beats(random, len(times) / RATE, 0.15, 0.9)
    samples = _at(places, len(times), lambda: _click(random, 600, 4_500, 0.06))
    return _with_room(random, samples)


def _knocks(random: Random) -> Samples:
    times = _times(random)
    places = _beats(random, len(times) / RATE, 0.12, 0.7)
    samples = _at(places, len(times), lambda: _hit(random, 160, 0.09, 0.4))
    return _with_room(random, samples)


def _beeps(random: Random) -> Samples:
    count, pitch = len(_times(random)), random.uniform(400, 3_000)
    times = np.arange(int(random.uniform(0.06, 0.4) * RATE)) / RATE
    beep = np.sin(2 * np.pi * pitch * times)
    square = random.random() < 0.3
    period = len(times) / RATE * random.uniform(1.3, 3)
    places = np.arange(0.1, count / RATE, period)
    return _at(places, count, lambda: np.sign(beep) if square else beep)


def _alarm(random: Random) -> Samples:
    """Two tones in turn, or a siren that rises and falls."""
    times = _times(random, 3, 6)
    low = random.uniform(400, 900)
    swing = np.sin(2 * np.pi * random.uniform(0.4, 3) * times)
    swing = np.sign(swing) if random.random() < 0.5 else swing
    phase = 2 * np.pi * np.cumsum(low * (1.3 + 0.3 * swing)) / RATE
    return np.sin(phase) + random.uniform(0, 0.3) * np.sin(3 * phase)


def _coughs(random: Random) -> Samples:
    """Bursts of air without a voice, with the broad resonances of a throat."""
    times = _times(random)

    def burst() -> Samples:
        count = int(random.uniform(0.12, 0.3) * RATE)
        shape = np.exp(-np.arange(count) * random.uniform(4, 7) / count)
        shape *= np.minimum(1, np.arange(count) / (0.006 * RATE))
        air = _band(random, count, 300, 1_000) + 0.7 * _band(random, count, 1_000, 3_500)
        return np.asarray(air * shape)

    samples = _at(_beats(random, len(times) / RATE, 0.3, 1.2), len(times), burst)
    return _with_room(random, samples)


def _wind(random: Random) -> Samples:
    times = _times(random, 3, 6)
    gusts = np.maximum(0.05, 1 + 0.9 * noise(random, len(times), 3.5) * 40)
    gusts = np.abs(gusts) / np.abs(gusts).max()
    return np.asarray(noise(random, len(times), 2.2) * gusts)


def _fan(random: Random) -> Samples:
    times = _times(random)
    blades = 1 + 0.3 * np.sin(2 * np.pi * random.uniform(20, 90) * times)
    whine = np.sin(2 * np.pi * random.uniform(200, 1_500) * times)
    return noise(random, len(times), 1.2) * blades * 30 + 0.01 * whine


KINDS: dict[str, tuple[int, Callable[[Random], Samples]]] = {
    "silence": (3, _silence),
    "hiss": (3, _hiss),
    "white noise": (4, _of_colour(0)),
    "pink noise": (4, _of_colour(1)),
    "brown noise": (4, _of_colour(2)),
    "hum": (5, _hum),
    "chords": (8, _chords),
    "melody": (12, _melody),
    "drums": (6, _drums),
    "key clicks": (6, _keyboard(0.6, 1.5)),
    "typing": (8, _keyboard(0.07, 0.25)),
    "mouse clicks": (4, _mouse),
    "claps": (5, _claps),
    "knocks": (4, _knocks),
    "beeps": (6, _beeps),
    "alarm": (6, _alarm),
    "coughs": (6, _coughs),
    "wind": (3, _wind),
    "fan": (3, _fan),
}
