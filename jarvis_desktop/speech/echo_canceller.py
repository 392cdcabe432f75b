"""Removes what this computer plays from what its microphone hears.
Only imported in child processes.

An adaptive filter learns the way from the loudspeaker to the microphone and subtracts what comes
over it; a gain for each frequency then suppresses what is left. It is the partitioned-block
frequency-domain Kalman filter (Kuech, Mabande, Enzner: State-space architecture of the
partitioned-block-based acoustic echo controller, ICASSP 2014), which knows how wrong it may still
be, and so neither unlearns while the user speaks nor takes a wrong guess for the user. What else
is left of the echo is estimated from the least that was left of late, and from what is like the
echo.

Rather than WebRTC's AEC3 (pywebrtc-audio 0.2.0), which took no own word for the user's either,
but whose suppressor takes the user's voice with the echo: of 54 people who spoke over a voice as
loud as theirs it let 43 % be heard within 0.3 seconds, and 80 % over one that is 12 dB quieter
(`tests/benchmarks/barge_in.py` has the figures of this one).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jarvis_desktop.core.speech import RATE
from jarvis_desktop.speech.played_sound import FULL_SCALE, PlayedSound
from jarvis_desktop.speech.resampler import Resampler, Samples

BLOCK = 256  # samples, 16 ms
BINS = BLOCK + 1
PARTITIONS = 20
"""Blocks that the filter spans: 320 ms, for the delay of the devices and the sound of the room."""
CUT_EVERY = 4  # blocks in which each part of the filter is cut to its length once
LEAD_S = 0.048
"""How much earlier the filter gets what is played, as the reported moments are not exact."""
MIN_CHANGE, MAX_CHANGE = 0.002, 0.1
"""The share of the way that changes from one block to the next: more if more of the echo is left,
as when the clocks of two devices differ."""
UNSURE = 1.0  # the power by which the filter may be wrong at first
SMOOTHING = 0.7  # of the power of what is not echo
SUPPRESSION = 4.0  # how many times the power of the echo that may be left is removed
RISE = 1.022  # from block to block, of the share of the echo that is left: 6 dB a second
MAX_SHARE = 10.0  # of it: nothing is known yet
LEARNING = 30  # blocks of sound in which nothing is heard, as nothing is known yet
AUDIBLE = 1e-6 * BLOCK  # the energy of a block of echo from which anything can be learned
LIKENESS = 0.85  # smoothing of what echo and remainder have in common
CHANCE = 0.3  # of it, in two sounds that have nothing to do with each other
DECAY = 0.75  # of what may be left, from block to block: a room's late echo
TAIL_S = 0.5  # an echo may be heard for so long after the sound
MAX_DRIFT_S = 0.02
"""How far the moments of what is heard and played may be from the count of samples; those that are
reported jitter, and a jump of the delay must be learned."""

_WINDOW = np.sqrt(np.hanning(2 * BLOCK + 1)[: 2 * BLOCK]).astype(np.float32)
_FADE_IN = _WINDOW[:BLOCK] ** 2

Floats = np.ndarray[Any, np.dtype[Any]]


class EchoFilter:
    """Works block by block; what it has learned stays."""

    def __init__(self) -> None:
        shape = (PARTITIONS, BINS)
        self._played: Floats = np.zeros(shape, np.complex64)  # spectra, the newest at `_at`
        self._way: Floats = np.zeros(shape, np.complex64)
        self._wrong: Floats = np.full(shape, UNSURE, np.float32)
        self._at = 0
        self._other: Floats = np.full(BINS, 1e-4, np.float32)
        self._left: Floats = np.zeros(BINS, np.float32)
        self._share = self._loudness = MAX_SHARE
        self._learned = 0
        self._energies: Floats = np.zeros(4)
        self._heard = 0.0
        self._common: Floats = np.zeros(BINS, np.complex64)
        self._powers: Floats = np.full((2, BINS), 1e-12, np.float32)
        self._since = 0
        self._power: Floats = np.zeros(BINS, np.float32)
        self._last_played: Floats = np.zeros(BLOCK, np.float32)
        self._last: Floats = np.zeros(BLOCK, np.float32)
        self._overlap: Floats = np.zeros(BLOCK, np.float32)

    def doubt(self) -> None:
        """Start to learn again: the delay has changed."""
        self._wrong[:] = UNSURE
        self._share = self._loudness = MAX_SHARE
        self._learned = 0

    def resume(self, before: Floats) -> None:
        """Continue after a time without sound; `before` was heard in the last BLOCK samples."""
        self._played[:] = 0
        self._last_played[:] = 0
        self._left[:] = 0
        self._since = 0
        self._last = before
        self._overlap = before * (1 - _FADE_IN)

    def rest(self) -> Floats:
        """The last block of sound, which `take` has not returned yet."""
        return self._overlap + self._last * _FADE_IN

    def take(self, heard: Floats, played: Floats) -> Floats:
        """Hear the next BLOCK samples of both; returns the block before without echo."""
        echoless = self._subtract(heard, played)
        spectrum = np.fft.rfft(_WINDOW * np.concatenate((self._last, echoless)))
        self._last = echoless
        self._power = 0.3 * self._power + 0.7 * _power(spectrum)
        gain = np.maximum(1 - SUPPRESSION * self._left / (self._power + 1e-12), 0)
        clean = np.fft.irfft(gain * spectrum) * _WINDOW
        block = self._overlap + clean[:BLOCK]
        self._overlap = clean[BLOCK:]
        return block.astype(np.float32)

    def _subtract(self, heard: Floats, played: Floats) -> Floats:
        self._at = (self._at - 1) % PARTITIONS
        self._played[self._at] = np.fft.rfft(np.concatenate((self._last_played, played)))
        self._last_played = played
        spectra = np.roll(self._played, -self._at, axis=0)
        powers = _power(spectra)
        spectrum = (spectra * self._way).sum(axis=0)
        echo = np.fft.irfft(spectrum)[BLOCK:]
        echoless: Floats = heard - echo
        self._compare(echoless, echo, heard, played)
        error = np.fft.rfft(np.concatenate((np.zeros(BLOCK, np.float32), echoless)))
        may_be_left = (powers * self._wrong).sum(axis=0) / 2
        may_remain = np.maximum(may_be_left, self._share * _power(spectrum))
        may_remain = np.maximum(may_remain, self._alike(error, echo) * _power(error))
        at_most = 2 * self._loudness * powers.sum(axis=0)
        self._left = np.minimum(np.maximum(DECAY * self._left, may_remain), at_most)
        self._learned += float(played @ played) > AUDIBLE
        if self._learned < LEARNING:
            self._left = MAX_SHARE * powers.sum(axis=0)
        self._learn(spectra, powers, error, may_be_left)
        return echoless

    def _alike(self, error: Any, echo: Floats) -> Floats:
        """How much of what remains is like the echo, 0 to 1 for each frequency: what comes later or
        earlier than was learned, as the clocks of two devices differ."""
        spectrum = np.fft.rfft(np.concatenate((np.zeros(BLOCK, np.float32), echo)))
        new = 1 - LIKENESS
        self._common = LIKENESS * self._common + new * error * spectrum.conj()
        self._powers = LIKENESS * self._powers + new * np.stack((_power(error), _power(spectrum)))
        alike = _power(self._common) / (self._powers.prod(axis=0) + 1e-20)
        found: Floats = np.maximum((alike - CHANCE) / (1 - CHANCE), 0)
        return found

    def _compare(self, *sounds: Floats) -> None:
        """Learn what share of the echo is left, and how loud it can be at most: the least of late,
        because the user only adds to both."""
        energies = 0.9 * self._energies + [sound @ sound for sound in sounds]
        self._energies, (left, echo, heard, played) = energies, energies.tolist()
        if echo > AUDIBLE:
            self._share = min(self._share * RISE, left / echo, MAX_SHARE)
        self._since += 1
        self._heard = max(0.97 * self._heard, heard)  # for longer than the echo is late
        if played > AUDIBLE and self._since > LEARNING:
            self._loudness = min(self._loudness * RISE, self._heard / played, MAX_SHARE)

    def _learn(self, spectra: Any, powers: Floats, error: Any, may_be_left: Floats) -> None:
        power = _power(error)
        other = np.maximum(power - may_be_left, power / 20)
        self._other = SMOOTHING * self._other + (1 - SMOOTHING) * other
        step = self._wrong / (may_be_left + self._other + 1e-8)
        self._way += step * spectra.conj() * error
        # Each part of the way may last one block; a few are cut at a time, which is cheaper.
        few = slice(self._at % CUT_EVERY, None, CUT_EVERY)
        times = np.fft.irfft(self._way[few], axis=1)
        times[:, BLOCK:] = 0
        self._way[few] = np.fft.rfft(times, axis=1)
        change = min(max(self._share / 2, MIN_CHANGE), MAX_CHANGE)
        self._wrong *= (1 - change) * (1 - step * powers / 2)
        self._wrong += change * _power(self._way)


def _power(spectrum: Any) -> Floats:
    power: Floats = spectrum.real**2 + spectrum.imag**2
    return power


class EchoCanceller:
    """Removes `played` from what the microphone hears; while nothing is played it changes nothing
    and costs nothing."""

    def __init__(self, played: PlayedSound) -> None:
        self._sound = played
        self._filter: EchoFilter | None = None
        self._works = False
        self._first = False
        self._before: Floats = np.zeros(BLOCK, np.float32)
        self._heard: Floats = np.zeros(0, np.float32)
        self._played: Floats = np.zeros(0, np.float32)
        self._next = 0
        self._rate = 0
        self._resample: Resampler | None = None

    @property
    def held(self) -> int:
        """Samples that were heard and are not returned yet."""
        return BLOCK + len(self._heard) if self._works and not self._first else len(self._heard)

    def restart(self) -> None:
        """Hear from now on a microphone that was closed, whose delay may be another one."""
        self._works = False
        self._heard, self._before = self._heard[:0], np.zeros(BLOCK, np.float32)
        if self._filter:
            self._filter.doubt()

    def __call__(self, samples: Samples, reached: float) -> Samples:
        """Hear the next samples, the last of which was heard at a moment of `time.monotonic`."""
        needed = self._sound.coming(reached - TAIL_S)
        if not (needed or self._works) or not len(samples):
            self._before = _last(self._before, samples)
            return samples
        heard = samples.astype(np.float32) / FULL_SCALE
        if not self._works:
            self._begin()
        self._heard = np.concatenate((self._heard, heard))
        clean = [self._take(reached) for _ in range(len(self._heard) // BLOCK)]
        if not needed:
            clean += [self._end()]
        self._before = _last(self._before, samples)
        scaled = np.concatenate((*clean, self._heard[:0])) * FULL_SCALE
        returned: Samples = np.clip(scaled, -FULL_SCALE, FULL_SCALE).astype(np.int16)
        return returned

    def _begin(self) -> None:
        self._filter = self._filter or EchoFilter()
        self._filter.resume(self._before)
        self._works = self._first = True
        self._rate = 0  # find the place again

    def _end(self) -> Floats:
        assert self._filter is not None
        rest, self._heard = self._heard, self._heard[:0]
        last = () if self._first else (self._filter.rest(),)
        self._works = False
        return np.concatenate((*last, rest))

    def _take(self, reached: float) -> Floats:
        assert self._filter is not None
        played = self._played_until(reached - (len(self._heard) - BLOCK) / RATE + LEAD_S)
        block, self._heard = self._heard[:BLOCK], self._heard[BLOCK:]
        clean = self._filter.take(block, played)
        first, self._first = self._first, False
        return clean[:0] if first else clean  # it was returned before the filter began

    def _played_until(self, moment: float) -> Floats:
        """The next BLOCK samples of what is played, the last of which is heard at this moment."""
        rate: int = self._sound.shared.rate
        count = BLOCK * rate // RATE
        place = self._sound.place(moment) - count
        if rate != self._rate or abs(place - self._next) > MAX_DRIFT_S * rate:
            if self._rate == rate:
                assert self._filter is not None
                self._filter.doubt()
            self._rate, self._next = rate, place
            self._played = self._played[:0]
            self._resample = Resampler(rate)
        assert self._resample is not None
        while len(self._played) < BLOCK:
            frames = self._resample(self._sound.frames(self._next, count))
            self._next += count
            self._played = np.concatenate((self._played, frames.astype(np.float32) / FULL_SCALE))
        played, self._played = self._played[:BLOCK], self._played[BLOCK:]
        return played


def _last(before: Floats, samples: Samples) -> Floats:
    """The last BLOCK samples."""
    return np.concatenate((before, samples[-BLOCK:].astype(np.float32) / FULL_SCALE))[-BLOCK:]
