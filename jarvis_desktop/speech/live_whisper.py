"""Whisper for speech that goes on. Only imported in child processes.

A pass hears all sound that is not settled yet. When the voice falls silent one begins at once, so
that its words are there when the key is let go; nothing but silence after it makes them final.
"""

from __future__ import annotations

from collections.abc import Sequence

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.hearing import Segment, Transcript
from jarvis_desktop.speech.agreement import Agreement, text
from jarvis_desktop.speech.decoding import RATE
from jarvis_desktop.speech.gate import not_speech
from jarvis_desktop.speech.live import Heard
from jarvis_desktop.speech.live_sound import NAME, PADDING, LiveSound
from jarvis_desktop.speech.whisper_pass import Guess, Passes, echoes, repeats

ENGINE = "whisper"
FIRST_SECONDS, STEP_SECONDS = 0.7, 0.3
"""Of new sound, before a pass is worth it while the voice goes on; of the beginning of a word
Whisper makes another one."""
SHARE = 3.0
"""Passes begin this many times their own length apart: where the key is let go in the middle of
one, it must be waited for."""
SILENT_SECONDS = 0.06
"""Two frames: the voice has fallen silent, perhaps to the end."""
PAUSE_SECONDS, SENTENCE_SECONDS = 0.5, 8.0
"""After so much silence something new begins, where more than a sentence was said: without time
stamps Whisper may leave out what comes after a pause in long speech (measured: a sixth of it)."""
LONG_PAUSE_SECONDS = 1.5
"""After so much silence something new begins in any case."""
CUT_SECONDS, LONGEST_SECONDS = 15.0, 24.0
"""Longer speech is cut where it is settled; much longer speech in any case."""
LANGUAGE_SECONDS = 3.0
"""Of speech, before its language is known for good."""


class LiveWhisper:
    """Speech that goes on, heard with a loaded Whisper; `language` None lets it find out. The
    reasons why nothing was heard call it by its `name`."""

    def __init__(
        self, passes: Passes, language: str | None, hints: Sequence[str], name: str = NAME
    ) -> None:
        self._passes = passes
        self._language = language
        self._hints = hints
        self._detected = ""
        self._sound = LiveSound(name)
        self._words = Agreement()
        self._segments: list[Segment] = []
        self._guess: Guess | None = None
        self._window = 0
        """The sample with which the window of the guess begins."""
        self._covered = 0
        """The sample after the last one that a pass has heard."""

    def hear(self, pcm: bytes, *, final: bool) -> Heard:
        """Go on with this sound; `final` is the last one and gives the transcript.

        Raises InputError where nothing was said.
        """
        self._sound.add(pcm)
        if final:
            return self._heard(self._finish())
        if self._due():
            self._pass()
        elif self._guess and self._parts(self._sound.silent, self._covered - self._window):
            self._leave(self._sound.end - PADDING)
        elif self._guess is None:
            self._sound.forget()
        return self._heard(None)

    def _heard(self, transcript: Transcript | None) -> Heard:
        settled = [segment.text for segment in self._segments] + [text(self._words.settled)]
        rest = text(self._words.rest)
        return Heard(" ".join(filter(None, settled)), rest, transcript, self._passes.took)

    @property
    def _done(self) -> bool:
        """Whether a pass has heard all that was said."""
        return self._covered >= self._sound.last

    def _due(self) -> bool:
        if not self._sound.found or self._done:
            return False
        if self._sound.silent >= SILENT_SECONDS:
            return True
        wait = max(STEP_SECONDS if self._guess else FIRST_SECONDS, SHARE * self._passes.took)
        return self._sound.end - max(self._covered, self._sound.first) >= wait * RATE

    def _pass(self, *, final: bool = False) -> None:
        """Hear what is not settled yet."""
        while (at := self._place_to_cut()) is not None:
            self._pass_to(at)
            self._leave(at)
        if self._sound.last - self._sound.first > CUT_SECONDS * RATE:
            self._leave_settled()
        if not self._done:
            falls_silent = final or self._sound.silent >= SILENT_SECONDS
            self._pass_to(self._sound.last + PADDING if falls_silent else self._sound.end)

    def _pass_to(self, end: int) -> None:
        self._window, self._covered = self._sound.first, min(end, self._sound.end)
        guess = self._passes.hear(
            self._sound.between(self._window, end),
            language=self._language,
            hints=self._hints,
            known=self._words.settled,
        )
        self._guess, self._detected = guess, guess.language
        if guess.invented or repeats(text(guess.words)):
            self._words.rest = []
        elif self._language and not guess.doubtful:
            self._words.add(guess.words)
        else:  # nothing is settled in a language that may turn out to be another
            self._words.rest = list(guess.words)
        if end - self._window >= LANGUAGE_SECONDS * RATE:
            self._language = guess.language

    @staticmethod
    def _parts(pause: float, samples: int) -> bool:
        """Whether a pause of so many seconds after so much speech parts it from what follows."""
        long = samples > SENTENCE_SECONDS * RATE
        return pause >= LONG_PAUSE_SECONDS or (long and pause >= PAUSE_SECONDS)

    def _place_to_cut(self) -> int | None:
        """Where what is not heard yet must be parted, if anywhere."""
        first, last = self._sound.first, self._sound.last
        most = first + int(LONGEST_SECONDS * RATE)
        place = None
        for begin, end in self._sound.pauses():
            middle = (begin + end) // 2
            if middle <= most:
                place = middle
            if begin > first and self._parts((end - begin) / RATE, begin - first):
                return min(middle, begin + PADDING)
        return (place or most) if last > most else None

    def _leave(self, at: int) -> None:
        """Let what was heard be whole, and go on with what is said after this place."""
        self._listen_closely()
        self._write(text(self._words.leave(len(self._words.settled))), at)
        self._sound.cut(at)
        self._covered = max(self._covered, at)
        self._guess = None

    def _listen_closely(self) -> None:
        """Settle what was heard, or forget it where it is no speech, now that more is known."""
        try:
            self._sound.speech()
            self._words.settle()
        except InputError:
            self._words = Agreement()

    def _leave_settled(self) -> None:
        """The same with what is settled, up to the last pause in it, or else to its end."""
        settled = self._words.settled
        if self._guess is None or not settled:
            return
        times = self._passes.times(self._guess, [*settled, *self._words.rest])[: len(settled)]
        middles = [self._window + int((begin + end) / 2 * RATE) for begin, end in times]
        end = self._window + int(times[-1][1] * RATE)
        places = [(begin + end) // 2 for begin, end in self._sound.pauses()]
        pauses = [place for place in places if middles[0] < place <= end]
        at = pauses[-1] if pauses else end
        self._write(text(self._words.leave(sum(middle < at for middle in middles))), at)
        self._sound.cut(at)

    def _write(self, written: str, at: int) -> None:
        if written:
            begin, end = self._sound.seconds(self._window), self._sound.seconds(at)
            self._segments.append(Segment(begin, end, written))

    def _finish(self) -> Transcript:
        if not self._segments:
            self._sound.speech()  # which says why there is none
        if not self._done:
            self._pass(final=True)
        if self._guess and self._doubtful(self._guess):
            self._try_again(self._guess)
        self._listen_closely()
        self._write(text(self._words.settled), self._covered)
        whole = " ".join(segment.text for segment in self._segments)
        if not any(letter.isalnum() for letter in whole):
            raise self._sound.reason(not_speech)
        return Transcript(whole, ENGINE, self._language or self._detected, tuple(self._segments))

    def _try_again(self, before: Guess) -> None:
        """A doubtful end is heard anew, and with it what was settled since the last pause."""
        sound = self._sound.between(self._window, self._covered)
        guess = self._passes.again(sound, before, self._language)
        if guess:
            self._words = Agreement()
        best = guess or before
        self._words.rest = [] if best.invented else list(best.words)

    def _doubtful(self, guess: Guess) -> bool:
        return (
            guess.doubtful
            or echoes([*self._words.settled, *self._words.rest], self._hints)
            or self._passes.doubts(guess, self._words.settled)
        )
