"""The child process of Whisper for live speech.

A pass hears all sound that is not settled yet. One begins as soon as the voice falls silent, so
that the words are there when the key is released; they are final if only silence follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.speech import FRAME, Segment, Transcript
from jarvis_desktop.core.task import Report
from jarvis_desktop.process.child_main import Handler
from jarvis_desktop.speech.decoding import RATE, Samples, decode
from jarvis_desktop.speech.streaming import StreamingResult, StreamingSession
from jarvis_desktop.speech.vad import (
    LIKELY,
    PADDING_SECONDS,
    QUIET_PEAK,
    SETTLE_FRAMES,
    SILENT_PEAK,
    SPEECH_FRAMES,
    UNLIKELY,
    Silero,
    SpeechSegments,
    find_speech,
    not_speech,
)
from jarvis_desktop.speech.whisper import (
    ECHO_WORDS,
    Agreement,
    WhisperDecoder,
    WhisperGuess,
    check_language,
    echoes,
    load,
    repeats,
    text,
)

NAME = "your recording"  # in error messages
LEADING_SECONDS = 30.0  # kept while nobody has spoken yet
PAUSE_FRAMES = 5  # without speech, 160 ms: a pause between words, not a part of one
BEFORE = SETTLE_FRAMES * FRAME
"""Samples of silence in which the detector settles before a word that starts at once."""
PADDING = int(PADDING_SECONDS * RATE)


class SpeechBuffer:
    """The sound so far, from a sample that `cut` moves; it begins with silence."""

    def __init__(self) -> None:
        self._silero = Silero()
        self._samples: Samples = np.zeros(BEFORE, np.float32)
        self._likely = list(self._silero.hear(self._samples))
        """The probability of speech in each frame."""
        self._spoken = [False] * len(self._likely)
        """Whether each frame is speech."""
        self._peak = 0.0
        self.begin = 0
        """The first sample that is kept."""
        self.found = False
        """Whether speech was found."""

    @property
    def end(self) -> int:
        """The sample after the last one."""
        return self.begin + len(self._samples)

    @property
    def last(self) -> int:
        """The sample after the last speech so far."""
        for back, spoken in enumerate(reversed(self._spoken)):
            if spoken:
                return (self._first_frame + len(self._spoken) - back) * FRAME
        return self.begin

    @property
    def first(self) -> int:
        """The first sample of speech, and a moment before."""
        spoken = self._spoken.index(True) if True in self._spoken else 0
        return max(self.begin, (self._first_frame + spoken) * FRAME - PADDING)

    @property
    def silent(self) -> float:
        """Seconds of silence up to now."""
        return (self.end - self.last) / RATE

    def add(self, pcm: bytes) -> None:
        """Add sound: 16 kHz, mono, 16 bits."""
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

    def speech(self) -> SpeechSegments:
        """All that is kept, as a recording. Raises InputError if there is no speech."""
        try:
            before = max(0, SETTLE_FRAMES - self._first_frame)
            samples, likely = self._samples[before * FRAME :], self._likely[before:]
            likely += [0.0] * (len(samples) // FRAME + 1 - len(likely))  # for the incomplete frame
            return find_speech(samples, NAME, likely)
        except InputError as error:
            words = error.message[:1].upper() + error.message[1:]
            raise InputError(words, hint=error.hint) from error

    def between(self, begin: int, end: int) -> Samples:
        """The samples from one place to another, amplified if quiet, and silence after the end."""
        samples = self._samples[max(0, begin - self.begin) : max(0, end - self.begin)]
        return np.pad(samples, (0, max(0, end - begin - len(samples)))) * self._lift

    def cut(self, at: int) -> None:
        """Drop what was before this place, or its frame."""
        frames = max(0, at // FRAME - self._first_frame)
        self._spoken, self._likely = self._spoken[frames:], self._likely[frames:]
        self._samples = self._samples[frames * FRAME :]
        self.begin += frames * FRAME

    @property
    def _first_frame(self) -> int:
        return self.begin // FRAME

    def forget(self) -> None:
        """Drop most of a long silence, or of sound without speech."""
        most = int(LEADING_SECONDS * RATE)
        silent = not self.found or self.last <= self.end - most
        if len(self._samples) > 2 * most and silent:
            self.cut(self.end - most)

    def pauses(self) -> list[tuple[int, int]]:
        """Each pause between words: its first sample and the one after its last."""
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
        """The time of a sample in seconds."""
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


ENGINE = "whisper"
FIRST_SECONDS, STEP_SECONDS = 0.7, 0.3
"""Of new sound before a pass is worth it: Whisper mistakes the beginnings of words."""
PASS_INTERVAL = 3.0
"""Passes begin this many times their length apart: the end must wait for a running pass."""
SILENT_SECONDS = 0.06  # two frames: the voice has fallen silent, perhaps for good
PAUSE_SECONDS, SENTENCE_SECONDS = 0.5, 8.0
"""A silence that separates speech longer than a sentence from what follows: without time stamps
Whisper may leave out speech after a pause in long speech (measured: a sixth of it)."""
LONG_PAUSE_SECONDS = 1.5  # a silence that separates in any case
CUT_SECONDS, MAX_WINDOW_SECONDS = 15.0, 24.0
"""Longer speech is cut after settled words; much longer speech in any case."""
LANGUAGE_SECONDS = 3.0  # of speech, before its language is fixed


class StreamingWhisper:
    """Recognises live speech with Whisper; `language` None detects it."""

    def __init__(self, passes: WhisperDecoder, language: str | None, hints: Sequence[str]) -> None:
        self._passes = passes
        self._language = language
        self._hints = hints
        self._detected = ""
        self._sound = SpeechBuffer()
        self._words = Agreement()
        self._segments: list[Segment] = []
        self._guess: WhisperGuess | None = None
        self._window = 0
        """The first sample of the guess's window."""
        self._covered = 0
        """The sample after the last one that a pass has heard."""

    def hear(self, pcm: bytes, *, final: bool) -> StreamingResult:
        """Add sound; the `final` one returns the transcript. Raises InputError without speech."""
        self._sound.add(pcm)
        if final:
            return self._heard(self._finish())
        if self._due():
            self._pass()
        elif self._guess and self._separates(self._sound.silent, self._covered - self._window):
            self._leave(self._sound.end - PADDING)
        elif self._guess is None:
            self._sound.forget()
        return self._heard(None)

    def _heard(self, transcript: Transcript | None) -> StreamingResult:
        settled = [segment.text for segment in self._segments] + [text(self._words.settled)]
        rest = text(self._words.rest)
        return StreamingResult(" ".join(filter(None, settled)), rest, transcript, self._passes.took)

    @property
    def _done(self) -> bool:
        return self._covered >= self._sound.last

    def _due(self) -> bool:
        if not self._sound.found or self._done:
            return False
        if self._sound.silent >= SILENT_SECONDS:
            return True
        wait = max(
            STEP_SECONDS if self._guess else FIRST_SECONDS, PASS_INTERVAL * self._passes.took
        )
        return self._sound.end - max(self._covered, self._sound.first) >= wait * RATE

    def _pass(self, *, final: bool = False) -> None:
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
        else:  # nothing is settled while the language may turn out to be another
            self._words.rest = list(guess.words)
        if end - self._window >= LANGUAGE_SECONDS * RATE:
            self._language = guess.language

    @staticmethod
    def _separates(pause: float, samples: int) -> bool:
        """Whether a pause in seconds after `samples` of speech separates them from what follows."""
        long = samples > SENTENCE_SECONDS * RATE
        return pause >= LONG_PAUSE_SECONDS or (long and pause >= PAUSE_SECONDS)

    def _place_to_cut(self) -> int | None:
        """Where the sound that is not heard yet must be cut, if anywhere."""
        first, last = self._sound.first, self._sound.last
        most = first + int(MAX_WINDOW_SECONDS * RATE)
        place = None
        for begin, end in self._sound.pauses():
            middle = (begin + end) // 2
            if middle <= most:
                place = middle
            if begin > first and self._separates((end - begin) / RATE, begin - first):
                return min(middle, begin + PADDING)
        return (place or most) if last > most else None

    def _leave(self, at: int) -> None:
        """Complete what was heard, and continue after this place."""
        self._listen_closely()
        self._write(text(self._words.leave(len(self._words.settled))), at)
        self._sound.cut(at)
        self._covered = max(self._covered, at)
        self._guess = None

    def _listen_closely(self) -> None:
        """Settle what was heard, or drop it if it is not speech after all."""
        try:
            self._sound.speech()
            self._words.settle()
        except InputError:
            self._words = Agreement()

    def _leave_settled(self) -> None:
        """Complete what is settled, up to its last pause, or else to its end."""
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
            self._sound.speech()  # raises if there is none
        if not self._done:
            self._pass(final=True)
        if self._guess and echoes([*self._words.settled, *self._words.rest], self._hints):
            self._expect_nothing()
        elif self._guess and self._guess.doubtful:
            self._try_again(self._guess)
        self._listen_closely()
        self._write(text(self._words.settled), self._covered)
        whole = " ".join(segment.text for segment in self._segments)
        if not any(letter.isalnum() for letter in whole):
            raise not_speech(NAME)
        return Transcript(whole, ENGINE, self._language or self._detected, tuple(self._segments))

    def _try_again(self, before: WhisperGuess) -> None:
        """Hear a doubtful end again, after the settled words."""
        sound = self._sound.between(self._window, self._covered)
        guess = self._passes.again(sound, before, self._language, self._words.settled)
        best = guess or before
        self._words.rest = [] if best.invented else list(best.words)

    def _expect_nothing(self) -> None:
        """Hear again what was nothing but expected words: they count as said if something sure is
        heard without expecting any, and a few of them keep their spelling."""
        sound = self._sound.between(self._window, self._covered)
        alone = self._passes.hear(sound, language=self._language, beam=5)
        if alone.doubtful or not alone.words:
            self._words = Agreement()
        elif len(self._words.settled) + len(self._words.rest) >= ECHO_WORDS:
            self._words = Agreement(rest=list(alone.words))


def make_handler() -> Handler:
    """The handler: "read" a recording, "listen" to live speech; "ready" loads the engine and
    returns the seconds of a pass.

    The last two end with the same arguments: a folder of CTranslate2 weights, which stay loaded,
    the language, expected words, the device and the compute type.
    """
    state: dict[str, Any] = {}
    live = StreamingSession()

    def handle(report: Report, what: str, *args: Any) -> float | bytes | StreamingResult | None:
        if what == "read":
            return read(*args)
        *given, folder, language, words, device, compute_type = args
        if state.get("loaded") != (folder, device, compute_type):
            state.pop("loaded", None)
            state.pop("passes", None)  # the memory may not hold two
            state["passes"] = WhisperDecoder(load(folder, device=device, compute_type=compute_type))
            # The first pass takes longer, and shows how fast this computer is.
            state["passes"].hear(np.zeros(RATE, np.float32), language="en")
            state["loaded"] = folder, device, compute_type
        passes: WhisperDecoder = state["passes"]
        check_language(passes.whisper.supported_languages, language)
        if what == "ready":
            passes.hear(np.zeros(RATE, np.float32), language="en")
            return passes.took
        return live.listen(lambda: StreamingWhisper(passes, language, words), *given)

    return handle


MAX_SOUND_SECONDS = 180.0
"""Of a recording that is passed between processes: two megabytes may hold hours of silence."""


def read(path: Path, most: float) -> bytes | None:
    """The sound of a recording, to be recognised as live speech; None if it has more than `most`
    seconds of speech, or several minutes of sound. Raises InputError if it has no speech."""
    samples = decode(path)
    if len(samples) > MAX_SOUND_SECONDS * RATE or find_speech(samples, path.name).seconds > most:
        return None
    return (np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()
