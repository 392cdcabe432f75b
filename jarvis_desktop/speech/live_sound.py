"""Speech as it comes, and where in it somebody speaks. Only imported in child processes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.hearing import FRAME
from jarvis_desktop.speech.decoding import RATE, Samples
from jarvis_desktop.speech.gate import (
    LIKELY,
    PADDING_SECONDS,
    QUIET_PEAK,
    SETTLE_FRAMES,
    SILENT_PEAK,
    SPEECH_FRAMES,
    UNLIKELY,
    Speech,
    find_speech,
)
from jarvis_desktop.speech.silero import Silero

NAME = "your recording"
"""What the reasons call it, where there is no file."""
LEADING_SECONDS = 30.0
"""What is kept while nobody has spoken yet."""
PAUSE_FRAMES = 5
"""So many frames without speech, 160 ms, are a pause between words and no part of one."""
BEFORE = SETTLE_FRAMES * FRAME
"""Samples of silence by which the detector settles before a word that starts at once."""
PADDING = int(PADDING_SECONDS * RATE)


class LiveSound:
    """Samples from a place on, which moves with `cut`; silence comes before the first of them."""

    def __init__(self, name: str = NAME) -> None:
        self._name = name
        self._silero = Silero()
        self._samples: Samples = np.zeros(BEFORE, np.float32)
        self._likely = list(self._silero.hear(self._samples))
        """How likely somebody speaks in each frame."""
        self._spoken = [False] * len(self._likely)
        """Whether somebody does."""
        self._peak = 0.0
        self.begin = 0
        """The first sample that is kept."""
        self.found = False
        """Whether somebody has spoken."""

    @property
    def end(self) -> int:
        """The sample after the last one."""
        return self.begin + len(self._samples)

    @property
    def last(self) -> int:
        """The sample after the last one in which somebody speaks, as far as it is known."""
        for back, spoken in enumerate(reversed(self._spoken)):
            if spoken:
                return (self._first_frame + len(self._spoken) - back) * FRAME
        return self.begin

    @property
    def first(self) -> int:
        """The first sample in which somebody speaks, and a moment before."""
        spoken = self._spoken.index(True) if True in self._spoken else 0
        return max(self.begin, (self._first_frame + spoken) * FRAME - PADDING)

    @property
    def silent(self) -> float:
        """Seconds in which nobody has spoken, up to now."""
        return (self.end - self.last) / RATE

    def add(self, pcm: bytes) -> None:
        """Go on with this sound: 16 kHz, mono, 16 bits."""
        samples = np.frombuffer(pcm, "<i2").astype(np.float32) / np.float32(32768)
        if not len(samples):
            return
        self._samples = np.concatenate((self._samples, samples))
        self._peak = max(self._peak, float(np.abs(samples).max()))
        for likely in self._silero.hear(samples * self._lift):
            speaks = self._spoken[-1] if self._spoken else False
            self._spoken.append(likely >= (UNLIKELY if speaks else LIKELY))
            self._likely.append(likely)
        if not self.found:
            self._look()

    def speech(self) -> Speech:
        """All that is kept, as of a recording. Raises InputError where nobody speaks in it."""
        try:
            before = max(0, SETTLE_FRAMES - self._first_frame)
            samples, likely = self._samples[before * FRAME :], self._likely[before:]
            likely += [0.0] * (len(samples) // FRAME + 1 - len(likely))  # of the last, cut one
            return find_speech(samples, self._name, likely)
        except InputError as error:
            raise self._sentence(error) from error

    def reason(self, why: Callable[[str], InputError]) -> InputError:
        """One that names it."""
        return self._sentence(why(self._name))

    def _sentence(self, reason: InputError) -> InputError:
        """A reason may begin with NAME; a file keeps its own name."""
        if self._name != NAME:
            return reason
        return InputError(reason.message[:1].upper() + reason.message[1:], hint=reason.hint)

    def between(self, begin: int, end: int) -> Samples:
        """The samples from one place to another, lifted where they are quiet, and silence where
        there are none yet."""
        samples = self._samples[max(0, begin - self.begin) : max(0, end - self.begin)]
        return np.pad(samples, (0, max(0, end - begin - len(samples)))) * self._lift

    def cut(self, at: int) -> None:
        """Forget what was before this place, or the frame in which it is."""
        frames = max(0, at // FRAME - self._first_frame)
        self._spoken, self._likely = self._spoken[frames:], self._likely[frames:]
        self._samples = self._samples[frames * FRAME :]
        self.begin += frames * FRAME

    @property
    def _first_frame(self) -> int:
        return self.begin // FRAME

    def forget(self) -> None:
        """Forget a long silence, or what is no speech, but for its end."""
        most = int(LEADING_SECONDS * RATE)
        silent = not self.found or self.last <= self.end - most
        if len(self._samples) > 2 * most and silent:
            self.cut(self.end - most)

    def stretches(self, after: int) -> list[tuple[int, int]]:
        """Where somebody speaks after a place, with a moment around it."""
        found: list[tuple[int, int]] = []
        for at, spoken in enumerate(self._spoken, self._first_frame):
            if spoken:
                begin, end = at * FRAME - PADDING, (at + 1) * FRAME + PADDING
                if found and begin <= found[-1][1]:
                    begin = found.pop()[0]
                found.append((max(begin, self.begin), end))
        clipped = [(max(begin, after), min(end, self.end)) for begin, end in found]
        return [(begin, end) for begin, end in clipped if begin < end]

    def pauses(self) -> list[tuple[int, int]]:
        """Each pause between words, from its first sample to the one after its last."""
        found, quiet = [], 0
        for at, spoken in enumerate(self._spoken, self._first_frame):
            if not spoken:
                quiet += 1
                continue
            if quiet >= PAUSE_FRAMES and at > quiet + self._first_frame:
                found.append(((at - quiet) * FRAME, at * FRAME))
            quiet = 0
        return found

    @staticmethod
    def seconds(place: int) -> float:
        """When that was heard."""
        return max(0, place - BEFORE) / RATE

    @property
    def _lift(self) -> np.float32:
        quiet = SILENT_PEAK <= self._peak < QUIET_PEAK
        return np.float32(QUIET_PEAK / self._peak if quiet else 1)

    def _look(self) -> None:
        if sum(likely >= LIKELY for likely in self._likely) >= SPEECH_FRAMES:
            try:
                self.speech()
                self.found = True
            except InputError:
                pass
        if not self.found:
            self.forget()
