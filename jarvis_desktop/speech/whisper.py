"""One pass of Whisper over a window of sound. Only imported in child processes.

WhisperModel.transcribe encodes a window a second time to find out its language, drops hotwords
where a beginning is given, and lets what it encoded go; here a window is encoded once, and goes on
after words that are known.

The encoder always sees Whisper's thirty seconds: CTranslate2 takes less, but weights trained on
thirty repeat themselves and mishear then (CTranslate2 #2100, voxtype #124).

Loads Whisper from weights on disk. Only imported in child processes.

Which words of speech that goes on are certain: those on which two passes agree.

This is LocalAgreement-2 of Macháček, Dabre, Bojar: "Turning Whisper into Real-Time Transcription
System" (2023). The last word of a pass may be cut in the middle, so that it is certain only when
both passes have heard one after it."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from faster_whisper.audio import pad_or_trim
from faster_whisper.tokenizer import Tokenizer
from faster_whisper.transcribe import get_suppressed_tokens

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.speech.decoding import RATE, Samples


@dataclass(frozen=True, slots=True)
class Word:
    """A word with the space before it, or a part of one, as the recogniser writes it."""

    text: str
    tokens: tuple[int, ...] = ()

    @property
    def key(self) -> str:
        """What two passes must have in common; case and punctuation may still change."""
        letters = "".join(letter for letter in self.text if letter.isalnum())
        return letters.casefold() or self.text.strip()


@dataclass(slots=True)
class Agreement:
    """The words of the passes so far, from the first one that is still to be recognised."""

    settled: list[Word] = field(default_factory=list)
    """These stay as they are; a pass only goes on after them."""
    rest: list[Word] = field(default_factory=list)
    """What the last pass heard after them."""

    def add(self, heard: Sequence[Word]) -> None:
        """What the next pass heard after the settled words."""
        most = min(len(heard), len(self.rest)) - 1
        agreed = 0
        while agreed < most and heard[agreed].key == self.rest[agreed].key:
            agreed += 1
        self.settled += heard[:agreed]
        self.rest = list(heard[agreed:])

    def settle(self) -> None:
        """All that was heard is certain: only silence came after it."""
        self.settled += self.rest
        self.rest = []

    def leave(self, count: int) -> list[Word]:
        """Forget the first words, which are settled, and give them."""
        gone, self.settled = self.settled[:count], self.settled[count:]
        return gone


def text(words: Sequence[Word]) -> str:
    """The words as one reads them."""
    return " ".join("".join(word.text for word in words).split())


WINDOW_SECONDS = 30.0
WAYS_OUT = (0.0, 0.2, 0.4)
"""Temperatures for a doubtful guess."""
LEAST_CHANCE = 0.05
"""Of a token that is known already, given all of the sound."""
MOST_HINTS = 100
"""Tokens for words to expect: many make Whisper write them where they were not said."""
MOST_TOKENS = 224
"""Tokens that Whisper writes at most: half of its context."""
TOKENS_PER_SECOND, SPARE_TOKENS = 12, 24
"""More than anybody says: a pass that repeats itself ends there."""

ECHO_WORDS = 4
"""Whoever says so many of the words to expect in their order does not mean them."""

NO_SPEECH = 0.6
LEAST_LOGPROB = -1.0
MOST_REPEATED = 2.4
"""How well text may be compressed, above which it repeats itself. All three are Whisper's own."""


@dataclass(frozen=True, slots=True)
class WhisperGuess:
    """What one pass heard after the words that were known."""

    words: tuple[Word, ...]
    language: str
    logprob: float
    """The mean over its tokens; a natural logarithm."""
    no_speech: float
    window: Any
    """The encoded sound."""
    frames: int
    """Of the window, those with sound: hundredths of a second."""

    @property
    def invented(self) -> bool:
        """Whether Whisper itself doubts that anybody spoke, or that anybody spoke so."""
        unsaid = self.no_speech > NO_SPEECH or repeats(text(self.words))
        return unsaid and self.logprob < LEAST_LOGPROB

    @property
    def doubtful(self) -> bool:
        """Whether it is to be tried in another way."""
        return self.logprob < LEAST_LOGPROB or repeats(text(self.words))


def echoes(words: Sequence[Word], hints: Sequence[str]) -> bool:
    """Whether what was heard is the words to expect, one after the other."""
    said = " ".join(word.key for word in words)
    listed = " ".join(Word(part).key for hint in hints for part in hint.split())
    return len(words) >= ECHO_WORDS and said in listed


def repeats(text: str) -> bool:
    """Whether a text says the same again and again."""
    data = text.encode()
    return len(data) > MOST_REPEATED * len(zlib.compress(data))


class Passes:
    """A loaded Whisper, asked for a window of sound at a time."""

    def __init__(self, whisper: Any) -> None:
        self.whisper = whisper
        self._tokenizers: dict[str, Tokenizer] = {}
        self.took = 0.0
        """Seconds that the last pass took."""

    def hear(
        self,
        sound: Samples,
        *,
        language: str | None,
        hints: Sequence[str] = (),
        known: Sequence[Word] = (),
        beam: int = 1,
        temperatures: Sequence[float] = (0.0,),
    ) -> WhisperGuess:
        """The words of up to thirty seconds, after those that are `known`.

        It is tried at one temperature after the other until the result is not doubtful.
        """
        begun = time.monotonic()
        features = self.whisper.feature_extractor(sound)
        window = self.whisper.encode(pad_or_trim(features))
        frames = min(features.shape[-1], int(WINDOW_SECONDS * 100))
        if not self.whisper.model.is_multilingual:
            language = "en"
        elif language is None:
            # A list for each window, the most likely first, of pairs such as ("<|en|>", 0.9).
            language = self.whisper.model.detect_language(window)[0][0][0][2:-2]
        guesses: list[WhisperGuess] = []
        for temperature in temperatures:
            words, logprob, no_speech = self._write(
                window, len(sound) / RATE, language, hints, known, beam, temperature
            )
            guesses.append(WhisperGuess(words, language, logprob, no_speech, window, frames))
            if not guesses[-1].doubtful:
                break
        self.took = time.monotonic() - begun
        return max(guesses, key=lambda guess: (not repeats(text(guess.words)), guess.logprob))

    def again(
        self, sound: Samples, before: WhisperGuess, language: str | None
    ) -> WhisperGuess | None:
        """A guess that is better than a doubtful one, where there is one: with nothing known and
        nothing expected, and by Whisper's own ways out."""
        guess = self.hear(sound, language=language, beam=5, temperatures=WAYS_OUT)
        better = not guess.doubtful or guess.logprob > before.logprob
        return guess if guess.words and better else None

    def doubts(self, guess: WhisperGuess, known: Sequence[Word]) -> bool:
        """Whether a word that was known is hardly there, now that all is heard."""
        tokens = [token for word in known for token in word.tokens]
        if not tokens:
            return False
        sequence = self._tokenizer(guess.language).sot_sequence
        found = self.whisper.model.align(guess.window, sequence, [tokens], max(2, guess.frames))
        return bool(min(found[0].text_token_probs) < LEAST_CHANCE)

    def times(self, guess: WhisperGuess, words: Sequence[Word]) -> list[tuple[float, float]]:
        """When each of these words begins and ends in the window of a guess; seconds."""
        tokenizer = self._tokenizer(guess.language)
        tokens = [token for word in words for token in word.tokens]
        if not tokens:
            return []
        found = self.whisper.model.align(
            guess.window, tokenizer.sot_sequence, [tokens], max(2, guess.frames)
        )[0]
        # The first step at which each token is heard; the last one ends with the sound.
        first: dict[int, int] = {}
        for token, step in found.alignments:
            first.setdefault(token, step)
        steps = [first.get(at, guess.frames // 2) for at in range(len(tokens) + 1)]
        ends = np.cumsum([len(word.tokens) for word in words]).tolist()
        return [
            (steps[begin] / 50, steps[end] / 50)
            for begin, end in zip([0, *ends[:-1]], ends, strict=True)
        ]

    def _tokenizer(self, language: str) -> Tokenizer:
        if language not in self._tokenizers:
            self._tokenizers[language] = Tokenizer(
                self.whisper.hf_tokenizer,
                self.whisper.model.is_multilingual,
                task="transcribe",
                language=language,
            )
        return self._tokenizers[language]

    def _write(
        self,
        window: Any,
        seconds: float,
        language: str,
        hints: Sequence[str],
        known: Sequence[Word],
        beam: int,
        temperature: float,
    ) -> tuple[tuple[Word, ...], float, float]:
        tokenizer = self._tokenizer(language)
        before = [token for word in known for token in word.tokens]
        prompt = [*_hint_tokens(tokenizer, hints), *tokenizer.sot_sequence]
        prompt += [tokenizer.no_timestamps, *before]
        most = min(MOST_TOKENS, len(before) + SPARE_TOKENS + int(TOKENS_PER_SECOND * seconds))
        sampled = {"sampling_topk": 0, "sampling_temperature": temperature, "num_hypotheses": 5}
        result = self.whisper.model.generate(
            window,
            [prompt],
            beam_size=1 if temperature else beam,
            # CTranslate2 writes half of this at most, and counts the prompt in.
            max_length=max(2 * most, most + len(prompt)),
            return_scores=True,
            return_no_speech_prob=True,
            suppress_tokens=get_suppressed_tokens(tokenizer, [-1]),
            **(sampled if temperature else {}),
        )[0]
        written = result.sequences_ids[0]
        new = [token for token in written[len(before) :] if token < tokenizer.eot]
        # The score is a mean over all tokens written, although those known count for nothing.
        logprob = result.scores[0] * len(written) / (len(new) + 1)
        return _words(tokenizer, new), logprob, result.no_speech_prob


def _hint_tokens(tokenizer: Tokenizer, hints: Sequence[str]) -> list[int]:
    """The words to expect as if they had just been written, as many as there is room for."""
    tokens: list[int] = []
    for hint in hints:
        more = tokenizer.encode(f"{',' if tokens else ''} {hint.strip()}")
        if len(tokens) + len(more) > MOST_HINTS:
            break
        tokens += more
    return [tokenizer.sot_prev, *tokens] if tokens else []


def _words(tokenizer: Tokenizer, tokens: list[int]) -> tuple[Word, ...]:
    """The tokens word by word, punctuation with the word before it."""
    words: list[Word] = []
    texts, parts = tokenizer.split_to_word_tokens(tokens)
    for written, own in zip(texts, parts, strict=True):
        if words and not any(letter.isalnum() for letter in written):
            words[-1] = Word(words[-1].text + written, (*words[-1].tokens, *own))
        else:
            words.append(Word(written, tuple(own)))
    return tuple(words)


THREADS = min(4, os.cpu_count() or 4)
"""More than four hardly help."""
NEEDED = ("model.bin", "config.json", "tokenizer.json")


def load(folder: Path, *, device: str = "cpu", compute_type: str = "int8") -> Any:
    """The Whisper in a folder. Raises UnavailableError where it is not whole.

    `device` and `compute_type` are what `cuda_probe` found: a graphics card whose libraries are
    missing ends the whole process.
    """
    broken = UnavailableError(
        tr("The Whisper weights in {name} cannot be used.", name=folder.name),
        hint=tr("Remove them with `jarvis-desktop experts remove` and fetch them again."),
    )
    # Without its tokenizer faster-whisper would fetch one from the Hub.
    if not all((folder / name).is_file() for name in NEEDED):
        raise broken
    if device == "cuda":
        offer_libraries()
    from faster_whisper import WhisperModel
    from faster_whisper.transcribe import tqdm

    # Its own would be a semaphore of the system, left over when this process is killed.
    tqdm.set_lock(threading.RLock())
    try:
        return WhisperModel(
            str(folder),
            device=device,
            compute_type=compute_type,
            cpu_threads=THREADS,
            local_files_only=True,
        )
    except (RuntimeError, ValueError, OSError) as error:
        raise broken from error


def offer_libraries() -> None:
    """Let CTranslate2 find CUDA's libraries where pip puts them, which the system does not know."""
    spec = find_spec("nvidia")
    for folder in map(Path, (spec and spec.submodule_search_locations) or ()):
        if sys.platform == "win32":
            if (binaries := folder / "cublas" / "bin").is_dir():
                os.add_dll_directory(str(binaries))
            continue
        for name in ("libcublasLt.so.12", "libcublas.so.12"):
            with suppress(OSError):  # not there; a library that is loaded is found by its name
                ctypes.CDLL(str(folder / "cublas" / "lib" / name), mode=ctypes.RTLD_GLOBAL)
