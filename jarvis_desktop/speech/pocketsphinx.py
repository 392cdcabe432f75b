"""The child process of the small built-in recogniser, which needs no download.

There are two searches: one with pocketsphinx's own language model (news and books), one with ours
(requests to an assistant, resources/speech). Both use the same acoustic model, so their scores can
be compared. For live speech, the slow one for news and books listens while somebody speaks; the
quick one for requests hears all of it at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pocketsphinx

from jarvis_desktop.core.speech import Segment, Transcript
from jarvis_desktop.core.task import Report
from jarvis_desktop.process.child_main import Handler
from jarvis_desktop.speech.decoding import RATE, Samples, decode
from jarvis_desktop.speech.streaming import StreamingResult, StreamingSession
from jarvis_desktop.speech.streaming_whisper import SpeechBuffer
from jarvis_desktop.speech.vad import PAUSE_SECONDS, SpeechSegments, find_speech, not_speech
from jarvis_desktop.speech.whisper import Agreement, Word, text

ENGINE = "pocketsphinx"
REQUEST_SECONDS = 15.0
"""Longer speech is dictation, which the language model of requests does not fit."""
MARGIN = 0.2  # how much better per frame the search for requests must score to be chosen
SHORT_MARGIN = 0.8  # the same for one or two words, which any sound finds among requests
CLEAR = -2.7
CLEAR_WORDS = 3  # a request of three words that scores better is chosen without a second search
SCORE_SCALE = 1024  # pocketsphinx's scores are shifted by ten bits


@dataclass(frozen=True, slots=True)
class SphinxGuess:
    """What one search heard; `score` is a natural logarithm per frame."""

    text: str
    score: float


def make_handler(command_lm: Path, command_dict: Path) -> Handler:
    """The handler: "hear" a file and return the seconds of speech, then "recognise" it; "listen" to
    live speech; "ready" loads the decoder."""
    state: dict[str, Any] = {}
    live = StreamingSession()

    def handle(
        report: Report, what: str, *args: Any
    ) -> float | Transcript | StreamingResult | None:
        if what == "hear":
            (path,) = args
            state["name"] = path.name
            state["speech"] = find_speech(decode(path), path.name)
            return float(state["speech"].seconds)
        if "ears" not in state:
            state["ears"] = Ears(command_lm, command_dict)
        if what == "ready":
            return None
        if what == "listen":
            return live.listen(lambda: LivePocketsphinx(state["ears"]), *args)
        return recognise(state["ears"], state.pop("speech"), state["name"], report)

    return handle


class Ears:
    """The decoder with its two searches."""

    def __init__(self, command_lm: Path, command_dict: Path) -> None:
        self._decoder = pocketsphinx.Decoder(loglevel="FATAL", samprate=float(RATE))
        for line in command_dict.read_text().splitlines():
            word, sounds = line.split(maxsplit=1)
            self._decoder.add_word(word, sounds, False)
        self._decoder.add_lm_file("commands", str(command_lm))
        self._general = self._decoder.current_search()
        self._goes_on = False
        self._mean = ""

    @property
    def knows_voice(self) -> bool:
        """Whether it has heard enough to listen to live speech. It must know the mean spectrum of
        the room, the microphone and the voice; without it a tenth more words are wrong (measured on
        25 recordings)."""
        return bool(self._mean)

    def general(self, sound: Samples) -> SphinxGuess:
        """Search for news and books."""
        return self._listen(self._general, sound)

    def commands(self, sound: Samples) -> SphinxGuess:
        """Search for requests."""
        return self._listen("commands", sound)

    def begin(self) -> None:
        """Start listening to live speech, with the search for news and books."""
        self.drop()
        self._decoder.activate_search(self._general)
        self._decoder.set_cmn(self._mean)
        self._decoder.start_utt()
        self._goes_on = True

    def go_on(self, sound: Samples) -> str:
        """Add sound, and return the words so far."""
        self._decoder.process_raw(_pcm(sound))
        found = self._decoder.hyp()
        return found.hypstr if found else ""

    def end(self) -> SphinxGuess:
        """Return the words of all sound."""
        self.drop()
        return self._guess()

    def drop(self) -> None:
        """Stop listening."""
        if self._goes_on:
            self._decoder.end_utt()
            self._goes_on = False

    def _listen(self, search: str, sound: Samples) -> SphinxGuess:
        self.drop()
        self._decoder.activate_search(search)
        self._decoder.start_utt()
        self._decoder.process_raw(_pcm(sound), full_utt=True)
        self._decoder.end_utt()
        self._mean = self._decoder.get_cmn(False)
        return self._guess()

    def _guess(self) -> SphinxGuess:
        found = self._decoder.hyp()
        if found is None or not found.hypstr.strip() or found.score <= 0:
            return SphinxGuess("", -math.inf)
        frames = max(1, self._decoder.n_frames())
        return SphinxGuess(found.hypstr, math.log(found.score) * SCORE_SCALE / frames)


def recognise(ears: Ears, speech: SpeechSegments, name: str, report: Report) -> Transcript:
    """Transcribe a recording. Raises InputError if no words were found."""
    segments = []
    for at, (begin, end, sound) in enumerate(utterances(speech)):
        text = _text(ears, sound, short=_short(speech))
        if text:
            segments.append(Segment(speech.time(begin), speech.time(end), text))
        report((at + 1) / len(speech.stretches), "recognising speech")
    if not segments:
        raise not_speech(name)
    text = " ".join(segment.text for segment in segments)
    return Transcript(text, engine=ENGINE, language="en", segments=tuple(segments))


def _text(ears: Ears, sound: Samples, *, short: bool) -> str:
    if short:
        return choose(ears, sound, lambda: ears.general(sound))
    return ears.general(sound).text


def _short(speech: SpeechSegments) -> bool:
    return speech.seconds <= REQUEST_SECONDS


def utterances(speech: SpeechSegments) -> Iterator[tuple[int, int, Samples]]:
    """A request as one utterance without its pauses; dictation stretch by stretch."""
    if _short(speech):
        begin, end = speech.stretches[0][0], speech.stretches[-1][1]
        yield begin, end, np.concatenate(speech.parts())
    else:
        for (begin, end), sound in zip(speech.stretches, speech.parts(), strict=True):
            yield begin, end, sound


def choose(ears: Ears, sound: Samples, general: Callable[[], SphinxGuess]) -> str:
    """Choose the result of the search for requests, or of the general one."""
    command = ears.commands(sound)
    few = len(command.text.split()) < CLEAR_WORDS
    if command.score > CLEAR and not few:
        return command.text
    other = general()
    margin = SHORT_MARGIN if few else MARGIN
    return command.text if command.score > other.score + margin else other.text


def _pcm(sound: Samples) -> bytes:
    # Digital silence breaks the noise estimate; the rounding noise of a real converter does not.
    noise = np.random.default_rng(0).standard_normal(len(sound)) * 1e-3
    return (np.clip(sound + noise, -1, 1) * 32767).astype("<i2").tobytes()


VOICE_SECONDS = 1.5  # of speech, from which the decoder learns a voice
STEP = int(0.3 * RATE)  # of new sound, before the words are read again


class LivePocketsphinx:
    """Recognises live speech with a loaded decoder."""

    def __init__(self, ears: Ears) -> None:
        self._ears = ears
        self._sound = SpeechBuffer()
        self._words = Agreement()
        self._segments: list[Segment] = []
        self._begun: int | None = None
        """The first sample of the current utterance."""
        self._told = 0
        """The sample after the last one that the decoder has heard."""
        self._parts: list[Samples] = []
        """The speech of this utterance."""
        self._looked = 0

    def hear(self, pcm: bytes, *, final: bool) -> StreamingResult:
        """Add sound; the `final` one returns the transcript. Raises InputError without speech."""
        self._sound.add(pcm)
        if final and not self._segments:
            self._sound.speech()  # raises if there is none
            self._sound.found = True
        if self._sound.found:
            self._go_on()
        return self._heard(self._finish() if final else None)

    def _heard(self, transcript: Transcript | None) -> StreamingResult:
        settled = [segment.text for segment in self._segments] + [text(self._words.settled)]
        return StreamingResult(" ".join(filter(None, settled)), text(self._words.rest), transcript)

    def _go_on(self) -> None:
        """Give the decoder each stretch with speech, without the pauses."""
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
        if self._begun is None:  # it was too short for the decoder
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
