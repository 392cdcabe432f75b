"""The built-in recogniser for speech that goes on. Only imported in child processes.

The search for news and books, which is slow, listens while somebody speaks; that for requests,
which is quick, hears all of it at the end.
"""

from __future__ import annotations

import numpy as np

from jarvis_desktop.core.hearing import Segment, Transcript
from jarvis_desktop.speech.agreement import Agreement, Word, text
from jarvis_desktop.speech.decoding import RATE, Samples
from jarvis_desktop.speech.gate import PAUSE_SECONDS, not_speech
from jarvis_desktop.speech.live import Heard
from jarvis_desktop.speech.live_sound import LiveSound
from jarvis_desktop.speech.pocketsphinx_recogniser import ENGINE, REQUEST_SECONDS, Ears, choose

VOICE_SECONDS = 1.5
"""Of speech, from which the decoder gets to know a voice."""
STEP = int(0.3 * RATE)
"""Of new sound, before another look at what was understood."""


class LivePocketsphinx:
    """Speech that goes on, heard with a loaded decoder."""

    def __init__(self, ears: Ears) -> None:
        self._ears = ears
        self._sound = LiveSound()
        self._words = Agreement()
        self._segments: list[Segment] = []
        self._begun: int | None = None
        """The sample with which the utterance begins that is being heard."""
        self._told = 0
        """The sample after the last one that the decoder was told."""
        self._parts: list[Samples] = []
        """The speech in this utterance."""
        self._looked = 0

    def hear(self, pcm: bytes, *, final: bool) -> Heard:
        """Go on with this sound; `final` is the last one and gives the transcript.

        Raises InputError where nothing was said.
        """
        self._sound.add(pcm)
        if final and not self._segments:
            self._sound.speech()  # which says why there is none
            self._sound.found = True
        if self._sound.found:
            self._go_on()
        return self._heard(self._finish() if final else None)

    def _heard(self, transcript: Transcript | None) -> Heard:
        settled = [segment.text for segment in self._segments] + [text(self._words.settled)]
        return Heard(" ".join(filter(None, settled)), text(self._words.rest), transcript)

    def _go_on(self) -> None:
        """Tell the decoder of each stretch in which somebody speaks, without the pauses."""
        stretches = self._sound.stretches(self._told)
        if not self._ears.knows_voice:
            if sum(end - begin for begin, end in stretches) < VOICE_SECONDS * RATE:
                return
            self._ears.commands(self._joined(stretches))
        for begin, end in stretches:
            pause = begin - self._told
            if self._begun is not None and self._dictation and pause >= PAUSE_SECONDS * RATE:
                self._leave()
            if self._begun is None:
                self._ears.begin()
                self._begun, self._parts = begin, []
            self._parts.append(self._sound.between(begin, end))
            so_far = self._ears.go_on(self._parts[-1])
            self._told = end
            if end - self._looked >= STEP or end < self._sound.end:
                self._looked = end
                self._understand(so_far)

    def _joined(self, stretches: list[tuple[int, int]]) -> Samples:
        return np.concatenate([self._sound.between(begin, end) for begin, end in stretches])

    def _understand(self, so_far: str) -> None:
        words = [Word(f" {word}") for word in so_far.split()]
        self._words.add(words[len(self._words.settled) :])

    @property
    def _dictation(self) -> bool:
        return bool(self._segments) or sum(map(len, self._parts)) > REQUEST_SECONDS * RATE

    def _leave(self) -> None:
        """Let the utterance be whole."""
        heard = self._ears.end().text
        if heard and self._begun is not None:
            begin, end = self._sound.seconds(self._begun), self._sound.seconds(self._told)
            self._segments.append(Segment(begin, end, heard))
        self._begun, self._words = None, Agreement()
        self._sound.cut(self._told)

    def _finish(self) -> Transcript:
        if self._dictation:
            self._leave()
        else:
            self._choose()
        if not self._segments:
            raise self._sound.reason(not_speech)
        self._words = Agreement()
        whole = " ".join(segment.text for segment in self._segments)
        return Transcript(whole, ENGINE, "en", tuple(self._segments))

    def _choose(self) -> None:
        """What a request says."""
        if self._begun is None:  # it was too short to be told to the decoder
            stretches = self._sound.stretches(0)
            sound = self._joined(stretches)
            heard = choose(self._ears, sound, lambda: self._ears.general(sound))
            first, last = stretches[0][0], stretches[-1][1]
        else:
            general, sound = self._ears.end(), np.concatenate(self._parts)
            heard = choose(self._ears, sound, lambda: general)
            first, last = self._begun, self._told
        if heard:
            begin, end = self._sound.seconds(first), self._sound.seconds(last)
            self._segments.append(Segment(begin, end, heard))
